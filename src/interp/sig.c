/* Parsing of binding signatures. */
#include <stdlib.h>

#include "interp/sig.h"
#include "interp/state.h"

static void parse_default(struct sig_param *p, struct str t, const char *name)
{
	int64_t i;
	double f;
	if (str_is(t, "?"))
		p->def = (struct val){ .kind = V_UNSET };
	else if (str_is(t, "None"))
		p->def = val_none();
	else if (str_is(t, "True") || str_is(t, "False"))
		p->def = val_bool(str_is(t, "True"));
	else if (str_is(t, "()"))
		p->empty_tuple = 1;
	else if (t.n >= 2 && (t.p[0] == '\'' || t.p[0] == '"'))
		p->text = (struct str){ .p = t.p + 1, .n = t.n - 2 };
	else if (!str_to_i64(t, &i))
		p->def = val_int(i);
	else if (!str_to_f64(t, &f))
		p->def = val_float(f);
	else
		BUG("signature of %s: default '%.*s'", name, STR_ARG(t));
}

/* Cuts at the next comma outside quotes and parentheses. */
static struct str next_part(struct str *s)
{
	int depth = 0;
	char quote = 0;
	for (size_t i = 0; i < s->n; i++) {
		char c = s->p[i];
		if (quote) {
			quote = c == quote ? 0 : quote;
		} else if (c == '\'' || c == '"') {
			quote = c;
		} else if (c == '(') {
			depth++;
		} else if (c == ')') {
			depth--;
		} else if (c == ',' && !depth) {
			struct str part = { .p = s->p, .n = i };
			s->p += i + 1, s->n -= i + 1;
			return str_trim(part);
		}
	}
	struct str part = *s;
	s->p += s->n, s->n = 0;
	return str_trim(part);
}

void sig_parse(struct sig *s, const char *name, const char *text)
{
	struct str rest = str_of(text);
	int keyword_only = 0;
	*s = (struct sig){ .star = -1, .starstar = -1, .device = -1 };
	s->is_new = str_ends(str_of(name), ".__new__");
	while (rest.n) {
		struct str part = next_part(&rest);
		if (!part.n)
			continue;
		if (str_is(part, "*")) {
			keyword_only = 1;
			continue;
		}
		if (str_is(part, "/")) {
			for (size_t i = 0; i < s->n; i++)
				s->p[i].positional_only = 1;
			continue;
		}
		BUG_ON(s->n == SIG_SLOTS);
		struct sig_param *p = &s->p[s->n];
		p->starstar = str_starts(part, "**");
		p->star = !p->starstar && str_starts(part, "*");
		struct str def = part, id = str_cut(&def, '=');
		p->name = str_trim((struct str){ .p = id.p + p->star + 2 * p->starstar, .n = id.n - (size_t)(p->star + 2 * p->starstar) });
		p->keyword_only = keyword_only;
		if (p->star) {
			s->star = (int)s->n;
			keyword_only = 1;
		} else if (p->starstar) {
			s->starstar = (int)s->n;
		} else if (id.n < part.n) {
			parse_default(p, str_trim(def), name);
		} else {
			p->required = 1;
		}
		if (str_is(p->name, "device"))
			s->device = (int)s->n;
		if (!keyword_only && !p->star && !p->starstar)
			s->n_positional++;
		s->n++;
	}
}
