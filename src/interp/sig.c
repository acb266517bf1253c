/* Signatures of bound functions: parsing of their text, and the check of a call's values
 * against the types of the slots. sig.h describes the result; bind.h describes the text.
 * Invariant: after sig_check a native may rely on the kind of every slot that has a type. */
#include "interp/sig.h"

#include <stdlib.h>

#include "interp/attr.h"
#include "interp/import.h"
#include "interp/state.h"

/* The default value of a slot: "?" means left out (V_UNSET), "()" an empty tuple that is made
 * per call, because a signature is shared by all hosts and cannot hold heap objects. */
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

/* Cuts off the text up to the next comma outside quotes and parentheses. */
static struct str next_part(struct str *s)
{
	int depth = 0;
	char quote = 0;
	struct str part;

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
			part = (struct str){ .p = s->p, .n = i };
			s->p += i + 1, s->n -= i + 1;
			return str_trim(part);
		}
	}
	part = *s;
	s->p += s->n, s->n = 0;
	return str_trim(part);
}

/* --- types -------------------------------------------------------------------------------------- */

/* The names that a slot may give as types: those of native.def. */
static const struct native { const char *dotted; enum val_kind kind; } natives[] = {
#define NATIVE(dotted, name, kind, base) { dotted, kind },
#include "interp/native.def"
#undef NATIVE
};

static const struct native *find_native(struct str dotted)
{
	for (size_t i = 0; i < COUNT_OF(natives); i++)
		if (str_is(dotted, natives[i].dotted))
			return &natives[i];
	return NULL;
}

/* Does another built-in type have the same kind? torch.Size and tuple are both V_TUPLE: then the
 * kind cannot decide and the class is checked too. A frozenset is not a set, so set counts as
 * shared. */
static int shares_kind(const struct native *n)
{
	for (const struct native *p = natives; p < n; p++)
		if (p->kind == n->kind)
			return 1;
	return n->kind == V_SET;           /* a frozenset is not a set */
}

/* The kinds of values that are instances of a type: an int may also be a bool or a big int. */
static uint64_t kinds_of(const struct native *n)
{
	uint64_t kinds = 1ull << n->kind;

	if (n->kind == V_INT)
		kinds |= 1ull << V_BOOL | 1ull << V_BIG;
	return kinds;
}

/* Adds one alternative of "str | None" to the slot. */
static void add_type(struct sig_param *p, struct str word, const char *name)
{
	const struct native *n = find_native(word);

	if (str_is(word, "None")) {
		p->kinds |= 1ull << V_NONE | 1ull << V_UNSET;
		return;
	}
	if (!n)
		BUG("signature of %s: type '%.*s'", name, STR_ARG(word));
	p->kinds |= kinds_of(n);
	p->native = shares_kind(n) ? n->dotted : NULL;
}

/* "str | None": the types of a slot. */
static void parse_types(struct sig_param *p, struct str text, const char *name)
{
	p->type = text;
	while (text.n)
		add_type(p, str_trim(str_cut(&text, '|')), name);
}

/* The built-in type that a dotted name is a member of: "torch.nn.Parameter" for
 * "torch.nn.Parameter.data". The longest prefix wins. NULL for plain functions. */
static const struct native *owner_of(const char *name)
{
	const struct native *found = NULL;

	for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
		const struct native *hit = find_native((struct str){ .p = name, .n = (size_t)(dot - name) });

		found = hit ? hit : found;
	}
	return found;
}

/* The first slot of a method takes the type that owns it. A class method and __new__ get a
 * class there. */
static void type_of_self(struct sig *s, const struct bind_row *row)
{
	const struct native *n = owner_of(row->name);

	if (!n || !s->n || (row->flags & BIND_STATIC && !s->is_new))
		return;
	s->owner = n->dotted;
	if (s->is_new || row->flags & BIND_CLASSMETHOD || n->kind == V_CLASS)
		s->p[0].kinds = 1ull << V_CLASS;
	else if (strcmp(n->dotted, "object"))
		add_type(&s->p[0], str_of(n->dotted), row->name);
}

/* --- parsing ------------------------------------------------------------------------------------- */

