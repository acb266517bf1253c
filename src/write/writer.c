/* The order of a search: the solver first, because it takes milliseconds; the model while those are judged;
 * repair, parts and tuning after them. writer.h is the manual. */
#include "write/writer.h"

#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "solve/solve.h"
#include "write/model_author.h"
#include "write/parts.h"
#include "write/tune.h"

/* The authors of --by; none named: both. */
static int choose_authors(struct writer *w, struct err *e)
{
	const struct opt_list *by = &w->a->by;

	w->by_model = w->by_solver = !by->n;
	for (size_t i = 0; i < by->n; i++)
		if (str_is(str_of(by->v[i]), "model"))
			w->by_model = 1;
		else if (str_is(str_of(by->v[i]), "solver"))
			w->by_solver = 1;
		else
			return err_set(e, ERR_USAGE, "--by takes model, solver, or model,solver, not '%s'", by->v[i]);
	return 0;
}

int writer_open(struct writer *w, const struct writer_args *a, struct err *e)
{
	struct judge_args judge = a->judge;
	struct judge_pool_options po;

	*w = (struct writer){ .a = a };
	if (a->device)
		judge.device = a->device;
	if (choose_authors(w, e) || judge_args_options(&judge, &w->judge, &po, e))
		return -1;
	w->baseline = po.gpu.baseline;
	w->judges = judge_pool_open(&w->judge, &po, e);
	w->lib = w->judges ? host_lib_new(e) : NULL;
	return w->lib ? 0 : -1;
}

void writer_close(struct writer *w)
{
	model_author_close(w->model);
	judge_pool_close(w->judges);
	host_lib_free(w->lib);
}

/* Adds the solver's solutions: for any sizes of the inputs and, unless other sizes are part of the contract, for those
 * of the task, in turn. The first ones have the usual schedules, the others are drawn from the seed. */
static int by_solver(struct writer *w, struct write_search *s, struct err *e)
{
	struct solve_options o = { .lib = w->lib, .tf32 = w->judge.precision == PRECISION_TF32,
				   .ieee = w->judge.precision == PRECISION_IEEE };
	int rc = 0;

	for (int64_t i = 0; i < w->a->variants && !rc && !search_is_over(s) && !search_is_settled(s); i++) {
		struct solve_answer answer;

		o.any_size = i % 2 == 0 || w->judge.contract == CONTRACT_GENERAL;
		o.draw = i > 1 || (i && o.any_size) ? (uint64_t)(w->a->seed + i) : 0;
		rc = solve_module(&o, s->task, &answer, e);
		if (!rc && answer.solution.n)
			rc = search_add(s, AUTHOR_SOLVER, buf_str(&answer.solution), "", e);
		else if (!rc)
			snprintf(w->without_solver, sizeof w->without_solver, "%s", answer.why);
		solve_answer_release(&answer);
		if (w->without_solver[0])
			break;
		rc = rc ? rc : search_take(s, 0, e);
	}
	return rc;
}

/* Opens the model. The one that ships may be missing: only the solver writes then. */
static int open_model(struct writer *w, struct err *e)
{
	struct err missing = ERR_INIT;

	w->model = model_author_open(w->a, &missing);
	if (w->model)
		return 0;
	snprintf(w->without_model, sizeof w->without_model, "%.300s", missing.text);
	if (w->a->model || !w->by_solver || missing.code != ERR_NOT_FOUND) {
		*e = missing;
		return -1;
	}
	log_warn("%s; only the solver writes", w->without_model);
	return 0;
}

/* Adds samples of the model and, if nothing passed, its answers to the judge's feedback. A prompt that does not
 * fit is no failure of the search. */
static int by_model(struct writer *w, struct write_search *s, struct err *e)
{
	struct err bad = ERR_INIT;

	if (search_is_settled(s))
		return 0;
	if (!w->model && !w->without_model[0] && open_model(w, e))
		return -1;
	if (!w->model)
		return 0;
	if (model_author_sample(w->model, s, (int)w->a->n, &bad)) {
		if (bad.code == ERR_RANGE) {
			snprintf(w->without_model, sizeof w->without_model, "%.300s", bad.text);
			return 0;
		}
		*e = bad;
		return -1;
	}
	if (search_take(s, 1, e))
		return -1;
	return w->a->repair && !s->best && !search_is_over(s) ?
		model_author_repair(w->model, s, MAX(1, (int)w->a->n / 2), e) : 0;
}

int writer_run(struct writer *w, struct write_search *s, struct err *e)
{
	if ((w->by_solver && by_solver(w, s, e)) || (w->by_model && by_model(w, s, e)) || search_take(s, 1, e))
		return -1;
	if (w->a->parts && w->by_solver && !s->best && !search_is_over(s) && parts_write(w, s, e))
		return -1;
	if (search_take(s, 1, e))
		return -1;
	return w->a->tune ? tune_best(s, e) : 0;
}
