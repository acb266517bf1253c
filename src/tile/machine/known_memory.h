/* The knowledge of program instances about the memory they touch, in a run of sampled instances.
 *
 * The tensors are sparse in this run: they have contents only where they are touched
 * (tensor/sparse.h). Values that the other instances would have written are missing. An instance
 * that reads such unknown memory continues with the bytes it finds, and its later stores are marked
 * unknown as well. Faults that unknown memory may have caused do not count. */
#ifndef TILE_MACHINE_KNOWN_MEMORY_H
#define TILE_MACHINE_KNOWN_MEMORY_H

#include "tile/machine/exec_access.h"

/* The kinds of unknown memory that an instance has read: floats, or integers, which may become
 * addresses. */
enum unknown_read { UNKNOWN_FLOATS = 1, UNKNOWN_INTEGERS = 2 };

/* Called after access_open and before memory is touched. Return 0, or -1 after a fault. */
int known_load(const struct access *a, enum dtype dt);
int known_store(const struct access *a);
int known_swap(const struct access *a, enum dtype dt);
/* Reports an integer comparison of scalars to the options' `test` callback, if there is one. */
void known_test(const struct machine *m, const struct tile_insn *in);
/* Whether the fault that ended an instance counts: unknown memory cannot have caused it. */
int known_fault(const struct machine *m);

#endif
