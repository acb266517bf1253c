/* tritonrl tasks: generates tasks with a Triton solution each, verified by the judge.
 *
 * Row i is drawn from its own random stream, so the rows depend only on the seed and threads may
 * draw them in any order. Rows are drawn in batches, judged, and written in order. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/thread.h"
#include "cmd/cmd.h"
#include "data/draws.h"
#include "data/prompt.h"
#include "verify/pool/batch.h"
#include "verify/pool/judge_args.h"

struct args {
	int64_t count, seed;
	struct opt_list level, decontaminate;
	const char *split, *out, *form, *style, *hashes_of, *modules;
	int64_t max_ops, threads;
	int verify, distinct, stream;
	struct judge_args judge;
};

static const struct opt opts[] = {
	OPT_INT(struct args, count, "count", 1, 100000000, 100, "rows to write"),
	OPT_FLAG(struct args, stream, "stream", 0,
		 "write rows without end until the reader closes; texts may repeat"),
	OPT_LIST(struct args, level, "level", "1,2,3", 1,
		 "levels to draw from in turn: 1 single operators, 2 fusable chains, 3 several "
		 "blocks; repeat one to give it more weight (default 2)"),
	OPT_CHOICE(struct args, split, "split", "train|validation|test|all", "train",
		   "which split to draw from; splits differ in composition, not only in constants"),
	OPT_INT(struct args, seed, "seed", 0, 9e15, 1,
		"random seed; the same seed gives the same rows for any number of threads"),
	OPT_STR(struct args, out, "out", "FILE", "-",
		"output file of JSON lines; - is standard output"),
	OPT_CHOICE(struct args, form, "form", "rows|messages|completion|pair|task|solution", "rows",
		   "rows: tasks with their solutions; messages, completion: training rows for "
		   "chat and for prompt and completion; pair, task, solution: training rows of "
		   "plain text"),
	OPT_CHOICE(struct args, style, "style", GEN_STYLE_CHOICES, "varied", GEN_STYLE_HELP),
	OPT_STR(struct args, modules, "modules", "PATH", NULL,
		"draw variants of the modules of this file or folder, with the solver's kernels, instead of "
		"generated tasks"),
	OPT_INT(struct args, max_ops, "max-ops", 1, GEN_STEPS, GEN_STEPS,
		"maximum operators per composition"),
	OPT_FLAG(struct args, verify, "verify", 1, "judge every pair and keep only correct ones"),
	OPT_FLAG(struct args, distinct, "distinct", 0, "write each composition at most once"),
	OPT_LIST(struct args, decontaminate, "decontaminate", "PATH", 0,
		 "also keep out the tasks of these files or folders; KernelBench's are always "
		 "kept out"),
	OPT_STR(struct args, hashes_of, "hashes-of", "PATH", "",
		"write the hashes that keep out the tasks of a folder, instead of tasks"),
	OPT_INT(struct args, threads, "threads", 0, 1024, 0,
		"CPU threads that draw tasks; 0: one per core"),
	OPT_INCLUDE(struct args, judge, judge_args_table, "The judge"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "",
	.about = "Generate PyTorch tasks in KernelBench's form, each with a Triton solution. "
		 "Solutions use kernels only, or with --track hybrid leave products to the "
		 "library. Every pair is judged before it is written. KernelBench's own problems "
		 "are never written.",
	.shown = "count level split seed out form style modules verify distinct decontaminate threads track",
	.opts = opts,
};

/* Rows per batch. WITHOUT_NEW: after this many draws the command gives up if fewer than one in a
 * hundred is new. */
enum { BATCH = 512, WITHOUT_NEW = 100000 };

/* A drawn task with its solution. */
struct row {
	struct gen_plan plan;      /* the composition */
	struct gen_texts text;     /* task, solution, plan and list of operators */
	struct buf outline;        /* of a module: its operators as a prompt shows them */
	struct err err;
	int rc;                    /* of drawing it: 0, or -1 with `err` */
	char id[32];               /* from level and content: the same task has the same id */
	int state;                 /* 0 waiting for the judge, 1 to be written, 2 dropped */
	struct verdict_task check; /* the mutation check of the task */
	double speedup;            /* estimate for the solution; 0: unknown */
};

/* The state of one call. The judges are processes and are started before the threads of the
 * pool. */
struct maker {
	const struct args *a;
	struct draws draws;
	struct module_pairs modules;   /* with --modules */
	struct map seen;           /* hashes of texts or compositions drawn so far */
	struct judge_pool *judges; /* NULL with --no-verify */
	struct pool *pool;         /* threads that draw */
	struct row *row;           /* [BATCH] */
	size_t n, asked;           /* rows of the batch; rows already handed to the judge or skipped */
	uint64_t next;             /* number of the first row of the batch */
	int64_t written, rejected, drawn, weak;   /* totals for the log */
	int out;                   /* a file; -1: not open */
	int ended;                 /* the reader closed its end of the pipe */
	struct progress bar;
	struct err *e;
};

