/* Metrics of a run, in three places: a line of metrics.jsonl, TensorBoard events, a row of the
 * store. metrics.h is the manual. */
#include "train/metrics.h"

#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "train/events.h"

/* Drops lines after the step that a run resumes at: the resumed run writes them again. Lines of
 * other stages stay. */
static int rewind_jsonl(const char *path, const char *stage, int64_t step, struct err *e)
{
	struct line_reader r;
	struct buf kept = BUF_INIT;
	struct str line;
	int rc, dropped = 0;

	if (!file_exists(path))
		return 0;
	if (lines_open(&r, path, e))
		return -1;
	while ((rc = lines_next(&r, &line, e)) > 0) {
		struct json *j = json_parse(line, NULL);
		int keep = j && !(str_is(json_str(json_get(j, "stage"), ""), stage) &&
				  json_int(json_get(j, "step"), 0) > step);

		json_free(j);
		if (keep) {
			buf_addstr(&kept, line);
			buf_addc(&kept, '\n');
		}
		dropped |= !keep;
	}
	lines_close(&r);
	if (!rc && dropped)
		rc = buf_check(&kept, e) ? -1 : file_replace(path, buf_str(&kept), e);
	buf_release(&kept);
	return rc;
}

int metrics_open(struct metrics *m, const char *dir, struct store *store, const char *stage, int64_t step,
		 struct err *e)
{
	struct buf path = BUF_INIT;
	int rc;

	*m = (struct metrics){ .store = store, .last_ns = clock_ns() };
	path_join(&path, dir, "metrics.jsonl");
	m->jsonl = buf_take(&path);
	buf_addf(&path, "%s/logs/events.out.tfevents.%lld.tritonrl", dir, (long long)(clock_wall_us() / 1000000));
	m->events = buf_take(&path);
	buf_addf(&path, "%s/logs", dir);
	rc = !m->jsonl || !m->events ? err_nomem(e) :
	     buf_check(&path, e) || file_mkdirs(path.p, e) || rewind_jsonl(m->jsonl, stage, step, e) ||
	     (store && store_rewind(store, stage, step, e)) ? -1 : 0;
	if (rc)
		metrics_close(m);
	buf_release(&path);
	return rc;
}

void metrics_close(struct metrics *m)
{
	mem_free(m->jsonl);
	mem_free(m->events);
	m->jsonl = m->events = NULL;
}

/* Writes the additional metrics. Those that depend on the clock go into the JSON line only, because
 * the store must be the same after an interruption. */
static void json_extra(struct jw *w, const struct metric *extra, size_t n, int clock)
{
	for (size_t i = 0; i < n; i++) {
		if (extra[i].clock && !clock)
			continue;
		jw_key(w, extra[i].name);
		jw_real(w, extra[i].value);
	}
}

/* Appends the step to metrics.jsonl. */
static int write_line(struct metrics *m, const struct store_step *t, const struct metric *extra, size_t n,
		      double seconds, struct err *e)
{
	struct buf line = BUF_INIT;
	struct jw w = { .out = &line };
	int rc;

	jw_begin(&w, '{');
	jw_key(&w, "step"), jw_int(&w, t->step);
	jw_key(&w, "stage"), jw_cstr(&w, t->stage);
	jw_key(&w, "loss"), jw_real(&w, t->loss);
	jw_key(&w, "lr"), jw_real(&w, t->lr);
	jw_key(&w, "grad_norm"), jw_real(&w, t->grad_norm);
	jw_key(&w, "tokens"), jw_int(&w, t->tokens);
	jw_key(&w, "seconds"), jw_real(&w, seconds);
	json_extra(&w, extra, n, 1);
	jw_end(&w, '}');
	buf_addc(&line, '\n');
	rc = buf_check(&line, e) ? -1 : file_append(m->jsonl, buf_str(&line), 0, e);
	buf_release(&line);
	return rc;
}

/* Appends the step to the TensorBoard file, which is made at the first step. */
static int write_events(struct metrics *m, const struct store_step *t, const struct metric *extra, size_t n,
			struct err *e)
{
	struct buf out = BUF_INIT;
	const struct metric fixed[] = { { .name = "loss", .value = t->loss }, { .name = "lr", .value = t->lr },
				       { .name = "grad_norm", .value = t->grad_norm } };
	int rc;

	if (!file_exists(m->events))
		events_header(&out);
	for (size_t i = 0; i < COUNT_OF(fixed) + n; i++) {
		const struct metric *x = i < COUNT_OF(fixed) ? &fixed[i] : &extra[i - COUNT_OF(fixed)];
		char tag[80];

		snprintf(tag, sizeof tag, "%s/%s", t->stage, x->name);
		events_scalar(&out, tag, t->step, x->value);
	}
	rc = buf_check(&out, e) ? -1 : file_append(m->events, buf_str(&out), 0, e);
	buf_release(&out);
	return rc;
}

int metrics_step(struct metrics *m, const struct store_step *t, const struct metric *extra, size_t n, struct err *e)
{
	struct buf json = BUF_INIT;
	struct jw w = { .out = &json };
	struct store_step row = *t;
	int64_t now = clock_ns();
	int rc;

	jw_begin(&w, '{');
	json_extra(&w, extra, n, 0);
	jw_end(&w, '}');
	row.extra = buf_str(&json);
	rc = write_line(m, t, extra, n, (double)(now - m->last_ns) / 1e9, e) || write_events(m, t, extra, n, e) ||
	     (m->store && store_put_step(m->store, &row, e)) ? -1 : 0;
	m->last_ns = now;
	buf_release(&json);
	return rc;
}

/* A mean over the steps of a stage after step `after`. */
struct mean {
	const char *stage, *name;
	int64_t after, n;
	double sum;
};

/* Adds one step to the mean: its loss, or a metric of its JSON. */
static int mean_row(void *ctx, const struct store_step *t)
{
	struct mean *m = ctx;
	struct json *j;

	if (strcmp(t->stage, m->stage) || t->step <= m->after)
		return 0;
	m->n++;
	if (!strcmp(m->name, "loss")) {
		m->sum += t->loss;
		return 0;
	}
	j = json_parse(t->extra, NULL);
	m->sum += j ? json_real(json_get(j, m->name), 0.0) : 0.0;
	json_free(j);
	return 0;
}

int metrics_mean(struct store *s, const char *stage, int64_t after, const char *name, double *mean, struct err *e)
{
	struct mean m = { .stage = stage, .name = name, .after = after };

	if (store_each_step(s, mean_row, &m, e))
		return -1;
	*mean = m.n ? m.sum / (double)m.n : 0.0;
	return 0;
}
