/* The call graph of a candidate's forward: the functions and methods that it can reach, the kernels
 * that it may launch, and the first node at which it keeps state. */
#ifndef VERIFY_RULES_CALL_GRAPH_H
#define VERIFY_RULES_CALL_GRAPH_H

#include "py/ast.h"

/* The first node that breaks a rule, with a message. */
struct call_graph_find {
	const struct py_node *node;      /* NULL: nothing found */
	char text[200];
};

struct call_graph {
	int jit_functions;               /* number of @triton.jit functions in the module */
	int launches;                    /* number of places at which forward may launch a kernel */
	struct call_graph_find state;    /* keeps state that outlives the call */
};

/* Builds the call graph of `class_name`'s forward. */
void call_graph_from(struct call_graph *r, const struct py_module *m, const char *class_name);

/* The last definition of a class in the module, or of a method in a class; NULL: none. */
const struct py_node *call_graph_class(const struct py_module *m, const char *name);
const struct py_node *call_graph_method(const struct py_node *cls, const char *name);
/* Writes an attribute chain or a name as it is in the source, such as "torch.nn.functional.relu".
 * Returns 0 if the node is neither, or if the text does not fit. */
int call_graph_dotted(const struct py_node *n, char *out, size_t cap);

#endif
