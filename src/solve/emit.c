/* One kernel as a Triton function: see emit.h. */
#include "solve/emit_impl.h"

#include <stdio.h>

static int (*const emitters[])(struct emitter *pr) = {
	[SCHED_FLAT] = emit_flat, [SCHED_ROWS] = emit_rows, [SCHED_DOT] = emit_dot,
};

/* The parameter list is known once the body is printed. */
static void write_function(struct emitter *pr, struct buf *out)
{
	struct emitted *to = pr->to;
	const char *c = to->consts;

	buf_addf(out, "@triton.jit\ndef %s(", to->fn);
	for (int i = 0; i < to->n_args; i++)
		buf_addf(out, "%s%s_ptr", i ? ", " : "", emit_value_name(pr->cut, to->arg[i]));
	while ((c = strchr(c, ','))) {
		size_t n = strcspn(c + 2, "=");

		if (strncmp(c + 2, "num_", 4))
			buf_addf(out, ", %.*s: tl.constexpr", (int)n, c + 2);
		c += 2;
	}
	buf_adds(out, "):\n");
	buf_addstr(out, buf_str(&pr->out));
}

int emit_kernel(struct cut *p, const struct kernel *k, const struct sched *s, struct buf *out, struct emitted *to)
{
	struct emitter pr = { .cut = p, .k = k, .s = *s, .g = p->g, .p = p->g->pool, .a = &p->g->pool->arena, .to = to,
			      .indent = 4 };
	jmp_buf here, *outer = pr.a->trap;
	int rc;

	*to = (struct emitted){ .n_args = 0 };
	snprintf(to->fn, sizeof to->fn, "%.70s_kernel", k->name);
	pr.var[GRAPH_INSTANCE] = "tl.program_id(0)";
	pr.a->trap = &here;
	rc = setjmp(here) ? 1 : emitters[s->kind](&pr);
	pr.a->trap = outer;
	if (!rc)
		write_function(&pr, out);
	for (size_t i = 0; i < COUNT_OF(pr.level); i++)
		buf_release(&pr.level[i]);
	buf_release(&pr.out);
	vec_free(&pr.names);
	vec_free(&pr.counts);
	return rc;
}
