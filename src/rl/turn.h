/* Further turns of a sample: the judge's feedback on an answer, and another answer. */
#ifndef RL_TURN_H
#define RL_TURN_H

#include "rl/rollout.h"

/* Appends the tokens that the next turn is asked with: all of the sample, then the feedback as the
 * user's message in the model's own chat form. The drawn tokens do not change. */
int turn_prompt(struct tok_enc *x, const struct tok *t, const struct rolled *s, struct tok_ids *out, struct err *e);
/* `next` answered that prompt: its answer, code and verdict become the sample's, whose tokens now
 * hold both turns. Tokens between the answers have the class EXTRACT_GIVEN. `next` gives up its
 * texts. */
int turn_join(struct rolled *s, struct rolled *next, struct err *e);

#endif
