/* Kernel launches of a candidate: see launcher.h.
 *
 * This file owns the order of the steps of a launch: compile, check that it fits the GPU, add it
 * to the estimate, note it, and only then run it. It also guards memory that outlives the call,
 * which no kernel may change. The modes of running (sampled, copied, idle) are chosen here; what
 * sampled instances do is sample.c's. */
#include "verify/candidate/launcher.h"

#include "base/mem.h"
#include "tile/estimate/resource.h"
#include "verify/candidate/addresses.h"
#include "verify/candidate/dry_run.h"
#include "host/estimate.h"
#include "verify/candidate/intermediate.h"
#include "verify/candidate/launch_plan.h"
#include "verify/candidate/sample.h"

/* Fast mode over poisoned memory is the default; an order may ask for checked mode. */
void launcher_open(struct launcher *c, struct judge *j)
{
	const struct judge_options *o = judge_options(j);

	*c = (struct launcher){ .engine = judge_engine(j), .gpu = tile_gpu_find(str_of(o->gpu)),
				.may_vary = !rule_on(o, RULE_stable), .may_exceed = !rule_on(o, RULE_back_end) };
	c->run = (struct tile_run_options){ .mode = TILE_FAST, .poison = 0xff };
}

void launcher_close(struct launcher *c)
{
	tile_engine_clear(c->engine);
	c->engine = NULL;
}

/* --- what a launch may touch -------------------------------------------------------------- */

/* Tensors of a launch, borrowed from its arguments. */
struct tensors {
	const struct tensor **v;
	size_t n, cap;
};

/* Adds the tensors of an argument: the argument itself, or the members of a tuple. */
static int add_tensors(struct tensors *out, const struct tile_val *a)
{
	int rc = 0;

	if (a->kind == TILE_V_TENSOR || a->kind == TILE_V_DESC)
		return vec_push(out, &a->t);
	for (size_t i = 0; a->kind == TILE_V_TUPLE && i < a->n && !rc; i++)
		rc = add_tensors(out, &a->items[i]);
	return rc;
}

/* Adds the tensors of those arguments whose bit is set. Arguments from the 128th on have no bit. */
static int find_tensors(struct tensors *out, const struct tile_launch *l, const uint64_t bit[2], struct err *e)
{
	for (size_t i = 0; i < MIN(l->n_args, (size_t)128); i++)
		if (bit[i / 64] >> (i % 64) & 1 && add_tensors(out, &l->args[i]))
			return err_nomem(e);
	return 0;
}

/* A tensor that outlives the call and that a kernel may write, with a copy of its bytes from
 * before the launch. */
struct old {
	const struct tensor *t;
	void *bytes;
};

/* Copies of a launch. */
struct kept {
	struct old *v;
	size_t n, cap;
};

/* Keeps a copy of the tensor's whole storage: a kernel may write outside the view that it was
 * given. */
static int keep_tensor(struct kept *k, const struct tensor *t, struct err *e)
{
	void *bytes = mem_alloc(t->st->bytes);

	if (!bytes || vec_push(k, ((struct old){ .t = t, .bytes = bytes }))) {
		mem_free(bytes);
		return err_nomem(e);
	}
	memcpy(bytes, t->st->data, t->st->bytes);
	return 0;
}

/* Is there a tensor among the argument's that outlives the call? */
static int any_old(const struct launcher *c, const struct tile_val *a)
{
	int old = (a->kind == TILE_V_TENSOR || a->kind == TILE_V_DESC) && a->t.st->id <= c->sealed;

	for (size_t i = 0; a->kind == TILE_V_TUPLE && i < a->n; i++)
		old |= any_old(c, &a->items[i]);
	return old;
}

/* Keeps copies of all tensors that outlive the call and that this kernel writes. Most launches
 * have none, and cost nothing here. */
static int keep_old(const struct launcher *c, const struct tile_code *code, const struct tile_launch *l,
		    struct kept *k, struct err *e)
{
	struct tensors w = { .n = 0 };
	struct touched t;
	int old = 0, rc = 0;

	for (size_t i = 0; i < l->n_args && !c->may_keep; i++)
		old |= any_old(c, &l->args[i]);
	if (old)
		rc = resource_touched(code, &t, e) || find_tensors(&w, l, t.written, e) ? -1 : 0;
	for (size_t i = 0; i < w.n && !rc; i++)
		if (w.v[i]->st->id <= c->sealed)
			rc = keep_tensor(k, w.v[i], e);
	vec_free(&w);
	return rc;
}

