/* Data preparation: rows go through in batches that are read in order, worked on by all threads,
 * and settled in order. prep.h is the manual. Only settling compares rows with each other, so the
 * result does not depend on the threads. A row that has passed is remembered by its hash and its
 * sketch. */
#include "data/prep.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/progress.h"
#include "data/prep_impl.h"
#include "verify/pool/batch.h"

/* Rows and bytes of a batch at most. */
enum { BATCH = 256, BATCH_BYTES = 8 << 20 };

/* The state of one preparation. */
struct prep {
	const struct prep_opts *o;
	struct prep_report *r;
	struct pool *pool;
	struct tok *tok;
	struct prep_work *work;          /* [threads] */
	struct err *work_err;            /* [threads] */
	struct prep_eval eval;           /* kept out of training */
	struct sketch_index seen;
	struct map texts;                /* hashes of what was read */
	struct prep_out *out;
	struct prep_row *row;            /* [BATCH] */
	size_t n, asked;                 /* rows of this batch, those that the judge has seen or need not */
	struct prep_source source;
	struct prep_count *count;
	struct progress bar;
	_Atomic size_t next;
	int (*step)(struct prep *p, struct prep_work *w, struct prep_row *row, struct err *e);
};

static const char *const drop_names[] = {
	"kept",
#define DROP(id, text) #id,
#include "data/prep_drop.def"
#undef DROP
};

static const char *const drop_texts[] = {
	"",
#define DROP(id, text) text,
#include "data/prep_drop.def"
#undef DROP
};

const char *prep_drop_name(enum prep_drop d)
{
	return drop_names[d];
}

const char *prep_drop_text(enum prep_drop d)
{
	return drop_texts[d];
}

/* --- all threads -------------------------------------------------------------------------- */

/* One thread: takes the next row until none is left or one of its own failed. */
static void each(void *ctx, int me, int count)
{
	struct prep *p = ctx;
	size_t i;

	(void)count;
	while ((i = atomic_fetch_add(&p->next, 1)) < p->n && !p->work_err[me].code)
		p->step(p, &p->work[me], &p->row[i], &p->work_err[me]);
}

/* Runs a step on every row of the batch, on all threads. */
static int for_rows(struct prep *p, int (*step)(struct prep *, struct prep_work *, struct prep_row *,
						struct err *), struct err *e)
{
	p->step = step;
	atomic_store(&p->next, 0);
	pool_run(p->pool, each, p);
	for (int i = 0; i < pool_size(p->pool); i++)
		if (p->work_err[i].code)
			return err_set(e, p->work_err[i].code, "%s", p->work_err[i].text);
	return 0;
}

/* prep_decode as a step of for_rows. */
static int decode(struct prep *p, struct prep_work *w, struct prep_row *row, struct err *e)
{
	(void)p;
	return prep_decode(w, row, e);
}

/* prep_examine as a step of for_rows. The evaluation tasks are complete before and only read
 * here. */
static int examine(struct prep *p, struct prep_work *w, struct prep_row *row, struct err *e)
{
	return prep_examine(w, row, &p->eval, e);
}

/* prep_solve as a step of for_rows. A module may take a second, so a stop does not wait for the whole batch: nothing
 * of it is written. */
static int solve(struct prep *p, struct prep_work *w, struct prep_row *row, struct err *e)
{
	(void)p;
	return stop_requested() ? 0 : prep_solve(w, row, e);
}

/* --- in order ----------------------------------------------------------------------------- */

/* Reads the next batch. */
static int fill(struct prep *p, struct err *e)
{
	size_t bytes = 0;
	int rc = 1;

	for (p->n = 0; p->n < BATCH && bytes < BATCH_BYTES && rc > 0; p->n += rc > 0) {
		rc = prep_source_next(&p->source, &p->row[p->n], e);
		bytes += rc > 0 ? p->row[p->n].raw.n : 0;
	}
	return rc < 0 ? -1 : 0;
}

