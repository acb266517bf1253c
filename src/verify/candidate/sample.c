/* Sampled instances at full size: see sample.h.
 *
 * A launch at full size has too many instances to run. This file runs a few of them (pick.c picks
 * them) over hollow tensors. The address slice (addresses.h) knows the elements that all instances
 * together read and write.
 *
 * Invariant: an element is reported as known only if an instance that ran to its end wrote it, from
 * known values. */
#include "verify/candidate/sample.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tensor/sparse.h"
#include "tile/machine/decode.h"
#include "verify/candidate/plateau.h"
#include "verify/candidate/pick.h"

/* Launches of a call that are sampled, and fuel of one instance: 16384 iterations of a loop over
 * tiles of 64 x 64 take a million units, about a second. */
enum { LAUNCHES_MOST = 64, PROGRAM_FUEL = 1 << 22 };
/* Work (work_of), in about nanoseconds. After CALL_WORK a call runs one instance of each launch
 * only. LAUNCH_WORK is for picked instances, STRATA_WORK for instances that are drawn in strata,
 * CHAIN_WORK for instances whose results a later launch may need. */
enum { CALL_WORK = 1 << 27, LAUNCH_WORK = 1 << 26, STRATA_WORK = 1 << 22, CHAIN_WORK = 1 << 26 };
/* Instances that are drawn in strata, and all that are run together. */
enum { STRATA_MOST = 256, BATCH_MOST = 1 << 13 };
/* For the constant-tensor test: the most instances of a launch that is run whole, and the fuel of
 * all. */
enum { ALL_MOST = 1 << 16, ALL_FUEL = 1 << 18 };

/* Prepares sampling for order i. A trial of a reduced task has contents; other trials have not. */
void sample_open(struct sampler *s, const struct trial *tr, struct shmem *a, int i, struct host_path *path)
{
	const struct run_order *o = &a->order[i];

	*s = (struct sampler){ .seed = o->sample, .map = &o->map, .tr = tr, .expected = o->launches,
			       .matches = &o->matches,
			       .a = a, .i = i, .at = o->at, .path = path,
			       .launches = LAUNCHES_MOST, .work = CALL_WORK, .constant = o->constant };
}

/* --- instances ---------------------------------------------------------------------------- */

