/* Bindings of x[...] and x[...] = y. Integers, slices, None and ... give a view; tensors and
 * lists give a copy through num_index. The rules and messages are PyTorch's. */
#include <string.h>

#include "base/mem.h"
#include "num/shape.h"
#include "torch/torch.h"

/* A subscript taken apart. Slices, integers, None and ... are applied to `view` at once;
 * tensors and lists are collected in ix, one entry per dimension of the view (NULL: a full
 * slice). */
struct subscript {
	struct tensor view;     /* holds a reference */
	struct num_index ix;
	struct tensor made[TENSOR_DIMS];    /* index tensors built from lists, which ix points to */
	int n_made, advanced;   /* advanced: ix has at least one tensor */
	int selected;           /* dimensions that integers removed, for messages */
	int fills;              /* x[mask] = number: no size depends on the mask */
};

static void subscript_release(struct subscript *s)
{
	tensor_release(&s->view);
	for (int i = 0; i < s->n_made; i++)
		tensor_release(&s->made[i]);
}

/* The view becomes *v. */
static void take(struct subscript *s, struct tensor *v)
{
	tensor_release(&s->view);
	s->view = *v;
}

/* A bound of a slice: None, an integer, or an integer tensor of one element, which is read. */
static int slice_bound(struct bind *b, struct val v, int64_t otherwise, int64_t *out)
{
	*out = otherwise;
	if (v.kind == V_NONE || v.kind == V_UNSET)
		return 0;
	if (v.kind == V_TENSOR && tensor_numel(&v.u.t->t) == 1 && !dtype_is_float(v.u.t->t.dt) &&
	    host_read(b->h, &v.u.t->t, &v))
		return -1;
	if (v.kind == V_INT || v.kind == V_BOOL) {
		*out = v.u.i;
		return 0;
	}
	return bind_raise(b, EXC_TypeError, "slice indices must be integers or None or have an __index__ method");
}

/* start:stop:step along dimension dim of the view. */
static int apply_slice(struct bind *b, struct subscript *s, int dim, struct val v)
{
	struct tensor out;
	int64_t start, stop, step;

	if (slice_bound(b, v.u.slice->start, 0, &start) || slice_bound(b, v.u.slice->stop, INT64_MAX, &stop) ||
	    slice_bound(b, v.u.slice->step, 1, &step))
		return -1;
	if (tensor_slice(&out, &s->view, dim, start, stop, step, bind_e(b)))
		return bind_fail(b);
	take(s, &out);
	return 0;
}

/* The numbers of nested lists. shape, ndim: of the nest; out: where the numbers go, or NULL
 * to count only; bools: how many are bool; others: something that is no number, or a ragged
 * nest; failed: a tensor could not be read. */
struct list_scan { struct host *h; int64_t shape[TENSOR_DIMS], *out, n; int ndim, bools, others, failed; };

/* Walks a nest of lists of ints, bools and 0-d integer tensors in order. */
static void scan_list(struct list_scan *s, struct val v, int depth)
{
	if ((v.kind == V_LIST || v.kind == V_TUPLE) && depth < TENSOR_DIMS) {
		if (depth >= s->ndim) {
			s->others |= s->n > 0;    /* a list next to a number */
			s->ndim = depth + 1;
			s->shape[depth] = (int64_t)v.u.seq->n;
		}
		s->others |= s->shape[depth] != (int64_t)v.u.seq->n;
		for (size_t i = 0; i < v.u.seq->n; i++)
			scan_list(s, v.u.seq->v[i], depth + 1);
		return;
	}
	if (v.kind == V_TENSOR && v.u.t->t.ndim == 0 && !dtype_is_float(v.u.t->t.dt) &&
	    (s->failed |= host_read(s->h, &v.u.t->t, &v)))
		return;
	s->others |= (v.kind != V_INT && v.kind != V_BOOL) || depth != s->ndim;
	s->bools += v.kind == V_BOOL;
	if (s->out && (v.kind == V_INT || v.kind == V_BOOL))
		s->out[s->n] = v.u.i;
	s->n++;
}

