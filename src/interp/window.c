/* The part of its input that a window operator reads. A convolution or pool leaves a rest unread
 * after the last window, and gaps if its windows are further apart than they are wide. Example: a
 * pool of width 3 and stride 3 over 20 elements reads 18. */
#include "base/mem.h"
#include "interp/sig.h"
#include "interp/work.h"

/* The number of an argument for axis `axis`: an integer, or a member of a tuple or list. `otherwise`:
 * it is left out or of another kind. */
static int64_t number_of(const struct sig *s, const struct val *a, const char *name, int axis, int64_t otherwise)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct val *v = &a[i];

		if (!str_eq(s->p[i].name, str_of(name)))
			continue;
		if ((v->kind == V_TUPLE || v->kind == V_LIST) && v->u.seq->n)
			v = &v->u.seq->v[MIN((size_t)axis, v->u.seq->n - 1)];
		return v->kind == V_INT ? v->u.i : otherwise;
	}
	return otherwise;
}

/* The first tensor of a result. */
static const struct tensor *first_tensor(struct val v)
{
	if ((v.kind == V_TUPLE || v.kind == V_LIST) && v.u.seq->n)
		v = v.u.seq->v[0];
	return v.kind == V_TENSOR ? &v.u.t->t : NULL;
}

/* Dimensions that windows move along, by the operator's name: 2 for "avg_pool2d"; 0: not known. */
static int window_dims(const char *name)
{
	for (int n = 1; n <= 3; n++)
		if (strstr(name, (const char[]){ (char)('0' + n), 'd', 0 }) && !strstr(name, "transpose"))
			return n;
	return 0;
}

/* Elements that `windows` windows read of `size` elements. Windows that overlap or touch read one range;
 * of others, or with a dilation, the least that they may read is counted. */
static int64_t read_along(int64_t size, int64_t windows, int64_t width, int64_t stride, int64_t pad, int64_t dilation)
{
	if (dilation == 1 && width >= stride)
		return MIN(size, (windows - 1) * stride - pad + width);
	return MAX(MIN(size, windows * MIN(width, MAX(stride / dilation, 1))) - 2 * pad, 0);
}

double host_window_share(const char *name, const struct sig *s, const struct val *a, struct val out)
{
	const struct tensor *x = s->n ? first_tensor(a[0]) : NULL, *y = first_tensor(out), *w = NULL;
	int n = window_dims(name);
	double share = 1.0;

	for (size_t i = 0; i < s->n; i++)
		if (str_eq(s->p[i].name, str_of("weight")) && a[i].kind == V_TENSOR)
			w = &a[i].u.t->t;
	if (!n || !x || !y || x->ndim < n || y->ndim < n || (w && w->ndim < n))
		return 1.0;
	for (int k = 0; k < n; k++) {
		int64_t size = x->shape[x->ndim - n + k], windows = y->shape[y->ndim - n + k];
		int64_t width = w ? w->shape[w->ndim - n + k] : number_of(s, a, "kernel_size", k, 0);
		int64_t stride = number_of(s, a, "stride", k, w ? 1 : width);

		if (width > 0 && stride > 0 && size > 0 && windows > 0)
			share *= (double)read_along(size, windows, width, stride, number_of(s, a, "padding", k, 0),
						    MAX(number_of(s, a, "dilation", k, 1), 1)) / (double)size;
	}
	return MAX(share, 0.0);
}
