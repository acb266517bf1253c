/* Direct convolutions in float: the buffer layout and the walk around the inner loop of
 * direct.simd.c (see direct.h for the idea). Geometry and checks are conv.c's; this file
 * decides whether the direct path pays and runs it.
 *
 * Example, forward with stride 2 in one dimension: the padded input 0 1 2 3 4 5 is stored as
 * two phases, 0 2 4 and 1 3 5. Tap 0 of output q reads element q of phase 0, tap 1 element q
 * of phase 1, tap 2 element q + 1 of phase 0. Each tap is thus one constant offset for all q. */
#include "num/direct.h"

#include <string.h>

#include "base/mem.h"

enum { SLACK = 64 };    /* floats readable behind the buffer: vectors may read past its end */

/* One list of terms (channel, tap): all taps of a forward convolution, or the taps of one
 * output phase of a transposed one. A position is a flat index into [size] of the layout. */
struct direct_pass {
	const int32_t *offset;          /* [terms] offset of each term in the buffer, in floats */
	/* [blocks][terms][block] weights, zero where a block has no channel left */
	const float *w;
	int64_t terms;
	int64_t first[3], step[3];      /* output index = first + step * position, per dimension */
	int64_t count[3];               /* positions per dimension that can give an output */
};

/* How the input of one image and group lies in the buffer. */
struct layout {
	const struct direct_kernel *k;
	const struct conv_geom *g;
	int transposed;                 /* the convolution is transposed */
	int64_t phases[3], size[3];     /* a channel is [phases] planes of [size] */
	int64_t pad[3];                 /* zeros in front of the input, per dimension */
	int64_t plane, channel;         /* floats of a plane and of a channel */
	int64_t blocks;                 /* blocks of output channels in a group */
};

/* a / b rounded up, for b > 0. */
static int64_t div_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/* Forward: the padded input, split by stride phases; a plane has the output's size plus the
 * reach of the taps. Transposed: the input with `shift` zeros in front (the longest backward
 * step of a tap) and zeros behind its end. */
static void make_layout(struct layout *l, const struct conv_geom *g, int transposed)
{
	*l = (struct layout){ .k = SIMD_PICK(num_direct_kernel)(g->Og < 3), .g = g,
			      .transposed = transposed };
	l->plane = l->channel = 1;
	for (int i = 0; i < 3; i++) {
		int64_t reach = g->dil[i] * (g->k[i] - 1);

		if (transposed) {
			int64_t shift = reach / g->stride[i];

			l->phases[i] = 1;
			l->pad[i] = shift;
			l->size[i] = MAX(g->in[i], div_up(g->out[i] + g->lo[i],
							  g->stride[i])) + shift;
		} else {
			l->phases[i] = g->stride[i];
			l->pad[i] = g->lo[i];
			l->size[i] = g->out[i] + reach / g->stride[i];
		}
		l->plane *= l->size[i];
		l->channel *= l->phases[i];
	}
	l->channel *= l->plane;
	l->blocks = div_up(g->Og, l->k->block);
}

/* Phase and position of input index i of dimension d. Returns 0 if no output reads that
 * index. */
static int position_of(const struct layout *l, int d, int64_t i, int64_t *phase, int64_t *at)
{
	int64_t u = i + l->pad[d];

	*phase = l->phases[d] == 1 ? 0 : u % l->phases[d];
	*at = l->phases[d] == 1 ? u : u / l->phases[d];
	return *at < l->size[d];
}

/* Copies one input row to its phases along the last dimension. The zeros around it are in the
 * buffer already. */
static void spread_row(const struct layout *l, float *base, const float *row)
{
	int64_t s = l->phases[2], n = l->g->in[2];

	if (s == 1) {
		memcpy(base + l->pad[2], row, (size_t)MIN(n,
							  l->size[2] - l->pad[2]) * sizeof *base);
		return;
	}
	for (int64_t p = 0; p < s; p++) {
		int64_t i = ((p - l->pad[2]) % s + s) % s;           /* the first index of this phase */
		float *to = base + p * l->plane;

		for (int64_t at = (i + l->pad[2]) / s; i < n && at < l->size[2]; i += s, at++)
			to[at] = row[i];
	}
}