/* Returns 1 for a new row, 0 if this text (with --distinct: this composition) was drawn before.
 * Only hashes are kept, so a million rows cost a few megabytes. */
static int is_new(struct maker *m, const struct row *r)
{
	struct buf key = BUF_INIT;
	struct map_entry *entry;
	size_t before = m->seen.n;
	uint64_t h;

	if (m->a->stream)
		return 1;
	if (m->a->distinct)
		gen_plan_key(&r->plan, &key);
	else
		buf_addstr(&key, buf_str(&r->text.task));
	h = hash_xxh64(key.p, key.n, 0);
	entry = map_put(&m->seen, (struct str){ .p = (char *)&h, .n = sizeof h });
	buf_release(&key);
	return entry && m->seen.n > before;
}

/* A variant of a module with its solution, for the precision of the judge. */
static int draw_module(struct maker *m, uint64_t number, struct row *r)
{
	struct module_pair p;
	int rc = module_pairs_draw(&m->modules, number, &p, &r->err);

	if (!rc) {
		gen_texts_clear(&r->text);
		buf_clear(&r->outline);
		r->plan = (struct gen_plan){ .level = 2 };
		buf_addstr(&r->text.task, buf_str(&p.task));
		buf_addstr(&r->text.solution, buf_str(&p.answer.solution));
		buf_addstr(&r->outline, buf_str(&p.answer.outline));
		snprintf(r->id, sizeof r->id, "module-%016llx", (unsigned long long)hash_xxh64(p.task.p, p.task.n, 1));
	}
	module_pair_release(&p);
	return rc ? -1 : buf_check(&r->outline, &r->err);
}

/* Draws row `number` of the stream. Runs on any thread; touches nothing but *r. */
static int draw(struct maker *m, uint64_t number, struct row *r)
{
	int rc;

	if (m->a->modules)
		return draw_module(m, number, r);
	rc = draws_pair(&m->draws, number, &r->plan, &r->text, &r->err);
	if (!rc)
		draws_id(&r->plan, &r->text, r->id);
	return rc;
}

static void draw_rows(void *ctx, size_t begin, size_t end)
{
	struct maker *m = ctx;

	for (size_t i = begin; i < end; i++)
		m->row[i].rc = draw(m, m->next + i, &m->row[i]);
}

/* The form `rows`; doc/data.md documents the fields for users' scripts. */
static void json_row(struct jw *w, const struct row *r)
{
	jw_key(w, "id"), jw_cstr(w, r->id);
	jw_key(w, "level"), jw_int(w, r->plan.level);
	jw_key(w, "split"), jw_cstr(w, r->outline.n ? "train" : gen_split_name(gen_plan_split(&r->plan)));
	jw_key(w, "ops"), jw_str(w, buf_str(&r->text.ops));
	jw_key(w, "plan"), jw_str(w, buf_str(&r->text.plan));
	jw_key(w, "task"), jw_str(w, buf_str(&r->text.task));
	jw_key(w, "solution"), jw_str(w, buf_str(&r->text.solution));
	if (r->speedup > 0.0)
		jw_key(w, "speedup"), jw_real(w, r->speedup);
	if (r->check.survivors)
		jw_key(w, "weak"), jw_cstr(w, r->check.survivor);
}

/* One training row in the form of --form. */
static int json_form(struct maker *m, struct jw *w, const struct row *r)
{
	struct buf text = BUF_INIT, prompt = BUF_INIT;
	const char *form = m->a->form;
	int rc = 0;

	prompt_outline(buf_str(&r->text.task), buf_str(&r->outline), m->modules.tf32 > 0.0 && r->outline.n, &prompt);
	if (!strcmp(form, "messages") || !strcmp(form, "completion") || !strcmp(form, "solution"))
		rc = prompt_answer(buf_str(&r->text.plan), buf_str(&r->text.solution), &text, m->e);
	else if (!strcmp(form, "pair")) {
		buf_addf(&text, "%s\n", buf_cstr(&prompt));
		rc = prompt_answer(buf_str(&r->text.plan), buf_str(&r->text.solution), &text, m->e);
	} else {
		buf_addstr(&text, buf_str(&r->text.task));
	}
	if (!strcmp(form, "messages")) {
		jw_key(w, "messages"), prompt_messages(w, (struct str){ .p = NULL }, buf_str(&prompt),
						       buf_str(&text));
	} else if (!strcmp(form, "completion")) {
		jw_key(w, "prompt"), jw_str(w, buf_str(&prompt));
		jw_key(w, "completion"), jw_str(w, buf_str(&text));
	} else {
		jw_key(w, "text"), jw_str(w, buf_str(&text));
	}
	buf_release(&text);
	buf_release(&prompt);
	return rc;
}

