/* A prepared task, as the deciding process holds it: its image, which runners get a copy of, and
 * all that must stay hidden from them.
 *
 * Judging a candidate is a pure function of (candidate, task, options): a task does not change once
 * it is prepared, except for the tasks at other sizes that it collects (sized_tasks.h). */
#ifndef VERIFY_TASK_TASK_H
#define VERIFY_TASK_TASK_H

#include "verify/candidate/task_image.h"
#include "interp/work_kinds.h"
#include "verify/verdict/compare.h"

/* A reduced task whose run is much work keeps no more indices of an independent axis, and has one
 * trial. */
enum { TASK_REDUCED_LEAST = 3 };

/* How a task is reduced: full size, except for independent axes. Only numbers of 64 bits, since
 * the task cache keeps its bytes. */
struct task_reduction {
	int64_t indices;                    /* that are kept of each independent axis; 0: it cannot be reduced */
	int64_t size[TASK_SIZES];           /* of each constant, for drawing inputs and building the model */
	/* if it is not 0, each weight is made of `part` indices along each dimension: for weights
	 * that are too large for memory */
	int64_t part;
	int64_t periods;                    /* that were taken out of each local axis; 0: no axis is local */
	int64_t is_symmetric;               /* inputs are symmetric if indices are mapped by inputs.seed */
	struct input_axes inputs;           /* sizes of inputs by position */
};

/* The expected results of a trial. Expectation i belongs to trial i of the image. */
struct expectation {
	struct results expected;            /* of the reference in fp64, with tolerances */
	/* of the original trial: the results as PyTorch computes them on a GPU, for KernelBench's
	 * rule */
	struct results torch;
	double rounding;                    /* relative distance of the reference in fp32 from `expected` */
	/* tensors that launches of a candidate are compared with, for trials that candidates are
	 * matched at: candidate/intermediate.h */
	struct intermediates intermediates;
};

struct sized_tasks;

struct task {
	struct task_image image;
	struct judge *judge;                /* borrowed */
	char *name;                         /* owned; for messages */
	struct diag problem;                /* why it cannot be judged; REASON_ok: it can */
	struct expectation expect[TRIALS_MOST];
	size_t n_sizes;                     /* the first n_sizes of image.size belong only to the inputs */
	int has_choices;                    /* some inputs hold integers, truth values, or are masks */
	int asks_for_indices;                /* the reference returns indices of its largest or smallest values */
	int at_full_size;                   /* every trial of the task's contract has the full size */
	struct buf notes;                   /* the lines of task_describe */
	struct host_work work;              /* of the reference at the original trial, */
	struct work_kinds kinds;            /* and by kind of operator */
	double seconds;                     /* of the reference at the original trial on a GPU, estimated */
	unsigned products;                  /* enum num_products that the reference forms */
	struct verdict_task check;          /* findings of the mutation check */
	int exact;                          /* its products may not be in tf32, under any options */
	int large;                          /* a run is large even at the smallest size: fewer trials */
	int is_fixed;                       /* it was prepared at sizes that were chosen for it */
	int64_t fixed[TASK_SIZES];          /* the chosen sizes */
	/* only its first trial is prepared, since candidates are mostly judged at other sizes;
	 * callers that need the others use task_open_whole */
	int is_outline;
	struct task_reduction reduced;      /* of a reduced task; indices == 0: it is not one */
	struct sized_tasks *sized_tasks;    /* the task at other sizes; owned; NULL where is_fixed */
	char *kept;                         /* the bytes it was opened from, which it borrows from; owned; or NULL */
};

/* Prepares a task, or takes it from the judge's store. Returns NULL only when memory ended (*e): a
 * task that cannot be judged says why in task_problem. */
struct task *task_open(struct judge *j, struct str source, const char *name, struct err *e);
/* The same task at other sizes, one for each of image.size, with the trials of the task's contract
 * and some of the general one; `large`: with fewer trials. */
struct task *task_open_at(const struct task *base, const int64_t *size, int large, struct err *e);
/* A reduced task. */
struct task *task_open_reduced(const struct task *base, const struct task_reduction *r, struct err *e);
/* The same task at the sizes of its first trial, with one more trial for each of n values, which
 * its inputs hold. A value on which the reference gives nothing to compare with is left out. */
struct task *task_open_rare(const struct task *like, const double *rare, int n, struct err *e);
/* All trials of a task that is an outline. */
struct task *task_open_whole(const struct task *base, struct err *e);
void task_free(struct task *t);

const struct diag *task_problem(const struct task *t);   /* reason ok: it can be judged */
size_t task_bytes(const struct task *t);                 /* about the bytes it holds, for those who keep tasks */
/* Appends what was found about the task as lines of text: trials, tolerances, relations,
 * mutants. */
void task_describe(const struct task *t, struct buf *out);
/* The expectation of one of its trials. */
const struct expectation *task_expectation(const struct task *t, const struct trial *tr);
/* The sizes that candidates are run at. */
enum size_kind task_size(const struct task *t);
/* Finds which sizes, among those of the bits of `among`, are independent axes: a bit of *axes for
 * each. The reference is run at the sizes `small`. Returns 0 on success, -1 on failure (*e). */
int task_find_axes(const struct task *t, const int64_t *small, unsigned among, unsigned *axes, struct err *e);

/* The positions of one size: the dimensions of inputs that have it, a bit for each dimension. */
struct axis_positions {
	int axes;                           /* independent axes among them; 0: the others are not filled in */
	int is_symmetric;                   /* an input is a symmetric matrix of the size */
	unsigned all[INPUT_AXES_MOST];
	unsigned cut[INPUT_AXES_MOST];      /* those of independent axes */
};

/* For a size that is no independent axis as a whole: which of its positions are, each by itself.
 * In A[N, N] @ B[N, N] these are the rows of A and the columns of B. Returns 0 on success, -1 on
 * failure (*e). */
int task_find_positions(const struct task *t, const int64_t *small, size_t which, struct axis_positions *out,
			struct err *e);

/* A local axis: each result depends on a window of it, as along the height of an image under a
 * convolution. If its contents have a period, so have results that are away from its ends, and
 * periods may be taken out of the middle. Is that so for this size, with inputs of `size` indices
 * that repeat after `period`? Fills in out->all. Returns 1 if it is, 0 if not, -1 on failure
 * (*e). */
int task_is_local(const struct task *t, const int64_t *small, size_t which, int64_t period, int64_t size,
		  struct axis_positions *out, struct err *e);

#endif
