/* The attempts of the address slice: see slice.h. */
#include "tile/slice/slice.h"

#include <string.h>

#include "base/hash.h"
#include "tile/slice/slice_fold.h"
#include "tile/slice/slice_walk.h"

/* Instances of a batch; the most instances of a launch; ranges of its loads; lanes of attempt 4; instructions times
 * instances of attempts 2 and 3. */
enum { BATCH = 1024 };
static const int64_t instances_most = (int64_t)1 << 24, ranges_most = (int64_t)1 << 24, last_lanes = 1 << 16;
static const int64_t fuel[2] = { (int64_t)1 << 30, (int64_t)1 << 28 };

void slice_init(struct slice_call *s)
{
	*s = (struct slice_call){ .n = 0 };
}

void slice_release(struct slice_call *s)
{
	for (size_t i = 0; i < s->n; i++) {
		cover_release(&s->v[i].written);
		cover_release(&s->v[i].read);
	}
	vec_free(s);
}

struct slice_memory *slice_find(const struct slice_call *s, uint64_t id)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].id == id)
			return &s->v[i];
	return NULL;
}

const struct tile_val *slice_argument(const struct tile_launch *l, const struct tile_param *p)
{
	const struct tile_val *a = p->arg >= 0 && (size_t)p->arg < l->n_args ? &l->args[p->arg] : NULL;

	for (int k = 0; a && k < p->n_path; k++)
		a = a->kind == TILE_V_TUPLE && p->path[k] >= 0 && (size_t)p->path[k] < a->n ?
			&a->items[p->path[k]] : NULL;
	return a;
}

/* The entry of a storage. A new storage gets one. */
static int find_memory(struct slice_call *s, const struct tensor *t, size_t *at, struct err *e)
{
	int64_t size = dtype_size(t->dt), bytes = (int64_t)t->st->bytes;
	struct slice_memory *m = slice_find(s, t->st->id);

	if (!m) {
		if (vec_push(s, ((struct slice_memory){ .id = t->st->id, .written = { .bytes = bytes, .unit = size },
							.read = { .bytes = bytes, .unit = size } })))
			return err_nomem(e);
		m = &s->v[s->n - 1];
	}
	m->touched = 1;
	*at = (size_t)(m - s->v);
	return 0;
}

/* Finds the memory of each pointer parameter. A pointer to elements of another size than the storage's other
 * pointers is not followed. */
static int find_memories(struct slice_walk *w)
{
	for (int i = 0; i < w->code->n_params; i++) {
		const struct tile_param *p = &w->code->params[i];
		const struct tile_val *a = slice_argument(w->l, p);
		struct walk_memory *m = &w->memory[i];

		if (!a || p->part != TILE_PART_VALUE || !w->code->regs[p->reg].ptr ||
		    (a->kind != TILE_V_TENSOR && a->kind != TILE_V_DESC))
			continue;
		if (find_memory(w->s, &a->t, &m->at, w->e))
			return -1;
		m->st = a->t.st;
		m->view = a->t.offset * dtype_size(a->t.dt);
		m->name = p->name;
	}
	return 0;
}

/* Bytes of a set. */
static int64_t count_all(struct cover *c)
{
	int64_t gap;

	return cover_count(c, 0, c->bytes, &gap);
}

/* Forgets the answers of the attempt before. */
static void begin(struct slice_walk *w)
{
	for (int i = 0; i < w->code->n_params; i++)
		w->memory[i].writes = w->memory[i].reads = SLICE_DECIDED;
}

/* Whether another attempt could decide more: contents never become known. */
static int is_open(const struct slice_walk *w)
{
	for (int i = 0; i < w->code->n_params; i++)
		if (w->memory[i].writes == SLICE_UNDECIDED || w->memory[i].reads == SLICE_UNDECIDED)
			return 1;
	return 0;
}

/* Attempt 1: the whole grid at once. */
static int by_variables(struct slice_walk *w)
{
	begin(w);
	w->by_pid = 1;
	w->b.n = 1;
	return slice_batch(w);
}

/* Whether the fuel suffices for the other batches, if each costs as much as the first. If not, nothing is
 * decided. */
static int is_worth_it(struct slice_walk *w, int64_t all)
{
	if (w->first == BATCH && !w->gave_up && w->fuel < (fuel[w->iterate] - w->fuel) * ((all - 1) / BATCH))
		w->gave_up = 1;
	if (w->first && w->gave_up)
		slice_unknown_all(w);
	return !w->first || !w->gave_up;
}

/* Attempt 2: batches of instances, for accesses that attempt 1 left open and for the classes of instances. */
static int by_numbers(struct slice_walk *w, int64_t from, int64_t all)
{
	uint64_t signature[BATCH];
	int rc = 0;

	w->gave_up = 0;
	w->quiet = !is_open(w);
	if (!w->quiet)
		begin(w);
	w->by_pid = 0;
	w->signature = signature;
	w->fuel = fuel[w->iterate];
	for (w->first = from; w->first < all && !rc && is_worth_it(w, all); w->first += BATCH) {
		w->b.n = (int)MIN(all - w->first, (int64_t)BATCH);
		arena_clear(&w->mem);
		memset(signature, 0, sizeof signature);
		rc = slice_batch(w);
		if (w->differs)
			class_add(&w->s->classes, signature, w->first, w->b.n);
	}
	return rc;
}

