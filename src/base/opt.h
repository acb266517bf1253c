/* Options: one table per command. Parsing of the command line, reading of --config YAML, help, man page,
 * shell completion and the resolved copy stored with a run all come from this table.
 *
 *     struct verify_args { const char *task; int64_t workers; int json; };
 *     static const struct opt verify_opts[] = {
 *         OPT_STR(struct verify_args, task, "task", "FILE", NULL, "the task to judge against"),
 *         OPT_INT(struct verify_args, workers, "workers", 0, 1024, 0, "processes; 0: one per core"),
 *         OPT_FLAG(struct verify_args, json, "json", 0, "print JSON"),
 *         OPT_END
 *     };
 *
 * A flag `x` also understands --no-x. The YAML key is the name with '-' as '_', the same
 * word with '-' is accepted, and a nested mapping joins its keys: `lora: {r: 8}`
 * is `lora_r: 8`. Command line wins over file, file over default. Unknown names
 * are refused with the nearest one. Rows shared by several commands live in shared tables
 * reached through OPT_INCLUDE.
 *
 * A file may serve several commands (struct opt_scope): common keys at the top, and a section
 * for each stage, `sft: {lr: 1e-5}`. A command takes the common keys it has, then its own
 * sections over them. Every other name in the file must be an option of its section, or of some
 * section if it is common: every command refuses a wrong name. */
#ifndef BASE_OPT_H
#define BASE_OPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum opt_type { OPT_T_END, OPT_T_FLAG, OPT_T_INT, OPT_T_REAL, OPT_T_STR, OPT_T_CHOICE, OPT_T_ENUM,
		OPT_T_LIST, OPT_T_INCLUDE, OPT_T_ALIAS, OPT_T_START };

/* A list option (given several times, or comma-separated where so declared). */
struct opt_list {
	const char **v;
	size_t n, cap;
};

struct opt {
	enum opt_type type;
	const char *name;          /* long name without dashes */
	char letter;               /* short name or 0 */
	const char *arg;           /* placeholder in help: FILE, N, ... */
	const char *help;
	size_t offset;             /* of the member in the command's struct */
	size_t size;               /* of the member: numbers have 4 or 8 bytes */
	double lo, hi;             /* range of numbers, inclusive */
	int64_t def_int;           /* defaults */
	double def_real;
	const char *def_str;
	const char *choices;       /* "strict|hybrid" */
	int split_commas;
	const struct opt *include;
	const void *start;         /* OPT_START: the struct as it is before its options */
	const char *group;         /* heading in help, of this row and those below it in the table */
};

#define OPT_FLAG(T, m, nm, def, hlp) \
	{ .type = OPT_T_FLAG, .name = nm, .offset = offsetof(T, m), .def_int = def, .help = hlp }
#define OPT_INT(T, m, nm, low, high, def, hlp) \
	{ .type = OPT_T_INT, .name = nm, .arg = "N", .offset = offsetof(T, m), .size = sizeof ((T *)0)->m, \
	  .lo = low, .hi = high, .def_int = def, .help = hlp }
#define OPT_REAL(T, m, nm, low, high, def, hlp) \
	{ .type = OPT_T_REAL, .name = nm, .arg = "X", .offset = offsetof(T, m), .size = sizeof ((T *)0)->m, \
	  .lo = low, .hi = high, .def_real = def, .help = hlp }
#define OPT_STR(T, m, nm, ph, def, hlp) \
	{ .type = OPT_T_STR, .name = nm, .arg = ph, .offset = offsetof(T, m), .def_str = def, .help = hlp }
#define OPT_CHOICE(T, m, nm, ch, def, hlp) \
	{ .type = OPT_T_CHOICE, .name = nm, .choices = ch, .offset = offsetof(T, m), .def_str = def, .help = hlp }
/* An enum: the index of the word among the choices. */
#define OPT_ENUM(T, m, nm, ch, def, hlp) \
	{ .type = OPT_T_ENUM, .name = nm, .choices = ch, .offset = offsetof(T, m), .def_str = def, .help = hlp }
