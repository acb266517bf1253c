/* A comparison of everything that outlives a call of a program, before and after the call.
 *
 * After host_seal, a census examines every object that existed then, however it could be reached,
 * and the settings of torch. It covers the contents of lists, dictionaries, objects, classes,
 * functions, cells and iterators, and a tensor's shape, device, flags and values. A program that
 * leaves any of it changed has a memory. Objects that our own library creates at first use do not
 * count. */
#ifndef HOST_CENSUS_H
#define HOST_CENSUS_H

#include "host/host.h"

struct census {
	/* one entry for each object; st: the memory of a tensor; contents: hash of its values, or the number of
	 * entries that a growing dictionary had */
	struct { const struct obj *o; const struct storage *st; uint64_t hash, contents; int wants_grad; } *v;
	size_t n, cap;
	uint64_t settings;
};

/* Storages that the program may write. */
struct census_may {
	const struct storage **v;
	size_t n, cap;
};

void census_release(struct census *c);
int census_take(struct census *c, struct host *h, struct err *e);
/* Returns 0 if nothing changed, 1 if something did (*d). For tensors that may be written, values
 * and requires_grad do not count. */
int census_compare(const struct census *c, struct host *h, const struct census_may *may, struct diag *d);

/* Resets all generators to a seed that differs between input sets. The numbers that a program draws
 * tell it nothing about earlier calls, and they are not constant either. */
void host_reset_random(struct host *h, uint64_t seed);

#endif
