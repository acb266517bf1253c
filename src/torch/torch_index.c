/* Bindings that select by tensors: gather, scatter, index_*, masks, embedding. The checks are
 * PyTorch's with its messages; the work is in num/index.c and num/gather.c. A write in place
 * and its copying form share a function: the row's flag BIND_INPLACE tells them apart. */
#include <string.h>

#include "interp/import.h"
#include "base/mem.h"
#include "num/nn.h"
#include "num/shape.h"
#include "torch/torch.h"

/* The usual end of a binding: the result, or the error of the operator. */
static int done(struct bind *b, int rc, struct tensor *y)
{
	return rc ? bind_fail(b) : bind_result(b, y);
}

/* A number becomes a 0-d tensor of t's dtype: it does not promote. */
int torch_value(struct bind *b, size_t i, const struct tensor *t, struct tensor *out)
{
	struct num_ctx c = torch_ctx(b);
	struct num_arg v;

	if (torch_arg(b, i, &v))
		return -1;
	if (v.kind == NUM_TENSOR) {
		*out = *v.t;
		tensor_retain(out);
		return 0;
	}
	if (num_new(&c, out, t->dt, 0, NULL, bind_e(b)) || num_fill(&c, out, v, bind_e(b)))
		return bind_fail(b);
	return 0;
}

/* --- by tensors ----------------------------------------------------------------------------------- */

/* input, dim, index */
static int i_gather(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, *ix, y;
	int dim;

	if (bind_tensor(b, 0, &t) || bind_dim(b, 1, t->ndim, &dim) || bind_tensor(b, 2, &ix))
		return -1;
	return done(b, num_gather(&c, &y, t, dim, ix, bind_e(b)), &y);
}

/* A contiguous view [numel] of t; a copy if needed. */
static int flattened(struct tensor *out, const struct tensor *t, struct err *e)
{
	struct tensor dense;
	int rc;

	if (tensor_contiguous(&dense, t, e))
		return -1;
	rc = tensor_view(out, &dense, 1, (int64_t[]){ tensor_numel(t) }, e);
	tensor_release(&dense);
	return rc;
}

/* take_along_dim without a dimension: both tensors are flattened. */
static int take_flat(struct bind *b, const struct tensor *t, const struct tensor *ix)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor from, at, y;
	int rc;

	if (flattened(&from, t, bind_e(b)))
		return bind_fail(b);
	rc = flattened(&at, ix, bind_e(b));
	if (!rc) {
		rc = num_gather(&c, &y, &from, 0, &at, bind_e(b));
		tensor_release(&at);
	}
	tensor_release(&from);
	return done(b, rc, &y);
}

/* input, indices, dim=None */
static int i_take_along_dim(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, *ix, y;
	int dim;

	if (bind_tensor(b, 0, &t) || bind_tensor(b, 1, &ix))
		return -1;
	if (!bind_given(b, 2))
		return take_flat(b, t, ix);
	if (ix->dt != DT_I64)
		return bind_raise(b, EXC_RuntimeError,
				  "torch.take_along_dim(): dtype of indices should be Long but got %s",
				  num_type_name(ix->dt));
	if (bind_dim(b, 2, t->ndim, &dim))
		return -1;
	return done(b, num_gather(&c, &y, t, dim, ix, bind_e(b)), &y);
}

/* input, dim, index, and the values in slot `src`: a tensor of the same dtype or a number. In
 * place or on a copy. */
