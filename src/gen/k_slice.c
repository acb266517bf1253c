/* Kernels that work on slices along axes: reductions, softmax, norms, scans.
 *
 * The tensor is (outer, D, inner). With inner = 1 a slice is a row and the tile is one-dimensional;
 * otherwise the tile is (D, some of inner). In both the slice lies along axis 0, so that one text of
 * gen_op.def serves both. A slice that fits is one tile; a longer one is walked. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "gen/kern.h"

struct slice {
	int64_t outer, length, inner;
	int rows;                     /* inner = 1 */
	int walked;                   /* in several tiles */
	int64_t tile, side;           /* tile: along the slice; side: along inner */
};

/* Whether the slice's length is a product of sizes. Varied solutions then walk it in tiles that do not depend on it: nothing has to
 * be worked out from the task's numbers. */
static int spans_axes(const struct gen_emit *em, const struct gen_step *s)
{
	return !em->p->plain && s->axis_end - s->axis > 1 && gen_product(&s->in, s->axis_end, s->in.rank) == 1;
}

static struct slice slice_of(const struct gen_emit *em, const struct gen_step *s)
{
	struct slice c = { .outer = gen_product(&s->in, 0, s->axis), .length = gen_product(&s->in, s->axis, s->axis_end),
			   .inner = gen_product(&s->in, s->axis_end, s->in.rank) };
	int64_t most_at_once = gen_solution_choice(em->p, 220, 3) == 2 ? 4096 : 8192;

	if (s->op == GEN_OP_group_norm) {
		c.outer *= s->groups;
		c.length /= s->groups;
	}
	c.rows = c.inner == 1;
	c.side = c.rows ? 1 : MIN(MAX(gen_pow2(c.inner), 16), 64);
	c.tile = gen_pow2(c.length);
	c.walked = c.tile * c.side > most_at_once || gen_op(s->op)->family == GEN_SCAN || spans_axes(em, s);
	if (c.walked)
		c.tile = MIN(spans_axes(em, s) ? INT32_MAX : c.tile, c.rows ? 1024 << gen_solution_choice(em->p, 221, 3) : 32);
	return c;
}

static const char *pad_of(const struct gen_op *op)
{
	return op->flags & GEN_PAD_NINF ? "float('-inf')" : op->flags & GEN_PAD_INF ? "float('inf')" : op->flags & GEN_PAD_ONE ? "1.0" : "0.0";
}

/* Start values: scalars for a row, one for each column of a tile otherwise. */
static void set_starts(struct gen_kern *kn, const struct slice *c)
{
	static const struct { const char *var, *value; } starts[] = { { "zero", "0.0" }, { "one", "1.0" }, { "ninf", "float('-inf')" }, { "inf", "float('inf')" } };

	for (size_t i = 0; i < COUNT_OF(starts); i++) {
		if (c->rows)
			gen_set(&kn->v, starts[i].var, "%s", starts[i].value);
		else
			gen_set(&kn->v, starts[i].var, i ? "tl.full((BS,), %s, dtype=tl.float32)" : "tl.zeros((BS,), dtype=tl.float32)", starts[i].value);
	}
	gen_set(&kn->v, "izero", c->rows ? "0" : "tl.zeros((BS,), dtype=tl.int32)");
}

/* Program, indices of a tile, address and mask. `start`: "" or "start + ". */
static void set_frame(struct gen_kern *kn, const struct slice *c, const char *start)
{
	gen_set(&kn->v, "wide", "%s", gen_wide(kn));
	if (c->rows) {
		gen_set(&kn->v, "ids", "row = tl.program_id(0)%s", gen_wide(kn));
		gen_set(&kn->v, "index", "cols = %stl.arange(0, BLOCK)\nmask = cols < D", start);
		gen_set(&kn->v, "at", "row * D + cols");
		gen_set(&kn->v, "blk", "BLOCK");
		return;
	}
	gen_set(&kn->v, "ids", "pid = tl.program_id(0)%s\nblocks = tl.cdiv(S, BS)\nouter = pid // blocks\ns = pid %% blocks * BS + tl.arange(0, BS)", gen_wide(kn));
	gen_set(&kn->v, "index", "d = %stl.arange(0, BD)\nat = (outer * D + d[:, None]) * S + s[None, :]\nmask = (d[:, None] < D) & (s[None, :] < S)", start);
	gen_set(&kn->v, "at", "at");
	gen_set(&kn->v, "blk", "BD");
}