/* Buffer [Cg, phases, size] from x [Cg, in] of one image and group. */
static void fill_buffer(const struct layout *l, float *buf, const float *x)
{
	const struct conv_geom *g = l->g;

	memset(buf, 0, (size_t)(g->Cg * l->channel + SLACK) * sizeof *buf);
	for (int64_t c = 0; c < g->Cg; c++)
		for (int64_t d = 0; d < g->in[0]; d++)
			for (int64_t h = 0; h < g->in[1]; h++) {
				int64_t pd, ph, ad, ah;

				if (!position_of(l, 0, d, &pd, &ad) ||
				    !position_of(l, 1, h, &ph, &ah))
					continue;
				spread_row(l, buf + c * l->channel + (pd * l->phases[1] + ph) *
					   l->phases[2] * l->plane +
						   (ad * l->size[1] + ah) * l->size[2],
					   x + c * g->P + (d * g->in[1] + h) * g->in[2]);
			}
}

/* --- terms ------------------------------------------------------------------------------------- */

/* The offset of tap t within a channel. Transposed: an output phase r uses only the taps with
 * t * dilation congruent to r modulo the stride; returns 0 for the others. */
static int tap_shift(const struct layout *l, const int64_t *t, const int64_t *r, int64_t *offset)
{
	const struct conv_geom *g = l->g;
	int64_t phase = 0, at[3];

	for (int i = 0; i < 3; i++) {
		int64_t u = t[i] * g->dil[i];

		if (l->transposed) {
			if (u % g->stride[i] != r[i])
				return 0;
			at[i] = l->pad[i] - u / g->stride[i];
		} else {
			phase = phase * l->phases[i] + u % g->stride[i];
			at[i] = u / g->stride[i];
		}
	}
	*offset = phase * l->plane + (at[0] * l->size[1] + at[1]) * l->size[2] + at[2];
	return 1;
}

/* The passes of one group with their terms and weights, packed one after the other. A thread
 * reuses it for all images of the group. */
struct group_terms {
	struct direct_pass *pass;
	int64_t n;              /* passes: one forward, one per output phase if transposed */
	int32_t *offset;        /* [Cg * taps] of all passes */
	float *w;               /* [Cg * taps][blocks * block] of all passes */
	int64_t group;          /* the group whose terms these are, -1 before the first */
};

/* The terms of output phase r: offset[] in the buffer, and weight[] as the index of the
 * weight of output channel 0 of the group. Returns their number. */
static int64_t add_offsets(const struct layout *l, int32_t *offset, int64_t *weight,
			   const int64_t *r)
{
	const struct conv_geom *g = l->g;
	int64_t n = 0, per_channel = l->transposed ? g->Og * g->taps : g->taps;

	for (int64_t k = 0; k < g->taps; k++) {
		int64_t t[3] = { k / (g->k[1] * g->k[2]), k / g->k[2] % g->k[1], k % g->k[2] }, off;

		if (!tap_shift(l, t, r, &off))
			continue;
		for (int64_t c = 0; c < g->Cg; c++) {
			offset[n] = (int32_t)(c * l->channel + off);
			weight[n++] = c * per_channel + k;
		}
	}
	return n;
}

/* Fills pass p: its offsets, and the weights reordered to [blocks][terms][block], so that the
 * inner loop reads both in order. */
static void add_terms(const struct layout *l, struct direct_pass *p, int32_t *offset, float *w,
		      int64_t *weight, const float *weights, const int64_t *r)
{
	const struct conv_geom *g = l->g;
	int64_t block = l->k->block, step = l->transposed ? g->taps : g->Cg * g->taps;

	p->offset = offset;
	p->w = w;
	p->terms = add_offsets(l, offset, weight, r);
	for (int64_t b = 0; b < l->blocks; b++, w += p->terms * block)
		for (int64_t o = 0; o < block; o++) {
			const float *from = weights + (b * block + o) * step;

			if (b * block + o < g->Og)
				for (int64_t t = 0; t < p->terms; t++)
					w[t * block + o] = from[weight[t]];
			else
				for (int64_t t = 0; t < p->terms; t++)
					w[t * block + o] = 0;
		}
}

/* The range of positions that give outputs. Forward: all of [out]. Transposed, phase r: those
 * with 0 <= position * stride + r - lo < out. */
