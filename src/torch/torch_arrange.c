/* Bindings that join, repeat, move and cut tensors: cat, stack, flip, roll, repeat, meshgrid,
 * tril and triu, diag. Results are copies, except meshgrid's views. Each function states the
 * slots of its signature if it uses them by number. */
#include "base/mem.h"
#include "num/nn.h"
#include "num/shape.h"
#include "tensor/sparse.h"
#include "torch/torch.h"

/* The usual end of a binding: the result, or the error of the operator. */
static int done(struct bind *b, int rc, struct tensor *y)
{
	return rc ? bind_fail(b) : bind_result(b, y);
}

/* --- joining ----------------------------------------------------------------------------------- */

/* tensors, dim=0, *, out=None */
static int join(struct bind *b, int stack)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor **t, y;
	int64_t dim;
	size_t n;

	if (bind_tensors(b, 0, &t, &n) || bind_int(b, 1, &dim))
		return -1;
	if ((stack ? num_stack : num_cat)(&c, &y, (const struct tensor *const *)t, (int)n, dim, bind_e(b)))
		return bind_fail(b);
	return torch_result(b, &y, 2);
}

static int a_cat(struct bind *b) { return join(b, 0); }
static int a_stack(struct bind *b) { return join(b, 1); }

/* hstack, vstack, dstack: a cat along `dim` of tensors that are first given at least
 * `at_least` dimensions. vstack adds leading ones; dstack makes [n] a [1, n, 1] and [n, m] a
 * [n, m, 1]. */
static int stack_along(struct bind *b, int at_least, int dim)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor **t, *v, y;
	const struct tensor **list;
	size_t n, made = 0;
	int rc = 0;

	if (bind_tensors(b, 0, &t, &n))
		return -1;
	v = mem_array(n + 1, sizeof *v);
	list = mem_array(n + 1, sizeof *list);
	if (!v || !list) {
		mem_free(v);
		mem_free(list);
		err_nomem(bind_e(b));
		return bind_fail(b);
	}
	for (; made < n && !rc; made++) {
		int64_t shape[TENSOR_DIMS] = { 1, 1, 1 };
		int nd = MAX(t[made]->ndim, at_least), lead = at_least == 3 && t[made]->ndim == 1 ? 1 :
			at_least == 2 ? nd - t[made]->ndim : 0;

		for (int i = 0; i < nd; i++)
			shape[i] = i - lead >= 0 && i - lead < t[made]->ndim ? t[made]->shape[i - lead] : 1;
		rc = num_reshape(&c, &v[made], t[made], nd, shape, bind_e(b));
		list[made] = &v[made];
	}
	/* hstack joins vectors along their only dimension. */
	if (dim == 1 && n && v[0].ndim == 1)
		dim = 0;
	rc = rc || num_cat(&c, &y, list, (int)n, dim, bind_e(b));
	for (size_t i = 0; i < made; i++)
		tensor_release(&v[i]);
	mem_free(v);
	mem_free(list);
	return done(b, rc, &y);
}

static int a_hstack(struct bind *b) { return stack_along(b, 1, 1); }
static int a_vstack(struct bind *b) { return stack_along(b, 2, 0); }
static int a_dstack(struct bind *b) { return stack_along(b, 3, 2); }

/* --- moving ------------------------------------------------------------------------------------- */

/* dims may repeat in no form: -1 and the last dimension are the same. */
static int a_flip(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, y;
	struct bind_ints d;
	unsigned mask = 0;

	if (bind_tensor(b, 0, &t) || bind_shape(b, 1, &d))
		return -1;
	for (int i = 0; i < d.n; i++) {
		int k = 0;

		if (tensor_wrap_dim(&k, d.v[i], t->ndim, bind_e(b)))
			return bind_fail(b);
		if (mask >> k & 1)
			return bind_shape_error(b, "dim %d appears multiple times in the list of dims", k);
		mask |= 1u << k;
	}
	return done(b, num_flip(&c, &y, t, mask, bind_e(b)), &y);
}

/* fliplr and flipud: one fixed dimension. */
static int flip_one(struct bind *b, int dim, int least)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, y;

	if (bind_tensor(b, 0, &t))
		return -1;
	if (t->ndim < least)
		return bind_shape_error(b, "Input must be >= %d-d.", least);
	return done(b, num_flip(&c, &y, t, 1u << dim, bind_e(b)), &y);
}

static int a_fliplr(struct bind *b) { return flip_one(b, 1, 2); }
static int a_flipud(struct bind *b) { return flip_one(b, 0, 1); }

/* input, shifts, dims=None. Without dims the flattened tensor is rolled and seen in its shape
 * again. */
