/* Modules and the bound names in them (import.c, bind.c). */
#ifndef INTERP_IMPORT_H
#define INTERP_IMPORT_H

#include "interp/frame.h"
#include "interp/state.h"

/* module_attr, builtin_lookup and host_native_get return 1 if the name was found, 0 if it does not
 * exist, -1 on failure. */
int import_module(struct host *h, struct str name, struct val *out);
int module_attr(struct host *h, struct module_obj *m, struct str_obj *name, struct val *out);
/* represents a name that only the real library has; returns as module_attr */
int absent_name(struct host *h, struct module_obj *m, struct str_obj *name, struct val *out);
/* a definition of the prelude, private ones included, for bindings; -1: failed */
int library_name(struct host *h, const char *module, const char *name, struct val *out);
/* a method of torch.Tensor that has no row; returns as module_attr */
int tensor_method(struct host *h, struct str_obj *name, struct val *out);
int builtin_lookup(struct host *h, struct str dotted, struct val *out);
int builtin_call(struct host *h, struct builtin_obj *b, const struct call_args *args, struct val *out);
int builtin_get_row(struct host *h, const struct bind_row *row, struct val *out);
int host_native_get(struct host *h, struct class_obj *c, struct str_obj *name, struct val *out);
int exec_import(struct host *h, struct host_frame *f, const struct py_node *n);

#endif
