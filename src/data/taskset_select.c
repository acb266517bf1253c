/* Choosing tasks of a set by level and number: see taskset.h. */
#include <stdio.h>
#include <string.h>

#include "base/opt.h"
#include "data/difficulty.h"
#include "data/taskset.h"

/* Bytes of a task's syntax tree. */
enum { TREE_MOST = 256 << 20 };

/* Labels a task that came without a level. A task that does not parse keeps level 0. */
static void label(struct task_row *row)
{
	struct difficulty d;
	struct py_module m;

	if (row->level || py_parse(&m, str_of(row->source), row->id, TREE_MOST, NULL))
		return;
	difficulty_of(&m, STR("Model"), &d);
	row->level = d.level;
	py_release(&m);
}

/* Is the level among those that were asked for? */
static int is_wanted(const struct opt_list *levels, int level)
{
	char word[16];

	snprintf(word, sizeof word, "%d", level);
	for (size_t i = 0; i < levels->n; i++)
		if (!strcmp(levels->v[i], word))
			return 1;
	return !levels->n;
}

int taskset_select(struct taskset *t, const struct opt_list *levels, int64_t limit, struct err *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < levels->n; i++)
		if (strlen(levels->v[i]) != 1 || levels->v[i][0] < '1' || levels->v[i][0] > '3')
			return err_set(e, ERR_USAGE, "'%s' is not a level: levels are 1, 2 and 3", levels->v[i]);
	for (size_t i = 0; i < t->rows.n && levels->n; i++) {
		struct task_row row = t->rows.v[i];

		label(&row);
		if (is_wanted(levels, row.level))
			t->rows.v[kept++] = row;
		else
			task_row_release(&row);
	}
	if (levels->n)
		t->rows.n = kept;
	if (limit)
		taskset_cut(t, (size_t)limit);
	return t->rows.n ? 0 : err_set(e, ERR_FORMAT, "none of the tasks has a level that was asked for");
}
