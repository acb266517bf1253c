/* Every op of a GPU against the CPU's, over random shapes. Inputs are rounded to bf16 first, so that both
 * devices see the same numbers; an error is the norm of the difference over the norm of what the CPU has.
 * Outputs are poisoned before each call. Exit code: 0 all passed, 1 some failed, 77 there is no GPU. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "ops/ops.h"

/* Tolerances: one rounding to bf16 has an rms error of 1.6e-3; sums in fp32 differ by their order. */
static const double F32 = 2e-5, BF16 = 2.5e-3, TWICE = 4e-3, FP8 = 5e-2;

static struct dev *cpu, *gpu;
static const struct ops *co, *go;
static struct rng rng;
static int failed, passed;

/* The same values on both devices. */
struct pair {
	float *c;                  /* the CPU's, fp32 */
	void *g;                   /* the GPU's, of dt */
	size_t n;
	enum dtype dt;
	float *taken;              /* host copy */
};

static struct pair *all_pairs[256];
static int npairs;

static void push(struct pair *p)
{
	void *half = mem_alloc(p->n * 4);

	dtype_convert(p->dt, half, DT_F32, p->c, p->n);
	dev_put(gpu, p->g, half, p->n * (size_t)dtype_size(p->dt));
	dtype_convert(DT_F32, p->c, p->dt, half, p->n);     /* the CPU has the rounded values too */
	mem_free(half);
}

static struct pair *values(size_t n, enum dtype dt, float lo, float hi)
{
	struct pair *p = mem_zalloc(sizeof *p);

	p->n = n, p->dt = dt;
	p->c = mem_alloc_aligned((n + 16) * 4, 64);
	memset(p->c, 0, (n + 16) * 4);
	p->g = dev_alloc(gpu, n * (size_t)dtype_size(dt), NULL);
	for (size_t i = 0; i < n; i++)
		p->c[i] = lo + (hi - lo) * rng_f32(&rng);
	push(p);
	all_pairs[npairs++] = p;
	return p;
}

static struct pair *acts(size_t n) { return values(n, DT_BF16, -1, 1); }
static struct pair *floats(size_t n) { return values(n, DT_F32, -1, 1); }

/* Not-a-number wherever an op has to write. */
static struct pair *poisoned(size_t n, enum dtype dt)
{
	struct pair *p = values(n, dt, 0, 0);

	memset(p->c, 0xff, n * 4);
	dev_put(gpu, p->g, p->c, n * (size_t)dtype_size(dt));
	return p;
}

static void release_pairs(void)
{
	while (npairs) {
		struct pair *p = all_pairs[--npairs];

		dev_free(gpu, p->g, p->n * (size_t)dtype_size(p->dt));
		mem_free_aligned(p->c);
		mem_free(p);
	}
}

static void report(const char *what, double error, double tolerance)
{
	int bad = !(error <= tolerance);

	failed += bad;
	passed += !bad;
	printf("%s %-44s error %.2e of %.2e\n", bad ? "FAIL" : "ok  ", what, error, tolerance);
}

static void check(const char *what, struct pair *p, double tolerance)
{
	size_t bytes = p->n * (size_t)dtype_size(p->dt);
	float *v = mem_alloc(p->n * 4);
	void *raw = mem_alloc(bytes);
	double diff = 0, size = 0;
	struct err e = ERR_INIT;

	if (dev_get(gpu, raw, p->g, bytes, &e)) {
		printf("FAIL %s: %s\n", what, e.text);
		exit(1);
	}
	dtype_convert(DT_F32, v, p->dt, raw, p->n);
	for (size_t i = 0; i < p->n; i++) {
		double d = (double)v[i] - (double)p->c[i];

		diff += d * d;
		size += (double)p->c[i] * (double)p->c[i];
	}
	report(what, size > 0 ? sqrt(diff / size) : sqrt(diff), tolerance);
	mem_free(v), mem_free(raw);
}

static int32_t *ids(int n, int most, int32_t **dev)
{
	int32_t *v = mem_array((size_t)n, 4);

	for (int i = 0; i < n; i++)
		v[i] = (int32_t)rng_below(&rng, (uint64_t)most);
	*dev = dev_alloc(gpu, (size_t)n * 4, NULL);
	dev_put(gpu, *dev, v, (size_t)n * 4);
	return v;
}

