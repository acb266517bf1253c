/* A whole run as the options of its stages. Each stage is a command of its own. It gets the
 * configuration's common keys, the keys of its section, and the results of earlier stages. Shared
 * by run and ablate. */
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
	unsigned stages;               /* bit s is set if enum pipeline_stage s is part of the run */
	const char *sft_run;           /* run folder whose sft result starts rl if sft is not in the run; NULL: none */
	struct opt_parsed parsed[PIPELINE_COUNT];
	struct arena arena;            /* paths that one stage passes to another */
};

struct pipeline_source {
	const char *config;            /* file; NULL: defaults */
	const struct opt_list *set;    /* "sft.lr=1e-4", "seed=3"; they override the file */
	const struct opt_list *stages; /* names; empty: all */
	const char *out;               /* run folder */
	int variant;                   /* of ablate: an option that only changes the judge is no error */
};

/* Is the stage part of the run? */
int pipeline_has(const struct pipeline *p, enum pipeline_stage s);
int pipeline_open(struct pipeline *p, const struct pipeline_source *s, struct err *e);
void pipeline_close(struct pipeline *p);
/* Reduces rows, steps and tokens, so that each stage really runs but takes seconds. */
void pipeline_shrink(struct pipeline *p);
/* Writes every option of every stage as a configuration that gives the same run. */
int pipeline_config(const struct pipeline *p, struct buf *out, struct err *e);

/* Runs the stages that are not done, together with the other processes of `par` (NULL: one process). *done is 0
 * if it was stopped on request. */
int pipeline_run(struct pipeline *p, struct par *par, int *done, struct err *e);

#endif
