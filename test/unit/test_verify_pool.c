/* The pool as its users see it. Every submitted job is returned once, with its own verdict, also if
 * workers are killed or stopped meanwhile. Cases: a full pool, an empty one, one that is closed
 * early. Batches: equal candidates cost one judgement, whether they come during it or later. */
#include "check.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "verify/pool/batch.h"

#define TASK "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n" \
	"    def forward(self, x):\n        return torch.relu(x)\nn = 40\n" \
	"def get_inputs():\n    return [torch.randn(4, n)]\ndef get_init_inputs():\n    return []\n"
#define HEAD "import torch\nimport torch.nn as nn\nimport triton\nimport triton.language as tl\n@triton.jit\n" \
	"def k(x_ptr, y_ptr, n, B: tl.constexpr):\n    i = tl.program_id(0) * B + tl.arange(0, B)\n" \
	"    x = tl.load(x_ptr + i, mask=i < n)\n    tl.store(y_ptr + i, "
#define TAIL ", mask=i < n)\nclass ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n    def forward(self, x):\n" \
	"        y = torch.empty_like(x)\n        k[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), B=64)\n        return y\n"

/* Correct, and running long enough to be killed meanwhile. */
#define SLOW HEAD "x, mask=i < n)\n    for t in range(n * 1000):\n        x = tl.maximum(x, 0.0)\n    tl.store(y_ptr + i, x" TAIL

enum { JOBS = 24 };

/* The candidate of a number: correct, wrong, or not Python. */
static struct str candidate(int i)
{
	return i % 3 == 0 ? STR(HEAD "tl.maximum(x, 0.0)" TAIL) : i % 3 == 1 ? STR(HEAD "x + 1.0" TAIL) : STR("x = (\n");
}

static void assert_verdict(const struct judged *j)
{
	int i = (int)j->id % 1000;

	assert_int_equal(j->rc, 0);
	assert_int_equal(j->verdict.correct, i % 3 == 0);
	if (i % 3 == 2)
		assert_int_equal(j->verdict.stage, STAGE_ast);
}

static struct judge_pool *open_pool_for(int workers, double seconds)
{
	struct judge_options o = JUDGE_DEFAULTS;
	struct judge_pool_options p = JUDGE_POOL_DEFAULTS;
	struct err e = ERR_INIT;
	struct judge_pool *pool;

	p.workers = workers;
	p.seconds = seconds;
	pool = judge_pool_open(&o, &p, &e);
	if (!pool)
		fail_msg("%s", e.text);
	return pool;
}

static struct judge_pool *open_pool(int workers) { return open_pool_for(workers, 20.0); }

static void submit(struct judge_pool *p, uint64_t first, int n)
{
	struct err e = ERR_INIT;

	for (int i = 0; i < n; i++)
		if (judge_pool_submit(p, first + (uint64_t)i, STR(TASK), candidate(i), &e))
			fail_msg("%s", e.text);
}

static struct judged next(struct judge_pool *p)
{
	struct judged j;
	struct err e = ERR_INIT;

	if (judge_pool_next(p, 1, &j, &e) != 1)
		fail_msg("no result: %s", e.text);
	return j;
}

static void test_all_come_back(void **state)
{
	struct judge_pool *p = open_pool(2);
	int seen[JOBS] = { 0 };
	struct judged j;
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(judge_pool_workers(p), 2);
	assert_int_equal(judge_pool_next(p, 1, &j, &e), 0);          /* nothing to wait for */
	submit(p, 0, JOBS);
	assert_int_equal(judge_pool_pending(p), JOBS);
	for (int i = 0; i < JOBS; i++) {
		j = next(p);
		assert_true(j.id < JOBS);
		seen[j.id]++;
		assert_verdict(&j);
		assert_int_equal(judge_pool_pending(p), JOBS - 1 - i);
	}
	for (int i = 0; i < JOBS; i++)
		assert_int_equal(seen[i], 1);
	assert_int_equal(judge_pool_stats(p).judged, JOBS);
	assert_int_equal(judge_pool_stats(p).crashed, 0);
	judge_pool_close(p);
}

static pid_t parent_of(pid_t pid)
{
	char path[64], line[512];
	FILE *f;
	char *end;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	end = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
	fclose(f);
	return end ? (pid_t)atoi(end + 4) : 0;          /* ") S PPID" */
}

/* How many levels `pid` is below this process: 1 is the spawner, 2 a worker, 3 a zygote or a runner. 0: it belongs
 * to somebody else. */
static int depth_of(pid_t pid)
{
	for (int depth = 1; depth < 8 && pid > 1; depth++)
		if ((pid = parent_of(pid)) == getpid())
			return depth;
	return 0;
}

enum { ALL_BELOW = 0, WORKERS = 2, RUNNERS = 3 };

/* Sends a signal to the processes of a depth, or to the first one below the spawner. The first child of a worker is
 * no runner. Returns how many got the signal. */
static int send_to(int depth, int sig)
{
	DIR *d = opendir("/proc");
	int sent = 0;
	pid_t of = 0;

	for (struct dirent *x; d && !(sent && depth == ALL_BELOW) && (x = readdir(d));) {
		pid_t pid = (pid_t)atoi(x->d_name), worker = of;
		int at = pid > 1 ? depth_of(pid) : 0;

		if (at == RUNNERS)
			of = parent_of(pid);
		if (at > 1 && (depth == ALL_BELOW || (at == depth && (depth != RUNNERS || worker == of))))
			sent += !kill(pid, sig);
	}
	if (d)
		closedir(d);
	return sent;
}

