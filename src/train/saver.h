/* Writes checkpoints while training continues.
 *
 * A thread copies the policy in memory (a GPU's is copied at once), syncs the store, writes the
 * copy, syncs it, gives it its name, reads it back, and only then removes older checkpoints.
 * Training waits only for a copy that is not finished when the next update comes. One checkpoint is
 * written at a time: a save that comes too early waits for the one before it. The next call reports
 * a failure of the last save. */
#ifndef TRAIN_SAVER_H
#define TRAIN_SAVER_H

#include "store/store.h"
#include "train/policy.h"

struct saver;

/* Checkpoints are named "PREFIX-STEP" in folder `parent`; the newest `keep` are kept. `store` (or
 * NULL) is synced before a checkpoint gets its name. All pointers are borrowed. */
struct saver_opts {
	const struct policy *policy;
	struct store *store;
	const char *parent, *prefix;
	int keep;
};

struct saver *saver_new(const struct saver_opts *o, struct err *e);
/* Waits for the checkpoint that is being written and logs its failure. NULL is allowed. */
void saver_free(struct saver *s);

int saver_save(struct saver *s, int64_t step, struct str state, struct err *e);
/* Waits until the last checkpoint is on disk. */
int saver_wait(struct saver *s, struct err *e);
/* The step of the newest checkpoint that is on disk, or -1. */
int64_t saver_down(const struct saver *s);
/* Seconds that training has waited for saves, and how many there were. */
struct saver_stats { double seconds; int64_t saves; };
struct saver_stats saver_stats(const struct saver *s);

#endif
