/* Some programs at the task's own sizes: see sample.h. */
#include "verify/sample.h"

#include "base/mem.h"
#include "base/rng.h"
#include "tensor/sparse.h"
#include "tile/decode.h"
#include "tile/ir.h"
#include "verify/made.h"

/* Launches of a call that are looked at, and operations that a program may take. */
enum { LAUNCHES_MOST = 16, PROGRAM_FUEL = 60000 };

void sample_open(struct sampler *s, const struct trial *tr, struct area *a, int i, struct host_path *path)
{
	const struct run_order *o = &a->order[i];

	*s = (struct sampler){ .seed = o->sample, .few = o->few, .tr = tr, .matches = &o->matches, .a = a, .i = i, .at = o->at, .path = path,
			       .launches = LAUNCHES_MOST };
}

/* --- programs ------------------------------------------------------------------------------------- */

/* The first, the last, the last of the first axis, others that nobody can know before, and those that the kernel names. */
enum { PROGRAMS_DRAWN = 3, PROGRAMS_NAMED = 12, PROGRAMS_MOST = 3 + PROGRAMS_DRAWN + PROGRAMS_NAMED };
/* How far before the last one a program is looked for that writes to the end of what was made of zeros. */
enum { BACK_MOST = 64 };

/* What writes the register, before an instruction; NULL: nothing does. */
static const struct tile_insn *writer_of(const struct tile_func *f, int before, tile_reg r)
{
	for (int i = before - 1; i >= 0; i--)
		for (int k = 0; k < f->insns[i].n_dst; k++)
			if (tile_dst(&f->insns[i], k) == r)
				return &f->insns[i];
	return NULL;
}

/* Is the register an integer constant, in all lanes? */
static int is_constant(const struct tile_code *c, int before, tile_reg r, int64_t *value)
{
	const struct tile_func *f = &c->funcs[0];
	const struct tile_insn *in = writer_of(f, before, r);

	while (in && (in->op == TOP_SPLAT || in->op == TOP_BROADCAST || in->op == TOP_EXPAND_DIMS || in->op == TOP_CAST))
		in = writer_of(f, (int)(in - f->insns), tile_src(in, 0));
	if (!in || in->op != TOP_CONST || dtype_is_float((enum dtype)c->regs[tile_dst(in, 0)].dt))
		return 0;
	*value = in->imm;
	return 1;
}

static int is_among(const int64_t *v, int n, int64_t program)
{
	for (int i = 0; i < n; i++)
		if (v[i] == program)
			return 1;
	return 0;
}

/* Programs that are named so far. */
struct named { const int64_t *grid; int64_t *v; int n; };

static void add_program(struct named *p, int64_t program)
{
	if (!is_among(p->v, p->n, program) && p->n < PROGRAMS_NAMED && program > 0 && program < p->grid[0] * p->grid[1] * p->grid[2])
		p->v[p->n++] = program;
}

/* The one of that number, and the first ones that have it along the other axes. */
static void add_along_axes(struct named *p, int64_t number)
{
	add_program(p, number);
	if (number < p->grid[1])
		add_program(p, number * p->grid[0]);
	if (number < p->grid[2])
		add_program(p, number * p->grid[0] * p->grid[1]);
}

/* How far is it from a constant to the first number that goes where an earlier one does? -1: it is no such operation. */
static int folds_after(enum tile_op op)
{
	return op == TOP_DIV || op == TOP_REM ? 0 : op == TOP_AND || op == TOP_MIN ? 1 : -1;
}

/* Constants that integers are compared with may be numbers of programs, or offsets that one program has in its tile. Where one is
 * divided by, the quotient is another from it on, and the remainder is largest just before. Of those that get the same remainder,
 * bits or least as an earlier one, the first is named, and the one before it. */
