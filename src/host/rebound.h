/* Buffers that forward rebinds: self.running_mean = 0.9 * self.running_mean + ..., or x.data = y.
 *
 * If a model may change its buffers, writing into one and binding its name to another tensor of the
 * same shape are the same, as long as nothing else refers to the old tensor. A rebound buffer is
 * restored to the old tensor with the new values in it, so that code after the call sees only one
 * kind of change. A buffer that something else refers to stays as forward left it. */
#ifndef HOST_REBOUND_H
#define HOST_REBOUND_H

#include "host/host.h"

struct rebound {
	/* of each buffer: its dictionary, name, tensor, and a reference to the memory that the tensor had */
	struct { struct dict_obj *of; struct val key, old; struct tensor t; } *v;
	size_t n, cap;
};

/* Before the call: remembers the buffers of a model. After it: rebound_settle restores those that
 * were rebound. Both return 0, or -1 when memory runs out. */
int rebound_note(struct rebound *r, struct host *h, struct val model, struct err *e);
int rebound_settle(struct rebound *r, struct host *h, struct err *e);
void rebound_release(struct rebound *r, struct host *h);

#endif
