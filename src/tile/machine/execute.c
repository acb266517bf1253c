/* Runs tile code over a grid: binds arguments, makes one machine per thread, hands out program
 * instances.
 *
 * Fast mode without atomics runs instances on all threads of the pool. Everything else runs them
 * in order on one thread, so that results and reports never depend on timing. If instances fault
 * on several threads, the one with the lowest number is reported. */
#include "tile/machine/execute.h"

#include "base/rng.h"
#include "tile/machine/check.h"
#include "tile/machine/known_memory.h"
#include "tile/machine/replay.h"
#include "tile/machine/checked_launches.h"

enum { SLAB_ALIGN = 64 };

/* One launch under way. */
struct grid_run {
	const struct tile_code *code;
	const struct tile_launch *l;
	const struct tile_run_options *o;
	struct allocation *allocs;          /* by parameter */
	struct mval *bound;                 /* by parameter: its scalar or address */
	int64_t programs, chunk;            /* instances to run; how many a thread takes at once */
	/* ids of the instances in the order to run them; NULL: 0, 1, 2, ... */
	int64_t *order;
	struct checker *check;              /* NULL: fast mode */
	struct replay_record *record;       /* record being made; NULL: none */
	const struct replay *replay;        /* record to repeat; NULL: the code runs */
	struct buf *prints;
	int64_t fuel;
	/* shared by the threads */
	int64_t next;                       /* index of the next instance to take; changed atomically */
	int64_t faulted;                    /* lowest index that faulted; `programs` if none */
	struct machine **machines;
	struct diag *faults;                /* by thread */
	int64_t *fault_at;                  /* by thread: instance that faulted, or -1 */
};

/* --- arguments ---------------------------------------------------------------------- */

/* The caller compiled the kernel for other arguments: our error, not the candidate's. */
static int bad_argument(const struct tile_param *p, struct err *e)
{
	return err_set(e, ERR_STATE, "argument '%.*s' does not fit the specialisation it was compiled for",
		       STR_ARG(p->name));
}

/* Returns the size or the stride that a descriptor's parameter represents. */
static int64_t tensor_extent(const struct tensor *t, const struct tile_param *p)
{
	return p->part == TILE_PART_SHAPE ? t->shape[p->dim] : t->stride[p->dim];
}

/* Binds a tensor: the allocation covers its whole storage, the address is that of its element 0. */
static void bind_pointer(struct grid_run *w, int i, const struct tensor *t)
{
	struct allocation *al = &w->allocs[i];
	al->st = t->st;
	al->base = t->st->data;
	al->bytes = t->st->bytes;
	al->view = t->offset * dtype_size(t->dt);
	al->dt = t->dt;
	al->name = w->code->params[i].name;
	/* An empty tensor has no elements, so the address is never read. */
	w->bound[i].u.i = (int64_t)(uintptr_t)t->st->data + al->view;
	w->bound[i].prov = (int16_t)i;
}

/* Stores a Python number in the dtype that the kernel was compiled for. A float does not fit an
 * integer parameter. */
static int bind_scalar(struct mval *v, const struct tile_val *a)
{
	enum dtype dt = (enum dtype)v->dt;
	int is_int = a->kind == TILE_V_INT || a->kind == TILE_V_BOOL;
	v->u.i = 0;
	if (!is_int && a->kind != TILE_V_FLOAT)
		return -1;
	if (dtype_is_float(dt))
		dtype_store(dt, &v->u, is_int ? (double)a->i : a->f);
	else if (is_int)
		dtype_store_int(dt, &v->u, dt == DT_BOOL ? a->i != 0 : a->i);
	else
		return -1;
	return 0;
}

/* Finds the value of a parameter in the launch's arguments. `path` leads into nested tuples:
 * argument 1, path { 0, 2 } is args[1][0][2]. */
