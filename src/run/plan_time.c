/* Time of a plan: see plan.h.
 *
 * Each step has an amount, a rate and a time; the steps add up to stages. The constants come from
 * measured runs (bench/results), which test_plan compares with. */
#include <math.h>

#include "base/mem.h"
#include "run/plan.h"

/* Seconds to open a model on a GPU without its bytes, bytes of weights read per second, and seconds
 * in which a training stage measures its products. */
static const double gpu_open = 1.2, gpu_load = 8e9, gpu_tune = 1.5, cpu_load = 1.5e9;

/* Share of the samples that are trained on if every sample counts (GRPO, REINFORCE): groups without
 * signal are left out and equal answers are computed once. The demo has 0.32 to 0.38. */
static const double trained_share = 0.36;

/* Mean time of a candidate compared with that of a correct one, which passes every stage: wrong ones
 * end early, and equal ones of a step are judged once. */
static const double judged_share = 0.5;

/* --- rates --------------------------------------------------------------------------------------------- */

/* Operations to compute one token forward: two for each weight of the matrices, and attention over
 * `length` tokens. A token sees half of them on average. The head is a product, the embedding is
 * not. */
static double forward_ops(const struct plan_job *j, double length)
{
	const struct model_config *c = &j->c;
	double lora = j->full ? 0.0 : plan_trained_parameters(j);

	return 2.0 * (plan_layer_parameters(c) + (double)c->V * c->C + lora) + 2.0 * length * c->H * c->D * c->L;
}

/* Operations of products to train on one token: forward, the gradient of the input, the gradient of the
 * trained parameters, and forward again if activations are recomputed. 8-bit weights are widened when
 * they are used (6 % more), except on GPUs that multiply them directly (38 % less). `length` as in
 * forward_ops. */
static double train_ops(const struct run_plan *p, double length)
{
	const struct plan_job *j = &p->job;
	double f = forward_ops(j, length);
	double ops = 2.0 * f + 2.0 * plan_trained_parameters(j) + (p->choice.recompute ? f : 0.0);

	return p->choice.store != STORE_I8 ? ops : ops * (p->machine.fp8 ? 0.62 : 1.06);
}

/* The given share, or the default. */
static double share(double given, double usual)
{
	return given > 0 ? given : usual;
}

/* The defaults are what public trainers reach on a GPU. A CPU comes close to the product of 256 x 256 that was
 * measured on it. plan_table prints them as assumptions. */
double plan_share(const struct run_plan *p, enum plan_share which)
{
	const struct plan_job *j = &p->job;

	switch (which) {
	case PLAN_SHARE_TRAIN: return share(j->train_share, p->machine.cpu ? 0.85 : 0.55);
	case PLAN_SHARE_PREFILL: return share(j->prefill_share, p->machine.cpu ? 0.75 : 0.5);
	default: return share(j->read_share, p->machine.cpu ? 0.6 : 0.5);
	}
}

/* Operations per second at peak of one GPU or of the CPU. A CPU with products of bf16 has them at
 * a higher rate than the fp32 products that were measured. */
static double peak(const struct run_plan *p)
{
	int fast = p->machine.cpu && p->choice.store == STORE_FAST && p->machine.fast > 1;

	return p->machine.tflops * 1e12 * (fast ? p->machine.fast : 1.0);
}

/* The same of all GPUs. */
static double flops(const struct run_plan *p)
{
	return peak(p) * p->machine.count;
}

/* Seconds of all GPUs for attention to one token in training: forward, and a backward of 2.5 times the operations.
 * A token of a long row costs more than one of a short row, so `square` is the sum of squared lengths divided by
 * the sum of lengths. The shares of peak are those of cuDNN's deterministic backward with its forward, for rows of
 * equal and of unequal lengths (bench/results, "attention, lengths falling"). */
static double attention_seconds(const struct run_plan *p, double length, double square)
{
	static const double shares[2][2] = { { 0.14, 0.2 }, { 0.22, 0.36 } };    /* [heads over 64][equal lengths] */
	const struct model_config *c = &p->job.c;
	double forward = 2.0 * square * c->H * c->D * c->L, reached = shares[c->D > 64][square < 1.05 * length];

	return forward * (p->choice.recompute ? 4.5 : 3.5) / (flops(p) * reached);
}

/* Training tokens per second of rows of the mean length `length`, whose squared lengths are `square` times their
 * lengths. Between its products
 * training moves activations and logits, which bounds small models. The number of moves of each byte fits measurements
 * on an H200 from 28 million to 7 billion parameters (doc/run.md has the table). */
