/* Parts of a module: see parts.h.
 *
 * A range of statements is solved as a task of its own: the same class with another forward, whose arguments are
 * the variables that the range reads. Their shapes are recorded where the range begins, by a run of the module
 * without contents. */
#include "write/parts.h"

#include <stdio.h>

#include "base/mem.h"
#include "host/host.h"
#include "solve/solve.h"
#include "write/join.h"
#include "write/model_author.h"

/* Calls that are moved out of larger expressions, and the random seed of the recorded run. */
enum { SPLITS_MOST = 400, SEED = 1 };

struct cutting {
	struct writer *w;
	struct write_search *s;
	struct body b;
	struct buf source;            /* that b is parsed from */
	struct { struct forward_piece *v; size_t n, cap; } pieces;
};

/* --- one call for each statement ------------------------------------------------------------------------- */

/* Splits statements until each makes one call. Returns 1 if forward cannot be cut. */
static int split_all(struct cutting *c, struct err *e)
{
	int rc = body_open(&c->b, buf_str(&c->source), e);

	for (int i = 0; i < SPLITS_MOST && !rc; i++) {
		struct buf next = BUF_INIT;

		if (body_split(&c->b, i, &next)) {
			buf_release(&next);
			break;
		}
		body_close(&c->b);
		buf_release(&c->source);
		c->source = next;
		rc = buf_check(&next, e) ? -1 : body_open(&c->b, buf_str(&c->source), e);
	}
	return rc;
}

/* --- shapes where a range begins -------------------------------------------------------------------------- */

/* Writes a value as an expression that draws its like. Returns -1 for values that cannot pass a seam. */
static int write_value(struct val v, struct buf *out)
{
	const struct tensor *t;

	if (v.kind == V_INT || v.kind == V_BOOL) {
		buf_addf(out, v.kind == V_INT ? "%lld" : v.u.i ? "True" : "False", (long long)v.u.i);
		return 0;
	}
	if (v.kind == V_FLOAT) {
		buf_addf(out, "%.17g", v.u.f);
		return 0;
	}
	if (v.kind != V_TENSOR)
		return -1;
	t = &v.u.t->t;
	buf_adds(out, dtype_is_float(t->dt) ? "torch.randn((" : "torch.randint(0, 2, (");
	for (int i = 0; i < t->ndim; i++)
		buf_addf(out, "%lld, ", (long long)t->shape[i]);
	buf_addf(out, ")).to(torch.%s)", dtype_info(t->dt)->torch);
	return 0;
}

/* Runs a module without contents and writes the values of the tuple that it returns. Returns 1 if it does not
 * run, or if a value cannot pass. */
static int record(struct cutting *c, struct str source, struct buf *out, struct err *e)
{
	struct host_options o = { .lib = c->w->lib, .fuel = 200000000, .memory = (size_t)1 << 31, .hollow = 1,
				  .catch_sure = 1 };
	struct py_module m;
	struct host *h;
	struct val ns, model, inputs, result;
	int rc;

	if (py_parse(&m, source, "module", 1 << 28, e))
		return -1;
	h = host_new(&o, e);
	rc = h ? host_load(h, &m, NULL, 0, &ns, e) : -1;
	if (!rc)
		rc = host_build(h, ns, ns, "Model", SEED, &model, e);
	if (!rc)
		rc = host_inputs(h, ns, SEED, 0, &inputs, e);
	if (!rc)
		rc = host_forward(h, model, inputs, &result, e);
	if (!rc)
		rc = result.kind != V_TUPLE;
	for (size_t i = 0; !rc && i < result.u.seq->n; i++) {
		buf_adds(out, i ? ", " : "");
		rc = write_value(result.u.seq->v[i], out) ? 1 : 0;
	}
	if (h)
		host_free(h);
	py_release(&m);
	return rc;
}

/* The arguments of forward, without self. */
static void arguments(const struct body *b, struct buf *out)
{
	struct body_names none = { .n = 0 };
	const struct py_list *args = &b->forward->u.FunctionDef.args->u.arguments.args;

	for (size_t i = 1; i < args->n && none.n < BODY_NAMES; i++)
		none.v[none.n++] = args->v[i]->u.arg.arg;
	names_text(&none, out);
}

/* Records the variables that statements from `from` on read. */
static int seam(struct cutting *c, const struct body_names *names, size_t from, struct buf *out, struct err *e)
{
	struct buf args = BUF_INIT, text = BUF_INIT, source = BUF_INIT;
	int rc;

	arguments(&c->b, &args);
	for (size_t i = 0; i < from; i++)
		body_statement(&c->b, i, &text);
	buf_addf(&text, "%*sreturn (", body_indent(&c->b), "");
	names_text(names, &text);
	buf_adds(&text, ",)");
	body_replace(&c->b, buf_str(&args), buf_str(&text), &source);
	rc = names->n && !names->too_many ? record(c, buf_str(&source), out, e) : 1;
	buf_release(&args);
	buf_release(&text);
	buf_release(&source);
	return rc;
}

/* --- ranges -------------------------------------------------------------------------------------------------- */

