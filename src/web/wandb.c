/* Offline runs of Weights & Biases: see wandb.h.
 *
 * The file run-ID.wandb is a log in LevelDB's form behind a header of seven bytes. Its records are
 * protocol buffers: the run with its configuration, a history record for each optimiser step, the
 * summary, the exit. Everything comes from the JSON that the report is drawn from (web/data.h). */
#include "web/wandb.h"

#include <stdio.h>
#include <time.h>
#include <zlib.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/proto.h"
#include "base/yaml.h"
#include "web/data.h"

/* --- the log ------------------------------------------------------------------------------ */

/* A block has 32,768 bytes. A fragment has a checksum, a length and a kind before its data, and lies in one block. */
enum { BLOCK = 32768, HEAD = 7 };
enum fragment { WHOLE = 1, FIRST, MIDDLE, LAST };

/* The checksum covers the kind and the data. */
static void add_fragment(struct buf *out, enum fragment kind, const char *p, size_t n)
{
	unsigned char head[HEAD] = { [6] = (unsigned char)kind };
	uint32_t crc = (uint32_t)crc32(crc32(0, &head[6], 1), (const unsigned char *)p, (unsigned)n);

	for (int i = 0; i < 4; i++)
		head[i] = (unsigned char)(crc >> 8 * i);
	head[4] = (unsigned char)n;
	head[5] = (unsigned char)(n >> 8);
	buf_add(out, head, HEAD);
	buf_add(out, p, n);
}

/* Adds a record, in several fragments if the block has no room for all of it. Fewer than seven bytes at the end of
 * a block are filled with zeros. */
static void add_record(struct buf *out, struct str record)
{
	size_t at = 0;

	do {
		size_t room = BLOCK - out->n % BLOCK, n;
		enum fragment kind;

		if (room < HEAD) {
			buf_pad(out, '\0', room);
			room = BLOCK;
		}
		n = MIN(room - HEAD, record.n - at);
		if (at + n < record.n)
			kind = at ? MIDDLE : FIRST;
		else
			kind = at ? LAST : WHOLE;
		add_fragment(out, kind, record.p + at, n);
		at += n;
	} while (at < record.n);
}

/* --- messages ----------------------------------------------------------------------------- */

/* The numbers of fields in wandb_internal.proto. */
enum { RECORD_NUM = 1, RECORD_HISTORY = 2, RECORD_SUMMARY = 3, RECORD_RUN = 17, RECORD_EXIT = 18,
       ITEM_KEY = 1, ITEM_VALUE_JSON = 16, HISTORY_ITEM = 1, HISTORY_STEP = 2, UPDATE = 1,
       RUN_ID = 1, RUN_PROJECT = 3, RUN_CONFIG = 4, RUN_NAME = 8, RUN_START = 17, EXIT_CODE = 1, EXIT_RUNTIME = 2 };

/* The state while a run is written. */
struct wandb {
	struct buf out;              /* the file */
	int64_t records, start;      /* start: seconds since 1970 */
	double runtime;              /* seconds up to the last step */
	struct map latest;           /* key -> its last value as a JSON node, borrowed */
};

/* Adds a record with one message in it. Records are numbered from 1. */
static void put_record(struct wandb *w, int field, struct str message)
{
	struct buf record = BUF_INIT;

	proto_int(&record, RECORD_NUM, ++w->records);
	proto_bytes(&record, field, message);
	add_record(&w->out, buf_str(&record));
	w->out.failed |= record.failed;
	buf_release(&record);
}

/* Adds an item to a message: a key and its value as JSON. */
static void put_item(struct buf *message, int field, struct str key, struct str json)
{
	struct buf item = BUF_INIT;

	proto_bytes(&item, ITEM_KEY, key);
	proto_bytes(&item, ITEM_VALUE_JSON, json);
	proto_bytes(message, field, buf_str(&item));
	message->failed |= item.failed;
	buf_release(&item);
}

static void put_real(struct buf *message, int field, const char *key, double v)
{
	struct buf json = BUF_INIT;
	struct jw w = { .out = &json };

	jw_real(&w, v);
	put_item(message, field, str_of(key), buf_str(&json));
	buf_release(&json);
}

static void put_node(struct buf *message, int field, const char *key, const struct json *v)
{
	struct buf json = BUF_INIT;
	struct jw w = { .out = &json };

	jw_json(&w, v);
	put_item(message, field, str_of(key), buf_str(&json));
	message->failed |= json.failed;
	buf_release(&json);
}

/* --- the configuration -------------------------------------------------------------------- */

