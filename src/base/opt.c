/* Parsing of options: see opt.h. The table is flattened once; the command line is read into
 * a list of assignments, so that --config can be applied below them.
 * Invariant: a member is only ever set to a value inside its row's range or choices. */
#include "base/opt_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/log.h"
#include "base/yaml.h"

/* A row's heading holds for the rows below it in the same table. An included table has its own,
 * which ends with it. */
static int visit(const struct opt *table, size_t base, const char *group, opt_visit_fn *fn, void *ctx)
{
	int rc = 0;

	for (const struct opt *o = table; o->type != OPT_T_END && !rc; o++) {
		const char *g = o->group ? o->group : group;

		if (o->type != OPT_T_INCLUDE)
			group = g;
		if (o->type == OPT_T_START)
			continue;
		rc = o->type == OPT_T_INCLUDE ? visit(o->include, base + o->offset, g, fn, ctx) : fn(ctx, o, base, g);
	}
	return rc;
}

int opt_visit(const struct opt *table, opt_visit_fn *fn, void *ctx)
{
	return visit(table, 0, NULL, fn, ctx);
}

/* Returns the current name if `o` is an old name, else NULL. */
static const char *alias_of(const struct opt *o)
{
	return o->type == OPT_T_ALIAS ? o->def_str : NULL;
}

/* Copies the initial contents of structs that have members without an option (OPT_START). */
static void start(const struct opt *table, char *into)
{
	for (const struct opt *o = table; o->type != OPT_T_END; o++) {
		if (o->type == OPT_T_START)
			memcpy(into, o->start, o->size);
		else if (o->type == OPT_T_INCLUDE)
			start(o->include, into + o->offset);
	}
}

/* Flattens included tables: every option becomes one row with the offset of its struct. */
static int add_row(void *ctx, const struct opt *o, size_t base, const char *group)
{
	struct opt_parser *p = ctx;

	(void)group;
	return vec_push(&p->rows, ((struct opt_row){ .o = o, .base = base }));
}

void *opt_member(const struct opt_parser *p, const struct opt_row *r)
{
	return p->into + r->base + r->o->offset;
}

/* --- setting a value ------------------------------------------------------------------- */

/* A member may be int or int64_t; the row knows its size. */
static void put_int(const struct opt *o, void *m, int64_t v)
{
	if (o->size == sizeof (int))
		*(int *)m = (int)v;
	else
		*(int64_t *)m = v;
}

static int64_t get_int(const struct opt *o, const void *m)
{
	return o->size == sizeof (int) ? *(const int *)m : *(const int64_t *)m;
}

static void put_real(const struct opt *o, void *m, double v)
{
	if (o->size == sizeof (float))
		*(float *)m = (float)v;
	else
		*(double *)m = v;
}

static double get_real(const struct opt *o, const void *m)
{
	return o->size == sizeof (float) ? (double)*(const float *)m : *(const double *)m;
}

/* The range of the row is checked here once, so that commands need not. */
static int set_int(const struct opt *o, const char *where, const char *value, void *out, struct err *e)
{
	int64_t v;

	if (str_to_i64(str_of(value), &v))
		return err_set(e, ERR_USAGE, "%s: '%s' is not a whole number", where, value);
	if ((double)v < o->lo || (double)v > o->hi)
		return err_set(e, ERR_USAGE, "%s: %s is outside %.15g..%.15g", where, value, o->lo, o->hi);
	put_int(o, out, v);
	return 0;
}

/* NaN is refused: it would pass every comparison with the range. */
static int set_real(const struct opt *o, const char *where, const char *value, void *out, struct err *e)
{
	double v;

	if (str_to_f64(str_of(value), &v) || isnan(v))
		return err_set(e, ERR_USAGE, "%s: '%s' is not a number", where, value);
	if (v < o->lo || v > o->hi)
		return err_set(e, ERR_USAGE, "%s: %s is outside %g..%g", where, value, o->lo, o->hi);
	put_real(o, out, v);
	return 0;
}

/* A flag without value is true; YAML's words for true and false are accepted otherwise. */
static int set_flag(const char *where, const char *value, int *out, struct err *e)
{
	struct yaml scalar = { .kind = YAML_SCALAR, .text = value ? str_of(value) : STR("true") };

	return yaml_bool(&scalar, out) ?
		err_set(e, ERR_USAGE, "%s: '%s' is neither true nor false", where, value) : 0;
}

/* Returns the index of a word among the choices, or -1. The case of letters does not matter: --gpu h100
 * is H100. *word gets the word as the choices write it. */
