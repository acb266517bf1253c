/* Iteration, and lists built from iterables. */
#ifndef INTERP_ITER_H
#define INTERP_ITER_H

#include "interp/state.h"

int host_iter(struct host *h, struct val v, struct val *it);
/* the caller does not depend on the order of a set */
int host_iter_any(struct host *h, struct val v, struct val *it);
int host_each_any(struct host *h, struct val v, int (*fn)(void *ctx, struct val item), void *ctx);
int host_next(struct host *h, struct val it, struct val *out);            /* 1, 0 at the end, or -1 */
int list_extend(struct host *h, struct val list, struct val from);        /* by any iterable */
int list_sort(struct host *h, struct val list, struct val key, int reverse);
int dict_fill(struct host *h, struct val dict, struct val from);          /* from a mapping or pairs */
int host_to_list(struct host *h, struct val v, struct val *out);          /* a new list */
int host_to_sortable(struct host *h, struct val v, struct val *out);      /* a new list that is sorted next */

#endif