/* A value of config.yaml as JSON. A text that reads as a number is one, unless it is quoted. */
static void put_yaml(struct jw *w, const struct yaml *y)
{
	int64_t whole;
	double v;
	int yes;

	if (y->kind != YAML_SCALAR) {
		jw_begin(w, y->kind == YAML_MAPPING ? '{' : '[');
		for (const struct yaml *c = y->child; c; c = c->next) {
			if (y->kind == YAML_MAPPING)
				jw_keystr(w, c->key);
			put_yaml(w, c);
		}
		jw_end(w, y->kind == YAML_MAPPING ? '}' : ']');
	} else if (yaml_is_null(y)) {
		jw_null(w);
	} else if (!y->quoted && !yaml_bool(y, &yes)) {
		jw_bool(w, yes);
	} else if (!y->quoted && !str_to_i64(y->text, &whole)) {
		jw_int(w, whole);
	} else if (!y->quoted && !str_to_f64(y->text, &v)) {
		jw_real(w, v);
	} else {
		jw_str(w, y->text);
	}
}

/* Adds the run's configuration: an item for each section or key at the top. */
static int put_config(struct buf *run, struct str text, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct buf config = BUF_INIT, json = BUF_INIT;
	const struct yaml *y = yaml_parse(text, &a, e);

	for (const struct yaml *c = y ? y->child : NULL; c; c = c->next) {
		struct jw w = { .out = &json };

		buf_clear(&json);
		put_yaml(&w, c);
		put_item(&config, UPDATE, c->key, buf_str(&json));
	}
	proto_bytes(run, RUN_CONFIG, buf_str(&config));
	run->failed |= config.failed || json.failed;
	buf_release(&json);
	buf_release(&config);
	arena_release(&a);
	return y ? 0 : -1;
}

/* --- the run ------------------------------------------------------------------------------ */

/* Adds the record that begins the file: identity, start and configuration. */
static int put_run(struct wandb *w, const struct json *run, const char *id, struct err *e)
{
	struct buf m = BUF_INIT, start = BUF_INIT;
	int rc;

	proto_bytes(&m, RUN_ID, str_of(id));
	proto_bytes(&m, RUN_PROJECT, STR("tritonrl"));
	rc = put_config(&m, json_str(json_get(run, "config"), ""), e);
	proto_bytes(&m, RUN_NAME, json_str(json_get(run, "name"), ""));
	proto_int(&start, 1, w->start);
	proto_bytes(&m, RUN_START, buf_str(&start));
	put_record(w, RECORD_RUN, buf_str(&m));
	w->out.failed |= m.failed || start.failed;
	buf_release(&start);
	buf_release(&m);
	return rc;
}

/* Adds an optimiser step. Stages count their steps from 1, and a history has one count: keys get the stage's name
 * ("sft/loss"), and a step its place in metrics.jsonl. */
static int put_step(struct wandb *w, const struct json *line, int64_t step, struct err *e)
{
	struct buf m = BUF_INIT, num = BUF_INIT, key = BUF_INIT;
	struct str stage = json_str(json_get(line, "stage"), "train");
	int rc = 0;

	w->runtime += json_real(json_get(line, "seconds"), 0);
	for (size_t i = 0; i < json_count(line) && !rc; i++) {
		const char *name;
		const struct json *v = json_member(line, i, &name);
		struct map_entry *last;

		if (json_kind(v) != JSON_INT && json_kind(v) != JSON_REAL)
			continue;
		buf_clear(&key);
		buf_addf(&key, "%.*s/%s", STR_ARG(stage), name);
		put_node(&m, HISTORY_ITEM, buf_cstr(&key), v);
		last = map_put(&w->latest, buf_str(&key));
		rc = last ? 0 : err_nomem(e);
		if (last)
			last->val.ptr = (void *)v;
	}
	buf_clear(&key);
	buf_addf(&key, "%lld", (long long)step);
	put_item(&m, HISTORY_ITEM, STR("_step"), buf_str(&key));
	put_real(&m, HISTORY_ITEM, "_runtime", w->runtime);
	put_real(&m, HISTORY_ITEM, "_timestamp", (double)w->start + w->runtime);
	proto_int(&num, 1, step);
	proto_bytes(&m, HISTORY_STEP, buf_str(&num));
	put_record(w, RECORD_HISTORY, buf_str(&m));
	w->out.failed |= m.failed || num.failed || key.failed;
	buf_release(&key);
	buf_release(&num);
	buf_release(&m);
	return rc;
}

