/* The constructor as people write it: its arguments under all kinds of names, in any order, with hints and defaults or
 * without, some kept, some used at once, some for nothing. The solution's is the same text without documentation and
 * remarks: it is copied, never made anew. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "gen/impl.h"

/* Choices of parameter i, apart from those of the others. */
static unsigned of_param(int i, unsigned what)
{
	return 1000 + 32 * (unsigned)i + what;
}

int gen_is_used(const struct gen_emit *em, const char *name)
{
	for (int i = 0; i < em->inputs; i++) {
		if (strstr(em->input[i].bound, name))
			return 1;
		for (int k = 0; k < em->input[i].shape.rank; k++)
			if (strstr(em->input[i].sym[k], name))
				return 1;
	}
	for (int i = 0; i < em->params; i++)
		if (strstr(em->param[i].value, name))
			return 1;
	return 0;
}

/* --- which arguments, in which order ------------------------------------------------------- */

/* Those with a default come last, as they do in em->param; the others in any order. */
static void order_arguments(struct gen_emit *em)
{
	int free = 0, mixed = gen_style(em, 620, 6, 1) == 0;

	for (int i = 0; i < em->params; i++)
		if (em->param[i].init)
			em->arg[em->args++] = i;
	while (free < em->args && !em->param[em->arg[free]].preset[0])
		free++;
	for (int i = free - 1; i > 0 && mixed; i--) {
		int with = (int)gen_choice(em->p, of_param(i, 0), (unsigned)i + 1), was = em->arg[i];

		em->arg[i] = em->arg[with];
		em->arg[with] = was;
	}
}

/* A default that is not the value: get_init_inputs gives another. */
static void other_preset(const struct gen_emit *em, int i, struct gen_param *p)
{
	static const char *const whole[] = { "1", "2", "3", "8", "16" }, *const broken[] = { "1.0", "0.5", "0.1", "2.0", "1e-5" };
	unsigned at = gen_choice(em->p, of_param(i, 1), COUNT_OF(whole));

	if (p->value[0] == '(')
		memcpy(p->preset, p->value, GEN_NAME);
	else
		snprintf(p->preset, GEN_NAME, "%s", strpbrk(p->value, ".e") ? broken[at] : whole[at]);
}

/* The last arguments may have defaults; get_init_inputs leaves out those that are the values, mostly. A default cannot
 * name a constant, and what it hides must not be needed elsewhere. */
static void draw_defaults(struct gen_emit *em)
{
	int at = em->args, most, shown = gen_style(em, 621, 3, 1) == 0;

	for (int i = 0; i < em->params; i++)
		em->param[i].given = em->param[i].init;
	if (at && em->param[em->arg[at - 1]].preset[0]) {
		while (gen_style(em, 126, 4, 1) && at && !strcmp(em->param[em->arg[at - 1]].preset, em->param[em->arg[at - 1]].value))
			em->param[em->arg[--at]].given = 0;
		return;
	}
	most = gen_style(em, 123, 4, 3) == 0 ? 1 + (int)gen_style(em, 125, 3, 0) : 0;
	while (most-- && at) {
		struct gen_param *p = &em->param[em->arg[--at]];

		if (p->value[strspn(p->value, "-0123456789.e(), ")] || gen_is_used(em, p->name))
			return;
		if (shown)
			other_preset(em, em->arg[at], p);
		else
			memcpy(p->preset, p->value, GEN_NAME);
		p->given = shown;
	}
}

/* --- their names ----------------------------------------------------------------------------- */

static int label_taken(const struct gen_emit *em, int i, const char *label)
{
	for (int k = 0; k < em->inputs; k++)
		if (!strcmp(em->input[k].name, label))
			return 1;
	for (int k = 0; k < em->params; k++)
		if (k != i && !strcmp(em->param[k].label, label))
			return 1;
	return 0;
}

static int arg_taken(const struct gen_emit *em, int i, const char *arg)
{
	for (int k = 0; k < em->params; k++)
		if (k != i && !strcmp(em->param[k].arg, arg))
			return 1;
	return 0;
}

static void coin_unlike(const struct gen_emit *em, int i, unsigned what, int (*taken)(const struct gen_emit *, int, const char *), char *name)
{
	char stem[GEN_NAME];

	gen_coin(em->p, what, em->param[i].name, name);
	snprintf(stem, sizeof stem, "%s", name);
	for (int k = 2; taken(em, i, name); k++)
		snprintf(name, GEN_NAME, "%.30s%d", stem, k);
}

static void name_arguments(struct gen_emit *em)
{
	int args = gen_style(em, 622, 5, 0) >= 3, labels = gen_style(em, 623, 10, 9) < 3;

	for (int i = 0; i < em->params; i++) {
		memcpy(em->param[i].arg, em->param[i].name, GEN_NAME);
		memcpy(em->param[i].label, em->param[i].name, GEN_NAME);
	}
	for (int i = 0; i < em->params; i++) {
		if (args && em->param[i].init && gen_choice(em->p, of_param(i, 2), 3))
			coin_unlike(em, i, of_param(i, 3), arg_taken, em->param[i].arg);
		if (labels && gen_choice(em->p, of_param(i, 13), 3) == 0)
			coin_unlike(em, i, of_param(i, 14), label_taken, em->param[i].label);
	}
}

