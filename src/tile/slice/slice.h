/* The address slice: every element that the kernels of a call read and write, for every program
 * instance, without running the kernels.
 *
 * Addresses and masks of ordinary kernels depend on program ids, scalar arguments and constants only.
 * This folder evaluates the instructions that they are made of and nothing else. A launch of millions
 * of instances costs microseconds if its addresses are linear in the program ids, and about 50 ns for
 * each instance otherwise. Integers wrap around as on a GPU.
 *
 * Four attempts are made for each launch, until every access is decided:
 *   1. program ids are variables: pid * 64 + lane over the whole grid is one range (closed_form.h);
 *   2. program ids are numbers, a thousand instances at a time: any arithmetic of program ids;
 *   3. the same with loops run iteration by iteration, if that is not too long;
 *   4. if floats decide where a store goes and their type rounds them (float_op.h): attempt 2 for the last
 *      instances with their lanes as instances (slice_fold.h). How many elements they write bounds how many all do.
 * An access whose address, mask or path depends on the contents of tensors stays undecided and is
 * reported as such; the other accesses of the kernel are decided all the same.
 *
 * Order: slice_launch for each launch of a call, in order; then the sets of each storage. */
#ifndef TILE_SLICE_SLICE_H
#define TILE_SLICE_SLICE_H

#include "tile/slice/cover.h"
#include "tile/slice/slice_class.h"
#include "tile/tile.h"

/* How much is known about the accesses of one kind to one storage. */
enum slice_answer {
	SLICE_DECIDED,          /* the set has every element that is touched, and no other */
	SLICE_CONTENTS,         /* tensor contents decide some of them: the set has the others */
	SLICE_UNDECIDED         /* some could not be represented: the set has the others */
};

/* The accesses of all launches to one storage. */
struct slice_memory {
	uint64_t id;            /* of the storage */
	struct cover written;   /* by all launches */
	enum slice_answer writes;
	int touched;            /* the last launch was given the storage; */
	struct cover read;      /* its reads, */
	enum slice_answer reads, now;   /* and what is known about its reads and its writes */
	int64_t open_most;      /* bytes that undecided stores write at most; INT64_MAX: not known */
	int64_t now_most;       /* those of the last launch */
	int64_t read_most;      /* bytes that undecided loads of the last launch read at most */
	int64_t write_covered, read_covered;    /* bytes that attempt 1 of the last launch had decided */
	int rounded;            /* floats that were rounded decide where an undecided store goes */
};

struct slice_call {
	struct slice_memory *v;
	size_t n, cap;
	struct slice_classes classes;   /* of the last launch; none: all instances do the same */
	int launches;
	uint64_t last;          /* the last launch (a hash); 0: none */
};

/* Starts a call. */
void slice_init(struct slice_call *s);
void slice_release(struct slice_call *s);
/* Adds the accesses of a launch. Returns 0 on success, 1 if an access of an instance lies outside its
 * tensor (*d), -1 on our own failure (*e). */
int slice_launch(struct slice_call *s, const struct tile_code *code, const struct tile_launch *l, struct diag *d,
		 struct err *e);
/* The entry of a storage; NULL: no launch was given it. */
struct slice_memory *slice_find(const struct slice_call *s, uint64_t id);

#endif
