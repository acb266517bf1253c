/* Plain functions as tasks and candidates: see function_task.h. Everything is written as Python text, so
 * the judge treats it as any other task. */
#include "data/function_task.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "interp/bind.h"
#include "torch/prelude.h"

enum { INPUTS_MOST = 16, DIMS_MOST = 8 };

/* dtypes of inputs: the word, PyTorch's name, and how values are drawn. */
static const struct {
	const char *word, *name, *draw;
} dtypes[] = {
	{ "f32", "float32", "torch.randn(%s)" },
	{ "f16", "float16", "torch.randn(%s).to(torch.float16)" },
	{ "bf16", "bfloat16", "torch.randn(%s).to(torch.bfloat16)" },
	{ "f64", "float64", "torch.randn(%s).to(torch.float64)" },
	{ "i32", "int32", "torch.randint(0, 100, (%s,)).to(torch.int32)" },
	{ "i64", "int64", "torch.randint(0, 100, (%s,))" },
	{ "bool", "bool", "torch.randint(0, 2, (%s,)).to(torch.bool)" },
};

/* The name of input i: x, y, z, x3, x4, ... */
static void add_name(struct buf *out, size_t i)
{
	if (i < 3)
		buf_addc(out, (char)('x' + (int)i));
	else
		buf_addf(out, "x%zu", i);
}

static void add_names(struct buf *out, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		buf_adds(out, i ? ", " : "");
		add_name(out, i);
	}
}

/* Is it a Python name, or with `dots` a dotted path of names? */
static int is_path(struct str s, int dots)
{
	int start = 1;

	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c == '.' && dots && !start) {
			start = 1;
			continue;
		}
		if (!isalpha(c) && c != '_' && (start || !isdigit(c)))
			return 0;
		start = 0;
	}
	return s.n && !start;
}

/* Writes "4096, 3000" for "4096x3000". */
static int add_shape(struct str text, struct buf *out)
{
	int dims = 0;

	while (text.n) {
		struct str one = str_cut(&text, 'x');

		for (size_t i = 0; i < one.n; i++)
			if (!isdigit((unsigned char)one.p[i]))
				return -1;
		if (!one.n || one.n > 9 || one.p[0] == '0' || ++dims > DIMS_MOST)
			return -1;
		buf_addf(out, "%s%.*s", dims > 1 ? ", " : "", STR_ARG(one));
	}
	return dims ? 0 : -1;
}

/* Writes one input as an expression. */
static int add_input(const char *word, struct buf *out, struct err *e)
{
	struct str rest = str_of(word), shape;
	struct buf dims = BUF_INIT;
	size_t k = 0;
	int rc;

	if (word[0] == '=' && word[1]) {
		buf_adds(out, word + 1);
		return 0;
	}
	shape = str_cut(&rest, ':');
	while (rest.n && k < COUNT_OF(dtypes) && !str_is(rest, dtypes[k].word) && !str_is(rest, dtypes[k].name))
		k++;
	rc = k < COUNT_OF(dtypes) && !add_shape(shape, &dims) ? 0 :
	     err_set(e, ERR_USAGE, "--input '%s' is not SHAPE[:DTYPE], such as 4096x3000:f32 (f32, f16, bf16, f64, "
				   "i32, i64, bool), nor =VALUE", word);
	if (!rc) {
		const char *at = strstr(dtypes[k].draw, "%s");

		buf_add(out, dtypes[k].draw, (size_t)(at - dtypes[k].draw));
		buf_adds(out, buf_cstr(&dims));
		buf_adds(out, at + 2);
	}
	buf_release(&dims);
	return rc;
}

/* Writes the argument NAME=VALUE of a constructor as an item of a dict. */
static int add_keyword(struct str value, const char *before, struct buf *out)
{
	struct str rest = value, name = str_cut(&rest, '=');

	if (!rest.n || rest.p[0] == '=' || !is_path(name, 0))
		return 0;
	buf_addf(out, "%s'%.*s': %.*s", before, STR_ARG(name), STR_ARG(rest));
	return 1;
}

