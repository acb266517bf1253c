/* Schedules without a matrix product: flat pointwise chains, rows, windows, channels, losses. */
#include <stdio.h>

#include "base/mem.h"
#include "gen/gen_kernel.h"

static int is_4d(const struct gen_emit *em)
{
	return em->p->layout == GEN_4D;
}

static void value_of(char *out, size_t n, const char *from, const char *what)
{
	snprintf(out, n, "%s%s", from, what);
}

#define ARG_OF(a, param, from, what) \
	do { char v_[96]; value_of(v_, sizeof v_, from, what); gen_arg(a, param, v_); } while (0)

static void finish_args(const struct gen_emit *em, const struct gen_kernel *k, struct gen_args *a, const char *block)
{
	gen_args_consts(em, k, a);
	a->first_constexpr = a->n;
	gen_arg(a, em->kblock, block);
}

static const char *flat_block(const struct gen_emit *em)
{
	static const char *const sizes[] = { "1024", "256", "512" };

	return sizes[gen_solution_choice(em->p, 20, 3)];
}

/* --- flat --------------------------------------------------------------------------- */

static void flat_args(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct gen_args *a)
{
	gen_arg(a, em->kx, from);
	gen_args_steps(em, k, a);
	gen_arg(a, em->kout, "");
	ARG_OF(a, em->kn, from, ".numel()");
	if (gen_has_vector(em, k) && is_4d(em)) {
		ARG_OF(a, "C", from, ".shape[1]");
		ARG_OF(a, "HW", from, ".stride(1)");
	} else if (gen_has_vector(em, k)) {
		ARG_OF(a, "D", from, ".shape[-1]");
	}
	finish_args(em, k, a, flat_block(em));
}

static void flat_offsets(const struct gen_emit *em, int depth, const char *start, struct buf *out)
{
	gen_line(out, depth, "%s = %s + tl.arange(0, %s)", em->koffs, start, em->kblock);
	gen_line(out, depth, "%s = %s < %s", em->kmask, em->koffs, em->kn);
}

static void load_x(const struct gen_emit *em, int depth, const char *at, struct buf *out)
{
	gen_line(out, depth, "%s = tl.load(%s + %s, mask=%s, other=0.0).to(tl.float32)", em->kval, em->kx, at, em->kmask);
}

static struct gen_place flat_place(const struct gen_emit *em, char *vec_at, size_t n, int depth)
{
	if (is_4d(em))
		snprintf(vec_at, n, "%s // HW %% C", em->koffs);
	else
		snprintf(vec_at, n, "%s %% D", em->koffs);
	return (struct gen_place){ .val = em->kval, .at = em->koffs, .mask = em->kmask, .vec_at = vec_at,
				   .vec_mask = em->kmask, .depth = depth };
}

static void program_start(const struct gen_emit *em, struct buf *out)
{
	char start[64];

	if (gen_solution_choice(em->p, 21, 2)) {
		gen_line(out, 1, "pid = tl.program_id(0)");
		snprintf(start, sizeof start, "pid * %s", em->kblock);
	} else {
		snprintf(start, sizeof start, "tl.program_id(0) * %s", em->kblock);
	}
	flat_offsets(em, 1, start, out);
}

static void flat_body(const struct gen_emit *em, const struct gen_kernel *k, struct buf *out)
{
	char vec_at[64];
	struct gen_place pl = flat_place(em, vec_at, sizeof vec_at, 1);

	program_start(em, out);
	load_x(em, 1, em->koffs, out);
	gen_body_steps(em, k->first, k->end, &pl, out);
	gen_line(out, 1, "tl.store(%s + %s, %s, mask=%s)", em->kout, em->koffs, em->kval, em->kmask);
}

static void flat_host(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct buf *shape, struct buf *grid)
{
	(void)k;
	buf_addf(shape, "torch.empty_like(%s)", from);
	buf_addf(grid, "(triton.cdiv(%s.numel(), %s),)", from, flat_block(em));
}

static const struct gen_schedule sched_flat = { flat_args, flat_body, flat_host };

/* --- rows: one program a row of the last axis ------------------------------------------ */

static int reduces(const struct gen_emit *em, const struct gen_kernel *k)
{
	enum gen_op_id op = em->p->step[k->head].op;

	return gen_op(op)->family == GEN_REDUCE || k->kind == GEN_K_SPACE || op == GEN_OP_channel_mean || op == GEN_OP_channel_max;
}

