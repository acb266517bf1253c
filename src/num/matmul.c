/* Matrix products onto BLAS. A view is passed as it is if BLAS can read its strides, low
 * precision goes through float, integers through a plain loop.
 *
 * This file owns mm, bmm, matmul, addmm and linear, and the gemm that other operators use. einsum
 * and convolutions build on it. Invariant: a product is cut into the same parts for any number of
 * threads, so its bits do not depend on the pool. */
#include <cblas.h>
#include <string.h>

#include "base/mem.h"
#include "num/nn.h"
#include "num/skinny.h"

/* rows of a parallel part; most rows of the skinny path */
enum { ROWS_PER_PART = 256, SKINNY_ROWS = 6 };

/* Element i of a matrix of g's dtype. */
static const char *row_at(const struct num_gemm *g, const void *p, int64_t i)
{
	return (const char *)p + i * dtype_size(g->dt);
}

/* The case N = 1: y[M] = A x. */
static void gemv(const struct num_gemm *g)
{
	/* The "matrix" B is a vector with stride ldb, or 1 if it is stored transposed. */
	int incx = (int)(g->tb ? 1 : g->ldb), incy = (int)g->ldc;
	CBLAS_TRANSPOSE t = g->ta ? CblasTrans : CblasNoTrans;
	int rows = (int)(g->ta ? g->k : g->m), cols = (int)(g->ta ? g->m : g->k);

	if (g->dt == DT_F32)
		cblas_sgemv(CblasRowMajor, t, rows, cols, (float)g->alpha, g->a, (int)g->lda,
			    g->b, incx, (float)g->beta, g->c, incy);
	else
		cblas_dgemv(CblasRowMajor, t, rows, cols, g->alpha, g->a, (int)g->lda, g->b, incx,
			    g->beta, g->c, incy);
}

/* A few float rows times a transposed matrix, as in a linear layer on a small batch. BLAS
 * would spend most of its time on packing b. */
static int is_skinny(const struct num_gemm *g)
{
	return g->m <= SKINNY_ROWS && g->n > 1 && g->k > 0 && g->dt == DT_F32 && !g->ta && g->tb;
}

/* C = alpha A B + beta C on the calling thread: gemv, the skinny kernel or BLAS. */
void num_gemm(const struct num_gemm *g)
{
	CBLAS_TRANSPOSE ta = g->ta ? CblasTrans : CblasNoTrans, tb = g->tb ? CblasTrans : CblasNoTrans;
	int m = (int)g->m, n = (int)g->n, k = (int)g->k, lda = (int)g->lda, ldb = (int)g->ldb, ldc = (int)g->ldc;

	if (m == 0 || n == 0)
		return;
	if (n == 1 && k > 0)
		gemv(g);
	else if (is_skinny(g))
		SIMD_PICK(num_skinny)(g, 0, g->n);
	else if (g->dt == DT_F32)
		cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, (float)g->alpha, g->a, lda, g->b, ldb,
			    (float)g->beta, g->c, ldc);
	else
		cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, g->alpha, g->a, lda, g->b, ldb, g->beta,
			    g->c, ldc);
}

/* Thread body: rows [begin, end) of C in parts of ROWS_PER_PART. */
static void gemm_rows(void *ctx, size_t begin, size_t end)
{
	const struct num_gemm *g = ctx;

	for (int64_t i = (int64_t)begin; i < (int64_t)end; i += ROWS_PER_PART) {
		struct num_gemm part = *g;

		part.m = MIN((int64_t)end - i, (int64_t)ROWS_PER_PART);
		part.a = row_at(g, g->a, g->ta ? i : i * g->lda);
		part.c = (char *)g->c + i * g->ldc * dtype_size(g->dt);
		num_gemm(&part);
	}
}

/* Thread body: columns [begin, end) of C on the skinny path. */
static void skinny_columns(void *ctx, size_t begin, size_t end)
{
	SIMD_PICK(num_skinny)(ctx, (int64_t)begin, (int64_t)end);
}

/* Small products stay on the calling thread. Larger ones are cut along the rows (skinny:
 * along the columns), always at the same places. */