static int pick(const int *from, size_t n) { return from[rng_below(&rng, n)]; }
#define PICK(...) pick((const int[]){ __VA_ARGS__ }, COUNT_OF(((const int[]){ __VA_ARGS__ })))

/* --- products ---------------------------------------------------------------------------------------- */

static struct weight weight_for(struct dev *d, const struct ops *o, enum dtype dt, const void *data, enum dtype from, int n, int k)
{
	struct weight w;
	struct weight_part part = { .data = data, .dt = from, .n = n };

	if (weight_init(d, &w, dt, n, k, NULL))
		exit(1);
	o->weight_pack(d, &w, &part, 1);
	return w;
}

struct weights { struct weight c, g; struct pair *raw; };

/* bf16 on both, or 8 bits on the GPU and their exact values on the CPU. */
static struct weights weights(enum dtype dt, int n, int k)
{
	struct weights w = { .raw = acts((size_t)n * (size_t)k) };

	w.g = weight_for(gpu, go, dt, w.raw->g, DT_BF16, n, k);
	if (dt != DT_BF16)
		for (int i = 0; i < n; i++)
			go->weight_row(gpu, &w.g, i, w.raw->c + (size_t)i * (size_t)k);
	w.c = weight_for(cpu, co, DT_F32, w.raw->c, DT_F32, n, k);
	return w;
}

static void release(struct weights *w)
{
	weight_release(cpu, &w->c);
	weight_release(gpu, &w->g);
}

static void test_linear(enum dtype dt)
{
	int M = PICK(1, 7, 64, 200, 513), n = 16 * PICK(1, 3, 8, 40), k = 16 * PICK(1, 4, 9, 33);
	size_t mn = (size_t)M * (size_t)n, mk = (size_t)M * (size_t)k;
	struct weights w = weights(dt, n, k);
	struct pair *x = acts(mk), *y = poisoned(mn, DT_BF16), *bias = floats((size_t)n), *add = floats(mn), *r = poisoned(mn, DT_F32);
	struct pair *dy = acts(mn), *dx = poisoned(mk, DT_BF16), *dw = floats((size_t)n * (size_t)k), *db = floats((size_t)n), *acc = acts(mn);
	const char *name = dt == DT_F8E4M3 ? "fp8" : dt == DT_I8 ? "int8" : "bf16";
	double tol = dt == DT_F8E4M3 ? FP8 : dt == DT_I8 ? TWICE : BF16;      /* int8: weights are rounded to bf16, and the result */
	char what[80];

#define BOTH(op, W, ...) do { \
		{ const int IS_GPU = 0; struct dev *D = cpu; (void)D; (void)IS_GPU; co->op(cpu, W __VA_ARGS__); } \
		{ const int IS_GPU = 1; struct dev *D = gpu; (void)D; (void)IS_GPU; go->op(gpu, W __VA_ARGS__); } \
	} while (0)
#define P(p) (IS_GPU ? (p)->g : (void *)(p)->c)
#define F(p) ((float *)P(p))
#define WT (IS_GPU ? &w.g : &w.c),
	BOTH(linear, WT, &(struct linear){ .M = M, .x = P(x), .ldx = (size_t)k, .y = P(y), .ldy = (size_t)n, .bias = F(bias) });
	snprintf(what, sizeof what, "linear %s + bias [%d, %d, %d]", name, M, n, k);
	check(what, y, tol);
	BOTH(linear, WT, &(struct linear){ .M = M, .x = P(x), .ldx = (size_t)k, .y = P(r), .ldy = (size_t)n, .f32 = 1, .add = F(add), .ldadd = (size_t)n });
	snprintf(what, sizeof what, "linear %s + add, fp32 [%d, %d, %d]", name, M, n, k);
	check(what, r, dt == DT_BF16 ? F32 : tol);
	BOTH(linear_dx, WT, &(struct linear){ .M = M, .x = P(dy), .ldx = (size_t)n, .y = P(dx), .ldy = (size_t)k });
	snprintf(what, sizeof what, "linear_dx %s [%d, %d, %d]", name, M, n, k);
	check(what, dx, tol);
	if (dt == DT_BF16) {
		BOTH(linear, WT, &(struct linear){ .M = M, .x = P(x), .ldx = (size_t)k, .y = P(acc), .ldy = (size_t)n, .accumulate = 1 });
		check("linear, accumulate", acc, BF16);
		co->linear_dw(cpu, dw->c, n, k, dy->c, (size_t)n, x->c, (size_t)k, M, 0);
		go->linear_dw(gpu, dw->g, n, k, dy->g, (size_t)n, x->g, (size_t)k, M, 0);
		snprintf(what, sizeof what, "linear_dw [%d, %d, %d]", M, n, k);
		check(what, dw, F32);
		co->bias_grad(cpu, db->c, dy->c, (size_t)n, M, n);
		go->bias_grad(gpu, db->g, dy->g, (size_t)n, M, n);
		check("bias_grad", db, F32);
	}
	release(&w);
}

