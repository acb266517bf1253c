/* Model cards: see card.h. Everything comes from files of the run folder: prepare.json, metrics.jsonl and
 * outputs/summary.txt. */
#include "run/card.h"

#include <stdio.h>

#include "base/file.h"
#include "base/json.h"

/* Sources and files of the prepared data, with their numbers of rows. */
static int add_data(const char *run, struct buf *out, struct err *e)
{
	struct buf path = BUF_INIT;
	const char *name = path_join(&path, run, "data/processed/prepare.json");
	int there = name && file_exists(name);
	struct json *j = there ? json_parse_file(name, e) : NULL;
	const struct json *sources = json_get(j, "sources"), *files = json_get(j, "files");

	if (j)
		buf_adds(out, "\n## Data\n\n| source | rows read | kept |\n|---|---|---|\n");
	for (size_t i = 0; j && i < json_count(sources); i++) {
		const struct json *s = json_at(sources, i);

		buf_addf(out, "| %.*s | %lld | %lld |\n", STR_ARG(json_str(json_get(s, "source"), "")),
			 (long long)json_int(json_get(s, "read"), 0), (long long)json_int(json_get(s, "kept"), 0));
	}
	if (j)
		buf_adds(out, "\n| file | rows |\n|---|---|\n");
	for (size_t i = 0; j && i < json_count(files); i++) {
		const char *file;
		int64_t rows = json_int(json_member(files, i, &file), 0);

		if (rows)
			buf_addf(out, "| %s | %lld |\n", file, (long long)rows);
	}
	json_free(j);
	buf_release(&path);
	return there && !j ? -1 : 0;
}

/* Sums over the steps of a training stage, and its last values. */
struct stage_sum {
	char name[16];
	int64_t steps, tokens;
	double seconds, loss, reward;
};

/* Adds a row of metrics.jsonl. A stage is new if its name differs from that of the row before. */
static int add_step(struct stage_sum *s, size_t most, size_t *n, struct str line, struct err *e)
{
	struct json *j = json_parse(line, e);
	struct str stage = json_str(json_get(j, "stage"), "");
	struct stage_sum *now;

	if (!j)
		return -1;
	if ((!*n || !str_is(stage, s[*n - 1].name)) && *n < most) {
		s[*n] = (struct stage_sum){ .reward = -1 };
		snprintf(s[(*n)++].name, sizeof s->name, "%.*s", STR_ARG(stage));
	}
	now = &s[*n - 1];
	now->steps = json_int(json_get(j, "step"), now->steps);
	now->tokens += json_int(json_get(j, "tokens"), 0);
	now->seconds += json_real(json_get(j, "seconds"), 0);
	now->loss = json_real(json_get(j, "loss"), 0);
	now->reward = json_real(json_get(j, "reward"), -1);
	json_free(j);
	return 0;
}

/* The table of training: each stage with its steps, tokens and last values. */
static int add_training(const char *run, struct buf *out, struct err *e)
{
	enum { MOST = 8 };
	struct stage_sum s[MOST];
	struct line_reader r;
	struct buf path = BUF_INIT;
	const char *name = path_join(&path, run, "metrics.jsonl");
	struct str line;
	size_t n = 0;
	int there = name && file_exists(name), rc = there ? lines_open(&r, name, e) : 0;

	if (there && !rc) {
		while ((rc = lines_next(&r, &line, e)) > 0)
			if (line.n && (rc = add_step(s, MOST, &n, line, e)))
				break;
		lines_close(&r);
	}
	buf_release(&path);
	if (rc || !n)
		return rc;
	buf_adds(out, "\n## Training\n\n| stage | steps | tokens | hours | last loss | last reward |\n"
		      "|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < n; i++) {
		buf_addf(out, "| %s | %lld | %.4g M | %.2f | %.4g | ", s[i].name, (long long)s[i].steps,
			 (double)s[i].tokens / 1e6, s[i].seconds / 3600, s[i].loss);
		buf_addf(out, s[i].reward < 0 ? "- |\n" : "%.3f |\n", s[i].reward);
	}
	return 0;
}

/* The tables of the evaluation, as the run printed them. */
static int add_figures(const char *run, struct buf *out, struct err *e)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	const char *name = path_join(&path, run, "outputs/summary.txt");
	int there = name && file_exists(name), rc = there ? file_read(name, 1 << 20, &text, e) : 0;

	if (there && !rc)
		buf_addf(out, "\n## Figures\n\nShares of answers, by the judge of tritonrl %s.\n\n```\n%s```\n",
			 TRITONRL_VERSION, buf_cstr(&text));
	buf_release(&path);
	buf_release(&text);
	return rc;
}

int card_write(const char *run, struct buf *out, struct err *e)
{
	buf_adds(out, "# A model that writes Triton kernels\n\nTrained by tritonrl " TRITONRL_VERSION ". `config.yaml` "
		      "beside this file has every option of its run; `tritonrl run config.yaml` repeats it.\n");
	if (add_data(run, out, e) || add_training(run, out, e) || add_figures(run, out, e))
		return -1;
	buf_adds(out, "\n## Limits\n\nThe figures hold for tasks like those of the evaluation. An answer may be wrong: "
		      "judge each one (`tritonrl write` does). Speeds are estimates unless a GPU measured them.\n");
	return buf_check(out, e);
}
