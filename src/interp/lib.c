/* The library that hosts share: the index of binding rows and prelude definitions, parsed
 * preludes, and the list of names that the real libraries have. Built once per thread. A
 * prelude file is parsed when one of its names is first used. */
#include <stdio.h>

#include "interp/fail.h"
#include "interp/ptrmap.h"
#include "interp/scope.h"
#include "interp/state.h"

/* Built-in types and exceptions: their members do not make them modules. */
static const char *const native_names[] = {
#define NATIVE(dotted, name, kind, base) dotted,
#include "interp/native.def"
#undef NATIVE
#define EXC(name, base, reason) #name,
#include "interp/exc.def"
#undef EXC
};

/* Adds an entry; the first value of a key stays. */
static int put(struct map *m, struct str key, const void *val)
{
	struct map_entry *e = map_put(m, key);
	if (!e)
		return -1;
	if (!e->val.ptr)
		e->val.ptr = (void *)val;
	return 0;
}

/* Makes every prefix of a dotted name a module, up to a built-in type: "torch.Tensor.add" makes
 * torch a module, but not torch.Tensor. */
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

/* Indexes all rows of all tables by their dotted names. */
static int add_rows(struct host_lib *lib, struct map *natives)
{
	for (size_t t = 0; t < lib->source->n_tables; t++)
		for (const struct bind_row *r = lib->source->tables[t]; r->name; r++)
			if (put(&lib->rows, str_of(r->name), r) || add_modules(lib, natives, r->name))
				return -1;
	return 0;
}