/* Adds the summary: the last value of each key, and the figures of each evaluation ("eval_rl/correct"). */
static void put_summary(struct wandb *w, const struct json *run)
{
	const struct json *evals = json_get(run, "evals");
	struct buf m = BUF_INIT, key = BUF_INIT;

	for (size_t i = 0; i < w->latest.n; i++) {
		buf_clear(&key);
		buf_addstr(&key, w->latest.e[i].key);
		put_node(&m, UPDATE, buf_cstr(&key), w->latest.e[i].val.ptr);
	}
	for (size_t i = 0; i < json_count(evals); i++) {
		const struct json *ev = json_at(evals, i), *figures = json_get(ev, "metrics");

		for (size_t k = 0; k < json_count(figures); k++) {
			const char *name;
			const struct json *v = json_member(figures, k, &name);

			buf_clear(&key);
			buf_addf(&key, "eval_%.*s/%s", STR_ARG(json_str(json_get(ev, "name"), "")), name);
			if (json_kind(v) == JSON_INT || json_kind(v) == JSON_REAL)
				put_node(&m, UPDATE, buf_cstr(&key), v);
		}
	}
	put_real(&m, UPDATE, "_runtime", w->runtime);
	put_record(w, RECORD_SUMMARY, buf_str(&m));
	w->out.failed |= m.failed || key.failed;
	buf_release(&key);
	buf_release(&m);
}

/* Adds all records of a run, behind the file's header. */
static int put_all(struct wandb *w, const struct json *run, const char *id, struct err *e)
{
	const struct json *metrics = json_get(run, "metrics");
	struct buf m = BUF_INIT;
	int rc;

	buf_add(&w->out, ":W&B\xe1\xbe\0", 7);
	rc = put_run(w, run, id, e);
	for (size_t i = 0; i < json_count(metrics) && !rc; i++)
		rc = put_step(w, json_at(metrics, i), (int64_t)i, e);
	put_summary(w, run);
	proto_int(&m, EXIT_CODE, 0);
	proto_int(&m, EXIT_RUNTIME, (int64_t)w->runtime);
	put_record(w, RECORD_EXIT, buf_str(&m));
	buf_release(&m);
	return rc ? rc : buf_check(&w->out, e);
}

/* The time at which the run began: the first line of training.log. A folder without it begins now. */
static int64_t start_of(const char *dir)
{
	struct buf path = BUF_INIT;
	struct line_reader r;
	struct str line;
	struct tm t = { .tm_year = 0 };
	int64_t start = clock_wall_us() / 1000000;

	if (path_join(&path, dir, "training.log") && file_exists(path.p) && !lines_open(&r, path.p, NULL)) {
		char text[24] = "";

		if (lines_next(&r, &line, NULL) > 0)
			snprintf(text, sizeof text, "%.*s", (int)MIN(line.n, (size_t)20), line.p);
		if (strptime(text, "%Y-%m-%dT%H:%M:%SZ", &t))
			start = (int64_t)timegm(&t);
		lines_close(&r);
	}
	buf_release(&path);
	return start;
}

/* Writes the file into its folder. */
static int save(struct wandb *w, const char *dir, const char *id, struct buf *path, struct err *e)
{
	struct buf file = BUF_INIT;
	time_t start = (time_t)w->start;
	struct tm t;
	char when[32];
	int rc;

	gmtime_r(&start, &t);
	strftime(when, sizeof when, "%Y%m%d_%H%M%S", &t);
	buf_clear(path);
	buf_addf(path, "%s/wandb/offline-run-%s-%s", dir, when, id);
	buf_addf(&file, "%s/files", buf_cstr(path));
	rc = buf_check(&file, e) || file_mkdirs(file.p, e) ? -1 : 0;
	buf_clear(&file);
	buf_addf(&file, "%s/run-%s.wandb", buf_cstr(path), id);
	if (!rc)
		rc = buf_check(&file, e) || file_replace(file.p, buf_str(&w->out), e) ? -1 : 0;
	buf_release(&file);
	return rc;
}

int wandb_write(struct store *s, const char *dir, struct buf *path, struct err *e)
{
	struct wandb w = { .start = start_of(dir), .latest = MAP_INIT };
	struct buf text = BUF_INIT;
	struct json *run = NULL;
	char id[65] = "";
	int rc = web_run(s, dir, &text, e);

	if (!rc && !(run = json_parse(buf_str(&text), e)))
		rc = -1;
	if (!rc) {
		struct str config = json_str(json_get(run, "config"), "");

		buf_clear(&text);
		buf_addf(&text, "%lld %.*s", (long long)w.start, STR_ARG(config));
		sha256_hex(buf_cstr(&text), text.n, id);
		id[8] = '\0';
		rc = buf_check(&text, e) || put_all(&w, run, id, e) || save(&w, dir, id, path, e) ? -1 : 0;
	}
	json_free(run);
	map_release(&w.latest);
	buf_release(&w.out);
	buf_release(&text);
	return rc;
}
