/* Checks of a file: see check_file.h.
 *
 * Runs the host code with launches that compile only, then compiles the remaining kernels. It
 * decides nothing about correctness: no kernel runs, so values of results are unknown here.
 * Invariant: each error is reported once, however often its kernel is launched. */
#include "verify/lint/check_file.h"

#include "base/mem.h"
#include "num/num.h"
#include "tile/lint/check_kernel.h"
#include "verify/rules/call_graph.h"

/* Limits of the host code, in steps and bytes. */
enum { HOST_FUEL = 5000000, HOST_MEMORY = 1 << 30, TORCH_SEED = 42 };

/* State of the check of one file. */
struct file_check {
	const struct py_module *m;
	const struct check_options *o;
	struct check_env env;
	unsigned char *launched;        /* for each function of env: it was launched */
	struct { struct diag *v; size_t n, cap; } found;       /* reported so far */
	struct { uint64_t *v; size_t n, cap; } written;        /* ids of storages that kernels write */
	int refused;                    /* some launch did not compile */
	int ran;                        /* forward returned */
	int last_line, last_col;        /* position of the last launch */
	struct arena cuts;              /* kernels without the statements of their first errors */
	struct err *e;
};

/* Tells whether two diagnostics have the same position and reason. */
static int by_place(const struct diag *a, const struct diag *b)
{
	return a->line == b->line && a->col == b->col && a->reason == b->reason;
}

/* Reports an error. An error at the same position is not reported again: a kernel may be launched
 * twice. */
static int add_found(struct file_check *c, const struct diag *d)
{
	for (size_t i = 0; i < c->found.n; i++)
		if (by_place(&c->found.v[i], d))
			return 0;
	if (vec_push(&c->found, *d))
		return err_nomem(c->e);
	c->o->report(c->o->ctx, SEVERITY_ERROR, d);
	return 0;
}

/* --- kernels as launched ------------------------------------------------------------------ */

/* Records the storages that the launch may write, to find results that nothing writes. */
static int note_written(struct file_check *c, const struct tile_code *code, const struct tile_launch *l)
{
	struct touched t;

	if (resource_touched(code, &t, c->e))
		return -1;
	for (size_t i = 0; i < MIN(l->n_args, (size_t)128); i++)
		if ((t.written[i / 64] >> (i % 64) & 1) && (l->args[i].kind == TILE_V_TENSOR ||
							    l->args[i].kind == TILE_V_DESC) &&
		    vec_push(&c->written, l->args[i].t.st->id))
			return err_nomem(c->e);
	return 0;
}

/* Warns if the kernel needs more registers than a thread has. It still runs, but slowly. */
static int note_registers(struct file_check *c, const struct tile_code *code, const struct tile_launch *l)
{
	struct resources r;
	struct diag d = { .reason = REASON_ok };

	resource_estimate(code, l, c->o->gpu->capability, &r);
	if (r.registers <= c->o->gpu->registers)
		return 0;
	diag_set(&d, REASON_out_of_resources, l->line, l->col,
		 "about %d registers for each thread, the %s has %d: values will spill to memory",
		 r.registers, c->o->gpu->name, c->o->gpu->registers);
	diag_hint(&d, "use smaller tiles, or num_warps=%d", 2 * MAX(l->num_warps, 1));
	for (size_t i = 0; i < c->found.n; i++)
		if (by_place(&c->found.v[i], &d))
			return 0;
	c->o->report(c->o->ctx, SEVERITY_WARNING, &d);
	return vec_push(&c->found, d) ? err_nomem(c->e) : 0;
}

/* Finds the errors after the first one of a launched kernel. */
static int find_more(struct file_check *c, const struct tile_launch *l, const struct diag *first)
{
	struct check_errors at = { .n = 0 };
	struct tile_launch rest = *l;
	struct diag d = *first;
	int rc = 1;

	while (rc > 0 && at.n < COUNT_OF(at.v)) {
		at.v[at.n].line = d.line;
		at.v[at.n++].col = d.col;
		rest.fn = check_cut(l->fn, &at, &c->cuts);
		if (!rest.fn)
			return 0;
		d = (struct diag){ .reason = REASON_ok };
		rc = check_kernel_launched(c->o->engine, &rest, &d, c->e);
		if (rc > 0 && add_found(c, &d))
			return -1;
	}
	return rc < 0 ? -1 : 0;
}