static int choice_of(const struct opt *o, const char *value, struct str *word)
{
	struct str rest = str_of(o->choices);

	for (int i = 0; rest.n; i++) {
		*word = str_cut(&rest, '|');
		if (str_is_any_case(*word, value))
			return i;
	}
	return -1;
}

/* The word of an enum's value, for the resolved configuration. */
static struct str choice_name(const struct opt *o, int i)
{
	struct str rest = str_of(o->choices), one = str_cut(&rest, '|');

	while (i-- > 0)
		one = str_cut(&rest, '|');
	return one;
}

/* A choice keeps the word, an enum its index. */
static int set_choice(struct opt_parser *p, const struct opt *o, const char *where, const char *value, void *out,
		      struct err *e)
{
	struct str word;
	int i = choice_of(o, value, &word);

	if (i < 0)
		return err_set(e, ERR_USAGE, "%s: '%s' is not one of %s", where, value, o->choices);
	if (o->type == OPT_T_ENUM) {
		*(int *)out = i;
		return 0;
	}
	*(const char **)out = str_is(word, value) ? value : arena_strndup(p->a, word.p, word.n);
	return *(const char **)out ? 0 : err_nomem(e);
}

/* Lists live in the parser's arena and are freed by opt_release, so callers borrow them. */
int opt_list_push(struct opt_parser *p, struct opt_list *l, struct str item, struct err *e)
{
	size_t cap = l->cap ? l->cap * 2 : 8;

	if (l->n == l->cap) {
		const char **v = arena_array(p->a, cap, sizeof *v);

		if (!v)
			return err_nomem(e);
		if (l->n)
			memcpy(v, l->v, l->n * sizeof *v);
		l->v = v;
		l->cap = cap;
	}
	l->v[l->n] = arena_strndup(p->a, item.p, item.n);
	return l->v[l->n] ? (l->n++, 0) : err_nomem(e);
}

/* "1,2,3" is three items if the row splits at commas; an option of texts does not. */
static int set_list(struct opt_parser *p, const struct opt *o, const char *value, struct opt_list *l, struct err *e)
{
	struct str rest = str_of(value);

	if (!o->split_commas)
		return opt_list_push(p, l, rest, e);
	while (rest.n) {
		struct str one = str_trim(str_cut(&rest, ','));

		if (one.n && opt_list_push(p, l, one, e))
			return -1;
	}
	return 0;
}

/* A list from a stronger source replaces the weaker one instead of extending it: --level on the
 * command line drops the levels of the file. */
int opt_set(struct opt_parser *p, struct opt_row *r, enum opt_source from, const char *where, const char *value,
		     struct err *e)
{
	const struct opt *o = r->o;
	void *m = opt_member(p, r);

	if (o->type == OPT_T_LIST && r->source != from)
		*(struct opt_list *)m = (struct opt_list){ .v = NULL };
	r->source = from;
	switch (o->type) {
	case OPT_T_FLAG: return set_flag(where, value, m, e);
	case OPT_T_INT: return set_int(o, where, value, m, e);
	case OPT_T_REAL: return set_real(o, where, value, m, e);
	case OPT_T_ENUM:
	case OPT_T_CHOICE: return set_choice(p, o, where, value, m, e);
	case OPT_T_LIST: return set_list(p, o, value, m, e);
	case OPT_T_STR: *(const char **)m = value; return 0;
	case OPT_T_INCLUDE:
	case OPT_T_ALIAS:
	case OPT_T_START:
	case OPT_T_END: break;
	}
	BUG("option row '%s' has type %d", o->name, (int)o->type);
}

/* An enum starts at the index of its default word; a list default is parsed like a given one. */
int opt_set_default(struct opt_parser *p, struct opt_row *r, struct err *e)
{
	void *m = opt_member(p, r);

	switch (r->o->type) {
	case OPT_T_ALIAS: break;
	case OPT_T_FLAG: *(int *)m = (int)r->o->def_int; break;
	case OPT_T_INT: put_int(r->o, m, r->o->def_int); break;
	case OPT_T_REAL: put_real(r->o, m, r->o->def_real); break;
	case OPT_T_ENUM: *(int *)m = choice_of(r->o, r->o->def_str, &(struct str){ .p = NULL }); break;
	case OPT_T_LIST:
		*(struct opt_list *)m = (struct opt_list){ .v = NULL };
		return r->o->def_str ? set_list(p, r->o, r->o->def_str, m, e) : 0;
	default: *(const char **)m = r->o->def_str; break;
	}
	return 0;
}

