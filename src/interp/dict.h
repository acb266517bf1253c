/* Hash tables behind dictionaries, sets and namespaces. attrs_* are lookups by string in
 * namespaces, which run no program code. */
#ifndef INTERP_DICT_H
#define INTERP_DICT_H

#include "interp/state.h"

int val_hash(struct host *h, struct val v, uint64_t *out);
struct val *attrs_find(const struct dict_obj *d, struct str name, uint64_t hash); /* hash: xxh64 of the name */
struct val *attrs_get(const struct dict_obj *d, const struct str_obj *name);
int attrs_set(struct host *h, struct dict_obj *d, struct str_obj *name, struct val v);
int attrs_del(struct host *h, struct dict_obj *d, struct str_obj *name);   /* 1: it was there */
struct dict_obj *dict_obj_new(struct host *h, enum val_kind kind);
void dict_obj_clear(struct host *h, struct dict_obj *d);
int dict_update(struct host *h, struct val into, struct val from);         /* every entry of `from` */
/* The next live entry from *at on; NULL at the end. */
struct dict_entry *dict_next(struct dict_obj *d, size_t *at);

#endif
