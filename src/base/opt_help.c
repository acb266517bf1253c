/* Help, man page and completion words, all from the option tables: see opt.h. Each form is a
 * function that prints one row; visit_all calls it for every option. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/opt.h"

enum { WIDTH = 80, INDENT = 28 };

struct printer {
	struct buf *out;
	const char *group;         /* heading of the last row printed */
	const char *shown;         /* names of the rows to print, or NULL for all */
	size_t left_out;
};

/* Every command has these options. A row of the same name in the command's table replaces one. */
static const struct opt common[] = {
	{ .type = OPT_T_STR, .name = "config", .arg = "FILE",
	  .help = "read options from a YAML file; the command line wins" },
	{ .type = OPT_T_FLAG, .name = "help", .letter = 'h', .help = "show the main options" },
	{ .type = OPT_T_FLAG, .name = "help-all", .help = "show all options" },
	{ .type = OPT_T_FLAG, .name = "quiet",
	  .help = "print only warnings and errors on standard error, no progress" },
	OPT_END
};

static int is_named(void *name, const struct opt *o, size_t base, const char *group)
{
	(void)base, (void)group;
	return !strcmp(name, o->name);
}

/* Common options come last, unless the table has a row of that name. */
static void visit_all(const struct opt *table, opt_visit_fn *fn, struct printer *p)
{
	opt_visit(table, fn, p);
	for (const struct opt *o = common; o->type != OPT_T_END; o++)
		if (!opt_visit(table, is_named, (void *)o->name))
			fn(p, o, 0, NULL);
}

/* Common flags have no --no- form. */
static int is_common(const struct opt *o)
{
	return o >= common && o < common + COUNT_OF(common);
}

/* Is `name` one of the words? */
static int is_listed(const char *words, const char *name)
{
	struct str rest = str_of(words);

	while (rest.n)
		if (str_is(str_cut(&rest, ' '), name))
			return 1;
	return 0;
}

/* "-j, --jobs N", "--[no-]json", "--track strict|hybrid" */
static void add_name(struct buf *b, const struct opt *o)
{
	if (o->letter)
		buf_addf(b, "-%c, ", o->letter);
	if (o->type == OPT_T_FLAG)
		buf_addf(b, "--%s%s", is_common(o) ? "" : "[no-]", o->name);
	else
		buf_addf(b, "--%s %s", o->name, o->choices ? o->choices : o->arg ? o->arg : "X");
}

/* An empty default is not shown: it means "none". */
static void add_default(struct buf *b, const struct opt *o)
{
	switch (o->type) {
	case OPT_T_FLAG:
		if (o->def_int)
			buf_adds(b, " (default on)");
		break;
	case OPT_T_INT: buf_addf(b, " (default %lld)", (long long)o->def_int); break;
	case OPT_T_REAL: buf_addf(b, " (default %g)", o->def_real); break;
	default:
		if (o->def_str && *o->def_str)
			buf_addf(b, " (default %s)", o->def_str);
	}
}

/* Words of `text` from column INDENT on, broken before column WIDTH. */
static void add_wrapped(struct buf *b, size_t column, const char *text)
{
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, " ");

		if (column + n > WIDTH && column > INDENT) {
			buf_addc(b, '\n');
			buf_pad(b, ' ', INDENT);
			column = INDENT;
		}
		buf_add(b, p, n);
		column += n + 1;
		p += n;
		if (*p) {
			p++;
			if (column + strcspn(p, " ") <= WIDTH)
				buf_addc(b, ' ');
		}
	}
	buf_addc(b, '\n');
}

/* Prints the heading when the group changes; rows without one belong to "General". */
static void begin_group(struct printer *p, const char *group, const char *format)
{
	if (group == p->group)
		return;
	buf_addf(p->out, format, group ? group : "General");
	p->group = group;
}

