/* The memory that the process which decides shares with the one that runs a candidate, and all
 * that passes through it: orders one way, reports the other.
 *
 * The decider writes the candidate's text and orders, the runner writes reports and the bytes of
 * results. The runner interprets hostile code, so its side is hostile: shmem_report copies what it
 * says before it is looked at, checks every number, and believes none about memory. What a report
 * claims about cost is only that, a claim about cost; whether a result is right is found by
 * comparing its bytes with what the decider alone holds. */
#ifndef VERIFY_CANDIDATE_SHMEM_H
#define VERIFY_CANDIDATE_SHMEM_H

#include "verify/candidate/reads.h"
#include "verify/candidate/trial.h"

enum {
	SHMEM_ORDERS = 64,             /* runs that can be asked for at once */
	SHMEM_TEXT = 1 << 20,          /* where the candidate's text begins */
	SHMEM_TEXT_MOST = 4 << 20,
	SHMEM_DATA = 8 << 20,          /* where results begin */
	SHMEM_BYTES = 1 << 29,
	SHMEM_ALIGN = 64,              /* the bytes of each result begin on a cache line of their own */
	/* of one trial that belong together: checked, in another order, with idle kernels */
	SHMEM_RUNS = 3
};

/* What is to be followed without contents, at the sizes of the order; or nothing: a run on a trial. */
enum dry_run { DRY_RUN_NOT, DRY_RUN_CANDIDATE, DRY_RUN_REFERENCE };

/* Tensors that have one value each, for some programs, for all of them; or they have not. */
enum constant { CONSTANT_NOT, CONSTANT_SOME, CONSTANT_ALL };

/* Which of a candidate's weights are transposed, where only their values tell: weights_note_transposed. */
struct run_transposed {
	int known;
	uint64_t bits;
};

/* One run of the candidate on a trial. */
struct run_order {
	int trial;
	int after;                    /* only if the order before it gave a result */
	int fresh;                    /* on a model that was built for it */
	struct tile_run_options run;  /* its fuel is for all kernels of this run */
	int watch, idle, copy, config, tune;    /* as in launch_ctx */
	int estimate;                 /* the time on a GPU is asked for */
	int note_tests;               /* the path of a run on a trial is wanted, too */
	enum dry_run dry_run;
	int64_t size[TASK_SIZES];     /* where it is followed: of each size of the task */
	int marks;                    /* where it is followed: enum path_marks */
	uint64_t sample;              /* where it is followed: some programs are run, chosen by this; 0: none */
	enum constant constant;               /* and inputs and weights have one value each: flat.h */
	int64_t reduced;                  /* and so many stand for all of what the task only counts */
	struct run_transposed transposed;     /* what was found of its weights at other sizes, */
	struct intermediate_matches matches;  /* and of its launches */
	uint64_t at, room;            /* where the results' bytes may go */
};

/* What a run of the candidate cost. */
struct outcome {
	struct tile_cost cost;
	double seconds;               /* on a GPU, estimated where that was asked for; 0: not known */
	int launches;
	struct host_work host;        /* of the host's operators */
	int64_t floats_read;          /* of tensors, by Python code */
	/* where kernels were replaced by copies: what one launch could copy, as in the launcher */
	int sources;
};

struct run_form {
	char name[48];
	int dt, ndim;
	int overlapping, aliases, undefined, scattered;
	int64_t shape[TENSOR_DIMS];
	int64_t n;                    /* elements; their bytes are dense and lie at `at`, if there was room */
	uint64_t at;
	int has_values;
};

/* Elements of a result, or of what an operator of the reference makes, that some programs wrote: n
 * places and then n values lie at `at`. */
struct run_part {
	uint64_t made;                /* which call makes it; 0: it is the next of the results */
	int dt, ndim;
	int64_t shape[TENSOR_DIMS];
	int64_t n;
	/* elements of it that no program can have written, of one that was made of zeros */
	int64_t blank;
	int64_t reached;              /* elements of its storage up to the last that a program wrote */
	uint64_t at;
};

/* What came of tensors of one value. */
struct run_constant {
	int n;
	struct { double first, last; } v[RESULTS_MOST];    /* elements of each result; NaN: not known */
};

enum run_state { RUN_SKIPPED, RUN_GAVE, RUN_FAILED, RUN_BROKE, RUN_STATES };

struct run_report {
	int state;
	struct diag diag;             /* RUN_FAILED: why */
	int stage;                    /* and where: compile, or the trial's */
	int refused;                  /* by the compiler */
	int guessed;                  /* it was followed with values that only stand for a tensor's */
	struct err err;               /* RUN_BROKE: what went wrong that is not the candidate's fault */
	struct outcome out;           /* RUN_GAVE */
	int n, too_many;
	struct run_form form[RESULTS_MOST];
	char made[RESULTS_FORM];      /* results.form */
	int configs;                  /* programs that autotuned kernels chose from */
	char chosen[200];             /* and which they chose */
	char weights[16];             /* how they were matched */
	struct run_transposed transposed;
	/* of a run on a trial: what its launches make; of what was followed: how many there were */
	struct intermediate_matches matches;
	struct host_path path;        /* of what was followed */
	int64_t work;                 /* that its operators did */
	int64_t programs;             /* that were run of it */
	struct run_reads reads;       /* what they read, */
	struct run_constant constant;         /* and made of tensors of one value each */
	int n_parts;
	struct run_part part[RESULTS_MOST];
};

/* Of the stage before any run. */
struct start_report {
	int failed;
	struct diag diag;
	double ms;
};

struct shmem {
	size_t text_n;
	int n_orders;
	struct run_order order[SHMEM_ORDERS];
	struct start_report start;
	struct run_report report[SHMEM_ORDERS];
};

_Static_assert(sizeof (struct shmem) <= SHMEM_TEXT, "the candidate's text lies behind it");

/* Memory of this process alone, for judging without processes. NULL: *e. */
struct shmem *shmem_new(struct err *e);
void shmem_free(struct shmem *a);

/* Copies the candidate's text into the shared memory: by the deciding process, before the runner starts. */
void shmem_set_text(struct shmem *a, struct str candidate);

/* --- the runner's side ----------------------------------------------------------------------- */

struct str shmem_text(const struct shmem *a);
/* Writes a result's form and, as far as there is room, its bytes; behind it what the call left in buffers, if not NULL. */
int shmem_give(struct shmem *a, int i, struct host *h, struct val result, struct val inputs,
	       const struct tensor *state, struct err *e);

#endif
