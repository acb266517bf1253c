/* The elementwise engine: promotion, broadcasting, strides of the result, and the loop that
 * feeds dense blocks of the carrier to the kernels of ew.simd.c.
 *
 * An operand that is dense and of the carrier type is read in place. Any other passes through
 * a block of BLOCK elements that fits the first cache level. The operations themselves are
 * the rows of ew_*.def.
 *
 * Invariant: an element's result depends only on the operands at its index, never on block or
 * thread boundaries. */
#include "num/ew.h"

#include <string.h>

#include "base/mem.h"
#include "tensor/sparse.h"

/* elements of a block; elements from which threads are worth starting */
enum { BLOCK = 1024, PARALLEL = 32768 };

/* Name, arity and kind of result of every operation, from the .def tables. */
static const struct num_op_info info[NUM_OPS] = {
#define RESULT_SAME NUM_SAME
#define RESULT_BOOL NUM_BOOL_OUT
#define RESULT_FLOAT NUM_FLOAT_OUT
#define EW(n, a, r, expr) [NUM_##n] = { .name = #n, .arity = a, .result = RESULT_##r },
#include "num/ew_arith.def"
#include "num/ew_int.def"
#include "num/ew_float.def"
#include "num/ew_usual.def"
#undef EW
};

const struct num_op_info *num_op_info(enum num_op op)
{
	return &info[op];
}

/* --- the loop --------------------------------------------------------------------------- */

/* One elementwise call. Index 0 is the result, 1 to 3 are the operands. */
struct job {
	num_kernel_fn *fn;
	const double *p;        /* three parameters of the operation */
	int arity, through;     /* through: the result passes through a block */
	enum dtype carrier, made;    /* type the operands are converted to; type the kernel writes */
	enum dtype dt[4];       /* 0 the result */
	char *data[4];
	int64_t inner[4];       /* strides along the innermost loop dimension, in elements */
	/* with one outer iteration: the part of the inner dimension to do; to = 0: all */
	int64_t from, to;
	struct tensor_loop loop;
};

/* An operand as the kernel of the current block sees it. */
struct operand {
	const void *at;         /* dense elements of the carrier: in place or `block` */
	const char *broadcast;  /* source element that block[0..filled) repeats; NULL: none */
	int64_t filled;
	_Alignas(64) int64_t block[BLOCK];
};

/* Makes elements [first, first + n) of operand k available at o->at: in place, filled with
 * one broadcast element, or converted and gathered. A broadcast block is reused while it
 * repeats the same element. */
static void load_block(const struct job *j, int k, struct operand *o, const char *src,
		       int64_t first, int64_t n)
{
	int size = dtype_size(j->dt[k]);
	int64_t stride = j->inner[k], one;

	if (stride == 1 && j->dt[k] == j->carrier) {
		o->at = src + first * size;
		return;
	}
	o->at = o->block;
	if (stride == 0) {
		if (o->broadcast == src && o->filled >= n)
			return;
		o->broadcast = src;
		o->filled = n;
		dtype_convert(j->carrier, &one, j->dt[k], src, 1);
		tensor_gather(j->carrier, o->block, j->carrier, &one, 0, n);
		return;
	}
	tensor_gather(j->carrier, o->block, j->dt[k], src + first * stride * size, stride, n);
}

/* Runs the kernel on one block and stores its result with the strides and dtype of the
 * output. */
static void run_block(const struct job *j, struct operand *in, char *dst, int64_t first, int64_t n)
{
	_Alignas(64) int64_t made[BLOCK];
	int size = dtype_size(j->dt[0]);
	char *to = dst + first * j->inner[0] * size;

	if (!j->through) {
		j->fn(to, in[1].at, in[2].at, in[3].at, (size_t)n, j->p);
		return;
	}
	j->fn(made, in[1].at, in[2].at, in[3].at, (size_t)n, j->p);
	tensor_scatter(j->dt[0], to, j->inner[0], j->made, made, n);
}

/* State of one thread: the job and its operand blocks. */
struct ew_state {
	const struct job *j;
	struct operand in[4];
};

