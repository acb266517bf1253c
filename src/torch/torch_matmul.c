/* Bindings of products of matrices and vectors, linear layers, attention and distances.
 * Shapes and dtypes are checked by num/matmul.c, num/einsum.c and num/attention.c; ranks that
 * a function of torch restricts are checked here. */
#include "interp/import.h"
#include "num/nn.h"
#include "num/shape.h"
#include "torch/torch.h"

typedef int product_fn(struct num_ctx *c, struct tensor *out, const struct tensor *a,
		       const struct tensor *b, struct err *e);

/* Two tensors, and out= in slot 2. */
static int product(struct bind *b, size_t first, size_t second, product_fn *fn)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, *y, r;

	if (bind_tensor(b, first, &x) || bind_tensor(b, second, &y))
		return -1;
	if (fn(&c, &r, x, y, bind_e(b)))
		return bind_fail(b);
	return torch_result(b, &r, 2);
}

static int m_matmul(struct bind *b) { return product(b, 0, 1, num_matmul); }
static int m_mm(struct bind *b) { return product(b, 0, 1, num_mm); }
static int m_bmm(struct bind *b) { return product(b, 0, 1, num_bmm); }

/* a @ b: NotImplemented for anything but a tensor, so that Python asks b. */
static int op_matmul(struct bind *b)
{
	if (b->a[1].kind != V_TENSOR) {
		b->out = (struct val){ .kind = V_NOTIMPL };
		return 0;
	}
	return product(b, 0, 1, num_matmul);
}

static int op_rmatmul(struct bind *b) { return product(b, 1, 0, num_matmul); }

/* Two vectors. */
static int m_dot(struct bind *b)
{
	struct tensor *x, *y;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &y))
		return -1;
	if (x->ndim != 1 || y->ndim != 1)
		return bind_shape_error(b, "1D tensors expected, but got %dD and %dD tensors", x->ndim, y->ndim);
	return product(b, 0, 1, num_matmul);
}

/* A matrix and a vector. */
static int m_mv(struct bind *b)
{
	struct tensor *x, *y;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &y))
		return -1;
	if (x->ndim != 2 || y->ndim != 1)
		return bind_shape_error(b, "vector + matrix @ vector expected, got %d, %d, %d", 1, x->ndim, y->ndim);
	return product(b, 0, 1, num_matmul);
}

/* [n] and [m] give [n, m]: an elementwise product of a column and a row. */
static int m_outer(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, *y, col, r;
	int rc;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &y))
		return -1;
	if (x->ndim != 1 || y->ndim != 1)
		return bind_shape_error(b, "outer: Expected 1-D argument %s, but got %d-D",
					x->ndim != 1 ? "self" : "vec2", x->ndim != 1 ? x->ndim : y->ndim);
	if (tensor_unsqueeze(&col, x, 1, bind_e(b)))
		return bind_fail(b);
	rc = num_op2(&c, &r, NUM_mul, num_t(&col), num_t(y), bind_e(b));
	tensor_release(&col);
	return rc ? bind_fail(b) : bind_result(b, &r);
}

/* input, a, b, *, beta=1, alpha=1, out=None: addmm, baddbmm and addmv. The names share one
 * function; only baddbmm restricts the rank. */
static int m_addmm(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, *p, *q, r;
	double beta, alpha;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &p) || bind_tensor(b, 2, &q) || bind_float(b, 3, &beta) ||
	    bind_float(b, 4, &alpha))
		return -1;
	if (strstr(b->row->name, "baddbmm") && (p->ndim != 3 || q->ndim != 3))
		return bind_shape_error(b, "batch%d must be a 3D tensor", p->ndim != 3 ? 1 : 2);
	if (num_addmm(&c, &r, x, p, q, beta, alpha, bind_e(b)))
		return bind_fail(b);
	return b->row->flags & BIND_INPLACE ? torch_write_back(b, &r) : torch_result(b, &r, 5);
}

/* input, batch1, batch2, *, beta=1, alpha=1: beta input + alpha * sum over the batch of the
 * products. */
