/* The origins of a module's tensors as Python code: "x", "pair[0]", "self.conv.weight". */
#ifndef SOLVE_ORIGIN_H
#define SOLVE_ORIGIN_H

#include "solve/trace.h"

/* Makes an argument of the graph of every tensor that the value `code` denotes holds: parameters,
 * buffers and other attributes of a module, elements of lists, tuples and dictionaries. */
void origin_note(struct trace *t, struct host *h, struct val v, const char *code);
/* Calls fn for each of these tensors with its code, which is in the arena. A nonzero result of fn stops the walk and
 * is returned. */
typedef int origin_fn(void *ctx, struct val v, const char *code);
int origin_walk(struct arena *a, struct host *h, struct val v, const char *code, origin_fn *fn, void *ctx);

#endif
