/* Two lanes of one store that hit the same element: the GPU keeps either value, so the values
 * must be equal.
 *
 * The strides of an affine pointer mostly prove that its lanes are apart. Only where they do not,
 * or where addresses were computed lane by lane, the addresses go into a hash table. */
#include "tile/machine/check.h"
#include "tile/machine/exec_access.h"

/* Returns nonzero if the strides are enough to show that no two active lanes share a byte. Takes
 * the dimensions from the smallest stride up and requires each stride to step over everything
 * before it. Shape [4, 8] with byte strides { 32, 4 }: 8 lanes reach 32 bytes, and 32 >= 32, so
 * they are apart. Strides { 16, 4 } overlap: row 1 begins inside row 0. */
static int apart_by_strides(const struct access *a)
{
	const struct mval *ptr = a->ptr;
	int64_t reach = a->esize;
	int used[TILE_DIMS] = { 0 };
	if (!a->boxed)
		return 0;
	for (int k = 0; k < ptr->ndim; k++) {
		int least = 0;
		int64_t step = INT64_MAX;
		int64_t lanes;

		for (int d = 0; d < ptr->ndim; d++) {
			int64_t s = ptr->kind == MVAL_AFFINE ? ptr->stride[d] : 0;
			s = s < 0 ? -s : s;
			if (!used[d] && s < step)
				least = d, step = s;
		}
		used[least] = 1;
		lanes = a->hi[least] - a->lo[least];
		if (lanes > 1 && step < reach)
			return 0;
		reach += lanes > 1 ? step * (lanes - 1) : 0;
	}
	return 1;
}

/* An address that a lane has stored to, and that lane's value. Address NULL: free entry. */
struct seen { const char *addr; const char *value; };

/* Enters one lane into the table (open addressing, `mask` is its size less one). Faults if the
 * address is there with another value. */
static int note_lane(struct access *a, struct seen *table, size_t mask, const char *addr, const char *value,
		     const struct allocation *al)
{
	size_t at = (size_t)((uintptr_t)addr / (uintptr_t)a->esize * 0x9E3779B97F4A7C15u >> 20) & mask;
	char where[160];

	while (table[at].addr && table[at].addr != addr)
		at = (at + 1) & mask;
	if (!table[at].addr) {
		table[at] = (struct seen){ .addr = addr, .value = value };
		return 0;
	}
	if (!memcmp(table[at].value, value, (size_t)a->esize))
		return 0;
	access_where(al, addr - al->base, where, sizeof where);
	return fault_hint(a->m, a->in->loc, REASON_race, "a GPU keeps either of them",
			  "two lanes of one store write different values to %s", where);
}

int check_lanes(const struct access *opened, const char *value, int64_t vstep)
{
	struct access a = *opened;
	struct access_row r;
	size_t cap = 4;
	int rc;
	struct seen *table;

	if (!vstep || apart_by_strides(&a))
		return 0;
	while (cap < 2 * (size_t)a.active)
		cap *= 2;
	table = mem_array(cap, sizeof *table);
	if (!table)
		return diag_set(a.m->fault, REASON_internal, 0, 0, "out of memory for the lanes of a store");
	rc = 0;
	while (!rc && access_next(&a, &r))
		for (int64_t i = 0; i < r.count && !rc; i++)
			rc = note_lane(&a, table, cap - 1, r.addr + i * r.step, value + (r.lane + i) * vstep, r.al);
	mem_free(table);
	return rc;
}