/* Small numbers and shapes may stand in get_init_inputs itself. Larger ones keep a name: the judge makes only sizes
 * smaller that have one. */
static void put_in_place(struct gen_emit *em)
{
	int all = gen_style(em, 624, 7, 1) == 0;

	for (int i = 0; i < em->params; i++) {
		struct gen_param *p = &em->param[i];

		p->in_place = p->given && !em->p->plain && (all || gen_choice(em->p, of_param(i, 24), 12) == 0) && !gen_is_used(em, p->name) &&
			      (strlen(p->value) < 3 || strpbrk(p->value, ".e(FTN"));
	}
}

void gen_draw_arguments(struct gen_emit *em)
{
	order_arguments(em);
	draw_defaults(em);
	name_arguments(em);
	put_in_place(em);
}

/* --- text ----------------------------------------------------------------------------------- */

int gen_typed(const struct gen_emit *em)
{
	return gen_style(em, 101, 3, 1) == 0;
}

static const char *type_of(const struct gen_param *p)
{
	return p->value[0] == '(' ? "tuple" : strchr("TF", p->value[0]) ? "bool" : p->value[0] == 'N' ? "int" :
	       strspn(p->value, "-0123456789") && strpbrk(p->value, ".e") ? "float" : "int";
}

/* What ends a line within brackets: the task may have a blank there. */
static const char *line_end(const struct gen_emit *em, int task)
{
	return task && gen_style(em, 635, 2, 1) == 0 ? ", \n" : ",\n";
}

static void write_signature(const struct gen_emit *em, int task, struct buf *out)
{
	int hints = gen_typed(em), every = gen_style(em, 625, 12, 1) == 0 ? 3 + (int)gen_style(em, 626, 4, 0) : GEN_PARAMS + 1;

	buf_adds(out, "    def __init__(self");
	for (int i = 0; i < em->args; i++) {
		const struct gen_param *p = &em->param[em->arg[i]];

		if ((i + 1) % every)
			buf_adds(out, ", ");
		else
			buf_addf(out, "%s                 ", line_end(em, task));
		buf_adds(out, p->arg);
		if (hints)
			buf_addf(out, ": %s", type_of(p));
		if (p->preset[0])
			buf_addf(out, hints ? " = %s" : "=%s", p->preset);
	}
	buf_adds(out, "):\n");
}

static const char *arg_words(const struct gen_emit *em, const struct gen_param *p)
{
	static const struct { const char *begin, *words, *other; } args[] = {
#define ARG(b, w, o) { .begin = b, .words = w, .other = o },
#include "gen/gen_args.def"
#undef ARG
	};
	size_t i = 0;

	if (p->value[0] == '(' && strstr(p->name, "_shape"))
		return "Shape of the parameter";
	while (strncmp(p->name, args[i].begin, strlen(args[i].begin)))
		i++;
	return gen_style(em, 627, 2, 0) ? args[i].other : args[i].words;
}

/* Whether the class's docstring names the arguments, or that of __init__. */
int gen_args_in_class(const struct gen_emit *em)
{
	return gen_style(em, 130, em->p->level == 1 ? 3 : 8, 1) == 0;
}

/* The arguments of __init__ one to a line, with their types and defaults or without. */
void gen_args_doc(const struct gen_emit *em, const char *indent, struct buf *out)
{
	int types = gen_style(em, 127, 3, 0) != 0, dash = gen_style(em, 628, 8, 1) == 0;

	buf_addf(out, "%s%s:\n", indent, gen_style(em, 128, 5, 1) ? "Args" : "Parameters");
	for (int i = 0; i < em->args; i++) {
		const struct gen_param *p = &em->param[em->arg[i]];

		buf_addf(out, "%s    %s%s", indent, dash ? "- " : "", p->arg);
		if (types)
			buf_addf(out, " (%s%s)", type_of(p), p->preset[0] ? ", optional" : "");
		buf_addf(out, ": %s.", arg_words(em, p));
		if (p->preset[0])
			buf_addf(out, gen_style(em, 629, 4, 1) ? " Defaults to %s." : " Default: %s", p->preset);
		buf_addc(out, '\n');
	}
}

static void init_doc(const struct gen_emit *em, struct buf *out)
{
	static const char *const openings[] = { "Sets up the layers.", "Initializes the model.", "Builds the module.", "Creates the layers and keeps the settings." };

	buf_addf(out, "        \"\"\"\n        %s\n", openings[gen_style(em, 129, COUNT_OF(openings), 0)]);
	if (em->args) {
		buf_addc(out, '\n');
		gen_args_doc(em, "        ", out);
	}
	buf_adds(out, "        \"\"\"\n");
}

