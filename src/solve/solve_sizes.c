/* A solution for any sizes of the inputs: see any_size.h.
 *
 * The judge runs a module of much work at smaller sizes as well: constants of the source that only
 * get_inputs uses (host/shrink.h). So the module is solved at a few sizes, near its own and not equal to
 * any other number of it, and the solutions are joined. If they differ in more than numbers, the module
 * has no such solution. */
#include <ctype.h>
#include <stdio.h>

#include "base/mem.h"
#include "host/shrink.h"
#include "solve/any_size.h"
#include "solve/origin.h"
#include "solve/solve_at.h"

/* A size is tried SIZE_MORE larger; one of a model, which may have to divide by groups, also twice as large. */
enum { SIZE_MORE = 64 };

struct any_size {
	const struct solve_options *o;
	struct py_module module;
	struct buf named;                    /* the source with its sizes named */
	struct shrink_const c[SIZE_VARS];
	int n;
	struct size_vars vars;
	int apart;                           /* index terms are not joined */
	int with_model;                      /* sizes of the model vary, too */
	char code[SIZE_VARS][SIZE_CODE];     /* the dimension that has a size: x.shape[2] */
	struct sched_list scheds;
	struct graph_choices choices;
	struct solve_answer at[SIZE_SAMPLES];
};

/* The shapes of the inputs, and of the tensors of the model if its sizes vary, at given sizes. */
enum { SHAPES = 96 };

struct shapes {
	int n;
	struct { char code[SIZE_CODE]; int rank; int64_t size[TENSOR_DIMS]; } x[SHAPES];
};

static int add_shape(void *shapes, struct val v, const char *code)
{
	struct shapes *to = shapes;

	if (!code || to->n == SHAPES || strlen(code) + sizeof ".shape[0]" >= SIZE_CODE)
		return 0;
	snprintf(to->x[to->n].code, SIZE_CODE, "%.*s", SIZE_CODE - 1, code);
	to->x[to->n].rank = v.u.t->t.ndim;
	memcpy(to->x[to->n++].size, v.u.t->t.shape, sizeof to->x[0].size);
	return 0;
}

static int read_shapes(const struct any_size *s, const struct host_override *ov, const struct signature *sig,
		       struct arena *a, struct shapes *out, struct err *e)
{
	struct host_options ho = { .lib = s->o->lib, .fuel = 1 << 24, .memory = (size_t)1 << 31, .hollow = 1,
				   .is_reference = 1, .may_mix = 1 };
	struct host *h = host_new(&ho, e);
	struct val ns, in, model;
	int rc = h ? host_load(h, &s->module, ov, (size_t)s->n, &ns, e) : -1;

	out->n = 0;
	if (!rc)
		rc = host_inputs(h, ns, 1, 0, &in, e);
	for (size_t i = 0; !rc && i < in.u.seq->n; i++)
		if (in.u.seq->v[i].kind == V_TENSOR)
			add_shape(out, in.u.seq->v[i], signature_arg(sig, i, a));
	if (!rc && s->with_model)
		rc = host_build(h, ns, ns, "Model", 1, &model, e);
	if (!rc && s->with_model)
		origin_walk(a, h, model, sig->wrapped ? "self.model" : "self", add_shape, out);
	if (h)
		host_free(h);
	return rc;
}

/* Finds a dimension that follows the i-th size when it grows by `more`. Returns 1 if none does. */
static int find_dimension(struct any_size *s, int i, int64_t more, const struct signature *sig, struct arena *a,
			  struct err *e)
{
	struct shapes *was = arena_zalloc(a, sizeof *was), *now = arena_zalloc(a, sizeof *now);
	struct host_override ov[SIZE_VARS];
	int rc;

	if (!was || !now)
		return err_nomem(e);
	for (int k = 0; k < s->n; k++)
		ov[k] = (struct host_override){ .name = s->c[k].name, .value = s->c[k].value };
	rc = read_shapes(s, ov, sig, a, was, e);
	ov[i].value += more;
	if (!rc)
		rc = read_shapes(s, ov, sig, a, now, e);
	for (int x = 0; !rc && x < MIN(now->n, was->n); x++)
		for (int d = 0; d < now->x[x].rank && now->x[x].rank == was->x[x].rank; d++)
			if (now->x[x].size[d] == ov[i].value && was->x[x].size[d] == ov[i].value - more) {
				snprintf(s->code[i], SIZE_CODE, "%.*s.shape[%d]", SIZE_CODE - 12, now->x[x].code, d);
				return 0;
			}
	return rc < 0 ? -1 : 1;
}