/* Sizes and blocks of the slices. */
static void slice_args(struct gen_kern *kn, const struct slice *c, const struct gen_step *s, struct buf *grid)
{
	char dims[GEN_ARG], outer[GEN_ARG], length[GEN_ARG + GEN_NAME];

	gen_dims(kn->from, 0, s->axis, outer, sizeof outer);
	if (s->axis_end == s->in.rank)
		gen_rest(kn->em, kn->from, s->axis, s->in.rank, length, sizeof length);
	else
		gen_dims(kn->from, s->axis, s->axis_end, length, sizeof length);
	if (s->op == GEN_OP_layer_norm && !kn->em->p->plain)
		snprintf(length, sizeof length, "self.%s.weight.numel()", kn->em->name[kn->k->head].module);
	if (s->op == GEN_OP_group_norm) {
		const char *m = kn->em->name[kn->k->head].module;
		char part[GEN_ARG];

		snprintf(outer, sizeof outer, "%s.shape[0] * self.%s.num_groups", kn->from, m);
		snprintf(length, sizeof length, "%s // self.%s.num_groups", gen_rest(kn->em, kn->from, 1, s->in.rank, part, sizeof part), m);
	}
	gen_size(kn, "D", "%s", length);
	if (c->rows) {
		if (c->walked)
			gen_meta(kn, "BLOCK", "%lld", (long long)c->tile);
		else
			gen_meta(kn, "BLOCK", "triton.next_power_of_2(%s)", length);
		kn->warps = c->tile >= 4096 ? 8 : 0;
		buf_addf(grid, "(%s,)", outer);
		return;
	}
	gen_size(kn, "S", "%s", gen_rest(kn->em, kn->from, s->axis_end, s->in.rank, dims, sizeof dims));
	if (c->walked)
		gen_meta(kn, "BD", "%lld", (long long)c->tile);
	else
		gen_meta(kn, "BD", "triton.next_power_of_2(%s)", length);
	gen_meta(kn, "BS", "%lld", (long long)c->side);
	buf_addf(grid, "(%s%striton.cdiv(%s, @BS),)", s->axis ? outer : "", s->axis ? " * " : "", dims);
}

/* The weight and bias of a norm: per column of a row, or per channel of a group. */
static void set_affine(struct gen_kern *kn, const struct slice *c, const struct gen_step *s)
{
	const char *m = kn->em->name[kn->k->head].module;
	char dims[GEN_ARG];

	if (!(gen_op(s->op)->flags & GEN_AFFINE)) {
		gen_set(&kn->v, "affine", "%s", "");
		return;
	}
	gen_ptr(kn, "w_ptr", "self.%s.weight", m);
	gen_ptr(kn, "b_ptr", "self.%s.bias", m);
	if (s->op == GEN_OP_group_norm) {
		const char *cg = gen_shared_size(kn, "CG", "%s.shape[1] // self.%s.num_groups", kn->from, m), *g = gen_shared_size(kn, "G", "self.%s.num_groups", m);

		if (s->in.rank > 2)
			gen_set(&kn->v, "affine", "c = row %% %s * %s + cols // %s\nw = tl.load(w_ptr + c, mask=mask, other=0.0)\nb = tl.load(b_ptr + c, mask=mask, other=0.0)\nx = x * w + b",
				g, cg, gen_shared_size(kn, "S", "%s", gen_rest(kn->em, kn->from, 2, s->in.rank, dims, sizeof dims)));
		else
			gen_set(&kn->v, "affine", "c = row %% %s * %s + cols\nw = tl.load(w_ptr + c, mask=mask, other=0.0)\nb = tl.load(b_ptr + c, mask=mask, other=0.0)\nx = x * w + b", g, cg);
		return;
	}
	gen_set(&kn->v, "affine", "w = tl.load(w_ptr + %s, mask=%s, other=0.0)\nb = tl.load(b_ptr + %s, mask=%s, other=0.0)\nx = x * w + b",
		c->rows ? "cols" : "s", c->rows ? "mask" : "s < S", c->rows ? "cols" : "s", c->rows ? "mask" : "s < S");
}