/* A job whose worker dies gets a verdict or an error. All other jobs get their own verdicts. */
static void test_killed(void **state)
{
	struct judge_pool *p = open_pool(2);
	int lost = 0, seen[JOBS] = { 0 };

	(void)state;
	submit(p, 0, JOBS);
	for (int i = 0; i < JOBS; i++) {
		struct judged j = next(p);

		seen[j.id]++;
		if (i == 3 || i == 9)
			assert_true(send_to(ALL_BELOW, SIGKILL));
		if (j.rc || (j.id % 3 == 0 && !j.verdict.correct))
			lost++;
		else if (j.id % 3 == 1)
			assert_false(j.verdict.correct);
	}
	for (int i = 0; i < JOBS; i++)
		assert_int_equal(seen[i], 1);
	assert_true(lost <= 2);
	submit(p, 1000, 3);                          /* the pool still works */
	for (int i = 0; i < 3; i++) {
		struct judged j = next(p);

		assert_verdict(&j);
	}
	judge_pool_close(p);
}

static void submit_slow(struct judge_pool *p)
{
	struct err e = ERR_INIT;

	if (judge_pool_submit(p, 0, STR(TASK), STR(SLOW), &e))
		fail_msg("%s", e.text);
}

/* If every runner of a candidate hangs, the candidate gets its verdict long before a slow one would, and the next
 * candidate is judged. */
static void test_runner_hangs(void **state)
{
	struct judge_pool *p = open_pool_for(1, 1.0);
	int64_t start = clock_ns();
	struct judged j;
	struct err e = ERR_INIT;
	int got;

	(void)state;
	submit_slow(p);
	while (!(got = judge_pool_next(p, 0, &j, &e)))
		send_to(RUNNERS, SIGSTOP);
	assert_int_equal(got, 1);
	assert_int_equal(j.rc, 0);
	assert_int_equal(j.verdict.diag.reason, REASON_worker_timeout);
	assert_true(clock_ns() - start < (int64_t)15e9);
	submit(p, 0, 1);
	j = next(p);
	assert_verdict(&j);
	judge_pool_close(p);
}

/* If a worker hangs, another one judges its candidate. */
static void test_worker_hangs(void **state)
{
	struct judge_pool *p = open_pool_for(1, 1.0);
	struct judged j;
	struct err e = ERR_INIT;
	int64_t start;

	(void)state;
	submit(p, 0, 1);
	next(p);                                     /* a worker has started */
	submit_slow(p);
	start = clock_ns();
	assert_int_equal(judge_pool_next(p, 0, &j, &e), 0);
	assert_int_equal(send_to(WORKERS, SIGSTOP), 1);
	j = next(p);
	assert_int_equal(j.rc, 0);
	assert_true(j.verdict.correct);
	assert_int_equal(judge_pool_stats(p).timed_out, 1);
	assert_true(clock_ns() - start < (int64_t)15e9);
	judge_pool_close(p);
}

static void test_closed_early(void **state)
{
	struct judge_pool *p = open_pool(2);

	(void)state;
	submit(p, 0, JOBS);
	next(p);
	judge_pool_close(p);
}

/* Submits JOBS candidates of three kinds twice. The second time all answers are known. */
static void test_equal_once(void **state)
{
	const struct judge_options o = JUDGE_DEFAULTS;
	struct judge_pool *p = open_pool(2);
	struct judge_batch b;
	struct judged j;
	struct err e = ERR_INIT;
	int answers = 0;

	(void)state;
	assert_int_equal(judge_batch_init(&b, p, NULL, &o, NULL, &e), 0);
	for (int i = 0; i < JOBS; i++)
		assert_int_equal(judge_batch_ask(&b, (uint64_t)i, STR(TASK), candidate(i), &j, &e), 0);
	assert_int_equal(judge_batch_pending(&b), JOBS);
	for (; judge_batch_next(&b, 1, &j, &e) > 0; answers++)
		assert_verdict(&j);
	assert_int_equal(answers, JOBS);
	assert_int_equal(judge_batch_pending(&b), 0);
	for (int i = 0; i < JOBS; i++) {
		assert_int_equal(judge_batch_ask(&b, (uint64_t)i, STR(TASK), candidate(i), &j, &e), 1);
		assert_int_equal(j.id, i);
		assert_verdict(&j);
	}
	assert_int_equal(judge_pool_stats(p).judged, 3);
	judge_batch_release(&b);
	judge_pool_close(p);
}

struct three { int asked, told; };

static int next_of_three(void *ctx, uint64_t *id, struct str *task, struct str *code)
{
	struct three *t = ctx;

	*id = (uint64_t)t->asked;
	*task = STR(TASK);
	*code = candidate(t->asked);
	return t->asked++ < 3;
}

static int tell(void *ctx, const struct judged *j, struct err *e)
{
	struct three *t = ctx;

	assert_verdict(j);
	t->told++;
	return t->told == 5 ? err_set(e, ERR_STATE, "enough") : 0;
}

static void test_source(void **state)
{
	struct judge_pool *p = open_pool(1);
	struct three t = { 0, 0 };
	const struct batch_source s = { .next = next_of_three, .told = tell, .ctx = &t };
	struct err e = ERR_INIT;

	(void)state;
	assert_int_equal(judge_pool_run(p, &s, &e), 0);
	assert_int_equal(t.told, 3);
	/* A receiver that returns nonzero ends the run. */
	t.asked = 0;
	assert_int_equal(judge_pool_run(p, &s, &e), -1);
	assert_int_equal(t.told, 5);
	judge_pool_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_come_back), cmocka_unit_test(test_killed), cmocka_unit_test(test_runner_hangs), cmocka_unit_test(test_worker_hangs),
		cmocka_unit_test(test_closed_early), cmocka_unit_test(test_equal_once),
		cmocka_unit_test(test_source),
	};

	log_set_level(LOG_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
