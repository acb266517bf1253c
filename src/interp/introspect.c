/* Introspection that only a reference may use: locals() and vars(). A judged candidate that calls one
 * is refused, because it could look into the objects of the judge. */
#include "interp/dict.h"
#include "interp/fail.h"
#include "interp/frame.h"
#include "interp/heap.h"
#include "interp/scope.h"
#include "interp/state.h"

/* Refuses the call unless the program is a reference. */
static int refuse(struct bind *b, const char *name)
{
	return b->h->o.is_reference ? 0 :
		host_fatal(b->h, REASON_forbidden_name, "name '%s' is not available here", name);
}

/* The identifier at `p` in a source text. It ends before the first byte that no identifier has. */
static struct str identifier_at(const char *p)
{
	size_t n = 0;

	while ((p[n] >= 'a' && p[n] <= 'z') || (p[n] >= 'A' && p[n] <= 'Z') || (p[n] >= '0' && p[n] <= '9') ||
	       p[n] == '_' || (unsigned char)p[n] >= 0x80)
		n++;
	return (struct str){ .p = p, .n = n };
}

/* The variable of a function that has slot `index`; NULL: none. */
static const struct var *var_at(const struct scope *s, int index)
{
	for (size_t i = 0; i <= s->mask; i++) {
		const struct var *v = &s->vars[i];

		if (v->id && (v->kind == VAR_LOCAL || v->kind == VAR_CELL) && v->index == index)
			return v;
	}
	return NULL;
}

/* Adds the variables of a function that have a value, parameters first. */
static int add_slots(struct host *h, const struct host_frame *f, struct val dict)
{
	for (int i = 0; i < f->scope->n_slots; i++) {
		const struct var *var = var_at(f->scope, i);
		struct val v = f->slots[i], name;

		if (v.kind == V_CELL)
			v = CELL_VALUE(v);
		if (!var || v.kind == V_UNSET)
			continue;
		if (val_str(h, identifier_at(var->id), &name) || dict_set(h, dict, name, v))
			return -1;
	}
	return 0;
}

/* A method that calls super() also sees its class as __class__. */
static int add_class(struct host *h, const struct host_frame *f, struct val dict)
{
	struct val c = f->fn ? f->fn->class_cell : val_none();

	if (c.kind != V_CELL || CELL_VALUE(c).kind != V_CLASS)
		return 0;
	return dict_set(h, dict, val_of_str(h->nm[NM___class__]), CELL_VALUE(c));
}

/* locals(): in a function a new dictionary, in a module or class body the namespace itself. */
static int b_locals(struct bind *b)
{
	const struct host_frame *f = b->h->frame;

	if (refuse(b, "locals"))
		return -1;
	if (f->names) {
		b->out = val_obj(&f->names->h);
		return 0;
	}
	if (val_dict(b->h, &b->out) || (f->slots && add_slots(b->h, f, b->out)))
		return -1;
	return add_class(b->h, f, b->out);
}

/* vars(x): the __dict__ of an object, class or module; vars() is locals(). */
static int b_vars(struct bind *b)
{
	struct val v;
	int found;

	if (refuse(b, "vars"))
		return -1;
	if (b->a[0].kind == V_UNSET)
		return b_locals(b);
	if (b->a[0].kind == V_MODULE && b->a[0].u.mod->trusted)
		return bind_unsupported(b, "vars() of a library module");
	found = host_getattr(b->h, b->a[0], "__dict__", &v);
	if (!found)
		return bind_raise(b, EXC_TypeError, "vars() argument must have __dict__ attribute");
	b->out = v;
	return found < 0 ? -1 : 0;
}

const struct bind_row introspect_rows[] = {
	{ "builtins.locals", "", b_locals, 0 },
	{ "builtins.vars", "obj=?, /", b_vars, 0 },
	{ NULL, NULL, NULL, 0 }
};
