/* Schedules with products: tiled GEMM with an epilogue, direct convolution, and convolution
 * as an implicit GEMM. All accumulate in fp32 and keep fp32 products exact (no tf32). */
#include <stdio.h>

#include "gen/gen_kernel.h"

static const char *tile(const struct gen_emit *em, unsigned what)
{
	static const char *const sizes[] = { "32", "16", "64" };

	return sizes[gen_solution_choice(em->p, what, 3)];
}

static const char *exact(const struct gen_emit *em)
{
	return gen_solution_choice(em->p, 44, 2) ? "input_precision=\"ieee\"" : "allow_tf32=False";
}

static int has_bias(enum gen_op_id op)
{
	return op == GEN_OP_linear || op == GEN_OP_conv2d || op == GEN_OP_depthwise_conv2d;
}

/* Weight, bias, operands, output: the pointers of a product with an epilogue. */
static void product_args(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct gen_args *a)
{
	enum gen_op_id op = em->p->step[k->head].op;
	const struct gen_names *n = &em->name[k->head];
	char value[96];

	gen_arg(a, em->kx, from);
	snprintf(value, sizeof value, op == GEN_OP_matmul ? "self.%s" : "self.%s.weight", op == GEN_OP_matmul ? n->vec : n->module);
	gen_arg(a, "w_ptr", value);
	if (has_bias(op)) {
		snprintf(value, sizeof value, "self.%s.bias", n->module);
		gen_arg(a, "b_ptr", value);
	}
	gen_args_steps(em, k, a);
	gen_arg(a, em->kout, "");
}

static void tile_args(const struct gen_emit *em, struct gen_args *a)
{
	gen_arg(a, "BM", tile(em, 40));
	gen_arg(a, "BN", tile(em, 41));
	gen_arg(a, "BK", tile(em, 42));
}

static void of(char *out, size_t n, const char *from, const char *what)
{
	snprintf(out, n, "%s%s", from, what);
}

/* --- GEMM ----------------------------------------------------------------------------- */

static void gemm_args(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct gen_args *a)
{
	const struct gen_names *n = &em->name[k->head];
	char rows[96], v[96];

	product_args(em, k, from, a);
	snprintf(rows, sizeof rows, em->p->layout == GEN_3D ? "%s.shape[0] * %s.shape[1]" : "%s.shape[0]", from, from);
	gen_arg(a, "M", rows);
	snprintf(v, sizeof v, em->p->step[k->head].op == GEN_OP_matmul ? "self.%s.shape[1]" : "self.%s.out_features",
		 em->p->step[k->head].op == GEN_OP_matmul ? n->vec : n->module);
	gen_arg(a, "N", v);
	of(v, sizeof v, from, ".shape[-1]");
	gen_arg(a, "K", v);
	gen_args_consts(em, k, a);
	a->first_constexpr = a->n;
	tile_args(em, a);
}

static void epilogue(const struct gen_emit *em, const struct gen_kernel *k, const char *at, const char *n_limit, struct buf *out)
{
	char vec_mask[48];
	struct gen_place pl = { .val = em->kval, .at = at, .mask = em->kmask, .vec_at = "offs_n", .vec_mask = vec_mask,
				.vec_expand = "[None, :]", .depth = 1 };

	snprintf(vec_mask, sizeof vec_mask, "offs_n < %s", n_limit);
	if (has_bias(em->p->step[k->head].op)) {
		gen_line(out, 1, "b = tl.load(b_ptr + offs_n, mask=%s, other=0.0).to(tl.float32)", vec_mask);
		gen_line(out, 1, "%s = acc + b[None, :]", em->kval);
	} else {
		gen_line(out, 1, "%s = acc", em->kval);
	}
	gen_body_steps(em, k->head + 1, k->end, &pl, out);
	gen_line(out, 1, "tl.store(%s + %s, %s, mask=%s)", em->kout, at, em->kval, em->kmask);
}

static void gemm_body(const struct gen_emit *em, const struct gen_kernel *k, struct buf *out)
{
	const char *w_at = em->p->step[k->head].op == GEN_OP_matmul ? "offs_k[:, None] * N + offs_n[None, :]" :
		"offs_n[None, :] * K + offs_k[:, None]";

	gen_line(out, 1, "offs_m = tl.program_id(0) * BM + tl.arange(0, BM)");
	gen_line(out, 1, "offs_n = tl.program_id(1) * BN + tl.arange(0, BN)");
	gen_line(out, 1, "acc = tl.zeros((BM, BN), dtype=tl.float32)");
	gen_line(out, 1, "for k in range(0, K, BK):");
	gen_line(out, 2, "offs_k = k + tl.arange(0, BK)");
	gen_line(out, 2, "a = tl.load(%s + offs_m[:, None] * K + offs_k[None, :], mask=(offs_m[:, None] < M) & (offs_k[None, :] < K), other=0.0)", em->kx);
	gen_line(out, 2, "w = tl.load(w_ptr + %s, mask=(offs_k[:, None] < K) & (offs_n[None, :] < N), other=0.0)", w_at);
	gen_line(out, 2, "acc += tl.dot(a, w, %s)", exact(em));
	gen_line(out, 1, "%s = (offs_m[:, None] < M) & (offs_n[None, :] < N)", em->kmask);
	epilogue(em, k, "offs_m[:, None] * N + offs_n[None, :]", "N", out);
}

