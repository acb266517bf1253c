/* Plans: see plan.h.
 *
 * Counts memory and chooses what fits; plan_time.c models time. The amount of work comes from
 * plan_amounts.c, machines and models from plan_find.c. */
#include "run/plan.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"

#define GIB 1073741824.0

/* Largest micro-batch in tokens, shortest sequence, and samples at a time: most on a GPU and on a CPU, good, still
 * acceptable. */
enum { MICRO_TOKENS = 16384, LENGTH_LEAST = 512, SLOTS_MOST = 256, SLOTS_CPU = 32, SLOTS_GOOD = 48, SLOTS_LEAST = 8 };

/* --- memory ---------------------------------------------------------------------------------------- */

/* Bytes of a stored weight. */
static double store_bytes(enum model_store s)
{
	return s == STORE_F32 ? 4.0 : s == STORE_I8 ? 1.0 : 2.0;
}

/* Bytes of all weights. Embedding and head stay 16-bit when the layers are 8-bit. */
static double weight_bytes(const struct plan_job *j, enum model_store s)
{
	double ends = (double)j->c.V * j->c.C * (j->c.tied ? 1 : 2);

	return plan_layer_parameters(&j->c) * store_bytes(s) + ends * fmax(store_bytes(s), 2.0);
}

/* Bytes of trained parameters: fp32 parameters, gradients and two moments are 16 bytes each.
 * Without training an adapter takes 4; full fine-tuning has only the model's own weights. */
static double trained_bytes(const struct plan_job *j, int training)
{
	return plan_trained_parameters(j) * (training ? 16.0 : j->full ? 0.0 : 4.0);
}

/* Bytes for the CUDA context and workspaces of libraries. */
static double reserve_bytes(const struct run_plan *p)
{
	return (p->machine.cpu ? 0.5 : 1.5) * GIB;
}

/* Bytes that a stage has left on each GPU; negative if it does not fit. */
static double free_bytes(const struct run_plan *p, enum plan_stage s)
{
	double left = p->machine.gib * GIB;

	for (int i = 0; i < PLAN_PARTS; i++)
		left -= p->memory[s][i];
	return left;
}

/* --- fitting ----------------------------------------------------------------------------------------- */

/* Sets the parts that do not depend on the batch. */
static void set_fixed(struct run_plan *p)
{
	for (int s = 0; s < PLAN_STAGES; s++) {
		p->memory[s][PLAN_WEIGHTS] = weight_bytes(&p->job, p->choice.store);
		p->memory[s][PLAN_TRAINED] = trained_bytes(&p->job, s != PLAN_EVAL);
		p->memory[s][PLAN_RESERVE] = reserve_bytes(p);
		p->memory[s][PLAN_ACTIVATIONS] = p->memory[s][PLAN_KV] = 0;
	}
}

/* Tokens that are computed at a time at most: those that the configuration gives, else 16,384 on a
 * GPU. A CPU gains nothing from more than two sequences. */
static int64_t micro_most(const struct run_plan *p, int64_t given)
{
	return given ? given : p->machine.cpu ? 2 * p->job.sft.max_length : MICRO_TOKENS;
}

/* Finds the largest micro-batch of whole sequences by halving. Returns 0 if not even one sequence
 * fits. Example: 16,384 tokens at a length of 4096 start with 4 sequences, then 2, then 1. */
static int fit_sft(struct run_plan *p)
{
	struct plan_choice *c = &p->choice;
	int64_t step = p->job.sft.batch * p->job.sft.accumulate,
		most = MAX(1, (step + p->machine.count - 1) / p->machine.count);

	c->micro = MAX(1, MIN(most, micro_most(p, p->job.sft.micro_tokens) / c->max_length));
	for (; c->micro; c->micro /= 2) {
		p->memory[PLAN_SFT][PLAN_ACTIVATIONS] =
			plan_activation_bytes(p, c->micro * c->max_length, c->recompute);
		if (free_bytes(p, PLAN_SFT) >= 0)
			break;
		p->memory[PLAN_SFT][PLAN_ACTIVATIONS] = 0;
	}
	c->accumulate = c->micro ? (most + c->micro - 1) / c->micro : 0;
	return c->micro > 0;
}

/* Gives the remaining memory to keys and values. Returns the number of samples at a time: the
 * configured one, else as many as there are up to a limit. */
