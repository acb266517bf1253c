/* The files that `prepare` writes. Each is first a temporary file in the same folder. An old
 * prepare.json is removed before the first file is put in place, and the new one comes last: a
 * folder with prepare.json is always complete. */
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "base/sys.h"
#include "data/prep_impl.h"

/* Bytes that are collected before they are written. */
enum { FLUSH = 1 << 20 };

static const char *const file_names[] = {
#define OUT(id, name) name,
#include "data/prep_out.def"
#undef OUT
};

const char *prep_file_name(enum prep_file f)
{
	return file_names[f];
}

/* The open files, with what waits to be written to each. */
struct prep_out {
	char *dir;
	struct file_out file[PREP_OUTS];
	struct buf pending[PREP_OUTS];
	int opened;                     /* files that are open or committed */
	int committed;
};

/* Opens all output files in `dir`, which is created if missing. Returns NULL on failure (*e), with
 * no file left behind. */
struct prep_out *prep_out_open(const char *dir, struct err *e)
{
	struct prep_out *x = mem_zalloc(sizeof *x);
	struct buf path = BUF_INIT;
	int rc = -1;

	if (!x || !(x->dir = mem_strdup(dir)))
		err_nomem(e);
	else
		rc = file_mkdirs(dir, e);
	for (; !rc && x->opened < PREP_OUTS; x->opened += !rc)
		rc = path_join(&path, dir, file_names[x->opened]) ? file_out_open(&x->file[x->opened],
				path.p, e) : err_nomem(e);
	buf_release(&path);
	if (rc) {
		prep_out_free(x);
		x = NULL;
	}
	return x;
}

/* Frees the outputs; files that were not committed are removed. */
void prep_out_free(struct prep_out *x)
{
	if (!x)
		return;
	for (int i = x->committed; i < x->opened; i++)
		file_out_abort(&x->file[i]);
	for (int i = 0; i < PREP_OUTS; i++)
		buf_release(&x->pending[i]);
	mem_free(x->dir);
	mem_free(x);
}

/* Writes the collected bytes of a file. */
static int flush(struct prep_out *x, enum prep_file f, struct err *e)
{
	struct buf *b = &x->pending[f];

	if (buf_check(b, e) || file_out_write(&x->file[f], buf_cstr(b), b->n, e))
		return -1;
	buf_clear(b);
	return 0;
}

/* --- rows --------------------------------------------------------------------------------- */

/* The members that training rows and tasks share. */
static void add_members(struct jw *w, const struct prep_row *row)
{
	jw_key(w, "id"), jw_cstr(w, row->id);
	jw_key(w, "source"), jw_cstr(w, prep_kind_name(row->kind));
	jw_key(w, "level"), jw_int(w, row->level ? row->level : row->difficulty.level);
	jw_key(w, "split"), jw_cstr(w, gen_split_name(row->split));
	jw_key(w, "ops"), jw_str(w, row->ops);
	if (row->origin.n > 2)
		jw_key(w, "origin"), jw_raw(w, row->origin);
}

/* A row of sft_train.jsonl or sft_validation.jsonl. */
static void add_sft(struct jw *w, const struct prep_row *row)
{
	jw_key(w, "messages"), jw_raw(w, row->messages);
	add_members(w, row);
	if (row->tokens)
		jw_key(w, "tokens"), jw_int(w, row->tokens);
	if (row->speedup > 0.0)
		jw_key(w, "speedup"), jw_real(w, row->speedup);
}

/* A row of tasks_*.jsonl. */
static void add_task(struct jw *w, const struct prep_row *row)
{
	add_members(w, row);
	jw_key(w, "task"), jw_str(w, row->task);
}

/* A row of difficulty_labels.jsonl: our label, the counts it is based on, and the label by word
 * counting. */
