/* Tasks from files that people wrote: module_task.h is the manual. The functions that a task needs are added
 * to the text first; then the conversion of KernelBook's rows renames the class. */
#include "data/module_task.h"

#include <stdio.h>

#include "data/function_task.h"
#include "data/kernelbook.h"
#include "data/module.h"
#include "py/ast.h"

enum { TEXT_MOST = 1 << 28 };

/* Counts the uses of a name below a node. */
struct uses {
	struct str name;
	int n;
};

static void count_uses(void *ctx, struct py_node *n)
{
	struct uses *u = ctx;

	u->n += n->kind == PY_Name && str_eq(n->u.Name.id, u->name);
	py_children(n, count_uses, u);
}

/* Does another class of the file use this class? */
static int is_used(const struct py_module *m, const struct py_node *class)
{
	const struct py_list *body = &m->root->u.Module.body;
	struct uses u = { .name = class->u.ClassDef.name };

	for (size_t i = 0; i < body->n; i++)
		if (body->v[i] != class && body->v[i]->kind == PY_ClassDef)
			count_uses(&u, body->v[i]);
	return u.n > 0;
}

/* The class to take: the one that was asked for, Model, or the last one with a forward that no other class
 * uses. Example: of Attention, Mlp and Block, which uses both, it is Block. */
static const struct py_node *find_class(const struct py_module *m, const char *asked)
{
	const struct py_list *body = &m->root->u.Module.body;
	const struct py_node *found = module_class(m, asked ? str_of(asked) : STR("Model"));

	if (asked || module_has_forward(m, found))
		return found;
	found = NULL;
	for (size_t i = 0; i < body->n; i++)
		if (body->v[i]->kind == PY_ClassDef && module_has_forward(m, body->v[i]) && !is_used(m, body->v[i]))
			found = body->v[i];
	return found;
}

/* Does the file itself bind the name torch? `import torch.nn as nn` does not. */
static int binds_torch(const struct py_module *m)
{
	const struct py_list *body = &m->root->u.Module.body;

	for (size_t i = 0; i < body->n; i++) {
		const struct py_list *names = body->v[i]->kind == PY_Import ? &body->v[i]->u.Import.names : NULL;

		for (size_t k = 0; names && k < names->n; k++)
			if (str_is(py_alias_name(&names->v[k]->u.alias), "torch"))
				return 1;
	}
	return 0;
}

/* Adds the functions that the text lacks. */
static int add_functions(const struct py_module *m, const struct module_source *s, struct buf *text, struct err *e)
{
	int inputs = module_function(m, STR("get_inputs")) != NULL;

	buf_addstr(text, m->source);
	if (s->inputs.n && !binds_torch(m))
		buf_adds(text, "\n\nimport torch\n");
	if (s->inputs.n)
		return function_task_inputs(&s->inputs, &s->init, text, e);
	if (!inputs)
		return err_set(e, ERR_USAGE, "the file has no get_inputs(): describe each input of forward, such as "
			       "--input 64x1024:f32, and the constructor's arguments with --init");
	if (s->init.n)
		return err_set(e, ERR_USAGE, "--init needs --input: the file's own get_inputs() and get_init_inputs() "
			       "belong together");
	if (!module_function(m, STR("get_init_inputs")))
		buf_adds(text, "\n\ndef get_init_inputs():\n    return []\n");
	return buf_check(text, e);
}

/* Is the text a task as it is? Then not a byte of it changes. */
static int is_task(const struct py_module *m, struct str class)
{
	return str_is(class, "Model") && module_function(m, STR("get_inputs")) &&
	       module_function(m, STR("get_init_inputs")) && !kernelbook_is_nested(m);
}

static int convert(struct str text, struct str class, struct buf *out, struct err *e)
{
	enum prep_drop drop = PREP_KEPT;
	struct py_module m;
	int rc;

	if (py_parse(&m, text, "module", TEXT_MOST, e))
		return -1;
	if (is_task(&m, class)) {
		buf_addstr(out, m.source);
		rc = buf_check(out, e);
	} else {
		rc = kernelbook_task(&m, class, out, &drop, e);
	}
	py_release(&m);
	if (!rc && drop == PREP_DROP_name_taken)
		rc = err_set(e, ERR_USAGE, "the file has another class Model: rename it, or name it with --class");
	if (!rc && drop != PREP_KEPT)
		rc = err_set(e, ERR_USAGE, "class '%.*s' cannot be made a task", STR_ARG(class));
	return rc;
}

int module_task(struct str text, const struct module_source *s, struct buf *out, char name[MODULE_NAME],
		struct err *e)
{
	const struct py_node *class;
	struct buf whole = BUF_INIT;
	struct py_module m;
	int rc;

	if (py_parse(&m, text, "module", TEXT_MOST, e))
		return -1;
	class = find_class(&m, s->class);
	if (!class || !module_has_forward(&m, class)) {
		rc = s->class ? err_set(e, ERR_USAGE, "the file has no module '%s' (--class)", s->class) :
			err_set(e, ERR_USAGE, "the file has no class with a forward method");
	} else {
		snprintf(name, MODULE_NAME, "%.*s", STR_ARG(class->u.ClassDef.name));
		rc = add_functions(&m, s, &whole, e) || convert(buf_str(&whole), str_of(name), out, e) ? -1 : 0;
	}
	py_release(&m);
	buf_release(&whole);
	return rc;
}
