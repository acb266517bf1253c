/* Inside the funnel: the state of one candidate while it is judged, the result of one trial, and
 * how runs of the candidate are ordered, taken and compared.
 *
 * The funnel is the deciding process. It holds the expected results and sends orders to the runner,
 * which interprets the candidate (shmem.h). It never runs code of the candidate itself.
 *
 * Invariant: a trial does not write the verdict. It fills a struct trial_result, and its caller
 * either commits that result or drops it. A dropped trial leaves no trace in the verdict. */
#ifndef VERIFY_FUNNEL_FUNNEL_H
#define VERIFY_FUNNEL_FUNNEL_H

#include "verify/candidate/runner_link.h"
#include "verify/funnel/reports.h"
#include "verify/task/task.h"
#include "verify/verdict/verdict.h"

/* The answer of every funnel function that can fail.
 *
 * STEP_PASSED  the candidate passes this step; for a search: the search found what it looks for.
 * STEP_FAILED  the candidate fails, and the verdict (or the trial_result) says why; for a search:
 *              the search found nothing.
 * STEP_BROKE   judging itself failed (memory, a system call); *f->e says why, and the verdict
 *              means nothing.
 *
 * STEP_PASSED is 0 and STEP_BROKE is -1, so the results of err_set() and of functions that return 0
 * or -1 convert without a mapping. */
enum step { STEP_PASSED = 0, STEP_FAILED = 1, STEP_BROKE = -1 };

/* The results and the cost of one run of the candidate. The holder releases `got`. */
struct attempt {
	struct results got;
	struct outcome cost;
};

/* The test sizes of a candidate: see test_sizes.h. */
struct test_sizes {
	const struct task *t;               /* the task, prepared at these sizes; borrowed from sized_tasks */
	enum size_kind kind;
	int64_t size[TASK_SIZES];           /* the value of each size; unset if `t` is the base task */
	struct host_path full_size_path;    /* the candidate's path at full size; n is 0 if it is not known */
};

struct funnel {
	struct judge *j;
	const struct judge_options *o;
	const struct task *t;               /* the task that the current runner has; NULL: start a new runner */
	const struct task *base;            /* the task as it was prepared first; has the general input sets */
	const struct task *judged;          /* the task at the sizes where results were compared last */
	struct test_sizes sizes;            /* the first test sizes of the candidate */
	struct verdict *v;
	struct str source;                  /* text of the candidate */
	struct runner_link *link;
	struct orders orders;               /* the batch that was ordered last */
	struct run_report report;           /* the report that was taken last */
	enum lost lost;                     /* how the runner was lost; LOST_NOT: it is alive */
	/* the checked run on the original input set, kept for stage full; empty: no run is kept */
	struct attempt original;
	int64_t fuel;                       /* tile operations that each kernel of a checked run may use */
	int slow;                           /* kernels used up their fuel at the first sizes; they get no more */
	int again;                          /* the candidate gave wrong values at other sizes */
	int skip_asserts;                   /* host code asserts full size: failed asserts are passed over */
	int has_dot;                        /* the text of the candidate contains "dot" */
	int defined;                        /* the checked run met no lane that Triton leaves undefined */
	int compares_integers;              /* host code or a kernel compares integers: a size branch is possible */
	struct compared compared;           /* constants that its kernels compare values with */
	enum path_marks marks;              /* the marks that a dry run notes for a launch */
	int unexplained;                    /* the last wrong result is not explained by products in tf32 */
	int near;                           /* the last wrong result is within a few percent of the expected one */
	const struct task *buffers_task;    /* the task of the last run that left buffers unchanged, */
	uint64_t buffers_unchanged;         /* and a hash that identifies these buffers */
	struct run_transposed transposed;         /* transposed weights, as the last run reported them */
	struct intermediate_matches matches;      /* reference intermediates, as the last run reported them */
	double full_size_seconds;           /* estimated GPU time of the candidate at full size; 0: not known */
	struct speed_notes full_size_kernels;   /* of the same estimate */
	struct err *e;
};

/* Findings of one trial about the candidate. All fields but `diag` and `stage` also count when the
 * trial passes. Start from TRIAL_RESULT_INIT. */
struct trial_result {
	enum step step;                     /* STEP_FAILED: `stage` and `diag` are set */
	enum judge_stage stage;             /* the stage that the candidate fails */
	struct diag diag;
	char explain[sizeof ((struct verdict *)0)->explain];    /* "" leaves that of the verdict */
	int compared;                       /* a comparison failed: elements and pattern are set */
	struct verdict_element elements[VERDICT_ELEMENTS];
	int n_elements;
	char pattern[VERDICT_PATTERN];
	int has_input;                      /* `input` is a row for the verdict's list of input sets */
	struct verdict_input input;
	char weights[sizeof ((struct verdict *)0)->weights];    /* how weights were matched; "" not known */
	int compiled;                       /* the run got through its launches: stage compile is passed */
	int kernelbench;                    /* KernelBench's own rule passes: 1, 0, -1 not known */
	int buffers_kept, buffers_left;     /* added to the verdict's counts */
};

#define TRIAL_RESULT_INIT { .step = STEP_PASSED, .kernelbench = -1 }

/* --- results of trials: trial_result.c ---------------------------------------------------- */

/* The trial fails at a stage for the reason of *d. The message gets the configuration of an
 * autotuned kernel. */
enum step trial_result_fail(struct trial_result *r, const struct funnel *f, enum judge_stage s, const struct diag *d);
enum step trial_result_failf(struct trial_result *r, const struct funnel *f, enum judge_stage s, enum reason why,
			     const char *fmt, ...) PRINTF_LIKE(5, 6);
