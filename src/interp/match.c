/* The match statement: patterns against a value. Names are bound as parts match, and stay bound
 * if a later part fails, as in CPython. Each function returns 1 if the pattern matches, 0 if
 * not, -1 on failure. */
#include "interp/attr.h"
#include "interp/dict.h"
#include "interp/exec.h"
#include "interp/fail.h"
#include "interp/frame.h"
#include "interp/heap.h"
#include "interp/state.h"

static int pattern(struct host *h, struct host_frame *f, const struct py_node *p, struct val v);

/* `case 3` or `case Color.RED`: compares with ==. */
static int match_value(struct host *h, struct host_frame *f, const struct py_node *p, struct val v)
{
	struct val want;
	return eval_expr(h, f, p->u.MatchValue.value, &want) ? -1 : val_equal(h, v, want);
}

/* `case None`: compares by identity, so 1 does not match True. */
static int match_singleton(const struct py_node *p, struct val v)
{
	switch (p->u.MatchSingleton.value.kind) {
	case PY_C_NONE: return v.kind == V_NONE;
	case PY_C_TRUE: return v.kind == V_BOOL && v.u.i;
	default: return v.kind == V_BOOL && !v.u.i;
	}
}

/* `case [a, *rest]`: lists and tuples only; a string is not a sequence here. */
static int match_sequence(struct host *h, struct host_frame *f, const struct py_list *ps, struct val v)
{
	size_t star = ps->n;
	size_t n, fixed;

	if (v.kind != V_LIST && v.kind != V_TUPLE)
		return 0;
	/* A list is copied, because comparing its items may run code that changes it. */
	if (v.kind == V_LIST && val_tuple(h, v.u.seq->v, v.u.seq->n, &v))
		return -1;
	for (size_t i = 0; i < ps->n; i++)
		if (ps->v[i]->kind == PY_MatchStar)
			star = i;
	n = v.u.seq->n;
	fixed = ps->n - (star < ps->n);
	if (n < fixed || (star == ps->n && n != fixed))
		return 0;
	for (size_t i = 0, at = 0; i < ps->n; i++) {
		struct val rest;
		if (i != star) {
			int ok = pattern(h, f, ps->v[i], host_hold(h, v.u.seq->v[at++]));
			if (ok <= 0)
				return ok;
			continue;
		}
		if (ps->v[i]->u.MatchStar.name.p &&
		    (val_list(h, v.u.seq->v + at, n - fixed, &rest) ||
		     name_store(h, f, ps->v[i]->u.MatchStar.name, rest)))
			return -1;
		at += n - fixed;
	}
	return 1;
}

/* `case {"k": p, **rest}`: the keys must be there; other keys are ignored or go to rest. */
static int match_mapping(struct host *h, struct host_frame *f, const struct py_node *p, struct val v)
{
	struct val rest;
	if (v.kind != V_DICT)
		return 0;
	if (val_dict(h, &rest) || dict_update(h, rest, v))
		return -1;
	for (size_t i = 0; i < p->u.MatchMapping.keys.n; i++) {
		struct val key, item;
		int found;

		if (eval_expr(h, f, p->u.MatchMapping.keys.v[i], &key))
			return -1;
		found = dict_get(h, v, key, &item);
		if (found > 0)
			found = dict_del(h, rest, key) < 0 ? -1 : pattern(h, f, p->u.MatchMapping.patterns.v[i], item);
		if (found <= 0)
			return found;
	}
	if (p->u.MatchMapping.rest.p && name_store(h, f, p->u.MatchMapping.rest, rest))
		return -1;
	return 1;
}

/* Positional patterns of `case Point(x, y)` name attributes through __match_args__, a tuple of
 * at least n strings. */
static int positional_names(struct host *h, struct val cls, size_t n, struct val *names)
{
	if (attr_load(h, cls, h->nm[NM___match_args__], names))
		return -1;
	if (names->kind != V_TUPLE)
		return host_raise(h, EXC_TypeError, "__match_args__ must be a tuple (got %s)",
				  val_type_name(h, *names));
	if (names->u.seq->n < n)
		return host_raise(h, EXC_TypeError, "a pattern accepts %zu positional sub-patterns (%zu given)",
				  names->u.seq->n, n);
	for (size_t i = 0; i < n; i++)
		if (names->u.seq->v[i].kind != V_STR)
			return host_raise(h, EXC_TypeError, "__match_args__ elements must be strings (got %s)",
					  val_type_name(h, names->u.seq->v[i]));
	return 0;
}

