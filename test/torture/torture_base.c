/* Torture of src/base: every module that allocates or touches files. */
#include "torture.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/progress.h"
#include "base/thread.h"
#include "base/yaml.h"

static const char *in(const char *name)
{
	static char path[4][128];
	static int turn;
	char *p = path[turn++ % 4];

	snprintf(p, sizeof *path, "%s/%s", torture_dir(), name);
	return p;
}

/* --- memory and strings ------------------------------------------------------------------ */

static int work_heap(struct err *e)
{
	char *a = mem_strdup("abc"), *b = mem_zalloc(100), *c = mem_alloc_aligned(33, 64), *d = mem_array(3, 5);
	char *bigger = a ? mem_resize(a, 1000) : NULL;
	int rc = a && b && c && d && bigger ? 0 : err_nomem(e);

	if (bigger)
		a = bigger;
	if (a)
		TORTURE_NEED(!strcmp(a, "abc"));
	mem_free(a), mem_free(b), mem_free(d);
	mem_free_aligned(c);
	return rc;
}

static int work_arena(struct err *e)
{
	struct arena a = ARENA_INIT;
	int rc = 0;

	for (size_t i = 1; i < 200 && !rc; i++) {
		char *p = arena_printf(&a, "%zu", i);

		rc = p && arena_array(&a, i, 32) && arena_strdup(&a, p) ? 0 : err_nomem(e);
	}
	arena_release(&a);
	return rc;
}

static int work_arena_trap(struct err *e)
{
	struct arena a = ARENA_INIT;
	jmp_buf trap;
	volatile int rc = 0;

	a.trap = &trap;
	if (setjmp(trap))
		rc = err_nomem(e);
	else
		for (int i = 0; i < 3000; i++)
			memset(arena_alloc(&a, 100), 1, 100);
	arena_release(&a);
	return rc;
}

static int work_vec(struct err *e)
{
	struct {
		int *v;
		size_t n, cap;
	} xs = { 0 };
	int rc = 0;

	for (int i = 0; i < 300 && !rc; i++)
		rc = vec_push(&xs, i) ? err_nomem(e) : 0;
	for (size_t i = 0; i < xs.n; i++)
		TORTURE_NEED(xs.v[i] == (int)i);
	vec_free(&xs);
	return rc;
}

static int work_buf(struct err *e)
{
	struct buf b = BUF_INIT;
	char *p;
	int rc;

	for (int i = 0; i < 200; i++)
		buf_addf(&b, "%d ", i);
	rc = buf_check(&b, e);
	p = buf_take(&b);
	TORTURE_NEED(rc || strlen(p) == 10 * 2 + 90 * 3 + 100 * 4);
	mem_free(p);
	return rc;
}

static int work_map(struct err *e)
{
	struct map m = MAP_INIT;
	int rc = 0;

	for (int i = 0; i < 100 && !rc; i++) {
		char key[16];
		struct map_entry *entry;

		snprintf(key, sizeof key, "k%d", i);
		entry = map_put(&m, str_of(key));
		if (entry)
			entry->val.i64 = i;
		else
			rc = err_nomem(e);
	}
	for (size_t i = 0; i < m.n; i++)
		TORTURE_NEED(map_get(&m, m.e[i].key)->val.i64 == (int64_t)i);
	map_release(&m);
	return rc;
}

/* --- JSON, YAML, options ------------------------------------------------------------------ */

static const char json_text[] = "{\"a\":[1,2.5,\"x\xC3\xA9\",{\"b\":null}],\"c\":{\"d\":true,\"e\":1,\"f\":2,\"g\":3,"
				"\"h\":4,\"i\":5,\"j\":6,\"k\":7,\"l\":8,\"m\":9}}";

