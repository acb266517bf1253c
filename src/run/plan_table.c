/* Plans as text and as JSON: see plan.h. The field names of the JSON form are part of the
 * interface. */
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "run/plan.h"

#define GIB 1073741824.0

static const char *const stage_names[PLAN_ALL_STAGES] = { [PLAN_PREPARE] = "prepare", [PLAN_SFT] = "sft",
							  [PLAN_RL] = "rl", [PLAN_EVAL] = "eval" };
/* The stages in the order of the pipeline. */
static const enum plan_stage in_order[PLAN_ALL_STAGES] = { PLAN_PREPARE, PLAN_SFT, PLAN_RL, PLAN_EVAL };
static const char *const part_names[PLAN_PARTS] = {
	[PLAN_WEIGHTS] = "weights", [PLAN_TRAINED] = "trained, gradients, moments",
	[PLAN_ACTIVATIONS] = "activations and logits",
	[PLAN_KV] = "keys and values", [PLAN_RESERVE] = "context and workspaces",
};
/* Name and unit of each step. */
static const struct {
	const char *name, *unit;
} steps[PLAN_STEPS] = {
	[PLAN_T_PREPARE] = { "prepare", "rows" }, [PLAN_T_LOAD] = { "load the model", "times" },
	[PLAN_T_ROWS] = { "sft: make rows", "rows" },
	[PLAN_T_SFT] = { "sft: train", "tokens" }, [PLAN_T_TASKS] = { "prepare tasks", "tasks" },
	[PLAN_T_SAMPLE] = { "rl: sample", "tokens" }, [PLAN_T_JUDGE] = { "rl: judge", "candidates" },
	[PLAN_T_TRAIN] = { "rl: train", "tokens" }, [PLAN_T_EVAL_SAMPLE] = { "eval: sample", "tokens" },
	[PLAN_T_EVAL_JUDGE] = { "eval: judge", "candidates" }, [PLAN_T_LOOKS] = { "eval in training", "candidates" },
};

/* The word for a storage of weights. */
static const char *store_words(enum model_store s)
{
	return s == STORE_F32 ? "32-bit" : s == STORE_I8 ? "8-bit" : "16-bit";
}

/* Writes a time as "3.2 h", "14.0 min" or "8.0 s". */
static const char *duration(double seconds, char out[24])
{
	if (seconds >= 3600)
		snprintf(out, 24, "%.1f h", seconds / 3600);
	else if (seconds >= 60)
		snprintf(out, 24, "%.1f min", seconds / 60);
	else
		snprintf(out, 24, "%.1f s", seconds);
	return out;
}

/* Writes a number with three digits: 1,234,567 becomes "1.23 M". */
static const char *amount(double n, char out[24])
{
	if (n >= 1e9)
		snprintf(out, 24, "%.2f G", n / 1e9);
	else if (n >= 1e6)
		snprintf(out, 24, "%.2f M", n / 1e6);
	else if (n >= 1e4)
		snprintf(out, 24, "%.1f k", n / 1e3);
	else
		snprintf(out, 24, "%.0f", n);
	return out;
}

/* Bytes of a stage on each GPU. */
static double total(const struct run_plan *p, enum plan_stage s)
{
	double sum = 0;

	for (int i = 0; i < PLAN_PARTS; i++)
		sum += p->memory[s][i];
	return sum;
}

/* Writes the memory of each stage, part by part. */
static void table_memory(const struct run_plan *p, struct buf *out)
{
	buf_addf(out, "\nmemory%s, GiB %*s%10s%10s%10s\n", p->machine.cpu ? "" : " of each GPU",
		 p->machine.cpu ? 22 : 10, "", "sft", "rl", "eval");
	for (int i = 0; i < PLAN_PARTS; i++) {
		buf_addf(out, "  %-32s", part_names[i]);
		for (int s = 0; s < PLAN_STAGES; s++)
			buf_addf(out, "%10.2f", p->memory[s][i] / GIB);
		buf_addc(out, '\n');
	}
	buf_addf(out, "  %-32s", "together");
	for (int s = 0; s < PLAN_STAGES; s++)
		buf_addf(out, "%10.2f", total(p, s) / GIB);
	buf_addf(out, "\n  %-32s%10.2f\n", "there is", p->machine.gib);
}

