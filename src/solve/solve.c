/* One module from source to solution: see solve.h. */
#include "solve/solve.h"

#include <stdio.h>

#include "solve/any_batch.h"
#include "solve/origin.h"
#include "solve/outline.h"
#include "solve/write.h"

enum { FUEL = 20000000, SEED = 42 };
/* As solve_options.outline: the module is not solved. */
enum { OUTLINE_ONLY = 2 };

/* How a module is run and written, and what that showed. */
struct mode {
	int eval;                /* in evaluation mode */
	int general;             /* written for any batch size */
	int64_t batch;           /* batch size instead of that of the inputs; 0: theirs */
	int random;              /* the module drew random numbers */
	int64_t drawn, elements; /* batch size and elements of the inputs as drawn */
	char size[64];           /* the batch size as Python code */
};

struct solving {
	const struct solve_options *o;
	struct solve_answer *out;
	struct py_module module;
	struct host *h;
	struct val model, inputs, result;
	struct expr_pool pool;
	struct trace t;
	struct cut cut;
	struct mode *mode;
	jmp_buf trap;
};

void solve_answer_release(struct solve_answer *a)
{
	buf_release(&a->solution);
	buf_release(&a->outline);
}

/* The program itself failed: the host's diagnostic is the reason. */
static int program_failed(struct solving *a)
{
	snprintf(a->out->why, sizeof a->out->why, "the module does not run: %.200s", host_diag(a->h)->text);
	return 1;
}

/* Builds the model and draws the inputs, as the judge does. */
static int open_model(struct solving *a, struct err *e)
{
	struct host_options ho = { .lib = a->o->lib, .fuel = a->o->fuel ? a->o->fuel : FUEL,
				   .memory = (size_t)1 << 31, .hollow = 1,
				   .tf32 = 0, .catch_sure = 1 };
	struct val ns;
	int rc;

	a->h = host_new(&ho, e);
	if (!a->h)
		return -1;
	rc = host_load(a->h, &a->module, NULL, 0, &ns, e);
	if (!rc)
		rc = host_build(a->h, ns, ns, "Model", SEED, &a->model, e);
	if (!rc)
		rc = host_to_device(a->h, a->model, HOST_CUDA, e);
	if (!rc && a->mode->eval)
		rc = host_eval_mode(a->h, a->model, e);
	if (!rc)
		rc = host_inputs(a->h, ns, SEED, 0, &a->inputs, e);
	if (!rc)
		rc = host_to_device(a->h, a->inputs, HOST_CUDA, e);
	return rc > 0 ? program_failed(a) : rc;
}

/* Gives every input with the batch size of the first one another batch size. */
static int change_batch(struct solving *a, struct err *e)
{
	for (size_t i = 0; i < a->inputs.u.seq->n; i++) {
		struct val v = a->inputs.u.seq->v[i];
		struct tensor *t = v.kind == V_TENSOR ? &v.u.t->t : NULL, other;
		int64_t shape[TENSOR_DIMS], stride[TENSOR_DIMS];

		if (!t || !t->ndim || t->shape[0] != a->mode->drawn || !tensor_is_contiguous(t))
			continue;
		memcpy(shape, t->shape, sizeof shape);
		shape[0] = a->mode->batch;
		tensor_dense_strides(t->ndim, shape, stride);
		if (tensor_new_hollow(&other, t->dt, t->ndim, shape, stride, e))
			return -1;
		tensor_release(t);
		*t = other;
	}
	return 0;
}

/* The batch size is the first size of the first input that is a tensor. */
static int note_batch(struct solving *a, const struct signature *sig, struct err *e)
{
	struct mode *m = a->mode;

	m->drawn = m->elements = 0;
	for (size_t i = 0; i < a->inputs.u.seq->n; i++) {
		struct val v = a->inputs.u.seq->v[i];

		if (v.kind != V_TENSOR)
			continue;
		m->elements += tensor_numel(&v.u.t->t);
		if (m->drawn || !v.u.t->t.ndim)
			continue;
		m->drawn = v.u.t->t.shape[0];
		snprintf(m->size, sizeof m->size, "%.48s.shape[0]", signature_arg(sig, i, &a->pool.arena));
	}
	return m->batch ? change_batch(a, e) : 0;
}

/* Runs forward under the recorder. A failure of the program after an operator stopped the recording
 * is still the operator's. */
static int record(struct solving *a, const struct signature *sig, struct err *e)
{
	int rc = note_batch(a, sig, e);

	if (rc)
		return rc;
	for (size_t i = 0; i < a->inputs.u.seq->n; i++)
		origin_note(&a->t, a->h, a->inputs.u.seq->v[i], signature_arg(sig, i, &a->pool.arena));
	origin_note(&a->t, a->h, a->model, sig->wrapped ? "self.model" : "self");
	host_set_called(a->h, trace_call, &a->t);
	rc = host_forward(a->h, a->model, a->inputs, &a->result, e);
	host_set_called(a->h, NULL, NULL);
	a->out->ops = a->t.ops;
	if (a->t.stopped[0]) {
		snprintf(a->out->op, sizeof a->out->op, "%s", a->t.stopped);
		snprintf(a->out->why, sizeof a->out->why, "%s: %s", a->t.stopped, a->t.why);
		return rc < 0 ? -1 : 1;
	}
	return rc > 0 ? program_failed(a) : rc;
}

