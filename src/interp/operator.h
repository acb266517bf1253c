/* Operators, comparison, subscripts, len; numbers by Python's rules. All return 0 or -1 unless
 * said. */
#ifndef INTERP_OPERATOR_H
#define INTERP_OPERATOR_H

#include "interp/state.h"

int op_binary(struct host *h, enum py_op op, struct val a, struct val b, struct val *out);
int op_inplace(struct host *h, enum py_op op, struct val a, struct val b, struct val *out);
int op_unary(struct host *h, enum py_op op, struct val a, struct val *out);
int op_compare(struct host *h, enum py_op op, struct val a, struct val b, struct val *out);
/* Returns 1 if `item` is in the container, 0 if not, -1 on failure. */
int op_contains(struct host *h, struct val container, struct val item);
int pynum_binary(struct host *h, enum py_op op, struct val a, struct val b, struct val *out); /* both are numbers */
int pynum_compare(struct val a, struct val b, int *unordered);              /* -1, 0, 1; unordered: NaN */
double val_as_double(struct val v);
int val_as_int(struct host *h, struct val v, int64_t *out);               /* int, bool or __index__ */
int item_get(struct host *h, struct val v, struct val index, struct val *out);
int item_set(struct host *h, struct val v, struct val index, struct val x);
int item_del(struct host *h, struct val v, struct val index);
int host_len(struct host *h, struct val v, int64_t *out);
/* Calls __len__. Returns 1 if called, 0 if the type has no such method, -1 on failure. */
int special_len(struct host *h, struct val v, int64_t *out);
/* start, stop, step of a slice over n items as slice.indices gives them, and the number of
 * items. */
int slice_indices(struct host *h, const struct slice_obj *s, int64_t n, int64_t *start, int64_t *stop,
		  int64_t *step, int64_t *count);

/* int | None and list[int]: tuples with a class of their own. */
int is_type_form(struct val v);
int make_type_form(struct host *h, const char *native, struct val a, struct val b, struct val *out);

#endif
