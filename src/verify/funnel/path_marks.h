/* The path of a candidate: the marks that a dry run collects (host_path). There is one for each
 * outcome of a comparison of sizes and one for each kernel as it is compiled. Two runs with the
 * same marks take the same branches and launch the same code. */
#ifndef VERIFY_FUNNEL_PATH_MARKS_H
#define VERIFY_FUNNEL_PATH_MARKS_H

#include "verify/funnel/funnel.h"

/* How many marks of the path at full size the other path lacks. A path that was cut off lacks at
 * least one. */
int path_lacking(const struct host_path *full, const struct host_path *other);
/* Does the path hold a comparison of integers? */
int path_compares_integers(const struct host_path *p);
/* Adds to *known the outcomes of *p that are new for a known comparison. Returns how many there
 * are. */
int path_learn_outcomes(struct host_path *known, const struct host_path *p);

#endif