static void gemm_host(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct buf *shape, struct buf *grid)
{
	const struct gen_names *n = &em->name[k->head];
	int mm = em->p->step[k->head].op == GEN_OP_matmul;
	struct buf feat = BUF_INIT;

	buf_addf(&feat, "self.%s.%s", mm ? n->vec : n->module, mm ? "shape[1]" : "out_features");
	buf_addf(shape, "torch.empty((%s.shape[0], ", from);
	if (em->p->layout == GEN_3D)
		buf_addf(shape, "%s.shape[1], ", from);
	buf_addf(shape, "%s), device=%s.device, dtype=%s.dtype)", buf_cstr(&feat), from, from);
	buf_addf(grid, "(triton.cdiv(%s.shape[0]%s%s%s, %s), triton.cdiv(%s, %s))", from,
		 em->p->layout == GEN_3D ? " * " : "", em->p->layout == GEN_3D ? from : "", em->p->layout == GEN_3D ? ".shape[1]" : "",
		 tile(em, 40), buf_cstr(&feat), tile(em, 41));
	buf_release(&feat);
}

const struct gen_schedule gen_sched_gemm = { gemm_args, gemm_body, gemm_host };

/* --- convolutions ------------------------------------------------------------------------ */

static void conv_args_common(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct gen_args *a)
{
	static const struct { const char *param, *what; } dims[] = { { "C", ".shape[1]" }, { "H", ".shape[2]" }, { "W", ".shape[3]" } };
	char v[96];

	product_args(em, k, from, a);
	for (int i = 0; i < 3; i++) {
		of(v, sizeof v, from, dims[i].what);
		gen_arg(a, dims[i].param, v);
	}
	snprintf(v, sizeof v, "self.%s.out_channels", em->name[k->head].module);
	gen_arg(a, "OC", v);
}

static void conv_window_args(const struct gen_emit *em, const struct gen_kernel *k, struct gen_args *a)
{
	char v[12];

	gen_args_consts(em, k, a);
	a->first_constexpr = a->n;
	snprintf(v, sizeof v, "%d", em->p->step[k->head].size[1]);
	gen_arg(a, "KS", v);
	snprintf(v, sizeof v, "%d", em->p->step[k->head].size[2]);
	gen_arg(a, "PAD", v);
}

static void conv_args(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct gen_args *a)
{
	conv_args_common(em, k, from, a);
	conv_window_args(em, k, a);
	gen_arg(a, em->kblock, gen_solution_choice(em->p, 31, 2) ? "128" : "256");
}

static void conv_taps(const struct gen_emit *em, int depthwise, int depth, struct buf *out)
{
	gen_line(out, depth, "for i in range(KS):");
	gen_line(out, depth + 1, "for j in range(KS):");
	gen_line(out, depth + 2, "ih = oh + i - PAD");
	gen_line(out, depth + 2, "iw = ow + j - PAD");
	gen_line(out, depth + 2, "inside = %s & (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W)", em->kmask);
	gen_line(out, depth + 2, "p = tl.load(%s + ((n * C + %s) * H + ih) * W + iw, mask=inside, other=0.0).to(tl.float32)", em->kx, depthwise ? "oc" : "c");
	gen_line(out, depth + 2, "w = tl.load(w_ptr + (%s * KS + i) * KS + j).to(tl.float32)", depthwise ? "oc" : "(oc * C + c)");
	gen_line(out, depth + 2, "acc += p * w");
}

