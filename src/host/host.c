/* The life of a host, loading of modules, calls from outside. Does not own the interpreter:
 * src/interp does. Invariant: every run of program code from outside is between host_begin and
 * host_end. */
#include <sys/resource.h>

#include "host/entry.h"
#include "host/annotation.h"
#include "interp/attr.h"
#include "interp/dict.h"
#include "interp/exec.h"
#include "interp/fail.h"
#include "interp/frame.h"
#include "interp/heap.h"
#include "interp/ptrmap.h"
#include "interp/scope.h"
#include "interp/state.h"
#include "num/num.h"
#include "torch/prelude.h"

/* The library binds the names of torch to the functions of src/torch. */
struct host_lib *host_lib_new(struct err *e)
{
	num_init();
	return lib_new(&torch_library, e);
}

void host_lib_free(struct host_lib *lib) { lib_free(lib); }

/* Names that the engine itself looks up, interned once for each host. */
static const char *const names[NM_COUNT] = {
#define NAME(id) #id,
#include "interp/name.def"
#undef NAME
};

/* The methods of operators: __add__, __radd__, __iadd__. */
static const struct { enum py_op op; const char *name[3]; } dunders[] = {
#define DUNDER(op, a, b, c) { PY_OP_##op, { a, b, c } },
#include "interp/dunder.def"
#undef DUNDER
};

/* Interned names compare by address. */
static int intern_names(struct host *h)
{
	for (int i = 0; i < NM_COUNT; i++)
		if (!(h->nm[i] = host_intern(h, str_of(names[i]))))
			return -1;
	for (size_t i = 0; i < COUNT_OF(dunders); i++)
		for (int k = 0; k < 3; k++)
			if (dunders[i].name[k][0] &&
			    !(h->op_name[dunders[i].op][k] = host_intern(h, str_of(dunders[i].name[k]))))
				return -1;
	return 0;
}

/* A dictionary that the host itself holds a reference to. */
static struct dict_obj *kept_dict(struct host *h)
{
	struct dict_obj *d = dict_obj_new(h, V_DICT);
	if (d)
		val_keep(val_obj(&d->h));
	return d;
}

/* The objects that every program needs: interned strings, modules, native classes, builtins. */
static int host_init(struct host *h)
{
	struct module_obj *b;
	h->heap.interned = kept_dict(h);
	h->modules = kept_dict(h);
	h->type.natives = kept_dict(h);
	if (!h->heap.interned || !h->modules || !h->type.natives || intern_names(h) || host_make_natives(h) ||
	    host_module(h, STR("builtins"), &b))
		return -1;
	b->trusted = 1;
	b->lazy = h->lib;
	h->builtins = b;
	temps_drain(h, 0);
	return 0;
}

/* Limits for callers that give none: 50 million steps, 4 GiB, 900 nested calls. */
static void set_defaults(struct host_options *o)
{
	if (!o->fuel)
		o->fuel = 50 * 1000 * 1000;
	if (!o->memory)
		o->memory = (size_t)4 << 30;
	if (!o->recursion)
		o->recursion = 900;
	if (!o->nominal)
		o->nominal = DT_F32;
}

/* The bytes of this thread's stack that the interpreter may use: three quarters of at most 8 MiB. A thread has
 * 2 MiB only if the stack of the process has no limit. (pthread_getattr_np reads a file, which the sandbox
 * forbids.) */
static size_t stack_room(void)
{
	struct rlimit r;
	size_t room = (size_t)8 << 20;

	if (!getrlimit(RLIMIT_STACK, &r))
		room = r.rlim_cur == RLIM_INFINITY ? (size_t)2 << 20 : MIN(room, (size_t)r.rlim_cur);
	return room - room / 4;
}

/* The address of a local variable tells where the stack is; host_begin updates it. */
struct host *host_new(const struct host_options *o, struct err *e)
{
	struct host *h = mem_zalloc(sizeof *h);
	char here;

	if (!h) {
		err_nomem(e);
		return NULL;
	}
	h->o = *o;
	set_defaults(&h->o);
	h->heap.blocks.limit = h->o.memory;
	h->lim.fuel = h->lim.fuel_start = h->o.fuel;
	h->lim.stack_limit = stack_room();
	h->torch.grad_enabled = 1;
	h->torch.default_dtype = DT_F32;
	h->torch.noise = h->o.noise_seed;
	/* A host without a library makes its own and frees it. */
	h->lib = o->lib;
	h->own_lib = !o->lib;
	if (h->own_lib)
		h->lib = host_lib_new(e);
	h->lim.stack_top = &here;
	h->lim.stack_floor = h->lim.stack_top - h->lim.stack_limit - h->lim.stack_limit / 8;
	if (!h->lib || host_init(h)) {
		host_free(h);
		err_nomem(e);
		return NULL;
	}
	return h;
}

