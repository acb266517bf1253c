/* Inside the generator: constants and arguments of a task while its names are made. */
#ifndef GEN_NAMES_H
#define GEN_NAMES_H

#include "gen/impl.h"

/* One of the words by the choice `what`; the first where the task is plain. */
const char *gen_one_of(const struct gen_emit *em, unsigned what, const char *const *words);
#define GEN_ONE_OF(em, what, ...) gen_one_of(em, what, (const char *const[]){ __VA_ARGS__, 0 })

/* The place of the constant in em->param, or -1. */
int gen_param_index(const struct gen_emit *em, const char *name);
/* A constant of the module: `stem`, or stem2, stem3 if another took it. */
const char *gen_add_param(struct gen_emit *em, const char *stem, int init, const char *value);
/* An argument of __init__ that has a default. */
const char *gen_add_preset(struct gen_emit *em, const char *stem, const char *value, const char *preset);
/* An argument that is true or false, with that as its default; one that is there already serves again. */
const char *gen_flag_param(struct gen_emit *em, const char *stem, const char *value);
/* A constant that is a size. */
const char *gen_add_size(struct gen_emit *em, const char *stem, int init, int64_t value);
/* The symbol, which from now on is also an argument of __init__. */
const char *gen_in_init(struct gen_emit *em, const char *sym);

/* The arguments of step i's window, and the symbols behind it. */
void gen_conv_names(struct gen_emit *em, int i);
void gen_pool_names(struct gen_emit *em, int i);

#endif