static void test_lora(void)
{
	int M = PICK(3, 64, 300), k = 16 * PICK(2, 8, 31), r = PICK(8, 16), parts = PICK(1, 2, 3), n[3], N = 0, f32 = PICK(0, 1);
	struct weight wa[2][3], wb[2][3];
	struct pair *a[3], *b[3], *da[3], *db[3], *x, *y, *u, *du, *dx, *dy;
	size_t R;
	char *block[2];

	for (int i = 0; i < parts; i++)
		N += n[i] = 16 * PICK(1, 4, 9);
	R = (size_t)(parts * r);
	x = acts((size_t)M * (size_t)k), y = f32 ? floats((size_t)M * (size_t)N) : acts((size_t)M * (size_t)N), dx = acts((size_t)M * (size_t)k);
	dy = acts((size_t)M * (size_t)N), u = poisoned((size_t)M * R, DT_BF16), du = poisoned((size_t)M * R, DT_BF16);
	for (int d = 0; d < 2; d++) {
		struct dev *dev = d ? gpu : cpu;
		size_t at;

		block[d] = dev_alloc(dev, 8 << 20, NULL);
		at = 0;

		for (int i = 0; i < parts; i++) {
			if (!d)
				a[i] = acts((size_t)r * (size_t)k), b[i] = acts((size_t)n[i] * (size_t)r), da[i] = floats((size_t)r * (size_t)k),
				db[i] = floats((size_t)n[i] * (size_t)r);
			weight_plan(dev, &wa[d][i], DT_F32, r, k);
			weight_place(dev, &wa[d][i], block[d] + at);
			at += (wa[d][i].bytes + 255) & ~(size_t)255;
			(d ? go : co)->weight_pack(dev, &wa[d][i],
						   &(struct weight_part){ .data = d ? a[i]->g : a[i]->c, .dt = d ? DT_BF16 : DT_F32, .n = r }, 1);
		}
		for (int i = 0; i < parts; i++) {
			weight_plan(dev, &wb[d][i], DT_F32, n[i], r);
			weight_place(dev, &wb[d][i], block[d] + at);
			at += (wb[d][i].bytes + 255) & ~(size_t)255;
			(d ? go : co)->weight_pack(dev, &wb[d][i],
						   &(struct weight_part){ .data = d ? b[i]->g : b[i]->c, .dt = d ? DT_BF16 : DT_F32, .n = n[i] }, 1);
		}
	}
	for (int d = 0; d < 2; d++) {
		struct lora_pass l = { .M = M, .parts = parts, .x = d ? x->g : x->c, .ldx = (size_t)k, .ldy = (size_t)N, .ldu = R, .f32 = f32, .scale = 0.5f,
				       .u = d ? u->g : u->c, .du = d ? du->g : du->c, .dx = d ? dx->g : dx->c, .add = 1 };
		size_t at = 0;

		for (int i = 0; i < parts; at += (size_t)n[i++])
			l.part[i] = (struct lora_part){ .a = &wa[d][i], .b = &wb[d][i], .at = (size_t)(i * r),
				.y = d ? (f32 ? (void *)((float *)y->g + at) : act_at(gpu, y->g, at)) : (void *)(y->c + at),
				.da = d ? da[i]->g : da[i]->c, .db = d ? db[i]->g : db[i]->c };
		(d ? go : co)->lora(d ? gpu : cpu, &l);
		at = 0;
		for (int i = 0; i < parts; at += (size_t)n[i++])
			l.part[i].y = d ? act_at(gpu, dy->g, at) : (void *)(dy->c + at);
		(d ? go : co)->lora_grad(d ? gpu : cpu, &l);
	}
	check("lora u", u, BF16);
	check(f32 ? "lora y, fp32" : "lora y", y, BF16 * 1.5);
	check("lora_grad du", du, BF16);
	check("lora_grad dx", dx, BF16 * 1.5);
	for (int i = 0; i < parts; i++) {
		check("lora_grad dA", da[i], BF16 * 1.5);
		check("lora_grad dB", db[i], BF16 * 1.5);
	}
	dev_free(cpu, block[0], 8 << 20);
	dev_free(gpu, block[1], 8 << 20);
}