void host_dry_run(struct host *h, struct host_path *path)
{
	h->o.path = path;
}

/* Options that a run may change; the library and the limits stay. */
void host_renew(struct host *h, const struct host_options *o)
{
	h->o.launch = o->launch;
	h->o.launch_ctx = o->launch_ctx;
	h->o.compute = o->compute;
	h->o.compute_ctx = o->compute_ctx;
	h->o.noise_seed = h->torch.noise = o->noise_seed;
	h->o.nominal = o->nominal ? o->nominal : DT_F32;
	h->o.tf32 = o->tf32;
	h->o.gpu = o->gpu;
	h->o.track_undef = o->track_undef;
	h->o.poison = o->poison;
	h->o.config = o->config;
	h->o.tune = o->tune;
	h->lim.fuel = h->lim.fuel_start;
}

int host_is_lost(const struct host *h) { return h->fail.fatal; }

/* A unit is one loaded module with the scopes that were computed for it. */
static void free_unit(struct unit *u)
{
	arena_release(&u->arena);
	ptr_map_release(&u->scopes);
	map_release(&u->defs);
	mem_free(u);
}

/* Objects are freed before the units that their code refers to. */
void host_free(struct host *h)
{
	if (!h)
		return;
	if (h->torch.ext.release)
		h->torch.ext.release(h->torch.ext.p);
	host_launches_clear(h);
	vec_free(&h->did.launches);
	buf_release(&h->did.tuned);
	buf_release(&h->did.trying);
	vec_free(&h->did.ops);
	host_free_objects(h);
	while (h->units) {
		struct unit *next = h->units->next;
		free_unit(h->units);
		h->units = next;
	}
	ptr_map_release(&h->heap.idents);
	ptr_map_release(&h->torch.jits);
	arena_release(&h->torch.jit_arena);
	arena_release(&h->torch.launch_arena);
	vec_free(&h->torch.launched);
	buf_release(&h->did.printed);
	if (h->own_lib)
		host_lib_free(h->lib);
	mem_free(h);
}

const struct diag *host_diag(const struct host *h) { return &h->fail.diag; }
struct str host_printed(const struct host *h) { return buf_str(&h->did.printed); }
/* Sums in double: a hostile program must not overflow the count. */
int64_t host_ops_work(const struct host *h)
{
	double sum = 0.0;

	for (size_t i = 0; i < h->did.ops.n; i++)
		sum += (double)h->did.ops.v[i].bytes + (double)h->did.ops.v[i].flops / 8.0;
	return sum < 1e18 ? (int64_t)sum : (int64_t)1e18;
}

struct host_ops host_ops(const struct host *h) { return (struct host_ops){ .v = h->did.ops.v, .n = h->did.ops.n }; }
/* Also starts the count of `largest` again. */
void host_ops_clear(struct host *h) { h->did.ops.n = 0; h->did.reads = 0; h->lim.largest = 0; }
struct host_launches host_launches(const struct host *h)
{
	return (struct host_launches){ .v = h->did.launches.v, .n = h->did.launches.n };
}

void host_launches_clear(struct host *h) { h->did.launches.n = 0; }

int host_guessed(const struct host *h) { return h->did.guessed; }

struct host_usage host_usage(const struct host *h)
{
	return (struct host_usage){ .bytes = h->lim.bytes + h->lim.tensor_bytes, .peak = h->lim.peak,
				    .largest = h->lim.largest,
				    .steps = h->lim.fuel_start - h->lim.fuel };
}

void host_set_called(struct host *h, host_op_call_fn *fn, void *ctx)
{
	h->o.called = fn;
	h->o.called_ctx = ctx;
}

void host_set_ran(struct host *h, struct ptr_map *ran)
{
	h->ran = ran;
}

void host_set_compute(struct host *h, int (*fn)(void *ctx, const char *name, int line, struct diag *d), void *ctx)
{
	h->o.compute = fn;
	h->o.compute_ctx = ctx;
}

/* Storages are numbered in the order of their creation, so the newest number separates old from
 * new. */
void host_seal(struct host *h)
{
	h->heap.sealed = 1;
	h->heap.sealed_storage = storage_newest();
}

uint64_t host_sealed_storage(const struct host *h)
{
	return h->heap.sealed_storage;
}