/* The name of a size in forward: the constant's own in lower case, unless an argument is called so. */
static void name_size(struct any_size *s, int i, const struct signature *sig, struct arena *a)
{
	struct size_var *v = &s->vars.v[i];
	struct str name = s->c[i].name;

	if (str_starts(name, "size_of_") || name.n > 24)
		name = STR("size");
	snprintf(v->name, sizeof v->name, "%.*s", STR_ARG(name));
	for (char *p = v->name; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	for (int k = 0; k < 16; k++)
		if (!strcmp(signature_arg(sig, (size_t)k, a), v->name))
			snprintf(v->name, sizeof v->name, "%.*s_%d", STR_ARG(name), i);
	for (int k = 0; k < i; k++)
		if (!strcmp(s->vars.v[k].name, v->name))
			snprintf(v->name, sizeof v->name, "%.*s_%d", STR_ARG(name), i);
}

/* Adds the constants that the constructor gets: a layer of 8192 features is judged at 1024 of them. Small ones are
 * windows and strides. Returns 1 if no constant is added. */
static int add_model_sizes(struct any_size *s)
{
	enum { MODEL_LEAST = 32 };
	struct shrink_const c[SIZE_VARS];
	size_t n = shrink_find_model(&s->module, c, SIZE_VARS);
	int was = s->n;

	for (size_t i = 0; i < MIN(n, (size_t)SIZE_VARS) && s->n < SIZE_VARS; i++)
		if (c[i].value >= MODEL_LEAST)
			s->c[s->n++] = c[i];
	return s->n == was;
}

/* Finds the dimension of each size. A size of the model that no dimension shows stays as it is; else returns 1. */
static int find_dimensions(struct any_size *s, const struct signature *sig, struct arena *a, struct err *e)
{
	int n = 0, rc = 0;

	for (int i = 0; i < s->n && rc >= 0; i++) {
		rc = find_dimension(s, i, SIZE_MORE, sig, a, e);
		if (rc > 0 && !s->with_model)
			return 1;
		if (rc > 0)
			rc = find_dimension(s, i, s->c[i].value, sig, a, e);
		if (rc)
			continue;
		s->c[n] = s->c[i];
		memmove(s->code[n], s->code[i], SIZE_CODE);
		name_size(s, n++, sig, a);
	}
	s->n = n;
	return MIN(rc, 0);
}

/* Names the sizes that the source writes as numbers, finds all, and the dimensions that have them. Returns 1
 * if there is nothing to vary. */
static int find_sizes(struct any_size *s, struct str source, struct err *e)
{
	struct arena names = ARENA_INIT;
	struct signature sig;
	struct err bad = ERR_INIT;
	size_t n = 0;
	int rc = py_parse(&s->module, source, "module", (size_t)1 << 28, &bad) ? 1 : 0;

	if (!rc && shrink_name_literals(&s->module, s->o->any_size, &s->named)) {
		py_release(&s->module);
		rc = buf_check(&s->named, e) ? -1 :
			py_parse(&s->module, buf_str(&s->named), "module", (size_t)1 << 28, &bad) ? 1 : 0;
	} else if (!rc) {
		buf_clear(&s->named);
		buf_addstr(&s->named, source);
		rc = buf_check(&s->named, e);
	}
	if (!rc && signature_find(&sig, &s->module))
		rc = 1;
	if (!rc)
		n = shrink_find(&s->module, s->c, SIZE_VARS);
	s->n = (int)MIN(n, (size_t)SIZE_VARS);
	if (!rc && s->with_model)
		rc = add_model_sizes(s);
	if (!rc)
		rc = find_dimensions(s, &sig, &names, e);
	s->vars.n = s->n;
	arena_release(&names);
	return rc ? rc : !s->n || n > SIZE_VARS;
}

/* Whether the module runs if a size grows. Returns 0, 1 if it does not. */
static int runs_with(struct any_size *s, const struct mode *mode, int i, int64_t more, struct err *e)
{
	struct host_override ov = { .name = s->c[i].name, .value = s->c[i].value + more };
	struct mode m = { .eval = mode->eval, .split = mode->split, .ov = &ov, .n_ov = 1 };
	int rc = solve_at(s->o, buf_str(&s->named), &m, &s->at[0], e);

	solve_answer_release(&s->at[0]);
	s->at[0] = (struct solve_answer){ .ops = 0 };
	return rc;
}

/* Keeps the sizes at which the module runs. Others belong to the model, such as the channels of an input. */
static int drop_fixed(struct any_size *s, const struct mode *mode, struct err *e)
{
	int n = 0;

	for (int i = 0; i < s->n; i++) {
		int rc = runs_with(s, mode, i, SIZE_MORE, e);

		if (rc > 0 && s->with_model)
			rc = runs_with(s, mode, i, s->c[i].value, e);
		if (rc < 0)
			return -1;
		if (rc)
			continue;
		s->c[n] = s->c[i];
		s->vars.v[n] = s->vars.v[i];
		memmove(s->code[n++], s->code[i], SIZE_CODE);
	}
	s->n = s->vars.n = n;
	return n == 0;
}

/* Solves one sample of the sizes. */
static int solve_sample(struct any_size *s, const struct mode *mode, int sample, struct err *e)
{
	struct host_override ov[SIZE_VARS];
	struct shrink_const none;
	struct mode m = { .eval = mode->eval, .split = mode->split, .ov = ov, .n_ov = (size_t)s->n,
			  .sizes = &s->vars, .apart = s->apart,
			  .size_code = s->code, .scheds = &s->scheds, .choices = &s->choices,
			  .with_model = s->with_model,
			  .model_sizes = shrink_find_model(&s->module, &none, 1) > 0 };

	for (int i = 0; i < s->n; i++)
		ov[i] = (struct host_override){ .name = s->c[i].name, .value = size_at(&s->vars, i, sample) };
	solve_answer_release(&s->at[sample]);
	return solve_at(s->o, buf_str(&s->named), &m, &s->at[sample], e);
}

/* The schedules are those for the sizes of the module itself. */
static int choose_schedules(struct any_size *s, const struct mode *mode, struct err *e)
{
	for (int i = 0; i < s->n; i++)
		s->vars.v[i].first = s->c[i].value, s->vars.v[i].step = 1;
	return solve_sample(s, mode, 0, e);
}

/* Joins solutions for sizes at distance `step`, and all sizes between if `fine`. Returns 1 if they cannot be
 * joined. */
static int join_at(struct any_size *s, const struct mode *mode, int64_t step, int fine, struct buf *out, struct err *e)
{
	struct str texts[SIZE_SAMPLES];
	int rc = 0;

	buf_clear(out);
	for (int i = 0; i < s->n; i++) {
		struct size_var *v = &s->vars.v[i];

		/* a batch varies by one */
		v->step = strstr(s->code[i], ".shape[0]") && strncmp(s->code[i], "self", 4) ? 1 : step;
		v->first = s->c[i].value + v->step * (2 + i);
		v->fine = fine ? (int)v->step - 1 : 0;
	}
	for (int k = 0; k < size_samples(&s->vars) && !rc; k++) {
		rc = solve_sample(s, mode, k, e);
		texts[k] = buf_str(&s->at[k].solution);
	}
	return rc ? rc : any_size_make(&s->vars, texts, out, e);
}

/* Formulas that hold for all sizes are the best ones; else those that hold for every few. Sizes of models are
 * multiples of the number of groups, or of heads. */
static int join(struct any_size *s, const struct mode *mode, struct buf *out, struct err *e)
{
	static const struct size_try { int64_t step; int fine, apart; } tries[] = {
		{ 1, 0, 0 }, { 2, 1, 0 }, { 8, 1, 0 }, { 8, 1, 1 }, { 12, 1, 1 }, { 32, 1, 1 }, { 18, 1, 1 },
		{ 2, 0, 0 }, { 4, 0, 0 }, { 8, 0, 0 }, { 16, 0, 0 }, { 32, 0, 0 }, { 32, 0, 1 },
	}, of_model[] = { { 1, 0, 0 }, { 2, 1, 0 }, { 16, 0, 0 }, { 64, 0, 0 }, { 512, 0, 0 } };
	const struct size_try *t = s->with_model ? of_model : tries;
	size_t n = s->with_model ? COUNT_OF(of_model) : COUNT_OF(tries);
	int rc = 1;

	for (size_t i = 0; i < n && rc > 0; i++) {
		s->apart = t[i].apart;
		rc = join_at(s, mode, t[i].step, t[i].fine, out, e);
	}
	if (rc)
		buf_clear(out);
	return rc < 0 ? -1 : 0;
}

/* Replaces the solution by one whose sizes vary. Returns 1 if the module has no such solution. */
static int solve_varied(const struct solve_options *o, struct str source, const struct mode *mode, int with_model,
			struct solve_answer *out, struct err *e)
{
	struct any_size *s = mem_zalloc(sizeof *s);
	struct buf joined = BUF_INIT;
	int rc;

	if (!s)
		return err_nomem(e);
	s->o = o;
	s->with_model = with_model;
	rc = find_sizes(s, source, e);
	if (!rc)
		rc = drop_fixed(s, mode, e);
	if (!rc)
		rc = choose_schedules(s, mode, e);
	if (!rc)
		rc = join(s, mode, &joined, e);
	if (!rc && joined.n) {
		buf_clear(&out->solution);
		buf_addstr(&out->solution, buf_str(&joined));
		rc = buf_check(&out->solution, e);
	} else if (!rc) {
		rc = 1;
	}
	for (int k = 0; k < SIZE_SAMPLES; k++)
		solve_answer_release(&s->at[k]);
	vec_free(&s->scheds);
	vec_free(&s->choices);
	py_release(&s->module);
	buf_release(&s->named);
	buf_release(&joined);
	mem_free(s);
	return rc;
}

/* The judge may need other sizes of the model; users mean the sizes of the inputs. Formulas in sizes of
 * the model often hold for multiples only. */
int solve_any_size(const struct solve_options *o, struct str source, const struct mode *mode,
		   struct solve_answer *out, struct err *e)
{
	int rc = solve_varied(o, source, mode, !o->any_size, out, e);

	if (rc > 0)
		rc = solve_varied(o, source, mode, o->any_size, out, e);
	return rc < 0 ? -1 : 0;
}