/* Drops rows whose task occurred before. Evaluation tasks have hashes of their own here, because
 * contamination is checked elsewhere. */
static int drop_equal(struct prep *p, struct err *e)
{
	for (size_t i = 0; i < p->n; i++) {
		struct prep_row *row = &p->row[i];
		size_t before = p->texts.n;

		if (row->drop != PREP_KEPT)
			continue;
		row->text_hash = hash_xxh64(row->task.p, row->task.n, row->role == PREP_EVAL);
		if (!map_put(&p->texts, (struct str){ .p = (char *)&row->text_hash, .n = sizeof row->text_hash }))
			return err_nomem(e);
		if (p->texts.n == before)
			row->drop = PREP_DROP_duplicate;
	}
	return 0;
}

/* Drops rows that are nearly the same as an earlier one. The generator is exempt: variety in
 * constants is its purpose. */
static int drop_near(struct prep *p, struct err *e)
{
	for (size_t i = 0; i < p->n; i++) {
		struct prep_row *row = &p->row[i];

		if (row->drop != PREP_KEPT || row->role == PREP_EVAL || row->kind == PREP_builtin || p->o->near <= 0.0)
			continue;
		if (sketch_index_nearest(&p->seen, &row->sketch, p->o->near) >= p->o->near)
			row->drop = PREP_DROP_near_duplicate;
		else if (sketch_index_add(&p->seen, &row->sketch, e))
			return -1;
	}
	return 0;
}

/* The next row for the judge. A task without a solution is judged with an empty candidate: the
 * verdict then tells whether the task itself can be judged. Evaluation tasks are left to the
 * evaluation. */
static int next_row(void *ctx, uint64_t *id, struct str *task, struct str *candidate)
{
	struct prep *p = ctx;
	const struct prep_row *row;

	while (p->asked < p->n && (p->row[p->asked].drop != PREP_KEPT || p->row[p->asked].role == PREP_EVAL))
		p->asked++;
	if (p->asked >= p->n)
		return 0;
	row = &p->row[p->asked];
	*id = p->asked++;
	*task = row->task;
	*candidate = row->messages.n ? row->solution : STR("");
	return 1;
}

/* Drops a row that the judge refused, and keeps the speed-up of one that is correct. */
static int take_verdict(void *ctx, const struct judged *j, struct err *e)
{
	struct prep *p = ctx;
	struct prep_row *row = &p->row[j->id];
	const char *why;

	if (j->verdict.diag.reason == REASON_bad_task)
		row->drop = PREP_DROP_bad_task;
	else if (row->by_rule && (j->rc || !j->verdict.correct))
		prep_unsolve(row);
	else if (row->messages.n && (j->rc || !j->verdict.correct))
		row->drop = PREP_DROP_not_correct;
	else if (j->verdict.speedup > 0.0)
		row->speedup = j->verdict.speedup;
	if (row->drop == PREP_KEPT)
		return 0;
	why = j->verdict.diag.reason ? arena_printf(&row->arena, "%s: %s", reason_code(j->verdict.diag.reason),
						    j->verdict.diag.text) :
				       arena_printf(&row->arena, "not judged: %s", j->err.text);
	if (why)
		row->judged = str_of(why);
	return why ? 0 : err_nomem(e);
}

/* Judges the rows of the batch if --verify is set. */
static int judge(struct prep *p, struct err *e)
{
	const struct batch_source rows = { .next = next_row, .told = take_verdict, .ctx = p };

	p->asked = 0;
	return p->o->judge ? judge_pool_run(p->o->judge, &rows, e) : 0;
}

/* Drops training rows whose speed-up is known and below the limit. */
static void drop_slow(struct prep *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct prep_row *row = &p->row[i];

		if (row->drop == PREP_KEPT && row->role != PREP_EVAL && row->speedup > 0.0 &&
		    row->speedup < p->o->min_speedup)
			row->drop = PREP_DROP_too_slow;
	}
}

