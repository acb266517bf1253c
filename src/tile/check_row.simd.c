/* Shadow memory of a row of elements at once, where there is nothing to report. */
#include "base/cpu.h"
#include "tile/check_row.h"

/* Conflicts are found before anything is changed, so that the caller can go through the row
 * again element by element. */
int64_t SIMD_FN(check_row_read)(const struct check_row *c, int64_t n)
{
	uint32_t bad = 0;
	int64_t fresh = 0;
	for (int64_t i = 0; i < n; i++) {
		uint32_t w = c->writer[i];
		bad |= (w != 0) & ((w & ~SHADOW_FLAG) != c->me);
	}
	if (bad)
		return -1;
	for (int64_t i = 0; i < n; i++) {
		uint32_t r = c->reader[i], mine = (r == 0) | ((r & ~SHADOW_FLAG) == c->me);
		fresh += (r == 0) & (c->writer[i] == 0);
		c->reader[i] = c->me | (mine ? r & SHADOW_FLAG : SHADOW_FLAG);
		c->rloc[i] = c->loc;
	}
	return fresh;
}

int64_t SIMD_FN(check_row_write)(const struct check_row *c, int64_t n)
{
	uint32_t bad = 0;
	int64_t fresh = 0;
	for (int64_t i = 0; i < n; i++) {
		uint32_t w = c->writer[i], r = c->reader[i];
		bad |= ((w != 0) & (w != c->me)) | ((r != 0) & (r != c->me));
	}
	if (bad)
		return -1;
	for (int64_t i = 0; i < n; i++) {
		fresh += (c->reader[i] == 0) & (c->writer[i] == 0);
		c->writer[i] = c->me;
		c->wloc[i] = c->loc;
	}
	return fresh;
}
