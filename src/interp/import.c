/* Modules: import statements, and members of modules, which are made at first use from binding
 * rows, built-in types and prelude definitions.
 *
 * A library module (trusted) is lazy: torch.nn.Linear is evaluated from its prelude file when a
 * program first names it. The prelude itself stays invisible: a program sees a name only if the
 * real library has it (module_obj.known), so it cannot tell this engine from PyTorch. */
#include <stdio.h>

#include "interp/attr.h"
#include "interp/dict.h"
#include "interp/exec.h"
#include "interp/fail.h"
#include "interp/frame.h"
#include "interp/heap.h"
#include "interp/import.h"
#include "interp/ptrmap.h"
#include "interp/scope.h"
#include "interp/state.h"

/* Top-level modules that lead to files, processes or the interpreter (import.def). */
static const struct { const char *name; int closed; } forbidden[] = {
#define IMPORT_FORBIDDEN(name) { #name, 0 },
#define IMPORT_CLOSED(name) { #name, 1 },
#define IMPORT_ALIAS(prefix, is)
#include "interp/import.def"
#undef IMPORT_ALIAS
#undef IMPORT_CLOSED
#undef IMPORT_FORBIDDEN
};

/* A module that leads outside is forbidden, so that its import ends the program, or closed, so that
 * only its use does. */
enum outside { OUTSIDE_NOT, OUTSIDE_CLOSED, OUTSIDE_FORBIDDEN };

static enum outside leads_outside(struct str name)
{
	struct str rest = name, top = str_cut(&rest, '.');

	for (size_t i = 0; i < COUNT_OF(forbidden); i++)
		if (str_is(top, forbidden[i].name))
			return forbidden[i].closed ? OUTSIDE_CLOSED : OUTSIDE_FORBIDDEN;
	return OUTSIDE_NOT;
}

/* Modules that are another module under a second name. */
static const struct { const char *prefix; size_t n; const char *is; } aliases[] = {
#define IMPORT_ALIAS(prefix, is) { #prefix, sizeof #prefix - 1, #is },
#define IMPORT_FORBIDDEN(name)
#define IMPORT_CLOSED(name)
#include "interp/import.def"
#undef IMPORT_CLOSED
#undef IMPORT_FORBIDDEN
#undef IMPORT_ALIAS
};

/* The module that a name refers to: torch.nn.parameter is torch.nn here. A module that is named as
 * its own alias holds the contents of its real submodules: torch.distributions.normal is
 * torch.distributions. */
static struct str canonical(struct host *h, struct str name)
{
	for (size_t i = 0; i < COUNT_OF(aliases); i++) {
		size_t n = aliases[i].n;

		if ((name.n != n && (name.n < n || name.p[n] != '.')) || memcmp(name.p, aliases[i].prefix, n) != 0)
			continue;
		if (name.n > n && !strcmp(aliases[i].prefix, aliases[i].is) && !lib_knows_module(h->lib, name))
			continue;
		return str_of(aliases[i].is);
	}
	return name;
}

/* Does the library have anything below this name? Modules of triton.language that only kernels
 * use are listed by hand. */
static int is_module(struct host *h, struct str name)
{
	static const char *const language[] = {
		"triton.language.math", "triton.language.libdevice", "triton.language.extra",
		"triton.language.extra.libdevice",
		"triton.language.extra.cuda", "triton.language.extra.cuda.libdevice", "triton.language.core",
		"triton.language.standard",
		"triton.language.random", "triton.language.semantic",
	};
	for (size_t i = 0; i < COUNT_OF(language); i++)
		if (str_is(name, language[i]))
			return 1;
	return map_get(&h->lib->modules, name) != NULL;
}

/* A module of the library. `of` is the module whose second name this is, or NULL. */
static int make_module(struct host *h, struct str name, struct module_obj *of, struct val *out)
{
	struct module_obj *m;

	if (host_module(h, name, &m))
		return -1;
	m->trusted = 1;
	m->lazy = h->lib;
	m->of = of;
	m->known = lib_line(h->lib, name);
	m->closed = leads_outside(name) == OUTSIDE_CLOSED ? REASON_forbidden_name : REASON_ok;
	*out = val_obj(&m->h);
	return 0;
}

