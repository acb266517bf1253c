/* Sizes of a task that may be changed: module-level integer constants that get_inputs uses and
 * get_init_inputs does not, directly or through other names, and that no class reads. A module that
 * is loaded with one of these constants replaced (host_override) gives the same model on inputs of
 * another size, all consistent with each other. Running the reference decides whether a size is
 * legal. */
#ifndef HOST_SHRINK_H
#define HOST_SHRINK_H

#include "host/host.h"
#include "py/ast.h"

/* A constant of the module and its value at full size. */
struct shrink_const {
	struct str name;
	int64_t value;
};

/* Writes up to `cap` of them, in source order. Returns how many there are, which may be more or 0. */
size_t shrink_find(const struct py_module *m, struct shrink_const *out, size_t cap);
/* The same for constants that get_init_inputs uses. Changing them gives another model, for a task
 * that is too large to run. */
size_t shrink_find_model(const struct py_module *m, struct shrink_const *out, size_t cap);

/* Appends the source of the module with these constants replaced, as host_load replaces them. */
void shrink_source(const struct py_module *m, const struct host_override *ov, size_t n_ov, struct buf *out);

/* Appends the source of a module whose get_inputs or get_init_inputs writes sizes as numbers from
 * 64 on, with each of them replaced by a name; with `batches` also smaller numbers that are the first size
 * of an input. Equal numbers share a name. The names are defined at the end, so that no line moves.
 * Returns how many there are; 0: *out is not usable. */
size_t shrink_name_literals(const struct py_module *m, int batches, struct buf *out);

#endif
