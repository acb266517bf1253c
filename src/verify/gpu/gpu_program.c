/* The kernels of a launch plan, compiled: see gpu_measure.h. */
#include <stdio.h>

#include "base/mem.h"
#include "verify/gpu/gpu_measure.h"
#include "verify/gpu/kernel_library.h"

/* Notes that the candidate cannot be run, without holding it against the candidate. */
static int not_available(struct gpu_outcome *out, const char *why)
{
	snprintf(out->gpu.note, sizeof out->gpu.note, "%.190s", why);
	return 1;
}

/* Real Triton refuses a kernel that our compiler accepts: the candidate does not compile. */
static int refused(struct gpu_outcome *out, const struct compiled_kernel *k)
{
	out->failed = 1;
	out->stage = STAGE_compile;
	diag_set(&out->diag, REASON_unsupported_syntax, 0, 0, "Triton does not compile the kernel: %s", k->message);
	return 1;
}

/* Compiles one request. */
static int compile(struct gpu_program *p, struct kernel_compiler *c, struct str request, int ours,
		   struct gpu_outcome *out, struct err *e)
{
	const struct compiled_kernel *k = kernel_compiler_ask(c, request);

	if (!k)
		return err_nomem(e);
	p->kernels[p->n_kernels++] = k;
	if (k->status == COMPILED_OK)
		return 0;
	return k->status == COMPILED_REFUSED && !ours ? refused(out, k) : not_available(out, k->message);
}

/* Kernels of our own: one for each copy, then the digests of words and of bytes. */
static int compile_ours(struct gpu_program *p, struct kernel_compiler *c, struct gpu_outcome *out, struct err *e)
{
	static const enum dtype words[] = { DT_I32, DT_U8 };
	struct buf request = BUF_INIT;
	int rc = 0;

	for (int i = 0; i < p->plan.n_steps && !rc; i++) {
		if (p->plan.steps[i].kernel >= 0 || p->plan.steps[i].is_operator)
			continue;
		buf_clear(&request);
		kernel_library_copy(p->plan.steps[i].to.dt, p->plan.steps[i].from.dt, &request);
		rc = buf_check(&request, e) ? -1 : compile(p, c, buf_str(&request), 1, out, e);
	}
	for (size_t i = 0; i < COUNT_OF(words) && !rc; i++) {
		buf_clear(&request);
		kernel_library_digest(words[i], &request);
		rc = buf_check(&request, e) ? -1 : compile(p, c, buf_str(&request), 1, out, e);
	}
	buf_release(&request);
	return rc;
}

int gpu_program_open(struct gpu_program *p, struct kernel_compiler *c, struct str plan, struct gpu_outcome *out,
		     struct err *e)
{
	char why[200];
	int rc = 0;

	*p = (struct gpu_program){ .text = plan };
	if (gpu_plan_parse(&p->plan, plan, e))
		return -1;
	if (p->plan.unavailable.n) {
		snprintf(why, sizeof why, "%.*s", STR_ARG(p->plan.unavailable));
		return not_available(out, why);
	}
	p->kernels = mem_array((size_t)(p->plan.n_kernels + p->plan.n_steps + 2), sizeof *p->kernels);
	if (!p->kernels)
		return err_nomem(e);
	for (int i = 0; i < p->plan.n_kernels && !rc; i++)
		rc = compile(p, c, buf_str(&p->plan.requests[i]), 0, out, e);
	return rc ? rc : compile_ours(p, c, out, e);
}

void gpu_program_release(struct gpu_program *p)
{
	gpu_plan_release(&p->plan);
	mem_free(p->kernels);
	*p = (struct gpu_program){ .n_kernels = 0 };
}
