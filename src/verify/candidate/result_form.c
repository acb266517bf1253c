/* The form of a result: see result_form.h. */
#include "verify/candidate/result_form.h"

#include <stdio.h>

#include "base/hash.h"

/* A search for a storage among the tensors of a value. */
struct alias_search {
	const struct storage *st;
	int found;
};

/* One tensor of the value. */
static int look_for_storage(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct alias_search *s = ctx;

	(void)name;
	s->found |= obj->t.st == s->st;
	return 0;
}

/* A result that is a view of an input would change when the caller changes the input. */
int result_aliases(struct host *h, const struct tensor *t, struct val inputs)
{
	struct alias_search s = { .st = t->st };

	host_tensors(h, inputs, look_for_storage, &s);
	return s.found;
}

/* The hash keeps two long forms apart that begin alike. */
void results_set_form(char form[RESULTS_FORM], struct str text)
{
	if (text.n < RESULTS_FORM)
		snprintf(form, RESULTS_FORM, "%.*s", STR_ARG(text));
	else
		snprintf(form, RESULTS_FORM, "%.*s... (%016llx)", RESULTS_FORM - 32, text.p,
			 (unsigned long long)hash_xxh64(text.p, text.n, 3));
}

/* Does the tensor have several indices for one element? Writing to it would change them all at
 * once. */
int result_overlaps(const struct tensor *t)
{
	for (int i = 0; i < t->ndim; i++)
		if (t->shape[i] > 1 && t->stride[i] == 0)
			return 1;
	return 0;
}