/* `case C(p, name=q)`. A single positional pattern of a built-in type matches the value itself:
 * `case int(n)`. */
static int match_class(struct host *h, struct host_frame *f, const struct py_node *p, struct val v)
{
	const struct py_MatchClass *c = &p->u.MatchClass;
	struct val cls, names, item;
	int ok;

	if (eval_expr(h, f, c->cls, &cls))
		return -1;
	ok = isinstance_of(h, v, cls);
	if (ok <= 0)
		return ok;
	if (c->patterns.n == 1 && cls.kind == V_CLASS && cls.u.c->native)
		return pattern(h, f, c->patterns.v[0], v);
	if (c->patterns.n && positional_names(h, cls, c->patterns.n, &names))
		return -1;
	for (size_t i = 0; i < c->patterns.n + c->kwd_attrs.n; i++) {
		size_t k = i - c->patterns.n;
		struct str_obj *name;

		name = i < c->patterns.n ? names.u.seq->v[i].u.s : host_ident(h, c->kwd_attrs.v[k]);
		if (name && i < c->patterns.n)
			name = host_intern(h, (struct str){ .p = name->p, .n = name->n });
		ok = name ? attr_get(h, v, name, &item) : -1;
		if (ok > 0)
			ok = pattern(h, f, i < c->patterns.n ? c->patterns.v[i] : c->kwd_patterns.v[k], item);
		if (ok <= 0)
			return ok;
	}
	return 1;
}

/* `case p as name`, `case name`, `case _`. */
static int match_as(struct host *h, struct host_frame *f, const struct py_node *p, struct val v)
{
	int ok = p->u.MatchAs.pattern ? pattern(h, f, p->u.MatchAs.pattern, v) : 1;
	if (ok > 0 && p->u.MatchAs.name.p && name_store(h, f, p->u.MatchAs.name, v))
		return -1;
	return ok;
}

/* `case a | b`: the first alternative that matches. */
static int match_or(struct host *h, struct host_frame *f, const struct py_node *p, struct val v)
{
	for (size_t i = 0; i < p->u.MatchOr.patterns.n; i++) {
		int ok = pattern(h, f, p->u.MatchOr.patterns.v[i], v);
		if (ok)
			return ok;
	}
	return 0;
}

/* Matches one pattern; costs one step of fuel. */
static int pattern(struct host *h, struct host_frame *f, const struct py_node *p, struct val v)
{
	if (host_step(h))
		return -1;
	f->node = p;
	switch (p->kind) {
	case PY_MatchValue: return match_value(h, f, p, v);
	case PY_MatchSingleton: return match_singleton(p, v);
	case PY_MatchSequence: return match_sequence(h, f, &p->u.MatchSequence.patterns, v);
	case PY_MatchMapping: return match_mapping(h, f, p, v);
	case PY_MatchClass: return match_class(h, f, p, v);
	case PY_MatchAs: return match_as(h, f, p, v);
	case PY_MatchOr: return match_or(h, f, p, v);
	default: return host_fatal(h, REASON_unsupported, "this pattern is not supported");
	}
}

/* Finds the case that matches. Returns 1 with it in *body, 0 if none does, -1 on failure. A
 * guard (`case p if g`) runs after its pattern has bound names. */
int exec_match(struct host *h, struct host_frame *f, const struct py_node *n, const struct py_node **body)
{
	struct val v, t;
	if (eval_expr(h, f, n->u.Match.subject, &v))
		return -1;
	for (size_t i = 0; i < n->u.Match.cases.n; i++) {
		const struct py_node *c = n->u.Match.cases.v[i];
		int ok = pattern(h, f, c->u.match_case.pattern, v);
		if (ok > 0 && c->u.match_case.guard)
			ok = eval_expr(h, f, c->u.match_case.guard, &t) ? -1 : val_truth(h, t);
		if (ok) {
			*body = c;
			return ok;
		}
	}
	return 0;
}
