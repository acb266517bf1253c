/* Reductions over any set of dimensions: one walk for all operators.
 *
 * The dimensions of the input split into kept and reduced ones. If memory runs along a
 * reduced dimension, each result takes rows; if it runs along a kept one, a block of results
 * takes columns. Either way the kernels of reduce.simd.c see dense runs of the carrier.
 * Example: the sum over dim 0 of a contiguous [1000, 64] tensor takes 64 columns, over dim 1
 * it takes 1000 rows.
 *
 * Invariant: the order of a sum depends on shape and strides only, not on threads. */
#include "num/reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* results of a column block; elements of a row piece; elements that are worth threads */
enum { BLOCK = 512, PIECE = 4096, PARALLEL = 32768 };

/* One reduction as its threads see it. */
struct walk {
	const struct num_red_kernel *k;
	num_row_fn *row;        /* the row kernel */
	int which;              /* carrier: 0 f32, 1 f64, 2 i64 */
	enum dtype carrier, dt;
	const char *data;
	union num_acc start;    /* identity of the operation */
	union num_acc *acc;     /* one per result, in row-major order of the kept dimensions */
	const double *param;    /* one parameter per result, or NULL */
	int64_t kept, reduced;  /* number of results; elements per result */
	/* kept dimensions, merged; strides in elements */
	int64_t kshape[TENSOR_DIMS], kstride[TENSOR_DIMS];
	int nk;
	struct tensor_loop red; /* loop over the reduced dimensions */
};

/* Index into the kernel arrays. */
static int which_carrier(enum dtype carrier)
{
	return carrier == DT_F32 ? 0 : carrier == DT_F64 ? 1 : 2;
}

/* The identity; for integers it is set here. */
static union num_acc start_of(enum num_red op, const struct num_red_kernel *k, int which)
{
	union num_acc a = k->start[which];

	if (which == 2)
		a.i = op == RED_prod ? 1 : op == RED_max ? INT64_MIN :
		      op == RED_min || op == RED_absmin ? INT64_MAX : 0;
	return a;
}

/* One result that takes rows. */
struct row_state {
	const struct walk *w;
	const char *base;
	int64_t stride;
	union num_acc *acc;
	double m;
};

/* One innermost run of the reduced dimensions into one result, in pieces. */
static void row_run(void *ctx, const int64_t *off, int64_t n)
{
	struct row_state *s = ctx;
	const struct walk *w = s->w;
	const char *p = s->base + off[0] * dtype_size(w->dt);
	_Alignas(64) int64_t block[PIECE / 2];

	if (s->stride == 1 && w->dt == w->carrier) {
		/* each piece sums on its own: shorter chains round less */
		for (int64_t i = 0; i < n; i += PIECE)
			w->row(s->acc, p + i * dtype_size(w->dt),
			       (size_t)MIN(n - i, (int64_t)PIECE), s->m);
		return;
	}
	for (int64_t i = 0; i < n; i += PIECE / 2) {
		int64_t m = MIN(n - i, (int64_t)PIECE / 2);

		tensor_gather(w->carrier, block, w->dt, p + i * s->stride * dtype_size(w->dt),
			      s->stride, m);
		w->row(s->acc, block, (size_t)m, s->m);
	}
}

/* Offset of result number `index`, in elements. */
static int64_t kept_offset(const struct walk *w, int64_t index)
{
	int64_t off = 0;

	for (int d = w->nk - 1; d >= 0; d--) {
		off += index % w->kshape[d] * w->kstride[d];
		index /= w->kshape[d];
	}
	return off;
}

/* Thread body: results [begin, end), row by row. */
static void by_rows(void *ctx, size_t begin, size_t end)
{
	const struct walk *w = ctx;
	struct row_state s = { .w = w, .stride = w->red.stride[0][w->red.ndim - 1] };

	for (size_t i = begin; i < end; i++) {
		s.base = w->data + kept_offset(w, (int64_t)i) * dtype_size(w->dt);
		s.acc = &w->acc[i];
		s.m = w->param ? w->param[i] : 0;
		tensor_loop_run(&w->red, 0, w->red.outer, row_run, &s);
	}
}

