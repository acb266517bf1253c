/* The headline of a candidate that is correct for its task and fails beyond it: see verdict.h.
 *
 * Example: "not robust: NaN on outliers (general: spread, large, offset)". */
#include "verify/verdict/verdict.h"

static const struct { const char *name, *text; } sets[] = {
#define ROBUST(name, text) { name, text },
#include "verify/verdict/robust.def"
#undef ROBUST
};

/* The input set in words; its name if the table does not have it. */
static const char *set_text(const char *name)
{
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
		if (!strcmp(sets[i].name, name))
			return sets[i].text;
	return name;
}

/* The failure in a word or two: the reason is shorter than its explanation. */
static const char *failure_text(enum reason r)
{
	switch (r) {
	case REASON_not_finite: return "NaN";
	case REASON_wrong_value: case REASON_metamorphic: return "wrong values";
	case REASON_precision: return "imprecise values";
	default: return reason_code(r);
	}
}

void verdict_robustness(const struct verdict *v, struct buf *out)
{
	const struct verdict_general *g = &v->general;

	if (!v->correct || !g->ran || g->correct || !g->n_failed)
		return;
	/* Values are wrong because of the contents of an input set; other failures may come from its
	 * sizes. */
	if (!strcmp(reason_class(g->why), "wrong"))
		buf_addf(out, "not robust: %s on %s (general: ", failure_text(g->why), set_text(g->failed[0]));
	else
		buf_addf(out, "not robust: %s beyond the task (general: ", failure_text(g->why));
	for (int i = 0; i < g->n_failed; i++)
		buf_addf(out, "%s%s", i ? ", " : "", g->failed[i]);
	buf_addc(out, ')');
}
