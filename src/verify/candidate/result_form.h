/* The form of a result, without its values: how tensors are nested, whether they overlap themselves
 * or share memory with an input.
 *
 * The runner reports forms and the deciding process compares them; so both sides describe a form
 * with these functions. */
#ifndef VERIFY_CANDIDATE_RESULT_FORM_H
#define VERIFY_CANDIDATE_RESULT_FORM_H

#include "host/host.h"

/* RESULTS_MOST: result tensors of a call that are looked at. RESULTS_FORM: bytes of the text that
 * describes their nesting. */
enum { RESULTS_MOST = 32, RESULTS_FORM = 400 };

/* The name of the buffers that a call left changed, in messages and in reports. */
#define RESULT_STATE "what forward leaves in the buffers"

/* Is it an expanded view: do several of its elements share one address? */
int result_overlaps(const struct tensor *t);
/* Does it share memory with one of the inputs? */
int result_aliases(struct host *h, const struct tensor *t, struct val inputs);
/* Stores the text of host_result. A text that is too long keeps its beginning and a hash of all of
 * it. */
void results_set_form(char form[RESULTS_FORM], struct str text);

#endif
