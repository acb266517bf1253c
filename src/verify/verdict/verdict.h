/* A verdict: how far a candidate came in the funnel, why it stopped there, and what it cost.
 *
 * Invariant: a verdict is a plain struct without pointers, so that a worker can send its bytes
 * through a pipe. */
#ifndef VERIFY_VERDICT_VERDICT_H
#define VERIFY_VERDICT_VERDICT_H

#include "base/json.h"
#include "py/diag.h"
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
	double speedup;           /* reference_seconds / seconds; 0: not known */
	char timed[16];           /* "model" for an estimate, else the name of the device; "" not timed */
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

/* Appends one JSON object on one line, as `verify --json` documents it. */
void verdict_json(const struct verdict *v, struct str id, struct buf *out);
/* Appends one paragraph that a person or a model can act on: what is wrong, where, what the wrong
 * elements have in common, what to do. Appends nothing for a correct candidate. */
void verdict_feedback(const struct verdict *v, struct buf *out);
/* "correct", or the class of the reason. */
const char *verdict_name(const struct verdict *v);

#endif