/* --- rows ---------------------------------------------------------------------------------------------- */

static void test_norm(void)
{
	int T = PICK(1, 5, 100, 1030), C = PICK(8, 64, 256, 512, 768, 896, 1024, 1536, 2048, 3584, 5120);
	size_t n = (size_t)T * (size_t)C;
	struct pair *x = floats(n), *w = floats((size_t)C), *y = poisoned(n, DT_BF16), *rstd = poisoned((size_t)T, DT_F32);
	struct pair *dy = acts(n), *dx = floats(n), *dxa = poisoned(n, DT_BF16), *dw = floats((size_t)C), *dx2 = floats(n);
	char what[80];

	co->rmsnorm(cpu, y->c, rstd->c, x->c, w->c, T, C, 1e-6f);
	go->rmsnorm(gpu, y->g, rstd->g, x->g, w->g, T, C, 1e-6f);
	snprintf(what, sizeof what, "rmsnorm [%d, %d]", T, C);
	check(what, y, BF16);
	check("rmsnorm rstd", rstd, F32);
	co->rmsnorm_grad(cpu, dx->c, dx->c, dw->c, dy->c, x->c, rstd->c, w->c, T, C);
	go->rmsnorm_grad(gpu, dx->g, dxa->g, dw->g, dy->g, x->g, rstd->g, w->g, T, C);
	memcpy(dxa->c, dx->c, n * 4);
	snprintf(what, sizeof what, "rmsnorm_grad dx [%d, %d]", T, C);
	check(what, dx, F32);
	check("rmsnorm_grad dx as activations", dxa, BF16);
	check("rmsnorm_grad dw", dw, F32);
	co->rmsnorm_grad(cpu, dx2->c, dx2->c, NULL, dy->c, x->c, rstd->c, w->c, T, C);
	go->rmsnorm_grad(gpu, dx2->g, dxa->g, NULL, dy->g, x->g, rstd->g, w->g, T, C);
	check("rmsnorm_grad without dw", dx2, F32);
}

static void test_rope(int norm)
{
	int T = PICK(1, 9, 130), H = PICK(2, 8, 14), HKV = H / 2, D = PICK(16, 32, 64, 128), positions = 200;
	size_t n = (size_t)T * (size_t)(H + 2 * HKV) * (size_t)D, qk = (size_t)T * (size_t)(H + HKV);
	struct pair *x = acts(n), *raw = poisoned(qk * (size_t)D, DT_BF16), *rstd = poisoned(qk, DT_F32), *qw = floats((size_t)D), *kw = floats((size_t)D);
	struct pair *cs = floats((size_t)positions * (size_t)D / 2), *sn = floats((size_t)positions * (size_t)D / 2), *d = acts(n);
	struct pair *dqw = floats((size_t)D), *dkw = floats((size_t)D);
	int32_t *dpos, *pos = ids(T, positions, &dpos);
	struct qk c = { .T = T, .H = H, .HKV = HKV, .D = D, .qkv = x->c, .eps = 1e-6f, .cos = cs->c, .sin = sn->c, .pos = pos };
	struct qk g = { .T = T, .H = H, .HKV = HKV, .D = D, .qkv = x->g, .eps = 1e-6f, .cos = cs->g, .sin = sn->g, .pos = dpos };
	char what[80];

	if (norm) {
		c.raw = raw->c, c.rstd = rstd->c, c.qw = qw->c, c.kw = kw->c, c.dqw = dqw->c, c.dkw = dkw->c;
		g.raw = raw->g, g.rstd = rstd->g, g.qw = qw->g, g.kw = kw->g, g.dqw = dqw->g, g.dkw = dkw->g;
	}
	co->qk_rope(cpu, &c);
	go->qk_rope(gpu, &g);
	snprintf(what, sizeof what, "qk_rope%s [%d, %d + %d, %d]", norm ? " with norm" : "", T, H, HKV, D);
	check(what, x, BF16);
	co->qk_rope_grad(cpu, &c, d->c);
	go->qk_rope_grad(gpu, &g, d->g);
	check("qk_rope_grad", d, BF16);
	if (norm) {
		check("qk_rope_grad dqw", dqw, F32);
		check("qk_rope_grad dkw", dkw, F32);
	}
	dev_free(gpu, dpos, (size_t)T * 4);
	mem_free(pos);
}

