/* The walk over inputs and modules: see origin.h. Python code is written as a person would:
 * children of a Sequential or ModuleList by index, others by name. */
#include "solve/origin.h"

#include <ctype.h>
#include <stdio.h>

enum { DEPTH_MOST = 24 };

struct walk {
	struct arena *a;
	struct host *h;
	origin_fn *fn;
	void *ctx;
	int rc;
	const struct obj *seen[DEPTH_MOST];      /* the objects that hold this one: cycles end */
	int depth;
};

static void note(struct walk *w, struct val v, const char *code);

static int is_identifier(struct str s)
{
	if (!s.n || isdigit((unsigned char)s.p[0]))
		return 0;
	for (size_t i = 0; i < s.n; i++)
		if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '_')
			return 0;
	return 1;
}

static const char *member(struct walk *w, struct val of, const char *code, struct str name)
{
	struct arena *a = w->a;
	const char *c = val_type_name(w->h, of);
	int64_t i;

	/* self.__fc of class Model is self.__fc of ModelNew */
	if (!strcmp(code, "self") && str_starts(name, "_Model__"))
		return arena_printf(a, "self.%.*s", (int)name.n - 6, name.p + 6);
	if (is_identifier(name) && strcmp(c, "ModuleDict") && strcmp(c, "ParameterDict"))
		return arena_printf(a, "%s.%.*s", code, STR_ARG(name));
	if (!str_to_i64(name, &i) && (val_isinstance(w->h, of, "torch.nn.Sequential") ||
				      val_isinstance(w->h, of, "torch.nn.ModuleList") ||
				      val_isinstance(w->h, of, "torch.nn.ParameterList")))
		return arena_printf(a, "%s[%lld]", code, (long long)i);
	if (!strcmp(c, "ModuleDict") || !strcmp(c, "ParameterDict"))
		return arena_printf(a, "%s[\"%.*s\"]", code, STR_ARG(name));
	return arena_printf(a, "getattr(%s, \"%.*s\")", code, STR_ARG(name));
}

/* The tables of nn.Module hold members under their own names. */
static int is_table(struct str name)
{
	return str_is(name, "_parameters") || str_is(name, "_buffers") || str_is(name, "_modules");
}

static void note_attrs(struct walk *w, struct val of, const struct dict_obj *d, const char *code)
{
	for (size_t i = 0; i < d->n; i++) {
		struct val key = d->e[i].key, v = d->e[i].val;

		if (key.kind != V_STR)
			continue;
		if (is_table(val_text(key)) && v.kind == V_DICT)
			note_attrs(w, of, v.u.d, code);
		else if (str_starts(val_text(key), "_") && v.kind != V_TENSOR && v.kind != V_OBJECT)
			continue;
		else
			note(w, v, member(w, of, code, val_text(key)));
	}
}

static void note_items(struct walk *w, struct val v, const char *code)
{
	struct arena *a = w->a;

	for (size_t i = 0; v.kind != V_DICT && i < v.u.seq->n; i++)
		note(w, v.u.seq->v[i], arena_printf(a, "%s[%zu]", code, i));
	for (size_t i = 0; v.kind == V_DICT && i < v.u.d->n; i++)
		if (v.u.d->e[i].key.kind == V_STR)
			note(w, v.u.d->e[i].val, arena_printf(a, "%s[\"%s\"]", code, v.u.d->e[i].key.u.s->p));
}

static void note(struct walk *w, struct val v, const char *code)
{
	if (w->rc)
		return;
	if (v.kind == V_TENSOR) {
		w->rc = w->fn(w->ctx, v, code);
		return;
	}
	if (v.kind != V_OBJECT && v.kind != V_LIST && v.kind != V_TUPLE && v.kind != V_DICT)
		return;
	/* the tensor of a numpy array is not a member of numpy's own arrays */
	if (lower_unwrap(v).kind == V_TENSOR)
		return;
	if (w->depth == DEPTH_MOST)
		return;
	for (int i = 0; i < w->depth; i++)
		if (w->seen[i] == v.u.o)
			return;
	w->seen[w->depth++] = v.u.o;
	if (v.kind != V_OBJECT)
		note_items(w, v, code);
	else if (v.u.o->attrs)
		note_attrs(w, v, v.u.o->attrs, code);
	w->depth--;
}

int origin_walk(struct arena *a, struct host *h, struct val v, const char *code, origin_fn *fn, void *ctx)
{
	struct walk w = { .a = a, .h = h, .fn = fn, .ctx = ctx };

	note(&w, v, code);
	return w.rc;
}

static int note_arg(void *ctx, struct val v, const char *code)
{
	trace_arg(ctx, v.u.t, code);
	return 0;
}

void origin_note(struct trace *t, struct host *h, struct val v, const char *code)
{
	origin_walk(&t->g.pool->arena, h, v, code, note_arg, t);
}
