/* What programs wrote that were not run, where each writes one value to a part of its own, the next
 * part to the next program.
 *
 * Over tensors of one value most kernels write one value everywhere (sparse_flatten). One that
 * leaves something out beyond a place does not: its programs write one value up to there and
 * another behind it. Where the values of two programs differ, those between them are run until the
 * place is found; two that are the same stand for those between them, after two of these showed it. */
#ifndef VERIFY_CANDIDATE_PLATEAU_H
#define VERIFY_CANDIDATE_PLATEAU_H

#include "tensor/tensor.h"

enum { PLATEAU_RUNS = 96 };              /* programs that are run for it at the most */

struct plateau {
	struct storage *st;
	size_t size, part;             /* bytes of an element, and of what each program writes */
	int64_t programs;
	int (*run)(void *ctx, int64_t program);
	void *ctx;
};

/* After `n` programs were run. 0: the storage is filled, or cannot be; else what `run` gave. */
int plateau_fill(const struct plateau *l, const int64_t *ran, int n);

#endif
