/* A call of a candidate under the address slice (tile/slice/slice.h), on the runner's side.
 *
 * The slice knows every element that kernels read and write, in every instance. A result that was
 * allocated empty must be written everywhere. The reads of each launch are reported, so that the
 * deciding process can compare them with those at smaller sizes (reads.h). */
#ifndef VERIFY_CANDIDATE_ADDRESSES_H
#define VERIFY_CANDIDATE_ADDRESSES_H

#include "host/host.h"
#include "tile/slice/slice.h"
#include "verify/candidate/reads.h"

struct addresses {
	struct slice_call slice;
	struct reads reads;
	int open;               /* launches with an access that is not decided */
	int by_contents;        /* launches among them in which the contents of tensors decide an access */
};

/* The summary of a call, for the deciding process. */
struct run_addresses {
	int launches, open, by_contents;
	int rounded;            /* floats that were rounded decide where an undecided store goes */
};

void addresses_open(struct addresses *a);
void addresses_close(struct addresses *a);
/* Registers the inputs of the call, so that reads of them are reported by their numbers. */
void addresses_inputs(struct addresses *a, struct host *h, struct val inputs);
/* Slices a launch. Returns 0 on success, 1 if an access is out of bounds (*d), -1 on our own failure (*e). */
int addresses_launch(struct addresses *a, const struct tile_code *code, const struct tile_launch *l, struct diag *d,
		     struct err *e);
/* Elements of a tensor that no kernel writes; 0 if that is not known. *reached is the end of those that are
 * written. */
int64_t addresses_blank(const struct slice_call *s, const struct tensor *t, int64_t *reached);
/* Returns 1 and *d if kernels leave elements of a result unwritten that was allocated empty. */
int addresses_gap(const struct addresses *a, struct host *h, struct val result, struct diag *d);
/* Reports the call. */
void addresses_tell(const struct addresses *a, struct run_addresses *out, struct run_reads *reads);

#endif
