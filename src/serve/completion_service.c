/* The model over HTTP: see completion_service.h.
 *
 * Owns the queue of requests and the thread that samples. completion.c reads bodies and writes
 * answers. Invariant: only the sampling thread touches the model and the requests that left the
 * queue. */
#include "serve/completion_service.h"

#include <pthread.h>
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "serve/completion.h"

enum { SLOTS = 32, LENGTH = 2048, WAITING = 256 };     /* defaults of the options */

struct completion_service {
	struct completion_service_options o;
	char name[128];
	struct tok *tok;
	struct dev *dev;
	struct model *model;
	struct adapter *adapter;
	struct infer *infer;
	pthread_t thread;
	int started;
	pthread_mutex_t lock;         /* guards everything below */
	pthread_cond_t come;          /* a request came, or the service closes */
	struct completion *first, **last;
	int closing;
	struct completion_service_stats st;
};

/* --- the thread that samples -------------------------------------------------------------------------- */

/* Removes and returns the first request of the queue. Returns NULL if it is empty or the service is
 * closing. */
static struct completion *take(struct completion_service *t)
{
	struct completion *s;

	pthread_mutex_lock(&t->lock);
	s = t->closing ? NULL : t->first;
	if (s) {
		t->first = s->next;
		if (!t->first)
			t->last = &t->first;
		t->st.waiting--;
		t->st.sampling++;
		t->st.prompt_tokens += s->r.prompt_n;
	}
	pthread_mutex_unlock(&t->lock);
	return s;
}

/* Callback of infer_run: the next request for the batch. Returns 0 if the queue is empty. */
static int next(void *ctx, struct infer_request *out)
{
	struct completion *s = take(ctx);

	if (!s)
		return 0;
	completion_begin(s);
	*out = s->r;
	return 1;
}

/* Callback of infer_run: a piece of text of one sample. */
static void show(void *ctx, const struct infer_request *q, int sample, struct str piece)
{
	(void)ctx;
	completion_piece(q->ctx, sample, piece);
}

/* Callback of infer_run: one sample is complete. Counts before the answer, because the answer may
 * free the request. */
static void done(void *ctx, const struct infer_result *r)
{
	struct completion_service *t = ctx;
	struct completion *s = r->request->ctx;
	int last = s->left == 1;

	pthread_mutex_lock(&t->lock);
	t->st.tokens += r->n;
	t->st.sampling -= last;
	pthread_mutex_unlock(&t->lock);
	completion_done(s, r, t->tok);
}

/* Callback of infer_run: tells whether the client has disconnected. */
static int unwanted(void *ctx, const struct infer_request *q)
{
	(void)ctx;
	return httpd_gone(((struct completion *)q->ctx)->call);
}

/* Callback of infer_run: tells whether sampling must stop. */
static int is_closing(void *ctx)
{
	struct completion_service *t = ctx;
	int closing;

	pthread_mutex_lock(&t->lock);
	closing = t->closing;
	pthread_mutex_unlock(&t->lock);
	return closing;
}

/* Waits for a request. Returns 0 if the service closes. */
static int wait_for_somebody(struct completion_service *t)
{
	int closing;

	pthread_mutex_lock(&t->lock);
	while (!t->first && !t->closing)
		pthread_cond_wait(&t->come, &t->lock);
	closing = t->closing;
	pthread_mutex_unlock(&t->lock);
	return !closing;
}

/* The sampling thread. infer_run returns when its batch is empty; the loop then waits for the next
 * request. At the end the requests that still wait are answered with 503. */
