/* What a candidate's forward can reach: the functions and methods it calls, the kernels it
 * launches, and the first places where it keeps state or computes with torch. */
#ifndef VERIFY_RULES_CALL_GRAPH_H
#define VERIFY_RULES_CALL_GRAPH_H

#include "py/ast.h"

struct call_graph_find {
	const struct py_node *node;      /* NULL: nothing found */
	char text[200];
};

struct call_graph {
	int jit_functions;               /* in the module */
	int launches;                    /* kernels that the path of forward may launch, by their names */
	struct call_graph_find state, compute;
};

void call_graph_from(struct call_graph *r, const struct py_module *m, const char *class_name,
		int (*flags)(void *ctx, const char *dotted), void *ctx);

const struct py_node *call_graph_class(const struct py_module *m, const char *name);
const struct py_node *call_graph_method(const struct py_node *cls, const char *name);
/* "torch.nn.functional.relu" of an Attribute chain or Name, as written; 0 if it is neither. */
int call_graph_dotted(const struct py_node *n, char *out, size_t cap);

#endif
