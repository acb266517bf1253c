/* Speed of the judge: CPU time of making a task ready and of each stage of a correct candidate,
 * and candidates a second over a mixed set through the pool.
 *
 *   bench_verify [PAIRS [TASKS [WORKERS [FILE]]]]
 *
 * PAIRS generated pairs of levels 1 to 3, each task judging its own solution once (0: none of
 * them). The mixed set has ten candidates for each of the first TASKS tasks of FILE, as a rollout
 * would send them: four correct ones and six that fail early, each in its own way. FILE has a pair a
 * line (task, solution, as `tritonrl tasks` writes them) and stays as it is whatever the generator
 * becomes, so that figures of two versions can be compared. Ratios are against the limits below;
 * above 1 is better than asked. WORKERS 0: all in this process and nothing but the last line, for profilers. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "gen/gen.h"
#include "verify/funnel/judgement.h"
#include "verify/pool/pool.h"

enum { PER_TASK = 10, CORRECT = 4 };

/* Median of a verdict; candidates a second of the mix on two cores. */
static const double limit_ms = 3.0, limit_rate = 400.0;

struct sample { double *v; size_t n, cap; };
struct pair { char *task, *solution; };
struct pairs { struct pair *v; size_t n, cap; };

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double quantile(struct sample *s, double q)
{
	if (!s->n)
		return 0.0;
	qsort(s->v, s->n, sizeof *s->v, by_value);
	return s->v[MIN((size_t)(q * (double)s->n), s->n - 1)];
}

static void print_sample(const char *name, struct sample *s)
{
	double sum = 0.0;

	for (size_t i = 0; i < s->n; i++)
		sum += s->v[i];
	printf("  %-14s %8.3f %8.3f %8.3f %8.3f\n", name, quantile(s, 0.5), quantile(s, 0.9), quantile(s, 0.99),
	       s->n ? sum / (double)s->n : 0.0);
	vec_free(s);
}

/* The i-th pair is of level 1 + i % 3. */
static int draw_pairs(struct pairs *p, size_t n, struct err *e)
{
	struct gen_texts t = { .ops = BUF_INIT };
	struct gen_plan plan;
	struct rng r;
	int rc = 0;

	rng_init(&r, 11, "bench");
	while (p->n < n && !rc) {
		struct pair one;

		gen_plan_draw(&plan, 1 + (int)(p->n % 3), 1, &r);
		gen_texts_clear(&t);
		rc = gen_emit(&plan, &t, e);
		if (rc)
			break;
		one = (struct pair){ mem_strndup(t.task.p, t.task.n), mem_strndup(t.solution.p, t.solution.n) };
		rc = !one.task || !one.solution || vec_push(p, one) ? err_nomem(e) : 0;
	}
	gen_texts_release(&t);
	return rc;
}

static int add_pair(struct pairs *p, struct str line, struct err *e)
{
	struct json *row = json_parse(line, e);
	struct str task, solution;
	struct pair one;
	int rc = !row || json_need_str(row, "task", &task, e) || json_need_str(row, "solution", &solution, e) ? -1 : 0;

	if (!rc) {
		one = (struct pair){ mem_strndup(task.p, task.n), mem_strndup(solution.p, solution.n) };
		rc = !one.task || !one.solution || vec_push(p, one) ? err_nomem(e) : 0;
	}
	json_free(row);
	return rc;
}

static int read_pairs(struct pairs *p, const char *path, size_t n, struct err *e)
{
	struct line_reader r;
	struct str line;
	int rc = lines_open(&r, path, e);

	if (rc)
		return rc;
	while (!rc && p->n < n && (rc = lines_next(&r, &line, e)) > 0)
		rc = add_pair(p, line, e);
	lines_close(&r);
	return rc;
}

/* --- one process: where the time goes ------------------------------------------------------- */

struct latency { struct sample open, judge, stage[STAGES]; size_t correct, bad_tasks; };

static int time_pair(struct judge *j, const struct pair *p, struct latency *l, struct err *e)
{
	struct verdict v;
	double start = cpu_ms(), opened;
	struct task *t = task_open(j, str_of(p->task), "task", e);

	if (!t)
		return -1;
	opened = cpu_ms();
	if (task_problem(t)->reason != REASON_ok) {
		l->bad_tasks++;
		task_free(t);
		return 0;
	}
	if (judge_candidate(j, t, str_of(p->solution), &v, e) || vec_push(&l->open, opened - start) ||
	    vec_push(&l->judge, cpu_ms() - opened))
		return -1;
	l->correct += (size_t)v.correct;
	for (int s = 0; s < STAGES; s++)
		if (v.stages[s].ran && vec_push(&l->stage[s], v.stages[s].ms))
			return -1;
	task_free(t);
	return 0;
}