static int scatter_as(struct bind *b, enum num_scatter how, size_t src)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, *ix, v, y;
	int dim, rc;

	if (bind_tensor(b, 0, &t) || bind_dim(b, 1, t->ndim, &dim) || bind_tensor(b, 2, &ix))
		return -1;
	if (b->a[src].kind == V_TENSOR && b->a[src].u.t->t.ndim && b->a[src].u.t->t.dt != t->dt)
		return bind_raise(b, EXC_RuntimeError, "scatter(): Expected self.dtype to be equal to src.dtype");
	if (torch_value(b, src, t, &v))
		return -1;
	if (b->row->flags & BIND_INPLACE) {
		rc = num_scatter(&c, t, dim, ix, &v, how, bind_e(b));
		tensor_release(&v);
		return rc ? bind_fail(b) : bind_self(b);
	}
	rc = num_clone(&c, &y, t, bind_e(b));
	if (!rc && num_scatter(&c, &y, dim, ix, &v, how, bind_e(b))) {
		tensor_release(&y);
		rc = -1;
	}
	tensor_release(&v);
	return done(b, rc, &y);
}

/* ..., src=?, *, reduce=None, value=?. scatter(dim, index, value=1.0) gives the value by
 * name. */
static int i_scatter(struct bind *b)
{
	enum num_scatter how = SCATTER_SET;

	if (bind_given(b, 4)) {
		static const char *const names[] = { "add", "multiply", NULL };
		int k;

		if (torch_choice(b, 4, names, "reduce", &k))
			return -1;
		how = k ? SCATTER_MUL : SCATTER_ADD;
	}
	if (!bind_given(b, 3) && !bind_given(b, 5))
		return bind_raise(b, EXC_TypeError, "scatter() missing 1 required positional arguments: \"src\"");
	return scatter_as(b, how, bind_given(b, 3) ? 3 : 5);
}

/* src must be a tensor here. */
static int i_scatter_add(struct bind *b)
{
	struct tensor *src;

	if (bind_tensor(b, 3, &src))
		return -1;
	return scatter_as(b, SCATTER_ADD, 3);
}

/* A mean, and a reduction without the old values, are composed of others in the prelude. */
static int scatter_composed(struct bind *b)
{
	struct call_args args = { .a = b->a, .n = 6 };
	struct tensor t;
	struct val fn, made;

	if (library_name(b->h, "torch._methods", "_scatter_reduce", &fn) || host_callv(b->h, fn, &args, &made))
		return -1;
	if (!(b->row->flags & BIND_INPLACE)) {
		b->out = made;
		return 0;
	}
	t = made.u.t->t;
	tensor_retain(&t);
	return torch_write_back(b, &t);
}

/* input, dim, index, src, reduce, *, include_self=True. The names are in the order of enum
 * num_scatter from SCATTER_ADD on. */
static int i_scatter_reduce(struct bind *b)
{
	static const char *const names[] = { "sum", "prod", "amax", "amin", "mean", NULL };
	int how, include;

	if (torch_choice(b, 4, names, "reduce", &how) || bind_bool(b, 5, &include))
		return -1;
	if (!include || how == 4)
		return scatter_composed(b);
	return scatter_as(b, (enum num_scatter)(how + 1), 3);
}

/* input, dim, index */
static int i_index_select(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, *ix, y;
	int dim;

	if (bind_tensor(b, 0, &t) || bind_dim(b, 1, t->ndim, &dim) || bind_tensor(b, 2, &ix))
		return -1;
	return done(b, num_index_select(&c, &y, t, dim, ix, bind_e(b)), &y);
}

/* The sizes of t without dimension dim. Returns their number. */
static int slice_shape(int64_t *shape, const struct tensor *t, int dim)
{
	int n = 0;

	for (int i = 0; i < t->ndim; i++)
		if (i != dim)
			shape[n++] = t->shape[i];
	return n;
}