static int a_roll(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, flat, r, y;
	struct bind_ints shift, dims;
	int d[TENSOR_DIMS], rc;

	if (bind_tensor(b, 0, &t) || bind_ints(b, 1, &shift) || bind_dims(b, 2, t->ndim, &dims))
		return -1;
	if (dims.n == 0 && shift.n == 1) {
		if (num_reshape(&c, &flat, t, 1, (int64_t[]){ -1 }, bind_e(b)))
			return bind_fail(b);
		rc = num_roll(&c, &r, &flat, 1, shift.v, (int[]){ 0 }, bind_e(b));
		tensor_release(&flat);
		if (rc)
			return bind_fail(b);
		rc = tensor_view(&y, &r, t->ndim, t->shape, bind_e(b));
		tensor_release(&r);
		return done(b, rc, &y);
	}
	if (shift.n != dims.n)
		return bind_shape_error(b, "shifts and dimensions must align. shifts: %d, dims:%d", shift.n, dims.n);
	for (int i = 0; i < dims.n; i++)
		d[i] = (int)dims.v[i];
	return done(b, num_roll(&c, &y, t, dims.n, shift.v, d, bind_e(b)), &y);
}

/* The two dimensions of rot90 (slot 2, default (0, 1)). They must differ, also after negative
 * ones are wrapped. */
static int rotation(struct bind *b, const struct tensor *t, struct bind_ints *d)
{
	int64_t x, y;

	*d = (struct bind_ints){ .v = { 0, 1 }, .n = 2 };
	if (bind_given(b, 2) && bind_shape(b, 2, d))
		return -1;
	if (d->n != 2)
		return bind_shape_error(b, "expected total rotation dims == 2, but got dims = %d", d->n);
	if (t->ndim < 2)
		return bind_shape_error(b, "expected total dims >= 2, but got total dims = %d", t->ndim);
	x = d->v[0];
	y = d->v[1];
	if (x == y || x - y == t->ndim || y - x == t->ndim)
		return bind_shape_error(b,
					"expected rotation dims to be different, but got dim0 = %lld and dim1 = %lld",
					(long long)x, (long long)y);
	return bind_given(b, 2) ? bind_dims(b, 2, t->ndim, d) : 0;
}

/* k quarter turns from the first towards the second dimension: 1 and 3 are a flip and a
 * transpose, 2 is two flips. k = 0 gives a copy. */
static int a_rot90(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, f, y;
	struct bind_ints d;
	int64_t k;
	int rc;

	if (bind_tensor(b, 0, &t) || bind_int(b, 1, &k) || rotation(b, t, &d))
		return -1;
	/* Four quarter turns are none; negative ones turn the other way. */
	k = (k % 4 + 4) % 4;
	if (k == 0 || k == 2)
		return done(b, k ? num_flip(&c, &y, t, 1u << d.v[0] | 1u << d.v[1], bind_e(b)) :
			    num_clone(&c, &y, t, bind_e(b)), &y);
	/* k = 1 flips the second dimension, k = 3 the first; the transpose does the rest. */
	if (num_flip(&c, &f, t, 1u << d.v[k == 1], bind_e(b)))
		return bind_fail(b);
	rc = tensor_transpose(&y, &f, d.v[0], d.v[1], bind_e(b));
	tensor_release(&f);
	return done(b, rc, &y);
}

/* self, *sizes: as many counts as dimensions or more. */
static int a_repeat(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, y;
	struct bind_ints n;

	if (bind_tensor(b, 0, &t) || bind_shape(b, 1, &n))
		return -1;
	return done(b, num_repeat(&c, &y, t, n.n, n.v, bind_e(b)), &y);
}

/* torch.tile: as repeat, but missing leading counts are 1. */
static int a_tile(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, y;
	struct bind_ints n;
	int64_t full[TENSOR_DIMS];
	int m;

	if (bind_tensor(b, 0, &t) || bind_shape(b, 1, &n))
		return -1;
	m = MAX(n.n, t->ndim);
	for (int i = 0; i < m; i++)
		full[i] = i < m - n.n ? 1 : n.v[i - (m - n.n)];
	return done(b, num_repeat(&c, &y, t, m, full, bind_e(b)), &y);
}

/* output_size= of repeat_interleave must be the size that results. The two messages are
 * PyTorch's for counts given as a number and as a tensor. */
static int of_size(struct bind *b, struct tensor *y, int dim, int number)
{
	int64_t want, have = y->ndim ? y->shape[dim] : 1;

	if (!bind_given(b, 3))
		return bind_result(b, y);
	if (bind_int(b, 3, &want)) {
		tensor_release(y);
		return -1;
	}
	if (want != have) {
		tensor_release(y);
		return number ? bind_raise(b, EXC_RuntimeError,
					   "repeat_interleave: Invalid output_size, expected %lld but got %lld",
					   (long long)have, (long long)want)
			      : bind_raise(b, EXC_RuntimeError, "allocated size does not match required size");
	}
	return bind_result(b, y);
}