/* --- names ----------------------------------------------------------------------------- */

/* Names are compared with '_' and '-' equal: YAML keys use the first, options the second. */
int opt_same_name(struct str given, const char *name)
{
	if (given.n != strlen(name))
		return 0;
	for (size_t i = 0; i < given.n; i++)
		if ((given.p[i] == '_' ? '-' : given.p[i]) != name[i])
			return 0;
	return 1;
}

/* An old name works and causes a warning with the current one. */
struct opt_row *opt_find(struct opt_parser *p, struct str name)
{
	for (size_t i = 0; i < p->rows.n; i++)
		if (opt_same_name(name, p->rows.v[i].o->name)) {
			const char *now = alias_of(p->rows.v[i].o);

			if (!now)
				return &p->rows.v[i];
			log_warn("'%.*s' is an old name; use '%s'", STR_ARG(name), now);
			return opt_find(p, str_of(now));
		}
	return NULL;
}

/* The suggestion must be near: at most a third of the letters and one may differ. */
int opt_unknown(const struct opt_parser *p, const char *what, struct str name, const char *dashes, struct err *e)
{
	const char *nearest = NULL;
	size_t best = name.n / 3 + 2, d;

	for (size_t i = 0; i < p->rows.n; i++) {
		d = str_distance(name, str_of(p->rows.v[i].o->name));
		if (d < best) {
			best = d;
			nearest = p->rows.v[i].o->name;
		}
	}
	if (nearest)
		return err_set(e, ERR_USAGE, "%s '%s%.*s'; did you mean '%s%s'?", what, dashes, STR_ARG(name),
			       dashes, nearest);
	return err_set(e, ERR_USAGE, "%s '%s%.*s'", what, dashes, STR_ARG(name));
}

/* --- the command line ------------------------------------------------------------------ */

/* Assignments are collected first and applied after the file of --config, so that they win. */
static int give(struct opt_parser *p, struct opt_row *row, const char *value, int negated, struct err *e)
{
	struct opt_given a = { .row = row, .value = value, .negated = negated };

	return vec_push(&p->given, a) ? err_nomem(e) : 0;
}

/* The flags that every command has. A table may define an option of the same name, which then wins. */
static int read_common(struct opt_parser *p, struct str name)
{
	if (str_is(name, "help"))
		p->help = OPT_HELP_MAIN;
	else if (str_is(name, "help-all"))
		p->help = OPT_HELP_ALL;
	else if (str_is(name, "quiet"))
		p->quiet = 1;
	else
		return 0;
	return 1;
}

/* --name, --name=value, --name value, --no-name; `next` is the word behind, or NULL.
 * Returns how many words were used, or -1. */
static int read_long(struct opt_parser *p, const char *word, const char *next, struct err *e)
{
	struct str name = str_of(word + 2);
	const char *eq = strchr(word, '=');
	struct opt_row *r;
	int negated = 0;

	if (eq)
		name.n = (size_t)(eq - name.p);
	r = opt_find(p, name);
	if (!r && str_starts(name, "no-")) {
		r = opt_find(p, (struct str){ .p = name.p + 3, .n = name.n - 3 });
		negated = r && r->o->type == OPT_T_FLAG;
		if (!negated)
			r = NULL;
	}
	if (!r && read_common(p, name))
		return 1;
	if (!r && !str_is(name, "config"))
		return opt_unknown(p, "unknown option", name, "--", e);
	if (negated && eq)
		return err_set(e, ERR_USAGE, "'%s': takes no value", word);
	if (r && r->o->type == OPT_T_FLAG)
		return give(p, r, eq ? eq + 1 : NULL, negated, e) ? -1 : 1;
	if (!eq && !next)
		return err_set(e, ERR_USAGE, "option '%s' needs a value", word);
	if (!r)
		p->config = eq ? eq + 1 : next;
	else if (give(p, r, eq ? eq + 1 : next, 0, e))
		return -1;
	return eq ? 1 : 2;
}

/* -j8 and -j 8 are the same. Flags cannot be joined (-ab). */
static int read_short(struct opt_parser *p, const char *word, const char *next, struct err *e)
{
	struct opt_row *r = NULL;

	for (size_t i = 0; i < p->rows.n && !r; i++)
		if (p->rows.v[i].o->letter == word[1])
			r = &p->rows.v[i];
	if (!r && !strcmp(word, "-h")) {
		p->help = OPT_HELP_MAIN;
		return 1;
	}
	if (!r)
		return err_set(e, ERR_USAGE, "unknown option '%s'", word);
	if (r->o->type == OPT_T_FLAG)
		return word[2] ? err_set(e, ERR_USAGE, "'%s': -%c takes no value", word, word[1]) :
		       give(p, r, NULL, 0, e) ? -1 : 1;
	if (!word[2] && !next)
		return err_set(e, ERR_USAGE, "option '%s' needs a value", word);
	if (give(p, r, word[2] ? word + 2 : next, 0, e))
		return -1;
	return word[2] ? 1 : 2;
}

