/* What a torch operation would cost on a device: bytes of the tensors it reads and writes, and
 * the multiply-adds of products. For the roofline model, not for accounting of memory. */
#include <stdio.h>

#include "interp/fail.h"
#include "interp/state.h"
#include "interp/work.h"

static int64_t bytes_of(struct val v)
{
	int64_t sum = 0;

	if (v.kind == V_TENSOR)
		return tensor_numel(&v.u.t->t) * dtype_size(v.u.t->t.dt);
	if (v.kind == V_TUPLE || v.kind == V_LIST)
		for (size_t i = 0; i < v.u.seq->n; i++)
			sum += v.u.seq->v[i].kind == V_TENSOR ? bytes_of(v.u.seq->v[i]) : 0;
	return sum;
}

static const struct tensor *nth_matrix(const struct val *a, size_t n, int nth)
{
	for (size_t i = 0; i < n; i++)
		if (a[i].kind == V_TENSOR && a[i].u.t->t.ndim >= 2 && nth-- == 0)
			return &a[i].u.t->t;
	return NULL;
}

/* Multiply-adds for each element of the result: the length of the sums. */
static int64_t sum_length(const char *name, const struct val *a, size_t n)
{
	const struct tensor *x = nth_matrix(a, n, 0), *w = nth_matrix(a, n, 1);

	if (!x || !w)
		return 0;
	if (strstr(name, "conv") || strstr(name, "linear"))
		return w->shape[0] ? tensor_numel(w) / w->shape[0] : 0;
	if (strstr(name, "mm") || strstr(name, "matmul") || strstr(name, "einsum") || strstr(name, "attention"))
		return x->shape[x->ndim - 1];
	return 0;
}

void host_count_work(struct host_op *op, const struct val *a, size_t n, struct val out)
{
	if (!op || !(op->flags & (BIND_COMPUTE | BIND_COPY | BIND_RANDOM)))
		return;
	for (size_t i = 0; i < n; i++)
		op->bytes += bytes_of(a[i]);
	op->bytes += bytes_of(out);
	if (out.kind == V_TENSOR) {
		int64_t k = sum_length(op->name, a, n), elements = tensor_numel(&out.u.t->t);

		op->flops += k ? 2 * k * elements : elements;
		op->sum = MAX(op->sum, k);
	}
}

int host_may_compute(struct host *h, const char *name)
{
	struct diag d = { .reason = REASON_ok };
	int line, col;

	if (!h->o.compute)
		return 0;
	host_position(h, &line, &col);
	if (!h->o.compute(h->o.compute_ctx, name, line, &d))
		return 0;
	host_fatal(h, d.reason ? d.reason : REASON_unsupported, "%s", d.text);
	snprintf(h->fail.diag.hint, sizeof h->fail.diag.hint, "%s", d.hint);
	return -1;
}

/* A few values steer a program (integers: lengths and offsets); with many of them Python does
 * the computing. */
int host_may_read(struct host *h, enum dtype dt, int64_t n)
{
	enum { FLOATS_MOST = 8, INTS_MOST = 128 };

	if (!h->o.compute || h->fail.fatal)
		return 0;
	h->did.reads += n * (dtype_is_float(dt) ? INTS_MOST / FLOATS_MOST : 1);
	return h->did.reads <= INTS_MOST ? 0 : host_may_compute(h, "Python code that reads more than 8 floats or 128 integers of tensors");
}
