/* What program instances know of the memory they touch, in a run of sampled instances.
 *
 * The tensors are sparse then: they have contents only where they are touched (tensor/sparse.h).
 * What the other instances would have written is missing. An instance that reads such memory goes
 * on with whatever it finds, and what it stores is marked unknown as well. Faults that unknown
 * memory may have caused do not count. */
#ifndef TILE_MACHINE_KNOWN_MEMORY_H
#define TILE_MACHINE_KNOWN_MEMORY_H

#include "tile/machine/exec_access.h"

/* What an instance has read of unknown memory: floats, or integers, which may become addresses. */
enum unknown_read { UNKNOWN_FLOATS = 1, UNKNOWN_INTEGERS = 2 };

/* Called after access_open and before memory is touched. Return 0, or -1 after a fault. */
int known_load(const struct access *a, enum dtype dt);
int known_store(const struct access *a);
int known_swap(const struct access *a, enum dtype dt);
/* Reports an integer comparison of scalars to the options' `test` callback, if there is one. */
void known_test(const struct machine *m, const struct tile_insn *in);
/* Whether the fault that ended an instance stands whatever unknown memory the instance has read. */
int known_fault(const struct machine *m);

#endif
