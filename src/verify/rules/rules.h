/* Static rules for a candidate's syntax tree: parse, whitelist, and only then execute. */
#ifndef VERIFY_RULES_RULES_H
#define VERIFY_RULES_RULES_H

#include "py/ast.h"
#include "py/diag.h"
#include "verify/config/terms.h"

const char *rule_name(enum rule r);
const char *rule_text(enum rule r);
int rule_by_name(struct str name);      /* enum rule or -1 */

struct rules_options {
	enum track track;
	unsigned off;                   /* bits of rules that are switched off, for tests */
	int identity;                   /* the reference as its own candidate: no kernel wanted */
	const char *class_name;         /* ModelNew, or Model for identity */
	/* Flags of a torch name ("torch.matmul"), see interp/bind.h; -1: no such name. */
	int (*flags)(void *ctx, const char *dotted);
	void *ctx;
};

/* 0: all rules hold. 1: *d says which does not. `task` gives the reference's signatures. */
int rules_check(const struct py_module *candidate, const struct py_module *task,
		const struct rules_options *o, struct diag *d);

#endif
