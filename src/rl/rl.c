/* The loop of reinforcement learning: pick tasks, sample, judge, turn rewards into advantages,
 * update, write the step, save. rl.h is the manual.
 *
 * Invariant: a step depends only on the policy, the step's number and the state of the curriculum.
 * A checkpoint holds exactly these, so a resumed run ends with the same bits. */
#include "rl/rl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/rng.h"
#include "data/extract.h"
#include "rl/gauge.h"
#include "train/checkpoint.h"
#include "train/metrics.h"
#include "train/saver.h"
#include "verify/verdict/reward.h"

/* The state of one run of the RL stage. */
struct rl {
	const struct rl_opts *o;
	struct store *store;            /* of the process that writes; NULL: another one does */
	struct par *par;
	struct policy p;
	struct taskset tasks;
	struct infer *infer;
	struct judge_pool *pool;
	struct metrics m;
	struct gauge_start start;
	struct progress bar;
	char *checkpoints;
	struct saver *saver;
	struct curriculum curriculum;
	int64_t step, total;
	int64_t saved;                  /* step of the newest checkpoint, there or being written; -1: none */
	struct rl_result *r;
	char shown[96];                 /* of the last step, while the next is sampled */
	/* The parameters are ahead of the last step that was written: they must not be saved. */
	int torn;
	int64_t step_ns;
};

/* --- which tasks -------------------------------------------------------------------------- */

/* Writes the indices of tasks to out[], shuffled for this step, and returns their number. `hard`
 * selects: 1 takes level 2 and above, 0 the tasks below, -1 all. */
static size_t shuffled(const struct rl *s, int hard, struct rng *r, size_t *out)
{
	size_t n = 0;

	for (size_t i = 0; i < s->tasks.rows.n; i++)
		if (hard < 0 || (s->tasks.rows.v[i].level >= 2) == hard)
			out[n++] = i;
	rng_shuffle(r, out, n, sizeof *out);
	return n;
}

/* Chooses the tasks of this step. Without a curriculum the tasks come in one shuffled pass after
 * another: 100 tasks at 32 a step are 3 steps a pass. With a curriculum a share of the step is hard
 * tasks (level 2 and above); the share follows from the success rate so far. */
static int pick_tasks(struct rl *s, size_t *which, size_t *count, struct err *e)
{
	size_t all = s->tasks.rows.n, want = (size_t)s->o->tasks_per_step, n_easy, n_hard, hard;
	size_t *a = mem_array(all, sizeof *a), *b = mem_array(all, sizeof *b);
	struct rng r;
	char stream[40];

	if (!a || !b) {
		mem_free(a);
		mem_free(b);
		return err_nomem(e);
	}
	if (!s->o->curriculum) {
		int64_t per_pass = MAX((int64_t)(all / want), (int64_t)1), pass = s->step / per_pass;

		snprintf(stream, sizeof stream, "tasks-%lld", (long long)pass);
		rng_init(&r, s->o->seed, stream);
		shuffled(s, -1, &r, a);
		for (size_t i = 0; i < want; i++)
			which[i] = a[((size_t)(s->step % per_pass) * want + i) % all];
	} else {
		snprintf(stream, sizeof stream, "curriculum-%lld", (long long)s->step);
		rng_init(&r, s->o->seed, stream);
		n_easy = shuffled(s, 0, &r, a);
		n_hard = shuffled(s, 1, &r, b);
		hard = !n_easy ? want : !n_hard ? 0 : (size_t)lround(s->curriculum.share * (double)want);
		for (size_t i = 0; i < want; i++)
			which[i] = i < hard ? b[i % n_hard] : a[i % n_easy];
	}
	*count = want;
	mem_free(a);
	mem_free(b);
	return 0;
}

/* --- from verdicts to advantages ---------------------------------------------------------- */

/* The reward of a verdict: the mixture beta * correct + (1 - beta) * speed if beta is set, else the
 * form that the options name. */
static double uniform_or(const struct rl *s, const struct verdict *v)
{
	return s->o->beta >= 0 ? reward_uniform(v, s->o->beta) : reward_of(v, s->o->judge.reward);
}

/* The rewards of one sample in every form that an advantage may need. With `rank` in [0, 1] the
 * rank among the group replaces the speedup: each form gets its share of the speedup at which it
 * stops rising. Example: the funnel form stops at 2, so rank 0.5 counts as a speedup of 1. */