/* Compares the copies with the memory after the launch, and frees them. Returns 1 and *d if any of
 * it changed. */
static int compare_old(struct kept *k, const struct tile_launch *l, struct diag *d)
{
	int changed = 0;

	for (size_t i = 0; i < k->n; i++) {
		changed |= memcmp(k->v[i].bytes, k->v[i].t->st->data, k->v[i].t->st->bytes) != 0;
		mem_free(k->v[i].bytes);
	}
	vec_free(k);
	if (changed)
		diag_set(d, REASON_state_kept, l->line, l->col,
			 "kernel '%.*s' changes memory that outlives the call", STR_ARG(l->fn->name));
	return changed;
}

/* Does the kernel read memory that it writes, through any of its arguments? Only then can
 * instances disturb each other without giving another result in another order; so only then is it
 * worth to run the kernel in checked mode. */
static int reads_its_writes(const struct tile_code *code, const struct tile_launch *l, int *out, struct err *e)
{
	struct tensors w = { .n = 0 }, r = { .n = 0 };
	struct touched t;
	int rc = resource_touched(code, &t, e) || find_tensors(&w, l, t.written, e) ||
		find_tensors(&r, l, t.read, e) ? -1 : 0;

	*out = 0;
	for (size_t i = 0; i < w.n; i++)
		for (size_t k = 0; k < r.n; k++)
			*out |= w.v[i]->st == r.v[k]->st;
	vec_free(&w);
	vec_free(&r);
	return rc;
}

/* Is `a` the likelier source of n elements? A tensor of exactly n elements is; then the newer
 * one. */
static int is_likelier(const struct tensor *a, const struct tensor *b, int64_t n)
{
	int whole = tensor_numel(a) == n;

	return whole != (tensor_numel(b) == n) ? whole : a->st->id > b->st->id;
}

/* The rank-th likely tensor, among those that a kernel reads, that can be copied to `to`; the last
 * one if there are fewer. *most gets their number, counted up to rank + 1. A tensor is a source if
 * it has at least as many elements and is contiguous. */
static const struct tensor *source_of(const struct tensors *read, const struct tensor *to, int rank, int *most)
{
	const struct tensor *best = NULL, *at = NULL;
	int64_t n = tensor_numel(to);
	int found = 0;

	while (found <= rank) {
		const struct tensor *next = NULL;

		for (size_t i = 0; i < read->n; i++) {
			const struct tensor *t = read->v[i];

			if (t->st != to->st && tensor_numel(t) >= n && tensor_is_contiguous(t) &&
			    (!at || is_likelier(at, t, n)) &&
			    (!next || is_likelier(t, next, n)))
				next = t;
		}
		if (!next)
			break;
		at = next;
		best = found++ < rank ? at : best;
	}
	*most = MAX(*most, found);
	return best;
}

/* Replaces a kernel by a copy: the elements of a tensor that it reads, in their order, go to each
 * tensor that it writes. If the candidate's result is still correct, its kernels only copy. */
static int copy_instead(struct launcher *c, const struct tile_code *code, const struct tile_launch *l, struct err *e)
{
	struct tensors w = { .n = 0 }, r = { .n = 0 };
	struct touched t;
	int rc = resource_touched(code, &t, e) || find_tensors(&w, l, t.written, e) ||
		find_tensors(&r, l, t.read, e) ? -1 : 0;

	for (size_t i = 0; i < w.n && !rc; i++) {
		const struct tensor *to = w.v[i], *from = tensor_is_contiguous(to) ?
			source_of(&r, to, c->copy, &c->sources) : NULL;
		int64_t n = tensor_numel(to);

		if (from)
			rc = tensor_copy(&(struct tensor){ .st = to->st, .dt = to->dt, .ndim = 1,
							   .offset = to->offset, .shape = { n }, .stride = { 1 } },
					 &(struct tensor){ .st = from->st, .dt = from->dt, .ndim = 1,
							   .offset = from->offset, .shape = { n }, .stride = { 1 } },
					 e);
	}
	vec_free(&w);
	vec_free(&r);
	return rc;
}

/* --- launching ---------------------------------------------------------------------------- */

/* Turns the lack of memory, or a size that this machine cannot count, into the candidate's
 * failure. Returns 1 and *d, or -1 for our own failure. */
