/* Running code: expressions, statements, names, functions, calls. All return 0 or -1 unless
 * said. */
#ifndef INTERP_EXEC_H
#define INTERP_EXEC_H

#include "interp/frame.h"
#include "interp/state.h"

int eval_expr(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out);
int eval_comp(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out);
int eval_call(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out);
int eval_fstring(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out);
enum flow exec_block(struct host *h, struct host_frame *f, const struct py_list *body);
int exec_assign(struct host *h, struct host_frame *f, const struct py_node *target, struct val v);
int exec_match(struct host *h, struct host_frame *f, const struct py_node *n, const struct py_node **body);
int name_load(struct host *h, struct host_frame *f, struct str id, struct val *out);
int name_store(struct host *h, struct host_frame *f, struct str id, struct val v);
/* The name of an attribute as written in f: self.__x in class C is _C__x. NULL: failed. */
struct str_obj *attr_ident(struct host *h, const struct host_frame *f, struct str id);
int name_delete(struct host *h, struct host_frame *f, struct str id);
int make_function(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out);
int make_class(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out);
int call_function(struct host *h, struct func_obj *fn, const struct call_args *args, struct val *out);
int call_class(struct host *h, struct class_obj *c, const struct call_args *args, struct val *out);
int host_call1(struct host *h, struct val fn, struct val a, struct val *out);
int host_call_method(struct host *h, struct val self, struct str_obj *name, const struct val *a, size_t n,
		     struct val *out);

#endif
