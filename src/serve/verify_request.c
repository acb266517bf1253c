/* The body of a request for verdicts. See verify_service.h. The body comes from anybody: every
 * field is checked, and options that belong to the server are refused. */
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/opt.h"
#include "data/extract.h"
#include "serve/verify_service_impl.h"

enum { WORDS_MOST = 64 };     /* options in a request */

/* Converts "options" to words of a command line: {"track": "hybrid", "sanitize": false} becomes
 * --track=hybrid --no-sanitize. So the command's own table reads them. */
static int option_words(const struct json *o, struct arena *a, char **words, int most, int *n, struct err *e)
{
	*n = 0;
	for (size_t i = 0; i < json_count(o); i++) {
		const char *key;
		const struct json *v = json_member(o, i, &key);
		char *w = NULL;

		if (*n == most)
			return err_set(e, ERR_USAGE, "too many options");
		switch (json_kind(v)) {
		case JSON_BOOL: w = arena_printf(a, "--%s%s", json_bool(v, 0) ? "" : "no-", key); break;
		case JSON_INT: w = arena_printf(a, "--%s=%lld", key, (long long)json_int(v, 0)); break;
		case JSON_REAL: w = arena_printf(a, "--%s=%.17g", key, json_real(v, 0)); break;
		case JSON_STRING: w = arena_printf(a, "--%s=%.*s", key, STR_ARG(json_str(v, ""))); break;
		default: return err_set(e, ERR_USAGE, "option '%s' must be a number, a string or a boolean", key);
		}
		if (!w)
			return err_nomem(e);
		for (char *p = w; *p && *p != '='; p++)
			*p = *p == '_' ? '-' : *p;
		words[(*n)++] = w;
	}
	return 0;
}

/* Refuses options that belong to the server: number of processes, memory, sandbox, seed, and the
 * programs that the judge starts for a GPU. */
static int check_words(char *const *words, int n, struct err *e)
{
	static const char *const ours[] = { "--workers", "--unsafe-no-sandbox", "--config", "--memory-mb",
					    "--judge-seed", "--judge-device", "--gpu-" };

	for (int i = 0; i < n; i++)
		for (size_t k = 0; k < COUNT_OF(ours); k++)
			if (str_starts(str_of(words[i]), ours[k]))
				return err_set(e, ERR_USAGE, "option '%s' belongs to the server", ours[k] + 2);
	return 0;
}

int request_words(const struct json *options, struct arena *a, char **words, int most, int *n, struct err *e)
{
	if (options && json_kind(options) != JSON_OBJECT && json_kind(options) != JSON_NULL)
		return err_set(e, ERR_USAGE, "'options' must be an object");
	return option_words(options, a, words, most, n, e) || check_words(words, *n, e) ? -1 : 0;
}

/* Reads the options of a request on top of the server's own. r->name gets a canonical text: equal options have
 * equal names. */
static int read_options(struct verify_request *r, const struct json *options, const struct judge_args *own,
			struct err *e)
{
	char *words[WORDS_MOST];
	struct opt_parsed p;
	int n = 0;

	r->args = *own;
	r->name = arena_strdup(&r->words, "");
	if (request_words(options, &r->words, words, WORDS_MOST, &n, e))
		return -1;
	if (!n)
		return r->name ? 0 : err_nomem(e);
	if (opt_parse(judge_args_table, &r->args, n, words, &p, e))
		return -1;
	r->args.pool.workers = own->pool.workers;
	r->args.pool.no_sandbox = own->pool.no_sandbox;
	r->args.pool.gpu = own->pool.gpu;
	r->args.device = own->device;
	r->args.memory_mb = own->memory_mb;
	r->args.judge.seed = own->judge.seed;
	r->name = arena_strdup(&r->words, buf_cstr(&p.resolved));
	opt_release(&p);
	return r->name ? 0 : err_nomem(e);
}

/* Reads one candidate. A missing id is replaced by the candidate's number. With `answers` the code
 * is taken out of the answer's text. */
static struct verify_item *read_item(const struct json *j, struct str shared_task, int answers, size_t number,
				   struct err *e)
{
	struct verify_item *it = mem_zalloc(sizeof *it);
	struct str task = json_str(json_get(j, "task"), NULL), candidate;
	struct buf code = BUF_INIT;
	struct extract x;
	char name[32];

	snprintf(name, sizeof name, "%zu", number);
	task = task.p ? task : shared_task;
	if (!it)
		err_nomem(e);
	else if (!task.p)
		err_set(e, ERR_USAGE, "candidate %zu has no 'task'", number);
	else if (!json_need_str(j, "candidate", &candidate, e) && (!answers || !extract_code(candidate, &x, &code, e)))
		{
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
		verify_item_free(it);
	err_nomem(e);
	return NULL;
}

/* The task that an object names; p is NULL if it names no task. */
static struct str task_of(const struct json *j)
{
	const struct json *t = json_get(j, "task");

	return t ? json_str(t, NULL) : (struct str){ .p = NULL };
}

/* Reads all candidates, or the one that the body itself is. */
static int read_items(struct verify_request *r, const struct json *j, struct err *e)
{
	const struct json *list = json_get(j, "candidates");
	size_t n = list ? json_count(list) : 1;
	int answers = json_bool(json_get(j, "answers"), 0);

	if (list && json_kind(list) != JSON_ARRAY)
		return err_set(e, ERR_USAGE, "'candidates' must be a list");
	r->items = mem_array(n + 1, sizeof *r->items);
	if (!r->items)
		return err_nomem(e);
	for (; r->n < n; r->n++) {
		r->items[r->n] = read_item(list ? json_at(list, r->n) : j, task_of(j), answers, r->n, e);
		if (!r->items[r->n])
			return -1;
	}
	return 0;
}

/* The JSON tree is freed at the end: all texts of the items are copies. */
int verify_request_read(struct verify_request *r, struct str body, const struct judge_args *own, struct err *e)
{
	struct json *j = json_parse(body, e);
	int rc;

	*r = (struct verify_request){ .words = ARENA_INIT };
	rc = !j || read_options(r, json_get(j, "options"), own, e) || read_items(r, j, e) ? -1 : 0;
	json_free(j);
	return rc;
}

/* Frees the items that were not submitted; the caller sets n to 0 after submitting. */
void verify_request_release(struct verify_request *r)
{
	for (size_t i = 0; i < r->n; i++)
		verify_item_free(r->items[i]);
	mem_free(r->items);
	arena_release(&r->words);
}

/* An item that is only partly filled is allowed. */
void verify_item_free(struct verify_item *it)
{
	mem_free(it->id);
	mem_free(it->task);
	mem_free(it->candidate);
	mem_free(it);
}
