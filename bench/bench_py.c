/* Speed of the parser: MB of source a second of one core, each file parsed by itself as a task
 * or candidate would be, beside CPython's ast.parse on the same files.
 *
 *   bench_py [FILE.py...]
 *
 * Without files: the standard library of python3 (without its tests and packages). CPU time, the
 * best of several passes. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/file.h"
#include "py/ast.h"

enum { PASSES = 5 };

static const char list_files[] =
	"python3 -c 'import glob, sysconfig; d = sysconfig.get_paths()[\"stdlib\"]; "
	"print(\"\\n\".join(f for p in (\"/*.py\", \"/*/*.py\") for f in sorted(glob.glob(d + p)) "
	"if not \"-packages\" in f and not \"/test/\" in f))' 2>/dev/null";
static const char peer[] =
	"python3 -c 'import ast, sys, time, gc, warnings; warnings.simplefilter(\"ignore\"); gc.disable(); "
	"s = [open(f.strip(), \"rb\").read() for f in sys.stdin]; t = time.process_time(); [ast.parse(b) for b in s]; "
	"print(sum(map(len, s)) / 1e6 / (time.process_time() - t))' < %s 2>/dev/null";

struct sources { struct str *v; char **names; size_t n, cap, names_cap; };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What is not Python is left out: it would be read to its first error only. */
static int load(struct sources *s, const char *path)
{
	struct buf b = BUF_INIT;
	struct err e = ERR_INIT;
	struct py_module m;

	if (file_read(path, 0, &b, &e) || py_parse(&m, buf_str(&b), path, 0, &e)) {
		buf_release(&b);
		return 0;
	}
	py_release(&m);
	if (vec_grow(s, 1) || vec_grow_raw((void **)&s->names, s->n, &s->names_cap, 1, sizeof *s->names))
		return -1;
	s->names[s->n] = mem_strdup(path);
	s->v[s->n++] = buf_str(&b);
	return 0;
}

static int load_library(struct sources *s)
{
	FILE *f = popen(list_files, "r");
	char line[4096];
	int rc = 0;

	while (f && !rc && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = 0;
		rc = load(s, line);
	}
	if (f)
		pclose(f);
	return rc;
}

static double seconds(const struct sources *s, size_t *tree)
{
	double best = 1e9;

	for (int pass = 0; pass < PASSES; pass++) {
		double t = now();

		*tree = 0;
		for (size_t i = 0; i < s->n; i++) {
			struct py_module m;
			struct err e = ERR_INIT;

			if (py_parse(&m, s->v[i], "bench", 0, &e))
				exit(2);
			*tree += m.arena.used;
			py_release(&m);
		}
		t = now() - t;
		best = t < best ? t : best;
	}
	return best;
}

/* MB/s of ast.parse on the same files; 0 where there is no python3. */
static double peer_speed(const struct sources *s)
{
	char list[] = "/tmp/bench_py.XXXXXX", command[sizeof peer + sizeof list];
	double speed = 0;
	int fd = mkstemp(list);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	for (size_t i = 0; f && i < s->n; i++)
		fprintf(f, "%s\n", s->names[i]);
	if (!f || fclose(f))
		return 0;
	snprintf(command, sizeof command, peer, list);
	f = popen(command, "r");
	if (f && fscanf(f, "%lf", &speed) != 1)
		speed = 0;
	if (f)
		pclose(f);
	remove(list);
	return speed;
}

static void release(struct sources *s)
{
	for (size_t i = 0; i < s->n; i++) {
		mem_free((void *)s->v[i].p);
		mem_free(s->names[i]);
	}
	mem_free(s->names);
	vec_free(s);
}

int main(int argc, char **argv)
{
	struct sources s = { .n = 0 };
	size_t bytes = 0, tree;
	double t, theirs;

	for (int i = 1; i < argc; i++)
		if (load(&s, argv[i]))
			return 2;
	if (argc < 2 && load_library(&s))
		return 2;
	for (size_t i = 0; i < s.n; i++)
		bytes += s.v[i].n;
	if (!bytes) {
		printf("py_parse: no python3 with a library here and no file named: nothing to measure\n");
		return 0;
	}
	t = seconds(&s, &tree);
	theirs = peer_speed(&s);
	printf("py_parse: %zu files, %.1f MB, %.1f MB/s, %.1f us a file, %.1f bytes of tree a byte of source\n",
	       s.n, (double)bytes / 1e6, (double)bytes / 1e6 / t, t * 1e6 / (double)s.n, (double)tree / (double)bytes);
	if (theirs > 0)
		printf("ast.parse of CPython: %.1f MB/s: %.0f times slower\n", theirs, (double)bytes / 1e6 / t / theirs);
	release(&s);
	return 0;
}