/* A list as an index tensor: int64, or bool if all of its elements are bool. The nest is
 * walked twice: for the shape, then for the numbers. */
static int index_list(struct bind *b, struct subscript *s, struct val v)
{
	struct num_ctx c = torch_ctx(b);
	struct list_scan scan = { .h = b->h };
	struct tensor t, flags;

	scan_list(&scan, v, 0);
	if (scan.failed)
		return -1;
	if (scan.others || (scan.bools && scan.bools != scan.n) || s->n_made == TENSOR_DIMS)
		return bind_raise(b, EXC_IndexError,
				  "only integers, slices (`:`), ellipsis (`...`), None and long "
				  "or byte Variables are valid indices (got %s)", val_type_name(b->h, v));
	if (num_new(&c, &t, DT_I64, scan.ndim, scan.shape, bind_e(b)))
		return bind_fail(b);
	/* In a dry run large tensors have no memory to write to. */
	scan.out = t.st->hollow && scan.n > 4096 ? NULL : tensor_data(&t);
	scan.n = 0;
	scan_list(&scan, v, 0);
	/* A list of bools is a mask; it was collected as integers. */
	if (scan.bools) {
		int rc = num_to(&c, &flags, &t, DT_BOOL, bind_e(b));

		tensor_release(&t);
		if (rc)
			return bind_fail(b);
		t = flags;
	}
	s->made[s->n_made] = t;
	s->ix.v[s->ix.n++] = &s->made[s->n_made++];
	s->advanced = 1;
	return 0;
}

/* Dimensions that one item of the subscript consumes: none for None, ... and bools, as many
 * as a mask has, else one. */
static int consumes(struct val v)
{
	if (v.kind == V_NONE || v.kind == V_ELLIPSIS || v.kind == V_BOOL)
		return 0;
	if (v.kind == V_TENSOR && (v.u.t->t.dt == DT_BOOL || v.u.t->t.dt == DT_U8))
		return v.u.t->t.ndim;
	return 1;
}

/* An integer removes dimension dim. The message counts dimensions of the original tensor. */
static int apply_int(struct bind *b, struct subscript *s, int dim, int64_t i)
{
	struct tensor out;
	int64_t n = dim < s->view.ndim ? s->view.shape[dim] : 0;

	if (i < -n || i >= n)
		return bind_raise(b, EXC_IndexError,
				  "index %lld is out of bounds for dimension %d with size %lld", (long long)i,
				  dim + s->selected, (long long)n);
	s->selected++;
	if (tensor_select(&out, &s->view, dim, i, bind_e(b)))
		return bind_fail(b);
	take(s, &out);
	return 0;
}

/* One item at dimension *dim of the view. x[True] adds a dimension of size 1, x[False] one of
 * size 0. A 0-d integer tensor is read and acts as an integer. */
static int apply_item(struct bind *b, struct subscript *s, struct val v, int *dim)
{
	struct tensor out;

	/* None and bools add a dimension instead of consuming one. */
	if (v.kind == V_NONE || v.kind == V_BOOL) {
		if (tensor_unsqueeze(&out, &s->view, *dim, bind_e(b)))
			return bind_fail(b);
		take(s, &out);
		if (v.kind == V_BOOL && !v.u.i) {
			if (tensor_slice(&out, &s->view, *dim, 0, 0, 1, bind_e(b)))
				return bind_fail(b);
			take(s, &out);
		}
		s->ix.v[s->ix.n++] = NULL;
		(*dim)++;
		return 0;
	}
	if (v.kind == V_INT)
		return apply_int(b, s, *dim, v.u.i);
	if (v.kind == V_SLICE) {
		s->ix.v[s->ix.n++] = NULL;
		return apply_slice(b, s, (*dim)++, v);
	}
	if (v.kind == V_TENSOR) {
		const struct tensor *t = &v.u.t->t;

		if (t->ndim == 0 && t->dt != DT_BOOL && !dtype_is_float(t->dt))
			return host_read(b->h, t, &v) ? -1 : apply_int(b, s, *dim, v.u.i);
		if (t->ndim == 0 && t->dt == DT_BOOL)
			return bind_unsupported(b, "a bool tensor without dimensions as an index");
		/* The size of the result tells how many elements are true, so the program
		 * must be allowed to read it. */
		if (t->dt == DT_BOOL && ((!s->fills && host_may_read(b->h, DT_I64, 1)) || host_is_unwritten(b->h, t)))
			return -1;
		s->ix.v[s->ix.n++] = t;
		s->advanced = 1;
		*dim += t->dt == DT_BOOL || t->dt == DT_U8 ? t->ndim : 1;
		return 0;
	}
	if (v.kind == V_LIST || v.kind == V_TUPLE) {
		(*dim)++;
		return index_list(b, s, v);
	}
	return bind_raise(b, EXC_IndexError,
			  "only integers, slices (`:`), ellipsis (`...`), None and long or byte "
			  "Variables are valid indices (got %s)", val_type_name(b->h, v));
}

