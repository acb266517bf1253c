/* A verdict: how far a candidate came in the funnel, why it stopped there, and what it cost.
 *
 * Invariant: a verdict is a plain struct without pointers, so that a worker can send its bytes
 * through a pipe. */
#ifndef VERIFY_VERDICT_VERDICT_H
#define VERIFY_VERDICT_VERDICT_H

#include "base/json.h"
#include "py/diag.h"
#include "tile/estimate/speed_note.h"
#include "tile/tile.h"
#include "verify/config/terms.h"

/* Capacities of the lists and texts below. Lists keep their first entries; texts are cut off. */
enum { VERDICT_GENERAL = 16, VERDICT_INPUTS = 24, VERDICT_ELEMENTS = 6, VERDICT_PATTERN = 240, VERDICT_LINE = 160 };

struct verdict_stage {
	int ran, passed;
	double ms;                /* wall time, without preparing the task */
	double share;             /* share of the stage's trials that passed, for partial credit */
};

/* One input set that the candidate was run on. */
struct verdict_input {
	char kind[24];            /* a name of trial.def */
	char shape[96];           /* of the first input: "16x64" */
	int passed;
	double max_error;         /* |got - expected| at the worst element */
	double tolerance;         /* the error that was allowed there */
	char skipped[64];         /* why the input set does not count; "" if it does */
};

/* One element of a result that is out of tolerance. */
struct verdict_element {
	char at[64];              /* its index: "[1, 3]" */
	double expected, got, allowed;
};

/* Findings of the task's mutation check. They tell how much a verdict on this task is worth. */
struct verdict_task {
	int mutants;              /* changed copies of the reference that were tried */
	int survivors;            /* mutants that no input set tells from the reference */
	char survivor[80];        /* the first survivor */
	int equal;                /* steps of the reference whose order makes no difference on any input set */
	int model_shrunk;         /* the model is too large: sizes of its constructor were made smaller */
	/* why the reference, judged as its own candidate, shows that the task cannot judge; "" if
	 * it can */
	char unfit[96];
};

/* Findings of the input sets of the general contract. */
struct verdict_general {
	int ran;                  /* the candidate came that far */
	int correct;
	int n_failed;
	char failed[VERDICT_GENERAL][24];    /* the kinds of input sets that failed, each once */
	enum reason why;          /* of the first failure */
};

/* One time with its confidence interval, in seconds. */
struct verdict_time { double mean, low, high; };

/* The findings of a real GPU about a candidate that the CPU judge found correct. */
/* Counters of the profiler, of one call on a GPU. */
enum counter {
#define COUNTER(id, key, metric, text) COUNTER_##id,
#include "verify/verdict/counter.def"
#undef COUNTER
	VERDICT_COUNTERS
};
struct verdict_counters {
	int read;                 /* 0: `why` says why not; "": they were not asked for */
	int kernels;              /* that ran in the call */
	double v[VERDICT_COUNTERS];       /* < 0: this GPU does not count it */
	char why[160];
	char stranger[96];        /* a kernel that ran and is not of the launch plan; "": none */
};

struct verdict_gpu {
	int asked;                /* a run on a GPU was asked for */
	int ran;                  /* the kernels ran there; 0: `note` says why not */
	int measured;             /* `time` is set */
	char device[64];          /* "NVIDIA H200" */
	char compiler[24];        /* version of Triton */
	char note[200];           /* why it did not run or was not measured; "" none */
	struct verdict_time time;
	int samples, dropped;     /* trials that count, and those at a lower clock */
	int differing;            /* trials whose result had other bits than the first, and was compared again */
	int configs, configs_left; /* configurations of autotuned kernels that were tried; for which no time was left */
	double floor;             /* seconds that the memory of the GPU needs at the least; 0: not known */
	double flops;             /* operations of the reference's matrix products and convolutions */
	double product_floor;     /* seconds that the products of the candidate's kernels need at the least */
	struct verdict_time baseline[BASELINES];  /* of the reference; mean 0: not measured */
	struct verdict_counters counters;
};

