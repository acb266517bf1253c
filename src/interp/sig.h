/* Signatures of bound functions, parsed once per row from their text. */
#ifndef INTERP_SIG_H
#define INTERP_SIG_H

#include "interp/value.h"

enum { SIG_SLOTS = 32 };

struct sig_param {
	struct str name;
	int required, keyword_only, positional_only, star, starstar;
	struct val def;            /* immediate, or a STR given by text */
	struct str text;           /* default string; .p NULL: `def` */
	int empty_tuple;
};

struct sig {
	struct sig_param p[SIG_SLOTS];
	size_t n, n_positional;
	int star, starstar;        /* slot or -1 */
	int device;                /* slot named "device", or -1 */
	int is_new;                /* a row "X.__new__": slot 0 is the class */
};

/* BUG on a malformed signature: it is our own text. */
void sig_parse(struct sig *s, const char *name, const char *text);

#endif
