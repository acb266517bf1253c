/* Options: every type, the precedence of sources, refusals, the resolved copy, help. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/opt.h"

struct lora {
	int64_t r;
	double alpha;
};

/* As a library's struct is: narrow members, and some that are no options. */
enum colour { RED, GREEN, BLUE };
struct small {
	int n;
	float x;
	enum colour colour;
	int kept;
};

struct args {
	const char *task, *track;
	int64_t workers;
	double lr;
	int json;
	struct opt_list k, name;
	struct lora lora;
	struct small small;
};

static const struct opt lora_opts[] = {
	OPT_INT(struct lora, r, "lora-r", 0, 1024, 16, "rank"),
	OPT_REAL(struct lora, alpha, "lora-alpha", 0, 1e6, 32, "scale"),
	OPT_END
};

static const struct small small_start = { .kept = 7 };
static const struct opt small_opts[] = {
	OPT_START(struct small, &small_start),
	OPT_INT(struct small, n, "small-n", 0, 100, 5, "narrow"),
	OPT_REAL(struct small, x, "small-x", 0, 100, 0.8, "narrow"),
	OPT_ENUM(struct small, colour, "colour", "red|green|blue", "green", "an enum"),
	OPT_END
};

static const struct opt table[] = {
	OPT_STR(struct args, task, "task", "FILE", NULL, "the task"),
	{ .type = OPT_T_INT, .name = "workers", .letter = 'j', .arg = "N", .offset = offsetof(struct args, workers),
	  .lo = 0, .hi = 64, .def_int = 2, .help = "processes" },
	OPT_REAL(struct args, lr, "lr", 0, 1, 1e-4, "learning rate"),
	OPT_FLAG(struct args, json, "json", 0, "print JSON"),
	OPT_CHOICE(struct args, track, "track", "strict|hybrid", "strict", "rules"),
	OPT_ALIAS("rules", "track"),
	OPT_LIST(struct args, k, "k", "N", 1, "values of k"),
	OPT_LIST(struct args, name, "name", "S", 0, "names"),
	OPT_INCLUDE(struct args, lora, lora_opts, "Adapter"),
	OPT_INCLUDE(struct args, small, small_opts, NULL),
	OPT_END
};

static int parse(struct args *a, struct opt_parsed *p, struct err *e, const char *const *words)
{
	int n = 0;

	while (words[n])
		n++;
	return opt_parse(table, a, n, (char *const *)words, p, e);
}
#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void refuse(const char *const *words, const char *why)
{
	struct err e = ERR_INIT;
	struct opt_parsed p;
	struct args a;

	if (!parse(&a, &p, &e, words))
		fail_msg("accepted, expected '%s'", why);
	assert_int_equal(e.code, ERR_USAGE);
	assert_contains(e.text, why);
}

static void test_defaults(void **state)
{
	struct opt_parsed p;
	struct args a;

	(void)state;
	assert_int_equal(opt_parse(table, &a, 0, NULL, &p, NULL), 0);
	assert_null(a.task);
	assert_string_equal(a.track, "strict");
	assert_int_equal(a.workers, 2);
	assert_true(a.lr == 1e-4);
	assert_int_equal(a.json, 0);
	assert_int_equal(a.k.n, 0);
	assert_int_equal(a.lora.r, 16);
	assert_int_equal(p.n, 0);
	opt_release(&p);
}

static void test_command_line(void **state)
{
	struct err e = ERR_INIT;
	struct opt_parsed p;
	struct args a;

	(void)state;
	assert_int_equal(parse(&a, &p, &e, WORDS("x.py", "--task=t.py", "-j8", "--lr", "0.5", "--json", "--no-json",
						 "--track", "hybrid", "--k", "1,10", "--k", "100", "--name", "a,b",
						 "--lora-r", "4", "-", "--", "--json")), 0);
	assert_string_equal(a.task, "t.py");
	assert_int_equal(a.workers, 8);
	assert_true(a.lr == 0.5);
	assert_int_equal(a.json, 0);
	assert_string_equal(a.track, "hybrid");
	assert_int_equal(a.k.n, 3);
	assert_string_equal(a.k.v[2], "100");
	assert_int_equal(a.name.n, 1);
	assert_string_equal(a.name.v[0], "a,b");
	assert_int_equal(a.lora.r, 4);
	assert_int_equal(p.n, 3);
	assert_string_equal(p.args[0], "x.py");
	assert_string_equal(p.args[2], "--json");
	opt_release(&p);
	assert_int_equal(parse(&a, &p, &e, WORDS("--small-n", "9", "--colour=blue")), 0);
	assert_true(a.small.n == 9 && a.small.x == 0.8f && a.small.colour == BLUE && a.small.kept == 7);
	assert_contains(p.resolved.p, "small_x: 0.8\ncolour: \"blue\"\n");
	opt_release(&p);
	assert_int_equal(parse(&a, &p, &e, WORDS("--rules", "hybrid")), 0);          /* an old word */
	assert_string_equal(a.track, "hybrid");
	opt_release(&p);
}

