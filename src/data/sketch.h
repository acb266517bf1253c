/* Sketches of programs: how similar two modules are, ignoring names and constants.
 *
 * A module becomes a sequence of features in the order of its tree: kinds of nodes, operators,
 * names of library functions, attributes and keywords. Names of its own (variables, classes,
 * members of self), values of constants, docstrings, annotations, imports, constants of the module,
 * get_inputs and get_init_inputs leave no trace beyond "a name", "a number". The path to a library
 * function does not count: F.relu, torch.relu and nn.functional.relu are one. Runs of eight
 * features form the set that is compared; the sketch holds 128 minima of it (MinHash), from which
 * the Jaccard similarity is estimated to about 0.03. */
#ifndef DATA_SKETCH_H
#define DATA_SKETCH_H

#include <stdint.h>

#include "base/err.h"
#include "py/ast.h"

enum { SKETCH_N = 128, SKETCH_BANDS = 16 };

struct sketch {
	uint64_t whole;              /* of all features in order: equal for equal programs */
	uint32_t v[SKETCH_N];
};

void sketch_module(const struct py_module *m, struct sketch *s);
double sketch_similarity(const struct sketch *a, const struct sketch *b);

/* A growing set of sketches, searched by bands of equal minima: pairs of similarity 0.85 are found
 * with a probability of 0.99, of 0.7 with 0.6; a set of up to 1,000 is searched whole. Reading by
 * several threads is safe while nobody adds. */
struct sketch_index {
	struct { struct sketch *v; size_t n, cap; } items;
	uint32_t *head[SKETCH_BANDS];    /* [slots], index + 1 of the last with this band; 0: none */
	struct { uint32_t *v; size_t n, cap; } next;   /* [items * bands], the one before it */
	size_t slots;                    /* a power of two */
};

int sketch_index_add(struct sketch_index *x, const struct sketch *s, struct err *e);
/* The greatest similarity found: 1 for an equal program, 0 when nothing like it is there.
 * Stops looking once `enough` was seen. */
double sketch_index_nearest(const struct sketch_index *x, const struct sketch *s, double enough);
void sketch_index_release(struct sketch_index *x);

#endif
