/* The work on one row: decode, convert, check, measure, write the messages. Nothing here knows
 * other rows, so any thread may work on any row. */
#include <stdio.h>

#include "base/hash.h"
#include "base/json.h"
#include "data/kernelbook.h"
#include "data/module.h"
#include "data/prep_impl.h"

enum { TREE_MOST = 256 << 20 };     /* bytes of a syntax tree */

/* Copies a text into the row's arena. */
static struct str copy(struct prep_row *row, struct str s)
{
	return (struct str){ .p = arena_strndup(&row->arena, s.p, s.n), .n = s.n };
}

/* --- decoding ----------------------------------------------------------------------------- */

static struct str text_of(const struct json *j, const char *key)
{
	return json_str(json_get(j, key), "");
}

/* Keeps the members that say where a row came from, unchanged. */
static void keep_origin(struct prep_work *w, struct prep_row *row, const struct json *j)
{
	static const char *const keys[] = { "licenses", "repo_name", "repo_link", "module_name", "sha",
					    "stars", "synthetic", "uuid", "entry_point" };
	struct jw out = { .out = &w->a };

	buf_clear(&w->a);
	jw_begin(&out, '{');
	for (size_t i = 0; i < COUNT_OF(keys); i++)
		if (json_get(j, keys[i])) {
			jw_key(&out, keys[i]);
			jw_json(&out, json_get(j, keys[i]));
		}
	jw_end(&out, '}');
	row->origin = copy(row, buf_str(&w->a));
}

/* The columns that a row's texts may be in: our own, KernelBook's, and those of instruction data
 * (instruction, pytorch_code, triton_code). */
static const struct {
	const char *task, *solution;
} columns[] = { { "task", "solution" }, { "python_code", "triton_code" }, { "pytorch_code", "triton_code" } };

/* The index of the columns that a row has; 0 is our own form. */
static size_t columns_of(const struct json *j)
{
	size_t i = COUNT_OF(columns) - 1;

	while (i && !json_get(j, columns[i].task))
		i--;
	return i;
}

/* The repository of a row: its column, else what its id has before the last slash, as in
 * owner_project/Module. Empty: not known. */
static struct str repository_of(const struct json *j, struct str id)
{
	struct str repository = text_of(j, "repo_name");
	size_t n = id.n;

	while (n && id.p[n - 1] != '/')
		n--;
	return repository.n ? repository : (struct str){ .p = id.p, .n = n ? n - 1 : 0 };
}

/* Takes task, solution and labels from a JSON object. A row without a solution becomes a task for
 * reinforcement learning. */
static void decode_object(struct prep_work *w, struct prep_row *row, const struct json *j)
{
	struct str id = text_of(j, "id");
	size_t form = columns_of(j);

	row->task = copy(row, text_of(j, columns[form].task));
	row->solution = copy(row, text_of(j, columns[form].solution));
	row->entry = copy(row, text_of(j, "entry_point"));
	row->plan = copy(row, text_of(j, "plan"));
	row->ops = copy(row, text_of(j, "ops"));
	row->repository = copy(row, repository_of(j, id));
	row->level = (int)json_int(json_get(j, "level"), 0);
	row->speedup = json_real(json_get(j, "speedup"), 0.0);
	row->id = id.n ? arena_strndup(&row->arena, id.p, id.n) :
			 arena_printf(&row->arena, "%s-%06lld", prep_kind_name(row->kind), (long long)row->number);
	keep_origin(w, row, j);
	if (!row->task.n || (row->kind == PREP_kernelbook && !form))
		row->drop = PREP_DROP_broken_row;
}

/* Decodes the raw JSON of a row. KernelBook's original_triton_code is skipped before parsing: it
 * is more than half of the file and nothing uses it. */