static double train_rate(const struct run_plan *p, double length, double square)
{
	const double moves = 5.75, logit_moves = 4.0;
	const int64_t tokens = 1 << 14;
	double products = train_ops(p, p->machine.cpu ? square : 0) / (flops(p) * plan_share(p, PLAN_SHARE_TRAIN));
	double bytes = moves * plan_activation_bytes(p, tokens, 0) / (double)tokens + logit_moves * 2.0 * p->job.c.V;

	if (p->machine.cpu)
		return 1.0 / products;
	bytes /= p->machine.gb_per_s * 1e9 * p->machine.count;
	return 1.0 / (products + attention_seconds(p, length, square) + bytes);
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
	double bytes = p->memory[PLAN_EVAL][PLAN_WEIGHTS] + (double)slots * length * plan_kv_bytes(p);
	double ops = (double)slots * forward_ops(j, length) / (peak(p) * plan_share(p, PLAN_SHARE_PREFILL));
	double step = bytes / (p->machine.gb_per_s * 1e9 * plan_share(p, PLAN_SHARE_READ)) + ops;
	double prompt = j->prompt_tokens * forward_ops(j, j->prompt_tokens) /
		(peak(p) * plan_share(p, PLAN_SHARE_PREFILL));

	return p->machine.count / (step / (double)slots + prompt / ((double)n * j->answer_tokens));
}

/* Seconds at the end of a step of sampling in which only the longest answers are left. A GPU takes as
 * long for a token of one sample as for one of many: it reads the weights, or waits for launches. */
static double tail_seconds(const struct run_plan *p, int64_t max_new)
{
	const double latency = 5e-4;
	double left = fmin((double)max_new, 2.0 * p->job.answer_tokens) - p->job.answer_tokens;
	double read = p->memory[PLAN_EVAL][PLAN_WEIGHTS] / (p->machine.gb_per_s * 1e9 * plan_share(p, PLAN_SHARE_READ));

	return p->machine.cpu ? 0.0 : fmax(left, 0.0) * fmax(read, latency);
}

/* Judging runs at the same time as sampling, and rows are made while others are trained on. On a CPU both
 * need the same cores, so their times add up. */
static double overlap(const struct run_plan *p, enum plan_step a, enum plan_step b)
{
	double x = p->step[a].seconds, y = p->step[b].seconds;

	return p->machine.cpu ? x + y : fmax(x, y);
}

/* --- stages -------------------------------------------------------------------------------------------- */

/* Candidates per second that the judging cores judge, and tasks per second that they prepare. */
static double judge_rate(const struct run_plan *p)
{
	return p->machine.cores * 1000.0 / (p->job.judge_ms * judged_share);
}

static double task_rate(const struct run_plan *p)
{
	return p->machine.cores * 1000.0 / (p->job.task_ms > 0 ? p->job.task_ms : p->job.judge_ms);
}

/* Is a stage part of the run? */
static int has_stage(const struct run_plan *p, enum plan_stage s)
{
	return !(p->job.skip >> s & 1);
}

/* Seconds to open the model once. */
static double open_seconds(const struct run_plan *p)
{
	double bytes = p->memory[PLAN_EVAL][PLAN_WEIGHTS];

	return p->machine.cpu ? bytes / cpu_load : gpu_open + bytes / gpu_load;
}

/* Adds `n` openings of the model to the step and to the stage. */
static void add_opens(struct run_plan *p, enum plan_stage s, double n)
{
	set_step(p, PLAN_T_LOAD, p->step[PLAN_T_LOAD].amount + n, 1.0 / open_seconds(p));
	p->seconds[s] += n * open_seconds(p);
}

/* Adds the preparation of `n` tasks for the judge. */
static void add_tasks(struct run_plan *p, enum plan_stage s, double n)
{
	set_step(p, PLAN_T_TASKS, p->step[PLAN_T_TASKS].amount + n, task_rate(p));
	p->seconds[s] += n / task_rate(p);
}

/* Adds the evaluations during a training stage of `steps` steps: one answer per task each. */
static void add_looks(struct run_plan *p, enum plan_stage s, double steps)
{
	const struct plan_job *j = &p->job;
	double times = j->look[s].every ? floor(steps / (double)j->look[s].every) + 1 : 0;
	double samples = times * (double)j->look[s].tasks, length = j->answer_tokens;
	double rate = sample_rate(p, MAX(1, MIN(p->choice.slots, j->look[s].tasks)), 1);
	double sampling = samples * length / rate, judging = samples / judge_rate(p);
	double seconds = p->machine.cpu ? sampling + judging : fmax(sampling, judging);

	if (samples <= 0)
		return;
	p->step[PLAN_T_LOOKS].amount += samples;
	p->step[PLAN_T_LOOKS].seconds += seconds;
	p->step[PLAN_T_LOOKS].per_s = p->step[PLAN_T_LOOKS].amount / p->step[PLAN_T_LOOKS].seconds;
	p->seconds[s] += seconds;
}

/* Time to prepare data. Only the first process does it, on its judging cores if rows are verified. */
static void time_prepare(struct run_plan *p)
{
	const struct plan_job *j = &p->job;
	double row = j->prepare.rows_per_s > 0 ? 1.0 / j->prepare.rows_per_s : 0.0;
	double cores = p->machine.cores / (double)p->machine.count;

	if (j->prepare.verify)
		row += (j->judge_ms + j->task_ms) / (1000.0 * cores);
	set_step(p, PLAN_T_PREPARE, (double)j->prepare.rows, row > 0 ? 1.0 / row : 0);
	p->seconds[PLAN_PREPARE] = p->step[PLAN_T_PREPARE].seconds;
}

