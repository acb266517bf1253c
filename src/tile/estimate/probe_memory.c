/* Memory accesses of an instance, request by request: see probe_memory.h.
 *
 * Triton lays a tile out over threads so that neighbours in memory go to neighbouring threads, and
 * gives each thread up to 16 bytes that lie together. A request is what the 32 threads of a warp
 * ask for with one instruction: 32 fp32 lanes side by side are one line of 128 bytes, 32 lanes that
 * are 4096 bytes apart are 32 lines. Only some requests of a large tile are examined; they
 * represent all. */
#include "tile/estimate/probe_memory.h"

#include "base/mem.h"

/* Bytes of a sector and of a line, entries of the two tables, requests examined per access, and
 * most lanes of a request. */
enum { SECTOR = 32, LINE = 128, SEEN = 1 << 13, RECENT = 1 << 12, REQUESTS_SEEN = 8, REQUEST_MOST = 32 * 16 };

int probe_cache_init(struct probe_cache *c, struct err *e)
{
	*c = (struct probe_cache){ .program = 1 };
	c->seen = mem_zalloc(SEEN * sizeof *c->seen);
	c->recent = mem_zalloc(RECENT * sizeof *c->recent);
	return c->seen && c->recent ? 0 : err_nomem(e);
}

void probe_cache_release(struct probe_cache *c)
{
	mem_free(c->seen);
	mem_free(c->recent);
}

/* Entries carry the instance's number, so nothing needs to be cleared. */
void probe_cache_next(struct probe_cache *c)
{
	c->program++;
}

/* The table entry of a sector: addresses have 48 bits, so the number of a sector has 43. */
static uint64_t entry_of(const struct probe_cache *c, uint64_t sector)
{
	return sector << 16 | (c->program & 0xffff);
}

/* Hash of a sector's number. */
static uint64_t bucket_of(uint64_t sector)
{
	return (sector * 0x9e3779b97f4a7c15u) >> 40;
}

/* Returns 1 if the instance has not touched the sector before. When the table is full around it,
 * the sector counts as new. */
static int is_new(struct probe_cache *c, uint64_t sector)
{
	uint64_t at = bucket_of(sector), want = entry_of(c, sector);

	for (int tries = 0; tries < 16; tries++, at++) {
		uint64_t *e = &c->seen[at & (SEEN - 1)];

		if (*e == want)
			return 0;
		if ((*e & 0xffff) != (c->program & 0xffff)) {
			*e = want;
			return 1;
		}
	}
	return 1;
}

/* Returns 1 if the sector was not touched shortly before: a direct-mapped cache of 4096 sectors. */
static int is_missed(struct probe_cache *c, uint64_t sector)
{
	uint64_t *e = &c->recent[sector & (RECENT - 1)], want = entry_of(c, sector);
	int missed = *e != want;

	*e = want;
	return missed;
}

/* --- the order of lanes ------------------------------------------------------------------------------ */

/* Order in which threads take the lanes of a tile. */
struct order {
	int dim[TILE_DIMS];         /* dimensions, the fastest first */
	int64_t step[TILE_DIMS];    /* lanes from one index to the next, by dimension */
	int vector;                 /* neighbouring lanes that a thread takes at once */
};

/* The dimension with the longest contiguous runs comes first. A thread takes as many lanes at
 * once as lie together, are aligned, and fit 16 bytes. */
static void find_order(const struct mval *ptr, const struct axis_info *axis, int esize, int threads, struct order *o)
{
	int last = ptr->ndim - 1, fast = last;
	int64_t lanes = 1;

	for (int d = last; d >= 0; d--) {
		o->step[d] = lanes;
		lanes *= ptr->shape[d];
		if (axis->contiguous[d] > axis->contiguous[fast])
			fast = d;
	}
	o->dim[0] = fast;
	for (int d = last, n = 1; d >= 0; d--)
		if (d != fast)
			o->dim[n++] = d;
	o->vector = (int)MAX(1, MIN(MIN(lanes / threads, 16 / esize), MIN(axis->contiguous[fast], axis->divisible)));
}

/* The lane that comes i-th in the order. */
static int64_t lane_at(const struct mval *ptr, const struct order *o, int64_t i)
{
	int64_t lane = 0;

	for (int k = 0; k < ptr->ndim; k++) {
		int d = o->dim[k];

		lane += i % ptr->shape[d] * o->step[d];
		i /= ptr->shape[d];
	}
	return lane;
}

/* --- a request ------------------------------------------------------------------------------------------ */

/* Counts of the lanes, sectors and lines that one request touches. */
struct request {
	int lanes, sectors, lines, missed, unique;
	uint64_t first;             /* address of its first active lane */
};

