/* The options of a judge. A verdict is a pure function of the task, the candidate and these; so
 * every member is part of the key that verdicts and prepared tasks are cached by (key.h). */
#ifndef VERIFY_CONFIG_OPTIONS_H
#define VERIFY_CONFIG_OPTIONS_H

#include "tile/estimate/gpu.h"
#include "verify/config/terms.h"

struct judge_options {
	enum track track;
	enum judge_stage last;        /* the last stage that is run */
	unsigned ext_off;             /* bits of enum ext that are switched off: ask ext_on */
	unsigned rules_off;           /* bits of enum rule that tests switch off: ask rule_on */
	uint64_t seed;                /* the secret part of every draw of inputs and weights */
	enum reward_form reward;
	enum contract contract;       /* the contract that decides */
	int skip_general;             /* the input sets that do not decide are not run */
	enum precision precision;     /* products of fp32 that may be tf32 */
	int identity;                 /* judge the task's own Model as the candidate */
	int plan;                     /* correct candidates get a launch plan, for a run on a real GPU */
	const char *gpu;              /* of tile/estimate/gpu.h: compiled for, checked against, modelled */
	int64_t fuel;                 /* interpreter steps that a run may take */
	size_t memory;                /* bytes that a run may hold */
	int64_t elements;             /* input elements that a trial may have; larger tasks are shrunk */
};

#define JUDGE_DEFAULTS { .track = TRACK_STRICT, .last = STAGE_timing, .seed = 0x7472, .reward = REWARD_funnel, \
	.gpu = TILE_GPU_DEFAULT, .fuel = 20000000, .memory = (size_t)1 << 31, .elements = 1 << 17 }

/* Is the rule checked? Only tests switch rules off, to show that each of them catches something. */
static inline int rule_on(const struct judge_options *o, enum rule r)
{
	return !(o->rules_off >> r & 1);
}

static inline int ext_on(const struct judge_options *o, enum ext x)
{
	return !(o->ext_off >> x & 1);
}

#endif