static int name_programs(const struct tile_code *c, const int64_t *grid, int64_t *v)
{
	const struct tile_func *f = &c->funcs[0];
	struct named p = { .grid = grid, .v = v };

	for (int i = 0; i < f->n_insns; i++) {
		const struct tile_insn *in = &f->insns[i];
		int compared = in->op >= TOP_EQ && in->op <= TOP_GE, folds = folds_after(in->op);
		int64_t value, lanes;

		if (!compared && folds < 0)
			continue;
		lanes = tile_numel(c->regs[tile_dst(in, 0)]);
		for (int k = folds == 0; k < 2; k++) {
			if (!is_constant(c, i, tile_src(in, k), &value) || value <= 0 || value == INT64_MAX)
				continue;
			if (compared)
				add_program(&p, value / lanes);
			else
				add_along_axes(&p, (value + folds) / lanes);
			if (folds >= 0)
				add_along_axes(&p, (value + folds - 1) / lanes);
		}
	}
	return p.n;
}

static int choose_programs(const struct sampler *s, const struct tile_code *code, const struct tile_launch *l, int64_t *v)
{
	int64_t all = l->grid[0] * l->grid[1] * l->grid[2], wanted[PROGRAMS_MOST] = { 0, all - 1, l->grid[0] - 1 };
	int n = 0, n_wanted = 3 + PROGRAMS_DRAWN;
	struct rng r;

	rng_init(&r, s->seed, "programs at own sizes");
	for (int i = 0; i < PROGRAMS_DRAWN; i++)
		wanted[3 + i] = (int64_t)rng_below(&r, (uint64_t)all);
	n_wanted += name_programs(code, l->grid, wanted + n_wanted);
	for (int i = 0; i < n_wanted; i++)
		if (!is_among(v, n, wanted[i]))
			v[n++] = wanted[i];
	return n;
}

/* The hollow storages that a launch may touch, and what its programs write to each. */
struct writes {
	struct { struct storage *st; size_t before, most, sum; } *v;
	size_t n, cap;
};

static int add_storage(struct writes *t, struct storage *s)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].st == s)
			return 0;
	if (vec_grow(t, 1))
		return -1;
	memset(&t->v[t->n], 0, sizeof *t->v);
	t->v[t->n++].st = s;
	return s->sparse ? 0 : sparse_unknown(s);
}

static int add_argument(struct writes *t, const struct tile_val *a)
{
	int rc = 0;

	if ((a->kind == TILE_V_TENSOR || a->kind == TILE_V_DESC) && a->t.st->hollow)
		return add_storage(t, a->t.st);
	for (size_t i = 0; a->kind == TILE_V_TUPLE && i < a->n && !rc; i++)
		rc = add_argument(t, &a->items[i]);
	return rc;
}

static int find_writes(struct writes *t, const struct tile_launch *l, struct err *e)
{
	for (size_t i = 0; i < l->n_args; i++)
		if (add_argument(t, &l->args[i]))
			return err_nomem(e);
	return 0;
}

static void note_program(struct writes *t)
{
	for (size_t i = 0; i < t->n; i++) {
		size_t now = sparse_stored(t->v[i].st), wrote = now - t->v[i].before;

		t->v[i].before = now;
		t->v[i].most = MAX(t->v[i].most, wrote);
		t->v[i].sum += wrote;
	}
}

static void begin_launch(struct writes *t)
{
	for (size_t i = 0; i < t->n; i++) {
		t->v[i].before = sparse_stored(t->v[i].st);
		sparse_begin_some(t->v[i].st);
	}
}

/* Did none of the programs that were run write anything, whatever the memory holds that they read? */
static int writes_nothing(const struct writes *t, const struct tile_code *code)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].sum)
			return 0;
	return !code->decoded->by_contents;
}

/* What all programs can have written, if no other one writes more than one of those that were run: what two of these wrote
 * counts once. Those that were not run may have changed what earlier launches left. */