/* Remembers what attempt 1 has decided: a later attempt may decide a part of what is open, and that part is not
 * counted twice. */
static void note_covered(struct slice_walk *w)
{
	for (int i = 0; i < w->code->n_params; i++) {
		struct slice_memory *m = w->memory[i].st ? &w->s->v[w->memory[i].at] : NULL;

		if (m && w->memory[i].writes != SLICE_DECIDED)
			m->write_covered = count_all(&m->written);
		if (m && w->memory[i].reads != SLICE_DECIDED)
			m->read_covered = count_all(&m->read);
	}
}

/* Bytes that attempt 1 left open and later attempts did not decide. */
static int64_t still_open(enum slice_answer answer, int64_t most, struct cover *c, int64_t covered)
{
	if (answer == SLICE_DECIDED || most == INT64_MAX || !most)
		return answer == SLICE_DECIDED ? 0 : most;
	return MAX(most - (count_all(c) - covered), 0);
}

/* Adds the answers of the last attempt to those of the call. */
static void keep_answers(struct slice_walk *w)
{
	for (int i = 0; i < w->code->n_params; i++) {
		const struct walk_memory *of = &w->memory[i];
		struct slice_memory *m = of->st ? &w->s->v[of->at] : NULL;

		if (!m)
			continue;
		m->writes = MAX(m->writes, of->writes);
		m->now = MAX(m->now, of->writes);
		m->reads = MAX(m->reads, of->reads);
		m->now_most = slice_add_most(m->now_most, of->open_write);
		m->read_most = slice_add_most(m->read_most, of->open_read);
		m->rounded |= of->writes != SLICE_DECIDED && of->rounded;
	}
	for (size_t i = 0; i < w->s->n; i++) {
		struct slice_memory *m = &w->s->v[i];

		m->now_most = still_open(m->now, m->now_most, &m->written, m->write_covered);
		m->read_most = still_open(m->reads, m->read_most, &m->read, m->read_covered);
	}
}

/* Adds the stores of the last launch to unknown places, which may be others each time. */
static void add_open(struct slice_call *s)
{
	for (size_t i = 0; i < s->n; i++)
		s->v[i].open_most = slice_add_most(s->v[i].open_most, s->v[i].now_most);
}

/* Starts a launch: the reads of the one before are dropped. */
static void begin_launch(struct slice_call *s)
{
	s->launches++;
	s->classes.n = 0;
	s->classes.left_out = 0;
	for (size_t i = 0; i < s->n; i++) {
		cover_release(&s->v[i].read);
		s->v[i].touched = 0;
		s->v[i].now_most = s->v[i].read_most = 0;
		s->v[i].reads = s->v[i].now = SLICE_DECIDED;
	}
}

/* Whether the kernel has a loop. */
static int has_loop(const struct tile_code *code)
{
	for (int i = 0; i < code->funcs[0].n_insns; i++)
		if (code->funcs[0].insns[i].op == TOP_LOOP)
			return 1;
	return 0;
}

/* Whether a result is not decided because floats that were rounded say where a store goes. */
static int is_rounded(const struct slice_walk *w)
{
	for (int i = 0; i < w->code->n_params; i++)
		if (w->memory[i].writes == SLICE_UNDECIDED && w->memory[i].rounded)
			return 1;
	return 0;
}

/* Bounds what a store writes by the elements that the last instances write, which are known in this evaluation. */
static void bound_by_last(const struct slice_walk *w, int64_t others, struct walk_memory *m)
{
	int64_t most;

	if (!m->st || m->writes != SLICE_DECIDED || m->open_each == INT64_MAX || ck_mul64(others, m->open_each, &most))
		return;
	m->open_write = MIN(m->open_write, slice_add_most(most, count_all(&w->s->v[m->at].written)));
}

/* Exchanges the sets of written bytes with other ones, which are empty at first. */
static void exchange_written(struct slice_call *s, struct cover *other)
{
	for (size_t i = 0; i < s->n; i++) {
		struct cover now = s->v[i].written;

		other[i].bytes = now.bytes;
		other[i].unit = now.unit;
		s->v[i].written = other[i];
		other[i] = now;
	}
}

/* Attempt 4, for stores whose places floats decide that were rounded: lanes that coincide write fewer elements than
 * there are lanes. Example: if the last 64 of 32768 instances of 1024 lanes write 32768 elements and not 65536, all
 * instances write 33521664 of 33554432 elements at most. The lanes count as instances, and what they write is added to
 * sets of their own. */