static void test_swiglu(void)
{
	int T = PICK(1, 33, 400), W = 8 * PICK(1, 11, 176, 288);
	size_t n = (size_t)T * (size_t)W;
	struct pair *gu = values(2 * n, DT_BF16, -6, 6), *h = poisoned(n, DT_BF16), *dh = acts(n), *dgu = poisoned(2 * n, DT_BF16);

	co->swiglu(cpu, &(struct swiglu){ .T = T, .F = W, .h = h->c, .gu = gu->c });
	go->swiglu(gpu, &(struct swiglu){ .T = T, .F = W, .h = h->g, .gu = gu->g });
	check("swiglu", h, BF16);
	co->swiglu_grad(cpu, &(struct swiglu){ .T = T, .F = W, .dgu = dgu->c, .dh = dh->c, .gu = gu->c });
	go->swiglu_grad(gpu, &(struct swiglu){ .T = T, .F = W, .dgu = dgu->g, .dh = dh->g, .gu = gu->g });
	check("swiglu_grad", dgu, BF16);
	co->swiglu_grad(cpu, &(struct swiglu){ .T = T, .F = W, .dgu = gu->c, .dh = dh->c, .gu = gu->c });
	go->swiglu_grad(gpu, &(struct swiglu){ .T = T, .F = W, .dgu = gu->g, .dh = dh->g, .gu = gu->g });
	check("swiglu_grad in place", gu, BF16);
}

/* Adapters that swiglu adds itself: the CPU has them added before, by the same calls. */
static void test_swiglu_lora(void)
{
	int T = PICK(1, 16, 70, 130), W = 32 * PICK(1, 5, 9), C = 64, r = PICK(16, 32);
	size_t n = (size_t)T * (size_t)W, sr = (size_t)r;
	struct pair *x = acts((size_t)T * (size_t)C), *gu = values(2 * n, DT_BF16, -3, 3), *h = poisoned(n, DT_BF16), *dh = acts(n);
	struct pair *u = poisoned((size_t)T * 2 * sr, DT_BF16);
	struct pair *dx = acts((size_t)T * (size_t)C), *du = poisoned((size_t)T * sr, DT_BF16), *ud = acts((size_t)T * sr), *hx = acts(n);
	struct weights a[2] = { weights(DT_BF16, r, C), weights(DT_BF16, r, C) }, b[2] = { weights(DT_BF16, W, r), weights(DT_BF16, W, r) };
	struct weights da = weights(DT_BF16, r, W), db = weights(DT_BF16, C, r);
	struct pair *ga = floats(sr * (size_t)W), *gb = floats((size_t)C * sr);

	for (int d = 0; d < 2; d++) {
		const struct ops *o = d ? go : co;
		struct dev *dev = d ? gpu : cpu;
		struct lora_pass l = { .M = T, .parts = 2, .x = d ? x->g : x->c, .ldx = (size_t)C, .ldy = 2 * (size_t)W, .ldu = 2 * sr, .scale = 0.3f,
				       .u = d ? u->g : u->c, .later = 1 };
		struct lora_pass down = { .M = T, .parts = 1, .x = d ? hx->g : hx->c, .ldx = (size_t)W, .ldy = (size_t)C, .ldu = sr, .scale = 0.3f,
					  .u = d ? ud->g : ud->c, .du = d ? du->g : du->c, .dx = d ? dh->g : dh->c, .add = 1, .later = 1 };
		struct swiglu s = { .T = T, .F = W, .gu = d ? gu->g : gu->c, .h = d ? h->g : h->c, .dh = d ? dh->g : dh->c, .lora = &l, .down = &down };

		for (int i = 0; i < 2; i++)
			l.part[i] = (struct lora_part){ .a = d ? &a[i].g : &a[i].c, .b = d ? &b[i].g : &b[i].c, .at = (size_t)i * sr,
							.y = d ? act_at(gpu, gu->g, (size_t)(i * W)) : (void *)(gu->c + i * W) };
		down.part[0] = (struct lora_part){ .a = d ? &da.g : &da.c, .b = d ? &db.g : &db.c, .y = d ? dx->g : dx->c,
						   .da = d ? ga->g : ga->c, .db = d ? gb->g : gb->c };
		o->lora(dev, &l);
		o->swiglu(dev, &s);
		o->lora_grad(dev, &down);
		s.dgu = d ? gu->g : gu->c;
		o->swiglu_grad(dev, &s);
	}
	check("swiglu with adapters", h, TWICE);
	check("swiglu_grad with adapters", gu, 6e-3);
	for (int i = 0; i < 2; i++)
		release(&a[i]), release(&b[i]);
	release(&da), release(&db);
}

