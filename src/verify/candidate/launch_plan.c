/* Recording launch plans: see launch_plan.h.
 *
 * A storage becomes part of the plan when a launch, a copy or a result first names it. Its initial
 * contents are those that the program gave it up to then. Kernels do not run in a dry run, so what
 * they write never looks like contents. */
#include "verify/candidate/launch_plan.h"

#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "interp/bind.h"
#include "interp/sig.h"
#include "tensor/sparse.h"

/* Contents up to this many bytes are part of the plan. */
enum { BYTES_MOST = 1 << 16 };

/* --- rows ----------------------------------------------------------------------------------- */

/* Begins a row of a list of the plan. */
static struct jw begin_row(struct buf *rows)
{
	if (rows->n)
		buf_addc(rows, ',');
	return (struct jw){ .out = rows };
}

/* Gives the plan up. The first reason stays. */
static void give_up(struct launch_plan *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void give_up(struct launch_plan *p, const char *fmt, ...)
{
	va_list ap;

	if (p->why[0])
		return;
	va_start(ap, fmt);
	vsnprintf(p->why, sizeof p->why, fmt, ap);
	va_end(ap);
}

static void put_hex(struct jw *w, const char *key, const unsigned char *v, size_t n)
{
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < n; i++)
		buf_addf(&text, "%02x", v[i]);
	jw_key(w, key), jw_str(w, buf_str(&text));
	w->out->failed |= text.failed;
	buf_release(&text);
}

static void put_sizes(struct jw *w, const char *key, const int64_t *v, int n)
{
	jw_key(w, key);
	jw_begin(w, '[');
	for (int i = 0; i < n; i++)
		jw_int(w, v[i]);
	jw_end(w, ']');
}

/* --- storages ------------------------------------------------------------------------------- */

/* The number of a storage; -1: it is not part of the plan yet. */
static int find_storage(const struct launch_plan *p, const struct storage *st)
{
	for (size_t i = 0; i < p->storages.n; i++)
		if (p->storages.v[i].id == st->id)
			return (int)i;
	return -1;
}

/* Adds a storage and begins its row; the caller writes where its contents come from. */
static struct jw add_storage(struct launch_plan *p, const struct storage *st)
{
	struct jw w = begin_row(&p->storage_rows);

	p->failed |= vec_push(&p->storages, (struct plan_storage){ .id = st->id }) != 0;
	jw_begin(&w, '{');
	jw_key(&w, "bytes"), jw_int(&w, (int64_t)st->bytes);
	jw_key(&w, "from");
	return w;
}

/* Writes contents that the program computed and that are known here, such as torch.tensor([1, 2]). */
static void put_known(struct launch_plan *p, struct jw *w, struct storage *st)
{
	if (st->bytes <= BYTES_MOST && (!st->hollow || !sparse_touch(st, 0, st->bytes))) {
		jw_cstr(w, "bytes");
		put_hex(w, "hex", st->data, st->bytes);
		return;
	}
	jw_cstr(w, "empty");
	give_up(p, "a tensor of %zu bytes has contents that only the candidate's host code knows", st->bytes);
}

/* The number of a storage. One that is new gets the contents that the program gave it. */
static int storage_of(struct launch_plan *p, struct storage *st)
{
	unsigned char value[8];
	int at = find_storage(p, st), bytes = 0;
	enum sparse_made made;
	struct jw w;

	if (at >= 0)
		return at;
	made = st->hollow ? sparse_made_of(st, value, &bytes) : SPARSE_MADE_OWN;
	w = add_storage(p, st);
	if (made == SPARSE_MADE_VALUE) {
		jw_cstr(&w, "value");
		put_hex(&w, "hex", value, (size_t)bytes);
	} else if (made == SPARSE_MADE_EMPTY) {
		jw_cstr(&w, "empty");
	} else if (made == SPARSE_MADE_OWN) {
		put_known(p, &w, st);
	} else {
		jw_cstr(&w, "empty");
		give_up(p, "a tensor of %zu bytes has contents that the dry run does not know", st->bytes);
	}
	jw_end(&w, '}');
	return (int)p->storages.n - 1;
}