int prep_decode(struct prep_work *w, struct prep_row *row, struct err *e)
{
	struct err why = ERR_INIT;
	struct json *j;

	if (!row->raw.p)
		return 0;
	buf_clear(&w->b);
	json_row_thin(row->raw, "original_triton_code", &w->b);     /* more than half of KernelBook */
	j = buf_check(&w->b, &why) ? NULL : json_parse(buf_str(&w->b), &why);
	if (j && json_kind(j) == JSON_OBJECT) {
		decode_object(w, row, j);
		if (!row->id || !row->task.p || !row->solution.p || !row->origin.p)
			why.code = ERR_NOMEM;
	} else {
		row->drop = PREP_DROP_broken_row;
	}
	json_free(j);
	return why.code == ERR_NOMEM ? err_nomem(e) : 0;
}

/* --- the program -------------------------------------------------------------------------- */

/* Parses a text. Returns 1 on success, 0 if the row is dropped for `why`, -1 on our own failure. */
static int parse(struct prep_row *row, struct str text, struct py_module *m, enum prep_drop why, struct err *e)
{
	struct err bad = ERR_INIT;

	if (!py_parse(m, text, row->id, TREE_MOST, &bad))
		return 1;
	row->drop = why;
	return bad.code == ERR_NOMEM && text.n < TREE_MOST / 1000 ? err_nomem(e) : 0;
}

/* Is the text valid Python? */
static int parses(struct str text)
{
	struct py_module m;

	if (py_parse(&m, text, "", TREE_MOST, NULL))
		return 0;
	py_release(&m);
	return 1;
}

/* Rewrites a text of KernelBook in KernelBench's form. The result must parse again. */
static int convert(struct prep_work *w, struct prep_row *row, const struct py_module *m, int solution, struct err *e)
{
	struct str *text = solution ? &row->solution : &row->task;

	if (!row->entry.n)
		return 0;
	buf_clear(&w->a);
	if (solution ? kernelbook_solution(m, row->entry, &w->a, &row->drop, e) :
	    kernelbook_task(m, row->entry, &w->a, &row->drop, e))
		return -1;
	if (row->drop != PREP_KEPT)
		return 0;
	if (!parses(buf_str(&w->a))) {
		row->drop = PREP_DROP_not_converted;
		return 0;
	}
	*text = copy(row, buf_str(&w->a));
	return text->p ? 0 : err_nomem(e);
}

/* The class that a row without entry_point is about: Model, else the last class of the file that
 * can be called. Empty: no class can be, or the module is in KernelBench's form already. */
static struct str find_entry(const struct py_module *m)
{
	const struct py_list *body = &m->root->u.Module.body;

	if (module_has_forward(m, module_class(m, STR("Model"))))
		return kernelbook_is_nested(m) ? STR("Model") : STR("");
	for (size_t i = body->n; i-- > 0;)
		if (body->v[i]->kind == PY_ClassDef && module_has_forward(m, body->v[i]))
			return body->v[i]->u.ClassDef.name;
	return STR("");
}

/* A task needs the model class with forward, get_inputs and get_init_inputs. */
static void check_task(struct prep_row *row, const struct py_module *m, struct str model)
{
	if (!module_has_forward(m, module_class(m, model)))
		row->drop = PREP_DROP_no_entry;
	else if (!module_function(m, STR("get_inputs")) || !module_function(m, STR("get_init_inputs")))
		row->drop = PREP_DROP_no_inputs;
}

/* One or two operators are common to many tasks: from this number on a composition identifies
 * one. */
enum { OPS_TELLING = 3 };           /* one or two operators identify no task */

/* The hash of a task's computation, as the key of a map. */
static struct str key_of(const struct difficulty *d)
{
	return (struct str){ .p = (const char *)&d->computes, .n = sizeof d->computes };
}

/* Drops a row of a file whose level is not among those of --level. The generator draws the levels
 * that it is asked for. */
