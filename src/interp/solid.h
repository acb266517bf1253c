/* Number tensors: tensors made only of Python numbers, such as torch.tensor(n), arange(n), and the
 * results of operators on them. In a dry run these keep their contents, because a program that
 * reads one asks about its sizes, not about data. */
#ifndef INTERP_SOLID_H
#define INTERP_SOLID_H

#include "interp/bind.h"

/* Runs the function of a call whose arguments were checked. */
int solid_call(struct bind *b, unsigned kind);
/* A kernel gets the tensor: its elements are recorded, and its contents are no longer known. */
void solid_launch(struct host *h, const struct tensor_obj *t);

#endif
