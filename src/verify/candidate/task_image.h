/* The image of a task: all that the process which runs candidates may see of it.
 *
 * An image holds the task's source, its sizes, and the inputs and weights of its trials. It holds
 * no expected result and no tolerance. A runner gets an image and nothing else, so a secret stays
 * a secret as long as no member here holds it; `struct task` (task/task.h), which is above this
 * folder and may not be included from it, holds the rest.
 *
 * On the hybrid track the trials of a reduced task hold reference intermediates, which the
 * candidate's operators may ask for (intermediate.h). */
#ifndef VERIFY_CANDIDATE_TASK_IMAGE_H
#define VERIFY_CANDIDATE_TASK_IMAGE_H

#include "verify/candidate/world.h"

/* A size of the task that may be changed. */
struct task_size {
	struct str name;                    /* of the module constant; borrowed from the module */
	int64_t full;                       /* its value at full size */
	int of_model;                       /* get_init_inputs reads it */
};

struct task_image {
	uint64_t id;                        /* unique among the tasks that a judge prepared */
	char *source;                       /* owned; NULL in an image that was opened from bytes */
	struct py_module module;            /* the source, parsed */
	int parsed;                         /* `module` is there */
	struct program reference;           /* class Model of the module */
	int keeps_state;                    /* forward of the reference changes its buffers */
	struct host_override model_ov[TASK_SIZES];   /* the reference's overrides, where it has any */
	struct task_size size[TASK_SIZES];  /* sizes of the inputs, then of the model */
	size_t n_all;                       /* entries of `size` */
	struct task_weights set[WEIGHT_SETS];
	/* holds the trials' inputs and runs nothing; only read once the task is prepared; NULL in
	 * an image that was opened from bytes, whose trials have packed inputs instead */
	struct host *vault;
	struct trial trial[TRIALS_MOST];
	int n_trials;
};

/* Appends the image as bytes. Returns 0 on success, -1 on failure (*e). */
int task_image_write(const struct task_image *t, struct buf *out, struct err *e);
/* Opens an image in caller's storage. It borrows the bytes, which this machine wrote and which
 * begin on a cache line. Trials can be run on it. Returns 0 on success, -1 on failure (*e), with
 * nothing to release. */
int task_image_open(struct task_image *t, struct str bytes, struct err *e);
void task_image_release(struct task_image *t);

/* Intermediates as bytes, in an image and in a prepared task. Those that are read borrow the
 * bytes. */
struct bytes;
void intermediates_write(const struct intermediates *m, struct buf *out);
int intermediates_read(struct bytes *in, struct intermediates *m, struct err *e);

#endif