/* The size of the result follows from the repeats, so their contents must be known or
 * readable. Reading tells the program the values, unless it gave output_size. In a dry run
 * the contents of some tensors are known (sparse). */
static int knows_repeats(struct bind *b, const struct tensor *t)
{
	int64_t lo, hi;

	if (!t->st->hollow)
		return bind_given(b, 3) ? 0 : host_may_read(b->h, DT_I64, 1);
	tensor_span(t, &lo, &hi);
	if (lo == hi || (t->dt == DT_I64 && tensor_is_contiguous(t) && t->st->sparse &&
			 !sparse_touch(t->st, (size_t)lo, (size_t)hi) &&
					   sparse_is_known(t->st, (size_t)lo, (size_t)hi)))
		return 0;
	return host_may_read(b->h, DT_I64, 1);
}

/* input, repeats, dim=None, *, output_size=None. A number of repeats becomes a tensor of one
 * element; without dim the input is flattened. */
static int a_repeat_interleave(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, *times, one = { .st = NULL }, flat = { .st = NULL }, y;
	int64_t k;
	int dim = 0, rc;

	if (bind_tensor(b, 0, &t))
		return -1;
	if (b->a[1].kind == V_TENSOR) {
		if (bind_tensor(b, 1, &times) || knows_repeats(b, times))
			return -1;
	} else {
		if (bind_int(b, 1, &k))
			return -1;
		if (num_new(&c, &one, DT_I64, 1, (int64_t[]){ 1 }, bind_e(b)))
			return bind_fail(b);
		*(int64_t *)tensor_data(&one) = k;
		times = &one;
	}
	if (bind_given(b, 2) && bind_dim(b, 2, t->ndim, &dim)) {
		tensor_release(&one);
		return -1;
	}
	rc = !bind_given(b, 2) && num_reshape(&c, &flat, t, 1, (int64_t[]){ -1 }, bind_e(b));
	rc = rc || num_repeat_interleave(&c, &y, flat.st ? &flat : t, times, dim, bind_e(b));
	tensor_release(&flat);
	tensor_release(&one);
	return rc ? bind_fail(b) : of_size(b, &y, dim, times == &one);
}

/* *tensors, indexing=None. The results are views of stride 0 over the vectors; "xy" swaps the
 * first two dimensions. */
static int a_meshgrid(struct bind *b)
{
	struct tensor **t, *v;
	int64_t shape[TENSOR_DIMS];
	size_t n;
	int xy = 0, rc = 0;

	if (bind_tensors(b, 0, &t, &n))
		return -1;
	if (n == 0)
		return bind_shape_error(b, "meshgrid expects a non-empty TensorList");
	if (bind_given(b, 1)) {
		static const char *const names[] = { "ij", "xy", NULL };

		if (torch_choice(b, 1, names, "indexing", &xy))
			return -1;
	}
	for (size_t i = 1; i < n; i++)
		if (t[i]->dt != t[0]->dt)
			return bind_raise(b, EXC_RuntimeError,
					  "torch.meshgrid expects all tensors to have the same dtype");
	for (size_t i = 0; i < n; i++)
		if (t[i]->ndim > 1)
			return bind_raise(b, EXC_RuntimeError,
					  "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: %dD",
					  t[i]->ndim);
	if (n > TENSOR_DIMS)
		return bind_unsupported(b, "meshgrid of more than %d tensors", TENSOR_DIMS);
	for (size_t i = 0; i < n; i++)
		shape[i] = t[i]->ndim ? t[i]->shape[0] : 1;
	if (tensor_check_sizes((int)n, shape, bind_e(b)))
		return bind_fail(b);
	v = mem_array(n + 1, sizeof *v);
	for (size_t i = 0; i < n && v && !rc; i++) {
		struct tensor line = *t[i];

		/* A view: the vector along its own dimension, stride 0 along the others. */
		line.ndim = (int)n;
		for (size_t k = 0; k < n; k++) {
			line.shape[k] = shape[k];
			line.stride[k] = k == i ? (t[i]->ndim ? t[i]->stride[0] : 0) : 0;
		}
		tensor_retain(&line);
		if (xy && n >= 2) {
			rc = tensor_transpose(&v[i], &line, 0, 1, bind_e(b));
			tensor_release(&line);
		} else {
			v[i] = line;
		}
	}
	rc = rc || !v ? (v ? 0 : err_nomem(bind_e(b)), bind_fail(b)) : bind_tuple(b, v, n);
	mem_free(v);
	return rc;
}

/* --- triangles -------------------------------------------------------------------------------------- */