/* Checks of index_add_, in PyTorch's order. */
static int check_added(struct bind *b, const struct tensor *t, int dim, const struct tensor *ix,
		       const struct tensor *v)
{
	int64_t a[TENSOR_DIMS], s[TENSOR_DIMS], n = tensor_numel(ix),
		have = v->ndim ? v->shape[MIN(dim, v->ndim - 1)] : 1;
	int na = slice_shape(a, t, dim), ns = slice_shape(s, v, dim);

	if (ix->ndim > 1)
		return bind_raise(b, EXC_IndexError,
				  "index_add_(): Index is supposed to be a vector, but got dim: "
				  "%d with type: %s and size: %s",
				  ix->ndim, num_type_name(ix->dt), SHAPE_TEXT(ix->ndim, ix->shape));
	if (ix->dt != DT_I64 && ix->dt != DT_I32)
		return bind_raise(b, EXC_RuntimeError,
				  "index_add_(): Expected dtype int32/int64 for index but got: %s",
				  num_type_name(ix->dt));
	if (t->dt != v->dt)
		return bind_raise(b, EXC_RuntimeError,
				  "index_add_(): self (%s) and source (%s) must have the same scalar type",
				  num_type_name(t->dt), num_type_name(v->dt));
	if (dim && dim >= v->ndim)
		return bind_raise(b, EXC_RuntimeError,
				  "index_add_(): Indexing dim %d is out of bounds of the source tensor with dim %d",
				  dim, v->ndim);
	if (n != have)
		return bind_raise(b, EXC_RuntimeError,
				  "index_add_(): Number of indices (%lld) should be equal to "
				  "source.size(dim): (%lld), for dim: %d",
				  (long long)n, (long long)have, dim);
	if (na != ns || memcmp(a, s, sizeof *a * (size_t)na))
		return bind_raise(b, EXC_RuntimeError,
				  "source tensor shape must match self tensor shape, excluding "
				  "the specified dimension. Got self.shape = %s source.shape = %s",
				  SHAPE_TEXT(t->ndim, t->shape), SHAPE_TEXT(v->ndim, v->shape));
	return 0;
}

/* Checks of index_copy_, in PyTorch's order. */
static int check_copied(struct bind *b, const struct tensor *t, int dim, const struct tensor *ix,
			const struct tensor *v)
{
	int64_t a[TENSOR_DIMS], s[TENSOR_DIMS], n = tensor_numel(ix);
	int na = slice_shape(a, t, dim), ns = slice_shape(s, v, dim);

	if (ix->ndim > 1)
		return bind_raise(b, EXC_IndexError,
				  "index_copy_(): Index should have dimension 1 or 0 (got %d)", ix->ndim);
	if (v->ndim == 0 && n != 1)
		return bind_raise(b, EXC_IndexError,
				  "index_copy_(): When source is scalar, index should have one element (got %lld)",
				  (long long)n);
	if (v->ndim && t->ndim && v->ndim != t->ndim)
		return bind_raise(b, EXC_IndexError,
				  "index_copy_(): When source and destination are not scalars, "
				  "their dimensionality must match. Source dimensionality (%d), "
				  "destination dimensionality (%d)", v->ndim, t->ndim);
	if (ix->dt != DT_I64)
		return bind_raise(b, EXC_RuntimeError,
				  "index_copy_(): Expected a long tensor for index, but got %s", num_type_name(ix->dt));
	if (t->dt != v->dt)
		return bind_raise(b, EXC_RuntimeError,
				  "index_copy_(): self and source expected to have the same "
				  "dtype, but got (self) %s and (source) %s", num_type_name(t->dt),
				  num_type_name(v->dt));
	if (na != ns || memcmp(a, s, sizeof *a * (size_t)na))
		return bind_raise(b, EXC_RuntimeError,
				  "index_copy_(): Source/destination tensor must have same slice "
				  "shapes. Destination slice shape: %s at dimension %d and "
				  "source slice shape: %s at dimension 0.",
				  SHAPE_TEXT(na, a), dim, SHAPE_TEXT(ns, s));
	if (v->ndim && v->shape[dim] != n)
		return bind_raise(b, EXC_IndexError,
				  "index_copy_(): Number of indices (%lld) should be equal to source.size(dim) (%lld)",
				  (long long)n, (long long)v->shape[dim]);
	return 0;
}