static void set_range(const struct layout *l, struct direct_pass *p, const int64_t *r)
{
	const struct conv_geom *g = l->g;

	for (int i = 0; i < 3; i++) {
		p->step[i] = l->transposed ? g->stride[i] : 1;
		p->first[i] = l->transposed ? r[i] - g->lo[i] : 0;
		p->count[i] = l->transposed ? MAX(0, div_up(g->out[i] - p->first[i], p->step[i])) : g->out[i];
	}
}

/* --- the walk -------------------------------------------------------------------------------------- */

enum { CHUNK_MOST = 48, QUEUE = 8 };    /* most positions of a kernel call; chunks that wait */

/* Flat positions [q, q + n) and the pieces of them that are outputs. Positions between two
 * rows of the plane belong to no output and are computed for nothing. */
struct chunk {
	int64_t q;
	int n, pieces;
	/* y: flat output index; from, len: positions of the chunk */
	struct { int64_t y; int from, len; } piece[CHUNK_MOST];
};

/* The walk over one pass. Up to QUEUE chunks wait, so that the weights of a block are read
 * once for all of them while they are in the cache. */
struct walk {
	const struct layout *l;
	const struct direct_pass *p;
	float *y;               /* [Og, Q] of the image and group */
	const float *buf;
	int queued;    /* chunks share the weights of a block while they are in the cache */
	struct chunk queue[QUEUE];
};

/* Appends positions [from, from + len) as outputs y, y + 1, ...; extends the last piece if
 * both sides continue it. */
static void add_piece(struct chunk *c, int64_t y, int64_t from, int64_t len)
{
	int k = c->pieces;

	if (k && c->piece[k - 1].y + c->piece[k - 1].len == y &&
	    c->piece[k - 1].from + c->piece[k - 1].len == from) {
		c->piece[k - 1].len += (int)len;
		return;
	}
	c->piece[k].y = y;
	c->piece[k].from = (int)from;
	c->piece[k].len = (int)len;
	c->pieces++;
}

/* Splits positions [q, q + n) at row ends and keeps what lies inside the output. For step > 1
 * (transposed) the index y advances by `step` per position; store() knows. */
static void cut_chunk(const struct layout *l, const struct direct_pass *p, struct chunk *c,
		      int64_t q, int64_t n)
{
	const struct conv_geom *g = l->g;
	int64_t k = q % l->size[2], h = q / l->size[2] % l->size[1], d = q / l->size[2] / l->size[1];

	c->q = q;
	c->n = (int)n;
	c->pieces = 0;
	for (int64_t at = 0; at < n; k = 0) {
		int64_t m = MIN(n - at, l->size[2] - k), od = p->first[0] + d * p->step[0],
			oh = p->first[1] + h * p->step[1];
		int64_t lo = MAX(0, p->first[2] < 0 ? div_up(-p->first[2], p->step[2]) - k : 0),
			hi = MIN(m, p->count[2] - k);

		if (od >= 0 && od < g->out[0] && oh >= 0 && oh < g->out[1] && lo < hi)
			add_piece(c, (od * g->out[1] + oh) * g->out[2] + p->first[2] + (k + lo) * p->step[2],
				  at + lo, hi - lo);
		at += m;
		if (++h == l->size[1]) {
			h = 0;
			d++;
		}
	}
}

/* Adds the sums of a chunk to one output channel. */
static void store(const struct chunk *c, float *y, const float *sum, int64_t step)
{
	for (int k = 0; k < c->pieces; k++) {
		float *to = y + c->piece[k].y;
		const float *from = sum + c->piece[k].from;

		if (step == 1)
			for (int i = 0; i < c->piece[k].len; i++)
				to[i] += from[i];
		else
			for (int i = 0; i < c->piece[k].len; i++)
				to[i * step] += from[i];
	}
}

/* Runs the queued chunks for every block of output channels. */
static void flush(struct walk *w)
{
	const struct layout *l = w->l;
	const struct direct_pass *p = w->p;
	int block = l->k->block;
	float sum[8 * CHUNK_MOST];

	for (int64_t b = 0; b < l->blocks; b++)
		for (int i = 0; i < w->queued; i++) {
			const struct chunk *c = &w->queue[i];

			l->k->run(sum, w->buf + c->q, p->offset, p->w + b * p->terms * block,
				  p->terms, c->n);
			for (int64_t o = b * block; o < MIN((b + 1) * block, l->g->Og); o++)
				store(c, w->y + o * l->g->Q, sum + o % block * l->k->chunk,
				      p->step[2]);
		}
	w->queued = 0;
}

