/* Sampled instances at full size: see sample.h.
 *
 * A launch at full size has too many instances to run. This file runs a few of them (pick.c picks
 * them) over hollow tensors and counts two numbers for each storage: the bytes that they wrote and
 * the bytes that they read. No instance is assumed to move more than the largest of those that were
 * run; so "most_moved" is an upper bound for the whole launch. If even the bound leaves a result
 * unwritten, the candidate is wrong.
 *
 * Invariant: an element is reported as known only if an instance that ran to its end wrote it, from
 * known values. */
#include "verify/candidate/sample.h"

#include "base/mem.h"
#include "tensor/sparse.h"
#include "tile/machine/decode.h"
#include "verify/candidate/plateau.h"
#include "verify/candidate/intermediate.h"
#include "verify/candidate/pick.h"

/* Launches of a call that are sampled, and operations that one instance may take. */
enum { LAUNCHES_MOST = 16, PROGRAM_FUEL = 60000 };
/* For the constant-tensor test: operations of an instance; the most instances of a launch that is
 * run whole, and the operations of each; ranges of memory that are counted of a tensor. */
enum { CONSTANT_FUEL = 20000, ALL_MOST = 1 << 16, ALL_FUEL = 1 << 18, RANGES_MOST = 1 << 20 };

/* Prepares sampling for order i. A trial of a reduced task has contents; other trials have not. */
void sample_open(struct sampler *s, const struct trial *tr, struct shmem *a, int i, struct host_path *path)
{
	const struct run_order *o = &a->order[i];

	*s = (struct sampler){ .seed = o->sample, .reduced = o->reduced, .tr = tr, .matches = &o->matches,
			       .a = a, .i = i, .at = o->at, .path = path,
			       .launches = LAUNCHES_MOST, .constant = o->constant };
}

/* --- instances
 * ------------------------------------------------------------------------------------- */

/* How many instances before the last one are tried, to find one that writes up to the end of a
 * result. A kernel may round its grid up, and then the last instances have nothing to write. */
enum { BACK_MOST = 64 };

/* Bytes that instances moved: up to the one that runs now, the most of one instance, the sum of
 * all that were run. */
struct traffic { size_t before, most, sum; };

/* The hollow storages that a launch may touch, and the traffic of its instances with each. */
struct writes {
	struct {
		struct storage *st;
		size_t size;              /* bytes of an element */
		struct traffic stored, loaded;
	} *v;
	size_t n, cap;
};

/* Adds a storage once. One without any contents becomes one of unknown contents, which can be
 * written. */
static int add_storage(struct writes *t, struct storage *s, enum dtype dt)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].st == s)
			return 0;
	if (vec_grow(t, 1))
		return -1;
	memset(&t->v[t->n], 0, sizeof *t->v);
	t->v[t->n].size = (size_t)dtype_size(dt);
	t->v[t->n++].st = s;
	return s->sparse ? 0 : sparse_unknown(s);
}

/* Adds the hollow storages of an argument, of a tuple those of its members. */
static int add_argument(struct writes *t, const struct tile_val *a)
{
	int rc = 0;

	if ((a->kind == TILE_V_TENSOR || a->kind == TILE_V_DESC) && a->t.st->hollow)
		return add_storage(t, a->t.st, a->t.dt);
	for (size_t i = 0; a->kind == TILE_V_TUPLE && i < a->n && !rc; i++)
		rc = add_argument(t, &a->items[i]);
	return rc;
}

/* Collects the storages of a launch. */
static int find_writes(struct writes *t, const struct tile_launch *l, struct err *e)
{
	for (size_t i = 0; i < l->n_args; i++)
		if (add_argument(t, &l->args[i]))
			return err_nomem(e);
	return 0;
}

/* Adds what one instance moved, as the difference to the count before it. */
static void note_traffic(struct traffic *t, size_t now)
{
	size_t bytes = now - t->before;

	t->before = now;
	t->most = MAX(t->most, bytes);
	t->sum += bytes;
}

/* Notes the traffic of the instance that has just run, for every storage. */
static void note_program(struct writes *t)
{
	for (size_t i = 0; i < t->n; i++) {
		note_traffic(&t->v[i].stored, sparse_stored(t->v[i].st));
		note_traffic(&t->v[i].loaded, sparse_loaded(t->v[i].st));
	}
}

