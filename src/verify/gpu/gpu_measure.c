/* One candidate on a GPU: see gpu_measure.h.
 *
 * Owns the order: load, run every input set, compare, warm up, time in small batches that alternate
 * with the reference, compare every timed result that differs, hold the time against the roofline. */
#include "verify/gpu/gpu_measure.h"

#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "tile/estimate/gpu.h"
#include "verify/gpu/baseline_store.h"

/* Timed calls of one question, trials of a configuration that is only compared with others, and the
 * most samples. The wall clock may exceed the events by this many seconds: starts and waits. */
enum { BATCH = 10, QUICK_TRIALS = 5, QUICK_WARMUPS = 2, SAMPLES = 1024 };
static const double wall_slack = 300e-6;
/* A time below this share of the roofline floor is impossible: data sheets are not exact. */
static const double floor_share = 0.9;

/* --- failures ------------------------------------------------------------------------------- */

static int fail(struct gpu_outcome *out, enum judge_stage s, enum reason why, const char *text)
{
	out->failed = 1;
	out->stage = s;
	diag_set(&out->diag, why, 0, 0, "on the GPU: %s", text);
	return 1;
}

/* The reason of a CUDA error. */
static enum reason reason_of(int code)
{
	return code == CU_OUT_OF_MEMORY ? REASON_out_of_memory : code == CU_OUT_OF_RESOURCES ? REASON_out_of_resources :
	       code == CU_ILLEGAL_ADDRESS ? REASON_out_of_bounds : code == CU_LAUNCH_TIMEOUT ? REASON_kernel_timeout :
	       REASON_device_assert;
}

/* Turns the end of a question into the candidate's failure. Returns 0 if all is well, 1 if the
 * outcome says what is wrong, -1 on our own failure (*e). */
static int settle(enum slot_end end, const struct slot_answer *a, struct gpu_outcome *out, struct err *e)
{
	switch (end) {
	case SLOT_OK: return 0;
	case SLOT_FAULT: return fail(out, STAGE_full, reason_of(a->code), a->text);
	case SLOT_RED_ZONE: return fail(out, STAGE_full, REASON_out_of_bounds, a->text);
	case SLOT_HANG: return fail(out, STAGE_full, REASON_kernel_timeout, a->text);
	case SLOT_DIED: return fail(out, STAGE_full, REASON_worker_crashed, a->text);
	default: return err_set(e, ERR_STATE, "%s", a->text);
	}
}

/* --- comparing ------------------------------------------------------------------------------ */

/* The results of a call in shared memory as those of the comparison. */
static int take_results(const struct gpu_plan *p, const char *bytes, const struct results *expected,
			struct results *got, struct err *e)
{
	*got = (struct results){ .n = 0 };
	memcpy(got->form, expected->form, sizeof got->form);
	for (int i = 0; i < MIN(p->n_results, RESULTS_MOST); i++) {
		const struct launch_view *v = &p->results[i];
		struct result *r = &got->r[got->n++];

		*r = (struct result){ .dt = v->dt, .ndim = v->ndim, .n = launch_view_numel(v) };
		memcpy(r->shape, v->shape, sizeof r->shape);
		if (i < expected->n)
			memcpy(r->name, expected->r[i].name, sizeof r->name);
		if (result_fill(r, bytes, e))
			return -1;
		bytes += r->n * dtype_size(v->dt);
	}
	return 0;
}

/* Compares the results of a call on an input set. */
static int compare(struct gpu_bench *b, const struct gpu_program *p, const struct full_task *t, int set, int64_t at,
		   struct gpu_outcome *out, struct err *e)
{
	struct results got;
	struct comparison c;
	char text[300];
	int rc = take_results(&p->plan, b->runner->memory + at, &t->expected[set], &got, e);

	if (!rc) {
		results_compare(&t->expected[set], &got, &c);
		if (c.reason != REASON_ok) {
			snprintf(text, sizeof text, "input set %d: %.250s", set, c.text);
			rc = fail(out, STAGE_full, c.reason, text);
		}
	}
	results_release(&got);
	return rc;
}

