/* What programs know of the memory they touch, where only some programs of a grid are run.
 *
 * A tensor is hollow then: it has contents where they are touched (tensor/sparse.h), and what programs
 * that are not run would have written is not there. A program that reads such memory goes on with
 * whatever it finds, and what it stores is unknown as well. */
#ifndef TILE_MACHINE_KNOWN_MEMORY_H
#define TILE_MACHINE_KNOWN_MEMORY_H

#include "tile/machine/exec_access.h"

/* What a program has read that nobody knows: numbers, or integers, which may be addresses. */
enum unknown_read { UNKNOWN_FLOATS = 1, UNKNOWN_INTEGERS = 2 };

/* After access_open, before memory is touched. 0, or -1 after a fault. */
int known_load(const struct access *a, enum dtype dt);
int known_store(const struct access *a);
int known_swap(const struct access *a, enum dtype dt);
/* Tells of a comparison that was made, where somebody wants to know. */
void known_test(const struct machine *m, const struct tile_insn *in);
/* Is the fault that ended a program one whatever it has read? */
int known_fault(const struct machine *m);

#endif
