/* Dumps: see dump.h. The first half runs in a worker and makes bytes, the second half in its
 * parent and writes files; the parent takes the bytes for hostile. */
#include "verify/task/dump.h"

#include <ctype.h>
#include <stdio.h>

#include "base/file.h"
#include "base/mem.h"
#include "host/shrink.h"
#include "tensor/safetensors.h"
#include "verify/task/task.h"

/* Called by the funnel after each run that is judged. */
int judge_seen(struct judge *j, const struct task *t, const struct trial *tr, const struct results *got, struct err *e)
{
	const struct judge_watcher *w = judge_watcher(j);

	return w && w->seen ? w->seen(w->ctx, t, tr, got, e) : 0;
}

/* --- the task ----------------------------------------------------------------------------- */

/* The task's own text at the trial's sizes, and then, as code, what the judge did to the model and
 * to the inputs: running the file does the same. */
static void write_task(const struct task *t, const struct trial *tr, struct buf *out)
{
	int half = tr->dt != DT_F32;
	const char *dt = dtype_info(tr->dt)->torch;

	shrink_source(&t->image.module, tr->ov, tr->n_ov, out);
	if (!half && !t->image.reference.eval_mode)
		return;
	buf_adds(out, "\n\n# As the judge ran it.\nimport torch\n\n_construct = Model.__init__\n\n\n"
		      "def _construct_as_run(self, *args, **kwargs):\n    _construct(self, *args, **kwargs)\n");
	if (half)
		buf_addf(out, "    self.to(torch.%s)\n", dt);
	if (t->image.reference.eval_mode)
		buf_adds(out, "    self.eval()\n");
	buf_adds(out, "\n\nModel.__init__ = _construct_as_run\n");
	if (half)
		buf_addf(out, "_draw = get_inputs\n\n\ndef get_inputs():\n"
			      "    return [x.to(torch.%s) if torch.is_tensor(x) and x.is_floating_point() "
			      "else x\n            for x in _draw()]\n", dt);
}

/* --- the tensors -------------------------------------------------------------------------- */

/* The tensors of the file that is being made. Names and data live in the arena until the file is
 * written. */
struct entries {
	struct { struct st_entry *v; size_t n, cap; } list;
	struct arena arena;          /* names and data */
	struct err *e;
};

/* Room for the data of one more tensor, named group + name ("input." and "0"). Returns NULL on
 * failure (*e). */
static void *add_entry(struct entries *s, const char *group, struct str name, enum dtype dt, int ndim,
		       const int64_t *shape, int64_t numel)
{
	struct st_entry x = { .dt = dt, .ndim = ndim };
	size_t bytes = (size_t)numel * (size_t)dtype_size(dt), len = strlen(group) + name.n + 1;
	char *text = arena_alloc(&s->arena, len);
	void *data = arena_alloc(&s->arena, bytes + 1);

	if (!text || !data)
		return err_nomem(s->e), NULL;
	snprintf(text, len, "%s%.*s", group, STR_ARG(name));
	x.name = text;
	x.data = data;
	memcpy(x.shape, shape, sizeof x.shape);
	if (vec_push(&s->list, x))
		return err_nomem(s->e), NULL;
	return data;
}

/* Adds a tensor, dense and in the dtype `dt`. */
static int add_tensor(struct entries *s, const char *group, struct str name, const struct tensor *t, enum dtype dt)
{
	struct tensor dense;
	void *data = add_entry(s, group, name, dt, t->ndim, t->shape, tensor_numel(t));

	if (!data || tensor_to(&dense, t, dt, s->e))
		return -1;
	memcpy(data, tensor_data(&dense), (size_t)tensor_numel(t) * (size_t)dtype_size(dt));
	tensor_release(&dense);
	return 0;
}

/* Adds one input. */
static int add_input(void *ctx, struct str name, struct tensor_obj *obj)
{
	return add_tensor(ctx, "input.", name, &obj->t, obj->t.dt);
}

/* Adds inputs that cannot leave their host, by drawing them again: the same seed, sizes and
 * changes give the same values. */