/* A block of results that take columns. */
struct col_state {
	const struct walk *w;
	const char *base;
	int64_t stride, n;      /* of the innermost kept dimension */
	union num_acc *acc;
	const double *m;
};

/* One innermost run of the reduced dimensions into a block of results. */
static void col_run(void *ctx, const int64_t *off, int64_t n)
{
	struct col_state *s = ctx;
	const struct walk *w = s->w;
	int64_t step = w->red.stride[0][w->red.ndim - 1];
	const char *p = s->base + off[0] * dtype_size(w->dt);
	int64_t block[BLOCK];

	if (s->stride == 1 && w->dt == w->carrier) {
		w->k->col[w->which](s->acc, p, (size_t)s->n, s->m, n, step);
		return;
	}
	for (int64_t i = 0; i < n; i++, p += step * dtype_size(w->dt)) {
		tensor_gather(w->carrier, block, w->dt, p, s->stride, s->n);
		w->k->col[w->which](s->acc, block, (size_t)s->n, s->m, 1, 0);
	}
}

/* Thread body: blocks of at most BLOCK results along the innermost kept dimension. */
static void by_cols(void *ctx, size_t begin, size_t end)
{
	static const double none[BLOCK];
	const struct walk *w = ctx;
	int64_t inner = w->kshape[w->nk - 1], blocks = (inner + BLOCK - 1) / BLOCK;
	struct col_state s = { .w = w, .stride = w->kstride[w->nk - 1] };

	for (size_t i = begin; i < end; i++) {
		int64_t row = (int64_t)i / blocks, first = (int64_t)i % blocks * BLOCK, at = row * inner + first;

		s.n = MIN(inner - first, (int64_t)BLOCK);
		s.base = w->data + kept_offset(w, at) * dtype_size(w->dt);
		s.acc = &w->acc[at];
		s.m = w->param ? w->param + at : none;
		tensor_loop_run(&w->red, 0, w->red.outer, col_run, &s);
	}
}

/* Appends a kept dimension. Size 1 is dropped and adjacent dimensions are merged, so that the
 * last one is long. */
static void add_kept(struct walk *w, int64_t size, int64_t stride)
{
	if (size == 1)
		return;
	if (w->nk && w->kstride[w->nk - 1] == stride * size) {
		w->kshape[w->nk - 1] *= size;
		w->kstride[w->nk - 1] = stride;
		return;
	}
	w->kshape[w->nk] = size;
	w->kstride[w->nk++] = stride;
}

/* Splits the dimensions of t by `mask` (bit i: dimension i is reduced). */
static void split_dims(struct walk *w, const struct tensor *t, unsigned mask)
{
	struct tensor r = { .dt = t->dt };

	w->kept = w->reduced = 1;
	for (int i = 0; i < t->ndim; i++) {
		if (mask >> i & 1) {
			r.shape[r.ndim] = t->shape[i];
			r.stride[r.ndim++] = t->stride[i];
			w->reduced *= t->shape[i];
		} else {
			add_kept(w, t->shape[i], t->stride[i]);
			w->kept *= t->shape[i];
		}
	}
	tensor_loop_init(&w->red, r.ndim, r.shape, 1, (const struct tensor *[]){ &r });
}

/* Runs `op` over the dimensions in `mask`. acc has one entry per result. Columns are chosen
 * if at least 8 results are adjacent and memory runs along them. */