/* Writes what the plan has chosen, also as options for the command line. */
static void table_choice(const struct run_plan *p, struct buf *out)
{
	const struct plan_choice *c = &p->choice;
	const char *each = p->machine.count > 1 ? " on each GPU" : "";

	buf_addf(out, "\nchoice\n  weights %s, %s\n", store_words(c->store),
		 c->recompute ? "activations recomputed" : "activations kept");
	buf_addf(out, "  sft: %lld sequences a step, %lld x %lld tokens at a time%s, accumulated %lld time%s\n",
		 (long long)(p->job.sft.batch * p->job.sft.accumulate), (long long)c->micro, (long long)c->max_length,
		 each, (long long)c->accumulate, c->accumulate == 1 ? "" : "s");
	if (c->max_length < p->job.sft.max_length)
		buf_addf(out, "  sequences are cut to %lld tokens, not %lld as configured: more does not fit\n",
			 (long long)c->max_length,
			 (long long)p->job.sft.max_length);
	buf_addf(out, "  rl: %lld samples at a time%s, trained on %lld tokens at a time\n",
		 (long long)c->slots, each, (long long)c->rl_micro);
	buf_addf(out, "  run takes this over unless the configuration says otherwise; as options: --weights %s%s "
		      "--max-length %lld --micro-tokens %lld --slots %lld\n",
		 c->store == STORE_F32 ? "f32" : c->store == STORE_I8 ? "int8" : c->store == STORE_FAST ?
		 "fast" : "bf16",
		 c->recompute ? " --recompute" : "", (long long)c->max_length, (long long)(c->micro * c->max_length),
		 (long long)c->slots);
}

/* Writes amounts, rates and times of the steps that the run has. */
static void table_steps(const struct run_plan *p, struct buf *out)
{
	char a[24], r[24], d[24];

	buf_addf(out, "\ntime\n  %-16s%22s%18s%12s\n", "", "amount", "per second", "time");
	for (int s = 0; s < PLAN_STEPS; s++)
		if (p->step[s].amount > 0)
			buf_addf(out, "  %-16s%11s %-10s%18s%12s\n", steps[s].name, amount(p->step[s].amount, a),
				 steps[s].unit, amount(p->step[s].per_s, r), duration(p->step[s].seconds, d));
}

/* Writes a price, or a dash if it is unknown. */
static void add_cost(struct buf *out, double hours, double price)
{
	if (price > 0)
		buf_addf(out, "%12.2f", hours * price);
	else
		buf_addf(out, "%12s", "-");
}

/* Writes one line of hours and cost. */
static void add_total(const struct run_plan *p, const char *name, double seconds, struct buf *out)
{
	double hours = seconds / 3600 * p->machine.count;
	char d[24];

	buf_addf(out, "  %-16s%12s%16.2f", name, duration(seconds, d), hours);
	add_cost(out, hours, p->machine.price);
	add_cost(out, hours, p->machine.spot_price);
	buf_addc(out, '\n');
}

/* Writes hours and cost of the stages, on demand and on a spot machine. */
static void table_time(const struct run_plan *p, struct buf *out)
{
	table_steps(p, out);
	buf_addf(out, "\n  %-16s%12s%16s%12s%12s\n", "", "time", p->machine.cpu ? "machine-hours" : "GPU-hours",
		 "on demand", "spot");
	for (int i = 0; i < PLAN_ALL_STAGES; i++)
		if (!(p->job.skip >> in_order[i] & 1))
			add_total(p, stage_names[in_order[i]], p->seconds[in_order[i]], out);
	add_total(p, "together", p->hours * 3600, out);
}

/* Writes where the prices come from. */
static void table_prices(const struct run_plan *p, struct buf *out)
{
	const struct plan_machine *m = &p->machine;

	if (m->price <= 0)
		buf_adds(out, "  the price is unknown (machine: price_per_hour, or --price-per-hour)\n");
	else
		buf_addf(out, "  %.2f an hour on demand and %.2f on a spot machine for each%s%s\n", m->price,
			 m->spot_price, m->cpu ? "" : " GPU", m->usual_price ?
			 ", typical prices (--price-per-hour, --spot-price-per-hour)" : "");
}