static struct rl_scored score(const struct rl *s, const struct verdict *given, const double *rank, int gated)
{
	struct rl_scored x = { .absent = verdict_is_unsupported(given) };
	struct verdict closed = *given, w;
	const struct verdict *v = gated ? &closed : given;

	if (gated) {
		closed.speedup = 0;
		rank = NULL;
	}
	w = *v;

	if (rank)
		w.speedup = *rank * (s->o->beta >= 0 ? 2.0 : reward_full_speed(s->o->judge.reward));
	x.reward = uniform_or(s, &w);
	x.speed = !v->correct ? 0 : rank ? *rank : v->speedup;
	if (rank)
		w.speedup = *rank * reward_full_speed(REWARD_speed);
	reward_classes(&w, &x.plan, &x.code);
	return x;
}

/* Is the speed of this group left out? It counts only once half of the samples are correct: before that, a fast
 * sample is mostly luck. */
static int is_gated(const struct rl *s, const struct rolled *g, size_t n)
{
	size_t correct = 0;

	for (size_t i = 0; i < n; i++)
		correct += g[i].verdict.correct != 0;
	return s->o->speed_gate && 2 * correct < n;
}

/* Scores the n samples of one task. With rank_speed the speedups are compared in pairs first, and
 * differences below 5 % are ties. */
static int score_group(const struct rl *s, const struct rolled *g, size_t n, struct rl_scored *x, struct err *e)
{
	const struct verdict **v = mem_array(n, sizeof *v);
	double *rank = mem_array(n, sizeof *rank);
	int gated = is_gated(s, g, n);
	int rc = v && rank ? 0 : err_nomem(e);

	for (size_t i = 0; i < n && !rc; i++)
		v[i] = &g[i].verdict;
	if (!rc && s->o->rank_speed)
		reward_rank_speed(v, n, 0.05, rank);
	for (size_t i = 0; i < n && !rc; i++)
		x[i] = score(s, v[i], s->o->rank_speed ? &rank[i] : NULL, gated);
	mem_free(v);
	mem_free(rank);
	return rc;
}

/* The advantage options of this step. alpha may decay by a cosine, and one reward for all tokens
 * leaves no classes. */
static struct advantage_opts advantage_now(const struct rl *s)
{
	struct advantage_opts a = s->o->advantage;

	if (s->o->alpha_decay)
		a.alpha *= 0.5 * (1.0 + cos(M_PI * (double)s->step / (double)s->total));
	a.classes = a.classes && s->o->beta < 0;
	return a;
}

/* Computes the advantages of every group, and reports the correct answers to the curriculum. A
 * group in which all rewards are equal has no signal and is counted as skipped. */
static int judge_groups(struct rl *s, const struct rollout *ro, size_t groups, struct advantage *adv, struct err *e)
{
	size_t n = (size_t)s->o->rollout.n;
	struct rl_scored *x = mem_array(n, sizeof *x);
	struct advantage_opts a = advantage_now(s);
	int rc = x ? 0 : err_nomem(e);

	for (size_t g = 0; g < groups && !rc; g++) {
		const struct rolled *first = &ro->samples.v[g * n];

		for (size_t i = 0; i < n; i++)
			if (!verdict_is_unsupported(&first[i].verdict))
				curriculum_note(&s->curriculum, s->tasks.rows.v[first[i].task].level,
						first[i].verdict.correct);
		rc = score_group(s, first, n, x, e);
		s->r->groups++;
		if (!rc && !advantages(&a, x, n, adv + g * n))
			s->r->skipped_groups++;
	}
	mem_free(x);
	return rc;
}

/* --- groups without signal ---------------------------------------------------------------- */

/* Rounds in which groups are replaced, at most: tasks that are all too easy or too hard must not hold a step up. */
enum { REFILLS = 3 };

/* Lists the groups of a step that nothing is learnt from. */
static size_t dead_groups(const struct rl *s, const struct advantage *adv, size_t groups, size_t *dead)
{
	size_t n = (size_t)s->o->rollout.n, count = 0;

	for (size_t g = 0; g < groups; g++) {
		size_t alive = 0;

		for (size_t i = 0; i < n; i++)
			alive += !advantage_none(&adv[g * n + i]);
		if (!alive)
			dead[count++] = g;
	}
	return count;
}

