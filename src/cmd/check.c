/* tritonrl check: diagnostics about the kernels of files, without running them.
 * verify/lint/check_file.h finds the diagnostics; this file walks folders, prints and counts. */
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "py/caret.h"
#include "verify/lint/check_import.h"
#include "verify/lint/check_json.h"
#include "verify/lint/check_sarif.h"

/* The least serious finding that makes the exit code 1. */
enum fail_on { FAIL_ERROR, FAIL_WARNING, FAIL_UNSURE };

struct args {
	int json, sarif, caret;
	enum fail_on fail_on;
	int64_t capability;
	const char *triton_version, *gpu, *task;
};

static const struct opt opts[] = {
	OPT_FLAG(struct args, json, "json", 0,
		 "print one JSON object: files, kernels, diagnostics"),
	OPT_FLAG(struct args, sarif, "sarif", 0,
		 "print the findings as SARIF 2.1.0, which code hosts show in reviews"),
	OPT_ENUM(struct args, fail_on, "fail-on", "error|warning|unsure", "error",
		 "end with exit code 1 at errors only, at warnings too, or at unsure findings too"),
	OPT_FLAG(struct args, caret, "caret", 0,
		 "show the source line below each diagnostic (default on a terminal)"),
	OPT_STR(struct args, task, "task", "FILE", NULL,
		"take get_inputs and get_init_inputs from this file, for files that define only "
		"ModelNew"),
	OPT_CHOICE(struct args, triton_version, "triton-version", "3.2|3.3|3.4|3.5|3.6|3.7|3.8", "3.6",
		   "check by the rules of this Triton version"),
	OPT_CHOICE(struct args, gpu, "gpu", TILE_GPU_CHOICES, TILE_GPU_DEFAULT,
		   "check launches against the limits of this GPU"),
	OPT_INT(struct args, capability, "capability", 0, 120, 0,
		"compute capability, such as 90 for sm_90; 0: that of --gpu"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "FILE...",
	.about = "Check the Triton kernels of Python files by Triton's own rules, and check that "
		 "their launches fit the GPU. A kernel that the file launches is compiled as "
		 "launched: the file's ModelNew (or Model) is built and called on its get_inputs, "
		 "and launches only compile. Other kernels are compiled with the types of the `# "
		 "signature: x=*fp32, n=i32, BLOCK=128` comments above them, or with types "
		 "guessed from their use. All errors of a kernel are reported that do not follow "
		 "from one another. Folders are searched for .py files. Exit code 0: no errors, "
		 "1: errors (or what --fail-on names), 2: could not check.",
	.opts = opts,
};

/* The state of one call: options, the file that is being checked, the output and the counts. */
struct check_files {
	const struct args *a;
	struct check_options o;
	int caret;                   /* show source lines: --caret, or a terminal */
	const char *path;            /* of the file being checked */
	struct str source;           /* its text, for source lines */
	struct jw w;                 /* the JSON output */
	int64_t files, errors, warnings, unsure;       /* totals of this call */
	struct check_count count;    /* kernels found, compiled and unsure */
	struct check_imports imports;   /* finds imported files in the tree around the file */
	struct err *e;
};

/* FILE:LINE:COL: as compilers print it, so that editors can jump there. A diagnostic about the
 * whole file has no line. */
static void print_place(const struct check_files *c, const struct diag *d)
{
	if (d->line > 0)
		printf("%s:%d:%d: ", c->path, d->line, d->col);
	else
		printf("%s: ", c->path);
}

/* Called for each diagnostic, in source order within a file. Warnings and `unsure` do not count as
 * errors. */
static void show(void *ctx, enum severity how, const struct diag *d)
{
	struct check_files *c = ctx;
	struct buf lines = BUF_INIT;

	c->errors += how == SEVERITY_ERROR;
	c->warnings += how == SEVERITY_WARNING;
	c->unsure += how == SEVERITY_UNSURE;
	if (c->a->sarif) {
		check_sarif_diag(&c->w, c->path, how, d);
		return;
	}
	if (c->a->json) {                   /* JSON has no source lines and no hints on lines of their own */
		check_json_diag(&c->w, c->path, how, d);
		return;
	}
	print_place(c, d);
	printf("%s[%s]: %s\n", check_severity_name(how), reason_code(d->reason), d->text);
	if (c->caret)
		py_caret(c->source, d->line, d->col, &lines);
	fputs(buf_cstr(&lines), stdout);
	buf_release(&lines);
	if (d->hint[0]) {
		print_place(c, d);
		printf("note: %s\n", d->hint);
	}
}

/* A syntax error is a diagnostic like any other: the file is counted and the next one is checked.
 * The command fails only if a file cannot be read or memory ends. */
static int check_one(struct check_files *c, const char *path)
{
	struct buf src = BUF_INIT;
	struct py_module m;
	struct err syntax = ERR_INIT;
	int rc = file_read(path, 0, &src, c->e);

	c->path = path;
	c->source = buf_str(&src);
	if (rc)
		goto out;
	c->files++;
	if (py_parse(&m, buf_str(&src), path, 0, &syntax)) {
		struct diag d = { .reason = REASON_syntax_error, .line = syntax.line, .col = syntax.column };

		snprintf(d.text, sizeof d.text, "%s", syntax.text);
		show(c, SEVERITY_ERROR, &d);
		goto out;
	}
	rc = check_file(&m, &c->o, &c->count, c->e) ? err_wrap(c->e, "checking '%s'", path) : 0;
	py_release(&m);
out:
	buf_release(&src);
	return rc;
}

static int check_path(struct check_files *c, const char *path);

/* Checks every .py file below a folder; hidden files and folders (.git, .venv) are skipped. */
static int check_folder(struct check_files *c, const char *path)
{
	struct file_list l = { 0 };
	struct buf name = BUF_INIT;
	int rc = file_list_open(&l, path, c->e);
	for (size_t i = 0; i < l.n && !rc; i++) {
		if (l.v[i][0] == '.')
			continue;
		path_join(&name, path, l.v[i]);
		if (file_is_dir(buf_cstr(&name)) || str_ends(str_of(l.v[i]), ".py"))
			rc = check_path(c, buf_cstr(&name));
	}
	buf_release(&name);
	file_list_close(&l);
	return rc;
}

static int check_path(struct check_files *c, const char *path)
{
	return file_is_dir(path) ? check_folder(c, path) : check_one(c, path);
}

/* An argument without any .py file is an error: a misspelt folder must not look like success. */
static int check_all(struct check_files *c, const struct opt_parsed *p)
{
	if (!p->n)
		return err_set(c->e, ERR_USAGE, "no file given");
	for (size_t i = 0; i < p->n; i++) {
		int64_t before = c->files;

		if (check_path(c, p->args[i]))
			return -1;
		if (c->files == before)
			return err_set(c->e, ERR_NOT_FOUND, "there is no .py file in '%s'", p->args[i]);
	}
	return 0;
}

/* Says how much was checked, because no output otherwise means either no errors or no kernels. */
static void finish_text(const struct check_files *c)
{
	log_info("checked %lld file%s: %lld kernels, %lld compile, %lld unsure, %lld errors; %lld functions "
		 "that kernels call", (long long)c->files,
		 c->files == 1 ? "" : "s", (long long)c->count.kernels, (long long)c->count.compiled,
		 (long long)c->count.unsure,
		 (long long)c->errors, (long long)c->count.helpers);
}

/* Parses the file of --task, whose get_inputs serves all checked files. Does nothing without
 * --task. */
static int open_task(struct check_files *c, struct py_module *m)
{
	struct buf src = BUF_INIT;
	int rc = 0;

	if (c->a->task) {
		rc = file_read(c->a->task, 16u << 20, &src, c->e) || py_parse(m, buf_str(&src), c->a->task,
				0, c->e) ? -1 : 0;
		c->o.task = rc ? NULL : m;
	}
	buf_release(&src);
	return rc;
}

/* --capability overrides the compute capability of --gpu, for a GPU that is not in the table. */
static int check_with(struct check_files *c, const struct opt_parsed *p)
{
	struct tile_gpu gpu = *tile_gpu_find(str_of(c->a->gpu));
	struct tile_options o = { .triton_version = 300 + c->a->triton_version[2] - '0' };   /* "3.6" is 306 */
	struct py_module task;
	int rc;

	if (c->a->capability)
		gpu.capability = (int)c->a->capability;
	o.capability = gpu.capability;
	check_imports_init(&c->imports);
	c->o = (struct check_options){ .engine = tile_engine_new(&o, c->e), .gpu = &gpu,
				       .importer = &c->imports.importer, .report = show, .ctx = c };
	rc = !c->o.engine || open_task(c, &task) || check_all(c, p) ? -1 : 0;
	if (c->o.task)
		py_release(&task);
	tile_engine_free(c->o.engine);
	check_imports_release(&c->imports);
	return rc;
}

/* Writes the end of JSON or SARIF, or the line of counts. */
static void finish(struct check_files *c)
{
	if (c->a->sarif)
		check_sarif_end(&c->w);
	else if (c->a->json)
		check_json_end(&c->w, c->files, c->errors, &c->count);
	if (c->a->sarif || c->a->json)
		puts(buf_cstr(c->w.out));
	else
		finish_text(c);
}

/* Is there a finding that --fail-on names? */
static int has_failed(const struct check_files *c)
{
	return c->errors || (c->a->fail_on >= FAIL_WARNING && c->warnings) ||
	       (c->a->fail_on >= FAIL_UNSURE && c->unsure);
}

/* Source lines are shown by default on a terminal only: tools that read the output expect one line
 * per diagnostic. */
int cmd_check(int argc, char **argv)
{
	struct args a;
	struct opt_parsed p;
	int rc = cmd_parse(&usage, &a, argc, argv, &p);
	struct err e = ERR_INIT;
	struct buf out = BUF_INIT;
	struct check_files c;

	if (rc >= 0)
		return rc;
	c = (struct check_files){ .a = &a, .w = { .out = &out }, .caret = a.caret || isatty(STDOUT_FILENO), .e = &e };

	if (a.sarif)
		check_sarif_begin(&c.w);
	else if (a.json)
		check_json_begin(&c.w);
	rc = a.json && a.sarif ? err_set(&e, ERR_USAGE, "--json and --sarif exclude each other") : check_with(&c, &p);
	if (!rc)
		finish(&c);
	buf_release(&out);
	opt_release(&p);
	return rc ? cmd_fail("check", &e) : has_failed(&c) ? CMD_NO : CMD_OK;
}