/* A character of an ASCII identifier; prelude sources have no others in definitions. */
static int is_id(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The name that a line at the left margin defines: "class X", "def f", "X = ". */
static struct str defined_name(struct str line)
{
	size_t n;

	if (str_starts(line, "class "))
		line.p += 6, line.n -= 6;
	else if (str_starts(line, "def "))
		line.p += 4, line.n -= 4;
	else if (!line.n || !is_id(line.p[0]) || str_find(line, STR(" = ")) < 0)
		return (struct str){ .p = NULL };
	n = 0;
	while (n < line.n && is_id(line.p[n]))
		n++;
	return (struct str){ .p = line.p, .n = n };
}

/* The whole source of a prelude file. */
static struct str file_text(const struct lib_file *f)
{
	return (struct str){ .p = f->text, .n = (size_t)(f->end - f->text) };
}

/* Enters "module.name" -> unit for every definition of a prelude file, without parsing it. */
static int index_prelude(struct host_lib *lib, size_t i)
{
	struct lib_file p = lib->source->files[i];
	struct str rest = file_text(&p);
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

/* Enters each line of the list of known names under its owner. A line is "owner: a b/"
 * (complete) or "owner/ a/" (only modules are listed). */
static int index_known(struct host_lib *lib)
{
	struct str rest = { .p = lib->source->known, .n = (size_t)(lib->source->known_end - lib->source->known) };

	while (rest.n) {
		struct str line = str_cut(&rest, '\n');
		size_t n = 0;

		while (line.p[n] != ':' && line.p[n] != '/')
			n++;
		if (put(&lib->known, (struct str){ .p = line.p, .n = n }, line.p + n))
			return -1;
	}
	return 0;
}

/* Builds the index. The caller frees it with lib_free. */
struct host_lib *lib_new(const struct lib_source *source, struct err *e)
{
	struct host_lib *lib = mem_zalloc(sizeof *lib);
	struct map natives = MAP_INIT;
	int rc;

	if (!lib) {
		err_nomem(e);
		return NULL;
	}
	lib->source = source;
	lib->units = mem_array(source->n_files + 1, sizeof *lib->units);
	rc = lib->units ? 0 : -1;
	for (size_t i = 0; i < COUNT_OF(native_names) && !rc; i++)
		rc = put(&natives, str_of(native_names[i]), lib) || add_modules(lib, &natives, native_names[i]);
	if (!rc)
		rc = add_rows(lib, &natives) || index_known(lib) ? -1 : 0;
	for (size_t i = 0; i < source->n_files && !rc; i++)
		rc = index_prelude(lib, i);
	/* A prelude module "torch.nn" makes "torch" a module, too. */
	for (size_t i = 0; i < source->n_files && !rc; i++)
		rc = add_modules(lib, &natives, source->files[i].module);
	map_release(&natives);
	if (rc) {
		lib_free(lib);
		err_nomem(e);
		return NULL;
	}
	return lib;
}

/* Frees parsed preludes with their scopes, and all indexes. */
void lib_free(struct host_lib *lib)
{
	if (!lib)
		return;
	for (size_t i = 0; lib->units && i < lib->source->n_files; i++) {
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
	map_release(&lib->known);
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

/* Maps each name to the top-level statement that defines it. */
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

/* The unit that defines "module.name", parsed. Returns NULL if no unit does, or on failure
 * (h->fail.fatal). */
struct unit *lib_unit(struct host *h, struct str dotted)
{
	struct map_entry *e = map_get(&h->lib->prelude, dotted);
	struct unit *u = e ? e->val.ptr : NULL;
	struct err err = ERR_INIT;
	struct lib_file p;

	if (!u || u->ast)
		return u;
	p = h->lib->source->files[u - h->lib->units];
	if (py_parse(&u->own, file_text(&p), p.file, 0, &err)) {
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

/* The line of an owner, after its name: ": a b/" or "/ a/". Empty if the owner is not listed. */
static struct str known_line(const struct host_lib *lib, struct str owner)
{
	const struct map_entry *e = map_get(&lib->known, owner);
	struct str rest = { .p = e ? e->val.ptr : "" };

	rest.n = e ? (size_t)(lib->source->known_end - rest.p) : 0;
	return str_cut(&rest, '\n');
}

/* The mark after a word of a line: none, '/' for a module, '+' for a module that another value
 * of the same name hides. */
enum word { WORD_NONE = 0, WORD_NAME = ' ', WORD_MODULE = '/', WORD_HIDDEN = '+' };

/* Finds `name` by binary search: the words of a line are sorted. */
static enum word find_word(struct str line, struct str name)
{
	size_t low = MIN(line.n, 2), high = line.n;

	while (low < high) {
		size_t at = low + (high - low) / 2, end;
		struct str word;
		int order, marked;

		while (at > low && line.p[at - 1] != ' ')
			at--;
		for (end = at; end < line.n && line.p[end] != ' '; end++)
			;
		marked = end > at && (line.p[end - 1] == WORD_MODULE || line.p[end - 1] == WORD_HIDDEN);
		word = (struct str){ .p = line.p + at, .n = end - at - (size_t)marked };
		order = memcmp(name.p, word.p, MIN(name.n, word.n));
		if (!order && name.n == word.n)
			return marked ? (enum word)line.p[end - 1] : WORD_NAME;
		if (order < 0 || (!order && name.n < word.n))
			high = at;
		else
			low = MIN(end + 1, high);
	}
	return WORD_NONE;
}

/* Splits a dotted name into owner and last part. A name without a dot belongs to Python itself. */
static struct str owner_of(struct str dotted, struct str *last)
{
	size_t n = dotted.n;

	while (n && dotted.p[n - 1] != '.')
		n--;
	*last = (struct str){ .p = dotted.p + n, .n = dotted.n - n };
	return (struct str){ .p = dotted.p, .n = n ? n - 1 : 0 };
}

struct str lib_line(const struct host_lib *lib, struct str module)
{
	struct str line = known_line(lib, module);

	return line.n && line.p[0] == ':' ? line : STR("");
}

int lib_line_has(struct str line, struct str name)
{
	return str_starts(name, "__") || find_word(line, name);
}

int lib_knows_module(const struct host_lib *lib, struct str dotted)
{
	struct str last, owner = owner_of(dotted, &last);
	enum word w = find_word(known_line(lib, owner), last);

	return w == WORD_MODULE ? LIB_MODULE : w == WORD_HIDDEN ? LIB_HIDDEN : 0;
}

/* True also for an unlisted owner, because `unsupported` is safer than an AttributeError. */
int lib_knows(const struct host_lib *lib, struct str dotted)
{
	struct str last, owner = owner_of(dotted, &last);
	struct str line = known_line(lib, owner);

	if (line.n && line.p[0] == ':')
		return find_word(line, last) != WORD_NONE;
	/* Nothing is listed for the owner: it may have the name. */
	return owner.n && lib_knows_module(lib, owner);
}