/* Chooses tasks from the queue: a shuffle of all tasks of their own for each round of a step. */
static void pick_more(const struct rl *s, int round, size_t *which, size_t count, size_t *order)
{
	struct rng r;
	char stream[48];
	size_t n;

	snprintf(stream, sizeof stream, "refill-%lld-%d", (long long)s->step, round);
	rng_init(&r, s->o->seed, stream);
	n = shuffled(s, -1, &r, order);
	for (size_t i = 0; i < count; i++)
		which[i] = order[i % n];
}

/* Moves the groups of `from` that have signal into the places of dead ones. Returns how many. */
static size_t move_groups(const struct rl *s, struct rollout *ro, struct advantage *adv, const size_t *dead,
			  struct rollout *from, const struct advantage *fresh, size_t count)
{
	size_t n = (size_t)s->o->rollout.n, moved = 0;

	for (size_t g = 0; g < count; g++) {
		size_t alive = 0;

		for (size_t i = 0; i < n; i++)
			alive += !advantage_none(&fresh[g * n + i]);
		for (size_t i = 0; i < n && alive; i++) {
			struct rolled was = ro->samples.v[dead[g] * n + i];

			ro->samples.v[dead[g] * n + i] = from->samples.v[g * n + i];
			from->samples.v[g * n + i] = was;
			adv[dead[g] * n + i] = fresh[g * n + i];
		}
		moved += alive > 0;
	}
	return moved;
}

/* One round: samples other tasks in place of the dead groups and takes those that have signal. The rollout has a
 * stage name and a seed of its own, so that an interrupted one is found again. */
static int refill_round(struct rl *s, struct rollout_env *env, struct rollout *ro, struct advantage *adv,
			const size_t *dead, size_t count, int round, size_t *moved, struct err *e)
{
	size_t n = (size_t)s->o->rollout.n;
	size_t *which = mem_array(count, sizeof *which), *order = mem_array(s->tasks.rows.n, sizeof *order);
	struct advantage *fresh = mem_array(count * n, sizeof *fresh);
	struct rollout_opts o = s->o->rollout;
	struct rollout_env here = *env;
	struct rollout more = { .seconds = 0 };
	char stage[16];
	int rc = which && order && fresh ? 0 : err_nomem(e);

	snprintf(stage, sizeof stage, "rl.refill%d", round);
	here.stage = stage;
	here.tick = NULL;
	o.seed += (uint64_t)round * 0xd1342543de82ef95u;
	if (!rc) {
		pick_more(s, round, which, count, order);
		rc = rollout_run(&more, &here, &s->tasks, which, count, (uint64_t)s->step, &o, e);
	}
	if (!rc)
		rc = judge_groups(s, &more, count, fresh, e);
	if (!rc) {
		*moved += move_groups(s, ro, adv, dead, &more, fresh, count);
		ro->stats.tokens += more.stats.tokens;
		ro->looks += more.looks;
		ro->waiting += more.waiting;
		ro->idle += more.idle;
		ro->wait_seconds += more.wait_seconds;
		ro->seconds += more.seconds;
	}
	rollout_release(&more);
	mem_free(which);
	mem_free(order);
	mem_free(fresh);
	return rc;
}

/* Replaces the groups without signal, in a few rounds. *moved counts them. */
static int refill(struct rl *s, struct rollout_env *env, struct rollout *ro, struct advantage *adv, size_t groups,
		  size_t *moved, struct err *e)
{
	size_t *dead = mem_array(groups, sizeof *dead), count;
	int rc = dead ? 0 : err_nomem(e);

	for (int round = 1; round <= REFILLS && !rc && s->o->refill; round++) {
		count = dead_groups(s, adv, groups, dead);
		if (!count)
			break;
		rc = refill_round(s, env, ro, adv, dead, count, round, moved, e);
	}
	mem_free(dead);
	return rc;
}

/* --- the update --------------------------------------------------------------------------- */

/* The state of the loss callback during one update. */
struct update {
	struct rl *s;
	const struct rolled **sample;   /* of each sequence */
	const struct advantage **adv;
	double norm;                    /* tokens that are trained */
	int first_pass;                 /* nothing has changed since sampling */
	/* Sums over the tokens of each sequence: the entropy at the first pass, and the clipped
	 * tokens at all passes. */
	double *entropy, *clipped;
	double distinct;                /* their tokens; equal answers are computed once */
};