/* A module of Python that this engine lacks. Importing it is harmless; the use of a name of it ends
 * the program. */
static int empty_module(struct host *h, struct str name, struct val *out)
{
	struct str_obj *key = host_intern(h, name);

	if (!key || make_module(h, name, NULL, out))
		return -1;
	if (!out->u.mod->closed)
		out->u.mod->closed = REASON_unsupported;
	return attrs_set(h, h->modules, key, *out);
}

/* A module that does not exist here. A forbidden one, and a part of a library that only this engine
 * lacks, end the program; a module of Python's own is empty. Otherwise the import is the program's
 * mistake, and ModuleNotFoundError may be caught if no machine has the module. */
static int unknown_module(struct host *h, struct str name, struct val *out)
{
	struct str rest = name, top = str_cut(&rest, '.');
	int known = lib_knows_module(h->lib, name);

	if (leads_outside(name) == OUTSIDE_FORBIDDEN)
		return host_fatal(h, REASON_forbidden_name, "module '%.*s' is not available here", STR_ARG(name));
	if (known && !map_get(&h->lib->modules, top) && !h->o.may_vary)
		return empty_module(h, name, out);
	if (known && !h->o.may_vary)
		return host_fatal(h, REASON_unsupported, "module '%.*s' is not supported here", STR_ARG(name));
	if (lib_knows_module(h->lib, top))
		return host_raise_sure(h, EXC_ModuleNotFoundError, "No module named '%.*s'", STR_ARG(name));
	return host_raise(h, EXC_ModuleNotFoundError, "No module named '%.*s'", STR_ARG(name));
}

/* The module of a dotted name, made at first use. Returns 1 if found, 0 if it does not exist, -1 on
 * failure. */
static int get_module(struct host *h, struct str name, struct val *out)
{
	struct str_obj *key = host_intern(h, name);
	struct val *old = key ? attrs_get(h->modules, key) : NULL, of = { .kind = V_NONE };
	struct str is = canonical(h, name);

	if (!key)
		return -1;
	if (old) {
		*out = *old;
		return 1;
	}
	if (!is_module(h, is))
		return 0;
	if (!str_eq(is, name) && get_module(h, is, &of) < 0)
		return -1;
	if (make_module(h, name, of.kind == V_MODULE ? of.u.mod : NULL, out))
		return -1;
	return attrs_set(h, h->modules, key, *out) ? -1 : 1;
}

/* A judged program that asks inside a try statement for what this engine lacks would continue with the
 * answer of another engine. Returns 0, or -1 with the program ended. */
static int refuse_probe(struct host *h, struct str name)
{
	return h->tries && !h->o.is_reference ?
		host_fatal(h, REASON_unsupported, "%.*s is not supported here", STR_ARG(name)) : 0;
}

/* A module that the real library has and this engine lacks, such as torch.optim. Importing it costs
 * nothing; a member that is used is refused by its name. Returns 1, 0 or -1. */
static int absent_module(struct host *h, struct str name, struct val *out)
{
	struct str_obj *key;

	if (leads_outside(name) != OUTSIDE_NOT || h->o.may_vary || !lib_knows_module(h->lib, name))
		return 0;
	key = refuse_probe(h, name) ? NULL : host_intern(h, name);
	return !key || make_module(h, name, NULL, out) || attrs_set(h, h->modules, key, *out) ? -1 : 1;
}

