/* The new forward of a solution: memory, launches, the return statement. */
#include <math.h>
#include <stdio.h>

#include "py/repr.h"
#include "solve/emit.h"
#include "solve/write.h"

/* A value in host code: an argument's own code, or the variable of its memory. */
static const char *host_name(struct solution_text *w, int value)
{
	const struct value *v = graph_value(&w->t->g, value);

	if (v->into >= 0)
		v = graph_value(&w->t->g, v->into);
	return v->kind == VALUE_ARG ? v->name : emit_value_name(w->cut, value);
}

static void write_shape(const struct value *v, struct buf *b)
{
	int rank = v->rank_out >= 0 ? v->rank_out : v->rank, n = 0;
	const int64_t *size = v->rank_out >= 0 ? v->shape_out : v->size;
	int64_t loops[GRAPH_RANK];

	/* loops of one turn are no dimensions of memory */
	for (int d = 0; d < rank && v->rank_out < 0 && v->kind != VALUE_ARG; d++)
		if (size[d] != 1)
			loops[n++] = size[d];
	if (n) {
		rank = n;
		size = loops;
	}
	buf_addc(b, '(');
	for (int d = 0; d < rank; d++)
		buf_addf(b, "%lld%s", (long long)size[d], d + 1 < rank ? ", " : rank == 1 ? "," : "");
	buf_addc(b, ')');
}

/* The device of the memory of results: that of the first argument on the GPU, of inputs if there are any. */
static const char *device_of(struct solution_text *w)
{
	const struct value *found = NULL;

	for (size_t i = 0; i < w->t->g.values.n; i++) {
		const struct value *v = &w->t->g.values.v[i];

		if (v->kind != VALUE_ARG || v->on_cpu)
			continue;
		if (!v->of_model) {
			found = v;
			break;
		}
		found = found ? found : v;
	}
	return found ? arena_printf(&w->t->g.pool->arena, "%s.device", found->name) : "\"cuda\"";
}

static void write_empty(struct solution_text *w, int value, const char *indent, struct buf *b)
{
	const struct value *v = graph_value(&w->t->g, value);

	buf_addf(b, "%s%s = torch.empty(", indent, emit_value_name(w->cut, value));
	write_shape(v, b);
	buf_addf(b, ", device=%s, dtype=torch.%s)\n", device_of(w), dtype_info(v->dt)->torch);
}

/* Memory for what a kernel stores, unless it goes to memory of an argument. */
static void write_memory(struct solution_text *w, const struct kernel *k, const char *indent, struct buf *b)
{
	for (int i = 0; i < k->n_passes; i++) {
		const struct value *v = graph_value(&w->t->g, k->pass[i].value);

		if (k->pass[i].store && v->into < 0)
			write_empty(w, k->pass[i].value, indent, b);
	}
}

static void write_launch(struct solution_text *w, const struct emitted *p, const char *indent, struct buf *b)
{
	buf_addf(b, "%s%s[%s](", indent, p->fn, p->grid);
	for (int i = 0; i < p->n_args; i++) {
		buf_addf(b, "%s%s", i ? ", " : "", host_name(w, p->arg[i]));
		if (graph_value(&w->t->g, p->arg[i])->on_cpu)
			buf_addf(b, ".to(%s)", device_of(w));
	}
	buf_addf(b, "%s)\n", p->consts);
}

/* --- the return statement ------------------------------------------------------------------------- */

static int write_value(struct solution_text *w, struct val v, size_t *next, struct buf *b);

static int write_items(struct solution_text *w, struct val v, size_t *next, struct buf *b)
{
	int rc = 0;

	buf_addc(b, v.kind == V_TUPLE ? '(' : '[');
	for (size_t i = 0; i < v.u.seq->n && !rc; i++) {
		if (i)
			buf_adds(b, ", ");
		rc = write_value(w, v.u.seq->v[i], next, b);
	}
	if (v.kind == V_TUPLE && v.u.seq->n == 1)
		buf_addc(b, ',');
	buf_addc(b, v.kind == V_TUPLE ? ')' : ']');
	return rc;
}

static int write_dict(struct solution_text *w, struct val v, size_t *next, struct buf *b)
{
	const char *sep = "";
	int rc = 0;

	buf_addc(b, '{');
	for (size_t i = 0; i < v.u.d->n && !rc; i++) {
		if (v.u.d->e[i].key.kind == V_UNSET)
			continue;
		buf_adds(b, sep);
		sep = ", ";
		rc = write_value(w, v.u.d->e[i].key, next, b);
		buf_adds(b, ": ");
		rc = rc || write_value(w, v.u.d->e[i].val, next, b);
	}
	buf_addc(b, '}');
	return rc;
}

