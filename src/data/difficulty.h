/* How hard a task is, from the program: the operators that its forward applies.
 *
 * Level 1: one operator (or one formula of arithmetic). Level 2: a chain that can be fused.
 * Level 3: an architecture: several anchors (products, convolutions), recurrent or attention
 * modules, blocks of the task's own, layers made in loops. Members of Model are followed to
 * what __init__ puts there, through Sequential, helper classes, methods and functions of the
 * module. The label that word counting would give is reported, too, for comparison. */
#ifndef DATA_DIFFICULTY_H
#define DATA_DIFFICULTY_H

#include "base/str.h"
#include "py/ast.h"

struct difficulty {
	int level;                   /* 1 to 3 */
	int anchors;                 /* matrix products, convolutions */
	int calls;                   /* other operators called by name */
	int arithmetic;              /* + - * / ** between tensors, as far as the text shows */
	int networks;                /* recurrent, attention, transformer modules */
	int blocks;                  /* instances of the task's own module classes */
	int loops;                   /* over layers */
	/* hash of operators and arithmetic in the order they are applied, in one spelling */
	uint64_t computes;
	char names[240];             /* operators in order: "conv2d,relu"; cut with ",..." */
	struct {
		int level, mix, fused, words;
	} heuristic;                 /* operator words, the words fused/fusion/combined, words of text */
};

/* `model` is the name of the task's class. */
void difficulty_of(const struct py_module *m, struct str model, struct difficulty *d);

#endif
