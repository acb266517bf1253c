/* Bindings that make tensors: empty, zeros, full, arange, eye, tensor and their kin.
 *
 * Two dtypes are at work: the one that the program asks for and, in the oracle, float64 for
 * every float (host_dtype). Contents are rounded to the program's dtype in both. A dry run
 * makes tensors without contents but notes what is known of them (sparse): zeros, and numbers
 * of the program. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "interp/fail.h"
#include "interp/iter.h"
#include "interp/scalar.h"
#include "interp/state.h"
#include "num/shape.h"
#include "tensor/sparse.h"
#include "torch/torch.h"

/* The dtype slot, or the default float dtype. This is the program's dtype, not the oracle's. */
static int dtype_or_default(struct bind *b, size_t i, enum dtype *dt)
{
	return bind_dtype(b, i, host_default_dtype(b->h), dt);
}

/* Finishes a new tensor. Slots first, first + 1 and first + 2 are dtype, device and
 * requires_grad. */
static int made(struct bind *b, struct tensor *t, size_t first)
{
	int grad = 0;

	if (bind_result(b, t))
		return -1;
	if (first + 1 < b->n && torch_on_device(b, first + 1))
		return -1;
	if (first + 2 < b->n && bind_bool(b, first + 2, &grad))
		return -1;
	if (grad && b->out.kind == V_TENSOR && !dtype_is_float(b->out.u.t->t.dt))
		return bind_raise(b, EXC_RuntimeError,
				  "Only Tensors of floating point and complex dtype can require gradients");
	if (grad && b->out.kind == V_TENSOR)
		b->out.u.t->requires_grad = b->out.u.t->leaf = 1;
	return 0;
}

enum content { EMPTY, ZERO, ONE };

/* A hollow tensor of zeros: what no kernel writes is known to be zero. */
static int note_zero(struct bind *b, struct tensor *t, enum content what)
{
	if (what != ZERO || !t->st->hollow || !sparse_zero(t->st))
		return 0;
	tensor_release(t);
	return host_fatal(b->h, REASON_out_of_memory, "the machine is out of memory");
}

/* A contiguous tensor with the given contents; EMPTY leaves them undefined. */
static int new_filled(struct bind *b, struct tensor *t, enum dtype dt, int ndim,
		      const int64_t *shape, enum content what)
{
	struct num_ctx c = torch_ctx(b);

	if (num_new(&c, t, host_dtype(b->h, dt), ndim, shape, bind_e(b)))
		return bind_fail(b);
	if (what == ONE && num_fill(&c, t, num_i(1), bind_e(b))) {
		tensor_release(t);
		return bind_fail(b);
	}
	/* A hollow storage has no memory to fill: storage_fill skips it. */
	if (what == ZERO)
		storage_fill(t->st, 0);
	return note_zero(b, t, what);
}

/* An empty tensor holds what was in memory before. The host makes its elements count as never
 * written, so that a result that depends on them is noticed. */
static void mark_empty(struct bind *b, enum content what)
{
	if (what != EMPTY || b->out.kind != V_TENSOR)
		return;
	b->out.u.t->made_empty = 1;
	host_forget(b->h, &b->out.u.t->t);
}

/* *size, dtype=None, device=None, requires_grad=False, ... */
static int by_size(struct bind *b, enum content what)
{
	struct bind_ints s;
	struct tensor t;
	enum dtype dt;

	if (bind_shape(b, 0, &s) || dtype_or_default(b, 1, &dt) || new_filled(b, &t, dt, s.n, s.v, what) ||
	    made(b, &t, 1))
		return -1;
	mark_empty(b, what);
	return 0;
}

/* ..., memory_format=None in slot 6. No element has a value yet, so the strides may simply be
 * replaced. */
static int c_empty(struct bind *b)
{
	int64_t stride[TENSOR_DIMS];
	struct tensor *t;
	int given;

	if (by_size(b, EMPTY))
		return -1;
	if (b->out.kind != V_TENSOR)
		return 0;
	t = &b->out.u.t->t;
	given = torch_format(b, 6, 1, t->ndim, t->shape, stride);
	if (given > 0)
		memcpy(t->stride, stride, sizeof *stride * (size_t)t->ndim);
	return given < 0 ? -1 : 0;
}

