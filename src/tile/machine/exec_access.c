/* The addresses of a load, store or atomic: rows of contiguous or strided lanes, checked against
 * the tensor's memory before any byte is touched.
 *
 * There are four ways to open an access, by the form of the pointer: a line (one dimension, all
 * lanes on), a box (AFFINE or UNIFORM pointer, short mask), NEAR counts, and dense addresses.
 *
 * Invariant: after access_open every row that access_next gives lies inside its allocation. */
#include "tile/machine/exec_access.h"
#include "tile/machine/exec_lanes.h"
#include "tile/machine/replay.h"

#include <stdio.h>

/* Elements are counted from the parameter's element 0; an index may be negative or past the end. */
void access_where(const struct allocation *al, int64_t off, char *out, size_t n)
{
	int size = dtype_size(al->dt);
	int64_t elem = (off - al->view) / size - ((off - al->view) % size < 0);
	snprintf(out, n, "%.*s[%lld]", STR_ARG(al->name), (long long)elem);
}

static int out_of_bounds(struct access *a, const struct allocation *al, int64_t addr)
{
	char where[160], hint[200];
	int64_t off = (int64_t)((uint64_t)addr - (uint64_t)(uintptr_t)al->base);
	int size = dtype_size(al->dt);

	access_where(al, off, where, sizeof where);
	snprintf(hint, sizeof hint, "%.*s has indices %lld to %lld; is a mask missing?", STR_ARG(al->name),
		 (long long)(-al->view / size), (long long)(((int64_t)al->bytes - al->view) / size - 1));
	return fault_hint(a->m, a->in->loc, REASON_out_of_bounds, hint, "%s out of bounds: %s", a->verb, where);
}

/* Whether addresses lo to hi, each with esize bytes, lie in the tensor's storage. */
static int inside(const struct allocation *al, int64_t lo, int64_t hi, int esize)
{
	int64_t base = (int64_t)(uintptr_t)al->base;
	return lo >= base && hi - base <= (int64_t)al->bytes - esize;
}

/* The tensor that holds an address, for pointers whose parameter is not known. */
static const struct allocation *find(const struct machine *m, int64_t addr, int esize)
{
	for (int i = 0; i < m->code->n_params; i++)
		if (m->allocs[i].base && inside(&m->allocs[i], addr, addr, esize))
			return &m->allocs[i];
	return NULL;
}

/* A mask must be clean in every lane, an address only in the lanes that are on. */
static int poison_checks(struct access *a)
{
	struct mval *ptr = a->ptr, *mask = a->mask;
	const unsigned char *on;

	if (mask && mask->poison) {
		for (int64_t i = 0; i < mask->n; i++)
			if (!mask->pmap_on || mask->pmap[i])
				return poison_fault(a->m, a->in->loc, mask, i, "a mask");
	}
	if (!ptr->poison)
		return 0;
	on = mask ? mval_dense(mask) : NULL;
	for (int64_t i = 0; i < ptr->n; i++)
		if ((!on || on[i]) && (!ptr->pmap_on || ptr->pmap[i]))
			return poison_fault(a->m, a->in->loc, ptr, i, "an address");
	return 0;
}

static int misaligned(struct access *a)
{
	return fault_at(a->m, a->in->loc, REASON_misaligned,
			"%s at an address that is not a multiple of its element's %d bytes", a->verb, a->esize);
}

static int bad_pointer(struct access *a)
{
	return fault_at(a->m, a->in->loc, REASON_bad_pointer,
			"%s through a pointer that points into no tensor of the launch", a->verb);
}

/* Finds the box of active lanes and checks its extent in memory at once. A pointer with byte
 * strides { 400, 4 } and a box of rows 0 to 3 and columns 0 to 4 spans base to base + 1216. */
static int open_box(struct access *a)
{
	const struct mval *ptr = a->ptr, *mask = a->mask;
	int64_t min = ptr->u.i, max = ptr->u.i;
	uint64_t bits = (uint64_t)ptr->u.i;
	a->active = 1;
	for (int d = 0; d < ptr->ndim; d++) {
		int box = mask && mask->kind == MVAL_BOX;
		int64_t stride = ptr->kind == MVAL_AFFINE ? ptr->stride[d] : 0;
		a->lo[d] = a->at[d] = box ? mask->box.lo[d] : 0;
		a->hi[d] = box ? mask->box.hi[d] : ptr->shape[d];
		a->active *= MAX(a->hi[d] - a->lo[d], 0);
		min += MIN(stride * a->lo[d], stride * (a->hi[d] - 1));
		max += MAX(stride * a->lo[d], stride * (a->hi[d] - 1));
		bits |= (uint64_t)stride;
	}
	if (mask && mask->kind == MVAL_UNIFORM && !mask->u.raw[0])
		a->active = 0;
	a->done = a->active == 0;
	if (a->done)
		return 0;
	/* All addresses are aligned if the base and every stride are. */
	if (bits & (uint64_t)(a->esize - 1))
		return misaligned(a);
	/* A pointer of unknown provenance: all lanes must lie in the tensor of the lowest one. */
	if (!a->al)
		a->al = find(a->m, min, a->esize);
	if (!a->al)
		return bad_pointer(a);
	if (inside(a->al, min, max, a->esize))
		return 0;
	return out_of_bounds(a, a->al, inside(a->al, min, min, a->esize) ? max : min);
}

