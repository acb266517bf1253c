/* Matrix products: tiles with grouped programs, split along K where the result is small, rows for a
 * vector; attention. All accumulate in fp32 and keep fp32 products exact: three of tf32 for each, or none. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "gen/kern.h"

/* A product as kernels see it: sizes, host expressions of them, and how the factors lie. */
struct product {
	int64_t m, n, k;
	char rows[GEN_ARG], cols[GEN_ARG], inner[GEN_ARG], batch[GEN_ARG];
	const char *a_at, *b_at;
	int along_sum[2];             /* whether the factors lie along the dimension that is added up */
	int batched;
	int bm, bn, bk, splits;
};

static int side_of(int64_t n, int most)
{
	return n <= 16 ? 16 : n <= 32 ? 32 : n <= 64 || most == 64 ? 64 : most;
}

/* Whether tiles of 128 x 128 keep every multiprocessor busy more than once. */
static int is_large(const struct gen_emit *em, const struct product *p)
{
	return !em->p->plain && p->m >= 128 && p->n >= 128 && (p->m / 128) * (p->n / 128) >= 512;
}

static void pick_tiles(const struct gen_emit *em, struct product *p)
{
	int wide = is_large(em, p) || (p->m * p->n >= 1 << 18 && gen_solution_choice(em->p, 230, 3) != 1);
	int64_t tiles;

	p->bm = side_of(p->m, wide ? 128 : 64);
	p->bn = side_of(p->n, is_large(em, p) || (wide && gen_solution_choice(em->p, 231, 2) == 0) ? 128 : 64);
	p->bk = p->k <= 16 ? 16 : 32;
	tiles = ((p->m + p->bm - 1) / p->bm) * ((p->n + p->bn - 1) / p->bn);
	p->splits = tiles < 64 && p->k >= 16384 ? (int)MIN(32, p->k / 2048) : 1;
}

static int is_batched(const struct gen_step *s)
{
	return s->op == GEN_OP_bmm || s->op == GEN_OP_bmm_tb;
}

/* Whether the host lines hold for a tensor of any rank: its last dimension is multiplied, the others are rows. */
static int any_rank(const struct gen_emit *em, const struct gen_step *s)
{
	return !em->p->plain && s->in.rank > 2 && !is_batched(s);
}

static void factor(const struct gen_emit *em, const struct gen_kernel *k, const char *from, struct product *p)
{
	const struct gen_step *s = &em->p->step[k->head];
	const struct gen_names *n = &em->name[k->head];
	const char *const *lay = gen_op(s->op)->triton;
	int rank = s->in.rank, left = lay[0][0] == 'k', across = lay[0][0] && lay[1][0] == 'n', linear = !lay[0][0] && s->op != GEN_OP_matmul_weight;
	int module = n->module[0] != 0;

	p->batched = is_batched(s);
	p->k = left ? s->in.d[0] : s->in.d[rank - 1];
	p->n = s->out;
	p->m = left ? s->in.d[1] : gen_product(&s->in, p->batched, rank - 1);
	snprintf(p->batch, sizeof p->batch, "%s.shape[0]", from);
	if (left)
		snprintf(p->rows, sizeof p->rows, "%s.shape[1]", from);
	else
		gen_dims(from, p->batched, rank - 1, p->rows, sizeof p->rows);
	snprintf(p->inner, sizeof p->inner, "%s.shape[%d]", from, left ? 0 : rank - 1);
	if (any_rank(em, s)) {
		snprintf(p->rows, sizeof p->rows, "%s.numel() // %s.shape[-1]", from, from);
		snprintf(p->inner, sizeof p->inner, "%s.shape[-1]", from);
	}
	if (module)
		snprintf(p->cols, sizeof p->cols, "self.%s.out_features", n->module);
	else
		snprintf(p->cols, sizeof p->cols, "%s%s.shape[%d]", n->input[0][0] ? "" : "self.", n->input[0][0] ? n->input[0] : n->vec,
			 p->batched + !(across || linear));
	p->along_sum[0] = !left, p->along_sum[1] = linear || across;
	p->a_at = left ? "offs_k[None, :] * M + offs_m[:, None]" : "offs_m[:, None] * K + offs_k[None, :]";
	p->b_at = linear || across ? "offs_n[None, :] * K + offs_k[:, None]" : "offs_k[:, None] * N + offs_n[None, :]";
	pick_tiles(em, p);
}