static const char *const at_once_body =
	"    $ids\n"
	"    $index\n"
	"    x = tl.load(x_ptr + $at, mask=mask, other=$load_pad)\n"
	"    $pre\n"
	"    $whole\n"
	"    $track\n"
	"    $affine\n"
	"    $post\n"
	"    $store\n";

static const char *const walked_body =
	"    $ids\n"
	"    $begin\n"
	"    for start in range(0, D, $blk):\n"
	"        $index\n"
	"        x = tl.load(x_ptr + $at, mask=mask, other=$load_pad)\n"
	"        $pre\n"
	"        $part\n"
	"    $end\n"
	"    $track\n"
	"?same|    for start in range(0, D, $blk):\n"
	"?same|        $index\n"
	"?same|        x = tl.load(x_ptr + $at, mask=mask, other=0.0)\n"
	"?same|        $pre\n"
	"?same|        $apply\n"
	"?same|        $affine\n"
	"?same|        $post\n"
	"?same|        $store\n"
	"!same|    $post\n"
	"!same|    $store\n";

static void set_parts(struct gen_kern *kn, const struct gen_op *op, const struct gen_step *s, const char *eps, const char *count)
{
	static const char *const names[] = { "whole", "begin", "part", "end", "apply" };

	gen_set(&kn->v, "x", "x");
	gen_set(&kn->v, "m", "mask");
	gen_set(&kn->v, "n", "%s", count);
	gen_set(&kn->v, "0", "%s", eps);
	gen_set(&kn->v, "track", "%s", "");
	for (int i = 0; i < 5; i++)
		gen_set(&kn->v, names[i], "%s", op->triton[i]);
	kn->sol->multiplies |= s->op == GEN_OP_prod;
}

/* Steps before the head on tiles of the input, steps behind it on tiles or on the results. */
static void set_riders(struct gen_kern *kn, const struct slice *c, const struct gen_step *s, int same)
{
	struct gen_place tile = { .val = "x", .at = c->rows ? "row * D + cols" : "at", .mask = "mask", .shape_of = kn->from };
	struct gen_place result = { .val = "r", .at = c->rows ? "row" : "outer * S + s", .mask = c->rows ? NULL : "s < S", .shape_of = kn->to };
	const char *pad = pad_of(gen_op(s->op));
	int riders = kn->k->head > kn->k->first;
	struct buf pre = BUF_INIT;

	if (c->rows && s->axis == s->in.rank - 1 && s->op != GEN_OP_group_norm)
		tile.axis = s->axis, tile.axis_at = "cols", tile.axis_mask = "mask";
	if (!c->rows && s->axis_end == s->axis + 1)
		tile.axis = s->axis, tile.axis_at = "d", tile.axis_mask = "d < D", tile.axis_expand = "[:, None]";
	gen_points(kn, kn->k->first, kn->k->head, &tile, &pre);
	if (riders)
		buf_addf(&pre, "x = tl.where(mask, x, %s)\n", pad);
	gen_set(&kn->v, "pre", "%s", buf_cstr(&pre));
	gen_set(&kn->v, "load_pad", "%s", riders ? "0.0" : pad);
	buf_release(&pre);
	gen_set_points(kn, "post", kn->k->head + 1, kn->k->end, same ? &tile : &result);
	if (same)
		gen_set(&kn->v, "store", "tl.store(out_ptr + %s, x, mask=mask)", tile.at);
	else
		gen_set(&kn->v, "store", c->rows ? "tl.store(out_ptr + row, r)" : "tl.store(out_ptr + outer * S + s, r, mask=s < S)");
}

