/* Evaluation from its JSON: groups, tracks, intervals, paired differences; samples that wait in the
 * store; the mean of a stage's last steps. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "eval/eval.h"
#include "rl/pending.h"
#include "train/metrics.h"

static struct task_row rows[] = {
	{ .id = "a", .ops = "relu", .source = "", .level = 1 },
	{ .id = "b", .ops = "relu,scale", .source = "", .level = 2 },
	{ .id = "c", .ops = "scale", .source = "", .level = 2 },
};
static const struct taskset tasks = { .rows = { .v = rows, .n = 3, .cap = 3 } };
static const struct eval_opts opts = { .rollout = { .n = 2, .strict = 1 }, .k = { 1, 2 }, .n_k = 2, .fast = { 1.0 }, .n_fast = 1, .other_track = "hybrid" };

/* Answers as a string of 0 and 1 for correct, two a task; all are correct on the other track. */
static struct json *results(const char *correct)
{
	struct buf b = BUF_INIT;
	struct err e = ERR_INIT;
	struct json *j;

	buf_adds(&b, "{\"detailed_results\": [");
	for (int i = 0; correct[i]; i++)
		buf_addf(&b, "%s{\"id\": \"%c\", \"valid\": true, \"compiled\": true, \"correct\": %s, \"reward\": 0.5, \"speedup\": %d,"
			 "\"hybrid\": {\"valid\": true, \"compiled\": true, \"correct\": true, \"reward\": 1, \"speedup\": 1}}", i ? "," : "", 'a' + i / 2,
			 correct[i] == '1' ? "true" : "false", i);
	buf_adds(&b, "]}");
	j = json_parse(buf_str(&b), &e);
	if (!j)
		fail_msg("%s", e.text);
	buf_release(&b);
	return j;
}

static void load(struct eval *ev, const char *correct)
{
	struct json *j = results(correct);
	struct err e = ERR_INIT;

	if (eval_load(ev, &tasks, j, &opts, &e))
		fail_msg("%s", e.text);
	json_free(j);
}

static const struct eval_group *group(const struct eval *ev, const char *name)
{
	for (size_t i = 0; i < ev->groups.n; i++)
		if (!strcmp(ev->groups.v[i].name, name))
			return &ev->groups.v[i];
	fail_msg("no group '%s'", name);
	return NULL;
}

static void near(double a, double b)
{
	if (!(fabs(a - b) < 1e-9))
		fail_msg("%.12g is not %.12g", a, b);
}

static void test_groups(void **state)
{
	struct eval ev;

	(void)state;
	load(&ev, "110100");
	near(group(&ev, "all")->correct.value, 50.0);
	near(group(&ev, "level 1")->correct.value, 100.0);
	near(group(&ev, "level 2")->correct.value, 25.0);
	near(group(&ev, "op scale")->correct.value, 25.0);
	near(group(&ev, "op relu")->correct.value, 75.0);
	near(group(&ev, "hybrid all")->correct.value, 100.0);
	near(group(&ev, "hybrid level 2")->correct.value, 100.0);
	near(group(&ev, "all")->pass[1].value, 100.0 * 2 / 3);
	near(group(&ev, "all")->fast[0].value, 100.0 / 6);      /* only the fourth is correct and faster than 1 */
	near(group(&ev, "all")->reward.value, 50.0);
	assert_int_equal(group(&ev, "level 2")->tasks, 2);
	assert_true(group(&ev, "all")->correct.low <= 50.0 && group(&ev, "all")->correct.high >= 50.0);
	assert_true(group(&ev, "all")->correct.high > group(&ev, "all")->correct.low);
	/* One task with all answers correct: Wilson's interval of 1 of 1 is 20.7 to 100. */
	near(round(group(&ev, "level 1")->correct.low * 10), 207.0);
	near(group(&ev, "level 1")->correct.high, 100.0);
	eval_release(&ev);
	load(&ev, "000000");
	near(group(&ev, "all")->correct.low, 0.0);
	near(round(group(&ev, "all")->correct.high * 100), 5615.0);     /* none of three: 0 to 56.15 */
	eval_release(&ev);
}

static void test_compare(void **state)
{
	struct eval a, b;
	struct eval_difference d;

	(void)state;
	load(&a, "000000");
	load(&b, "111100");
	d = eval_compare(&a, &b, "all");
	near(d.points, 200.0 / 3);
	assert_int_equal(d.tasks, 3);
	assert_true(fabs(d.p - 0.5) < 0.03);      /* two tasks that differ: both signs alike in half of the flips */
	d = eval_compare(&a, &b, "level 1");
	near(d.points, 100.0);
	near(d.p, 1.0);
	near(eval_compare(&a, &b, "hybrid all").points, 0.0);
	near(eval_compare(&b, &a, "level 2").points, -50.0);
	eval_release(&a);
	eval_release(&b);
}

static void test_refused(void **state)
{
	struct json *j = results("1111");
	struct err e = ERR_INIT;
	struct eval ev;

	(void)state;
	assert_int_equal(eval_load(&ev, &tasks, j, &opts, &e), -1);
	assert_contains(e.text, "4 answers for 3 tasks");
	json_free(j);
}