static const char *exact(const struct gen_emit *em)
{
	return gen_solution_choice(em->p, 232, 2) ? "allow_tf32=False" : "input_precision=\"ieee\"";
}

/* Three products of tf32 are as exact as one of fp32, and faster where there are tensor cores. */
static const char *exact_product(const struct gen_emit *em)
{
	return em->p->plain || gen_has_jump(em->p) || gen_choice(em->p, 235, 12) == 0 ? exact(em) : "input_precision=\"tf32x3\"";
}

/* Tensor cores take tf32 of the second factor only along the sum. Where it is the first that lies so, the factors change places and
 * the result is turned. */
static int is_turned(const struct gen_emit *em, const struct product *p)
{
	return strstr(exact_product(em), "tf32x3") && p->along_sum[0] && !p->along_sum[1] && p->bn >= 64;
}

/* The result: the input's shape but for its last dimension (and, transposed, its first). */
static void alloc_product(struct gen_kern *kn, const struct gen_step *s, const struct product *p, const char *to)
{
	struct buf b = BUF_INIT;
	int any = any_rank(kn->em, s);

	if (p->splits > 1 && strcmp(to, "part") == 0)
		buf_addf(&b, any ? "(%d,) + " : "%d, ", p->splits);
	if (any)
		buf_addf(&b, "%s.shape[:-1] + (%s,)", kn->from, p->cols);
	for (int i = 0; i < s->in.rank - 1 && !any; i++)
		buf_addf(&b, "%s.shape[%d], ", kn->from, gen_op(s->op)->triton[0][0] == 'k' ? 1 : i);
	if (!any)
		buf_adds(&b, p->cols);
	gen_host(kn->sol, any ? "%s = torch.empty(%s, device=%s.device, dtype=%s.dtype)" : "%s = torch.empty((%s), device=%s.device, dtype=%s.dtype)", to,
		 buf_cstr(&b), kn->from, kn->from);
	buf_release(&b);
}

