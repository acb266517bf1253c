/* The heap: making objects, temporaries, the memory limit. heap.c explains the mechanism. */
#ifndef INTERP_HEAP_H
#define INTERP_HEAP_H

#include "interp/state.h"

/* A zeroed object of `size` bytes, held as a temporary. NULL on failure. cls NULL: the class of
 * the kind. */
void *host_obj(struct host *h, enum val_kind kind, size_t size, struct class_obj *cls);
int host_charge(struct host *h, size_t bytes);           /* -1: the memory limit is reached */
void host_uncharge(struct host *h, size_t bytes);
void *host_alloc(struct host *h, size_t bytes);          /* zeroed and charged; NULL: failed */
void host_release(struct host *h, void *p, size_t bytes);
struct val host_hold(struct host *h, struct val v);      /* as a temporary; returns v */
size_t temps_mark(const struct host *h);                 /* height of the list of temporaries */
void temps_drain(struct host *h, size_t mark);           /* drops those above mark */
struct val temps_drain_to(struct host *h, size_t mark, struct val keep);
void val_assign(struct host *h, struct val *slot, struct val v);   /* keeps v, drops the old value */
void host_free_objects(struct host *h);
struct str_obj *host_intern(struct host *h, struct str s);         /* NULL: failed */
struct str_obj *host_ident(struct host *h, struct str id);         /* of an identifier of a syntax tree */
static inline struct val val_of_str(struct str_obj *s) { return (struct val){ .kind = V_STR, .u.s = s }; }
int val_bytes(struct host *h, struct str s, struct val *out);
int val_pair(struct host *h, enum val_kind kind, struct val self, struct val fn, struct val *out);
int val_slice(struct host *h, struct val a, struct val b, struct val c, struct val *out);
int val_iter(struct host *h, struct val src, int (*next)(struct host *, struct iter_obj *, struct val *),
	     struct val *out);
int seq_reserve(struct host *h, struct seq_obj *s, size_t more);
int host_module(struct host *h, struct str name, struct module_obj **out);
/* A deep copy: shared objects and storages stay shared (deepcopy.c). */
int copy_deep(struct host *h, struct val v, struct val *out);

#endif