/* Queues the positions [q, q + n) in chunks of the kernel's size. */
static void walk_run(struct walk *w, int64_t q, int64_t n)
{
	while (n > 0) {
		int64_t m = MIN(n, (int64_t)w->l->k->chunk);

		cut_chunk(w->l, w->p, &w->queue[w->queued++], q, m);
		if (w->queued == QUEUE)
			flush(w);
		q += m;
		n -= m;
	}
}

/* Positions that are computed for n wanted ones: the next multiple of the vector width. */
static double lanes_of(const struct layout *l, int64_t n)
{
	return (double)(div_up(n, l->k->lanes) * l->k->lanes);
}

/* One past the last flat position that gives an output. */
static int64_t flat_end(const struct layout *l, const struct direct_pass *p)
{
	return ((p->count[0] - 1) * l->size[1] + p->count[1] - 1) * l->size[2] + p->count[2];
}

/* Positions computed when each row is walked on its own. */
static double rows_cost(const struct layout *l, const struct direct_pass *p)
{
	return (double)p->count[0] * (double)p->count[1] * lanes_of(l, p->count[2]);
}

/* Walks all positions flat, or row by row if more lies between the rows than vectors would
 * waste. Example: rows of 14 outputs in planes of 16 are walked flat: 16 a row against 14
 * rounded up to 16 or more. */
static void run_pass(const struct layout *l, const struct direct_pass *p, float *y,
		     const float *buf)
{
	struct walk w;                   /* its queue is large and starts empty */

	w.l = l;
	w.p = p;
	w.y = y;
	w.buf = buf;
	w.queued = 0;
	if (p->terms == 0 || p->count[0] <= 0 || p->count[1] <= 0 || p->count[2] <= 0)
		return;
	if (lanes_of(l, flat_end(l, p)) <= rows_cost(l, p))
		walk_run(&w, 0, flat_end(l, p));
	else
		for (int64_t r = 0; r < p->count[0] * p->count[1]; r++)
			walk_run(&w, (r / p->count[1] * l->size[1] + r % p->count[1]) * l->size[2],
				 p->count[2]);
	flush(&w);
}

/* A job of conv.c with its layout. */
struct direct_job {
	struct conv_job *j;
	struct layout l;
};

/* Builds the passes of group `grp`: one forward, one per output phase (r0, r1, r2) if
 * transposed. `weight` is scratch of Cg * taps. */
static void list_terms(const struct direct_job *d, struct group_terms *gp, int64_t *weight,
		       int64_t grp)
{
	const struct conv_geom *g = d->l.g;
	const float *weights = (float *)tensor_data(&d->j->w) + grp * g->Og * g->Cg * g->taps;
	int64_t at = 0, n[3];

	for (int i = 0; i < 3; i++)
		n[i] = d->l.transposed ? g->stride[i] : 1;
	for (int64_t k = 0; k < gp->n; k++) {
		int64_t r[3] = { k / (n[1] * n[2]), k / n[2] % n[1], k % n[2] };

		add_terms(&d->l, &gp->pass[k], gp->offset + at,
			  gp->w + at * d->l.blocks * d->l.k->block, weight, weights, r);
		set_range(&d->l, &gp->pass[k], r);
		at += gp->pass[k].terms;
	}
	gp->group = grp;
}

/* Work items [begin, end), ordered by group and then image, so that a thread lists the terms
 * of each group once. y already holds the bias. */
static void run_images(const struct direct_job *d, struct group_terms *gp, int64_t *weight,
		       float *buf, int64_t begin, int64_t end)
{
	const struct conv_geom *g = d->l.g;

	for (int64_t i = begin; i < end; i++) {
		int64_t grp = i / g->N, image = i % g->N;
		float *y = (float *)tensor_data(&d->j->y) + (image * g->O + grp * g->Og) * g->Q;

		if (gp->group != grp)
			list_terms(d, gp, weight, grp);
		fill_buffer(&d->l, buf, (float *)tensor_data(&d->j->x) + (image * g->C + grp * g->Cg) * g->P);
		for (int64_t k = 0; k < gp->n; k++)
			run_pass(&d->l, &gp->pass[k], y, buf);
	}
}

