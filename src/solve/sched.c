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
	}
	s.xb = (int)MIN(next_pow2(x), w->draw ? 128 << rng_below(&r, 3) : x >= FLAT_LARGE ? 1024 : 256);
	return s;
}