static const char *const product_body =
	"?grouped|    pid = tl.program_id(0)\n"
	"?grouped|    tiles_m = tl.cdiv(M, BM)\n"
	"?grouped|    tiles_n = tl.cdiv(N, BN)\n"
	"?grouped|    first = pid // (GROUP * tiles_n) * GROUP\n"
	"?grouped|    height = tl.minimum(tiles_m - first, GROUP)\n"
	"?grouped|    pid_m = first + pid % (GROUP * tiles_n) % height\n"
	"?grouped|    pid_n = pid % (GROUP * tiles_n) // height\n"
	"!grouped|    pid_m = tl.program_id(0)\n"
	"!grouped|    pid_n = tl.program_id(1)\n"
	"?batched|    batch = tl.program_id($axis).to(tl.int64)\n"
	"?batched|    x_ptr += batch * M * K\n"
	"?batched|    w_ptr += batch * K * N\n"
	"?batched|    out_ptr += batch * M * N\n"
	"    offs_m = pid_m$wide * BM + tl.arange(0, BM)\n"
	"    offs_n = pid_n * BN + tl.arange(0, BN)\n"
	"!turned|    acc = tl.zeros((BM, BN), dtype=tl.float32)\n"
	"?turned|    acc = tl.zeros((BN, BM), dtype=tl.float32)\n"
	"?split|    part = tl.program_id(2)\n"
	"?split|    share = tl.cdiv(tl.cdiv(K, SPLITS), BK) * BK\n"
	"?split|    for k in range(part * share, tl.minimum(K, (part + 1) * share), BK):\n"
	"!split|    for k in range(0, K, BK):\n"
	"        offs_k = k + tl.arange(0, BK)\n"
	"!turned|        a = tl.load(x_ptr + $a_at, mask=(offs_m[:, None] < M) & (offs_k[None, :] < K), other=0.0)\n"
	"!turned|        b = tl.load(w_ptr + $b_at, mask=(offs_k[:, None] < K) & (offs_n[None, :] < N), other=0.0)\n"
	"!turned|        acc += tl.dot(a, b, $exact)\n"
	"?turned|        a = tl.load(x_ptr + offs_m[None, :] * K + offs_k[:, None], mask=(offs_m[None, :] < M) & (offs_k[:, None] < K), other=0.0)\n"
	"?turned|        b = tl.load(w_ptr + offs_k[None, :] * N + offs_n[:, None], mask=(offs_k[None, :] < K) & (offs_n[:, None] < N), other=0.0)\n"
	"?turned|        acc += tl.dot(b, a, $exact)\n"
	"?turned|    acc = tl.trans(acc)\n"
	"    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)\n"
	"    at = offs_m[:, None] * N + offs_n[None, :]\n"
	"?split|    tl.store(out_ptr + part * M * N + at, acc, mask=mask)\n"
	"?bias|    acc += tl.load(b_ptr + offs_n, mask=offs_n < N, other=0.0)[None, :]\n"
	"?asked|    if HAS_BIAS:\n"
	"?asked|        acc += tl.load(b_ptr + offs_n, mask=offs_n < N, other=0.0)[None, :]\n"
	"?triu|    acc = tl.where(offs_m[:, None] <= offs_n[None, :], acc, 0.0)\n"
	"?tril|    acc = tl.where(offs_m[:, None] >= offs_n[None, :], acc, 0.0)\n"
	"!split|    $post\n"
	"!split|    tl.store(out_ptr + at, acc, mask=mask)\n";

/* The bias of a linear layer, in the kernel that has the epilogue. */
static void epilogue_bias(struct gen_kern *kn, int here)
{
	char module[GEN_NAME + 8];

	gen_set(&kn->v, "bias", "%s", "");
	gen_set(&kn->v, "asked", "%s", "");
	snprintf(module, sizeof module, "self.%s", kn->em->name[kn->k->head].module);
	if (here)
		gen_bias(kn, module, kn->em->p->step[kn->k->head].op == GEN_OP_linear);
}

static void product_args(struct gen_kern *kn, const struct product *p, int epilogue)
{
	const struct gen_names *n = &kn->em->name[kn->k->head];

	gen_ptr(kn, "x_ptr", "%s", kn->from);
	if (n->module[0])
		gen_ptr(kn, "w_ptr", "self.%s.weight", n->module);
	else
		gen_ptr(kn, "w_ptr", "%s%s", n->input[0][0] ? "" : "self.", n->input[0][0] ? n->input[0] : n->vec);
	epilogue_bias(kn, epilogue && n->module[0]);
	snprintf(kn->size.v[0].param, GEN_NAME, "M");
	snprintf(kn->size.v[1].param, GEN_NAME, "N");
	snprintf(kn->size.v[2].param, GEN_NAME, "K");
	snprintf(kn->size.v[0].value, GEN_ARG, "%s", p->rows);
	snprintf(kn->size.v[1].value, GEN_ARG, "%s", p->cols);
	snprintf(kn->size.v[2].value, GEN_ARG, "%s", p->inner);
	kn->size.n = 3;
}

