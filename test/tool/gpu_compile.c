/* Compiles the kernels of correct candidates with real Triton, without a GPU.
 *
 *     gpu_compile PYTHON TRACK TASK CANDIDATE [TASK CANDIDATE]...
 *
 * Prints one line for each candidate: its path, "wrong" if the CPU judge refuses it, "unavailable"
 * and why if it has no launch plan, else "compiled" or "refused", the number of kernels, the bytes of
 * machine code and Triton's message. */
#include <stdio.h>

#include "base/file.h"
#include "base/mem.h"
#include "verify/funnel/judgement.h"
#include "verify/gpu/gpu_measure.h"
#include "verify/task/dump.h"

/* The plans of one candidate. */
struct plans {
	struct buf v[8];
	int n;
};

static int take_plan(void *ctx, struct str plan, struct err *e)
{
	struct plans *p = ctx;

	if (p->n < 8)
		buf_addstr(&p->v[p->n++], plan);
	(void)e;
	return 0;
}

static void compile(struct kernel_compiler *c, const struct plans *p, const char *path)
{
	struct gpu_outcome out = { .failed = 0 };
	struct err e = ERR_INIT;
	size_t bytes = 0;
	int kernels = 0, rc = 0;

	for (int i = 0; i < p->n && !rc; i++) {
		struct gpu_program program;

		rc = gpu_program_open(&program, c, buf_str(&p->v[i]), &out, &e);
		kernels += program.plan.n_kernels;
		for (int k = 0; k < program.n_kernels; k++)
			bytes += program.kernels[k]->code.n;
		gpu_program_release(&program);
	}
	if (!p->n)
		printf("%s unavailable no plan\n", path);
	else if (rc < 0)
		printf("%s broke %s\n", path, e.text);
	else if (rc && !out.failed)
		printf("%s unavailable %s\n", path, out.gpu.note);
	else
		printf("%s %s %d %zu %s\n", path, rc ? "refused" : "compiled", kernels, bytes, rc ? out.diag.text : "");
}

static int judge_one(struct judge *j, struct kernel_compiler *c, const char *task, const char *candidate, struct err *e)
{
	struct plans p = { .n = 0 };
	struct judge_watcher w = { .plan = take_plan, .ctx = &p };
	struct buf source = BUF_INIT, text = BUF_INIT;
	struct verdict v;
	struct task *t = NULL;
	int rc = file_read(task, 0, &source, e) || file_read(candidate, 0, &text, e) ? -1 : 0;

	judge_set_watcher(j, &w);
	if (!rc && !(t = task_open(j, buf_str(&source), task, e)))
		rc = -1;
	if (!rc)
		rc = judge_candidate(j, t, buf_str(&text), &v, e);
	if (!rc && !v.correct)
		printf("%s wrong %s\n", candidate, v.diag.text);
	else if (!rc)
		compile(c, &p, candidate);
	task_free(t);
	for (int i = 0; i < p.n; i++)
		buf_release(&p.v[i]);
	buf_release(&source);
	buf_release(&text);
	return rc;
}

int main(int argc, char **argv)
{
	struct judge_options o = JUDGE_DEFAULTS;
	struct kernel_compiler_options co = { .workers = 2, .capability = 90, .seconds = 60.0, .memory = (size_t)16 << 30 };
	struct err e = ERR_INIT;
	struct kernel_compiler *c;
	struct judge *j;

	if (argc < 5 || argc % 2 == 0)
		return 2;
	o.plan = 1;
	o.skip_general = 1;
	o.track = strcmp(argv[2], "hybrid") ? TRACK_STRICT : TRACK_HYBRID;
	co.python = argv[1];
	j = judge_new(&o, &e);
	c = kernel_compiler_new(&co, &e);
	for (int i = 3; j && c && i < argc; i += 2) {
		if (judge_one(j, c, argv[i], argv[i + 1], &e)) {
			printf("%s broke %s\n", argv[i + 1], e.text);
			err_clear(&e);
		}
		fflush(stdout);
	}
	printf("triton %s\n", c ? kernel_compiler_version(c) : "");
	kernel_compiler_free(c);
	judge_free(j);
	return 0;
}
