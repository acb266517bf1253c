/* A launch plan (candidate/launch_plan.h) as the GPU judge executes it.
 *
 * The text comes from a process that interpreted a candidate. Parsing checks every number: indices,
 * offsets within storages, sizes, total memory. The accesses of a kernel through its pointers are
 * not known here; red zones and the driver find that out. */
#ifndef VERIFY_GPU_GPU_PLAN_H
#define VERIFY_GPU_GPU_PLAN_H

#include "base/json.h"
#include "tensor/tensor.h"

enum { LAUNCH_ARGS = 128, LAUNCH_STEPS = 4096, LAUNCH_STORAGES = 4096, LAUNCH_KERNELS = 256, LAUNCH_RESULTS = 64 };

/* The source of a storage's contents before each call. */
enum launch_from { LAUNCH_EMPTY, LAUNCH_INPUT, LAUNCH_WEIGHT, LAUNCH_OPERATOR, LAUNCH_VALUE, LAUNCH_BYTES };

struct launch_memory {
	int64_t bytes;
	enum launch_from from;
	struct str name;            /* of the input or the weight */
	enum dtype dt;              /* LAUNCH_WEIGHT: its dtype in the model */
	int transposed;
	unsigned char *data;        /* LAUNCH_VALUE: the pattern; LAUNCH_BYTES: all bytes. Owned */
	size_t data_n;
};

/* A view of a storage: offset in bytes, sizes and strides in elements. */
struct launch_view {
	int storage;
	int64_t offset;
	enum dtype dt;
	int ndim;
	int64_t shape[TENSOR_DIMS], stride[TENSOR_DIMS];
};

/* A parameter of machine code: an address or a number, with its width. */
struct launch_arg {
	int storage;                /* -1: a number */
	int64_t offset;
	unsigned char number[8];
	int bytes;
};

struct launch_step {
	int kernel;                 /* -1: a copy, or an operator */
	int is_operator;
	int64_t grid[3];
	struct launch_arg *args;      /* owned */
	int n_args;
	struct launch_view to, from;  /* of a copy */
};

struct gpu_plan {
	struct json *json;          /* strings are borrowed from it */
	struct str unavailable;     /* why there is no plan; empty: there is one */
	struct buf *requests;       /* one for each kernel, as JSON; owned */
	int n_kernels;
	struct launch_memory *memory;
	int n_memory;
	struct launch_step *steps;
	int n_steps;
	int n_operators;            /* steps that are operators of PyTorch: only a runner with PyTorch can do them */
	struct launch_view *results;
	int n_results;
	int64_t bytes;              /* of all storages */
};

/* Returns 0 on success, -1 if the text is no plan (*e). Release it in each case. */
int gpu_plan_parse(struct gpu_plan *p, struct str text, struct err *e);
void gpu_plan_release(struct gpu_plan *p);
/* Elements of a view. */
int64_t launch_view_numel(const struct launch_view *v);
/* Is the view dense, in the order of its sizes? */
int launch_view_is_dense(const struct launch_view *v);

#endif
