/* The recording of a module: which value each memory of the program holds now.
 *
 * trace_call is the observer of host_set_called. It lowers each torch operator while the tensors of
 * the call are alive. The first operator that cannot be lowered ends the recording; its name is kept. */
#ifndef SOLVE_TRACE_H
#define SOLVE_TRACE_H

#include "host/host.h"
#include "solve/lower.h"

struct trace_memory {
	uint64_t id;             /* of the storage */
	int value;               /* the value that it holds now */
	int arg;                 /* the ARG value whose memory it is, or -1 */
	int64_t base;            /* first element of the argument in the storage */
	struct storage *st;      /* a reference, so that ids and contents stay */
};

struct trace {
	struct graph g;
	struct { struct trace_memory *v; size_t n, cap; } memory;
	struct { int *v; size_t n, cap; } results;   /* values of the module's results, in order */
	char stopped[96];        /* operator that ended the recording, or "" */
	char why[160];
	int ops;                 /* operators recorded that are not views */
};

void trace_release(struct trace *t);
struct trace_memory *trace_find(struct trace *t, const struct storage *st);
/* The storage holds `value` from now on. */
void trace_put(struct trace *t, struct storage *st, int value, int arg, int64_t base);
/* An argument of the kernels: a tensor that Python code `name` denotes. */
void trace_arg(struct trace *t, const struct tensor_obj *o, const char *name);
host_op_call_fn trace_call;

#endif
