/* The result of a check as JSON: what `check --json` prints and /v1/check answers. */
#ifndef VERIFY_LINT_CHECK_JSON_H
#define VERIFY_LINT_CHECK_JSON_H

#include "base/json.h"
#include "verify/lint/check_file.h"

const char *check_severity_name(enum severity how);
/* Call in this order: begin opens the object and its list of diagnostics, diag adds one of them,
 * end adds the counts and closes the object. */
void check_json_begin(struct jw *w);
void check_json_diag(struct jw *w, const char *file, enum severity how, const struct diag *d);
void check_json_end(struct jw *w, int64_t files, int64_t errors, const struct check_count *c);

#endif
