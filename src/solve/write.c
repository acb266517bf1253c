/* The text of a solution: see write.h. Works on lines of the module's source, by the positions of
 * its syntax tree. */
#include "solve/write.h"

#include <ctype.h>

#include "py/print.h"
#include "solve/prune.h"
#include "solve/token.h"

/* --- the signature of forward --------------------------------------------------------------------- */

static const struct py_node *find_class(const struct py_module *m, const char *name)
{
	const struct py_list *body = &m->root->u.Module.body;
	const struct py_node *found = NULL;

	for (size_t i = 0; i < body->n; i++)
		if (body->v[i]->kind == PY_ClassDef && str_is(body->v[i]->u.ClassDef.name, name))
			found = body->v[i];
	return found;
}

static const struct py_node *own_forward(const struct py_node *cls)
{
	const struct py_node *found = NULL;

	for (size_t i = 0; i < cls->u.ClassDef.body.n; i++) {
		const struct py_node *n = cls->u.ClassDef.body.v[i];

		if (n->kind == PY_FunctionDef && str_is(n->u.FunctionDef.name, "forward"))
			found = n;
	}
	return found;
}

/* forward of a class or of its first base that has one, in the same source. */
static const struct py_node *inherited(const struct py_module *m, const struct py_node *cls, int depth)
{
	const struct py_node *f = own_forward(cls);

	for (size_t i = 0; !f && depth < 16 && i < cls->u.ClassDef.bases.n; i++) {
		const struct py_node *b = cls->u.ClassDef.bases.v[i], *base;
		char name[128];

		if (b->kind != PY_Name || b->u.Name.id.n >= sizeof name)
			continue;
		memcpy(name, b->u.Name.id.p, b->u.Name.id.n);
		name[b->u.Name.id.n] = 0;
		base = find_class(m, name);
		f = base && base != cls ? inherited(m, base, depth + 1) : NULL;
	}
	return f;
}

/* Whether the only base is nn.Module, however it is imported. */
static int is_plain(const struct py_node *cls)
{
	const struct py_list *b = &cls->u.ClassDef.bases;
	const struct py_node *n = b->n == 1 ? b->v[0] : NULL;

	if (!n || cls->u.ClassDef.decorator_list.n)
		return 0;
	return n->kind == PY_Attribute ? str_is(n->u.Attribute.attr, "Module") :
		n->kind == PY_Name && str_is(n->u.Name.id, "Module");
}

int signature_find(struct signature *s, const struct py_module *m)
{
	*s = (struct signature){ .cls = find_class(m, "Model") };
	if (!s->cls)
		return 1;
	s->wrapped = !is_plain(s->cls);
	s->forward = own_forward(s->cls);
	s->own = s->forward != NULL;
	if (!s->own)
		s->forward = inherited(m, s->cls, 0);
	for (size_t i = 0; s->forward && i < s->forward->u.FunctionDef.decorator_list.n; i++) {
		const struct py_node *d = s->forward->u.FunctionDef.decorator_list.v[i];

		s->is_static |= d->kind == PY_Name && str_is(d->u.Name.id, "staticmethod");
	}
	return 0;
}

const char *signature_arg(const struct signature *s, size_t i, struct arena *a)
{
	const struct py_arguments *p = s->forward ? &s->forward->u.FunctionDef.args->u.arguments : NULL;
	size_t before, n;

	if (!p)
		return arena_printf(a, "input%zu", i);
	before = p->posonlyargs.n;
	n = before + p->args.n;
	if (s->is_static && !i && n)
		return arena_printf(a, "%.*s", STR_ARG((before ? p->posonlyargs : p->args).v[0]->u.arg.arg));
	i -= s->is_static && i;
	if (i + 1 < n) {
		const struct py_node *arg = i + 1 < before ? p->posonlyargs.v[i + 1] : p->args.v[i + 1 - before];

		return arena_printf(a, "%.*s", STR_ARG(arg->u.arg.arg));
	}
	if (p->vararg)
		return arena_printf(a, "%.*s[%zu]", STR_ARG(p->vararg->u.arg.arg), i + 1 - n);
	return arena_printf(a, "input%zu", i);
}