/* The checks of open_box for a single lane, with its own message. */
static int check_lane(struct access *a, int64_t addr)
{
	const struct allocation *al = a->al ? a->al : find(a->m, addr, a->esize);
	if (!al)
		return bad_pointer(a);
	if (addr & (a->esize - 1))
		return misaligned(a);
	return inside(al, addr, addr, a->esize) ? 0 : out_of_bounds(a, al, addr);
}

/* Narrows [0, n) to the lanes that can be on, in steps of eight: masks mostly end long before
 * their tile. 4096 lanes with 5 on at the start become [0, 8). */
static void find_span(const unsigned char *on, int64_t n, int64_t *first, int64_t *stop)
{
	uint64_t eight;

	for (*first = 0; *first + 8 <= n; *first += 8) {
		memcpy(&eight, on + *first, sizeof eight);
		if (eight)
			break;
	}
	for (*stop = n; *stop - 8 >= *first; *stop -= 8) {
		memcpy(&eight, on + *stop - 8, sizeof eight);
		if (eight)
			break;
	}
}

/* Checks dense addresses all at once. Only if one may be outside, it looks lane by lane for the
 * one to report. */
static int open_lanes(struct access *a)
{
	const int64_t *addr = mval_dense(a->ptr);
	const unsigned char *on = a->mask ? mval_dense(a->mask) : NULL;
	int64_t base = a->al ? (int64_t)(uintptr_t)a->al->base : 0, most = a->al ? (int64_t)a->al->bytes - a->esize : 0;
	int outside;

	a->stop = a->ptr->n;
	if (on)
		find_span(on, a->ptr->n, &a->next, &a->stop);
	/* Without a known tensor most is 0 and base is 0, so every lane counts as outside. */
	a->active = SIMD_PICK(lanes_within)(addr + a->next, on ? on + a->next : NULL, a->stop - a->next,
					    base, MAX(most, 0), a->esize, &outside);
	if (!a->active || (a->al && most >= 0 && !outside))
		return 0;
	for (int64_t i = a->next; i < a->stop; i++)
		if ((!on || on[i]) && check_lane(a, addr[i]))
			return -1;
	return 0;
}

/* Quotient rounded down, for positive b. */
static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* Checks a NEAR pointer by its 32-bit counts: they must lie between the counts of the tensor's
 * first and last element. Returns 1 if all active lanes do, 0 if the general way has to look. */
static int open_near(struct access *a)
{
	const struct mval *ptr = a->ptr;
	const int64_t far = (int64_t)1 << 60;
	const unsigned char *on;
	int64_t first, lo, hi;
	int outside;

	if (ptr->kind != MVAL_NEAR || !a->al || a->esize != dtype_size((enum dtype)ptr->dt) ||
	    (ptr->u.u64 & (uint64_t)(a->esize - 1)))
		return 0;
	/* Bytes from the pointer's base to the tensor's first byte; bounded so that sums cannot overflow. */
	first = (int64_t)((uint64_t)(uintptr_t)a->al->base - ptr->u.u64);
	if (first > far || first < -far || a->al->bytes > (size_t)far)
		return 0;
	/* Counts of the tensor's first and last element, relative to the pointer's base. */
	lo = MAX(floor_div(first + a->esize - 1, a->esize), INT32_MIN);
	hi = MIN(floor_div(first + (int64_t)a->al->bytes - a->esize, a->esize), INT32_MAX);
	if (lo > hi)
		return 0;
	a->stop = ptr->n;
	on = a->mask ? mval_dense(a->mask) : NULL;
	if (on)
		find_span(on, ptr->n, &a->next, &a->stop);
	a->active = SIMD_PICK(lanes_between)((const int32_t *)ptr->data + a->next, on ? on + a->next : NULL,
					     a->stop - a->next, (int32_t)lo, (int32_t)hi,
					     &outside);
	a->boxed = 0;
	return !outside;
}

/* The common case of open_box without its loops: one dimension, every lane on, all inside.
 * Returns 0 if the general way has to look. */
static int open_line(struct access *a)
{
	const struct mval *ptr = a->ptr, *mask = a->mask;
	int64_t stride, min, max;

	if (ptr->kind != MVAL_AFFINE || ptr->ndim != 1 || !a->al ||
	    (mask && (mask->kind != MVAL_UNIFORM || !mask->u.raw[0])))
		return 0;
	stride = ptr->stride[0];
	min = ptr->u.i;
	max = min + stride * (ptr->n - 1);
	if (stride < 0 || (((uint64_t)min | (uint64_t)stride) & (uint64_t)(a->esize - 1)) ||
	    !inside(a->al, min, max, a->esize))
		return 0;
	a->boxed = 1;
	a->lo[0] = a->at[0] = 0;
	a->hi[0] = ptr->shape[0];
	a->active = ptr->n;
	return 1;
}