static void test_embed(void)
{
	int T = PICK(1, 50, 700), C = 8 * PICK(1, 16, 112), V = PICK(5, 1000);
	size_t n = (size_t)T * (size_t)C;
	struct pair *table = acts((size_t)V * (size_t)C), *y = poisoned(n, DT_F32), *dt = floats((size_t)V * (size_t)C), *dy = floats(n);
	struct pair *x = acts((size_t)V * (size_t)C), *some = poisoned((size_t)MIN(T, V) * (size_t)C, DT_BF16);
	int32_t *dtok, *tok = ids(T, V, &dtok), *row = mem_array((size_t)V, 4), *drow = dev_alloc(gpu, (size_t)V * 4, NULL);
	int rows = MIN(T, V);

	co->embed(cpu, y->c, table->c, DT_F32, C, tok, T);
	go->embed(gpu, y->g, table->g, DT_BF16, C, dtok, T);
	check("embed", y, 0);
	co->embed_grad(cpu, dt->c, dy->c, C, tok, T);
	go->embed_grad(gpu, dt->g, dy->g, C, tok, T);
	check("embed_grad", dt, F32);
	for (int i = 0; i < V; i++)
		row[i] = V - 1 - i;
	dev_put(gpu, drow, row, (size_t)V * 4);
	co->gather(cpu, some->c, x->c, row, rows, C);
	go->gather(gpu, some->g, x->g, drow, rows, C);
	check("gather", some, 0);
	co->scatter(cpu, x->c, some->c, row + V - rows, rows, C);
	go->scatter(gpu, x->g, some->g, drow + V - rows, rows, C);
	check("scatter", x, 0);
	dev_free(gpu, dtok, (size_t)T * 4);
	dev_free(gpu, drow, (size_t)V * 4);
	mem_free(tok), mem_free(row);
}

static void test_dropout(void)
{
	size_t n = 100000;
	struct pair *x = acts(n), *y = poisoned(n, DT_BF16), *dx = acts(n);
	struct dropout o = { .seed = 5, .place = 3, .p = 0.25f };

	co->dropout(cpu, y->c, x->c, n, &o);
	go->dropout(gpu, y->g, x->g, n, &o);
	check("dropout", y, BF16);
	co->dropout_grad(cpu, dx->c, y->c, n, &o);
	go->dropout_grad(gpu, dx->g, y->g, n, &o);
	check("dropout_grad", dx, BF16);
}

/* --- attention -------------------------------------------------------------------------------------------- */

static void test_attention(void)
{
	int H = PICK(2, 4, 8), HKV = PICK(1, 2), D = PICK(32, 64, 128), S = PICK(1, 3, 5), T = 0;
	int32_t start[8] = { 0 }, *dstart = dev_alloc(gpu, sizeof start, NULL);
	int longest = 0;
	size_t ld = (size_t)((H + 2 * HKV) * D);
	char what[80];
	struct pair *qkv, *out, *lse, *dout, *dqkv;
	struct attention c, g;

	for (int s = 0; s < S; s++) {
		int n = PICK(1, 7, 64, 129, 200, 300);

		T += n;
		longest = MAX(longest, n);
		start[s + 1] = T;
	}
	dev_put(gpu, dstart, start, sizeof start);
	qkv = acts((size_t)T * ld);
	out = poisoned((size_t)(T * H * D), DT_BF16);
	lse = poisoned((size_t)(T * H), DT_F32);
	dout = acts((size_t)(T * H * D));
	dqkv = poisoned((size_t)T * ld, DT_BF16);
	c = (struct attention){ .H = H, .HKV = HKV, .D = D, .T = T, .sequences = S, .longest = longest, .start = start, .qkv = qkv->c, .out = out->c,
			       .lse = lse->c, .dout = dout->c, .dqkv = dqkv->c };
	g = (struct attention){ .H = H, .HKV = HKV, .D = D, .T = T, .sequences = S, .longest = longest, .start = dstart, .qkv = qkv->g, .out = out->g,
			       .lse = lse->g, .dout = dout->g, .dqkv = dqkv->g };

	co->attention(cpu, &c);
	go->attention(gpu, &g);
	snprintf(what, sizeof what, "attention %d rows of %d, %d/%d x %d", T, S, H, HKV, D);
	check(what, out, TWICE);
	check("attention lse", lse, 1e-3);
	push(out);
	push(lse);
	co->attention_grad(cpu, &c);
	go->attention_grad(gpu, &g);
	check("attention_grad", dqkv, 6e-3);
	dev_free(gpu, dstart, sizeof start);
}

