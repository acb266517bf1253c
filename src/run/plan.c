/* Plans: see plan.h.
 *
 * The first half counts memory and chooses what fits; the second half models time. Files that
 * describe the amount of work are read in plan_amounts.c, machines and models in plan_find.c. */
#include "run/plan.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "model/tape.h"

#define GIB 1073741824.0

/* Largest micro-batch in tokens, shortest sequence, and samples at a time: most, good, still acceptable. */
enum { MICRO_TOKENS = 16384, LENGTH_LEAST = 512, SLOTS_MOST = 256, SLOTS_GOOD = 48, SLOTS_LEAST = 8 };

/* --- memory ---------------------------------------------------------------------------------------- */

/* Number of parameters of the layers, without embedding and head. */
static double layer_parameters(const struct model_config *c)
{
	return (double)model_config_parameters(c) - (double)c->V * c->C * (c->tied ? 1 : 2);
}

/* Number of trained parameters: all, or those of the adapter. */
static double trained_parameters(const struct plan_job *j)
{
	return j->full ? (double)model_config_parameters(&j->c) : (double)adapter_parameters(&j->c, &j->lora);
}

/* Bytes of a stored weight. */
static double store_bytes(enum model_store s)
{
	return s == STORE_F32 ? 4.0 : s == STORE_I8 ? 1.0 : 2.0;
}

/* Bytes of all weights. Embedding and head stay 16-bit when the layers are 8-bit. */
static double weight_bytes(const struct plan_job *j, enum model_store s)
{
	double ends = (double)j->c.V * j->c.C * (j->c.tied ? 1 : 2);

	return layer_parameters(&j->c) * store_bytes(s) + ends * fmax(store_bytes(s), 2.0);
}

/* Bytes of trained parameters: fp32 parameters, gradients and two moments are 16 bytes each.
 * Without training an adapter takes 4; full fine-tuning has only the model's own weights. */
static double trained_bytes(const struct plan_job *j, int training)
{
	return trained_parameters(j) * (training ? 16.0 : j->full ? 0.0 : 4.0);
}

/* Bytes of activations for `tokens` tokens, as the tape itself computes them. */
static double activation_bytes(const struct run_plan *p, int64_t tokens, int recompute)
{
	struct tape_opts o = { .max_tokens = (int)MIN(tokens, 1 << 26), .recompute = recompute };

	return (double)tape_measure(&p->job.c, p->job.full ? NULL : &p->job.lora, &o,
				    p->machine.cpu ? DT_F32 : DT_BF16, NULL);
}