void num_gemm_pool(struct pool *p, const struct num_gemm *g)
{
	if (is_skinny(g) && (double)g->n * (double)g->k > 1e6)
		pool_for(p, (size_t)g->n, ROWS_PER_PART, skinny_columns, (void *)g);
	else if (g->m <= ROWS_PER_PART || g->n == 1 || (double)g->m * (double)g->n * (double)g->k < 4e6)
		num_gemm(g);
	else
		pool_for(p, (size_t)g->m, ROWS_PER_PART, gemm_rows, (void *)g);
}

/* --- operands ---------------------------------------------------------------------------------- */

/* A matrix as BLAS takes it: the last two dimensions of a tensor in the carrier. */
struct operand {
	struct tensor t;        /* holds a reference */
	int trans;              /* memory holds the transpose */
	int64_t ld;             /* leading dimension: elements between stored rows */
};

/* Can BLAS read rows of `cols` elements with these strides? Rows must be dense, must not
 * overlap, and the stride must fit an int. */
static int fits_blas(int64_t rows, int64_t cols, int64_t rs, int64_t cs)
{
	return cs == 1 && (rs >= MAX(cols, 1) || rows == 1) && rs < INT32_MAX;
}

/* t as it is, t as a transposed matrix, or a dense copy in the carrier. */
static int operand_of(struct num_ctx *c, struct operand *o, const struct tensor *t,
		      enum dtype carrier, struct err *e)
{
	int r = t->ndim - 2, k = t->ndim - 1;

	o->trans = 0;
	if (t->dt == carrier && fits_blas(t->shape[r], t->shape[k], t->stride[r], t->stride[k])) {
		o->ld = MAX(t->stride[r], MAX(t->shape[k], 1));
	} else if (t->dt == carrier && fits_blas(t->shape[k], t->shape[r], t->stride[k], t->stride[r])) {
		o->trans = 1;
		o->ld = MAX(t->stride[k], MAX(t->shape[r], 1));
	} else if (t->stride[r] == 1 && t->stride[k] >= t->shape[r]) {
		/* The conversion follows memory order. A conversion to the transposed order
		 * would touch a cache line per element. */
		struct tensor transposed;
		int rc = tensor_transpose(&transposed, t, r, k, e);

		if (rc)
			return -1;
		o->trans = 1;
		o->ld = MAX(t->shape[r], 1);
		rc = num_to(c, &o->t, &transposed, carrier, e);
		tensor_release(&transposed);
		return rc;
	} else {
		o->ld = MAX(t->shape[k], 1);
		return num_to(c, &o->t, t, carrier, e);
	}
	o->t = *t;
	tensor_retain(&o->t);
	return 0;
}

/* out [m, n] = a [m, k] b [k, n] of integers, modulo 2^64. */
static void int_gemm(const int64_t *a, const int64_t *b, int64_t *out, int64_t m, int64_t n,
		     int64_t k)
{
	memset(out, 0, (size_t)(m * n) * sizeof *out);
	for (int64_t i = 0; i < m; i++)
		for (int64_t p = 0; p < k; p++)
			for (int64_t j = 0; j < n; j++)
				out[i * n + j] = (int64_t)((uint64_t)out[i * n + j] + (uint64_t)a[i * k + p] *
							   (uint64_t)b[p * n + j]);
}

/* BLAS takes sizes as int. */
static int check_sizes(int64_t m, int64_t n, int64_t k, struct err *e)
{
	if (m >= INT32_MAX || n >= INT32_MAX || k >= INT32_MAX)
		return err_set(e, ERR_UNSUPPORTED, "matrices with more than 2^31 rows or columns");
	return 0;
}

/* Products do not promote: both operands must have one dtype. The message is PyTorch's. */
static int same_dtype(const struct tensor *a, const struct tensor *b, struct err *e)
{
	if (a->dt == b->dt)
		return 0;
	return err_set(e, ERR_STATE, "expected m1 and m2 to have the same dtype, but got: %s != %s",
		       num_c_name(a->dt), num_c_name(b->dt));
}

