/* The launch plan of a correct candidate, for a run on a real GPU. */
#ifndef VERIFY_FUNNEL_PLAN_ORDER_H
#define VERIFY_FUNNEL_PLAN_ORDER_H

#include "verify/funnel/funnel.h"

/* Asks the runner for the plan of one call at full size, for each configuration of an autotuned
 * kernel up to a limit, and passes them on (struct judge_watcher). It decides nothing: without a
 * plan the candidate is not measured, and stays correct. */
enum step plan_order(struct funnel *f);

#endif