static void row_args(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct gen_args *a)
{
	char block[96], value[96];

	gen_arg(a, em->kx, from);
	if (em->p->step[k->head].op == GEN_OP_layer_norm) {
		snprintf(value, sizeof value, "self.%s.weight", em->name[k->head].module);
		gen_arg(a, "w_ptr", value);
		snprintf(value, sizeof value, "self.%s.bias", em->name[k->head].module);
		gen_arg(a, "b_ptr", value);
	}
	gen_args_steps(em, k, a);
	gen_arg(a, em->kout, "");
	ARG_OF(a, "D", from, ".shape[-1]");
	snprintf(block, sizeof block, "triton.next_power_of_2(%s.shape[-1])", from);
	finish_args(em, k, a, block);
}

/* The tail of a row kernel: what follows a reduction works on the scalar r. */
static void row_tail(const struct gen_emit *em, const struct gen_kernel *k, const struct gen_place *pl,
		     const char *scalar_vec, struct buf *out)
{
	struct gen_place scalar = { .val = "r", .at = "row", .vec_at = scalar_vec, .depth = 1 };

	gen_body_steps(em, k->head + 1, k->end, reduces(em, k) ? &scalar : pl, out);
	if (reduces(em, k))
		gen_line(out, 1, "tl.store(%s + row, r)", em->kout);
	else
		gen_line(out, 1, "tl.store(%s + %s, %s, mask=%s)", em->kout, pl->at, pl->val, pl->mask);
}

static void row_body(const struct gen_emit *em, const struct gen_kernel *k, struct buf *out)
{
	struct gen_place pl = { .val = em->kval, .at = "row * D + cols", .mask = em->kmask, .vec_at = "cols",
				.vec_mask = em->kmask, .count = "D", .depth = 1 };

	gen_line(out, 1, "row = tl.program_id(0)");
	gen_line(out, 1, "cols = tl.arange(0, %s)", em->kblock);
	gen_line(out, 1, "%s = cols < D", em->kmask);
	load_x(em, 1, pl.at, out);
	gen_body_steps(em, k->first, k->head + 1, &pl, out);
	row_tail(em, k, &pl, "0", out);
}

static void row_host(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct buf *shape, struct buf *grid)
{
	if (!reduces(em, k))
		buf_addf(shape, "torch.empty_like(%s)", from);
	else if (em->p->layout == GEN_3D)
		buf_addf(shape, "torch.empty((%s.shape[0], %s.shape[1], 1), device=%s.device, dtype=%s.dtype)", from, from, from, from);
	else
		buf_addf(shape, "torch.empty((%s.shape[0], 1), device=%s.device, dtype=%s.dtype)", from, from, from);
	if (em->p->layout == GEN_3D)
		buf_addf(grid, "(%s.shape[0] * %s.shape[1],)", from, from);
	else
		buf_addf(grid, "(%s.shape[0],)", from);
}

static const struct gen_schedule sched_row = { row_args, row_body, row_host };

/* --- windows of an image ---------------------------------------------------------------- */

static void pool_args(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct gen_args *a)
{
	char window[12];

	snprintf(window, sizeof window, "%d", em->p->step[k->head].size[0]);
	gen_arg(a, em->kx, from);
	gen_args_steps(em, k, a);
	gen_arg(a, em->kout, "");
	gen_arg(a, em->kn, "%s.numel()");
	if (gen_has_vector(em, k))
		ARG_OF(a, "C", from, ".shape[1]");
	ARG_OF(a, "H", from, ".shape[2]");
	ARG_OF(a, "W", from, ".shape[3]");
	gen_args_consts(em, k, a);
	a->first_constexpr = a->n;
	gen_arg(a, "S", window);
	gen_arg(a, em->kblock, flat_block(em));
}

static void pool_body(const struct gen_emit *em, const struct gen_kernel *k, struct buf *out)
{
	int max = em->p->step[k->head].op == GEN_OP_max_pool2d;
	struct gen_place pl = { .val = em->kval, .at = em->koffs, .mask = em->kmask, .vec_at = "nc % C", .vec_mask = em->kmask, .depth = 1 };

	program_start(em, out);
	gen_line(out, 1, "OH = H // S");
	gen_line(out, 1, "OW = W // S");
	gen_line(out, 1, "ow = %s %% OW", em->koffs);
	gen_line(out, 1, "oh = %s // OW %% OH", em->koffs);
	gen_line(out, 1, "nc = %s // (OW * OH)", em->koffs);
	if (max)
		gen_line(out, 1, "%s = tl.full((%s,), float('-inf'), dtype=tl.float32)", em->kval, em->kblock);
	else
		gen_line(out, 1, "%s = tl.zeros((%s,), dtype=tl.float32)", em->kval, em->kblock);
	gen_line(out, 1, "for i in range(S):");
	gen_line(out, 2, "for j in range(S):");
	gen_line(out, 3, "p = tl.load(%s + (nc * H + oh * S + i) * W + ow * S + j, mask=%s, other=0.0).to(tl.float32)", em->kx, em->kmask);
	if (max)
		gen_line(out, 3, "%s = tl.maximum(%s, p)", em->kval, em->kval);
	else
		gen_line(out, 3, "%s += p", em->kval);
	if (!max)
		gen_line(out, 1, "%s = %s / (S * S)", em->kval, em->kval);
	gen_body_steps(em, k->head + 1, k->end, &pl, out);
	gen_line(out, 1, "tl.store(%s + %s, %s, mask=%s)", em->kout, em->koffs, em->kval, em->kmask);
}