/* "--" ends the options; a single "-" is an argument (standard input). */
static int read_argv(struct opt_parser *p, int argc, char *const *argv, struct err *e)
{
	for (int i = 0, only_args = 0; i < argc;) {
		const char *word = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
		int used = 1;

		if (only_args || word[0] != '-' || !word[1])
			used = vec_push(&p->args, word) ? err_nomem(e) : 1;
		else if (!strcmp(word, "--"))
			only_args = 1;
		else if (word[1] == '-')
			used = read_long(p, word, next, e);
		else
			used = read_short(p, word, next, e);
		if (used < 0)
			return -1;
		i += used;
	}
	return 0;
}

/* If `--stage rl` selects a section, a name means the section's own option first, as in a file: --lr
 * is --rl-lr then. */
static int prefer_section(struct opt_parser *p, struct err *e)
{
	const char *section = opt_selected_section(p);

	for (size_t i = 0; section && i < p->given.n; i++) {
		struct opt_given *g = &p->given.v[i];
		char *joined = arena_printf(p->a, "%s-%s", section, g->row->o->name);
		struct opt_row *r = joined ? opt_find(p, str_of(joined)) : NULL;

		if (!joined)
			return err_nomem(e);
		if (r)
			g->row = r;
	}
	return 0;
}

/* The last assignment of an option wins, as in other programs. */
static int apply_argv(struct opt_parser *p, struct err *e)
{
	for (size_t i = 0; i < p->given.n; i++) {
		const struct opt_given *g = &p->given.v[i];
		char where[128];

		snprintf(where, sizeof where, "--%s", g->row->o->name);
		if (g->negated) {
			*(int *)opt_member(p, g->row) = 0;
			g->row->source = FROM_ARGV;
		} else if (opt_set(p, g->row, FROM_ARGV, where, g->value, e)) {
			return -1;
		}
	}
	return 0;
}

/* --- the result ------------------------------------------------------------------------ */

static void add_yaml_string(struct buf *b, const char *s)
{
	struct jw w = { .out = b };

	jw_cstr(&w, s);             /* a JSON string is a YAML string */
}

/* The shortest text that reads back to the member's own type: a float 0.1 is written 0.1, not
 * 0.10000000149. */
static void add_yaml_real(struct buf *b, const struct opt *o, const void *m)
{
	struct jw w = { .out = b };
	double v = get_real(o, m);
	char text[32];

	if (isinf(v)) {
		buf_adds(b, v > 0 ? "inf" : "-inf");
		return;
	}
	for (int digits = 1; o->size == sizeof (float) && digits < 9; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (strtof(text, NULL) == (float)v) {
			v = strtod(text, NULL);
			break;
		}
	}
	jw_real(&w, v);
}

/* JSON values are YAML values, so the JSON writer is used for quoting. */
static void add_yaml_value(struct buf *b, const struct opt *o, const void *m)
{
	struct jw w = { .out = b };
	const struct opt_list *l = m;

	switch (o->type) {
	case OPT_T_FLAG: jw_bool(&w, *(const int *)m); return;
	case OPT_T_INT: jw_int(&w, get_int(o, m)); return;
	case OPT_T_REAL: add_yaml_real(b, o, m); return;
	case OPT_T_ENUM: jw_str(&w, choice_name(o, *(const int *)m)); return;
	case OPT_T_LIST:
		buf_addc(b, '[');
		for (size_t i = 0; i < l->n; i++) {
			buf_adds(b, i ? ", " : "");
			add_yaml_string(b, l->v[i]);
		}
		buf_addc(b, ']');
		return;
	default: add_yaml_string(b, *(const char *const *)m); return;
	}
}

/* The file that repeats a run: every option with the value that was used, defaults included. */
static void write_resolved(const struct opt_parser *p, struct buf *b)
{
	for (size_t i = 0; i < p->rows.n; i++) {
		const struct opt_row *r = &p->rows.v[i];

		if (alias_of(r->o))
			continue;
		for (const char *c = r->o->name; *c; c++)
			buf_addc(b, *c == '-' ? '_' : *c);
		buf_adds(b, ": ");
		add_yaml_value(b, r->o, opt_member(p, r));
		buf_addc(b, '\n');
	}
}

