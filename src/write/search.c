/* A search: candidates, their verdicts, the order among them. search.h is the manual. */
#include "write/search.h"

#include <stdio.h>
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"

enum { SETTLED = 6 };             /* robust candidates after the best one that were no faster */

static const struct { const char *name, *text; } authors[AUTHORS] = {
#define AUTHOR(id, name, text) { name, text },
#include "write/author.def"
#undef AUTHOR
};

const char *author_name(enum author a)
{
	return authors[a].name;
}

const char *author_text(enum author a)
{
	return authors[a].text;
}

int search_open(struct write_search *s, struct judge_pool *pool, const struct judge_options *options, struct str task,
		int64_t deadline, struct err *e)
{
	*s = (struct write_search){ .task = task, .deadline = deadline };
	return judge_batch_init(&s->batch, pool, NULL, options, NULL, e);
}

void search_close(struct write_search *s)
{
	for (size_t i = 0; i < s->all.n; i++) {
		buf_release(&s->all.v[i]->text);
		mem_free(s->all.v[i]);
	}
	vec_free(&s->all);
	judge_batch_release(&s->batch);
}

int search_is_over(const struct write_search *s)
{
	return stop_requested() || clock_ns() >= s->deadline;
}

int search_is_settled(const struct write_search *s)
{
	return s->best && s->robust >= s->robust_at_best + SETTLED;
}

/* --- the order among candidates ------------------------------------------------------------------- */

int proposal_is_robust(const struct proposal *a)
{
	return a->verdict.correct && a->verdict.general.ran && a->verdict.general.correct;
}

/* Is a better than b? Both are correct. Speed-ups are against the same reference. */
static int is_better(const struct proposal *a, const struct proposal *b)
{
	if (proposal_is_robust(a) != proposal_is_robust(b))
		return proposal_is_robust(a);
	return a->verdict.speedup > b->verdict.speedup;
}

double proposal_reach(const struct proposal *a)
{
	const struct verdict *v = &a->verdict;

	return a->failed ? -1.0 : (double)v->stage + 0.99 * v->stages[v->stage].share;
}

const struct proposal *search_nearest(const struct write_search *s)
{
	const struct proposal *found = NULL;

	for (size_t i = 0; i < s->all.n; i++)
		if (s->all.v[i]->judged && (!found || proposal_reach(s->all.v[i]) > proposal_reach(found)))
			found = s->all.v[i];
	return found;
}

/* --- judging ------------------------------------------------------------------------------------------ */

static void note_verdict(struct write_search *s, const struct judged *j)
{
	struct proposal *a = s->all.v[j->id];

	a->judged = 1;
	a->verdict = j->verdict;
	a->failed = j->rc != 0;
	if (j->rc) {
		a->verdict.correct = 0;
		snprintf(a->verdict.diag.text, sizeof a->verdict.diag.text, "%s", j->err.text);
	}
	s->judged++;
	if (a->verdict.correct) {
		s->passed++;
		s->passed_by[a->author]++;
		s->robust += (size_t)proposal_is_robust(a);
		if (!s->best || is_better(a, s->best)) {
			s->best = a;
			s->robust_at_best = s->robust;
		}
	}
	if (s->tick)
		s->tick(s->tick_ctx, s);
}

int search_add(struct write_search *s, enum author author, struct str text, const char *note, struct err *e)
{
	struct proposal *a = mem_zalloc(sizeof *a);
	struct judged now;
	int rc;

	if (!a || vec_push(&s->all, a)) {
		mem_free(a);
		return err_nomem(e);
	}
	a->author = a->origin = author;
	a->number = ++s->by_author[author];
	snprintf(a->note, sizeof a->note, "%s", note);
	buf_addstr(&a->text, text);
	if (buf_check(&a->text, e))
		return -1;
	rc = judge_batch_ask(&s->batch, s->all.n - 1, s->task, buf_str(&a->text), &now, e);
	if (rc > 0)
		note_verdict(s, &now);
	return rc < 0 ? -1 : 0;
}

/* The judge's own wait knows no deadline, so this one looks every few milliseconds. */
int search_take(struct write_search *s, int wait, struct err *e)
{
	struct judged j;
	int rc;

	for (;;) {
		while ((rc = judge_batch_next(&s->batch, 0, &j, e)) > 0)
			note_verdict(s, &j);
		if (rc < 0 || !wait || !judge_batch_pending(&s->batch) || search_is_over(s))
			return rc;
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
	}
}