/* --- source text ------------------------------------------------------------------------------------- */

/* The offset of a position in the source. */
static size_t offset_of(struct str source, int line, int col)
{
	const char *p = source.p, *end = source.p + source.n;

	for (int i = 1; i < line && p < end; i++) {
		p = memchr(p, '\n', (size_t)(end - p));
		p = p ? p + 1 : end;
	}
	return (size_t)(p - source.p) + (size_t)col;
}

/* Skips a string or comment that begins at s; returns its end. */
static const char *skip_literal(const char *s, const char *end)
{
	char q = *s;
	int three = end - s >= 3 && s[1] == q && s[2] == q;

	if (q == '#') {
		while (s < end && *s != '\n')
			s++;
		return s;
	}
	for (s += three ? 3 : 1; s < end; s++) {
		if (*s == '\\')
			s++;
		else if (*s == q && (!three || (end - s >= 3 && s[1] == q && s[2] == q)))
			return s + (three ? 3 : 1);
		else if (*s == '\n' && !three)
			return s;
	}
	return end;
}

/* Copies source text with the name Model replaced by ModelNew. */
static void copy_renamed(struct str text, struct buf *out)
{
	const char *s = text.p, *end = text.p + text.n;

	while (s < end) {
		const char *from = s;

		if (*s == '"' || *s == '\'' || *s == '#')
			s = MIN(skip_literal(s, end), end);
		else if (token_is_word(*s))
			while (s < end && token_is_word(*s))
				s++;
		else
			s++;
		buf_add(out, from, (size_t)(s - from));
		if (s - from == 5 && !memcmp(from, "Model", 5) && !(from > text.p && from[-1] == '.'))
			buf_adds(out, "New");
	}
}

/* A part of the source that is replaced. */
struct patch { size_t from, to; struct str with; };

struct patches { struct patch *v; size_t n, cap; };

/* Keeps the patches in the order of the source. */
static int add_patch(struct patches *e, size_t from, size_t to, struct str with)
{
	size_t i = e->n;

	if (vec_push(e, ((struct patch){ .from = from, .to = to, .with = with })))
		return -1;
	for (; i > 0 && e->v[i - 1].from > from; i--) {
		e->v[i] = e->v[i - 1];
		e->v[i - 1] = (struct patch){ .from = from, .to = to, .with = with };
	}
	return 0;
}

/* The first line of a definition, its decorators included. */
static int first_line(const struct py_node *n)
{
	const struct py_list *d = n->kind == PY_ClassDef ? &n->u.ClassDef.decorator_list :
		&n->u.FunctionDef.decorator_list;

	return d->n ? d->v[0]->line : n->line;
}

/* Whether a class keeps a statement of its body. */
static int has_members(const struct prune *p, int owner)
{
	for (size_t i = 0; i < p->parts.n; i++)
		if (p->parts.v[i].owner == owner && p->parts.v[i].live)
			return 1;
	return 0;
}

/* Leaves out what the constructor does not need. A class that loses all of its body gets `pass`. */
static int drop_dead(const struct py_module *m, const struct prune *p, struct patches *e)
{
	for (size_t i = 0; i < p->parts.n; i++) {
		const struct prune_part *part = &p->parts.v[i];
		const struct py_node *n = part->node;
		int owner = part->owner;
		int line = n->kind == PY_ClassDef || n->kind == PY_FunctionDef ? first_line(n) : n->line;
		int last = owner >= 0 && n == p->parts.v[owner].node->u.ClassDef.body.v[
			p->parts.v[owner].node->u.ClassDef.body.n - 1];

		if (part->live || (owner >= 0 && !p->parts.v[owner].live))
			continue;
		if (add_patch(e, offset_of(m->source, line, 0), offset_of(m->source, n->end_line + 1, 0),
			      last && !has_members(p, owner) ? STR("    pass\n") : STR("")))
			return -1;
	}
	return 0;
}

