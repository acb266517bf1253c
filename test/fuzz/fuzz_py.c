/* The parser on any bytes: no crash, and what is accepted prints to source that parses to the
 * same tree. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "py/ast.h"
#include "py/caret.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 64 << 20 };

static void check_round_trip(const struct py_module *m)
{
	struct py_module again;
	struct buf text = BUF_INIT;
	struct err e = ERR_INIT;

	py_print(m->root, &text);
	if (py_parse(&again, buf_str(&text), "printed", LIMIT, &e)) {
		/* a block on one line becomes a level of indentation, of which there are only 100 */
		if (e.code != ERR_NOMEM && !strstr(e.text, "too many levels of indentation"))
			BUG("printed tree: %d:%d: %s\n%s", e.line, e.column, e.text, buf_cstr(&text));
	} else {
		if (!py_equal(m->root, again.root))
			BUG("the printed tree is another:\n%s", buf_cstr(&text));
		py_release(&again);
	}
	buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct py_module m;
	struct buf out = BUF_INIT;
	struct err e = ERR_INIT;
	struct str source = { .p = (const char *)data, .n = size };

	if (py_parse(&m, source, "fuzz", LIMIT, &e)) {
		py_caret(source, e.line, e.column, &out);
	} else {
		py_dump(m.root, &out);
		check_round_trip(&m);
		py_release(&m);
	}
	buf_release(&out);
	return 0;
}
