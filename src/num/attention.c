/* Scaled dot-product attention: y = softmax(q k^T * scale + mask) v.
 *
 *     q [..., L, D]   k [..., S, D]   v [..., S, Dv]   mask [..., L, S]   y [..., L, Dv]
 *
 * Leading dimensions broadcast. With grouped queries (gqa) q has `heads` heads and k, v have
 * heads / rep; query head h uses key head h / rep. A bool mask says which keys a query may
 * attend to; a float mask is added to the scores.
 *
 * The scores of QUERIES queries are all that a thread holds at a time: memory is 2 * 64 * S
 * elements per thread, not L * S. Dropout is not here (the binding refuses it). */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "num/nn.h"
#include "num/rows.h"

enum { QUERIES = 64 };                  /* queries of a work item */

/* One call, shared by its threads. B counts the merged leading dimensions of q. */
struct attention_job {
	/* Dense tensors in the carrier with merged leading dimensions: q [B, L, D], k, v [B /
	 * rep, S, ...]. The mask is expanded to [B, L, S] with strides (0 where it
	 * broadcasts). */
	struct tensor q, k, v, mask, y;
	/* blocks: work items per batch entry, ceil(L / QUERIES); rep: query heads per key
	 * head; heads: query heads */
	int64_t B, L, S, D, Dv, blocks, rep, heads;
	int size, causal;       /* size: bytes of an element of the carrier */
	double scale;           /* factor of the scores, 1 / sqrt(D) unless given */
	const struct num_rows *rows;
	_Atomic int failed;     /* a thread could not get its scores buffer */
};

/* Element i of an array of `dt`, as a double. */
static double load_at(enum dtype dt, const void *p, int64_t i)
{
	return dtype_load(dt, (const char *)p + i * dtype_size(dt));
}

/* Adds one row of the mask to one row of scores [S]. A false element of a bool mask makes the
 * score -inf. `stride` is the mask's stride in elements along S. */
static void mask_row(const struct attention_job *a, char *row, const char *m, int64_t stride)
{
	enum dtype dt = a->mask.dt;

	for (int64_t j = 0; j < a->S; j++, row += a->size) {
		double v = load_at(dt, m, j * stride);

		if (dt == DT_BOOL && v == 0)
			dtype_store(a->y.dt, row, -INFINITY);
		else if (dt != DT_BOOL)
			dtype_store(a->y.dt, row, dtype_load(a->y.dt, row) + v);
	}
}

/* Adds the mask to scores [n, S] of the queries [first, first + n) of batch entry b. */
static void mask_scores(const struct attention_job *a, char *scores, int64_t b, int64_t first,
			int64_t n)
{
	const struct tensor *m = &a->mask;

	for (int64_t i = 0; i < n; i++)
		mask_row(a, scores + i * a->S * a->size,
			 (char *)tensor_data(m) + (b * m->stride[0] + (first + i) * m->stride[1]) * dtype_size(m->dt),
			 m->stride[2]);
}

/* A query whose keys are all masked gets 0 / 0 = NaN from softmax. PyTorch's CPU kernel gives zeros
 * for that row, so its probabilities are cleared. */
static void clear_empty(const struct attention_job *a, char *row)
{
	if (a->S && isnan(load_at(a->y.dt, row, 0)))
		memset(row, 0, (size_t)(a->S * a->size));
}

/* One work item: queries [first, first + n) of batch entry b. `scores` holds two arrays [QUERIES,
 * S]: the scores, followed by the probabilities. kb is the entry of k and v that query entry b
 * uses: 8 query heads over 2 key heads map heads 0 to 3 to key head 0 and 4 to 7 to key head 1. */
static void attend(struct attention_job *a, int64_t b, int64_t first, void *scores)
{
	int64_t n = MIN(a->L - first, (int64_t)QUERIES), kb = b / a->heads * (a->heads / a->rep) +
		b % a->heads / a->rep;
	struct num_gemm qk = { .dt = a->y.dt, .tb = 1, .m = n, .n = a->S, .k = a->D, .lda = a->D,
			       .ldb = a->D, .ldc = a->S,
			       .a = (char *)tensor_data(&a->q) + (b * a->L + first) * a->D * a->size,
			       .b = (char *)tensor_data(&a->k) + kb * a->S * a->D * a->size,
			       .c = scores, .alpha = a->scale };
	struct num_gemm pv = { .dt = a->y.dt, .m = n, .n = a->Dv, .k = a->S, .lda = a->S,
			       .ldb = a->Dv, .ldc = a->Dv,
			       .a = scores, .b = (char *)tensor_data(&a->v) + kb * a->S * a->Dv * a->size,
			       .c = (char *)tensor_data(&a->y) + (b * a->L + first) * a->Dv * a->size, .alpha = 1 };
	char *p = scores;

	/* Under the causal mask query i sees keys 0 to i, so no query of the block sees
	 * beyond key first + n - 1. The products leave out all later keys. */
	if (a->causal)
		qk.n = pv.k = MIN(a->S, first + n);
	num_gemm(&qk);
	if (a->mask.st)
		mask_scores(a, scores, b, first, n);
	for (int64_t i = 0; i < n; i++, p += a->S * a->size) {
		char *row = p + (int64_t)QUERIES * a->S * a->size;   /* softmax reads and writes apart */
		int64_t seen = a->causal ? MIN(a->S, first + i + 1) : a->S;

		a->rows->softmax(row, p, seen, 1, 1, 0);
		memset(row + seen * a->size, 0, (size_t)((pv.k - seen) * a->size));
		if (a->mask.st)
			clear_empty(a, row);
	}
	pv.a = (char *)scores + (int64_t)QUERIES * a->S * a->size;
	num_gemm(&pv);
}

