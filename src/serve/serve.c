/* The server's routes and metrics: see serve.h.
 *
 * Owns the table of routes and the order in which services are opened and closed. Each service has
 * a file of its own. Invariant: processes are forked before threads are started and weights are
 * loaded. */
#include "serve/serve.h"

#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"

struct serve {
	struct httpd *http;
	struct verify_service *verify;
	struct completion_service *completion;            /* NULL: no model is served */
	struct live *live;            /* NULL: no run is shown */
	struct check_service *check;  /* NULL if and only if `verify` is */
	struct write_service *write;  /* the same */
	struct opt_list runs;
	int64_t start_ns;
};

/* Calls a function of the verification service, if there is one. */
static void judge_by(struct serve *s, struct httpd_call *c, void (*fn)(struct verify_service *d, struct httpd_call *c))
{
	if (s->verify)
		fn(s->verify, c);
	else
		httpd_error(c, 404, "this server only shows a run; use `tritonrl serve` to judge candidates");
}

static void verify(void *ctx, struct httpd_call *c)
{
	judge_by(ctx, c, verify_service_verify);
}

static void verdict(void *ctx, struct httpd_call *c)
{
	judge_by(ctx, c, verify_service_verdict);
}

static void check(void *ctx, struct httpd_call *c)
{
	struct serve *s = ctx;

	if (s->check)
		check_service_check(s->check, c);
	else
		httpd_error(c, 404, "this server only shows a run; use `tritonrl serve` to check files");
}

static void write_kernel(void *ctx, struct httpd_call *c)
{
	struct serve *s = ctx;

	if (s->write)
		write_service_write(s->write, c);
	else
		httpd_error(c, 404, "this server only shows a run; use `tritonrl serve` to write kernels");
}

/* Calls a function of the live page, if there is one. */
static void live_by(struct serve *s, struct httpd_call *c, void (*fn)(struct live *v, struct httpd_call *c))
{
	if (s->live)
		fn(s->live, c);
	else
		httpd_error(c, 404, "no run is shown here; start the server with --run DIR");
}

static void page(void *ctx, struct httpd_call *c)
{
	live_by(ctx, c, live_page);
}

static void run_data(void *ctx, struct httpd_call *c)
{
	live_by(ctx, c, live_data);
}

static void run_task(void *ctx, struct httpd_call *c)
{
	live_by(ctx, c, live_task);
}

/* Calls a function of the model's service, if there is one. */
static void complete_by(struct serve *s, struct httpd_call *c,
			void (*fn)(struct completion_service *t, struct httpd_call *c))
{
	if (s->completion)
		fn(s->completion, c);
	else
		httpd_error(c, 404, "no model is served here; start the server with --model DIR");
}

static void chat(void *ctx, struct httpd_call *c)
{
	complete_by(ctx, c, completion_service_chat);
}

static void completion(void *ctx, struct httpd_call *c)
{
	complete_by(ctx, c, completion_service_completion);
}

static void models(void *ctx, struct httpd_call *c)
{
	complete_by(ctx, c, completion_service_models);
}

/* GET /healthz, for load balancers: the server answers, and its version. */
static void health(void *ctx, struct httpd_call *c)
{
	(void)ctx;
	httpd_reply(c, 200, "application/json", STR("{\"status\":\"ok\",\"version\":\""
						    TRITONRL_VERSION "\"}\n"), NULL);
}

/* --- metrics in the text format of Prometheus ------------------------------------------------------- */

/* Writes one metric with its description. */
static void put(struct buf *out, const char *name, const char *type, const char *help, double v)
{
	buf_addf(out, "# HELP tritonrl_%s %s\n# TYPE tritonrl_%s %s\ntritonrl_%s %.17g\n", name, help,
		 name, type, name, v);
}

static void put_completions(struct buf *out, struct completion_service_stats t)
{
	put(out, "completions_total", "counter", "Requests to the model.", (double)t.requests);
	put(out, "completions_waiting", "gauge", "Requests that wait for a slot in the batch.", (double)t.waiting);
	put(out, "completions_sampling", "gauge", "Requests that are being sampled.", (double)t.sampling);
	put(out, "prompt_tokens_total", "counter", "Tokens of prompts.", (double)t.prompt_tokens);
	put(out, "tokens_total", "counter", "Tokens sampled.", (double)t.tokens);
}