static void product_tiles(struct gen_kern *kn, const struct product *p, int grouped)
{
	gen_meta(kn, "BM", "%d", p->bm);
	gen_meta(kn, "BN", "%d", p->bn);
	gen_meta(kn, "BK", "%d", p->bk);
	if (p->splits > 1)
		gen_meta(kn, "SPLITS", "%d", p->splits);
	if (grouped)
		gen_meta(kn, "GROUP", "8");
	kn->warps = p->bm * p->bn >= 128 * 128 ? 8 : 0;
	if (p->splits == 1 && p->bm >= 64 && p->bn >= 64 && gen_solution_choice(kn->em->p, 233, 7) == 6) {
		snprintf(kn->tune, sizeof kn->tune,
			 "    triton.Config({'BM': 64, 'BN': 64, 'BK': 32%s}, num_warps=4),\n    triton.Config({'BM': %d, 'BN': %d, 'BK': 32%s}, num_warps=8),\n",
			 grouped ? ", 'GROUP': 8" : "", p->bm, p->bn == 64 && p->bm == 64 ? 32 : p->bn, grouped ? ", 'GROUP': 8" : "");
		snprintf(kn->key, sizeof kn->key, "'M', 'N', 'K'");
	}
}

static void product_flags(struct gen_kern *kn, const struct gen_step *s, const struct product *p, int grouped)
{
	gen_set(&kn->v, "grouped", grouped ? "yes" : "");
	gen_set(&kn->v, "batched", p->batched ? "yes" : "");
	gen_set(&kn->v, "axis", grouped ? "1" : "2");
	gen_set(&kn->v, "split", p->splits > 1 ? "yes" : "");
	gen_set(&kn->v, "triu", s->op == GEN_OP_matmul_triu ? "yes" : "");
	gen_set(&kn->v, "tril", s->op == GEN_OP_matmul_tril ? "yes" : "");
	gen_set(&kn->v, "a_at", "%s", p->a_at);
	gen_set(&kn->v, "b_at", "%s", p->b_at);
	gen_set(&kn->v, "exact", "%s", exact_product(kn->em));
	gen_set(&kn->v, "turned", is_turned(kn->em, p) ? "yes" : "");
	gen_set(&kn->v, "wide", "%s", gen_wide(kn));
}

static void product_grid(const struct product *p, int grouped, char *grid, size_t n)
{
	char last[GEN_ARG + 4] = "";

	if (p->batched)
		snprintf(last, sizeof last, ", %s", p->batch);
	else if (p->splits > 1)
		snprintf(last, sizeof last, ", %d", p->splits);
	if (grouped)
		snprintf(grid, n, "(triton.cdiv(%s, @BM) * triton.cdiv(%s, @BN)%s%s)", p->rows, p->cols, p->batched ? last : "", p->batched ? "" : ",");
	else
		snprintf(grid, n, "(triton.cdiv(%s, @BM), triton.cdiv(%s, @BN)%s)", p->rows, p->cols, last);
}

/* --- split along K: partial products, then their sum with the epilogue ----------------------------- */

static const char *const split_sum_body =
	"    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
	"    mask = offs < n\n"
	"    acc = tl.zeros((BLOCK,), dtype=tl.float32)\n"
	"    for i in range(SPLITS):\n"
	"        acc += tl.load(part_ptr + i * n + offs, mask=mask, other=0.0)\n"
	"?bias|    acc += tl.load(b_ptr + offs % N, mask=mask, other=0.0)\n"
	"?asked|    if HAS_BIAS:\n"
	"?asked|        acc += tl.load(b_ptr + offs % N, mask=mask, other=0.0)\n"
	"?triu|    acc = tl.where(offs // N <= offs % N, acc, 0.0)\n"
	"?tril|    acc = tl.where(offs // N >= offs % N, acc, 0.0)\n"
	"    $post\n"
	"    tl.store(out_ptr + offs, acc, mask=mask)\n";

