/* tritonrl: finds the command in the table and runs it. Owns the process-wide checks (address
 * space, output that could not be written); everything else belongs to the commands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "verify/gpu/gpu_slot.h"

const struct cmd cmd_table[] = {
#define COMMAND(name, suffix, summary) { #name, summary, cmd_##suffix },
#include "cmd/commands.def"
#undef COMMAND
	{ NULL, NULL, NULL }
};

/* Output that did not reach its file (a full disk) is a failure, even if the command succeeded. */
static int finish(int rc)
{
	if (fflush(stdout))
		perror("tritonrl: cannot write the output");
	else if (ferror(stdout))
		fputs("tritonrl: cannot write the output; is the disk full?\n", stderr);
	else
		return rc;
	return CMD_FAILED;
}

/* OpenBLAS allocates 128 MiB per core while it is loaded. If the address space is too small for
 * that, it retries for ever and ignores signals. A limit that low is reported before OpenBLAS
 * starts. */
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

/* --help, -h and --version are accepted in place of a command. Without a command the list of
 * commands is printed, with the exit code of a failure. */
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
	if (!strcmp(words[0], GPU_SLOT_RUNNER) && argc == 4)
		gpu_slot_runner(words[1], atoi(words[2]));
	if (!strcmp(words[0], "--help") || !strcmp(words[0], "-h"))
		words[0] = help;
	if (!strcmp(words[0], "--version"))
		words[0] = version;
	for (const struct cmd *c = cmd_table; c->name; c++)
		if (!strcmp(words[0], c->name))
			return finish(c->run(argc - 1, words));
	return cmd_unknown(words[0]);
}