/* Writes [[positional arguments], {keyword arguments}], or a flat list where no argument has a name. */
static void add_init(const struct opt_list *init, struct buf *out)
{
	struct buf words = BUF_INIT, flat = BUF_INIT;

	for (size_t i = 0; init && i < init->n; i++)
		if (!add_keyword(str_of(init->v[i]), words.n ? ", " : "", &words))
			buf_addf(&flat, "%s%s", flat.n ? ", " : "", init->v[i]);
	buf_addf(out, words.n ? "[[%s], {%s}]" : "[%s]", buf_cstr(&flat), buf_cstr(&words));
	out->failed |= words.failed | flat.failed;
	buf_release(&words);
	buf_release(&flat);
}

int function_task_inputs(const struct opt_list *inputs, const struct opt_list *init, struct buf *out, struct err *e)
{
	if (!inputs->n || inputs->n > INPUTS_MOST)
		return err_set(e, ERR_USAGE, "describe each input: --input SHAPE[:DTYPE], up to %d times", INPUTS_MOST);
	buf_adds(out, "\n\ndef get_inputs():\n    return [");
	for (size_t i = 0; i < inputs->n; i++) {
		buf_adds(out, i ? ", " : "");
		if (add_input(inputs->v[i], out, e))
			return -1;
	}
	buf_adds(out, "]\n\n\ndef get_init_inputs():\n    return ");
	add_init(init, out);
	buf_addc(out, '\n');
	return buf_check(out, e);
}

/* Does the function of this name need an argument `dim`? Its signature is in the tables of bound
 * names: "input, dim, dtype=None". */
static int needs_dim(struct str name)
{
	for (size_t t = 0; t < torch_library.n_tables; t++)
		for (const struct bind_row *r = torch_library.tables[t]; r->name; r++) {
			struct str sig = str_of(r->sig);

			if (!str_is(name, r->name))
				continue;
			if (sig.n && sig.p[0] == '=')
				return needs_dim((struct str){ .p = sig.p + 1, .n = sig.n - 1 });
			while (sig.n)
				if (str_is(str_trim(str_cut(&sig, ',')), "dim"))
					return 1;
		}
	return 0;
}

/* Writes the body of forward: the expression, or a call by name. */
static void add_call(const char *ref, size_t n, struct buf *out)
{
	if (!is_path(str_of(ref), 1)) {
		buf_addf(out, "        return %s\n", ref);
		return;
	}
	buf_addf(out, "        return %s(", ref);
	add_names(out, n);
	buf_adds(out, n == 1 && needs_dim(str_of(ref)) ? ", dim=-1)\n" : ")\n");
}

/* FILE.py:NAME: the file becomes the first part of the task. Returns the name, or NULL if `ref` has
 * another form. */
static const char *name_in_file(const char *ref, struct buf *out, struct err *e)
{
	const char *colon = strstr(ref, ".py:");
	struct buf path = BUF_INIT;

	if (!colon || !is_path(str_of(colon + 4), 0))
		return NULL;
	buf_add(&path, ref, (size_t)(colon - ref) + 3);
	if (!file_read(buf_cstr(&path), 16u << 20, out, e))
		buf_adds(out, "\n\n");
	buf_release(&path);
	return colon + 4;
}

int function_task(const char *ref, const struct opt_list *inputs, struct buf *out, struct err *e)
{
	const char *name = name_in_file(ref, out, e);

	if (name && !out->n)
		return -1;
	buf_adds(out, "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
		      "class Model(nn.Module):\n    def forward(self, ");
	add_names(out, inputs->n);
	buf_adds(out, "):\n");
	add_call(name ? name : ref, inputs->n, out);
	return function_task_inputs(inputs, NULL, out, e);
}

int function_candidate(const char *fn, size_t inputs, struct buf *text, struct err *e)
{
	if (!is_path(str_of(fn), 0))
		return err_set(e, ERR_USAGE, "--fn '%s' is not the name of a function", fn);
	if (str_find(buf_str(text), str_of(fn)) < 0)
		return err_set(e, ERR_USAGE, "the candidate has no function '%s' (--fn)", fn);
	buf_adds(text, "\n\nimport torch.nn as nn\n\n\nclass ModelNew(nn.Module):\n    def forward(self, ");
	add_names(text, inputs);
	buf_addf(text, "):\n        return %s(", fn);
	add_names(text, inputs);
	buf_adds(text, ")\n");
	return buf_check(text, e);
}