/* One parameter: stars, name, types, default. "*size" also makes all later slots keyword-only. */
static void parse_param(struct sig *s, struct str part, int *keyword_only, const char *name)
{
	size_t stars;
	struct sig_param *p;
	struct str def, id, types;

	BUG_ON(s->n == SIG_SLOTS);
	p = &s->p[s->n];
	p->starstar = str_starts(part, "**");
	p->star = !p->starstar && str_starts(part, "*");
	stars = (size_t)(p->star + 2 * p->starstar);
	def = (struct str){ .p = part.p + stars, .n = part.n - stars };
	id = str_cut(&def, '=');
	types = id;
	p->name = str_trim(str_cut(&types, ':'));
	parse_types(p, str_trim(types), name);
	p->keyword_only = *keyword_only;
	if (p->star) {
		s->star = (int)s->n;
		*keyword_only = 1;
	} else if (p->starstar) {
		s->starstar = (int)s->n;
	} else if (id.n + stars < part.n) {
		parse_default(p, str_trim(def), name);
	} else {
		p->required = 1;
	}
	/* These slot names mean the same in every signature of torch. They decide what kind of
	 * operator a call is (bind_check.c). */
	if (str_is(p->name, "device"))
		s->device = (int)s->n;
	if (str_is(p->name, "picks"))
		s->index = (int)s->n;
	if (str_is(p->name, "accumulate")) {
		s->adds = (int)s->n;
		s->index = 1;
	}
	if (str_is(p->name, "reduce"))
		s->adds = (int)s->n;
	if (str_is(p->name, "value") || str_is(p->name, "fill_value"))
		s->fills = (int)s->n;
	if (!*keyword_only && !p->star && !p->starstar)
		s->n_positional++;
	s->n++;
}

/* Parses the signature of a row. A bare "*" starts the keyword-only slots; "/" makes all slots
 * before it positional-only. */
void sig_parse(struct sig *s, const struct bind_row *row)
{
	struct str rest = str_of(row->sig ? row->sig : "");
	int keyword_only = 0;
	*s = (struct sig){ .star = -1, .starstar = -1, .device = -1, .index = -1, .fills = -1, .adds = -1 };
	s->is_new = str_ends(str_of(row->name), ".__new__");
	while (rest.n) {
		struct str part = next_part(&rest);
		if (!part.n)
			continue;
		if (str_is(part, "*")) {
			keyword_only = 1;
		} else if (str_is(part, "/")) {
			for (size_t i = 0; i < s->n; i++)
				s->p[i].positional_only = 1;
		} else {
			parse_param(s, part, &keyword_only, row->name);
		}
	}
	type_of_self(s, row);
}

/* --- checking ------------------------------------------------------------------------------------ */

/* "append" of "list.append". */
static const char *last_name(const char *dotted)
{
	const char *dot = strrchr(dotted, '.');

	return dot ? dot + 1 : dotted;
}

/* X.__new__(cls): cls must be X or derive from it. No other built-in type between them may have
 * a __new__ of its own, or X.__new__ would make a value of the wrong kind: object.__new__(list)
 * is not safe. */
static int check_new(struct host *h, const char *owner, struct val cls)
{
	struct class_obj *c = cls.u.c, *of;
	struct val own;

	if (c->native && !strcmp(c->native, owner))
		return 0;
	if (!(of = host_native_class(h, owner)))
		return -1;
	if (!class_is_sub(c, of))
		return host_raise(h, EXC_TypeError, "%s.__new__(%s): %s is not a subtype of %s",
				  of->name->p, c->name->p, c->name->p, of->name->p);
	for (size_t i = 0; i < c->n_mro && c->mro[i] != of; i++) {
		struct class_obj *m = c->mro[i];
		int found = m->native ? host_native_get(h, m, h->nm[NM___new__], &own) : 0;

		if (found < 0)
			return -1;
		if (found || (m->native && m->kind != of->kind))
			return host_raise(h, EXC_TypeError, "%s.__new__(%s) is not safe, use %s.__new__()",
					  of->name->p, c->name->p, m->name->p);
	}
	return 0;
}

/* CPython's message for list.append(5, 1). */
static int wrong_self(struct host *h, const struct sig *s, const struct bind_row *row, struct val v)
{
	const char *type = last_name(s->owner);

	if (s->is_new)
		return host_raise(h, EXC_TypeError, "%s.__new__(X): X is not a type object (%s)", type,
				  val_type_name(h, v));
	return host_raise(h, EXC_TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object",
			  last_name(row->name), type, val_type_name(h, v));
}

/* Checks every slot that has a type. Returns 0, or -1 with TypeError pending. */
int sig_check(struct host *h, const struct sig *s, const struct bind_row *row, const struct val *a)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct sig_param *p = &s->p[i];

		if (!p->kinds || (p->kinds >> a[i].kind & 1 && (!p->native || val_isinstance(h, a[i], p->native))))
			continue;
		if (!i && s->owner)
			return wrong_self(h, s, row, a[0]);
		return host_raise(h, EXC_TypeError, "%s(): argument '%.*s' must be %.*s, not %s",
				  last_name(row->name), STR_ARG(p->name),
				  STR_ARG(p->type), val_type_name(h, a[i]));
	}
	return s->is_new && s->owner ? check_new(h, s->owner, a[0]) : 0;
}
