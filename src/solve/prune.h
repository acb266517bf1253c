/* The part of a module's source that its constructor needs.
 *
 * A solution replaces forward, so methods, functions, classes and imports that only forward used are
 * dead. A definition is kept if a statement that ran until forward names it. Names are compared as text,
 * so the rule keeps rather too much. An `if` is replaced by the branch that ran if its other branch names
 * what is left out, or if its test looks into types, which candidates may not.
 * For the same reason a call that only initialises weights may become `pass`. */
#ifndef SOLVE_PRUNE_H
#define SOLVE_PRUNE_H

#include "solve/write.h"

/* A definition: a statement of the module or of a class in it. */
struct prune_part {
	const struct py_node *node;
	struct str name;
	int owner;               /* part of the class that it is a member of, or -1 */
	int live;
	int again;               /* an import that another one repeats */
	int is_root;             /* kept whenever its owner is */
};

struct prune {
	struct { struct prune_part *v; size_t n, cap; } parts;
	struct map names;        /* names that live parts use */
	const struct ptr_map *ran;
};

/* Marks the live parts. */
int prune_mark(struct prune *p, const struct py_module *m, const struct signature *sig, const struct ptr_map *ran,
	       struct err *e);
/* Calls fn for each statement of the live parts that is replaced by one of its branches, or by nothing. A
 * nonzero result of fn stops the walk and is returned. */
typedef int prune_if_fn(void *ctx, const struct py_node *n, const struct py_list *branch);
int prune_ifs(const struct prune *p, prune_if_fn *fn, void *ctx);
void prune_release(struct prune *p);

#endif
