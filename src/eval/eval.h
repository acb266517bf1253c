/* Evaluation: pass@k, valid, compiled, correct, fast_p over a set of tasks, per level, track and
 * operator, with confidence intervals; comparison of models on the same tasks. Answers are sampled
 * once, for one track, and judged by its rules. On request they are also judged by the rules of the
 * other track. */
#ifndef EVAL_EVAL_H
#define EVAL_EVAL_H

#include "base/json.h"
#include "rl/rollout.h"

enum { EVAL_KS = 8, EVAL_FASTS = 4, EVAL_TURNS = 16 };

struct eval_opts {
	struct rollout_opts rollout;
	int k[EVAL_KS];
	int n_k;
	double fast[EVAL_FASTS];       /* p of fast_p: 0, 1, 2, ... */
	int n_fast;
	const char *model_path;
	const char *other_track;       /* name of the other track; NULL: judge by one track only */
};

enum { EVAL_OWN, EVAL_OTHER, EVAL_TRACKS };

/* The part of one answer that evaluation counts. */
struct eval_answer { int valid, compiled, correct, unsupported, turns; double reward, speedup; };

struct eval_task {
	int n, valid, compiled, correct;
	int unsupported;               /* answers that need what the judge's engine lacks: not correct */
	double reward;                 /* mean; an answer without a reward counts as 0 */
	int fast[EVAL_FASTS];
	int after[EVAL_TURNS];         /* [k]: answers that were correct in turn k + 1 at the latest */
};

struct rate { double value, low, high; };   /* percent, 95 % interval by bootstrap over tasks */

struct eval_group {
	char name[48];                 /* "all", "level 2", "op relu", "hybrid all" (other track) */
	size_t tasks;
	int64_t unsupported;           /* answers */
	struct rate valid, compiled, correct, reward;
	struct rate pass[EVAL_KS], fast[EVAL_FASTS];
	struct rate after[EVAL_TURNS];
};

struct eval {
	const struct taskset *tasks;
	const char *other_track;
	struct eval_answer *answer[EVAL_TRACKS];   /* by task, then number; NULL: not judged by that track */
	struct eval_task *task[EVAL_TRACKS];       /* one per task */
	struct { struct eval_group *v; size_t n, cap; } groups;   /* [0] is "all" */
	struct rollout rollout;
};

/* `other` has the judge of the other track, or is NULL. */
int eval_run(struct eval *ev, struct rollout_env *env, struct rollout_env *other, const struct taskset *tasks,
	     const struct eval_opts *o,
	     struct err *e);
/* From what eval_json wrote, without the samples: a resumed run makes its tables from files. */
int eval_load(struct eval *ev, const struct taskset *tasks, const struct json *j, const struct eval_opts *o,
	      struct err *e);
void eval_release(struct eval *ev);
void eval_json(const struct eval *ev, const struct eval_opts *o, struct buf *out);
/* The members of that object, into an open one: "metrics" is the group of all tasks, "groups" the others,
 * "detailed_results" a row for each answer. */
void eval_json_members(struct jw *w, const struct eval *ev, const struct eval_opts *o, const char *model);
/* A JSON line for each answer: id (the task's, the sample's number and `suffix`), task, candidate, correct,
 * reason, speedup. */
void eval_answers(const struct eval *ev, const char *suffix, struct buf *out);
void eval_table(const struct eval *ev, const struct eval_opts *o, int per_op, struct buf *out);

/* Paired over the tasks of a group (by its name; "all" for all): difference of mean correctness, b
 * minus a, in percent, and the two-sided p-value of a sign-flip permutation test. */
struct eval_difference { size_t tasks; double points, p; };
struct eval_difference eval_compare(const struct eval *a, const struct eval *b, const char *group);
/* A line for all tasks and one per level, of each track. */
void eval_compare_table(const struct eval *a, const struct eval *b, struct buf *out);

/* The same as objects of an open array: from, to, group, tasks, points, p. */
void eval_compare_json(struct jw *w, const char *from, const struct eval *a, const char *to, const struct eval *b);

/* 1 - C(n - c, k) / C(n, k); k > n: as if k = n. */
double eval_pass_at_k(int n, int c, int k);

#endif