/* The loss and its derivative with respect to each token's log-probability.
 *
 * For best-of-n and rwsft:  loss = -sum_t a_t log p_t, so coef = -a_t / norm.
 * For the others (PPO's clipped objective):  ratio_t = p_t / p_sampled_t,
 * loss = -sum_t a_t clip(ratio_t, 1 - c, 1 + c), and coef = -a_t ratio_t / norm, or 0 where the
 * ratio is clipped in the direction of the advantage. */
static double coefficients(void *ctx, size_t i, const struct train_seq *seq, const float *logp,
			   const float *entropy, float *coef)
{
	struct update *u = ctx;
	const struct rolled *s = u->sample[i];
	int imitate = u->s->o->advantage.method == RL_best_of_n || u->s->o->advantage.method == RL_rwsft;
	double clip = u->s->o->clip, loss = 0.0;

	for (int k = 0; k < seq->n; k++) {
		int t = k - s->prompt_n;
		double a, ratio;

		coef[k] = 0.0f;
		if (t < 0 || s->classes[t] == EXTRACT_GIVEN)
			continue;
		a = s->classes[t] == EXTRACT_CODE ? u->adv[i]->code : u->adv[i]->plan;
		ratio = imitate ? 1.0 : exp((double)logp[k] - s->logprobs[t]);
		if (u->first_pass)
			u->s->r->mismatch = MAX(u->s->r->mismatch, fabs((double)logp[k] - s->logprobs[t]));
		loss -= imitate ? a * logp[k] : a * fmin(fmax(ratio, 1.0 - clip), 1.0 + clip);
		if (u->first_pass)
			u->entropy[i] += entropy[k];
		if (!imitate && ((a > 0 && ratio > 1.0 + clip) || (a < 0 && ratio < 1.0 - clip))) {
			u->clipped[i]++;
			continue;
		}
		coef[k] = (float)(-a * ratio / u->norm);
	}
	return loss;
}

/* Did the model draw the same tokens twice? */
static int same_answer(const struct rolled *a, const struct rolled *b)
{
	return a->n == b->n && a->prompt_n == b->prompt_n && !memcmp(a->tokens, b->tokens,
								     (size_t)a->n * sizeof *a->tokens);
}

/* first[i] becomes the index of the earliest sample of the group that equals sample i. */
static void find_repeats(const struct rolled *s, size_t n, size_t *first)
{
	for (size_t i = 0; i < n; i++)
		for (first[i] = 0; !same_answer(&s[i], &s[first[i]]);)
			first[i]++;
}

/* Prepares the advantages for the update and returns the number of tokens that are trained. An
 * answer that is longer than the training context gets no advantage. Equal answers are computed
 * once: their advantages are added up in the first of them. */
static double settle(struct rl *s, const struct rollout *ro, struct advantage *adv, size_t *first)
{
	size_t n = (size_t)s->o->rollout.n;
	double tokens = 0;

	for (size_t i = 0; i < ro->samples.n; i++) {
		const struct rolled *x = &ro->samples.v[i];

		if (x->n > s->o->max_length && !advantage_none(&adv[i])) {
			s->r->too_long++;
			adv[i] = (struct advantage){ .plan = 0.0 };
		}
		tokens += advantage_none(&adv[i]) ? 0 : rolled_tokens(x);
	}
	for (size_t g = 0; g < ro->samples.n; g += n) {
		find_repeats(&ro->samples.v[g], n, first);
		advantage_fold(adv + g, first, n);
	}
	return tokens;
}

/* Sums v[] over sequences and ranks. The values are gathered and added in one order, so the sum has
 * the same bits for any number of ranks. */
static int sum_over_ranks(struct par *par, const double *v, size_t n, double *sum, struct err *e)
{
	int ranks = par_size(par), rc = 0;
	struct buf *all = mem_array((size_t)ranks, sizeof *all);

	if (!all)
		return err_nomem(e);
	if (par)
		rc = par_gather(par, (struct str){ .p = (const char *)v, .n = n * sizeof *v }, all, e);
	*sum = 0.0;
	for (size_t i = 0; i < n && !rc; i++)
		for (int r = 0; r < ranks; r++) {
			double x = v[i];

			if (par)
				memcpy(&x, all[r].p + i * sizeof x, sizeof x);
			*sum += x;
		}
	for (int r = 0; r < ranks; r++)
		buf_release(&all[r]);
	mem_free(all);
	return rc;
}