static void check_level(struct prep_work *w, struct prep_row *row)
{
	const struct prep_words *wanted = &w->o->level;
	int level = row->level ? row->level : row->difficulty.level;

	if (!wanted->n || row->kind == PREP_builtin || row->role == PREP_EVAL)
		return;
	for (size_t i = 0; i < wanted->n; i++)
		if (wanted->v[i][0] == '0' + level && !wanted->v[i][1])
			return;
	row->drop = PREP_DROP_other_level;
}

/* Drops a row that is an evaluation task, is nearly one, or computes the same chain of
 * operators. */
static void check_contamination(struct prep_work *w, struct prep_row *row, const struct prep_eval *eval)
{
	const struct difficulty *d = &row->difficulty;
	double near = row->role == PREP_EVAL ? 0.0 : sketch_index_nearest(&eval->sketches, &row->sketch, 1.0);

	if (row->role == PREP_EVAL)
		return;
	if (near >= 1.0)
		row->drop = PREP_DROP_contaminated;
	else if (w->o->near_eval > 0.0 && near >= w->o->near_eval)
		row->drop = PREP_DROP_contaminated_near;
	else if (d->anchors + d->calls >= OPS_TELLING && map_get(&eval->computes, key_of(d)))
		row->drop = PREP_DROP_contaminated_ops;
}

/* Adds an evaluation task to those that training rows are compared with. Returns 1 if it was added,
 * 0 if it does not parse, -1 on failure. */
int prep_eval_add(struct prep_eval *x, struct str task, struct err *e)
{
	struct difficulty d;
	struct sketch s;
	struct py_module m;
	int rc;

	if (py_parse(&m, task, "", TREE_MOST, NULL))
		return 0;
	sketch_module(&m, &s);
	difficulty_of(&m, STR("Model"), &d);
	py_release(&m);
	rc = sketch_index_add(&x->sketches, &s, e);
	if (!rc && d.anchors + d.calls >= OPS_TELLING && !map_put(&x->computes, key_of(&d)))
		rc = err_nomem(e);
	return rc ? -1 : 1;
}

void prep_eval_release(struct prep_eval *x)
{
	sketch_index_release(&x->sketches);
	map_release(&x->computes);
}

/* Parses the task, labels it, checks it against the evaluation tasks, and converts it. */
static int examine_task(struct prep_work *w, struct prep_row *row, const struct prep_eval *eval, struct err *e)
{
	struct str model;
	struct py_module m;
	int rc = parse(row, row->task, &m, PREP_DROP_task_syntax, e);

	if (rc <= 0)
		return rc;
	if (!row->entry.n)
		row->entry = copy(row, find_entry(&m));
	model = row->entry.n ? row->entry : STR("Model");
	check_task(row, &m, model);
	if (row->drop == PREP_KEPT) {
		sketch_module(&m, &row->sketch);
		difficulty_of(&m, model, &row->difficulty);
		check_level(w, row);
	}
	if (row->drop == PREP_KEPT)
		check_contamination(w, row, eval);
	rc = row->drop == PREP_KEPT ? convert(w, row, &m, 0, e) : 0;
	py_release(&m);
	if (!row->ops.n)
		row->ops = str_of(row->difficulty.names);
	return rc;
}

/* Writes a plan for a solution that came without one: the operators, and the number of kernels. */
static void make_plan(struct prep_work *w, struct prep_row *row, const struct py_module *m)
{
	int kernels = module_kernels(m);

	buf_clear(&w->a);
	buf_addf(&w->a, "The module applies %.*s. ", STR_ARG(row->ops));
	buf_addf(&w->a, "%d Triton kernel%s compute%s it", kernels, kernels == 1 ? "" : "s", kernels == 1 ? "s" : "");
	buf_adds(&w->a, str_find(row->solution, STR("extern_kernels")) >= 0 ?
		 "; library calls do the products.\n" : ".\n");
	row->plan = copy(row, buf_str(&w->a));
}

