/* Every configuration in configs/: each key is an option of the command whose section it stands in,
 * with a value that the command takes; and nothing of it is lost on the way. */
#include "check.h"

#include <stdalign.h>
#include <stdio.h>

#include "base/file.h"
#include "base/opt.h"
#include "data/prepare_args.h"
#include "run/plan_args.h"
#include "run/sections.h"
#include "run/stage_args.h"

enum { LARGEST = 1 << 16 };

static void load(const char *path, const struct opt_section *s, void *into, struct opt_parsed *p)
{
	struct opt_scope scope = { .own = s->name, .all = run_sections };
	const char *words[] = { "--config", path };
	struct err e = ERR_INIT;

	if (opt_parse_in(s->table, &scope, into, 2, (char *const *)words, p, &e))
		fail_msg("%s for %s: %s", path, s->name, e.text);
}

static void test_all(void **state)
{
	static alignas(16) char into[LARGEST];
	struct file_list names;
	struct buf path = BUF_INIT;
	int seen = 0;

	(void)state;
	assert_int_equal(file_list_open(&names, "configs", NULL), 0);
	for (size_t i = 0; i < names.n; i++) {
		if (!str_ends(str_of(names.v[i]), ".yaml"))
			continue;
		path_join(&path, "configs", names.v[i]);
		seen++;
		for (const struct opt_section *s = run_sections; s->name; s++) {
			struct opt_parsed p;

			load(path.p, s, into, &p);
			opt_release(&p);
		}
	}
	assert_true(seen >= 4);
	buf_release(&path);
	file_list_close(&names);
}

static const struct opt_section *section(const char *name)
{
	for (const struct opt_section *s = run_sections; s->name; s++)
		if (!strcmp(s->name, name))
			return s;
	fail_msg("no section %s", name);
	return NULL;
}

static void test_values(void **state)
{
	static const char path[] = "configs/qwen2.5-coder-7b-h100x8.yaml";
	struct train_args sft, rl;
	struct prepare_args prep;
	struct plan_args plan;
	struct opt_parsed p[4];

	(void)state;
	load(path, section("sft"), &sft, &p[0]);
	load(path, section("rl"), &rl, &p[1]);
	load(path, section("prepare"), &prep, &p[2]);
	load(path, section("machine"), &plan, &p[3]);
	assert_true(sft.policy.lora.r == 16 && rl.policy.lora.r == 16);
	assert_true(sft.policy.trainer.optim.lr == 2e-4 && rl.rl.lr == 5e-6);
	assert_true(sft.sft.max_length == 8192 && rl.sft.max_length == 8192 && prep.max_length == 8192);
	assert_true(rl.rl.epochs == 2 && sft.sft.epochs == 1 && rl.sample.n == 10 && rl.rl.advantage.keep == 3);
	assert_int_equal(rl.judge.judge.track, TRACK_HYBRID);
	assert_string_equal(prep.source.v[1], "kernelbench");
	assert_int_equal(prep.limit, 1000);
	assert_string_equal(plan.gpu, "H100");
	assert_int_equal(plan.count, 8);
	for (int i = 0; i < 4; i++)
		opt_release(&p[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_all), cmocka_unit_test(test_values) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