static int c_zeros(struct bind *b) { return by_size(b, ZERO); }
static int c_ones(struct bind *b) { return by_size(b, ONE); }

/* input, *, dtype=None, device=None, requires_grad=False, ..., memory_format in slot 6 */
static int by_like(struct bind *b, enum content what)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, t;
	enum dtype dt;

	if (bind_tensor(b, 0, &x) || bind_dtype(b, 1, x->dt, &dt) || torch_new_like(b, &t, host_dtype(b->h, dt), x, 6))
		return -1;
	if (what != EMPTY)
		storage_fill(t.st, 0);
	if (what == ONE && num_fill(&c, &t, num_i(1), bind_e(b)))
		return bind_fail(b);
	if (note_zero(b, &t, what) || made(b, &t, 1))
		return -1;
	mark_empty(b, what);
	return 0;
}

static int c_empty_like(struct bind *b) { return by_like(b, EMPTY); }
static int c_zeros_like(struct bind *b) { return by_like(b, ZERO); }
static int c_ones_like(struct bind *b) { return by_like(b, ONE); }

/* self, *size, dtype=None, device=None, requires_grad=False: the dtype is self's by default. */
static int by_new(struct bind *b, enum content what)
{
	struct bind_ints s;
	struct tensor *x, t;
	enum dtype dt;

	if (bind_tensor(b, 0, &x) || bind_shape(b, 1, &s) || bind_dtype(b, 2, x->dt, &dt) ||
	    new_filled(b, &t, dt, s.n, s.v, what) || made(b, &t, 2))
		return -1;
	mark_empty(b, what);
	return 0;
}

static int c_new_empty(struct bind *b) { return by_new(b, EMPTY); }
static int c_new_zeros(struct bind *b) { return by_new(b, ZERO); }
static int c_new_ones(struct bind *b) { return by_new(b, ONE); }

/* size, stride, *, dtype=None, device=None, requires_grad=False */
static int c_empty_strided(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct bind_ints s, st;
	struct tensor t;
	enum dtype dt;

	if (bind_ints(b, 0, &s) || bind_ints(b, 1, &st) || dtype_or_default(b, 2, &dt))
		return -1;
	if (s.n != st.n)
		return bind_shape_error(b,
					"dimensionality of sizes (%d) must match dimensionality of strides (%d)",
					s.n, st.n);
	for (int i = 0; i < st.n; i++)
		if (st.v[i] < 0 && s.v[i] > 1)
			return bind_shape_error(b,
						"Storage size calculation overflowed with sizes=%s and strides=%s",
						SHAPE_TEXT(s.n, s.v),
						SHAPE_TEXT(st.n, st.v));
		else if (st.v[i] < 0)   /* PyTorch accepts a negative stride that no element uses */
			return bind_unsupported(b, "empty_strided with a negative stride");
	if (tensor_check_strides(st.n, st.v, bind_e(b)) ||
	    num_new_strided(&c, &t, host_dtype(b->h, dt), s.n, s.v, st.v, bind_e(b)))
		return bind_fail(b);
	if (made(b, &t, 2))
		return -1;
	mark_empty(b, EMPTY);
	return 0;
}

/* The dtype of torch.full without dtype=: it follows the fill value. */
static enum dtype number_dtype(struct bind *b, const struct num_arg *v)
{
	return v->kind == NUM_FLOAT ? host_default_dtype(b->h) : v->kind == NUM_BOOL ? DT_BOOL :
		v->kind == NUM_INT ? DT_I64 : v->t->dt;
}

/* Fills *t with a number or a 0-d tensor; releases it on failure. */
static int filled_with(struct bind *b, struct tensor *t, struct num_arg v)
{
	struct num_ctx c = torch_ctx(b);
	int rc = v.kind == NUM_TENSOR ? tensor_copy(t, v.t, bind_e(b))
				      : num_fill(&c, t, v, bind_e(b));

	if (rc) {
		tensor_release(t);
		return bind_fail(b);
	}
	return 0;
}

