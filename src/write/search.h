/* A search for a solution of one task: candidates come from any author, and judging runs in the pool's
 * processes meanwhile. The search keeps every candidate and knows the best one.
 *
 * Better means: correct, then robust (the general contract holds, too), then faster by the judge's own clock:
 * the estimate, or measured time where the pool has a GPU. */
#ifndef WRITE_SEARCH_H
#define WRITE_SEARCH_H

#include "verify/pool/batch.h"

enum author {
#define AUTHOR(id, name, text) AUTHOR_##id,
#include "write/author.def"
#undef AUTHOR
	AUTHORS
};
const char *author_name(enum author a);
const char *author_text(enum author a);

/* A candidate; owned by its search. */
struct proposal {
	struct buf text;
	enum author author, origin;   /* origin: who wrote the solution that was tuned; else the author */
	int number;                   /* among the author's, from 1 */
	char note[320];               /* how the author made it; "" */
	int64_t asked_ns;             /* when it was given to the judge */
	int judged;
	int failed;                   /* judging failed: verdict.diag.text says why */
	struct verdict verdict;
};

struct write_search {
	struct str task;              /* borrowed */
	struct judge_batch batch;
	struct { struct proposal **v; size_t n, cap; } all;
	const struct proposal *best;   /* NULL: nothing passed */
	size_t judged, passed, robust;
	size_t robust_at_best;        /* `robust` when the best one was found */
	int64_t deadline;             /* of clock_ns */
	int by_author[AUTHORS], passed_by[AUTHORS];
	void (*tick)(void *ctx, const struct write_search *s);   /* after every verdict; NULL: nobody asks */
	void *tick_ctx;
};

/* `options` are those that the pool was opened with. */
int search_open(struct write_search *s, struct judge_pool *pool, const struct judge_options *options, struct str task,
		int64_t deadline, struct err *e);
void search_close(struct write_search *s);
/* Gives a candidate to the judge. */
int search_add(struct write_search *s, enum author author, struct str text, const char *note, struct err *e);
/* Takes finished verdicts. With `wait` it returns when every candidate is judged, at the deadline, or when a
 * stop was requested. */
int search_take(struct write_search *s, int wait, struct err *e);
/* Nonzero: the time is over, or a stop was requested. */
int search_is_over(const struct write_search *s);
/* Enough candidates passed, and the last ones were not faster: more will hardly be. */
int search_is_settled(const struct write_search *s);
int proposal_is_robust(const struct proposal *a);
/* How far a candidate came: its stage, and the share of the stage's trials that passed. */
double proposal_reach(const struct proposal *a);
/* The candidate that came furthest in the judge's stages; NULL: no candidate was judged. */
const struct proposal *search_nearest(const struct write_search *s);

#endif