/* The most bytes that all instances together can have moved. The instances that ran moved `sum`
 * bytes; `again` of these were moved twice and count once. Each other instance moved at most as
 * much as the largest. Example: 4 of 100 instances ran and wrote 1024 bytes each, so all instances
 * cover at most 4096 + 96 * 1024 bytes. */
static size_t most_moved(const struct traffic *t, int64_t others, size_t again)
{
	int64_t more;

	if (ck_mul64((int64_t)t->most, others, &more))
		more = INT64_MAX / 2;
	return (size_t)more + t->sum - again;
}

/* Starts the counts of a launch. */
static void begin_launch(struct writes *t, enum constant constant)
{
	for (size_t i = 0; i < t->n; i++) {
		if (constant)
			sparse_count_loads(t->v[i].st, RANGES_MOST);
		t->v[i].stored.before = sparse_stored(t->v[i].st);
		t->v[i].loaded.before = sparse_loaded(t->v[i].st);
		sparse_begin_some(t->v[i].st);
	}
}

/* Did no instance write anything, and does that not depend on the contents of memory? Then the
 * others write nothing either. */
static int writes_nothing(const struct writes *t, const struct tile_code *code)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].stored.sum)
			return 0;
	return !code->decoded->by_contents;
}

/* After a launch: instances that were not run may have overwritten what earlier launches left, so
 * that it is no longer known; and each storage is covered by the bound of what was written. */
static void note_launch(const struct writes *t, const struct tile_code *code, int64_t programs, int64_t ran)
{
	int nothing = writes_nothing(t, code);

	for (size_t i = 0; i < t->n; i++) {
		if (programs > ran)
			sparse_end_some(t->v[i].st);
		sparse_cover(t->v[i].st, most_moved(&t->v[i].stored, programs - ran, sparse_again(t->v[i].st)));
		if (nothing)
			sparse_leave_out(t->v[i].st);
	}
}

/* Does the kernel depend on memory that other instances write (a lock, a counter, an atomic)? The
 * instances that were not run left nothing there, so that its reads mean nothing. */
static int goes_by_others(const struct writes *t, const struct tile_code *code)
{
	int stored = 0;

	for (size_t i = 0; i < t->n; i++)
		stored |= sparse_stored(t->v[i].st) != 0;
	return code->decoded->by_contents && (stored || code->decoded->has_atomics);
}

/* Reports how much of each tensor the launch can have read. */
static void note_reads(struct reads *r, const struct writes *t, const struct tile_code *code, int64_t others)
{
	int any = goes_by_others(t, code);

	if (any)
		reads_leave(r, CONSTANT_ANSWER_by_contents);
	for (size_t i = 0; i < t->n; i++) {
		struct storage *st = t->v[i].st;

		reads_add(r, st, any ? st->bytes : most_moved(&t->v[i].loaded, others, sparse_loaded_again(st)));
	}
}

/* Do all instances either read different parts of each tensor, which together are all of it, or
 * the same part? Then the values of a few instances tell the values of the others, over constant
 * tensors. */
static int all_do_the_same(const struct writes *t, int64_t others)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct traffic *l = &t->v[i].loaded;
		size_t again = sparse_loaded_again(t->v[i].st);

		if (l->sum - again != l->most && most_moved(l, others, again) != t->v[i].st->bytes)
			return 0;
	}
	return 1;
}

/* Reports that the launch may have read everything, and why it is not known better. */
static void note_any_reads(struct reads *r, const struct writes *t, enum constant_answer why)
{
	reads_leave(r, why);
	for (size_t i = 0; i < t->n; i++)
		reads_add(r, t->v[i].st, t->v[i].st->bytes);
}

/* Why instances were stopped: they touched too many ranges, or took too many operations. */
static enum constant_answer why_stopped(const struct writes *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (sparse_lost_count(t->v[i].st))
			return CONSTANT_ANSWER_many_ranges;
	return CONSTANT_ANSWER_long_program;
}

/* After an instance was stopped: what it wrote is dropped, and the others may have written
 * anything. */
