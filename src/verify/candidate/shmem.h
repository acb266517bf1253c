/* The memory that the deciding process and a runner share, and all that passes through it: orders
 * one way, reports the other.
 *
 * The deciding process writes the candidate's text and the orders; the runner writes reports and
 * the bytes of results. This header describes the layout and the runner's side. The deciding
 * process reads reports with funnel/reports.h, which believes nothing of what they say. */
#ifndef VERIFY_CANDIDATE_SHMEM_H
#define VERIFY_CANDIDATE_SHMEM_H

#include "tensor/sparse.h"
#include "tile/code/compared.h"
#include "tile/estimate/speed_note.h"
#include "verify/candidate/addresses.h"
#include "verify/candidate/result_form.h"
#include "interp/work_kinds.h"
#include "verify/candidate/world.h"

enum {
	SHMEM_ORDERS = 64,             /* runs that can be ordered at once */
	SHMEM_TEXT = 2 << 20,          /* offset of the candidate's text */
	SHMEM_TEXT_MOST = 4 << 20,     /* bytes of text */
	SHMEM_DATA = 8 << 20,          /* offset of the results */
	SHMEM_BYTES = 1 << 29,         /* of all */
	SHMEM_ALIGN = 64,              /* the bytes of each result begin on a cache line of their own */
	/* runs of one trial that are ordered together: checked, in another order, with idle
	 * kernels */
	SHMEM_RUNS = 3
};

/* The program that is run without contents, at the sizes of the order. DRY_RUN_NOT: a run on a
 * trial instead. */
enum dry_run { DRY_RUN_NOT, DRY_RUN_CANDIDATE, DRY_RUN_REFERENCE };

/* The constant-tensor test, over some instances of each launch or over all of them; or no such
 * test. */
enum constant { CONSTANT_NOT, CONSTANT_SOME, CONSTANT_ALL };

/* The contribution of a launch to the path of a dry run. MARKS_CODE: its compiled code, and the
 * loops and grid axes that have more than one iteration. MARKS_GRIDS: also the number of instances.
 * MARKS_NAMES: the kernel's name instead of its code, since sizes may be constants in the code. */
enum path_marks { MARKS_CODE, MARKS_GRIDS, MARKS_NAMES };

/* The tensors of the candidate's model that hold a weight transposed: weights_note_transposed. */
struct run_transposed {
	int known;
	uint64_t bits;
};

/* One run of the candidate. */
struct run_order {
	int trial;                    /* index into the image's trials */
	int after;                    /* run it only if the order before it gave a result */
	int fresh;                    /* on a model that was built for it */
	struct tile_run_options run;  /* its fuel is for all kernels of this run */
	int watch, idle, copy, config, tune, skip_asserts;    /* as in struct launcher */
	int estimate;                 /* report the estimated time on a GPU */
	int note_tests;               /* report the path of a run on a trial, and the constants of comparisons */
	enum dry_run dry_run;
	/* for dry runs: */
	int64_t size[TASK_SIZES];     /* of each size of the task */
	int marks;                    /* enum path_marks */
	uint64_t sample;              /* seed of the choice of instances that are run; 0: none is */
	int64_t launches;             /* of a run at the test sizes */
	struct sparse_map map;        /* from indices at full size to those of the reduced task */
	enum constant constant;       /* each input and each weight has one value throughout */
	int addresses;                /* report the accesses of kernels */
	struct run_transposed transposed;     /* found by an earlier run of the candidate at other sizes, */
	struct intermediate_matches matches;  /* and these, too */
	int plan;                     /* report the launch plan of the call: launch_plan.h */
	uint64_t at, room;            /* offset and bytes of the memory for its results */
	/* offset and bytes of the memory for steps of the reference: n_steps of struct run_step,
	 * followed by contents (a dry run) or records (a run on a trial) */
	uint64_t steps_at, steps_room;
	int n_steps;
};

/* A step of the reference, whose result is an intermediate. In a run on a trial the runner gets
 * only its shape. In a dry run with sampled instances it is a step that the candidate's own kernels
 * were seen to take at smaller sizes, and the runner gets its contents, too. */
struct run_step {
	uint64_t how;                 /* the name of the call; 0: not given */
	uint64_t at;                  /* offset of its contents, dense fp32; 0: not given */
	int ndim;
	int64_t shape[TENSOR_DIMS];
};

/* An argument that a launch wrote and that has the shape of a step; its contents, dense fp32, begin
 * at the next cache line. The deciding process compares them. */
struct run_record {
	uint64_t kernel;
	int launch, arg;
	int step;                     /* the first step of that shape */
};