/* Writes a row. A reader that closes the pipe has enough rows: that ends --stream with success. Any other
 * error is a failure. */
static int put(struct maker *m, struct str line)
{
	struct err why = ERR_INIT;

	if (!cmd_put(m->out, m->a->out, line, &why))
		return 0;
	m->ended = m->a->stream && errno == EPIPE;
	return m->ended ? 0 : err_set(m->e, why.code, "%s", why.text);
}

/* Appends one line to the output. Sets m->ended if the reader has closed it. */
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
	rc = rc || buf_check(&line, m->e) || put(m, buf_str(&line)) ? -1 : 0;
	buf_release(&line);
	m->written++;
	progress_add(&m->bar, 1);
	return rc;
}

/* A rejected pair is counted and, with debug logging, named: a rejected solution is a bug of the
 * generator. */
static void note_rejected(struct maker *m, const struct row *r, const struct judged *j)
{
	m->rejected++;
	log_debug("%s (%s) rejected: %s %s", r->id, buf_cstr(&r->text.ops), reason_code(j->verdict.diag.reason),
		  j->rc ? j->err.text : j->verdict.diag.text);
}

/* The judge asks for the next pair. Rows that were drawn before are skipped. */
static int next_row(void *ctx, uint64_t *id, struct str *task, struct str *candidate)
{
	struct maker *m = ctx;

	while (m->asked < m->n && m->row[m->asked].state)
		m->asked++;
	if (m->asked >= m->n)
		return 0;
	*id = m->asked++;
	*task = buf_str(&m->row[*id].text.task);
	*candidate = buf_str(&m->row[*id].text.solution);
	return 1;
}

/* Called for each verdict, in any order. A task whose mutants survive is kept and marked weak. */
static int take_verdict(void *ctx, const struct judged *j, struct err *e)
{
	struct maker *m = ctx;
	struct row *r = &m->row[j->id];

	(void)e;
	r->state = !j->rc && j->verdict.correct ? 1 : 2;
	r->check = j->verdict.task;
	r->speedup = j->verdict.speedup;
	m->weak += r->state == 1 && r->check.survivors;
	if (r->state == 2)
		note_rejected(m, r, j);
	return 0;
}

/* Judges the first n rows of the batch. */
static int judge_rows(struct maker *m, size_t n)
{
	const struct batch_source rows = { .next = next_row, .told = take_verdict, .ctx = m };

	m->asked = 0;
	m->n = n;
	if (!judge_pool_run(m->judges, &rows, m->e))
		return 0;
	return m->e->code != ERR_INTERRUPTED ? -1 :
	       err_set(m->e, ERR_INTERRUPTED, "stopped after %lld rows", (long long)m->written);
}

/* At most as many rows as are still needed: a full batch for the last few would be wasted work. */
static size_t batch_size(const struct maker *m)
{
	return m->a->stream ? BATCH : (size_t)MIN((int64_t)BATCH, m->a->count - m->written);
}

/* Draws, judges and writes one batch. Fails if the space of compositions is exhausted. */
static int make_batch(struct maker *m)
{
	size_t n = batch_size(m), fresh = 0;

	pool_for_dynamic(m->pool, n, 16, draw_rows, m);
	for (size_t i = 0; i < n; i++) {
		struct row *r = &m->row[i];

		if (r->rc)
			return err_set(m->e, r->err.code, "%s", r->err.text);
		r->check = (struct verdict_task){ .survivors = 0 };
		r->speedup = 0.0;
		r->state = is_new(m, r) ? !m->a->verify : 2;
		fresh += r->state != 2;
	}
	m->drawn += (int64_t)fresh;
	m->next += n;
	if (m->next > (uint64_t)WITHOUT_NEW && m->next > 100 * (uint64_t)(m->drawn + 1))
		return err_set(m->e, ERR_RANGE, "no more new tasks of this kind after %lld", (long long)m->drawn);
	if (m->a->verify && judge_rows(m, n))
		return -1;
	for (size_t i = 0; i < n && !m->ended; i++)
		if (m->row[i].state == 1 && write_row(m, &m->row[i]))
			return -1;
	return 0;
}

static int make_all(struct maker *m)
{
	while ((m->a->stream || m->written < m->a->count) && !m->ended && !stop_requested())
		if (make_batch(m))
			return -1;
	return 0;
}

