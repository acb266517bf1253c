/* Loads and stores. Rows of contiguous lanes are copied whole. A lane that is off takes `other`,
 * the padding, or is poison. */
#include "tile/machine/check.h"
#include "tile/machine/exec_access.h"
#include "tile/machine/exec_lanes.h"
#include "tile/machine/known_memory.h"
#include "tile/machine/replay.h"

#include <math.h>
#include <stdio.h>

/* --- load --------------------------------------------------------------------------- */

/* Prefetches what lies behind this tile: the next instance mostly wants it, and an instance is
 * too short for the hardware to detect the stream. Prefetching past the end of memory is
 * harmless. Tensors of up to 256 KiB are in the cache anyway. */
static void fetch_ahead(const struct allocation *al, const char *p, int64_t bytes)
{
	enum { LINE = 64, MOST = 8192, CACHED = 1 << 18 };
	if (al && al->bytes <= CACHED)
		return;
	for (int64_t i = 0; i < MIN(bytes, MOST); i += LINE)
		__builtin_prefetch(p + i, 0, 2);
}

/* Copies one row of memory into lanes. */
static void gather_row(char *out, const struct access_row *r, int esize)
{
	if (r->step == esize) {
		memcpy(out, r->addr, (size_t)(r->count * esize));
		return;
	}
#define GATHER(T) \
	do { \
		T *o = (T *)out; \
		for (int64_t i = 0; i < r->count; i++) \
			memcpy(&o[i], r->addr + i * r->step, sizeof(T)); \
	} while (0)
	switch (esize) {
	case 1: GATHER(uint8_t); break;
	case 2: GATHER(uint16_t); break;
	case 4: GATHER(uint32_t); break;
	default: GATHER(uint64_t);
	}
#undef GATHER
}

/* A two-dimensional box of four-byte elements with contiguous rows, the most common load: no
 * bookkeeping for each row. Returns 0 if the access is another one. */
static int gather_matrix(const struct access *a, char *out)
{
	const struct mval *ptr = a->ptr;
	int64_t cols, width;
	const char *from;
	uint32_t *o;

	if (ptr->ndim != 2 || ptr->kind != MVAL_AFFINE || a->esize != 4 || ptr->stride[1] != 4)
		return 0;
	cols = a->hi[1] - a->lo[1];
	width = ptr->shape[1];
	from = (const char *)(uintptr_t)ptr->u.i + a->lo[0] * ptr->stride[0] + a->lo[1] * 4;
	o = (uint32_t *)out + a->lo[0] * width + a->lo[1];
	for (int32_t i = a->lo[0]; i < a->hi[0]; i++, from += ptr->stride[0], o += width) {
		const uint32_t *s = (const uint32_t *)from;
		for (int64_t j = 0; j < cols; j++)
			o[j] = s[j];
	}
	return 1;
}

/* Lanes by dense addresses, which access_open has checked. */
static void gather_lanes(struct access *a, char *out)
{
	const unsigned char *on = a->mask ? a->mask->data : NULL;
	const int64_t *addr = mval_dense(a->ptr);
#define LANES_OF(T) \
	do { \
		T *o = (T *)out; \
		for (int64_t i = a->next; i < a->stop; i++) \
			if (!on || on[i]) \
				memcpy(&o[i], (const void *)(uintptr_t)addr[i], sizeof(T)); \
	} while (0)
	switch (a->esize) {
	case 1: LANES_OF(uint8_t); break;
	case 2: LANES_OF(uint16_t); break;
	case 4:
		SIMD_PICK(lanes_gather32)((uint32_t *)out + a->next, addr + a->next, on ? on + a->next : NULL,
					  a->stop - a->next);
		break;
	default: LANES_OF(uint64_t);
	}
#undef LANES_OF
}

/* Lanes of four bytes by a NEAR pointer, all of them checked; lanes that are off take one
 * element. Returns 0 if the access is another one. */