/* A name too long for its column gets a line of its own, and the text starts on the next. */
static int help_row(void *ctx, const struct opt *o, size_t base, const char *group)
{
	struct printer *p = ctx;
	struct buf text = BUF_INIT;
	size_t start;

	(void)base;
	if (o->type == OPT_T_ALIAS)
		return 0;
	if (p->shown && !is_common(o) && !is_listed(p->shown, o->name)) {
		p->left_out++;
		return 0;
	}
	begin_group(p, group, "\n%s:\n");
	start = p->out->n;
	buf_adds(p->out, o->letter ? "  " : "      ");
	add_name(p->out, o);
	if (p->out->n - start > INDENT - 2) {
		buf_addc(p->out, '\n');
		start = p->out->n;
	}
	buf_pad(p->out, ' ', INDENT - MIN(p->out->n - start, (size_t)INDENT));
	buf_adds(&text, o->help ? o->help : "");
	add_default(&text, o);
	add_wrapped(p->out, INDENT, buf_cstr(&text));
	p->out->failed |= text.failed;
	buf_release(&text);
	return 0;
}

/* A main option that the table does not have is a spelling error in the command's source. */
static void check_shown(const struct opt *table, const char *shown)
{
	struct str rest = str_of(shown ? shown : "");
	char name[64];

	while (rest.n) {
		struct str one = str_cut(&rest, ' ');

		snprintf(name, sizeof name, "%.*s", STR_ARG(one));
		if (!opt_visit(table, is_named, name))
			BUG("the main option '%s' is not in the table", name);
	}
}

size_t opt_help(const struct opt *table, const char *shown, struct buf *out)
{
	struct printer p = { .out = out, .shown = shown };

	check_shown(table, shown);
	visit_all(table, help_row, &p);
	return p.left_out;
}

/* Roff reads '-' as a hyphen and a leading '.' or ''' as a request, so they are escaped. */
static void add_roff(struct buf *b, const char *text)
{
	if (*text == '.' || *text == '\'')
		buf_adds(b, "\\&");
	for (; *text; text++) {
		if (*text == '-' || *text == '\\')
			buf_addc(b, '\\');
		buf_addc(b, *text);
	}
}

/* Every option is in the man page, also those that --help leaves out. */
static int man_row(void *ctx, const struct opt *o, size_t base, const char *group)
{
	struct printer *p = ctx;
	struct buf text = BUF_INIT;

	(void)base;
	if (o->type == OPT_T_ALIAS)
		return 0;
	begin_group(p, group, ".PP\n.I %s:\n");
	add_name(&text, o);
	buf_adds(p->out, ".TP\n.B ");
	add_roff(p->out, buf_cstr(&text));
	buf_addc(p->out, '\n');
	p->out->failed |= text.failed;
	buf_clear(&text);
	buf_adds(&text, o->help ? o->help : "");
	add_default(&text, o);
	add_roff(p->out, buf_cstr(&text));
	buf_addc(p->out, '\n');
	p->out->failed |= text.failed;
	buf_release(&text);
	return 0;
}

void opt_man(const struct opt *table, struct buf *out)
{
	visit_all(table, man_row, &(struct printer){ .out = out });
}

/* A flag has two words: --x and --no-x. The placeholder after the tab tells the script what to
 * complete. */
static int words_row(void *ctx, const struct opt *o, size_t base, const char *group)
{
	struct printer *p = ctx;

	(void)base, (void)group;
	if (o->type == OPT_T_ALIAS)
		return 0;
	buf_addf(p->out, "--%s", o->name);
	if (o->type != OPT_T_FLAG)
		buf_addf(p->out, "\t%s", o->choices ? o->choices : o->arg ? o->arg : "X");
	else if (!is_common(o))
		buf_addf(p->out, "\n--no-%s", o->name);
	buf_addc(p->out, '\n');
	return 0;
}

void opt_words(const struct opt *table, struct buf *out)
{
	visit_all(table, words_row, &(struct printer){ .out = out });
}
