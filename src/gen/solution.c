/* The solution: the chain cut into stretches, each written by its family's writer; then ModelNew
 * with the task's own __init__ and a forward that allocates and launches; and the plan in words.
 *
 * Pointwise steps ride along with the head before them, or with the slice operator after them:
 * every kernel reads its tensors once. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "gen/kern.h"

static enum gen_family family_of(const struct gen_emit *em, int i)
{
	return gen_op(em->p->step[i].op)->family;
}

/* Kernels of these families can take the pointwise steps before their head along. */
static int takes_before(enum gen_family f)
{
	return f == GEN_REDUCE || f == GEN_NORM || f == GEN_LOSS;
}

/* The library's part of a hybrid solution: products and convolutions. */
static int library_step(const struct gen_emit *em, int i)
{
	return em->p->hybrid && (family_of(em, i) == GEN_GEMM || family_of(em, i) == GEN_CONV);
}

/* A value that a later kernel reads is kept where one kernel ends. */
static int ends_kernel(const struct gen_step *s)
{
	return s->op == GEN_OP_keep && s->far;
}

static int rides(const struct gen_step *s)
{
	return gen_pointwise(s) && !ends_kernel(s);
}

static int cut(const struct gen_emit *em, struct gen_kernel *k)
{
	int n = 0, i = 0;

	while (i < em->p->n) {
		int head = i;
		struct gen_kernel *c = &k[n];

		if (ends_kernel(&em->p->step[i])) {
			i++;
			continue;
		}
		n++;
		while (head < em->p->n && rides(&em->p->step[head]))
			head++;
		*c = (struct gen_kernel){ .first = i, .head = -1 };
		if (head < em->p->n && !ends_kernel(&em->p->step[head]) && (head == i || takes_before(family_of(em, head)))) {
			c->head = head;
			i = head + 1;
		}
		while (i < em->p->n && rides(&em->p->step[i]) && !(c->head >= 0 && library_step(em, c->head)))
			i++;
		c->end = i;
	}
	return n;
}

static gen_writer *writer_of(const struct gen_emit *em, const struct gen_kernel *k)
{
	static gen_writer *const writers[] = {
		[GEN_REDUCE] = gen_write_slice, [GEN_NORM] = gen_write_slice, [GEN_SCAN] = gen_write_scan, [GEN_GLOBAL] = gen_write_global,
		[GEN_BATCH] = gen_write_batch, [GEN_GEMM] = gen_write_gemm, [GEN_CONV] = gen_write_conv, [GEN_POOL] = gen_write_pool,
		[GEN_LOSS] = gen_write_loss, [GEN_ROW_LOSS] = gen_write_row_loss, [GEN_ATTENTION] = gen_write_attention,
	};

	return k->head < 0 ? gen_write_flat : writers[family_of(em, k->head)];
}

static void plan_line(const struct gen_emit *em, const struct gen_kernel *k, int number, struct buf *out)
{
	static const char *const words[] = {
		[GEN_REDUCE] = "one program per slice", [GEN_NORM] = "one program per slice", [GEN_SCAN] = "one program per slice, carrying the total",
		[GEN_GLOBAL] = "partial sums, then one pass", [GEN_BATCH] = "statistics per channel, then one pass",
		[GEN_GEMM] = "tiled matrix product, the rest in its epilogue", [GEN_CONV] = "convolution as a product over taps, the rest in its epilogue",
		[GEN_POOL] = "one program per block of outputs", [GEN_LOSS] = "partial sums, then their sum", [GEN_ROW_LOSS] = "one program per row, then their mean",
		[GEN_ATTENTION] = "online softmax over blocks of keys",
	};

	buf_addf(out, "Kernel %d: ", number);
	for (int i = k->first; i < k->end; i++)
		buf_addf(out, "%s%s", i > k->first ? ", " : "", gen_op(em->p->step[i].op)->name);
	buf_addf(out, "; %s.\n", k->head < 0 ? "one flat pass over the elements" :
		 library_step(em, k->head) ? "left to the library" : words[family_of(em, k->head)]);
}

static void write_forward_head(const struct gen_emit *em, struct buf *out)
{
	buf_adds(out, "\n    def forward(self");
	for (int i = 0; i < em->inputs; i++)
		buf_addf(out, ", %s", em->input[gen_input_at(em, i)].name);
	buf_adds(out, "):\n");
}

static void write_stretches(struct gen_solution *sol)
{
	const struct gen_emit *em = sol->em;
	struct gen_kernel k[GEN_STEPS];
	int n = cut(em, k);
	char from[GEN_NAME], to[GEN_NAME];

	snprintf(from, sizeof from, "%s", em->input[0].name);
	for (int i = 0; i < n; i++) {
		snprintf(to, sizeof to, i == n - 1 ? "out" : "h%d", i + 1);
		if (k[i].first > 0 && ends_kernel(&em->p->step[k[i].first - 1]))
			memcpy(sol->kept, from, sizeof sol->kept);
		plan_line(em, &k[i], i + 1, &sol->plan);
		if (k[i].head >= 0 && library_step(em, k[i].head)) {
			char assign[GEN_NAME + 16];

			snprintf(assign, sizeof assign, "        %s = ", to);
			gen_forward_line(em, k[i].head, from, assign, &sol->host);
		} else {
			writer_of(em, &k[i])(sol, &k[i], from, to);
		}
		memcpy(from, to, sizeof from);
	}
}

void gen_write_solution(const struct gen_emit *em, struct buf *plan, struct buf *out)
{
	struct gen_solution sol = { .em = em };

	write_stretches(&sol);
	buf_adds(out, strstr(buf_cstr(&sol.host), "math.") ? "import math\nimport torch\nimport torch.nn as nn\n" : "import torch\nimport torch.nn as nn\n");
	if (em->p->hybrid && gen_uses(em, "F."))
		buf_adds(out, "import torch.nn.functional as F\n");
	buf_adds(out, "import triton\nimport triton.language as tl\n\n");
	if (sol.multiplies)
		buf_adds(out, "@triton.jit\ndef multiply(a, b):\n    return a * b\n\n");
	buf_addstr(out, buf_str(&sol.kernels));
	buf_adds(out, "class ModelNew(nn.Module):\n");
	gen_write_init(em, "ModelNew", 0, out);
	write_forward_head(em, out);
	buf_addstr(out, buf_str(&sol.host));
	buf_adds(out, "        return out\n");
	buf_addstr(plan, buf_str(&sol.plan));
	buf_release(&sol.kernels);
	buf_release(&sol.host);
	buf_release(&sol.plan);
}

int gen_emit(const struct gen_plan *p, struct gen_texts *t, struct err *e)
{
	struct gen_emit em;

	gen_emit_init(&em, p);
	for (int i = 0; i < p->n; i++)
		buf_addf(&t->ops, "%s%s", i ? "," : "", gen_op(p->step[i].op)->name);
	gen_write_task(&em, &t->task);
	gen_write_solution(&em, &t->plan, &t->solution);
	return buf_check(&t->ops, e) || buf_check(&t->task, e) || buf_check(&t->plan, e) || buf_check(&t->solution, e) ? -1 : 0;
}

void gen_texts_clear(struct gen_texts *t)
{
	buf_clear(&t->ops);
	buf_clear(&t->task);
	buf_clear(&t->plan);
	buf_clear(&t->solution);
}

void gen_texts_release(struct gen_texts *t)
{
	buf_release(&t->ops);
	buf_release(&t->task);
	buf_release(&t->plan);
	buf_release(&t->solution);
}
