/* Evaluation of a kernel's addresses over one batch of instances. Private to src/tile/slice. */
#ifndef TILE_SLICE_SLICE_WALK_H
#define TILE_SLICE_SLICE_WALK_H

#include "tile/slice/closed_form.h"
#include "tile/slice/slice.h"

/* The memory of a pointer parameter, and what the current attempt found out about it. */
struct walk_memory {
	struct storage *st;         /* NULL: the parameter is no tensor */
	int64_t view;               /* byte offset of the parameter's element 0 */
	struct str name;
	size_t at;                  /* index into slice.v */
	enum slice_answer writes, reads;
	/* bytes that stores and loads of attempt 1 touch at most whose places are not decided, and those of the
	 * stores of one instance; INT64_MAX: not known */
	int64_t open_write, open_read, open_each;
	int rounded;                /* floats that were rounded decide where a store goes */
};

/* An access that is not decided. */
struct slice_open {
	enum slice_answer why;
	int rounded;                /* floats that were rounded decide where it goes */
	int64_t most, each;         /* bytes that it touches at most, in all instances and in one; INT64_MAX: not
				     * known */
};

enum { SLICE_SEEN = 1 << 14 };

struct slice_walk {
	const struct tile_code *code;
	const struct tile_launch *l;
	struct slice_call *s;
	struct walk_memory *memory; /* by parameter of the code */
	struct arena mem;
	struct form_batch b;
	struct form *reg;           /* by register */
	uint8_t *needed;            /* by register: an address, a mask, a branch or a class depends on it */
	uint8_t *marked;            /* by instruction: its answers are part of the signature (slice_class.h) */
	uint64_t *signature;        /* by instance of the batch; NULL: not asked for */
	int differs;                /* a marked instruction may differ between instances */
	int64_t first;              /* number of the batch's first instance in the grid */
	int by_pid;                 /* program ids are variables; the batch is the whole grid */
	struct form path;           /* the condition under which the current instructions run */
	enum slice_answer path_answer;      /* SLICE_DECIDED: `path` is known */
	int64_t *gone;              /* by instance: it has returned; NULL: none has */
	const int64_t *trips[FORM_LOOPS];   /* iterations of the enclosing loops in each instance; NULL: as extent */
	int depth;                  /* enclosing loops */
	int iterate;                /* loops run iteration by iteration */
	int64_t lanes;              /* that are instances of their own (slice_fold.h); 1: none are */
	uint8_t *folded;            /* by instruction: a range of such lanes */
	uint64_t *seen;             /* hashes of boxes that were added, SLICE_SEEN of them */
	int64_t ranges;             /* ranges of loads that may still be added; beyond that loads are not decided */
	int64_t parts;              /* parts of the current access that may still be made (region.c) */
	int64_t fuel;               /* instructions times instances that may still be evaluated */
	int dry;                    /* neither accesses nor signatures are recorded */
	int quiet;                  /* accesses are not recorded: an earlier attempt has decided them */
	int gave_up;                /* control flow that has no form: nothing is decided */
	struct diag *d;
	int faulted;
	struct err *e;
};

/* The value of a parameter in the launch's arguments; NULL: it is missing. */
const struct tile_val *slice_argument(const struct tile_launch *l, const struct tile_param *p);
/* Marks the registers that addresses, masks, branches and marked instructions depend on. */
void slice_find_needed(const struct tile_code *code, const uint8_t *marked, uint8_t *needed);
/* Evaluates the kernel for the batch that w->b and w->first describe. Returns 0 on success (answers
 * are in w->memory), 1 if an access is out of bounds, -1 on our own failure. */
int slice_batch(struct slice_walk *w);
/* Records the access of an instruction. Returns 0, or -1 on our own failure. */
int slice_access(struct slice_walk *w, const struct tile_insn *in);
/* The sum of two such bounds; INT64_MAX stays. */
int64_t slice_add_most(int64_t a, int64_t b);
/* A store (or load) through the parameter's memory is not decided; -1: through any. */
void slice_unknown(struct slice_walk *w, int memory, int store, struct slice_open open);
/* No access of the launch is decided. */
void slice_unknown_all(struct slice_walk *w);
/* Reports that an access is outside of its tensor, at this byte of the storage. */
void slice_fault(struct slice_walk *w, const struct tile_insn *in, int memory, int64_t instance, int64_t at);

#endif