static int bench_latency(const struct pairs *p, const struct judge_options *o, struct err *e)
{
	struct latency l = { .correct = 0 };
	struct judge *j = judge_new(o, e);
	double median;

	for (size_t i = 0; j && i < p->n; i++)
		if (time_pair(j, &p->v[i], &l, e))
			return -1;
	if (!j)
		return -1;
	median = quantile(&l.judge, 0.5);
	printf("%zu pairs, %zu correct, %zu tasks left out by their controls; milliseconds:\n", p->n, l.correct, l.bad_tasks);
	printf("  %-14s %8s %8s %8s %8s\n", "", "median", "p90", "p99", "mean");
	print_sample("task (CPU)", &l.open);
	print_sample("verdict (CPU)", &l.judge);
	for (int s = 0; s < STAGES; s++)
		print_sample(judge_stage_name((enum judge_stage)s), &l.stage[s]);
	printf("median verdict: %.2f times the speed asked for (%.1f ms)\n", limit_ms / median, limit_ms);
	judge_free(j);
	return 0;
}

/* --- the mixed set --------------------------------------------------------------------------- */

/* Where the stored value of the first tl.store begins; NULL: there is none. */
static char *stored_value(char *text)
{
	char *p = strstr(text, "tl.store(");
	int depth = 0;

	for (p = p ? p + 9 : NULL; p && *p; p++) {
		depth += (*p == '(' || *p == '[') - (*p == ')' || *p == ']');
		if (*p == ',' && !depth)
			return p + 1;
	}
	return NULL;
}

static const struct { const char *what, *find, *instead; } failures[PER_TASK - CORRECT] = {
	{ "syntax error", "def forward(self", "def forward(self(" },
	{ "no ModelNew", "class ModelNew", "class OldModel" },
	{ "name error", "tl.load(", "tl.lod(" },
	{ "host name error", "torch.empty", "torch.emptied" },
	{ "compile error", "tl.program_id(0)", "tl.program_id(3)" },
	{ "wrong value", NULL, " 1.5 * " },
};

/* Candidate k of a task: the first ones are its solution, the rest fail. */
static int make_candidate(const struct pair *p, int k, struct buf *out)
{
	char *text = p->solution, *at = NULL;
	const char *find = k < CORRECT ? NULL : failures[k - CORRECT].find;

	buf_clear(out);
	buf_addf(out, "# candidate %d\n", k);
	if (k >= CORRECT)
		at = find ? strstr(text, find) : stored_value(text);
	if (!at) {
		buf_adds(out, text);
		return k < CORRECT ? 0 : 1;
	}
	buf_add(out, text, (size_t)(at - text));
	buf_adds(out, failures[k - CORRECT].instead);
	buf_adds(out, at + (find ? strlen(find) : 0));
	return 0;
}

struct mix { size_t judged, correct, early, failed; double prepare_ms; struct sample ms; };

static int take(struct judge_pool *pool, struct mix *m, struct err *e)
{
	struct judged j;
	double ms = 0.0;
	int rc = judge_pool_next(pool, 1, &j, e);

	if (rc <= 0)
		return rc;
	m->judged++;
	m->failed += j.rc != 0;
	m->correct += !j.rc && j.verdict.correct;
	m->early += !j.rc && !j.verdict.correct;
	for (int s = 0; s < STAGES; s++)
		ms += j.verdict.stages[s].ms;
	m->prepare_ms += j.verdict.prepare_ms;
	return vec_push(&m->ms, ms) ? err_nomem(e) : 0;
}

static int run_mix(struct judge_pool *pool, const struct pairs *p, struct mix *m, struct err *e)
{
	struct buf text = BUF_INIT;
	int rc = 0;

	for (size_t i = 0; i < p->n * PER_TASK && !rc; i++) {
		if (make_candidate(&p->v[i / PER_TASK], (int)(i % PER_TASK), &text))
			continue;
		rc = judge_pool_submit(pool, i, str_of(p->v[i / PER_TASK].task), buf_str(&text), e);
		while (!rc && judge_pool_pending(pool) > 64)
			rc = take(pool, m, e);
	}
	while (!rc && judge_pool_pending(pool))
		rc = take(pool, m, e);
	buf_release(&text);
	return rc;
}