static void note_launch(const struct writes *t, const struct tile_code *code, int64_t programs, int ran)
{
	int nothing = writes_nothing(t, code);

	for (size_t i = 0; i < t->n; i++) {
		int64_t others;

		if (programs > ran)
			sparse_end_some(t->v[i].st);
		if (ck_mul64((int64_t)t->v[i].most, programs - ran, &others))
			others = INT64_MAX / 2;
		sparse_cover(t->v[i].st, (size_t)others + t->v[i].sum - sparse_again(t->v[i].st));
		if (nothing)
			sparse_leave_out(t->v[i].st);
	}
}

/* The last of those that ran was stopped, and nobody knows what the others would have written. */
static void note_stopped(const struct writes *t)
{
	for (size_t i = 0; i < t->n; i++) {
		sparse_drop_writer(t->v[i].st);
		sparse_end_some(t->v[i].st);
		sparse_cover(t->v[i].st, t->v[i].st->bytes);
	}
}

/* It may have written everything, and anything, for all that is known. */
static int note_nothing(const struct writes *t, struct err *e)
{
	for (size_t i = 0; i < t->n; i++)
		if (sparse_unknown(t->v[i].st))
			return err_nomem(e);
	return 0;
}

static void note_test(void *ctx, int line, int col, int outcome)
{
	host_path_mark(ctx, host_path_test(PATH_KERNEL_TEST, line, col, outcome));
}

/* One program. 0, 1: it faults, -1; 2: it is too long to be run, which is not wrong. */
static int run_program(struct sampler *s, struct tile_engine *engine, const struct tile_code *code, const struct tile_launch *l, int64_t program,
		       struct writes *t, struct diag *d, struct err *e)
{
	struct tile_run_options o = { .mode = TILE_FAST, .poison = 0xff, .zero_off = 1, .only = &program, .n_only = 1, .fuel = PROGRAM_FUEL };
	int rc;

	o.test = note_test;
	o.test_ctx = s->path;
	for (size_t i = 0; i < t->n; i++)
		sparse_next_writer(t->v[i].st);
	rc = tile_run(engine, code, l, &o, NULL, d, e);
	note_program(t);
	s->programs++;
	if (rc <= 0 || d->reason != REASON_kernel_timeout)
		return rc;
	*d = (struct diag){ .reason = REASON_ok };
	return 2;
}

/* Has no program got to the end yet of one that was made of zeros? */
static int end_is_missing(const struct writes *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (sparse_is_zero(t->v[i].st) && sparse_reached(t->v[i].st) < t->v[i].st->bytes - t->v[i].st->bytes / 32)
			return 1;
	return 0;
}

/* Of so many programs. */
static int run_some(struct sampler *s, struct tile_engine *engine, const struct tile_code *code, const struct tile_launch *l, int64_t all,
		    struct writes *t, struct diag *d, struct err *e)
{
	int64_t v[PROGRAMS_MOST];
	int rc = 0, n, more = 0;

	if (!s->launches)
		return note_nothing(t, e);
	s->launches--;
	n = choose_programs(s, code, l, v);
	begin_launch(t);
	for (int i = 0; i < n && !rc; i++)
		rc = run_program(s, engine, code, l, v[i], t, d, e);
	/* The last programs may have nothing to write. */
	for (int64_t back = 2; back < all && back <= BACK_MOST && !rc && end_is_missing(t); back *= 2) {
		if (is_among(v, n, all - back))
			continue;
		rc = run_program(s, engine, code, l, all - back, t, d, e);
		more++;
	}
	if (!rc)
		note_launch(t, code, all, n + more);
	if (rc != 2)
		return rc;
	/* Programs of later launches may be as long. */
	s->launches = 0;
	note_stopped(t);
	return 0;
}

static int run_launch(struct sampler *s, struct tile_engine *engine, const struct tile_code *code, const struct tile_launch *l, struct diag *d, struct err *e)
{
	struct writes t = { .n = 0 };
	int64_t all;
	int rc = find_writes(&t, l, e);

	if (!rc && !ck_mul64(l->grid[0], l->grid[1], &all) && !ck_mul64(all, l->grid[2], &all) && all)
		rc = run_some(s, engine, code, l, all, &t, d, e);
	vec_free(&t);
	return rc;
}

