/* Checks kernels without running the file around them.
 *
 * check_env reads the top level of a module: imports, jit functions, constants. It evaluates only
 * literals, constexpr wrappers and arithmetic on them. Any other value is an object that a kernel
 * cannot use. */
#ifndef TILE_LINT_CHECK_KERNEL_H
#define TILE_LINT_CHECK_KERNEL_H

#include "base/mem.h"
#include "base/str.h"
#include "tile/tile.h"

/* A global of the module. */
struct check_name { struct str name; struct tile_val v; };

/* How imports are resolved: `get` gives the top level of another module in the source tree of
 * `from`, or NULL. `level` counts the dots of a relative import. The result must outlive `from`. */
struct check_env;
struct check_importer {
	const struct check_env *(*get)(void *ctx, const struct check_env *from, struct str module, int level);
	void *ctx;
};

/* The top level of a module. */
struct check_env {
	const struct py_module *module;
	struct check_name *names;
	size_t n, cap;
	struct tile_fn *fns;            /* every jit function of the top level, in order */
	size_t n_fns;
	const struct check_importer *importer;  /* NULL: nothing outside the module is known */
	struct arena mem;
};

/* Reads the top level of m, which must outlive env. Returns 0, or -1 when memory runs out. */
int check_env_init(struct check_env *env, const struct py_module *m, const struct check_importer *importer,
		   struct err *e);
void check_env_release(struct check_env *env);
/* A jit function by name; NULL: the name is none. */
const struct tile_fn *check_env_fn(const struct check_env *env, struct str name);

/* The arguments of an imagined launch: values, and types where a value cannot express them. */
struct check_launch {
	struct tile_launch l;
	struct tile_val *args;
	const char **types;             /* by argument; NULL: the value decides */
	struct arena mem;
};

/* Reads "x=*fp32, n=i32, BLOCK=128, dtype=tl.float16, act=relu". Every parameter without a default
 * must be named. Returns 0, or -1 and *e if the text does not fit the function. */
int check_launch_parse(struct check_launch *c, const struct check_env *env, const struct tile_fn *fn,
		       struct str signature, struct err *e);
/* The text of the index-th comment `# signature: ...` above the kernel, or an empty string. */
struct str check_signature_comment(const struct check_env *env, const struct tile_fn *fn, size_t index);
/* Guesses types from the use of the parameters. */
int check_launch_infer(struct check_launch *c, const struct check_env *env, const struct tile_fn *fn, struct err *e);
void check_launch_release(struct check_launch *c);

/* Compiles fn under the types of each of its signature comments or, if it has none, under types
 * that are inferred from use. Returns 0 if nothing is wrong, 1 if Triton would refuse it (*d), -1
 * on our own failure (*e). *unsure: it might be accepted under other types, or if more were known
 * about its imports. */
int check_kernel_inferred(struct tile_engine *g, const struct check_env *env, const struct tile_fn *fn,
			  struct diag *d, int *unsure,
			  struct err *e);
/* Compiles a launch as it is, without the engine's cache. Returns as check_kernel_inferred. */
int check_kernel_launched(struct tile_engine *g, const struct tile_launch *l, struct diag *d, struct err *e);

/* How a function of the file is used. A library function returns a value, and nothing in the file calls or
 * launches it: its parameters are unknown, so only errors that no type can avoid count. */
enum check_role { CHECK_KERNEL, CHECK_HELPER, CHECK_LIBRARY };
enum check_role check_role(const struct check_env *env, const struct tile_fn *fn);

/* Positions of errors in one function. */
struct check_errors {
	struct { int line, col; } v[20];
	size_t n;
};
/* The function without the statements with these errors and without those that depend on them, in
 * `mem`; NULL if no statement can be removed. The next error of a kernel is found in it. */
const struct tile_fn *check_cut(const struct tile_fn *fn, const struct check_errors *at, struct arena *mem);

#endif
