/* Names: loading, storing and deleting variables of the current frame.
 *
 * scope.c has decided which variable each name means. Here the decision is carried out:
 * - local:  f->slots[index]; a local that a closure shares is a V_CELL in its slot (VAR_CELL);
 * - free:   f->cells[index], a cell of an enclosing function;
 * - name:   a dictionary, in module and class bodies;
 * - global: the module's dictionary, then its lazy definitions, then the builtins.
 * Results are held as temporaries: `x + f()` may rebind x in f. */
#include "interp/dict.h"
#include "interp/exec.h"
#include "interp/fail.h"
#include "interp/frame.h"
#include "interp/heap.h"
#include "interp/import.h"
#include "interp/object.h"
#include "interp/scope.h"
#include "interp/state.h"

/* Builtins of Python that programs do not get, with the reason of the refusal (refuse.def).
 * Using one ends the program; it cannot be caught as a NameError to detect the judge. */
static const struct { const char *name; enum reason reason; } refused[] = {
#define REFUSE(name, why) { #name, REASON_##why },
#include "interp/refuse.def"
#undef REFUSE
};

static int missing_name(struct host *h, struct str_obj *id)
{
	for (size_t i = 0; i < COUNT_OF(refused); i++)
		if (!strcmp(refused[i].name, id->p))
			return host_fatal(h, refused[i].reason, "name '%s' is not available here", id->p);
	return host_raise(h, EXC_NameError, "name '%s' is not defined", id->p);
}

/* A name that is no local: module, then builtins. A prelude module defines its names on first
 * use (lazy), so an absent name may still exist. */
static int global_load(struct host *h, struct host_frame *f, struct str_obj *name, struct val *out)
{
	struct val *v = attrs_get(f->mod->h.attrs, name);
	int found;

	if (v) {
		*out = host_hold(h, *v);
		return 0;
	}
	found = f->mod->lazy ? module_attr(h, f->mod, name, out) : 0;
	if (!found)
		found = module_attr(h, h->builtins, name, out);
	if (found)
		return found < 0 ? -1 : 0;
	return missing_name(h, name);
}

/* CPython's message for a variable that exists but has no value yet: `def f(): print(x); x =
 * 1`. */
static int unbound(struct host *h, const char *name, int free)
{
	if (free)
		return host_raise(h, EXC_NameError,
			"cannot access free variable '%s' where it is not associated with a value in enclosing scope",
			name);
	return host_raise(h, EXC_UnboundLocalError,
			  "cannot access local variable '%s' where it is not associated with a value", name);
}

/* The variable of a function or class scope. NULL in a module, where names are in a dictionary. */
static const struct var *find_var(const struct host_frame *f, struct str id)
{
	return f->scope && f->scope->kind != SCOPE_MODULE ? scope_find(f->scope, id.p) : NULL;
}

/* A name in an expression. In a class body a name that the body binds is looked up in the
 * body's dictionary first and then globally, never in an enclosing function. */
int name_load(struct host *h, struct host_frame *f, struct str id, struct val *out)
{
	const struct var *var = find_var(f, id);
	struct str_obj *name;

	if (var && (var->kind == VAR_LOCAL || var->kind == VAR_CELL || var->kind == VAR_FREE)) {
		struct val v = var->kind == VAR_FREE ? f->cells[var->index] : f->slots[var->index];
		struct str_obj *s;

		if (v.kind == V_CELL)
			v = CELL_VALUE(v);
		if (v.kind != V_UNSET) {
			*out = host_hold(h, v);
			return 0;
		}
		s = host_ident(h, id);
		return s ? unbound(h, s->p, var->kind == VAR_FREE) : -1;
	}
	name = attr_ident(h, f, id);
	if (!name)
		return -1;
	if (f->names && (!var || var->kind == VAR_NAME)) {
		struct val *v = attrs_get(f->names, name);
		if (v) {
			*out = host_hold(h, *v);
			return 0;
		}
	}
	return global_load(h, f, name, out);
}

/* A name as the target of an assignment. A module-level or `global` name goes to the module's
 * dictionary. */
int name_store(struct host *h, struct host_frame *f, struct str id, struct val v)
{
	const struct var *var = find_var(f, id);
	struct dict_obj *into;
	struct str_obj *name;

	if (var && (var->kind == VAR_LOCAL || var->kind == VAR_CELL || var->kind == VAR_FREE)) {
		struct val *slot = var->kind == VAR_FREE ? &f->cells[var->index] : &f->slots[var->index];
		if (slot->kind == V_CELL)
			slot = &CELL_VALUE(*slot);
		val_assign(h, slot, v);
		return 0;
	}
	name = attr_ident(h, f, id);
	if (!name)
		return -1;
	into = f->names && (!var || var->kind == VAR_NAME) ? f->names : f->mod->h.attrs;
	return attrs_set(h, into, name, v);
}

/* `del x`. The slot of a local becomes V_UNSET, so a later use raises UnboundLocalError. */
int name_delete(struct host *h, struct host_frame *f, struct str id)
{
	const struct var *var = find_var(f, id);
	struct str_obj *name = host_ident(h, id);
	struct dict_obj *from;

	if (!name)
		return -1;
	if (var && (var->kind == VAR_LOCAL || var->kind == VAR_CELL || var->kind == VAR_FREE)) {
		struct val *slot = var->kind == VAR_FREE ? &f->cells[var->index] : &f->slots[var->index];
		if (slot->kind == V_CELL)
			slot = &CELL_VALUE(*slot);
		if (slot->kind == V_UNSET)
			return unbound(h, name->p, var->kind == VAR_FREE);
		val_assign(h, slot, (struct val){ .kind = V_UNSET });
		return 0;
	}
	from = f->names && (!var || var->kind == VAR_NAME) ? f->names : f->mod->h.attrs;
	if (!attrs_del(h, from, name))
		return host_raise(h, EXC_NameError, "name '%s' is not defined", name->p);
	return 0;
}

/* Name mangling: inside class _Net, self.__w is self._Net__w with leading underscores of the
 * class name dropped: "_Net__w". Names such as __init__ stay. */
struct str_obj *attr_ident(struct host *h, const struct host_frame *f, struct str id)
{
	struct val s;
	struct str cls;

	if (id.n < 3 || id.p[0] != '_' || id.p[1] != '_' || !f->scope || !f->scope->private_name.p ||
	    str_ends(id, "__"))
		return host_ident(h, id);
	cls = f->scope->private_name;
	while (cls.n && cls.p[0] == '_')
		cls.p++, cls.n--;
	return val_strf(h, &s, "_%.*s%.*s", STR_ARG(cls), STR_ARG(id)) ? NULL : host_intern(h, val_text(s));
}