static int add_drawn(struct entries *s, const struct task *t, const struct trial *tr)
{
	struct world w;
	struct val inputs;
	int rc = world_open(&w, t->judge, &t->image.reference, 0, NULL, s->e);

	if (!rc)
		rc = world_draw(&w, tr, tr->seed, &inputs, s->e);
	if (!rc)
		rc = host_tensors(w.h, inputs, add_input, s);
	else if (rc > 0)
		rc = err_set(s->e, ERR_STATE, "the inputs cannot be drawn again: %s", host_diag(w.h)->text);
	world_close(&w);
	return rc;
}

/* Adds the inputs of the trial. */
static int add_inputs(struct entries *s, const struct task *t, const struct trial *tr)
{
	if (tr->inputs.kind == V_UNSET)
		return add_drawn(s, t, tr);
	return host_tensors(t->image.vault, tr->inputs, add_input, s);
}

/* Adds the weights, as the run began with them: drawn states of buffers included, in the dtype of
 * the trial. */
static int add_state(struct entries *s, const struct trial *tr)
{
	for (size_t i = 0; i < tr->weights->n; i++) {
		struct task_weight w;
		int rc = weights_begin(&w, &tr->weights->v[i], tr->state, s->e);

		if (rc)
			return -1;
		rc = add_tensor(s, "state.", str_of(w.name), &w.t, dtype_is_float(w.t.dt) ? tr->dt : w.t.dt);
		tensor_release(&w.t);
		if (rc)
			return -1;
	}
	return 0;
}

/* Adds results. Those that there was no room for have no values, and are left out. */
static int add_results(struct entries *s, const char *group, const struct results *r)
{
	for (int i = 0; i < r->n; i++) {
		const struct result *x = &r->r[i];
		char number[16], *data;

		if (!x->v)
			continue;
		snprintf(number, sizeof number, "%d", i);
		data = add_entry(s, group, str_of(number), x->dt, x->ndim, x->shape, x->n);
		if (!data)
			return -1;
		for (int64_t k = 0; k < x->n; k++)
			dtype_store(x->dt, data + k * dtype_size(x->dt), x->v[k]);
	}
	return 0;
}

/* Runs in the deciding process of a worker, which knows the expected results. */
int dump_make(const struct task *t, const struct trial *tr, const struct results *got, struct buf *task_py,
	      struct buf *tensors, struct err *e)
{
	struct entries s = { .e = e };
	int rc;

	write_task(t, tr, task_py);
	rc = add_inputs(&s, t, tr) || add_state(&s, tr) ||
	     add_results(&s, "expected.", &task_expectation(t, tr)->expected) ||
	     (got && add_results(&s, "got.", got)) ? -1 : buf_check(task_py, e);
	if (!rc) {
		struct st_write w = { .entries = s.list.v, .n = s.list.n };

		rc = st_write_bytes(tensors, &w, e);
	}
	vec_free(&s.list);
	arena_release(&s.arena);
	return rc;
}

/* --- the parent's side -------------------------------------------------------------------- */

/* Adds a component to a path. Candidates choose the names; so every character that could mean
 * anything in a path becomes '_', and no component begins with a dot. */
static void add_name(struct buf *path, const char *name)
{
	buf_addc(path, '/');
	for (int first = 1; *name; name++, first = 0)
		buf_addc(path, isalnum((unsigned char)*name) || strchr("-_+=", *name) ||
			 (*name == '.' && !first) ? *name : '_');
}

/* The bytes must be a readable safetensors file before anything is written. */
int dump_write(const char *dir, const char *candidate, const char *kind, struct str task_py,
	       struct str tensors, struct err *e)
{
	struct st_file *check = st_open_bytes(tensors, "the tensors of a dump", e);
	struct buf folder = BUF_INIT, path = BUF_INIT;
	int rc = -1;

	if (!check)
		return -1;
	st_close(check);
	buf_adds(&folder, dir);
	add_name(&folder, candidate);
	add_name(&folder, kind);
	if (!buf_check(&folder, e) && !file_mkdirs(buf_cstr(&folder), e)) {
		rc = path_join(&path, buf_cstr(&folder), "task.py") ? file_replace(buf_cstr(&path), task_py,
				e) : err_nomem(e);
		if (!rc)
			rc = path_join(&path, buf_cstr(&folder), "tensors.safetensors") ?
				file_replace(buf_cstr(&path), tensors, e) : err_nomem(e);
	}
	buf_release(&path);
	buf_release(&folder);
	return rc;
}