/* The text of a row's value, in the arena. */
static char *value_text(const struct opt_parser *p, const struct opt_row *r, struct err *e)
{
	struct buf b = BUF_INIT;
	char *text;

	if (r->o->type != OPT_T_ALIAS)
		add_yaml_value(&b, r->o, opt_member(p, r));
	text = buf_check(&b, e) ? NULL : arena_strndup(p->a, buf_cstr(&b), b.n);
	buf_release(&b);
	if (!text)
		err_nomem(e);
	return text;
}

/* Sets every member to its default and keeps the default's text. */
static int set_defaults(struct opt_parser *p, struct err *e)
{
	for (size_t i = 0; i < p->rows.n; i++)
		if (opt_set_default(p, &p->rows.v[i], e) || !(p->rows.v[i].def_text = value_text(p, &p->rows.v[i], e)))
			return -1;
	return 0;
}

/* Lists the options that have a value from the file or the command line. */
static int list_given(struct opt_parser *p, struct opt_parsed *out, struct err *e)
{
	out->given = arena_array(p->a, p->rows.n + 1, sizeof *out->given);
	if (!out->given)
		return err_nomem(e);
	for (size_t i = 0; i < p->rows.n; i++) {
		const struct opt_row *r = &p->rows.v[i];
		const char *now = r->source == FROM_FILE ? value_text(p, r, e) : "";

		if (!now)
			return -1;
		if (r->source != FROM_DEFAULT)
			out->given[out->n_given++] = (struct opt_set_value) {
				.name = r->o->name, .argv = r->source == FROM_ARGV,
				.same = r->source == FROM_FILE && !strcmp(now, r->def_text) };
	}
	return 0;
}

static const struct opt_set_value *find_given(const struct opt_parsed *p, const char *name)
{
	for (size_t i = 0; i < p->n_given; i++)
		if (!strcmp(p->given[i].name, name))
			return &p->given[i];
	return NULL;
}

int opt_was_given(const struct opt_parsed *p, const char *name)
{
	const struct opt_set_value *g = find_given(p, name);

	return g ? 1 + g->argv : 0;
}

int opt_is_set(const struct opt_parsed *p, const char *name)
{
	const struct opt_set_value *g = find_given(p, name);

	return g && !g->same;
}

/* Moves the results out of the parser; all strings stay in the arena that opt_release frees. */
static int finish(struct opt_parser *p, struct opt_parsed *out, struct err *e)
{
	out->help = p->help;
	out->config = p->config;
	out->quiet = p->quiet;
	out->n = p->args.n;
	out->args = arena_array(p->a, p->args.n + 1, sizeof *out->args);
	if (!out->args)
		return err_nomem(e);
	if (p->args.n)
		memcpy(out->args, p->args.v, p->args.n * sizeof *out->args);
	write_resolved(p, &out->resolved);
	return list_given(p, out, e) || buf_check(&out->resolved, e) ? -1 : 0;
}

int opt_parse(const struct opt *table, void *into, int argc, char *const *argv, struct opt_parsed *out,
	      struct err *e)
{
	return opt_parse_in(table, NULL, into, argc, argv, out, e);
}

/* Defaults, then the file, then the command line. With --help the file is not read: help must work
 * with a broken file. */
int opt_parse_in(const struct opt *table, const struct opt_scope *scope, void *into, int argc, char *const *argv,
		 struct opt_parsed *out, struct err *e)
{
	struct opt_parser p = { .into = into, .scope = scope };
	int rc = -1;

	*out = (struct opt_parsed){ .owned = mem_zalloc(sizeof (struct arena)) };
	p.a = out->owned;
	if (!p.a || opt_visit(table, add_row, &p)) {
		err_nomem(e);
		goto out;
	}
	start(table, into);
	if (set_defaults(&p, e) || read_argv(&p, argc, argv, e) || (p.config && !p.help && opt_apply_config(&p, e)) ||
	    prefer_section(&p, e) || apply_argv(&p, e) || finish(&p, out, e))
		goto out;
	rc = 0;
out:
	vec_free(&p.rows);
	vec_free(&p.given);
	vec_free(&p.args);
	if (rc)
		opt_release(out);
	return rc;
}

void opt_release(struct opt_parsed *p)
{
	if (p->owned)
		arena_release(p->owned);
	mem_free(p->owned);
	buf_release(&p->resolved);
	*p = (struct opt_parsed){ .args = NULL };
}