/* Checks of index_fill_: the value is a number or a 0-d tensor. */
static int check_filled(struct bind *b, const struct tensor *ix)
{
	const struct tensor *v = b->a[3].kind == V_TENSOR ? &b->a[3].u.t->t : NULL;

	if (v && v->ndim)
		return bind_raise(b, EXC_RuntimeError,
				  "index_fill_ only supports a 0-dimensional value tensor, but "
				  "got tensor with %d dimension(s).", v->ndim);
	if (ix->dt != DT_I64)
		return bind_raise(b, EXC_IndexError, "index_fill_(): Expected dtype int64 for index.");
	return ix->ndim > 1 ? bind_raise(b, EXC_RuntimeError, "Index has to be a vector/scalar") : 0;
}

/* The checks of the three functions that write slices. */
static int check_slices(struct bind *b, enum num_slices how, const struct tensor *t, int dim,
			const struct tensor *ix)
{
	struct tensor *v;

	if (how == SLICES_FILL)
		return check_filled(b, ix);
	if (bind_tensor(b, 3, &v))
		return -1;
	return how == SLICES_ADD ? check_added(b, t, dim, ix, v) : check_copied(b, t, dim, ix, v);
}

/* input, dim, index, source, *, alpha=1. The last slot exists for index_add only. */
static int index_write(struct bind *b, enum num_slices how)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, *ix, v, y;
	double alpha = 1;
	int dim, rc;

	if (bind_tensor(b, 0, &t) || bind_dim(b, 1, t->ndim, &dim) || bind_tensor(b, 2, &ix) ||
	    check_slices(b, how, t, dim, ix) ||
	    torch_value(b, 3, t, &v) || (b->n > 4 && bind_float(b, 4, &alpha)))
		return -1;
	if (b->row->flags & BIND_INPLACE) {
		rc = num_index_add(&c, t, dim, ix, &v, how, alpha, bind_e(b));
		tensor_release(&v);
		return rc ? bind_fail(b) : bind_self(b);
	}
	rc = num_clone(&c, &y, t, bind_e(b));
	if (!rc && num_index_add(&c, &y, dim, ix, &v, how, alpha, bind_e(b))) {
		tensor_release(&y);
		rc = -1;
	}
	tensor_release(&v);
	return done(b, rc, &y);
}

static int i_index_add(struct bind *b) { return index_write(b, SLICES_ADD); }
static int i_index_copy(struct bind *b) { return index_write(b, SLICES_COPY); }
static int i_index_fill(struct bind *b) { return index_write(b, SLICES_FILL); }

/* input, indices, values, accumulate=False. Unlike t[ix] = v the dtypes must match. */
static int i_index_put(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct num_index ix = { .n = 0 };
	struct tensor *t, **list, v, y;
	size_t n;
	int accumulate, rc;

	if (bind_tensor(b, 0, &t) || bind_tensors(b, 1, &list, &n) || bind_bool(b, 3, &accumulate) ||
	    torch_value(b, 2, t, &v))
		return -1;
	if (b->a[2].kind == V_TENSOR && b->a[2].u.t->t.dt != t->dt) {
		tensor_release(&v);
		return bind_raise(b, EXC_RuntimeError,
				  "Index put requires the source and destination dtypes match, "
				  "got %s for the destination and %s for the source.",
				  num_type_name(t->dt), num_type_name(b->a[2].u.t->t.dt));
	}
	for (size_t i = 0; i < n && i < TENSOR_DIMS; i++)
		ix.v[ix.n++] = list[i];
	if (b->row->flags & BIND_INPLACE) {
		rc = num_index_put(&c, t, &ix, &v, accumulate, bind_e(b));
		tensor_release(&v);
		return rc ? bind_fail(b) : bind_self(b);
	}
	rc = num_clone(&c, &y, t, bind_e(b));
	if (!rc && num_index_put(&c, &y, &ix, &v, accumulate, bind_e(b))) {
		tensor_release(&y);
		rc = -1;
	}
	tensor_release(&v);
	return done(b, rc, &y);
}

