/* What a candidate's forward can reach: the functions and methods it calls, the kernels it
 * launches, and the first places where it keeps state or computes with torch. */
#ifndef VERIFY_REACH_H
#define VERIFY_REACH_H

#include "py/ast.h"

struct reach_find {
	const struct py_node *node;      /* NULL: nothing found */
	char text[200];
};

struct reach {
	int jit_functions;               /* in the module */
	int launches;                    /* kernels that the path of forward may launch, by their names */
	struct reach_find state, compute;
};

void reach_from(struct reach *r, const struct py_module *m, const char *class_name,
		int (*flags)(void *ctx, const char *dotted), void *ctx);

const struct py_node *reach_class(const struct py_module *m, const char *name);
const struct py_node *reach_method(const struct py_node *cls, const char *name);
/* "torch.nn.functional.relu" of an Attribute chain or Name, as written; 0 if it is neither. */
int reach_dotted(const struct py_node *n, char *out, size_t cap);

#endif
