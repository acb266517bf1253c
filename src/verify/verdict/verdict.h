/* A verdict: what was judged, how far it came, why it stopped, what it cost. A plain struct
 * without pointers, so that a worker can send it through a pipe as bytes. */
#ifndef VERIFY_VERDICT_VERDICT_H
#define VERIFY_VERDICT_VERDICT_H

#include "base/json.h"
#include "py/diag.h"
#include "tile/tile.h"
#include "verify/config/terms.h"

enum { VERDICT_GENERAL = 16 };

struct verdict_stage {
	int ran, passed;
	double ms;
	double share;             /* of the stage's parts that passed, for partial credit */
};

struct verdict_input {
	char kind[24];            /* a name of trial.def */
	char shape[96];           /* of the first input, "16x64" */
	int passed;
	double max_error;         /* largest |got - expected| */
	double tolerance;         /* what was allowed there */
	char skipped[64];         /* why it was not held against the candidate; "" it was */
};

/* One element of a result that is not as expected. */
struct verdict_element {
	char at[64];              /* "[1, 3]" */
	double expected, got, allowed;
};

/* What the mutation check of the task found. */
struct verdict_task {
	int mutants, survivors;   /* of the reference; those that no input set tells from it */
	char unfit[96];           /* why it cannot judge others, where the reference was its own candidate; "" it can */
	int model_shrunk;         /* too large as it is: sizes of the constructor are smaller, too */
	int equal;                /* steps whose order makes no difference on any of them */
	char survivor[80];        /* the first of them */
};

/* What the input sets of the general contract found. */
struct verdict_general {
	int ran;                  /* it came so far */
	int correct;
	int n_failed;
	char failed[VERDICT_GENERAL][24];
};

enum { VERDICT_INPUTS = 24, VERDICT_ELEMENTS = 6, VERDICT_PATTERN = 240, VERDICT_LINE = 160 };

struct verdict {
	int correct;
	enum judge_stage stage;         /* where it stopped; STAGE_timing when all passed */
	struct diag diag;         /* reason, message, place */
	enum track track;
	struct verdict_stage stages[STAGES];
	struct verdict_input inputs[VERDICT_INPUTS];
	int n_inputs;
	/* of the input set it failed on: the worst, then the first ones */
	struct verdict_element elements[VERDICT_ELEMENTS];
	int n_elements;
	char pattern[VERDICT_PATTERN];    /* what the wrong elements of that set have in common; "" nothing */
	char source_line[VERDICT_LINE];   /* the candidate's line that the message is about, "" none */
	struct tile_cost cost;    /* of one forward at the original size */
	double seconds, reference_seconds;   /* by `timed` */
	double speedup;           /* 0: not known */
	char timed[16];           /* "model" or the device's name */
	/* programs that autotuned kernels may choose from, those that were run; 0: none is autotuned */
	int configs, configs_run;
	char weights[16];         /* how weights were matched: weights_put */
	/* of the input sets: the reference changes buffers, and all of the candidate's were
	 * compared, or not */
	int buffers_kept, buffers_left;
	struct verdict_task task;
	int eval_mode;            /* the reference draws random numbers: judged in eval mode */
	struct verdict_general general;
	enum contract contract;
	enum precision precision;
	enum size_kind size;
	/* run at the task's own sizes where `size` is others, and compared there */
	int64_t full_size_instances, full_size_elements;
	/* what tensors of one value said there, of results that were not */
	enum constant_answer full_size_reads, full_size_values;
	int kernelbench;          /* would its own rule pass at the sizes that were run: 1, 0, -1 not known */
	double kernel_share;      /* of the reference's work that kernels do; < 0: not known */
	double prepare_ms;        /* what making the task ready took, where this candidate was the first of it */
	char judge[17];           /* fingerprint of build and options */
	double reward;
	char explain[600];        /* which input, which element, expected and got */
};

/* One JSON object on one line, as documented for `verify --json`. */
void verdict_json(const struct verdict *v, struct str id, struct buf *out);
/* One paragraph that a person or a model can act on: what is wrong, where, what the wrong elements have in
 * common, what to do. Nothing for a correct candidate. */
void verdict_feedback(const struct verdict *v, struct buf *out);
/* "correct", or the class of the reason. */
const char *verdict_name(const struct verdict *v);

#endif
