/* The choice of schedules: which way of printing suits the sizes of a kernel. */
#include "base/rng.h"
#include "solve/emit_impl.h"

/* Reductions of fewer elements are loops of the flat schedule. */
enum { ROWS_LEAST = 64, ROWS_TILE = 1024, DOT_K_LEAST = 16, FLAT_LARGE = 1 << 18 };

static int64_t next_pow2(int64_t n)
{
	int64_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

static int block(int64_t n, int least, int most)
{
	return (int)MAX(least, MIN(next_pow2(n), most));
}

/* PyTorch computes convolutions in tf32 by default, and matrix products in fp32. */
static const char *precision(const struct cut *p, const struct kernel *k, const struct sched_wish *w)
{
	int conv = 1;

	for (int i = 0; i < k->n_passes && k->pass[i].is_reduce; i++)
		conv &= strstr(graph_value(p->g, k->pass[i].value)->op, "conv") != NULL;
	if (w->tf32 || (!w->ieee && conv))
		return "tf32";
	return w->ieee ? "ieee" : "tf32x3";
}

/* Whether the rows schedule suits the passes of a kernel; *most is the length of the longest. A long map counts
 * too: a gate of 4 terms that scales 4096 pixels is one row of 4096, not a loop over them. */
static int want_rows(const struct cut *p, const struct kernel *k, int64_t *most)
{
	*most = 0;
	if (k->pass[0].is_scan) {
		*most = k->pass[0].r[0];
		return 1;
	}
	for (int i = 0; i < k->n_passes; i++) {
		const struct pass *s = &k->pass[i];
		enum combine how = graph_value(p->g, s->value)->how;
		int64_t n = 1;

		for (int r = 0; r < s->n_r; r++)
			n *= s->r[r];
		if (s->is_reduce && (!s->n_r || how == COMBINE_PROD || how >= COMBINE_ARGMAX))
			return 0;
		*most = MAX(*most, n);
	}
	return *most >= ROWS_LEAST;
}

/* The distance in memory of two elements whose variable differs by one; 0: it has no influence, or not that of a
 * stride. */
static int64_t stride_of(const struct ix *at, int var)
{
	int64_t c = 0;

	for (int i = 0; i < at->n; i++)
		if (at->t[i].kind == IX_VAR && at->t[i].var == var)
			c += at->t[i].c;
		else if (at->t[i].kind == IX_WITHIN)
			c += at->t[i].c * stride_of(at->t[i].of, var);
	return c;
}

/* How the largest tensor that a reduction loads lies in memory. */
struct lie {
	const struct cut *p;
	const struct kernel *k;
	const struct pass *s;
	int64_t numel;
	int along_x, along_r;                 /* neighbours of X, or of R, are neighbours */
};

static int note_lie(void *ctx, const struct sx *load)
{
	struct lie *l = ctx;
	const struct value *v = graph_value(l->p->g, load->value);

	if (v->numel < l->numel)
		return 0;
	l->numel = v->numel;
	l->along_x = l->k->n_x && stride_of(load->at, l->k->n_x - 1) == 1;
	l->along_r = 0;
	for (int i = 0; i < l->s->n_r; i++)
		l->along_r |= stride_of(load->at, l->k->n_x + i) == 1;
	return 0;
}

/* Rows of one instance. If the elements of a row are far from each other, as in a mean over channels, neighbouring
 * rows share cache lines. One instance takes several short rows if there are many. */
static void choose_rows(const struct cut *p, const struct kernel *k, int64_t x, struct sched *s)
{
	enum { TILE = 2048, ABREAST = 32, INSTANCES = 1024, SHORT = 256 };
	struct lie l = { .p = p, .k = k };

	s->xb = 1;
	for (int i = 0; i < k->n_passes; i++)
		if (k->pass[i].is_reduce || k->pass[i].is_scan) {
			l.s = &k->pass[i];
			sx_loads(k->pass[i].body, note_lie, &l);
		}
	if (l.along_x && !l.along_r && x >= ABREAST) {
		s->xb = ABREAST;
		s->rb = MIN(s->rb, TILE / ABREAST);
	} else if (s->rb <= SHORT) {
		while (s->xb * s->rb < TILE && x / (2 * s->xb) >= INSTANCES)
			s->xb *= 2;
	}
}

/* Tiles of 64 x 64. If there are many, larger ones load less; if there are few, each has a long loop over K, which
 * deeper tiles make shorter. Up to 128 columns fit one tile, so that rows are loaded once. */
static void choose_tiles(struct sched *s, const struct dot_axes *d)
{
	enum { TILE = 64, FEW = 132, MANY = 1024, DEEP = 256 };
	int64_t tiles = (d->m + TILE - 1) / TILE * ((d->n + TILE - 1) / TILE) * d->batch;
	int large = tiles >= MANY;

	s->bm = block(d->m, 16, large ? 2 * TILE : TILE);
	s->bn = block(d->n, 16, large ? 2 * TILE : TILE);
	s->bk = block(d->k, 16, !large && d->k >= DEEP ? 64 : 32);
	if (!large && tiles >= FEW && d->n > TILE && d->n <= 2 * TILE) {
		s->bm = block(d->m, 16, TILE / 2);
		s->bn = 2 * TILE;
	}
}

/* Several products have a tile of results each, in registers, and one of each factor, in shared memory. */
static void fit_products(struct sched *s, const struct dot_axes *d)
{
	enum { ROWS = 64, COLUMNS = 64, DEPTH = 32 };

	if (d->products == 1)
		return;
	s->bm = MIN(s->bm, ROWS);
	s->bn = MIN(s->bn, COLUMNS);
	s->bk = MIN(s->bk, DEPTH);
}

struct sched sched_choose(const struct cut *p, const struct kernel *k, const struct sched_wish *w)
{
	struct sched s = { .kind = SCHED_FLAT, .precision = precision(p, k, w), .general = w->general };
	struct dot_axes d;
	int64_t x = 1, longest;
	struct rng r;

	rng_init(&r, w->draw, "schedules");
	for (int i = 0; i < k->n_x; i++)
		x *= k->x[i];
	if (dot_split(k, &d) && d.k >= DOT_K_LEAST && d.m * d.n * d.k * d.batch >= GRAPH_DOT_LEAST) {
		s.kind = SCHED_DOT;
		choose_tiles(&s, &d);
		if (w->draw) {
			s.bm = block(d.m, 16, 32 << rng_below(&r, 3));
			s.bn = block(d.n, 16, 32 << rng_below(&r, 2));
			s.bk = block(d.k, 16, 16 << rng_below(&r, 2));
		}
		fit_products(&s, &d);
		return s;
	}
	if (want_rows(p, k, &longest)) {
		s.kind = SCHED_ROWS;
		s.rb = (int)MIN(next_pow2(longest), w->draw ? 512 << rng_below(&r, 3) : ROWS_TILE);
		choose_rows(p, k, x, &s);
		return s;
	}
	s.xb = (int)MIN(next_pow2(x), w->draw ? 128 << rng_below(&r, 3) : x >= FLAT_LARGE ? 1024 : 256);
	return s;
}