/* One run of the innermost dimension, block by block. `off` are the offsets of the operands. */
static void run_inner(void *ctx, const int64_t *off, int64_t n)
{
	struct ew_state *s = ctx;
	const struct job *j = s->j;
	int64_t begin = j->to ? j->from : 0, end = j->to ? j->to : n;

	for (int64_t i = begin; i < end; i += BLOCK) {
		int64_t m = MIN(end - i, (int64_t)BLOCK);

		for (int k = 1; k <= j->arity; k++)
			load_block(j, k, &s->in[k], j->data[k] + off[k] * dtype_size(j->dt[k]),
				   i, m);
		run_block(j, s->in, j->data[0] + off[0] * dtype_size(j->dt[0]), i, m);
	}
}

/* Outer iterations [begin, end). Absent operands point to zeros, because every kernel loads
 * three. */
static void run_range(const struct job *j, int64_t begin, int64_t end)
{
	struct ew_state s;

	s.j = j;
	for (int k = 1; k < 4; k++) {
		s.in[k].at = s.in[k].block;
		s.in[k].broadcast = NULL;
		if (k > j->arity)
			memset(s.in[k].block, 0, sizeof s.in[k].block);
	}
	tensor_loop_run(&j->loop, begin, end, run_inner, &s);
}

/* Thread body for many outer iterations. */
static void part_outer(void *ctx, size_t begin, size_t end)
{
	run_range(ctx, (int64_t)begin, (int64_t)end);
}

/* Thread body for one outer iteration: a part of the inner dimension. */
static void part_inner(void *ctx, size_t begin, size_t end)
{
	struct job j = *(struct job *)ctx;

	j.from = (int64_t)begin;
	j.to = (int64_t)end;
	run_range(&j, 0, 1);
}

/* On the calling thread, or in parallel along the outer or the inner dimension. */
static void run_job(struct num_ctx *c, struct job *j)
{
	int64_t inner = j->loop.shape[j->loop.ndim - 1], outer = j->loop.outer;

	if (!c->pool || inner * outer < PARALLEL)
		run_range(j, 0, outer);
	else if (outer == 1)
		pool_for(c->pool, (size_t)inner, 4 * BLOCK, part_inner, j);
	else
		pool_for(c->pool, (size_t)outer, (size_t)MAX(1, PARALLEL / 4 / MAX(inner, 1)),
			 part_outer, j);
}

/* Do both tensors lie in one storage? Then a kernel with `restrict` pointers must not write
 * in place. */
static int shares(const struct tensor *out, const struct tensor *in)
{
	return out->st == in->st;
}

/* An element computed from an element that was never written counts as never written, too.
 * torch.where is special: only the branch that is taken counts. */
static int carry(struct num_ctx *c, const struct tensor *out, enum num_op op,
		 const struct tensor *in, int arity, struct err *e)
{
	int rc = tensor_carry_undef(out, in, arity, op == NUM_where, e);

	if (!rc)
		tensor_mark_defined(out);
	else if (rc > 0 && c->carried)
		*c->carried = 1;
	return rc < 0 ? -1 : 0;
}

/* out = op(in...) over tensors that broadcast to out's shape, computed in `carrier`. A
 * missing kernel (a float operation on integers) is PyTorch's "not implemented" error. */
static int compute(struct num_ctx *c, const struct tensor *out, enum num_op op,
		   const struct tensor *in, enum dtype carrier, const double *p, struct err *e)
{
	const struct num_kernel *kernel = &SIMD_PICK(num_kernels)()[op];
	const struct tensor *ops[4] = { out, &in[0], &in[1], &in[2] };
	double params[3] = { 0 };
	struct job j = { .arity = info[op].arity, .carrier = carrier, .p = params };

	j.fn = carrier == DT_F32 ? kernel->f32 : carrier == DT_F64 ? kernel->f64 : kernel->i64;
	if (!j.fn)
		return err_set(e, ERR_STATE, "\"%s_cpu\" not implemented for '%s'", info[op].name,
			       num_type_name(in[0].dt));
	if (p)
		memcpy(params, p, sizeof params);
	j.made = info[op].result == NUM_BOOL_OUT ? DT_BOOL : carrier;
	tensor_loop_init(&j.loop, out->ndim, out->shape, j.arity + 1, ops);
	for (int k = 0; k <= j.arity; k++) {
		j.dt[k] = ops[k]->dt;
		j.data[k] = tensor_data(ops[k]);
		j.inner[k] = j.loop.stride[k][j.loop.ndim - 1];
	}
	j.through = j.inner[0] != 1 || j.dt[0] != j.made;
	for (int k = 1; k <= j.arity; k++)
		j.through |= shares(out, ops[k]);
	if (num_charge(c, (uint64_t)tensor_numel(out), e))
		return -1;
	if (tensor_numel(out) && !c->hollow)
		run_job(c, &j);
	if (carry(c, out, op, in, j.arity, e))
		return -1;
	/* In a dry run nothing was computed, so the sparse contents of `out`, if it had any,
	 * are unknown now. */
	return c->hollow && out->st->sparse && sparse_unknown(out->st) ? err_nomem(e) : 0;
}

