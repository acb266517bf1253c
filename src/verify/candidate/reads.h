/* How much of each tensor the kernels of a call read, by the address slice (addresses.h).
 *
 * A sum that leaves out a part of its input is correct only if that part is zero. So if kernels
 * read a tensor whole at smaller sizes, they must read it whole at full size, and
 * as many times. The runner notes reads, the deciding process compares them. Inputs are identified by their
 * number, other tensors by the order in which launches are given them. */
#ifndef VERIFY_CANDIDATE_READS_H
#define VERIFY_CANDIDATE_READS_H

#include "interp/program.h"
#include "tensor/tensor.h"
#include "verify/config/terms.h"

enum { READS_MOST = 48, READS_INPUTS = 16 };

/* The most that the kernels of a call read of each tensor. */
struct run_reads {
	int launches;
	int left;                      /* enum constant_answer: why something was not counted; 0: all was */
	int n;
	struct {
		int what;              /* an input's number; READS_INPUTS and on: another tensor */
		int whole;             /* launches that read all of it */
		double share;          /* the parts that launches read, added up: 2.0 is twice all of it */
	} v[READS_MOST];
};

/* The reads of a call that is in progress. */
struct reads {
	uint64_t input[READS_INPUTS];  /* ids of the inputs' storages */
	int n_inputs;
	int others;                    /* other tensors so far */
	uint64_t id[READS_MOST];       /* ids of the storages of told.v */
	struct run_reads told;
	int lost;                      /* too much was not counted: nothing is reported */
};

/* Registers the next input. */
void reads_input(struct reads *r, const struct storage *s);
/* Notes that a launch is given the storage `id` of `all` bytes and that its instances read `bytes` of
 * it. */
void reads_add(struct reads *r, uint64_t id, size_t all, size_t bytes);
/* Notes that a launch may have read any `bytes` bytes of the storage, and why it is not known better. */
void reads_add_most(struct reads *r, uint64_t id, size_t all, size_t bytes, enum constant_answer why);
void reads_tell(const struct reads *r, int launches, struct run_reads *out);

/* Is a runner's report sane? */
int reads_are_sane(const struct run_reads *r);
/* Returns the first tensor that is read whole k times at the smaller sizes and less than k * least
 * times at full size, or -1 if there is no such tensor. */
int reads_missing(const struct run_reads *full, const struct run_reads *small, double least);
/* Tells how much that comparison proves, for the verdict. */
enum constant_answer reads_answer(const struct run_reads *full, const struct run_reads *small, double least);
/* The part of each input that a reference reads at any size, by its operators. The value is 1 if it
 * reads all of the input, less than 1 if a last window may be incomplete, and 0 if it may read any
 * part. */
double reads_least(struct host_ops ops);

#endif
