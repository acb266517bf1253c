/* Tuning: the best solution with other block sizes and numbers of warps. Every version is judged, so a change
 * that a kernel does not allow only costs its verdict. */
#ifndef WRITE_TUNE_H
#define WRITE_TUNE_H

#include "write/search.h"

/* Changes one setting at a time, keeps what is faster, and repeats from there. Returns -1 on our own failure. */
int tune_best(struct write_search *s, struct err *e);

#endif
