/* Opening a task: see task.h.
 *
 * This file owns the steps of preparation and their order, the ways to open a task (as it is, at
 * other sizes, reduced, whole), and its end. reference.c runs the reference, expect.c finds
 * expected results and tolerances, sizes.c lists the trials.
 *
 * Invariant: a task that is returned is never half prepared. Either `problem` says why it cannot
 * be judged, or every trial of the image has its expectation. */
#include "verify/task/task.h"

#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "host/shrink.h"
#include "verify/rules/call_graph.h"
#include "verify/task/prepared.h"
#include "verify/task/sized_tasks.h"
#include "verify/task/task_build.h"

/* A model of more bytes is judged at smaller sizes of its own, if its sizes can be changed. */
enum { LARGE_MODEL = 48 << 20 };

/* Adds constants that may be changed to the list of sizes. */
static void add_sizes(struct task *t, const struct shrink_const *c, size_t n, int of_model)
{
	for (size_t i = 0; i < MIN(n, (size_t)TRIAL_SIZES) && t->image.n_all < TASK_SIZES; i++)
		t->image.size[t->image.n_all++] = (struct task_size){ .name = c[i].name, .full = c[i].value,
								      .of_model = of_model };
}

/* Finds the sizes that may be changed: those of the inputs, then those of the model. */
static void find_sizes(struct task *t)
{
	struct shrink_const c[TRIAL_SIZES];

	add_sizes(t, c, shrink_find(&t->image.module, c, TRIAL_SIZES), 0);
	add_sizes(t, c, shrink_find_model(&t->image.module, c, TRIAL_SIZES), 1);
}

/* Gives names to sizes that the task writes as numbers, so that they can be changed: get_inputs
 * with torch.randn(16, 64) gets two module constants. Returns 0 on success, -1 on failure (*e). */
static int name_literals(struct task *t, struct err *e)
{
	struct buf named = BUF_INIT;
	int rc = shrink_name_literals(&t->image.module, 0, &named) ? buf_check(&named, e) : 1;
	char *text = rc ? NULL : mem_strndup(named.p, named.n);

	buf_release(&named);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (!text)
		return err_nomem(e);
	py_release(&t->image.module);
	mem_free(t->image.source);
	t->image.source = text;
	return py_parse(&t->image.module, str_of(t->image.source), t->name, 64u << 20, e);
}

/* Parses the source, names its literals and finds its sizes. A task that is not Python, or has no
 * class Model, has a problem. */
static int parse_task(struct task_build *b, struct err *e)
{
	struct task *t = b->t;
	struct err pe = ERR_INIT;

	if (py_parse(&t->image.module, str_of(t->image.source), t->name, 64u << 20, &pe)) {
		if (pe.code == ERR_NOMEM)
			return err_set(e, pe.code, "%s", pe.text);
		task_note_problem(t, "it is not valid Python: line %d: %.300s", pe.line, pe.text);
		return 0;
	}
	if (name_literals(t, e))
		return -1;
	t->image.parsed = 1;
	if (!call_graph_class(&t->image.module, "Model"))
		task_note_problem(t, "the task defines no class Model");
	find_sizes(t);
	t->image.reference = (struct program){ .task = &t->image.module, .source = &t->image.module,
					       .class_name = "Model" };
	return 0;
}

/* --- life --------------------------------------------------------------------------------- */

/* Takes the weights as constructed, and draws the two other sets from them. The three seeds are
 * derived from the secret one of the options. */
static int take_sets(struct task_build *b, struct err *e)
{
	struct task *t = b->t;
	struct task_weights *set = t->image.set;
	uint64_t seed = judge_options(t->judge)->seed * 7919u, spread = b->part ? (seed + 3) | 1 : 0;

	if (weights_take_part(&set[WEIGHTS_BUILT], b->part ? b->part : INT64_MAX, spread, b->own.h, b->own.model, e) ||
	    weights_copy(&set[WEIGHTS_DRAWN], &set[WEIGHTS_BUILT], e) ||
	    weights_move(&set[WEIGHTS_MOVED], &set[WEIGHTS_BUILT], seed + 2, e))
		return -1;
	return weights_redraw(&set[WEIGHTS_DRAWN], seed + 1, e);
}

/* A task at chosen sizes has them in all that is loaded of it: the model is built at them, too. */
static void fix_sizes(struct task *t)
{
	for (size_t i = 0; i < t->image.n_all; i++)
		t->image.model_ov[i] = (struct host_override){ .name = t->image.size[i].name, .value = t->fixed[i] };
	t->image.reference.ov = t->image.model_ov;
	t->image.reference.n_ov = t->image.n_all;
	t->image.reference.axes = t->reduced.indices ? &t->reduced.inputs : NULL;
}