/* size, fill_value, *, dtype=None, device=None, requires_grad=False */
static int c_full(struct bind *b)
{
	struct bind_ints s;
	struct num_arg v;
	struct tensor t;
	enum dtype dt;

	if (bind_ints(b, 0, &s) || torch_arg(b, 1, &v))
		return -1;
	if (v.kind == NUM_TENSOR && v.t->ndim)
		return bind_raise(b, EXC_TypeError,
				  "full(): argument 'fill_value' (position 2) must be Number, not Tensor");
	if (bind_dtype(b, 2, number_dtype(b, &v), &dt) ||
	    new_filled(b, &t, dt, s.n, s.v, ZERO) || filled_with(b, &t, v))
		return -1;
	return made(b, &t, 2);
}

/* input, fill_value, *, ... with memory_format in slot 7 */
static int c_full_like(struct bind *b)
{
	struct num_arg v;
	struct tensor *x, t;
	enum dtype dt;

	if (bind_tensor(b, 0, &x) || torch_arg(b, 1, &v))
		return -1;
	if (v.kind == NUM_TENSOR && v.t->ndim)
		return bind_raise(b, EXC_TypeError,
				  "full_like(): argument 'fill_value' (position 2) must be Number, not Tensor");
	if (bind_dtype(b, 2, x->dt, &dt) || torch_new_like(b, &t, host_dtype(b->h, dt), x, 7))
		return -1;
	return filled_with(b, &t, v) ? -1 : made(b, &t, 2);
}

/* self, size, fill_value, *, dtype=None, device=None, requires_grad=False */
static int c_new_full(struct bind *b)
{
	struct bind_ints s;
	struct num_arg v;
	struct tensor *x, t;
	enum dtype dt;

	if (bind_tensor(b, 0, &x) || bind_ints(b, 1, &s) || torch_arg(b, 2, &v) || bind_dtype(b, 3, x->dt, &dt) ||
	    new_filled(b, &t, dt, s.n, s.v, ZERO) || filled_with(b, &t, v))
		return -1;
	return made(b, &t, 3);
}

/* --- ranges ----------------------------------------------------------------------------------------- */

/* start, end=?, step=1, *, dtype=None, device=None, requires_grad=False. arange(n) has its
 * end in slot 0. Bounds that are 0-d tensors are read, which a judged program may not always
 * do. */
static int c_arange(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct num_arg a = num_i(0), z, s;
	struct tensor t;
	enum dtype dt;
	int floats;

	if (bind_given(b, 1) ? torch_arg(b, 0, &a) || torch_arg(b, 1, &z) : torch_arg(b, 0, &z))
		return -1;
	if (torch_arg(b, 2, &s))
		return -1;
	/* A 0-d tensor as a bound counts by its value: an int or a float. */
	for (struct num_arg *v[] = { &a, &z, &s }, **p = v; p < v + 3; p++)
		if ((*p)->kind == NUM_TENSOR) {
			const struct tensor *x = (*p)->t;
			struct val number;

			if (tensor_numel(x) != 1)
				return bind_shape_error(b, "arange(): bounds must be numbers");
			if (host_read(b->h, x, &number))
				return -1;
			**p = number.kind == V_FLOAT ? num_f(number.u.f) : num_i(number.u.i);
		}
	floats = a.kind == NUM_FLOAT || z.kind == NUM_FLOAT || s.kind == NUM_FLOAT;
	if (bind_dtype(b, 3, floats ? host_default_dtype(b->h) : DT_I64, &dt))
		return -1;
	if (num_arange(&c, &t, a, z, s, dt, bind_e(b)))
		return bind_fail(b);
	return made(b, &t, 3);
}

/* start, end, steps, *, dtype=None, device=None, requires_grad=False */
static int c_linspace(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor t;
	double a, z;
	int64_t n;
	enum dtype dt;

	if (bind_float(b, 0, &a) || bind_float(b, 1, &z) || bind_int(b, 2, &n) || dtype_or_default(b, 3, &dt))
		return -1;
	if (num_linspace(&c, &t, a, z, n, dt, bind_e(b)))
		return bind_fail(b);
	return made(b, &t, 3);
}

/* base ** linspace(start, end), computed in the result's dtype. */
static int c_logspace(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor t, y;
	double a, z, base;
	int64_t n;
	enum dtype dt;
	int rc;

	if (bind_float(b, 0, &a) || bind_float(b, 1, &z) || bind_int(b, 2, &n) || bind_float(b, 3, &base) ||
	    dtype_or_default(b, 4, &dt))
		return -1;
	if (num_linspace(&c, &t, a, z, n, dt, bind_e(b)))
		return bind_fail(b);
	/* The exponents were rounded to the dtype before the power. */
	rc = num_op2(&c, &y, NUM_pow, num_f(base), num_t(&t), bind_e(b));
	tensor_release(&t);
	return rc ? bind_fail(b) : made(b, &y, 4);
}

