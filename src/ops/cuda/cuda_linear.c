/* Weights and products of a GPU: see cuda_ops.h.
 *
 * A bf16 weight has the layout of the checkpoint: rows of W, dense. An e4m3 weight is codes and a
 * scale for each row, of W and, for gradients, of W^T, because the matrix units take 8-bit operands
 * only along k. Rows of activations are quantised just before a product in e4m3. An int8 weight,
 * for GPUs without 8-bit floating-point units, is widened to bf16 in the working memory before each
 * product. */
#include <string.h>

#include "base/mem.h"
#include "ops/cuda/cuda_ops.h"

enum { PACK = 16 << 20 };   /* the least working memory for packing */

static size_t round_up(size_t n) { return (n + 255) & ~(size_t)255; }

/* Byte offsets of the parts of an 8-bit weight. An int8 weight has no `across`: it ends after its
 * scales. */
struct places { size_t scale, across, across_scale, end; };

static struct places places_of(const struct weight *w)
{
	size_t codes = (size_t)w->n * (size_t)w->k;
	struct places p = { .scale = round_up(codes) };

	p.across = p.scale + round_up((size_t)w->n * sizeof(float));
	p.across_scale = p.across + round_up(codes);
	p.end = p.across_scale + round_up((size_t)w->k * sizeof(float));
	return p;
}

/* Chooses the format of a weight. Every requested 16 or 32-bit format becomes bf16 here. */
void cuda_ops_weight_plan(struct weight *w)
{
	if (dtype_size(w->dt) == 1) {
		w->bytes = w->dt == DT_I8 ? places_of(w).across : places_of(w).end;
		return;
	}
	w->dt = DT_BF16;
	w->bytes = (size_t)w->n * (size_t)w->k * 2;
}

void cuda_ops_weight_place(struct weight *w)
{
	struct places p = places_of(w);
	char *at = w->packed;

	if (w->dt == DT_BF16)
		return;
	w->scale = (float *)(void *)(at + p.scale);
	if (w->dt == DT_I8)
		return;
	w->across = at + p.across;
	w->across_scale = (float *)(void *)(at + p.across_scale);
}

/* --- packing ------------------------------------------------------------------------------ */

/* Part of a weight as bf16 at `to`; a mapped file of another format goes through the working
 * memory. */
static void put_part(struct dev *d, void *to, const struct weight_part *p, size_t k)
{
	const struct cuda_launch *l = cuda_of(d);
	size_t n = (size_t)p->n * k, bytes = n * (size_t)dtype_size(p->dt), step;

	if (!p->mapped) {
		CUDA_GO(d, l->cuda_cast(d->gpu, to, DT_BF16, p->data, (int)p->dt, n), "weight_pack",
			"weight_pack [%d, %zu]", p->n, k);
		return;
	}
	if (p->dt == DT_BF16) {
		dev_put_file(d, to, p->data, bytes);
		return;
	}
	dev_reserve(d, 0, PACK, &d->fault);
	step = d->scratch_shared / (size_t)dtype_size(p->dt) & ~(size_t)63;
	for (size_t at = 0; at < n && !d->fault.code; at += step) {
		size_t now = MIN(step, n - at), size = (size_t)dtype_size(p->dt);
		void *stage = dev_shared(d, now * size);

		dev_put_file(d, stage, (const char *)p->data + at * size, now * size);
		CUDA_GO(d, l->cuda_cast(d->gpu, (char *)to + at * 2, DT_BF16, stage, (int)p->dt, now),
			"weight_pack", "weight_pack of %zu", now);
	}
}

/* Packs bf16 rows into the 8-bit form. For an int8 weight this also reserves the working memory
 * into which products widen it to bf16. */
static void pack_rows(struct dev *d, struct weight *w, void *rows)
{
	const struct cuda_launch *l = cuda_of(d);

	if (w->dt == DT_I8) {
		CUDA_GO(d, l->cuda_quantise_int8(d->gpu, w->packed, w->scale, rows, w->n, w->k),
			"weight_pack", "quantise [%d, %d]", w->n, w->k);
		dev_reserve(d, 0, (size_t)w->n * (size_t)w->k * 2, &d->fault);
		return;
	}
	CUDA_GO(d, l->cuda_quantise(d->gpu, w->packed, w->scale, rows, DT_BF16, w->n, w->k), "weight_pack",
		"quantise [%d, %d]", w->n, w->k);
	CUDA_GO(d, l->cuda_quantise_across(d->gpu, w->across, w->across_scale, rows, DT_BF16, w->n, w->k),
		"weight_pack", "quantise [%d, %d]", w->n, w->k);
}