static void pool_host(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct buf *shape, struct buf *grid)
{
	int s = em->p->step[k->head].size[0];

	buf_addf(shape, "torch.empty((%s.shape[0], %s.shape[1], %s.shape[2] // %d, %s.shape[3] // %d), device=%s.device, dtype=%s.dtype)",
		 from, from, from, s, from, s, from, from);
	buf_addf(grid, "(triton.cdiv(%%s.numel(), %s),)", flat_block(em));
}

static const struct gen_schedule sched_pool = { pool_args, pool_body, pool_host };

/* --- whole images and channels ------------------------------------------------------------ */

/* Rows of these kernels are (image, channel), (image, group) or (image, pixel). */
static void space_args(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct gen_args *a)
{
	enum gen_op_id op = em->p->step[k->head].op;
	char block[128], value[96];
	int channel = op == GEN_OP_channel_softmax || op == GEN_OP_channel_mean || op == GEN_OP_channel_max;

	gen_arg(a, em->kx, from);
	if (op == GEN_OP_group_norm) {
		snprintf(value, sizeof value, "self.%s.weight", em->name[k->head].module);
		gen_arg(a, "w_ptr", value);
		snprintf(value, sizeof value, "self.%s.bias", em->name[k->head].module);
		gen_arg(a, "b_ptr", value);
	}
	gen_args_steps(em, k, a);
	gen_arg(a, em->kout, "");
	ARG_OF(a, "C", from, ".shape[1]");
	ARG_OF(a, "HW", from, ".stride(1)");
	if (op == GEN_OP_group_norm) {
		snprintf(value, sizeof value, "self.%s.num_groups", em->name[k->head].module);
		gen_arg(a, "G", value);
		snprintf(block, sizeof block, "triton.next_power_of_2(%s.stride(0) // self.%s.num_groups)", from, em->name[k->head].module);
	} else {
		snprintf(block, sizeof block, "triton.next_power_of_2(%s%s)", from, channel ? ".shape[1]" : ".stride(1)");
	}
	gen_args_consts(em, k, a);
	a->first_constexpr = a->n;
	gen_arg(a, em->kblock, block);
}

static void standardize_lines(const struct gen_emit *em, const char *count, struct buf *out)
{
	const char *x = em->kval, *m = em->kmask;

	gen_line(out, 1, "mean = tl.sum(tl.where(%s, %s, 0.0), axis=0) / %s", m, x, count);
	gen_line(out, 1, "%s = tl.where(%s, %s - mean, 0.0)", x, m, x);
	gen_line(out, 1, "var = tl.sum(%s * %s, axis=0) / %s", x, x, count);
	gen_line(out, 1, "%s = %s / tl.sqrt(var + 1e-5)", x, x);
}

static void space_head(const struct gen_emit *em, enum gen_op_id op, struct buf *out)
{
	const char *x = em->kval, *m = em->kmask;

	switch (op) {
	case GEN_OP_global_avg_pool:
		gen_line(out, 1, "r = tl.sum(tl.where(%s, %s, 0.0), axis=0) / HW", m, x);
		break;
	case GEN_OP_channel_mean:
		gen_line(out, 1, "r = tl.sum(tl.where(%s, %s, 0.0), axis=0) / C", m, x);
		break;
	case GEN_OP_global_max_pool: case GEN_OP_channel_max:
		gen_line(out, 1, "r = tl.max(tl.where(%s, %s, float('-inf')), axis=0)", m, x);
		break;
	case GEN_OP_channel_softmax:
		gen_line(out, 1, "%s = tl.where(%s, %s, float('-inf'))", x, m, x);
		gen_line(out, 1, "%s = tl.exp(%s - tl.max(%s, axis=0))", x, x, x);
		gen_line(out, 1, "%s = %s / tl.sum(%s, axis=0)", x, x, x);
		break;
	case GEN_OP_group_norm:
		standardize_lines(em, "D", out);
		gen_line(out, 1, "w = tl.load(w_ptr + c, mask=%s, other=0.0).to(tl.float32)", m);
		gen_line(out, 1, "b = tl.load(b_ptr + c, mask=%s, other=0.0).to(tl.float32)", m);
		gen_line(out, 1, "%s = %s * w + b", x, x);
		break;
	default:
		standardize_lines(em, "HW", out);
	}
}