/* Called for each launch of the host code: compiles and checks the kernel, and leaves memory
 * unchanged. An autotune configuration that does not fit the GPU is left out, as Triton does, and
 * is not an error. */
static int look_at_launch(void *ctx, const struct tile_launch *l, struct diag *d, struct err *e)
{
	struct file_check *c = ctx;
	const struct tile_code *code;
	int rc = tile_compile(c->o->engine, l, &code, d, e);

	c->last_line = l->line;
	c->last_col = l->col;
	for (size_t i = 0; i < c->env.n_fns; i++)
		if (c->env.fns[i].def == l->fn->def)
			c->launched[i] = 1;
	if (rc < 0)
		return -1;
	if (!rc && c->o->gpu)
		rc = resource_check(code, l, c->o->gpu, d);
	if (rc && l->compile_only && resource_left_out(d))
		return 1;
	if (rc) {
		c->refused = 1;
		rc = add_found(c, d) || find_more(c, l, d) ? -1 : 0;
		*d = (struct diag){ .reason = REASON_ok };
		return rc;
	}
	return note_written(c, code, l) || (c->o->gpu && note_registers(c, code, l)) ? -1 : 0;
}

/* --- the program -------------------------------------------------------------------------- */

/* A search for a result that nothing wrote. */
struct result_scan {
	struct file_check *c;
	int unwritten;
};

/* Called for each tensor of the result. */
static int scan_result(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct result_scan *s = ctx;

	(void)name;
	if (!tensor_any_undef(&obj->t))
		return 0;
	for (size_t i = 0; i < s->c->written.n; i++)
		if (s->c->written.v[i] == obj->t.st->id)
			return 0;
	s->unwritten = 1;
	return 0;
}

/* Reports a result with memory that no kernel writes. If a launch did not compile, its writes are
 * unknown. */
static int check_results(struct file_check *c, struct host *h, struct val result, const struct py_node *forward)
{
	struct result_scan s = { .c = c };
	struct diag d = { .reason = REASON_ok };

	host_tensors(h, result, scan_result, &s);
	if (!s.unwritten || c->refused)
		return 0;
	diag_set(&d, REASON_uninitialised, c->last_line ? c->last_line : forward->line,
		 c->last_line ? c->last_col : forward->col + 1,
		 "forward returns memory that no kernel writes");
	return add_found(c, &d);
}

/* Reports an error of the host code if it is certain although no kernel ran: a wrong value may come
 * from memory that a kernel would have written, a missing name does not. */
static int check_host_error(struct file_check *c, const struct diag *d)
{
	static const enum reason certain[] = { REASON_name_error, REASON_attribute_error, REASON_type_error,
					       REASON_key_error };

	/* A member of a module that is missing in our torch may exist in the real one. */
	if (strstr(d->text, "module '"))
		return 0;
	for (size_t i = 0; i < COUNT_OF(certain); i++)
		if (d->reason == certain[i])
			return add_found(c, d);
	return 0;
}

/* Builds the model, moves it and its inputs to the GPU, and calls forward. */
static int run_model(struct file_check *c, struct host *h, struct val ns, struct val task_ns, const char *cls)
{
	const struct py_node *forward = call_graph_method(call_graph_class(c->m, cls), "forward");
	struct val model, inputs, result;
	int rc = host_build(h, task_ns, ns, cls, TORCH_SEED, &model, c->e);

	if (!rc)
		rc = host_inputs(h, task_ns, TORCH_SEED, 0, &inputs, c->e);
	if (!rc)
		rc = host_to_device(h, model, HOST_CUDA, c->e);
	if (!rc)
		rc = host_to_device(h, inputs, HOST_CUDA, c->e);
	if (!rc)
		rc = host_forward(h, model, inputs, &result, c->e);
	if (!rc && forward) {
		c->ran = 1;
		rc = check_results(c, h, result, forward);
	}
	return rc;
}