struct flattening {
	const struct py_module *m;
	struct patches *e;
	struct buf *text;                /* texts of the patches, each in a buffer of its own */
	size_t n;
};

enum { FLATTENED = 64 };

/* An `if` becomes the branch that ran, in the printer's form. */
static int flatten(void *ctx, const struct py_node *n, const struct py_list *branch)
{
	struct flattening *f = ctx;
	struct buf *to = &f->text[f->n];
	struct str source = f->m->source;
	size_t from = offset_of(source, n->line, 0), first = offset_of(source, n->line, n->col);
	struct py_printer pr = { .out = to, .indent = n->col / 4 };

	if (f->n == FLATTENED || n->col % 4 || str_starts((struct str){ .p = source.p + first, .n = 4 }, "elif"))
		return 0;
	f->n++;
	for (size_t i = 0; i < branch->n; i++)
		py_print_stmt(&pr, branch->v[i]);
	if (!branch->n)
		buf_addf(to, "%*spass\n", n->col, "");
	return to->failed || add_patch(f->e, from, offset_of(source, n->end_line + 1, 0), buf_str(to)) ? -1 : 0;
}

/* Imports go before the first statement that is neither a docstring nor an import from __future__. */
static size_t import_place(const struct py_module *m)
{
	const struct py_list *body = &m->root->u.Module.body;

	for (size_t i = 0; i < body->n; i++) {
		const struct py_node *n = body->v[i];

		if (n->kind == PY_Expr || (n->kind == PY_ImportFrom && str_is(n->u.ImportFrom.module, "__future__")))
			continue;
		return offset_of(m->source, n->kind == PY_ClassDef || n->kind == PY_FunctionDef ? first_line(n) :
				 n->line, 0);
	}
	return 0;
}

/* "def forward(self, x):" as the module has it. */
static void write_signature(const struct solution_text *w, const char *indent, size_t inputs, struct buf *out)
{
	const struct py_node *f = w->sig->forward, *first;
	struct str text;

	if (w->sig->is_static)
		buf_addf(out, "%s@staticmethod\n", indent);
	buf_adds(out, indent);
	if (!f) {
		buf_adds(out, "def forward(self");
		for (size_t i = 0; i < inputs; i++)
			buf_addf(out, ", input%zu", i);
		buf_adds(out, "):\n");
		return;
	}
	first = f->u.FunctionDef.body.v[0];
	text.p = w->module->source.p + offset_of(w->module->source, f->line, f->col);
	text.n = (size_t)(w->module->source.p + offset_of(w->module->source, first->line, first->col) - text.p);
	buf_addstr(out, str_trim(text));
	buf_addc(out, '\n');
}

/* Appends text with at most two empty lines in a row, one inside of classes and functions. */
static void add_lines(struct buf *out, struct str text)
{
	size_t empty = 0;

	while (text.n) {
		struct str line = str_cut(&text, '\n');

		if (!str_trim(line).n) {
			empty++;
			continue;
		}
		buf_pad(out, '\n', MIN(empty, out->n ? (isspace((unsigned char)*line.p) ? 1 : 2) : 0));
		empty = 0;
		buf_addstr(out, line);
		buf_addc(out, '\n');
	}
	while (out->n > 1 && out->p[out->n - 1] == '\n' && out->p[out->n - 2] == '\n')
		out->n--;
}

static void assemble(const struct solution_text *w, const struct patches *e, struct buf *out)
{
	struct str source = w->module->source;
	struct buf text = BUF_INIT;
	size_t at = 0;

	for (size_t i = 0; i <= e->n; i++) {
		size_t to = i < e->n ? MIN(e->v[i].from, source.n) : source.n;
		struct str kept = { .p = source.p + at, .n = to > at ? to - at : 0 };

		if (w->sig->wrapped)
			buf_addstr(&text, kept);
		else
			copy_renamed(kept, &text);
		if (i < e->n) {
			buf_addstr(&text, e->v[i].with);
			at = MAX(at, MIN(e->v[i].to, source.n));
		}
	}
	add_lines(out, buf_str(&text));
	out->failed |= text.failed;
	buf_release(&text);
}