/* The hollow storages that a launch may touch. */
struct writes {
	struct {
		struct storage *st;
		size_t size;              /* bytes of an element */
		size_t before, most;      /* written before this instance; the most that one wrote */
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

/* Notes what the instance that has just run wrote to every storage. */
static void note_program(struct writes *t)
{
	for (size_t i = 0; i < t->n; i++) {
		size_t now = sparse_stored(t->v[i].st);

		t->v[i].most = MAX(t->v[i].most, now - t->v[i].before);
		t->v[i].before = now;
	}
}

static void begin_launch(struct writes *t)
{
	for (size_t i = 0; i < t->n; i++) {
		t->v[i].before = sparse_stored(t->v[i].st);
		sparse_begin_some(t->v[i].st);
	}
}

/* After a launch some of whose instances ran: the others may have overwritten what earlier launches left. If the
 * last one was stopped, its writes are dropped. */
static void end_launch(const struct writes *t, int stopped)
{
	for (size_t i = 0; i < t->n; i++) {
		if (stopped)
			sparse_drop_writer(t->v[i].st);
		sparse_end_some(t->v[i].st);
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
	int64_t ran[PICK_MOST];
	int n;                        /* how many were run: the entries of `ran` */
	int more;                     /* instances that plateau.c may still run */
	int64_t work;                 /* of the instances that were run */
};

/* Bytes of the storages that were given contents. */
static int64_t filled(const struct writes *t)
{
	int64_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += (int64_t)sparse_filled(t->v[i].st);
	return n;
}

/* The work of instances, in about nanoseconds. */
static int64_t work_of(const struct tile_cost *c)
{
	int64_t dots = c->dot_tf32 + c->dot_f16 + c->dot_f8 + c->dot_int8 + c->dot_f64 + c->dot_f32;

	return c->ops_f64 + c->ops_f32 + c->ops_f16 + c->ops_int + 4 * c->ops_special +
		(c->bytes_loaded + c->bytes_stored) / 2 + dots / 8;
}

/* Runs these instances, as one writer. Returns 0 on success, 1 if one faults, -1 on our own failure
 * (*e), 2 if they are too long to be run, which is no fault. */
static int run_programs(struct launched *k, const int64_t *program, int n)
{
	struct tile_cost cost = { .launches = 0 };
	struct tile_run_options o = { .mode = TILE_FAST, .poison = 0xff, .zero_off = 1, .only = program,
				      .n_only = n, .test = note_test,
				      .test_ctx = k->s->path,
				      .fuel = k->s->constant == CONSTANT_ALL ? ALL_FUEL : PROGRAM_FUEL };
	int64_t before = filled(&k->t), work;
	int rc;

	for (size_t i = 0; i < k->t.n; i++)
		sparse_next_writer(k->t.v[i].st);
	rc = tile_run(k->engine, k->code, k->l, &o, &cost, k->d, k->e);
	note_program(&k->t);
	k->s->programs += n;
	work = work_of(&cost) + filled(&k->t) - before;
	k->s->work -= work;
	k->work += work;
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

_Static_assert(PICK_MOST + PLATEAU_RUNS + 1 < SPARSE_WRITERS, "each instance of a launch is a writer");

/* Runs an instance for plateau.c. One that faults or is too long tells nothing. */
static int run_another(void *ctx, int64_t program)
{
	struct launched *k = ctx;
	int rc = k->more-- <= 0 || k->work > LAUNCH_WORK ? 1 : run_programs(k, &program, 1);

	if (rc > 0)
		*k->d = (struct diag){ .reason = REASON_ok };
	return MIN(rc, 1);
}

/* Do the instances write parts of equal size, the last one perhaps a smaller one, which together are the whole
 * storage? */
static int writes_parts(const struct launched *k, const struct storage *st, size_t part)
{
	struct slice_memory *m = k->s->slice ? slice_find(k->s->slice, st->id) : NULL;
	int64_t gap, bytes = (int64_t)st->bytes;

	return part && (bytes - 1) / (int64_t)part + 1 == k->all && m && m->writes == SLICE_DECIDED &&
		cover_count(&m->written, 0, bytes, &gap) == bytes;
}

/* Fills in the writes of the instances that were not run, over constant tensors. Instances write one value up
 * to some position and another one after that position; plateau.c runs more of them until it has found the
 * position. The last instance may have less to read, so its value says nothing about the others. */
static int flatten(struct launched *k)
{
	int rc = 0;

	k->more = PLATEAU_RUNS;
	for (size_t i = 0; i < k->t.n && !rc; i++) {
		struct storage *st = k->t.v[i].st;
		struct plateau p = { .st = st, .size = k->t.v[i].size, .part = k->t.v[i].most,
				     .programs = k->all, .run = run_another, .ctx = k };

		if (writes_parts(k, st, p.part))
			rc = plateau_fill(&p, k->ran, k->n);
	}
	return rc;
}

/* May another instance of the launch be run? One that costs a second is run once. */
static int is_affordable(const struct launched *k)
{
	return !k->n || (k->s->work > 0 && k->work < LAUNCH_WORK);
}

/* Instances that are run together, each once: one that is run again might read what it wrote. */
struct batch {
	int64_t v[BATCH_MOST];
	int n;
};

static int compare_programs(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Adds an instance, if there is room and it was not run by itself. */
static void batch_add(struct batch *b, const struct launched *k, int64_t program)
{
	if (b->n < BATCH_MOST && pick_index(k->ran, k->n, program) < 0)
		b->v[b->n++] = program;
}

/* Adds one instance from each of many equal parts of the grid: hundreds if each is a small block. */
static void add_strata(struct batch *b, const struct launched *k, int64_t most)
{
	int64_t parts = MIN(MIN(most, (int64_t)STRATA_MOST), k->all / 2);
	struct rng r;

	rng_init(&r, k->s->seed, "strata");
	for (int64_t i = 0; i < parts; i++) {
		int64_t first = (int64_t)((double)k->all / (double)parts * (double)i);

		batch_add(b, k, first + (int64_t)rng_below(&r, (uint64_t)(k->all / parts)));
	}
}

/* Adds all instances with one number along an axis of the grid. */
static void add_slab(struct batch *b, const struct launched *k, int axis, int64_t number)
{
	const int64_t *grid = k->l->grid;
	int64_t step = axis == 0 ? 1 : axis == 1 ? grid[0] : grid[0] * grid[1];

	for (int64_t first = number * step; first < k->all; first += step * grid[axis])
		for (int64_t i = first; i < first + step; i++)
			batch_add(b, k, i);
}

/* Adds neighbours: the instances that together write a row of partial sums, or all tiles of a row.
 * A later launch that reads them knows its contents then. All launches of a call take the same
 * share of their grids, as each has its rows in order: with a share of 0.3, row 3 of 10 is summed
 * up by instances 300 to 399 of 1000 and normalised by instance 3 of 10. */
static void add_neighbours(struct batch *b, const struct launched *k, int64_t most)
{
	const int64_t *grid = k->l->grid;
	double share = pick_share(k->s->seed);
	int64_t left = MIN(most, (int64_t)BATCH_MOST / 2), first;

	for (int axis = 0; axis < 3; axis++) {
		if (grid[axis] == k->all || k->all / grid[axis] > left)
			continue;
		left -= k->all / grid[axis];
		add_slab(b, k, axis, (int64_t)(share * (double)grid[axis]));
	}
	left = MIN(left, most / 4);
	first = MAX(MIN((int64_t)(share * (double)k->all) - left / 2, k->all - left), 0);
	for (int64_t i = first; i < MIN(first + left, k->all); i++)
		batch_add(b, k, i);
}

/* Runs more instances as one writer. */
static int run_more(struct launched *k)
{
	struct batch *b = mem_zalloc(sizeof *b);
	int64_t each = MAX(k->work / MAX(k->n, 1), 1);
	int n = 0, rc;

	if (!b)
		return err_nomem(k->e);
	/* A call with more launches than are sampled has no known result in the end. */
	if (k->s->work > 0 && k->s->expected <= LAUNCHES_MOST) {
		/* Other trials have other contents, which need no second set of addresses. */
		if (k->s->tr->kind <= TRIAL_original)
			add_strata(b, k, STRATA_WORK / each);
		if (k->s->launched + 1 < k->s->expected)
			add_neighbours(b, k, CHAIN_WORK / each);
		else if (k->s->expected > 1)
			add_neighbours(b, k, STRATA_WORK / each);
	}
	qsort(b->v, (size_t)b->n, sizeof *b->v, compare_programs);
	for (int i = 0; i < b->n; i++)
		if (!i || b->v[i] != b->v[i - 1])
			b->v[n++] = b->v[i];
	rc = n ? run_programs(k, b->v, n) : 0;
	for (size_t i = 0; i < k->t.n && rc == 2; i++)
		sparse_drop_writer(k->t.v[i].st);
	mem_free(b);
	return rc == 2 ? 0 : rc;
}

/* Notes why values of the result are not known: the first reason counts. */
static void note_left(struct sampler *s, enum constant_answer why)
{
	if (!s->left)
		s->left = why;
}

/* Runs a few instances of a launch, then those of the strata. If they are too long, later launches
 * are not tried at all. */
static int run_some(struct launched *k)
{
	int64_t picked[PICK_MOST];
	int rc = 0, n;

	if (!k->s->launches) {
		note_left(k->s, CONSTANT_ANSWER_many_launches);
		return note_nothing(&k->t, k->e);
	}
	k->s->launches--;
	n = pick_programs(k->s->seed, k->l, k->s->slice, picked);
	begin_launch(&k->t);
	for (int i = 0; i < n && !rc && is_affordable(k); i++)
		rc = run_program(k, picked[i]);
	if (rc == 2 || (!rc && k->n < k->all))
		end_launch(&k->t, rc == 2);
	if (rc != 2)
		return rc ? rc : k->s->constant ? flatten(k) : run_more(k);
	/* Instances of later launches may be as long: they are not tried. */
	k->s->launches = 0;
	note_left(k->s, CONSTANT_ANSWER_long_program);
	return 0;
}

/* Runs all instances of a launch at small sizes. If that is too much, later launches are not tried, and no
 * value of the result is reported. */
static int run_all(struct launched *k)
{
	int64_t *v;
	int rc;

	if (k->all > ALL_MOST)
		note_left(k->s, CONSTANT_ANSWER_many_programs);
	if (k->s->left)
		return 0;
	v = mem_array((size_t)k->all, sizeof *v);
	if (!v)
		return err_nomem(k->e);
	begin_launch(&k->t);
	for (int64_t i = 0; i < k->all; i++)
		v[i] = i;
	rc = run_programs(k, v, (int)k->all);
	mem_free(v);
	if (rc == 2)
		note_left(k->s, CONSTANT_ANSWER_long_program);
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

/* --- a launch ----------------------------------------------------------------------------- */

int sample_launch(struct sampler *s, struct tile_engine *engine, const struct tile_code *code,
		  const struct tile_launch *l, struct diag *d, struct err *e)
{
	struct launched k = { .s = s, .engine = engine, .code = code, .l = l, .d = d, .e = e };
	int rc = run_launch(&k);

	return rc ? rc : sample_take_steps(s, l, e);
}
