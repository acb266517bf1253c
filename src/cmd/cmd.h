/* The commands. Each command parses its options, opens what it needs, calls the library and reports
 * the result. Only this folder prints to stderr and chooses exit codes; the work itself is in the
 * library folders. commands.def lists the commands. */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "base/err.h"
#include "base/opt.h"
#include "par/par.h"

/* Exit codes, documented in doc/verdict.md. CMD_NO is a negative answer (a candidate is wrong), not
 * a failure. CMD_MACHINE: a spot notice ended the run. CMD_BUDGET: the budget is spent. CMD_SIGNAL:
 * Ctrl-C or SIGTERM. */
enum cmd_exit { CMD_OK = 0, CMD_NO = 1, CMD_FAILED = 2, CMD_MACHINE = 3, CMD_BUDGET = 4, CMD_SIGNAL = 130 };

#define COMMAND(name, suffix, summary) int cmd_##suffix(int argc, char **argv);
#include "cmd/commands.def"
#undef COMMAND

/* The table of commands. A row with name NULL ends it. */
struct cmd {
	const char *name, *summary;
	int (*run)(int argc, char **argv);
};
extern const struct cmd cmd_table[];

/* Every command begins with:
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
 * Returns -1 if the command should continue, else the exit code: help was printed, or the command
 * line was wrong and the error is already on stderr. `p` needs releasing only after -1. */
struct cmd_usage {
	const char *args;            /* arguments after the options, for the usage line: "FILE...", or "" */
	const char *about;           /* one paragraph: what the command does, its exit codes */
	const struct opt *opts;
	const char *shown;           /* options that --help shows, separated by spaces; NULL: all */
	/* Sections of a configuration that the command reads, "sft|rl"; NULL: its files have no sections. */
	const char *sections;
	const char *select;          /* option that selects one of the sections, or NULL */
};
int cmd_parse(const struct cmd_usage *u, void *into, int argc, char **argv, struct opt_parsed *p);
/* Prints "tritonrl NAME: text" to stderr. Returns CMD_FAILED, or the exit code of the stop if a
 * stop was requested. */
int cmd_fail(const char *name, const struct err *e);
/* Reports an unknown command with the nearest known one. Returns CMD_FAILED. */
int cmd_unknown(const char *name);
/* Returns the exit code of work that was stopped: by a signal, a spot notice or the budget. */
int cmd_stopped(void);
/* Prints the options of the bucket to stderr, as part of a command that continues a run. */
struct mirror_args;
void cmd_print_bucket(const struct mirror_args *m);

/* Output of many rows that a killed command must not lose: cmd_open_out opens a file, or standard output for "-", and
 * cmd_put writes a finished piece at once. Both return -1 on failure; cmd_close_out leaves standard output open. */
int cmd_open_out(const char *path, struct err *e);
int cmd_put(int fd, const char *path, struct str text, struct err *e);
void cmd_close_out(int fd);

/* For commands that run as several MPI ranks. *par is NULL in a single process. All ranks except
 * the first print only warnings. */
int cmd_join(struct par **par, struct err *e);
/* Ends a command of several ranks: reports the error of a failure (rc < 0), waits for the other ranks and
 * returns the exit code. `code` is the exit code if nothing failed. */
int cmd_part(struct par *par, const char *name, int rc, int code, const struct err *e);

#endif