static void test_refused(void **state)
{
	(void)state;
	refuse(WORDS("--wrokers", "3"), "did you mean '--workers'?");
	refuse(WORDS("--zzzzzzzzz"), "unknown option '--zzzzzzzzz'");
	refuse(WORDS("-x"), "unknown option '-x'");
	refuse(WORDS("--workers", "65"), "outside 0..64");
	refuse(WORDS("--workers", "-1"), "outside 0..64");
	refuse(WORDS("--workers", "3x"), "not a whole number");
	refuse(WORDS("--workers", "1e3"), "not a whole number");
	refuse(WORDS("--workers"), "needs a value");
	refuse(WORDS("--lr", "nan"), "not a number");
	refuse(WORDS("--lr", "2"), "outside 0..1");
	refuse(WORDS("--track", "loose"), "not one of strict|hybrid");
	refuse(WORDS("--json=perhaps"), "neither true nor false");
	refuse(WORDS("--no-workers"), "unknown option");
	refuse(WORDS("--no-json=1"), "takes no value");
}

static char *config_with(const char *text)
{
	char *path = strdup("/tmp/test_opt.XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_true(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	return path;
}

static void drop(char *path)
{
	unlink(path);
	free(path);
}

static void test_config(void **state)
{
	char *path = config_with("# comment\ntask: a.py\nworkers: 3\njson: yes\nk: [5, 6]\nname: x\n"
				 "lora:\n  r: 64\nlora-alpha: 1.5\ntrack: ~\n");
	struct err e = ERR_INIT;
	struct opt_parsed p;
	struct args a;

	(void)state;
	assert_int_equal(parse(&a, &p, &e, WORDS("--workers", "4", "--k", "9", "--config", path)), 0);
	assert_string_equal(a.task, "a.py");
	assert_int_equal(a.workers, 4);          /* the command line wins */
	assert_int_equal(a.json, 1);
	assert_int_equal(a.k.n, 1);              /* and replaces a list */
	assert_string_equal(a.k.v[0], "9");
	assert_string_equal(a.name.v[0], "x");
	assert_int_equal(a.lora.r, 64);
	assert_true(a.lora.alpha == 1.5);
	assert_string_equal(a.track, "strict");  /* null is the default */
	opt_release(&p);
	drop(path);
}

static void refuse_config(const char *text, const char *why, int line)
{
	char *path = config_with(text);
	struct err e = ERR_INIT;
	struct opt_parsed p;
	struct args a;

	assert_int_equal(parse(&a, &p, &e, WORDS("--config", path)), -1);
	assert_contains(e.text, why);
	assert_contains(e.text, path);
	assert_int_equal(e.line, line);
	drop(path);
}

/* --- files with sections ---------------------------------------------------------------------------- */

struct stage_args {
	double lr, rl_lr;
	int64_t n, batch;
	const char *stage;
	struct opt_list k;
};

static const struct opt stage_table[] = {
	OPT_REAL(struct stage_args, lr, "lr", 0, 1, 0.5, ""),
	OPT_REAL(struct stage_args, rl_lr, "rl-lr", 0, 1, 0.25, ""),
	OPT_INT(struct stage_args, n, "n", 0, 100, 1, ""),
	OPT_INT(struct stage_args, batch, "batch", 0, 100, 1, ""),
	OPT_CHOICE(struct stage_args, stage, "stage", "sft|rl|all", "sft", ""),
	OPT_LIST(struct stage_args, k, "k", "N", 1, ""),
	OPT_END
};
static const struct opt other_table[] = { OPT_STR(struct args, task, "title", "TEXT", NULL, ""), OPT_END };
static const struct opt_section sections[] = { { "sft", stage_table }, { "rl", stage_table }, { "report", other_table },
	{ "batch", other_table }, { NULL, NULL } };
static const struct opt_scope scope = { .own = "sft|rl", .select = "stage", .all = sections };

static int parse_stage(const char *text, struct stage_args *a, struct opt_parsed *p, struct err *e, const char *stage)
{
	char *path = config_with(text);
	const char *words[] = { "--config", path, "--stage", stage };
	int rc = opt_parse_in(stage_table, &scope, a, stage ? 4 : 2, (char *const *)words, p, e);

	unlink(path);
	free(path);
	return rc;
}

static void test_sections(void **state)
{
	static const char text[] = "sft: {lr: 0.1, batch: 8, k: 3}\nn: 5\nk: [1, 2]\ntitle: common\n"
				   "rl:\n  lr: 0.2\n  n: 7\n  batch: 9\nreport: {title: x}\n";
	struct err e = ERR_INIT;
	struct opt_parsed p;
	struct stage_args a;

	(void)state;
	assert_int_equal(parse_stage(text, &a, &p, &e, NULL), 0);
	assert_true(a.lr == 0.1 && a.rl_lr == 0.25 && a.n == 5 && a.batch == 8);
	assert_int_equal(a.k.n, 1);               /* a section's list replaces the common one */
	assert_string_equal(a.k.v[0], "3");
	opt_release(&p);
	assert_int_equal(parse_stage(text, &a, &p, &e, "rl"), 0);
	assert_true(a.lr == 0.5 && a.rl_lr == 0.2 && a.n == 7 && a.batch == 9);
	assert_int_equal(a.k.n, 2);
	opt_release(&p);
	assert_int_equal(parse_stage(text, &a, &p, &e, "all"), 0);
	assert_true(a.lr == 0.1 && a.rl_lr == 0.2 && a.n == 7 && a.batch == 9);
	opt_release(&p);
}

/* On the command line a selected section is preferred as in a file: --lr is --rl-lr with --stage rl. */
static void test_selected_on_command_line(void **state)
{
	struct err e = ERR_INIT;
	struct opt_parsed p;
	struct stage_args a;
	char *path = config_with("stage: rl\n");

	(void)state;
	assert_int_equal(opt_parse_in(stage_table, &scope, &a, 4, (char *const[]){ "--lr", "0.1", "--stage", "rl" }, &p, &e), 0);
	assert_true(a.rl_lr == 0.1 && a.lr == 0.5);
	assert_true(opt_is_set(&p, "rl-lr") && !opt_is_set(&p, "lr"));
	opt_release(&p);
	assert_int_equal(opt_parse_in(stage_table, &scope, &a, 4, (char *const[]){ "--lr", "0.1", "--config", path }, &p, &e), 0);
	assert_true(a.rl_lr == 0.1 && a.lr == 0.5);
	opt_release(&p);
	assert_int_equal(opt_parse_in(stage_table, &scope, &a, 4, (char *const[]){ "--lr", "0.1", "--stage", "all" }, &p, &e), 0);
	assert_true(a.rl_lr == 0.25 && a.lr == 0.1);
	opt_release(&p);
	drop(path);
}

/* A key that is an option and a section: a plain value is the option. */
static void test_option_and_section(void **state)
{
	struct err e = ERR_INIT;
	struct opt_parsed p;
	struct stage_args a;

	(void)state;
	assert_int_equal(parse_stage("batch: 3\n", &a, &p, &e, "sft"), 0);
	assert_int_equal(a.batch, 3);
	opt_release(&p);
	assert_int_equal(parse_stage("batch: {title: x}\n", &a, &p, &e, "sft"), 0);
	assert_int_equal(a.batch, 1);
	opt_release(&p);
}

/* Set: on the command line, or in a file with another value than the default. */
static void test_is_set(void **state)
{
	struct err e = ERR_INIT;
	struct opt_parsed p;
	struct stage_args a;

	(void)state;
	assert_int_equal(parse_stage("n: 1\nbatch: 2\nk: [1]\n", &a, &p, &e, "sft"), 0);
	assert_true(opt_is_set(&p, "batch") && opt_is_set(&p, "k") && opt_is_set(&p, "stage"));
	assert_false(opt_is_set(&p, "n") || opt_is_set(&p, "lr"));
	opt_release(&p);
}

static void refuse_sections(const char *text, const char *why, int line)
{
	struct err e = ERR_INIT;
	struct opt_parsed p;
	struct stage_args a;

	assert_int_equal(parse_stage(text, &a, &p, &e, NULL), -1);
	assert_contains(e.text, why);
	assert_int_equal(e.line, line);
}

/* A wrong word is refused wherever it stands, whoever reads the file. */
static void test_sections_refused(void **state)
{
	(void)state;
	refuse_sections("n: 1\nnonsense: 2\n", "unknown key 'nonsense'", 2);
	refuse_sections("sft: {title: x}\n", "unknown key 'title'", 1);
	refuse_sections("report:\n  title: x\n  lr: 1\n", "unknown key 'lr' in section 'report'", 3);
	refuse_sections("sft:\n  lr: 7\n", "outside 0..1", 2);
	refuse_sections("rl: 3\n", "section 'rl' is a mapping", 1);
}

static void test_config_refused(void **state)
{
	(void)state;
	refuse_config("json: 1\nworker: 3\n", "neither true nor false", 1);
	refuse_config("json: true\nworker: 3\n", "did you mean 'workers'?", 2);
	refuse_config("workers: [1]\n", "expected one value", 1);
	refuse_config("workers: 1\nworkers: 2\n", "second time", 2);
	refuse_config("a: &x 1\nb: *x\n", "aliases", 2);
	refuse_config("- 1\n", "mapping", 0);
	refuse_config("task: \"unclosed\n", "YAML", 2);
	refuse_config("k: [[1]]\n", "plain values", 1);
	refuse(WORDS("--config"), "needs a value");
}

/* What is stored with a run, read back as --config, gives the same options. */
static void test_resolved(void **state)
{
	struct err e = ERR_INIT;
	struct opt_parsed p, q;
	struct args a, b;
	char *path;

	(void)state;
	assert_int_equal(parse(&a, &p, &e, WORDS("--task", "it's \"q\": #x\n", "--lr", "0.1", "--name", "~", "--name",
						 "null", "--json", "--lora-alpha", "0.30000000000000004")), 0);
	path = config_with(p.resolved.p);
	assert_int_equal(parse(&b, &q, &e, WORDS("--config", path)), 0);
	assert_string_equal(p.resolved.p, q.resolved.p);
	assert_string_equal(b.task, a.task);
	assert_true(b.lora.alpha == a.lora.alpha);
	assert_string_equal(b.name.v[1], "null");
	assert_contains(p.resolved.p, "lora_r: 16\n");
	assert_null(strstr(p.resolved.p, "rules"));
	opt_release(&p);
	opt_release(&q);
	drop(path);
}

static void test_help(void **state)
{
	struct buf b = BUF_INIT;
	struct opt_parsed p;
	struct args a;
	struct str rest;

	(void)state;
	opt_help(table, NULL, &b);
	assert_contains(b.p, "  -j, --workers N           processes (default 2)\n");
	assert_contains(b.p, "--[no-]json");
	assert_null(strstr(b.p, "--rules"));
	assert_contains(b.p, "--track strict|hybrid");
	assert_contains(b.p, "\nAdapter:\n");
	assert_contains(b.p, "--config FILE");
	for (rest = buf_str(&b); rest.n;)
		assert_true(str_cut(&rest, '\n').n <= 80);
	buf_clear(&b);
	opt_words(table, &b);
	assert_contains(b.p, "--track\tstrict|hybrid\n");
	assert_contains(b.p, "--no-json\n");
	buf_clear(&b);
	opt_man(table, &b);
	assert_contains(b.p, ".B \\-\\-lora\\-r N\n");
	buf_release(&b);
	assert_int_equal(parse(&a, &p, NULL, WORDS("-h", "--config", "/nonexistent")), 0);
	assert_int_equal(p.help, OPT_HELP_MAIN);
	opt_release(&p);
	assert_int_equal(parse(&a, &p, NULL, WORDS("--help-all")), 0);
	assert_int_equal(p.help, OPT_HELP_ALL);
	opt_release(&p);
}

/* --help shows the main options and the common ones, and counts those it leaves out. */
static void test_help_main(void **state)
{
	struct buf b = BUF_INIT;
	size_t all = 0, rows = 0;
	struct str rest;

	(void)state;
	assert_int_equal(opt_help(table, NULL, &b), 0);
	for (rest = buf_str(&b); rest.n;)
		all += str_starts(str_trim(str_cut(&rest, '\n')), "-");
	buf_clear(&b);
	rows = opt_help(table, "workers track", &b);
	assert_true(rows > 0);
	assert_contains(b.p, "--workers N");
	assert_contains(b.p, "--track strict|hybrid");
	assert_contains(b.p, "--help-all");
	assert_null(strstr(b.p, "json"));
	assert_null(strstr(b.p, "Adapter:"));
	for (rest = buf_str(&b); rest.n;)
		rows += str_starts(str_trim(str_cut(&rest, '\n')), "-");
	assert_int_equal(rows, all);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_command_line), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_config), cmocka_unit_test(test_config_refused), cmocka_unit_test(test_sections),
		cmocka_unit_test(test_selected_on_command_line), cmocka_unit_test(test_is_set), cmocka_unit_test(test_option_and_section),
		cmocka_unit_test(test_sections_refused), cmocka_unit_test(test_resolved),
		cmocka_unit_test(test_help), cmocka_unit_test(test_help_main),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