/* The module `name`, or ModuleNotFoundError. */
int import_module(struct host *h, struct str name, struct val *out)
{
	int found = get_module(h, name, out);
	struct val parent;
	ptrdiff_t dot;

	if (found)
		return found < 0 ? -1 : 0;
	/* import torch.backends.cudnn: a member of a module that acts as a module */
	dot = -1;
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] == '.')
			dot = (ptrdiff_t)i;
	if (dot > 0 && get_module(h, (struct str){ .p = name.p, .n = (size_t)dot }, &parent) > 0) {
		struct str_obj *s = host_intern(h, (struct str){ .p = name.p + dot + 1,
								 .n = name.n - (size_t)dot - 1 });
		found = s ? module_attr(h, parent.u.mod, s, out) : -1;
		if (found)
			return found < 0 ? -1 : 0;
	}
	found = absent_module(h, name, out);
	if (found)
		return found < 0 ? -1 : 0;
	return unknown_module(h, name, out);
}

/* Evaluates the top-level statement of a prelude file that defines `name`. Returns 1, 0 or -1. */
static int run_definition(struct host *h, struct module_obj *m, struct unit *u, struct str_obj *name, struct val *out)
{
	struct map_entry *e = map_get(&u->defs, (struct str){ .p = name->p, .n = name->n });
	struct val *v;
	enum flow w;
	struct py_node *stmt;
	struct py_list one;
	struct host_frame f;

	if (!e)
		return 0;
	stmt = e->val.ptr;
	one = (struct py_list){ .v = &stmt, .n = 1 };
	f = (struct host_frame){ .up = h->frame, .unit = u, .mod = m, .names = m->h.attrs };
	if (host_enter(h))
		return -1;
	h->frame = &f;
	w = exec_block(h, &f, &one);
	h->frame = f.up;
	host_leave(h);
	if (w == FLOW_FAIL)
		return -1;
	v = attrs_get(m->h.attrs, name);
	if (!v)
		return 0;
	*out = host_hold(h, *v);
	return 1;
}

/* A name of triton.language. Host code only passes it on; kernels give it a meaning. */
static int make_tl(struct host *h, struct str dotted, struct val *out)
{
	struct str_obj *o = host_obj(h, V_TL, sizeof *o + dotted.n + 1, NULL);
	if (!o)
		return -1;
	o->n = dotted.n;
	memcpy(o->p, dotted.p, dotted.n);
	*out = val_obj(&o->h);
	return 1;
}

static int own_attr(struct host *h, struct module_obj *m, struct str_obj *name, struct val *out);

/* A name that a library module has for other reasons than a definition: a module that it imports
 * (torch.nn.functional.math), or a function of torch that is kept apart (torch._shadow). */
static int imported_name(struct host *h, struct module_obj *m, struct str_obj *name, struct val *out)
{
	struct str bare = { .p = name->p, .n = name->n };
	struct val home;
	int found;

	if (!m->known.n || !lib_line_has(m->known, bare) || !host_serves_program(h) || str_starts(bare, "_"))
		return 0;
	if (!strcmp(m->name->p, "torch")) {
		found = get_module(h, STR("torch._shadow"), &home) < 0 ? -1 : own_attr(h, home.u.mod, name, out);
		if (found)
			return found;
	}
	return lib_knows_module(h->lib, bare) ? get_module(h, bare, out) : 0;
}

/* Makes a member of a library module: a built-in type, a binding, a prelude definition, a
 * submodule, or a name of triton.language. Returns 1, 0 or -1. */
static int make_member(struct host *h, struct module_obj *m, struct str_obj *name, struct str dotted, struct val *out)
{
	int top = m == h->builtins;
	struct str bare = { .p = name->p, .n = name->n };
	struct str_obj *key = host_intern(h, top ? bare : dotted);
	struct class_obj *native;
	struct unit *u;
	int found = key ? host_find_native(h, key, &native) : -1;

	if (found > 0)
		*out = val_obj(&native->h);
	if (found)
		return found;
	found = builtin_lookup(h, dotted, out);
	if (found)
		return found;
	u = lib_unit(h, dotted);
	if (h->fail.fatal)
		return -1;
	if (u)
		return run_definition(h, m, u, name, out);
	found = top ? 0 : get_module(h, dotted, out);
	if (found)
		return found;
	/* A prelude file may name another module without importing it. */
	if (m->trusted && !top && h->frame && h->frame->mod == m)
		return get_module(h, bare, out);
	if (str_starts(dotted, "triton.language."))
		return make_tl(h, dotted, out);
	if (lib_knows_module(h->lib, dotted) == LIB_MODULE)
		return absent_module(h, dotted, out);
	return top ? 0 : imported_name(h, m, name, out);
}

