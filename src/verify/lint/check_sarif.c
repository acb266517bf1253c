/* SARIF: see check_sarif.h. The rules are the reasons of py/reason.def, so a code host can explain each
 * result. Levels: an error is "error", a warning "warning", an unsure finding "note". */
#include "verify/lint/check_sarif.h"

/* The rule of every reason: its code and explanation. */
static void add_rules(struct jw *w)
{
	jw_key(w, "rules"), jw_begin(w, '[');
	for (int r = REASON_ok + 1; r < REASONS; r++) {
		jw_begin(w, '{');
		jw_key(w, "id"), jw_cstr(w, reason_code((enum reason)r));
		jw_key(w, "shortDescription"), jw_begin(w, '{');
		jw_key(w, "text"), jw_cstr(w, reason_text((enum reason)r));
		jw_end(w, '}');
		jw_end(w, '}');
	}
	jw_end(w, ']');
}

void check_sarif_begin(struct jw *w)
{
	jw_begin(w, '{');
	jw_key(w, "$schema"), jw_cstr(w, "https://json.schemastore.org/sarif-2.1.0.json");
	jw_key(w, "version"), jw_cstr(w, "2.1.0");
	jw_key(w, "runs"), jw_begin(w, '[');
	jw_begin(w, '{');
	jw_key(w, "tool"), jw_begin(w, '{');
	jw_key(w, "driver"), jw_begin(w, '{');
	jw_key(w, "name"), jw_cstr(w, "tritonrl check");
	jw_key(w, "version"), jw_cstr(w, TRITONRL_VERSION);
	add_rules(w);
	jw_end(w, '}');
	jw_end(w, '}');
	jw_key(w, "columnKind"), jw_cstr(w, "utf16CodeUnits");
	jw_key(w, "results"), jw_begin(w, '[');
}

/* A file, and a line if the diagnostic has one. */
static void add_place(struct jw *w, const char *file, const struct diag *d)
{
	jw_key(w, "locations"), jw_begin(w, '[');
	jw_begin(w, '{');
	jw_key(w, "physicalLocation"), jw_begin(w, '{');
	jw_key(w, "artifactLocation"), jw_begin(w, '{');
	jw_key(w, "uri"), jw_cstr(w, file);
	jw_end(w, '}');
	if (d->line > 0) {
		jw_key(w, "region"), jw_begin(w, '{');
		jw_key(w, "startLine"), jw_int(w, d->line);
		if (d->col > 0)
			jw_key(w, "startColumn"), jw_int(w, d->col);
		jw_end(w, '}');
	}
	jw_end(w, '}');
	jw_end(w, '}');
	jw_end(w, ']');
}

void check_sarif_diag(struct jw *w, const char *file, enum severity how, const struct diag *d)
{
	struct buf text = BUF_INIT;

	buf_addf(&text, "%s%s%s", d->text, d->hint[0] ? ". Hint: " : "", d->hint);
	jw_begin(w, '{');
	jw_key(w, "ruleId"), jw_cstr(w, reason_code(d->reason));
	jw_key(w, "level"), jw_cstr(w, how == SEVERITY_ERROR ? "error" : how == SEVERITY_WARNING ? "warning" : "note");
	jw_key(w, "message"), jw_begin(w, '{');
	jw_key(w, "text"), jw_str(w, buf_str(&text));
	jw_end(w, '}');
	add_place(w, file, d);
	jw_end(w, '}');
	buf_release(&text);
}

void check_sarif_end(struct jw *w)
{
	jw_end(w, ']');
	jw_end(w, '}');
	jw_end(w, ']');
	jw_end(w, '}');
}
