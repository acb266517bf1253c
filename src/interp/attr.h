/* Classes and attributes: method resolution, lookup, special methods, isinstance. attr.c and
 * class.c. */
#ifndef INTERP_ATTR_H
#define INTERP_ATTR_H

#include "interp/object.h"
#include "interp/state.h"

int class_new(struct host *h, struct str_obj *name, struct class_obj **bases, size_t n_bases, struct class_obj **out);
struct val *class_lookup(struct host *h, struct class_obj *c, const struct str_obj *name, struct class_obj **where);
/* __members__ of an enumeration (enum.py); NULL: the class is none */
struct dict_obj *class_members(struct host *h, struct class_obj *c);
int class_refuse_absent(struct host *h, const struct class_obj *c);     /* -1: absent here, or derived from such */
int class_is_sub(const struct class_obj *c, const struct class_obj *of);
struct class_obj *host_native_class(struct host *h, const char *native);    /* "torch.Tensor"; NULL: failed */
/* Returns 1, 0 if there is no such type, -1 on failure. */
int host_find_native(struct host *h, const struct str_obj *key, struct class_obj **out);
struct class_obj *host_exc_class(struct host *h, enum host_exc x);          /* NULL: failed */
int host_make_natives(struct host *h);
/* Return 1 if found, 0 if absent, -1 on failure. */
int attr_get(struct host *h, struct val v, struct str_obj *name, struct val *out);
int attr_load(struct host *h, struct val v, struct str_obj *name, struct val *out);      /* absent: AttributeError */
int attr_generic(struct host *h, struct val v, struct str_obj *name, struct val *out);   /* without __getattr__ */
int attr_set(struct host *h, struct val v, struct str_obj *name, struct val x);
int attr_set_generic(struct host *h, struct val v, struct str_obj *name, struct val x);
int attr_del(struct host *h, struct val v, struct str_obj *name);
int attr_del_generic(struct host *h, struct val v, struct str_obj *name);
/* Calls the method `name` of v's type. Returns 1 if called, 0 if the type has no such method, -1 on
 * failure. */
int call_special(struct host *h, struct val v, enum name_id name, const struct val *a, size_t n, struct val *out);
int has_special(struct host *h, struct val v, enum name_id name);
/* `cls` is a class, a tuple or a union. Both return 1 if it matches, 0 if not, -1 on failure. */
int isinstance_of(struct host *h, struct val v, struct val cls);
int issubclass_of(struct host *h, struct val c, struct val cls);

#endif
