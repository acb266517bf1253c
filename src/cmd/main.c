/* tritonrl: finds the command and runs it. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd/cmd.h"

static const struct {
	const char *name, *summary;
	int (*run)(int argc, char **argv);
} commands[] = {
#define COMMAND(name, suffix, summary) { #name, summary, cmd_##suffix },
#include "cmd/commands.def"
#undef COMMAND
};

int cmd_version(int argc, char **argv)
{
	(void)argc, (void)argv;
	printf("tritonrl %s (%s)\n", TRITONRL_VERSION, __VERSION__);
	return CMD_OK;
}

int cmd_help(int argc, char **argv)
{
	(void)argc, (void)argv;
	printf("usage: tritonrl COMMAND [options]\n\n");
	for (size_t i = 0; i < COUNT_OF(commands); i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].summary);
	return CMD_OK;
}

int main(int argc, char **argv)
{
	if (argc < 2 || !strcmp(argv[1], "--help")) {
		cmd_help(argc, argv);
		return argc < 2 ? CMD_FAILED : CMD_OK;
	}
	for (size_t i = 0; i < COUNT_OF(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, "tritonrl: unknown command '%s'; see 'tritonrl help'\n", argv[1]);
	return CMD_FAILED;
}