static int m_addbmm(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, *p, *q, r, s, y;
	double beta, alpha;
	int rc;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &p) || bind_tensor(b, 2, &q) || bind_float(b, 3, &beta) ||
	    bind_float(b, 4, &alpha))
		return -1;
	if (num_bmm(&c, &r, p, q, bind_e(b)))
		return bind_fail(b);
	/* The sum over the batch is rounded to the dtype of the products. */
	rc = num_sum(&c, &s, &r, &(struct num_dims){ .v = { 0 }, .n = 1 }, 0, -1, bind_e(b));
	tensor_release(&r);
	if (rc)
		return bind_fail(b);
	rc = num_op2(&c, &r, NUM_mul, num_t(x), num_f(beta), bind_e(b));
	if (!rc) {
		rc = num_apply(&c, &y, NUM_add, (struct num_arg[]){ num_t(&r), num_t(&s) },
			       (double[]){ alpha, 0, 0 }, bind_e(b));
		tensor_release(&r);
	}
	tensor_release(&s);
	return rc ? bind_fail(b) : bind_result(b, &y);
}

/* equation, *operands */
static int m_einsum(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor **t, y;
	struct str eq;
	size_t n;

	if (bind_string(b, 0, &eq) || bind_tensors(b, 1, &t, &n))
		return -1;
	if (num_einsum(&c, &y, eq, (const struct tensor *const *)t, (int)n, bind_e(b)))
		return bind_fail(b);
	return bind_result(b, &y);
}

/* input [..., K], weight [N, K], bias [N] or None */
static int f_linear(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, *w, *bias, y;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &w) || bind_opt_tensor(b, 2, &bias))
		return -1;
	return num_linear(&c, &y, x, w, bias, bind_e(b)) ? bind_fail(b) : bind_result(b, &y);
}

/* The leading dimensions of both inputs of bilinear must be equal: they do not broadcast. */
static int check_bilinear(struct bind *b, const struct tensor *x, const struct tensor *y)
{
	if (x->ndim != y->ndim || x->ndim < 1)
		return bind_raise(b, EXC_RuntimeError, "bilinear(): input dimensions do not match: got %d and %d",
				  x->ndim, y->ndim);
	for (int d = 0; d < x->ndim - 1; d++)
		if (x->shape[d] != y->shape[d])
			return bind_raise(b, EXC_RuntimeError,
					  "bilinear(): input batch dimensions do not match at dim %d: "
					  "got %lld and %lld",
					  d, (long long)x->shape[d], (long long)y->shape[d]);
	return 0;
}

/* y[n, o] = sum over i, j of x1[n, i] w[o, i, j] x2[n, j] + b[o]. */
static int f_bilinear(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, *y, *w, *bias, r;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &y) || bind_tensor(b, 2, &w) || bind_opt_tensor(b, 3, &bias) ||
	    check_bilinear(b, x, y))
		return -1;
	if (num_einsum(&c, &r, STR("...i,oij,...j->...o"), (const struct tensor *[]){ x, w, y }, 3, bind_e(b)))
		return bind_fail(b);
	if (bias && num_apply_into(&c, &r, NUM_plus, (struct num_arg[]){ num_t(&r), num_t(bias) }, NULL, bind_e(b))) {
		tensor_release(&r);
		return bind_fail(b);
	}
	return bind_result(b, &r);
}

/* With dropout the prelude composes attention of other operators. */
static int attention_with_dropout(struct bind *b)
{
	struct call_args args = { .a = b->a, .n = 8 };
	struct val fn;

	if (library_name(b->h, "torch.nn.functional", "_attention_with_dropout", &fn))
		return -1;
	return host_callv(b->h, fn, &args, &b->out);
}

/* query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
 * enable_gqa=False. */
static int f_attention(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct num_attention p = { .mask = NULL };
	struct tensor *q, *k, *v, *mask, y;
	double drop;

	if (bind_tensor(b, 0, &q) || bind_tensor(b, 1, &k) || bind_tensor(b, 2, &v) || bind_opt_tensor(b, 3, &mask) ||
	    torch_float(b, 4, 0, &drop) || bind_bool(b, 5, &p.causal) ||
	    torch_float(b, 6, 0, &p.scale) || bind_bool(b, 7, &p.gqa))
		return -1;
	if (mask && p.causal)
		return bind_raise(b, EXC_RuntimeError,
				  "_scaled_dot_product_attention: Explicit attn_mask should not "
				  "be set when is_causal=True");
	if (drop > 0)
		return attention_with_dropout(b);
	p.mask = mask;
	return num_attention(&c, &y, q, k, v, &p, bind_e(b)) ? bind_fail(b) : bind_result(b, &y);
}

