/* A hash map from pointers to pointers. No removal. */
#ifndef INTERP_PTRMAP_H
#define INTERP_PTRMAP_H

#include "base/mem.h"

struct ptr_map { const void **key; void **val; size_t n, slots; }; /* key NULL: empty; slots: a power of two */
void *ptr_map_get(const struct ptr_map *m, const void *key);    /* NULL: absent */
int ptr_map_put(struct ptr_map *m, const void *key, void *val); /* -1: out of memory */
void ptr_map_release(struct ptr_map *m);

#endif
