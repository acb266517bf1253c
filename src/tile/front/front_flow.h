/* Values across control flow: the registers that a value consists of, and the join of the values
 * that two paths give. Shared by branches, loops and inlined returns. Example: a variable acc that
 * both branches of an `if` assign has one register after it, and each branch ends with a move into
 * that register. */
#ifndef TILE_FRONT_FRONT_FLOW_H
#define TILE_FRONT_FRONT_FLOW_H

#include "tile/front/sem.h"

/* One register of a value. */
struct part { const struct ty *ty; tile_reg reg; };

/* The number of registers that v consists of, and the registers themselves. A tensor has one, a
 * tuple those of its elements, a block pointer one for each shape, stride and offset, a constant
 * none. */
size_t flow_count(const struct front *f, const struct lang_val *v);
void flow_parts(struct front *f, const struct lang_val *v, struct part *out);
/* A value of the same structure with other registers, taken from regs[*at] on. */
struct lang_val flow_rebuild(struct front *f, const struct lang_val *v, const tile_reg *regs, size_t *at);
/* Whether both values consist of the same registers, or both of none. */
int flow_same(struct front *f, const struct lang_val *a, const struct lang_val *b);
/* Triton's equality of types; constexprs are compared by value. */
int flow_same_type(const struct lang_val *a, const struct lang_val *b);
/* Whether the value exists at run time or as a constexpr object. Triton calls it a triton value. */
int flow_is_triton(const struct lang_val *v);
/* A copy of v in new registers. */
struct lang_val flow_copy(struct front *f, const struct lang_val *v);
/* New registers of the types of v, not assigned yet. */
struct lang_val flow_alloc(struct front *f, const struct lang_val *v);
/* Moves the registers of src into those of dst, as if all at once. */
void flow_assign(struct front *f, const struct lang_val *dst, const struct lang_val *src);
/* str() of the type of a value, for messages. */
const char *flow_type_str(struct front *f, const struct lang_val *v);

/* The statements with control flow, and `a if c else b`. */
void flow_if(struct front *f, const struct py_node *n);
void flow_for(struct front *f, const struct py_node *n);
void flow_while(struct front *f, const struct py_node *n);
struct lang_val flow_if_exp(struct front *f, const struct py_node *n);

#endif