/* Builds the reference's model. One that takes more than a quarter of the memory, or LARGE_MODEL,
 * is built again with smaller sizes. */
static int build_own(struct task_build *b, struct err *e)
{
	struct task *t = b->t;
	size_t limit = MIN(judge_options(t->judge)->memory / 4, (size_t)LARGE_MODEL);
	int rc, too_large;

	if (t->is_fixed)
		fix_sizes(t);
	rc = world_open(&b->own, t->judge, &t->image.reference, 0, NULL, e);
	too_large = rc > 0 ? host_diag(b->own.h)->reason == REASON_out_of_memory : !rc &&
		host_usage(b->own.h).bytes > limit;
	if (!too_large || t->is_fixed)
		return rc;
	if (task_shrink_model(t, e))
		return -1;
	if (!t->check.model_shrunk)
		return rc;
	buf_adds(&t->notes, "the model is too large to be run as it is: its sizes are shrunk, too\n");
	world_close(&b->own);
	return world_open(&b->own, t->judge, &t->image.reference, 0, NULL, e);
}

/* Builds the reference, the vault for inputs and the sets of weights. */
static int build_reference(struct task_build *b, struct err *e)
{
	struct task *t = b->t;
	struct host_options o = { .lib = judge_lib(t->judge), .memory = judge_options(t->judge)->memory };
	int rc = build_own(b, e);

	if (rc > 0)
		task_note_problem(t, "the reference does not run: %.300s", host_diag(b->own.h)->text);
	if (rc)
		return rc < 0 ? -1 : 0;
	t->image.vault = host_new(&o, e);
	return t->image.vault ? take_sets(b, e) : -1;
}

/* Builds the reference a second time, in fp64. A reference that runs only in its own dtypes has no
 * expected results, and is a problem of the task. */
static int build_oracle(struct task_build *b, struct err *e)
{
	struct task *t = b->t;
	int rc = world_open(&b->oracle, t->judge, &t->image.reference, 1, NULL, e);

	if (rc > 0)
		task_note_problem(t, "the reference does not run in fp64: %.300s", host_diag(b->oracle.h)->text);
	return rc < 0 ? -1 : 0;
}

/* Removes the trials that only checks of the task needed: no candidate is run on them. A reference that draws from
 * Python's random may fail on all trials of the task's contract and run on one of the others: then nothing is left. */
static void drop_checked(struct task *t)
{
	while (t->image.n_trials && (t->is_outline ? t->image.n_trials > 1 :
			       trial_contract(t->image.trial[t->image.n_trials - 1].kind) == CONTRACT_GENERAL))
		task_remove_trial(t, &t->image.trial[t->image.n_trials - 1]);
	if (!t->image.n_trials && t->problem.reason == REASON_ok)
		task_note_problem(t, "the reference runs on no input set of the task's contract");
}

/* Runs the steps of preparation, each only while the task is still good. A reduced task, or one with
 * rare values, is not checked again: it can tell what the task can. Mutants are tried once for each task, not at other
 * sizes. */
static int prepare(struct task_build *b, struct err *e)
{
	struct task *t = b->t;
	static int (*const steps[])(struct task_build *b, struct err *e) = {
		parse_task, build_reference, task_draw_trials, task_survey, build_oracle, task_expect_all };

	for (size_t i = 0; i < COUNT_OF(steps); i++) {
		if (steps[i](b, e))
			return -1;
		if (t->problem.reason != REASON_ok)
			return 0;
	}
	if (!t->reduced.indices && !b->n_rare && ext_on(judge_options(t->judge), EXT_controls) &&
	    task_check_controls(b, e))
		return -1;
	b->drowned = t->problem.reason != REASON_ok && task_tf32_products(t, RUN_ALLOWED);
	return t->problem.reason == REASON_ok && !t->is_fixed && !b->is_whole ? task_check_mutants(b, e) : 0;
}

/* Notes the shapes that the weights of a reduced task have at full size, from a hollow model:
 * candidates are given the weights by these. */
static int note_full_shapes(struct task *t, struct err *e)
{
	struct program own = t->image.reference;
	struct host_override ov[TASK_SIZES];
	struct world w;
	int rc;

	for (size_t i = 0; i < t->image.n_all; i++)
		ov[i] = (struct host_override){ .name = t->image.size[i].name, .value = t->image.size[i].full };
	own.ov = ov;
	own.hollow = 1;
	rc = world_open(&w, t->judge, &own, 0, NULL, e);
	for (int i = 0; i < WEIGHT_SETS && !rc; i++)
		rc = weights_note_full(&t->image.set[i], w.h, w.model);
	world_close(&w);
	return rc > 0 ? task_note_problem(t, "the model cannot be built at full size") - 1 : rc;
}

/* Frees what only preparation needed. */
static void build_release(struct task_build *b)
{
	world_close(&b->own);
	world_close(&b->oracle);
	results_release(&b->surveyed);
	if (b->has_mutable)
		py_release(&b->mutable);
}