/* GET /metrics. The names of metrics are part of the interface. */
static void metrics(void *ctx, struct httpd_call *c)
{
	struct serve *s = ctx;
	struct verify_service_stats d = { .waiting = 0 };
	struct httpd_stats h = httpd_stats(s->http);
	struct buf out = BUF_INIT;

	if (s->verify)
		d = verify_service_stats(s->verify);
	put(&out, "up_seconds", "gauge", "Seconds since the server started.", (double)(clock_ns() - s->start_ns) / 1e9);
	put(&out, "requests_total", "counter", "HTTP requests.", (double)h.requests);
	put(&out, "requests_open", "gauge", "HTTP requests in progress.", (double)h.open);
	put(&out, "candidates_waiting", "gauge", "Candidates that wait or are being judged.", (double)d.waiting);
	put(&out, "candidates_judging", "gauge", "Candidates that are being judged.", (double)d.judging);
	put(&out, "judge_pools", "gauge", "Combinations of judge options that have processes of their own.",
	    (double)d.pools);
	buf_adds(&out, "# HELP tritonrl_verdicts_total Candidates answered.\n# TYPE tritonrl_verdicts_total counter\n");
	buf_addf(&out, "tritonrl_verdicts_total{verdict=\"correct\"} %lld\n"
		 "tritonrl_verdicts_total{verdict=\"wrong\"} %lld\n"
		 "tritonrl_verdicts_total{verdict=\"unsupported\"} %lld\n"
		 "tritonrl_verdicts_total{verdict=\"unjudged\"} %lld\n",
		 (long long)d.correct, (long long)d.wrong, (long long)d.unsupported, (long long)d.unjudged);
	put(&out, "verdicts_cached_total", "counter", "Candidates answered from earlier verdicts.", (double)d.cached);
	put(&out, "candidates_dropped_total", "counter", "Candidates of clients that disconnected.", (double)d.dropped);
	put(&out, "requests_refused_total", "counter", "Requests answered 429 because too much was waiting.",
	    (double)d.refused);
	put(&out, "verdict_seconds_total", "counter",
	    "Seconds from arrival to verdict, summed over candidates.", d.seconds);
	if (s->completion)
		put_completions(&out, completion_service_stats(s->completion));
	httpd_reply(c, 200, "text/plain; version=0.0.4", buf_str(&out), NULL);
	buf_release(&out);
}

static const struct httpd_route routes[] = {
	{ .method = "POST", .path = "/v1/verify", .fn = verify },
	{ .method = "GET", .path = "/v1/verdicts/", .fn = verdict },
	{ .method = "POST", .path = "/v1/check", .fn = check },
	{ .method = "POST", .path = "/v1/write", .fn = write_kernel },
	{ .method = "POST", .path = "/v1/chat/completions", .fn = chat },
	{ .method = "POST", .path = "/v1/completions", .fn = completion },
	{ .method = "GET", .path = "/v1/models", .fn = models },
	{ .method = "GET", .path = "/", .fn = page },
	{ .method = "GET", .path = "/v1/run", .fn = run_data },
	{ .method = "GET", .path = "/v1/run/task/", .fn = run_task },
	{ .method = "GET", .path = "/healthz", .fn = health },
	{ .method = "GET", .path = "/metrics", .fn = metrics },
	{ .method = NULL }
};

/* --- opening and closing ------------------------------------------------------------ */

/* Tells whether only this machine can reach the address. */
static int is_loopback(const char *host)
{
	return !host || !strcmp(host, "localhost") || !strcmp(host, "::1") || !strncmp(host, "127.", 4);
}

/* Closes the services that were opened. */
static void close_parts(struct serve *s)
{
	write_service_close(s->write);
	check_service_close(s->check);
	live_close(s->live);
	completion_service_close(s->completion);
	if (s->verify)
		verify_service_close(s->verify);
}

/* Opens the services in the order of the invariant above, and the HTTP server last: no request may
 * come before everything is ready. */
struct serve *serve_open(const struct serve_options *o, struct err *e)
{
	struct serve *s = mem_zalloc(sizeof *s);
	struct httpd_options h = o->http;
	const struct write_service_options wo = { .model = o->completion.model, .adapter = o->completion.adapter,
						  .workers = o->verify.judge.pool.workers,
						  .no_sandbox = o->verify.judge.pool.no_sandbox };

	if (!s) {
		err_nomem(e);
		return NULL;
	}
	s->start_ns = clock_ns();
	s->runs = o->runs;
	h.routes = routes;
	h.ctx = s;
	h.local = !h.token && is_loopback(h.host);
	if (!h.token && !is_loopback(h.host))
		err_set(e, ERR_USAGE,
			"anybody who can reach %s could use this server; set a token (--token-file) or listen "
			"on 127.0.0.1", h.host);
	/* The judge's processes are forked before there are threads and weights. */
	else if ((o->no_judge ||
		  ((s->check = check_service_open(e)) && (s->verify = verify_service_open(&o->verify, e)) &&
		   (s->write = write_service_open(&wo, e)))) &&
		 (!o->completion.model || (s->completion = completion_service_open(&o->completion, e))) &&
		 (!o->runs.n || (s->live = live_open(&s->runs, e))) && (s->http = httpd_open(&h, e)))
		return s;
	close_parts(s);
	mem_free(s);
	return NULL;
}

int serve_port(const struct serve *s)
{
	return httpd_port(s->http);
}

/* Requests in progress are finished before the listening socket is closed for good. */
void serve_close(struct serve *s, double seconds)
{
	if (!s)
		return;
	/* New requests are refused first. The services then answer everything, so that no connection waits. */
	httpd_drain(s->http);
	close_parts(s);
	httpd_close(s->http, seconds);
	mem_free(s);
}
