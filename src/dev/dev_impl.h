/* Functions of dev_cuda.c for dev.c. */
#ifndef DEV_DEV_IMPL_H
#define DEV_DEV_IMPL_H

#include "dev/dev.h"

/* Whether there is a driver at all: without one, "auto" is the CPU without a message. */
int dev_cuda_driver(void);
/* Loads the shared object and opens GPU `index` into `d`. */
int dev_cuda_open(struct dev *d, int index, struct err *e);
void dev_cuda_close(struct dev *d);
void dev_cuda_keep_choices(const struct dev *d);
void *dev_cuda_alloc(struct dev *d, size_t n, struct err *e);

#endif
