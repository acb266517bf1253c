/* Other names for what a module defines: its classes, functions, attributes, parameters and variables.
 *
 * Half of the new names are those of other modules; the others are invented from parts of words, so that no
 * two variants have the same vocabulary and a model must copy names instead of knowing them. */
#ifndef DATA_VARY_NAME_H
#define DATA_VARY_NAME_H

#include "base/rng.h"
#include "data/vary_token.h"

enum { VARY_NAMES = 96, VARY_NAME_BYTES = 40 };

/* The role of a name in its module, or that it keeps its name. */
enum vary_role { VARY_NONE, VARY_ATTRIBUTE, VARY_LOCAL, VARY_CLASS, VARY_ROLES };

/* The names that the modules of a set use, by role. */
struct vary_words {
	struct { struct str *v; size_t n, cap; } list[VARY_ROLES];
};

/* Adds the names of a module; -1 if memory is short. The text must stay. */
int vary_words_add(struct vary_words *w, const struct vary_tokens *t);
void vary_words_release(struct vary_words *w);

struct vary_rename { struct str from; char to[VARY_NAME_BYTES]; };
struct vary_renames { struct vary_rename v[VARY_NAMES]; int n; };

/* Draws other names for a share of the module's names. */
void vary_names_draw(const struct vary_words *w, const struct vary_tokens *t, double share, struct vary_renames *r,
		     struct rng *rng);
/* The name that replaces token i; NULL: it stays. */
const char *vary_name_of(const struct vary_renames *r, const struct vary_tokens *t, size_t i);
/* A name of this role that `text` does not contain. */
void vary_name_new(const struct vary_words *w, enum vary_role role, struct str text, char out[VARY_NAME_BYTES],
		   struct rng *rng);

#endif
