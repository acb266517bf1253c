/* Notices and budgets: see watch.h.
 *
 * Owns the thread that asks and counts, and the file spent.json. It does not stop a run by itself:
 * it requests a stop, and the stages save. Invariant: what earlier processes have spent is read
 * once at the start, and never counted twice. */
#include "run/watch.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "net/imds.h"

const struct opt watch_args_table[] = {
	OPT_CHOICE(struct watch_args, spot, "spot", "auto|on|off", "auto",
		   "react to a spot termination notice; auto: if there is a metadata service"),
	OPT_REAL(struct watch_args, poll, "spot-poll", 0.05, 3600, 5,
		 "seconds between checks for the notice"),
	OPT_REAL(struct watch_args, budget_hours, "budget-hours", 0, 1e6, 0,
		 "save everything and stop after this many hours on all machines; 0: no limit"),
	OPT_REAL(struct watch_args, budget_money, "budget-money", 0, 1e9, 0,
		 "save everything and stop after spending this much at --price-per-hour; 0: no "
		 "limit"),
	OPT_REAL(struct watch_args, price, "price-per-hour", 0, 1e6, 0,
		 "price of this machine per hour"),
	OPT_END
};

/* Seconds between two records of what was spent. A kill loses at most that much. */
static const double record_seconds = 10.0;

struct watch {
	struct watch_args a;
	char *path;                   /* of spent.json; NULL: this process does not count */
	struct watch_spent before;    /* spent before this process started */
	int64_t start_ns;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	int finish;
	struct imds *imds;
	int heard;                    /* the service has answered once */
	int failures;                 /* questions without an answer, before the first answer */
};

/* Adds the time since this process started to what was spent before it. */
struct watch_spent watch_spent(struct watch *w)
{
	double hours = (double)(clock_ns() - w->start_ns) / 3.6e12;

	return (struct watch_spent){ .hours = w->before.hours + hours, .money = w->before.money + hours * w->a.price,
				     .hours_limit = w->a.budget_hours, .money_limit = w->a.budget_money };
}

/* A missing file is no error: nothing was spent yet. */
int watch_spent_read(const char *run, struct watch_spent *out, struct err *e)
{
	struct buf path = BUF_INIT;
	struct json *j = NULL;
	int rc = path_join(&path, run, "spent.json") ? 0 : err_nomem(e);

	*out = (struct watch_spent){ .hours = 0 };
	if (!rc && file_exists(path.p)) {
		j = json_parse_file(path.p, e);
		rc = j ? 0 : -1;
	}
	if (j) {
		out->hours = json_real(json_get(j, "hours"), 0.0);
		out->money = json_real(json_get(j, "money"), 0.0);
		out->hours_limit = json_real(json_get(j, "hours_limit"), 0.0);
		out->money_limit = json_real(json_get(j, "money_limit"), 0.0);
	}
	json_free(j);
	buf_release(&path);
	return rc;
}

void watch_spent_json(struct jw *w, const struct watch_spent *s)
{
	jw_begin(w, '{');
	jw_key(w, "hours"), jw_real(w, s->hours);
	jw_key(w, "money"), jw_real(w, s->money);
	jw_key(w, "hours_limit"), jw_real(w, s->hours_limit);
	jw_key(w, "money_limit"), jw_real(w, s->money_limit);
	jw_end(w, '}');
}

/* Writes spent.json. A failure is a warning: the run is worth more than its record. */
static void record(struct watch *w)
{
	struct watch_spent s = watch_spent(w);
	struct buf text = BUF_INIT;
	struct jw j = { .out = &text };
	struct err e = ERR_INIT;

	if (!w->path)
		return;
	watch_spent_json(&j, &s);
	buf_addc(&text, '\n');
	if (buf_check(&text, &e) || file_replace(w->path, buf_str(&text), &e))
		log_warn("cannot record what this run has spent: %s", e.text);
	buf_release(&text);
}

