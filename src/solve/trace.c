/* Recording a module's operators: see trace.h. */
#include "solve/trace.h"

#include <stdio.h>
#include <string.h>

#include "interp/bind.h"

void trace_release(struct trace *t)
{
	for (size_t i = 0; i < t->memory.n; i++)
		tensor_release(&(struct tensor){ .st = t->memory.v[i].st });
	vec_free(&t->memory);
	vec_free(&t->results);
	vec_free(&t->g.values);
}

/* "add" of "torch.Tensor.__iadd__", "relu" of "torch.relu_". */
static const char *short_name(struct trace *t, const char *full, int *reflected)
{
	const char *dot = strrchr(full, '.'), *s = dot ? dot + 1 : full;
	size_t n = strlen(s);
	static const char *const reflecting[] = { "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul",
						  "and", "or", "xor" };

	*reflected = 0;
	if (n > 4 && !strncmp(s, "__", 2) && !strncmp(s + n - 2, "__", 2)) {
		s += 2;
		n -= 4;
		for (size_t i = 0; i < COUNT_OF(reflecting); i++)
			if (n == strlen(reflecting[i]) + 1 && !strncmp(s + 1, reflecting[i], n - 1) &&
			    (*s == 'r' || *s == 'i')) {
				*reflected = *s == 'r';
				return arena_strndup(&t->g.pool->arena, s + 1, n - 1);
			}
	} else if (n > 1 && s[n - 1] == '_') {
		n--;
	}
	return arena_strndup(&t->g.pool->arena, s, n);
}

/* Whether every tensor of a result is memory that is known already: then the call was a view. */
static int is_known(struct trace *t, struct val out)
{
	if (out.kind == V_TENSOR)
		return trace_find(t, out.u.t->t.st) != NULL;
	if (out.kind != V_TUPLE && out.kind != V_LIST)
		return 1;
	for (size_t i = 0; i < out.u.seq->n; i++)
		if (!is_known(t, out.u.seq->v[i]))
			return 0;
	return 1;
}

/* Whether a call writes memory that exists: by its kind, or by inplace=True. */
static int writes(const struct host_op_call *c)
{
	return c->kind & BIND_INPLACE || (c->kind & BIND_COMPUTE && c->out.kind == V_TENSOR && c->n &&
					  c->a[0].kind == V_TENSOR && c->out.u.t == c->a[0].u.t);
}

static void stop(struct trace *t, const char *op, const char *why)
{
	const char *own = strstr(op, "._");     /* torch.linalg._qr is behind torch.linalg.qr */

	if (own && own[2] != '_')
		snprintf(t->stopped, sizeof t->stopped, "%.*s.%s", (int)(own - op), op, own + 2);
	else
		snprintf(t->stopped, sizeof t->stopped, "%s", op);
	snprintf(t->why, sizeof t->why, "%s", why);
}

/* Whether an operand has no elements: no position in it can be found by division. */
static int reads_nothing(const struct host_op_call *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->a[i].kind == V_TENSOR && !tensor_numel(&c->a[i].u.t->t))
			return 1;
	return 0;
}

/* Whether a result has elements. */
static int makes_something(struct val out)
{
	if (out.kind == V_TENSOR)
		return tensor_numel(&out.u.t->t) != 0;
	if (out.kind != V_TUPLE && out.kind != V_LIST)
		return 1;
	for (size_t i = 0; i < out.u.seq->n; i++)
		if (makes_something(out.u.seq->v[i]))
			return 1;
	return 0;
}

/* The interpreter is on the stack, so a lowering that gives up returns here. */
void trace_call(void *ctx, const struct host_op_call *c)
{
	struct trace *t = ctx;
	struct lower l = { .t = t, .g = &t->g, .p = t->g.pool, .c = c };

	jmp_buf here, *outer = t->g.pool->arena.trap;

	if (t->stopped[0])
		return;
	if (is_known(t, c->out) && !writes(c))
		return;
	t->ops++;
	t->g.pool->arena.trap = &here;
	if (setjmp(here))
		stop(t, c->name, "its expression is too large");
	else if (l.name = short_name(t, c->name, &l.reflected), !makes_something(c->out))
		lower_nothing(&l, c->out);
	else if (reads_nothing(c) && !lower_takes_nothing(&l))
		stop(t, c->name, "a tensor has no elements");
	else if (lower_call(&l))
		stop(t, c->name, l.why ? l.why : "the operator is not supported");
	t->g.pool->arena.trap = outer;
}
