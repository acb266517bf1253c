/* Buffers that forward binds to new tensors, or new memory: self.running_mean = 0.9 *
 * self.running_mean + ..., x.data = y
 *
 * Where a model may change its buffers it is the same whether it writes into them or binds the name
 * to another tensor of the same form, as long as nobody else has the old one. What was bound anew
 * is put back as it was, with the new values in it: what follows a call sees one kind of change
 * only. A buffer that something else refers to stays as forward left it. */
#ifndef HOST_REBOUND_H
#define HOST_REBOUND_H

#include "host/host.h"

struct rebound {
	struct { struct dict_obj *of; struct val key, old; struct tensor t; } *v;     /* t: what old was, held */
	size_t n, cap;
};

int rebound_note(struct rebound *r, struct host *h, struct val model, struct err *e);
int rebound_settle(struct rebound *r, struct host *h, struct err *e);
void rebound_release(struct rebound *r, struct host *h);

#endif