/* input, index: elements of the flattened input. */
static int i_take(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, *ix, y;

	if (bind_tensor(b, 0, &t) || bind_tensor(b, 1, &ix))
		return -1;
	return done(b, num_take(&c, &y, t, ix, bind_e(b)), &y);
}

/* input, mask: a vector whose size depends on the values (BIND_SIZED). */
static int i_masked_select(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, *m, y;

	if (bind_tensor(b, 0, &t) || bind_tensor(b, 1, &m))
		return -1;
	return done(b, num_masked_select(&c, &y, t, m, bind_e(b)), &y);
}

/* self, mask, source: elements of source in order, where the mask is true. source must have
 * enough of them. */
static int i_masked_scatter(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, *m, *s, flat = { .st = NULL }, part = { .st = NULL }, positions = { .st = NULL },
		mask = { .st = NULL }, y;
	int rc;

	if (bind_tensor(b, 0, &t) || bind_tensor(b, 1, &m) || bind_tensor(b, 2, &s))
		return -1;
	if (t->dt != s->dt)
		return bind_raise(b, EXC_RuntimeError,
				  "masked_scatter: expected self and source to have same dtypes but got%s and %s",
				  num_type_name(t->dt), num_type_name(s->dt));
	if (num_clone(&c, &y, t, bind_e(b)))
		return bind_fail(b);
	rc = tensor_expand(&mask, m, t->ndim, t->shape, bind_e(b)) || num_nonzero(&c, &positions, &mask, bind_e(b)) ||
	     num_reshape(&c, &flat, s, 1, (int64_t[]){ -1 }, bind_e(b));
	/* positions has a row per true element of the mask. */
	if (!rc && flat.shape[0] < positions.shape[0])
		rc = err_set(bind_e(b), ERR_STATE,
			     "masked_scatter_: expected self and source to have same dtypes and enough elements");
	rc = rc || tensor_slice(&part, &flat, 0, 0, positions.shape[0], 1, bind_e(b)) ||
	     num_index_put(&c, &y, &(struct num_index){ .v = { &mask }, .n = 1 }, &part, 0, bind_e(b));
	tensor_release(&flat);
	tensor_release(&part);
	tensor_release(&positions);
	tensor_release(&mask);
	if (rc) {
		tensor_release(&y);
		return bind_fail(b);
	}
	return torch_give(b, &y);
}

/* Columns of nonzero(); each is a strided view. */
int torch_nonzero_tuple(struct bind *b, const struct tensor *t)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor positions, col[TENSOR_DIMS];
	int rc = 0;

	if (num_nonzero(&c, &positions, t, bind_e(b)))
		return bind_fail(b);
	for (int i = 0; i < t->ndim && !rc; i++)
		rc = tensor_select(&col[i], &positions, 1, i, bind_e(b));
	tensor_release(&positions);
	return rc ? bind_fail(b) : bind_tuple(b, col, (size_t)t->ndim);
}

/* PyTorch stores the result of nonzero() by columns: all first coordinates, then all second
 * ones. The strides are visible to kernels, so the result is repacked. */
static int by_columns(struct bind *b, struct tensor *positions)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor transposed, packed, y;
	int rc;

	if (positions->ndim != 2)
		return bind_result(b, positions);
	rc = tensor_transpose(&transposed, positions, 0, 1, bind_e(b));
	tensor_release(positions);
	if (rc)
		return bind_fail(b);
	rc = num_to(&c, &packed, &transposed, transposed.dt, bind_e(b));
	tensor_release(&transposed);
	if (rc)
		return bind_fail(b);
	rc = tensor_transpose(&y, &packed, 0, 1, bind_e(b));
	tensor_release(&packed);
	return rc ? bind_fail(b) : bind_result(b, &y);
}

/* input, *, as_tuple=False */
static int i_nonzero(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, y;
	int as_tuple;

	if (bind_tensor(b, 0, &t) || bind_bool(b, 1, &as_tuple))
		return -1;
	if (as_tuple)
		return torch_nonzero_tuple(b, t);
	if (num_nonzero(&c, &y, t, bind_e(b)))
		return bind_fail(b);
	return by_columns(b, &y);
}

