/* Static rules for a candidate's syntax tree. A candidate is parsed, compared with a whitelist, and
 * only then executed. rule.def lists the rules; some of them also hold while the candidate runs. */
#ifndef VERIFY_RULES_RULES_H
#define VERIFY_RULES_RULES_H

#include "py/ast.h"
#include "py/diag.h"
#include "verify/config/terms.h"

const char *rule_name(enum rule r);
const char *rule_text(enum rule r);
int rule_by_name(struct str name);      /* an enum rule, or -1 if no rule has this name */

struct rules_options {
	unsigned off;                   /* bit r is set if enum rule r is switched off, for tests */
	int identity;                   /* the reference is judged as its own candidate: no rule applies */
	const char *class_name;         /* ModelNew, or Model for identity */
};

/* Returns 0 if all rules hold, 1 if a rule does not hold (*d names it). `task` gives the
 * reference's signatures. */
int rules_check(const struct py_module *candidate, const struct py_module *task,
		const struct rules_options *o, struct diag *d);

#endif
