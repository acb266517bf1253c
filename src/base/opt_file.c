/* Options from the file of --config: see opt.h. The tree of the file is walked twice: first common
 * keys, then sections. Invariant: every name in the file is an option of this command or of another
 * command of the scope; any other name is an error. */
#include "base/opt_impl.h"

#include <stdio.h>

#include "base/file.h"
#include "base/yaml.h"

/* null restores the default. A list in a section replaces the common one, so its source is reset
 * first. */
static int set_from_node(struct opt_parser *p, struct opt_row *r, const struct yaml *y, const char *where,
			 struct err *e)
{
	if (y->kind == YAML_SCALAR && yaml_is_null(y))
		return opt_set_default(p, r, e);
	if (y->kind == YAML_SCALAR) {
		r->source = FROM_DEFAULT;    /* a list in a section then replaces the common one */
		return opt_set(p, r, FROM_FILE, where, y->text.p, e);
	}
	if (r->o->type != OPT_T_LIST)
		return err_set(e, ERR_USAGE, "%s: expected one value, not a list", where);
	*(struct opt_list *)opt_member(p, r) = (struct opt_list){ .v = NULL };
	r->source = FROM_FILE;
	for (const struct yaml *c = y->child; c; c = c->next) {
		if (c->kind != YAML_SCALAR)
			return err_set(e, ERR_USAGE, "%s: expected a list of plain values", where);
		if (opt_list_push(p, opt_member(p, r), c->text, e))
			return -1;
	}
	return 0;
}

/* A name to look for in a table, also with the section's name in front: lr in section rl is
 * rl-lr. */
struct named {
	struct str name;
	const char *section;
};

static int is_named(void *ctx, const struct opt *o, size_t base, const char *group)
{
	const struct named *n = ctx;
	size_t k = n->section ? strlen(n->section) : 0;

	(void)base;
	(void)group;
	return opt_same_name(n->name, o->name) ||
	       (k && !strncmp(o->name, n->section, k) && o->name[k] == '-' && opt_same_name(n->name, o->name + k + 1));
}

static int in_section(const struct opt_section *s, struct str name)
{
	return opt_visit(s->table, is_named, &(struct named){ .name = name, .section = s->name });
}

static const struct opt_section *section_of(const struct opt_parser *p, struct str name)
{
	const struct opt_section *s = p->scope ? p->scope->all : NULL;

	for (; s && s->name; s++)
		if (str_is(name, s->name))
			return s;
	return NULL;
}

/* Is this a common key that another command of the file has? Then this command ignores it. */
static int known_elsewhere(const struct opt_parser *p, struct str name)
{
	const struct opt_section *s = p->scope && !p->section ? p->scope->all : NULL;

	for (; s && s->name; s++)
		if (in_section(s, name))
			return 1;
	return 0;
}

/* The section that a node of the top level opens, or NULL. A plain value whose key is an option as well
 * is that option: `keep: 3` is --keep, `keep: {bucket: x}` the section. */
static const struct opt_section *opened_by(const struct opt_parser *p, const struct yaml *y)
{
	const struct opt_section *s = section_of(p, y->key);
	int plain = y->kind != YAML_MAPPING && !(y->kind == YAML_SCALAR && yaml_is_null(y));

	return s && plain && known_elsewhere(p, y->key) ? NULL : s;
}

/* In section rl, lr first means rl_lr and then lr. */
static struct opt_row *find_key(struct opt_parser *p, const char *name)
{
	char *joined = p->section ? arena_printf(p->a, "%s_%s", p->section, name) : NULL;
	struct opt_row *r = joined ? opt_find(p, str_of(joined)) : NULL;

	return r ? r : opt_find(p, str_of(name));
}

/* Adds the position in the file to an error and returns -1. */
static int at_node(const struct yaml *y, struct err *e)
{
	if (e && !e->line) {
		e->line = y->line;
		e->column = y->column;
	}
	return -1;
}

static int apply_mapping(struct opt_parser *p, const struct yaml *map, const char *prefix, struct err *e);

/* A nested mapping joins its keys: `lora: {r: 8}` is lora_r. */
static int apply_key(struct opt_parser *p, const struct yaml *y, const char *prefix, struct err *e)
{
	char *name = arena_printf(p->a, "%s%s%s", prefix, *prefix ? "_" : "", y->key.p);
	char where[200];
	struct opt_row *r;

	if (!name)
		return err_nomem(e);
	if (y->kind == YAML_MAPPING)
		return apply_mapping(p, y, name, e);
	r = find_key(p, name);
	if (!r && known_elsewhere(p, str_of(name)))
		return 0;
	snprintf(where, sizeof where, "line %d: %s", y->line, r ? name : "unknown key");
	return (r ? set_from_node(p, r, y, where, e) : opt_unknown(p, where, str_of(name), "", e)) ? at_node(y, e) : 0;
}

/* Skips the sections of the top level. They are applied later and override common keys, in any
 * order of the file. */