/* --- layout of results --------------------------------------------------------------------- */

/* Compares two dimensions by the operands' strides, as TensorIterator of PyTorch does: a
 * permuted input then gives a result that is permuted the same way. Returns -1, 0 (ambiguous)
 * or 1. */
static int order(const struct tensor_loop *l, const int64_t *shape, int d0, int d1)
{
	for (int k = 0; k < l->nops; k++) {
		int64_t s0 = l->stride[k][d0], s1 = l->stride[k][d1];

		if (s0 == 0 || s1 == 0)
			continue;
		if (s0 != s1)
			return s0 < s1 ? -1 : 1;
		if (shape[d0] > shape[d1])
			return 1;
	}
	return 0;
}

/* Strides of a result whose operands differ in layout: dimensions are sorted by order(),
 * innermost first, and packed densely. This insertion sort is PyTorch's; it keeps ambiguous
 * dimensions where they are. */
static void layout(int ndim, const int64_t *shape, int nin, const struct tensor *in,
		   int64_t *stride)
{
	struct tensor_loop l = { .nops = 0 };
	int perm[TENSOR_DIMS];
	int64_t step = 1;

	for (int k = 0; k < nin; k++) {
		int lead = ndim - in[k].ndim;

		for (int d = 0; d < ndim; d++)
			l.stride[l.nops][d] = d < lead || (in[k].shape[d - lead] == 1 && shape[d] != 1) ? 0 :
					      in[k].stride[d - lead];
		l.nops++;
	}
	for (int i = 0; i < ndim; i++)
		perm[i] = ndim - 1 - i;
	for (int i = 1; i < ndim; i++)
		for (int d1 = i, d0 = i - 1; d0 >= 0; d0--) {
			int cmp = order(&l, shape, perm[d0], perm[d1]);

			if (cmp < 0)
				break;
			if (cmp > 0) {
				int t = perm[d0];

				perm[d0] = perm[d1];
				perm[d1] = t;
				d1 = d0;
			}
		}
	for (int i = 0; i < ndim; i++) {
		stride[perm[i]] = step;
		step *= MAX(shape[perm[i]], 1);
	}
}

/* The fast cases of PyTorch's layout rule: operands that all are contiguous give a contiguous
 * result, operands with equal dense strides give these strides. Everything else is layout(). */
static void result_strides(int ndim, const int64_t *shape, int nin, const struct tensor *in,
			   int64_t *stride)
{
	int contiguous = 1, alike = 1, full = -1;

	for (int k = 0; k < nin; k++) {
		if (in[k].ndim == 0)
			continue;
		if (in[k].ndim != ndim || memcmp(in[k].shape, shape, sizeof *shape * (size_t)ndim)) {
			contiguous = alike = 0;
			break;
		}
		contiguous &= tensor_is_contiguous(&in[k]);
		alike &= full < 0 || !memcmp(in[full].stride, in[k].stride, sizeof *shape * (size_t)ndim);
		full = k;
	}
	if (contiguous || full < 0)
		alike = 0;
	if (alike && tensor_is_dense(&in[full]))
		memcpy(stride, in[full].stride, sizeof *shape * (size_t)ndim);
	else if (contiguous)
		tensor_dense_strides(ndim, shape, stride);
	else
		layout(ndim, shape, nin, in, stride);
}

