/* Tensors that are made of numbers alone: torch.tensor(n), arange(n), what operators make of them.
 * At sizes where tensors are hollow these keep their contents, for a program that asks for such a
 * number asks for its sizes. */
#ifndef INTERP_SOLID_H
#define INTERP_SOLID_H

#include "interp/bind.h"

/* Runs the row of a call whose arguments were checked. */
int solid_call(struct bind *b, unsigned kind);
/* A kernel gets the tensor: what it is made of is noted, and is not known any longer. */
void solid_launch(struct host *h, const struct tensor_obj *t);

#endif