void gen_write_slice(struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *to)
{
	const struct gen_step *s = &sol->em->p->step[k->head];
	const struct gen_op *op = gen_op(s->op);
	struct slice c = slice_of(sol->em, s);
	int same = op->family == GEN_NORM;
	struct gen_kern kn;
	struct buf grid = BUF_INIT;

	gen_kern_init(&kn, sol, k, from, to, "");
	gen_ptr(&kn, "x_ptr", "%s", from);
	slice_args(&kn, &c, s, &grid);
	set_affine(&kn, &c, s);
	set_frame(&kn, &c, c.walked ? "start + " : "");
	set_starts(&kn, &c);
	set_parts(&kn, op, s, gen_constant(&kn, k->head, 0), "D");
	gen_set(&kn.v, "same", same ? "yes" : "");
	set_riders(&kn, &c, s, same);
	gen_ptr(&kn, "out_ptr", "%s", to);
	gen_alloc(&kn, &s->in, &s->shape, op->flags & GEN_INT ? "torch.int64" : "");
	gen_kern_write(&kn, c.walked ? walked_body : at_once_body, buf_cstr(&grid));
	buf_release(&grid);
}

/* --- scans ------------------------------------------------------------------------------------------ */

static const char *const scan_body =
	"    $ids\n"
	"    carry = $first\n"
	"    for start in range(0, D, $blk):\n"
	"        $index\n"
	"        x = tl.load(x_ptr + $at$shift, mask=$load_mask, other=$pad)\n"
	"?masked|        keep = tl.load(mask_ptr + $at, mask=mask, other=0)\n"
	"?masked|        x = x * keep.to(tl.float32)\n"
	"        $scan\n"
	"        tl.store(out_ptr + $at, y, mask=mask)\n";

/* Backwards: the tile's indices run down from the slice's end. */
static void set_backwards(struct gen_kern *kn, const struct slice *c)
{
	if (c->rows)
		gen_set(&kn->v, "index", "cols = D - 1 - start - tl.arange(0, BLOCK)\nmask = cols >= 0");
	else
		gen_set(&kn->v, "index", "d = D - 1 - start - tl.arange(0, BD)\nat = (outer * D + d[:, None]) * S + s[None, :]\nmask = (d[:, None] >= 0) & (s[None, :] < S)");
}

void gen_write_scan(struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *to)
{
	const struct gen_step *s = &sol->em->p->step[k->head];
	const struct gen_op *op = gen_op(s->op);
	struct slice c = slice_of(sol->em, s);
	int shifted = s->op == GEN_OP_cumsum_exclusive;
	struct gen_kern kn;
	struct buf grid = BUF_INIT;

	gen_kern_init(&kn, sol, k, from, to, "");
	gen_ptr(&kn, "x_ptr", "%s", from);
	if (s->op == GEN_OP_cumsum_masked)
		gen_ptr(&kn, "mask_ptr", "%s", sol->em->name[k->head].input[0]);
	gen_ptr(&kn, "out_ptr", "%s", to);
	slice_args(&kn, &c, s, &grid);
	set_frame(&kn, &c, "start + ");
	set_starts(&kn, &c);
	if (s->op == GEN_OP_cumsum_reverse)
		set_backwards(&kn, &c);
	gen_set(&kn.v, "x", "x");
	gen_set(&kn.v, "scan", "%s", op->triton[0]);
	gen_set(&kn.v, "last", c.rows ? "cols == start + BLOCK - 1" : "d[:, None] == start + BD - 1");
	gen_set(&kn.v, "first", "%s", gen_get(&kn.v, s->op == GEN_OP_cumprod ? "one" : "zero"));
	gen_set(&kn.v, "pad", "%s", pad_of(op));
	gen_set(&kn.v, "masked", s->op == GEN_OP_cumsum_masked ? "yes" : "");
	gen_set(&kn.v, "shift", shifted ? (c.rows ? " - 1" : " - S") : "");
	gen_set(&kn.v, "load_mask", shifted ? (c.rows ? "mask & (cols > 0)" : "mask & (d[:, None] > 0)") : "mask");
	gen_alloc(&kn, &s->in, &s->shape, "");
	gen_kern_write(&kn, scan_body, buf_cstr(&grid));
	buf_release(&grid);
}

/* --- batch norm -------------------------------------------------------------------------------------- */