struct verdict {
	int correct;
	enum judge_stage stage;   /* stage of the failure; the last stage asked for if all passed */
	struct diag diag;         /* reason, message, line and column, hint */
	enum track track;
	struct verdict_stage stages[STAGES];
	struct verdict_input inputs[VERDICT_INPUTS];
	int n_inputs;
	/* of the input set that failed: the worst element, then the first ones in order */
	struct verdict_element elements[VERDICT_ELEMENTS];
	int n_elements;
	char pattern[VERDICT_PATTERN];    /* common property of the wrong elements (pattern.h); "" none */
	char source_line[VERDICT_LINE];   /* the line of the candidate that the message is about; "" none */
	struct tile_cost cost;    /* of one forward on the original input set */
	double seconds, reference_seconds;   /* times of candidate and reference, by `timed` */
	struct speed_notes kernels;          /* of the candidate, with an estimate */
	char estimate_gpu[16];    /* of the estimate */
	double speedup;           /* reference_seconds / seconds; 0: not known */
	double estimate;          /* the same by the performance model; `speedup` if nothing was measured */
	char timed[16];           /* "model" for an estimate, "gpu" for measured times; "" not timed */
	struct verdict_gpu gpu;
	int configs, configs_run; /* configurations of autotuned kernels, and how many ran; 0: none is autotuned */
	char weights[16];         /* how the candidate's weights were matched (weights_put) */
	/* runs that changed all buffers that the reference changes, and runs that left some
	 * unchanged */
	int buffers_kept, buffers_left;
	struct verdict_task task;
	int eval_mode;            /* the reference draws random numbers: judged in eval mode */
	struct verdict_general general;
	enum contract contract;
	enum precision precision;
	enum size_kind size;      /* the test sizes against full size */
	/* instances that were run at full size, and elements that were compared there, where `size`
	 * is smaller */
	int64_t full_size_instances, full_size_elements;
	int addresses_decided;    /* every access of every instance at full size is known (tile/slice/slice.h) */
	int addresses_rounded;    /* some stores go where floats that were rounded at full size say */
	/* the constant-tensor test at full size, for results whose elements were not compared
	 * there */
	enum constant_answer full_size_reads, full_size_values;
	int kernelbench;          /* KernelBench's own rule passes at the test sizes: 1, 0, -1 not known */
	double kernel_share;      /* the work share of the kernels, in [0, 1]; < 0: not known */
	double prepare_ms;        /* time for preparing the task, if this candidate was its first */
	char judge[17];           /* fingerprint of build and options */
	double reward;
	char explain[600];        /* input set, element, expected and got values of the failure */
};

/* The evidence that a correct verdict has for full size. COMPARED: elements were compared with the reference there.
 * ADDRESSES: none were, but the elements that every instance reads and writes are known and right. SAMPLED:
 * only some instances were looked at, or stores may miss elements because their indices were rounded. */
enum evidence { EVIDENCE_SAMPLED, EVIDENCE_ADDRESSES, EVIDENCE_COMPARED };
enum evidence verdict_evidence(const struct verdict *v);
const char *verdict_evidence_name(enum evidence e);

/* Appends one JSON object on one line, as `verify --json` documents it. */
void verdict_json(const struct verdict *v, struct str id, struct buf *out);
/* Appends one paragraph that a person or a model can act on: what is wrong, where, what the wrong
 * elements have in common, what to do. For a correct candidate: the counters of the profiler; nothing
 * if they were not read. */
void verdict_feedback(const struct verdict *v, struct buf *out);
/* Appends lines about the estimated speed, with an indent: times of both sides, and for each kernel its time,
 * what bounds it and how much of the GPU's peak it reaches. Appends nothing without an estimate. */
void verdict_speed(const struct verdict *v, struct buf *out);
/* Appends what the profiler counted, without an end of line: "2.1 MB read from memory, ...". */
void verdict_counters_text(const struct verdict_counters *c, struct buf *out);
/* Appends how a correct candidate fails beyond its task: "not robust: NaN on outliers (general: spread,
 * large)". Appends nothing for any other candidate. */
void verdict_robustness(const struct verdict *v, struct buf *out);
/* "correct", or the class of the reason. */
const char *verdict_name(const struct verdict *v);
/* Does the candidate need what only this engine lacks? Then it is neither right nor wrong, and has
 * no reward. */
int verdict_is_unsupported(const struct verdict *v);

#endif