/* Tries the cheap ways first. Checked mode always takes a way that reports poison. */
static int open_access(struct access *a)
{
	int prov = a->ptr->prov;
	int short_mask;

	a->footprint = NULL;
	a->al = prov >= 0 && a->m->allocs[prov].base ? &a->m->allocs[prov] : NULL;
	a->done = 0;
	a->next = 0;
	if (!a->m->check && open_line(a))
		return 0;
	if (a->m->check && poison_checks(a))
		return -1;
	if (open_near(a))
		return 0;
	if (a->ptr->kind == MVAL_NEAR)
		mval_dense(a->ptr);
	short_mask = !a->mask || a->mask->kind == MVAL_UNIFORM || a->mask->kind == MVAL_BOX;
	a->boxed = a->ptr->kind != MVAL_DENSE && short_mask;
	a->next = 0;
	return a->boxed ? open_box(a) : open_lanes(a);
}

/* A replay has checked the lanes when they were recorded and only looks them up. */
int access_open(struct access *a)
{
	if (a->m->replay) {
		replay_open(a);
		return 0;
	}
	if (open_access(a))
		return -1;
	if (a->m->record)
		replay_record_access(a);
	return 0;
}

/* Whether every lane of the tile is on. */
int access_full(const struct access *a)
{
	return a->active == a->ptr->n;
}

/* Compares each stride with that of a row-major tile; dimensions of 1 may have any stride. */
int access_contiguous(const struct access *a)
{
	const struct mval *ptr = a->ptr;
	int64_t want = a->esize;
	if (!a->boxed || !access_full(a) || ptr->kind != MVAL_AFFINE)
		return 0;
	for (int d = ptr->ndim - 1; d >= 0; d--) {
		if (ptr->shape[d] != 1 && ptr->stride[d] != want)
			return 0;
		want *= ptr->shape[d];
	}
	return 1;
}

/* The next row of a box along the last dimension; `at` counts the other dimensions. */
static int next_in_box(struct access *a, struct access_row *r)
{
	const struct mval *ptr = a->ptr;
	int last = ptr->ndim - 1;
	int64_t lane, addr;

	if (a->done)
		return 0;
	/* `at` of the last dimension stays at its lower bound: a row has all its lanes. */
	lane = 0;
	addr = ptr->u.i;
	for (int d = 0; d < ptr->ndim; d++) {
		lane = lane * ptr->shape[d] + a->at[d];
		if (ptr->kind == MVAL_AFFINE)
			addr += a->at[d] * ptr->stride[d];
	}
	*r = (struct access_row) {
		.lane = lane, .count = last < 0 ? 1 : a->hi[last] - a->lo[last], .addr = (char *)(uintptr_t)addr,
		.step = last >= 0 && ptr->kind == MVAL_AFFINE ? ptr->stride[last] : 0, .al = a->al,
	};
	for (int d = last - 1; d >= 0; d--) {
		if (++a->at[d] < a->hi[d])
			return 1;
		a->at[d] = a->lo[d];
	}
	a->done = 1;
	return 1;
}

/* How many lanes from a->next on are on and side by side in memory; they form one row. */
static int64_t row_from(const struct access *a, const unsigned char *on, const int64_t *addr)
{
	int64_t i = a->next + 1;
	while (a->al && i < a->stop && (!on || on[i]) && addr[i] == addr[i - 1] + a->esize)
		i++;
	return i - a->next;
}

/* The next row of a NEAR pointer, which open_near found to lie in one tensor. */
static int next_near(struct access *a, struct access_row *r)
{
	const unsigned char *on = a->mask ? a->mask->data : NULL;
	const int32_t *offset = a->ptr->data;
	int64_t i = a->next;

	while (i < a->stop && on && !on[i])
		i++;
	a->next = i;
	if (i >= a->stop)
		return 0;
	while (++a->next < a->stop && (!on || on[a->next]) && (int64_t)offset[a->next] ==
	       (int64_t)offset[a->next - 1] + 1)
		;
	*r = (struct access_row) {
		.lane = i, .count = a->next - i,
		.addr = (char *)(uintptr_t)(a->ptr->u.u64 + (uint64_t)((int64_t)offset[i] * a->esize)),
		.step = a->esize,
		.al = a->al,
	};
	return 1;
}

int access_next(struct access *a, struct access_row *r)
{
	int64_t at;
	const unsigned char *on;
	const int64_t *addr;

	if (a->boxed)
		return next_in_box(a, r);
	if (a->footprint)
		return replay_next(a, r);
	if (a->ptr->kind == MVAL_NEAR)
		return next_near(a, r);
	on = a->mask ? a->mask->data : NULL;
	addr = a->ptr->data;
	while (a->next < a->stop && on && !on[a->next])
		a->next++;
	if (a->next >= a->stop)
		return 0;
	at = addr[a->next];
	*r = (struct access_row) {
		.lane = a->next, .count = row_from(a, on, addr), .addr = (char *)(uintptr_t)at, .step = a->esize,
		.al = a->al ? a->al : find(a->m, at, a->esize),
	};
	a->next += r->count;
	return 1;
}
