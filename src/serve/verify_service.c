/* The verification service: requests in, verdicts out. See verify_service.h.
 *
 * Owns the counts, the limit of waiting candidates, and the format of replies. Bodies are read in
 * verify_request.c; service_pool.c judges. Invariant: every candidate that was accepted gets
 * exactly one line. */
#include "serve/verify_service.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "serve/verify_service_impl.h"
#include "verify/pool/verdict_cache.h"

/* Defaults, and the number of verdicts that are kept for repeated candidates. */
enum { WAITING = 4096, POOLS = 4, RECENT = 8192 };

/* --- answers ------------------------------------------------------------------------------------ */

/* Writes a verdict as its JSON line. The key is added to the object, so that the verdict can be
 * requested again. */
static void write_line(const struct verdict *v, struct str id, const char *key, struct buf *out)
{
	size_t start = out->n;

	verdict_json(v, id, out);
	while (out->n > start && (out->p[out->n - 1] == '\n' || out->p[out->n - 1] == '}'))
		out->n--;
	buf_addf(out, ",\"key\":\"%s\"}\n", key);
}

/* Updates the statistics for one answer. */
static void count(struct verify_service *d, const struct verdict *v, int failed, double seconds)
{
	pthread_mutex_lock(&d->lock);
	d->st.candidates++;
	d->st.correct += !failed && v->correct;
	d->st.unsupported += !failed && verdict_is_unsupported(v);
	d->st.wrong += !failed && !v->correct && !verdict_is_unsupported(v);
	d->st.unjudged += failed;
	d->st.seconds += seconds;
	pthread_mutex_unlock(&d->lock);
}

/* Counts and sends one verdict. The connection may be closed already; httpd then ignores the line. */
void verify_item_answer(struct verify_item *it, const struct verdict *v, int failed)
{
	struct verify_job *j = it->job;
	struct buf line = BUF_INIT;

	count(j->verify, v, failed, (double)(clock_ns() - j->start_ns) / 1e9);
	write_line(v, str_of(it->id), it->key, &line);
	httpd_add(j->call, buf_str(&line));
	buf_release(&line);
	verify_item_free(it);
	verify_job_drop(j);
}

/* Called by several threads; the last one ends the reply. */
void verify_job_drop(struct verify_job *j)
{
	if (atomic_fetch_sub(&j->left, 1) > 1)
		return;
	httpd_end(j->call);
	mem_free(j);
}

/* --- a request ------------------------------------------------------------------------------------ */

/* Makes room for n more waiting candidates. Returns 0, or -1 if too many wait or the service
 * closes. */
static int reserve(struct verify_service *d, size_t n)
{
	int full;

	pthread_mutex_lock(&d->lock);
	full = d->closing || d->st.waiting + (int64_t)n > d->o.waiting;
	d->st.refused += full;
	d->st.waiting += full ? 0 : (int64_t)n;
	pthread_mutex_unlock(&d->lock);
	return full ? -1 : 0;
}

/* Candidates of clients that disconnected are counted apart: they explain a difference between
 * requests and verdicts. */
void verify_service_unreserve(struct verify_service *d, int64_t n, int dropped)
{
	pthread_mutex_lock(&d->lock);
	d->st.waiting -= n;
	d->st.dropped += dropped ? n : 0;
	pthread_mutex_unlock(&d->lock);
}

/* Answers what was judged before, and sends the rest to the pool. Takes the items over. The job's
 * count starts one too high, so that the reply cannot end while candidates are still submitted. */
static void submit(struct verify_service *d, struct service_pool *p, struct httpd_call *c,
		   struct verify_item **items, size_t n)
{
	struct verify_job *j = mem_zalloc(sizeof *j);