/* How a task is opened. */
struct opening {
	const int64_t *size;          /* one for each size of the task; NULL: as the task has them */
	int large;                    /* with few trials */
	int exact;                    /* its products must be fp32 */
	int whole;                    /* all trials of a task that is an outline */
	int indices, choices;         /* the base's asks_for_indices and has_choices */
	const struct task_reduction *reduction;    /* of a reduced task; else NULL */
	const double *rare;           /* n_rare values: task_open_rare */
	int n_rare;
};

/* Prepares a task. *drowned: rounding of products hides its results (make_task). Returns NULL on
 * failure (*e). */
static struct task *build_task(struct judge *j, struct str source, const char *name, const struct opening *o,
			       int *drowned, struct err *e)
{
	struct task *t = mem_zalloc(sizeof *t);
	struct task_build b = { .t = t, .is_whole = o->whole, .part = o->reduction ? o->reduction->part : 0,
				.rare = o->rare, .n_rare = o->n_rare };
	const int64_t *size = o->size;
	int rc;

	*drowned = 0;
	if (!t || (!size && !(t->sized_tasks = sized_tasks_new())) ||
	    !(t->image.source = mem_strndup(source.p, source.n)) || !(t->name = mem_strdup(name))) {
		err_nomem(e);
		task_free(t);
		return NULL;
	}
	t->judge = j;
	t->image.id = judge_next_task(j);
	t->is_fixed = size != NULL;
	t->large = o->large;
	t->exact = o->exact;
	t->asks_for_indices = o->indices;
	t->has_choices = o->choices;
	if (o->reduction)
		t->reduced = *o->reduction;
	if (size)
		memcpy(t->fixed, size, sizeof t->fixed);
	rc = prepare(&b, e);
	if (!rc && t->reduced.indices && t->problem.reason == REASON_ok)
		rc = note_full_shapes(t, e);
	if (task_is_lean(judge_options(j)))
		drop_checked(t);
	*drowned = b.drowned;
	build_release(&b);
	if (rc) {
		task_free(t);
		return NULL;
	}
	return t;
}

/* Prepares a task, and prepares it again if its products drown it. Some networks amplify the
 * rounding of their products beyond any bound: for example a norm over two values that are nearly
 * the same. A tolerance that allows tf32 there accepts any result; so its products must be fp32. */
static struct task *make_task(struct judge *j, struct str source, const char *name, const struct opening *o,
			      struct err *e)
{
	int drowned;
	struct task *t = build_task(j, source, name, o, &drowned, e);
	struct opening exact = *o;

	if (!t || !drowned)
		return t;
	task_free(t);
	exact.exact = 1;
	t = build_task(j, source, name, &exact, &drowned, e);
	if (t)
		buf_adds(&t->notes, "rounding of products in tf32 drowns the result: products must be fp32 here\n");
	return t;
}

/* A task that is prepared faster than this is not kept: reading it would take as long. */
enum { KEPT_FROM_MS = 10 };

/* Writes a prepared task to the store. It does not matter if that fails. */
static void keep_task(const struct prepared_store *s, const char *key, const struct task *t)
{
	struct buf bytes = BUF_INIT;
	struct err ignored = ERR_INIT;

	if (t->image.parsed && !prepared_pack(t, &bytes, &ignored))
		s->put(s->ctx, key, buf_str(&bytes));
	buf_release(&bytes);
}

/* Takes the task from the store, or prepares it and keeps it there. */
static struct task *fetch_task(struct judge *j, struct str source, const char *name, const struct opening *o,
			      struct err *e)
{
	const struct prepared_store *s = judge_store(j);
	int64_t start = clock_ns();
	char key[PREPARED_KEY], *bytes;
	struct task *t = NULL;
	size_t n;

	if (!s)
		return make_task(j, source, name, o, e);
	prepared_key(judge_options(j), source, o->size, o->large + 2 * task_is_lean(judge_options(j)) + 4 *
		     o->whole + (o->reduction ? 8 * (int)o->reduction->indices + (int)o->reduction->part : 0), key);
	if (!s->get(s->ctx, key, &bytes, &n))
		t = prepared_open(j, bytes, n, name);
	if (t)
		return t;
	t = make_task(j, source, name, o, e);
	if (t && clock_ns() - start > KEPT_FROM_MS * 1000000)
		keep_task(s, key, t);
	return t;
}

/* May operators that a candidate calls ask for intermediates? On the strict track none may
 * compute. */
static int operators_may_ask(const struct judge_options *o)
{
	return o->track == TRACK_HYBRID || o->identity || !rule_on(o, RULE_compute);
}

/* Shares the intermediates of a reduced task with its image, if a candidate's operators may ask for
 * them: runs at full size are made on this task. */
