/* The solution: kernels, then ModelNew with the task's own __init__ and a forward that only
 * allocates and launches; and the plan in words. */
#include <stdio.h>

#include "base/mem.h"
#include "gen/gen_kernel.h"

void gen_write_kernel(const struct gen_emit *em, const struct gen_kernel *k, struct buf *out)
{
	struct gen_args a = { .n = 0 };
	const struct gen_schedule *s = gen_schedule(em, k);

	s->args(em, k, "x", &a);
	gen_kernel_head(k, &a, out);
	s->body(em, k, out);
	buf_addc(out, '\n');
}

/* `text` with the name of the result for "%s". */
static void add_with_result(struct buf *out, const char *text, const char *to)
{
	const char *at = strstr(text, "%s");

	if (at)
		buf_addf(out, "%.*s%s%s", (int)(at - text), text, to, at + 2);
	else
		buf_adds(out, text);
}

void gen_write_launch(const struct gen_emit *em, const struct gen_kernel *k, const char *from,
		      const char *to, struct buf *out)
{
	struct gen_args a = { .n = 0 };
	struct buf shape = BUF_INIT, grid = BUF_INIT;
	const struct gen_schedule *s = gen_schedule(em, k);
	int named_grid = gen_solution_choice(em->p, 11, 2);

	s->args(em, k, from, &a);
	s->host(em, k, from, &shape, &grid);
	buf_addf(out, "        %s = %s\n", to, buf_cstr(&shape));
	if (named_grid) {
		buf_adds(out, "        grid = ");
		add_with_result(out, buf_cstr(&grid), to);
		buf_addf(out, "\n        %s[grid](", k->name);
	} else {
		buf_addf(out, "        %s[", k->name);
		add_with_result(out, buf_cstr(&grid), to);
		buf_adds(out, "](");
	}
	for (int i = 0; i < a.n; i++) {
		buf_addf(out, "%s", i ? ", " : "");
		if (i >= a.first_constexpr)
			buf_addf(out, "%s=", a.param[i]);
		add_with_result(out, a.value[i][0] ? a.value[i] : to, to);
	}
	buf_adds(out, ")\n");
	buf_release(&shape);
	buf_release(&grid);
}

void gen_write_solution(const struct gen_emit *em, struct buf *out)
{
	struct gen_kernel k[GEN_STEPS];
	int n = gen_cut(em, k);
	char from[16] = "x", to[16];

	buf_adds(out, "import torch\nimport torch.nn as nn\nimport triton\nimport triton.language as tl\n\n");
	for (int i = 0; i < n; i++)
		gen_write_kernel(em, &k[i], out);
	gen_write_init(em, "ModelNew", out);
	buf_adds(out, "\n    def forward(self");
	for (int i = 0; i < em->inputs; i++)
		buf_addf(out, ", %s", em->input[i]);
	buf_adds(out, "):\n");
	for (int i = 0; i < n; i++) {
		snprintf(to, sizeof to, i == n - 1 ? "out" : "h%d", i + 1);
		gen_write_launch(em, &k[i], from, to, out);
		memcpy(from, to, sizeof from);
	}
	buf_adds(out, "        return out\n");
}

static const char *kind_words(enum gen_kernel_kind kind)
{
	static const char *const words[] = {
		[GEN_K_FLAT] = "one flat pass over the elements",
		[GEN_K_ROW] = "one program per row",
		[GEN_K_GEMM] = "tiled matrix product, the rest in its epilogue",
		[GEN_K_CONV] = "convolution per output tile, the rest in its epilogue",
		[GEN_K_POOL] = "one program per block of outputs",
		[GEN_K_SPACE] = "one program per image and channel",
		[GEN_K_CHANNEL] = "one program per normalised slice",
		[GEN_K_LOSS] = "one program that walks all elements",
	};

	return words[kind];
}

void gen_write_plan(const struct gen_emit *em, struct buf *out)
{
	struct gen_kernel k[GEN_STEPS];
	int n = gen_cut(em, k);

	for (int i = 0; i < n; i++) {
		buf_addf(out, "Kernel %d: ", i + 1);
		for (int s = k[i].first; s < k[i].end; s++)
			buf_addf(out, "%s%s", s > k[i].first ? ", " : "", gen_op(em->p->step[s].op)->name);
		buf_addf(out, "; %s.\n", kind_words(k[i].kind));
	}
}

int gen_emit(const struct gen_plan *p, struct gen_texts *t, struct err *e)
{
	struct gen_emit em;

	gen_emit_init(&em, p);
	for (int i = 0; i < p->n; i++)
		buf_addf(&t->ops, "%s%s", i ? "," : "", gen_op(p->step[i].op)->name);
	gen_write_task(&em, &t->task);
	gen_write_plan(&em, &t->plan);
	gen_write_solution(&em, &t->solution);
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