/* An input of the call, by its number. */
static int note_input(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct launch_plan *p = ctx;
	struct jw w;

	if (find_storage(p, obj->t.st) >= 0 || !tensor_is_whole(&obj->t) || !tensor_is_contiguous(&obj->t)) {
		give_up(p, "two inputs share memory, or an input is not contiguous");
		return 0;
	}
	w = add_storage(p, obj->t.st);
	jw_cstr(&w, "input");
	jw_key(&w, "name"), jw_str(&w, name);
	jw_end(&w, '}');
	return 0;
}

/* A tensor of the model that holds a weight of the reference. Tied weights share a storage. */
static int note_weight(void *ctx, const struct tensor *t, const struct task_weight *of, int transposed)
{
	struct launch_plan *p = ctx;
	struct jw w;

	if (find_storage(p, t->st) >= 0)
		return 0;
	if (!tensor_is_whole(t) || !tensor_is_contiguous(t)) {
		give_up(p, "weight '%s' is a part of a larger tensor", of->name);
		return 0;
	}
	w = add_storage(p, t->st);
	jw_cstr(&w, "weight");
	jw_key(&w, "name"), jw_cstr(&w, of->name);
	jw_key(&w, "dtype"), jw_cstr(&w, dtype_info(t->dt)->torch);
	jw_key(&w, "transposed"), jw_bool(&w, transposed);
	jw_end(&w, '}');
	return 0;
}

int launch_plan_begin(struct launch_plan *p, struct host *h, struct val inputs, struct val model,
		      const struct task_weights *w, const struct weights_reduced *reduced, struct err *e)
{
	*p = (struct launch_plan){ .failed = 0 };
	if (host_tensors(h, inputs, note_input, p))
		return err_nomem(e);
	return weights_partners(w, reduced, h, model, note_weight, p, e);
}

void launch_plan_release(struct launch_plan *p)
{
	vec_free(&p->storages);
	map_release(&p->kernels);
	buf_release(&p->storage_rows);
	buf_release(&p->kernel_rows);
	buf_release(&p->step_rows);
	buf_release(&p->result_rows);
}

/* --- steps ---------------------------------------------------------------------------------- */

/* A view: the storage, the offset in bytes, dtype, sizes and strides. */
static void put_view(struct launch_plan *p, struct jw *w, const struct tensor *t)
{
	jw_begin(w, '{');
	jw_key(w, "storage"), jw_int(w, storage_of(p, t->st));
	jw_key(w, "offset"), jw_int(w, t->offset * dtype_size(t->dt));
	jw_key(w, "dtype"), jw_cstr(w, dtype_info(t->dt)->torch);
	put_sizes(w, "shape", t->shape, t->ndim);
	put_sizes(w, "stride", t->stride, t->ndim);
	jw_end(w, '}');
}

/* The number of the kernel of a launch; -1: it has none (p->why). Equal requests are one kernel. */
static int kernel_of(struct launch_plan *p, const struct tile_launch *l)
{
	struct buf request = BUF_INIT;
	char why[KERNEL_REQUEST_WHY];
	struct map_entry *m = NULL;
	struct jw w;

	if (kernel_request(l, &request, why))
		give_up(p, "%s", why);
	else
		m = request.failed ? NULL : map_put(&p->kernels, buf_str(&request));
	if (m && !m->val.i64) {
		m->val.i64 = (int64_t)p->kernels.n;
		w = begin_row(&p->kernel_rows);
		jw_raw(&w, buf_str(&request));
	}
	p->failed |= !m && !p->why[0];
	buf_release(&request);
	return m ? (int)m->val.i64 - 1 : -1;
}