/* Adds the row of an input set; c->reason says whether it passed. */
void trial_result_input(struct trial_result *r, const struct funnel *f, const struct trial *tr,
			const struct comparison *c);
/* Adds the row of an input set that is not held against the candidate, and why. */
void trial_result_skip(struct trial_result *r, const struct funnel *f, const struct trial *tr, const char *why);
/* Writes the result into the verdict. Returns r->step. */
enum step funnel_commit(struct funnel *f, const struct trial_result *r);
/* Writes only the row of the input set, for a trial that does not decide. */
void funnel_commit_input(struct funnel *f, const struct trial_result *r);
/* The candidate fails here: makes a trial result and commits it. Return STEP_FAILED. */
enum step funnel_fail(struct funnel *f, enum judge_stage s, const struct diag *d);
enum step funnel_failf(struct funnel *f, enum judge_stage s, enum reason why, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
/* Takes back that the candidate is correct and how fast it is: a check at full size failed. */
void funnel_revoke(struct funnel *f);

/* --- runs of the candidate: attempt.c ----------------------------------------------------- */

/* Starts a runner for f->t. Returns STEP_PASSED or STEP_BROKE. */
enum step funnel_start(struct funnel *f);
/* Starts a runner for another task (the same task at other sizes) unless it is the current one.
 * Returns STEP_PASSED or STEP_BROKE. */
enum step funnel_switch_task(struct funnel *f, const struct task *t);
/* Adds a run to the batch. Set f->orders.n to 0 to begin a batch. */
void attempt_order(struct funnel *f, const struct trial *tr, const struct run_order *how);
/* Runs the batch. Fails if the runner is lost (f->lost says how). */
enum step attempt_ask(struct funnel *f, struct trial_result *r);
/* The same; a lost runner is the verdict. */
enum step funnel_ask(struct funnel *f);
/* Takes the i-th run of the batch. Passes and sets *out, or fails if the run failed (*r says
 * why). */
enum step attempt_take(struct funnel *f, int i, struct attempt *out, struct trial_result *r);
/* Compares results with those that the trial expects. */
enum step attempt_judge(struct funnel *f, const struct trial *tr, const struct results *got, struct trial_result *r);
/* Stage full needs at least one launch in each run. Notes that the launches compiled. */
enum step attempt_launched(const struct funnel *f, enum judge_stage s, const struct outcome *o,
			   struct trial_result *r);

/* Moves to the test sizes *c: the task of the runner, and the sizes that the verdict holds for. */
enum step funnel_use_sizes(struct funnel *f, const struct test_sizes *c);

/* --- stages ------------------------------------------------------------------------------- */

/* One function for each stage. Each writes the verdict and leaves timing to its caller. */
enum step stage_ast(struct funnel *f);
enum step stage_compile(struct funnel *f);
enum step stage_tiny(struct funnel *f);
enum step stage_full(struct funnel *f);
enum step stage_timing(struct funnel *f);
/* Runs the stages from `first` to `last` that the options ask for, and notes their times. */
enum step funnel_run_stages(struct funnel *f, enum judge_stage first, enum judge_stage last);

/* Fuel of kernels, in tile operations. FUEL_FIRST: a checked run at the first sizes; a retry at
 * smaller sizes may follow. FUEL_CHECKED: any other checked run, and all runs of a candidate that
 * used up FUEL_FIRST. FUEL_FAST: all other runs. */
enum { FUEL_FIRST = 4000000, FUEL_CHECKED = 32000000, FUEL_FAST = 400000000 };

/* The two passes of stage tiny. PASS_CHECKED finds races and reads of unwritten memory. PASS_FAST
 * has another poison and another order of the instances: it finds results that were correct by
 * luck. */
enum tiny_pass { PASS_CHECKED, PASS_FAST };
/* The byte in unwritten memory in each pass. As a float 0xffffffff is NaN and 0x7b7b7b7b is
 * 1.3e36. */
enum { POISON_CHECKED = 0xff, POISON_FAST = 0x7b };
struct tile_run_options tiny_options(const struct funnel *f, enum tiny_pass which);
/* The poison in runs on the number-th trial: every second trial has POISON_FAST. */
int trial_poison(const struct funnel *f, int number);

/* Is the trial of stage full, of this contract, and not switched off? */
int trial_wanted(const struct funnel *f, const struct trial *tr, enum contract c);
/* Number of trials of the contract that are to be run, without the first trial, which belongs to
 * stage tiny. */
int trials_wanted(const struct funnel *f, enum contract c);
/* The order for the number-th trial in stage full. */
struct run_order full_order(const struct funnel *f, const struct trial *tr, int number, int round);
/* Orders the trials of a contract, beginning with the number-th, until shared memory has no room
 * for more results. Returns the number of the first trial that is left. */
int order_full(struct funnel *f, enum contract c, int number, int round);
/* Judges the i-th run of the batch, a run of stage full. */
enum step judge_full(struct funnel *f, int i, struct trial_result *r);
/* All input sets of the task's contract, in every configuration of an autotuned kernel. */
enum step full_task_contract(struct funnel *f);

/* The input sets beyond the task's contract: general.c. Fails only under the general contract. */
enum step judge_general(struct funnel *f);
/* Input sets with the constants that its kernels compare values with: rare_values.c. */
enum step judge_rare_values(struct funnel *f);
/* Fails if the result stays correct when the kernels only copy: copies.c. */
enum step judge_copies(struct funnel *f);
/* Judges the candidate at the sizes of another task, in stages tiny and full. *out is the verdict
 * there; the candidate's own verdict stays as it is. */
enum step funnel_right_at(struct funnel *f, const struct task *t, struct verdict *out);

#endif