static void walk(struct num_ctx *c, enum num_red op, const struct tensor *t, enum dtype carrier,
		 unsigned mask, union num_acc *acc, const double *param)
{
	struct walk w = { .k = &SIMD_PICK(num_red_kernels)()[op], .which = which_carrier(carrier),
			  .carrier = carrier,
			  .dt = t->dt, .data = tensor_data(t), .acc = acc, .param = param };
	struct pool *pool;
	int64_t inner;

	if (c->hollow)
		return;
	w.row = op == RED_sum && carrier == DT_F32 ? SIMD_PICK(num_row_pairs) : w.k->row[w.which];
	split_dims(&w, t, mask);
	w.start = start_of(op, w.k, w.which);
	for (int64_t i = 0; i < w.kept; i++)
		acc[i] = w.start;
	if (w.kept == 0 || w.reduced == 0)
		return;
	pool = w.kept * w.reduced >= PARALLEL ? c->pool : NULL;
	inner = w.red.stride[0][w.red.ndim - 1];
	if (w.nk && w.kshape[w.nk - 1] >= 8 && (w.reduced == 1 || llabs(inner) > llabs(w.kstride[w.nk - 1]))) {
		int64_t blocks = (w.kshape[w.nk - 1] + BLOCK - 1) / BLOCK;

		pool_for(pool, (size_t)(w.kept / w.kshape[w.nk - 1] * blocks), 1, by_cols, &w);
	} else {
		pool_for(pool, (size_t)w.kept, 1, by_rows, &w);
	}
}

/* --- shape of results ------------------------------------------------------------------------ */

/* Bits of the reduced dimensions; no list or an empty one means all. */
static unsigned dims_mask(const struct tensor *t, const struct num_dims *d)
{
	unsigned mask = 0;

	if (!d || d->n == 0)
		return t->ndim ? (1u << t->ndim) - 1 : 0;
	for (int i = 0; i < d->n && t->ndim; i++)
		mask |= 1u << d->v[i];
	return mask;
}

/* Shape of the result; `keep` keeps reduced dimensions with size 1. Returns the rank. */
static int result_shape(const struct tensor *t, unsigned mask, int keep, int64_t *shape)
{
	int n = 0;

	for (int i = 0; i < t->ndim; i++)
		if (!(mask >> i & 1))
			shape[n++] = t->shape[i];
		else if (keep)
			shape[n++] = 1;
	return n;
}

/* A reduction on its way: accumulators first, then the tensor. */
struct made {
	unsigned mask;
	union num_acc *acc;
	int64_t n, reduced;     /* results (0 in a dry run); elements per result */
	int ndim;
	int64_t shape[TENSOR_DIMS];
	enum dtype carrier;
};

/* Prepares the accumulators and charges one unit per element. */
static int begin(struct num_ctx *c, struct made *m, const struct tensor *t,
		 const struct num_dims *d, int keep, enum dtype carrier, struct err *e)
{
	m->mask = dims_mask(t, d);
	m->ndim = result_shape(t, m->mask, keep, m->shape);
	m->carrier = carrier;
	m->n = m->reduced = 1;
	for (int i = 0; i < t->ndim; i++)
		*(m->mask >> i & 1 ? &m->reduced : &m->n) *= t->shape[i];
	m->n = c->hollow ? 0 : m->n;
	m->acc = num_array(c, m->n + 1, sizeof *m->acc, e);
	if (!m->acc)
		return -1;
	return num_charge(c, (uint64_t)tensor_numel(t), e);
}

/* out[i] = acc[i] in dtype dt, rounded once. Frees the accumulators in every case. */
static int finish(struct num_ctx *c, struct tensor *out, struct made *m, enum dtype dt,
		  struct err *e)
{
	int rc = num_new(c, out, dt, m->ndim, m->shape, e);

	if (!rc)
		dtype_convert(dt, tensor_data(out), m->carrier == DT_I64 ? DT_I64 : DT_F64, m->acc,
			      (size_t)m->n);
	mem_free(m->acc);
	return rc;
}

/* The "never written" marks of t as a tensor of bytes. Marks have one byte per byte of data,
 * so the strides scale by the element size. */
static struct tensor marks_of(const struct tensor *t, struct storage *as)
{
	struct tensor m = tensor_marks(t, as);
	int size = dtype_size(t->dt);