static void write_split_sum(struct gen_solution *sol, const struct gen_kernel *k, const struct product *p, const char *from, const char *to)
{
	const struct gen_step *s = &sol->em->p->step[k->head];
	struct gen_place pl = { .val = "acc", .at = "offs", .mask = "mask", .shape_of = to, .axis = s->shape.rank - 1, .axis_at = "offs % N", .axis_mask = "mask" };
	struct gen_kern kn;
	char grid[GEN_ARG];

	gen_kern_init(&kn, sol, k, from, to, "sum");
	gen_ptr(&kn, "part_ptr", "part");
	epilogue_bias(&kn, sol->em->name[k->head].module[0]);
	gen_size(&kn, "n", "%s.numel()", to);
	gen_size(&kn, "N", "%s", p->cols);
	gen_set_points(&kn, "post", k->head + 1, k->end, &pl);
	gen_ptr(&kn, "out_ptr", "%s", to);
	gen_meta(&kn, "SPLITS", "%d", p->splits);
	gen_meta(&kn, "BLOCK", "1024");
	gen_set(&kn.v, "triu", s->op == GEN_OP_matmul_triu ? "yes" : "");
	gen_set(&kn.v, "tril", s->op == GEN_OP_matmul_tril ? "yes" : "");
	alloc_product(&kn, s, p, to);
	snprintf(grid, sizeof grid, "(triton.cdiv(%s.numel(), @BLOCK),)", to);
	gen_kern_write(&kn, split_sum_body, grid);
}

/* --- a matrix times a vector -------------------------------------------------------------------------- */

static const char *const vector_body =
	"    row = tl.program_id(0)$wide\n"
	"    acc = tl.zeros((BLOCK,), dtype=tl.float32)\n"
	"    for k in range(0, K, BLOCK):\n"
	"        cols = k + tl.arange(0, BLOCK)\n"
	"        a = tl.load(x_ptr + row * K + cols, mask=cols < K, other=0.0)\n"
	"        b = tl.load(w_ptr + cols, mask=cols < K, other=0.0)\n"
	"        acc += a * b\n"
	"    tl.store(out_ptr + row, tl.sum(acc, axis=0))\n";

static void write_vector(struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *to)
{
	const char *v = sol->em->name[k->head].input[0];
	int64_t length = sol->em->p->step[k->head].in.d[1];
	struct gen_kern kn;
	char grid[GEN_ARG];

	gen_kern_init(&kn, sol, k, from, to, "");
	gen_ptr(&kn, "x_ptr", "%s", from);
	gen_ptr(&kn, "w_ptr", "%s", v);
	gen_ptr(&kn, "out_ptr", "%s", to);
	gen_size(&kn, "K", "%s.shape[1]", from);
	gen_meta(&kn, "BLOCK", "%lld", (long long)MIN(gen_pow2(length), 2048));
	gen_set(&kn.v, "wide", "%s", gen_wide(&kn));
	gen_host(sol, "%s = torch.empty((%s.shape[0], 1), device=%s.device, dtype=%s.dtype)", to, from, from, from);
	snprintf(grid, sizeof grid, "(%s.shape[0],)", from);
	gen_kern_write(&kn, vector_body, grid);
}

void gen_write_gemm(struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *to)
{
	const struct gen_step *s = &sol->em->p->step[k->head];
	struct product p;
	struct gen_place pl = { .val = "acc", .at = "at", .mask = "mask", .shape_of = to, .axis = s->shape.rank - 1, .axis_at = "offs_n",
				.axis_mask = "offs_n < N", .axis_expand = "[None, :]" };
	struct gen_kern kn;
	char grid[4 * GEN_ARG];
	int grouped, split;

	if (s->op == GEN_OP_matvec) {
		write_vector(sol, k, from, to);
		return;
	}
	factor(sol->em, k, from, &p);
	split = p.splits > 1;
	grouped = !split && p.m >= 1024 && p.n >= 512 && gen_solution_choice(sol->em->p, 234, 2);
	gen_kern_init(&kn, sol, k, from, split ? "part" : to, split ? "split" : "");
	product_args(&kn, &p, !split);
	product_tiles(&kn, &p, grouped);
	product_flags(&kn, s, &p, grouped);
	if (split)
		gen_set(&kn.v, "triu", "%s", ""), gen_set(&kn.v, "tril", "%s", ""), gen_set(&kn.v, "post", "%s", "");
	else
		gen_set_points(&kn, "post", k->head + 1, k->end, &pl);
	gen_ptr(&kn, "out_ptr", "%s", kn.to);
	alloc_product(&kn, s, &p, kn.to);
	product_grid(&p, grouped, grid, sizeof grid);
	gen_kern_write(&kn, product_body, grid);
	if (split)
		write_split_sum(sol, k, &p, from, to);
}