static void note_stopped(const struct writes *t)
{
	for (size_t i = 0; i < t->n; i++) {
		sparse_drop_writer(t->v[i].st);
		sparse_end_some(t->v[i].st);
		sparse_cover(t->v[i].st, t->v[i].st->bytes);
	}
}

/* After a launch that was not sampled: it may have written anything anywhere. */
static int note_nothing(const struct writes *t, struct err *e)
{
	for (size_t i = 0; i < t->n; i++)
		if (sparse_unknown(t->v[i].st))
			return err_nomem(e);
	return 0;
}

/* A comparison of integers in a kernel becomes a mark of the path, with its outcome. */
static void note_test(void *ctx, int line, int col, int outcome)
{
	host_path_mark(ctx, host_path_test(PATH_KERNEL_TEST, line, col, outcome));
}

/* A launch some of whose instances are run. */
struct launched {
	struct sampler *s;
	struct tile_engine *engine;
	const struct tile_code *code;
	const struct tile_launch *l;
	int64_t all;                  /* instances of its grid */
	struct writes t;
	struct diag *d;
	struct err *e;
	int64_t ran[PICK_MOST + BACK_MOST];
	int n;                        /* how many were run: the entries of `ran` */
	int more;                     /* instances that plateau.c may still run */
};

/* Runs these instances, as one writer. Returns 0 on success, 1 if one faults, -1 on our own failure
 * (*e), 2 if they are too long to be run, which is no fault. */
static int run_programs(struct launched *k, const int64_t *program, int n)
{
	static const int64_t fuel[] = { [CONSTANT_NOT] = PROGRAM_FUEL, [CONSTANT_SOME] = CONSTANT_FUEL,
					[CONSTANT_ALL] = ALL_FUEL };
	struct tile_run_options o = { .mode = TILE_FAST, .poison = 0xff, .zero_off = 1, .only = program,
				      .n_only = n, .test = note_test,
				      .test_ctx = k->s->path, .fuel = fuel[k->s->constant] };
	int rc;

	for (size_t i = 0; i < k->t.n; i++)
		sparse_next_writer(k->t.v[i].st);
	rc = tile_run(k->engine, k->code, k->l, &o, NULL, k->d, k->e);
	note_program(&k->t);
	k->s->programs += n;
	if (rc <= 0 || k->d->reason != REASON_kernel_timeout)
		return rc;
	*k->d = (struct diag){ .reason = REASON_ok };
	return 2;
}

/* Runs one instance, which counts as run. */
static int run_program(struct launched *k, int64_t program)
{
	k->ran[k->n++] = program;
	return run_programs(k, &program, 1);
}

_Static_assert(PICK_MOST + BACK_MOST / 8 + PLATEAU_RUNS < SPARSE_WRITERS, "each instance of a launch is a writer");

/* Runs an instance for plateau.c. One that faults or is too long tells nothing. */
static int run_another(void *ctx, int64_t program)
{
	struct launched *k = ctx;
	int rc = k->more-- <= 0 ? 1 : run_programs(k, &program, 1);

	if (rc > 0)
		*k->d = (struct diag){ .reason = REASON_ok };
	return MIN(rc, 1);
}

/* Fills in what the instances that were not run wrote, over constant tensors. All instances write
 * one value, except for the last one, which may have less to read. Otherwise they write one value
 * up to some position and another one after that position (plateau.c). */
static int flatten(struct launched *k, int64_t others)
{
	int same = all_do_the_same(&k->t, others), last = pick_index(k->ran, k->n, k->all - 1) + 1, rc = 0;

	k->more = PLATEAU_RUNS;
	for (size_t i = 0; i < k->t.n && same && !rc; i++) {
		struct storage *st = k->t.v[i].st;
		const struct traffic *stored = &k->t.v[i].stored;
		struct plateau p = { .st = st, .size = k->t.v[i].size, .part = stored->most,
				     .programs = k->all, .run = run_another, .ctx = k };

		if (stored->sum && most_moved(stored, others, sparse_again(st)) == st->bytes &&
		    !sparse_flatten(st, p.size, last))
			rc = plateau_fill(&p, k->ran, k->n);
	}
	return rc;
}