/* Constants and axes that are kept. A plain solution keeps those of modules too, which it reads nowhere else. */
static void write_attributes(const struct gen_emit *em, int i, int all, struct buf *out)
{
	const struct gen_names *n = &em->name[i];

	for (int c = 0; c < 2; c++)
		if (n->konst[c][0] && (n->attr[c][0] || all))
			buf_addf(out, "        self.%s = %s\n", n->attr[c][0] ? n->attr[c] : n->konst[c], n->konst[c]);
	if (n->axis_arg[0] && (!n->module[0] || all))
		buf_addf(out, "        self.%s = %s\n", n->axis_attr, n->axis_arg);
}

int gen_is_attribute(const struct gen_emit *em, const char *name)
{
	for (int i = 0; i < em->p->n; i++) {
		const struct gen_names *n = &em->name[i];

		if (!strcmp(n->module, name) || !strcmp(n->vec, name) || !strcmp(n->attr[0], name) || !strcmp(n->attr[1], name) ||
		    (n->axis_arg[0] && !strcmp(n->axis_attr, name)))
			return 1;
	}
	return !strcmp(em->spare, name);
}

/* People keep arguments as attributes that nothing reads. */
static void write_unread(const struct gen_emit *em, struct buf *out)
{
	int some = (int)gen_style(em, 630, 2, 0);

	for (int i = 0; i < em->args; i++) {
		const struct gen_param *p = &em->param[em->arg[i]];

		if (!gen_is_attribute(em, p->arg) && !(some && gen_choice(em->p, of_param(i, 25), 2)))
			buf_addf(out, "        self.%s = %s\n", p->arg, p->name);
	}
}

/* Behind a line of the task: words, where the constructor has such words at all, or blanks. The solution leaves both out. */
static void write_remark(const struct gen_emit *em, int i, struct buf *out)
{
	int words = gen_style(em, 631, 8, 1) == 0, blanks = gen_style(em, 634, 4, 1) == 0;

	if (!(words || blanks) || gen_choice(em->p, 640 + (unsigned)i, 2))
		return;
	out->n--;
	if (words) {
		buf_adds(out, gen_choice(em->p, 660 + (unsigned)i, 4) ? "  # " : " # ");
		gen_remark(em->p, 5000 + 16 * (unsigned)i, out);
	} else {
		buf_pad(out, ' ', 1 + gen_choice(em->p, 660 + (unsigned)i, 3) / 2);
	}
	buf_addc(out, '\n');
}

/* A module or parameter; nn by its short or its full name, long calls in one line or in several. */
static void write_member(const struct gen_emit *em, const char *name, const char *ctor, int task, struct buf *out)
{
	int every = gen_style(em, 636, 12, 1) == 0 ? 3 : GEN_PARAMS, n = 0;
	unsigned indent = 12 + 8 * gen_style(em, 637, 5, 0);

	buf_addf(out, "        self.%s = %s", name, gen_style(em, 638, 12, 1) == 0 && !strncmp(ctor, "nn.", 3) ? "torch." : "");
	for (const char *c = ctor; *c; c++)
		if (c[0] == ',' && c[1] == ' ' && ++n % every == 0) {
			buf_adds(out, line_end(em, task));
			buf_pad(out, ' ', indent);
			c++;
		} else {
			buf_addc(out, *c);
		}
	buf_addc(out, '\n');
}

static void write_body(const struct gen_emit *em, const char *class, struct buf *out)
{
	int task = !strcmp(class, "Model"), all = em->p->plain && !task;
	int first = gen_style(em, 107, 2, 0), named = gen_style(em, 109, 4, 1) != 0, start = gen_style(em, 639, 8, 1) ? 0 : (int)gen_style(em, 643, 6, 0);

	buf_addf(out, "        super(%s%s).__init__()\n", named ? class : "", named ? ", self" : "");
	if (gen_style(em, 632, 12, 1) == 0)
		buf_addc(out, '\n');
	if (gen_style(em, 133, 7, 1) == 0)
		write_unread(em, out);
	for (int k = 0; k < em->p->n; k++) {
		int i = (start + k) % em->p->n;
		const struct gen_names *n = &em->name[i];

		if (first)
			write_attributes(em, i, all, out);
		if (n->ctor[0]) {
			write_member(em, n->module[0] ? n->module : n->vec, n->ctor, task, out);
			if (task)
				write_remark(em, i, out);
		}
		if (!first)
			write_attributes(em, i, all, out);
	}
	if (em->spare[0])
		write_member(em, em->spare, em->spare_ctor, task, out);
}

void gen_write_init(const struct gen_emit *em, const char *class, int doc, struct buf *out)
{
	struct buf body = BUF_INIT;

	write_signature(em, doc, out);
	if (doc && !(em->args && gen_args_in_class(em)) && gen_style(em, 108, em->args ? 5 : 15, 1) == 0)
		init_doc(em, out);
	write_body(em, class, &body);
	gen_rename(em, GEN_ARGUMENTS, buf_cstr(&body), out);
	buf_release(&body);
}
