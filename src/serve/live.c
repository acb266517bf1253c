/* The live page: see live.h.
 *
 * The run's process writes the store while this one reads it, so each request opens the store and
 * closes it again. Only the queue's thread reads stores. */
#include "serve/live.h"

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "run/watch.h"
#include "serve/queue.h"
#include "web/data.h"
#include "web/report.h"

/* Milliseconds for which data is reused, waiting requests, bytes of a task's answer. */
enum { FRESH_MS = 1500, WAITING = 256, TASK_MOST = 4 << 20 };

/* A request in the queue. */
struct asking {
	struct queued queued;
	struct httpd_call *call;
	int task;                     /* one task, named by the rest of the path; else the data of all runs */
};

struct live {
	const struct opt_list *runs;
	struct buf page;
	struct queue queue;
	/* used only by the thread */
	struct buf data;
	int64_t read_ns;              /* when `data` was read; 0: never */
};

/* --- the thread that reads ----------------------------------------------------------------------------- */

/* Opens the store of a run. Returns 1 if there is one, 0 if the run has not started, -1 on failure. */
static int open_store(const char *dir, struct store **s, struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = path_join(&path, dir, "run.db") ? file_exists(path.p) : err_nomem(e);

	*s = NULL;
	if (rc > 0)
		rc = store_open(s, path.p, e) ? -1 : 1;
	buf_release(&path);
	return rc;
}

/* Writes the money and time that the first run has used; the page shows that run. */
static int put_spent(struct jw *w, const char *dir, struct err *e)
{
	struct watch_spent s;

	if (watch_spent_read(dir, &s, e))
		return -1;
	jw_key(w, "spent"), watch_spent_json(w, &s);
	return 0;
}

/* Reads the data of all runs into v->data. */
static int read_runs(struct live *v, struct err *e)
{
	struct jw w = { .out = &v->data };
	int rc = 0;

	buf_clear(&v->data);
	jw_begin(&w, '{');
	jw_key(&w, "runs"), jw_begin(&w, '[');
	for (size_t i = 0; i < v->runs->n && rc >= 0; i++) {
		struct buf run = BUF_INIT;
		struct store *s;

		rc = open_store(v->runs->v[i], &s, e);
		if (rc > 0 && !(rc = web_run(s, v->runs->v[i], &run, e)))
			jw_raw(&w, buf_str(&run));
		store_close(s);
		buf_release(&run);
	}
	jw_end(&w, ']');
	if (rc >= 0 && put_spent(&w, v->runs->v[0], e))
		rc = -1;
	jw_end(&w, '}');
	v->read_ns = clock_ns();
	return rc < 0 ? -1 : buf_check(&v->data, e);
}

/* Answers with the data of all runs, read again if it is too old. */
static void answer_data(struct live *v, struct httpd_call *c)
{
	struct err e = ERR_INIT;

	if ((!v->read_ns || clock_ns() - v->read_ns > FRESH_MS * 1000000LL) && read_runs(v, &e))
		httpd_error(c, 500, "cannot read the run: %s", e.text);
	else
		httpd_reply(c, 200, "application/json", buf_str(&v->data), "Cache-Control: no-store");
}

/* Answers with one task of the first run, which the page shows. */
static void answer_task(struct live *v, struct httpd_call *c)
{
	struct err e = ERR_INIT;
	struct buf out = BUF_INIT;
	struct store *s;
	int rc = open_store(v->runs->v[0], &s, &e);

	if (rc > 0)
		rc = web_task(s, httpd_rest(c), TASK_MOST, &out, &e);
	if (rc < 0)
		httpd_error(c, 500, "cannot read the run: %s", e.text);
	else if (!out.n)
		httpd_error(c, 404, "the run has not started yet");
	else
		httpd_reply(c, 200, "application/json", buf_str(&out), NULL);
	store_close(s);
	buf_release(&out);
}

/* Answers one request. Called by the queue's thread. */
static void answer(void *ctx, struct queued *queued)
{
	struct asking *a = (struct asking *)queued;

	if (a->task)
		answer_task(ctx, a->call);
	else
		answer_data(ctx, a->call);
	mem_free(a);
}

/* --- requests ---------------------------------------------------------------------------------------------- */

/* Queues a request. */
static void ask(struct live *v, struct httpd_call *c, int task)
{
	struct asking *a = mem_zalloc(sizeof *a);

	if (a)
		*a = (struct asking){ .call = c, .task = task };
	if (!a || !queue_enter(&v->queue, &a->queued)) {
		mem_free(a);
		httpd_error(c, 429, "too many requests for the live page are waiting; try again later");
	}
}

void live_data(struct live *v, struct httpd_call *c)
{
	ask(v, c, 0);
}

void live_task(struct live *v, struct httpd_call *c)
{
	ask(v, c, 1);
}

void live_page(struct live *v, struct httpd_call *c)
{
	httpd_reply(c, 200, "text/html; charset=utf-8", buf_str(&v->page), NULL);
}

/* --- opening and closing ------------------------------------------------------------ */

/* The page is made once; only the data changes. */
struct live *live_open(const struct opt_list *runs, struct err *e)
{
	struct live *v = mem_zalloc(sizeof *v);

	if (!v) {
		err_nomem(e);
		return NULL;
	}
	v->runs = runs;
	if (!report_live(runs->v[0], &v->page, e) && !queue_start(&v->queue, WAITING, answer, v, e))
		return v;
	live_close(v);
	return NULL;
}

/* Ends the thread before the data that it uses are freed. */
void live_close(struct live *v)
{
	if (!v)
		return;
	queue_stop(&v->queue);
	buf_release(&v->page);
	buf_release(&v->data);
	mem_free(v);
}