/* Bytes of keys and values of one token. */
static double kv_bytes(const struct run_plan *p)
{
	return 2.0 * p->job.c.L * p->job.c.HKV * p->job.c.D * (p->machine.cpu ? 4.0 : 2.0);
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

/* Finds the largest micro-batch of whole sequences by halving. Returns 0 if not even one sequence
 * fits. Example: 16,384 tokens at a length of 4096 start with 4 sequences, then 2, then 1. */
static int fit_sft(struct run_plan *p)
{
	struct plan_choice *c = &p->choice;
	int64_t step = p->job.sft.batch * p->job.sft.accumulate,
		most = MAX(1, (step + p->machine.count - 1) / p->machine.count);

	c->micro = MAX(1, MIN(most, MICRO_TOKENS / c->max_length));
	for (; c->micro; c->micro /= 2) {
		p->memory[PLAN_SFT][PLAN_ACTIVATIONS] = activation_bytes(p, c->micro * c->max_length, c->recompute);
		if (free_bytes(p, PLAN_SFT) >= 0)
			break;
		p->memory[PLAN_SFT][PLAN_ACTIVATIONS] = 0;
	}
	c->accumulate = c->micro ? (most + c->micro - 1) / c->micro : 0;
	return c->micro > 0;
}

/* Gives the remaining memory to keys and values. Returns the number of samples at a time. */
static int64_t fit_slots(struct run_plan *p, enum plan_stage s, int64_t wanted, int64_t max_new)
{
	double each = (p->job.prompt_tokens + (double)max_new) * kv_bytes(p);
	int64_t slots = (int64_t)fmax(0.0, fmin(free_bytes(p, s) / each, (double)MIN(wanted, SLOTS_MOST)));

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

	for (c->rl_micro = MAX(length, MICRO_TOKENS); c->rl_micro >= length;
	     c->rl_micro = c->rl_micro > length ? MAX(length, c->rl_micro / 2) : 0) {
		p->memory[PLAN_RL][PLAN_KV] = 0;
		p->memory[PLAN_RL][PLAN_ACTIVATIONS] = activation_bytes(p, c->rl_micro, c->recompute);
		c->slots = fit_slots(p, PLAN_RL, samples, p->job.rl.max_new);
		if (c->slots >= MIN(least, samples))
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
	c->eval_slots = fit_slots(p, PLAN_EVAL, per_gpu(p, p->job.eval.tasks * p->job.eval.n), p->job.eval.max_new);
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

/* --- time ---------------------------------------------------------------------------------------------- */

/* Operations to compute one token forward: two for each weight of the matrices, and attention over
 * `length` tokens. A token sees half of them on average. The head is a product, the embedding is
 * not. */
static double forward_ops(const struct plan_job *j, double length)
{
	const struct model_config *c = &j->c;
	double lora = j->full ? 0.0 : trained_parameters(j);

	return 2.0 * (layer_parameters(c) + (double)c->V * c->C + lora) + 2.0 * length * c->H * c->D * c->L;
}

/* Operations to train on one token: forward, the gradient of the input, the gradient of the trained
 * parameters, and forward again if activations are recomputed. 8-bit weights are widened when they
 * are used (6 % more), except on GPUs that multiply them directly (38 % less). */
static double train_ops(const struct run_plan *p, double length)
{
	const struct plan_job *j = &p->job;
	double f = forward_ops(j, length);
	double ops = 2.0 * f + 2.0 * trained_parameters(j) + (p->choice.recompute ? f : 0.0);

	return p->choice.store != STORE_I8 ? ops : ops * (p->machine.fp8 ? 0.62 : 1.06);
}

/* The given share, or the default. */
static double share(double given, double usual)
{
	return given > 0 ? given : usual;
}

/* The defaults are what public trainers reach; plan_table prints them as assumptions. */
double plan_share(const struct run_plan *p, enum plan_share which)
{
	const struct plan_job *j = &p->job;

	switch (which) {
	case PLAN_SHARE_TRAIN: return share(j->train_share, p->machine.cpu ? 0.5 : 0.55);
	case PLAN_SHARE_PREFILL: return share(j->prefill_share, 0.5);
	default: return share(j->read_share, p->machine.cpu ? 0.6 : 0.5);
	}
}

/* Operations per second of all GPUs at peak. */
static double flops(const struct run_plan *p)
{
	return p->machine.tflops * 1e12 * p->machine.count;
}

/* Training tokens per second. Between its products training moves activations and logits, which
 * bounds small models. The number of moves of each byte fits measurements on an H200 from 28
 * million to 7 billion parameters (bench/results). */
static double train_rate(const struct run_plan *p, double length)
{
	const double moves = 9.25, logit_moves = 4.0;
	const int64_t tokens = 1 << 14;
	double products = train_ops(p, length) / (flops(p) * plan_share(p, PLAN_SHARE_TRAIN));
	double bytes = moves * activation_bytes(p, tokens, 0) / (double)tokens + logit_moves * 2.0 * p->job.c.V;

	if (p->machine.cpu)
		return 1.0 / products;
	return 1.0 / (products + bytes / (p->machine.gb_per_s * 1e9 * p->machine.count));
}

/* Sets amount, rate and time of one step. */
static void set_step(struct run_plan *p, enum plan_step s, double amount, double per_s)
{
	p->step[s].amount = amount;
	p->step[s].per_s = per_s;
	p->step[s].seconds = per_s > 0 ? amount / per_s : 0;
}

/* Tokens per second of all GPUs with `slots` samples at a time on each. Every step reads the
 * weights, keys and values, and then computes. A prompt is computed once and shared by n samples. */
static double sample_rate(const struct run_plan *p, int64_t slots, int64_t n)
{
	const struct plan_job *j = &p->job;
	double length = j->prompt_tokens + j->answer_tokens / 2;
	double bytes = p->memory[PLAN_EVAL][PLAN_WEIGHTS] + (double)slots * length * kv_bytes(p);
	double ops = (double)slots * forward_ops(j, length) / (p->machine.tflops * 1e12 * plan_share(p,
			PLAN_SHARE_PREFILL));
	double step = bytes / (p->machine.gb_per_s * 1e9 * plan_share(p, PLAN_SHARE_READ)) + ops;
	double prompt = j->prompt_tokens * forward_ops(j, j->prompt_tokens) / (p->machine.tflops * 1e12 *
			plan_share(p, PLAN_SHARE_PREFILL));

	return p->machine.count / (step / (double)slots + prompt / ((double)n * j->answer_tokens));
}

/* Judging runs at the same time as sampling. On a CPU both need the same cores, so their times add
 * up. */
static double overlap(const struct run_plan *p, enum plan_step a, enum plan_step b)
{
	double x = p->step[a].seconds, y = p->step[b].seconds;

	return p->machine.cpu ? x + y : fmax(x, y);
}

/* Time of the supervised stage. */
static void time_sft(struct run_plan *p)
{
	const struct plan_job *j = &p->job;
	double length = fmin(j->sft.row_tokens, (double)p->choice.max_length);
	double rows = j->sft.steps ? (double)(j->sft.steps * j->sft.batch * j->sft.accumulate) :
		(double)(j->sft.rows * j->sft.epochs);

	set_step(p, PLAN_T_SFT, rows * length, train_rate(p, length));
	p->seconds[PLAN_SFT] = p->step[PLAN_T_SFT].seconds;
}

/* Time of the reinforcement stage: sampling and judging overlap, training follows. With best_of_n
 * only the kept samples are trained on. */
static void time_rl(struct run_plan *p)
{
	const struct plan_job *j = &p->job;
	double tasks = j->rl.steps ? (double)(j->rl.steps * j->rl.tasks_per_step) :
		(double)(j->rl.tasks * j->rl.epochs);
	double samples = tasks * (double)j->rl.n, length = j->prompt_tokens + j->answer_tokens;
	double trained = tasks * (double)(j->rl.keep ? MIN(j->rl.keep, j->rl.n) : j->rl.n) * (double)MAX(1,
			j->rl.inner);

	set_step(p, PLAN_T_SAMPLE, samples * j->answer_tokens, sample_rate(p, p->choice.slots, j->rl.n));
	set_step(p, PLAN_T_JUDGE, samples, p->machine.cores * 1000.0 / j->judge_ms);
	set_step(p, PLAN_T_TRAIN, trained * length, train_rate(p, length));
	p->seconds[PLAN_RL] = overlap(p, PLAN_T_SAMPLE, PLAN_T_JUDGE) + p->step[PLAN_T_TRAIN].seconds;
}

/* Time of the evaluation. */
static void time_eval(struct run_plan *p)
{
	const struct plan_job *j = &p->job;
	double samples = (double)(j->eval.tasks * j->eval.n);

	set_step(p, PLAN_T_EVAL_SAMPLE, samples * j->answer_tokens, sample_rate(p, p->choice.eval_slots, j->eval.n));
	set_step(p, PLAN_T_EVAL_JUDGE, samples, p->machine.cores * 1000.0 / j->judge_ms);
	p->seconds[PLAN_EVAL] = overlap(p, PLAN_T_EVAL_SAMPLE, PLAN_T_EVAL_JUDGE);
}

/* If the run does not fit, times stay 0 and the memory table shows the smallest choice. */
int plan_make(struct run_plan *p, const struct plan_job *j, const struct plan_machine *m, struct err *e)
{
	*p = (struct run_plan){ .job = *j, .machine = *m };
	if (j->sft.max_length < 1 || j->answer_tokens <= 0 || j->judge_ms <= 0 || m->count < 1)
		return err_set(e, ERR_RANGE, "a plan needs a sequence length, an answer length, a judging time and at "
			       "least one machine");
	choose(p);
	if (!p->choice.fits)
		return 0;
	time_sft(p);
	time_rl(p);
	time_eval(p);
	for (int s = 0; s < PLAN_STAGES; s++)
		p->hours += p->seconds[s] / 3600;
	p->gpu_hours = p->hours * m->count;
	p->cost = p->gpu_hours * m->price;
	return 0;
}
