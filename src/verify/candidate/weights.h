/* The weights of a reference: taken from its model, drawn again, put into another model.
 *
 * A correct candidate is correct with other weights, too. So the reference's weights are put into
 * the candidate's model before each run. This header owns the sets of weights and the ways in and
 * out of a model; weights_match.h owns the matching of the model's tensors with weights. */
#ifndef VERIFY_CANDIDATE_WEIGHTS_H
#define VERIFY_CANDIDATE_WEIGHTS_H

#include "host/census.h"
#include "host/host.h"

/* The effect of the reference's forward on a weight: none, it changes the values, or it counts its
 * calls there and never reads the count. */
enum weight_kept { KEPT_NOT, KEPT_VALUES, KEPT_COUNT };

struct task_weight {
	char name[96];                /* as state_dict names it */
	struct tensor t;              /* fp32, or the dtype it has if that is not floating */
	/* the shape that a model at full size has; it is larger than t.shape where the task is
	 * reduced */
	int64_t full[TENSOR_DIMS];
	int param;                    /* a parameter, not a buffer */
	int moved;                    /* constructed with one value throughout; this set has drawn values */
	enum weight_kept kept;
};

struct task_weights {
	struct task_weight *v;
	size_t n, cap;
	/* not 0: only the first indices of a large weight are stored, and sparse_spread makes the
	 * whole weight of them with this seed; 0: each weight is stored whole */
	uint64_t spread;
};

/* WEIGHTS_BUILT: as the reference's constructor makes them. WEIGHTS_DRAWN: all of them drawn again.
 * WEIGHTS_MOVED: only those drawn again that the constructor fills with one value (a bias of
 * zeros), so that a candidate that leaves them out is found even if it does not take the others. */
enum weight_set { WEIGHTS_BUILT, WEIGHTS_DRAWN, WEIGHTS_MOVED, WEIGHT_SETS };

/* Copies the weights of a model. Returns 0 on success, -1 on failure (*e). */
int weights_take(struct task_weights *w, struct host *h, struct val model, struct err *e);
/* The same with at most `most` indices along each dimension; `spread` becomes w->spread. */
int weights_take_part(struct task_weights *w, int64_t most, uint64_t spread, struct host *h, struct val model,
		      struct err *e);
int weights_copy(struct task_weights *to, const struct task_weights *from, struct err *e);
void weights_release(struct task_weights *w);
size_t weights_bytes(const struct task_weights *w);

/* Draws new values from a distribution that hides nothing: no zeros, no ones, positive
 * variances. */
int weights_redraw(struct task_weights *w, uint64_t seed, struct err *e);
/* Copies `from` with new values for weights that have one value throughout; the others share
 * memory. */
int weights_move(struct task_weights *to, const struct task_weights *from, uint64_t seed, struct err *e);
/* Is it a buffer that counts calls, such as num_batches_tracked? */
int weights_is_count(const struct task_weight *w);
/* Is it a buffer of zeros and one other value? */
int weights_is_mask(const struct task_weight *w);

/* The value of a weight at the start of a run. A weight that forward changes gets drawn values, as
 * if forward had been called before: one of WEIGHTS_STATES kinds, by state % WEIGHTS_STATES. State
 * 0, and a weight that forward leaves alone: the value in the set. Release out->t. */
enum { WEIGHTS_STATES = 4 };
int weights_begin(struct task_weight *out, const struct task_weight *w, uint64_t state, struct err *e);

/* Copies each weight, as weights_begin gives it, into the corresponding tensor of the model
 * (weights_match.h). `how` gets the weakest sign by which a weight was recognised: "name",
 * "suffix", "order", "transposed", "folded"; "seed": some weight has no partner. Returns 0 on
 * success, -1 on failure (*e). */
int weights_put(const struct task_weights *w, uint64_t state, struct host *h, struct val model, char how[16],
		struct err *e);
/* The same for buffers only, in a model that has these parameters already. */
int weights_restore(const struct task_weights *w, uint64_t state, struct host *h, struct val model, struct err *e);

/* How a hollow model at full size gets the weights of a reduced task. */
struct weights_reduced {
	const struct sparse_map *map; /* from indices at full size to those of the reduced task */
	int settled;                  /* `transposed` is known: weights_note_transposed */
	uint64_t transposed;
};
int weights_put_reduced(const struct task_weights *w, const struct weights_reduced *reduced, struct host *h,
			struct val model, struct err *e);
/* Calls fn for each tensor of the model that has a weight of the reference as its partner.
 * `transposed`: the tensor holds the weight transposed. Nonzero from fn ends the walk and is
 * returned; -1: our own failure (*e). */
typedef int weights_partner_fn(void *ctx, const struct tensor *t, const struct task_weight *w, int transposed);
int weights_partners(const struct task_weights *w, const struct weights_reduced *reduced, struct host *h,
		     struct val model, weights_partner_fn *fn, void *ctx, struct err *e);
/* Notes in w->v[].full the shapes of a model at full size, which may be hollow. Returns 0 on
 * success, -1 on failure. */
int weights_note_full(struct task_weights *w, struct host *h, struct val model);

/* The first parameter, or moved constant, without a corresponding tensor in the model; NULL if each
 * has one. */
const struct task_weight *weights_missing(const struct task_weights *w, struct host *h, struct val model);
/* Finds the tensors of a model that hold a weight transposed. A square matrix is recognised by its
 * values; so the model must be as its constructor left it, under the seed of these weights. Bit i
 * of *transposed belongs to tensor i of the model, for the first 64. Returns 0 on success, -1 on
 * failure (*e). */
int weights_note_transposed(const struct task_weights *w, struct host *h, struct val model,
			    uint64_t *transposed, struct err *e);
/* Finds a parameter whose partner is a guess (neither its name nor its shape is unique) and whose
 * partner does not hold its values, in a model as its constructor left it. *out is NULL if no
 * parameter is like that. Returns 0 on success, -1 on failure (*e). */
int weights_differ(const struct task_weights *w, struct host *h, struct val model,
		   const struct task_weight **out, struct err *e);

/* Are there weights that forward changes, and that runs of this dtype are compared by? */
int weights_are_kept(const struct task_weights *w, enum dtype dt);
/* The buffers that a candidate may leave unchanged, after a run that began with `state`. */
struct weights_left {
	uint64_t state;
	int may, may_count;           /* buffers of values; counts */
};
/* Reads what a call left in the buffers that correspond to weights which forward changes, all of
 * them as one row of fp64. An element is NaN if no tensor corresponds to its weight, or if the
 * buffer may be left unchanged and is. Adds the storages of these buffers to *of. Returns 0 on
 * success, -1 on failure (*e). */
int weights_kept(const struct task_weights *w, struct host *h, struct val model,
		 const struct weights_left *left, struct tensor *row, struct census_may *of,
		 struct err *e);

#endif
