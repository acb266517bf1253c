/* What ends a run from outside: the machine is taken away, or what may be spent is spent.
 *
 * A thread asks the instance's metadata service every five seconds and counts hours and money; either
 * asks the run to stop (base/progress.h), as Ctrl-C does: the step is finished, a checkpoint is
 * written, what is in the bucket is brought up to date. What was spent is kept in the run folder
 * (spent.json), over all machines that worked on it. */
#ifndef RUN_WATCH_H
#define RUN_WATCH_H

#include "base/err.h"
#include "base/json.h"
#include "base/opt.h"

struct watch_args {
	const char *spot, *metadata;
	double poll, budget_hours, budget_money, price;
};
extern const struct opt watch_args_table[];

struct watch;
/* `run` NULL: notices alone, nothing is counted. */
struct watch *watch_start(const struct watch_args *a, const char *run, struct err *e);
void watch_finish(struct watch *w);           /* NULL is fine */

/* Over all machines. `money` is 0 without a price; limits of 0 are none. */
struct watch_spent { double hours, money, hours_limit, money_limit; };
struct watch_spent watch_spent(struct watch *w);
/* The same from a run folder, as of at most ten seconds ago if somebody works on it. Absent: zeros. */
int watch_spent_read(const char *run, struct watch_spent *out, struct err *e);
/* As an object: `hours`, `money`, and their limits. */
void watch_spent_json(struct jw *w, const struct watch_spent *s);

#endif
