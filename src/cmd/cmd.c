/* The parts that all commands share: parsing of options, help in its four forms, errors and exit
 * codes, MPI ranks. It owns no option table and no work: each command brings a struct cmd_usage.
 * Only this folder prints to stderr and chooses exit codes. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "run/mirror.h"
#include "run/sections.h"

/* A run that was stopped fails everywhere at once; its exit code then names the cause of the
 * stop. */
int cmd_fail(const char *name, const struct err *e)
{
	fprintf(stderr, "tritonrl %s: %s\n", name, e->text);
	return stop_requested() ? cmd_stopped() : CMD_FAILED;
}

/* Suggests a command at an edit distance of at most 2: 'verfiy' suggests 'verify'. */
int cmd_unknown(const char *name)
{
	const char *nearest = NULL;
	size_t best = 3, d;

	for (const struct cmd *c = cmd_table; c->name; c++) {
		d = str_distance(str_of(name), str_of(c->name));
		if (d < best) {
			best = d;
			nearest = c->name;
		}
	}
	fprintf(stderr, "tritonrl: unknown command '%s'", name);
	if (nearest)
		fprintf(stderr, "; did you mean '%s'?\n", nearest);
	else
		fprintf(stderr, "; see 'tritonrl help'\n");
	return CMD_FAILED;
}

/* Scripts that restart a run tell these codes apart: 3 and 4 need another machine or more money,
 * 130 was the user. */
int cmd_stopped(void)
{
	switch (stop_reason()) {
	case STOP_MACHINE: return CMD_MACHINE;
	case STOP_BUDGET: return CMD_BUDGET;
	default: return CMD_SIGNAL;
	}
}

void cmd_print_bucket(const struct mirror_args *m)
{
	const struct { const char *option, *value; } row[] = {
		{ "bucket", m->bucket }, { "endpoint", m->endpoint }, { "region", m->region },
		{ "profile", m->profile },
	};

	for (size_t i = 0; m->bucket && i < COUNT_OF(row); i++)
		if (row[i].value)
			fprintf(stderr, " --%s %s", row[i].option, row[i].value);
}

int cmd_open_out(const char *path, struct err *e)
{
	int fd;

	if (!strcmp(path, "-"))
		return STDOUT_FILENO;
	if (file_check_output(path, e))
		return -1;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	return fd < 0 ? err_errno(e, "cannot create '%s'", path) : fd;
}

int cmd_put(int fd, const char *path, struct str text, struct err *e)
{
	return file_write_all(fd, text.p, text.n, e) ? err_wrap(e, "cannot write '%s'", path) : 0;
}

void cmd_close_out(int fd)
{
	if (fd >= 0 && fd != STDOUT_FILENO)
		close(fd);
}

/* Output of eight ranks would be eight times the same lines. All ranks except the first therefore
 * write stdout to /dev/null and log only warnings. */
int cmd_join(struct par **par, struct err *e)
{
	if (par_open(par, e))
		return -1;
	if (par_first(*par))
		return 0;
	progress_set_mode(PROGRESS_QUIET);
	log_set_level(LOG_WARN);
	return freopen("/dev/null", "w", stdout) ? 0 : err_errno(e, "cannot open '/dev/null'");
}

/* The first rank reports a stop; any other failure is reported by the rank that had it. par_close
 * tells the other ranks whether to abort or to finish. */
int cmd_part(struct par *par, const char *name, int rc, int code, const struct err *e)
{
	int stopped = rc && e->code == ERR_INTERRUPTED;

	if (rc)
		code = stopped && !par_first(par) ? cmd_stopped() : cmd_fail(name, e);
	par_close(par, rc && !stopped);
	return code;
}

/* Breaks a paragraph at 80 columns. A newline in the text starts a new line. */
static void print_paragraph(const char *text)
{
	size_t column = 0;

	for (const char *p = text; *p;) {
		size_t n = strcspn(p, " \n");

		if (column && column + 1 + n > 80)
			column = 0, putchar('\n');
		else if (column)
			column++, putchar(' ');
		fwrite(p, 1, n, stdout);
		column += n;
		p += n;
		if (*p == '\n')
			column = 0, putchar('\n');
		p += *p != 0;
	}
	putchar('\n');
}

/* Help text of a command. `shown` selects the options to show (NULL: all); the last line says how
 * many are left out. */
static void print_options(const struct cmd_usage *u, const char *name, const char *shown)
{
	struct buf b = BUF_INIT;
	size_t more;

	printf("usage: tritonrl %s [options]%s%s\n\n", name, *u->args ? " " : "", u->args);
	print_paragraph(u->about);
	more = opt_help(u->opts, shown, &b);
	printf("\n%s", buf_cstr(&b));
	if (more)
		printf("\n%zu more options: tritonrl %s --help-all\n", more, name);
	buf_release(&b);
}

static void print_help(const struct cmd_usage *u, const char *name)
{
	print_options(u, name, u->shown);
}

static void print_help_all(const struct cmd_usage *u, const char *name)
{
	print_options(u, name, NULL);
}

/* The two forms below are for `tritonrl help --man` and `--completion`, which collect them from
 * every command. They always contain all options. */
static void print_man(const struct cmd_usage *u, const char *name)
{
	struct buf b = BUF_INIT;

	opt_man(u->opts, &b);
	printf(".SS %s\n.B tritonrl %s\n[options] %s\n.PP\n%s\n%s", name, name, u->args, u->about, buf_cstr(&b));
	buf_release(&b);
}

/* One option per line; the completion script splits it at the tab. */
static void print_words(const struct cmd_usage *u, const char *name)
{
	struct buf b = BUF_INIT;

	(void)name;
	opt_words(u->opts, &b);
	fputs(buf_cstr(&b), stdout);
	buf_release(&b);
}

static const struct {
	const char *word;
	void (*print)(const struct cmd_usage *u, const char *name);
} forms[] = { { "--help", print_help }, { "--help-all", print_help_all },
	      { "--help=man", print_man }, { "--help=words", print_words } };

/* The forms of help are recognised before parsing, so that they also work if required options are
 * missing. --help among other words is found by the parser (p->help). */
int cmd_parse(const struct cmd_usage *u, void *into, int argc, char **argv, struct opt_parsed *p)
{
	struct opt_scope scope = { .own = u->sections, .select = u->select, .all = run_sections };
	struct err e = ERR_INIT;

	for (size_t i = 0; argc == 2 && i < COUNT_OF(forms); i++)
		if (!strcmp(argv[1], forms[i].word)) {
			forms[i].print(u, argv[0]);
			return CMD_OK;
		}
	if (opt_parse_in(u->opts, u->sections ? &scope : NULL, into, argc - 1, argv + 1, p, &e)) {
		cmd_fail(argv[0], &e);
		fprintf(stderr, "see 'tritonrl help %s'\n", argv[0]);
		return CMD_FAILED;
	}
	if (p->quiet) {
		progress_set_mode(PROGRESS_QUIET);
		log_set_level(LOG_WARN);
	}
	if (!p->help)
		return -1;
	(p->help == OPT_HELP_ALL ? print_help_all : print_help)(u, argv[0]);
	opt_release(p);
	return CMD_OK;
}