/* Has no instance reached the end of a tensor of zeros yet? The last 32nd of it counts as the
 * end. */
static int end_is_missing(const struct writes *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (sparse_is_zero(t->v[i].st) && sparse_reached(t->v[i].st) < t->v[i].st->bytes -
		    t->v[i].st->bytes / 32)
			return 1;
	return 0;
}

/* Notes what a launch did whose picked instances all ran to their end. */
static int note_ran(struct launched *k)
{
	int64_t others = k->all - k->n;

	if (k->s->constant)
		note_reads(&k->s->reads, &k->t, k->code, others);
	note_launch(&k->t, k->code, k->all, k->n);
	return k->s->constant ? flatten(k, others) : 0;
}

/* Runs a few instances of a launch, and up to six more from its end if no picked instance wrote
 * there: the 2nd, 4th, 8th, ... from the last. If they are too long, later launches are not tried
 * at all. */
static int run_some(struct launched *k)
{
	int64_t picked[PICK_MOST];
	int rc = 0, n;

	if (!k->s->launches) {
		note_any_reads(&k->s->reads, &k->t, CONSTANT_ANSWER_many_launches);
		return note_nothing(&k->t, k->e);
	}
	k->s->launches--;
	n = pick_programs(k->s->seed, k->code, k->l, picked);
	begin_launch(&k->t, k->s->constant);
	for (int i = 0; i < n && !rc; i++)
		rc = run_program(k, picked[i]);
	/* A grid is often rounded up: the last instances may have nothing to write. */
	for (int64_t back = 2; back < k->all && back <= BACK_MOST && !rc && end_is_missing(&k->t); back *= 2)
		if (pick_index(picked, n, k->all - back) < 0)
			rc = run_program(k, k->all - back);
	if (rc != 2)
		return rc ? rc : note_ran(k);
	/* Instances of later launches may be as long: they are not tried. */
	k->s->launches = 0;
	note_any_reads(&k->s->reads, &k->t, why_stopped(&k->t));
	note_stopped(&k->t);
	return 0;
}

/* Runs all instances of a launch at small sizes: then nothing that they read has to be inferred. */
static int run_all(struct launched *k)
{
	struct reads *reads = &k->s->reads;
	int64_t *v;
	int rc;

	if (k->all > ALL_MOST)
		reads_lose(reads, CONSTANT_ANSWER_many_programs);
	if (reads->lost)
		return 0;
	v = mem_array((size_t)k->all, sizeof *v);
	if (!v)
		return err_nomem(k->e);
	begin_launch(&k->t, k->s->constant);
	for (int64_t i = 0; i < k->all; i++)
		v[i] = i;
	rc = run_programs(k, v, (int)k->all);
	mem_free(v);
	if (!rc)
		note_reads(reads, &k->t, k->code, 0);
	if (rc == 2)
		reads_lose(reads, why_stopped(&k->t));
	return rc == 2 ? 0 : rc;
}

/* Runs sampled instances of the launch, or all of them for the constant-tensor test at small
 * sizes. */
static int run_launch(struct launched *k)
{
	const int64_t *grid = k->l->grid;
	int rc = find_writes(&k->t, k->l, k->e);

	if (!rc && !ck_mul64(grid[0], grid[1], &k->all) && !ck_mul64(k->all, grid[2], &k->all) && k->all)
		rc = k->s->constant == CONSTANT_ALL ? run_all(k) : run_some(k);
	vec_free(&k->t);
	return rc;
}

/* --- inputs ------------------------------------------------------------------------------- */

/* Collects the tensors of a value. */
static int collect(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct sample_tensors *t = ctx;

	(void)name;
	if (t->n < RESULTS_MOST)
		t->v[t->n++] = obj->t;
	return 0;
}

/* Registers the storage of an input, so that reads of it are reported by its number. */
static int note_input(void *ctx, struct str name, struct tensor_obj *obj)
{
	(void)name;
	reads_input(ctx, obj->t.st);
	return 0;
}

void sample_note_inputs(struct sampler *s, struct world *w, struct val inputs)
{
	host_tensors(w->h, inputs, note_input, &s->reads);
}

