/* Signatures of bound functions, parsed once per row from their text: names, defaults and the
 * types that a slot takes. A function may rely on them, so that no native looks into a value
 * whose kind it has not been promised. The first slot of a type's method takes that type alone. */
#ifndef INTERP_SIG_H
#define INTERP_SIG_H

#include "interp/bind.h"

enum { SIG_SLOTS = 32 };

struct sig_param {
	struct str name;
	int required, keyword_only, positional_only, star, starstar;
	uint64_t kinds;            /* bit k: a value of kind k is taken; 0: any value */
	const char *native;        /* and only of this built-in type, which shares its kind with others; NULL: of any */
	struct str type;           /* as written, for messages */
	struct val def;            /* immediate, or a STR given by text */
	struct str text;           /* default string; .p NULL: `def` */
	int empty_tuple;
};

struct sig {
	struct sig_param p[SIG_SLOTS];
	size_t n, n_positional;
	int star, starstar;        /* slot or -1 */
	int device;                /* slot named "device", or -1 */
	/* tensors that pick elements: "picks", or the second of one that accumulates; or -1 */
	int index;
	int fills;                 /* "value" or "fill_value": a tensor in it is copied; or -1 */
	int adds;                  /* "accumulate" or "reduce": given, the call computes; or -1 */
	int is_new;                /* a row "X.__new__": slot 0 is the class */
	const char *owner;         /* the built-in type whose member this is, or NULL */
};

/* BUG on a malformed signature: it is our own text. */
void sig_parse(struct sig *s, const struct bind_row *row);
/* Is every slot's value of its type? 0, or -1 with CPython's TypeError pending. */
int sig_check(struct host *h, const struct sig *s, const struct bind_row *row, const struct val *a);

#endif