/* Thread body: work items [begin, end). A failed allocation is reported through a->failed,
 * because a worker has no error to return. */
static void attend_range(void *ctx, size_t begin, size_t end)
{
	struct attention_job *a = ctx;
	void *scores = mem_alloc_aligned((size_t)(2 * QUERIES * a->S * a->size), 64);

	if (!scores) {
		atomic_store(&a->failed, 1);
		return;
	}
	for (int64_t i = (int64_t)begin; i < (int64_t)end; i++)
		attend(a, i / a->blocks, i % a->blocks * QUERIES, scores);
	mem_free_aligned(scores);
}

/* t [..., n, d], with its leading dimensions broadcast to `lead` and merged, as a dense
 * tensor [B, n, d] of the carrier. Under TF32 the operands lose the mantissa bits that tensor
 * cores ignore. */
static int take(struct num_ctx *c, struct tensor *out, const struct tensor *t, int nl,
		const int64_t *lead, enum dtype carrier, struct err *e)
{
	int64_t shape[TENSOR_DIMS], B = 1;
	struct tensor full, dense;
	int rc;

	for (int i = 0; i < nl; i++)
		B *= shape[i] = lead[i];
	shape[nl] = t->shape[t->ndim - 2];
	shape[nl + 1] = t->shape[t->ndim - 1];
	if (tensor_expand(&full, t, nl + 2, shape, e))
		return -1;
	rc = c->tf32 & NUM_TF32_MATMUL && t->dt == DT_F32 ? num_cut_tf32(c, &dense, &full, e) :
		num_as(c, &dense, &full, carrier, e);
	tensor_release(&full);
	if (rc)
		return -1;
	rc = tensor_view(out, &dense, 3, (int64_t[]){ B, shape[nl], shape[nl + 1] }, e);
	tensor_release(&dense);
	return rc;
}

/* The mask as [B, L, S]. PyTorch takes bool, float32 and the dtype of the query; the message
 * is its own. */
static int take_mask(struct num_ctx *c, struct attention_job *a, const struct tensor *m,
		     enum dtype dt, int nl, const int64_t *lead, struct err *e)
{
	int64_t shape[TENSOR_DIMS];
	struct tensor full;
	int rc;

	if (m->dt != DT_BOOL && m->dt != DT_F32 && m->dt != dt)
		return err_set(e, ERR_STATE,
			       "Expected attn_mask dtype to be bool or float or to match query "
			       "dtype, but got attn_mask.dtype: %s and  query.dtype: %s instead.",
			       num_c_name(m->dt), num_c_name(dt));
	memcpy(shape, lead, sizeof *lead * (size_t)nl);
	shape[nl] = a->L;
	shape[nl + 1] = a->S;
	if (tensor_expand(&full, m, nl + 2, shape, e))
		return -1;
	rc = num_reshape(c, &a->mask, &full, 3, (int64_t[]){ a->B, a->L, a->S }, e);
	tensor_release(&full);
	return rc;
}

/* Ranks, dtypes and inner sizes, in the order in which PyTorch checks them. */
static int check(const struct tensor *q, const struct tensor *k, const struct tensor *v,
		 struct err *e)
{
	if (q->ndim < 2 || k->ndim < 2 || v->ndim < 2)
		return err_set(e, ERR_STATE,
			       "Expected query, key, and value to all be  at least 2 "
			       "dimensional, but got query.dim: %d key.dim: %d and value.dim: %d "
			       "instead.", q->ndim, k->ndim, v->ndim);
	if (q->dt != k->dt || q->dt != v->dt)
		return err_set(e, ERR_STATE,
			       "Expected query, key, and value to have the same dtype, but got "
			       "query.dtype: %s key.dtype: %s and value.dtype: %s instead.",
			       dtype_info(q->dt)->torch, dtype_info(k->dt)->torch,
			       dtype_info(v->dt)->torch);
	if (!dtype_is_float(q->dt))
		return err_set(e, ERR_STATE, "\"softmax_lastdim_kernel_impl\" not implemented for '%s'",
			       num_type_name(q->dt));
	if (q->shape[q->ndim - 1] != k->shape[k->ndim - 1] ||
	    k->shape[k->ndim - 2] != v->shape[v->ndim - 2])
		return err_set(e, ERR_STATE, "mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
			       (long long)q->shape[q->ndim - 2], (long long)q->shape[q->ndim - 1],
			       (long long)k->shape[k->ndim - 1], (long long)k->shape[k->ndim - 2]);
	return 0;
}