static int as_limit(const struct tile_launch *l, struct diag *d, struct err *e)
{
	if (e->code != ERR_RANGE && e->code != ERR_NOMEM)
		return -1;
	diag_set(d, e->code == ERR_NOMEM ? REASON_out_of_memory : REASON_kernel_timeout, l->line, l->col,
		 "%s", e->text);
	err_clear(e);
	return 1;
}

/* Refuses a kernel that computes with the address of a tensor. Addresses differ between runs and on
 * a GPU, so the kernel could behave differently there. */
static int check_addresses(const struct tile_code *code, const struct tile_launch *l, struct diag *d)
{
	for (int f = 0; f < code->n_funcs; f++)
		for (int i = 0; i < code->funcs[f].n_insns; i++)
			if (tile_looks_at_address(code, &code->funcs[f].insns[i])) {
				diag_set(d, REASON_unstable, l->line, l->col,
					 "kernel '%.*s' computes with the address of a tensor", STR_ARG(l->fn->name));
				return 1;
			}
	return 0;
}

/* Runs all instances of a launch, in checked mode if that is asked for and can show anything. */
static int run_kernel(struct launcher *c, const struct tile_code *code, const struct tile_launch *l,
		      struct diag *d, struct err *e)
{
	struct tile_run_options run = c->run;
	struct kept k = { .n = 0 };
	int both = 0, rc = keep_old(c, code, l, &k, e);

	if (!rc && c->watch)
		rc = reads_its_writes(code, l, &both, e);
	if (both)
		run.mode = TILE_CHECKED;
	if (!rc) {
		rc = tile_run(c->engine, code, l, &run, &c->cost, d, e);
		rc = rc < 0 ? as_limit(l, d, e) : rc;
	}
	return compare_old(&k, l, d) && !rc ? 1 : rc;
}

/* Adds a launch to the path of a dry run. The mark of a kernel's code is computed once for each
 * compiled kernel, which stays at its address until the launcher is closed. */
static int note_launch(struct launcher *c, const struct tile_code *code, const struct tile_launch *l, struct err *e)
{
	unsigned i = 0;

	while (i < LAUNCHER_MARKS && c->marked[i].code != code)
		i++;
	if (i == LAUNCHER_MARKS) {
		i = c->next_mark++ % LAUNCHER_MARKS;
		c->marked[i].code = NULL;
		if (dry_run_code(code, &c->marked[i].mark, e))
			return -1;
		c->marked[i].code = code;
	}
	return dry_run_launch(c->path, c->marks, code, c->marked[i].mark, l, e);
}

/* The steps of one launch, in the order that the head of this file gives. A configuration that an
 * autotuner only compiles (compile_only) ends after the estimate; an autotuner leaves out those
 * that do not fit, so that these are no failure. */
int launcher_kernel(void *ctx, const struct tile_launch *l, struct diag *d, struct err *e)
{
	struct launcher *c = ctx;
	const struct tile_code *code;
	int rc = tile_compile(c->engine, l, &code, d, e);

	if (!rc && c->gpu && !c->may_exceed)
		rc = resource_check(code, l, c->gpu, d);
	if (!rc && !c->may_vary)
		rc = check_addresses(code, l, d);
	if (rc) {
		c->refused = rc > 0 && !(l->compile_only && resource_left_out(d));
		c->diag = *d;
		return rc;
	}
	c->compiled = 1;
	if (c->estimate && estimate_launch(c->estimate, code, l, e))
		return -1;
	if (c->path && !l->compile_only && note_launch(c, code, l, e))
		return -1;
	if (c->plan && !l->compile_only)
		launch_plan_launch(c->plan, l);
	if (c->idle || l->compile_only || (c->path && !c->sample && !c->addresses))
		return 0;
	if (c->copy)
		return copy_instead(c, code, l, e);
	if (c->tests && resource_tests(code))
		host_path_mark(c->tests, host_path_test(PATH_KERNEL_TEST, 0, 0, 0));
	if (c->compared && compared_add(c->compared, code, e))
		return -1;
	rc = c->addresses ? addresses_launch(c->addresses, code, l, d, e) : 0;
	if (!rc && c->sample)
		rc = sample_launch(c->sample, c->engine, code, l, d, e);
	else if (!rc && !c->path)
		rc = run_kernel(c, code, l, d, e);
	if (!rc && c->steps)
		rc = intermediate_note(c->steps, code, l, e);
	if (rc) {
		c->faulted = rc > 0;
		c->diag = *d;
	}
	return rc;
}