static void add_label(struct jw *w, const struct prep_row *row)
{
	const struct difficulty *d = &row->difficulty;

	jw_key(w, "id"), jw_cstr(w, row->id);
	jw_key(w, "source"), jw_cstr(w, prep_kind_name(row->kind));
	jw_key(w, "level"), jw_int(w, d->level);
	if (row->level)
		jw_key(w, "given_level"), jw_int(w, row->level);
	jw_key(w, "ops"), jw_cstr(w, d->names);
	jw_key(w, "anchors"), jw_int(w, d->anchors);
	jw_key(w, "calls"), jw_int(w, d->calls);
	jw_key(w, "arithmetic"), jw_int(w, d->arithmetic);
	jw_key(w, "networks"), jw_int(w, d->networks);
	jw_key(w, "blocks"), jw_int(w, d->blocks);
	jw_key(w, "loops"), jw_int(w, d->loops);
	jw_key(w, "heuristic");
	jw_begin(w, '{');
	jw_key(w, "level"), jw_int(w, d->heuristic.level);
	jw_key(w, "mix"), jw_int(w, d->heuristic.mix);
	jw_key(w, "fused"), jw_bool(w, d->heuristic.fused);
	jw_key(w, "words"), jw_int(w, d->heuristic.words);
	jw_end(w, '}');
}

/* Appends a row to a file as one line of JSON. */
static int add_row(struct prep_out *x, enum prep_file f, void (*add)(struct jw *, const struct prep_row *),
		   const struct prep_row *row,
		   struct prep_report *r, struct err *e)
{
	struct jw w = { .out = &x->pending[f] };

	jw_begin(&w, '{');
	add(&w, row);
	jw_end(&w, '}');
	buf_addc(&x->pending[f], '\n');
	r->rows[f]++;
	return x->pending[f].n > FLUSH ? flush(x, f, e) : 0;
}

/* Writes a kept row to every file that it belongs to. Test rows are never training rows. */
int prep_out_row(struct prep_out *x, const struct prep_row *row, struct prep_report *r, struct err *e)
{
	static const enum prep_file tasks[] = { [GEN_TRAIN] = PREP_OUT_tasks_train,
						[GEN_VALIDATION] = PREP_OUT_tasks_validation,
						[GEN_TEST] = PREP_OUT_tasks_test };
	const struct difficulty *d = &row->difficulty;

	r->level[d->level]++;
	r->heuristic[d->heuristic.level]++;
	r->same_label += d->level == d->heuristic.level;
	if (add_row(x, PREP_OUT_labels, add_label, row, r, e))
		return -1;
	if (row->role != PREP_SFT_ONLY &&
	    add_row(x, row->by_rule ? PREP_OUT_modules_train : tasks[row->split], add_task, row, r, e))
		return -1;
	if (!row->messages.n || row->role == PREP_RL_ONLY || row->role == PREP_EVAL || row->split == GEN_TEST)
		return 0;
	r->tokens += row->tokens;
	r->longest = MAX(r->longest, row->tokens);
	return add_row(x, row->split == GEN_TRAIN ? PREP_OUT_sft_train : PREP_OUT_sft_validation, add_sft, row, r, e);
}

/* A row of dropped.jsonl. */
static void add_dropped(struct jw *w, const struct prep_row *row)
{
	jw_key(w, "source"), jw_cstr(w, prep_kind_name(row->kind));
	jw_key(w, "row"), jw_int(w, row->number);
	jw_key(w, "id"), jw_cstr(w, row->id);
	jw_key(w, "reason"), jw_cstr(w, prep_drop_name(row->drop));
	jw_key(w, "text"), jw_cstr(w, prep_drop_text(row->drop));
	if (row->judged.n)
		jw_key(w, "judge"), jw_str(w, row->judged);
}

int prep_out_dropped(struct prep_out *x, const struct prep_row *row, struct prep_report *r, struct err *e)
{
	return add_row(x, PREP_OUT_dropped, add_dropped, row, r, e);
}

/* --- the report --------------------------------------------------------------------------- */

