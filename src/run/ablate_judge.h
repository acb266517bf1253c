/* What ablate measures of a judge, apart from training: cheats it takes for honest work, honest
 * work it refuses, and the time it needs. */
#ifndef RUN_ABLATE_JUDGE_H
#define RUN_ABLATE_JUDGE_H

#include "data/taskset.h"
#include "store/store.h"
#include "verify/pool/judge_args.h"

struct cheat_count {
	int64_t cheats, accepted;      /* candidates that must not pass; that did */
	int64_t honest, refused;
	char first[64];                /* the first that was accepted */
};

/* Candidates of a folder in the form of the cheat suite: a .py file names its task (TASKS/NAME.py
 * beside it), its track and what is expected in its first lines. */
int ablate_cheats(const struct judge_args *a, const char *dir, struct cheat_count *out, struct err *e);

/* Milliseconds of wall clock a candidate, over the answers that `store` holds under `stage`, judged by
 * one process that meets each task once; the best of three times, for a busy machine. */
int ablate_time(const struct judge_args *a, const struct taskset *tasks, struct store *store,
		const char *stage, int64_t *n, double *ms,
		struct err *e);

#endif
