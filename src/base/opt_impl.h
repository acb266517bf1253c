/* Private to the options: the parser that opt.c and opt_file.c share. */
#ifndef BASE_OPT_IMPL_H
#define BASE_OPT_IMPL_H

#include "base/mem.h"
#include "base/opt.h"

enum opt_source { FROM_DEFAULT, FROM_FILE, FROM_ARGV };

struct opt_row {
	const struct opt *o;
	size_t base;
	enum opt_source source;          /* of its current value */
	const char *def_text;            /* its default as YAML */
};

struct opt_given {
	struct opt_row *row;
	const char *value;           /* NULL: a flag without one */
	int negated;
};

struct opt_parser {
	struct arena *a;
	char *into;
	struct { struct opt_row *v; size_t n, cap; } rows;
	struct { struct opt_given *v; size_t n, cap; } given;
	struct { const char **v; size_t n, cap; } args;
	const char *config;
	enum opt_help_kind help;
	int quiet;
	const struct opt_scope *scope;   /* NULL: a file is for one command */
	const char *section;             /* being read; NULL: the top of the file */
};

void *opt_member(const struct opt_parser *p, const struct opt_row *r);
/* '_' and '-' equal. */
int opt_same_name(struct str given, const char *name);
struct opt_row *opt_find(struct opt_parser *p, struct str name);
int opt_unknown(const struct opt_parser *p, const char *what, struct str name, const char *dashes, struct err *e);
int opt_list_push(struct opt_parser *p, struct opt_list *l, struct str item, struct err *e);
int opt_set_default(struct opt_parser *p, struct opt_row *r, struct err *e);
/* Sets the member of `r` from text; `where` names the option in messages. */
int opt_set(struct opt_parser *p, struct opt_row *r, enum opt_source from, const char *where,
	    const char *value, struct err *e);
/* The section that the selecting option chooses (`--stage rl`), or NULL if it chooses none of them. */
const char *opt_selected_section(struct opt_parser *p);
/* Sets members from the file of --config. */
int opt_apply_config(struct opt_parser *p, struct err *e);

#endif