/* Batches of integer products. */
static int int_bmm(struct num_ctx *c, struct tensor *out, const struct tensor *a,
		   const struct tensor *b, int64_t batch, struct err *e)
{
	struct tensor x = { .st = NULL }, y = { .st = NULL };
	int64_t m = a->shape[a->ndim - 2], k = a->shape[a->ndim - 1], n = b->shape[b->ndim - 1];
	int rc = num_as(c, &x, a, DT_I64, e) || num_as(c, &y, b, DT_I64, e);

	for (int64_t i = 0; i < batch && !rc; i++)
		int_gemm((int64_t *)tensor_data(&x) + i * m * k,
			 (int64_t *)tensor_data(&y) + i * k * n,
			 (int64_t *)tensor_data(out) + i * m * n, m, n, k);
	tensor_release(&x);
	tensor_release(&y);
	return rc;
}

/* A batch of float products. */
struct bmm_job {
	struct num_gemm g;
	struct operand a, b;
	char *c;                /* result [batch, m, n], dense */
	int64_t step_a, step_b; /* elements between the matrices of two batch entries */
};

/* Thread body: batch entries [begin, end). */
static void bmm_range(void *ctx, size_t begin, size_t end)
{
	const struct bmm_job *j = ctx;
	int size = dtype_size(j->g.dt);

	for (size_t i = begin; i < end; i++) {
		struct num_gemm g = j->g;

		g.a = (char *)tensor_data(&j->a.t) + (int64_t)i * j->step_a * size;
		g.b = (char *)tensor_data(&j->b.t) + (int64_t)i * j->step_b * size;
		g.c = j->c + (int64_t)i * g.m * g.n * size;
		num_gemm(&g);
	}
}

/* out [batch, m, n] = a b. A single product is cut by rows, a batch by entries. k = 0 gives
 * zeros. */
static int float_bmm(struct num_ctx *c, struct tensor *out, const struct tensor *a,
		     const struct tensor *b, int64_t batch, struct err *e)
{
	enum dtype carrier = dtype_carrier(a->dt);
	struct bmm_job j = { .g = { .dt = carrier, .alpha = 1 }, .c = tensor_data(out) };
	int rc = -1;

	j.g.m = a->shape[a->ndim - 2];
	j.g.k = a->shape[a->ndim - 1];
	j.g.n = b->shape[b->ndim - 1];
	if (operand_of(c, &j.a, a, carrier, e))
		return -1;
	if (operand_of(c, &j.b, b, carrier, e))
		goto out;
	j.g.ta = j.a.trans;
	j.g.tb = j.b.trans;
	j.g.lda = j.a.ld;
	j.g.ldb = j.b.ld;
	j.g.ldc = MAX(j.g.n, 1);
	j.step_a = a->ndim == 3 ? j.a.t.stride[0] : 0;
	j.step_b = b->ndim == 3 ? j.b.t.stride[0] : 0;
	if (j.g.k == 0)
		memset(j.c, 0, out->st->bytes);
	else if (batch == 1) {
		j.g.a = tensor_data(&j.a.t);
		j.g.b = tensor_data(&j.b.t);
		j.g.c = j.c;
		num_gemm_pool(c->pool, &j.g);
	} else {
		pool_for(c->pool, (size_t)batch, 1, bmm_range, &j);
	}
	rc = 0;
	tensor_release(&j.b.t);
out:
	tensor_release(&j.a.t);
	return rc;
}

static int cut_product(struct num_ctx *c, struct tensor *out, const struct tensor *a,
		       const struct tensor *b, struct err *e);

/* The product of a [B, M, K] or [M, K] with b of the same rank. The caller has checked the
 * shapes. The result is computed in the carrier and rounded once to a's dtype. */