static int gather_near(const struct access *a, struct mval *d)
{
	const struct mval *ptr = a->ptr;
	uint32_t other = (uint32_t)d->u.u64;
	if (a->boxed || a->footprint || ptr->kind != MVAL_NEAR || a->esize != 4 ||
	    !(access_full(a) || d->kind == MVAL_UNIFORM))
		return 0;
	SIMD_PICK(lanes_near32)(mval_result(d), (const char *)(uintptr_t)ptr->u.i, ptr->data, a->mask ?
				a->mask->data : NULL, d->n, other);
	return 1;
}

/* Sets d to what lanes that are off hold: `other`, zero or NaN padding. Returns 1 if they are
 * undefined; `off` counts them for the cost. */
static int fill_off(struct machine *m, const struct tile_insn *in, struct mval *d, int64_t off)
{
	if (in->n_src > 2) {
		struct mval *other = mval_src(m, in, 2);
		mval_copy(d, other);
		return 0;
	}
	d->kind = MVAL_UNIFORM;
	d->u.i = 0;
	if (in->attr[0] == TILE_PAD_NAN && dtype_is_float((enum dtype)d->dt))
		dtype_store((enum dtype)d->dt, &d->u, NAN);
	if (in->attr[0] != TILE_PAD_NONE)
		return 0;
	m->cost.undefined += off;
	if (m->zero_off)
		return 0;
	memset(&d->u, m->poison_byte, sizeof d->u);
	return 1;
}

/* A loaded bool is 0 or 1 for every byte in memory. */
static void to_bool(unsigned char *p, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		p[i] = p[i] != 0;
}

/* Poisons the lanes of one row whose memory was never written. Returns the union of the bits. */
static unsigned char row_undef(const struct access_row *r, int esize, unsigned char *map)
{
	const unsigned char *undef = r->al->st->undef;
	unsigned char any = 0;
	if (!undef)
		return 0;
	undef += r->addr - r->al->base;
	/* Most rows are contiguous and fully written: `undef` is then zero throughout. */
	if ((r->step == esize || r->count == 1) && !undef[0] && !memcmp(undef, undef + 1,
									(size_t)(r->count * esize) - 1))
		return 0;
	for (int64_t i = 0; i < r->count; i++) {
		unsigned char bad = 0;
		for (int b = 0; b < esize; b++)
			bad |= undef[i * r->step + b];
		if (bad)
			map[r->lane + i] |= POISON_MEMORY;
		any |= bad ? POISON_MEMORY : 0;
	}
	return any;
}

/* Whether the access may touch a storage with bytes that were never written. */
static int may_be_undefined(const struct access *a)
{
	const struct machine *m = a->m;
	int undef = 0;
	if (a->al)
		return a->al->st->undef != NULL;
	for (int i = 0; i < m->code->n_params; i++)
		undef |= m->allocs[i].base && m->allocs[i].st->undef;
	return undef;
}

/* Races and poison of a load. `off_undefined`: lanes that are off have no defined value. */
static int check_loaded(struct access *a, struct mval *d, int off_undefined)
{
	struct machine *m = a->m;
	struct access_row r;
	struct mval *other = a->in->n_src > 2 ? mval_src(m, a->in, 2) : NULL;
	/* Lanes that are off are poison if nothing gives them a value, or if `other` is poison. */
	int off_poison = !access_full(a) && (off_undefined || (other && other->poison));
	unsigned char bits = 0, *map = NULL;

	/* A poison map is needed only where some byte may be undefined: inputs have none. */
	if (off_poison || may_be_undefined(a)) {
		map = poison_room(m, d);
		if (!map)
			return -1;
		memset(map, off_poison ? off_undefined ? POISON_MASKED : other->poison : 0, (size_t)d->n);
		if (off_poison && other && other->pmap_on)
			memcpy(map, other->pmap, (size_t)d->n);
		bits = off_poison ? off_undefined ? POISON_MASKED : other->poison : 0;
	}
	m->check->stale = 0;
	/* A tensor that the kernel only reads has no shadow: nothing to check lane by lane. */
	while ((map || !a->al || m->check->shadows[a->al->shadow].writer) && access_next(a, &r)) {
		if (check_load(a, &r))
			return -1;
		if (!map)
			continue;
		/* Lanes that are on lose the poison of `off`; their memory may bring its own. */
		memset(map + r.lane, 0, (size_t)r.count);
		bits |= row_undef(&r, a->esize, map);
	}
	d->pmap_on = bits != 0;
	d->poison = bits;
	if (m->check->stale) {
		d->poison |= POISON_STALE;
		d->pmap_on = 0;
	}
	d->poison_at = off_poison && other && !off_undefined ? other->poison_at : a->in->loc;
	return 0;
}

