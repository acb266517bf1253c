/* The part of a module's source that its constructor needs.
 *
 * A solution replaces forward, so methods, functions, classes and imports that only forward used are
 * dead. A definition is kept if a kept part of the source names it. Names are compared as text, so the
 * rule keeps rather too much. */
#ifndef SOLVE_PRUNE_H
#define SOLVE_PRUNE_H

#include "solve/write.h"

/* A definition: a statement of the module or of a class in it. */
struct prune_part {
	const struct py_node *node;
	struct str name;
	int owner;               /* part of the class that it is a member of, or -1 */
	int live;
	int is_root;             /* kept whenever its owner is */
};

struct prune {
	struct { struct prune_part *v; size_t n, cap; } parts;
	struct map names;        /* names that live parts use */
};

/* Marks the live parts. */
int prune_mark(struct prune *p, const struct py_module *m, const struct signature *sig, struct err *e);
void prune_release(struct prune *p);

#endif