/* --- inputs --------------------------------------------------------------------------------------- */

static int collect(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct sample_tensors *t = ctx;

	(void)name;
	if (t->n < RESULTS_MOST)
		t->v[t->n++] = obj->t;
	return 0;
}

int sample_inputs(const struct sampler *s, struct world *w, struct val inputs, struct sample_tensors *held, struct err *e)
{
	struct sample_tensors own = { .n = 0 };
	struct val drawn;
	int rc = world_inputs(w, s->tr, 0, &drawn, e);

	held->n = 0;
	if (rc)
		return rc;
	host_tensors(w->h, inputs, collect, &own);
	host_tensors(w->h, drawn, collect, held);
	for (int i = 0; i < MIN(own.n, held->n); i++)
		if (own.v[i].st->hollow && sparse_few(&own.v[i], &held->v[i], s->few, s->seed))
			return err_nomem(e);
	return 0;
}

/* --- what came of it ------------------------------------------------------------------------------- */

/* Half of the parts are for results; of what a step makes so many elements are enough. */
enum { PARTS_MADE = RESULTS_MOST / 2, ELEMENTS_MADE = 1 << 14 };

struct giver {
	const struct tensor *t;       /* the one that is given */
	int64_t *place;               /* elements so far: where they are, */
	char *value;                  /* and what */
	int64_t n, most;
};

/* Which element lies there? -1: none of the view. Dimensions that are walked in smaller steps count last. */
static int64_t element_at(const struct tensor *t, int64_t offset)
{
	int64_t left = offset - t->offset, index[TENSOR_DIMS] = { 0 }, place = 0;
	unsigned done = 0;

	for (int k = 0; k < t->ndim; k++) {
		int big = 0;

		while (done >> big & 1)
			big++;
		for (int d = big + 1; d < t->ndim; d++)
			if (!(done >> d & 1) && (t->stride[d] > t->stride[big] || (t->stride[d] == t->stride[big] && t->shape[big] == 1)))
				big = d;
		done |= 1u << big;
		index[big] = t->stride[big] > 0 ? MIN(left / t->stride[big], t->shape[big] - 1) : 0;
		left -= index[big] * t->stride[big];
	}
	for (int d = 0; d < t->ndim; d++)
		place = place * t->shape[d] + index[d];
	return left || offset < t->offset ? -1 : place;
}

static int give_range(void *ctx, size_t lo, size_t hi)
{
	struct giver *g = ctx;
	size_t size = (size_t)dtype_size(g->t->dt);

	for (size_t at = (lo + size - 1) / size; (at + 1) * size <= hi; at++) {
		int64_t place = element_at(g->t, (int64_t)at);

		if (place < 0)
			continue;
		if (g->n == g->most)
			return 1;
		g->place[g->n] = place;
		memcpy(g->value + (size_t)g->n++ * size, (char *)g->t->st->data + at * size, size);
	}
	return 0;
}

/* Elements that no program can have written. */
static int64_t blank_elements(const struct tensor *t)
{
	size_t size = (size_t)dtype_size(t->dt), needed = (size_t)tensor_numel(t) * size;

	if (!t->st->hollow || result_overlaps(t) || sparse_covered(t->st) >= needed)
		return 0;
	return (int64_t)((needed - sparse_covered(t->st)) / size);
}

/* A part for the next tensor, with the elements that programs wrote and knew, no more than so many. */
static struct run_part *give_tensor(struct sampler *s, const struct tensor *t, int64_t most)
{
	const struct run_order *o = &s->a->order[s->i];
	struct run_report *r = &s->a->report[s->i];
	struct run_part *p = &r->part[r->n_parts++];
	uint64_t left = o->at + o->room - s->at, size = 8 + (uint64_t)dtype_size(t->dt);
	struct giver g = { .t = t, .most = MIN((int64_t)(left / size), most) };