/* x1 [..., P, M], x2 [..., R, M], p=2.0; compute_mode is ignored. */
static int m_cdist(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, *y, r;
	double p;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &y) || bind_float(b, 2, &p))
		return -1;
	return num_cdist(&c, &r, x, y, p, bind_e(b)) ? bind_fail(b) : bind_result(b, &r);
}

/* input, other, dim=None: the last dimension by default. */
static int m_cross(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, *y, r;
	int dim;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &y))
		return -1;
	dim = x->ndim - 1;
	if (bind_given(b, 2) && bind_dim(b, 2, x->ndim, &dim))
		return -1;
	return num_cross(&c, &r, x, y, dim, bind_e(b)) ? bind_fail(b) : bind_result(b, &r);
}

/* torch.linalg._qr(A) of one matrix as a named tuple (Q, R). */
static int m_qr(struct bind *b)
{
	static const char *const fields[] = { "Q", "R" };
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, y[2];

	if (bind_tensor(b, 0, &t))
		return -1;
	return num_qr(&c, &y[0], &y[1], t, bind_e(b)) ? bind_fail(b) : bind_named(b, "linalg_qr", fields, y, 2);
}

#define BOTH(name, sig, fn) { "torch." name, "input, " sig, fn, BIND_COMPUTE }, \
	{ "torch.Tensor." name, "self, " sig, fn, BIND_COMPUTE }

/* All of these compute: none is allowed to a candidate on the strict track. */
const struct bind_row torch_matmul_rows[] = {
	BOTH("matmul", "other, *, out=None", m_matmul),
	BOTH("mm", "mat2, *, out=None", m_mm),
	BOTH("bmm", "mat2, *, out=None", m_bmm),
	BOTH("mv", "vec", m_mv),
	BOTH("dot", "tensor", m_dot),
	BOTH("outer", "vec2", m_outer),
	BOTH("ger", "vec2", m_outer),
	BOTH("addmm", "mat1, mat2, *, beta=1, alpha=1, out=None", m_addmm),
	BOTH("baddbmm", "batch1, batch2, *, beta=1, alpha=1, out=None", m_addmm),
	BOTH("addmv", "mat, vec, *, beta=1, alpha=1, out=None", m_addmm),
	BOTH("addbmm", "batch1, batch2, *, beta=1, alpha=1", m_addbmm),
	{ "torch.Tensor.addmm_", "self, mat1, mat2, *, beta=1, alpha=1", m_addmm, BIND_COMPUTE | BIND_INPLACE },
	{ "torch.Tensor.baddbmm_", "self, mat1, mat2, *, beta=1, alpha=1", m_addmm, BIND_COMPUTE | BIND_INPLACE },
	{ "torch.Tensor.__matmul__", "self, other", op_matmul, BIND_COMPUTE },
	{ "torch.Tensor.__rmatmul__", "self, other", op_rmatmul, BIND_COMPUTE },
	ALIAS("torch.linalg.matmul", "torch.matmul"),
	{ "torch.einsum", "equation, *operands", m_einsum, BIND_COMPUTE },
	{ "torch.nn.functional.linear", "input, weight, bias=None", f_linear, BIND_COMPUTE },
	{ "torch.nn.functional.bilinear", "input1, input2, weight, bias=None", f_bilinear, BIND_COMPUTE },
	{ "torch.nn.functional.scaled_dot_product_attention",
	  "query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False",
	  f_attention, BIND_COMPUTE },
	{ "torch.cdist", "x1, x2, p=2.0, compute_mode=None", m_cdist, BIND_COMPUTE },
	BOTH("cross", "other, dim=None", m_cross),
	ALIAS("torch.linalg.cross", "torch.cross"),
	{ "torch.linalg._qr", "A", m_qr, BIND_COMPUTE | BIND_INTERNAL },
	{ NULL, NULL, NULL, 0 }
};