/* The class to run: ModelNew, else Model. Returns NULL if the file has neither. */
static const char *model_class(const struct file_check *c)
{
	return call_graph_class(c->m, "ModelNew") ? "ModelNew" : call_graph_class(c->m, "Model") ? "Model" : NULL;
}

/* Loads the file and runs its model if the inputs are known. */
static int run_file(struct file_check *c, struct host *h)
{
	struct val ns, task_ns, fn;
	const char *cls = model_class(c);
	int rc = host_load(h, c->m, NULL, 0, &ns, c->e);

	task_ns = ns;
	if (!rc && c->o->task)
		rc = host_load(h, c->o->task, NULL, 0, &task_ns, c->e);
	if (rc || !cls || !host_get(h, task_ns, "get_inputs", &fn) || !host_get(h, task_ns, "get_init_inputs", &fn))
		return rc;
	return run_model(c, h, ns, task_ns, cls);
}

/* Runs the host code with limits, and reports what its launches and its end show. */
static int check_launched(struct file_check *c)
{
	struct host_options ho = { .fuel = HOST_FUEL, .memory = HOST_MEMORY, .track_undef = 1, .tune = 1,
				   .launch = look_at_launch, .launch_ctx = c };
	struct host *h;
	int rc;

	num_init();
	h = host_new(&ho, c->e);
	if (!h)
		return -1;
	rc = run_file(c, h);
	if (rc > 0)
		rc = check_host_error(c, host_diag(h));
	host_free(h);
	return rc;
}

/* --- what need not be run ----------------------------------------------------------------- */

/* A search for a launch of one of the file's kernels. */
struct launch_scan {
	const struct check_env *env;
	int found;
};

/* Searches for kernel[grid](...). */
static void find_launch(void *ctx, struct py_node *n)
{
	struct launch_scan *s = ctx;
	const struct py_node *f = n->kind == PY_Call ? n->u.Call.func : NULL;

	if (f && f->kind == PY_Subscript && f->u.Subscript.value->kind == PY_Name &&
	    check_env_fn(s->env, f->u.Subscript.value->u.Name.id))
		s->found = 1;
	if (!s->found)
		py_children(n, find_launch, ctx);
}

/* Tells whether loading the file, or building and calling its model, can launch a kernel. */
static int is_program(const struct file_check *c)
{
	struct launch_scan s = { .env = &c->env };
	const struct py_list *body = &c->m->root->u.Module.body;

	if (model_class(c))
		return c->env.n_fns > 0;
	for (size_t i = 0; i < body->n && !s.found; i++)
		if (body->v[i]->kind != PY_FunctionDef && body->v[i]->kind != PY_ClassDef)
			find_launch(&s, body->v[i]);
	return s.found;
}

/* A search for a use of a name outside of its own definition. */
struct name_scan {
	struct str name;
	const struct py_node *own;
	int found;
};

/* Searches for a use of the name. The function's own definition does not count: recursion is no
 * use. */
static void find_name(void *ctx, struct py_node *n)
{
	struct name_scan *s = ctx;

	if (n == s->own)
		return;
	if (n->kind == PY_Name && n->u.Name.ctx == PY_LOAD && str_eq(n->u.Name.id, s->name))
		s->found = 1;
	if (!s->found)
		py_children(n, find_name, ctx);
}

