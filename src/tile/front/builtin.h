/* The functions of triton.language that are not written in Triton itself, and the Python
 * builtins a kernel may call: one table (builtin.def), one signature.
 *
 * A row's parameters are written as Python writes them; calls are bound to them with
 * Python's rules and messages before the function runs, so a function sees one value per
 * parameter, `*rest` as a tuple. */
#ifndef TILE_FRONT_BUILTIN_H
#define TILE_FRONT_BUILTIN_H

#include "tile/front/sem.h"

enum builtin_flag {
	BF_METHOD = 1,          /* also a method of tensors */
	BF_MATH = 2,            /* also in triton.language.math */
	BF_MUST_USE = 4,        /* its result must be used */
	BF_RAW = 8              /* gets positional arguments as they are, in a tuple */
};

struct builtin_param {
	struct str name;
	struct lang_val value;       /* default */
	unsigned char required, star, keyword_only;
};

typedef struct lang_val builtin_fn(struct front *f, const struct builtin *b, const struct lang_val *a);

struct builtin {
	const char *module;     /* "triton.language" and so on; see builtin.def */
	const char *name;
	const char *signature;
	builtin_fn *fn;
	int flags;
	struct builtin_param *params;   /* parsed from signature by lang_builtin_init */
	size_t n_params;
};

struct builtin_table {
	struct builtin *v;
	size_t n;
	struct map by_name;     /* "module.name" -> index */
	struct arena mem;
};

/* Does this version of Triton (306 for 3.6) have the function, or (parameter not empty) that
 * parameter of it? The library's own functions may use what later versions show to kernels. */
int lang_in_version(int version, struct str function, struct str parameter);

int lang_builtin_init(struct builtin_table *t, struct err *e);
void lang_builtin_release(struct builtin_table *t);
/* NULL: no such function. */
const struct builtin *lang_builtin_get(const struct builtin_table *t, const char *module, struct str name);
const struct builtin *lang_builtin_method(const struct builtin_table *t, struct str name);
/* A row by its place in the table, for names the front end itself needs. */
struct lang_val lang_builtin_call(struct front *f, const struct builtin *b, const struct front_args *args);
/* What to write instead of a name that models invent; NULL: nothing known. */
const char *lang_builtin_hint(struct str name);

#define BUILTIN(module, name, fn, signature, flags) builtin_fn bi_##fn;
#include "tile/front/builtin.def"
#undef BUILTIN

/* --- shared by builtin_*.c ------------------------------------------------------------------ */

struct tv arg_tensor(struct front *f, const struct lang_val *v);         /* must be a tensor */
int64_t arg_int(struct front *f, const struct lang_val *v, const char *what);
const struct ty *arg_dtype(struct front *f, const struct lang_val *v);
struct str arg_str(struct front *f, const struct lang_val *v, const char *what);   /* NONE gives "" */
const struct tile_fn *arg_fn(struct front *f, const struct lang_val *v);
/* A shape: a tuple of integers; gives the rank. */
int arg_shape(struct front *f, const struct lang_val *v, int64_t shape[TY_MAX_RANK]);
/* The same from `*shape`: either one tuple or integers. */
int arg_dims(struct front *f, const struct lang_val *star, int64_t dims[TY_MAX_RANK]);

#endif
