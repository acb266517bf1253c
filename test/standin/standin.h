/* Inside the stand-in driver: memory, kernels, the fake clock. */
#ifndef TEST_STANDIN_H
#define TEST_STANDIN_H

#include "verify/gpu/cuda_driver.h"

struct standin_kernel;

/* A kernel from the bytes that fake_compiler gives: its request. NULL: they are none. */
struct standin_kernel *standin_kernel_new(const char *request);
void standin_kernel_free(struct standin_kernel *k);
const char *standin_kernel_name(const struct standin_kernel *k);
/* Runs the kernel on the tile machine. Returns a CUresult. */
int standin_kernel_run(struct standin_kernel *k, const struct cu_launch *config, void **params);
/* The first address among the arguments. */
char *standin_kernel_pointer(const struct standin_kernel *k, void **params);

/* Notes a launch for the stand-in of CUPTI: the kernel and its instances. */
void standin_launched(const char *name, double instances);

/* The end of the allocation that holds an address; NULL: there is none. */
char *standin_end_of(const char *at);

#endif