static void put_float(char *text, size_t n, double v)
{
	if (isfinite(v))
		snprintf(text, n, "%.17g", v);
	else
		snprintf(text, n, "%s", isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
}

/* A number of the launch, as text: JSON has no NaN, and its integers may lose bits elsewhere. */
static void put_number(struct jw *w, const struct tile_val *v)
{
	char text[40];

	if (v->kind != TILE_V_FLOAT)
		snprintf(text, sizeof text, "%lld", (long long)v->i);
	else
		put_float(text, sizeof text, v->f);
	jw_cstr(w, text);
}

/* The arguments that become parameters of the machine code: [type, storage, offset] or [type,
 * number]. */
static void put_args(struct launch_plan *p, struct jw *w, const struct tile_launch *l)
{
	struct kernel_param_form form;
	char why[KERNEL_REQUEST_WHY];

	jw_key(w, "args");
	jw_begin(w, '[');
	for (size_t i = 0; i < l->n_args; i++) {
		const struct tile_val *v = &l->args[i];

		if (kernel_param_form(l, i, &form, why) || form.constant)
			continue;
		jw_begin(w, '[');
		jw_cstr(w, form.type);
		if (v->kind == TILE_V_TENSOR) {
			jw_int(w, storage_of(p, v->t.st));
			jw_int(w, v->t.offset * dtype_size(v->t.dt));
		} else {
			put_number(w, v);
		}
		jw_end(w, ']');
	}
	jw_end(w, ']');
}

void launch_plan_launch(struct launch_plan *p, const struct tile_launch *l)
{
	struct jw w;
	int kernel;

	if (p->why[0] || !l->grid[0] || !l->grid[1] || !l->grid[2])
		return;
	kernel = kernel_of(p, l);
	if (kernel < 0)
		return;
	w = begin_row(&p->step_rows);
	jw_begin(&w, '{');
	jw_key(&w, "kernel"), jw_int(&w, kernel);
	put_sizes(&w, "grid", l->grid, 3);
	put_args(p, &w, l);
	jw_end(&w, '}');
}

/* A copy between two views of the same shape, with conversion. */
static void add_copy(struct launch_plan *p, const struct tensor *to, const struct tensor *from)
{
	struct jw w = begin_row(&p->step_rows);

	jw_begin(&w, '{');
	jw_key(&w, "copy");
	jw_begin(&w, '[');
	put_view(p, &w, to);
	put_view(p, &w, from);
	jw_end(&w, ']');
	jw_end(&w, '}');
}

/* The first tensor among arguments [from, n). */
static const struct tensor *tensor_arg(const struct host_op_call *c, size_t from)
{
	for (size_t i = from; i < c->n; i++)
		if (c->a[i].kind == V_TENSOR)
			return &c->a[i].u.t->t;
	return NULL;
}

/* Is the storage made of values that the dry run knows? Then its contents are part of the plan when
 * it is first used, and the operator that made it is no step. */
static int is_known(const struct tensor *t)
{
	unsigned char value[8];
	int bytes;

	return !t->st->hollow || sparse_made_of(t->st, value, &bytes) != SPARSE_MADE_NOT;
}

/* --- operators ------------------------------------------------------------------------------ */

static int put_value(struct launch_plan *p, struct jw *w, const struct val *v);

static int put_items(struct launch_plan *p, struct jw *w, const char *key, const struct val *v)
{
	jw_begin(w, '{');
	jw_key(w, key);
	jw_begin(w, '[');
	for (size_t i = 0; i < v->u.seq->n; i++)
		if (put_value(p, w, &v->u.seq->v[i]))
			return -1;
	jw_end(w, ']');
	jw_end(w, '}');
	return 0;
}

/* A value that has a key of its own, {"dtype": "float32"}. */
static void put_text(struct jw *w, const char *key, const char *text)
{
	jw_begin(w, '{');
	jw_key(w, key), jw_cstr(w, text);
	jw_end(w, '}');
}

/* An argument of an operator: tensors are views of storages. Returns -1 for a kind of value that an
 * operator of a plan cannot have. */
static int put_value(struct launch_plan *p, struct jw *w, const struct val *v)
{
	char text[40];

	switch (v->kind) {
	case V_NONE: jw_raw(w, STR("null")); return 0;
	case V_BOOL: jw_bool(w, v->u.i != 0); return 0;
	case V_INT: jw_int(w, v->u.i); return 0;
	case V_STR: jw_str(w, val_text(*v)); return 0;
	case V_DTYPE: put_text(w, "dtype", dtype_info((enum dtype)v->u.i)->torch); return 0;
	case V_DEVICE: put_text(w, "device", "cuda"); return 0;
	case V_TUPLE: return put_items(p, w, "tuple", v);
	case V_LIST: return put_items(p, w, "list", v);
	case V_FLOAT:
		put_float(text, sizeof text, v->u.f);
		put_text(w, "float", text);
		return 0;
	case V_TENSOR:
		jw_begin(w, '{');
		jw_key(w, "view"), put_view(p, w, &v->u.t->t);
		jw_end(w, '}');
		return 0;
	default: return -1;
	}
}

/* Is the argument left out, or what the signature has anyway? PyTorch chooses among overloads by the
 * arguments that are given: torch.max(x, None) is not torch.max(x). */
static int is_default(const struct sig_param *s, const struct val *v)
{
	if (v->kind == V_UNSET)
		return 1;
	if (s->required || s->star || s->starstar || v->kind != s->def.kind)
		return s->empty_tuple && v->kind == V_TUPLE && !v->u.seq->n;
	return v->kind == V_NONE || ((v->kind == V_BOOL || v->kind == V_INT) && v->u.i == s->def.u.i) ||
	       (v->kind == V_FLOAT && v->u.f == s->def.u.f);
}

/* "args": the arguments before the first one that is left out; "kwargs": the given ones after it. */
static int put_operands(struct launch_plan *p, struct jw *w, const struct host_op_call *c)
{
	const struct sig *s = c->sig;
	char name[64];
	size_t i = 0;

	if (s->starstar >= 0)
		return -1;
	jw_key(w, "args");
	jw_begin(w, '[');
	for (; i < c->n && !s->p[i].keyword_only && !is_default(&s->p[i], &c->a[i]); i++) {
		if (!s->p[i].star) {
			if (put_value(p, w, &c->a[i]))
				return -1;
			continue;
		}
		for (size_t k = 0; k < c->a[i].u.seq->n; k++)
			if (put_value(p, w, &c->a[i].u.seq->v[k]))
				return -1;
	}
	jw_end(w, ']');
	jw_key(w, "kwargs");
	jw_begin(w, '{');
	for (; i < c->n; i++) {
		if (is_default(&s->p[i], &c->a[i]))
			continue;
		if (s->p[i].star || s->p[i].positional_only)
			return -1;
		snprintf(name, sizeof name, "%.*s", STR_ARG(s->p[i].name));
		jw_key(w, name);
		if (put_value(p, w, &c->a[i]))
			return -1;
	}
	jw_end(w, '}');
	return 0;
}

/* A tensor that an operator made: its storage belongs to the operator. */
static void put_made(struct launch_plan *p, struct jw *w, const struct tensor *t)
{
	if (find_storage(p, t->st) < 0) {
		struct jw row = add_storage(p, t->st);

		jw_cstr(&row, "operator");
		jw_end(&row, '}');
	}
	put_view(p, w, t);
}

/* "out": the tensors that the call returns, in order. */
static int put_made_all(struct launch_plan *p, struct jw *w, const struct val *out)
{
	jw_key(w, "out");
	jw_begin(w, '[');
	if (out->kind == V_TENSOR) {
		put_made(p, w, &out->u.t->t);
	} else {
		for (size_t i = 0; i < out->u.seq->n; i++) {
			if (out->u.seq->v[i].kind != V_TENSOR)
				return -1;
			put_made(p, w, &out->u.seq->v[i].u.t->t);
		}
	}
	jw_end(w, ']');
	return 0;
}

/* An operator of PyTorch with arithmetic, by name. Its arguments become part of the plan before its
 * results do, because it may return one of them. */
static void add_operator(struct launch_plan *p, const struct host_op_call *c)
{
	struct buf text = BUF_INIT;
	struct jw w = { .out = &text }, row;
	int many = c->out.kind == V_TUPLE || c->out.kind == V_LIST;
	int rc = c->kind & (BIND_RANDOM | BIND_INTERNAL | BIND_SIZED) || strncmp(c->name, "torch.", 6) ||
		 (c->out.kind != V_TENSOR && !many) ? -1 : 0;

	jw_begin(&w, '{');
	jw_key(&w, "operator"), jw_cstr(&w, c->name);
	jw_key(&w, "tf32"), jw_bool(&w, c->tf32 != 0);
	if (rc || put_operands(p, &w, c) || put_made_all(p, &w, &c->out)) {
		give_up(p, "the call uses the operator %s", c->name);
	} else {
		jw_end(&w, '}');
		row = begin_row(&p->step_rows);
		jw_raw(&row, buf_str(&text));
		p->failed |= text.failed;
	}
	buf_release(&text);
}

/* Views, allocations and operators on known values need no step. A copy of a whole tensor is one,
 * and so is an operator of PyTorch that computes: the GPU judge runs it by name. */
void launch_plan_operator(void *plan, const struct host_op_call *c)
{
	struct launch_plan *p = plan;
	int in_place = (c->kind & BIND_INPLACE) != 0;
	const struct tensor *to = in_place ? tensor_arg(c, 0) : c->out.kind == V_TENSOR ? &c->out.u.t->t : NULL;
	const struct tensor *from = tensor_arg(c, in_place ? 1 : 0);

	if (p->why[0] || c->kind & (BIND_VIEW | BIND_PROPERTY) || (!to && !(c->kind & (BIND_COMPUTE | BIND_COPY))))
		return;
	if (!in_place && (c->kind & BIND_ALLOC) && !(c->kind & BIND_COMPUTE))
		return;
	if (to && !in_place && from && to->st == from->st)
		return;
	if (to && find_storage(p, to->st) < 0 && is_known(to))
		return;
	if (to && from && c->kind & BIND_COPY && !(c->kind & BIND_MOVE) && tensor_same_shape(to, from)) {
		/* A new storage that a copy fills has no contents of its own before it. */
		if (find_storage(p, to->st) < 0) {
			struct jw w = add_storage(p, to->st);

			jw_cstr(&w, "empty");
			jw_end(&w, '}');
		}
		add_copy(p, to, from);
		return;
	}
	add_operator(p, c);
}

/* --- results -------------------------------------------------------------------------------- */

static int note_result(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct launch_plan *p = ctx;
	struct jw w = begin_row(&p->result_rows);

	(void)name;
	put_view(p, &w, &obj->t);
	return 0;
}

int launch_plan_end(struct launch_plan *p, struct host *h, struct val result, struct buf *out, struct err *e)
{
	struct buf form = BUF_INIT;
	struct jw w = { .out = out };

	if (host_result(h, result, &form, note_result, p))
		p->failed = 1;
	buf_release(&form);
	if (p->failed || p->storage_rows.failed || p->kernel_rows.failed || p->step_rows.failed ||
	    p->result_rows.failed)
		return err_nomem(e);
	if (p->why[0]) {
		jw_begin(&w, '{');
		jw_key(&w, "unavailable"), jw_cstr(&w, p->why);
		jw_end(&w, '}');
		return buf_check(out, e);
	}
	buf_addf(out, "{\"kernels\":[%s],\"storages\":[%s],\"steps\":[%s],\"results\":[%s]}", buf_cstr(&p->kernel_rows),
		 buf_cstr(&p->storage_rows), buf_cstr(&p->step_rows), buf_cstr(&p->result_rows));
	return buf_check(out, e);
}
