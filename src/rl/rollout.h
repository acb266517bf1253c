/* Rollouts: N samples for each of some tasks, each judged; judging runs in the pool's processes
 * while the next tokens are sampled. Training and evaluation both use it. */
#ifndef RL_ROLLOUT_H
#define RL_ROLLOUT_H

#include "base/opt.h"
#include "data/prompt.h"
#include "data/taskset.h"
#include "infer/infer.h"
#include "par/par.h"
#include "store/store.h"
#include "verify/pool/pool.h"

#define ROLLOUT_TEXTS "all|first|correct|none"
enum rollout_texts { ROLLOUT_ALL, ROLLOUT_FIRST, ROLLOUT_CORRECT, ROLLOUT_NONE };

struct rollout_opts {
	int n;                          /* samples per task */
	/* answers to a task, each after the judge's feedback on the one before, until it is
	 * correct */
	int turns;
	int max_new_tokens;
	int slots;                      /* samples at a time; 0: chosen */
	int kv8;                        /* a GPU's keys and values in 8 bits */
	struct sample_opts sample;
	enum prompt_style style;
	int strict, tf32;              /* track and precision of the prompts */
	enum rollout_texts texts;       /* samples whose texts the store keeps; it keeps the numbers of all */
	uint64_t seed;
};
extern const struct opt rollout_opt_table[];

struct rolled {
	size_t task;                    /* index into the list given */
	int number;                     /* of the task's samples */
	int32_t *tokens;                /* prompt, then answer; of several turns, all in a row */
	int prompt_n, n;
	float *logprobs;                /* of the tokens after the prompt */
	unsigned char *classes;         /* of the same: enum extract_class */
	char *answer, *code;            /* of the last turn */
	int turns;                      /* taken */
	enum infer_finish finish;
	int judged;
	struct verdict verdict;
};

struct rollout {
	struct { struct rolled *v; size_t n, cap; } samples;   /* by task, then number */
	struct infer_stats stats;
	double seconds;
	int64_t looks, waiting, idle;    /* whenever a sample ended: candidates before the judge, moments with none */
	double wait_seconds;             /* all was sampled, verdicts were missing */
	int64_t given;                   /* samples of this process that others judged; -1: there are no others */
};

struct rollout_env {
	struct infer *infer;
	const struct tok *tok;
	struct judge_pool *pool;
	struct store *cache;            /* verdicts by content, or NULL */
	struct judge_options judge;     /* part of the cache's key */
	/* Samples are kept here as they finish and are not drawn again by a run that continues;
	 * NULL: not kept. `policy` identifies the weights they were drawn from. */
	struct store *pending;
	const char *stage;
	uint64_t policy;
	/* Processes that draw and judge a share each, and all get all; NULL: one. */
	struct par *par;
	void (*tick)(void *ctx, size_t sampled, size_t judged);
	void *tick_ctx;
};

/* Samples and judges tasks[which[0..count)]. `step` goes into the seeds. */
int rollout_run(struct rollout *r, struct rollout_env *env, const struct taskset *tasks, const size_t *which,
		size_t count,
		uint64_t step, const struct rollout_opts *o, struct err *e);
/* The same answers before another judge: out[i] is the verdict of sample i. */
int rollout_judge(struct rollout *r, struct rollout_env *env, const struct taskset *tasks,
		  struct verdict *out, struct err *e);
/* Tokens that the model drew. With several turns that is not everything after the prompt. */
int rolled_tokens(const struct rolled *s);
void rollout_release(struct rollout *r);
/* Writes all samples to the store under (stage, step); `texts` selects the samples whose texts are
 * stored. */
int rollout_store(const struct rollout *r, struct store *s, const struct taskset *tasks, const char *stage,
		  int64_t step,
		  enum rollout_texts texts, struct err *e);

#endif