static void conv_body(const struct gen_emit *em, const struct gen_kernel *k, struct buf *out)
{
	char at[64];
	int depthwise = em->p->step[k->head].op == GEN_OP_depthwise_conv2d;
	struct gen_place pl = { .val = em->kval, .at = at, .mask = em->kmask, .vec_at = "oc", .depth = 1 };

	snprintf(at, sizeof at, "pid * H * W + %s", em->koffs);
	gen_line(out, 1, "pid = tl.program_id(0)");
	gen_line(out, 1, "n = pid // OC");
	gen_line(out, 1, "oc = pid %% OC");
	gen_line(out, 1, "%s = tl.program_id(1) * %s + tl.arange(0, %s)", em->koffs, em->kblock, em->kblock);
	gen_line(out, 1, "%s = %s < H * W", em->kmask, em->koffs);
	gen_line(out, 1, "oh = %s // W", em->koffs);
	gen_line(out, 1, "ow = %s %% W", em->koffs);
	gen_line(out, 1, "acc = tl.zeros((%s,), dtype=tl.float32)", em->kblock);
	if (!depthwise)
		gen_line(out, 1, "for c in range(C):");
	conv_taps(em, depthwise, depthwise ? 1 : 2, out);
	if (has_bias(em->p->step[k->head].op))
		gen_line(out, 1, "%s = acc + tl.load(b_ptr + oc).to(tl.float32)", em->kval);
	else
		gen_line(out, 1, "%s = acc", em->kval);
	gen_body_steps(em, k->head + 1, k->end, &pl, out);
	gen_line(out, 1, "tl.store(%s + %s, %s, mask=%s)", em->kout, at, em->kval, em->kmask);
}

static void conv_shape(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct buf *shape)
{
	buf_addf(shape, "torch.empty((%s.shape[0], self.%s.out_channels, %s.shape[2], %s.shape[3]), device=%s.device, dtype=%s.dtype)",
		 from, em->name[k->head].module, from, from, from, from);
}

static void conv_host(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct buf *shape, struct buf *grid)
{
	conv_shape(em, k, from, shape);
	buf_addf(grid, "(%s.shape[0] * self.%s.out_channels, triton.cdiv(%s.shape[2] * %s.shape[3], %s))", from,
		 em->name[k->head].module, from, from, gen_solution_choice(em->p, 31, 2) ? "128" : "256");
}

const struct gen_schedule gen_sched_conv = { conv_args, conv_body, conv_host };

static void conv_gemm_args(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct gen_args *a)
{
	char rows[96];

	conv_args_common(em, k, from, a);
	snprintf(rows, sizeof rows, "%s.shape[0] * %s.shape[2] * %s.shape[3]", from, from, from);
	gen_arg(a, "M", rows);
	conv_window_args(em, k, a);
	tile_args(em, a);
}

static void conv_gemm_body(const struct gen_emit *em, const struct gen_kernel *k, struct buf *out)
{
	gen_line(out, 1, "offs_m = tl.program_id(0) * BM + tl.arange(0, BM)");
	gen_line(out, 1, "offs_n = tl.program_id(1) * BN + tl.arange(0, BN)");
	gen_line(out, 1, "n = offs_m // (H * W)");
	gen_line(out, 1, "hw = offs_m %% (H * W)");
	gen_line(out, 1, "oh = hw // W");
	gen_line(out, 1, "ow = hw %% W");
	gen_line(out, 1, "K = C * KS * KS");
	gen_line(out, 1, "acc = tl.zeros((BM, BN), dtype=tl.float32)");
	gen_line(out, 1, "for k in range(0, K, BK):");
	gen_line(out, 2, "offs_k = k + tl.arange(0, BK)");
	gen_line(out, 2, "c = offs_k // (KS * KS)");
	gen_line(out, 2, "ih = oh[:, None] + (offs_k // KS %% KS)[None, :] - PAD");
	gen_line(out, 2, "iw = ow[:, None] + (offs_k %% KS)[None, :] - PAD");
	gen_line(out, 2, "inside = (offs_m[:, None] < M) & (offs_k[None, :] < K) & (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W)");
	gen_line(out, 2, "a = tl.load(%s + ((n[:, None] * C + c[None, :]) * H + ih) * W + iw, mask=inside, other=0.0)", em->kx);
	gen_line(out, 2, "w = tl.load(w_ptr + offs_n[None, :] * K + offs_k[:, None], mask=(offs_k[:, None] < K) & (offs_n[None, :] < OC), other=0.0)");
	gen_line(out, 2, "acc += tl.dot(a, w, %s)", exact(em));
	gen_line(out, 1, "%s = (offs_m[:, None] < M) & (offs_n[None, :] < OC)", em->kmask);
	epilogue(em, k, "(n[:, None] * OC + offs_n[None, :]) * H * W + hw[:, None]", "OC", out);
}

static void conv_gemm_host(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct buf *shape, struct buf *grid)
{
	conv_shape(em, k, from, shape);
	buf_addf(grid, "(triton.cdiv(%s.shape[0] * %s.shape[2] * %s.shape[3], %s), triton.cdiv(self.%s.out_channels, %s))",
		 from, from, from, tile(em, 40), em->name[k->head].module, tile(em, 41));
}

const struct gen_schedule gen_sched_conv_gemm = { conv_gemm_args, conv_gemm_body, conv_gemm_host };