/* Parses the solution, checks that it has ModelNew and a kernel, and converts it. */
static int examine_solution(struct prep_work *w, struct prep_row *row, struct err *e)
{
	struct py_module m;
	int rc = parse(row, row->solution, &m, PREP_DROP_solution_syntax, e);

	if (rc <= 0)
		return rc;
	if (!row->entry.n)
		row->drop = !module_class(&m, STR("ModelNew")) ? PREP_DROP_no_solution : !module_kernels(&m) ?
			PREP_DROP_no_kernel : PREP_KEPT;
	rc = row->drop == PREP_KEPT ? convert(w, row, &m, 1, e) : 0;
	if (!rc && row->drop == PREP_KEPT && !row->plan.n && row->ops.n && w->o->style != PROMPT_COMPACT)
		make_plan(w, row, &m);
	py_release(&m);
	return rc;
}

/* --- the training row --------------------------------------------------------------------- */

/* Writes the row as a conversation: system, task, answer. */
static int write_messages(struct prep_work *w, struct prep_row *row, struct err *e)
{
	struct buf *system = &w->a, *user = &w->b, *answer = &w->c;
	struct buf text = BUF_INIT;
	struct jw out = { .out = &text };
	int rc;

	buf_clear(system), buf_clear(user), buf_clear(answer);
	rc = prompt_task((struct prompt_ask){ .style = w->o->style, .strict = w->o->strict }, row->task, system,
			 user, e) ||
	     prompt_answer(row->plan, row->solution, answer, e);
	prompt_messages(&out, buf_str(system), buf_str(user), buf_str(answer));
	row->messages = copy(row, buf_str(&text));
	rc = rc || buf_check(&text, e) ? -1 : row->messages.p ? 0 : err_nomem(e);
	buf_release(&text);
	return rc;
}

/* The conversation as the model's chat template renders it. */
static int render(struct prep_work *w, struct prep_row *row, struct buf *out, struct err *e)
{
	struct json *j;
	int rc;

	buf_clear(out);
	if (!tok_has_template(w->tok)) {
		buf_addstr(out, buf_str(&w->b));
		buf_addstr(out, buf_str(&w->c));
		return buf_check(out, e);
	}
	j = json_parse(row->messages, e);
	rc = j ? tok_render_chat(w->tok, &(struct tok_chat){ .messages = j }, out, e) : -1;
	json_free(j);
	return rc;
}

/* Counts the tokens of the row, and drops one that is too long. */
static int count_tokens(struct prep_work *w, struct prep_row *row, struct err *e)
{
	if (!w->tok)
		return 0;
	w->ids.n = 0;
	if (render(w, row, &w->a, e) || tok_encode(w->enc, buf_str(&w->a), 0, &w->ids, e))
		return -1;
	row->tokens = (int)w->ids.n;
	if (w->o->max_length && row->tokens > w->o->max_length)
		row->drop = PREP_DROP_too_long;
	return 0;
}

int prep_pair(struct prep_work *w, struct prep_row *row, struct err *e)
{
	return write_messages(w, row, e) || count_tokens(w, row, e) ? -1 : 0;
}

/* Decides about one row: its size, its task, then its solution. A row that stays gets its messages
 * and its number of tokens. */
int prep_examine(struct prep_work *w, struct prep_row *row, const struct prep_eval *eval, struct err *e)
{
	if (row->drop != PREP_KEPT)
		return 0;
	if ((int64_t)row->task.n > w->o->max_bytes || (int64_t)row->solution.n > w->o->max_bytes) {
		row->drop = PREP_DROP_too_large;
		return 0;
	}
	if (examine_task(w, row, eval, e))
		return -1;
	if (row->drop != PREP_KEPT || row->role == PREP_EVAL || !row->solution.n)
		return 0;
	if (examine_solution(w, row, e))
		return -1;
	return row->drop != PREP_KEPT ? 0 : prep_pair(w, row, e);
}
