/* tritonrl: finds the command and runs it. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cmd/cmd.h"

const struct cmd cmd_table[] = {
#define COMMAND(name, suffix, summary) { #name, summary, cmd_##suffix },
#include "cmd/commands.def"
#undef COMMAND
	{ NULL, NULL, NULL }
};

/* Output that did not reach its file (a full disk) is a failure, whatever the command said. */
static int finish(int rc)
{
	if (fflush(stdout))
		perror("tritonrl: cannot write the output");
	else if (ferror(stdout))
		fputs("tritonrl: cannot write the output\n", stderr);
	else
		return rc;
	return CMD_FAILED;
}

/* OpenBLAS takes 128 MiB for every core as it is loaded, and tries for ever where address space
 * ends before: neither a signal nor a message would get through. */
static int has_room(void)
{
	enum { LEAST_MIB = 1024 };
	struct rlimit r;

	if (getrlimit(RLIMIT_AS, &r) || r.rlim_cur == RLIM_INFINITY || r.rlim_cur >> 20 >= LEAST_MIB)
		return 1;
	fprintf(stderr, "tritonrl: the address space is limited to %llu MiB; raise it to at least %d (ulimit -v)\n",
		(unsigned long long)(r.rlim_cur >> 20), LEAST_MIB);
	return 0;
}

int main(int argc, char **argv)
{
	static char help[] = "help", version[] = "version";
	char **words = argv + 1;

	if (!has_room())
		_exit(CMD_FAILED);
	if (argc < 2) {
		cmd_help(1, (char *[]){ help, NULL });
		return finish(CMD_FAILED);
	}
	if (!strcmp(words[0], "--help") || !strcmp(words[0], "-h"))
		words[0] = help;
	if (!strcmp(words[0], "--version"))
		words[0] = version;
	for (const struct cmd *c = cmd_table; c->name; c++)
		if (!strcmp(words[0], c->name))
			return finish(c->run(argc - 1, words));
	return cmd_unknown(words[0]);
}