	m.dt = DT_U8;
	m.offset *= size;
	for (int i = 0; i < t->ndim; i++)
		m.stride[i] *= size;
	return m;
}

/* A result that depends on an element that was never written counts as never written. */
static int carry(struct num_ctx *c, const struct tensor *out, const struct tensor *t,
		 const struct num_dims *d, struct err *e)
{
	struct storage as;
	struct tensor marks;
	struct made m;
	size_t size = (size_t)dtype_size(out->dt);

	if (c->hollow || !tensor_any_undef(t))
		return 0;
	marks = marks_of(t, &as);
	if (begin(c, &m, &marks, d, 0, DT_I64, e))
		return -1;
	walk(c, RED_max, &marks, DT_I64, m.mask, m.acc, NULL);
	if (tensor_want_marks(out, e)) {
		mem_free(m.acc);
		return -1;
	}
	for (int64_t i = 0; i < m.n; i++)
		memset(out->st->undef + (size_t)i * size, m.acc[i].i != 0, size);
	mem_free(m.acc);
	if (c->carried)
		*c->carried = 1;
	return 0;
}

/* The common operator: walk, optional division by the number of elements, result, marks. */
static int reduce(struct num_ctx *c, struct tensor *out, enum num_red op, const struct tensor *t,
		  const struct num_dims *d, int keep, enum dtype carrier, enum dtype dt,
		  double divide, struct err *e)
{
	struct made m;

	if (begin(c, &m, t, d, keep, carrier, e))
		return -1;
	walk(c, op, t, carrier, m.mask, m.acc, NULL);
	if (divide)
		for (int64_t i = 0; i < m.n; i++)
			m.acc[i].f /= (double)m.reduced;
	if (finish(c, out, &m, dt, e))
		return -1;
	if (carry(c, out, t, d, e)) {
		tensor_release(out);
		return -1;
	}
	return 0;
}

/* --- operators -------------------------------------------------------------------------------- */

/* dtype= if given; else the float dtype of t, or int64 for integers and bool. */
static enum dtype sum_dtype(const struct tensor *t, int dt)
{
	return dt >= 0 ? (enum dtype)dt : dtype_is_float(t->dt) ? t->dt : DT_I64;
}

/* PyTorch converts to dtype= first. A float is at least as wide here. */
static enum dtype sum_carrier(const struct tensor *t, enum dtype dt)
{
	enum dtype a = dtype_carrier(t->dt), b = dtype_carrier(dt);

	return a == DT_I64 ? b : a == DT_F64 || b == DT_F64 ? DT_F64 : a;
}

int num_sum(struct num_ctx *c, struct tensor *out, const struct tensor *t, const struct num_dims *d,
	    int keep, int dt, struct err *e)
{
	enum dtype to = sum_dtype(t, dt);

	return reduce(c, out, RED_sum, t, d, keep, sum_carrier(t, to), to, 0, e);
}

int num_mean(struct num_ctx *c, struct tensor *out, const struct tensor *t,
	     const struct num_dims *d, int keep, int dt, struct err *e)
{
	enum dtype to = dt >= 0 ? (enum dtype)dt : t->dt;

	if (!dtype_is_float(to))
		return err_set(e, ERR_STATE,
			       "mean(): could not infer output dtype. Input dtype must be either "
			       "a floating point or complex dtype. Got: %s", num_type_name(t->dt));
	return reduce(c, out, RED_sum, t, d, keep, sum_carrier(t, to), to, 1, e);
}

int num_prod(struct num_ctx *c, struct tensor *out, const struct tensor *t,
	     const struct num_dims *d, int keep, int dt, struct err *e)
{
	enum dtype to = sum_dtype(t, dt);

	return reduce(c, out, RED_prod, t, d, keep, sum_carrier(t, to), to, 0, e);
}