/* Computes the entropy and the share of clipped tokens, as means over trained tokens. */
static int gauge_update(struct rl *s, const struct update *u, size_t n, struct gauges *g, struct err *e)
{
	double entropy, clipped;

	if (!n)
		return 0;
	if (sum_over_ranks(s->par, u->entropy, n, &entropy, e) || sum_over_ranks(s->par, u->clipped, n, &clipped, e))
		return -1;
	g->v[GAUGE_entropy] = entropy / u->distinct;
	g->v[GAUGE_clip_share] = clipped / (u->distinct * s->o->inner);
	return 0;
}

/* One policy update: `inner` passes over the samples that have an advantage. Fills the loss,
 * learning rate and gradient norm of *row. */
static int apply_update(struct rl *s, const struct rollout *ro, struct advantage *adv, struct store_step *row,
			struct gauges *g, struct err *e)
{
	size_t n = ro->samples.n, alive = 0;
	struct train_seq *seq = mem_array(n, sizeof *seq);
	struct update u = { .s = s, .sample = mem_array(n, sizeof *u.sample), .adv = mem_array(n, sizeof *u.adv),
			    .entropy = mem_array(n, sizeof *u.entropy), .clipped = mem_array(n, sizeof *u.clipped) };
	struct optim_report rep = { .lr = 0 };
	double loss = 0.0;
	size_t *first = mem_array((size_t)s->o->rollout.n, sizeof *first);
	int rc = seq && first && u.sample && u.adv && u.entropy && u.clipped ? 0 : err_nomem(e);

	if (!rc)
		u.norm = settle(s, ro, adv, first);
	/* A sample without advantage changes no weight, so it gets no forward pass. */
	for (size_t i = 0; i < n && !rc; i++) {
		const struct rolled *x = &ro->samples.v[i];

		if (advantage_none(&adv[i]))
			continue;
		u.sample[alive] = x;
		u.adv[alive] = &adv[i];
		row->tokens += x->n;
		u.distinct += rolled_tokens(x);
		seq[alive++] = (struct train_seq){ .tokens = x->tokens, .n = x->n, .prompt = x->prompt_n };
	}
	for (int pass = 0; pass < s->o->inner && alive && !rc; pass++) {
		u.first_pass = pass == 0;
		rc = trainer_accumulate(s->p.trainer, seq, alive, coefficients, &u, &loss, e) ||
			par_max(s->par, &s->r->mismatch, e) ? -1 : 0;
		/* From here on the parameters are ahead of the last written step, so a stop saves
		 * nothing. */
		if (!rc) {
			trainer_apply(s->p.trainer, &rep);
			s->torn = 1;
		}
	}
	if (!rc)
		rc = gauge_update(s, &u, alive, g, e);
	row->loss = alive ? loss / u.norm : 0.0;
	row->lr = rep.lr;
	row->grad_norm = rep.grad_norm;
	mem_free(seq);
	mem_free(first);
	mem_free(u.sample);
	mem_free(u.adv);
	mem_free(u.entropy);
	mem_free(u.clipped);
	return rc;
}

/* --- one step ----------------------------------------------------------------------------- */

/* Measures every few steps how far the policy has moved from its start (KL divergence), and runs
 * the evaluation if one is configured. Only the rank that writes does this. */
static int look_closer(struct rl *s, const struct rollout *ro, struct gauges *g, struct err *e)
{
	const struct rl_opts *o = s->o;
	int64_t step = s->step + 1;

	if (!s->store)
		return 0;
	if (s->start.every && step % s->start.every == 0 &&
	    gauge_divergence(&s->start, &s->p, ro, (size_t)o->rollout.n, MIN(o->max_length,
		    o->policy.trainer.tape.max_tokens), &g->v[GAUGE_kl], e))
		return -1;
	if (!o->look.eval || (step % o->look.every && step != s->total))
		return 0;
	return o->look.eval(o->look.ctx, &s->p, &g->v[GAUGE_eval_correct], &g->v[GAUGE_eval_reward], e);
}

