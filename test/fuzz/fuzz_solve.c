/* A module of a user: mutated by words (module_mutator.c), then solved with the usual schedules and with drawn
 * ones. No module may end the process, and a solution must be Python. */
#include "base/str.h"
#include "solve/solve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void solve(struct host_lib *lib, struct str source, uint64_t draw)
{
	struct solve_options o = { .lib = lib, .draw = draw, .fuel = 200000, .memory = (size_t)16 << 20, .outline = 1 };
	struct solve_answer answer;
	struct py_module m;
	struct err e = ERR_INIT;

	if (!solve_module(&o, source, &answer, &e) && answer.solution.n) {
		if (py_parse(&m, buf_str(&answer.solution), "solution", (size_t)16 << 20, &e))
			BUG("the solution is no Python: %s", e.text);
		py_release(&m);
	}
	solve_answer_release(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err e = ERR_INIT;
	static struct host_lib *lib;

	if (!lib)
		lib = host_lib_new(&e);
	solve(lib, (struct str){ .p = (const char *)data, .n = size }, 0);
	solve(lib, (struct str){ .p = (const char *)data, .n = size }, 7);
	return 0;
}