/* One source of the report: rows read and kept, and the dropped ones by reason. */
static void add_source(struct jw *w, const struct prep_count *c)
{
	jw_begin(w, '{');
	jw_key(w, "source"), jw_cstr(w, prep_kind_name(c->kind));
	jw_key(w, "input"), jw_cstr(w, c->input);
	jw_key(w, "read"), jw_int(w, c->read);
	jw_key(w, "kept"), jw_int(w, c->kept);
	jw_key(w, "dropped");
	jw_begin(w, '{');
	for (int d = 1; d < PREP_DROPS; d++)
		if (c->drop[d])
			jw_key(w, prep_drop_name(d)), jw_int(w, c->drop[d]);
	jw_end(w, '}');
	jw_end(w, '}');
}

static void add_levels(struct jw *w, const char *key, const int64_t *level)
{
	jw_key(w, key);
	jw_begin(w, '[');
	for (int i = 1; i <= 3; i++)
		jw_int(w, level[i]);
	jw_end(w, ']');
}

/* Writes prepare.json, without times or paths of this run: the same input gives the same bytes. */
static void write_report(const struct prep_opts *o, const struct prep_report *r, struct buf *out)
{
	struct jw w = { .out = out, .indent = 2 };

	jw_begin(&w, '{');
	jw_key(&w, "seed"), jw_int(&w, (int64_t)o->seed);
	jw_key(&w, "max_length"), jw_int(&w, o->max_length);
	jw_key(&w, "max_bytes"), jw_int(&w, o->max_bytes);
	jw_key(&w, "near"), jw_real(&w, o->near);
	jw_key(&w, "near_eval"), jw_real(&w, o->near_eval);
	jw_key(&w, "verified"), jw_bool(&w, o->judge != NULL);
	jw_key(&w, "solved"), jw_bool(&w, o->solve);
	jw_key(&w, "by_repository"), jw_bool(&w, o->by_repository);
	jw_key(&w, "tokenizer"), jw_cstr(&w, o->tokenizer);
	jw_key(&w, "prompt_style"), jw_cstr(&w, prompt_style_name(o->style));
	jw_key(&w, "sources");
	jw_begin(&w, '[');
	for (size_t i = 0; i < r->n; i++)
		add_source(&w, &r->source[i]);
	jw_end(&w, ']');
	jw_key(&w, "files");
	jw_begin(&w, '{');
	for (int i = 0; i < PREP_OUTS; i++)
		jw_key(&w, file_names[i]), jw_int(&w, r->rows[i]);
	jw_end(&w, '}');
	add_levels(&w, "levels", r->level);
	add_levels(&w, "heuristic_levels", r->heuristic);
	jw_key(&w, "same_label"), jw_int(&w, r->same_label);
	jw_key(&w, "tokens"), jw_int(&w, r->tokens);
	jw_key(&w, "longest"), jw_int(&w, r->longest);
	jw_end(&w, '}');
	buf_addc(out, '\n');
}

/* Puts all files in place, prepare.json last (see the head of this file). */
int prep_out_commit(struct prep_out *x, const struct prep_opts *o, const struct prep_report *r, struct err *e)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	int rc = 0;

	for (int i = 0; i < PREP_OUTS && !rc; i++)
		rc = flush(x, i, e);
	if (!rc && !path_join(&path, x->dir, "prepare.json"))
		rc = err_nomem(e);
	if (!rc && file_exists(path.p) && sys.unlink(path.p))
		rc = err_errno(e, "cannot remove '%s'", path.p);
	while (!rc && x->committed < PREP_OUTS)
		rc = file_out_commit(&x->file[x->committed++], e);
	write_report(o, r, &text);
	if (!rc)
		rc = buf_check(&text, e) || file_replace(path.p, buf_str(&text), e) ? -1 : 0;
	buf_release(&path);
	buf_release(&text);
	return rc;
}