/* PyTorch treats a list of fewer than 32 items as a tuple of subscripts if an item is not a
 * number. */
static int stands_for_tuple(struct bind *b, struct val v)
{
	enum { SHORT = 32 };

	if (v.kind == V_TUPLE)
		return 1;
	for (size_t i = 0; v.kind == V_LIST && v.u.seq->n < SHORT && i < v.u.seq->n; i++) {
		struct val x = v.u.seq->v[i];

		if (!bind_unwrap(b, &x) && x.kind != V_INT && x.kind != V_BOOL && x.kind != V_FLOAT)
			return 1;
	}
	return 0;
}

/* Applies the subscript `index` to t. On failure the caller still calls subscript_release. An
 * ellipsis represents the dimensions that the other items do not consume. */
static int take_apart(struct bind *b, struct subscript *s, const struct tensor *t, struct val index)
{
	int several = stands_for_tuple(b, index);
	const struct val *given = several ? index.u.seq->v : &index;
	size_t n = several ? index.u.seq->n : 1;
	struct val item[TENSOR_DIMS];
	int used = 0, dim = 0, ellipsis = 0;

	s->view = *t;
	tensor_retain(&s->view);
	for (size_t i = 0; i < MIN(n, (size_t)TENSOR_DIMS); i++) {
		item[i] = given[i];
		if (bind_unwrap(b, &item[i]))
			return -1;
		used += consumes(item[i]);
		ellipsis += item[i].kind == V_ELLIPSIS;
	}
	/* Counted before anything is applied, so the message names the original rank. */
	if (used > t->ndim || n > TENSOR_DIMS)
		return bind_raise(b, EXC_IndexError, "too many indices for tensor of dimension %d", t->ndim);
	if (ellipsis > 1)
		return bind_raise(b, EXC_IndexError, "an index can only have a single ellipsis ('...')");
	/* Items that consume no dimension have an entry in ix, too. */
	if (n + (ellipsis ? (size_t)(t->ndim - used) : 0) > TENSOR_DIMS)
		return bind_unsupported(b, "a subscript of more than %d items", TENSOR_DIMS);
	for (size_t i = 0; i < n; i++) {
		if (item[i].kind == V_ELLIPSIS) {
			for (int k = used; k < t->ndim; k++, dim++)
				s->ix.v[s->ix.n++] = NULL;
			continue;
		}
		if (apply_item(b, s, item[i], &dim))
			return -1;
	}
	return 0;
}

/* x[index]: a view, or a copy if tensors or lists index it. */
static int t_getitem(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct subscript s = { .fills = 0 };
	struct tensor *t, y;
	int rc;

	if (bind_tensor(b, 0, &t))
		return -1;
	if (take_apart(b, &s, t, b->a[1])) {
		subscript_release(&s);
		return -1;
	}
	/* A pure view; take_apart gave it its own reference. */
	if (!s.advanced) {
		y = s.view;
		return bind_result(b, &y);
	}
	rc = num_index(&c, &y, &s.view, &s.ix, bind_e(b));
	subscript_release(&s);
	return rc ? bind_fail(b) : bind_result(b, &y);
}