/* Writes the command that starts the run on all GPUs: one process for each. */
static void table_command(const struct run_plan *p, const char *command, struct buf *out)
{
	if (p->machine.count > 1)
		buf_addf(out, "\nto run it\n  mpirun -n %d %s\n", p->machine.count, command);
	else
		buf_addf(out, "\nto run it\n  %s\n", command);
}

/* Writes everything that the plan assumes, so that a reader can correct it by options. */
static void table_assumptions(const struct run_plan *p, struct buf *out)
{
	const struct plan_job *j = &p->job;

	buf_adds(out, "\nassumed\n");
	buf_addf(out, "  products of training reach %.0f %% of %.4g TFLOP/s, prompts %.0f %%; sampling "
		      "reads memory at %.0f %% of %.0f GB/s\n",
		 100 * plan_share(p, PLAN_SHARE_TRAIN), p->machine.tflops, 100 * plan_share(p, PLAN_SHARE_PREFILL),
		 100 * plan_share(p, PLAN_SHARE_READ), p->machine.gb_per_s);
	if (j->sft.steps)
		buf_addf(out, "  sft: %lld steps, rows of %.0f tokens", (long long)j->sft.steps, j->sft.row_tokens);
	else
		buf_addf(out, "  sft: %lld rows of %.0f tokens, %lld epoch%s", (long long)j->sft.rows,
			 j->sft.row_tokens,
			 (long long)j->sft.epochs, j->sft.epochs == 1 ? "" : "s");
	if (j->sft.row_square > j->sft.row_tokens)
		buf_addf(out, " (for attention %.0f: the squares count)", j->sft.row_square);
	if (j->sft.row_ms > 0)
		buf_addf(out, ", made in %.3g ms (measured here) of one of %d cores", j->sft.row_ms, p->machine.cores);
	buf_addc(out, '\n');
	if (j->rl.steps)
		buf_addf(out, "  rl: %lld steps of %lld tasks", (long long)j->rl.steps,
			 (long long)j->rl.tasks_per_step);
	else
		buf_addf(out, "  rl: %lld tasks, %lld epochs", (long long)j->rl.tasks, (long long)j->rl.epochs);
	buf_addf(out, ", %lld samples each, prompts of %.0f and answers of %.0f tokens on average\n",
		 (long long)j->rl.n, j->prompt_tokens,
		 j->answer_tokens);
	buf_addf(out, "  eval: %lld tasks, %lld samples each, %lld model%s\n", (long long)j->eval.tasks,
		 (long long)j->eval.n, (long long)j->eval.models, j->eval.models == 1 ? "" : "s");
	buf_addf(out, "  a correct candidate is judged in %.3g ms%s of one of %d cores, a task is prepared in "
		      "%.3g ms; %s\n",
		 j->judge_ms, j->judge_measured ? " (measured here)" : "", p->machine.cores, j->task_ms,
		 p->machine.cpu ? "sampling needs the same cores" : "others are sampled meanwhile");
	table_prices(p, out);
	if (!p->machine.cpu)
		buf_adds(out, "  the shares are what public trainers reach on such GPUs; measure a step "
			      "before you rely on them\n");
}

/* Writes the whole plan: model, machine, memory, choice, time, assumptions. */
void plan_table(const struct run_plan *p, const char *command, struct buf *out)
{
	double all = (double)model_config_parameters(&p->job.c);
	char n[24], a[24];

	buf_addf(out, "%s: %s parameters, ", p->job.model, amount(all, n));
	if (p->job.full)
		buf_adds(out, "all trained\n");
	else
		buf_addf(out, "an adapter of %s trained\n",
			 amount((double)adapter_parameters(&p->job.c, &p->job.lora), a));
	buf_addf(out, "%s\n", p->machine.text);
	table_memory(p, out);
	if (!p->choice.fits) {
		buf_adds(out, "\nIt does not fit: the table is for 8-bit weights, recomputed activations "
			      "and the shortest sequences.\n");
		return;
	}
	table_choice(p, out);
	table_time(p, out);
	table_assumptions(p, out);
	if (command)
		table_command(p, command, out);
}

