/* The functions of triton.language that are not written in Triton itself, and the Python builtins
 * that a kernel may call: one table (builtin.def), one C signature.
 *
 * The parameters of a row are written as in Python. A call is bound to them with Python's rules and
 * messages before the C function runs, so that the function sees one value for each parameter.
 * Example: for
 *
 *     BUILTIN(tl, arange, arange, "start, end", 0)
 *
 * the call tl.arange(0, end=64) runs bi_arange with a[0] = 0 and a[1] = 64, which emits `%3:i32[64]
 * = arange`. A parameter `*rest` is a tuple. */
#ifndef TILE_FRONT_BUILTIN_H
#define TILE_FRONT_BUILTIN_H

#include "tile/front/sem.h"

enum builtin_flag {
	BF_METHOD = 1,          /* is also a method of tensors */
	BF_MATH = 2,            /* is also in triton.language.math */
	BF_MUST_USE = 4,        /* a call whose result is not used is an error */
	BF_RAW = 8              /* gets its positional arguments unbound, in one tuple */
};

/* A parameter: its name, default value and kind. */
struct builtin_param {
	struct str name;
	struct lang_val value;       /* default, if not `required` */
	unsigned char required, star, keyword_only;
};

typedef struct lang_val builtin_fn(struct front *f, const struct builtin *b, const struct lang_val *a);

/* One row of builtin.def. */
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

/* Whether this version of Triton (306 for 3.6) has the function or, if `parameter` is not empty,
 * that parameter of it. The library's own functions may use what only later versions offer to
 * kernels. */
int lang_in_version(int version, struct str function, struct str parameter);

int lang_builtin_init(struct builtin_table *t, struct err *e);
void lang_builtin_release(struct builtin_table *t);
/* Looks up a function of a module, or a method of tensors. Returns NULL if the name is unknown. */
const struct builtin *lang_builtin_get(const struct builtin_table *t, const char *module, struct str name);
const struct builtin *lang_builtin_method(const struct builtin_table *t, struct str name);
/* Binds the arguments to the parameters of a row and runs its function. */
struct lang_val lang_builtin_call(struct front *f, const struct builtin *b, const struct front_args *args);
/* The code to write instead of a name that models invent ("tl.relu"); NULL: none is known. */
const char *lang_builtin_hint(struct str name);

#define BUILTIN(module, name, fn, signature, flags) builtin_fn bi_##fn;
#include "tile/front/builtin.def"
#undef BUILTIN

/* --- shared by builtin_*.c ------------------------------------------------------------------ */

/* Each converts an argument to a C value, or fails with Triton's message. */
struct tv arg_tensor(struct front *f, const struct lang_val *v);         /* must be a tensor */
int64_t arg_int(struct front *f, const struct lang_val *v, const char *what);
const struct ty *arg_dtype(struct front *f, const struct lang_val *v);
struct str arg_str(struct front *f, const struct lang_val *v, const char *what);   /* NONE gives "" */
const struct tile_fn *arg_fn(struct front *f, const struct lang_val *v);
/* A shape: a tuple of integers. Returns the rank. */
int arg_shape(struct front *f, const struct lang_val *v, int64_t shape[TY_MAX_RANK]);
/* The same from `*shape`, which is either one tuple or integers. */
int arg_dims(struct front *f, const struct lang_val *star, int64_t dims[TY_MAX_RANK]);

#endif
