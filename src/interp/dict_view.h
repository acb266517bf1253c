/* dict.keys(), dict.values(), dict.items(): what a dictionary holds whenever they are asked. */
#ifndef INTERP_DICT_VIEW_H
#define INTERP_DICT_VIEW_H

#include "interp/state.h"

int view_iter(struct host *h, struct val v, struct val *it);
int64_t view_len(struct val v);
/* 1, 0, -1 */
int view_has(struct host *h, struct val v, struct val item);
int view_to_set(struct host *h, struct val v, struct val *out);
/* keys and items are like sets */
int view_is_set(struct val v);
/* 1, 0: not these, -1 */
int view_compare(struct host *h, enum py_op op, struct val a, struct val b, struct val *out);
/* the same */
int view_binary(struct host *h, enum py_op op, struct val a, struct val b, struct val *out);

#endif