/* The trial's inputs are kept in *held, since hollow inputs only refer to their contents. */
int sample_inputs(const struct sampler *s, struct world *w, struct val inputs, struct sample_tensors *held,
		  struct err *e)
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
		if (own.v[i].st->hollow && sparse_few(&own.v[i], &held->v[i], s->reduced, s->seed))
			return err_nomem(e);
	return 0;
}

/* --- reporting
 * ------------------------------------------------------------------------------------- */

/* Half of the parts of a report are for results. This many elements of a reference intermediate are
 * enough. */
enum { PARTS_MADE = RESULTS_MOST / 2, ELEMENTS_MADE = 1 << 14 };

/* Elements that are being reported. */
struct giver {
	const struct tensor *t;       /* the tensor that is reported */
	int64_t *position;            /* of the elements so far: indices in row-major order, */
	char *value;                  /* and values, in the tensor's dtype */
	int64_t n, most;              /* elements so far; room */
};

/* The index, in row-major order, of the element at an offset of the storage; -1: the view has none
 * there. Dimensions are taken by falling stride, as the offset is composed of them. */
static int64_t element_at(const struct tensor *t, int64_t offset)
{
	int64_t left = offset - t->offset, index[TENSOR_DIMS] = { 0 }, position = 0;
	unsigned done = 0;

	for (int k = 0; k < t->ndim; k++) {
		int big = 0;

		while (done >> big & 1)
			big++;
		for (int d = big + 1; d < t->ndim; d++)
			if (!(done >> d & 1) && (t->stride[d] > t->stride[big] ||
						 (t->stride[d] == t->stride[big] && t->shape[big] == 1)))
				big = d;
		done |= 1u << big;
		index[big] = t->stride[big] > 0 ? MIN(left / t->stride[big], t->shape[big] - 1) : 0;
		left -= index[big] * t->stride[big];
	}
	for (int d = 0; d < t->ndim; d++)
		position = position * t->shape[d] + index[d];
	return left || offset < t->offset ? -1 : position;
}

/* Reports the elements of the bytes [lo, hi) as positions and values. Returns 1 if there is no
 * more room. */
static int give_range(void *ctx, size_t lo, size_t hi)
{
	struct giver *g = ctx;
	size_t size = (size_t)dtype_size(g->t->dt);

	for (size_t at = (lo + size - 1) / size; (at + 1) * size <= hi; at++) {
		int64_t position = element_at(g->t, (int64_t)at);

		if (position < 0)
			continue;
		if (g->n == g->most)
			return 1;
		g->position[g->n] = position;
		memcpy(g->value + (size_t)g->n++ * size, (char *)g->t->st->data + at * size, size);
	}
	return 0;
}

/* Elements that no instance can have written, by the bound of what the launches cover. */
static int64_t blank_elements(const struct tensor *t)
{
	size_t size = (size_t)dtype_size(t->dt), needed = (size_t)tensor_numel(t) * size;

	if (!t->st->hollow || result_overlaps(t) || sparse_covered(t->st) >= needed)
		return 0;
	return (int64_t)((needed - sparse_covered(t->st)) / size);
}

/* Adds a part to the report with the elements of the tensor that instances wrote and knew, `most`
 * at the most. Positions and values are written apart first, and then moved together. */
static struct run_part *give_tensor(struct sampler *s, const struct tensor *t, int64_t most)
{
	const struct run_order *o = &s->a->order[s->i];
	struct run_report *r = &s->a->report[s->i];
	struct run_part *p = &r->part[r->n_parts++];
	uint64_t left = o->at + o->room - s->at, size = 8 + (uint64_t)dtype_size(t->dt);
	struct giver g = { .t = t, .most = MIN((int64_t)(left / size), most) };

	*p = (struct run_part){ .dt = (int)t->dt, .ndim = t->ndim, .at = s->at };
	memcpy(p->shape, t->shape, sizeof p->shape);
	g.position = (int64_t *)((char *)s->a + s->at);
	g.value = (char *)(g.position + g.most);
	if (t->st->hollow && t->st->sparse && t->ndim > 0)
		sparse_written(t->st, give_range, &g);
	memmove(g.position + g.n, g.value, (size_t)g.n * (size_t)dtype_size(t->dt));
	p->n = g.n;
	s->at += ((uint64_t)g.n * size + 63) / 64 * 64;
	s->at = MIN(s->at, o->at + o->room);
	return p;
}

