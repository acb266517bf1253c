/* What operations of torch would cost on a device: records. */
#ifndef INTERP_WORK_H
#define INTERP_WORK_H

#include "interp/state.h"

/* NULL: not recorded */
struct host_op *host_record_op(struct host *h, const struct bind_row *row, unsigned flags);
/* Adds the bytes and flops of one call to its record (work.c). */
void host_count_work(struct host_op *op, const struct val *a, size_t n, struct val out);

/* Notes which way a test in code that is not ours went, where that is asked for. */
void host_note_choice(struct host *h, const struct py_node *at, int outcome);
/* Whether an integer quotient is one or more: with one block a loop over blocks, or an index made
 * of several, is not seen. */
void host_note_quotient(struct host *h, const struct py_node *at, struct val quotient);
/* What kind of number or text an expression gave: nothing, one, more. At other sizes it must be of the same kind. */
void host_note_kind(struct host *h, const struct py_node *at, struct val v);
/* The same of an element of a tensor that is made of numbers alone. */
void host_note_element(struct host *h, const struct py_node *at, int place, double x);
/* Which member of a tuple or list was asked for; which entry of a dictionary, by a number or several. */
void host_note_place(struct host *h, const struct py_node *at, struct val of, struct val index);
void host_note_entry(struct host *h, struct val key, uint64_t hash, int found);
/* The same of two integers. */
void host_note_test(struct host *h, const struct py_node *at, struct val a, struct val b, int outcome);

#endif