/* The cost of a run. */
struct outcome {
	struct tile_cost cost;        /* of the kernels */
	double seconds;               /* on a GPU, estimated if the order asks for it; 0: not known */
	struct speed_notes kernels;   /* of the same estimate */
	int launches;
	struct host_work host;        /* of the operators that host code calls, */
	struct work_kinds kinds;      /* and by kind */
	int64_t floats_read;          /* elements of tensors that Python code read */
	int sources;                  /* of a run in which copies replace kernels: as in struct launcher */
};

/* The form of a result tensor. */
struct run_form {
	char name[48];
	int dt, ndim;
	int overlapping, aliases, undefined, scattered;   /* as in struct result (verdict/compare.h) */
	int64_t shape[TENSOR_DIMS];
	int64_t n;                    /* elements; their dense bytes are at `at`, if there was room */
	uint64_t at;
	int has_values;
};

/* Elements of a tensor that sampled instances wrote: `at` is the offset of n positions, followed by
 * n values. */
struct run_part {
	uint64_t call;                /* the tensor is this reference intermediate; 0: the next of the results */
	int dt, ndim;
	int64_t shape[TENSOR_DIMS];
	int64_t n;
	int64_t blank;                /* elements that no instance writes, of a tensor of zeros */
	int64_t reached;              /* elements of its storage up to the last one that an instance writes */
	uint64_t at;
};

/* The results of a constant-tensor test. */
struct run_constant {
	int left;                     /* enum constant_answer: why an element is not known; 0: unknown */
	int n;
	struct { double first, last; } v[RESULTS_MOST];    /* elements of each result; NaN: not known */
};

enum run_state { RUN_SKIPPED, RUN_GAVE, RUN_FAILED, RUN_BROKE, RUN_STATES };

struct run_report {
	int state;                    /* enum run_state */
	struct diag diag;             /* RUN_FAILED: why, */
	int stage;                    /* and at which stage: compile, or the trial's */
	int refused;                  /* the compiler refused a kernel */
	int compiled;                 /* a kernel of the candidate compiled, in this run or before */
	int guessed;                  /* a dry run continued with a made-up value of a tensor */
	struct err err;               /* RUN_BROKE: our own failure */
	struct outcome out;           /* RUN_GAVE */
	int n, too_many;              /* results; there were more than RESULTS_MOST */
	struct run_form form[RESULTS_MOST];
	char nesting[RESULTS_FORM];   /* how the results are nested: results_set_form */
	int configs;                  /* configurations that autotuned kernels choose from, */
	char chosen[200];             /* and the one that they chose */
	char weights[16];             /* by which sign weights were matched: weights_put */
	struct run_transposed transposed;
	/* its launches. The runner counts them; the deciding process fills in the matches with
	 * reference intermediates (reports.c), from the records of a run on a trial */
	struct intermediate_matches matches;
	int n_records;
	struct host_path path;        /* of a dry run */
	struct compared compared;     /* by kernels, where the order has note_tests */
	int64_t work;                 /* of the operators of a dry run */
	int64_t programs;             /* sampled instances that were run */
	struct run_addresses addresses;       /* the accesses of the kernels */
	struct run_reads reads;       /* how much kernels read */
	struct run_constant constant; /* constant-tensor test: the results */
	uint64_t plan_n;              /* bytes of the launch plan, at the memory for results; 0: no plan */
	int n_parts;
	struct run_part part[RESULTS_MOST];
};

/* The report of the stage before any run. */
struct start_report {
	int failed;
	struct diag diag;             /* why, if it failed */
};

struct shmem {
	size_t text_n;
	int n_orders;
	struct run_order order[SHMEM_ORDERS];
	struct start_report start;
	struct run_report report[SHMEM_ORDERS];
};

_Static_assert(sizeof (struct shmem) <= SHMEM_TEXT, "the candidate's text lies behind it");

/* Memory of this process only, for judging without processes. Returns NULL on failure (*e). */
struct shmem *shmem_new(struct err *e);
void shmem_free(struct shmem *a);

/* The deciding process copies the candidate's text here before the runner starts. */
void shmem_set_text(struct shmem *a, struct str candidate);

/* --- the runner's side -------------------------------------------------------------------- */

struct str shmem_text(const struct shmem *a);
/* Writes the form of a result to report i and, if there is room, its bytes. Then it writes `state`,
 * the row of weights_kept, if it is not NULL. Returns 0 on success, -1 on failure (*e). */
int shmem_give(struct shmem *a, int i, struct host *h, struct val result, struct val inputs,
	       const struct tensor *state, struct err *e);

#endif