static void test_pass_at_k(void **state)
{
	(void)state;
	near(eval_pass_at_k(10, 0, 5), 0.0);
	near(eval_pass_at_k(10, 10, 1), 1.0);
	near(eval_pass_at_k(10, 3, 1), 0.3);
	near(eval_pass_at_k(4, 2, 2), 1.0 - 1.0 / 6);      /* 1 - C(2,2) / C(4,2) */
	near(eval_pass_at_k(4, 3, 2), 1.0);
}

static void test_pending(void **state)
{
	const int32_t tokens[] = { 5, 6, 7 }, prompt[] = { 1, 2 };
	const float logprobs[] = { -0.5f, -1.5f, -2.5f };
	struct infer_request q = { .prompt = prompt, .prompt_n = 2, .seed = 3, .sample = { .temperature = 0.5f } };
	struct infer_result r = { .tokens = tokens, .logprobs = logprobs, .n = 3, .text = STR("abc"), .finish = INFER_LENGTH }, back;
	uint64_t key = pending_key(&q, 9);
	struct buf b = BUF_INIT;

	(void)state;
	pending_pack(&r, key, &b);
	assert_int_equal(pending_unpack(buf_str(&b), key, &back), 1);
	assert_int_equal(back.n, 3);
	assert_int_equal(back.finish, INFER_LENGTH);
	assert_memory_equal(back.tokens, tokens, sizeof tokens);
	assert_memory_equal(back.logprobs, logprobs, sizeof logprobs);
	assert_true(str_is(back.text, "abc"));
	assert_int_equal(pending_unpack(buf_str(&b), key + 1, &back), 0);
	for (size_t n = 0; n < b.n; n++)
		assert_int_equal(pending_unpack((struct str){ .p = b.p, .n = n }, key, &back), 0);
	assert_true(pending_key(&q, 8) != key);
	q.sample.temperature = 0.6f;
	assert_true(pending_key(&q, 9) != key);
	buf_release(&b);
}

static void test_store(void **state)
{
	char path[] = "/tmp/tritonrl_eval_XXXXXX";
	struct store_pending at = { .stage = "rl", .step = 2, .place = 1, .number = 0 };
	struct store *s;
	struct buf b = BUF_INIT;
	struct err e = ERR_INIT;
	double mean;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	if (store_open(&s, path, &e))
		fail_msg("%s", e.text);
	assert_int_equal(store_put_pending(s, &at, STR("blob"), &e), 0);
	assert_int_equal(store_get_pending(s, &at, &b, &e), 1);
	assert_true(str_is(buf_str(&b), "blob"));
	assert_int_equal(store_drop_pending(s, "rl", 1, &e), 0);
	assert_int_equal(store_get_pending(s, &at, &b, &e), 1);
	assert_int_equal(store_drop_pending(s, "rl", 2, &e), 0);
	assert_int_equal(store_get_pending(s, &at, &b, &e), 0);
	for (int i = 1; i <= 4; i++) {
		struct store_step t = { .stage = "rl", .step = i, .loss = i, .extra = i == 4 ? STR("{\"reward\": 0.5}") : STR("{\"reward\": 0.25}") };

		assert_int_equal(store_put_step(s, &t, &e), 0);
	}
	assert_int_equal(metrics_mean(s, "rl", 2, "loss", &mean, &e), 0);
	near(mean, 3.5);
	assert_int_equal(metrics_mean(s, "rl", 2, "reward", &mean, &e), 0);
	near(mean, 0.375);
	store_close(s);
	buf_release(&b);
	unlink(path);
}

/* Answers that the judge's engine does not support are counted, have no reward, and are read back
 * from what was written. */
static void test_unsupported(void **state)
{
	static const char text[] = "{\"detailed_results\": ["
		"{\"id\": \"a\", \"correct\": true, \"reward\": 1}, {\"id\": \"a\", \"reward\": null, \"unsupported\": true},"
		"{\"id\": \"b\", \"reward\": null, \"unsupported\": true}, {\"id\": \"b\", \"correct\": true, \"reward\": 1},"
		"{\"id\": \"c\", \"reward\": 0}, {\"id\": \"c\", \"reward\": 0}]}";
	struct eval_opts o = opts;
	struct err e = ERR_INIT;
	struct json *j = json_parse(str_of(text), &e);
	struct buf table = BUF_INIT;
	struct eval ev;

	(void)state;
	o.other_track = NULL;
	if (!j || eval_load(&ev, &tasks, j, &o, &e))
		fail_msg("%s", e.text);
	assert_int_equal(group(&ev, "all")->unsupported, 2);
	assert_int_equal(group(&ev, "level 1")->unsupported, 1);
	assert_true(fabs(group(&ev, "all")->correct.value - 100.0 / 3.0) < 1e-9);
	eval_table(&ev, &o, 0, &table);
	assert_non_null(strstr(buf_cstr(&table), "2 answers use what the judge's engine does not support"));
	buf_release(&table);
	json_free(j);
	eval_release(&ev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups), cmocka_unit_test(test_unsupported), cmocka_unit_test(test_compare), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_pass_at_k), cmocka_unit_test(test_pending), cmocka_unit_test(test_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