static int bind_param(struct grid_run *w, int i, struct err *e)
{
	const struct tile_param *p = &w->code->params[i];
	struct tile_type t = w->code->regs[p->reg];
	struct mval *v = &w->bound[i];
	int tensor;
	const struct tile_val *a;

	if (p->arg < 0 || (size_t)p->arg >= w->l->n_args)
		return bad_argument(p, e);
	a = &w->l->args[p->arg];
	for (int k = 0; k < p->n_path; k++) {
		if (a->kind != TILE_V_TUPLE || p->path[k] < 0 || (size_t)p->path[k] >= a->n)
			return bad_argument(p, e);
		a = &a->items[p->path[k]];
	}
	*v = (struct mval){ .dt = t.dt, .ptr = t.ptr, .prov = -1 };
	tensor = (a->kind == TILE_V_TENSOR || a->kind == TILE_V_DESC) && a->t.st;
	if (p->part != TILE_PART_VALUE) {
		if (!tensor || p->dim >= a->t.ndim || t.ptr || dtype_is_float(t.dt))
			return bad_argument(p, e);
		dtype_store_int((enum dtype)t.dt, &v->u, tensor_extent(&a->t, p));
		return 0;
	}
	if (!t.ptr)
		return tensor || bind_scalar(v, a) ? bad_argument(p, e) : 0;
	if (tensor)
		bind_pointer(w, i, &a->t);
	else if (a->kind == TILE_V_INT)
		v->u.i = a->i;
	else
		return bad_argument(p, e);
	return 0;
}

/* --- machines ----------------------------------------------------------------------- */

static void machine_free(struct machine *m)
{
	if (!m)
		return;
	mem_free(m->vals);
	mem_free_aligned(m->slab);
	mem_free(m);
}

/* Sets the fields of a register that never change. Registers of combine functions take their lane
 * count per call. */
static void init_val(struct machine *m, int r)
{
	struct tile_type t = m->code->regs[r];
	struct mval *v = &m->vals[r];
	v->dt = t.dt;
	v->ptr = t.ptr;
	v->esize = (uint8_t)tile_elem_size(t);
	v->ndim = t.ndim;
	v->n = (int32_t)tile_numel(t);
	v->prov = -1;
	memcpy(v->shape, t.shape, sizeof v->shape);
	v->home = m->decoded->slot[r] < 0 ? (void *)&v->u : m->slab + m->decoded->slot[r];
	v->data = v->home;
	if (m->decoded->owner[r]) {
		v->ndim = 1;
		v->shape[0] = 1;
	}
}

/* The slab holds the slots, four scratch areas and the room for combine functions, in this order. */
static struct machine *machine_new(struct grid_run *w)
{
	const struct tile_decoded *decoded = w->code->decoded;
	struct machine *m = mem_zalloc(sizeof *m);
	int64_t bytes = decoded->slab_bytes + 4 * decoded->scratch_bytes + decoded->combine_bytes;
	if (!m)
		return NULL;
	m->vals = mem_array((size_t)w->code->n_regs + 1, sizeof *m->vals);
	m->slab = mem_alloc_aligned((size_t)bytes + SLAB_ALIGN, SLAB_ALIGN);
	if (!m->vals || !m->slab) {
		machine_free(m);
		return NULL;
	}
	m->code = w->code;
	m->decoded = decoded;
	m->allocs = w->allocs;
	memcpy(m->grid, w->l->grid, sizeof m->grid);
	m->poison_byte = w->o->poison;
	m->zero_off = w->o->zero_off;
	m->trust_hints = w->o->trust_hints;
	m->sampled = w->o->only != NULL;
	m->o = w->o;
	m->check = w->check;
	m->record = w->record;
	m->replay = w->replay;
	m->prints = w->prints;
	m->fuel_pool = w->o->fuel ? &w->fuel : NULL;
	m->fuel = m->fuel_pool ? 0 : INT64_MAX;
	for (int i = 0; i < 4; i++)
		m->scratch[i] = m->slab + decoded->slab_bytes + i * decoded->scratch_bytes;
	m->combine = m->slab + decoded->slab_bytes + 4 * decoded->scratch_bytes;
	for (int r = 0; r < w->code->n_regs; r++)
		init_val(m, r);
	return m;
}

/* --- instances ----------------------------------------------------------------------- */

/* Sets up the id-th instance: its three indices, and its arguments in their registers. The kernel
 * may have overwritten the registers in the instance before. */
