/* Direct convolutions in float: the layout and the walk around the inner loop of
 * direct.simd.c. See direct.h. */
#include "host/num/direct.h"

#include <string.h>

#include "base/mem.h"

enum { SLACK = 64 };                    /* floats readable behind the buffer */

/* One list of terms: all taps of a forward convolution, or the taps of one output phase of a
 * transposed one. Positions are flat in [size] of the layout. */
struct pass {
	const int32_t *offset;           /* [terms] */
	const float *w;                  /* [blocks][terms][block] */
	int64_t terms;
	int64_t first[3], step[3];       /* output = first + step * position, per dimension */
	int64_t count[3];                /* positions that give an output */
};

struct layout {
	const struct direct_kernel *k;
	const struct conv_geom *g;
	int transposed;
	int64_t phases[3], size[3];      /* per channel: [phases] planes of [size] */
	int64_t pad[3];                  /* leading zeros in front of the input */
	int64_t plane, channel;          /* floats */
	int64_t blocks;                  /* of output channels in a group */
};

static int64_t div_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/* Forward: the padded input split by stride phases. Transposed: the input with leading zeros
 * for the longest shift, and trailing ones for positions behind its end. */
static void make_layout(struct layout *l, const struct conv_geom *g, int transposed)
{
	*l = (struct layout){ .k = SIMD_PICK(num_direct_kernel)(g->Og < 3), .g = g, .transposed = transposed };
	l->plane = l->channel = 1;
	for (int i = 0; i < 3; i++) {
		int64_t reach = g->dil[i] * (g->k[i] - 1);

		if (transposed) {
			int64_t shift = reach / g->stride[i];

			l->phases[i] = 1;
			l->pad[i] = shift;
			l->size[i] = MAX(g->in[i], div_up(g->out[i] + g->lo[i], g->stride[i])) + shift;
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

/* Where input index i of dimension d lies: phase and place; 0 if nothing reads it. */
static int place(const struct layout *l, int d, int64_t i, int64_t *phase, int64_t *at)
{
	int64_t u = i + l->pad[d];

	*phase = u % l->phases[d];
	*at = u / l->phases[d];
	return *at < l->size[d];
}

/* One row of the input into its phases along the last dimension. */
static void spread_row(const struct layout *l, float *base, const float *row)
{
	int64_t s = l->phases[2], n = l->g->in[2];

	for (int64_t p = 0; p < s; p++) {
		int64_t i = ((p - l->pad[2]) % s + s) % s;           /* the first index of this phase */
		float *to = base + p * l->plane;

		for (int64_t at = (i + l->pad[2]) / s; i < n && at < l->size[2]; i += s, at++)
			to[at] = row[i];
	}
}

static void fill_buffer(const struct layout *l, float *buf, const float *x)
{
	const struct conv_geom *g = l->g;

	memset(buf, 0, (size_t)(g->Cg * l->channel + SLACK) * sizeof *buf);
	for (int64_t c = 0; c < g->Cg; c++)
		for (int64_t d = 0; d < g->in[0]; d++)
			for (int64_t h = 0; h < g->in[1]; h++) {
				int64_t pd, ph, ad, ah;

				if (!place(l, 0, d, &pd, &ad) || !place(l, 1, h, &ph, &ah))
					continue;
				spread_row(l, buf + c * l->channel + (pd * l->phases[1] + ph) * l->phases[2] * l->plane +
						   (ad * l->size[1] + ah) * l->size[2],
					   x + c * g->P + (d * g->in[1] + h) * g->in[2]);
			}
}

/* --- terms ------------------------------------------------------------------------------------- */

/* Tap t (per dimension) in output phase r: its shift, or 0 if it does not take part. */
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

/* The weight of output channel o (in its group), input channel c, tap k. */
static float weight_at(const struct layout *l, const float *w, int64_t grp, int64_t o, int64_t c, int64_t k)
{
	const struct conv_geom *g = l->g;

	if (o >= g->Og)
		return 0;
	if (l->transposed)
		return w[((grp * g->Cg + c) * g->Og + o) * g->taps + k];
	return w[((grp * g->Og + o) * g->Cg + c) * g->taps + k];
}

/* The passes of one group: their terms and weights, packed one after the other. */
struct group_plan {
	struct pass *pass;
	int64_t n;                       /* passes: one, or one per output phase */
	int32_t *offset;                 /* [Cg * taps] */
	float *w;                        /* [Cg * taps][blocks * block] */
	int64_t group;                   /* it is for, or -1 */
};

static int64_t add_offsets(const struct layout *l, int32_t *offset, int32_t *tap, const int64_t *r)
{
	const struct conv_geom *g = l->g;
	int64_t n = 0;

	for (int64_t c = 0; c < g->Cg; c++)
		for (int64_t k = 0; k < g->taps; k++) {
			int64_t t[3] = { k / (g->k[1] * g->k[2]), k / g->k[2] % g->k[1], k % g->k[2] }, off;

			if (!tap_shift(l, t, r, &off))
				continue;
			offset[n] = (int32_t)(c * l->channel + off);
			tap[n++] = (int32_t)(c * g->taps + k);
		}
	return n;
}

static void add_terms(const struct layout *l, struct pass *p, int32_t *offset, float *w, int32_t *tap, const float *weights,
		      int64_t grp, const int64_t *r)
{
	int block = l->k->block;

	p->offset = offset;
	p->w = w;
	p->terms = add_offsets(l, offset, tap, r);
	for (int64_t b = 0; b < l->blocks; b++)
		for (int64_t t = 0; t < p->terms; t++)
			for (int o = 0; o < block; o++)
				*w++ = weight_at(l, weights, grp, b * block + o, tap[t] / l->g->taps, tap[t] % l->g->taps);
}

/* Which positions give outputs: all of them forward; in a phase r those with
 * 0 <= position * stride + r - lo < out. */
static void set_range(const struct layout *l, struct pass *p, const int64_t *r)
{
	const struct conv_geom *g = l->g;

	for (int i = 0; i < 3; i++) {
		p->step[i] = l->transposed ? g->stride[i] : 1;
		p->first[i] = l->transposed ? r[i] - g->lo[i] : 0;
		p->count[i] = l->transposed ? MAX(0, div_up(g->out[i] - p->first[i], p->step[i])) : g->out[i];
	}
}

/* --- the walk -------------------------------------------------------------------------------------- */

/* Adds a row of `n` results for flat positions [q, q + n) to the output channel y. */
static void store(const struct layout *l, const struct pass *p, float *y, const float *sum, int64_t q, int64_t n)
{
	const struct conv_geom *g = l->g;

	while (n > 0) {
		int64_t k = q % l->size[2], h = q / l->size[2] % l->size[1], d = q / l->size[2] / l->size[1];
		int64_t m = MIN(n, l->size[2] - k), od = p->first[0] + d * p->step[0], oh = p->first[1] + h * p->step[1];
		int64_t lo = MAX(0, p->first[2] < 0 ? div_up(-p->first[2], p->step[2]) - k : 0), hi = MIN(m, p->count[2] - k);

		if (od >= 0 && od < g->out[0] && oh >= 0 && oh < g->out[1]) {
			float *row = y + (od * g->out[1] + oh) * g->out[2] + p->first[2];

			if (p->step[2] == 1)
				for (int64_t i = lo; i < hi; i++)
					row[k + i] += sum[i];
			else
				for (int64_t i = lo; i < hi; i++)
					row[(k + i) * p->step[2]] += sum[i];
		}
		sum += m;
		q += m;
		n -= m;
	}
}

static void run_pass(const struct layout *l, const struct pass *p, float *y, const float *buf)
{
	const struct conv_geom *g = l->g;
	int block = l->k->block, chunk = l->k->chunk;
	int64_t end = ((p->count[0] - 1) * l->size[1] + p->count[1] - 1) * l->size[2] + p->count[2];
	float sum[8 * 48];

	if (p->terms == 0 || p->count[0] <= 0 || p->count[1] <= 0 || p->count[2] <= 0)
		return;
	for (int64_t b = 0; b < l->blocks; b++)
		for (int64_t q = 0; q < end; q += chunk) {
			int64_t n = MIN(end - q, (int64_t)chunk);

			l->k->run(sum, buf + q, p->offset, p->w + b * p->terms * block, p->terms, n);
			for (int64_t o = b * block; o < MIN((b + 1) * block, g->Og); o++)
				store(l, p, y + o * g->Q, sum + o % block * chunk, q, n);
		}
}

struct direct_job {
	struct conv_job *j;
	struct layout l;
};

static void plan_group(const struct direct_job *d, struct group_plan *gp, int32_t *tap, int64_t grp)
{
	const struct conv_geom *g = d->l.g;
	const float *weights = tensor_data(&d->j->w);
	int64_t at = 0, n[3];

	for (int i = 0; i < 3; i++)
		n[i] = d->l.transposed ? g->stride[i] : 1;
	for (int64_t k = 0; k < gp->n; k++) {
		int64_t r[3] = { k / (n[1] * n[2]), k / n[2] % n[1], k % n[2] };

		add_terms(&d->l, &gp->pass[k], gp->offset + at, gp->w + at * d->l.blocks * d->l.k->block, tap, weights, grp, r);
		set_range(&d->l, &gp->pass[k], r);
		at += gp->pass[k].terms;
	}
	gp->group = grp;
}

/* Images of one group one after the other: its plan is made once. */
static void run_images(const struct direct_job *d, struct group_plan *gp, int32_t *tap, float *buf, int64_t begin, int64_t end)
{
	const struct conv_geom *g = d->l.g;

	for (int64_t i = begin; i < end; i++) {
		int64_t grp = i / g->N, image = i % g->N;
		float *y = (float *)tensor_data(&d->j->y) + (image * g->O + grp * g->Og) * g->Q;

		if (gp->group != grp)
			plan_group(d, gp, tap, grp);
		fill_buffer(&d->l, buf, (float *)tensor_data(&d->j->x) + (image * g->C + grp * g->Cg) * g->P);
		for (int64_t k = 0; k < gp->n; k++)
			run_pass(&d->l, &gp->pass[k], y, buf);
	}
}

static void direct_range(void *ctx, size_t begin, size_t end)
{
	const struct direct_job *d = ctx;
	const struct conv_geom *g = d->l.g;
	size_t terms = (size_t)(g->Cg * g->taps);
	struct group_plan gp = { .n = d->l.transposed ? g->stride[0] * g->stride[1] * g->stride[2] : 1, .group = -1 };
	int32_t *tap = mem_array(terms, sizeof *tap);
	float *buf = mem_alloc_aligned((size_t)(g->Cg * d->l.channel + SLACK) * sizeof *buf, 64);

	gp.pass = mem_array((size_t)gp.n, sizeof *gp.pass);
	gp.offset = mem_array(terms, sizeof *gp.offset);
	gp.w = mem_alloc_aligned(terms * (size_t)(d->l.blocks * d->l.k->block) * sizeof *gp.w, 64);
	if (tap && buf && gp.pass && gp.offset && gp.w)
		run_images(d, &gp, tap, buf, (int64_t)begin, (int64_t)end);
	else
		atomic_store(&d->j->failed, 1);
	mem_free(tap);
	mem_free(gp.pass);
	mem_free(gp.offset);
	if (gp.w)
		mem_free_aligned(gp.w);
	if (buf)
		mem_free_aligned(buf);
}

/* Float, and a buffer that offsets of 32 bits reach. */
int direct_fits(const struct conv_job *j, int transposed)
{
	struct layout l;

	if (j->carrier != DT_F32 || j->g.Cg < 1 || j->g.Og < 1)
		return 0;
	make_layout(&l, &j->g, transposed);
	return (double)j->g.Cg * (double)l.channel < 1e9;
}

void direct_run(struct num_ctx *c, struct conv_job *j, int transposed)
{
	struct direct_job d = { .j = j };

	make_layout(&d.l, &j->g, transposed);
	pool_for(c->pool, (size_t)(j->g.N * j->g.groups), 1, direct_range, &d);
}