/* Rows marked BIND_INTERNAL are for the prelude only. */
static int is_visible(const struct host *h, struct val v)
{
	int internal = v.kind == V_BUILTIN && v.u.b->row->flags & BIND_INTERNAL;
	return !internal || (h->frame && h->frame->mod->trusted);
}

/* A name that PyTorch 2.11 no longer has, or never had. Kernels generated by earlier versions
 * import names of torch._inductor that are gone; they may, unless a try statement asks whether
 * the name exists. Returns 1 if the program may see it, 0 if not, -1 if it is refused. */
static int is_older(struct host *h, struct str name)
{
	if (!str_starts(name, "torch._inductor"))
		return 0;
	return h->tries ? host_fatal(h, REASON_unstable,
				     "a try statement around '%.*s', which PyTorch no longer has, is not supported",
				     STR_ARG(name)) : 1;
}

/* May the program see this name of a library module? Only if the real module has it. Returns 1 if
 * it may, 0 if not, -1 on failure. */
static int is_real(struct host *h, const struct module_obj *m, const struct str_obj *name)
{
	struct str own = { .p = m->name->p, .n = m->name->n };

	if (!host_serves_program(h) || lib_line_has(m->known, (struct str){ .p = name->p, .n = name->n }))
		return 1;
	/* A real module whose names are not listed: a reference may see what is here. */
	if (!m->known.n && h->o.is_reference && lib_knows_module(h->lib, own))
		return 1;
	return is_older(h, own);
}

/* A member of the module itself, made and kept at first use. */
static int own_attr(struct host *h, struct module_obj *m, struct str_obj *name, struct val *out)
{
	struct val *v = attrs_get(m->h.attrs, name);
	char dotted[200];
	int found, n;

	if (v) {
		*out = host_hold(h, *v);
		return is_visible(h, *v);
	}
	if (!m->lazy)
		return 0;
	n = str_dotted(dotted, sizeof dotted, (struct str){ .p = m->name->p, .n = m->name->n },
		       (struct str){ .p = name->p, .n = name->n });
	if (n < 0)
		return 0;
	found = make_member(h, m, name, (struct str){ .p = dotted, .n = (size_t)n }, out);
	if (found > 0 && attrs_set(h, m->h.attrs, name, *out))
		return -1;
	return found > 0 ? is_visible(h, *out) : found;
}

/* A member of a module that is another one under a second name. Its real submodules come first:
 * triton.runtime.jit is a module although triton.runtime means triton. */
static int alias_attr(struct host *h, struct module_obj *m, struct str_obj *name, struct val *out)
{
	char dotted[200];
	int n = str_dotted(dotted, sizeof dotted, (struct str){ .p = m->name->p, .n = m->name->n },
			   (struct str){ .p = name->p, .n = name->n });
	struct str whole = { .p = dotted, .n = n < 0 ? 0 : (size_t)n };
	int found = n > 0 && lib_knows_module(h->lib, whole) == LIB_MODULE ? get_module(h, whole, out) : 0;

	return found ? found : own_attr(h, m->of, name, out);
}

/* Gets module.name. Returns 1 if found, 0 if it does not exist, -1 on failure. The use of a name that
 * a closed module lacks is a failure. */
int module_attr(struct host *h, struct module_obj *m, struct str_obj *name, struct val *out)
{
	int real = m->known.n || m->of ? is_real(h, m, name) : 1, found;

	if (real <= 0)
		return real;
	found = m->of && name != h->nm[NM___name__] ? alias_attr(h, m, name, out) : own_attr(h, m, name, out);
	if (found || !m->closed || !h->frame || h->frame->mod->trusted)
		return found;
	return host_fatal(h, (enum reason)m->closed, "%s.%s is not %s here", m->name->p, name->p,
			  m->closed == REASON_forbidden_name ? "available" : "supported");
}

