/* Other test sizes for a candidate that failed: see retry.c for when each of them is tried. */
#ifndef VERIFY_FUNNEL_RETRY_SIZES_H
#define VERIFY_FUNNEL_RETRY_SIZES_H

#include "verify/funnel/funnel.h"

enum retry_sizes_change {
	RETRY_SMALLER,                /* smaller sizes on the same path */
	RETRY_SAME,                   /* the same sizes */
	RETRY_LARGER,                 /* larger sizes */
	RETRY_SAME_GRID,              /* every launch has as many instances as at full size */
	RETRY_SAME_TRIPS,             /* loops and grids that iterate several times at full size still do */
	RETRY_NAMED,                  /* sizes that the candidate has as literal numbers stay at full size: all of
				       * them for i = 0, else only the size before the i-th */
	RETRY_FULL_SIZE,              /* the i-th size stays at full size */
	RETRY_ALIGNED,                /* full size for i = 0 if it is cheap; else the size before the i-th is kept
				       * alike full size modulo 1024 */
	RETRY_UNASSERTED              /* the candidate's own asserts are passed over (f->skip_asserts) */
};

/* Finds other sizes for a retry. Passes and sets *out. Fails if there are no such sizes, or if they
 * are too much work. The runner has the base task. */
enum step retry_sizes_find(struct funnel *f, const struct test_sizes *c, enum retry_sizes_change change, size_t i,
			   struct test_sizes *out);

#endif