static int apply_mapping(struct opt_parser *p, const struct yaml *map, const char *prefix, struct err *e)
{
	for (const struct yaml *y = map->child; y; y = y->next)
		if (!(*prefix == 0 && !p->section && opened_by(p, y)) && apply_key(p, y, prefix, e))
			return -1;
	return 0;
}

struct near { struct str name; size_t best; const char *found; };

/* Finds the option nearest to a misspelt key. */
static int is_nearer(void *ctx, const struct opt *row, size_t base, const char *group)
{
	struct near *n = ctx;
	size_t d = str_distance(n->name, str_of(row->name));

	(void)base, (void)group;
	if (d < n->best) {
		n->best = d;
		n->found = row->name;
	}
	return 0;
}

/* Names the section, because the same key may be right in another one. */
static int unknown_key(const struct opt_section *s, const struct yaml *y, const char *name, struct err *e)
{
	struct near n = { .name = str_of(name), .best = strlen(name) / 3 + 2 };

	opt_visit(s->table, is_nearer, &n);
	if (n.found)
		err_set(e, ERR_USAGE, "line %d: unknown key '%s' in section '%s'; did you mean '%s'?",
			y->line, name, s->name, n.found);
	else
		err_set(e, ERR_USAGE, "line %d: unknown key '%s' in section '%s'", y->line, name, s->name);
	return at_node(y, e);
}

/* Checks the names in a section of another command, so that a misspelt key is found by every
 * command that reads the file. */
static int check_names(struct opt_parser *p, const struct opt_section *s, const struct yaml *map,
		       const char *prefix, struct err *e)
{
	for (const struct yaml *y = map->child; y; y = y->next) {
		char *name = arena_printf(p->a, "%s%s%s", prefix, *prefix ? "_" : "", y->key.p);

		if (!name)
			return err_nomem(e);
		if (y->kind == YAML_MAPPING ? check_names(p, s, y, name, e) : !in_section(s, str_of(name)) &&
		    unknown_key(s, y, name, e))
			return -1;
	}
	return 0;
}

/* Returns the value of the selecting option (`stage`): from the command line if given there, else
 * the default. The command line has not been applied yet at this point. */
static const char *selected(struct opt_parser *p)
{
	struct opt_row *r = p->scope->select ? opt_find(p, str_of(p->scope->select)) : NULL;
	const char *value = r ? *(const char **)opt_member(p, r) : NULL;

	for (size_t i = 0; r && i < p->given.n; i++)
		if (p->given.v[i].row == r)
			value = p->given.v[i].value;
	return value;
}

static int is_word(const char *words, struct str word)
{
	struct str rest = str_of(words ? words : "");

	while (rest.n)
		if (str_eq(str_cut(&rest, '|'), word))
			return 1;
	return 0;
}

const char *opt_selected_section(struct opt_parser *p)
{
	const char *one = p->scope ? selected(p) : NULL;

	return one && is_word(p->scope->own, str_of(one)) ? one : NULL;
}

/* Does the command read this section? If the selecting option chooses among sections, only the
 * selected one is read: with --stage sft, section rl is checked but not applied. */
static int is_own(struct opt_parser *p, struct str section)
{
	const char *one = selected(p);
	const struct opt_row *r = p->scope->select ? opt_find(p, str_of(p->scope->select)) : NULL;

	if (!is_word(p->scope->own, section))
		return 0;
	return !one || !is_word(p->scope->own, str_of(one)) || !is_word(r->o->choices, section) || str_is(section, one);
}

/* Runs after the common keys, so that a section overrides them in any order of the file. */
static int apply_sections(struct opt_parser *p, const struct yaml *root, struct err *e)
{
	for (const struct yaml *y = root->child; y; y = y->next) {
		const struct opt_section *s = opened_by(p, y);
		int rc;

		if (!s || (y->kind == YAML_SCALAR && yaml_is_null(y)))
			continue;
		if (y->kind != YAML_MAPPING)
			return err_set(e, ERR_USAGE, "line %d: section '%s' is a mapping of options to values",
				       y->line, s->name), at_node(y, e);
		p->section = s->name;
		rc = is_own(p, y->key) ? apply_mapping(p, y, "", e) : check_names(p, s, y, "", e);
		p->section = NULL;
		if (rc)
			return -1;
	}
	return 0;
}

/* A configuration of over a megabyte is a mistake, such as a data file. */
int opt_apply_config(struct opt_parser *p, struct err *e)
{
	enum { CONFIG_MOST = 1 << 20 };   /* bytes */
	struct buf text = BUF_INIT;
	struct yaml *root;
	int rc = -1;

	if (file_read(p->config, CONFIG_MOST, &text, e))
		goto out;
	root = yaml_parse(buf_str(&text), p->a, e);
	if (root && root->kind != YAML_MAPPING)
		err_set(e, ERR_FORMAT, "a configuration is a mapping of options to values");
	else if (root)
		rc = apply_mapping(p, root, "", e) || apply_sections(p, root, e) ? -1 : 0;
	if (rc)
		err_wrap(e, "'%s'", p->config);
out:
	buf_release(&text);
	return rc;
}