/* The task of a range of statements. Returns 1 if the range cannot be one. */
static int range_task(struct cutting *c, size_t from, size_t to, struct buf *out, struct err *e)
{
	struct body_names reads, sets;
	struct buf args = BUF_INIT, text = BUF_INIT, values = BUF_INIT;
	int rc;

	body_reads(&c->b, from, to, &reads);
	body_sets(&c->b, from, to, &sets);
	rc = sets.too_many || (!sets.n && to < c->b.n) ? 1 : seam(c, &reads, from, &values, e);
	if (!rc) {
		names_text(&reads, &args);
		for (size_t i = from; i < to; i++)
			body_statement(&c->b, i, &text);
		if (to < c->b.n) {
			buf_addf(&text, "%*sreturn ", body_indent(&c->b), "");
			names_text(&sets, &text);
		}
		body_replace(&c->b, buf_str(&args), buf_str(&text), out);
		buf_addf(out, "\n\n\ndef get_inputs():\n    return [%s]\n", buf_cstr(&values));
		rc = buf_check(out, e);
	}
	buf_release(&args);
	buf_release(&text);
	buf_release(&values);
	return rc;
}

/* Solves a range by rule. Returns 1 if it is not solved. */
static int solve_range(struct cutting *c, size_t from, size_t to, struct buf *out, struct err *e)
{
	struct solve_options o = { .lib = c->w->lib, .tf32 = c->w->judge.precision == PRECISION_TF32,
				   .ieee = c->w->judge.precision == PRECISION_IEEE };
	struct solve_answer answer = { .ops = 0 };
	struct buf task = BUF_INIT;
	int rc = search_is_over(c->s) ? 1 : range_task(c, from, to, &task, e);

	if (!rc) {
		rc = solve_module(&o, buf_str(&task), &answer, e);
		if (!rc && answer.solution.n) {
			buf_clear(out);
			buf_addstr(out, buf_str(&answer.solution));
		} else if (!rc) {
			rc = 1;
		}
		solve_answer_release(&answer);
	}
	buf_release(&task);
	return rc;
}

/* The longest range from a statement on that the solver solves: its end, or `from`. */
static int longest_range(struct cutting *c, size_t from, size_t *end, struct buf *out, struct err *e)
{
	size_t solved = from, unsolved = c->b.n;
	int rc = solve_range(c, from, unsolved, out, e);

	*end = unsolved;
	while (rc == 1 && unsolved - solved > 1) {
		size_t middle = solved + (unsolved - solved) / 2;
		int one = solve_range(c, from, middle, out, e);

		if (one < 0)
			return -1;
		if (one)
			unsolved = middle;
		else
			solved = middle;
	}
	if (rc == 1)
		*end = solved;
	return rc < 0 ? -1 : 0;
}

/* Asks the model for a statement that the solver does not solve. Its solution is judged as a task. */
static int ask_model(struct cutting *c, size_t from, struct buf *out, struct err *e)
{
	struct write_search sub;
	struct buf task = BUF_INIT;
	struct err bad = ERR_INIT;
	int rc = c->w->model ? range_task(c, from, from + 1, &task, e) : 1;

	if (!rc) {
		rc = search_open(&sub, c->w->judges, &c->w->judge, buf_str(&task), c->s->deadline, e);
		if (!rc && model_author_sample(c->w->model, &sub, MAX(1, (int)c->w->a->n / 2), &bad) &&
		    bad.code != ERR_RANGE) {
			*e = bad;
			rc = -1;
		}
		rc = rc ? rc : search_take(&sub, 1, e);
		if (!rc && sub.best)
			buf_addstr(out, buf_str(&sub.best->text));
		search_close(&sub);
	}
	buf_release(&task);
	return rc < 0 ? -1 : 0;
}

static int cut_all(struct cutting *c, struct err *e)
{
	for (size_t at = 0; at < c->b.n; ) {
		struct forward_piece p = { .from = at };

		if (longest_range(c, at, &p.to, &p.solution, e))
			return -1;
		if (p.to == at) {
			p.to = at + 1;
			buf_clear(&p.solution);
			if (ask_model(c, at, &p.solution, e))
				return -1;
		}
		if (vec_push(&c->pieces, p))
			return err_nomem(e);
		at = p.to;
	}
	return 0;
}

/* Joins the pieces. The note says how many parts there are and which statements stay. */
static int join_all(struct cutting *c, struct err *e)
{
	struct buf joined = BUF_INIT, note = BUF_INIT, kept = BUF_INIT;
	size_t solved = 0;
	int rc = 0;

	for (size_t i = 0; i < c->pieces.n; i++) {
		const struct forward_piece *p = &c->pieces.v[i];

		solved += p->solution.n > 0;
		if (!p->solution.n)
			body_statement(&c->b, p->from, &kept);
	}
	if (solved) {
		buf_addf(&note, "%zu parts", solved);
		for (struct str rest = buf_str(&kept), line; rest.n; ) {
			line = str_trim(str_cut(&rest, '\n'));
			buf_addf(&note, "; kept: %.*s", STR_ARG(line));
		}
		rc = join_pieces(&c->b, c->pieces.v, c->pieces.n, &joined, e);
	}
	if (!rc && joined.n)
		rc = search_add(c->s, AUTHOR_PARTS, buf_str(&joined), buf_cstr(&note), e);
	buf_release(&joined);
	buf_release(&note);
	buf_release(&kept);
	return rc < 0 ? -1 : 0;
}

int parts_write(struct writer *w, struct write_search *s, struct err *e)
{
	struct cutting c = { .w = w, .s = s };
	int rc;

	buf_addstr(&c.source, s->task);
	rc = split_all(&c, e);
	if (!rc && !(rc = cut_all(&c, e)))
		rc = join_all(&c, e);
	for (size_t i = 0; i < c.pieces.n; i++)
		buf_release(&c.pieces.v[i].solution);
	vec_free(&c.pieces);
	body_close(&c.b);
	buf_release(&c.source);
	return rc < 0 ? -1 : 0;
}