static int work_json(struct err *e)
{
	struct json *j = json_parse(STR(json_text), e);
	struct buf b = BUF_INIT;
	struct jw w = { .out = &b };
	int rc = -1;

	if (j) {
		TORTURE_NEED(json_int(json_get(json_get(j, "c"), "m"), 0) == 9);
		jw_json(&w, j);
		rc = buf_check(&b, e);
		TORTURE_NEED(rc || !strcmp(b.p, json_text));
	}
	json_free(j);
	buf_release(&b);
	return rc;
}

static int work_json_wide(struct err *e)
{
	struct json *j = json_parse(STR("{\"n\": 1000000000000000019884624838656}"), e);
	int rc = j ? 0 : -1;

	if (j)
		TORTURE_NEED(json_real(json_get(j, "n"), 0) > 1e29);
	json_free(j);
	return rc;
}

static int work_json_file(struct err *e)
{
	struct json *j;

	if (file_replace(in("x.json"), STR(json_text), e))
		return -1;
	j = json_parse_file(in("x.json"), e);
	if (!j)
		return -1;
	TORTURE_NEED(json_count(json_get(j, "a")) == 4);
	json_free(j);
	return 0;
}

static int work_yaml(struct err *e)
{
	struct arena a = ARENA_INIT;
	struct yaml *y = yaml_parse(STR("a: 1\nb: [x, {c: d}]\ne:\n  f: 'g'\n"), &a, e);

	TORTURE_NEED(!y || (y->n == 3 && yaml_get(yaml_get(y, "e"), "f")));
	arena_release(&a);
	return y ? 0 : -1;
}

struct args {
	int64_t n;
	const char *s;
	struct opt_list l;
};

static const struct opt table[] = {
	OPT_INT(struct args, n, "n", 0, 100, 1, "a number"),
	OPT_STR(struct args, s, "s", "S", "def", "a string"),
	OPT_LIST(struct args, l, "l", "X", 1, "a list"),
	OPT_END
};

static int work_opt(struct err *e)
{
	char *argv[] = { "--s", "given", "--l=a,b,c", "arg", "--config", (char *)in("o.yaml") };
	struct opt_parsed p;
	struct args a;

	if (file_replace(in("o.yaml"), STR("n: 7\ns: file\nl: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n"), e) ||
	    opt_parse(table, &a, 6, argv, &p, e))
		return -1;
	TORTURE_NEED(a.n == 7 && !strcmp(a.s, "given") && a.l.n == 3 && p.n == 1);
	TORTURE_NEED(!strcmp(p.resolved.p, "n: 7\ns: \"given\"\nl: [\"a\", \"b\", \"c\"]\n"));
	opt_release(&p);
	return 0;
}

static int work_opt_help(struct err *e)
{
	struct buf b = BUF_INIT;
	int rc;

	opt_help(table, NULL, &b);
	opt_man(table, &b);
	opt_words(table, &b);
	rc = buf_check(&b, e);
	TORTURE_NEED(rc || (strstr(b.p, "-n N  ") && strstr(b.p, ".B \\-\\-n N\na number (default 1)") &&
			    strstr(b.p, "--l\tX\n")));
	buf_release(&b);
	return rc;
}

/* --- files ---------------------------------------------------------------------------------- */

static int content_is(const char *path, const char *want)
{
	char got[64] = "";
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(got, 1, sizeof got - 1, f) : 0;

	if (f)
		fclose(f);
	return f && n == strlen(want) && !memcmp(got, want, n);
}

/* Whatever fails, the file holds the old content or the new one. */
static int work_replace(struct err *e)
{
	const char *path = in("replaced");
	FILE *f = fopen(path, "w");
	int rc;

	fputs("old", f);
	fclose(f);
	rc = file_replace(path, STR("new content"), e);
	TORTURE_NEED(content_is(path, "new content") || (rc && content_is(path, "old")));
	return rc;
}

static int work_read(struct err *e)
{
	struct buf b = BUF_INIT;
	int rc = file_replace(in("r"), STR("0123456789"), e) || file_read(in("r"), 100, &b, e) ? -1 : 0;

	TORTURE_NEED(rc || str_is(buf_str(&b), "0123456789"));
	buf_release(&b);
	return rc;
}

