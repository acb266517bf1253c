/* Matches the tensors of a candidate's model with the weights of the reference.
 *
 * A candidate may name and shape its weights as it likes. Matching goes from the surest sign to the
 * weakest; a weight that has a partner is not matched again. Only files weights_*.c include
 * this. */
#ifndef VERIFY_CANDIDATE_WEIGHTS_MATCH_H
#define VERIFY_CANDIDATE_WEIGHTS_MATCH_H

#include "verify/candidate/weights.h"

/* A tensor of the model and its weight; NULL if it has none. */
struct weight_member {
	char name[96];
	struct tensor_obj *obj;
	const struct task_weight *of;
};

struct weight_members {
	struct weight_member *v;
	size_t n, cap;
};

/* The sign by which a weight is recognised. MATCH_NAME: its whole name. MATCH_SUFFIX: the end of
 * its name, if only one tensor has that. MATCH_ORDER: it is the next tensor of its shape that is
 * left. MATCH_TRANSPOSED: the next of its transposed shape. MATCH_FOLDED: the end of its name and
 * its number of elements. MATCHES: some weight has no partner. */
enum match { MATCH_NAME, MATCH_SUFFIX, MATCH_ORDER, MATCH_TRANSPOSED, MATCH_FOLDED, MATCHES };

/* The word of the verdict: "name", "suffix", "order", "transposed", "folded", "seed". */
const char *weights_match_name(enum match by);

/* Collects the tensors of a model and matches them; *by is the weakest sign that was needed. Free
 * with vec_free. Returns 0 on success, -1 on failure (*e). */
int members_open(struct weight_members *m, const struct task_weights *w, struct host *h, struct val model,
		 enum match *by, struct err *e);
/* The tensor that corresponds to the weight, or NULL. */
const struct weight_member *members_partner(const struct weight_members *m, const struct task_weight *w);
/* A view of the member's weight in the member's shape. Release it with tensor_release. */
int member_view(struct tensor *out, const struct weight_member *m, struct err *e);
/* Does the tensor hold its weight transposed? */
int member_is_transposed(const struct weight_member *m);
/* A square matrix that does not have the weight's whole name: only its values tell whether it is
 * the weight or its transpose. */
int member_may_be_transposed(const struct weight_member *m);

#endif