/* n, m=None, *, dtype=None, device=None, requires_grad=False */
static int c_eye(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor t;
	int64_t n, m;
	enum dtype dt;

	if (bind_int(b, 0, &n) || torch_int(b, 1, n, &m) || dtype_or_default(b, 2, &dt))
		return -1;
	if (num_eye(&c, &t, n, m, host_dtype(b->h, dt), bind_e(b)))
		return bind_fail(b);
	return made(b, &t, 2);
}

/* The columns [from, to) of a row of a triangle. */
struct tri_row { int64_t from, to; };

/* Row i: columns j with j - i <= off (lower) or j - i >= off (upper). An offset that
 * overflows lies beyond the matrix. */
static struct tri_row tri_row(int64_t i, int64_t cols, int64_t off, int upper)
{
	int64_t edge;

	if (ck_add64(i, off, &edge))
		edge = off < 0 ? -1 : cols;
	edge = MIN(MAX(MIN(edge, cols) + !upper, 0), cols);
	return upper ? (struct tri_row){ edge, cols } : (struct tri_row){ 0, edge };
}

/* tril_indices and triu_indices: [2, n] with the row numbers, then the column numbers. The
 * first loop counts n and charges the work before memory is asked for. */
static int tri_indices(struct bind *b, int upper)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor t;
	int64_t rows, cols, off, n = 0, k = 0, bytes, *p;

	if (bind_int(b, 0, &rows) || bind_int(b, 1, &cols) || bind_int(b, 2, &off))
		return -1;
	if (rows < 0 || cols < 0)
		return bind_raise(b, EXC_RuntimeError, "row and col must be non-negative");
	/* The counting loop itself costs steps, even if no index results. */
	if (host_burn(b->h, rows / 16))
		return -1;
	for (int64_t i = 0; i < rows; i++) {
		struct tri_row r = tri_row(i, cols, off, upper);

		if (ck_add64(n, r.to - r.from, &n) || ck_mul64(n, 16, &bytes) || host_room(b->h, bytes))
			return bind_fail(b);
	}
	if (num_new(&c, &t, DT_I64, 2, (int64_t[]){ 2, n }, bind_e(b)))
		return bind_fail(b);
	p = tensor_data(&t);
	for (int64_t i = 0; i < rows && !c.hollow; i++) {
		struct tri_row r = tri_row(i, cols, off, upper);

		for (int64_t j = r.from; j < r.to; j++, k++) {
			p[k] = i;
			p[n + k] = j;
		}
	}
	return bind_result(b, &t);
}

static int c_tril_indices(struct bind *b) { return tri_indices(b, 0); }
static int c_triu_indices(struct bind *b) { return tri_indices(b, 1); }

/* --- from Python values ---------------------------------------------------------------------------------- */

/* The numbers of nested lists, as measure() finds them: shape and ndim of the nest, which kinds
 * occur (floats, ints, bools; doubles and narrow: numpy scalars of float64 and of other types),
 * bad: something that is no number, ragged: lists of different lengths or depths, leaves: a number
 * was seen, tensors: promoted dtype of the n_tensors 0-d tensors. */
struct nest { int64_t shape[TENSOR_DIMS]; int ndim; int floats, ints, bools, bad, ragged, leaves, doubles,
	      narrow; enum dtype tensors; int n_tensors; };

/* Asks for memory for as many numbers as the first list of each depth promises. The same list may
 * occur in a nest many times, so a short program can promise a huge tensor. */
static int nest_room(struct bind *b, struct val v)
{
	int64_t n = 1;

	for (int depth = 0; depth < TENSOR_DIMS && (v.kind == V_LIST || v.kind == V_TUPLE); depth++) {
		if (ck_mul64(n, (int64_t)v.u.seq->n, &n) || n > INT64_MAX / 8 || host_room(b->h, 8 * n))
			return b->h->fail.fatal ? -1 : host_room(b->h, -1);
		if (!v.u.seq->n)
			return 0;
		v = v.u.seq->v[0];
	}
	return host_burn(b->h, n / 16);
}