/* From cheap to general: one element for all lanes, memory that is borrowed in place, NEAR, and
 * lanes copied into the slot. */
int exec_load(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0);
	struct access a, again;
	struct access_row r;
	int off_undefined = 0;
	access_init(&a, m, in, 1, d->esize, "load");
	if (access_open(&a) || (m->sampled && known_load(&a, (enum dtype)d->dt)))
		return -1;
	if (m->check)
		again = a;
	d->data = d->home;
	m->cost.bytes_loaded += a.active * a.esize;
	mval_clear_poison(d);
	if (!access_full(&a))
		off_undefined = fill_off(m, in, d, d->n - a.active);
	if (a.boxed && access_full(&a) && a.ptr->kind == MVAL_UNIFORM) {
		d->kind = MVAL_UNIFORM;
		memcpy(&d->u, (void *)(uintptr_t)a.ptr->u.i, (size_t)a.esize);
		if (d->dt == DT_BOOL)
			to_bool(d->u.raw, 1);
	} else if (p->borrow && access_contiguous(&a)) {
		/* Nothing writes this memory before the value's last use, so the lanes stay there. */
		d->kind = MVAL_DENSE;
		d->data = (void *)(uintptr_t)a.ptr->u.i;
		fetch_ahead(a.al, (char *)d->data + (size_t)d->n * d->esize, (int64_t)d->n * d->esize);
	} else if (a.active && !gather_near(&a, d)) {
		char *out;

		if (!access_full(&a))
			mval_dense(d);
		out = mval_result(d);
		if (!a.boxed && a.footprint)
			replay_gather(&a, out);
		else if (!a.boxed)
			gather_lanes(&a, out);
		else if (gather_matrix(&a, out))
			a.done = 1;
		while (a.boxed && access_next(&a, &r))
			gather_row(out + r.lane * a.esize, &r, a.esize);
		if (d->dt == DT_BOOL)
			to_bool((unsigned char *)out, d->n);
	}
	return m->check ? check_loaded(&again, d, off_undefined) : 0;
}

/* --- store -------------------------------------------------------------------------- */

/* Copies lanes into one row of memory; vstep 0 repeats one value. */
static void scatter_row(const struct access_row *r, const char *value, int64_t vstep, int esize)
{
	if (r->step == esize && vstep == esize) {
		memcpy(r->addr, value, (size_t)(r->count * esize));
		return;
	}
	for (int64_t i = 0; i < r->count; i++)
		memcpy(r->addr + i * r->step, value + i * vstep, (size_t)esize);
}

/* The bytes of a row have a value now. */
static void mark_defined(const struct access_row *r, int esize)
{
	unsigned char *undef = r->al->st->undef;
	if (!undef)
		return;
	undef += r->addr - r->al->base;
	if (r->step == esize) {
		memset(undef, 0, (size_t)(r->count * esize));
		return;
	}
	for (int64_t i = 0; i < r->count; i++)
		memset(undef + i * r->step, 0, (size_t)esize);
}

/* Checked mode: the value must not be poison, and shadow memory must allow the store. A stale
 * scalar may go into a scalar store, since the same thread does both. */