/* Whether x is one of the n values; the latest are the likeliest. */
static int among(const uint64_t *v, int n, uint64_t x)
{
	for (int i = n - 1; i >= 0; i--)
		if (v[i] == x)
			return 1;
	return 0;
}

/* Returns the parameter whose memory contains the address, or -1. */
static int param_of(const struct machine *m, const struct mval *ptr, uint64_t addr)
{
	if (ptr->prov >= 0)
		return ptr->prov;
	for (int i = 0; i < m->code->n_params; i++) {
		uint64_t base = (uint64_t)(uintptr_t)m->allocs[i].base;

		if (m->allocs[i].base && addr >= base && addr < base + m->allocs[i].bytes)
			return i;
	}
	return -1;
}

/* Returns the offset to add to an address so that a kernel has the same sectors in every process.
 * The position of memory in the process must not decide which sectors share a table entry. */
static uint64_t shift_of(const struct machine *m, const struct mval *ptr, uint64_t addr)
{
	int i = param_of(m, ptr, addr), first = 0;

	if (i < 0 || !m->allocs[i].base)
		return 0;
	while (m->allocs[first].base != m->allocs[i].base)
		first++;
	return ((uint64_t)(first + 1) << 40) - (uint64_t)(uintptr_t)m->allocs[i].base;
}

/* Collects the sectors and lines of the request that begins with the from-th lane of the order. */
static void look_at(struct probe_cache *c, const struct machine *m, const int64_t *addr,
		    const unsigned char *on, const struct mval *ptr, const struct order *o,
		    int64_t from, int64_t count, struct request *r)
{
	uint64_t sector[REQUEST_MOST], line[REQUEST_MOST], before = UINT64_MAX, shift = 0;

	*r = (struct request){ .lanes = 0 };
	for (int64_t i = from; i < from + count; i++) {
		int64_t lane = lane_at(ptr, o, i);
		uint64_t s;

		if (on && !on[lane])
			continue;
		if (!r->lanes++) {
			r->first = (uint64_t)addr[lane];
			shift = shift_of(m, ptr, r->first);
		}
		s = ((uint64_t)addr[lane] + shift) / SECTOR;
		if (s == before || among(sector, r->sectors, s))
			continue;
		before = s;
		sector[r->sectors++] = s;
		if (!among(line, r->lines, s / (LINE / SECTOR)))
			line[r->lines++] = s / (LINE / SECTOR);
		r->missed += is_missed(c, s);
		r->unique += is_new(c, s);
	}
}

/* --- an access ------------------------------------------------------------------------------------------- */

/* Adds a request that represents `stands_for` requests. */
static void add_request(struct probe *p, const struct machine *m, const struct probe_target *t,
			const struct request *r, double stands_for)
{
	struct probe_memory *y = &p->memory;
	enum probe_access kind = t->kind;
	double weight = t->weight * stands_for;
	int i = r->lanes ? param_of(m, t->ptr, r->first) : -1, esize = dtype_size((enum dtype)t->ptr->dt);
	struct probe_param *q = i >= 0 && i < p->n_params ? &p->param[i] : NULL;

	y->requests += weight;
	y->lines += weight * r->lines;
	y->sectors += weight * r->sectors;
	y->missed += kind == PROBE_LOAD ? weight * r->missed : 0;
	*(kind == PROBE_LOAD ? &y->load_bytes : &y->store_bytes) += weight * r->lanes * esize;
	if (kind == PROBE_ATOMIC) {
		y->atomics += weight * r->lanes;
		y->atomic_sectors += weight * r->sectors;
	}
	if (!q)
		return;
	*(kind == PROBE_LOAD ? &q->loaded : kind == PROBE_STORE ? &q->stored : &q->atomics) += weight *
		(kind == PROBE_ATOMIC ? r->lanes : r->sectors);
	q->unique += weight * r->unique;
}

int probe_access(struct probe *p, struct probe_cache *c, const struct machine *m, const struct probe_target *t)
{
	struct mval *ptr = t->ptr, *mask = t->mask;
	const int64_t one = ptr->u.i, *addr = ptr->ndim ? mval_dense(ptr) : &one;
	const unsigned char *on = !mask ? NULL : mask->ndim ? mval_dense(mask) : mask->u.raw;
	int esize = dtype_size((enum dtype)ptr->dt);
	struct order o = { .vector = 1 };
	struct request r;
	int64_t size, n, every;

	if (ptr->ndim)
		find_order(ptr, t->axis, esize, 32 * p->warps, &o);
	size = MIN(32 * (int64_t)o.vector, ptr->n);
	n = ptr->n / size;
	every = (n + REQUESTS_SEEN - 1) / REQUESTS_SEEN;
	for (int64_t k = every / 2; k < n; k += every) {
		look_at(c, m, addr, on, ptr, &o, k * size, size, &r);
		add_request(p, m, t, &r, (double)every);
	}
	return o.dim[0];
}
