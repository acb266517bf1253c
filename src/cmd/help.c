/* tritonrl help: the list of commands, help for one command, and the man page and bash completion
 * that `make install` writes. All of them come from the option tables, so they cannot disagree. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"

struct args {
	int man, completion;           /* print this form for `make install` */
};

static const struct opt opts[] = {
	OPT_FLAG(struct args, man, "man", 0, "print the man page of all commands"),
	OPT_FLAG(struct args, completion, "completion", 0, "print the bash completion script"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "[COMMAND]",
	.about = "Show the commands, or the main options of one command.",
	.opts = opts,
};

/* Runs `command --help=FORM`, which prints that form of its option table and does nothing else. */
static int print_form(const struct cmd *c, const char *form)
{
	char word[32], name[32];

	snprintf(word, sizeof word, "--help%s", form);
	snprintf(name, sizeof name, "%s", c->name);
	return c->run(2, (char *[]){ name, word, NULL });
}

static void print_commands(void)
{
	puts("tritonrl trains language models to write correct, fast Triton kernels.\n\n"
	     "usage: tritonrl COMMAND [options]\n");
	for (const struct cmd *c = cmd_table; c->name; c++)
		printf("  %-10s %s\n", c->name, c->summary);
	puts("\n'tritonrl help COMMAND' shows the main options of a command, "
	     "'tritonrl COMMAND --help-all' all of them.");
}

/* Every command adds its own section with all its options. */
static void print_man(void)
{
	puts(".TH TRITONRL 1 \"\" \"tritonrl " TRITONRL_VERSION "\"\n"
	     ".SH NAME\ntritonrl \\- train language models to write correct, fast Triton kernels\n"
	     ".SH SYNOPSIS\n.B tritonrl\n.I COMMAND\n[options]\n"
	     ".SH DESCRIPTION\nEvery option can also be set in a YAML file given with\n.BR \\-\\-config ,\n"
	     "with \\(aq_\\(aq instead of \\(aq\\-\\(aq; the command line has priority.\n"
	     ".SH EXIT STATUS\n0: success. 1: a negative answer (a candidate is wrong, a check found errors, "
	     "a plan does not fit). 2: failure. "
	     "3: stopped by a spot notice. 4: the budget is spent. 130: stopped by a signal.\n"
	     ".SH COMMANDS");
	for (const struct cmd *c = cmd_table; c->name; c++)
		print_form(c, "=man");
}

/* The script holds the options of every command as text. After an option with choices it completes
 * the choices, after DIR folders, after another placeholder files, and otherwise options or
 * files. */
static void print_completion(void)
{
	puts("# bash completion for tritonrl\n"
	     "_tritonrl()\n{\n"
	     "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options= values=\n"
	     "\tif [ \"$COMP_CWORD\" -eq 1 ]; then");
	printf("\t\tCOMPREPLY=($(compgen -W '");
	for (const struct cmd *c = cmd_table; c->name; c++)
		printf("%s%s", c == cmd_table ? "" : " ", c->name);
	puts("' -- \"$word\"))\n\t\treturn\n\tfi\n"
	     "\tcase ${COMP_WORDS[1]} in");
	for (const struct cmd *c = cmd_table; c->name; c++) {
		printf("\t%s) options='", c->name);
		print_form(c, "=words");
		puts("' ;;");
	}
	puts("\tesac\n"
	     "\tvalues=$(printf '%s\\n' \"$options\" | awk -F'\\t' -v o=\"$before\" '$1 == o { print $2 }')\n"
	     "\tcase $values in\n"
	     "\t*'|'*) COMPREPLY=($(compgen -W \"${values//|/ }\" -- \"$word\")); return ;;\n"
	     "\tDIR) COMPREPLY=($(compgen -d -- \"$word\")); return ;;\n"
	     "\t?*) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n"
	     "\tesac\n"
	     "\tcase $word in\n"
	     "\t-*) COMPREPLY=($(compgen -W \"$(printf '%s\\n' \"$options\" | cut -f1)\" -- \"$word\")) ;;\n"
	     "\t*) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
	     "\tesac\n}\n"
	     "complete -F _tritonrl tritonrl");
}

static int help_for(const char *name)
{
	for (const struct cmd *c = cmd_table; c->name; c++)
		if (!strcmp(c->name, name))
			return print_form(c, "");
	return cmd_unknown(name);
}

int cmd_help(int argc, char **argv)
{
	struct opt_parsed p;
	struct args a;
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	/* One form per call; --man and --completion ignore a command name. */
	rc = CMD_OK;
	if (a.man)
		print_man();
	else if (a.completion)
		print_completion();
	else if (p.n)
		rc = help_for(p.args[0]);
	else
		print_commands();
	opt_release(&p);
	return rc;
}
