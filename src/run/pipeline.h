/* A whole run as its stages' options: each stage is its own command with the keys that the
 * configuration gives to all and those of its section, and with what the stages before it
 * made. Shared by run and ablate. */
#ifndef RUN_PIPELINE_H
#define RUN_PIPELINE_H

#include "data/prepare_args.h"
#include "run/run.h"

#define PIPELINE_STAGES(S) S(prepare) S(sft) S(rl) S(eval) S(report)

enum pipeline_stage {
#define S(id) PIPELINE_##id,
	PIPELINE_STAGES(S)
#undef S
	PIPELINE_COUNT
};
const char *pipeline_stage_name(enum pipeline_stage s);

struct pipeline {
	const char *out;
	struct prepare_args prepare;
	struct train_args sft, rl;
	struct eval_cmd_args eval;
	struct report_cmd_args report;
	unsigned stages;               /* bits: which are part of the run */
	const char *sft_run;           /* where rl finds its start when sft is not among them; NULL: the model */
	struct opt_parsed parsed[PIPELINE_COUNT];
	struct arena arena;            /* names of what stages hand on */
};

struct pipeline_source {
	const char *config;            /* file or NULL: defaults */
	const struct opt_list *set;    /* "sft.lr=1e-4", "seed=3": over the file */
	const struct opt_list *stages; /* names; empty: all */
	const char *out;               /* run folder */
};

int pipeline_open(struct pipeline *p, const struct pipeline_source *s, struct err *e);
void pipeline_close(struct pipeline *p);
/* A few rows, steps and tokens of everything, so that each stage runs for real in seconds. */
void pipeline_shrink(struct pipeline *p);
/* Every option of every stage as a configuration that gives the same run. */
int pipeline_config(const struct pipeline *p, struct buf *out, struct err *e);

/* Runs the stages that are not done, with the other processes of `par` (NULL: alone). *done 0: stopped on request. */
int pipeline_run(struct pipeline *p, struct par *par, int *done, struct err *e);

#endif