/* A class that is not a plain nn.Module stays as it is, and ModelNew holds one. */
static const char wrapper[] =
	"\n\nclass ModelNew(torch.nn.Module):\n"
	"    def __init__(self, *args, **kwargs):\n"
	"        super().__init__()\n"
	"        self.model = Model(*args, **kwargs)\n\n";

/* The base of ModelNew is spelled as candidates must: pt.nn.Module of `import torch as pt` is torch.nn.Module. */
static int spell_base(const struct solution_text *w, struct patches *e)
{
	const struct py_node *n = w->sig->cls->u.ClassDef.bases.n ? w->sig->cls->u.ClassDef.bases.v[0] : NULL;
	const struct py_node *of = n && n->kind == PY_Attribute ? n->u.Attribute.value : NULL;

	while (of && of->kind == PY_Attribute)
		of = of->u.Attribute.value;
	if (w->sig->wrapped || !of || of->kind != PY_Name || str_is(of->u.Name.id, "torch") ||
	    str_is(of->u.Name.id, "nn"))
		return 0;
	return add_patch(e, offset_of(w->module->source, n->line, n->col),
			 offset_of(w->module->source, n->end_line, n->end_col), STR("torch.nn.Module"));
}

/* Everything that changes in the source, in its order. */
static int add_patches(struct solution_text *w, const struct prune *p, struct str kernels, struct str forward,
		       struct patches *e)
{
	struct str source = w->module->source;
	size_t top = import_place(w->module), cls = offset_of(source, first_line(w->sig->cls), 0);
	size_t behind = offset_of(source, w->sig->cls->end_line + 1, 0);

	return add_patch(e, top, top, str_find(kernels, STR("libdevice.")) < 0 ?
			 STR("import torch\nimport triton\nimport triton.language as tl\n") :
			 STR("import torch\nimport triton\nimport triton.language as tl\n"
			     "from triton.language.extra import libdevice\n")) ||
		add_patch(e, cls, cls, kernels) || spell_base(w, e) || drop_dead(w->module, p, e) ||
		add_patch(e, behind, behind, forward) ? -1 : 0;
}

/* The new forward, as a method of ModelNew. */
static int make_forward(struct solution_text *w, struct buf *kernels, struct buf *forward)
{
	const struct py_node *first = w->sig->cls->u.ClassDef.body.v[0];
	int col = w->sig->wrapped ? 4 : MIN(first->col, 24);
	char indent[64];

	memset(indent, ' ', sizeof indent);
	indent[col] = 0;
	buf_adds(forward, w->sig->wrapped ? wrapper : "\n");
	write_signature(w, indent, w->inputs.u.seq->n, forward);
	indent[col] = ' ';
	indent[2 * col] = 0;
	return write_forward(w, indent, kernels, forward);
}

int write_solution(struct solution_text *w, struct buf *out, struct err *e)
{
	struct buf kernels = BUF_INIT, forward = BUF_INIT;
	struct patches patches = { .n = 0 };
	struct buf flat[FLATTENED] = { BUF_INIT };
	struct flattening flattening = { .m = w->module, .e = &patches, .text = flat };
	struct prune prune;
	int rc = prune_mark(&prune, w->module, w->sig, w->ran, e) ? -1 : make_forward(w, &kernels, &forward);

	if (!rc && (add_patches(w, &prune, buf_str(&kernels), buf_str(&forward), &patches) ||
		    prune_ifs(&prune, flatten, &flattening)))
		rc = err_nomem(e);
	if (!rc)
		assemble(w, &patches, out);
	if (!rc && (buf_check(out, e) || buf_check(&forward, e) || buf_check(&kernels, e)))
		rc = -1;
	buf_release(&kernels);
	buf_release(&forward);
	for (size_t i = 0; i < flattening.n; i++)
		buf_release(&flat[i]);
	vec_free(&patches);
	prune_release(&prune);
	return rc;
}
