/* The desk: requests in, verdicts out. The lanes that judge are in desk_lane.c. See desk.h. */
#include "serve/desk.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "data/extract.h"
#include "serve/desk_impl.h"
#include "verify/cache.h"

enum { WAITING = 4096, LANES = 4, MEMO = 8192, WORDS_MOST = 64 };

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

void desk_item_free(struct desk_item *it)
{
	mem_free(it->id);
	mem_free(it->task);
	mem_free(it->candidate);
	mem_free(it);
}

void desk_job_drop(struct desk_job *j)
{
	if (atomic_fetch_sub(&j->left, 1) > 1)
		return;
	httpd_end(j->call);
	mem_free(j);
}

/* --- reading a request -------------------------------------------------------------------------- */

/* "options" as words of the command line: {"track": "hybrid", "sanitize": false}. */
static int option_words(const struct json *o, struct arena *a, char **words, int *n, struct err *e)
{
	*n = 0;
	for (size_t i = 0; i < json_count(o); i++) {
		const char *key;
		const struct json *v = json_member(o, i, &key);
		char *w = NULL;

		if (*n == WORDS_MOST)
			return err_set(e, ERR_USAGE, "too many options");
		switch (json_kind(v)) {
		case JSON_BOOL: w = arena_printf(a, "--%s%s", json_bool(v, 0) ? "" : "no-", key); break;
		case JSON_INT: w = arena_printf(a, "--%s=%lld", key, (long long)json_int(v, 0)); break;
		case JSON_REAL: w = arena_printf(a, "--%s=%.17g", key, json_real(v, 0)); break;
		case JSON_STRING: w = arena_printf(a, "--%s=%.*s", key, STR_ARG(json_str(v, ""))); break;
		default: return err_set(e, ERR_USAGE, "option '%s' is no number, text or boolean", key);
		}
		if (!w)
			return err_nomem(e);
		for (char *p = w; *p && *p != '='; p++)
			*p = *p == '_' ? '-' : *p;
		words[(*n)++] = w;
	}
	return 0;
}

/* What the machine decides, a request may not: its processes, its sandbox. */
static int check_words(char *const *words, int n, struct err *e)
{
	static const char *const ours[] = { "--workers", "--unsafe-no-sandbox", "--config", "--memory-mb", "--judge-seed" };

	for (int i = 0; i < n; i++)
		for (size_t k = 0; k < COUNT_OF(ours); k++)
			if (str_starts(str_of(words[i]), ours[k]))
				return err_set(e, ERR_USAGE, "option '%s' belongs to the server", ours[k] + 2);
	return 0;
}

/* The lane of a request's options over the server's own. NULL: *e. */
static struct desk_lane *lane_of(struct desk *d, const struct json *options, struct err *e)
{
	struct arena a = ARENA_INIT;
	char *words[WORDS_MOST];
	struct opt_parsed p;
	struct judge_args ja;
	struct desk_lane *l = NULL;
	int n = 0;

	if (!json_count(options))
		return desk_lane(d, &d->o.judge, "", e);
	if (!option_words(options, &a, words, &n, e) && !check_words(words, n, e) && !opt_parse(judge_args_table, &ja, n, words, &p, e)) {
		ja.pool.workers = d->o.judge.pool.workers;
		ja.pool.no_sandbox = d->o.judge.pool.no_sandbox;
		ja.memory_mb = d->o.judge.memory_mb;
		ja.judge.seed = d->o.judge.judge.seed;
		l = desk_lane(d, &ja, buf_cstr(&p.resolved), e);
		opt_release(&p);
	}
	arena_release(&a);
	return l;
}

static struct desk_item *read_item(const struct json *j, struct str shared_task, int answers, size_t number, struct err *e)
{
	struct desk_item *it = mem_zalloc(sizeof *it);
	struct str task = json_str(json_get(j, "task"), NULL), candidate;
	struct buf code = BUF_INIT;
	struct extract x;
	char name[32];

	snprintf(name, sizeof name, "%zu", number);
	task = task.p ? task : shared_task;
	if (!it)
		err_nomem(e);
	else if (!task.p)
		err_set(e, ERR_USAGE, "candidate %zu has no task", number);
	else if (!json_need_str(j, "candidate", &candidate, e) && (!answers || !extract_code(candidate, &x, &code, e))) {
		struct str id = json_str(json_get(j, "id"), name), text = answers ? buf_str(&code) : candidate;

		it->id = json_kind(json_get(j, "id")) == JSON_INT ? NULL : mem_strndup(id.p, id.n);
		if (!it->id && (it->id = mem_alloc(32)))
			snprintf(it->id, 32, "%lld", (long long)json_int(json_get(j, "id"), 0));
		it->task_n = task.n;
		it->candidate_n = text.n;
		it->task = mem_strndup(task.p, task.n);
		it->candidate = mem_strndup(text.p, text.n);
	}
	buf_release(&code);
	if (it && it->id && it->task && it->candidate)
		return it;
	if (it)
		desk_item_free(it);
	err_nomem(e);
	return NULL;
}

static struct str task_of(const struct json *j)
{
	const struct json *t = json_get(j, "task");

	return t ? json_str(t, NULL) : (struct str){ .p = NULL };
}

/* All candidates of a request. On failure none is left. */
static int read_items(const struct json *j, struct desk_item **items, size_t n, struct err *e)
{
	const struct json *list = json_get(j, "candidates");
	int answers = json_bool(json_get(j, "answers"), 0);

	for (size_t i = 0; i < n; i++) {
		items[i] = read_item(list ? json_at(list, i) : j, task_of(j), answers, i, e);
		if (items[i])
			continue;
		while (i--)
			desk_item_free(items[i]);
		return -1;
	}
	return 0;
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

/* What was judged before is answered here; the rest goes to the lane. */
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
	struct json *j = json_parse(httpd_body(c), &e);
	const struct json *list = j ? json_get(j, "candidates") : NULL;
	size_t n = list ? json_count(list) : 1;
	struct desk_item **items = mem_array(n + 1, sizeof *items);
	struct desk_lane *l = NULL;

	if (list && json_kind(list) != JSON_ARRAY)
		err_set(&e, ERR_USAGE, "'candidates' is no list");
	else if (j && items)
		l = lane_of(d, json_get(j, "options"), &e);
	if (l && n && !read_items(j, items, n, &e)) {
		if (!reserve(d, n)) {
			submit(d, l, c, items, n);
		} else {
			for (size_t i = 0; i < n; i++)
				desk_item_free(items[i]);
			httpd_error(c, 429, "%lld candidates are waiting already", (long long)d->o.waiting);
		}
	} else if (l && !n) {
		httpd_reply(c, 200, "application/x-ndjson", STR(""), NULL);
	} else {
		httpd_error(c, e.code == ERR_IO || e.code == ERR_NOMEM ? 500 : 400, "%s", e.text);
	}
	if (l)
		lane_leave(l);
	mem_free(items);
	json_free(j);
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