/* Requests a stop when the budget is used up. */
static void check_budget(struct watch *w)
{
	struct watch_spent s = watch_spent(w);
	int hours = s.hours_limit > 0 && s.hours >= s.hours_limit, money = s.money_limit > 0 &&
		s.money >= s.money_limit;

	if (stop_requested() || (!hours && !money))
		return;
	if (hours)
		log_warn("the budget of %g hours is spent: stopping, with everything saved", s.hours_limit);
	else
		log_warn("the budget of %g is spent (%.2f hours): stopping, with everything saved",
			 s.money_limit, s.hours);
	stop_request(STOP_BUDGET);
}

/* Asks for a notice. Outside of a cloud nobody answers: after three failures `auto` gives up, and
 * `on` warns. */
static void ask(struct watch *w)
{
	enum imds_notice n;
	char when[32];
	struct err e = ERR_INIT;

	if (imds_notice(w->imds, &n, when, &e)) {
		if (!w->heard && ++w->failures == 3 && !strcmp(w->a.spot, "auto")) {
			imds_close(w->imds);
			w->imds = NULL;
		} else if (!w->heard && w->failures == 3) {
			log_warn("a notice that this machine is taken away would be missed: %s", e.text);
		}
		return;
	}
	w->heard = 1;
	if (n == IMDS_NONE || stop_requested())
		return;
	log_warn(n == IMDS_STOP ? "this machine will be taken away (%s): saving and stopping" :
		 "this machine is likely to be taken away (%s): saving and stopping", when);
	stop_request(STOP_MACHINE);
}

/* Waits for the poll interval, or until the end is requested. */
static void pause_watch(struct watch *w)
{
	struct timespec until;
	double at;

	clock_gettime(CLOCK_REALTIME, &until);
	at = (double)until.tv_nsec / 1e9 + w->a.poll;
	until.tv_sec += (time_t)at;
	until.tv_nsec = (long)((at - (double)(time_t)at) * 1e9);
	pthread_mutex_lock(&w->lock);
	while (!w->finish && !pthread_cond_timedwait(&w->wake, &w->lock, &until))
		;
	pthread_mutex_unlock(&w->lock);
}

/* The thread. */
static void *keep_watching(void *ctx)
{
	struct watch *w = ctx;
	int64_t recorded = clock_ns();

	while (!w->finish) {
		if (w->imds)
			ask(w);
		check_budget(w);
		if ((double)(clock_ns() - recorded) / 1e9 >= record_seconds) {
			record(w);
			recorded = clock_ns();
		}
		pause_watch(w);
	}
	return NULL;
}

/* Frees the watch. The thread must have ended, or never have started. */
static void release(struct watch *w)
{
	imds_close(w->imds);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	mem_free(w->path);
	mem_free(w);
}

/* Reads what earlier processes have spent. */
static int open_spent(struct watch *w, const char *run, struct err *e)
{
	struct buf path = BUF_INIT;

	if (!run)
		return 0;
	path_join(&path, run, "spent.json");
	w->path = buf_take(&path);
	return w->path ? watch_spent_read(run, &w->before, e) : err_nomem(e);
}

/* Checks the budget before the thread starts, so that a run without budget does not begin at all. */
struct watch *watch_start(const struct watch_args *a, const char *run, struct err *e)
{
	struct watch *w = mem_zalloc(sizeof *w);

	if (!w) {
		err_nomem(e);
		return NULL;
	}
	w->a = *a;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	w->start_ns = clock_ns();
	if (a->budget_money > 0 && a->price <= 0)
		err_set(e, ERR_USAGE, "--budget-money needs --price-per-hour");
	else if (!open_spent(w, run, e) && (!strcmp(a->spot, "off") || (w->imds = imds_open(a->metadata, e)))) {
		check_budget(w);
		record(w);
		if (!pthread_create(&w->thread, NULL, keep_watching, w))
			return w;
		err_set(e, ERR_IO, "cannot start a thread");
	}
	release(w);
	return NULL;
}

/* Ends the thread and records what was spent up to now. */
void watch_finish(struct watch *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->finish = 1;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	record(w);
	release(w);
}
