/* The accesses of all instances at full size, against those at the test sizes.
 *
 * The address slice (tile/slice/slice.h) tells for each launch how much of each tensor its instances
 * read. A tensor that a launch reads whole at the test sizes must be read whole at full size: a
 * reduction that stops early, wraps around or skips a part fails. */
#ifndef VERIFY_FUNNEL_ADDRESS_CHECK_H
#define VERIFY_FUNNEL_ADDRESS_CHECK_H

#include "verify/funnel/funnel.h"

/* Adds the run at the test sizes to the batch. */
void address_check_order(struct funnel *f);
/* Judges it: run number `full` of the batch was sampled at full size, run number `small` is the one at
 * the test sizes. Notes in the verdict how much was decided. */
enum step address_check_judge(struct funnel *f, int full, int small);

#endif
