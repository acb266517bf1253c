/* Evaluation during training: see periodic_eval.h.
 *
 * Runs in the first process only, between two training steps, with the policy's weights of that
 * step. The judge pool stays open for the whole stage, so that tasks are prepared once. */
#include "run/periodic_eval.h"

const struct opt periodic_eval_args_table[] = {
	OPT_INT(struct periodic_eval_args, every, "eval-every", 0, 1e9, 0,
		"steps between evaluations of --validation and --eval-tasks; 0: never"),
	OPT_STR(struct periodic_eval_args, tasks, "eval-tasks", "FILE_OR_FOLDER", NULL,
		"held-out tasks to evaluate during training"),
	OPT_INT(struct periodic_eval_args, limit, "eval-limit", 1, 1 << 20, 32,
		"use only the first N of them"),
	OPT_END
};

#define KEPT "look"             /* the name under which the store keeps answers */

/* The trainer's hook: samples one answer to each task and averages correctness and reward. */
static int look(void *ctx, const struct policy *p, double *correct, double *reward, struct err *e)
{
	struct periodic_eval *l = ctx;
	struct infer_opts io = { .slots = l->o.slots, .length = l->o.max_new_tokens + 1024 };
	struct rollout_env env = { .infer = infer_new(p->model, p->adapter, p->tok, &io, e), .tok = p->tok,
				   .pool = l->pool, .judge = l->judge,
				   .pending = l->store, .policy = slab_hash(tape_params(trainer_tape(p->trainer))) };
	size_t n = l->tasks.rows.n, *which = mem_array(n, sizeof *which);
	struct buf stage = BUF_INIT;
	struct rollout r;
	int rc = !env.infer ? -1 : !which ? err_nomem(e) : 0;

	/* Several evaluations may follow the last checkpoint. The hash of the weights tells them apart. */
	buf_addf(&stage, KEPT ".%016llx", (unsigned long long)env.policy);
	env.stage = buf_cstr(&stage);
	for (size_t i = 0; i < n && !rc; i++)
		which[i] = i;
	if (!rc)
		rc = rollout_run(&r, &env, &l->tasks, which, n, 0, &l->o, e);
	*correct = *reward = 0;
	for (size_t i = 0; !rc && i < n; i++) {
		*correct += r.samples.v[i].verdict.correct / (double)n;
		if (!verdict_is_unsupported(&r.samples.v[i].verdict))
			*reward += r.samples.v[i].verdict.reward / (double)n;
	}
	if (!rc) {
		rollout_release(&r);
		rc = store_drop_pending(l->store, env.stage, 0, e);
	}
	buf_release(&stage);
	infer_free(env.infer);
	mem_free(which);
	return rc;
}

/* Each task gets one answer, independent of the number that the stage samples. Tasks that the judge
 * rejects are left out at the start, and not counted as failures of the policy. */
int periodic_eval_open(struct periodic_eval *l, struct store *store, const struct periodic_eval_args *a,
		       const struct judge_args *j, const struct rollout_opts *sample, struct train_look *t,
		       struct err *e)
{
	struct judge_pool_options po;

	*l = (struct periodic_eval){ .store = store, .o = *sample };
	*t = (struct train_look){ .every = a->every, .ctx = l };
	if (!a->every || !a->tasks)
		return 0;
	l->o.n = 1;
	if (judge_args_options(j, &l->judge, &po, e) || taskset_open(&l->tasks, a->tasks, e))
		return -1;
	taskset_cut(&l->tasks, (size_t)a->limit);
	l->o.strict = l->judge.track == TRACK_STRICT;
	l->o.tf32 = l->judge.precision == PRECISION_TF32;
	l->pool = judge_pool_open(&l->judge, &po, e);
	t->eval = look;
	return l->pool && !taskset_keep_good(&l->tasks, l->pool, NULL, e) ? 0 : -1;
}

int periodic_eval_close(struct periodic_eval *l, int done, struct err *e)
{
	judge_pool_close(l->pool);
	taskset_close(&l->tasks);
	return l->store && done ? store_drop_pending(l->store, KEPT, INT64_MAX, e) : 0;
}