/* --- samples -------------------------------------------------------------------------------- */

/* Samples of the candidate and of the baseline that is timed with it. */
struct samples {
	struct timing_sample own[SAMPLES], other[SAMPLES];
	int n, n_other;
	int differing, first;       /* first: the place that the next batch begins with */
};

/* One batch of timed calls. Every result that has other bits than the checked one is compared. */
static int time_batch(struct gpu_bench *b, const struct gpu_program *p, const struct full_task *t, int trials,
		      struct samples *s, struct gpu_outcome *out, struct err *e)
{
	struct slot_answer a;
	int rc = settle(gpu_slot_time(b->runner, s->first, MIN(trials, SLOT_SAMPLES), &a), &a, out, e);

	for (int i = 0; i < a.n_differing && !rc; i++)
		rc = compare(b, p, t, a.place[a.differing[i]], i * a.result_bytes, out, e);
	if (rc)
		return rc;
	for (int i = 0; i < a.n && s->n < SAMPLES; i++)
		s->own[s->n++] = a.sample[i];
	s->differing += a.n_differing;
	s->first = a.places ? (s->first + a.n) % a.places : 0;
	return 0;
}

/* Summarises samples; throttled ones do not count. */
static struct timing_interval summarise(const struct gpu_bench *b, struct timing_sample *v, int n)
{
	size_t kept = timing_drop_throttled(v, (size_t)n);
	struct timing_interval t = timing_summary(v, kept, b->o.trim);

	t.dropped = n - (int)kept;
	return t;
}

/* Is the PyTorch process ready to alternate with the candidate on this task? */
static int may_alternate(const struct gpu_bench *b, const struct full_task *t)
{
	return torch_process_is_there(&b->torch) && b->torch.prepared == t->hash;
}

/* Times candidate and reference in turn. Ends when both intervals are narrow, at the earliest after
 * half of the trials, at the latest after twice as many. */
static int alternate(struct gpu_bench *b, const struct gpu_program *p, const struct full_task *t, struct samples *s,
		     struct gpu_outcome *out, struct err *e)
{
	int with = may_alternate(b, t), rc = 0;

	for (int warm = b->o.warmups; warm > 0 && !rc; warm -= BATCH, s->n = 0)
		rc = time_batch(b, p, t, MIN(warm, BATCH), s, out, e);
	while (!rc && s->n < 2 * b->o.trials) {
		struct timing_sample copy[SAMPLES];
		struct timing_interval own;
		int n, precise;

		rc = time_batch(b, p, t, MIN(BATCH, MAX(b->o.trials, 2)), s, out, e);
		n = !rc && with ? torch_process_time(&b->torch, b->o.baseline, s->n_other ? 1 : b->o.warmups, BATCH,
						     s->other + s->n_other, e) : 0;
		if (n < 0)
			return -1;
		s->n_other += n;
		if (rc || s->n < MAX(b->o.trials / 2, 2))
			continue;
		memcpy(copy, s->own, (size_t)s->n * sizeof *copy);
		own = summarise(b, copy, s->n);
		precise = timing_is_precise(&own, b->o.precision);
		if (s->n >= b->o.trials && timing_is_precise(&own, 2.0 * b->o.precision))
			precise = 1;
		if (precise)
			break;
	}
	return rc;
}

/* --- the floor ------------------------------------------------------------------------------ */

/* Seconds that the memory of this GPU needs for the bytes that every program must move; 0: the GPU
 * is not in our table. Bytes that fit into the L2 cache may not reach memory. */
static double roofline_floor(const struct gpu_bench *b, const struct full_task *t)
{
	const struct tile_gpu *g = tile_gpu_of_device(str_of(b->info.name), (double)b->info.memory / (1 << 30));
	double bytes = (double)t->bytes - (double)b->info.l2;

	return g && bytes > 0 ? bytes / (g->memory * 1e9) : 0.0;
}

