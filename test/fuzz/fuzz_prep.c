/* Rows of any program: sketch and difficulty take it, and what is brought into KernelBench's form
 * still parses and has the names it should. */
#include <stddef.h>
#include <stdint.h>

#include "data/difficulty.h"
#include "data/kernelbook.h"
#include "data/module.h"
#include "data/sketch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 64 << 20 };

typedef int convert_fn(const struct py_module *m, struct str entry, struct buf *out, enum prep_drop *drop, struct err *e);

static void check(const struct py_module *m, struct str entry, convert_fn *convert, const char *name)
{
	struct buf out = BUF_INIT;
	struct err e = ERR_INIT;
	struct py_module again;
	enum prep_drop drop;

	BUG_ON(convert(m, entry, &out, &drop, &e));
	if (drop == PREP_KEPT) {
		if (py_parse(&again, buf_str(&out), "converted", LIMIT, &e))
			BUG("line %d: %s\n%s", e.line, e.text, buf_cstr(&out));
		BUG_ON(!module_class(&again, str_of(name)));
		py_release(&again);
	}
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct py_module m;
	struct sketch s;
	struct difficulty d;

	if (py_parse(&m, (struct str){ .p = (const char *)data, .n = size }, "fuzz", LIMIT, NULL))
		return 0;
	sketch_module(&m, &s);
	BUG_ON(sketch_similarity(&s, &s) < 1.0);
	for (size_t i = 0; i < m.root->u.Module.body.n; i++) {
		const struct py_node *n = m.root->u.Module.body.v[i];
		struct str name = n->kind == PY_ClassDef ? n->u.ClassDef.name : STR("");

		if (!name.n)
			continue;
		difficulty_of(&m, name, &d);
		BUG_ON(d.level < 1 || d.level > 3);
		check(&m, name, kernelbook_task, "Model");
		if (str_ends(name, "New") && name.n > 3)
			check(&m, (struct str){ .p = name.p, .n = name.n - 3 }, kernelbook_solution, "ModelNew");
	}
	py_release(&m);
	return 0;
}