static void enter_program(struct machine *m, const struct mval *bound, int64_t id)
{
	m->linear = id;
	m->pid[0] = id % m->grid[0];
	m->pid[1] = id / m->grid[0] % m->grid[1];
	m->pid[2] = id / m->grid[0] / m->grid[1];
	m->combine_used = 0;
	m->unsure = 0;
	for (int i = 0; i < m->code->n_params; i++) {
		struct mval *v = &m->vals[m->code->params[i].reg];
		v->kind = MVAL_UNIFORM;
		v->u = bound[i].u;
		v->prov = bound[i].prov;
		mval_clear_poison(v);
	}
}

/* The prologue runs with the first instance of each machine and counts for all of them. */
static int run_program(struct machine *m, const struct grid_run *w, int64_t id)
{
	enter_program(m, w->bound, id);
	m->cost.programs++;
	if (!m->ready && machine_prologue(m))
		return -1;
	m->ready = 1;
	if (m->record)
		replay_record_program(m->record, id);
	return m->replay ? replay_program(m, id) : machine_exec(m, 0);
}

/* Lowers `faulted` to k, against other threads that do the same. */
static void note_fault(struct grid_run *w, int me, int64_t k)
{
	int64_t seen;

	w->fault_at[me] = k;
	seen = __atomic_load_n(&w->faulted, __ATOMIC_RELAXED);
	while (k < seen && !__atomic_compare_exchange_n(&w->faulted, &seen, k, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* Takes chunks in order until all are taken or a lower instance has faulted. A fault of a sampled
 * instance counts only if no unknown memory can have caused it. */
static void worker(void *ctx, int me, int count)
{
	struct grid_run *w = ctx;
	struct machine *m = w->machines[me];
	(void)count;
	if (!m)
		return;
	m->fault = &w->faults[me];
	for (;;) {
		int64_t begin = __atomic_fetch_add(&w->next, w->chunk, __ATOMIC_RELAXED);
		int64_t end = MIN(begin + w->chunk, w->programs);
		for (int64_t k = begin; k < end; k++) {
			if (k > __atomic_load_n(&w->faulted, __ATOMIC_RELAXED))
				return;
			if (run_program(m, w, w->order ? w->order[k] : k) && (!m->sampled || known_fault(m))) {
				note_fault(w, me, k);
				return;
			}
		}
		if (begin >= w->programs)
			return;
	}
}

/* The sampled instances that the options name, as the order to run. */
static int64_t *chosen(const struct tile_run_options *o)
{
	int64_t *v = mem_array((size_t)o->n_only, sizeof *v);
	if (v)
		memcpy(v, o->only, (size_t)o->n_only * sizeof *v);
	return v;
}

/* A random order of all instances. A kernel whose result depends on the order is wrong. */
static int64_t *permuted(int64_t n, uint64_t seed)
{
	int64_t *v = mem_array((size_t)n, sizeof *v);
	struct rng r;
	if (!v)
		return NULL;
	for (int64_t i = 0; i < n; i++)
		v[i] = i;
	rng_init(&r, seed, "tile program order");
	rng_shuffle(&r, v, (size_t)n, sizeof *v);
	return v;
}

/* --- the launch ---------------------------------------------------------------------- */

/* Counts the instances of the grid. Returns 0, or 1 if there are more than the fuel allows: each
 * takes one operation at least, so a grid of 2^31 is refused without running it. Returns -1 if a
 * size is negative. */
static int count_programs(const struct tile_launch *l, int64_t fuel, int64_t *n, struct diag *d, struct err *e)
{
	int64_t most = fuel ? MIN(fuel, INT32_MAX) : INT32_MAX;
	*n = 1;
	for (int i = 0; i < 3; i++)
		if (l->grid[i] < 0)
			return err_set(e, ERR_RANGE, "the grid has %lld program instances", (long long)l->grid[i]);
	for (int i = 0; i < 3; i++)
		if (!l->grid[i]) {
			*n = 0;
			return 0;
		}
	for (int i = 0; i < 3; i++)
		if (ck_mul64(*n, l->grid[i], n) || *n > most) {
			diag_set(d, REASON_kernel_timeout, l->line, l->col,
				 "a grid of %lld x %lld x %lld program instances exceeds the kernel's limit of "
				 "%lld operations", (long long)l->grid[0], (long long)l->grid[1],
				 (long long)l->grid[2], (long long)most);
			return 1;
		}
	return 0;
}

/* One thread wherever the order of instances can be seen: checked mode, prints, samples, atomics. */
static int threads_of(const struct grid_run *w, struct pool *pool)
{
	return w->check || w->prints || w->o->only || w->code->decoded->has_atomics || w->programs == 1 ||
		!pool ? 1 : pool_size(pool);
}

/* Chunks are small enough for 8 per thread, so that no thread is left with most of the work. A
 * machine that cannot be allocated is left out unless it is the first. */
static int run_all(struct grid_run *w, struct pool *pool, struct err *e)
{
	int threads = threads_of(w, pool);
	w->chunk = MAX(1, w->programs / (threads * 8));
	w->faulted = w->programs;
	w->machines = mem_array((size_t)threads, sizeof(struct machine *));
	w->faults = mem_array((size_t)threads, sizeof *w->faults);
	w->fault_at = mem_array((size_t)threads, sizeof *w->fault_at);
	if (!w->machines || !w->faults || !w->fault_at)
		return err_nomem(e);
	for (int i = 0; i < threads; i++) {
		w->machines[i] = machine_new(w);
		w->fault_at[i] = -1;
		if (!w->machines[i] && !i)
			return err_nomem(e);
	}
	if (threads == 1)
		worker(w, 0, 1);
	else
		pool_run(pool, worker, w);
	return 0;
}

/* Adds the costs up, picks the fault to report and closes a record. */
static int finish(struct grid_run *w, struct pool *pool, struct tile_cost *cost, struct diag *d)
{
	int threads = threads_of(w, pool), rc = 0;
	struct tile_cost total = { .launches = 1 };
	for (int i = 0; i < threads; i++) {
		if (w->machines[i])
			tile_cost_add(&total, &w->machines[i]->cost);
		if (w->fault_at[i] >= 0 && w->fault_at[i] == w->faulted) {
			*d = w->faults[i];
			rc = 1;
		}
	}
	/* The prologue ran once per machine, but a GPU runs it in every instance. */
	for (int i = 0; i < w->code->decoded->prologue.n; i++) {
		const struct decoded_insn *p = &w->code->decoded->prologue.v[i];
		if (p->counter != 0xff)
			((int64_t *)&total)[p->counter] += p->lanes * total.programs;
	}
	if (w->replay)
		total = w->replay->cost;
	if (w->record) {
		const struct machine *m = w->machines[0];
		int64_t used = m->fuel_pool ? w->o->fuel - w->fuel - m->fuel : INT64_MAX - m->fuel;
		replay_record_free(w->record, rc ? NULL : &total, used);
		w->record = NULL;
	}
	if (cost)
		tile_cost_add(cost, &total);
	return rc;
}

/* Returns the identity of this launch, for records and for the set of checked launches. */
static struct replay_launch launch_of(const struct grid_run *w)
{
	return (struct replay_launch){ .code = w->code, .allocs = w->allocs, .bound = w->bound,
				       .grid = w->l->grid, .trust_hints = w->o->trust_hints };
}

/* Whether the launch runs in checked mode. *mark is its hash, to be remembered once the launch
 * went through; 0 if nobody asks. */
static int is_checked(const struct grid_run *w, const struct tile_runner *r, uint64_t *mark)
{
	struct replay_launch l = launch_of(w);
	*mark = r->checked && (w->o->mode == TILE_CHECKED || w->o->check_new) ?
		checked_launch_hash(&l, w->l->num_warps) : 0;
	return w->o->mode == TILE_CHECKED ||
		(*mark && (w->code->decoded->by_contents || !checked_launches_has(r->checked, *mark)));
}

/* Finds a ready record of the launch, or begins one. The machine takes fuel in portions, so a
 * launch that has just the fuel that the record used might still run out. It runs without the
 * record. */
static void open_replay(struct grid_run *w, const struct tile_runner *r)
{
	enum { FUEL_SPARE = 1 << 16 };
	const struct tile_decoded *decoded = w->code->decoded;
	struct replay_launch l = launch_of(w);
	struct replay *known;
	int met;
	if (!r->replays || !decoded->replayable || w->o->only || (r->pool && pool_size(r->pool) > 1) ||
	    w->programs * decoded->funcs[0].n < r->replays->least)
		return;
	known = replay_find(r->replays, &l, &met);
	if (known && known->state == REPLAY_MET && (met || w->check))
		w->record = replay_record_new(r->replays, known);
	else if (known && known->state == REPLAY_READY && !w->check &&
		 (!w->o->fuel || w->o->fuel - FUEL_SPARE >= known->fuel))
		w->replay = known;
}

/* Hints are trusted: a probe observes what the kernel would do, not whether the kernel is
 * correct. */
int bare_machine_open(struct bare_machine *b, const struct tile_code *code, const struct tile_launch *l, struct err *e)
{
	static const struct tile_run_options plain = { .mode = TILE_FAST, .trust_hints = 1 };
	struct grid_run w = { .code = code, .l = l, .o = &plain };
	*b = (struct bare_machine){ .m = NULL };
	w.allocs = mem_array((size_t)code->n_params + 1, sizeof *w.allocs);
	w.bound = mem_array((size_t)code->n_params + 1, sizeof *w.bound);
	*b = (struct bare_machine){ .allocs = w.allocs, .bound = w.bound };
	if (!w.allocs || !w.bound)
		return err_nomem(e);
	for (int i = 0; i < code->n_params; i++)
		if (bind_param(&w, i, e))
			return -1;
	b->m = machine_new(&w);
	if (!b->m)
		return err_nomem(e);
	b->m->fault = &b->fault;
	return 0;
}

void bare_machine_close(struct bare_machine *b)
{
	machine_free(b->m);
	mem_free(b->allocs);
	mem_free(b->bound);
}

void bare_machine_enter(struct bare_machine *b, int64_t id)
{
	enter_program(b->m, b->bound, id);
}

int tile_execute(const struct tile_runner *runner, const struct tile_code *code, const struct tile_launch *l,
		 const struct tile_run_options *o, struct tile_cost *cost, struct diag *d, struct err *e)
{
	struct tile_runner alone = { .pool = NULL };
	struct shadow_pool own = { .base = 0 };
	const struct tile_runner *r = runner ? runner : &alone;
	struct pool *pool = r->pool;
	struct grid_run w = { .code = code, .l = l, .o = o, .fuel = o->fuel,
			      .prints = code->decoded->has_prints ? r->prints : NULL };
	struct checker check = { .n_shadows = 0 };
	uint64_t mark;
	int rc, checked;
	/* A grid with more instances than fuel is refused before anything is allocated for it. */
	rc = count_programs(l, o->only ? 0 : o->fuel, &w.programs, d, e);
	if (rc || !w.programs)
		return rc;
	w.programs = o->only ? o->n_only : w.programs;
	rc = -1;
	w.allocs = mem_array((size_t)code->n_params + 1, sizeof *w.allocs);
	w.bound = mem_array((size_t)code->n_params + 1, sizeof *w.bound);
	if (!w.allocs || !w.bound) {
		err_nomem(e);
		goto out;
	}
	for (int i = 0; i < code->n_params; i++)
		if (bind_param(&w, i, e))
			goto out;
	checked = is_checked(&w, r, &mark);
	if (checked && checker_init(&check, r->shadows ? r->shadows : &own, code, w.allocs, l->num_warps,
				    w.programs, e))
		goto out;
	w.check = checked ? &check : NULL;
	/* Instances have no order on a GPU: a seed gives them another one, a list runs only some. */
	if ((o->only || o->order_seed) && !(w.order = o->only ? chosen(o) : permuted(w.programs, o->order_seed))) {
		err_nomem(e);
		goto out;
	}
	open_replay(&w, r);
	if (!run_all(&w, pool, e))
		rc = finish(&w, pool, cost, d);
	if (!rc && mark && checked)
		checked_launches_add(r->checked, mark);
out:
	if (w.record)
		replay_record_free(w.record, NULL, 0);
	for (int i = 0; w.machines && i < threads_of(&w, pool); i++)
		machine_free(w.machines[i]);
	mem_free(w.machines);
	mem_free(w.faults);
	mem_free(w.fault_at);
	mem_free(w.order);
	mem_free(w.allocs);
	mem_free(w.bound);
	checker_release(&check);
	shadow_pool_release(&own);
	return rc;
}