	*p = (struct run_part){ .dt = (int)t->dt, .ndim = t->ndim, .at = s->at };
	memcpy(p->shape, t->shape, sizeof p->shape);
	g.place = (int64_t *)((char *)s->a + s->at);
	g.value = (char *)(g.place + g.most);
	if (t->st->hollow && t->st->sparse && t->ndim > 0)
		sparse_written(t->st, give_range, &g);
	memmove(g.place + g.n, g.value, (size_t)g.n * (size_t)dtype_size(t->dt));
	p->n = g.n;
	s->at += ((uint64_t)g.n * size + 63) / 64 * 64;
	s->at = MIN(s->at, o->at + o->room);
	return p;
}

static int give_part(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct sampler *s = ctx;
	struct run_part *p;

	(void)name;
	if (s->a->report[s->i].n_parts == RESULTS_MOST)
		return 0;
	p = give_tensor(s, &obj->t, INT64_MAX);
	p->blank = blank_elements(&obj->t);
	p->reached = (int64_t)(sparse_reached(obj->t.st) / (size_t)dtype_size(obj->t.dt));
	return 0;
}

/* What some programs wrote of a step's result is told, and all of it is from here on what the step makes. */
static int take_step(struct sampler *s, const struct tensor *t, uint64_t how, struct err *e)
{
	const struct made_step *m = made_find(s->tr, how);

	if (!m || !t->st->hollow || !sparse_goes_with(t, &m->t, s->few) || s->a->report[s->i].n_parts >= PARTS_MADE)
		return 0;
	give_tensor(s, t, ELEMENTS_MADE)->made = how;
	return sparse_few(t, &m->t, s->few, s->seed) ? err_nomem(e) : 0;
}

static int take_steps(struct sampler *s, const struct tile_launch *l, struct err *e)
{
	const struct made_matches *m = s->matches;
	int launch = s->launched++, rc = 0;

	for (int i = 0; i < MIN(m->n, (int)MADE_MATCHES) && !rc; i++) {
		const struct tile_val *a = m->v[i].arg >= 0 && (size_t)m->v[i].arg < l->n_args ? &l->args[m->v[i].arg] : NULL;

		if (a && m->v[i].launch == launch && m->v[i].kernel == made_kernel(l) && a->kind == TILE_V_TENSOR)
			rc = take_step(s, &a->t, m->v[i].how, e);
	}
	return rc;
}

int sample_launch(struct sampler *s, struct tile_engine *engine, const struct tile_code *code, const struct tile_launch *l, struct diag *d, struct err *e)
{
	int rc = run_launch(s, engine, code, l, d, e);

	return rc ? rc : take_steps(s, l, e);
}

struct gap {
	struct diag *d;
	int told;                     /* the judge is */
};

/* A result that was made empty, and that programs cannot have written to everywhere. Where it was made of zeros
 * the judge knows better whether these may stand, if it is told. */
static int find_gap(void *ctx, struct str name, struct tensor_obj *obj)
{
	const struct gap *g = ctx;
	int64_t blank = blank_elements(&obj->t), n = tensor_numel(&obj->t);

	(void)name;
	if (!blank || (g->told && sparse_is_zero(obj->t.st)))
		return 0;
	diag_set(g->d, REASON_uninitialised, 0, 0, "the kernels write at most %lld of the result's %lld elements, which are %s", (long long)(n - blank),
		 (long long)n, SHAPE_TEXT(obj->t.ndim, obj->t.shape));
	return 1;
}

int sample_gap(struct host *h, struct val result, int told, struct diag *d)
{
	struct gap g = { .d = d, .told = told };

	return host_tensors(h, result, find_gap, &g);
}

int sample_give(struct sampler *s, struct host *h, struct val result, struct err *e)
{
	struct buf form = BUF_INIT;
	int rc = host_result(h, result, &form, give_part, s) || buf_check(&form, e) ? -1 : 0;

	buf_release(&form);
	return rc;
}