/* Updates the progress line with the figures of the step. */
static void show(struct rl *s, const struct gauges *g, double loss)
{
	const double *v = g->v;

	snprintf(s->shown, sizeof s->shown,
		 "loss %.3f, reward %.3f, ast %.0f compile %.0f tiny %.0f correct %.0f%%", loss, v[GAUGE_reward],
		 100.0 * v[GAUGE_passed_ast], 100.0 * v[GAUGE_passed_compile], 100.0 * v[GAUGE_passed_tiny],
			 100.0 * v[GAUGE_correct]);
	progress_note(&s->bar, "%s, %.0f tokens/s, %.1f candidates/s", s->shown, v[GAUGE_tokens_per_s],
		      v[GAUGE_candidates_per_s]);
}

/* Updates the progress line while a step samples. */
static void tick(void *ctx, size_t sampled, size_t judged)
{
	struct rl *s = ctx;
	double seconds = (double)(clock_ns() - s->step_ns) / 1e9;

	progress_note(&s->bar, "%s%ssampled %zu, judged %zu of %zu, %.1f candidates/s", s->shown,
		      s->shown[0] ? "; now " : "", sampled, judged,
		      (size_t)s->o->tasks_per_step * (size_t)s->o->rollout.n, (double)judged / MAX(seconds, 1e-9));
}

/* Writes the samples and metrics of a step in one transaction: the store has all of a step or
 * nothing. */
static int write_step(struct rl *s, const struct rollout *ro, const struct store_step *row,
		      const struct gauges *g, struct err *e)
{
	struct metric extra[GAUGES];
	size_t n = gauges_metrics(g, extra);

	if (!s->store)
		return 0;
	if (store_begin(s->store, e) || rollout_store(ro, s->store, &s->tasks, "rl", row->step,
					s->o->rollout.texts, e) || metrics_step(&s->m, row, extra, n, e) ||
	    store_commit(s->store, e)) {
		store_rollback(s->store);
		return -1;
	}
	return 0;
}

/* One step of the loop. On failure the curriculum and the counters return to their earlier values,
 * because the step will be repeated. */
static int one_step(struct rl *s, struct err *e)
{
	struct rollout_env env = { .infer = s->infer, .tok = s->p.tok, .pool = s->pool, .cache = s->store,
				   .judge = s->o->judge,
				   .pending = s->store, .par = s->par, .stage = "rl",
				   .policy = slab_hash(tape_params(trainer_tape(s->p.trainer))),
				   .tick = tick, .tick_ctx = s };
	struct rollout ro = { .seconds = 0 };
	struct store_step row = { .stage = "rl", .step = s->step + 1 };
	struct gauges g;
	struct advantage *adv = NULL;
	struct curriculum curriculum = s->curriculum;
	struct rl_result result = *s->r;
	size_t *which = mem_array((size_t)s->o->tasks_per_step, sizeof *which), count = 0, moved = 0;
	int rc = which ? pick_tasks(s, which, &count, e) : err_nomem(e);

	s->step_ns = clock_ns();
	if (!rc)
		rc = infer_set_adapter(s->infer, s->p.adapter, e);
	if (!rc)
		rc = rollout_run(&ro, &env, &s->tasks, which, count, (uint64_t)s->step, &s->o->rollout, e);
	if (!rc && !(adv = mem_array(ro.samples.n, sizeof *adv)))
		rc = err_nomem(e);
	if (!rc)
		rc = judge_groups(s, &ro, count, adv, e) || refill(s, &env, &ro, adv, count, &moved, e) ? -1 : 0;
	if (!rc) {
		gauges_init(&g, &ro, &s->tasks);
		if (s->o->refill)
			g.v[GAUGE_replaced_share] = (double)moved / (double)count;
	}
	if (!rc)
		rc = apply_update(s, &ro, adv, &row, &g, e);
	if (!rc) {
		g.v[GAUGE_no_signal_share] = (double)(s->r->skipped_groups - result.skipped_groups) /
			(double)(s->r->groups - result.groups);
		show(s, &g, row.loss);
		rc = look_closer(s, &ro, &g, e) || write_step(s, &ro, &row, &g, e) ? -1 : 0;
	}
	if (!rc) {
		s->step++;
		s->torn = 0;
		progress_add(&s->bar, 1);
	} else {
		/* The step is repeated: its counts so far must not get into a checkpoint of the
		 * step before. */
		s->curriculum = curriculum;
		*s->r = result;
	}
	rollout_release(&ro);
	mem_free(adv);
	mem_free(which);
	return rc;
}

/* --- saving and resuming ------------------------------------------------------------------ */

