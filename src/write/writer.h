/* The writer: the best verified Triton kernel for a module.
 *
 * Candidates come from the solver (several drawn schedules), from samples of a model, from repair of the
 * model's failures with the judge's feedback, from parts that are solved apart and joined, and from tuning of
 * the best solution. Every candidate is judged; nothing that did not pass is an answer. */
#ifndef WRITE_WRITER_H
#define WRITE_WRITER_H

#include "base/opt.h"
#include "model/model.h"
#include "verify/pool/judge_args.h"
#include "write/search.h"

struct writer_args {
	struct opt_list by;           /* "model", "solver" */
	const char *model, *adapter;  /* folders; NULL: the model that ships with the program */
	const char *style;            /* of the prompt */
	const char *device;           /* of the model and of measurements; NULL: auto, and no measurements */
	enum model_store store;
	int64_t n, variants, max_new, seed, threads;
	double seconds, temperature;
	int repair, parts, tune;
	struct judge_args judge;
};

extern const struct opt writer_args_table[];

struct writer {
	const struct writer_args *a;  /* borrowed */
	struct host_lib *lib;
	struct judge_pool *judges;
	struct judge_options judge;
	enum baseline baseline;       /* that decides the measured speed-up */
	struct model_author *model;   /* NULL: no model is open */
	int by_model, by_solver;
	char without_model[320];      /* why the model wrote nothing, or "" */
	char without_solver[320];     /* why the solver wrote nothing, or "" */
};

/* Starts the judge's processes. Nothing else may have threads yet. */
int writer_open(struct writer *w, const struct writer_args *a, struct err *e);
void writer_close(struct writer *w);
/* Fills the search, which the caller has opened: s->best is the answer. Returns 0 also if nothing passed or a
 * stop was requested; -1 on our own failure. */
int writer_run(struct writer *w, struct write_search *s, struct err *e);

#endif
