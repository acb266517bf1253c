/* Work of torch operators by kind, to see which steps of the reference a candidate's host code left to its
 * kernels.
 *
 * Example: a network calls relu 121 times and a pool once. Host code that calls relu 120 times, no pool and
 * everything else as often as the network left one relu and the pool to its kernels. */
#ifndef INTERP_WORK_KINDS_H
#define INTERP_WORK_KINDS_H

#include "interp/program.h"

enum { WORK_KINDS = 64 };

/* Operations of the operators of each kind. A kind is a hash of the operator's name without its module: two
 * operators may share one, which makes the comparison weaker and never wrong. */
struct work_kinds { int64_t flops[WORK_KINDS]; };

void work_kinds_note(struct work_kinds *k, struct host_ops ops);
/* Whether host code did less than the reference of some kinds and more of none: then its kernels did
 * the rest, if the result is correct. */
int work_kinds_are_fewer(const struct work_kinds *host, const struct work_kinds *ref);

#endif
