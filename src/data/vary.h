/* Variants of modules that people wrote: new tasks for training, drawn from a set of modules.
 *
 * A variant has other names, steps, sizes, constants and activations, and no or fewer comments and imports; or two
 * modules are joined into one. A variant is only a text: it need not run. The caller solves it
 * (solve/solve.h) and draws another one if that fails. Variant k is a function of the seed and of k. */
#ifndef DATA_VARY_H
#define DATA_VARY_H

#include "base/mem.h"
#include "base/rng.h"
#include "data/taskset.h"
#include "data/vary_name.h"

struct vary {
	struct taskset set;
	struct vary_words words;     /* names that the modules use */
};

int vary_open(struct vary *x, const char *path, struct err *e);
void vary_close(struct vary *x);
/* Replaces `out` by a variant of a module: `from` draws the module, `rng` its changes. Several threads may draw at
 * once. */
int vary_draw(const struct vary *x, struct rng from, struct rng *rng, struct buf *out, struct err *e);

#endif
