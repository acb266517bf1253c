/* How much kernels read: see reads.h. The runner notes reads; the deciding process compares those
 * of two runs. Neither half knows an expected result. */
#include "verify/candidate/reads.h"

#include <math.h>

#include "interp/bind.h"

/* --- noting ------------------------------------------------------------------------------- */

void reads_input(struct reads *r, const struct storage *s)
{
	if (r->n_inputs < READS_INPUTS)
		r->input[r->n_inputs++] = s->id;
}

/* The number under which a tensor is reported: inputs have their own number, other tensors are
 * numbered after the inputs as they appear. */
static int what_is(struct reads *r, uint64_t id)
{
	for (int i = 0; i < r->n_inputs; i++)
		if (r->input[i] == id)
			return i;
	return READS_INPUTS + r->others++;
}

/* The first reason counts. */
static void leave(struct reads *r, enum constant_answer why)
{
	if (!r->told.left)
		r->told.left = (int)why;
}

/* The entry of a storage; -1: there are too many. */
static int entry_of(struct reads *r, uint64_t id)
{
	struct run_reads *t = &r->told;
	int i = 0;

	while (i < t->n && r->id[i] != id)
		i++;
	if (i == READS_MOST) {
		leave(r, CONSTANT_ANSWER_many_tensors);
		r->lost = 1;
		return -1;
	}
	if (i == t->n) {
		t->n++;
		r->id[i] = id;
		t->v[i].what = what_is(r, id);
	}
	return i;
}

/* Bytes beyond the storage count as all of it: an upper bound may be larger than the tensor. */
void reads_add(struct reads *r, uint64_t id, size_t all, size_t bytes)
{
	int i = entry_of(r, id);

	if (i < 0)
		return;
	r->told.v[i].whole += bytes >= all;
	r->told.v[i].share += bytes >= all ? 1.0 : (double)bytes / (double)all;
}

/* It may have been all of it, but is not known to be. */
void reads_add_most(struct reads *r, uint64_t id, size_t all, size_t bytes, enum constant_answer why)
{
	int i = entry_of(r, id);

	leave(r, why);
	if (i >= 0)
		r->told.v[i].share += bytes >= all ? 1.0 : (double)bytes / (double)all;
}

void reads_tell(const struct reads *r, int launches, struct run_reads *out)
{
	*out = r->told;
	out->launches = launches;
	out->n = r->lost ? 0 : out->n;
}

/* --- comparing ---------------------------------------------------------------------------- */

/* The numbers come from a hostile process. */
int reads_are_sane(const struct run_reads *r)
{
	if (r->n < 0 || r->n > READS_MOST || r->launches < 0 || (unsigned)r->left >= CONSTANT_ANSWERS)
		return 0;
	for (int i = 0; i < r->n; i++)
		if (r->v[i].what < 0 || r->v[i].whole < 0 || !isfinite(r->v[i].share) || r->v[i].share < 0.0)
			return 0;
	return 1;
}

/* In how many launches the tensor was read whole at the smaller sizes; 0: it was not read. Tensors
 * that are no inputs can be compared only if both runs have the same launches. */
static int times_whole(const struct run_reads *small, int what, int same)
{
	for (int i = 0; i < small->n && (same || what < READS_INPUTS); i++)
		if (small->v[i].what == what)
			return small->v[i].whole;
	return 0;
}

/* Are other tensors than inputs numbered alike in both runs? */
static int same_launches(const struct run_reads *full, const struct run_reads *small)
{
	return full->launches == small->launches && full->n == small->n;
}

int reads_missing(const struct run_reads *full, const struct run_reads *small, double least)
{
	int same = same_launches(full, small);

	for (int i = 0; i < full->n; i++)
		if (full->v[i].share < least * times_whole(small, full->v[i].what, same) * (1.0 - 1e-9))
			return i;
	return -1;
}

/* The first thing that was not counted in either run is the answer; then whether the reference
 * reads its inputs whole at all, and whether any tensor was read whole at the smaller sizes. */
enum constant_answer reads_answer(const struct run_reads *full, const struct run_reads *small, double least)
{
	if (full->left || small->left)
		return (enum constant_answer)(full->left ? full->left : small->left);
	if (least <= 0.0)
		return CONSTANT_ANSWER_parts;
	for (int i = 0; i < full->n; i++)
		if (times_whole(small, full->v[i].what, same_launches(full, small)))
			return CONSTANT_ANSWER_compared;
	return CONSTANT_ANSWER_none_whole;
}

/* --- the reference ------------------------------------------------------------------------ */

/* Window operators of any size may leave this much of an input unread. */
#define WINDOWS 0.25

/* An operator that moves or cuts elements may read any part of its input. A window operator reads
 * its whole input except for a remainder after the last window: a pool of width 3 reads 18 of 20 elements
 * along each of three axes, which is 0.729 of the input. Windows may follow each other, so their parts multiply. */
double reads_least(struct host_ops ops)
{
	double least = 1.0, windows = 1.0;

	for (size_t i = 0; i < ops.n; i++) {
		if (ops.v[i].cut || ops.v[i].flags & (BIND_MOVE | BIND_SIZED))
			return 0.0;
		if (ops.v[i].flags & BIND_WINDOW) {
			windows *= 1.0 - ops.v[i].unread;
			least = MIN(windows, 1.0 - WINDOWS);
		}
	}
	return least;
}