/* A prompt, then single rows, over blocks out of order. */
static void test_cached(void)
{
	enum { N = 205, BLOCKS = 4 };
	static const int32_t block[BLOCKS] = { 3, 0, 2, 1 };
	static const int pieces[] = { 150, 1, 1, 50, 1, 1, 1 };
	int H = PICK(4, 8), HKV = PICK(1, 2, 4), D = PICK(32, 64, 128), at = 0;
	size_t ld = (size_t)((H + 2 * HKV) * D), bc = kv_bytes(cpu, HKV, D, 0, 0), bg = kv_bytes(gpu, HKV, D, 0, 0);
	struct pair *qkv = acts(N * ld), *out = poisoned((size_t)(N * H * D), DT_BF16);
	char *kc = dev_alloc(cpu, BLOCKS * bc, NULL), *kg = dev_alloc(gpu, BLOCKS * bg, NULL), what[80];
	int32_t *arrays = dev_alloc(gpu, 64 * 4, NULL);

	for (size_t i = 0; i < COUNT_OF(pieces); at += pieces[i++]) {
		int32_t host[16] = { 0, pieces[i], at };
		struct attention_cached c = { .H = H, .HKV = HKV, .D = D, .runs = 1, .rows = pieces[i], .longest_rows = pieces[i],
					      .longest = 256, .block_ld = BLOCKS };
		struct attention_cached g = c;

		memcpy(host + 4, block, sizeof block);
		dev_put(gpu, arrays, host, sizeof host);
		c.row = host, c.length = host + 2, c.block = host + 4;
		c.qkv = qkv->c + (size_t)at * ld, c.out = out->c + (size_t)(at * H * D), c.kv = kc, c.stride = bc;
		g.row = arrays, g.length = arrays + 2, g.block = arrays + 4, g.qkv = act_at(gpu, qkv->g, (size_t)at * ld);
		g.out = act_at(gpu, out->g, (size_t)(at * H * D)), g.kv = kg, g.stride = bg;
		co->attention_cached(cpu, &c);
		go->attention_cached(gpu, &g);
	}
	snprintf(what, sizeof what, "attention_cached %d/%d x %d", H, HKV, D);
	check(what, out, TWICE);
	dev_free(cpu, kc, BLOCKS * bc);
	dev_free(gpu, kg, BLOCKS * bg);
	dev_free(gpu, arrays, 64 * 4);
}

/* --- loss and optimiser -------------------------------------------------------------------------------------- */

/* In fp64: the CPU's own sums of 152,064 powers in fp32 are off by as much as F32, the GPU's shorter ones are not. */
static void entropy_of(const float *x, int V, float *out)
{
	double top = -INFINITY, sum = 0, weighted = 0;

	for (int i = 0; i < V; i++)
		top = fmax(top, (double)x[i]);
	for (int i = 0; i < V; i++) {
		double p = exp((double)x[i] - top);

		sum += p, weighted += p * (double)x[i];
	}
	*out = (float)(top + log(sum) - weighted / sum);
}