/* A name of a library module that the real library has and this engine lacks: a class that a program
 * may import, derive from and ask isinstance about. Calling it, or looking into it, is refused by
 * its name (class_refuse_absent). Returns 1, 0 or -1. */
int absent_name(struct host *h, struct module_obj *m, struct str_obj *name, struct val *out)
{
	struct class_obj *c, *base = h->type.object_class;
	char dotted[200];
	int n = str_dotted(dotted, sizeof dotted, (struct str){ .p = m->name->p, .n = m->name->n },
			   (struct str){ .p = name->p, .n = name->n });

	if (n < 0 || !m->trusted || h->o.may_vary || !lib_knows(h->lib, (struct str){ .p = dotted, .n = (size_t)n }))
		return 0;
	if (refuse_probe(h, (struct str){ .p = dotted, .n = (size_t)n }) || class_new(h, name, &base, 1, &c))
		return -1;
	c->mod = m;
	c->absent = 1;
	*out = val_obj(&c->h);
	return attrs_set(h, m->h.attrs, name, *out) ? -1 : 1;
}

int library_name(struct host *h, const char *module, const char *name, struct val *out)
{
	struct str_obj *s = host_intern(h, str_of(name));
	struct val home;
	int found;

	if (!s || import_module(h, str_of(module), &home))
		return -1;
	found = own_attr(h, home.u.mod, s, out);
	BUG_ON(!found);
	return found < 0 ? -1 : 0;
}

/* A method of torch.Tensor without a binding row: a definition of torch._methods in the prelude, else
 * the function of torch with the same name, if the real Tensor has it. Returns 1, 0 or -1. */
int tensor_method(struct host *h, struct str_obj *name, struct val *out)
{
	static const char *const homes[] = { "torch._methods", "torch" };
	char dotted[200];
	int found = 0;

	snprintf(dotted, sizeof dotted, "torch.Tensor.%s", name->p);
	if (name->p[0] == '_' || !lib_knows(h->lib, str_of(dotted)))
		return 0;
	for (size_t i = 0; i < COUNT_OF(homes) && !found; i++) {
		struct val home;

		if (import_module(h, str_of(homes[i]), &home))
			return -1;
		found = own_attr(h, home.u.mod, name, out);
	}
	if (found > 0 && out->kind != V_FUNC && out->kind != V_BUILTIN && out->kind != V_PROPERTY)
		return 0;
	return found;
}

/* --- import statements ------------------------------------------------------------------------------ */

/* A module that a program imports. If its first part is a real library, the library must have
 * it. */
static int program_import(struct host *h, struct str name, struct val *out)
{
	struct str rest = name, top = str_cut(&rest, '.');
	int real = !host_serves_program(h) || !lib_knows_module(h->lib, top) || lib_knows_module(h->lib, name) ?
		1 : is_older(h, name);

	if (real < 0)
		return -1;
	return real ? import_module(h, name, out) : unknown_module(h, name, out);
}

/* `import a.b as c` binds what the package a has under the name b. For torch.nn.utils.weight_norm
 * that is a function, which hides the module of the same name. */
static int unhide(struct host *h, struct str name, struct val *out)
{
	size_t dot = name.n;
	struct str_obj *last;
	struct val package;

	if (lib_knows_module(h->lib, name) != LIB_HIDDEN)
		return 0;
	while (dot && name.p[dot - 1] != '.')
		dot--;
	last = host_intern(h, (struct str){ .p = name.p + dot, .n = name.n - dot });
	if (!last || !dot || import_module(h, (struct str){ .p = name.p, .n = dot - 1 }, &package))
		return -1;
	return package.kind == V_MODULE && module_attr(h, package.u.mod, last, out) < 0 ? -1 : 0;
}

