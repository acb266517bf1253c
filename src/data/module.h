/* Looking things up in a parsed module by name. NULL: not there. */
#ifndef DATA_MODULE_H
#define DATA_MODULE_H

#include "py/ast.h"

const struct py_node *module_class(const struct py_module *m, struct str name);
const struct py_node *module_function(const struct py_module *m, struct str name);
/* In the class or in a base that the file has. */
const struct py_node *module_method(const struct py_module *m, const struct py_node *class, struct str name);
/* Can objects of the class (may be NULL) be called as modules? The forward may be inherited from a
 * class of the file or of a library: class Half(nn.Conv2d). */
int module_has_forward(const struct py_module *m, const struct py_node *class);
/* Functions decorated as Triton kernels. */
int module_kernels(const struct py_module *m);
/* The last part of a.b.c or of a name; empty for anything else. */
struct str module_last_name(const struct py_node *n);

#endif
