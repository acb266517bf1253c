/* The sources that rows come from: files of JSON rows, folders of tasks, the generator. Files are
 * read one row at a time. */
#include <stdio.h>

#include "base/file.h"
#include "base/hash.h"
#include "data/prep_impl.h"

static const char *const kind_names[] = {
#define SOURCE(id, text) #id,
#include "data/prep_source.def"
#undef SOURCE
};

const char *prep_kind_name(enum prep_kind k)
{
	return kind_names[k];
}

/* Opens a source. `total` is what progress is measured by: bytes for files, rows for folders and
 * the generator. */
int prep_source_open(struct prep_source *s, enum prep_kind kind, const char *input, const struct prep_opts *o,
		     struct err *e)
{
	int rc;

	*s = (struct prep_source){ .kind = kind, .input = input, .rows = { .fd = -1 } };
	switch (kind) {
	case PREP_builtin:
		return prep_builtin_open(s, o, e);
	case PREP_kernelbench:
	case PREP_modules:
		rc = taskset_open(&s->tasks, input, e);
		s->total = (int64_t)s->tasks.rows.n;
		return rc;
	default:
		rc = parquet_open(&s->parquet, input, o->out, e);
		rc = rc ? -1 : json_rows_open(&s->rows, s->parquet.path ? s->parquet.path : input, 0, e);
		s->total = s->rows.size;
		return rc;
	}
}

/* The next row of a JSON or JSON lines file, as text. */
static int next_json(struct prep_source *s, struct prep_row *row, struct err *e)
{
	struct str text;
	int rc = json_rows_next(&s->rows, &text, e);

	if (rc < 0)
		return err_wrap(e, "'%s'", s->input);
	if (rc > 0) {
		char *copy = arena_strndup(&row->arena, text.p, text.n);

		if (!copy)
			return err_nomem(e);
		row->raw = (struct str){ .p = copy, .n = text.n };
	}
	return rc;
}

/* The next module of a folder, in KernelBench's form or KernelBook's. */
static int next_module(struct prep_source *s, struct prep_row *row, struct err *e)
{
	const struct task_row *t;

	if (s->number == (int64_t)s->tasks.rows.n)
		return 0;
	t = &s->tasks.rows.v[s->number];
	row->level = t->level;
	row->task = str_of(t->source);           /* lives as long as the source does */
	row->id = arena_strdup(&row->arena, t->id);
	return row->id ? 1 : err_nomem(e);
}

/* The next task of a KernelBench folder: for evaluation only. */
static int next_task(struct prep_source *s, struct prep_row *row, struct err *e)
{
	const struct task_row *t;

	if (s->number == (int64_t)s->tasks.rows.n)
		return 0;
	t = &s->tasks.rows.v[s->number];
	row->role = PREP_EVAL;
	row->split = GEN_TEST;
	row->level = t->level;
	row->task = str_of(t->source);           /* lives as long as the source does */
	row->id = t->level ? arena_printf(&row->arena, "kernelbench-l%d-%s", t->level, t->id) :
			     arena_printf(&row->arena, "kernelbench-%s", t->id);
	return row->id ? 1 : err_nomem(e);
}

int prep_source_next(struct prep_source *s, struct prep_row *row, struct err *e)
{
	int rc;

	arena_clear(&row->arena);
	*row = (struct prep_row){ .arena = row->arena, .kind = s->kind };
	switch (s->kind) {
	case PREP_builtin: rc = prep_builtin_next(s, row, e); break;
	case PREP_kernelbench: rc = next_task(s, row, e); break;
	case PREP_modules: rc = next_module(s, row, e); break;
	default: rc = next_json(s, row, e);
	}
	if (rc > 0)
		row->number = ++s->number;
	return rc;
}

/* Progress in the unit of `total`. */
int64_t prep_source_done(const struct prep_source *s)
{
	return s->rows.fd >= 0 ? json_rows_offset(&s->rows) : s->number;
}

void prep_source_close(struct prep_source *s)
{
	json_rows_close(&s->rows);
	parquet_close(&s->parquet);
	taskset_close(&s->tasks);
	map_release(&s->seen);
	draws_release(&s->draws);
	gen_texts_release(&s->text);
}