/* Walks a nest and fills *s. The first list at each depth sets the size of that dimension. */
static void measure(struct nest *s, struct val v, int depth)
{
	if (v.kind == V_LIST || v.kind == V_TUPLE) {
		int64_t n = (int64_t)v.u.seq->n;

		if (depth >= TENSOR_DIMS) {
			s->bad = 1;
			return;
		}
		s->ragged |= depth >= s->ndim && s->leaves;    /* deeper than a number before it */
		if (depth >= s->ndim) {
			s->ndim = depth + 1;
			s->shape[depth] = n;
		}
		s->ragged |= s->shape[depth] != n;
		for (int64_t i = 0; i < n; i++)
			measure(s, v.u.seq->v[i], depth + 1);
		return;
	}
	if (v.kind == V_TENSOR && tensor_numel(&v.u.t->t) == 1) {
		s->tensors = s->n_tensors++ ? num_promote_types(s->tensors, v.u.t->t.dt) : v.u.t->t.dt;
	} else {
		s->floats |= v.kind == V_FLOAT;
		s->doubles |= scalar_is(v) && v.kind == V_FLOAT;
		s->narrow |= scalar_is(v) && v.aux == SCALAR_NARROW;
		s->ints |= v.kind == V_INT;
		s->bools |= v.kind == V_BOOL;
		s->bad |= v.kind != V_FLOAT && v.kind != V_INT && v.kind != V_BOOL;
	}
	s->ragged |= depth != s->ndim;
	s->leaves = 1;
}

/* Tensors among the numbers are read one by one, as Python does; the host may refuse. */
static int read_tensors(struct bind *b, struct val v)
{
	struct val number;
	int rc = 0;

	for (size_t i = 0; (v.kind == V_LIST || v.kind == V_TUPLE) && i < v.u.seq->n && !rc; i++)
		rc = read_tensors(b, v.u.seq->v[i]);
	return v.kind == V_TENSOR ? host_read(b->h, &v.u.t->t, &number) : rc;
}

/* Writes the numbers of a nest to *p in order and advances it. */
static void pour(enum dtype dt, char **p, struct val v)
{
	if (v.kind == V_LIST || v.kind == V_TUPLE) {
		for (size_t i = 0; i < v.u.seq->n; i++)
			pour(dt, p, v.u.seq->v[i]);
		return;
	}
	if (v.kind == V_TENSOR)
		dtype_convert(dt, *p, v.u.t->t.dt, tensor_data(&v.u.t->t), 1);
	else if (v.kind == V_FLOAT)
		dtype_store(dt, *p, v.u.f);
	else
		dtype_store_int(dt, *p, v.u.i);
	*p += dtype_size(dt);
}

/* The dtype of torch.tensor(data): floats over ints over bools; an empty list gives the
 * default float. 0-d tensors promote with the numbers. */
static enum dtype nest_dtype(struct bind *b, const struct nest *s)
{
	enum dtype dt = s->doubles ? DT_F64 : s->floats ? host_default_dtype(b->h) : s->ints ? DT_I64 :
		s->bools ? DT_BOOL : host_default_dtype(b->h);

	if (s->n_tensors)
		dt = s->floats || s->ints || s->bools ? num_promote_types(s->tensors, dt) : s->tensors;
	return dt;
}

/* The numbers of a program into a tensor. In a dry run the tensor gets contents that are
 * known, because kernels may read them as sizes or indices. */
static int pour_all(struct tensor *t, struct val v)
{
	char *p = tensor_data(t);

	if (t->st->hollow && (sparse_empty(t->st) || sparse_touch(t->st, 0, t->st->bytes)))
		return -1;
	pour(t->dt, &p, v);
	return t->st->hollow ? sparse_mark(t->st, 0, t->st->bytes, 1) : 0;
}

/* torch.tensor(range(4)): a range is a sequence of numbers. */
static int spread(struct bind *b, struct val *v)
{
	struct val list;

	if (v->kind != V_RANGE)
		return 0;
	if (val_list(b->h, NULL, 0, &list) || list_extend(b->h, list, *v))
		return -1;
	*v = list;
	return 0;
}

