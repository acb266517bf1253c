/* Mutants of a task's reference: its tree with one thing changed in Model.forward.
 *
 * The tree must be the caller's own (parsed for this): a mutant is applied to it, used, undone. */
#ifndef VERIFY_TASK_MUTANT_H
#define VERIFY_TASK_MUTANT_H

#include "py/ast.h"

enum { MUTANTS_MOST = 24 };

struct mutant {
	struct py_node **slot, **other;      /* *slot becomes `instead`; with `other` the two change places */
	struct py_node *was, *instead;
	char text[80];                       /* "line 12: relu dropped" */
};

/* Operators dropped, neighbouring statements swapped, axes changed; at most `cap` of them. -1: memory ended. */
int mutants_find(struct py_module *m, struct mutant *out, int cap);
void mutant_apply(struct mutant *x);
void mutant_undo(struct mutant *x);

#endif
