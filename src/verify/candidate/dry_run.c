/* Dry runs: see dry_run.h.
 *
 * This file owns the world of a dry run, which has tensors without contents, and the marks that
 * launches add to its path. Two dry runs with the same marks took the same branches and launched
 * the same code; so a candidate may be judged at the smaller sizes of the two. */
#include "verify/candidate/dry_run.h"

#include <stdio.h>

#include "base/hash.h"
#include "num/num.h"
#include "tile/code/value_kinds.h"
#include "tile/code/trip_count.h"
#include "verify/candidate/addresses.h"
#include "verify/candidate/compute_guard.h"
#include "host/estimate.h"
#include "verify/candidate/intermediate.h"
#include "verify/candidate/launch_plan.h"
#include "verify/candidate/launcher.h"
#include "verify/candidate/sample.h"

/* The mark of compiled code is a hash of its text. The lowest eight bits are zero: dry_run_launch
 * puts the grid axis there. */
int dry_run_code(const struct tile_code *code, uint64_t *mark, struct err *e)
{
	struct buf text = BUF_INIT;
	int rc;

	tile_print(code, &text);
	rc = buf_check(&text, e);
	if (!rc)
		*mark = hash_xxh64(text.p, text.n, 0) & ~(uint64_t)0xff;
	buf_release(&text);
	return rc;
}

/* A launch whose loops and values are being noted. */
struct noted {
	struct host_path *path;
	uint64_t mark;
};

/* A loop with more than one iteration. Its mark depends on the code and the number of the loop, so
 * that the same loop of another kernel has another mark. */
static void note_loop(void *ctx, int loop)
{
	const struct noted *n = ctx;

	host_path_mark(n->path, hash_xxh64(&loop, sizeof loop, n->mark) & ~(uint64_t)0xff);
}

/* A kind of value that an instruction meets (see tile/code/value_kinds.h), as a mark. */
static void note_kind(void *ctx, int insn, int kind)
{
	const struct noted *n = ctx;
	int both[2] = { insn, kind };

	host_path_mark(n->path, hash_xxh64(both, sizeof both, n->mark) & ~(uint64_t)0xff);
}

/* Marks are a hash with eight zero bits at the end. Bits 2, 3, 4 of the low byte say that the grid
 * has more than one instance along axis 0, 1, 2. */
int dry_run_launch(struct host_path *path, enum path_marks marks, const struct tile_code *code,
		   uint64_t of_code, const struct tile_launch *l, struct err *e)
{
	uint64_t mark = marks == MARKS_NAMES ? hash_xxh64(l->fn->name.p, l->fn->name.n, 0) & ~(uint64_t)0xff : of_code;
	struct noted noted = { .path = path, .mark = mark };

	host_path_mark(path, mark);
	for (int i = 0; i < 3; i++)
		if (l->grid[i] > 1)
			host_path_mark(path, mark | (uint64_t)(i + 2));
	if (marks == MARKS_GRIDS)
		host_path_mark(path, hash_xxh64(l->grid, sizeof l->grid, mark) & ~(uint64_t)0xff);
	if (tile_trip_counts(code, l, note_loop, &noted, e))
		return -1;
	/* If only the kernel's name is compared, the numbers of instructions mean nothing. */
	return marks == MARKS_NAMES ? 0 : tile_value_kinds(code, l, note_kind, &noted, e);
}

/* The reference's products that count as tf32 in its estimate: on PyTorch's side the option
 * `precision` decides, not the candidate. */
static unsigned timed_in_tf32(const struct judge *j, const struct run_order *o)
{
	return o->dry_run == DRY_RUN_REFERENCE && judge_options(j)->precision == PRECISION_TF32 ? NUM_TF32_MATMUL : 0;
}

/* All that one call of a dry run needs. */
struct dry_call {
	struct world *w;
	struct launcher *launch;
	const struct task_image *t;
	const struct run_order *o;
	struct shmem *a;
	int i;                        /* of the order and its report */
	struct run_report *out;
	struct intermediate_giver *giver;     /* gives operators' results their contents; NULL: they have none */
};

/* Calls the model over tensors without contents and notes the path. With an estimate autotuned
 * kernels try all of their configurations; without one, operators get reference intermediates as
 * contents. */
static int forward(struct dry_call *f, struct val inputs, struct val *result, struct err *e)
{
	struct host *h = f->w->h;
	struct launcher *launch = f->launch;
	struct estimate estimate;
	int rc;

	host_ops_clear(h);
	host_dry_run(h, &f->out->path);
	launch->path = &f->out->path;
	estimate_begin(&estimate, launch->gpu, timed_in_tf32(f->w->judge, f->o), launch->tune);
	launch->estimate = f->o->estimate && launch->gpu ? &estimate : NULL;
	if (launch->estimate)
		host_set_called(h, estimate_call, &estimate);
	else if (launch->plan)
		host_set_called(h, launch_plan_operator, launch->plan);
	else
		host_set_called(h, f->giver ? intermediate_give : NULL, f->giver);
	if (f->o->dry_run == DRY_RUN_CANDIDATE)
		compute_guard_set(h, judge_options(f->w->judge));
	rc = host_forward(h, f->w->model, inputs, result, e);
	compute_guard_clear(h);
	host_set_called(h, NULL, NULL);
	f->out->out.seconds = !rc && launch->estimate ? estimate_seconds(&estimate) : 0.0;
	f->out->out.kernels = estimate.kernels;
	launch->estimate = NULL;
	launch->path = NULL;
	host_dry_run(h, NULL);
	f->out->work = host_ops_work(h);
	return rc;
}