/* The same in this process, one after another: what a core does without the rest of the machine. */
static int mix_cpu(const struct pairs *p, const struct judge_options *o, struct err *e)
{
	struct judge *j = judge_new(o, e);
	struct buf text = BUF_INIT;
	double start = cpu_ms(), ready = 0.0, ms;
	size_t n = 0;

	for (size_t i = 0; j && i < p->n; i++) {
		double t0 = cpu_ms();
		struct task *t = task_open(j, str_of(p->v[i].task), "task", e);
		struct verdict v;

		ready += cpu_ms() - t0;
		for (int k = 0; t && task_problem(t)->reason == REASON_ok && k < PER_TASK; k++) {
			if (make_candidate(&p->v[i], k, &text))
				continue;
			if (judge_candidate(j, t, buf_str(&text), &v, e))
				return -1;
			n++;
		}
		task_free(t);
	}
	ms = cpu_ms() - start;
	printf("  one process: %.0f candidates a second of CPU time (%.0f %% of it for making tasks ready)\n", (double)n / ms * 1e3, 100.0 * ready / ms);
	buf_release(&text);
	judge_free(j);
	return j ? 0 : -1;
}

/* Processor time of all that the pool started, which does not depend on what else the machine does. */
static void print_children(double judged)
{
	struct rusage u;
	double s;

	getrusage(RUSAGE_CHILDREN, &u);
	s = (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
	printf("  %.2f ms of processor time a candidate, all included: %.0f candidates/s on two cores, %.2f times the speed asked for\n", 1e3 * s / judged,
	       2.0 * judged / s, 2.0 * judged / s / limit_rate);
}

static int bench_mix(const struct pairs *p, const struct judge_options *o, int workers, struct err *e)
{
	struct judge_pool_options po = JUDGE_POOL_DEFAULTS;
	struct judge_pool *pool;
	struct mix m = { .judged = 0 };
	int64_t start;
	double seconds;

	if (!workers)
		return mix_cpu(p, o, e);
	po.workers = workers;
	pool = judge_pool_open(o, &po, e);
	if (!pool)
		return -1;
	start = clock_ns();
	if (run_mix(pool, p, &m, e))
		return -1;
	seconds = (double)(clock_ns() - start) * 1e-9;
	printf("mixed set: %zu candidates of %zu tasks, %zu correct, %zu failed, %zu could not be judged\n", m.judged, p->n, m.correct,
	       m.early, m.failed);
	printf("  %d workers: %.0f candidates/s (wall clock): %.2f times the speed asked for (%.0f/s)\n", judge_pool_workers(pool),
	       (double)m.judged / seconds, (double)m.judged / seconds / limit_rate, limit_rate);
	printf("  verdict: median %.3f ms, p99 %.3f ms; %.2f times the speed asked for (median %.1f ms); %.0f ms for making tasks ready\n",
	       quantile(&m.ms, 0.5), quantile(&m.ms, 0.99), limit_ms / quantile(&m.ms, 0.5), limit_ms, m.prepare_ms);
	vec_free(&m.ms);
	judge_pool_close(pool);
	print_children((double)m.judged);
	return mix_cpu(p, o, e);
}

static void release(struct pairs *p)
{
	for (size_t i = 0; i < p->n; i++) {
		mem_free(p->v[i].task);
		mem_free(p->v[i].solution);
	}
	vec_free(p);
}

int main(int argc, char **argv)
{
	struct judge_options o = JUDGE_DEFAULTS;
	size_t n = argc > 1 ? (size_t)atoi(argv[1]) : 100, tasks = argc > 2 ? (size_t)atoi(argv[2]) : 100;
	struct pairs p = { .n = 0 }, q = { .n = 0 };
	struct err e = ERR_INIT;
	int rc = draw_pairs(&p, n, &e) || read_pairs(&q, argc > 4 ? argv[4] : "bench/verify_pairs.jsonl", tasks, &e);

	/* The pool forks: before this process has used any threads. */
	if (!rc && q.n)
		rc = bench_mix(&q, &o, argc > 3 ? atoi(argv[3]) : 2, &e);
	if (!rc && p.n)
		rc = bench_latency(&p, &o, &e);
	if (rc)
		fprintf(stderr, "bench_verify: %s\n", e.text);
	release(&p);
	release(&q);
	return rc ? 1 : 0;
}
