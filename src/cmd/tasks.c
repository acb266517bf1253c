/* tritonrl tasks: make fusion tasks with a Triton solution each, verified by the judge. */
#include <stdio.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "data/prompt.h"
#include "gen/gen.h"
#include "run/judge_args.h"

struct args {
	int64_t count, seed;
	struct opt_list level;
	const char *split, *out, *form, *style;
	int64_t max_ops;
	int verify, distinct;
	struct judge_args judge;
};

static const struct opt opts[] = {
	OPT_INT(struct args, count, "count", 1, 100000000, 100, "rows to write"),
	OPT_LIST(struct args, level, "level", "1,2,3", 1, "levels to draw from in turn (repeat one to weigh it): 1 single operators, 2 fusable chains, 3 several blocks (default 2)"),
	OPT_CHOICE(struct args, split, "split", "train|validation|test|all", "train", "splits differ in composition, not only in constants"),
	OPT_INT(struct args, seed, "seed", 0, 9e15, 1, "same seed, same rows"),
	OPT_STR(struct args, out, "out", "FILE", "-", "JSON lines: id, level, split, ops, plan, task, solution, and weak where a part of the task does not show; - for standard output"),
	OPT_CHOICE(struct args, form, "form", "rows|messages|completion|pair|task|solution", "rows",
		   "rows: as above; messages: training rows of a conversation; completion: of a prompt and its completion; pair, task, solution: training rows of plain text"),
	OPT_CHOICE(struct args, style, "style", GEN_STYLE_CHOICES, "varied", GEN_STYLE_HELP),
	OPT_INT(struct args, max_ops, "max-ops", 1, GEN_STEPS, GEN_STEPS, "operators of a composition at most"),
	OPT_FLAG(struct args, verify, "verify", 1, "judge every pair and keep only correct ones"),
	OPT_FLAG(struct args, distinct, "distinct", 0, "each composition at most once"),
	OPT_INCLUDE(struct args, judge, judge_args_table, "The judge"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "",
	.about = "Compose operators into PyTorch tasks in KernelBench's form and write a strict-track Triton solution for each. "
		 "Every pair is judged before it is written.",
	.opts = opts,
};

struct row {
	struct gen_plan plan;
	struct gen_texts text;
	char id[32];
	int state;                 /* 0 waiting, 1 good, 2 bad */
	struct verdict_task check; /* what the judge thinks of the task's inputs */
};

struct maker {
	const struct args *a;
	struct rng rng;
	struct gen_levels levels;
	int split;                 /* -1: all */
	struct map seen;
	struct judge_pool *pool;
	struct { struct row *v; size_t n, cap; } rows;   /* a window: [written, n) still open */
	size_t base;               /* number of the first row in the window */
	int64_t written, rejected, drawn, weak;
	FILE *out;
	struct progress bar;
	struct err *e;
};

/* 1: new; 0: this text (or, with --distinct, this composition) was drawn before. */
static int is_new(struct maker *m, const struct gen_plan *p, const struct gen_texts *t)
{
	struct buf key = BUF_INIT;
	struct map_entry *entry;
	size_t before = m->seen.n;
	uint64_t h;

	if (m->a->distinct)
		gen_plan_key(p, &key);
	else
		buf_addstr(&key, buf_str(&t->task));
	h = hash_xxh64(key.p, key.n, 0);
	entry = map_put(&m->seen, (struct str){ .p = (char *)&h, .n = sizeof h });
	buf_release(&key);
	return entry && m->seen.n > before;
}

static int draw(struct maker *m, struct row *r)
{
	for (int tries = 0; tries < 100000; tries++) {
		gen_plan_draw(&r->plan, m->levels.v[m->drawn % m->levels.n], !strcmp(m->a->style, "plain"), &m->rng);
		if ((m->split >= 0 && (int)gen_plan_split(&r->plan) != m->split) || r->plan.n > m->a->max_ops)
			continue;
		gen_texts_clear(&r->text);
		if (gen_emit(&r->plan, &r->text, m->e))
			return -1;
		if (!is_new(m, &r->plan, &r->text))
			continue;
		m->drawn++;
		snprintf(r->id, sizeof r->id, "l%d-%016llx", r->plan.level,
			 (unsigned long long)hash_xxh64(r->text.task.p, r->text.task.n, 1));
		return 0;
	}
	return err_set(m->e, ERR_RANGE, "no more new tasks of this kind after %lld", (long long)m->drawn);
}

static void json_message(struct jw *w, const char *role, struct str content)
{
	jw_begin(w, '{');
	jw_key(w, "role"), jw_cstr(w, role);
	jw_key(w, "content"), jw_str(w, content);
	jw_end(w, '}');
}

static void json_messages(struct jw *w, struct str task, struct str answer)
{
	jw_key(w, "messages");
	jw_begin(w, '[');
	json_message(w, "user", task);
	json_message(w, "assistant", answer);
	jw_end(w, ']');
}

static void json_row(struct jw *w, const struct row *r)
{
	jw_key(w, "id"), jw_cstr(w, r->id);
	jw_key(w, "level"), jw_int(w, r->plan.level);
	jw_key(w, "split"), jw_cstr(w, gen_split_name(gen_plan_split(&r->plan)));
	jw_key(w, "ops"), jw_str(w, buf_str(&r->text.ops));
	jw_key(w, "plan"), jw_str(w, buf_str(&r->text.plan));
	jw_key(w, "task"), jw_str(w, buf_str(&r->text.task));
	jw_key(w, "solution"), jw_str(w, buf_str(&r->text.solution));
	if (r->check.survivors)
		jw_key(w, "weak"), jw_cstr(w, r->check.survivor);
}

/* One training row in the form asked for. */
static int json_form(struct maker *m, struct jw *w, const struct row *r)
{
	struct buf text = BUF_INIT;
	const char *form = m->a->form;
	int rc = 0;

	if (!strcmp(form, "messages") || !strcmp(form, "completion") || !strcmp(form, "solution"))
		rc = prompt_answer(buf_str(&r->text.plan), buf_str(&r->text.solution), &text, m->e);
	else if (!strcmp(form, "pair")) {
		buf_addf(&text, "%s\n", buf_cstr(&r->text.task));
		rc = prompt_answer(buf_str(&r->text.plan), buf_str(&r->text.solution), &text, m->e);
	} else {
		buf_addstr(&text, buf_str(&r->text.task));
	}
	if (!strcmp(form, "messages")) {
		json_messages(w, buf_str(&r->text.task), buf_str(&text));
	} else if (!strcmp(form, "completion")) {
		jw_key(w, "prompt"), jw_str(w, buf_str(&r->text.task));
		jw_key(w, "completion"), jw_str(w, buf_str(&text));
	} else {
		jw_key(w, "text"), jw_str(w, buf_str(&text));
	}
	buf_release(&text);
	return rc;
}

static int write_row(struct maker *m, const struct row *r)
{
	struct buf line = BUF_INIT;
	struct jw w = { .out = &line };
	int rc = 0;

	jw_begin(&w, '{');
	if (!strcmp(m->a->form, "rows"))
		json_row(&w, r);
	else
		rc = json_form(m, &w, r);
	jw_end(&w, '}');
	buf_addc(&line, '\n');
	if (rc || buf_check(&line, m->e))
		rc = -1;
	else if (fwrite(line.p, 1, line.n, m->out) != line.n)
		rc = err_errno(m->e, "cannot write '%s'", m->a->out);
	buf_release(&line);
	m->written++;
	progress_add(&m->bar, 1);
	return rc;
}

/* Writes decided rows from the front of the window, in the order they were drawn. */
static int flush_rows(struct maker *m)
{
	size_t k = 0;
	int rc = 0;

	for (; k < m->rows.n && m->rows.v[k].state && !rc; k++) {
		if (m->rows.v[k].state == 1 && m->written < m->a->count)
			rc = write_row(m, &m->rows.v[k]);
		gen_texts_release(&m->rows.v[k].text);
	}
	memmove(m->rows.v, m->rows.v + k, (m->rows.n - k) * sizeof *m->rows.v);
	m->rows.n -= k;
	m->base += k;
	return rc;
}

static void note_rejected(struct maker *m, const struct row *r, const struct judged *j)
{
	m->rejected++;
	log_debug("%s (%s) left out: %s %s", r->id, buf_cstr(&r->text.ops), reason_code(j->verdict.diag.reason),
		  j->rc ? j->err.text : j->verdict.diag.text);
}

static int collect(struct maker *m)
{
	struct judged j;
	struct row *r;
	int rc = judge_pool_next(m->pool, 1, &j, m->e);

	if (rc <= 0)
		return rc;
	r = &m->rows.v[j.id - m->base];
	r->state = !j.rc && j.verdict.correct ? 1 : 2;
	r->check = j.verdict.task;
	m->weak += r->state == 1 && r->check.survivors;
	if (r->state == 2)
		note_rejected(m, r, &j);
	return flush_rows(m) ? -1 : 1;
}

static int add_one(struct maker *m)
{
	struct row r = { .state = m->a->verify ? 0 : 1 };

	if (draw(m, &r) || vec_push(&m->rows, r))
		return -1;
	if (!m->a->verify)
		return flush_rows(m);
	return judge_pool_submit(m->pool, m->base + m->rows.n - 1, buf_str(&r.text.task), buf_str(&r.text.solution), m->e);
}

static int make_all(struct maker *m)
{
	while (m->written < m->a->count && !stop_requested()) {
		size_t ahead = m->a->verify ? (size_t)judge_pool_workers(m->pool) * 4 : 1;

		while (m->rows.n < ahead && m->written < m->a->count)
			if (add_one(m))
				return -1;
		if (m->a->verify && collect(m) < 0)
			return -1;
	}
	return 0;
}

static int open_pool(struct maker *m)
{
	struct judge_options o;
	struct judge_pool_options po;

	if (judge_args_options(&m->a->judge, &o, &po, m->e))
		return -1;
	o.track = TRACK_STRICT;
	o.last = STAGE_full;
	m->pool = judge_pool_open(&o, &po, m->e);
	return m->pool ? 0 : -1;
}

static int run(struct maker *m)
{
	static const char *const names[] = { "train", "validation", "test" };

	m->split = -1;
	for (int i = 0; i < 3; i++)
		if (!strcmp(m->a->split, names[i]))
			m->split = i;
	rng_init(&m->rng, (uint64_t)m->a->seed, "tasks");
	m->out = strcmp(m->a->out, "-") ? fopen(m->a->out, "w") : stdout;
	if (!m->out)
		return err_errno(m->e, "cannot create '%s'", m->a->out);
	if (gen_levels_parse(&m->levels, m->a->level.v, m->a->level.n, m->e))
		return -1;
	if (!m->levels.n)
		m->levels.v[m->levels.n++] = 2;
	if (m->a->verify && open_pool(m))
		return -1;
	progress_begin(&m->bar, "tasks", "rows", m->a->count);
	if (make_all(m))
		return -1;
	progress_end(&m->bar);
	if (m->rejected)
		log_info("%lld of %lld drawn pairs were left out by the judge", (long long)m->rejected, (long long)m->drawn);
	if (m->weak)
		log_info("%lld tasks have a part that no input set tells from its absence (see 'weak' in their rows)", (long long)m->weak);
	return fflush(m->out) ? err_errno(m->e, "cannot write '%s'", m->a->out) : 0;
}

int cmd_tasks(int argc, char **argv)
{
	struct opt_parsed p;
	struct args a;
	struct err e = ERR_INIT;
	struct maker m = { .a = &a, .e = &e };
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	stop_install();
	rc = run(&m);
	judge_pool_close(m.pool);
	for (size_t i = 0; i < m.rows.n; i++)
		gen_texts_release(&m.rows.v[i].text);
	vec_free(&m.rows);
	map_release(&m.seen);
	if (m.out && m.out != stdout)
		fclose(m.out);
	opt_release(&p);
	return rc ? cmd_fail("tasks", &e) : CMD_OK;
}