/* `import a.b as c` binds the module a.b; `import a.b` binds a. */
static int import_alias(struct host *h, struct host_frame *f, const struct py_alias *a)
{
	struct val m, top;
	struct str_obj *s;
	struct str rest, first;

	if (program_import(h, a->name, &m) || (a->asname.p && unhide(h, a->name, &m)))
		return -1;
	if (a->asname.p)
		return name_store(h, f, a->asname, m);
	rest = a->name;
	first = str_cut(&rest, '.');
	if (program_import(h, first, &top))
		return -1;
	if (first.n == a->name.n)
		return name_store(h, f, a->name, top);
	/* The identifier "a" of "a.b": the pointer that the scope knows, else by its text. */
	s = host_intern(h, first);
	if (!s)
		return -1;
	if (f->scope && f->scope->kind == SCOPE_FUNCTION)
		for (size_t i = 0; i <= f->scope->mask; i++) {
			const struct var *v = &f->scope->vars[i];
			if (v->id && !strncmp(v->id, first.p, first.n) && ptr_map_get(&h->heap.idents, v->id) == s)
				return name_store(h, f, (struct str){ .p = v->id, .n = first.n }, top);
		}
	return attrs_set(h, f->names ? f->names : f->mod->h.attrs, s, top);
}

/* from m import *: all names of m without a leading underscore. */
static int import_star(struct host *h, struct host_frame *f, struct module_obj *m)
{
	const struct map *maps[2] = { &h->lib->rows, &h->lib->prelude };
	const struct module_obj *of = m->of ? m->of : m;
	struct val v;
	if (!f->names)
		return host_raise(h, EXC_SyntaxError, "import * only allowed at module level");
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < maps[k]->n; i++) {
			struct str key = maps[k]->e[i].key;
			struct str_obj *s;
			struct str member;
			int found;

			if (!str_starts(key, of->name->p) || key.n <= of->name->n + 1 || key.p[of->name->n] != '.')
				continue;
			member = (struct str){ .p = key.p + of->name->n + 1, .n = key.n - of->name->n - 1 };
			if (memchr(member.p, '.', member.n) || member.p[0] == '_')
				continue;
			s = host_intern(h, member);
			found = s ? module_attr(h, m, s, &v) : -1;
			if (found < 0 || (found && attrs_set(h, f->names, s, v)))
				return -1;
		}
	return 0;
}

/* from m import a as b. `from __future__` has no effect. A name that is missing is an
 * ImportError, or ends the program if only this engine lacks it. */
static int import_from(struct host *h, struct host_frame *f, const struct py_node *n)
{
	const struct py_ImportFrom *im = &n->u.ImportFrom;
	struct val m, v;
	if (im->level)
		return host_raise_sure(h, EXC_ImportError, "attempted relative import with no known parent package");
	if (str_is(im->module, "__future__"))
		return 0;
	if (program_import(h, im->module, &m))
		return -1;
	if (m.kind != V_MODULE)
		return host_raise(h, EXC_ImportError, "cannot import from '%.*s'", STR_ARG(im->module));
	for (size_t i = 0; i < im->names.n; i++) {
		const struct py_alias *a = &im->names.v[i]->u.alias;
		struct str_obj *name;
		int found;

		if (str_is(a->name, "*"))
			return import_star(h, f, m.u.mod);
		name = host_ident(h, a->name);
		found = name ? module_attr(h, m.u.mod, name, &v) : -1;
		if (found < 0)
			return -1;
		if (!found && (found = absent_name(h, m.u.mod, name, &v)) < 0)
			return -1;
		if (!found)
			return host_raise_sure(h, EXC_ImportError, "cannot import name '%.*s' from '%.*s'",
					       STR_ARG(a->name), STR_ARG(im->module));
		if (name_store(h, f, a->asname.p ? a->asname : a->name, v))
			return -1;
	}
	return 0;
}

/* Either form of the import statement. */
int exec_import(struct host *h, struct host_frame *f, const struct py_node *n)
{
	if (n->kind == PY_ImportFrom)
		return import_from(h, f, n);
	for (size_t i = 0; i < n->u.Import.names.n; i++)
		if (import_alias(h, f, &n->u.Import.names.v[i]->u.alias))
			return -1;
	return 0;
}