/* Tensors come in the order in which write_results met them. */
static int write_value(struct solution_text *w, struct val v, size_t *next, struct buf *b)
{
	switch (v.kind) {
	case V_TENSOR:
		buf_adds(b, host_name(w, w->t->results.v[(*next)++]));
		buf_adds(b, v.u.t->device == HOST_CPU ? ".cpu()" : "");
		return 0;
	case V_NONE:
		buf_adds(b, "None");
		return 0;
	case V_BOOL:
		buf_adds(b, v.u.i ? "True" : "False");
		return 0;
	case V_INT:
		buf_addf(b, "%lld", (long long)v.u.i);
		return 0;
	case V_FLOAT:
		if (isfinite(v.u.f))
			py_repr_float(v.u.f, b);
		else
			buf_addf(b, "float(\"%g\")", v.u.f);
		return 0;
	case V_STR:
		buf_addf(b, "\"%s\"", v.u.s->p);
		return strpbrk(v.u.s->p, "\"\\\n") != NULL;
	case V_TUPLE:
	case V_LIST:
		return write_items(w, v, next, b);
	case V_DICT:
		return write_dict(w, v, next, b);
	default:
		return 1;
	}
}

/* Names the sizes that may vary: `size = x.shape[2]`. Without fine samples, formulas hold for every
 * step-th size. */
static void write_sizes(struct solution_text *w, const char *indent, struct buf *b)
{
	for (int i = 0; w->sizes && i < w->sizes->n; i++) {
		const struct size_var *v = &w->sizes->v[i];

		buf_addf(b, "%s%s = %s\n", indent, v->name, w->size_code[i]);
		if (v->step > 1 && !v->fine)
			buf_addf(b, "%sassert %s %% %lld == %lld\n", indent, v->name, (long long)v->step,
				 (long long)(v->first % v->step));
	}
}

/* Kernels hold the sizes of the task as numbers, so forward refuses inputs of other shapes. If sizes of the
 * model may vary, weights are checked, too. */
static void write_checks(struct solution_text *w, const char *indent, struct buf *b)
{
	write_sizes(w, indent, b);
	for (size_t i = 0; i < w->t->g.values.n; i++) {
		const struct value *v = &w->t->g.values.v[i];

		if (v->kind != VALUE_ARG || !v->live || (!w->model_sizes && v->of_model))
			continue;
		buf_addf(b, "%sassert %s.shape == ", indent, v->name);
		write_shape(v, b);
		buf_addc(b, '\n');
	}
}

/* The schedule of the i-th kernel: that of an earlier solution, if there is one. */
static struct sched schedule(struct solution_text *w, size_t i)
{
	struct sched_wish wish = { .draw = w->o->draw, .tf32 = w->o->tf32, .ieee = w->o->ieee,
				   .general = w->sizes ? 1 + w->with_model : 0 };
	struct sched s;

	if (w->scheds && i < w->scheds->n)
		return w->scheds->v[i];
	s = sched_choose(w->cut, &w->cut->kernels.v[i], &wish);
	if (w->scheds && vec_push(w->scheds, s))
		longjmp(*w->t->g.pool->arena.trap, 1);
	return s;
}

int write_forward(struct solution_text *w, const char *indent, struct buf *kernels, struct buf *body)
{
	size_t next = 0;

	write_checks(w, indent, body);
	for (size_t i = 0; i < w->cut->kernels.n; i++) {
		const struct kernel *k = &w->cut->kernels.v[i];
		struct sched s = schedule(w, i);
		struct emitted p;

		if (emit_kernel(w->cut, k, &s, kernels, &p))
			return 1;
		buf_adds(kernels, "\n\n");
		write_memory(w, k, indent, body);
		write_launch(w, &p, indent, body);
	}
	for (size_t i = 0; i < w->t->results.n; i++)
		if (!graph_value(&w->t->g, w->t->results.v[i])->numel)
			write_empty(w, w->t->results.v[i], indent, body);
	buf_addf(body, "%sreturn ", indent);
	if (write_value(w, w->result, &next, body))
		return 1;
	buf_addc(body, '\n');
	return 0;
}