/* Without a seal there is nothing to guard. */
void host_guard(struct host *h, int on)
{
	h->heap.guarded = on && h->heap.sealed;
}

void host_set_judged(struct host *h, enum host_judged judged)
{
	h->torch.judged = judged;
}

/* Above this number of configurations, those of several autotuners are not combined. */
enum { TUNED_TWICE = 64 };

/* `trying` is set while a configuration compiles, so it names the one that failed. */
struct host_tuned host_tuned(const struct host *h)
{
	/* Several autotuned kernels are run with equal configuration indices, then once more with shifted ones. */
	int passes = h->did.tuned_several && h->did.tuned_most <= TUNED_TWICE ? 2 : 1;
	return (struct host_tuned){ .most = passes * h->did.tuned_most,
				    .chosen = buf_str(h->did.trying.n ? &h->did.trying : &h->did.tuned) };
}

void host_tuned_clear(struct host *h)
{
	h->did.tuned_most = h->did.tuned_place = h->did.tuned_several = 0;
	buf_clear(&h->did.tuned);
	buf_clear(&h->did.trying);
}

/* --- entry points: every run of program code from outside goes through these two ------------------- */

/* Saves the state to return to, and the position of the stack: the next call may come from another
 * thread. */
void host_begin(struct host *h, struct host_entry *en)
{
	*en = (struct host_entry){ .mark = temps_mark(h), .depth = h->lim.depth, .frame = h->frame };
	h->fail.diag = h->fail.fatal ? h->fail.diag : (struct diag){ .reason = REASON_ok };
	h->heap.entries += !h->frame;
	h->lim.stack_top = (const char *)en;
	h->lim.stack_floor = h->lim.stack_top - h->lim.stack_limit - h->lim.stack_limit / 8;
}

/* Ends a run: keeps the result for the caller, or reports the failure. Temporaries of the run are
 * released. */
int host_end(struct host *h, struct host_entry *en, int rc, struct val *out, struct err *e)
{
	if (!rc && out)
		val_keep(*out);
	temps_drain(h, en->mark);
	h->frame = en->frame;
	h->lim.depth = en->depth;
	if (!rc)
		return 0;
	/* Our own failure: the caller's *e gets it, unless an earlier one is there. */
	if (h->fail.failed) {
		h->fail.failed = 0;
		if (e && e->code == ERR_NONE)
			*e = h->fail.err;
		return -1;
	}
	return host_report(h);
}

/* Units live as long as the host: functions refer to their syntax trees. */
static struct unit *new_unit(struct host *h, const struct py_module *m)
{
	struct unit *u = mem_zalloc(sizeof *u);
	if (!u)
		return NULL;
	u->ast = m;
	u->next = h->units;
	h->units = u;
	return u;
}

/* Runs the statements of the module in a frame of its own. */
int host_load(struct host *h, const struct py_module *m, const struct host_override *ov, size_t n_ov,
	      struct val *ns, struct err *e)
{
	struct host_entry en;
	struct module_obj *mod;
	struct unit *u;
	int rc;

	host_begin(h, &en);
	u = new_unit(h, m);
	/* The module is called "program", not "__main__": judged programs are imported, not run as scripts. */
	rc = u ? host_module(h, STR("program"), &mod)
		: host_fatal(h, REASON_out_of_memory, "the machine is out of memory");
	if (!rc && !h->o.is_reference)
		rc = annotation_refuse(h, m);
	if (!rc) {
		struct host_frame f = { .unit = u, .mod = mod, .names = mod->h.attrs, .ov = ov, .n_ov = n_ov };
		mod->ast = m;
		h->frame = &f;
		rc = exec_block(h, &f, &m->root->u.Module.body) == FLOW_FAIL ? -1 : 0;
		h->frame = NULL;
		*ns = val_obj(&mod->h);
	}
	return host_end(h, &en, rc, rc ? NULL : ns, e);
}

/* The value is borrowed from the namespace. */
int host_get(struct host *h, struct val ns, const char *name, struct val *out)
{
	struct str_obj *s = host_intern(h, str_of(name));
	struct val *v = s ? attrs_get(ns.u.o->attrs, s) : NULL;
	if (!v)
		return 0;
	*out = *v;
	return 1;
}

int host_call(struct host *h, struct val fn, const struct val *args, size_t n, struct val *out, struct err *e)
{
	struct host_entry en;
	struct call_args a = { .a = args, .n = n };
	int rc;

	host_begin(h, &en);
	rc = h->fail.fatal ? -1 : host_callv(h, fn, &a, out);
	return host_end(h, &en, rc, out, e);
}