static int check_floor(struct gpu_bench *b, const struct full_task *t, struct gpu_outcome *out)
{
	char text[160];

	out->gpu.floor = roofline_floor(b, t);
	out->gpu.flops = t->flops;
	if (!(out->gpu.time.mean < floor_share * out->gpu.floor))
		return 0;
	snprintf(text, sizeof text,
		 "%.3g microseconds are less than the memory needs for the inputs and results (%.3g)",
		 out->gpu.time.mean * 1e6, out->gpu.floor * 1e6);
	return fail(out, STAGE_timing, REASON_too_fast, text);
}

/* --- one program ---------------------------------------------------------------------------- */

/* Loads a program and runs it on every input set. */
static int check_program(struct gpu_bench *b, const struct gpu_program *p, const struct full_task *t,
			 struct gpu_outcome *out, struct err *e)
{
	struct slot_answer a;
	int rc = settle(gpu_slot_load(b->runner, p->text, p->kernels, p->n_kernels, t->inputs_fd, t->sets, &a), &a, out,
			e);
	int places = a.places;

	for (int i = 0; i < places && !rc; i++) {
		rc = settle(gpu_slot_run(b->runner, i, &a), &a, out, e);
		rc = rc ? rc : compare(b, p, t, i, 0, out, e);
	}
	return rc;
}

/* Seconds since a time of clock_ns. */
static double since(int64_t begin)
{
	return (double)(clock_ns() - begin) * 1e-9;
}

/* A quick time of a configuration, to compare it with the others: seven calls decide between programs that
 * usually differ by more than 5 %, and only the fastest is timed with all trials. *spent grows by the time that
 * this took, without the wait for other benches. */
static int time_quickly(struct gpu_bench *b, const struct gpu_program *p, const struct full_task *t, double *seconds,
			double *spent, struct gpu_outcome *out, struct err *e)
{
	struct samples *s = mem_zalloc(sizeof *s);
	int64_t begin;
	int rc;

	if (!s)
		return err_nomem(e);
	gpu_quiet_begin(b->quiet);
	begin = clock_ns();
	rc = time_batch(b, p, t, QUICK_WARMUPS, s, out, e);
	s->n = 0;
	rc = rc ? rc : time_batch(b, p, t, QUICK_TRIALS, s, out, e);
	*spent += since(begin);
	gpu_quiet_end(b->quiet);
	if (!rc)
		*seconds = timing_summary(s->own, (size_t)s->n, 0.0).mean;
	mem_free(s);
	return rc;
}

/* The program of the fastest configuration. All configurations share the time of gpu_options.tuning: those for
 * which none is left are not tried and cannot win. Each that is tried must be correct. Example: 10 s, and 3 s for
 * each of 8 configurations: four are tried. */
static int choose(struct gpu_bench *b, struct gpu_program *p, int n, const struct full_task *t, int *best,
		  struct gpu_outcome *out, struct err *e)
{
	double least = INFINITY, seconds = 0, spent = 0;
	int tried = 0;

	for (*best = 0; tried < n && (!tried || spent < b->o.tuning); tried++) {
		int64_t begin = clock_ns();
		int i = tried, rc = check_program(b, &p[i], t, out, e);

		spent += since(begin);
		if (!rc && n > 1)
			rc = time_quickly(b, &p[i], t, &seconds, &spent, out, e);
		if (rc)
			return rc;
		if (seconds < least) {
			least = seconds;
			*best = i;
		}
	}
	out->gpu.configs = n > 1 ? tried : 0;
	out->gpu.configs_left = n - tried;
	return n > 1 && *best != tried - 1 ? check_program(b, &p[*best], t, out, e) : 0;
}

/* --- counters ------------------------------------------------------------------------------- */

/* Reads the profiler's counters of one call, in a process of its own. A call that cannot be counted is not
 * held against the candidate; a kernel that is not of its plan is. */
