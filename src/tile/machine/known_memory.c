/* The knowledge of instances about memory, in a run of sampled instances: see known_memory.h.
 *
 * Knowledge is kept per range of bytes by the sparse storage; this file only says which ranges an
 * access reads or writes, and whether the instance had read anything unknown by then. */
#include "tile/machine/known_memory.h"

#include "tensor/sparse.h"

/* Called for a range of bytes of a sparse storage. Returns nonzero when out of memory. */
typedef int range_fn(struct machine *m, struct storage *s, size_t lo, size_t hi);

/* Is a row contiguous, or a single element? */
static int is_one_range(const struct access *a, const struct access_row *r)
{
	return r->step == a->esize || r->count == 1 || !r->step;
}

/* Calls fn for the bytes of rows that follow each other in memory: once for a contiguous row, else for each element
 * together with those of the following rows. */
static int row_ranges(const struct access *a, const struct access_row *r, int64_t rows, range_fn *fn)
{
	struct storage *s = r->al->st;
	size_t at = (size_t)(r->addr - r->al->base), size = (size_t)(rows * a->esize);

	if (!s->sparse)
		return 0;
	if (is_one_range(a, r))
		return fn(a->m, s, at, at + (r->step ? (size_t)r->count : 1) * size);
	for (int64_t i = 0; i < r->count; i++) {
		size_t from = (size_t)((int64_t)at + i * r->step);

		if (fn(a->m, s, from, from + size))
			return -1;
	}
	return 0;
}

/* Does a row lie next to `rows` others that begin with `first`? In a transposed tile the elements of a row are apart,
 * and those of the next row follow them: 64 rows of 32 elements are 32 ranges and not 2048. */
static int is_next_row(const struct access *a, const struct access_row *first, int64_t rows,
		       const struct access_row *r)
{
	return rows && !is_one_range(a, first) && r->al == first->al && r->count == first->count &&
		r->step == first->step && r->addr == first->addr + rows * a->esize;
}

/* Goes over all rows of an access with a copy of it, so that the caller can go over them again. */
static int each_range(const struct access *a, range_fn *fn)
{
	struct access again = *a;
	struct access_row r, first;
	int64_t rows = 0;
	int rc = 0;

	if (!again.active)
		return 0;
	while (!rc && access_next(&again, &r)) {
		if (is_next_row(a, &first, rows, &r)) {
			rows++;
			continue;
		}
		rc = rows ? row_ranges(a, &first, rows, fn) : 0;
		first = r;
		rows = 1;
	}
	if (!rc && rows)
		rc = row_ranges(a, &first, rows, fn);
	return rc ? fault_at(a->m, a->in->loc, REASON_kernel_timeout,
			     "a run of sampled instances touches more memory than it may hold") : 0;
}

/* Gives the range contents, so that it can be read or written. */
static int touch(struct machine *m, struct storage *s, size_t lo, size_t hi)
{
	(void)m;
	return sparse_touch(s, lo, hi);
}

/* As `touch`; sets m->guess if the contents of the range are unknown. */
static int look(struct machine *m, struct storage *s, size_t lo, size_t hi)
{
	if (sparse_touch(s, lo, hi))
		return -1;
	m->guess |= !sparse_is_known(s, lo, hi);
	return 0;
}

/* A store makes memory known unless the instance itself has read unknown memory. */
static int mark(struct machine *m, struct storage *s, size_t lo, size_t hi)
{
	return sparse_mark(s, lo, hi, !m->unsure);
}

static int mark_unknown(struct machine *m, struct storage *s, size_t lo, size_t hi)
{
	(void)m;
	return sparse_mark(s, lo, hi, 0);
}

/* Unknown floats change results; unknown integers may also change addresses and branches. */
static unsigned char unknown_kind(enum dtype dt)
{
	return dtype_is_float(dt) ? UNKNOWN_FLOATS : UNKNOWN_INTEGERS;
}

int known_load(const struct access *a, enum dtype dt)
{
	a->m->guess = 0;
	if (each_range(a, look))
		return -1;
	if (a->m->guess)
		a->m->unsure |= unknown_kind(dt);
	return 0;
}

int known_store(const struct access *a)
{
	return each_range(a, touch) || each_range(a, mark) ? -1 : 0;
}

/* Atomics leave unknown memory behind: the instances that do not run would have added to it as
 * well. */
int known_swap(const struct access *a, enum dtype dt)
{
	if (each_range(a, touch) || each_range(a, mark_unknown))
		return -1;
	a->m->unsure |= unknown_kind(dt);
	return 0;
}

void known_test(const struct machine *m, const struct tile_insn *in)
{
	const struct tile_loc *at = &m->code->locs[in->loc];

	if (in->op < TOP_EQ || in->op > TOP_GE || !m->o->test || m->unsure & UNKNOWN_INTEGERS)
		return;
	if (m->vals[tile_dst(in, 0)].n == 1 && !dtype_is_float((enum dtype)m->vals[tile_src(in, 0)].dt) &&
	    !m->vals[tile_src(in, 0)].ptr)
		m->o->test(m->o->test_ctx, at->line, at->col, m->vals[tile_dst(in, 0)].u.raw[0] != 0);
}

int known_fault(const struct machine *m)
{
	switch (m->fault->reason) {
	case REASON_kernel_timeout: return 1;
	case REASON_out_of_bounds: case REASON_bad_pointer: case REASON_misaligned: case REASON_false_hint:
		return !(m->unsure & UNKNOWN_INTEGERS);
	default: return !m->unsure;
	}
}
