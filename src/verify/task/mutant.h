/* Mutants of a task's reference: its syntax tree with one thing changed in Model.forward.
 *
 * The tree must be parsed for this purpose: a mutant is applied to it, used, and undone. */
#ifndef VERIFY_TASK_MUTANT_H
#define VERIFY_TASK_MUTANT_H

#include "py/ast.h"

enum { MUTANTS_MOST = 24 };

struct mutant {
	struct py_node **slot;               /* *slot becomes `instead`; it was `was` */
	struct py_node **other;              /* not NULL: the nodes of the two slots are swapped */
	struct py_node *was, *instead;
	char text[80];                       /* for notes and verdicts: "line 12: relu dropped" */
};

/* Finds at most `cap` mutants: operators dropped, neighbouring statements swapped, axes changed.
 * Returns how many, or -1 when memory ended. */
int mutants_find(struct py_module *m, struct mutant *out, int cap);
void mutant_apply(struct mutant *x);
void mutant_undo(struct mutant *x);

#endif