void cuda_op_weight_pack(struct dev *d, struct weight *w, const struct weight_part *parts, int n)
{
	size_t bytes = (size_t)w->n * (size_t)w->k * 2, at = 0;
	char *to = w->packed;
	struct err e = ERR_INIT;

	if (w->dt != DT_BF16 && !(to = dev_alloc(d, bytes, &e))) {
		err_set(&d->fault, e.code, "%s", e.text);
		return;
	}
	for (int i = 0; i < n; at += (size_t)parts[i++].n)
		put_part(d, to + at * (size_t)w->k * 2, &parts[i], (size_t)w->k);
	if (w->dt != DT_BF16) {
		pack_rows(d, w, to);
		dev_free(d, to, bytes);
	}
}

/* For tests: W's row as the products use it. */
void cuda_op_weight_row(struct dev *d, const struct weight *w, int row, float *out)
{
	size_t k = (size_t)w->k, size = (size_t)dtype_size(w->dt);
	char *codes = mem_array(k, size);
	float scale = 1;

	if (!codes)
		BUG("no memory for a row of %zu", k);
	dev_get(d, codes, (const char *)w->packed + (size_t)row * k * size, k * size, NULL);
	if (w->scale)
		dev_get(d, &scale, w->scale + row, sizeof scale, NULL);
	dtype_convert(DT_F32, out, w->dt, codes, k);
	for (size_t i = 0; i < k; i++)
		out[i] *= scale;
	mem_free(codes);
}

/* --- products ----------------------------------------------------------------------------- */

static const char *const labels[CUDA_GEMM_KINDS] = { [CUDA_GEMM_Y] = "linear", [CUDA_GEMM_DX] = "linear_dx",
						     [CUDA_GEMM_DW] = "linear_dw" };

static void product(struct dev *d, const char *label, const struct cuda_gemm *product)
{
	struct cuda_gemm g = *product;

	g.exact = d->exact && g.kind == CUDA_GEMM_Y;
	dev_mark_shape(d, label, g.n, g.k);
	dev_note(d, cuda_of(d)->cuda_gemm(d->gpu, &g), "%s, %d rows by [%d, %d]", labels[g.kind], g.M, g.n, g.k);
}

/* Rows of activations as e4m3 in the working memory. */
static void quantised(struct dev *d, struct cuda_gemm *g, const act *x, size_t ldx, int cols)
{
	size_t codes = round_up((size_t)g->M * (size_t)cols);
	char *to = dev_shared(d, codes + (size_t)g->M * sizeof(float));

	if (ldx != (size_t)cols)
		BUG("rows of %d activations that stand %zu apart are not quantised", cols, ldx);
	g->x = to;
	g->x_scale = (float *)(void *)(to + codes);
	g->ldx = (size_t)cols;
	g->x_dt = DT_F8E4M3;
	CUDA_GO(d, cuda_of(d)->cuda_quantise(d->gpu, to, (float *)(void *)(to + codes), x, DT_BF16, g->M, cols),
		"quantise", "quantise [%d, %d]", g->M, cols);
}

/* W as bf16 rows: itself, or its widened copy in the working memory. */
static const void *bf16_rows(struct dev *d, const struct weight *w)
{
	void *to;

	if (w->dt != DT_I8)
		return w->packed;
	to = dev_shared(d, (size_t)w->n * (size_t)w->k * 2);
	CUDA_GO(d, cuda_of(d)->cuda_widen_int8(d->gpu, to, w->packed, w->scale, w->n, w->k), "widen",
		"widen [%d, %d]", w->n, w->k);
	return to;
}

static struct cuda_gemm gemm_of(const struct linear *l)
{
	return (struct cuda_gemm){ .M = l->M, .x = l->x, .ldx = l->ldx, .y = l->y, .ldy = l->ldy,
				   .x_dt = DT_BF16, .w_dt = DT_BF16,
				   .y_dt = l->f32 ? DT_F32 : DT_BF16, .bias = l->bias, .add = l->add,
				   .ldadd = l->ldadd, .alpha = 1,
				   .beta = l->accumulate || l->add ? 1 : 0 };
}

void cuda_op_linear(struct dev *d, const struct weight *w, const struct linear *l)
{
	struct cuda_gemm g = gemm_of(l);

	g.kind = CUDA_GEMM_Y, g.n = w->n, g.k = w->k;
	g.w = bf16_rows(d, w), g.ldw = (size_t)w->k;
	if (w->dt == DT_F8E4M3) {
		quantised(d, &g, l->x, l->ldx, w->k);
		g.w_dt = DT_F8E4M3, g.w_scale = w->scale;
	}
	product(d, "linear", &g);
}

