/* tritonrl version: the version, the compiler, and the vector instructions this processor has. The
 * shortest command: an example for new ones. */
#include <stdio.h>

#include "base/cpu.h"
#include "base/json.h"
#include "cmd/cmd.h"

struct args {
	int json;
};

static const struct opt opts[] = {
	OPT_FLAG(struct args, json, "json", 0, "print JSON"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "", .about = "Show the version, the compiler, and the processor this program sees.", .opts = opts,
};

/* The form for scripts; bug reports quote it. */
static void print_json(const char *level)
{
	struct buf b = BUF_INIT;
	struct jw w = { .out = &b };

	jw_begin(&w, '{');
	jw_key(&w, "version"), jw_cstr(&w, TRITONRL_VERSION);
	jw_key(&w, "compiler"), jw_cstr(&w, __VERSION__);
	jw_key(&w, "arch"), jw_cstr(&w, cpu_info()->arch);
	jw_key(&w, "level"), jw_cstr(&w, level);
	jw_end(&w, '}');
	puts(buf_cstr(&b));
	buf_release(&b);
}

int cmd_version(int argc, char **argv)
{
	static const char *const level[] = { "baseline", "AVX2", "AVX-512" };
	struct opt_parsed p;
	struct args a;
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	if (a.json)
		print_json(level[cpu_info()->level]);
	else
		printf("tritonrl %s\ncompiler %s\n%s, vector code: %s\n", TRITONRL_VERSION, __VERSION__,
		       cpu_info()->arch, level[cpu_info()->level]);
	opt_release(&p);
	return CMD_OK;
}