static int work_append(struct err *e)
{
	remove(in("a"));
	if (file_append(in("a"), STR("one\n"), 0, e) || file_append(in("a"), STR("two\n"), 1, e))
		return -1;
	TORTURE_NEED(content_is(in("a"), "one\ntwo\n"));
	return 0;
}

static int work_folders(struct err *e)
{
	struct file_list l = { .v = NULL };
	int rc = -1;

	if (file_mkdirs(in("d/e/f"), e) || file_replace(in("d/e/g"), STR("x"), e) || file_list_open(&l, in("d/e"), e))
		goto out;
	TORTURE_NEED(l.n >= 2);          /* a temporary file may stay where unlink failed before */
	rc = file_remove_tree(in("d"), e);
	TORTURE_NEED(rc || fopen(in("d"), "r") == NULL);
out:
	file_list_close(&l);
	return rc;
}

static int work_map_file(struct err *e)
{
	struct file_map m;

	if (file_replace(in("m"), STR("mapped"), e) || file_map_open(&m, in("m"), e))
		return -1;
	TORTURE_NEED(m.n == 6 && !memcmp(m.p, "mapped", 6));
	file_map_close(&m);
	return 0;
}

static int work_lines(struct err *e)
{
	struct line_reader r;
	struct str line;
	int n = 0, rc;

	if (file_replace(in("l"), STR("one\ntwo\nthree"), e) || lines_open(&r, in("l"), e))
		return -1;
	while ((rc = lines_next(&r, &line, e)) > 0)
		n++;
	TORTURE_NEED(rc < 0 || n == 3);
	lines_close(&r);
	return rc;
}

/* --- threads and progress ------------------------------------------------------------------- */

static void count(void *ctx, size_t begin, size_t end)
{
	__atomic_fetch_add((size_t *)ctx, end - begin, __ATOMIC_RELAXED);
}

static int work_pool(struct err *e)
{
	struct pool *p = pool_new(3, e);
	size_t n = 0;

	if (!p)
		return -1;
	pool_for(p, 1000, 10, count, &n);
	TORTURE_NEED(n == 1000);
	pool_free(p);
	return 0;
}

static void no_log(void *ctx, enum log_level level, const char *text)
{
	(void)ctx, (void)level, (void)text;
}

static int work_progress(struct err *e)
{
	struct progress p;

	(void)e;
	log_set_sink(no_log, NULL);
	progress_set_mode(PROGRESS_LINES);
	progress_begin(&p, "work", "steps", 10);
	progress_note(&p, "loss %g", 0.5);
	progress_add(&p, 10);
	progress_end(&p);
	log_set_sink(NULL, NULL);
	return 0;
}

int main(void)
{
	static const struct torture_case cases[] = {
		{ .name = "heap", .work = work_heap }, { .name = "arena", .work = work_arena }, { .name = "arena with trap", .work = work_arena_trap },
		{ .name = "vec", .work = work_vec }, { .name = "buf", .work = work_buf }, { .name = "map", .work = work_map },
		{ .name = "json", .work = work_json }, { .name = "json wide", .work = work_json_wide }, { .name = "json file", .work = work_json_file },
		{ .name = "yaml", .work = work_yaml }, { .name = "opt", .work = work_opt }, { .name = "opt help", .work = work_opt_help },
		{ .name = "file replace", .work = work_replace }, { .name = "file read", .work = work_read }, { .name = "file append", .work = work_append },
		{ .name = "folders", .work = work_folders }, { .name = "file map", .work = work_map_file }, { .name = "lines", .work = work_lines },
		{ .name = "pool", .work = work_pool }, { .name = "progress", .work = work_progress, .tolerant = 1 },
	};

	return torture_main(cases, COUNT_OF(cases));
}