/* Whether one bool tensor is the only tensor or list of a subscript. */
static int has_one_mask(struct val index)
{
	size_t n = index.kind == V_TUPLE ? index.u.seq->n : 1;
	int masks = 0, others = index.kind == V_LIST;

	for (size_t i = 0; i < n && !others; i++) {
		struct val v = index.kind == V_TUPLE ? index.u.seq->v[i] : index;
		int is_mask = v.kind == V_TENSOR && v.u.t->t.dt == DT_BOOL && v.u.t->t.ndim;

		masks += is_mask;
		others = !is_mask && (v.kind == V_TENSOR || v.kind == V_LIST || v.kind == V_TUPLE ||
				      v.kind == V_OBJECT);
	}
	return masks == 1 && !others;
}

/* x[.., mask, ..] = number is where(mask, number, x). The mask is for the dimensions from its place on. */
static int fill_masked(struct bind *b, const struct subscript *s, struct tensor *v)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor mask, one = *v;
	int d = 0;

	while (!s->ix.v[d])
		d++;
	mask = *s->ix.v[d];
	for (int i = 0; i < mask.ndim; i++)
		if (d + i >= s->view.ndim || mask.shape[i] != s->view.shape[d + i])
			return num_index_put(&c, &s->view, &s->ix, v, 0, bind_e(b));    /* reports the shapes */
	for (; mask.ndim < s->view.ndim - d; mask.ndim++) {
		mask.shape[mask.ndim] = 1;
		mask.stride[mask.ndim] = 0;
	}
	one.ndim = 0;
	return num_apply_into(&c, &s->view, NUM_where, (struct num_arg[]){ num_t(&mask), num_t(&one), num_t(&s->view) },
			      NULL, bind_e(b));
}

/* Writes v to the subscript. PyTorch drops leading dimensions of size 1 of the value. */
static int assign(struct bind *b, const struct subscript *s, struct tensor *v)
{
	struct num_ctx c = torch_ctx(b);

	if (s->fills)
		return fill_masked(b, s, v);
	if (s->advanced)
		return num_index_put(&c, &s->view, &s->ix, v, 0, bind_e(b));
	while (v->ndim > s->view.ndim && v->shape[0] == 1) {
		memmove(v->shape, v->shape + 1, sizeof *v->shape * (TENSOR_DIMS - 1));
		memmove(v->stride, v->stride + 1, sizeof *v->stride * (TENSOR_DIMS - 1));
		v->ndim--;
	}
	return tensor_check_overlap(&s->view, v, bind_e(b)) || tensor_copy(&s->view, v, bind_e(b)) ? -1 : 0;
}

/* A slice takes values of any device, as copy_ does. Elements picked by tensors take values
 * of their own device, or a number. */
static int is_elsewhere(struct bind *b)
{
	const struct val v = b->a[2];

	if (v.kind != V_TENSOR || !v.u.t->t.ndim || v.u.t->device == b->a[0].u.t->device)
		return 0;
	bind_raise(b, EXC_RuntimeError,
		   "Expected all tensors to be on the same device, but found at least two devices!");
	return 1;
}

/* x[index] = value; the value is converted to the dtype of x. */
static int t_setitem(struct bind *b)
{
	struct subscript s = { .fills = 0 };
	struct tensor *t, v;
	int rc;

	if (bind_tensor(b, 0, &t) || torch_value(b, 2, t, &v))
		return -1;
	s.fills = tensor_numel(&v) == 1 && has_one_mask(b->a[1]);
	if (take_apart(b, &s, t, b->a[1]) || (s.advanced && is_elsewhere(b))) {
		subscript_release(&s);
		tensor_release(&v);
		return -1;
	}
	rc = assign(b, &s, &v);
	subscript_release(&s);
	tensor_release(&v);
	return rc ? bind_fail(b) : 0;
}

/* Reading is a view or a copy; writing changes slot 0 and takes values of any device. */
const struct bind_row torch_subscript_rows[] = {
	{ "torch.Tensor.__getitem__", "self, picks", t_getitem, BIND_VIEW },
	{ "torch.Tensor.__setitem__", "self, picks, value", t_setitem,
	  BIND_COPY | BIND_MOVE | BIND_INPLACE | BIND_ANY_DEVICE },
	{ NULL, NULL, NULL, 0 }
};