static void space_body(const struct gen_emit *em, const struct gen_kernel *k, struct buf *out)
{
	enum gen_op_id op = em->p->step[k->head].op;
	int channel = op == GEN_OP_channel_softmax || op == GEN_OP_channel_mean || op == GEN_OP_channel_max;
	int group = op == GEN_OP_group_norm;
	struct gen_place pl = { .val = em->kval, .mask = em->kmask, .depth = 1 };

	gen_line(out, 1, "row = tl.program_id(0)");
	gen_line(out, 1, "cols = tl.arange(0, %s)", em->kblock);
	if (group) {
		gen_line(out, 1, "D = C // G * HW");
		gen_line(out, 1, "c = row %% G * (C // G) + cols // HW");
	}
	gen_line(out, 1, "%s = cols < %s", em->kmask, channel ? "C" : group ? "D" : "HW");
	pl.at = channel ? "(row // HW * C + cols) * HW + row % HW" : group ? "row * D + cols" : "row * HW + cols";
	pl.vec_at = channel ? "cols" : group ? "c" : "row % C";
	pl.vec_mask = channel || group ? em->kmask : NULL;
	load_x(em, 1, pl.at, out);
	gen_body_steps(em, k->first, k->head, &pl, out);
	space_head(em, op, out);
	row_tail(em, k, &pl, "row % C", out);
}

static void space_host(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct buf *shape, struct buf *grid)
{
	enum gen_op_id op = em->p->step[k->head].op;
	int channel = op == GEN_OP_channel_softmax || op == GEN_OP_channel_mean || op == GEN_OP_channel_max;

	if (!reduces(em, k))
		buf_addf(shape, "torch.empty_like(%s)", from);
	else if (channel)
		buf_addf(shape, "torch.empty((%s.shape[0], 1, %s.shape[2], %s.shape[3]), device=%s.device, dtype=%s.dtype)", from, from, from, from, from);
	else
		buf_addf(shape, "torch.empty((%s.shape[0], %s.shape[1], 1, 1), device=%s.device, dtype=%s.dtype)", from, from, from, from);
	if (channel)
		buf_addf(grid, "(%s.shape[0] * %s.stride(1),)", from, from);
	else if (op == GEN_OP_group_norm)
		buf_addf(grid, "(%s.shape[0] * self.%s.num_groups,)", from, em->name[k->head].module);
	else
		buf_addf(grid, "(%s.shape[0] * %s.shape[1],)", from, from);
}

static const struct gen_schedule sched_space = { space_args, space_body, space_host };

/* --- losses: one program walks the tensors ------------------------------------------------ */

static void loss_body(const struct gen_emit *em, const struct gen_kernel *k, struct buf *out)
{
	char vec_at[64];
	struct gen_place pl = flat_place(em, vec_at, sizeof vec_at, 2);

	gen_line(out, 1, "acc = tl.zeros((%s,), dtype=tl.float32)", em->kblock);
	gen_line(out, 1, "for start in range(0, %s, %s):", em->kn, em->kblock);
	flat_offsets(em, 2, "start", out);
	load_x(em, 2, em->koffs, out);
	gen_body_steps(em, k->first, k->end, &pl, out);
	gen_line(out, 2, "acc += tl.where(%s, l, 0.0)", em->kmask);
	gen_line(out, 1, "tl.store(%s, tl.sum(acc, axis=0) / %s)", em->kout, em->kn);
}

static void loss_host(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct buf *shape, struct buf *grid)
{
	(void)em, (void)k;
	buf_addf(shape, "torch.empty((), device=%s.device, dtype=%s.dtype)", from, from);
	buf_adds(grid, "(1,)");
}

static const struct gen_schedule sched_loss = { flat_args, loss_body, loss_host };

const struct gen_schedule *gen_schedule(const struct gen_emit *em, const struct gen_kernel *k)
{
	switch (k->kind) {
	case GEN_K_ROW: return &sched_row;
	case GEN_K_GEMM: return &gen_sched_gemm;
	case GEN_K_CONV:
		return em->p->step[k->head].op != GEN_OP_depthwise_conv2d && gen_solution_choice(em->p, 30, 3) == 2 ?
			&gen_sched_conv_gemm : &gen_sched_conv;
	case GEN_K_POOL: return &sched_pool;
	case GEN_K_SPACE: case GEN_K_CHANNEL: return &sched_space;
	case GEN_K_LOSS: return &sched_loss;
	default: return &sched_flat;
	}
}
