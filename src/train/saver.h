/* Checkpoints written while training goes on.
 *
 * A thread copies the policy in memory, which is over before the next update needs to change it (a
 * GPU's is copied at once), syncs the store, writes the copy, syncs it, gives it its name, reads it
 * back, and only then removes older ones. Training waits for a copy that is not done when an update
 * comes, and for nothing else. One is written at a time: a save that comes before the last is down
 * waits for it. What went wrong is told by the next call. */
#ifndef TRAIN_SAVER_H
#define TRAIN_SAVER_H

#include "store/store.h"
#include "train/policy.h"

struct saver;

/* Checkpoints "PREFIX-STEP" in folder `parent`, of which the newest `keep` stay; they stand on what
 * `store` (or NULL) holds. All are borrowed. */
struct saver_opts {
	const struct policy *policy;
	struct store *store;
	const char *parent, *prefix;
	int keep;
};

struct saver *saver_new(const struct saver_opts *o, struct err *e);
/* Waits for what is being written, says what went wrong with it. NULL is fine. */
void saver_free(struct saver *s);

int saver_save(struct saver *s, int64_t step, struct str state, struct err *e);
/* The last one is down. */
int saver_wait(struct saver *s, struct err *e);
/* Step of the newest one that is known to be down; -1: none. */
int64_t saver_down(const struct saver *s);
/* Seconds that training has waited for saves, and how many there were. */
struct saver_stats { double seconds; int64_t saves; };
struct saver_stats saver_stats(const struct saver *s);

#endif