/* Warns about a kernel that nothing in a complete program names. */
static void check_unused(struct file_check *c, size_t i)
{
	const struct tile_fn *fn = &c->env.fns[i];
	struct name_scan s = { .name = fn->name, .own = fn->def };
	struct diag d = { .reason = REASON_ok };

	if (c->launched[i] || !call_graph_class(c->m, "ModelNew"))
		return;
	find_name(&s, c->m->root);
	if (s.found)
		return;
	diag_set(&d, REASON_kernel_not_launched, fn->def->line, fn->def->col + 1, "kernel '%.*s' is never used",
		 STR_ARG(fn->name));
	c->o->report(c->o->ctx, SEVERITY_WARNING, &d);
}

/* The findings of one function. */
struct found { int errors, unsure; };

/* Whether the error of a library function stays for any argument. Its arguments may be tuples, types and
 * functions, which those of a launch are not, and it may return a value. */
static int any_argument(const struct diag *d)
{
	return d->reason == REASON_unknown_tl_name || d->reason == REASON_undefined_name ||
		d->reason == REASON_unsupported_syntax || d->reason == REASON_not_power_of_two;
}

/* Compiles a function with types that are guessed or written above it, and reports all its errors: after
 * each one, the rest that does not depend on it is compiled. A library function has no known types,
 * so an error that is unsure is not reported for it. */
static int check_guessed_fn(struct file_check *c, const struct tile_fn *fn, int library, struct found *f)
{
	const struct tile_fn *rest = fn;
	struct check_errors at = { .n = 0 };
	int rc = 1;

	while (rc > 0 && rest && at.n < COUNT_OF(at.v)) {
		struct diag d = { .reason = REASON_ok };
		int unsure = 0;

		rc = check_kernel_inferred(c->o->engine, &c->env, rest, &d, &unsure, c->e);
		if (rc <= 0)
			break;
		unsure |= library && !any_argument(&d);
		f->unsure += unsure;
		f->errors += !unsure;
		if (unsure && !library)
			c->o->report(c->o->ctx, SEVERITY_UNSURE, &d);
		else if (!unsure && add_found(c, &d))
			return -1;
		at.v[at.n].line = d.line;
		at.v[at.n++].col = d.col;
		rest = check_cut(fn, &at, &c->cuts);
	}
	return rc < 0 ? -1 : 0;
}

/* Compiles the kernels that were not launched, and those with a signature comment. Helpers are
 * compiled with the kernels that call them. */
static int check_others(struct file_check *c, struct check_count *count)
{
	for (size_t i = 0; i < c->env.n_fns; i++) {
		const struct tile_fn *fn = &c->env.fns[i];
		int commented = check_signature_comment(&c->env, fn, 0).n > 0;
		enum check_role role = commented || c->launched[i] ? CHECK_KERNEL : check_role(&c->env, fn);
		struct found f = { .errors = 0 };

		if (role == CHECK_KERNEL)
			check_unused(c, i);
		if (role != CHECK_HELPER && (!c->launched[i] || commented) &&
		    check_guessed_fn(c, fn, role == CHECK_LIBRARY, &f))
			return -1;
		count->helpers += role != CHECK_KERNEL;
		count->kernels += role == CHECK_KERNEL;
		count->compiled += role == CHECK_KERNEL && !f.errors && !f.unsure;
		count->unsure += role == CHECK_KERNEL && !f.errors && f.unsure;
	}
	return 0;
}

/* Launched kernels come first, because a launch gives exact types. The others are compiled with
 * less knowledge. The engine's cache is cleared at the end: it refers to the syntax tree of this
 * file. */
int check_file(const struct py_module *m, const struct check_options *o, struct check_count *count, struct err *e)
{
	struct file_check c = { .m = m, .o = o, .e = e };
	int rc;

	if (check_env_init(&c.env, m, o->importer, e))
		return -1;
	c.launched = mem_array(c.env.n_fns + 1, 1);
	rc = !c.launched ? err_nomem(e) : is_program(&c) ? check_launched(&c) : 0;
	if (!rc)
		rc = check_others(&c, count);
	tile_engine_clear(o->engine);
	mem_free(c.launched);
	vec_free(&c.found);
	vec_free(&c.written);
	check_env_release(&c.env);
	arena_release(&c.cuts);
	return rc;
}