static int product(struct num_ctx *c, struct tensor *out, const struct tensor *a,
		   const struct tensor *b, struct err *e)
{
	int64_t m = a->shape[a->ndim - 2], k = a->shape[a->ndim - 1], n = b->shape[b->ndim - 1];
	int64_t batch = a->ndim == 3 ? a->shape[0] : 1;
	int rc;

	if (c->tf32 & NUM_TF32_MATMUL && !c->hollow && a->dt == DT_F32 && b->dt == DT_F32)
		return cut_product(c, out, a, b, e);
	if (same_dtype(a, b, e) || check_sizes(m, n, k, e) ||
	    num_charge(c, (uint64_t)batch * (uint64_t)m * (uint64_t)n * (uint64_t)MAX(k, 1), e))
		return -1;
	if (num_new(c, out, dtype_carrier(a->dt), a->ndim,
		    a->ndim == 3 ? (int64_t[]){ batch, m, n } :
		    (int64_t[]){ m, n }, e))
		return -1;
	if (c->hollow || !tensor_numel(out))
		return num_settle(c, out, a->dt, e);
	rc = dtype_is_float(a->dt) ? float_bmm(c, out, a, b, batch, e) : int_bmm(c, out, a, b, batch, e);
	if (rc) {
		tensor_release(out);
		return -1;
	}
	return num_settle(c, out, a->dt, e);
}

/* The product of operands rounded to TF32. The context copy without the flag ends the
 * recursion. */
static int cut_product(struct num_ctx *c, struct tensor *out, const struct tensor *a,
		       const struct tensor *b, struct err *e)
{
	struct num_ctx plain = *c;
	struct tensor x, y;
	int rc;

	plain.tf32 &= ~(unsigned)NUM_TF32_MATMUL;
	if (num_cut_tf32(c, &x, a, e))
		return -1;
	rc = num_cut_tf32(c, &y, b, e);
	if (!rc) {
		rc = product(&plain, out, &x, &y, e);
		tensor_release(&y);
	}
	tensor_release(&x);
	return rc;
}

/* [M, K] x [K, N], with PyTorch's messages. */
int num_mm(struct num_ctx *c, struct tensor *out, const struct tensor *a, const struct tensor *b,
	   struct err *e)
{
	if (a->ndim != 2 || b->ndim != 2)
		return err_set(e, ERR_STATE, "%s must be a matrix", a->ndim != 2 ? "self" : "mat2");
	if (a->shape[1] != b->shape[0])
		return err_set(e, ERR_STATE, "mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
			       (long long)a->shape[0], (long long)a->shape[1],
			       (long long)b->shape[0], (long long)b->shape[1]);
	return product(c, out, a, b, e);
}

/* [B, M, K] x [B, K, N], with PyTorch's messages. */
int num_bmm(struct num_ctx *c, struct tensor *out, const struct tensor *a, const struct tensor *b,
	    struct err *e)
{
	if (a->ndim != 3 || b->ndim != 3)
		return err_set(e, ERR_STATE, "batch%d must be a 3D tensor", a->ndim != 3 ? 1 : 2);
	if (a->shape[0] != b->shape[0] || a->shape[2] != b->shape[1])
		return err_set(e, ERR_STATE,
			       "Expected size for first two dimensions of batch2 tensor to be: "
			       "[%lld, %lld] but got: [%lld, %lld].",
			       (long long)a->shape[0], (long long)a->shape[2],
			       (long long)b->shape[0], (long long)b->shape[1]);
	return product(c, out, a, b, e);
}

/* --- matmul --------------------------------------------------------------------------------------- */

/* Two vectors: [1, K] x [K, 1], seen as a 0-d tensor. */
static int dot(struct num_ctx *c, struct tensor *out, const struct tensor *a,
	       const struct tensor *b, struct err *e)
{
	struct tensor x, y, r;
	int rc;

	if (a->shape[0] != b->shape[0])
		return err_set(e, ERR_STATE,
			       "inconsistent tensor size, expected tensor [%lld] and src [%lld] "
			       "to have the same number of elements, but got %lld and %lld "
			       "elements respectively",
			       (long long)a->shape[0], (long long)b->shape[0],
			       (long long)a->shape[0], (long long)b->shape[0]);
	if (tensor_unsqueeze(&x, a, 0, e))
		return -1;
	if (tensor_unsqueeze(&y, b, 1, e)) {
		tensor_release(&x);
		return -1;
	}
	rc = product(c, &r, &x, &y, e);
	tensor_release(&x);
	tensor_release(&y);
	if (rc)
		return -1;
	rc = tensor_view(out, &r, 0, NULL, e);
	tensor_release(&r);
	return rc;
}

