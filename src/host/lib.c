/* What hosts share: the index of binding rows and of prelude definitions, parsed preludes. */
#include <stdio.h>

#include "host/interp.h"
#include "host/num/num.h"
#include "host/prelude.h"

#define BIND_TABLE(name) extern const struct bind_row name[];
#include "host/bind.def"
#undef BIND_TABLE

static const struct bind_row *const tables[] = {
#define BIND_TABLE(name) name,
#include "host/bind.def"
#undef BIND_TABLE
};

static const char *const native_names[] = {
#define NATIVE(dotted, name, kind, base) dotted,
#include "host/native.def"
#undef NATIVE
#define EXC(name, base, reason) #name,
#include "host/exc.def"
#undef EXC
};

static int put(struct map *m, struct str key, const void *val)
{
	struct map_entry *e = map_put(m, key);
	if (!e)
		return -1;
	if (!e->val.ptr)
		e->val.ptr = (void *)val;
	return 0;
}

/* Every prefix of a dotted name is a module, unless it is a built-in type. */
static int add_modules(struct host_lib *lib, struct map *natives, const char *dotted)
{
	for (const char *dot = strchr(dotted, '.'); dot; dot = strchr(dot + 1, '.')) {
		struct str prefix = { .p = dotted, .n = (size_t)(dot - dotted) };
		if (map_get(natives, prefix))
			return 0;
		if (put(&lib->modules, prefix, lib))
			return -1;
	}
	return 0;
}

static int add_rows(struct host_lib *lib, struct map *natives)
{
	for (size_t t = 0; t < COUNT_OF(tables); t++)
		for (const struct bind_row *r = tables[t]; r->name; r++)
			if (put(&lib->rows, str_of(r->name), r) || add_modules(lib, natives, r->name))
				return -1;
	return 0;
}

static int is_id(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The name that a line at the left margin defines: "class X", "def f", "X = ". */
static struct str defined_name(struct str line)
{
	if (str_starts(line, "class "))
		line.p += 6, line.n -= 6;
	else if (str_starts(line, "def "))
		line.p += 4, line.n -= 4;
	else if (!line.n || !is_id(line.p[0]) || str_find(line, STR(" = ")) < 0)
		return (struct str){ .p = NULL };
	size_t n = 0;
	while (n < line.n && is_id(line.p[n]))
		n++;
	return (struct str){ .p = line.p, .n = n };
}

/* "module.name" -> unit, for every definition of a prelude file. */
static int index_prelude(struct host_lib *lib, size_t i)
{
	struct prelude p = prelude_get(i);
	struct str rest = p.text;
	struct buf key = BUF_INIT;
	int rc = 0;
	lib->units[i].ast = NULL;
	while (rest.n && !rc) {
		struct str name = defined_name(str_cut(&rest, '\n'));
		if (!name.p)
			continue;
		buf_clear(&key);
		buf_addf(&key, "%s.%.*s", p.module, STR_ARG(name));
		rc = key.failed || put(&lib->prelude, buf_str(&key), &lib->units[i]) ? -1 : 0;
	}
	buf_release(&key);
	return rc || put(&lib->modules, str_of(p.module), lib) ? -1 : 0;
}

struct host_lib *host_lib_new(struct err *e)
{
	struct host_lib *lib = mem_zalloc(sizeof *lib);
	struct map natives = MAP_INIT;
	num_init();
	if (!lib) {
		err_nomem(e);
		return NULL;
	}
	lib->n_units = prelude_count();
	lib->units = mem_array(lib->n_units + 1, sizeof *lib->units);
	int rc = lib->units ? 0 : -1;
	for (size_t i = 0; i < COUNT_OF(native_names) && !rc; i++)
		rc = put(&natives, str_of(native_names[i]), lib) || add_modules(lib, &natives, native_names[i]);
	if (!rc)
		rc = add_rows(lib, &natives);
	for (size_t i = 0; i < lib->n_units && !rc; i++)
		rc = index_prelude(lib, i);
	/* "torch.nn" of a prelude module makes "torch" one, too. */
	for (size_t i = 0; i < lib->n_units && !rc; i++)
		rc = add_modules(lib, &natives, prelude_get(i).module);
	map_release(&natives);
	if (rc) {
		host_lib_free(lib);
		err_nomem(e);
		return NULL;
	}
	return lib;
}

void host_lib_free(struct host_lib *lib)
{
	if (!lib)
		return;
	for (size_t i = 0; lib->units && i < lib->n_units; i++) {
		struct unit *u = &lib->units[i];
		if (u->ast)
			py_release(&u->own);
		arena_release(&u->arena);
		ptr_map_release(&u->scopes);
		map_release(&u->defs);
	}
	mem_free(lib->units);
	map_release(&lib->rows);
	map_release(&lib->modules);
	map_release(&lib->prelude);
	ptr_map_release(&lib->sigs);
	arena_release(&lib->arena);
	mem_free(lib);
}

static int index_target(struct unit *u, const struct py_node *target, const struct py_node *stmt)
{
	if (target->kind == PY_Name)
		return put(&u->defs, target->u.Name.id, stmt);
	return 0;
}

static int index_defs(struct unit *u)
{
	const struct py_list *body = &u->own.root->u.Module.body;
	for (size_t i = 0; i < body->n; i++) {
		const struct py_node *n = body->v[i];
		int rc = 0;
		if (n->kind == PY_FunctionDef)
			rc = put(&u->defs, n->u.FunctionDef.name, n);
		else if (n->kind == PY_ClassDef)
			rc = put(&u->defs, n->u.ClassDef.name, n);
		else if (n->kind == PY_Assign)
			rc = index_target(u, n->u.Assign.targets.v[0], n);
		if (rc)
			return -1;
	}
	return 0;
}

/* The unit that defines "module.name", parsed; NULL: none (or failed: h->fatal). */
struct unit *lib_unit(struct host *h, struct str dotted)
{
	struct map_entry *e = map_get(&h->lib->prelude, dotted);
	struct unit *u = e ? e->val.ptr : NULL;
	if (!u || u->ast)
		return u;
	struct err err = ERR_INIT;
	struct prelude p = prelude_get((size_t)(u - h->lib->units));
	if (py_parse(&u->own, p.text, p.file, 0, &err)) {
		host_fatal(h, REASON_internal, "prelude %s:%d: %s", p.file, err.line, err.text);
		return NULL;
	}
	u->ast = &u->own;
	if (index_defs(u)) {
		host_fatal(h, REASON_out_of_memory, "the machine is out of memory");
		return NULL;
	}
	return u;
}
