/* Shadow memory of a whole row at once, where there is nothing to report. The loops have no
 * branches, so that they vectorise.
 *
 * Conflicts are found before anything changes. The caller can then go through the row again,
 * element by element, and report the conflict (check_shadow.c). */
#include "base/cpu.h"
#include "tile/machine/check_row.h"

/* A read is fine where nobody wrote in this run, or where this instance did and lanes do not
 * count. With `own` an earlier read by this instance needs a look as well: its lane mark may
 * change to LANE_MANY. */
int SIMD_FN(check_row_read)(const struct check_row *c, int64_t n)
{
	const uint32_t me = c->me, base = c->base;
	uint32_t bad = 0;
	const uint32_t fine = c->own ? base : me;
	for (int64_t i = 0; i < n; i++) {
		uint32_t w = c->writer[i] & ~SHADOW_FLAG;
		bad |= (w > base) & (w != fine);
		bad |= c->own & ((c->reader[i] & ~SHADOW_FLAG) == me);
	}
	if (bad)
		return 1;
	for (int64_t i = 0; i < n; i++) {
		uint32_t r = c->reader[i], who = r & ~SHADOW_FLAG;
		c->reader[i] = me | (who <= base ? 0 : who == me ? r & SHADOW_FLAG : SHADOW_FLAG);
		c->rloc[i] = c->loc;
	}
	return 0;
}

/* A write is fine where nobody touched the element in this run. An atomic of this instance has
 * the flag set and so differs from `fine`: it gets the closer look. */
int SIMD_FN(check_row_write)(const struct check_row *c, int64_t n)
{
	const uint32_t me = c->me, base = c->base;
	uint32_t bad = 0;
	const uint32_t fine = c->own ? base : me;
	for (int64_t i = 0; i < n; i++) {
		uint32_t w = c->writer[i], r = c->reader[i];
		bad |= (((w & ~SHADOW_FLAG) > base) & (w != fine)) | (((r & ~SHADOW_FLAG) > base) & (r != fine));
	}
	if (bad)
		return 1;
	for (int64_t i = 0; i < n; i++) {
		c->writer[i] = me;
		c->wloc[i] = c->loc;
	}
	return 0;
}
