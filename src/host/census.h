/* What outlives a call of a program, compared before and after it.
 *
 * After host_seal, a census looks at every object that was there then, whatever it is and however it
 * could be reached, and at the settings of torch: what a list, dictionary, object, class, function,
 * cell, iterator or tensor holds, a tensor's form, device, flags and contents. A program that leaves
 * any of it changed has a memory. What our own library makes at first use does not count. */
#ifndef HOST_CENSUS_H
#define HOST_CENSUS_H

#include "host/host.h"

struct census {
	/* st: a tensor's memory */
	struct { const struct obj *o; const struct storage *st; uint64_t hash, contents; int wants_grad; } *v;
	size_t n, cap;
	uint64_t settings;
};

/* Tensors that may be written: those of these storages. */
struct census_may {
	const struct storage **v;
	size_t n, cap;
};

void census_release(struct census *c);
int census_take(struct census *c, struct host *h, struct err *e);
/* 0: nothing changed. 1: *d says what. Of tensors that may be written, contents and whether
 * gradients are wanted do not count. */
int census_compare(const struct census *c, struct host *h, const struct census_may *may, struct diag *d);

/* Generators as new, of a seed that is another for each input set: what a program draws tells it nothing about
 * earlier calls, and is no constant. */
void host_reset_random(struct host *h, uint64_t seed);

#endif