/* Chooses train, validation or test by the hash of the program, so that programs that differ only
 * in names and constants are on one side, or by that of the repository, so that the modules of one author are. */
static void choose_split(const struct prep *p, struct prep_row *row)
{
	int whole = p->o->by_repository && row->repository.n;
	uint64_t h = whole ? hash_xxh64(row->repository.p, row->repository.n, p->o->seed) :
			     hash_xxh64(&row->sketch.whole, sizeof row->sketch.whole, p->o->seed);
	double u = (double)(h >> 11) * 0x1p-53;

	if (row->kind == PREP_builtin || row->role == PREP_EVAL)
		return;
	row->split = u < p->o->test ? GEN_TEST : u < p->o->test + p->o->validation ? GEN_VALIDATION : GEN_TRAIN;
}

/* Has the source given as many rows as wanted? */
static int is_limited(const struct prep *p)
{
	int file = p->source.kind != PREP_builtin && p->source.kind != PREP_kernelbench;

	return file && p->o->limit && p->count->kept >= p->o->limit;
}

/* Writes the rows of the batch in order: kept ones to their files, dropped ones with their
 * reason. */
static int write_rows(struct prep *p, struct err *e)
{
	for (size_t i = 0; i < p->n && !is_limited(p); i++) {
		struct prep_row *row = &p->row[i];

		p->count->read++;
		if (row->drop != PREP_KEPT) {
			p->count->drop[row->drop]++;
			if (row->kind == PREP_builtin)
				prep_builtin_again(&p->source, row);
			if (prep_out_dropped(p->out, row, p->r, e))
				return -1;
			continue;
		}
		p->count->kept++;
		if (prep_out_row(p->out, row, p->r, e))
			return -1;
	}
	return 0;
}

/* One batch through all steps. */
static int run_batch(struct prep *p, struct err *e)
{
	if (for_rows(p, decode, e) || drop_equal(p, e) || for_rows(p, examine, e) || drop_near(p, e))
		return -1;
	for (size_t i = 0; i < p->n; i++)
		choose_split(p, &p->row[i]);
	if ((p->o->solve && for_rows(p, solve, e)) || judge(p, e))
		return -1;
	drop_slow(p);
	if (write_rows(p, e))
		return -1;
	progress_note(&p->bar, "%lld kept", (long long)p->count->kept);
	return 0;
}

/* All rows of one source, with progress. A file of less than 100 MB is counted in kB: if rows are solved and judged,
 * one megabyte of modules takes minutes. */
static int run_source(struct prep *p, struct err *e)
{
	int bytes = p->source.rows.fd >= 0;
	int64_t shown = 0, unit = !bytes ? 1 : p->source.total < 100000000 ? 1000 : 1000000;
	int rc = 0;

	progress_begin(&p->bar, prep_kind_name(p->source.kind), !bytes ? "rows" : unit == 1000 ? "kB" : "MB",
		       p->source.total / unit);
	do {
		rc = fill(p, e) || run_batch(p, e) ? -1 : 0;
		progress_add(&p->bar, prep_source_done(&p->source) / unit - shown);
		shown = prep_source_done(&p->source) / unit;
		if (!rc && stop_requested())
			rc = err_set(e, ERR_INTERRUPTED, "stopped; nothing was written");
	} while (!rc && p->n && !is_limited(p));
	progress_end(&p->bar);
	return rc;
}

/* --- set-up ------------------------------------------------------------------------------- */