/* input, weight, padding_idx=None, max_norm=None, ... padding_idx concerns gradients only;
 * max_norm would change the weight and is refused. */
static int f_embedding(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *ix, *w, y;
	int64_t pad = 0;

	if (bind_tensor(b, 0, &ix) || bind_tensor(b, 1, &w) || (bind_given(b, 2) && bind_int(b, 2, &pad)))
		return -1;
	if (w->ndim && (pad < -w->shape[0] || pad >= w->shape[0]) && bind_given(b, 2))
		return bind_raise(b, EXC_AssertionError, "Padding_idx must be within num_embeddings");
	/* max_norm rescales rows of the weight in place before the lookup. */
	if (bind_given(b, 3))
		return bind_unsupported(b, "embedding with max_norm, which changes the weight");
	return done(b, num_embedding(&c, &y, w, ix, bind_e(b)), &y);
}

/* tensor, num_classes=-1. Without a class count the size of the result reveals the largest
 * class. */
static int f_one_hot(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, y;
	int64_t n;

	if (bind_tensor(b, 0, &t) || bind_int(b, 1, &n))
		return -1;
	if (n < 0 && host_may_read(b->h, DT_I64, 1))      /* the result's size tells the largest class */
		return -1;
	return done(b, num_one_hot(&c, &y, t, n, bind_e(b)), &y);
}

/* BOTH_AS makes the function and the method; WRITE_AS also the method in place. `kind` says
 * whether the function moves elements (MOVE) or computes with them. */
#define BOTH_AS(name, sig, fn, kind) { "torch." name, "input, " sig, fn, kind }, \
	{ "torch.Tensor." name, "self, " sig, fn, kind }
#define WRITE_AS(name, sig, fn, kind) BOTH_AS(name, sig, fn, kind), { "torch.Tensor." name "_", "self, " sig, \
								      fn, (kind) | BIND_INPLACE }
#define MOVE (BIND_COPY | BIND_MOVE)
#define BOTH(name, sig, fn) BOTH_AS(name, sig, fn, MOVE)
#define WRITE(name, sig, fn) WRITE_AS(name, sig, fn, MOVE)

const struct bind_row torch_index_rows[] = {
	BOTH("gather", "dim, index, *, sparse_grad=False", i_gather),
	BOTH("take_along_dim", "indices, dim=None", i_take_along_dim),
	WRITE("scatter", "dim, index, src=?, *, reduce=None, value=?", i_scatter),
	WRITE_AS("scatter_add", "dim, index, src", i_scatter_add, BIND_COMPUTE),
	WRITE_AS("scatter_reduce", "dim, index, src, reduce, *, include_self=True", i_scatter_reduce, BIND_COMPUTE),
	BOTH("index_select", "dim, index", i_index_select),
	WRITE_AS("index_add", "dim, index, source, *, alpha=1", i_index_add, BIND_COMPUTE),
	WRITE("index_copy", "dim, index, source", i_index_copy),
	WRITE("index_fill", "dim, index, value", i_index_fill),
	WRITE("index_put", "indices, values, accumulate=False", i_index_put),
	BOTH("take", "index", i_take),
	BOTH_AS("masked_select", "mask", i_masked_select, MOVE | BIND_SIZED),
	WRITE("masked_scatter", "mask, source", i_masked_scatter),
	BOTH_AS("nonzero", "*, as_tuple=False", i_nonzero, BIND_COMPUTE | BIND_SIZED),
	ALIAS("torch.argwhere", "torch.nonzero"),
	{ "torch.nn.functional.embedding",
	  "input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False",
	  f_embedding, MOVE },
	{ "torch.nn.functional.one_hot", "tensor, num_classes=-1", f_one_hot, BIND_COMPUTE },
	{ NULL, NULL, NULL, 0 }
};
