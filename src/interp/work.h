/* The cost of torch operators, and the marks of a dry run. work.c explains both. */
#ifndef INTERP_WORK_H
#define INTERP_WORK_H

#include "interp/state.h"

/* NULL: not recorded */
struct host_op *host_record_op(struct host *h, const struct bind_row *row, unsigned flags);
/* Adds the bytes and operations of one call to its record. */
void host_count_work(struct host_op *op, const struct val *a, size_t n, struct val out);
/* The part of its input that a call of a window operator (BIND_WINDOW) reads at the least; 1: all of it, or
 * not known. */
double host_window_share(const char *name, const struct sig *s, const struct val *a, struct val out);

/* Marks the outcome of a test in the program's own code, if marks are collected. */
void host_note_branch(struct host *h, const struct py_node *at, int outcome);
/* Marks whether an integer quotient is 1 or more: with a single block, a wrong loop over blocks
 * or a wrong index made of several would not show. */
void host_note_quotient(struct host *h, const struct py_node *at, struct val quotient);
/* Marks the kind of number or text that an expression gave: 0, 1, more. It must be the same at
 * other sizes. */
void host_note_kind(struct host *h, const struct py_node *at, struct val v);
/* The same for element number `index` of a number tensor. */
void host_note_element(struct host *h, const struct py_node *at, int index, double x);
/* Marks which member of a tuple or list was taken, and which entry of a dictionary by a number
 * or tuple. */
void host_note_index(struct host *h, const struct py_node *at, struct val of, struct val index);
void host_note_entry(struct host *h, struct val key, uint64_t hash, int found);
/* Marks the outcome of a comparison of two integers. */
void host_note_test(struct host *h, const struct py_node *at, struct val a, struct val b, int outcome);

#endif
