/* Training pairs from modules that people wrote: a variant of a module (vary.h) as the task, the solver's
 * kernels as the answer. Pair k is a function of the seed and of k. Pairs are not judged: give a set of
 * modules whose solutions passed (tritonrl solve). Evaluation tasks are kept out. */
#ifndef DATA_MODULE_PAIRS_H
#define DATA_MODULE_PAIRS_H

#include <pthread.h>

#include "data/keepout.h"
#include "data/vary.h"
#include "solve/solve.h"

struct module_pairs {
	struct vary vary;
	struct rng rng;
	const struct keepout *keepout;       /* borrowed */
	double tf32;                         /* share of the pairs whose products may be tf32; may be set */
	pthread_mutex_t lock;                /* guards libs */
	struct { struct host_lib **v; size_t n, cap; } libs;     /* not in use */
};

struct module_pair {
	struct buf task;
	struct solve_answer answer;          /* its solution and outline */
	int tf32;                            /* products may be tf32 */
};

int module_pairs_open(struct module_pairs *m, const char *path, uint64_t seed, const struct keepout *k, struct err *e);
void module_pairs_close(struct module_pairs *m);
/* Draws pair k. Several threads may draw at once. */
int module_pairs_draw(struct module_pairs *m, uint64_t k, struct module_pair *out, struct err *e);
/* Solves a task of another source: out->answer is empty if that fails. Releases nothing of `out` before. */
int module_pairs_solve(struct module_pairs *m, struct str task, struct rng *rng, struct module_pair *out,
		       struct err *e);
void module_pair_release(struct module_pair *p);

#endif
