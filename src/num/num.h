/* Numeric operators over tensors with PyTorch's semantics: promotion, broadcasting, strides
 * of results, errors. Pure C: no interpreter values here; the bindings in src/torch call
 * this.
 *
 * Every operator takes a `struct num_ctx`, makes its result in *out (the caller releases it)
 * and returns 0, or -1 with PyTorch's text in *e (see tensor.h for codes). Inputs are
 * borrowed. Computation is in a carrier type: float for all floats up to 32 bits, double for
 * f64 (the oracle), int64 for integers and bool. Sums of floats are kept in double. Results
 * do not depend on the number of threads or on the instruction set. */
#ifndef NUM_NUM_H
#define NUM_NUM_H

#include "base/thread.h"
#include "tensor/tensor.h"

/* Kinds of products that may use TF32. */
enum num_products { NUM_TF32_CONV = 1, NUM_TF32_MATMUL = 2 };

/* The surroundings of a call. A `hollow` context is a dry run: results get a shape but no
 * contents, and nothing is computed. */
struct num_ctx {
	struct pool *pool;              /* threads; NULL: the calling thread only */
	struct tensor_budget *budget;   /* account of all tensors made here, or NULL */
	enum dtype default_float;       /* F32; F64 in the oracle */
	int hollow;                     /* dry run; goes with pool_idle() */
	/* enum num_products: such products of float32 lose the bits that TF32 lacks */
	unsigned tf32;
	/* room is asked before each result of `bytes`, scratch before working memory is
	 * taken, also in a dry run. Nonzero refuses. Both may be NULL. */
	int (*room)(void *arg, int64_t bytes);
	int (*scratch)(void *arg, int64_t bytes);
	/* Told before work is done, about one unit per multiply-add or element. Nonzero
	 * refuses the work: ERR_INTERRUPTED. May be NULL. */
	int (*charge)(void *arg, uint64_t work);
	void *arg;
	/* Set to 1 by an operator that marks by itself which elements of its result were
	 * never written. May be NULL. */
	int *carried;
};

#define NUM_CTX_INIT { .default_float = DT_F32 }

/* Settings of the process: BLAS runs on the calling thread only (parallelism is ours), and
 * freed memory is kept for the next result. Calling it again is harmless. */
void num_init(void);

int num_new(struct num_ctx *c, struct tensor *t, enum dtype dt, int ndim, const int64_t *shape,
	    struct err *e);
int num_new_strided(struct num_ctx *c, struct tensor *t, enum dtype dt, int ndim,
		    const int64_t *shape, const int64_t *stride, struct err *e);
/* The strides of `like` if it is dense in some order, as torch.empty_like. */
int num_new_like(struct num_ctx *c, struct tensor *t, enum dtype dt, const struct tensor *like,
		 struct err *e);
/* num_to makes a dense copy in `dt`; num_as gives a reference if t already is dense and of
 * that dtype. */
int num_to(struct num_ctx *c, struct tensor *out, const struct tensor *t, enum dtype dt,
	   struct err *e);
int num_as(struct num_ctx *c, struct tensor *out, const struct tensor *t, enum dtype dt,
	   struct err *e);
int num_clone(struct num_ctx *c, struct tensor *out, const struct tensor *t, struct err *e);   /* keeps strides */
/* A dense copy without the mantissa bits that TF32 lacks. They are cut off, not rounded, as
 * in tensor cores. */
int num_cut_tf32(struct num_ctx *c, struct tensor *out, const struct tensor *t, struct err *e);
/* A view if the strides allow it, else a dense copy. */
int num_reshape(struct num_ctx *c, struct tensor *out, const struct tensor *t, int ndim,
		const int64_t *shape, struct err *e);
/* To be called before work is done and before working memory is taken. */
int num_charge(struct num_ctx *c, uint64_t work, struct err *e);
int num_scratch(struct num_ctx *c, int64_t bytes, struct err *e);
/* n zeroed items of working memory, which the caller frees with mem_free. NULL with *e set if
 * there is no room. */
void *num_array(struct num_ctx *c, int64_t n, size_t size, struct err *e);

/* --- operands and promotion ---------------------------------------------------------------- */

enum num_kind { NUM_TENSOR, NUM_BOOL, NUM_INT, NUM_FLOAT };

/* An operand: a tensor, or a Python number, which takes part in promotion by its category
 * only. */
struct num_arg {
	enum num_kind kind;
	const struct tensor *t;
	int64_t i;
	double f;
};

static inline struct num_arg num_t(const struct tensor *t) { return (struct num_arg){ .kind = NUM_TENSOR, .t = t }; }
static inline struct num_arg num_i(int64_t i) { return (struct num_arg){ .kind = NUM_INT, .i = i, .f = (double)i }; }
static inline struct num_arg num_f(double f) { return (struct num_arg){ .kind = NUM_FLOAT, .f = f }; }

/* Sets every element to the number v. */
int num_fill(struct num_ctx *c, const struct tensor *t, struct num_arg v, struct err *e);

enum dtype num_promote_types(enum dtype a, enum dtype b);                 /* torch.promote_types */
enum dtype num_result_type(const struct num_ctx *c, const struct num_arg *args, int n);
int num_can_cast(enum dtype from, enum dtype to);
/* "Float", "Long", ...: scalar types as PyTorch's messages name them. */
const char *num_type_name(enum dtype dt);
const char *num_c_name(enum dtype dt);             /* "float", "c10::Half": other messages name them so */

/* --- elementwise ---------------------------------------------------------------------------- */

enum num_op {
#define EW(name, arity, result, expr) NUM_##name,
#include "num/ew_arith.def"
#include "num/ew_int.def"
#include "num/ew_float.def"
#include "num/ew_usual.def"
#undef EW
	NUM_OPS
};

struct num_op_info { const char *name; int arity; enum { NUM_SAME, NUM_BOOL_OUT,
							 NUM_FLOAT_OUT } result; };
const struct num_op_info *num_op_info(enum num_op op);

/* p: up to three parameters of the operation, or NULL if it has none. */
int num_apply(struct num_ctx *c, struct tensor *out, enum num_op op, const struct num_arg *args,
	      const double *p, struct err *e);
/* Writes to an existing tensor (in-place operators, out=). Its dtype must be able to hold the
 * category of the result and its shape must be the broadcast shape. */
int num_apply_into(struct num_ctx *c, const struct tensor *out, enum num_op op,
		   const struct num_arg *args, const double *p, struct err *e);
int num_op1(struct num_ctx *c, struct tensor *out, enum num_op op, const struct tensor *t,
	    struct err *e);
int num_op2(struct num_ctx *c, struct tensor *out, enum num_op op, struct num_arg a,
	    struct num_arg b, struct err *e);
/* pow with PyTorch's special cases for a number as exponent. */
int num_pow(struct num_ctx *c, struct tensor *out, struct num_arg a, struct num_arg b,
	    struct err *e);

#endif
