/* Signatures of bound functions, parsed once per row: names, defaults, and the types that a
 * slot takes. A native may rely on the types, so it never looks into a value of an unexpected
 * kind. The first slot of a method takes the type that owns the method. */
#ifndef INTERP_SIG_H
#define INTERP_SIG_H

#include "interp/bind.h"

enum { SIG_SLOTS = 32 }; /* most parameters of a signature */

/* One parameter. All texts point into the row's signature. */
struct sig_param {
	struct str name;
	int required, keyword_only, positional_only, star, starstar; /* flags */
	uint64_t kinds;            /* bit k: a value of kind k is accepted; 0: any */
	const char *native;        /* must also be of this type, as others share the kind; NULL */
	struct str type;           /* as written, for messages */
	struct val def;            /* default; V_UNSET if left out */
	struct str text;           /* default string; .p NULL: use `def` */
	int empty_tuple;           /* default is () */
};

struct sig {
	struct sig_param p[SIG_SLOTS];
	size_t n, n_positional;    /* slots; those that take positional arguments */
	int star, starstar;        /* slot or -1 */
	/* Slots with a meaning for every operator (bind_check.c), or -1. */
	int device;                /* "device" */
	int index;                 /* index tensors: "picks", or slot 1 of a row with "accumulate" */
	int fills;                 /* "value" or "fill_value": a tensor in it is copied */
	int adds;                  /* "accumulate" or "reduce": if given, the call computes */
	int is_new;                /* a row "X.__new__": slot 0 is the class */
	const char *owner;         /* built-in type whose member this is, or NULL */
};

/* A malformed signature is a BUG: the text is our own. */
void sig_parse(struct sig *s, const struct bind_row *row);
/* Is every slot's value of its type? Returns 0, or -1 with CPython's TypeError pending. */
int sig_check(struct host *h, const struct sig *s, const struct bind_row *row, const struct val *a);

#endif