/* amax and amin. An empty reduction has no identity: the messages are PyTorch's. */
static int extreme_all(struct num_ctx *c, struct tensor *out, enum num_red op, const char *name,
		       const struct tensor *t, const struct num_dims *d, int keep, struct err *e)
{
	unsigned mask = dims_mask(t, d);

	for (int i = 0; i < t->ndim; i++)
		if ((mask >> i & 1) && t->shape[i] == 0)
			return d && d->n ? err_set(e, ERR_RANGE,
						   "%s(): Expected reduction dim %d to have non-zero size.", name, i)
					 : err_set(e, ERR_STATE,
						   "%s(): Expected reduction dim to be specified "
						   "for input.numel() == 0. Specify the "
						   "reduction dim with the 'dim' argument.", name);
	return reduce(c, out, op, t, d, keep, dtype_carrier(t->dt), t->dt, 0, e);
}

int num_amax(struct num_ctx *c, struct tensor *out, const struct tensor *t,
	     const struct num_dims *d, int keep, struct err *e)
{
	return extreme_all(c, out, RED_max, "max", t, d, keep, e);
}

int num_amin(struct num_ctx *c, struct tensor *out, const struct tensor *t,
	     const struct num_dims *d, int keep, struct err *e)
{
	return extreme_all(c, out, RED_min, "min", t, d, keep, e);
}

/* Counts the nonzero elements; a count converts to bool. */
int num_any(struct num_ctx *c, struct tensor *out, const struct tensor *t, const struct num_dims *d,
	    int keep, struct err *e)
{
	return reduce(c, out, RED_nonzero, t, d, keep, dtype_carrier(t->dt), DT_BOOL, 0, e);
}

/* The count of nonzero elements must equal the number of elements; true for none. */
int num_all(struct num_ctx *c, struct tensor *out, const struct tensor *t, const struct num_dims *d,
	    int keep, struct err *e)
{
	struct made m;

	if (begin(c, &m, t, d, keep, dtype_carrier(t->dt), e))
		return -1;
	walk(c, RED_nonzero, t, m.carrier, m.mask, m.acc, NULL);
	for (int64_t i = 0; i < m.n; i++)
		if (m.carrier == DT_I64)
			m.acc[i].i = m.acc[i].i == m.reduced;
		else
			m.acc[i].f = m.acc[i].f == (double)m.reduced;
	return finish(c, out, &m, DT_BOOL, e);
}

int num_count_nonzero(struct num_ctx *c, struct tensor *out, const struct tensor *t,
		      const struct num_dims *d, struct err *e)
{
	return reduce(c, out, RED_nonzero, t, d, 0, dtype_carrier(t->dt), DT_I64, 0, e);
}

/* Two passes: the mean in double, then squared distances from it. A single pass over squares
 * would cancel. */
static void moments(struct num_ctx *c, const struct tensor *t, struct made *m, struct made *s)
{
	double *mu = (double *)m->acc;    /* a union of double and int64: the doubles lie dense */

	walk(c, RED_sum, t, m->carrier, m->mask, m->acc, NULL);
	for (int64_t i = 0; i < m->n; i++)
		mu[i] /= (double)m->reduced;
	walk(c, RED_dev, t, m->carrier, m->mask, s->acc, mu);
}

/* Two sets of accumulators of the same shape. */
static int begin_two(struct num_ctx *c, struct made *m, struct made *s, const struct tensor *t,
		     const struct num_dims *d, int keep, enum dtype carrier, struct err *e)
{
	if (begin(c, m, t, d, keep, carrier, e))
		return -1;
	if (begin(c, s, t, d, keep, carrier, e)) {
		mem_free(m->acc);
		return -1;
	}
	return 0;
}

/* mean and var have one double per result, in row-major order; the variance has divisor n. */
int num_moments(struct num_ctx *c, const struct tensor *t, const struct num_dims *d, double *mean,
		double *var, struct err *e)
{
	struct made m, s;

	if (begin_two(c, &m, &s, t, d, 0, dtype_carrier(t->dt), e))
		return -1;
	moments(c, t, &m, &s);
	for (int64_t i = 0; i < m.n; i++) {
		mean[i] = m.acc[i].f;
		var[i] = s.acc[i].f / (double)m.reduced;
	}
	mem_free(m.acc);
	mem_free(s.acc);
	return 0;
}