/* Rows per second of a source (--stream). Each process makes all rows, on its share of the cores. */
static double make_rate(const struct run_plan *p)
{
	return p->machine.cores * 1000.0 / (p->machine.count * p->job.sft.row_ms);
}

/* Time of the supervised stage. */
static void time_sft(struct run_plan *p)
{
	const struct plan_job *j = &p->job;
	double length = fmin(j->sft.row_tokens, (double)p->choice.max_length);
	double square = fmin(fmax(j->sft.row_square, length), (double)p->choice.max_length);
	double step = (double)(j->sft.batch * j->sft.accumulate);
	double rows = j->sft.steps ? (double)j->sft.steps * step : (double)(j->sft.rows * j->sft.epochs);

	set_step(p, PLAN_T_SFT, rows * length, train_rate(p, length, square));
	if (j->sft.row_ms > 0)
		set_step(p, PLAN_T_ROWS, rows, make_rate(p));
	p->seconds[PLAN_SFT] = overlap(p, PLAN_T_SFT, PLAN_T_ROWS) + (p->machine.cpu ? 0 : gpu_tune);
	add_opens(p, PLAN_SFT, 1);
	add_looks(p, PLAN_SFT, rows / step);
}

/* Time of the reinforcement stage: all tasks are prepared first; then sampling and judging overlap,
 * and training follows. With best_of_n only the kept samples are trained on. */
static void time_rl(struct run_plan *p)
{
	const struct plan_job *j = &p->job;
	double tasks = j->rl.steps ? (double)(j->rl.steps * j->rl.tasks_per_step) :
		(double)(j->rl.tasks * j->rl.epochs);
	double samples = tasks * (double)j->rl.n, length = j->prompt_tokens + j->answer_tokens;
	double kept = j->rl.keep ? (double)MIN(j->rl.keep, j->rl.n) : trained_share * (double)j->rl.n;
	double trained = tasks * kept * (double)MAX(1, j->rl.inner);
	double steps = ceil(tasks / (double)MAX(1, j->rl.tasks_per_step));

	set_step(p, PLAN_T_SAMPLE, samples * j->answer_tokens, sample_rate(p, p->choice.slots, j->rl.n));
	set_step(p, PLAN_T_JUDGE, samples, judge_rate(p));
	set_step(p, PLAN_T_TRAIN, trained * length, train_rate(p, length, length));
	p->step[PLAN_T_SAMPLE].seconds += steps * tail_seconds(p, j->rl.max_new);
	p->seconds[PLAN_RL] = overlap(p, PLAN_T_SAMPLE, PLAN_T_JUDGE) + p->step[PLAN_T_TRAIN].seconds +
		(p->machine.cpu ? 0 : gpu_tune);
	add_opens(p, PLAN_RL, 1);
	add_tasks(p, PLAN_RL, (double)j->rl.tasks);
	add_looks(p, PLAN_RL, steps);
}

/* Time of the evaluation of every model: base, sft and rl. */
static void time_eval(struct run_plan *p)
{
	const struct plan_job *j = &p->job;
	double models = (double)MAX(1, j->eval.models), samples = models * (double)(j->eval.tasks * j->eval.n);

	set_step(p, PLAN_T_EVAL_SAMPLE, samples * j->answer_tokens, sample_rate(p, p->choice.eval_slots, j->eval.n));
	p->step[PLAN_T_EVAL_SAMPLE].seconds += models * tail_seconds(p, j->eval.max_new);
	set_step(p, PLAN_T_EVAL_JUDGE, samples * (double)MAX(1, j->eval.tracks), judge_rate(p));
	p->seconds[PLAN_EVAL] = overlap(p, PLAN_T_EVAL_SAMPLE, PLAN_T_EVAL_JUDGE);
	add_opens(p, PLAN_EVAL, models);
	add_tasks(p, PLAN_EVAL, (double)j->eval.tasks);
}

/* Each stage that is part of the run adds its time. */
void plan_time(struct run_plan *p)
{
	static void (*const each[])(struct run_plan *p) = { [PLAN_SFT] = time_sft, [PLAN_RL] = time_rl,
							    [PLAN_EVAL] = time_eval, [PLAN_PREPARE] = time_prepare };

	for (int s = 0; s < PLAN_ALL_STAGES; s++)
		if (has_stage(p, s))
			each[s](p);
	for (int s = 0; s < PLAN_ALL_STAGES; s++)
		p->hours += p->seconds[s] / 3600;
	p->gpu_hours = p->hours * p->machine.count;
	p->cost = p->gpu_hours * p->machine.price;
	p->spot_cost = p->gpu_hours * p->machine.spot_price;
}
