/* Inside the generator: the state of a draw, and the draws of each family. */
#ifndef GEN_DRAW_H
#define GEN_DRAW_H

#include "gen/impl.h"

/* What is known of the values at a point of the chain. Normed: a mean or a sum of squares along the
 * slices would be a constant. Small: a norm has left slices that add up to about one. Of varied chains also: high, a
 * reduction has left values far up, all alike to what saturates; drowned, a parameter was added to small values, so that
 * the largest and the smallest are the parameter's; clipped, the smallest (GEN_LOW) or the largest (GEN_HIGH) values are a bound, the
 * same in every slice; jumped, values near a threshold go far apart, so that a norm of slices that lie mostly below it hangs on rounding. */
enum { GEN_LOW = 1, GEN_HIGH = 2 };
struct gen_values { int negative, bounded, grown, dropped, batch_normed, kept, off, far, normed, small, high, drowned, clipped, jumped; };

struct gen_draw {
	struct gen_plan *p;
	struct rng *r;
	struct gen_values v;
	struct gen_shape shape;       /* after the last step */
	int feature;                  /* axis of features or channels; -1: gone */
	int sized;                    /* some dimension has no name in the task any more */
	int second_inputs;
};

#define GEN_FAM(f) (1u << (f))

int gen_chance(struct gen_draw *d, int percent);
int64_t gen_pick(struct gen_draw *d, const int *choices);    /* ends with 0 */
/* Appends a step over the current shape; the caller sets its sizes and calls gen_pushed. */
struct gen_step *gen_push(struct gen_draw *d, enum gen_op_id id);
void gen_pushed(struct gen_draw *d, struct gen_step *s);
/* A fitting operator of one of the families; 0: there is none. */
int gen_push_family(struct gen_draw *d, unsigned families);
void gen_push_pointwise(struct gen_draw *d, int lo, int hi);

void gen_push_gemm(struct gen_draw *d);
void gen_push_conv(struct gen_draw *d, enum gen_op_id op);
void gen_push_pool(struct gen_draw *d);
/* A pool over windows, not over all of space. */
void gen_push_window(struct gen_draw *d);
void gen_push_norm(struct gen_draw *d);
void gen_push_reduce(struct gen_draw *d);
void gen_push_softmax(struct gen_draw *d);
/* Sizes of the input of a chain: small and real ones. */
void gen_draw_input(struct gen_draw *d);
/* A task of one operator, with its input. */
void gen_draw_single(struct gen_draw *d);

#endif