/* data, *, dtype=None, device=None, requires_grad=False: always a copy. */
static int c_tensor(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct nest s = { .ndim = 0 };
	struct val v = b->a[0];
	struct tensor t;
	enum dtype dt;

	/* A numpy array or scalar counts by the tensor or number inside. */
	if (bind_unwrap(b, &v) || spread(b, &v))
		return -1;
	if (v.kind == V_TENSOR) {
		if (bind_dtype(b, 1, v.u.t->t.dt, &dt))
			return -1;
		if (num_to(&c, &t, &v.u.t->t, host_dtype(b->h, dt), bind_e(b)))
			return bind_fail(b);
		return made(b, &t, 1);
	}
	if (!bind_given(b, 1) && !strcmp(b->row->name, "torch.scalar_tensor"))
		return bind_unsupported(b, "scalar_tensor without a dtype");
	if (nest_room(b, v))
		return -1;
	measure(&s, v, 0);
	if (s.bad)
		return bind_raise(b, EXC_TypeError, "must be real number, not %s", val_type_name(b->h, v));
	/* A numpy float32 scalar would give a float32 tensor; only its value is kept here. */
	if (s.narrow && !bind_given(b, 1))
		return bind_unsupported(b, "a tensor of numpy scalars other than float64 and int64 without a dtype");
	if (s.ragged)
		return bind_raise(b, EXC_ValueError, "expected sequence of length %lld at dim %d",
				  (long long)s.shape[s.ndim - 1], s.ndim - 1);
	if (bind_dtype(b, 1, nest_dtype(b, &s), &dt) || (s.n_tensors && read_tensors(b, v)))
		return -1;
	/* The numbers are rounded to the program's dtype, even where the oracle keeps
	 * doubles: both then compute with the same inputs. */
	if (num_new(&c, &t, dt, s.ndim, s.shape, bind_e(b)))
		return bind_fail(b);
	if (pour_all(&t, v)) {
		tensor_release(&t);
		return bind_raise(b, EXC_MemoryError, "the numbers of a tensor");
	}
	return made(b, &t, 1);
}

/* x.new_tensor(data): c_tensor with x's dtype unless another is named. */
static int c_new_tensor(struct bind *b)
{
	struct val all[] = { b->a[1], bind_given(b, 2) ? b->a[2] :
			     val_dtype(host_nominal(b->h, b->a[0].u.t->t.dt)), b->a[3], b->a[4] };
	struct bind inner = *b;

	inner.a = all;
	inner.n = 4;
	if (c_tensor(&inner)) {
		b->e = inner.e;
		return -1;
	}
	b->out = inner.out;
	return 0;
}

/* as_tensor, asarray: a tensor of the right dtype is returned as it is. */
static int c_as_tensor(struct bind *b)
{
	enum dtype dt;

	if (bind_unwrap(b, &b->a[0]))
		return -1;
	if (b->a[0].kind == V_TENSOR) {
		if (bind_dtype(b, 1, b->a[0].u.t->t.dt, &dt))
			return -1;
		if (host_dtype(b->h, dt) == b->a[0].u.t->t.dt) {
			b->out = b->a[0];
			return 0;
		}
	}
	return c_tensor(b);
}

/* torch.Tensor(2, 3) makes an empty tensor of that size, torch.Tensor([1, 2]) a float tensor
 * of the numbers, torch.Tensor(t) an alias of t. */
static int c_Tensor(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct val args = b->a[1];
	struct bind_ints s;
	struct nest n = { .ndim = 0 };
	int sized = bind_given(b, 2);                /* size=(2, 3): never the numbers of a tensor */
	struct val first = sized ? val_none() : args.u.seq->n == 1 ? args.u.seq->v[0] : val_none();
	struct tensor t;

	if (first.kind == V_TENSOR) {      /* an alias of it */
		t = first.u.t->t;
		tensor_retain(&t);
		return bind_result(b, &t);
	}
	if (bind_unwrap(b, &first) || spread(b, &first))
		return -1;
	if (first.kind == V_TENSOR)
		return num_to(&c, &t, &first.u.t->t, host_dtype(b->h, DT_F32), bind_e(b)) ? bind_fail(b) :
			bind_result(b, &t);
	if (first.kind == V_LIST || first.kind == V_TUPLE) {
		if (nest_room(b, first))
			return -1;
		measure(&n, first, 0);
		if (n.bad || n.ragged)
			return bind_raise(b, EXC_TypeError, "must be real number, not %s", val_type_name(b->h, first));
		if (n.n_tensors && read_tensors(b, first))
			return -1;
		if (num_new(&c, &t, host_dtype(b->h, DT_F32), n.ndim, n.shape, bind_e(b)))
			return bind_fail(b);
		if (pour_all(&t, first)) {
			tensor_release(&t);
			return bind_raise(b, EXC_MemoryError, "the numbers of a tensor");
		}
		return bind_result(b, &t);
	}
	if (bind_shape(b, sized ? 2 : 1, &s) || (args.u.seq->n == 0 && !sized ? (s.n = 1, s.v[0] = 0) : 0) ||
	    new_filled(b, &t, DT_F32, s.n, s.v, ZERO) ||
	    bind_result(b, &t))
		return -1;
	mark_empty(b, EMPTY);
	return 0;
}