#define OPT_LIST(T, m, nm, ph, commas, hlp) \
	{ .type = OPT_T_LIST, .name = nm, .arg = ph, .offset = offsetof(T, m), .split_commas = commas, .help = hlp }
/* Rows of another table over a struct that is a member of T. */
#define OPT_INCLUDE(T, m, table, heading) \
	{ .type = OPT_T_INCLUDE, .offset = offsetof(T, m), .include = table, .group = heading }
/* An old name of the option `of` of the same table: it works, and a warning names the current one. */
#define OPT_ALIAS(nm, of) { .type = OPT_T_ALIAS, .name = nm, .def_str = of }
/* First row of a table that fills a library's struct: members without an option are copied from *image. */
#define OPT_START(T, image) { .type = OPT_T_START, .start = image, .size = sizeof (T) }
#define OPT_END { .type = OPT_T_END }

/* Members: flag int, int int or int64_t, real float or double, str and choice const char *, enum an
 * enum, list struct opt_list. */

enum opt_help_kind { OPT_HELP_NONE, OPT_HELP_MAIN, OPT_HELP_ALL };

/* An option that the file or the command line gave a value. */
struct opt_set_value {
	const char *name;
	int argv;                  /* by the command line */
	int same;                  /* by the file, with the value of its default */
};

struct opt_parsed {
	const char **args;         /* the arguments that are not options, in order */
	size_t n;
	struct buf resolved;       /* YAML of every option as used */
	enum opt_help_kind help;   /* --help or --help-all was given */
	const char *config;        /* the file of --config, or NULL; borrowed from argv */
	int quiet;                 /* --quiet was given, and the table has no row of that name */
	struct opt_set_value *given;  /* options with a value from the file or the command line */
	size_t n_given;
	void *owned;               /* storage of strings and lists */
};

/* Fills `into` with defaults, then --config, then argv. `argv` starts after the command. */
int opt_parse(const struct opt *table, void *into, int argc, char *const *argv,
	      struct opt_parsed *out, struct err *e);
/* The same for a file with sections. In a section, a key is first looked for behind the
 * section's name: `rl: {lr: 1}` is --rl-lr where the table has that, else --lr. The command line follows
 * the same rule if the selecting option chooses one section: `--stage rl --lr 1` is --rl-lr too. */
struct opt_section {
	const char *name;            /* NULL ends a list */
	const struct opt *table;
};
struct opt_scope {
	const char *own;             /* sections this command reads: "sft|rl" */
	const char *select;          /* choice option that selects one of them, or NULL */
	const struct opt_section *all;
};
int opt_parse_in(const struct opt *table, const struct opt_scope *scope, void *into, int argc, char *const *argv,
		 struct opt_parsed *out, struct err *e);
void opt_release(struct opt_parsed *p);
/* Was the option given on the command line, or in the file with another value than its default? A
 * stored configuration names every option, so a default in it does not count. */
int opt_is_set(const struct opt_parsed *p, const char *name);
/* Tells whether the option of this name was set, even to its default: 1 by the file, 2 by the command
 * line, 0 not at all. */
int opt_was_given(const struct opt_parsed *p, const char *name);
/* Appends the help text of a table, wrapped at 80 columns. `shown` names the options that --help shows,
 * separated by spaces; NULL shows every option. Returns how many options were left out. */
size_t opt_help(const struct opt *table, const char *shown, struct buf *out);
/* The same rows as the OPTIONS of a man page (roff), and as words for shell completion:
 * one option a line, with its choices or placeholder behind a tab. */
void opt_man(const struct opt *table, struct buf *out);
void opt_words(const struct opt *table, struct buf *out);

/* Calls fn for every row, those of included tables too; `base` is to be added to offset.
 * Stops at and returns the first nonzero result. */
typedef int opt_visit_fn(void *ctx, const struct opt *row, size_t base, const char *group);
int opt_visit(const struct opt *table, opt_visit_fn *fn, void *ctx);

#endif
