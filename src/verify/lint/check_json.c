/* The result of a check as JSON: see check_json.h. The names of the fields are part of the
 * interface: editors and scripts read them. */
#include "verify/lint/check_json.h"

const char *check_severity_name(enum severity how)
{
	return how == SEVERITY_ERROR ? "error" : how == SEVERITY_UNSURE ? "unsure" : "warning";
}

void check_json_begin(struct jw *w)
{
	jw_begin(w, '{');
	jw_key(w, "diagnostics");
	jw_begin(w, '[');
}

/* Writes one diagnostic. Empty hints and kernel names are written as null, so that a reader can
 * tell "none" from a text. */
void check_json_diag(struct jw *w, const char *file, enum severity how, const struct diag *d)
{
	jw_begin(w, '{');
	jw_key(w, "file"), jw_cstr(w, file);
	jw_key(w, "line"), jw_int(w, d->line);
	jw_key(w, "column"), jw_int(w, d->col);
	jw_key(w, "severity"), jw_cstr(w, check_severity_name(how));
	jw_key(w, "reason"), jw_cstr(w, reason_code(d->reason));
	jw_key(w, "message"), jw_cstr(w, d->text);
	jw_key(w, "hint"), jw_cstr(w, d->hint[0] ? d->hint : NULL);
	jw_key(w, "kernel"), jw_cstr(w, d->kernel[0] ? d->kernel : NULL);
	jw_end(w, '}');
}

void check_json_end(struct jw *w, int64_t files, int64_t errors, const struct check_count *c)
{
	jw_end(w, ']');
	jw_key(w, "files"), jw_int(w, files);
	jw_key(w, "kernels"), jw_int(w, c->kernels);
	jw_key(w, "helpers"), jw_int(w, c->helpers);
	jw_key(w, "compiled"), jw_int(w, c->compiled);
	jw_key(w, "unsure"), jw_int(w, c->unsure);
	jw_key(w, "errors"), jw_int(w, errors);
	jw_end(w, '}');
}