/* The slots that all functions of this table end with. pin_memory and layout are accepted and
 * ignored. */
#define OPTS "dtype=None, device=None, requires_grad=False, pin_memory=False, layout=None"
#define FORMAT ", memory_format=None"

const struct bind_row torch_make_rows[] = {
	{ "torch.empty", "*size, " OPTS FORMAT ", out=None", c_empty, BIND_ALLOC },
	{ "torch.zeros", "*size, " OPTS ", out=None", c_zeros, BIND_ALLOC },
	{ "torch.ones", "*size, " OPTS ", out=None", c_ones, BIND_ALLOC },
	{ "torch.empty_like", "input, *, " OPTS FORMAT, c_empty_like, BIND_ALLOC },
	{ "torch.zeros_like", "input, *, " OPTS FORMAT, c_zeros_like, BIND_ALLOC },
	{ "torch.ones_like", "input, *, " OPTS FORMAT, c_ones_like, BIND_ALLOC },
	{ "torch.Tensor.new_empty", "self, *size, " OPTS, c_new_empty, BIND_ALLOC },
	{ "torch.Tensor.new_zeros", "self, *size, " OPTS, c_new_zeros, BIND_ALLOC },
	{ "torch.Tensor.new_ones", "self, *size, " OPTS, c_new_ones, BIND_ALLOC },
	{ "torch.Tensor.new_full", "self, size, fill_value, *, " OPTS, c_new_full, BIND_ALLOC },
	{ "torch.Tensor.new_tensor", "self, data, *, " OPTS, c_new_tensor, BIND_ALLOC | BIND_COPY },
	{ "torch.Tensor.new", "self, *size, " OPTS, c_new_empty, BIND_ALLOC },
	{ "torch.empty_strided", "size, stride, *, " OPTS, c_empty_strided, BIND_ALLOC },
	{ "torch.full", "size: tuple | list, fill_value, *, " OPTS, c_full, BIND_ALLOC },
	{ "torch.full_like", "input, fill_value, *, " OPTS FORMAT, c_full_like, BIND_ALLOC },
	{ "torch.arange", "start, end=?, step=1, *, " OPTS, c_arange, BIND_ALLOC },
	{ "torch.linspace", "start, end, steps, *, " OPTS, c_linspace, BIND_ALLOC },
	{ "torch.logspace", "start, end, steps, base=10.0, *, " OPTS, c_logspace, BIND_ALLOC },
	{ "torch.eye", "n, m=None, *, " OPTS, c_eye, BIND_ALLOC },
	{ "torch.tril_indices", "row, col, offset=0, *, " OPTS, c_tril_indices, BIND_ALLOC },
	{ "torch.triu_indices", "row, col, offset=0, *, " OPTS, c_triu_indices, BIND_ALLOC },
	{ "torch.tensor", "data, *, " OPTS, c_tensor, BIND_ALLOC | BIND_COPY },
	{ "torch.scalar_tensor", "data, *, " OPTS, c_tensor, BIND_ALLOC | BIND_COPY },
	{ "torch.as_tensor", "data, dtype=None, device=None", c_as_tensor, BIND_ALLOC | BIND_COPY },
	ALIAS("torch.asarray", "torch.as_tensor"),
	{ "torch.Tensor.__new__", "cls, *args, size=None", c_Tensor, BIND_ALLOC | BIND_STATIC },
	{ NULL, NULL, NULL, 0 }
};
