/* The commands: each parses its options, opens what it needs, calls the library, reports.
 * Only this folder prints to stderr and decides exit codes. */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "base/err.h"
#include "base/opt.h"
#include "par/par.h"

/* MACHINE: the machine is taken away; BUDGET: it is spent; SIGNAL: Ctrl-C or SIGTERM. */
enum cmd_exit { CMD_OK = 0, CMD_NO = 1, CMD_FAILED = 2, CMD_MACHINE = 3, CMD_BUDGET = 4, CMD_SIGNAL = 130 };

#define COMMAND(name, suffix, summary) int cmd_##suffix(int argc, char **argv);
#include "cmd/commands.def"
#undef COMMAND

/* The table of commands, ended by a row with name NULL. */
struct cmd {
	const char *name, *summary;
	int (*run)(int argc, char **argv);
};
extern const struct cmd cmd_table[];

/* What every command begins with:
 *
 *     static const struct cmd_usage usage = {
 *         .args = "FILE...", .about = "One paragraph of help.", .opts = table,
 *     };
 *     int rc = cmd_parse(&usage, &args, argc, argv, &p);
 *     if (rc >= 0)
 *         return rc;
 *     ...
 *     opt_release(&p);
 *
 * Returns -1 to go on, or the exit code: --help was printed, or the command line was wrong,
 * which has been said on stderr. `p` needs releasing only after -1. */
struct cmd_usage {
	const char *args;            /* what may follow the options: "FILE...", or "" */
	const char *about;
	const struct opt *opts;
	const char *main;            /* options that --help shows, separated by spaces; NULL: all */
	/* of a configuration that the command reads: "sft|rl"; NULL: files are for it alone */
	const char *sections;
	const char *select;          /* the option that names one of them, or NULL */
};
int cmd_parse(const struct cmd_usage *u, void *into, int argc, char **argv, struct opt_parsed *p);
/* Prints "tritonrl NAME: text" to stderr; CMD_FAILED, or the code of who stopped it. */
int cmd_fail(const char *name, const struct err *e);
/* Says that there is no such command, and which is meant perhaps. */
int cmd_unknown(const char *name);
/* The exit code of work that was stopped before its end, by who stopped it. */
int cmd_stopped(void);

/* For commands that several processes run together under mpirun or srun: *par is NULL in a process alone. All but
 * the first print nothing but warnings. */
int cmd_join(struct par **par, struct err *e);
/* The end of such a command: says what went wrong, waits for the others, gives the exit code. `code` is that of
 * work in which nothing went wrong. */
int cmd_part(struct par *par, const char *name, int rc, int code, const struct err *e);

#endif