/* --- attention -------------------------------------------------------------------------------------------- */

static const char *const attention_body =
	"    offs_m = tl.program_id(0) * BM + tl.arange(0, BM)\n"
	"    base = tl.program_id(1).to(tl.int64) * T * D\n"
	"    d = tl.arange(0, BD)\n"
	"    q_mask = (offs_m[:, None] < T) & (d[None, :] < D)\n"
	"    q = tl.load(q_ptr + base + offs_m[:, None] * D + d[None, :], mask=q_mask, other=0.0) * scale\n"
	"    top = tl.full((BM,), float('-inf'), dtype=tl.float32)\n"
	"    total = tl.zeros((BM,), dtype=tl.float32)\n"
	"    acc = tl.zeros((BM, BD), dtype=tl.float32)\n"
	"    for start in range(0, T, BN):\n"
	"        offs_n = start + tl.arange(0, BN)\n"
	"        k_mask = (offs_n[:, None] < T) & (d[None, :] < D)\n"
	"        k = tl.load(k_ptr + base + offs_n[:, None] * D + d[None, :], mask=k_mask, other=0.0)\n"
	"        v = tl.load(v_ptr + base + offs_n[:, None] * D + d[None, :], mask=k_mask, other=0.0)\n"
	"        s = tl.dot(q, tl.trans(k), $exact)\n"
	"        s = tl.where(offs_n[None, :] < T, s, float('-inf'))\n"
	"        new = tl.maximum(top, tl.max(s, axis=1))\n"
	"        p = tl.exp(s - new[:, None])\n"
	"        fade = tl.exp(top - new)\n"
	"        total = total * fade + tl.sum(p, axis=1)\n"
	"        acc = acc * fade[:, None] + tl.dot(p, v, $exact)\n"
	"        top = new\n"
	"    acc = acc / total[:, None]\n"
	"    tl.store(out_ptr + base + offs_m[:, None] * D + d[None, :], acc, mask=q_mask)\n";

/* Rows of queries shrink as heads widen, so that three tiles of a head fit in shared memory. */
void gen_write_attention(struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *to)
{
	const struct gen_step *s = &sol->em->p->step[k->head];
	const struct gen_names *n = &sol->em->name[k->head];
	int64_t head = gen_pow2(s->in.d[3]);
	int bm = head <= 64 ? 64 : head <= 128 ? 32 : 16;
	struct gen_kern kn;
	char grid[2 * GEN_ARG];

	gen_kern_init(&kn, sol, k, from, to, "");
	gen_ptr(&kn, "q_ptr", "%s", from);
	gen_ptr(&kn, "k_ptr", "%s", n->input[0]);
	gen_ptr(&kn, "v_ptr", "%s", n->input[1]);
	gen_ptr(&kn, "out_ptr", "%s", to);
	gen_size(&kn, "T", "%s.shape[2]", from);
	gen_size(&kn, "D", "%s.shape[3]", from);
	gen_size(&kn, "scale", "%s.shape[3] ** -0.5", from);
	gen_meta(&kn, "BM", "%d", bm);
	gen_meta(&kn, "BN", "%d", head <= 64 ? 32 : 16);
	gen_meta(&kn, "BD", "max(16, triton.next_power_of_2(%s.shape[3]))", from);
	kn.stages = head > 64 ? 1 : 2;
	gen_set(&kn.v, "exact", "%s", exact(sol->em));
	gen_alloc(&kn, &s->in, &s->shape, "");
	snprintf(grid, sizeof grid, "(triton.cdiv(%s.shape[2], @BM), %s.shape[0] * %s.shape[1])", from, from, from);
	gen_kern_write(&kn, attention_body, grid);
}