/* The same with contents for the memory that kernels touch: inputs and weights of a reduced task,
 * repeated along its independent axes. Some instances of each launch are run. The elements that
 * they wrote are reported with their positions. */
static int forward_sampled(struct dry_call *f, struct val inputs, struct err *e)
{
	const struct trial *tr = &f->t->trial[f->o->trial];
	struct weights_reduced reduced = { .map = &f->o->map,
					   .settled = f->o->transposed.known, .transposed = f->o->transposed.bits };
	struct world_tensors held;
	struct intermediate_giver giver = { .tr = tr, .map = &f->o->map, .input = held.v };
	struct sampler s;
	struct addresses addresses;
	struct val result;
	int rc, told, gap;

	sample_open(&s, tr, f->a, f->i, &f->out->path);
	rc = weights_put_reduced(tr->weights, &reduced, f->w->h, f->w->model, e) ? -1 :
		sample_inputs(&s, f->w, inputs, &held, e);
	if (rc)
		return rc;
	giver.n_inputs = held.n;
	f->giver = &giver;
	f->launch->sample = &s;
	addresses_open(&addresses);
	addresses_inputs(&addresses, f->w->h, inputs);
	f->launch->addresses = f->o->addresses ? &addresses : NULL;
	s.slice = f->o->addresses ? &addresses.slice : NULL;
	rc = forward(f, inputs, &result, e);
	f->launch->sample = NULL;
	f->launch->addresses = NULL;
	f->giver = NULL;
	if (giver.failed) {
		addresses_close(&addresses);
		return err_nomem(e);
	}
	f->out->programs = s.programs;
	f->out->matches.launches = s.launched;
	f->launch->diag = rc ? f->launch->diag : (struct diag){ .reason = REASON_ok };
	told = !rc && !host_guessed(f->w->h);
	addresses_tell(&addresses, &f->out->addresses, &f->out->reads);
	gap = !rc && addresses_gap(&addresses, f->w->h, result, &f->launch->diag);
	if (told && !gap)
		rc = sample_give(&s, f->w->h, result, e);
	addresses_close(&addresses);
	return gap ? (f->launch->faulted = 1) : rc;
}

/* The same as a constant-tensor test: every input and every weight has one value throughout.
 * Reports the first and last element of each result. */
static int forward_constant(struct dry_call *f, struct val inputs, struct err *e)
{
	struct addresses addresses;
	struct sampler s;
	struct val result;
	int rc;

	sample_open(&s, &f->t->trial[f->o->trial], f->a, f->i, &f->out->path);
	rc = sample_make_constant(f->w, inputs, e);
	addresses_open(&addresses);
	/* the classes of instances, if not all of them are run */
	if (f->o->constant == CONSTANT_SOME) {
		f->launch->addresses = &addresses;
		s.slice = &addresses.slice;
	}
	f->launch->sample = &s;
	rc = rc ? rc : forward(f, inputs, &result, e);
	f->launch->sample = NULL;
	f->launch->addresses = NULL;
	addresses_close(&addresses);
	return rc ? rc : sample_tell_constant(&s, f->w->h, result, e);
}

/* Writes the plan to the memory of the order. A plan that does not fit is reported as none. */
static int give_plan(struct dry_call *f, struct launch_plan *p, struct val result, struct err *e)
{
	struct buf text = BUF_INIT;
	int rc = launch_plan_end(p, f->w->h, result, &text, e);

	if (!rc && text.n <= f->o->room) {
		memcpy((char *)f->a + f->o->at, text.p, text.n);
		f->out->plan_n = text.n;
	}
	buf_release(&text);
	return rc;
}

/* The same with a record of memory, launches and results: the launch plan. */
static int forward_plan(struct dry_call *f, struct val inputs, struct err *e)
{
	const struct trial *tr = &f->t->trial[f->o->trial];
	struct weights_reduced reduced = { .settled = f->o->transposed.known, .transposed = f->o->transposed.bits };
	struct launch_plan p;
	struct val result;
	int rc = launch_plan_begin(&p, f->w->h, inputs, f->w->model, tr->weights, &reduced, e);

	f->launch->plan = &p;
	rc = rc ? rc : forward(f, inputs, &result, e);
	f->launch->plan = NULL;
	if (!rc && !host_guessed(f->w->h))
		rc = give_plan(f, &p, result, e);
	launch_plan_release(&p);
	return rc;
}

