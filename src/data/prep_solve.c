/* Solutions of the solver for tasks that came without one (--solve). A task that the solver does not
 * solve stays a task without a solution: training against the judge can use it. */
#include "data/prep_impl.h"
#include "solve/solve.h"

void prep_unsolve(struct prep_row *row)
{
	row->by_rule = 0;
	row->solution = row->messages = STR("");
	row->tokens = 0;
	row->drop = PREP_KEPT;
}

int prep_solve(struct prep_work *w, struct prep_row *row, struct err *e)
{
	struct solve_answer a = { .solution = BUF_INIT };
	struct solve_options o = { .ieee = w->o->precision == PRECISION_IEEE,
				   .tf32 = w->o->precision == PRECISION_TF32 };
	int rc = 0;

	if (row->drop != PREP_KEPT || row->role == PREP_EVAL || row->split != GEN_TRAIN || row->solution.n)
		return 0;
	if (!w->lib && !(w->lib = host_lib_new(e)))
		return -1;
	o.lib = w->lib;
	if (solve_module(&o, row->task, &a, e))
		return -1;
	if (a.solution.n && a.kernels && (int64_t)a.solution.n <= w->o->max_bytes) {
		row->by_rule = 1;
		row->solution = (struct str){ .p = arena_strndup(&row->arena, a.solution.p, a.solution.n),
					      .n = a.solution.n };
		rc = row->solution.p ? prep_pair(w, row, e) : err_nomem(e);
		if (row->drop != PREP_KEPT)
			prep_unsolve(row);
	}
	solve_answer_release(&a);
	return rc;
}