/* [..., M, K] x [K, N] as one product [rows, K] x [K, N] over all leading dimensions. */
static int folded(struct num_ctx *c, struct tensor *out, const struct tensor *a,
		  const struct tensor *b, struct err *e)
{
	struct tensor flat, r;
	int64_t shape[TENSOR_DIMS], rows = 1, k = a->shape[a->ndim - 1];
	int rc;

	for (int i = 0; i < a->ndim - 1; i++)
		rows *= shape[i] = a->shape[i];
	if (k != b->shape[0])
		return err_set(e, ERR_STATE, "mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
			       (long long)rows, (long long)k, (long long)b->shape[0],
			       (long long)b->shape[1]);
	shape[a->ndim - 1] = b->shape[1];
	if (num_reshape(c, &flat, a, 2, (int64_t[]){ rows, k }, e))
		return -1;
	rc = product(c, &r, &flat, b, e);
	tensor_release(&flat);
	if (rc)
		return -1;
	rc = tensor_view(out, &r, a->ndim, shape, e);
	tensor_release(&r);
	return rc;
}

/* t with its leading dimensions broadcast to `batch` and merged: [B, rows, columns]. */
static int expand_batch(struct num_ctx *c, struct tensor *out, const struct tensor *t, int nb,
			const int64_t *batch, struct err *e)
{
	int64_t shape[TENSOR_DIMS], n = 1;
	struct tensor full;
	int rc;

	for (int i = 0; i < nb; i++)
		shape[i] = batch[i];
	shape[nb] = t->shape[t->ndim - 2];
	shape[nb + 1] = t->shape[t->ndim - 1];
	if (tensor_expand(&full, t, nb + 2, shape, e))
		return -1;
	for (int i = 0; i < nb; i++)
		n *= batch[i];
	rc = num_reshape(c, out, &full, 3, (int64_t[]){ n, shape[nb], shape[nb + 1] }, e);
	tensor_release(&full);
	return rc;
}

/* [..., M, K] x [..., K, N] with broadcast leading dimensions. */
static int batched(struct num_ctx *c, struct tensor *out, const struct tensor *a,
		   const struct tensor *b, struct err *e)
{
	struct tensor x = { .st = NULL }, y = { .st = NULL }, r = { .st = NULL };
	int64_t batch[TENSOR_DIMS];
	int nb = a->ndim - 2, rc = -1;

	for (int i = 0; i < nb; i++)
		batch[i] = a->shape[i];
	if (tensor_broadcast_shape(&nb, batch, b->ndim - 2, b->shape, e))
		return -1;
	if (expand_batch(c, &x, a, nb, batch, e) || expand_batch(c, &y, b, nb, batch, e) ||
	    num_bmm(c, &r, &x, &y, e))
		goto out;
	batch[nb] = r.shape[1];
	batch[nb + 1] = r.shape[2];
	rc = tensor_view(out, &r, nb + 2, batch, e);
out:
	tensor_release(&x);
	tensor_release(&y);
	tensor_release(&r);
	return rc;
}

/* A vector operand becomes a matrix of one row (left) or one column (right). The added
 * dimension is selected away again. */
static int with_vector(struct num_ctx *c, struct tensor *out, const struct tensor *a,
		       const struct tensor *b, struct err *e)
{
	struct tensor m, r;
	int left = a->ndim == 1, rc;

	if (!left && a->ndim == 2 && a->shape[1] != b->shape[0])
		return err_set(e, ERR_STATE, "size mismatch, got input (%lld), mat (%lldx%lld), vec (%lld)",
			       (long long)a->shape[0], (long long)a->shape[0],
			       (long long)a->shape[1], (long long)b->shape[0]);
	if (tensor_unsqueeze(&m, left ? a : b, left ? 0 : 1, e))
		return -1;
	rc = num_matmul(c, &r, left ? &m : a, left ? b : &m, e);
	tensor_release(&m);
	if (rc)
		return -1;
	rc = tensor_select(out, &r, left ? -2 : -1, 0, e);
	tensor_release(&r);
	return rc;
}