static void test_xent(void)
{
	int rows = PICK(1, 20, 77), V = 8 * PICK(10, 1024, 2048, 19008);
	size_t n = (size_t)rows * (size_t)V;
	struct pair *l = values(n, DT_F32, -8, 8), *coef = floats((size_t)rows), *logp = poisoned((size_t)rows, DT_F32), *ent = poisoned((size_t)rows, DT_F32);
	int32_t *dt, *t = ids(rows, V, &dt);
	struct xent c = { .rows = rows, .V = V, .logits = l->c, .target = t, .coef = coef->c, .logp = logp->c, .entropy = ent->c };
	struct xent g = { .rows = rows, .V = V, .logits = l->g, .target = dt, .coef = coef->g, .logp = logp->g, .entropy = ent->g };
	struct pair *d = poisoned(n, DT_BF16);
	void *half = mem_array(n, 2);
	float entropy[77];
	char what[80];

	for (int i = 0; i < rows; i++)
		entropy_of(l->c + (size_t)i * (size_t)V, V, &entropy[i]);
	co->xent(cpu, &c);
	go->xent(gpu, &g);
	memcpy(ent->c, entropy, (size_t)rows * sizeof *entropy);
	snprintf(what, sizeof what, "xent logp [%d, %d]", rows, V);
	check(what, logp, F32);
	check("xent entropy", ent, F32);
	for (int i = 0; i < rows; i++)      /* the gradient's rows stand where the logits' were */
		dev_copy(gpu, act_at(gpu, d->g, (size_t)i * (size_t)V), act_at(gpu, l->g, (size_t)i * act_in_logits(gpu, (size_t)V)), (size_t)V * 2);
	/* rounded on both sides: one element may be most of a row, and then its rounding alone would be most of the error */
	dtype_convert(DT_BF16, half, DT_F32, l->c, n);
	dtype_convert(DT_F32, d->c, DT_BF16, half, n);
	check("xent gradient", d, BF16);
	mem_free(half);
	dev_free(gpu, dt, (size_t)rows * 4);
	mem_free(t);
}

static void test_optim(void)
{
	size_t n = 4 * (size_t)PICK(16, 1000, 250000);
	struct pair *w = floats(n), *m = floats(n), *v = values(n, DT_F32, 0, 1), *g = floats(n), *y = floats(n);
	struct adamw o = { .lr = 1e-2f, .beta1 = 0.9f, .beta2 = 0.95f, .eps = 1e-8f, .decay = 0.1f, .correct1 = 0.1f, .correct2 = 0.05f, .scale = 0.7f };
	double a, b;

	co->sumsq(cpu, &a, w->c, n);
	go->sumsq(gpu, &b, w->g, n);
	report("sumsq", fabs(a - b) / a, 1e-12);
	co->add(cpu, y->c, w->c, n);
	go->add(gpu, y->g, w->g, n);
	check("add", y, 0);
	co->adamw(cpu, w->c, m->c, v->c, g->c, n, &o);
	go->adamw(gpu, w->g, m->g, v->g, g->g, n, &o);
	check("adamw w", w, 1e-6);
	check("adamw m", m, 1e-6);
	check("adamw v", v, 1e-6);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 6;
	struct ops_sizes sizes = { .rows = 1100, .widest = 8192, .longest = 512, .tokens = 2048, .positions = 512, .ranks = 64,
				   .H = 14, .HKV = 7, .D = 128, .V = 152064 };
	struct err e = ERR_INIT;

	rng_init(&rng, 11, "test_ops_cuda");
	if (!(cpu = dev_open("cpu", 0, &e)) || ops_reserve(cpu, &(struct ops_sizes){ .widest = 8192, .longest = 512, .D = 128 }, &e))
		return 1;
	if (!(gpu = dev_open("cuda", 1, &e))) {
		printf("skipped: %s\n", e.text);
		return 77;
	}
	co = ops_of(cpu), go = ops_of(gpu);
	if (ops_reserve(gpu, &sizes, &e)) {
		printf("%s\n", e.text);
		return 1;
	}
	for (int i = 0; i < rounds; i++) {
		void (*const tests[])(void) = { test_lora, test_norm, test_swiglu, test_swiglu_lora, test_embed, test_dropout, test_attention,
						test_cached, test_xent, test_optim };

		test_linear(DT_BF16);
		if (gpu->info.major >= 9)
			test_linear(DT_F8E4M3);
		test_linear(DT_I8);
		test_rope(0);
		test_rope(1);
		for (size_t t = 0; t < COUNT_OF(tests); t++) {
			tests[t]();
			release_pairs();
		}
		release_pairs();
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed ? 1 : 0;
}
