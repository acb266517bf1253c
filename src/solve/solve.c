/* One module from source to solution: see solve.h. */
#include "interp/bind.h"
#include "solve/solve_at.h"

#include <stdio.h>

#include "solve/origin.h"
#include "solve/outline.h"
#include "solve/share.h"
#include "solve/write.h"
#include "tensor/sparse.h"

enum { FUEL = 20000000, SEED = 42 };
/* As solve_options.outline: the module is not solved. */
enum { OUTLINE_ONLY = 2 };

struct solving {
	const struct solve_options *o;
	struct solve_answer *out;
	struct py_module module;
	struct host *h;
	struct val model, inputs, result;
	struct ptr_map ran;
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

/* A solution must be correct for any weights, so forward may not depend on the values that the constructor gave them: a
 * parameter that begins as zero is not `== 0`. */
static int forget_weight(void *ctx, struct str name, struct tensor_obj *t)
{
	struct storage *st = t->t.st;

	(void)ctx;
	(void)name;
	if (!st || !st->hollow || !dtype_is_float(t->t.dt))
		return 0;
	st->numbers = 0;
	return st->sparse && sparse_unknown(st);
}

/* Builds the model and draws the inputs, as the judge does. */
static int open_model(struct solving *a, struct err *e)
{
	struct host_options ho = { .lib = a->o->lib, .fuel = a->o->fuel ? a->o->fuel : FUEL,
				   .memory = (size_t)1 << 31, .hollow = 1,
				   .tf32 = 0, .is_reference = 1, .may_mix = 1 };
	struct val ns;
	int rc;

	a->h = host_new(&ho, e);
	if (!a->h)
		return -1;
	host_set_ran(a->h, &a->ran);
	rc = host_load(a->h, &a->module, a->mode->ov, a->mode->n_ov, &ns, e);
	if (!rc)
		rc = host_build(a->h, ns, ns, "Model", SEED, &a->model, e);
	if (!rc)
		rc = host_to_device(a->h, a->model, HOST_CUDA, e);
	if (!rc && a->mode->eval)
		rc = host_eval_mode(a->h, a->model, e);
	host_set_ran(a->h, NULL);
	if (!rc && host_state(a->h, a->model, forget_weight, NULL))
		rc = err_nomem(e);
	if (!rc)
		rc = host_inputs(a->h, ns, SEED, 0, &a->inputs, e);
	if (!rc)
		rc = host_to_device(a->h, a->inputs, HOST_CUDA, e);
	return rc > 0 ? program_failed(a) : rc;
}

/* Whether forward drew random numbers. */
static int draws_random(const struct host *h)
{
	struct host_ops ops = host_ops(h);
	int random = 0;

	for (size_t i = 0; i < ops.n; i++)
		random |= ops.v[i].flags & BIND_RANDOM;
	return random != 0;
}

/* Runs forward under the recorder. A failure of the program after an operator stopped the recording
 * is still the operator's. */
static int record(struct solving *a, const struct signature *sig, struct err *e)
{
	int64_t guessed = host_floats_guessed(a->h);
	int rc;

	for (size_t i = 0; i < a->inputs.u.seq->n; i++)
		origin_note(&a->t, a->h, a->inputs.u.seq->v[i], signature_arg(sig, i, &a->pool.arena));
	origin_note(&a->t, a->h, a->model, sig->wrapped ? "self.model" : "self");
	host_ops_clear(a->h);
	host_set_called(a->h, trace_call, &a->t);
	rc = host_forward(a->h, a->model, a->inputs, &a->result, e);
	host_set_called(a->h, NULL, NULL);
	a->mode->work = host_ops_work(a->h);
	a->mode->may_split = a->t.g.may_split;
	a->mode->random = draws_random(a->h);
	a->out->ops = a->t.ops;
	if (a->t.stopped[0]) {
		snprintf(a->out->op, sizeof a->out->op, "%s", a->t.stopped);
		snprintf(a->out->why, sizeof a->out->why, "%s: %s", a->t.stopped, a->t.why);
		return rc < 0 ? -1 : 1;
	}
	if (!rc && host_floats_guessed(a->h) > guessed) {
		snprintf(a->out->why, sizeof a->out->why, "forward computes with the value of a tensor in Python");
		return 1;
	}
	return rc > 0 ? program_failed(a) : rc;
}

/* From the recorded graph to the text. Returns 1 if it cannot be written. */
static int finish(struct solving *a, const struct signature *sig, struct err *e)
{
	if (write_results(&a->t, a->result, a->out->why, sizeof a->out->why) ||
	    write_state(&a->t, a->h, a->model, sig->wrapped ? "self.model" : "self", a->out->why,
			sizeof a->out->why))
		return 1;
	cut_make(&a->cut, &a->t.g);
	a->out->kernels = (int)a->cut.kernels.n;
	if (a->o->outline)
		outline_write(&a->t.g, &a->cut, &a->out->outline);
	if (a->o->outline == OUTLINE_ONLY)
		return 0;
	return write_solution(&(struct solution_text){ .o = a->o, .module = &a->module, .ran = &a->ran, .sig = sig,
						       .t = &a->t, .cut = &a->cut, .result = a->result,
						       .inputs = a->inputs, .sizes = a->mode->sizes,
						       .size_code = a->mode->size_code, .scheds = a->mode->scheds,
						       .model_sizes = a->mode->model_sizes,
						       .with_model = a->mode->with_model },
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
	a->pool.any_size = a->mode->sizes != NULL;
	a->pool.apart = a->mode->apart;
	a->t.g.pool = &a->pool;
	a->t.g.split = a->mode->split;
	a->t.g.choices = a->mode->choices;
	if (a->mode->choices)
		a->mode->choices->next = 0;
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
	ptr_map_release(&a->ran);
	expr_pool_release(&a->pool);
}

int solve_at(const struct solve_options *o, struct str source, struct mode *mode, struct solve_answer *out,
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
	solving_close(&a);
	py_release(&a.module);
	if (rc)
		buf_clear(&out->solution);
	return rc;
}

/* A module that draws random numbers is judged in evaluation mode, so it is solved in that mode. A module
 * of much work is judged at other sizes, too, and gets a solution for any sizes if there is one, as other modules
 * do on request. */
int solve_module(const struct solve_options *o, struct str source, struct solve_answer *out, struct err *e)
{
	enum { WORK_LARGE = 1 << 20, OPS_FEW = 12 };
	struct mode mode = { .eval = 0 };
	int rc = solve_at(o, source, &mode, out, e);

	if (rc >= 0 && mode.random) {
		solve_answer_release(out);
		mode = (struct mode){ .eval = 1 };
		rc = solve_at(o, source, &mode, out, e);
	}
	/* A deep module waits for its launches, so more of them would be slower. */
	if (!rc && mode.may_split && out->ops <= OPS_FEW && !o->small) {
		solve_answer_release(out);
		mode = (struct mode){ .eval = mode.eval, .split = 1 };
		rc = solve_at(o, source, &mode, out, e);
	}
	if (!rc && o->small && mode.work >= WORK_LARGE) {
		snprintf(out->why, sizeof out->why, "the module is large");
		buf_clear(&out->solution);
		return 0;
	}
	if (!rc && o->outline != OUTLINE_ONLY && (mode.work >= WORK_LARGE || o->any_size)) {
		struct solve_options plain = *o;

		plain.outline = 0;
		rc = solve_any_size(&plain, source, &mode, out, e);
	}
	if (!rc && o->outline != OUTLINE_ONLY)
		rc = share_kernels(&out->solution, &out->kernels, e);
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