static const char *const stats_body =
	"    row = tl.program_id(0)$wide\n"
	"    mean = 0.0\n"
	"    m2 = 0.0\n"
	"    for start in range(0, S, BLOCK):\n"
	"        cols = start + tl.arange(0, BLOCK)\n"
	"        mask = cols < S\n"
	"        x = tl.load(x_ptr + row * S + cols, mask=mask, other=0.0)\n"
	"        count = tl.minimum(S - start, BLOCK)\n"
	"        part = tl.sum(x, axis=0) / count\n"
	"        dx = tl.where(mask, x - part, 0.0)\n"
	"        delta = part - mean\n"
	"        mean += delta * count / (start + count)\n"
	"        m2 += tl.sum(dx * dx, axis=0) + delta * delta * start * count / (start + count)\n"
	"    tl.store(mean_ptr + row, mean)\n"
	"    tl.store(m2_ptr + row, m2)\n";

static const char *const norm_body =
	"    row = tl.program_id(0)$wide\n"
	"    c = row % C\n"
	"    i = tl.arange(0, BN)\n"
	"    inside = i < N\n"
	"    means = tl.load(mean_ptr + i * C + c, mask=inside, other=0.0)\n"
	"    m2 = tl.load(m2_ptr + i * C + c, mask=inside, other=0.0)\n"
	"    mean = tl.sum(means, axis=0) / N\n"
	"    apart = tl.where(inside, means - mean, 0.0)\n"
	"    var = tl.sum(m2 / S + apart * apart, axis=0) / N\n"
	"    scale = tl.load(w_ptr + c) / tl.sqrt(var + $eps)\n"
	"    shift = tl.load(b_ptr + c) - mean * scale\n"
	"    first = (row < C) & (tl.program_id(1) == 0)\n"
	"    old_mean = tl.load(running_mean_ptr + c, mask=first, other=0.0)\n"
	"    old_var = tl.load(running_var_ptr + c, mask=first, other=0.0)\n"
	"    tl.store(running_mean_ptr + c, 0.9 * old_mean + 0.1 * mean, mask=first)\n"
	"    tl.store(running_var_ptr + c, 0.9 * old_var + 0.1 * var * (N * S / (N * S - 1)), mask=first)\n"
	"    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)\n"
	"    mask = cols < S\n"
	"    x = tl.load(x_ptr + row * S + cols, mask=mask, other=0.0)\n"
	"    x = x * scale + shift\n"
	"    $post\n"
	"    tl.store(out_ptr + row * S + cols, x, mask=mask)\n";

/* First the mean and the squared deviations of each image's channel, then the channel's from those. */
static void write_stats(struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *space, int64_t s)
{
	struct gen_kern kn;

	gen_kern_init(&kn, sol, k, from, "mean", "stats");
	gen_ptr(&kn, "x_ptr", "%s", from);
	gen_ptr(&kn, "mean_ptr", "mean");
	gen_ptr(&kn, "m2_ptr", "m2");
	gen_size(&kn, "S", "%s", space);
	gen_meta(&kn, "BLOCK", "%lld", (long long)MIN(gen_pow2(s), 2048));
	gen_set(&kn.v, "wide", "%s", gen_wide(&kn));
	gen_host(sol, "mean = torch.empty((%s.shape[0], %s.shape[1]), device=%s.device, dtype=torch.float32)", from, from, from);
	gen_host(sol, "m2 = torch.empty_like(mean)");
	gen_kern_write(&kn, stats_body, "(mean.numel(),)");
}

/* A module in training mode keeps running statistics: forward changes them as PyTorch's does. */
static void add_running(struct gen_kern *kn, const char *module)
{
	gen_ptr(kn, "running_mean_ptr", "self.%s.running_mean", module);
	gen_ptr(kn, "running_var_ptr", "self.%s.running_var", module);
}

