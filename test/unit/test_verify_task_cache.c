/* Prepared tasks, as bytes and on disk. A task that comes back judges as the original did. A task
 * whose bytes were damaged does not come back. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "verify/funnel/judgement.h"
#include "verify/pool/task_cache.h"

static const char task_text[] =
	"import torch\nimport torch.nn as nn\n"
	"class Model(nn.Module):\n    def __init__(self, cols):\n        super().__init__()\n        self.norm = nn.LayerNorm(cols)\n"
	"    def forward(self, x):\n        return torch.relu(self.norm(x)), x.argmax(dim=1)\n"
	"rows = 8\ncols = 32\n"
	"def get_inputs():\n    return [torch.randn(rows, cols)]\ndef get_init_inputs():\n    return [cols]\n";

static struct judge *open_judge(void)
{
	struct judge_options o = JUDGE_DEFAULTS;
	struct err e = ERR_INIT;
	struct judge *j;

	o.identity = 1;
	j = judge_new(&o, &e);
	assert_non_null(j);
	return j;
}

static void pack(struct judge *j, struct buf *out)
{
	struct err e = ERR_INIT;
	struct task *t = task_open(j, STR(task_text), "task", &e);

	assert_non_null(t);
	assert_int_equal(task_problem(t)->reason, REASON_ok);
	assert_int_equal(prepared_pack(t, out, &e), 0);
	task_free(t);
}

/* Opens a task from the first n bytes of b; the byte at index `at` is changed if `at` is below n. */
static struct task *open_copy(struct judge *j, const struct buf *b, size_t n, size_t at)
{
	char *copy = mem_alloc_aligned(n, PREPARED_ALIGN);

	assert_non_null(copy);
	memcpy(copy, b->p, n);
	if (at < n)
		copy[at] ^= 0x10;
	return prepared_open(j, copy, n, "task");
}

static void judge_itself(struct judge *j, const struct task *t, struct verdict *v)
{
	struct err e = ERR_INIT;

	assert_int_equal(judge_candidate(j, t, STR(task_text), v, &e), 0);
	for (int i = 0; i < STAGES; i++)
		v->stages[i].ms = 0.0;
	v->prepare_ms = 0.0;
}

static void test_same_verdict(void **state)
{
	struct judge *j = open_judge();
	struct err e = ERR_INIT;
	struct task *t = task_open(j, STR(task_text), "task", &e), *again;
	struct buf b = BUF_INIT, c = BUF_INIT, was = BUF_INIT, is = BUF_INIT;
	struct verdict first, second;

	(void)state;
	pack(j, &b);
	again = open_copy(j, &b, b.n, b.n);
	assert_non_null(again);
	judge_itself(j, t, &first);
	judge_itself(j, again, &second);
	assert_true(first.correct);
	assert_memory_equal(&first, &second, sizeof first);
	task_describe(t, &was);
	task_describe(again, &is);
	assert_string_equal(buf_cstr(&was), buf_cstr(&is));
	/* It can be stored again. */
	assert_int_equal(prepared_pack(again, &c, &e), 0);
	assert_int_equal(c.n, b.n);
	buf_release(&b);
	buf_release(&c);
	buf_release(&was);
	buf_release(&is);
	task_free(t);
	task_free(again);
	judge_free(j);
}

static void test_spoilt_bytes(void **state)
{
	struct judge *j = open_judge();
	struct buf b = BUF_INIT;

	(void)state;
	pack(j, &b);
	for (size_t at = 0; at < b.n; at += MAX(b.n / 97, (size_t)1))
		assert_null(open_copy(j, &b, b.n, at));
	for (size_t n = 0; n < b.n; n += MAX(b.n / 31, (size_t)1))
		assert_null(open_copy(j, &b, n, n));
	buf_release(&b);
	judge_free(j);
}

static void test_key(void **state)
{
	struct judge_options o = JUDGE_DEFAULTS, other = JUDGE_DEFAULTS;
	char a[PREPARED_KEY], b[PREPARED_KEY];
	int64_t size[TASK_SIZES] = { 4 };

	(void)state;
	other.track = TRACK_HYBRID;
	prepared_key(&o, STR("x"), NULL, 0, a);
	prepared_key(&other, STR("x"), NULL, 0, b);
	assert_string_equal(a, b);
	other.seed++;
	prepared_key(&other, STR("x"), NULL, 0, b);
	assert_string_not_equal(a, b);
	prepared_key(&o, STR("x"), size, 0, b);
	assert_string_not_equal(a, b);
	prepared_key(&o, STR("y"), NULL, 0, b);
	assert_string_not_equal(a, b);
}

/* --- on disk ------------------------------------------------------------------------------------- */

enum { BYTES = 1000, MOST = 64 * BYTES };

static void make_key(int i, char key[PREPARED_KEY])
{
	snprintf(key, PREPARED_KEY, "%064x", i);
}

static int comes_back(struct task_cache *s, int i)
{
	char key[PREPARED_KEY], *bytes;
	size_t n;
	int same;

	make_key(i, key);
	if (s->store.get(s->store.ctx, key, &bytes, &n))
		return 0;
	same = n == BYTES && bytes[0] == (char)i && bytes[BYTES - 1] == (char)i;
	mem_free_aligned(bytes);
	assert_true(same);
	return 1;
}

static void put(struct task_cache *s, int i)
{
	char key[PREPARED_KEY], bytes[BYTES];

	memset(bytes, i, sizeof bytes);
	make_key(i, key);
	s->store.put(s->store.ctx, key, (struct str){ .p = bytes, .n = sizeof bytes });
}

static void test_task_cache(void **state)
{
	char folder[] = "/tmp/task_cache.XXXXXX";
	struct task_cache a, b;
	struct err e = ERR_INIT;
	int kept = 0;

	(void)state;
	assert_non_null(mkdtemp(folder));
	setenv("XDG_CACHE_HOME", folder, 1);
	assert_int_equal(task_cache_open(&a, MOST, &e), 0);
	assert_int_equal(task_cache_open(&b, MOST, &e), 0);
	assert_false(comes_back(&a, 1));
	put(&a, 1);
	assert_true(comes_back(&a, 1));
	assert_true(comes_back(&b, 1));
	/* Far more than the limit: the newest files stay. */
	for (int i = 2; i < 299; i++)
		put(i % 2 ? &a : &b, i);
	/* Both keepers have written what they got before they answer. File times have a resolution of some
	 * milliseconds. */
	comes_back(&a, 1);
	comes_back(&b, 1);
	usleep(20000);
	put(&a, 299);
	for (int i = 1; i < 300; i++)
		kept += comes_back(&a, i);
	assert_true(kept >= MOST / BYTES / 2 && kept < 200);
	assert_true(comes_back(&b, 299));
	close(a.fd);
	close(b.fd);
	assert_int_equal(file_remove_tree(folder, &e), 0);
}

/* Without a folder nothing is kept, and nothing fails. */
static void test_no_folder(void **state)
{
	struct task_cache s;
	struct err e = ERR_INIT;

	(void)state;
	setenv("XDG_CACHE_HOME", "/proc/none", 1);
	assert_int_equal(task_cache_open(&s, MOST, &e), 0);
	put(&s, 1);
	assert_false(comes_back(&s, 1));
	close(s.fd);
	assert_int_equal(task_cache_open(&s, 0, &e), 0);
	assert_int_equal(s.fd, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_verdict), cmocka_unit_test(test_spoilt_bytes), cmocka_unit_test(test_key),
		cmocka_unit_test(test_task_cache), cmocka_unit_test(test_no_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
