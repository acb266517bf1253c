/* dict.keys(), dict.values() and dict.items(): views that show the dictionary as it is when
 * asked. */
#ifndef INTERP_DICT_VIEW_H
#define INTERP_DICT_VIEW_H

#include "interp/state.h"

int view_iter(struct host *h, struct val v, struct val *it);
int64_t view_len(struct val v);
/* item in view: 1, 0 or -1 */
int view_has(struct host *h, struct val v, struct val item);
int view_to_set(struct host *h, struct val v, struct val *out);
/* keys and items act like sets */
int view_is_set(struct val v);
/* Both return 1 if done, 0 if the operands are not views, -1 on failure. */
int view_compare(struct host *h, enum py_op op, struct val a, struct val b, struct val *out);
int view_binary(struct host *h, enum py_op op, struct val a, struct val b, struct val *out);

#endif