/* --- entry points ----------------------------------------------------------------------------- */

/* A call after promotion and broadcasting. */
struct ew_call {
	struct tensor in[3];            /* operands; they borrow their storage */
	struct storage number[3];       /* storages of Python numbers, which become 0-d tensors */
	int64_t value[3];               /* the bytes of those numbers */
	enum dtype common, result;      /* dtype after promotion; dtype of the result */
	int ndim;
	int64_t shape[TENSOR_DIMS];
};

/* A Python number as a 0-d tensor of the carrier of `dt`: it is not rounded to a
 * half-precision dtype first. */
static void call_number(struct ew_call *p, int k, const struct num_arg *a, enum dtype dt)
{
	enum dtype carrier = dtype_carrier(dt);

	if (a->kind == NUM_FLOAT)
		dtype_store(carrier, &p->value[k], a->f);
	else
		dtype_store_int(carrier, &p->value[k], a->i);
	p->number[k] = (struct storage){ .data = &p->value[k], .bytes = 8, .refs = 1 };
	p->in[k] = (struct tensor){ .st = &p->number[k], .dt = carrier };
}

/* Promotes and broadcasts. torch.where leaves its condition out of the promotion. A float
 * operation on integers computes in the default float dtype. */
static int call_prepare(struct num_ctx *c, struct ew_call *p, enum num_op op,
			const struct num_arg *args, struct err *e)
{
	int n = info[op].arity, skip = op == NUM_where;

	p->common = num_result_type(c, args + skip, n - skip);
	if (info[op].result == NUM_FLOAT_OUT && !dtype_is_float(p->common))
		p->common = c->default_float;
	p->result = info[op].result == NUM_BOOL_OUT ? DT_BOOL : p->common;
	p->ndim = 0;
	for (int k = 0; k < n; k++) {
		if (args[k].kind != NUM_TENSOR) {
			call_number(p, k, &args[k], p->common);
			continue;
		}
		p->in[k] = *args[k].t;
		if (tensor_broadcast_shape(&p->ndim, p->shape, args[k].t->ndim,
					   args[k].t->shape, e))
			return -1;
	}
	return 0;
}

/* The operator ~ of bool is logical negation, not the complement of bits. Powers of floats
 * have another kernel than powers of integers. */
static enum num_op for_dtype(struct num_ctx *c, enum num_op op, const struct num_arg *args)
{
	if (op == NUM_bitwise_not && args[0].kind == NUM_TENSOR && args[0].t->dt == DT_BOOL)
		return NUM_logical_not;
	if (op == NUM_pow && dtype_is_float(num_result_type(c, args, 2)))
		return NUM_float_power;
	return op;
}

/* A new result with PyTorch's dtype, shape and strides. */
int num_apply(struct num_ctx *c, struct tensor *out, enum num_op op, const struct num_arg *args,
	      const double *p, struct err *e)
{
	struct ew_call call;
	int64_t stride[TENSOR_DIMS];

	op = for_dtype(c, op, args);
	if (call_prepare(c, &call, op, args, e))
		return -1;
	result_strides(call.ndim, call.shape, info[op].arity, call.in, stride);
	if (num_new_strided(c, out, call.result, call.ndim, call.shape, stride, e))
		return -1;
	if (compute(c, out, op, call.in, dtype_carrier(call.common), p, e)) {
		tensor_release(out);
		return -1;
	}
	return 0;
}

/* An operand that overlaps the output is copied before it is overwritten, unless it is the
 * very same view: then each element is read before it is written. `own` holds the copy. */
static int settle(struct num_ctx *c, const struct tensor *out, struct tensor *in,
		  struct tensor *own, struct err *e)
{
	int64_t alo, ahi, blo, bhi;

	own->st = NULL;
	if (in->st != out->st)
		return 0;
	tensor_span(out, &alo, &ahi);
	tensor_span(in, &blo, &bhi);
	if (ahi <= blo || bhi <= alo)
		return 0;
	if (in->offset == out->offset && in->dt == out->dt && in->ndim == out->ndim &&
	    !memcmp(in->shape, out->shape, sizeof *in->shape * (size_t)in->ndim) &&
	    !memcmp(in->stride, out->stride, sizeof *in->stride * (size_t)in->ndim))
		return 0;
	if (num_to(c, own, in, in->dt, e))
		return -1;
	*in = *own;
	return 0;
}

