/* Speed of the parser: MB of source a second on one core, over the files named on the command
 * line (or on standard input), each parsed by itself as a task or candidate would be.
 *   find FOLDER -name '*.py' | bench_py */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/file.h"
#include "py/ast.h"

struct sources { struct str *v; size_t n, cap; };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int load(struct sources *s, const char *path)
{
	struct buf b = BUF_INIT;
	struct err e = ERR_INIT;
	struct py_module m;

	/* what is not Python is left out: it would be parsed for a line only */
	if (file_read(path, 0, &b, &e) || py_parse(&m, buf_str(&b), path, 0, &e)) {
		buf_release(&b);
		return 0;
	}
	py_release(&m);
	return vec_push(s, buf_str(&b));
}

/* Seconds of the fastest of `rounds` passes over everything. */
static double fastest(const struct sources *s, int rounds, size_t *arena)
{
	double best = 1e9;

	for (int r = 0; r < rounds; r++) {
		double t = now();

		*arena = 0;
		for (size_t i = 0; i < s->n; i++) {
			struct py_module m;
			struct err e = ERR_INIT;

			if (py_parse(&m, s->v[i], "bench", 0, &e))
				exit(2);
			*arena += m.arena.used;
			py_release(&m);
		}
		t = now() - t;
		best = t < best ? t : best;
	}
	return best;
}

int main(int argc, char **argv)
{
	struct sources s = { .n = 0 };
	struct line_reader r;
	struct str line;
	struct err e = ERR_INIT;
	size_t bytes = 0, arena;
	double t;

	for (int i = 1; i < argc; i++)
		if (load(&s, argv[i]))
			return 2;
	if (argc < 2 && lines_open(&r, "-", &e) == 0) {
		while (lines_next(&r, &line, &e) > 0) {
			char path[4096];

			snprintf(path, sizeof path, "%.*s", STR_ARG(line));
			if (load(&s, path))
				return 2;
		}
		lines_close(&r);
	}
	for (size_t i = 0; i < s.n; i++)
		bytes += s.v[i].n;
	if (!bytes) {
		fprintf(stderr, "usage: bench_py FILE.py... (or names on standard input)\n");
		return 2;
	}
	t = fastest(&s, 5, &arena);
	printf("py_parse: %zu files, %.1f MB, %.1f MB/s, %.1f us a file, %.1f bytes of tree a byte of source\n",
	       s.n, (double)bytes / 1e6, (double)bytes / 1e6 / t, t * 1e6 / (double)s.n, (double)arena / (double)bytes);
	for (size_t i = 0; i < s.n; i++)
		mem_free((void *)s.v[i].p);
	vec_free(&s);
	return 0;
}
