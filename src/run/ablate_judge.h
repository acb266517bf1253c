/* Measurements of a judge for `ablate`, apart from training: how many cheats it accepts, how many correct
 * candidates it rejects, and how long it takes. */
#ifndef RUN_ABLATE_JUDGE_H
#define RUN_ABLATE_JUDGE_H

#include "data/taskset.h"
#include "store/store.h"
#include "verify/pool/judge_args.h"

struct cheat_count {
	int64_t cheats, accepted;      /* candidates that must not pass, and how many of them passed */
	int64_t honest, refused;       /* candidates that must pass, and how many of them did not */
	char first[128];               /* path below the suite of the first accepted cheat, or "" */
};

/* Judges the candidates of a suite that is laid out as test/cheats: .py files in `dir` and in its folders.
 * The comment lines at the head of a file name its task (tasks/NAME.py in `dir`), its track and the
 * expected verdict. Files without such lines are skipped. */
int ablate_cheats(const struct judge_args *a, const char *dir, struct cheat_count *out, struct err *e);

/* Measures the wall-clock milliseconds for one candidate. The candidates are the answers that `store` holds
 * under `stage`; one process judges them and prepares each task once. *ms gets the best of three passes,
 * because other programs may disturb a pass. *n gets the number of answers. */
int ablate_time(const struct judge_args *a, const struct taskset *tasks, struct store *store,
		const char *stage, int64_t *n, double *ms,
		struct err *e);

#endif