/* With e4m3, dx = dy W is y = x W^T of the transposed copy. */
void cuda_op_linear_dx(struct dev *d, const struct weight *w, const struct linear *l)
{
	struct cuda_gemm g = gemm_of(l);

	g.kind = CUDA_GEMM_DX, g.n = w->n, g.k = w->k;
	g.w = bf16_rows(d, w), g.ldw = (size_t)w->k;
	if (w->dt == DT_F8E4M3) {
		quantised(d, &g, l->x, l->ldx, w->n);
		g.kind = CUDA_GEMM_Y, g.n = w->k, g.k = w->n;
		g.w = w->across, g.ldw = (size_t)w->n, g.w_dt = DT_F8E4M3, g.w_scale = w->across_scale;
	}
	product(d, "linear_dx", &g);
}

static struct cuda_gemm dw_of(float *dw, int n, int k, const act *dy, size_t lddy, const act *x, size_t ldx, int M)
{
	return (struct cuda_gemm){ .kind = CUDA_GEMM_DW, .M = M, .n = n, .k = k, .x = x, .ldx = ldx,
				   .w = dy, .ldw = lddy, .y = dw,
				   .ldy = (size_t)k, .x_dt = DT_BF16, .w_dt = DT_BF16, .y_dt = DT_F32,
					   .alpha = 1, .beta = 1 };
}

void cuda_op_linear_dw(struct dev *d, float *dw, int n, int k, const act *dy, size_t lddy, const act *x,
		       size_t ldx, int M, int fast)
{
	struct cuda_gemm g = dw_of(dw, n, k, dy, lddy, x, ldx, M);

	(void)fast;
	product(d, "linear_dw", &g);
}

/* --- adapters ----------------------------------------------------------------------------- */

/* Are the A of all parts contiguous in memory and their u side by side? Then they are one
 * matrix. */
static int stacked(const struct lora_pass *l)
{
	for (int i = 0; i + 1 < l->parts; i++) {
		const struct lora_part *p = &l->part[i];

		if ((const char *)p->a->packed + p->a->bytes != (const char *)p[1].a->packed ||
		    p->at + (size_t)p->a->n != p[1].at)
			return 0;
	}
	return 1;
}

/* A of part i, or of all of them. */
struct down { const void *a; int r, k; size_t at; };

static int downs(const struct lora_pass *l, struct down *out)
{
	int n = stacked(l) ? 1 : l->parts;

	for (int i = 0; i < n; i++)
		out[i] = (struct down){ .a = l->part[i].a->packed, .r = l->part[i].a->n, .k = l->part[i].a->k,
					.at = l->part[i].at };
	for (int i = 1; n == 1 && i < l->parts; i++)
		out[0].r += l->part[i].a->n;
	return n;
}

/* Ranks that swiglu's kernels have, all parts alike; rows of 32 columns at a time (a pass over gate
 * and up writes two of them, one over down reads one). */
int cuda_ops_leaves(const struct lora_pass *l)
{
	int r = l->parts ? l->part[0].a->n : 0;

	for (int i = 0; i < l->parts; i++)
		if (l->part[i].a->n != r)
			return 0;
	return l->later && (r == 16 || r == 32) && l->ldx % 32 == 0 && l->ldy % 64 == 0;
}

/* Adds one adapter to a fused pass over gate and up. The column that the adapter writes tells them
 * apart: gate begins at s->gu itself. */
static void add_part(struct cuda_swiglu *a, const struct swiglu *s, const struct lora_part *p)
{
	int is_up = p->y != s->gu;

	if (is_up)
		a->up_b = p->b->packed, a->up_at = p->at;
	else
		a->gate_b = p->b->packed, a->gate_at = p->at;
	a->r = p->a->n;
}

struct cuda_swiglu cuda_swiglu_of(const struct swiglu *s)
{
	struct cuda_swiglu a = { .T = s->T, .F = s->F, .gu = s->gu, .h = s->h, .dh = s->dh, .dgu = s->dgu };

	if (s->lora && cuda_ops_leaves(s->lora)) {
		a.u = s->lora->u, a.ldu = s->lora->ldu;
		for (int i = 0; i < s->lora->parts; i++)
			add_part(&a, s, &s->lora->part[i]);
	}
	if (s->down && cuda_ops_leaves(s->down)) {
		a.du = s->down->du, a.lddu = s->down->ldu, a.down_a = s->down->part[0].a->packed;
		a.r = s->down->part[0].a->n;
	}
	return a;
}