static void *keep_sampling(void *ctx)
{
	struct completion_service *t = ctx;
	const struct infer_calls calls = { .next = next, .done = done, .text = show, .unwanted = unwanted,
					   .stop = is_closing, .ctx = t };
	struct err e = ERR_INIT;
	int rc = 0;

	while (!rc && wait_for_somebody(t))
		rc = infer_run(t->infer, &calls, NULL, &e);
	if (rc)
		log_warn("sampling has failed, the model is not served any more: %s", e.text);
	pthread_mutex_lock(&t->lock);
	t->closing = 1;
	while (t->first) {
		struct completion *s = t->first;

		t->first = s->next;
		t->st.waiting--;
		httpd_error(s->call, 503, "%s", rc ? e.text : "the server is stopping");
		completion_free(s);
	}
	t->last = &t->first;
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

/* --- requests -------------------------------------------------------------------------------------------- */

/* Reads a request and puts it in the queue. */
static void answer(struct completion_service *t, struct httpd_call *c, int chat)
{
	struct err e = ERR_INIT;
	struct completion *s = completion_read(httpd_body(c), chat, t->tok, &e);
	int full;

	if (!s) {
		httpd_error(c, e.code == ERR_NOMEM ? 500 : 400, "%s", e.text);
		return;
	}
	s->call = c;
	s->model = t->name;
	pthread_mutex_lock(&t->lock);
	full = t->closing || t->st.waiting >= t->o.waiting;
	if (!full) {
		t->st.requests++;
		t->st.waiting++;
		*t->last = s;
		t->last = &s->next;
		pthread_cond_signal(&t->come);
	}
	pthread_mutex_unlock(&t->lock);
	if (full) {
		httpd_error(c, 429, "the limit of %d waiting requests is reached; try again later", t->o.waiting);
		completion_free(s);
	}
}

void completion_service_chat(struct completion_service *t, struct httpd_call *c)
{
	answer(t, c, 1);
}

void completion_service_completion(struct completion_service *t, struct httpd_call *c)
{
	answer(t, c, 0);
}

/* Lists the one model that is served. */
void completion_service_models(struct completion_service *t, struct httpd_call *c)
{
	struct buf out = BUF_INIT;
	struct jw w = { .out = &out };

	jw_begin(&w, '{');
	jw_key(&w, "object"), jw_cstr(&w, "list");
	jw_key(&w, "data"), jw_begin(&w, '['), jw_begin(&w, '{');
	jw_key(&w, "id"), jw_cstr(&w, t->name);
	jw_key(&w, "object"), jw_cstr(&w, "model");
	jw_key(&w, "created"), jw_int(&w, 0);
	jw_key(&w, "owned_by"), jw_cstr(&w, "tritonrl");
	jw_end(&w, '}'), jw_end(&w, ']'), jw_end(&w, '}');
	buf_addc(&out, '\n');
	httpd_reply(c, 200, "application/json", buf_str(&out), NULL);
	buf_release(&out);
}

/* A consistent copy of the counts. */
struct completion_service_stats completion_service_stats(struct completion_service *t)
{
	struct completion_service_stats s;

	pthread_mutex_lock(&t->lock);
	s = t->st;
	pthread_mutex_unlock(&t->lock);
	return s;
}

/* --- opening and closing ------------------------------------------------------------ */

/* Loads tokenizer, model and adapter. */
static int open_model(struct completion_service *t, struct err *e)
{
	struct model_opts mo = { .store = t->o.store };
	struct infer_opts io = { .slots = t->o.slots ? t->o.slots : SLOTS, .length = t->o.length ?
				 t->o.length : LENGTH };

	t->tok = tok_open(t->o.model, e);
	t->dev = t->tok ? dev_open(t->o.device ? t->o.device : "auto", t->o.threads, e) : NULL;
	t->model = t->dev ? model_open(t->dev, t->o.model, &mo, e) : NULL;
	if (!t->model || (t->o.adapter && !(t->adapter = adapter_open(t->model, t->o.adapter, e))))
		return -1;
	t->infer = infer_new(t->model, t->adapter, t->tok, &io, e);
	return t->infer ? 0 : -1;
}

/* Loads the model before the thread starts, so that errors are reported to the caller. */
struct completion_service *completion_service_open(const struct completion_service_options *o, struct err *e)
{
	struct completion_service *t = mem_zalloc(sizeof *t);
	struct str base;

	if (!t) {
		err_nomem(e);
		return NULL;
	}
	t->o = *o;
	t->o.waiting = o->waiting ? o->waiting : WAITING;
	base = path_base(o->name ? o->name : o->model);
	snprintf(t->name, sizeof t->name, "%.*s", STR_ARG(base));
	t->last = &t->first;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->come, NULL);
	if (!open_model(t, e)) {
		t->started = !pthread_create(&t->thread, NULL, keep_sampling, t);
		if (t->started)
			return t;
		err_set(e, ERR_IO, "cannot start a thread");
	}
	completion_service_close(t);
	return NULL;
}

/* Ends the thread first: it uses everything that is freed here. */
void completion_service_close(struct completion_service *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->closing = 1;
	pthread_cond_signal(&t->come);
	pthread_mutex_unlock(&t->lock);
	if (t->started)
		pthread_join(t->thread, NULL);
	infer_free(t->infer);
	adapter_free(t->adapter);
	model_free(t->model);
	dev_close(t->dev);
	tok_free(t->tok);
	pthread_cond_destroy(&t->come);
	pthread_mutex_destroy(&t->lock);
	mem_free(t);
}
