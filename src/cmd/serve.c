/* tritonrl serve: the judge, and optionally a model and the page of a run, over HTTP. This file
 * turns options into struct serve_options and waits for a signal; src/serve does the work. */
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "base/file.h"
#include "base/log.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "model/shipped.h"
#include "serve/serve.h"

struct args {
	const char *host, *token_file;            /* HTTP */
	int64_t port, waiting, body_mb, connections, idle;
	struct judge_args judge;                  /* defaults of a request */
	const char *model, *adapter, *name, *device;   /* the model, if any */
	enum model_store store;
	struct opt_list runs;                     /* folders of the live page */
	int64_t threads, slots, length;
};

static const struct opt opts[] = {
	OPT_STR(struct args, host, "host", "ADDRESS", "127.0.0.1",
		"address to listen on; any address but loopback needs --token-file"),
	OPT_INT(struct args, port, "port", 0, 65535, 8077,
		"port to listen on; 0: any free port, printed in the first line of output"),
	OPT_STR(struct args, token_file, "token-file", "FILE", NULL,
		"require the first line of this file as a token: Authorization: Bearer TOKEN"),
	OPT_INT(struct args, waiting, "queue", 1, 10000000, 4096,
		"candidates that may wait; further ones are answered with 429"),
	OPT_INT(struct args, body_mb, "body-mb", 1, 1024, 16, "maximum size of a request, in MiB"),
	OPT_INT(struct args, connections, "connections", 1, 100000, 512,
		"maximum number of open connections"),
	OPT_INT(struct args, idle, "idle", 1, 86400, 60,
		"seconds until a silent connection is closed"),
	OPT_INCLUDE(struct args, judge, judge_args_table, "The judge, where a request does not say otherwise"),
	OPT_LIST(struct args, runs, "run", "DIR", 0,
		 "show this run folder as a live page; repeat to compare runs"),
	OPT_STR(struct args, model, "model", "DIR", NULL,
		"also serve this model (Hugging Face form), or this adapter on the model it names; default: the model "
		"that ships with the program, if it is there; none: no model"),
	OPT_STR(struct args, adapter, "adapter", "DIR", NULL,
		"load a LoRA adapter on the model (PEFT form)"),
	OPT_STR(struct args, name, "name", "NAME", NULL,
		"model name that clients use (default: the name of the folder)"),
	OPT_ENUM(struct args, store, "weights", MODEL_STORE_CHOICES, "f32",
		 "storage format of the weights"),
	OPT_STR(struct args, device, "device", "NAME", "auto",
		"where the model runs: " DEV_CHOICES),
	OPT_INT(struct args, threads, "threads", 0, 1024, 0,
		"CPU threads of the model; 0: one per core"),
	OPT_INT(struct args, slots, "slots", 0, 4096, 0, "samples decoded at the same time; 0: 32"),
	OPT_INT(struct args, length, "length", 0, 1 << 24, 0,
		"maximum tokens of prompt plus answer, which sets the memory; 0: 2048"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "",
	.about = "Serve the judge and a language model over HTTP. POST /v1/verify "
		 "takes one candidate or a batch and streams one verdict per line; GET "
		 "/v1/verdicts/KEY returns a verdict again; POST /v1/chat/completions, POST "
		 "/v1/completions and GET /v1/models follow OpenAI's API; with --run, GET / is a "
		 "page about a run; GET /metrics is for Prometheus, GET /healthz for health "
		 "checks. Ctrl-C finishes the candidates in progress and stops.",
	.shown = "host port token-file queue track precision gpu workers timeout run model adapter "
		"device",
	.opts = opts,
};

/* The token is the first line of the file, so that an editor's final newline does not matter. Short
 * tokens are refused because they can be guessed. */
static int read_token(const char *path, struct buf *out, struct err *e)
{
	struct buf text = BUF_INIT;
	struct str rest;
	int rc = file_read(path, 1 << 16, &text, e);

	if (!rc) {
		rest = buf_str(&text);
		buf_addstr(out, str_trim(str_cut(&rest, '\n')));
		rc = out->n >= 8 ? buf_check(out, e) : err_set(e, ERR_USAGE,
							       "the token in '%s' has fewer than 8 characters", path);
	}
	buf_release(&text);
	return rc;
}

/* The first line of output names the port, which a script needs with --port 0. After a signal the
 * server gets 30 seconds to finish the candidates that are being judged. */
static int run(const struct args *a, struct err *e)
{
	struct serve_options o = { .http = { .host = a->host, .port = (int)a->port,
					     .body_most = (size_t)a->body_mb << 20, .connections = (int)a->connections,
					     .seconds = (int)a->idle },
				   .verify = { .judge = a->judge, .waiting = a->waiting },
				   .runs = a->runs,
				   .completion = { .model = a->model, .adapter = a->adapter, .name = a->name,
					     .device = a->device, .threads = (int)a->threads,
					     .slots = (int)a->slots, .length = a->length, .store = a->store } };
	struct buf token = BUF_INIT, base = BUF_INIT, shipped = BUF_INIT;
	struct serve *s = NULL;

	if (!a->model && model_shipped(&shipped))
		o.completion.model = buf_cstr(&shipped);
	else if (a->model && !strcmp(a->model, "none"))
		o.completion.model = NULL;
	if ((!o.completion.model || !adapter_split(&o.completion.model, &o.completion.adapter, &base, e)) &&
	    (!a->token_file || !read_token(a->token_file, &token, e))) {
		o.http.token = token.n ? token.p : NULL;
		s = serve_open(&o, e);
	}
	if (s) {
		printf("listening on http://%s:%d\n", a->host, serve_port(s));
		fflush(stdout);
		while (!stop_requested())
			nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
		log_info("stopping");
		serve_close(s, 30.0);
	}
	buf_release(&token);
	buf_release(&base);
	buf_release(&shipped);
	return s ? 0 : -1;
}

int cmd_serve(int argc, char **argv)
{
	struct opt_parsed p;
	struct args a;
	struct err e = ERR_INIT;
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	stop_install();
	signal(SIGPIPE, SIG_IGN);   /* a client that disconnects must not end the server */
	rc = run(&a, &e);
	opt_release(&p);
	return rc ? cmd_fail("serve", &e) : CMD_OK;
}