/* The mean is returned as PyTorch's var_mean does. A divisor of 0 gives inf or NaN. */
int num_var(struct num_ctx *c, struct tensor *out, struct tensor *mean, const struct tensor *t,
	    const struct num_dims *d, int keep, double correction, int root, struct err *e)
{
	struct made m, s;

	if (!dtype_is_float(t->dt))
		return err_set(e, ERR_STATE, "std and var only support floating point and complex dtypes");
	if (begin_two(c, &m, &s, t, d, keep, dtype_carrier(t->dt), e))
		return -1;
	moments(c, t, &m, &s);
	for (int64_t i = 0; i < m.n; i++) {
		double v = s.acc[i].f / fmax(0, (double)m.reduced - correction);

		s.acc[i].f = root ? sqrt(v) : v;
	}
	if (finish(c, out, &s, t->dt, e)) {
		mem_free(m.acc);
		return -1;
	}
	if (!mean) {
		mem_free(m.acc);
		return 0;
	}
	if (finish(c, mean, &m, t->dt, e)) {
		tensor_release(out);
		return -1;
	}
	return 0;
}

/* The reduction that a p-norm needs. */
static enum num_red norm_kind(double p)
{
	if (p == 2)
		return RED_square;
	if (p == 1)
		return RED_abs;
	if (p == 0)
		return RED_nonzero;
	return isinf(p) ? (p > 0 ? RED_absmax : RED_absmin) : RED_pow;
}

/* (sum of |x|^p)^(1/p) in double; p = 0 counts nonzeros, infinities take the extreme. */
int num_norm(struct num_ctx *c, struct tensor *out, const struct tensor *t, double p,
	     const struct num_dims *d, int keep, struct err *e)
{
	enum num_red op = norm_kind(p);
	double *power = NULL;
	struct made m;

	if (!dtype_is_float(t->dt))
		return err_set(e, ERR_STATE,
			       "linalg.vector_norm: Expected a floating point or complex tensor as input. Got %s",
			       num_type_name(t->dt));
	if (begin(c, &m, t, d, keep, dtype_carrier(t->dt), e))
		return -1;
	if (op == RED_pow) {
		if (!(power = num_array(c, m.n + 1, sizeof *power, e))) {
			mem_free(m.acc);
			return -1;
		}
		for (int64_t i = 0; i < m.n; i++)
			power[i] = p;
	}
	walk(c, op, t, m.carrier, m.mask, m.acc, power);
	mem_free(power);
	for (int64_t i = 0; i < m.n; i++)
		if (op == RED_square)
			m.acc[i].f = sqrt(m.acc[i].f);
		else if (op == RED_pow)
			m.acc[i].f = pow(m.acc[i].f, 1 / p);
	return finish(c, out, &m, t->dt, e);
}

/* max + log(sum of exp(x - max)). An infinite maximum is not subtracted, so that inf - inf
 * does not give NaN. */
int num_logsumexp(struct num_ctx *c, struct tensor *out, const struct tensor *t,
		  const struct num_dims *d, int keep, struct err *e)
{
	enum dtype dt = dtype_is_float(t->dt) ? t->dt : c->default_float, carrier = dtype_carrier(dt);
	struct made m, s;
	double *shift;

	if (begin_two(c, &m, &s, t, d, keep, carrier, e))
		return -1;
	walk(c, RED_max, t, carrier, m.mask, m.acc, NULL);
	shift = (double *)m.acc;
	for (int64_t i = 0; i < m.n; i++)
		shift[i] = isinf(shift[i]) ? 0 : shift[i];
	walk(c, RED_expsum, t, carrier, m.mask, s.acc, shift);
	for (int64_t i = 0; i < m.n; i++)
		s.acc[i].f = log(s.acc[i].f) + shift[i];
	mem_free(m.acc);
	return finish(c, out, &s, dt, e);
}