/* Reports a result tensor, with the account of what cannot have been written. */
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

/* The contents of a step that the order gives: a tensor that borrows shared memory. Returns 1 and
 * *out, 0 if the order does not give it, -1 on our own failure (*e). */
static int open_step(const struct sampler *s, uint64_t how, struct tensor *out, struct err *e)
{
	const struct run_order *o = &s->a->order[s->i];
	const struct run_step *step = (const struct run_step *)((const char *)s->a + o->steps_at);
	int64_t n = sizeof (float);

	for (int i = 0; i < o->n_steps; i++) {
		if (step[i].how != how || !step[i].at)
			continue;
		for (int d = 0; d < step[i].ndim; d++)
			n *= step[i].shape[d];
		return tensor_borrow(out, DT_F32, step[i].ndim, step[i].shape, (char *)s->a + step[i].at,
				     (size_t)n, e) ? -1 : 1;
	}
	return 0;
}

/* Reports what a launch wrote of a reference intermediate; then gives the tensor the contents of
 * that intermediate, whole, so that later launches find the values that they would find on a
 * GPU. */
static int take_step(struct sampler *s, const struct tensor *t, uint64_t how, struct err *e)
{
	const struct intermediate *m = intermediate_find(&s->tr->intermediates, how);
	struct tensor given;
	int found = m ? (given = m->t, tensor_retain(&given), 1) : open_step(s, how, &given, e), rc = 0;

	if (found <= 0)
		return found;
	if (t->st->hollow && sparse_goes_with(t, &given, s->reduced) && s->a->report[s->i].n_parts < PARTS_MADE) {
		give_tensor(s, t, ELEMENTS_MADE)->call = how;
		rc = sparse_few(t, &given, s->reduced, s->seed) ? err_nomem(e) : 0;
	}
	tensor_release(&given);
	return rc;
}

/* Does that for each argument of the launch that held a reference intermediate at smaller sizes.
 * The launch is recognised by its number and its kernel's name. */
static int take_steps(struct sampler *s, const struct tile_launch *l, struct err *e)
{
	const struct intermediate_matches *m = s->matches;
	int launch = s->launched++, rc = 0;

	for (int i = 0; i < MIN(m->n, (int)INTERMEDIATE_MATCHES) && !rc; i++) {
		const struct tile_val *a = m->v[i].arg >= 0 && (size_t)m->v[i].arg < l->n_args ?
			&l->args[m->v[i].arg] : NULL;

		if (a && m->v[i].launch == launch && m->v[i].kernel == intermediate_kernel(l) &&
		    a->kind == TILE_V_TENSOR)
			rc = take_step(s, &a->t, m->v[i].how, e);
	}
	return rc;
}

int sample_launch(struct sampler *s, struct tile_engine *engine, const struct tile_code *code,
		  const struct tile_launch *l, struct diag *d, struct err *e)
{
	struct launched k = { .s = s, .engine = engine, .code = code, .l = l, .d = d, .e = e };
	int rc = run_launch(&k);

	return rc ? rc : take_steps(s, l, e);
}

/* A search for a result that was not written. */
struct gap {
	struct diag *d;
	int told;                     /* the deciding process gets a report of what is known */
};

/* Returns 1 for a result that was allocated empty and that instances cannot have written
 * everywhere. Zeros that were left in a tensor of zeros may be correct: the deciding process can
 * check them if it gets a report. */
static int find_gap(void *ctx, struct str name, struct tensor_obj *obj)
{
	const struct gap *g = ctx;
	int64_t blank = blank_elements(&obj->t), n = tensor_numel(&obj->t);

	(void)name;
	if (!blank || (g->told && sparse_is_zero(obj->t.st)))
		return 0;
	diag_set(g->d, REASON_uninitialised, 0, 0,
		 "the kernels write at most %lld of the %lld elements of the result, whose shape is %s",
		 (long long)(n - blank), (long long)n, SHAPE_TEXT(obj->t.ndim, obj->t.shape));
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