/* Writes the part of the state that is not in the adapter or the optimizer, as JSON. */
static void state_of(const struct rl *s, struct buf *out)
{
	struct jw w = { .out = out };

	jw_begin(&w, '{');
	jw_key(&w, "stage"), jw_cstr(&w, "rl");
	jw_key(&w, "step"), jw_int(&w, s->step);
	jw_key(&w, "share"), jw_real(&w, s->curriculum.share);
	jw_key(&w, "seen"), jw_int(&w, s->curriculum.seen);
	jw_key(&w, "correct"), jw_int(&w, s->curriculum.correct);
	jw_key(&w, "groups"), jw_int(&w, s->r->groups);
	jw_key(&w, "skipped"), jw_int(&w, s->r->skipped_groups);
	jw_key(&w, "too_long"), jw_int(&w, s->r->too_long);
	jw_key(&w, "mismatch"), jw_real(&w, s->r->mismatch);
	jw_end(&w, '}');
}

/* Deletes the pending samples of steps that a complete checkpoint covers. */
static int drop_pending(struct rl *s, struct err *e)
{
	return saver_down(s->saver) < 0 ? 0 : store_drop_pending(s->store, "rl", saver_down(s->saver) - 1, e);
}

/* Saves a checkpoint of the current step, unless it is saved already or the parameters are ahead of
 * the last written step. */
static int save_step(struct rl *s, struct err *e)
{
	struct buf state = BUF_INIT;
	int rc;

	if (s->saved == s->step || !s->store || s->torn)
		return 0;
	state_of(s, &state);
	rc = buf_check(&state, e) || saver_save(s->saver, s->step, buf_str(&state), e) || drop_pending(s, e) ? -1 : 0;
	buf_release(&state);
	s->saved = s->step;
	return rc;
}

/* Saves before the stage ends early, and waits until the checkpoint is on disk. */
static int save_last(struct rl *s, struct err *e)
{
	return save_step(s, e) || (s->store && (saver_wait(s->saver, e) || drop_pending(s, e))) ? -1 : 0;
}

/* Saves the finished adapter as checkpoints/rl_final. */
static int save_final(struct rl *s, struct err *e)
{
	struct buf state = BUF_INIT;
	int rc;

	state_of(s, &state);
	rc = buf_check(&state, e) || saver_wait(s->saver, e) || policy_save(&s->p, s->checkpoints,
			"rl_final", buf_str(&state), e) ? -1 : 0;
	buf_release(&state);
	return rc;
}

/* Reads what state_of wrote. The checkpoint's manifest is verified first. */
static int load_state(struct rl *s, const char *path, struct err *e)
{
	struct buf text = BUF_INIT;
	struct json *j = NULL;
	int rc = checkpoint_verify(path, &text, e);

	if (!rc && !(j = json_parse(buf_str(&text), e)))
		rc = -1;
	if (!rc && !(rc = json_need_int(j, "step", &s->step, e))) {
		s->curriculum.share = json_real(json_get(j, "share"), s->curriculum.share);
		s->curriculum.seen = (int)json_int(json_get(j, "seen"), 0);
		s->curriculum.correct = (int)json_int(json_get(j, "correct"), 0);
		s->r->groups = json_int(json_get(j, "groups"), 0);
		s->r->skipped_groups = json_int(json_get(j, "skipped"), 0);
		s->r->too_long = json_int(json_get(j, "too_long"), 0);
		s->r->mismatch = json_real(json_get(j, "mismatch"), 0.0);
	}
	json_free(j);
	buf_release(&text);
	return rc;
}

/* Opens everything that the stage needs, in the order of dependence: newest checkpoint, tasks,
 * judge, policy, sampler, saver, metrics. Tasks that cannot be judged are dropped before the number
 * of steps is computed. */