/* Leading dimensions lq of the query and lk of keys and values. Without gqa both are the
 * broadcast shape of q and k. With gqa they differ in the head dimension (the last of them),
 * whose query size must be a multiple of the key size. */
static int leads(struct attention_job *a, const struct tensor *q, const struct tensor *k, int gqa,
		 int64_t *lq, int64_t *lk,
		 int *nl, struct err *e)
{
	*nl = q->ndim - 2;
	memcpy(lq, q->shape, sizeof *lq * TENSOR_DIMS);
	a->rep = a->heads = 1;
	if (!gqa && tensor_broadcast_shape(nl, lq, k->ndim - 2, k->shape, e))
		return -1;
	memcpy(lk, lq, sizeof *lk * TENSOR_DIMS);
	if (gqa && *nl > 0) {
		if (k->ndim < 3)
			return err_set(e, ERR_RANGE,
				       "Dimension out of range (expected to be in range of [-2, 1], but got -3)");
		a->heads = lq[*nl - 1];
		lk[*nl - 1] = k->shape[k->ndim - 3];
		if (lk[*nl - 1] == 0 || a->heads % lk[*nl - 1])
			return err_set(e, ERR_STATE,
				       "Number of heads in key and value must divide the number of heads in query");
		a->rep = a->heads / lk[*nl - 1];
	}
	a->B = 1;
	for (int i = 0; i < *nl; i++)
		a->B *= lq[i];
	return 0;
}

/* Charges B * L * S * (D + Dv) multiply-adds. A dry run (hollow) makes the result without its
 * contents and asks for no scratch memory. */
int num_attention(struct num_ctx *c, struct tensor *out, const struct tensor *q,
		  const struct tensor *k,
		  const struct tensor *v, const struct num_attention *p, struct err *e)
{
	struct attention_job a = { .causal = p->causal };
	enum dtype carrier = dtype_carrier(q->dt);
	int64_t lq[TENSOR_DIMS], lk[TENSOR_DIMS];
	int nl, rc = -1;

	if (check(q, k, v, e) || leads(&a, q, k, p->gqa, lq, lk, &nl, e))
		return -1;
	a.L = q->shape[q->ndim - 2];
	a.D = q->shape[q->ndim - 1];
	a.S = k->shape[k->ndim - 2];
	a.Dv = v->shape[v->ndim - 1];
	a.scale = p->scale ? p->scale : 1 / sqrt((double)MAX(a.D, 1));
	a.size = dtype_size(carrier);
	a.rows = SIMD_PICK(num_rows)(carrier);
	a.blocks = (a.L + QUERIES - 1) / QUERIES;
	if (take(c, &a.q, q, nl, lq, carrier, e) || take(c, &a.k, k, nl, lk, carrier, e) ||
	    take(c, &a.v, v, nl, lk, carrier, e) ||
	    (p->mask && take_mask(c, &a, p->mask, q->dt, nl, lq, e)))
		goto out;
	lq[nl] = a.L;
	lq[nl + 1] = a.Dv;
	if (num_new(c, &a.y, carrier, nl + 2, lq, e) ||
	    num_charge(c, (uint64_t)(a.B * a.L) * (uint64_t)a.S * (uint64_t)(a.D + a.Dv), e) ||
	    (!c->hollow && num_scratch(c, MIN(a.S, (int64_t)1 << 48) * 2 * QUERIES * a.size, e)))
		goto out;
	/* Blocks of queries are independent; the scores of one block are all that is ever held. */
	if (tensor_numel(&a.y))
		pool_for(c->pool, (size_t)(a.B * a.blocks), 1, attend_range, &a);
	if (atomic_load(&a.failed) ? err_nomem(e) : num_settle(c, &a.y, q->dt, e))
		goto out;
	*out = a.y;
	a.y.st = NULL;
	rc = 0;
out:
	tensor_release(&a.q);
	tensor_release(&a.k);
	tensor_release(&a.v);
	tensor_release(&a.mask);
	tensor_release(&a.y);
	return rc;
}
