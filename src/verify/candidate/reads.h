/* How much of each tensor the kernels of a call can have read, where only some of their programs were run.
 *
 * A sum that leaves out a part of its input is right only where that part is empty. So what kernels
 * read all of at smaller sizes they must be able to have read all of at full size, and as many
 * times: no program reads more than the largest of those that were run. The runner notes, the
 * decider compares. Tensors are told apart by which input they are, others by the order in which
 * launches are given them. */
#ifndef VERIFY_CANDIDATE_READS_H
#define VERIFY_CANDIDATE_READS_H

#include "interp/program.h"
#include "tensor/tensor.h"
#include "verify/config/terms.h"

enum { READS_MOST = 48, READS_INPUTS = 16 };

/* Of a call: what was read of each tensor, at the most. */
struct run_reads {
	int launches;
	/* enum constant_answer: why something was not counted, of the first that was not; 0: all was */
	int left;
	int n;
	struct {
		int what;              /* an input's number, or READS_INPUTS and on */
		int whole;             /* launches that read all of it */
		double share;          /* that launches read, added up */
	} v[READS_MOST];
};

/* While it is called. */
struct reads {
	uint64_t input[READS_INPUTS];  /* storages of the inputs, by their ids */
	int n_inputs;
	int others;                    /* tensors that are no input, so far */
	uint64_t id[READS_MOST];       /* storages of those that are told of */
	struct run_reads told;
	int lost;                      /* so much was not that nothing is told */
};

void reads_input(struct reads *r, const struct storage *s);
/* A launch is given the tensor; its programs read so many bytes of it at the most. */
void reads_add(struct reads *r, const struct storage *s, size_t bytes);
/* Something may have been read that was not counted; or so much that nothing can be told. */
void reads_leave(struct reads *r, enum constant_answer why);
void reads_lose(struct reads *r, enum constant_answer why);
void reads_tell(const struct reads *r, int launches, struct run_reads *out);

/* What a runner tells is sane. */
int reads_are_sane(const struct run_reads *r);
/* Of those that are read whole at the smaller sizes: the first of which less than `least` of as
 * much is read at full size; -1: none. */
int reads_missing(const struct run_reads *full, const struct run_reads *small, double least);
/* What such a comparison is worth. */
enum constant_answer reads_answer(const struct run_reads *full, const struct run_reads *small, double least);
/* What of an input its reference reads at any sizes, by its operators: all, all but the rest behind
 * a last window, or any part. */
double reads_least(struct host_ops ops);

#endif