/* From the recorded graph to the text. Returns 1 if it cannot be written. */
static int finish(struct solving *a, const struct signature *sig, struct err *e)
{
	if (write_results(&a->t, a->result, a->out->why, sizeof a->out->why))
		return 1;
	if (cut_make(&a->cut, &a->t.g)) {
		snprintf(a->out->why, sizeof a->out->why, "%s", a->cut.why);
		return 1;
	}
	a->out->kernels = (int)a->cut.kernels.n;
	if (a->o->outline)
		outline_write(&a->t.g, &a->cut, &a->out->outline);
	if (a->o->outline == OUTLINE_ONLY)
		return 0;
	return write_solution(&(struct solution_text){ .o = a->o, .module = &a->module, .sig = sig, .t = &a->t,
						 .cut = &a->cut, .result = a->result, .inputs = a->inputs,
						       .general = a->mode->general },
			      &a->out->solution, e);
}

/* Expressions that grow without bound, and memory that ends, leave through the trap. */
static int solving_run(struct solving *a, struct err *e)
{
	struct signature sig;
	int rc = signature_find(&sig, &a->module);

	if (rc) {
		snprintf(a->out->why, sizeof a->out->why, "the source has no class Model");
		return 1;
	}
	expr_pool_init(&a->pool, &a->trap);
	if (a->o->memory)
		a->pool.arena.limit = a->o->memory;
	if (setjmp(a->trap)) {
		snprintf(a->out->why, sizeof a->out->why, "the graph is too large");
		return 1;
	}
	a->t.g.pool = &a->pool;
	rc = open_model(a, e);
	if (!rc)
		rc = record(a, &sig, e);
	if (!rc)
		return finish(a, &sig, e);
	if (a->o->outline)
		outline_write(&a->t.g, NULL, &a->out->outline);
	return rc;
}

static void solving_close(struct solving *a)
{
	trace_release(&a->t);
	cut_release(&a->cut);
	if (a->h)
		host_free(a->h);
	expr_pool_release(&a->pool);
}

static int solving_in(const struct solve_options *o, struct str source, struct mode *mode, struct solve_answer *out,
		      struct err *e)
{
	struct solving a = { .o = o, .out = out, .mode = mode };
	struct err syntax = ERR_INIT;
	int rc;

	*out = (struct solve_answer){ .solution = BUF_INIT, .outline = BUF_INIT };
	if (py_parse(&a.module, source, "module", (size_t)1 << 28, &syntax)) {
		snprintf(out->why, sizeof out->why, "line %d: %.200s", syntax.line, syntax.text);
		return syntax.code == ERR_NOMEM ? err_nomem(e) : 1;
	}
	rc = solving_run(&a, e);
	mode->random = a.t.random || strstr(a.t.stopped, "dropout");
	solving_close(&a);
	py_release(&a.module);
	if (rc)
		buf_clear(&out->solution);
	return rc;
}

/* Large inputs are judged at smaller batch sizes, so the solution must be correct at those, too: it is made
 * from two solutions for two batch sizes. If they differ in more than numbers, the first one stays. */
static int solve_general(const struct solve_options *o, struct str source, struct mode mode, struct solve_answer *out,
			 struct err *e)
{
	struct solve_options plain = *o;
	struct mode one = mode, two = mode;
	struct solve_answer a, b;
	struct buf joined = BUF_INIT;
	int rc;

	one.general = two.general = 1;
	two.batch = mode.drawn + 1;
	plain.outline = 0;
	rc = solving_in(&plain, source, &one, &a, e);
	if (rc >= 0 && a.solution.n) {
		rc = solving_in(&plain, source, &two, &b, e);
		if (rc >= 0 && b.solution.n)
			rc = any_batch_make(&(struct batch_text){ .text = buf_str(&a.solution), .batch = one.drawn },
					  &(struct batch_text){ .text = buf_str(&b.solution), .batch = two.batch },
					  one.size, &joined, e);
		solve_answer_release(&b);
	}
	if (!rc && joined.n) {
		buf_clear(&out->solution);
		buf_addstr(&out->solution, buf_str(&joined));
	}
	solve_answer_release(&a);
	buf_release(&joined);
	return rc < 0 ? -1 : buf_check(&out->solution, e);
}

/* A module that draws random numbers is judged in evaluation mode, so it is solved in that mode. */
int solve_module(const struct solve_options *o, struct str source, struct solve_answer *out, struct err *e)
{
	enum { GENERAL_LEAST = 1 << 15 };
	struct mode mode = { .eval = 0 };
	int rc = solving_in(o, source, &mode, out, e);

	if (rc >= 0 && mode.random) {
		solve_answer_release(out);
		mode = (struct mode){ .eval = 1 };
		rc = solving_in(o, source, &mode, out, e);
	}
	if (!rc && o->outline != OUTLINE_ONLY && mode.drawn > 1 && mode.elements >= GENERAL_LEAST)
		rc = solve_general(o, source, mode, out, e);
	return rc < 0 ? -1 : 0;
}

int solve_outline(struct host_lib *lib, struct str source, struct buf *out, struct err *e)
{
	struct solve_options o = { .lib = lib, .outline = OUTLINE_ONLY };
	struct solve_answer answer;
	int rc = solve_module(&o, source, &answer, e);

	buf_addstr(out, buf_str(&answer.outline));
	solve_answer_release(&answer);
	return rc || buf_check(out, e) ? -1 : 0;
}
