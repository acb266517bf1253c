/* Inside the report: what was gathered from the store, and the sections made of it. */
#ifndef WEB_PAGE_H
#define WEB_PAGE_H

#include "base/err.h"
#include "base/json.h"
#include "store/store.h"
#include "verify/verdict.h"
#include "web/report.h"

enum { HISTOGRAM = 21 };

struct curve {
	char stage[16], name[24];
	struct { double *v; size_t n, cap; } x, y;
};

struct death { int stage; char reason[48]; int64_t n; };

/* Candidates of one stage of the run: "rl", "eval_base", ... */
struct page_batch {
	char name[32];
	int64_t samples, correct, entered[STAGES], died[STAGES];
	double rewards[HISTOGRAM];
	struct { struct death *v; size_t n, cap; } deaths;
};

struct task_count {
	int level;
	char ops[96];
	int64_t n, correct;
	double reward, speedup;        /* sum; best of a correct one */
};

struct page_subject { char name[32]; struct json *json; };

struct page {
	struct buf *out;
	const struct report_opts *o;
	struct { struct curve *v; size_t n, cap; } curves;
	struct { struct page_batch *v; size_t n, cap; } batches;
	struct { struct task_count *v; size_t n, cap; } tasks;
	struct map by_task;            /* id -> index + 1 into tasks */
	struct { struct page_subject *v; size_t n, cap; } subjects;
	struct json *compare;          /* or NULL */
	struct buf config;
	size_t shown;
	struct err *e;
};

void page_head(struct page *p);
void page_eval(struct page *p);
void page_curves(struct page *p);
void page_funnel(struct page *p);
void page_tasks(struct page *p);
int page_candidates(struct page *p, struct store *s);

#endif
