/* Imports inside a tree: see check_import.h.
 *
 * A file that cannot be read or parsed counts as missing: kernels that import from it are UNSURE,
 * and its own errors are reported when it is checked itself. Invariant: a module is registered
 * before it is read, so that circular imports end. */
#include "verify/lint/check_import.h"

#include "base/file.h"
#include "base/mem.h"

/* An imported file. */
struct check_module {
	char *path;
	struct buf source;              /* borrowed by `m` */
	struct py_module m;
	struct check_env env;           /* its kernels and constants */
	int known;                      /* parsed and read */
	int busy;                       /* being read; a circular import finds it in this state */
};

/* Bytes of a module, and how many folders upwards a search goes. */
enum { MODULE_LIMIT = 16 << 20, MOST_FOLDERS = 64 };

static const struct check_env *get(void *ctx, const struct check_env *from, struct str module, int level);

void check_imports_init(struct check_imports *im)
{
	*im = (struct check_imports){ .importer = { .get = get, .ctx = im } };
}

static void module_free(struct check_module *x)
{
	if (!x)
		return;
	if (x->known) {
		check_env_release(&x->env);
		py_release(&x->m);
	}
	buf_release(&x->source);
	mem_free(x->path);
	mem_free(x);
}

void check_imports_release(struct check_imports *im)
{
	for (size_t i = 0; i < im->modules.n; i++)
		module_free(im->modules.e[i].val.ptr);
	map_release(&im->modules);
	map_release(&im->found);
}

/* --- one file ----------------------------------------------------------------------------- */

/* Parses a module and collects its kernels. On failure `known` stays 0. */
static void module_read(struct check_imports *im, struct check_module *x)
{
	struct err e = ERR_INIT;

	if (file_read(x->path, MODULE_LIMIT, &x->source, &e) || py_parse(&x->m, buf_str(&x->source), x->path, 0, &e))
		return;
	x->busy = 1;
	x->known = !check_env_init(&x->env, &x->m, &im->importer, &e);
	x->busy = 0;
	if (!x->known)
		py_release(&x->m);
}

/* Returns the module of a path, which is read at the first request; NULL if memory runs out. */
static struct check_module *module_at(struct check_imports *im, const char *path)
{
	struct map_entry *old = map_put(&im->modules, str_of(path));
	struct check_module *x;

	if (!old || old->val.ptr)
		return old ? old->val.ptr : NULL;
	x = mem_zalloc(sizeof *x);
	if (!x || !(x->path = mem_strdup(path))) {
		mem_free(x);
		return NULL;
	}
	old->val.ptr = x;               /* before the module is read: it may import itself */
	module_read(im, x);
	return x;
}

/* --- paths -------------------------------------------------------------------------------- */

/* Finds module a.b below a folder: a/b.py or a/b/__init__.py. */
static int find_below(struct str folder, const char *sub, struct str module, struct buf *out)
{
	static const char *const ends[] = { ".py", "/__init__.py" };

	for (size_t k = 0; k < COUNT_OF(ends); k++) {
		buf_clear(out);
		buf_add(out, folder.p, folder.n);
		buf_addf(out, "%s%s%s", folder.n ? "/" : "", sub, sub[0] ? "/" : "");
		for (size_t i = 0; i < module.n; i++)
			buf_addc(out, module.p[i] == '.' ? '/' : module.p[i]);
		buf_addf(out, "%s", module.n ? ends[k] : "__init__.py");
		if (file_exists(buf_cstr(out)))
			return 1;
	}
	return 0;
}

/* The folder of a path, without the slash. */
static struct str folder_of(struct str path)
{
	while (path.n && path.p[path.n - 1] != '/')
		path.n--;
	path.n -= path.n > 0;
	return path;
}

/* Finds a module from the folder that a relative import names, or else in any folder above the
 * file. Repositories often keep packages in a folder `python`, so that is tried as well. */
static int find_module(const struct check_env *from, struct str module, int level, struct buf *out)
{
	struct str folder = folder_of(str_of(from->module->path));

	if (level) {
		for (int i = 1; i < level; i++)
			folder = folder_of(folder);
		return find_below(folder, "", module, out);
	}
	for (int i = 0; i < MOST_FOLDERS && module.n; i++) {
		if (find_below(folder, "", module, out) || (i && find_below(folder, "python", module, out)))
			return 1;
		if (!folder.n)
			return 0;
		folder = folder_of(folder);
	}
	return 0;
}

/* Callback of the kernel checker: the kernels and constants of an imported module, or NULL if it is
 * unknown. */
static const struct check_env *get(void *ctx, const struct check_env *from, struct str module, int level)
{
	struct check_imports *im = ctx;
	struct buf path = BUF_INIT, key = BUF_INIT;
	struct str folder = folder_of(str_of(from->module->path));
	struct check_module *x = NULL;
	struct map_entry *seen;

	buf_addf(&key, "%.*s %d %.*s", STR_ARG(folder), level, STR_ARG(module));
	seen = map_get(&im->found, buf_str(&key));
	if (seen)
		x = seen->val.ptr;
	else if (find_module(from, module, level, &path))
		x = module_at(im, buf_cstr(&path));
	if (!seen && (seen = map_put(&im->found, buf_str(&key))))
		seen->val.ptr = x;
	buf_release(&key);
	buf_release(&path);
	return x && (x->known || x->busy) ? &x->env : NULL;
}
