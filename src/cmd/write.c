/* tritonrl write: the best verified Triton kernel for a module. This file reads the module, shows progress and
 * prints what src/write found. Exit code: 0 found, 1 nothing passed, 2 could not. */
#include <stdio.h>

#include "base/file.h"
#include "base/log.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "data/module_task.h"
#include "write/write_report.h"
#include "write/writer.h"

struct args {
	struct module_source source;
	const char *out;
	int json;
	struct writer_args writer;
};

static const struct opt opts[] = {
	OPT_STR(struct args, source.class, "class", "NAME", NULL,
		"class of the module; default: Model, else the last module that no other class uses"),
	OPT_LIST(struct args, source.inputs, "input", "SHAPE[:DTYPE]", 0,
		 "an input of forward, such as 64x1024:f32, or =VALUE; once for each, in order"),
	OPT_LIST(struct args, source.init, "init", "[NAME=]VALUE", 0,
		 "an argument of the constructor, such as 1024 or bias=False; once for each, in order"),
	OPT_STR(struct args, out, "out", "FILE", "-", "output file; - is standard output"),
	OPT_FLAG(struct args, json, "json", 0, "print one JSON object: the solution and its verdict, or the nearest "
		 "miss"),
	OPT_INCLUDE(struct args, writer, writer_args_table, "The writer"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "MODULE.py",
	.about = "Write the best verified Triton kernel for a PyTorch module: samples of a model, solutions by rule, "
		 "repair with the judge's feedback, parts that are solved apart and joined, other block sizes. Every "
		 "candidate is judged. The file has KernelBench's form, KernelBook's form, or any nn.Module with "
		 "--input for each input; - is standard input. Exit code 0: found, 1: nothing passed, 2: could not.",
	.shown = "class input init by model n seconds track precision gpu device out json seed temperature",
	.opts = opts,
};

/* The progress bar behind the search. */
static void show(void *ctx, const struct write_search *s)
{
	struct progress *bar = ctx;

	if (s->best)
		progress_note(bar, "%zu passed, best %.2f x by %s", s->passed, s->best->verdict.speedup,
			      author_name(s->best->author));
	progress_add(bar, (int64_t)s->judged - bar->done);
}

static int print(const struct args *a, const struct writer *w, const struct write_search *s, const char *name,
		 double seconds, struct err *e)
{
	struct buf text = BUF_INIT, report = BUF_INIT;
	struct str out = s->best ? buf_str(&s->best->text) : STR("");
	int rc;

	write_report_text(w, s, seconds, &report);
	if (a->json) {
		write_report_json(w, s, seconds, str_of(name), &text);
		out = buf_str(&text);
	}
	rc = buf_check(&text, e) || buf_check(&report, e) ? -1 : 0;
	if (!rc && out.n && strcmp(a->out, "-"))
		rc = file_replace(a->out, out, e);
	else if (!rc && (fwrite(out.p, 1, out.n, stdout) != out.n || fflush(stdout)))
		rc = err_errno(e, "cannot write standard output");
	for (struct str rest = buf_str(&report), line; rest.n && !rc; ) {
		line = str_cut(&rest, '\n');
		log_info("%.*s", STR_ARG(line));
	}
	buf_release(&text);
	buf_release(&report);
	return rc;
}

static int search_all(const struct args *a, const char *path, struct str task, int *found, struct err *e)
{
	struct progress bar;
	struct writer w;
	struct write_search s = { .best = NULL };
	int64_t start = clock_ns();
	int rc;

	progress_begin(&bar, "write", "candidates", 0);
	rc = writer_open(&w, &a->writer, e) ||
	     search_open(&s, w.judges, &w.judge, task, start + (int64_t)(a->writer.seconds * 1e9), e) ? -1 : 0;
	s.tick = show;
	s.tick_ctx = &bar;
	if (!rc)
		rc = writer_run(&w, &s, e);
	progress_end(&bar);
	if (!rc)
		rc = print(a, &w, &s, path, (double)(clock_ns() - start) / 1e9, e);
	*found = s.best != NULL;
	search_close(&s);
	writer_close(&w);
	return rc;
}

static int run(const struct args *a, const struct opt_parsed *p, int *found, struct err *e)
{
	struct buf text = BUF_INIT, task = BUF_INIT;
	char name[MODULE_NAME];
	int rc;

	if (p->n != 1)
		return err_set(e, ERR_USAGE, "name one module: MODULE.py");
	rc = strcmp(a->out, "-") ? file_check_output(a->out, e) : 0;
	if (!rc)
		rc = file_read(strcmp(p->args[0], "-") ? p->args[0] : "/dev/stdin", 16u << 20, &text, e);
	if (!rc && module_task(buf_str(&text), &a->source, &task, name, e)) {
		if (e->line)
			err_wrap(e, "%s:%d", p->args[0], e->line);
		rc = -1;
	}
	if (!rc && !str_is(str_of(name), "Model"))
		log_info("class %s", name);
	if (!rc)
		rc = search_all(a, p->args[0], buf_str(&task), found, e);
	buf_release(&text);
	buf_release(&task);
	return rc;
}

int cmd_write(int argc, char **argv)
{
	struct opt_parsed p;
	struct args a;
	struct err e = ERR_INIT;
	int found = 0, rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	stop_install();
	rc = run(&a, &p, &found, &e);
	opt_release(&p);
	if (rc)
		return cmd_fail("write", &e);
	return found ? CMD_OK : stop_requested() ? cmd_stopped() : CMD_NO;
}
