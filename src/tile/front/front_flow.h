/* Values across control flow: the registers a value is made of, and joining of values that
 * two paths give. Shared by branches, loops and inlined returns. */
#ifndef TILE_FRONT_FRONT_FLOW_H
#define TILE_FRONT_FRONT_FLOW_H

#include "tile/front/sem.h"

struct part { const struct ty *ty; tile_reg reg; };

/* How many registers v is made of, and which. Compile-time values have none. */
size_t flow_count(const struct front *f, const struct lang_val *v);
void flow_parts(struct front *f, const struct lang_val *v, struct part *out);
/* A value of the same structure over other registers, taken from *regs onwards. */
struct lang_val flow_rebuild(struct front *f, const struct lang_val *v, const tile_reg *regs, size_t *at);
/* Same registers, or equal constants: nothing changed. */
int flow_same(struct front *f, const struct lang_val *a, const struct lang_val *b);
/* Triton's type equality, constexprs by value. */
int flow_same_type(const struct lang_val *a, const struct lang_val *b);
/* A value that exists at run time or as constexpr object: what Triton calls a triton value. */
int flow_is_triton(const struct lang_val *v);
/* New registers with the parts of v copied into them. */
struct lang_val flow_copy(struct front *f, const struct lang_val *v);
/* New registers of the parts' types, nothing in them yet. */
struct lang_val flow_alloc(struct front *f, const struct lang_val *v);
/* dst's registers take src's, all at once. */
void flow_assign(struct front *f, const struct lang_val *dst, const struct lang_val *src);
/* str() of a value's type for messages. */
const char *flow_type_str(struct front *f, const struct lang_val *v);

void flow_if(struct front *f, const struct py_node *n);
void flow_for(struct front *f, const struct py_node *n);
void flow_while(struct front *f, const struct py_node *n);
struct lang_val flow_if_exp(struct front *f, const struct py_node *n);

#endif
