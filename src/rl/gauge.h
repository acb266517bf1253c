/* The figures of an RL step that are shown and stored. gauge.def is the list. */
#ifndef RL_GAUGE_H
#define RL_GAUGE_H

#include "rl/rollout.h"
#include "train/metrics.h"
#include "train/policy.h"

enum gauge {
#define GAUGE(id, clock) GAUGE_##id,
#include "rl/gauge.def"
#undef GAUGE
	GAUGES
};

/* All values of a step. A value that was not measured is NAN and is not written. */
struct gauges { double v[GAUGES]; };

/* Fills the gauges that follow from the samples. */
void gauges_init(struct gauges *g, const struct rollout *ro, const struct taskset *tasks);
/* Those that were taken, as metrics: out[GAUGES]; returns how many. */
size_t gauges_metrics(const struct gauges *g, struct metric *out);

/* --- how far the policy is from where it started ------------------------------------------ */

/* The parameters that training began with, kept in a file so that a resumed run has them too. */
struct gauge_start {
	char *path;
	int every;                      /* steps; 0: never looked at */
};
/* Saves the present parameters, unless the file exists already: then it is of the same run. */
int gauge_start_open(struct gauge_start *s, const struct policy *p, const char *dir, int every, struct err *e);
void gauge_start_close(struct gauge_start *s);
void gauge_start_drop(const struct gauge_start *s);     /* training is done: the file goes */
/* Estimates the divergence of the policy from its start: the mean of log p now - log p at the start
 * over the tokens of some samples. These are the first sample of each task, if it has at most
 * `longest` tokens; there are `n` samples per task. */
int gauge_divergence(const struct gauge_start *s, struct policy *p, const struct rollout *ro, size_t n,
		     int longest, double *kl, struct err *e);

#endif