/* In-place operators and out=. The text of each error is PyTorch's. */
int num_apply_into(struct num_ctx *c, const struct tensor *out, enum num_op op,
		   const struct num_arg *args, const double *p, struct err *e)
{
	struct ew_call call;
	struct tensor own[3] = { { .st = NULL }, { .st = NULL }, { .st = NULL } };
	int rc;

	op = for_dtype(c, op, args);
	if (call_prepare(c, &call, op, args, e))
		return -1;
	if (!num_can_cast(call.result, out->dt))
		return err_set(e, ERR_STATE, "result type %s can't be cast to the desired output type %s",
			       num_type_name(call.result), num_type_name(out->dt));
	if (tensor_broadcast_shape(&call.ndim, call.shape, out->ndim, out->shape, e))
		return -1;
	if (call.ndim != out->ndim || memcmp(call.shape, out->shape, sizeof *call.shape * (size_t)call.ndim))
		return err_set(e, ERR_STATE, "output with shape %s doesn't match the broadcast shape %s",
			       SHAPE_TEXT(out->ndim, out->shape),
			       SHAPE_TEXT(call.ndim, call.shape));
	rc = tensor_check_writable(out, e);
	for (int k = 0; k < info[op].arity && !rc; k++)
		rc = settle(c, out, &call.in[k], &own[k], e);
	rc = rc || compute(c, out, op, call.in, dtype_carrier(call.common), p, e);
	for (int k = 0; k < 3; k++)
		tensor_release(&own[k]);
	return rc ? -1 : 0;
}

/* Shorthand for one operand without parameters. */
int num_op1(struct num_ctx *c, struct tensor *out, enum num_op op, const struct tensor *t,
	    struct err *e)
{
	return num_apply(c, out, op, (struct num_arg[]){ num_t(t) }, NULL, e);
}

/* Shorthand for two operands. Parameter 0 is 1: the alpha of add and sub. */
int num_op2(struct num_ctx *c, struct tensor *out, enum num_op op, struct num_arg a,
	    struct num_arg b, struct err *e)
{
	return num_apply(c, out, op, (struct num_arg[]){ a, b }, (double[]){ 1, 0, 0 }, e);
}

/* Exponents that are a product, a root or a quotient: exact where pow() is only close, and
 * the same choice as PyTorch's. Returns 0 if done, 1 if the exponent is not special, -1 on
 * error. Integers take only the positive whole exponents. */
static int pow_special(struct num_ctx *c, struct tensor *out, struct num_arg a, double x,
		       struct err *e)
{
	static const struct { double x; enum num_op op; } list[] = {
		{ 1, NUM_positive }, { 2, NUM_square }, { 3, NUM_cube }, { 0.5, NUM_sqrt },
		{ -0.5, NUM_rsqrt }, { -1, NUM_reciprocal }, { -2, NUM_reciprocal_square },
	};
	int is_float = dtype_is_float(num_result_type(c, &a, 1));

	for (size_t i = 0; i < COUNT_OF(list); i++)
		if (list[i].x == x && (is_float || (x > 0 && x != 0.5)))
			return num_op1(c, out, list[i].op, a.t, e) ? -1 : 0;
	return 1;
}

/* a ** b. The special exponents apply only if the exponent does not change the dtype of a. */
int num_pow(struct num_ctx *c, struct tensor *out, struct num_arg a, struct num_arg b,
	    struct err *e)
{
	enum dtype common = num_result_type(c, (struct num_arg[]){ a, b }, 2);

	if (b.kind != NUM_TENSOR && a.kind == NUM_TENSOR) {
		int rc = common == a.t->dt ? pow_special(c, out, a, b.kind == NUM_FLOAT ? b.f : (double)b.i, e) : 1;

		if (rc <= 0)
			return rc;
		if (b.kind == NUM_INT && b.i < 0 && !dtype_is_float(common))
			return err_set(e, ERR_STATE, "Integers to negative integer powers are not allowed.");
	}
	return num_op2(c, out, NUM_pow, a, b, e);
}