/* Pairs the sources with their inputs, in the order of the command line. */
static int parse_sources(const struct prep_opts *o, struct prep_report *r, struct err *e)
{
	size_t used = 0;

	for (size_t i = 0; i < o->source.n; i++) {
		int k = 0;

		while (k < PREP_KINDS && strcmp(o->source.v[i], prep_kind_name(k)))
			k++;
		if (k == PREP_KINDS)
			return err_set(e, ERR_USAGE, "--source: '%s' is not one of " PREP_SOURCE_CHOICES,
				       o->source.v[i]);
		if (r->n == PREP_SOURCES_MOST)
			return err_set(e, ERR_USAGE, "more than %d sources", PREP_SOURCES_MOST);
		if (k != PREP_builtin && used == o->input.n)
			return err_set(e, ERR_USAGE, "--source %s needs an --input", o->source.v[i]);
		r->source[r->n++] = (struct prep_count){ .kind = k, .input = k == PREP_builtin ? NULL :
							 o->input.v[used++] };
	}
	return used == o->input.n ? 0 : err_set(e, ERR_USAGE, "--input '%s' belongs to no --source", o->input.v[used]);
}

/* Reads evaluation tasks that must not get into training. */
static int keep_out(struct prep *p, const char *path, struct err *e)
{
	struct taskset t;
	int rc = 0, unread = 0;

	if (taskset_open(&t, path, e))
		return -1;
	for (size_t i = 0; rc >= 0 && i < t.rows.n; i++) {
		rc = prep_eval_add(&p->eval, str_of(t.rows.v[i].source), e);
		unread += rc == 0;
	}
	taskset_close(&t);
	if (unread)
		log_warn("%d tasks of '%s' do not parse and are not kept out", unread, path);
	return rc < 0 ? -1 : 0;
}

/* All evaluation tasks: those that were named, and those of a KernelBench source. */
static int load_eval(struct prep *p, struct err *e)
{
	for (size_t i = 0; i < p->o->decontaminate.n; i++)
		if (keep_out(p, p->o->decontaminate.v[i], e))
			return -1;
	for (size_t i = 0; i < p->r->n; i++)
		if (p->r->source[i].kind == PREP_kernelbench && keep_out(p, p->r->source[i].input, e))
			return -1;
	return 0;
}

/* Opens all that a run needs: sources, threads, tokenizer, evaluation tasks and output files. On
 * failure close_all releases the part that was opened. */
static int open_all(struct prep *p, struct err *e)
{
	const struct prep_opts *o = p->o;
	int threads;

	if (o->validation + o->test > 0.95)
		return err_set(e, ERR_USAGE, "--validation and --test leave nothing to train on");
	if (parse_sources(o, p->r, e) || !(p->pool = pool_new(o->threads, e)))
		return -1;
	threads = pool_size(p->pool);
	p->work = mem_array((size_t)threads, sizeof *p->work);
	p->work_err = mem_array((size_t)threads, sizeof *p->work_err);
	p->row = mem_array(BATCH, sizeof *p->row);
	if (!p->work || !p->work_err || !p->row)
		return err_nomem(e);
	if (o->tokenizer && !(p->tok = tok_open(o->tokenizer, e)))
		return -1;
	for (int i = 0; i < threads; i++) {
		p->work[i] = (struct prep_work){ .o = o, .tok = p->tok };
		if (p->tok && !(p->work[i].enc = tok_enc_new(p->tok, e)))
			return -1;
	}
	return load_eval(p, e) || !(p->out = prep_out_open(o->out, e)) ? -1 : 0;
}

/* Releases everything. Members that open_all did not reach are zero and are skipped. */
static void close_all(struct prep *p)
{
	for (int i = 0; p->work && p->pool && i < pool_size(p->pool); i++) {
		tok_enc_free(p->work[i].enc);
		host_lib_free(p->work[i].lib);
		vec_free(&p->work[i].ids);
		buf_release(&p->work[i].a);
		buf_release(&p->work[i].b);
		buf_release(&p->work[i].c);
	}
	for (size_t i = 0; p->row && i < BATCH; i++)
		arena_release(&p->row[i].arena);
	prep_out_free(p->out);
	prep_eval_release(&p->eval);
	sketch_index_release(&p->seen);
	map_release(&p->texts);
	tok_free(p->tok);
	pool_free(p->pool);
	mem_free(p->work);
	mem_free(p->work_err);
	mem_free(p->row);
}