static void read_counters(struct gpu_bench *b, const struct gpu_program *p, const struct full_task *t,
			  struct gpu_outcome *out)
{
	struct verdict_counters *c = &out->gpu.counters;
	struct slot_answer a;
	enum slot_end end;
	char text[200];

	if (p->plan.n_operators) {
		snprintf(c->why, sizeof c->why, "calls with operators of PyTorch are not counted");
		return;
	}
	end = gpu_slot_load(b->counting, p->text, p->kernels, p->n_kernels, t->inputs_fd, 1, &a);
	if (end == SLOT_OK)
		end = gpu_slot_count(b->counting, b->o.cupti ? b->o.cupti : b->torch.cupti, c, &a);
	if (end != SLOT_OK)
		snprintf(c->why, sizeof c->why, "%.150s", a.text);
	gpu_slot_drop(b->counting, &a);
	if (c->stranger[0]) {
		snprintf(text, sizeof text, "the call ran kernel '%s', which it does not launch", c->stranger);
		fail(out, STAGE_timing, REASON_stray_kernel, text);
	}
}

/* Writes times into the outcome. */
static int report(struct gpu_bench *b, const struct full_task *t, struct samples *s, struct gpu_outcome *out,
		  struct err *e)
{
	struct timing_interval own = summarise(b, s->own, s->n), other;

	out->gpu.differing = s->differing;
	out->gpu.samples = own.n;
	out->gpu.dropped = own.dropped;
	if (!timing_clocks_agree(s->own, (size_t)own.n, wall_slack)) {
		snprintf(out->gpu.note, sizeof out->gpu.note, "the clock of the host disagrees with the GPU's events");
		return 0;
	}
	out->gpu.measured = 1;
	out->gpu.time = (struct verdict_time){ .mean = own.mean, .low = own.low, .high = own.high };
	if (s->n_other > 1) {
		other = summarise(b, s->other, s->n_other);
		out->gpu.baseline[b->o.baseline] = (struct verdict_time){ .mean = other.mean, .low = other.low,
									  .high = other.high };
	}
	return baselines_complete(b, t, out->gpu.baseline, e) ? -1 : check_floor(b, t, out) < 0 ? -1 : 0;
}

/* Times the program that is loaded, with no other bench on the GPU. torch.compile, which takes seconds of the
 * host, runs before the others must wait. */
static int time_best(struct gpu_bench *b, const struct gpu_program *p, const struct full_task *t,
		     struct gpu_outcome *out, struct err *e)
{
	struct samples *s = mem_zalloc(sizeof *s);
	int rc;

	if (!s)
		return err_nomem(e);
	rc = baselines_compile(b, t, e);
	gpu_quiet_begin(b->quiet);
	rc = rc ? rc : alternate(b, p, t, s, out, e);
	if (!rc && s->n > 1)
		rc = report(b, t, s, out, e);
	if (!rc && b->counting && out->gpu.measured && !out->failed)
		read_counters(b, p, t, out);
	gpu_quiet_end(b->quiet);
	mem_free(s);
	return rc;
}

int gpu_measure(struct gpu_bench *b, struct gpu_program *p, int n, const struct full_task *t, struct gpu_outcome *out,
		struct err *e)
{
	struct slot_answer a;
	int best, rc;

	if (t->why[0]) {
		snprintf(out->gpu.note, sizeof out->gpu.note, "%.190s", t->why);
		return 0;
	}
	b->runner = p->plan.n_operators ? &b->torch_slot : &b->slot;
	if (b->runner->spawner < 0) {
		snprintf(out->gpu.note, sizeof out->gpu.note, "the call uses operators of PyTorch, which is not there");
		return 0;
	}
	out->gpu.ran = 1;
	rc = choose(b, p, n, t, &best, out, e);
	if (!rc && b->o.trials > 0)
		rc = time_best(b, &p[best], t, out, e);
	gpu_slot_drop(b->runner, &a);
	return rc < 0 ? -1 : 0;
}
