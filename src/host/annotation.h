/* The engine does not evaluate annotations. A program that could tell this from CPython is
 * refused. */
#ifndef HOST_ANNOTATION_H
#define HOST_ANNOTATION_H

#include "host/host.h"
#include "py/ast.h"

/* Returns 0, or -1 if an annotation of the module runs code; the program has failed then. */
int annotation_refuse(struct host *h, const struct py_module *m);

#endif