/* Fails if a source lost all of its rows: the file or its kind is probably wrong. The error names
 * the most frequent reason. */
static int check_kept(const struct prep_report *r, struct err *e)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct prep_count *c = &r->source[i];
		int most = 1;

		for (int d = 1; d < PREP_DROPS; d++)
			most = c->drop[d] > c->drop[most] ? d : most;
		if (!c->kept && !c->read)
			return err_set(e, ERR_FORMAT, "there is no row in '%s'", c->input ? c->input :
				       prep_kind_name(c->kind));
		if (!c->kept)
			return err_set(e, ERR_FORMAT,
				       "none of the %lld rows of '%s' could be used; %lld times: %s (read "
				       "as --source %s; see tritonrl help prepare)",
				       (long long)c->read, c->input ? c->input : "", (long long)c->drop[most],
					       prep_drop_text(most), prep_kind_name(c->kind));
	}
	return 0;
}

/* Runs one source after the other into the same files. Nothing is put in place unless every source
 * succeeded and kept at least one row. */
int prep_run(const struct prep_opts *o, struct prep_report *r, struct err *e)
{
	struct prep p = { .o = o, .r = r };
	int64_t start = clock_ns();
	int rc;

	*r = (struct prep_report){ .n = 0 };
	rc = open_all(&p, e);
	for (size_t i = 0; i < r->n && !rc; i++) {
		p.count = &r->source[i];
		rc = prep_source_open(&p.source, p.count->kind, p.count->input, o, e);
		rc = rc ? rc : run_source(&p, e);
		prep_source_close(&p.source);
	}
	if (!rc)
		rc = check_kept(r, e) || prep_out_commit(p.out, o, r, e) ? -1 : 0;
	close_all(&p);
	r->seconds = (double)(clock_ns() - start) * 1e-9;
	return rc;
}

/* --- the table ---------------------------------------------------------------------------- */

/* One line of the table of levels. */
static void table_levels(struct buf *out, const char *what, const int64_t *level)
{
	buf_addf(out, "  %-22s level 1 %8lld   level 2 %8lld   level 3 %8lld\n", what, (long long)level[1],
		 (long long)level[2],
		 (long long)level[3]);
}

void prep_table(const struct prep_report *r, struct buf *out)
{
	int64_t kept = 0;

	buf_addf(out, "%-12s %10s %10s %10s  %s\n", "source", "read", "kept", "dropped", "input");
	for (size_t i = 0; i < r->n; i++) {
		const struct prep_count *c = &r->source[i];

		kept += c->kept;
		buf_addf(out, "%-12s %10lld %10lld %10lld  %s\n", prep_kind_name(c->kind), (long long)c->read,
			 (long long)c->kept,
			 (long long)(c->read - c->kept), c->input ? c->input : "-");
	}
	buf_adds(out, "\ndropped\n");
	for (int d = 1; d < PREP_DROPS; d++) {
		int64_t n = 0;

		for (size_t i = 0; i < r->n; i++)
			n += r->source[i].drop[d];
		if (n)
			buf_addf(out, "  %-22s %8lld   %s\n", prep_drop_name(d), (long long)n, prep_drop_text(d));
	}
	buf_adds(out, "\nwritten\n");
	for (int f = 0; f < PREP_OUTS; f++)
		buf_addf(out, "  %-24s %8lld rows\n", prep_file_name(f), (long long)r->rows[f]);
	buf_adds(out, "\ndifficulty\n");
	table_levels(out, "from the program", r->level);
	table_levels(out, "by word counting", r->heuristic);
	buf_addf(out, "  the two agree on %.1f %%\n", kept ? 100.0 * (double)r->same_label / (double)kept : 0.0);
	if (r->tokens)
		buf_addf(out, "\n%lld tokens to train on, the longest row has %lld\n", (long long)r->tokens,
			 (long long)r->longest);
	buf_addf(out, "\n%.1f seconds\n", r->seconds);
}