static int64_t fit_slots(struct run_plan *p, enum plan_stage s, int64_t given, int64_t wanted, int64_t max_new)
{
	int64_t most = given ? given : p->machine.cpu ? SLOTS_CPU : SLOTS_MOST;
	double each = (p->job.prompt_tokens + (double)max_new) * plan_kv_bytes(p);
	int64_t slots = (int64_t)fmax(0.0, fmin(free_bytes(p, s) / each, (double)MIN(wanted, most)));

	p->memory[s][PLAN_KV] = (double)slots * each;
	return slots;
}

/* The part of n things that each GPU gets, rounded up, at least 1. */
static int64_t per_gpu(const struct run_plan *p, int64_t n)
{
	return MAX(1, (n + p->machine.count - 1) / p->machine.count);
}

/* Training and sampling hold their memory at the same time. The training micro-batch is halved
 * until at least `least` samples (or all there are) can be computed at a time. */
static int fit_rl(struct run_plan *p, int64_t least)
{
	struct plan_choice *c = &p->choice;
	int64_t length = (int64_t)p->job.prompt_tokens + p->job.rl.max_new,
		samples = per_gpu(p, p->job.rl.tasks_per_step * p->job.rl.n);

	for (c->rl_micro = MAX(length, micro_most(p, p->job.rl.micro_tokens)); c->rl_micro >= length;
	     c->rl_micro = c->rl_micro > length ? MAX(length, c->rl_micro / 2) : 0) {
		p->memory[PLAN_RL][PLAN_KV] = 0;
		p->memory[PLAN_RL][PLAN_ACTIVATIONS] = plan_activation_bytes(p, c->rl_micro, c->recompute);
		c->slots = fit_slots(p, PLAN_RL, p->job.rl.slots, samples, p->job.rl.max_new);
		if (c->slots >= MIN(MIN(least, samples), p->job.rl.slots ? p->job.rl.slots : samples))
			return 1;
	}
	return 0;
}

/* Tries one choice for all three stages. Returns 1 if it fits. */
static int fit(struct run_plan *p, enum model_store store, int recompute, int64_t max_length, int64_t least)
{
	struct plan_choice *c = &p->choice;

	*c = (struct plan_choice){ .store = store, .recompute = recompute, .max_length = max_length };
	set_fixed(p);
	if (!fit_sft(p) || !fit_rl(p, least))
		return 0;
	c->eval_slots = fit_slots(p, PLAN_EVAL, p->job.eval.slots, per_gpu(p, p->job.eval.tasks * p->job.eval.n),
				  p->job.eval.max_new);
	c->fits = c->eval_slots > 0;
	return c->fits;
}

/* Tries the four combinations of storage and recomputation, the fastest first. Full fine-tuning
 * cannot use 8-bit weights. */
static int choose_way(struct run_plan *p, enum model_store wide, int64_t length, int64_t least)
{
	const struct plan_job *j = &p->job;

	for (int i = 0; i < 4; i++) {
		enum model_store s = i & 1 ? STORE_I8 : wide;

		if ((j->fixed_store && s != j->store) || (j->full && s == STORE_I8) || (j->recompute && i < 2))
			continue;
		if (fit(p, s, i > 1, length, least))
			return 1;
	}
	return 0;
}

/* Tries full length first, then half of it, and so on. If nothing fits, the table shows the
 * smallest choice. */
static void choose(struct run_plan *p)
{
	const struct plan_job *j = &p->job;
	enum model_store wide = p->machine.cpu ? j->store : j->store == STORE_FAST ? STORE_FAST : STORE_BF16;

	for (int64_t length = j->sft.max_length; length >= LENGTH_LEAST; length /= 2)
		if (choose_way(p, wide, length, SLOTS_GOOD) || choose_way(p, wide, length, SLOTS_LEAST))
			return;
	fit(p, j->full ? wide : STORE_I8, 1, LENGTH_LEAST, 1);
	p->choice.fits = 0;
}

/* If the run does not fit, times stay 0 and the memory table shows the smallest choice. */
int plan_make(struct run_plan *p, const struct plan_job *j, const struct plan_machine *m, struct err *e)
{
	*p = (struct run_plan){ .job = *j, .machine = *m };
	if (j->sft.max_length < 1 || j->answer_tokens <= 0 || j->judge_ms <= 0 || m->count < 1)
		return err_set(e, ERR_RANGE, "a plan needs a sequence length, an answer length, a judging time and at "
			       "least one machine");
	choose(p);
	if (p->choice.fits)
		plan_time(p);
	return 0;
}
