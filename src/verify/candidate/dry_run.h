/* Following a program at a choice of the task's sizes without contents: which way its tests go, which
 * kernels it launches with what, whether they compile and fit. It costs what the host code costs,
 * however large the sizes are. Candidates are followed on the side that runs them. */
#ifndef VERIFY_CANDIDATE_DRY_RUN_H
#define VERIFY_CANDIDATE_DRY_RUN_H

#include "verify/candidate/shmem.h"
#include "verify/candidate/task_image.h"

/* The i-th order of the area. 0, 1: the program fails there, the report says why; -1. */
int dry_run_program(struct judge *j, const struct task_image *t, const struct program *candidate,
		    struct launcher *launch, struct shmem *a, int i, struct err *e);

/* What a call of a reference would take. */
struct dry_run_cost {
	int64_t work;                 /* here, in about nanoseconds of a core */
	int64_t largest;              /* bytes of the largest tensor that it makes, */
	int64_t given, kept;          /* and of the largest that it is given, and that it has itself */
	double seconds;               /* on the GPU of the options, estimated; 0: not known */
	double least_read;            /* of each input: reads_least */
	int guessed;                  /* it asked for values, which there are none of */
};

/* A task's reference with its constants replaced so, followed where the task is made ready. 0, 1: it fails there, -1. */
int dry_run_reference(struct judge *j, const struct program *reference, const struct host_override *ov,
		      size_t n_ov, struct dry_run_cost *out, struct err *e);

/* What a kernel was compiled to, as a mark. */
int dry_run_code(const struct tile_code *code, uint64_t *mark, struct err *e);
/* A launch of that as marks of the path: it was launched, along which axes there is more than one
 * program of it, which of its loops go round more than once. */
int dry_run_launch(struct host_path *path, enum path_marks marks, const struct tile_code *code,
		   uint64_t of_code, const struct tile_launch *l, struct err *e);

#endif
