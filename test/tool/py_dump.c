/* Dumps the syntax trees of the files named on standard input, a line each:
 *   FILE<tab>ok<tab>ROUNDTRIP<tab>DUMP      ROUNDTRIP: same or differs
 *   FILE<tab>error<tab>LINE:COLUMN<tab>TEXT
 * With --quiet the dump is left out. test/agree/agree_py.py compares them with CPython's. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "py/ast.h"

/* Does the printed tree parse to the same tree? */
static const char *round_trip(const struct py_module *m, struct buf *text)
{
	struct py_module again;
	struct err e = ERR_INIT;
	int same;

	buf_clear(text);
	py_print(m->root, text);
	if (py_parse(&again, buf_str(text), m->path, 0, &e)) {
		fprintf(stderr, "%s: printed tree: %d:%d: %s\n", m->path, e.line, e.column, e.text);
		return "differs";
	}
	same = py_equal(m->root, again.root);
	py_release(&again);
	return same ? "same" : "differs";
}

static void show(const char *path, int quiet)
{
	struct buf source = BUF_INIT, out = BUF_INIT, text = BUF_INIT;
	struct py_module m;
	struct err e = ERR_INIT;

	if (file_read(path, 0, &source, &e) || py_parse(&m, buf_str(&source), path, 0, &e)) {
		printf("%s\terror\t%d:%d\t%s\n", path, e.line, e.column, e.text);
	} else {
		if (!quiet)
			py_dump(m.root, &out);
		printf("%s\tok\t%s\t%s\n", path, round_trip(&m, &text), buf_cstr(&out));
		py_release(&m);
	}
	buf_release(&source);
	buf_release(&out);
	buf_release(&text);
}

int main(int argc, char **argv)
{
	struct line_reader r;
	struct str line;
	struct err e = ERR_INIT;
	int quiet = argc > 1 && !strcmp(argv[1], "--quiet");
	char path[4096];

	if (lines_open(&r, "-", &e))
		return 2;
	while (lines_next(&r, &line, &e) > 0) {
		snprintf(path, sizeof path, "%.*s", STR_ARG(line));
		show(path, quiet);
	}
	lines_close(&r);
	return e.code ? 2 : 0;
}
