/* Dry runs: host code on tensors without contents, at any sizes.
 *
 * A dry run shows which way comparisons of sizes go, which kernels are launched with what, whether
 * they compile and fit the GPU. It costs what the host code costs, however large the sizes are:
 * 4096 x 4096 takes no longer than 16 x 16. The runner makes dry runs of candidates, the deciding
 * process those of references. */
#ifndef VERIFY_CANDIDATE_DRY_RUN_H
#define VERIFY_CANDIDATE_DRY_RUN_H

#include "verify/candidate/shmem.h"
#include "verify/candidate/task_image.h"

/* Makes the dry run of order i. Returns 0 on success, 1 if the program fails there (the report says
 * why), -1 on our own failure (*e). */
int dry_run_program(struct judge *j, const struct task_image *t, const struct program *candidate,
		    struct launcher *launch, struct shmem *a, int i, struct err *e);

/* The cost of one call of a reference. */
struct dry_run_cost {
	int64_t work;                 /* in this process, in about nanoseconds of a core */
	int64_t largest;              /* bytes of the largest tensor that it computes, */
	int64_t given, kept;          /* of the largest input, and of the largest weight */
	double seconds;               /* on the GPU of the options, estimated; 0: not known */
	double least_read;            /* the part of each input that it reads at the least: reads_least */
	int guessed;                  /* it asked for a value of a tensor, which has none */
	char why[160];                /* the message of a reference that failed */
};

/* Makes a dry run of a task's reference with these constants. Returns 0 on success, 1 if it fails
 * there, -1 on our own failure (*e). */
int dry_run_reference(struct judge *j, const struct program *reference, const struct host_override *ov,
		      size_t n_ov, struct dry_run_cost *out, struct err *e);

/* The mark of a kernel's compiled code. Returns 0 on success, -1 on failure (*e). */
int dry_run_code(const struct tile_code *code, uint64_t *mark, struct err *e);
/* Adds the marks of a launch to the path: that it was launched, which grid axes have more than one
 * instance, which of its loops have more than one iteration. */
int dry_run_launch(struct host_path *path, enum path_marks marks, const struct tile_code *code,
		   uint64_t of_code, const struct tile_launch *l, struct err *e);

#endif
