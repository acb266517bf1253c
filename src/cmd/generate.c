/* tritonrl generate: samples completions of a prompt or a task. infer/infer.h samples; this file
 * builds the prompt, prints samples in order and streams a single one as it is drawn. */
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "data/prompt.h"
#include "infer/infer.h"
#include "model/shipped.h"

struct args {
	const char *model, *adapter, *device;
	enum model_store store;
	const char *prompt, *prompt_file, *task, *system, *style;
	int raw, json, special, exact, kv8;
	int64_t n, max_new, top_k, seed, threads, slots;
	double temperature, top_p, min_p, repetition;
	struct opt_list stop;
};

static const struct opt table[] = {
	OPT_STR(struct args, model, "model", "DIR", NULL,
		"model folder (Hugging Face form), or an adapter folder that names its model; default: the model that "
		"ships with the program"),
	OPT_STR(struct args, adapter, "adapter", "DIR", NULL,
		"load a LoRA adapter on it (PEFT form)"),
	OPT_STR(struct args, prompt, "prompt", "TEXT", NULL, "text to complete or answer"),
	OPT_STR(struct args, prompt_file, "prompt-file", "FILE", NULL,
		"read the prompt from a file; - is standard input"),
	OPT_STR(struct args, task, "task", "FILE", NULL,
		"ask for a Triton version of this PyTorch task file"),
	OPT_STR(struct args, system, "system", "TEXT", NULL, "system message of the chat"),
	OPT_CHOICE(struct args, style, "prompt-style", PROMPT_STYLES_OR_AUTO, "auto", PROMPT_STYLE_HELP),
	OPT_FLAG(struct args, raw, "raw", 0, "use the prompt as it is, without the chat template"),
	OPT_INT(struct args, n, "n", 1, 1000000, 1, "number of samples"),
	OPT_INT(struct args, max_new, "max-new-tokens", 1, 1000000, 512,
		"maximum tokens per sample"),
	OPT_REAL(struct args, temperature, "temperature", 0, 100, 1,
		 "sampling temperature; 0: greedy"),
	OPT_INT(struct args, top_k, "top-k", 0, 10000000, 0,
		"sample from the k most likely tokens; 0: all"),
	OPT_REAL(struct args, top_p, "top-p", 0, 1, 1,
		 "sample from the smallest set of tokens with this total probability; 1: all"),
	OPT_REAL(struct args, min_p, "min-p", 0, 1, 0,
		 "drop tokens less likely than this times the most likely token"),
	OPT_REAL(struct args, repetition, "repetition-penalty", 0.01, 100, 1,
		 "values over 1 make tokens that are already in the text less likely"),
	OPT_LIST(struct args, stop, "stop", "TEXT", 0,
		 "end a sample at this string; may be repeated"),
	OPT_INT(struct args, seed, "seed", 0, 9007199254740992, 0,
		"random seed; the same seed gives the same samples"),
	OPT_FLAG(struct args, json, "json", 0,
		 "print one JSON line per sample: text, tokens, logprobs, finish, prompt_tokens"),
	OPT_ENUM(struct args, store, "weights", MODEL_STORE_CHOICES, "f32",
		 "storage format of the weights"),
	OPT_ALIAS("store", "weights"),
	OPT_STR(struct args, device, "device", "NAME", "auto", "where the model runs: " DEV_CHOICES),
	OPT_FLAG(struct args, exact, "exact", 0,
		 "on a GPU, a sample has the same bits alone and in any batch; slower"),
	OPT_FLAG(struct args, kv8, "kv8", 0,
		 "store the KV cache in 8 bits on a GPU: half the memory"),
	OPT_INT(struct args, threads, "threads", 0, 1024, 0, "CPU threads; 0: one per core"),
	OPT_INT(struct args, slots, "slots", 0, 4096, 0,
		"samples decoded at the same time; 0: as many as --n, at most 64"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "",
	.about = "Sample completions from a model. Give one of --prompt, --prompt-file and "
		 "--task. The prompt goes through the model's chat template unless --raw is given "
		 "or the model has none. A single sample is streamed to the terminal; Ctrl-C "
		 "stops it.",
	.shown = "model adapter prompt prompt-file task raw n max-new-tokens temperature top-p "
		"seed json device",
	.opts = table,
};

/* The state that the callbacks share. Samples finish in any order but are printed by number, so a
 * finished sample may have to wait. */
struct output {
	const struct args *a;
	struct tok *tok;            /* of the model; freed by generate() */
	struct buf *ready;          /* [n], finished text of each sample until it is printed */
	char *is_ready;             /* [n] */
	int64_t next;               /* first sample that is not yet printed */
	int prompt_tokens, streaming;
	int interrupted, refused;   /* a sample was stopped; the prompt is too long for the model */
};

/* --- the prompt ------------------------------------------------------------------------------- */

/* Exactly one of --prompt, --prompt-file and --task is given. A task is wrapped in the prompt that
 * training uses, in the style that the model was trained with. */
static int read_prompt(const struct args *a, struct buf *system, struct buf *user, struct err *e)
{
	struct buf task = BUF_INIT;
	enum prompt_style style;
	int rc;

	if ((a->prompt != NULL) + (a->prompt_file != NULL) + (a->task != NULL) != 1)
		return err_set(e, ERR_USAGE, "give one of --prompt, --prompt-file and --task");
	if (a->system)
		buf_adds(system, a->system);
	if (a->prompt)
		buf_adds(user, a->prompt);
	if (a->prompt_file)
		return file_read(strcmp(a->prompt_file, "-") ? a->prompt_file : "/dev/stdin", 0, user, e);
	if (!a->task)
		return 0;
	style = prompt_style_choose((enum prompt_style)prompt_style_by_name(str_of(a->style)), a->adapter, a->model);
	rc = file_read(a->task, 0, &task, e) ||
	     prompt_task((struct prompt_ask){ .style = style, .strict = 1 }, buf_str(&task), system, user, e);
	buf_release(&task);
	return rc;
}

/* One message of the conversation in the form that chat templates expect. */
static void add_message(struct jw *w, const char *role, struct str content)
{
	jw_begin(w, '{');
	jw_key(w, "role");
	jw_cstr(w, role);
	jw_key(w, "content");
	jw_str(w, content);
	jw_end(w, '}');
}

/* Renders the conversation with the model's chat template. The template takes JSON, so the messages
 * are written as JSON first. */
static int chat_text(const struct tok *t, struct str system, struct str user, struct buf *out, struct err *e)
{
	struct buf text = BUF_INIT;
	struct jw w = { .out = &text };
	struct json *messages;
	int rc = -1;

	jw_begin(&w, '[');
	if (system.n)
		add_message(&w, "system", system);
	add_message(&w, "user", user);
	jw_end(&w, ']');
	messages = json_parse(buf_str(&text), e);
	if (messages)
		rc = tok_render_chat(t, &(struct tok_chat){ .messages = messages, .add_generation_prompt = 1 }, out, e);
	json_free(messages);
	buf_release(&text);
	return rc;
}

/* Without a chat template (or with --raw) the text is encoded as it is, with the tokenizer's
 * special tokens in front. */
static int encode_prompt(const struct args *a, const struct tok *t, struct tok_ids *ids, struct err *e)
{
	struct buf system = BUF_INIT, user = BUF_INIT, text = BUF_INIT;
	struct tok_enc *x = tok_enc_new(t, e);
	int chat = !a->raw && tok_has_template(t), rc = -1;

	if (!x || read_prompt(a, &system, &user, e))
		goto out;
	if (!chat) {
		buf_addstr(&text, buf_str(&system));
		buf_adds(&text, system.n ? "\n\n" : "");
		buf_addstr(&text, buf_str(&user));
	} else if (chat_text(t, buf_str(&system), buf_str(&user), &text, e)) {
		goto out;
	}
	/* A chat template writes the special tokens itself. */
	rc = buf_check(&text, e) ? -1 : tok_encode(x, buf_str(&text), chat ? 0 : TOK_ADD_SPECIAL, ids, e);
	if (!rc && !ids->n)
		rc = err_set(e, ERR_USAGE, "the prompt is empty");
out:
	tok_enc_free(x);
	buf_release(&system);
	buf_release(&user);
	buf_release(&text);
	return rc;
}

/* --- results ------------------------------------------------------------------------------------ */

/* The fields are an interface for scripts: sample, text, tokens, logprobs, finish,
 * prompt_tokens. */
static void write_json(const struct output *o, const struct infer_result *r, struct buf *b)
{
	struct jw w = { .out = b };

	jw_begin(&w, '{');
	jw_key(&w, "sample");
	jw_int(&w, r->sample);
	jw_key(&w, "text");
	jw_str(&w, r->text);
	jw_key(&w, "tokens");
	jw_begin(&w, '[');
	for (int i = 0; i < r->n; i++)
		jw_int(&w, r->tokens[i]);
	jw_end(&w, ']');
	jw_key(&w, "logprobs");
	jw_begin(&w, '[');
	for (int i = 0; i < r->n; i++)
		jw_real(&w, (double)r->logprobs[i]);
	jw_end(&w, ']');
	jw_key(&w, "finish");
	jw_cstr(&w, infer_finish_name(r->finish));
	jw_key(&w, "prompt_tokens");
	jw_int(&w, o->prompt_tokens);
	jw_end(&w, '}');
	buf_addc(b, '\n');
}

/* A streamed sample is already on the terminal, so only its final newline is left to print. */
static void write_plain(const struct output *o, const struct infer_result *r, struct buf *b)
{
	if (o->a->n > 1)
		buf_addf(b, "%s--- sample %d (%s, %d tokens)\n", r->sample ? "\n" : "", r->sample,
			 infer_finish_name(r->finish), r->n);
	if (!o->streaming)
		buf_addstr(b, r->text);
	buf_addc(b, '\n');
}

/* A sample is finished: format it, then print every sample that is next in order. */
static void done(void *ctx, const struct infer_result *r)
{
	struct output *o = ctx;

	o->interrupted |= r->finish == INFER_INTERRUPTED;
	o->refused |= r->finish == INFER_REFUSED;
	(o->a->json ? write_json : write_plain)(o, r, &o->ready[r->sample]);
	o->is_ready[r->sample] = 1;
	for (; o->next < o->a->n && o->is_ready[o->next]; o->next++) {
		struct buf *b = &o->ready[o->next];

		fwrite(buf_cstr(b), 1, b->n, stdout);
		buf_release(b);
	}
	fflush(stdout);
}

/* Streams a piece of text; only if there is a single sample and no JSON. */
static void show(void *ctx, const struct infer_request *q, int sample, struct str piece)
{
	const struct output *o = ctx;

	(void)q, (void)sample;
	if (o->streaming) {
		fwrite(piece.p, 1, piece.n, stdout);
		fflush(stdout);
	}
}

static int asked_to_stop(void *ctx)
{
	(void)ctx;
	return stop_requested();
}

/* --- the run -------------------------------------------------------------------------------------- */

/* The model's end-of-sequence token ends a sample if the tokenizer names no stop tokens. */
static int sample_all(const struct args *a, struct infer *x, struct output *o, const struct tok_ids *prompt,
		      const struct model_config *c, struct err *e)
{
	const char **stops = mem_array(a->stop.n + 1, sizeof *stops);
	struct infer_stats st = { .prompts = 0 };
	struct infer_request q = {
		.prompt = prompt->v, .prompt_n = (int)prompt->n, .n = (int)a->n, .seed = (uint64_t)a->seed,
		.sample = { .temperature = (float)a->temperature, .top_k = (int)a->top_k, .top_p = (float)a->top_p,
			    .min_p = (float)a->min_p, .repetition = (float)a->repetition },
		.max_new_tokens = (int)a->max_new, .stop_strings = stops,
	};
	const struct infer_calls calls = { .done = done, .text = show, .stop = asked_to_stop, .ctx = o };
	int32_t eos = c->eos;
	int rc;

	if (!stops)
		return err_nomem(e);
	for (size_t i = 0; i < a->stop.n; i++)
		stops[i] = a->stop.v[i];
	q.nstop_tokens = tok_stops(o->tok, &q.stop_tokens);
	if (!q.nstop_tokens && eos >= 0) {
		q.stop_tokens = &eos;
		q.nstop_tokens = 1;
	}
	rc = infer_run_list(x, &q, 1, &calls, &st, e);
	/* Speed is for people at a terminal; scripts that read stderr do not expect it. */
	if (!rc && isatty(STDERR_FILENO) && !a->json)
		fprintf(stderr, "%lld prompt tokens in %.2f s, %lld tokens in %.2f s (%.1f/s)\n",
			(long long)st.prompt_tokens,
			(double)st.prefill_ns * 1e-9, (long long)st.tokens,
			(double)(st.decode_ns + st.sample_ns) * 1e-9,
			(double)st.tokens * 1e9 / (double)MAX(st.decode_ns + st.sample_ns, 1));
	mem_free(stops);
	return rc;
}

/* Opens tokenizer, device, model and adapter in this order, so that a wrong prompt is reported
 * before gigabytes are read. */
static int generate(const struct args *a, struct output *o, struct err *e)
{
	const struct model_opts mo = { .store = a->store };
	struct dev *d = NULL;
	struct model *m = NULL;
	struct adapter *ad = NULL;
	struct infer *x = NULL;
	struct tok_ids prompt = TOK_IDS_INIT;
	int rc = -1;

	o->tok = tok_open(a->model, e);
	if (!o->tok || encode_prompt(a, o->tok, &prompt, e))
		goto out;
	o->prompt_tokens = (int)prompt.n;
	d = dev_open(a->device, (int)a->threads, e);
	if (d)
		d->exact = a->exact;
	m = d ? model_open(d, a->model, &mo, e) : NULL;
	if (!m || (a->adapter && !(ad = adapter_open(m, a->adapter, e))))
		goto out;
	x = infer_new(m, ad, o->tok, &(struct infer_opts) {
		.slots = (int)(a->slots ? a->slots : MIN(a->n, 64)), .length = (int64_t)prompt.n + a->max_new,
		.kv8 = a->kv8 }, e);
	if (x)
		rc = sample_all(a, x, o, &prompt, model_config(m), e);
out:
	infer_free(x);
	adapter_free(ad);
	model_free(m);
	dev_close(d);
	tok_free(o->tok);
	vec_free(&prompt);
	return rc;
}

int cmd_generate(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct opt_parsed p;
	struct args a;
	struct output o = { .a = &a };
	struct buf base = BUF_INIT;          /* path of the model that an adapter names */
	struct buf shipped = BUF_INIT;
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	stop_install();
	o.streaming = a.n == 1 && !a.json;   /* several samples would mix on the terminal */
	o.ready = mem_array((size_t)a.n, sizeof *o.ready);
	o.is_ready = mem_array((size_t)a.n, 1);
	if (!a.model && model_shipped(&shipped))
		a.model = buf_cstr(&shipped);
	if (!o.ready || !o.is_ready)
		rc = err_nomem(&e);
	else if (!a.model)
		rc = err_set(&e, ERR_USAGE, "--model is needed: " MODEL_SHIPPED_MISSING);
	else
		rc = adapter_split(&a.model, &a.adapter, &base, &e) || generate(&a, &o, &e) ? -1 : 0;
	if (!rc && o.interrupted)
		rc = err_set(&e, ERR_INTERRUPTED, "interrupted");
	else if (!rc && o.refused)
		rc = err_set(&e, ERR_RANGE, "the prompt of %d tokens does not fit", o.prompt_tokens);
	rc = rc ? cmd_fail(argv[0], &e) : CMD_OK;
	for (int64_t i = 0; o.ready && i < a.n; i++)
		buf_release(&o.ready[i]);
	mem_free(o.ready);
	mem_free(o.is_ready);
	buf_release(&base);
	buf_release(&shipped);
	opt_release(&p);
	return rc;
}
