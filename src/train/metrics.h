/* Metrics of a run: one object per optimiser step to metrics.jsonl, to the store, and to a
 * TensorBoard event file. Clock readings go only to the two files, so that the store of a resumed
 * run is the same as that of a run that was never interrupted. */
#ifndef TRAIN_METRICS_H
#define TRAIN_METRICS_H

#include "base/err.h"
#include "store/store.h"

struct metrics {
	char *jsonl;
	char *events;
	struct store *store;         /* borrowed */
	int64_t last_ns;
};

/* `clock`: the value depends on the machine's speed and goes only to the files. */
struct metric { const char *name; double value; int clock; };

/* `dir` is the run folder. Lines of `stage` after `step` are dropped from metrics.jsonl. */
int metrics_open(struct metrics *m, const char *dir, struct store *store, const char *stage, int64_t step,
		 struct err *e);
void metrics_close(struct metrics *m);
/* The fixed fields of a step, then `extra` ones. */
int metrics_step(struct metrics *m, const struct store_step *t, const struct metric *extra, size_t n, struct err *e);

/* Mean of a value over the steps of `stage` after `after`, from the store: the same whether the run
 * was interrupted or not. `name` is "loss" or an extra's. */
int metrics_mean(struct store *s, const char *stage, int64_t after, const char *name, double *mean, struct err *e);

#endif