/* Thread body: allocates the buffers of a thread and runs its items. A failed allocation sets
 * j->failed. */
static void direct_range(void *ctx, size_t begin, size_t end)
{
	const struct direct_job *d = ctx;
	const struct conv_geom *g = d->l.g;
	size_t terms = (size_t)(g->Cg * g->taps);
	struct group_terms gp = { .n = d->l.transposed ? g->stride[0] * g->stride[1] * g->stride[2] : 1, .group = -1 };
	int64_t *weight = mem_array(terms, sizeof *weight);
	float *buf = mem_alloc_aligned((size_t)(g->Cg * d->l.channel + SLACK) * sizeof *buf, 64);

	gp.pass = mem_array((size_t)gp.n, sizeof *gp.pass);
	gp.offset = mem_array(terms, sizeof *gp.offset);
	gp.w = mem_alloc_aligned(terms * (size_t)(d->l.blocks * d->l.k->block) * sizeof *gp.w, 64);
	if (weight && buf && gp.pass && gp.offset && gp.w)
		run_images(d, &gp, weight, buf, (int64_t)begin, (int64_t)end);
	else
		atomic_store(&d->j->failed, 1);
	mem_free(weight);
	mem_free(gp.pass);
	mem_free(gp.offset);
	if (gp.w)
		mem_free_aligned(gp.w);
	if (buf)
		mem_free_aligned(buf);
}

/* Multiply-adds of one image and group on the direct path, including those on zeros, between
 * rows and for unused channels of a block. */
static double direct_cost(const struct layout *l)
{
	const struct conv_geom *g = l->g;
	double work = 0;
	int64_t n[3];

	for (int i = 0; i < 3; i++)
		n[i] = l->transposed ? g->stride[i] : 1;
	for (int64_t k = 0; k < n[0] * n[1] * n[2]; k++) {
		int64_t r[3] = { k / (n[1] * n[2]), k / n[2] % n[1], k % n[2] };
		struct direct_pass p = { .terms = 1 };

		set_range(l, &p, r);
		for (int i = 0; i < 3 && l->transposed; i++)          /* taps of this phase */
			p.terms *= (g->k[i] + g->stride[i] - 1 - r[i]) / g->stride[i];
		if (!l->transposed)
			p.terms = g->taps;
		if (p.count[0] > 0 && p.count[1] > 0 && p.count[2] > 0)
			work += (double)p.terms * MIN(lanes_of(l, flat_end(l, &p)),
						      rows_cost(l, &p));
	}
	return work * (double)(g->Cg * l->blocks * l->k->block);
}

/* The same for a product with patches: its multiply-adds, and 8 units per element that is
 * moved into or out of the patch matrix. */
static double patch_cost(const struct conv_geom *g, int transposed)
{
	double n = (double)(transposed ? g->P : g->Q) * (double)g->taps;

	return n * (double)g->Cg * (double)g->Og + 8 * n * (double)(transposed ? g->Og : g->Cg);
}

/* Conditions: float, a buffer that 32-bit offsets reach, strides of at most FAR (each is a
 * phase), and at most twice the multiply-adds of the patch path: the direct loop is that much
 * faster per step. */
int num_direct_fits(const struct conv_job *j, int transposed)
{
	enum { FAR = 1024 };
	struct layout l;

	if (j->carrier != DT_F32 || j->g.Cg < 1 || j->g.Og < 1)
		return 0;
	for (int i = 0; i < 3; i++)
		if (j->g.stride[i] > FAR)
			return 0;
	make_layout(&l, &j->g, transposed);
	/* A huge padding or dilation makes a buffer of mostly zeros: more than 16 times input
	 * plus output. */
	if (l.channel > 65536 && l.channel / 16 > j->g.P + j->g.Q)
		return 0;
	return (double)j->g.Cg * (double)l.channel < 1e9 && direct_cost(&l) < 2 * patch_cost(&j->g, transposed);
}

/* One work item per image and group. Items write disjoint outputs. */
void num_direct_run(struct num_ctx *c, struct conv_job *j, int transposed)
{
	struct direct_job d = { .j = j };

	make_layout(&d.l, &j->g, transposed);
	pool_for(c->pool, (size_t)(j->g.N * j->g.groups), 1, direct_range, &d);
}