/* The same without contents and without running any instance: the accesses of the kernels are reported. */
static int forward_addresses(struct dry_call *f, struct val inputs, struct err *e)
{
	struct addresses addresses;
	struct val result;
	int rc;

	addresses_open(&addresses);
	addresses_inputs(&addresses, f->w->h, inputs);
	f->launch->addresses = &addresses;
	rc = forward(f, inputs, &result, e);
	f->launch->addresses = NULL;
	addresses_tell(&addresses, &f->out->addresses, &f->out->reads);
	addresses_close(&addresses);
	return rc;
}

/* Draws inputs without contents and calls the model as the order says. */
static int call(struct dry_call *f, struct err *e)
{
	const struct trial drawn = { .dt = DT_F32 };
	struct val inputs, result;
	int rc;

	f->launch->tune = f->o->estimate;
	f->launch->config = f->o->plan ? f->o->config : f->launch->config;
	f->launch->marks = (enum path_marks)f->o->marks;
	rc = world_renew(f->w, &drawn, RUN_OWN, e);
	if (!rc)
		rc = world_draw(f->w, &drawn, 1, &inputs, e);
	if (rc)
		return rc;
	if (f->o->plan)
		return forward_plan(f, inputs, e);
	if (f->o->constant)
		return forward_constant(f, inputs, e);
	if (f->o->sample)
		return forward_sampled(f, inputs, e);
	return f->o->addresses ? forward_addresses(f, inputs, e) : forward(f, inputs, &result, e);
}

/* The program's constants are replaced by the sizes of the order. A failure is the candidate's own
 * at full size if a kernel faulted; else it counts as a failure to compile. */
int dry_run_program(struct judge *j, const struct task_image *t, const struct program *candidate,
		    struct launcher *launch, struct shmem *a, int i, struct err *e)
{
	const struct run_order *o = &a->order[i];
	struct run_report *out = &a->report[i];
	struct host_override ov[TASK_SIZES];
	struct program p = *candidate;
	struct world w;
	struct dry_call f = { .w = &w, .launch = launch, .t = t, .o = o, .a = a, .i = i, .out = out };
	int rc;

	for (size_t k = 0; k < t->n_all; k++)
		ov[k] = (struct host_override){ .name = t->size[k].name, .value = o->size[k] };
	if (o->dry_run == DRY_RUN_REFERENCE) {
		p.source = p.task;
		p.class_name = "Model";
	}
	p.ov = ov;
	p.n_ov = t->n_all;
	p.hollow = 1;
	launch->refused = launch->faulted = 0;
	rc = world_open(&w, j, &p, 0, launch, e);
	if (!rc)
		rc = call(&f, e);
	if (rc > 0) {
		out->refused = launch->refused;
		out->guessed = w.h && host_guessed(w.h);
		out->stage = launch->faulted ? STAGE_full : STAGE_compile;
		out->diag = launch->refused || launch->faulted ? launch->diag : *host_diag(w.h);
	}
	world_close(&w);
	return rc;
}

/* Calls the reference in a hollow world and notes what the call would cost. */
static int call_reference(struct world *w, struct dry_run_cost *out, struct err *e)
{
	const struct judge_options *o = judge_options(w->judge);
	const struct trial drawn = { .dt = DT_F32 };
	struct val inputs, result;
	struct estimate estimate;
	int rc;

	out->kept = host_usage(w->h).largest;
	host_ops_clear(w->h);
	rc = world_draw(w, &drawn, 1, &inputs, e);
	if (rc)
		return rc;
	estimate_begin(&estimate, tile_gpu_find(str_of(o->gpu)), o->precision == PRECISION_TF32 ?
		       NUM_TF32_MATMUL : 0, 0);
	out->given = host_usage(w->h).largest;
	host_ops_clear(w->h);
	host_set_called(w->h, estimate.gpu ? estimate_call : NULL, &estimate);
	rc = host_forward(w->h, w->model, inputs, &result, e);
	host_set_called(w->h, NULL, NULL);
	out->work = host_ops_work(w->h);
	out->largest = host_usage(w->h).largest;
	out->least_read = reads_least(host_ops(w->h));
	out->seconds = !rc && estimate.gpu ? estimate_seconds(&estimate) : 0.0;
	return rc;
}

/* Used while tasks are prepared and sizes are chosen, in the deciding process: the reference is no
 * hostile code. */
int dry_run_reference(struct judge *j, const struct program *reference, const struct host_override *ov,
		      size_t n_ov, struct dry_run_cost *out, struct err *e)
{
	struct program p = *reference;
	struct world w;
	int rc;

	p.ov = ov;
	p.n_ov = n_ov;
	p.hollow = 1;
	*out = (struct dry_run_cost){ .work = 0 };
	rc = world_open(&w, j, &p, 0, NULL, e);
	rc = rc ? rc : call_reference(&w, out, e);
	out->guessed = w.h && host_guessed(w.h);
	if (rc > 0)
		snprintf(out->why, sizeof out->why, "%.159s", host_diag(w.h)->text);
	world_close(&w);
	return rc;
}
