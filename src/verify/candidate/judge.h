/* The judge: task and candidate in, verdict out. In one process, on one thread, without a
 * sandbox: that is pool.h's business.
 *
 * A `struct judge` holds what all judgements share (bindings, tile engine, options). A
 * `struct task` is a reference made ready: parsed, checked to be judgeable, with its trials
 * (input sets) drawn and the expected results computed in fp64. Judging a candidate against
 * it is a pure function of (candidate, task, options). */
#ifndef VERIFY_CANDIDATE_JUDGE_H
#define VERIFY_CANDIDATE_JUDGE_H

#include "base/err.h"
#include "base/str.h"
#include "tile/estimate/gpu.h"
#include "verify/verdict/reward.h"
#include "verify/rules/rules.h"
#include "verify/verdict/verdict.h"

struct judge_options {
	enum track track;
	enum judge_stage last;              /* go no further than this stage */
	unsigned ext_off;             /* bits of enum ext that are switched off */
	unsigned rules_off;           /* bits of enum rule, for tests */
	uint64_t seed;                /* secret part of every draw of inputs and weights */
	enum reward_form reward;
	enum contract contract;       /* which input sets decide */
	int skip_general;             /* those that do not decide are not run */
	enum precision precision;     /* which products of fp32 may be tf32 */
	int identity;                 /* judge the task's own Model as the candidate */
	const char *gpu;              /* of tile/estimate/gpu.h: compiled for, checked against, modelled */
	int64_t fuel;                 /* interpreter steps a run */
	size_t memory;                /* bytes a run */
	int64_t elements;             /* input elements a trial may have; larger tasks are shrunk */
};

#define JUDGE_DEFAULTS { .track = TRACK_STRICT, .last = STAGE_timing, .seed = 0x7472, .reward = REWARD_funnel, \
	.gpu = TILE_GPU_DEFAULT, .fuel = 20000000, .memory = (size_t)1 << 31, .elements = 1 << 17 }

/* Is the rule checked? Only tests switch rules off. */
static inline int rule_on(const struct judge_options *o, enum rule r)
{
	return !(o->rules_off >> r & 1);
}

static inline int ext_on(const struct judge_options *o, enum ext x)
{
	return !(o->ext_off >> x & 1);
}

struct judge;
struct judge *judge_new(const struct judge_options *o, struct err *e);
void judge_free(struct judge *j);
const struct judge_options *judge_options(const struct judge *j);
const char *judge_fingerprint(const struct judge *j);     /* of build and options */

struct task;
/* Never NULL unless memory ended (*e): a task that cannot be judged says why in task_problem. */
struct task *task_open(struct judge *j, struct str source, const char *name, struct err *e);
void task_free(struct task *t);
const struct diag *task_problem(const struct task *t);   /* reason ok: judgeable */
size_t task_bytes(const struct task *t);                 /* about what it holds, for those who keep tasks */
/* What was found about the task, as lines of text: trials, tolerances, relations, mutants. */
void task_describe(const struct task *t, struct buf *out);

/* 0: judged, *v filled. -1: could not judge, *e says why. */
int judge_candidate(struct judge *j, const struct task *t, struct str source, struct verdict *v, struct err *e);

#endif