static int share_intermediates(struct task *t)
{
	int n = t->reduced.indices && operators_may_ask(judge_options(t->judge)) ? t->image.n_trials : 0;

	for (int i = 0; i < n; i++) {
		const struct intermediates *from = &t->expect[i].intermediates;
		struct intermediates *to = &t->image.trial[i].intermediates;

		for (size_t k = 0; k < from->n; k++) {
			if (vec_push(to, from->v[k]))
				return -1;
			tensor_retain(&to->v[k].t);
		}
	}
	return 0;
}

/* The store holds images without intermediates, since its keys do not depend on the track. */
static struct task *open_task(struct judge *j, struct str source, const char *name, const struct opening *o,
			      struct err *e)
{
	struct task *t = fetch_task(j, source, name, o, e);

	if (!t || !share_intermediates(t))
		return t;
	task_free(t);
	err_nomem(e);
	return NULL;
}

struct task *task_open(struct judge *j, struct str source, const char *name, struct err *e)
{
	return open_task(j, source, name, &(struct opening){ .size = NULL }, e);
}

/* These three take the text from the parsed module, since that is what a task from the store has:
 * so they compute the same key whether the task was prepared or read. */
struct task *task_open_whole(const struct task *base, struct err *e)
{
	return open_task(base->judge, base->image.module.source, base->name, &(struct opening){ .whole = 1 }, e);
}

struct task *task_open_at(const struct task *base, const int64_t *size, int large, struct err *e)
{
	return open_task(base->judge, base->image.module.source, base->name,
			 &(struct opening){ .size = size, .large = large, .indices = base->asks_for_indices,
					    .choices = base->has_choices }, e);
}

struct task *task_open_reduced(const struct task *base, const struct task_reduction *r, struct err *e)
{
	return open_task(base->judge, base->image.module.source, base->name,
			 &(struct opening){ .size = r->size, .large = 1, .indices = base->asks_for_indices,
					    .reduction = r }, e);
}

/* Sets the sizes with these names. */
static void override_sizes(const struct task *t, const struct host_override *ov, size_t n, int64_t *size)
{
	for (size_t i = 0; i < t->image.n_all; i++)
		for (size_t k = 0; k < n; k++)
			if (str_eq(ov[k].name, t->image.size[i].name))
				size[i] = ov[k].value;
}

/* The store does not keep it: the values belong to one candidate. */
struct task *task_open_rare(const struct task *like, const double *rare, int n, struct err *e)
{
	int64_t size[TASK_SIZES] = { 0 };

	for (size_t i = 0; i < like->image.n_all; i++)
		size[i] = like->image.size[i].full;
	override_sizes(like, like->image.reference.ov, like->image.reference.n_ov, size);
	override_sizes(like, like->image.trial[0].ov, like->image.trial[0].n_ov, size);
	return make_task(like->judge, like->image.module.source, like->name,
			 &(struct opening){ .size = size, .large = 1, .exact = like->exact,
					    .choices = like->has_choices, .rare = rare, .n_rare = n }, e);
}

/* Tensors may borrow from `kept`, which is freed last. */
void task_free(struct task *t)
{
	if (!t)
		return;
	sized_tasks_free(t->sized_tasks);
	for (int i = 0; i < TRIALS_MOST; i++)
		expectation_release(&t->expect[i]);
	task_image_release(&t->image);
	buf_release(&t->notes);
	if (t->kept)
		mem_free_aligned(t->kept);
	mem_free(t->name);
	mem_free(t);
}

/* A task whose model was shrunk is never at full size. */
enum size_kind task_size(const struct task *t)
{
	return t->at_full_size && !t->check.model_shrunk ? SIZE_FULL : SIZE_SAMPLED;
}

/* Expected results, weights and inputs are the bulk of a task. */
size_t task_bytes(const struct task *t)
{
	size_t n = sizeof *t + sized_tasks_bytes(t->sized_tasks) +
		   (t->image.vault ? host_usage(t->image.vault).bytes : 0);

	for (int i = 0; i < WEIGHT_SETS; i++)
		n += weights_bytes(&t->image.set[i]);
	for (int i = 0; i < t->image.n_trials; i++)
		for (int k = 0; k < t->expect[i].expected.n; k++)
			n += (size_t)t->expect[i].expected.r[k].n * sizeof (double);
	return n;
}

/* A task with a problem is kept like any other, so that it is found to be bad only once. */
const struct diag *task_problem(const struct task *t)
{
	return &t->problem;
}

/* Each note is a line of text. */
void task_describe(const struct task *t, struct buf *out)
{
	buf_addstr(out, buf_str(&t->notes));
	if (t->problem.reason != REASON_ok)
		buf_addf(out, "rejected: %s\n", t->problem.text);
}