static int by_last_lanes(struct slice_walk *w, int64_t all, int64_t lanes)
{
	int64_t window = MIN(all, MAX(last_lanes / lanes, 1));
	struct walk_memory *before = mem_array((size_t)w->code->n_params + 1, sizeof *before);
	struct cover *other = mem_zalloc((w->s->n + 1) * sizeof *other);
	int rc = before && other ? 0 : err_nomem(w->e);

	if (!rc) {
		memcpy(before, w->memory, (size_t)w->code->n_params * sizeof *before);
		memset(w->seen, 0, SLICE_SEEN * sizeof *w->seen);
		exchange_written(w->s, other);
		w->lanes = lanes;
		rc = by_numbers(w, (all - window) * lanes, all * lanes);
		for (int i = 0; i < w->code->n_params; i++) {
			if (!rc && before[i].rounded)
				bound_by_last(w, all - window, &w->memory[i]);
			w->memory[i].writes = before[i].writes;
			w->memory[i].reads = before[i].reads;
		}
		exchange_written(w->s, other);
	}
	for (size_t i = 0; i < w->s->n && other; i++)
		cover_release(&other[i]);
	mem_free(before);
	mem_free(other);
	return rc;
}

static int attempts(struct slice_walk *w)
{
	const int64_t *grid = w->l->grid;
	int64_t all, lanes;
	int rc;

	if (ck_mul64(grid[0], grid[1], &all) || ck_mul64(all, grid[2], &all) || !all)
		return 0;
	if (class_find(w->code, w->marked, w->e))
		return -1;
	slice_find_needed(w->code, w->marked, w->needed);
	w->fuel = INT64_MAX;
	rc = by_variables(w);
	note_covered(w);
	if (!rc && (is_open(w) || w->differs) && all <= instances_most)
		rc = by_numbers(w, 0, all);
	if (!rc && is_open(w) && all <= instances_most && has_loop(w->code)) {
		w->iterate = 1;
		rc = by_numbers(w, 0, all);
	}
	w->iterate = w->differs = 0;
	if (!rc && is_rounded(w)) {
		lanes = slice_fold_find(w->code, w->needed, w->folded);
		rc = lanes < 0 ? err_nomem(w->e) : lanes > 1 && all <= INT64_MAX / lanes ?
			by_last_lanes(w, all, lanes) : 0;
	}
	if (!rc)
		keep_answers(w);
	return rc;
}

/* A hash of all that decides what a launch accesses; never 0. */
static uint64_t mark_of(const struct tile_code *code, const struct tile_launch *l)
{
	uint64_t mark = hash_xxh64(l->grid, sizeof l->grid, (uint64_t)(uintptr_t)code);

	for (int i = 0; i < code->n_params; i++) {
		const struct tile_val *a = slice_argument(l, &code->params[i]);
		struct { int64_t i, offset; uint64_t id; double f; } v = { .i = a ? a->i : 0, .f = a ? a->f : 0.0 };

		if (a && (a->kind == TILE_V_TENSOR || a->kind == TILE_V_DESC)) {
			v.id = a->t.st->id;
			v.offset = a->t.offset;
			mark = hash_xxh64(a->t.shape, (size_t)a->t.ndim * sizeof *a->t.shape, mark);
			mark = hash_xxh64(a->t.stride, (size_t)a->t.ndim * sizeof *a->t.stride, mark);
		}
		mark = hash_xxh64(&v, sizeof v, mark);
	}
	return mark | 1;
}

/* A launch that repeats the one before it has the same accesses: host code that times a kernel launches it
 * many times. */
int slice_launch(struct slice_call *s, const struct tile_code *code, const struct tile_launch *l, struct diag *d,
		 struct err *e)
{
	struct slice_walk w = { .code = code, .l = l, .s = s, .lanes = 1, .d = d, .e = e };
	uint64_t mark = mark_of(code, l);
	int rc;

	if (s->last == mark) {
		s->launches++;
		add_open(s);
		return 0;
	}
	begin_launch(s);
	w.b.mem = &w.mem;
	w.reg = mem_zalloc(((size_t)code->n_regs + 1) * sizeof *w.reg);
	w.needed = mem_zalloc((size_t)code->n_regs + 1);
	w.memory = mem_zalloc(((size_t)code->n_params + 1) * sizeof *w.memory);
	w.seen = mem_zalloc(SLICE_SEEN * sizeof *w.seen);
	w.ranges = ranges_most;
	w.marked = mem_zalloc((size_t)code->funcs[0].n_insns + 1);
	w.folded = mem_zalloc((size_t)code->funcs[0].n_insns + 1);
	if (!w.reg || !w.needed || !w.memory || !w.marked || !w.folded || !w.seen)
		rc = err_nomem(e);
	else
		rc = find_memories(&w) ? -1 : attempts(&w);
	mem_free(w.reg);
	mem_free(w.needed);
	mem_free(w.memory);
	mem_free(w.marked);
	mem_free(w.folded);
	mem_free(w.seen);
	arena_release(&w.mem);
	if (!rc)
		add_open(s);
	s->last = rc ? 0 : mark;
	return rc;
}
