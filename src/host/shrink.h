/* Sizes of a task that may be changed: module-level integer constants that get_inputs uses and
 * get_init_inputs does not, directly or through other names, and that no class reads. Loading the
 * module with such a constant replaced (host_override) gives the same model on inputs of another
 * size, all of them consistent with each other. Whether a size is legal, running the reference
 * decides. */
#ifndef HOST_SHRINK_H
#define HOST_SHRINK_H

#include "host/host.h"
#include "py/ast.h"

struct shrink_const {
	struct str name;
	int64_t value;
};

/* Up to `cap` of them in source order; returns how many there are (0: none, say so). */
size_t shrink_find(const struct py_module *m, struct shrink_const *out, size_t cap);
/* The same for constants that get_init_inputs uses: another model, for one too large to run. */
size_t shrink_find_model(const struct py_module *m, struct shrink_const *out, size_t cap);

/* Appends the source of the module with these constants written as host_load replaces them. */
void shrink_source(const struct py_module *m, const struct host_override *ov, size_t n_ov, struct buf *out);

/* Appends the source of a module whose get_inputs or get_init_inputs writes sizes as numbers, from
 * 64 on: each under a name, equal ones under one, defined at its end, so that no line moves.
 * Returns how many there are; 0: nothing to do, *out is of no use. */
size_t shrink_name_literals(const struct py_module *m, struct buf *out);

#endif