/* torch.matmul: chooses by the ranks of the operands, as PyTorch does. */
int num_matmul(struct num_ctx *c, struct tensor *out, const struct tensor *a,
	       const struct tensor *b, struct err *e)
{
	if (a->ndim == 0 || b->ndim == 0)
		return err_set(e, ERR_STATE,
			       "both arguments to matmul need to be at least 1D, but they are %dD and %dD", a->ndim,
			       b->ndim);
	if (a->ndim == 1 && b->ndim == 1)
		return dot(c, out, a, b, e);
	if (a->ndim == 1 || b->ndim == 1)
		return with_vector(c, out, a, b, e);
	if (a->ndim == 2 && b->ndim == 2)
		return num_mm(c, out, a, b, e);
	if (b->ndim == 2)
		return folded(c, out, a, b, e);
	return batched(c, out, a, b, e);
}

/* The addend of addmm has the dtype of the product and no more dimensions. The messages are
 * PyTorch's. */
static int check_added(const struct tensor *x, const struct tensor *a, const struct tensor *b,
		       struct err *e)
{
	int nd = MIN(a->ndim, b->ndim);

	if (a->dt == b->dt && x->dt != b->dt)
		return err_set(e, ERR_STATE, "self and mat2 must have the same dtype, but got %s and %s",
			       num_type_name(x->dt), num_type_name(b->dt));
	/* 0-d operands are no matrices: the product reports that */
	if (nd && x->ndim > MAX(a->ndim, b->ndim))
		return err_set(e, ERR_STATE,
			       "expand(torch.%sTensor{%s}, size=%s): the number of sizes "
			       "provided (%d) must be greater or equal to the number of "
			       "dimensions in the tensor (%d)",
			       num_type_name(x->dt), SHAPE_TEXT(x->ndim, x->shape),
			       SHAPE_TEXT(2, ((int64_t[]){ a->shape[0], b->shape[nd - 1] })), 2,
			       x->ndim);
	return 0;
}

/* beta x + alpha (a b). beta = 0 ignores x, so that NaN in x does not spread. The product is
 * rounded to its dtype before the sum; PyTorch may keep it wider. */
int num_addmm(struct num_ctx *c, struct tensor *out, const struct tensor *x, const struct tensor *a,
	      const struct tensor *b, double beta, double alpha, struct err *e)
{
	struct tensor r, s;
	int rc;

	if (check_added(x, a, b, e) || num_matmul(c, &r, a, b, e))
		return -1;
	rc = alpha == 1 ? 0 : num_apply_into(c, &r, NUM_mul, (struct num_arg[]){ num_t(&r), num_f(alpha) }, NULL, e);
	if (!rc && beta == 0) {
		*out = r;
		return 0;
	}
	rc = rc || num_op2(c, &s, NUM_mul, num_t(x), dtype_is_float(x->dt) ? num_f(beta) : num_i((int64_t)beta), e);
	if (!rc) {
		rc = num_op2(c, out, NUM_plus, num_t(&s), num_t(&r), e);
		tensor_release(&s);
	}
	tensor_release(&r);
	return rc;
}

/* x [..., K], w [N, K], b [N] gives x w^T + b [..., N]. w may be a vector: then the result is
 * [...]. */
int num_linear(struct num_ctx *c, struct tensor *out, const struct tensor *x,
	       const struct tensor *w, const struct tensor *b, struct err *e)
{
	struct tensor wt, r;
	int rc;

	if (w->ndim != 1 && w->ndim != 2)
		return err_set(e, ERR_STATE, "linear(): weight must be 2D, got %dD", w->ndim);
	if (w->ndim == 1 && b)
		return err_set(e, ERR_STATE, "mat2 must be a matrix, got 1-D tensor");
	if (b && x->dt == w->dt && b->dt != w->dt)
		return err_set(e, ERR_STATE, "self and mat2 must have the same dtype, but got %s and %s",
			       num_type_name(b->dt), num_type_name(w->dt));
	if (w->ndim == 2 && tensor_transpose(&wt, w, 0, 1, e))
		return -1;
	rc = num_matmul(c, &r, x, w->ndim == 2 ? &wt : w, e);
	if (w->ndim == 2)
		tensor_release(&wt);
	if (rc)
		return -1;
	if (b && num_apply_into(c, &r, NUM_plus, (struct num_arg[]){ num_t(&r), num_t(b) }, NULL, e)) {
		tensor_release(&r);
		return -1;
	}
	*out = r;
	return 0;
}