void cuda_op_lora(struct dev *d, const struct lora_pass *l)
{
	struct down a[LORA_PARTS];

	for (int i = 0, n = downs(l, a); i < n; i++)
		product(d, "lora", &(struct cuda_gemm){ .kind = CUDA_GEMM_Y, .M = l->M, .n = a[i].r,
							.k = a[i].k, .x = l->x, .ldx = l->ldx, .w = a[i].a,
			.ldw = (size_t)a[i].k, .y = act_at(d, l->u, a[i].at), .ldy = l->ldu, .x_dt = DT_BF16,
			.w_dt = DT_BF16, .y_dt = DT_BF16,
			.alpha = l->scale });
	for (int i = 0; i < l->parts && !cuda_ops_leaves(l); i++) {
		const struct lora_part *p = &l->part[i];

		product(d, "lora", &(struct cuda_gemm){ .kind = CUDA_GEMM_Y, .M = l->M, .n = p->b->n,
							.k = p->b->k, .x = act_at(d, l->u, p->at),
			.ldx = l->ldu, .w = p->b->packed, .ldw = (size_t)p->b->k, .y = p->y, .ldy = l->ldy,
			.x_dt = DT_BF16, .w_dt = DT_BF16,
			.y_dt = l->f32 ? DT_F32 : DT_BF16, .alpha = 1, .beta = 1 });
	}
}

/* dA of all parts as one product into working memory, then each added to its place: the parts'
 * gradients are not neighbours. */
static void add_da(struct dev *d, const struct lora_pass *l, const struct down *a)
{
	float *all = dev_shared(d, (size_t)a->r * (size_t)a->k * sizeof(float));
	struct cuda_gemm g = dw_of(all, a->r, a->k, act_at(d, l->du, a->at), l->ldu, l->x, l->ldx, l->M);
	size_t at = 0;

	g.beta = 0;
	product(d, "lora_grad", &g);
	for (int i = 0; i < l->parts; i++) {
		size_t n = (size_t)l->part[i].a->n * (size_t)a->k;

		CUDA_GO(d, cuda_of(d)->cuda_add(d->gpu, l->part[i].da, all + at, n), "lora_grad", "add of %zu", n);
		at += n;
	}
}

static void part_grad(struct dev *d, const struct lora_pass *l, const struct lora_part *p)
{
	struct cuda_gemm db = dw_of(p->db, p->b->n, p->b->k, p->y, l->ldy, act_at(d, l->u, p->at), l->ldu, l->M);
	struct cuda_gemm du = { .kind = CUDA_GEMM_DX, .M = l->M, .n = p->b->n, .k = p->b->k, .x = p->y,
				.ldx = l->ldy, .w = p->b->packed,
				.ldw = (size_t)p->b->k, .y = act_at(d, l->du, p->at), .ldy = l->ldu,
				.x_dt = DT_BF16, .w_dt = DT_BF16,
				.y_dt = DT_BF16, .alpha = l->scale };

	product(d, "lora_grad", &db);
	product(d, "lora_grad", &du);
}

void cuda_op_lora_grad(struct dev *d, const struct lora_pass *l)
{
	struct down a[LORA_PARTS];
	int n = downs(l, a);

	for (int i = 0; i < l->parts; i++)
		part_grad(d, l, &l->part[i]);
	if (n == 1)
		add_da(d, l, a);
	for (int i = 0; i < n; i++) {
		const struct lora_part *p = &l->part[i];
		struct cuda_gemm da = dw_of(p->da, a[i].r, a[i].k, act_at(d, l->du, a[i].at), l->ldu, l->x,
					    l->ldx, l->M);

		if (n > 1)
			product(d, "lora_grad", &da);
		if (l->dx && !cuda_ops_leaves(l))
			product(d, "lora_grad", &(struct cuda_gemm){ .kind = CUDA_GEMM_DX, .M = l->M,
								     .n = a[i].r, .k = a[i].k,
								     .x = act_at(d, l->du, a[i].at),
				.ldx = l->ldu, .w = a[i].a, .ldw = (size_t)a[i].k, .y = l->dx, .ldy = l->ldx,
				.x_dt = DT_BF16, .w_dt = DT_BF16,
				.y_dt = DT_BF16, .alpha = 1, .beta = l->add || i ? 1 : 0 });
	}
}
