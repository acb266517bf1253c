/* A watch that ends a run for outside reasons: the cloud takes the machine away, or the budget is
 * used up.
 *
 * A thread asks the instance's metadata service every five seconds, and counts hours and money.
 * Either reason requests a stop (base/progress.h), as Ctrl-C does: the step is finished, a
 * checkpoint is written, and the bucket is brought up to date. The run folder keeps what all
 * machines of the run have spent (spent.json). */
#ifndef RUN_WATCH_H
#define RUN_WATCH_H

#include "base/err.h"
#include "base/json.h"
#include "base/opt.h"

struct watch_args {
	const char *spot, *metadata;      /* auto, on or off; URL of the metadata service, NULL: the default */
	double poll;                      /* seconds between two questions */
	double budget_hours, budget_money, price;     /* 0: no limit; price of an hour of this machine */
};
extern const struct opt watch_args_table[];

struct watch;
/* With `run` NULL it only listens for notices and counts nothing. */
struct watch *watch_start(const struct watch_args *a, const char *run, struct err *e);
void watch_finish(struct watch *w);           /* NULL is allowed */

/* Spent by all machines of the run. `money` is 0 without a price. A limit of 0 means none. */
struct watch_spent { double hours, money, hours_limit, money_limit; };
struct watch_spent watch_spent(struct watch *w);
/* The same from a run folder, at most ten seconds old if the run is in progress. A folder without a record gives
 * zeros. */
int watch_spent_read(const char *run, struct watch_spent *out, struct err *e);
/* Writes an object with `hours`, `money` and their limits. */
void watch_spent_json(struct jw *w, const struct watch_spent *s);

#endif
