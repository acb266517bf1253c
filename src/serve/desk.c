/* The desk: requests in, verdicts out. Bodies are read in desk_read.c, the lanes that judge are in
 * desk_lane.c. See desk.h. */
#include "serve/desk.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "serve/desk_impl.h"
#include "verify/pool/verdict_cache.h"

enum { WAITING = 4096, LANES = 4, MEMO = 8192 };

/* --- answers ------------------------------------------------------------------------------------ */

/* A verdict as its line, with the key to ask for it again. */
static void write_line(const struct verdict *v, struct str id, const char *key, struct buf *out)
{
	size_t start = out->n;

	verdict_json(v, id, out);
	while (out->n > start && (out->p[out->n - 1] == '\n' || out->p[out->n - 1] == '}'))
		out->n--;
	buf_addf(out, ",\"key\":\"%s\"}\n", key);
}

static void count(struct desk *d, const struct verdict *v, int failed, double seconds)
{
	pthread_mutex_lock(&d->lock);
	d->st.candidates++;
	d->st.correct += !failed && v->correct;
	d->st.wrong += !failed && !v->correct;
	d->st.unjudged += failed;
	d->st.seconds += seconds;
	pthread_mutex_unlock(&d->lock);
}

void desk_answer(struct desk_item *it, const struct verdict *v, int failed)
{
	struct desk_job *j = it->job;
	struct buf line = BUF_INIT;

	count(j->desk, v, failed, (double)(clock_ns() - j->start_ns) / 1e9);
	write_line(v, str_of(it->id), it->key, &line);
	httpd_add(j->call, buf_str(&line));
	buf_release(&line);
	desk_item_free(it);
	desk_job_drop(j);
}

void desk_job_drop(struct desk_job *j)
{
	if (atomic_fetch_sub(&j->left, 1) > 1)
		return;
	httpd_end(j->call);
	mem_free(j);
}

/* --- a request ------------------------------------------------------------------------------------ */

/* Room for n more: 0, or -1 and it stays as it was. */
static int reserve(struct desk *d, size_t n)
{
	int full;

	pthread_mutex_lock(&d->lock);
	full = d->closing || d->st.waiting + (int64_t)n > d->o.waiting;
	d->st.refused += full;
	d->st.waiting += full ? 0 : (int64_t)n;
	pthread_mutex_unlock(&d->lock);
	return full ? -1 : 0;
}

void desk_unreserve(struct desk *d, int64_t n, int dropped)
{
	pthread_mutex_lock(&d->lock);
	d->st.waiting -= n;
	d->st.dropped += dropped ? n : 0;
	pthread_mutex_unlock(&d->lock);
}

/* What was judged before is answered here; the rest goes to the lane. Takes the items over. */
static void submit(struct desk *d, struct desk_lane *l, struct httpd_call *c, struct desk_item **items, size_t n)
{
	struct desk_job *j = mem_zalloc(sizeof *j);

	if (!j)
		BUG("no memory for a request");
	*j = (struct desk_job){ .desk = d, .call = c, .client = httpd_client(c), .start_ns = clock_ns() };
	atomic_init(&j->left, (int)n + 1);
	httpd_begin(c, "application/x-ndjson");
	for (size_t i = 0; i < n; i++) {
		struct verdict v;

		items[i]->job = j;
		verdict_key(lane_options(l), (struct str){ .p = items[i]->task, .n = items[i]->task_n },
			    (struct str){ .p = items[i]->candidate, .n = items[i]->candidate_n }, items[i]->key);
		if (memo_get(d->memo, items[i]->key, &v)) {
			pthread_mutex_lock(&d->lock);
			d->st.cached++;
			pthread_mutex_unlock(&d->lock);
			desk_unreserve(d, 1, 0);
			desk_answer(items[i], &v, 0);
		} else {
			lane_add(l, items[i]);
		}
	}
	desk_job_drop(j);
}

void desk_verify(struct desk *d, struct httpd_call *c)
{
	struct err e = ERR_INIT;
	struct desk_request r;
	struct desk_lane *l = desk_request_read(&r, httpd_body(c), &d->o.judge, &e) ? NULL :
		desk_lane(d, &r.args, r.name, &e);

	if (!l) {
		httpd_error(c, e.code == ERR_IO || e.code == ERR_NOMEM ? 500 : 400, "%s", e.text);
	} else if (!r.n) {
		httpd_reply(c, 200, "application/x-ndjson", STR(""), NULL);
	} else if (reserve(d, r.n)) {
		httpd_error(c, 429, "%lld candidates are waiting already", (long long)d->o.waiting);
	} else {
		submit(d, l, c, r.items, r.n);
		r.n = 0;
	}
	if (l)
		lane_leave(l);
	desk_request_release(&r);
}

void desk_verdict(struct desk *d, struct httpd_call *c)
{
	struct str key = httpd_rest(c);
	struct buf line = BUF_INIT;
	struct verdict v;
	char hex[65];

	snprintf(hex, sizeof hex, "%.*s", STR_ARG(key));
	if (key.n == 64 && memo_get(d->memo, hex, &v)) {
		write_line(&v, str_of(hex), hex, &line);
		httpd_reply(c, 200, "application/json", buf_str(&line), NULL);
	} else {
		httpd_error(c, 404, "there is no verdict '%.64s'", key.p);
	}
	buf_release(&line);
}

/* --- life ----------------------------------------------------------------------------------------------- */

struct desk *desk_open(const struct desk_options *o, struct err *e)
{
	struct desk *d = mem_zalloc(sizeof *d);
	struct desk_lane *l;

	if (!d) {
		err_nomem(e);
		return NULL;
	}
	d->o = *o;
	d->o.waiting = o->waiting ? o->waiting : WAITING;
	d->o.lanes = o->lanes ? MIN(o->lanes, DESK_LANES) : LANES;
	pthread_mutex_init(&d->lock, NULL);
	d->memo = memo_new(MEMO, e);
	l = d->memo ? desk_lane(d, &d->o.judge, "", e) : NULL;
	if (!l) {
		desk_close(d);
		return NULL;
	}
	lane_leave(l);
	return d;
}

void desk_close(struct desk *d)
{
	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	d->closing = 1;
	pthread_mutex_unlock(&d->lock);
	for (int i = 0; i < DESK_LANES; i++)
		lane_close(d->lane[i]);
	memo_free(d->memo);
	pthread_mutex_destroy(&d->lock);
	mem_free(d);
}

struct desk_stats desk_stats(struct desk *d)
{
	struct desk_stats s;

	pthread_mutex_lock(&d->lock);
	s = d->st;
	pthread_mutex_unlock(&d->lock);
	return s;
}