static int open_all(struct rl *s, struct dev *dev, struct err *e)
{
	const struct rl_opts *o = s->o;
	struct policy_opts po = o->policy;
	struct buf path = BUF_INIT, latest = BUF_INIT;
	struct infer_opts io = { .slots = o->rollout.slots, .length = o->max_length, .kv8 = o->rollout.kv8 };
	int found, rc;

	path_join(&path, o->out, "checkpoints");
	s->checkpoints = buf_take(&path);
	s->curriculum = o->start;
	found = s->checkpoints ? checkpoint_newest(s->par, s->checkpoints, "rl", &latest, e) : err_nomem(e);
	rc = found < 0 || taskset_open(&s->tasks, o->tasks, e) ||
		taskset_select(&s->tasks, &o->levels, o->limit, e) ||
		(found && load_state(s, buf_cstr(&latest), e)) ? -1 : 0;
	s->saved = found > 0 ? s->step : -1;
	if (!rc) {
		s->pool = judge_pool_open(&o->judge, &o->pool, e);
		rc = s->pool ? taskset_keep_good(&s->tasks, s->pool, s->par, e) : -1;
	}
	if (!rc) {
		s->total = o->steps ? o->steps : MAX((int64_t)1, o->epochs * (int64_t)s->tasks.rows.n /
						     o->tasks_per_step);
		po.trainer.optim.total = s->total * o->inner;
		rc = policy_open(&s->p, dev, &po, found ? buf_cstr(&latest) : NULL, e);
	}
	if (!rc && found)
		log_info("rl continues at step %lld of %lld", (long long)s->step, (long long)s->total);
	if (!rc && !(s->infer = infer_new(s->p.model, s->p.adapter, s->p.tok, &io, e)))
		rc = -1;
	if (!rc)
		rc = policy_same(&s->p, s->par, e);
	if (!rc && !(s->saver = saver_new(&(struct saver_opts){ .policy = &s->p, .store = s->store,
					.parent = s->checkpoints, .prefix = "rl", .keep = (int)o->save_keep }, e)))
		rc = -1;
	if (!rc && s->store)
		rc = metrics_open(&s->m, o->out, s->store, "rl", s->step, e) || gauge_start_open(&s->start,
				&s->p, o->out, o->kl_every, e) ? -1 : 0;
	buf_release(&latest);
	return rc;
}

/* Ends the stage: the mean reward of the last tenth of the steps is read from the store, so that it
 * does not depend on interruptions; the final adapter is saved, and old checkpoints and pending
 * samples are deleted. */
static int finish(struct rl *s, struct err *e)
{
	int64_t after = s->total - MAX((int64_t)1, s->total / 10);

	if (s->r->too_long)
		log_warn("rl: %lld samples were longer than %d tokens and were not trained on",
			 (long long)s->r->too_long, s->o->max_length);
	s->r->done = 1;
	gauge_start_drop(&s->start);
	if (!s->store)
		return 0;
	return metrics_mean(s->store, "rl", after, "reward", &s->r->reward, e) || metrics_mean(s->store,
			"rl", after, "correct", &s->r->correct, e) ||
	       store_sync(s->store, e) || save_final(s, e) || checkpoint_prune(s->checkpoints, "rl", 1, e) ||
	       store_drop_pending(s->store, "rl", s->total, e) || store_compact(s->store, e) ? -1 : 0;
}

/* Runs steps until the total is reached or a stop is requested. A stop saves a checkpoint and is
 * not an error. */
static int train(struct rl *s, struct err *e)
{
	progress_begin(&s->bar, "rl", "steps", s->total);
	s->bar.done = s->bar.done_at_start = s->step;
	while (s->step < s->total) {
		struct err why = ERR_INIT;

		if (one_step(s, &why)) {
			if (why.code == ERR_INTERRUPTED)
				return save_last(s, e);
			return err_set(e, why.code, "%s", why.text);
		}
		if (par_stopping(s->par))
			return save_last(s, e);
		if (s->o->save_every && s->step % s->o->save_every == 0 && s->step < s->total && save_step(s, e))
			return -1;
	}
	progress_end(&s->bar);
	if (finish(s, e))
		return -1;
	/* The other ranks read the files of the first. A barrier that was abandoned counts as a
	 * stop. */
	par_barrier(s->par, NULL);
	return 0;
}

int rl_run(struct dev *dev, struct store *store, const struct rl_opts *o, struct rl_result *r, struct err *e)
{
	struct rl s = { .o = o, .store = store, .par = o->policy.trainer.par, .r = r };
	int rc;

	*r = (struct rl_result){ .steps = 0 };
	rc = file_mkdirs(o->out, e) || open_all(&s, dev, e) || train(&s, e) ? -1 : 0;
	r->steps = s.step;
	metrics_close(&s.m);
	saver_free(s.saver);
	gauge_start_close(&s.start);
	infer_free(s.infer);
	judge_pool_close(s.pool);
	policy_close(&s.p);
	taskset_close(&s.tasks);
	mem_free(s.checkpoints);
	return rc;
}