static int check_stored(struct access *a, const struct access_row *r, struct mval *v, const char *value, int64_t vstep)
{
	int one_thread = v->poison == POISON_STALE && a->ptr->n == 1;
	for (int64_t i = 0; v->poison && !one_thread && i < r->count; i++)
		if (!v->pmap_on || v->pmap[r->lane + i]) {
			char what[200], where[160];
			access_where(r->al, r->addr + i * r->step - r->al->base, where, sizeof where);
			snprintf(what, sizeof what, "the value stored to %s", where);
			return poison_fault(a->m, a->in->loc, v, r->lane + i, what);
		}
	return check_store(a, r, value, vstep);
}

/* Sources: pointer, value, and an optional mask. In checked mode all lanes of the store are
 * compared with each other before any is stored. */
int exec_store(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *v = mval_src(m, in, 1);
	struct access a;
	struct access_row r;
	int uniform;
	const char *value;
	int64_t vstep;

	(void)p;
	access_init(&a, m, in, 2, v->esize, "store");
	if (access_open(&a) || (m->sampled && known_store(&a)))
		return -1;
	m->cost.bytes_stored += a.active * a.esize;
	if (v->data != v->home) {               /* borrowed lanes: the store may overwrite part of them */
		memcpy(v->home, v->data, (size_t)v->n * v->esize);
		v->data = v->home;
	}
	uniform = v->kind == MVAL_UNIFORM;
	value = uniform ? (const char *)&v->u : mval_dense(v);
	vstep = uniform ? 0 : a.esize;
	if (m->check && check_lanes(&a, value, vstep))
		return -1;
	while (access_next(&a, &r)) {
		const char *from = value + r.lane * vstep;
		if (m->check && check_stored(&a, &r, v, from, vstep))
			return -1;
		scatter_row(&r, from, vstep, a.esize);
		mark_defined(&r, a.esize);
	}
	return 0;
}

/* --- an operation and the store of its result ------------------------------------------------ */

/* Whether the kernel may write [to, to + bytes) while it reads its dense sources. It may
 * overwrite a source exactly, lane by lane; it must not overlap one partly. */
static int clear_of_sources(struct machine *m, const struct tile_insn *in, const char *to, int64_t bytes)
{
	for (int k = 0; k < in->n_src; k++) {
		const struct mval *s = mval_src(m, in, k);
		const char *from = s->data;
		if (s->kind == MVAL_DENSE && from != to && from < to + bytes && to < from + (int64_t)s->n * s->esize)
			return 0;
		if (s->kind == MVAL_DENSE && from == to && s->esize != (int)(bytes / s->n))
			return 0;
	}
	return 1;
}

/* A store whose value is computed right here (decode_role.c). */
int exec_store_fused(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	const struct decoded_insn *maker = p->maker;
	struct mval *v = mval_src(m, in, 1);
	struct access a;
	struct access_row all;
	int rc, there;
	char *to;
	int64_t bytes;

	access_init(&a, m, in, 2, v->esize, "store");
	if (maker->counter != 0xff)
		((int64_t *)&m->cost)[maker->counter] += maker->lanes;
	mval_renew(v);
	v->data = v->home;
	/* If the store is one dense run that no source overlaps, the maker computes straight into the
	 * tensor's memory. Checked and sampled runs take both steps. */
	if (m->check)
		return check_exec(m, maker->in, maker) || exec_store(m, in, p) ? -1 : 0;
	if (m->sampled)
		return maker->exec(m, maker->in, maker) || exec_store(m, in, p) ? -1 : 0;
	if (access_open(&a))
		return -1;
	to = (char *)(uintptr_t)a.ptr->u.i;
	bytes = (int64_t)v->n * v->esize;
	if (access_contiguous(&a) && clear_of_sources(m, maker->in, to, bytes))
		v->data = to;
	rc = maker->exec(m, maker->in, maker);
	there = v->data == to && v->kind == MVAL_DENSE;
	v->data = v->home;
	if (rc)
		return -1;
	if (!there)
		return exec_store(m, in, p);
	all = (struct access_row){ .count = v->n, .addr = to, .step = v->esize, .al = a.al };
	m->cost.bytes_stored += bytes;
	fetch_ahead(a.al, to + bytes, bytes);
	mark_defined(&all, a.esize);
	return 0;
}