/* The generator needs only the verdict, so the input sets of the general contract are skipped. */
static int open_judges(struct maker *m)
{
	struct judge_options o;
	struct judge_pool_options po;

	if (judge_args_options(&m->a->judge, &o, &po, m->e))
		return -1;
	o.skip_general = 1;
	po.kept = 0;                    /* every task is judged once, so a cache would not help */
	m->judges = judge_pool_open(&o, &po, m->e);
	return m->judges ? 0 : -1;
}

/* Judges are processes and come first: threads do not survive a fork. */
static int open_all(struct maker *m)
{
	static const char *const names[] = { "train", "validation", "test" };
	struct draws *d = &m->draws;

	if (draws_init(d, (uint64_t)m->a->seed, "tasks", m->e))
		return -1;
	d->split = -1;
	for (int i = 0; i < 3; i++)
		if (!strcmp(m->a->split, names[i]))
			d->split = i;
	d->plain = !strcmp(m->a->style, "plain");
	d->hybrid = m->a->judge.judge.track == TRACK_HYBRID;
	d->max_ops = (int)m->a->max_ops;
	if (gen_levels_parse(&d->levels, m->a->level.v, m->a->level.n, m->e))
		return -1;
	if (!d->levels.n)
		d->levels.v[d->levels.n++] = 2;
	for (size_t i = 0; i < m->a->decontaminate.n; i++)
		if (keepout_add(&d->keepout, m->a->decontaminate.v[i], m->e))
			return -1;
	if (m->a->modules && module_pairs_open(&m->modules, m->a->modules, (uint64_t)m->a->seed, &d->keepout, m->e))
		return -1;
	m->modules.tf32 = m->a->judge.judge.precision == PRECISION_TF32;
	if (m->a->verify && open_judges(m))
		return -1;
	m->row = mem_array(BATCH, sizeof *m->row);
	m->pool = pool_new((int)m->a->threads, m->e);
	return m->row && m->pool ? 0 : m->pool ? err_nomem(m->e) : -1;
}

/* --hashes-of prints the table that data/keepout.def is made of. */
static int print_hashes(struct maker *m)
{
	struct buf b = BUF_INIT;
	int rc = keepout_print(m->a->hashes_of, &b, m->e) || buf_check(&b, m->e) || put(m, buf_str(&b)) ? -1 : 0;

	buf_release(&b);
	return rc;
}

static int run(struct maker *m)
{
	m->out = cmd_open_out(m->a->out, m->e);
	if (m->out < 0)
		return -1;
	if (*m->a->hashes_of)
		return print_hashes(m);
	if (m->a->stream)
		signal(SIGPIPE, SIG_IGN);
	if (open_all(m))
		return -1;
	/* A stream has no end, so its progress has no total. */
	progress_begin(&m->bar, "tasks", "rows", m->a->stream ? 0 : m->a->count);
	if (make_all(m))
		return -1;
	progress_end(&m->bar);
	if (m->rejected)
		log_info("the judge rejected %lld of %lld generated pairs", (long long)m->rejected,
			 (long long)m->drawn);
	if (m->weak)
		log_info("%lld tasks are weak: no input set detects that a part is missing (see 'weak' in their rows)",
			 (long long)m->weak);
	return 0;
}

static void close_all(struct maker *m)
{
	judge_pool_close(m->judges);
	pool_free(m->pool);
	if (m->a->modules)
		module_pairs_close(&m->modules);
	for (size_t i = 0; m->row && i < BATCH; i++) {
		gen_texts_release(&m->row[i].text);
		buf_release(&m->row[i].outline);
	}
	mem_free(m->row);
	map_release(&m->seen);
	draws_release(&m->draws);
	cmd_close_out(m->out);
}

/* Options of the generator have no effect on variants of modules. */
static int check_options(const struct opt_parsed *p, const struct args *a, struct err *e)
{
	static const char *const generator[] = { "level", "split", "style", "max-ops", "distinct" };

	for (size_t i = 0; a->modules && i < COUNT_OF(generator); i++)
		if (opt_is_set(p, generator[i]))
			return err_set(e, ERR_USAGE, "--%s belongs to generated tasks, not to those of --modules",
				       generator[i]);
	return 0;
}

/* A stop after some rows is not a failure: the written rows are complete. The exit code names the
 * signal. */
int cmd_tasks(int argc, char **argv)
{
	struct opt_parsed p;
	struct args a;
	struct err e = ERR_INIT;
	struct maker m = { .a = &a, .out = -1, .e = &e };
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	stop_install();
	rc = check_options(&p, &a, &e) ? -1 : run(&m);
	close_all(&m);
	opt_release(&p);
	return rc ? cmd_fail("tasks", &e) : stop_requested() ? cmd_stopped() : CMD_OK;
}