	if (!j)
		BUG("no memory for a request");
	*j = (struct verify_job){ .verify = d, .call = c, .client = httpd_client(c), .start_ns = clock_ns() };
	atomic_init(&j->left, (int)n + 1);
	httpd_begin(c, "application/x-ndjson");
	for (size_t i = 0; i < n; i++) {
		struct verdict v;

		items[i]->job = j;
		verdict_key(service_pool_options(p), (struct str){ .p = items[i]->task, .n = items[i]->task_n },
			    (struct str){ .p = items[i]->candidate, .n = items[i]->candidate_n }, items[i]->key);
		if (recent_verdicts_get(d->recent, items[i]->key, &v)) {
			pthread_mutex_lock(&d->lock);
			d->st.cached++;
			pthread_mutex_unlock(&d->lock);
			verify_service_unreserve(d, 1, 0);
			verify_item_answer(items[i], &v, 0);
		} else {
			service_pool_add(p, items[i]);
		}
	}
	verify_job_drop(j);
}

/* Errors of the request are answered with 400, errors of the machine with 500, a full queue with
 * 429. */
void verify_service_verify(struct verify_service *d, struct httpd_call *c)
{
	struct err e = ERR_INIT;
	struct verify_request r;
	struct service_pool *p = verify_request_read(&r, httpd_body(c), &d->o.judge, &e) ? NULL :
		service_pool_get(d, &r.args, r.name, &e);

	if (!p) {
		httpd_error(c, e.code == ERR_IO || e.code == ERR_NOMEM ? 500 : 400, "%s", e.text);
	} else if (!r.n) {
		httpd_reply(c, 200, "application/x-ndjson", STR(""), NULL);
	} else if (reserve(d, r.n)) {
		httpd_error(c, 429, "the limit of %lld waiting candidates is reached; try again later",
			    (long long)d->o.waiting);
	} else {
		submit(d, p, c, r.items, r.n);
		r.n = 0;
	}
	if (p)
		service_pool_leave(p);
	verify_request_release(&r);
}

/* The key comes from a URL, so only a text of exactly 64 characters is looked up. */
void verify_service_verdict(struct verify_service *d, struct httpd_call *c)
{
	struct str key = httpd_rest(c);
	struct buf line = BUF_INIT;
	struct verdict v;
	char hex[65];

	snprintf(hex, sizeof hex, "%.*s", STR_ARG(key));
	if (key.n == 64 && recent_verdicts_get(d->recent, hex, &v)) {
		write_line(&v, str_of(hex), hex, &line);
		httpd_reply(c, 200, "application/json", buf_str(&line), NULL);
	} else {
		httpd_error(c, 404, "no verdict is kept under '%.64s'", key.p);
	}
	buf_release(&line);
}

/* --- opening and closing ------------------------------------------------------------ */

/* Opens the pool of the default options at once; see the header. */
struct verify_service *verify_service_open(const struct verify_service_options *o, struct err *e)
{
	struct verify_service *d = mem_zalloc(sizeof *d);
	struct service_pool *p;

	if (!d) {
		err_nomem(e);
		return NULL;
	}
	d->o = *o;
	d->o.waiting = o->waiting ? o->waiting : WAITING;
	d->o.pools = o->pools ? MIN(o->pools, SERVICE_POOLS_MOST) : POOLS;
	pthread_mutex_init(&d->lock, NULL);
	d->recent = recent_verdicts_new(RECENT, e);
	p = d->recent ? service_pool_get(d, &d->o.judge, "", e) : NULL;
	if (!p) {
		verify_service_close(d);
		return NULL;
	}
	service_pool_leave(p);
	return d;
}

/* Closes the pools, which answer everything, before the verdicts that they use are freed. */
void verify_service_close(struct verify_service *d)
{
	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	d->closing = 1;
	pthread_mutex_unlock(&d->lock);
	for (int i = 0; i < SERVICE_POOLS_MOST; i++)
		service_pool_close(d->pool[i]);
	recent_verdicts_free(d->recent);
	pthread_mutex_destroy(&d->lock);
	mem_free(d);
}

/* A consistent copy of the counts. */
struct verify_service_stats verify_service_stats(struct verify_service *d)
{
	struct verify_service_stats s;

	pthread_mutex_lock(&d->lock);
	s = d->st;
	pthread_mutex_unlock(&d->lock);
	return s;
}
