/* A run takes over what its plan chose: storage of the weights, recomputation, tokens and samples at a
 * time. Options that the configuration or --set gave are never changed. */
#ifndef RUN_PLAN_ADOPT_H
#define RUN_PLAN_ADOPT_H

#include "run/pipeline.h"
#include "run/plan.h"

/* The choice as options of the stages; an option whose member is 0 stays as it is. */
struct plan_adopted {
	int int8, recompute;
	int64_t sft_micro, rl_micro;     /* --micro-tokens of sft and rl */
	int64_t slots, eval_slots;       /* --slots of rl and eval */
};

/* Plans the run for a machine, and finds the options that this plan changes. `text` gets the choice in words.
 * *fits is 0 if nothing fits. */
int plan_adopt_find(const struct pipeline *p, const struct plan_machine *m, struct plan_adopted *out,
		    struct buf *text, int *fits, struct err *e);
/* Sets the options, in the structs of the stages and in the texts that config.yaml is made of. */
int plan_adopt_set(struct pipeline *p, const struct plan_adopted *a, struct err *e);

/* Both for the open device, with a log line that says what was chosen. A folder that has a choice keeps it, so
 * that a continued run computes the same bits on another machine. All ranks call it. */
int plan_adopt(struct pipeline *p, const struct run_env *v, struct err *e);

#endif