/* input, diagonal=0; tril_ and triu_ in place. */
static int triangle(struct bind *b, int upper)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, y;
	int64_t d;

	if (bind_tensor(b, 0, &t) || bind_int(b, 1, &d))
		return -1;
	return num_tri(&c, &y, t, d, upper, bind_e(b)) ? bind_fail(b) : torch_give(b, &y);
}

static int a_tril(struct bind *b) { return triangle(b, 0); }
static int a_triu(struct bind *b) { return triangle(b, 1); }

/* input, diagonal=0: a vector becomes a matrix, a matrix gives its diagonal. */
static int a_diag(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, y;
	int64_t d;

	if (bind_tensor(b, 0, &t) || bind_int(b, 1, &d))
		return -1;
	return done(b, num_diag(&c, &y, t, d, bind_e(b)), &y);
}

/* input [..., n] becomes [..., n, n] with the input on the diagonal of the last two
 * dimensions. */
static int a_diag_embed(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, y, v;
	int64_t shape[TENSOR_DIMS];
	int rc;

	if (bind_tensor(b, 0, &t))
		return -1;
	if (t->ndim < 1 || t->ndim >= TENSOR_DIMS)
		return bind_shape_error(b, "diag_embed needs at least one dimension");
	for (int i = 0; i < t->ndim; i++)
		shape[i] = t->shape[i];
	shape[t->ndim] = t->shape[t->ndim - 1];
	if (num_new(&c, &y, t->dt, t->ndim + 1, shape, bind_e(b)))
		return bind_fail(b);
	/* Zeros, then a copy onto a view of the diagonal. */
	rc = num_fill(&c, &y, num_i(0), bind_e(b)) || num_diagonal(&v, &y, 0, t->ndim - 1, t->ndim, bind_e(b));
	if (!rc) {
		rc = tensor_copy(&v, t, bind_e(b));
		tensor_release(&v);
	}
	if (rc)
		tensor_release(&y);
	return done(b, rc, &y);
}

/* Sum of the main diagonal of a matrix. */
static int a_trace(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, v, y;
	int rc;

	if (bind_tensor(b, 0, &t))
		return -1;
	if (t->ndim != 2)
		return bind_shape_error(b, "trace: expected a matrix");
	if (num_diagonal(&v, t, 0, 0, 1, bind_e(b)))
		return bind_fail(b);
	rc = num_sum(&c, &y, &v, NULL, 0, -1, bind_e(b));
	tensor_release(&v);
	return done(b, rc, &y);
}

/* MOVE: elements are copied to other positions without arithmetic (bind.h). */
#define MOVE (BIND_COPY | BIND_MOVE)
#define BOTH(name, sig, fn) { "torch." name, "input" sig, fn, MOVE }, { "torch.Tensor." name, "self" sig, fn, MOVE }

const struct bind_row torch_arrange_rows[] = {
	{ "torch.cat", "tensors, dim=0, *, out=None", a_cat, MOVE },
	ALIAS("torch.concat", "torch.cat"),
	ALIAS("torch.concatenate", "torch.cat"),
	{ "torch.stack", "tensors, dim=0, *, out=None", a_stack, MOVE },
	{ "torch.hstack", "tensors", a_hstack, MOVE },
	{ "torch.vstack", "tensors", a_vstack, MOVE },
	{ "torch.dstack", "tensors", a_dstack, MOVE },
	{ "torch.flip", "input, dims: tuple | list", a_flip, MOVE },
	{ "torch.Tensor.flip", "self, *dims", a_flip, MOVE },
	BOTH("fliplr", "", a_fliplr),
	BOTH("flipud", "", a_flipud),
	BOTH("roll", ", shifts, dims=None", a_roll),
	BOTH("rot90", ", k=1, dims=?", a_rot90),
	{ "torch.Tensor.repeat", "self, *sizes", a_repeat, MOVE },
	{ "torch.tile", "input, dims", a_tile, MOVE },
	{ "torch.Tensor.tile", "self, *dims", a_tile, MOVE },
	BOTH("repeat_interleave", ", repeats, dim=None, *, output_size=None", a_repeat_interleave),
	{ "torch.meshgrid", "*tensors, indexing=None", a_meshgrid, BIND_VIEW },
	BOTH("tril", ", diagonal=0", a_tril),
	BOTH("triu", ", diagonal=0", a_triu),
	{ "torch.Tensor.tril_", "self, diagonal=0", a_tril, MOVE | BIND_INPLACE },
	{ "torch.Tensor.triu_", "self, diagonal=0", a_triu, MOVE | BIND_INPLACE },
	BOTH("diag", ", diagonal=0", a_diag),
	BOTH("diag_embed", "", a_diag_embed),
	{ "torch.trace", "input", a_trace, BIND_COMPUTE },
	ALIAS("torch.Tensor.trace", "torch.trace"),
	{ NULL, NULL, NULL, 0 }
};