/* A plan that does not fit gets a short row, so that the comparison lists every machine. */
void plan_row(const struct run_plan *p, struct buf *out)
{
	char d[24];

	if (!p) {
		buf_addf(out, "%-22s %-8s %-10s %8s %6s %8s %6s %10s %10s %10s %10s\n", "machine", "weights",
			 "recompute", "length", "micro", "accum.",
			 "slots", "time", "GPU-hours", "on demand", "spot");
		return;
	}
	buf_addf(out, "%-22.22s ", p->machine.cpu ? "this CPU" : p->machine.text);
	if (!p->choice.fits) {
		buf_adds(out, "does not fit\n");
		return;
	}
	buf_addf(out, "%-8s %-10s %8lld %6lld %8lld %6lld %10s %10.2f ", store_words(p->choice.store),
		 p->choice.recompute ? "yes" : "no",
		 (long long)p->choice.max_length, (long long)p->choice.micro, (long long)p->choice.accumulate,
		 (long long)p->choice.slots,
		 duration(p->hours * 3600, d), p->gpu_hours);
	if (p->machine.price > 0)
		buf_addf(out, "%10.2f %10.2f\n", p->cost, p->spot_cost);
	else
		buf_addf(out, "%10s %10s\n", "-", "-");
}

/* --- JSON ------------------------------------------------------------------------------------------------- */

/* Writes the choice. */
static void json_choice(struct jw *w, const struct plan_choice *c)
{
	jw_key(w, "choice");
	jw_begin(w, '{');
	jw_key(w, "weights"), jw_cstr(w, store_words(c->store));
	jw_key(w, "recompute"), jw_bool(w, c->recompute);
	jw_key(w, "max_length"), jw_int(w, c->max_length);
	jw_key(w, "micro_batch"), jw_int(w, c->micro);
	jw_key(w, "accumulate"), jw_int(w, c->accumulate);
	jw_key(w, "rl_micro_tokens"), jw_int(w, c->rl_micro);
	jw_key(w, "slots"), jw_int(w, c->slots);
	jw_end(w, '}');
}

/* Writes memory and time of a stage. */
static void json_stage(struct jw *w, const struct run_plan *p, enum plan_stage s)
{
	jw_key(w, stage_names[s]);
	jw_begin(w, '{');
	if (s < PLAN_STAGES)
		jw_key(w, "memory_gib"), jw_real(w, total(p, s) / GIB);
	jw_key(w, "seconds"), jw_real(w, p->seconds[s]);
	jw_end(w, '}');
}

/* Writes the plan for scripts. Times are 0 if the run does not fit. */
void plan_json(const struct run_plan *p, struct buf *out)
{
	struct jw w = { .out = out };

	jw_begin(&w, '{');
	jw_key(&w, "model"), jw_cstr(&w, p->job.model);
	jw_key(&w, "parameters"), jw_int(&w, model_config_parameters(&p->job.c));
	jw_key(&w, "machine"), jw_cstr(&w, p->machine.name);
	jw_key(&w, "count"), jw_int(&w, p->machine.count);
	jw_key(&w, "fits"), jw_bool(&w, p->choice.fits);
	json_choice(&w, &p->choice);
	for (int i = 0; i < PLAN_ALL_STAGES; i++)
		json_stage(&w, p, in_order[i]);
	jw_key(&w, "hours"), jw_real(&w, p->hours);
	jw_key(&w, "gpu_hours"), jw_real(&w, p->gpu_hours);
	jw_key(&w, "cost"), jw_real(&w, p->cost);
	jw_key(&w, "spot_cost"), jw_real(&w, p->spot_cost);
	jw_key(&w, "judge_ms"), jw_real(&w, p->job.judge_ms);
	jw_key(&w, "task_ms"), jw_real(&w, p->job.task_ms);
	jw_end(&w, '}');
	buf_addc(out, '\n');
}