static void write_image_batch(struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *to)
{
	const struct gen_step *s = &sol->em->p->step[k->head];
	int64_t space = gen_product(&s->in, 2, s->in.rank);
	struct gen_place pl = { .val = "x", .at = "row * S + cols", .mask = "mask", .shape_of = from, .axis = 1, .axis_at = "c" };
	struct gen_kern kn;
	char dims[GEN_ARG], grid[2 * GEN_ARG];

	gen_rest(sol->em, from, 2, s->in.rank, dims, sizeof dims);
	write_stats(sol, k, from, dims, space);
	gen_kern_init(&kn, sol, k, from, to, "apply");
	gen_ptr(&kn, "x_ptr", "%s", from);
	gen_ptr(&kn, "mean_ptr", "mean");
	gen_ptr(&kn, "m2_ptr", "m2");
	gen_ptr(&kn, "w_ptr", "self.%s.weight", sol->em->name[k->head].module);
	gen_ptr(&kn, "b_ptr", "self.%s.bias", sol->em->name[k->head].module);
	add_running(&kn, sol->em->name[k->head].module);
	gen_size(&kn, "N", "%s.shape[0]", from);
	gen_size(&kn, "C", "%s.shape[1]", from);
	gen_size(&kn, "S", "%s", dims);
	gen_set_points(&kn, "post", k->head + 1, k->end, &pl);
	gen_ptr(&kn, "out_ptr", "%s", to);
	gen_meta(&kn, "BN", "triton.next_power_of_2(%s.shape[0])", from);
	gen_meta(&kn, "BLOCK", "%lld", (long long)MIN(gen_pow2(space), 2048));
	gen_set(&kn.v, "eps", "%s", s->c[0]);
	gen_set(&kn.v, "wide", "%s", gen_wide(&kn));
	gen_alloc(&kn, &s->in, &s->shape, "");
	snprintf(grid, sizeof grid, "(%s.shape[0] * %s.shape[1], triton.cdiv(%s, @BLOCK))", from, from, dims);
	gen_kern_write(&kn, norm_body, grid);
}

/* A matrix: the slices are its columns. */
static void write_matrix_batch(struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *to)
{
	static const char running[] = "old_mean = tl.load(running_mean_ptr + s, mask=s < S, other=0.0)\n"
				      "old_var = tl.load(running_var_ptr + s, mask=s < S, other=0.0)\n"
				      "tl.store(running_mean_ptr + s, 0.9 * old_mean + 0.1 * mean, mask=s < S)\n"
				      "tl.store(running_var_ptr + s, 0.9 * old_var + 0.1 * ";
	struct gen_step s = sol->em->p->step[k->head];
	struct slice c;
	struct gen_place pl = { .val = "x", .at = "at", .mask = "mask", .shape_of = from, .axis = 1, .axis_at = "s", .axis_mask = "s < S" };
	struct gen_kern kn;
	struct buf grid = BUF_INIT;

	s.axis_end = 1;
	c = slice_of(sol->em, &s);
	gen_kern_init(&kn, sol, k, from, to, "");
	gen_ptr(&kn, "x_ptr", "%s", from);
	slice_args(&kn, &c, &s, &grid);
	set_affine(&kn, &c, &s);
	set_frame(&kn, &c, c.walked ? "start + " : "");
	set_starts(&kn, &c);
	set_parts(&kn, gen_op(GEN_OP_layer_norm), &s, s.c[0], "D");
	add_running(&kn, sol->em->name[k->head].module);
	gen_set(&kn.v, "track", "%s%s", running, c.walked ? "m2 / (D - 1), mask=s < S)" : "var * (D / (D - 1)), mask=s < S)");
	gen_set(&kn.v, "same", "yes");
	gen_set(&kn.v, "pre", "%s", "");
	gen_set(&kn.v, "load_pad", "0.0");
	gen_set(&kn.v, "store", "tl.store(out_ptr + at, x, mask=mask)");
	gen_set_points(&kn, "post", k->head + 1, k->end, &pl);
	gen_ptr(&kn, "out_ptr", "%s", to);
	gen_alloc(&kn, &s.in, &s.shape, "");
	gen_kern_write(&kn, c.walked ? walked_body : at_once_body, buf_cstr(&grid));
	buf_release(&grid);
}

void gen_write_batch(struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *to)
{
	(sol->em->p->step[k->head].in.rank > 2 ? write_image_batch : write_matrix_batch)(sol, k, from, to);
}
