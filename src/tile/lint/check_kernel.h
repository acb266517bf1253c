/* Checking kernels without running the file around them.
 *
 * check_env reads a module's top level: imports, jit functions, constants. It evaluates
 * nothing but literals, constexpr wrappers and arithmetic on them; whatever else a name is
 * bound to is an object a kernel cannot use. */
#ifndef TILE_LINT_CHECK_KERNEL_H
#define TILE_LINT_CHECK_KERNEL_H

#include "base/mem.h"
#include "base/str.h"
#include "tile/tile.h"

struct check_name { struct str name; struct tile_val v; };

/* Where imports lead: the top level of another module of the tree that `from` is in (level: dots
 * of a relative import), or NULL if there is none. It must outlive who asked. */
struct check_env;
struct check_importer {
	const struct check_env *(*get)(void *ctx, const struct check_env *from, struct str module, int level);
	void *ctx;
};

struct check_env {
	const struct py_module *module;
	struct check_name *names;
	size_t n, cap;
	struct tile_fn *fns;            /* every jit function of the top level, in order */
	size_t n_fns;
	const struct check_importer *importer;  /* NULL: nothing outside the module is known */
	struct arena mem;
};

int check_env_init(struct check_env *env, const struct py_module *m, const struct check_importer *importer,
		   struct err *e);
void check_env_release(struct check_env *env);
const struct tile_fn *check_env_fn(const struct check_env *env, struct str name);

/* Arguments of an imagined launch: values, and types where a value cannot express them. */
struct check_launch {
	struct tile_launch l;
	struct tile_val *args;
	const char **types;             /* per argument, NULL: by value */
	struct arena mem;
};

/* "x=*fp32, n=i32, BLOCK=128, dtype=tl.float16, act=relu": every parameter without a default
 * must be named. -1 and *e when the text does not fit the function. */
int check_launch_parse(struct check_launch *c, const struct check_env *env, const struct tile_fn *fn,
		       struct str signature, struct err *e);
/* The signature a comment `# signature: ...` beside the kernel gives, or an empty string. */
struct str check_signature_comment(const struct check_env *env, const struct tile_fn *fn, size_t index);
/* Guesses types from how parameters are used. */
int check_launch_infer(struct check_launch *c, const struct check_env *env, const struct tile_fn *fn, struct err *e);
void check_launch_release(struct check_launch *c);

/* Compiles fn under the types inferred from use, or those of its signature comments, all of
 * them in turn. 0: nothing wrong. 1: refused, *d; *unsure: under other types, or if more were
 * known of what it imports, it might not be. -1: *e. */
int check_kernel_inferred(struct tile_engine *g, const struct check_env *env, const struct tile_fn *fn,
			  struct diag *d, int *unsure,
			  struct err *e);
/* A function that other functions call, not one that is launched: it returns a value, or is
 * named in a call of another jit function. */
int check_is_helper(const struct check_env *env, const struct tile_fn *fn);

#endif
