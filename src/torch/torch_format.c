/* Memory formats: the order in which a dense tensor of four or five dimensions lies in
 * memory. Channels last means that dimension 1 is the innermost one: [N, C, H, W] has strides
 * [H W C, 1, W C, C].
 *
 * A program may ask for a format, and convolutions, pools and norms give their result in the
 * format of their input. Kernels that compute addresses depend on both, so the strides must
 * be PyTorch's. */
#include "base/mem.h"
#include "torch/torch.h"

enum format { FORMAT_PRESERVE, FORMAT_CONTIGUOUS, FORMAT_LAST, FORMAT_LAST_3D };

/* The format that slot i asks for; `otherwise` if it is left out or None. */
static int asked(struct bind *b, size_t i, enum format otherwise, int *format)
{
	static const char *const names[] = { [FORMAT_PRESERVE] = "torch.preserve_format",
					     [FORMAT_CONTIGUOUS] = "torch.contiguous_format",
					     [FORMAT_LAST] = "torch.channels_last",
					     [FORMAT_LAST_3D] = "torch.channels_last_3d" };

	*format = (int)otherwise;
	if (i >= b->n || !bind_given(b, i) || b->a[i].kind == V_NONE)
		return 0;
	for (int f = FORMAT_PRESERVE; f <= FORMAT_LAST_3D; f++)
		if (b->a[i].kind == V_STR && str_is(val_text(b->a[i]), names[f])) {
			*format = f;
			return 0;
		}
	return bind_raise(b, EXC_TypeError, "%s(): argument 'memory_format' must be torch.memory_format", b->row->name);
}

/* Strides of a dense channels-last tensor: dimension 1 innermost, the others in their order. */
static void last_strides(int ndim, const int64_t *shape, int64_t *stride)
{
	int64_t step = MAX(shape[1], 1);

	stride[1] = 1;
	for (int d = ndim - 1; d >= 0; d--) {
		if (d == 1)
			continue;
		stride[d] = step;
		step *= MAX(shape[d], 1);
	}
}

/* channels_last takes 4 dimensions, channels_last_3d takes 5; the messages are PyTorch's. */
int torch_format(struct bind *b, size_t i, int keep, int ndim, const int64_t *shape,
		 int64_t *stride)
{
	int format;

	if (asked(b, i, keep ? FORMAT_PRESERVE : FORMAT_CONTIGUOUS, &format))
		return -1;
	if (format == FORMAT_LAST && ndim != 4)
		return bind_raise(b, EXC_RuntimeError, "required rank 4 tensor to use channels_last format");
	if (format == FORMAT_LAST_3D && ndim != 5)
		return bind_raise(b, EXC_RuntimeError, "required rank 5 tensor to use channels_last_3d format");
	/* "Preserve" leaves the choice of strides to the caller. */
	if (format == FORMAT_PRESERVE)
		return 0;
	if (format == FORMAT_CONTIGUOUS)
		tensor_dense_strides(ndim, shape, stride);
	else
		last_strides(ndim, shape, stride);
	return 1;
}

/* A tensor without elements counts as contiguous but never as channels last. */
int torch_has_format(struct bind *b, size_t i, const struct tensor *t)
{
	int64_t stride[TENSOR_DIMS];
	int format;

	if (asked(b, i, FORMAT_CONTIGUOUS, &format))
		return -1;
	if (format < FORMAT_LAST)
		return !tensor_numel(t) || tensor_is_contiguous(t);
	if (t->ndim != (format == FORMAT_LAST ? 4 : 5) || !tensor_numel(t))
		return 0;
	last_strides(t->ndim, t->shape, stride);
	return torch_lies_so(t, stride);
}

/* Without a format the strides of x are kept if x is dense (num_new_like). */
int torch_new_like(struct bind *b, struct tensor *t, enum dtype dt, const struct tensor *x,
		   size_t i)
{
	struct num_ctx c = torch_ctx(b);
	int64_t stride[TENSOR_DIMS];
	int given = torch_format(b, i, 1, x->ndim, x->shape, stride);

	if (given < 0)
		return -1;
	if (given ? num_new_strided(&c, t, dt, x->ndim, x->shape, stride, bind_e(b)) :
	    num_new_like(&c, t, dt, x, bind_e(b)))
		return bind_fail(b);
	return 0;
}

/* A dimension of size 1 may have any stride. */
int torch_lies_so(const struct tensor *t, const int64_t *stride)
{
	for (int d = 0; d < t->ndim; d++)
		if (t->shape[d] != 1 && t->stride[d] != stride[d])
			return 0;
	return 1;
}

/* PyTorch's is_channels_last_strides: a layout that could be either (one channel, or one
 * pixel) counts as the ordinary order. */
static int is_last(const struct tensor *t)
{
	int64_t least = 0;
	int order[TENSOR_DIMS], n = 0;

	if ((t->ndim != 4 && t->ndim != 5) || !t->stride[1])
		return 0;
	order[n++] = 1;
	for (int d = t->ndim - 1; d >= 0; d--)
		if (d != 1)
			order[n++] = d;
	for (int k = 0; k < n; k++) {
		int d = order[k];

		if (!t->shape[d] || t->stride[d] < least || (d == 0 && least == t->stride[1]))
			return 0;
		least = t->stride[d] * MAX(t->shape[d], 1);
	}
	return 1;
}

/* Repacks *y as channels last if x or w is. */
int torch_follow_format(struct bind *b, struct tensor *y, const struct tensor *x,
			const struct tensor *w)
{
	struct num_ctx c = torch_ctx(b);
	int64_t stride[TENSOR_DIMS];
	struct tensor z;

	if (y->ndim < 4 || !(is_last(x) || (w && is_last(w))))
		return 0;
	last_strides(y->ndim, y->shape, stride);
	if (num_new_strided(&c, &z, y->dt, y->ndim, y->shape, stride, bind_e(b)))
		goto fail;
	if (tensor_copy(&z, y, bind_e(b))) {
		tensor_release(&z);
		goto fail;
	}
	tensor_release(y);
	*y = z;
	return 0;
fail:
	tensor_release(y);
	return bind_fail(b);
}
