/* The result of a check as SARIF 2.1.0, the form that code hosts show in reviews: what `check --sarif` prints. */
#ifndef VERIFY_LINT_CHECK_SARIF_H
#define VERIFY_LINT_CHECK_SARIF_H

#include "base/json.h"
#include "verify/lint/check_file.h"

/* Call in this order: begin opens the log and its list of results, diag adds one of them, end closes. */
void check_sarif_begin(struct jw *w);
void check_sarif_diag(struct jw *w, const char *file, enum severity how, const struct diag *d);
void check_sarif_end(struct jw *w);

#endif
