/* Numbers of several solutions as functions of the sizes: see any_size.h. */
#include "solve/any_size.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "solve/token.h"

enum { KERNELS = 512, PARAMS = 24, CODE = 160 };

/* A kernel's numbers that depend on the sizes, as code for its launches. */
struct sized_kernel {
	struct str name;
	char code[PARAMS][CODE];
	int n;
};

struct size_join {
	const struct size_vars *vars;
	struct str rest[SIZE_SAMPLES];     /* the unread rest of each text */
	int n;
	struct sized_kernel *kernel;       /* [KERNELS] */
	int n_kernels, current;            /* the kernel whose body is read, or -1 */
	struct buf text;
};

/* The integers that a power of the tokens is. Returns 1 if it is none. */
static int integers(const struct str *x, int n, double power, int64_t *y)
{
	char text[64];

	for (int s = 0; s < n; s++) {
		double u;

		if (x[s].n >= sizeof text)
			return 1;
		snprintf(text, sizeof text, "%.*s", STR_ARG(x[s]));
		u = strtod(text, NULL);
		u = pow(u, power);
		if (!(fabs(u) < 1e15) || fabs(u - round(u)) > 1e-9 * fabs(u))
			return 1;
		y[s] = (int64_t)llround(u);
	}
	return 0;
}

/* A number as code: a product of sizes, its inverse, or its root. Returns 1 if it is none. */
static int express(const struct size_join *g, const struct str *x, char *code)
{
	int64_t y[SIZE_SAMPLES];
	static const struct { double power; const char *text; } powers[] = {
		{ 1.0, "%s" }, { -1.0, "1.0 / (%s)" }, { 2.0, "(%s) ** 0.5" }, { -2.0, "(%s) ** -0.5" },
	};
	char inside[CODE - 16];

	for (size_t i = 0; i < COUNT_OF(powers); i++)
		if (!integers(x, g->n, powers[i].power, y) && (!size_fit(g->vars, y, inside, sizeof inside) ||
							       !size_fit_less(g->vars, y, inside, sizeof inside))) {
			snprintf(code, CODE, powers[i].text, inside);
			return 0;
		}
	return 1;
}

/* Writes a number that differs: an expression in host code, a parameter in a kernel. */
static int differ(struct size_join *g, const struct str *x)
{
	struct sized_kernel *k = g->current >= 0 ? &g->kernel[g->current] : NULL;
	char code[CODE];
	int i;

	for (int s = 0; s < g->n; s++)
		if (!isdigit((unsigned char)x[s].p[0]))
			return 1;
	if (express(g, x, code))
		return 1;
	if (!k) {
		buf_adds(&g->text, code);
		return 0;
	}
	for (i = 0; i < k->n && strcmp(k->code[i], code); i++)
		;
	if (i == PARAMS)
		return 1;
	if (i == k->n)
		memcpy(k->code[k->n++], code, CODE);
	buf_addf(&g->text, "size%d", i);
	return 0;
}

/* Follows which kernel's body the text is in: a definition begins one, a class ends it. */
static void follow(struct size_join *g, struct str rest)
{
	if (str_starts(rest, "\n@triton.jit\ndef ") && g->n_kernels < KERNELS) {
		struct str name = { .p = rest.p + 17, .n = 0 };

		while (name.n + 17 < rest.n && token_is_word(name.p[name.n]))
			name.n++;
		g->current = g->n_kernels++;
		g->kernel[g->current].name = name;
	} else if (g->current >= 0 && str_starts(rest, "\ndef ") && rest.n > 5 + g->kernel[g->current].name.n &&
		   !memcmp(rest.p + 5, g->kernel[g->current].name.p, g->kernel[g->current].name.n)) {
		return;                            /* the definition that follows the decorator */
	} else if (str_starts(rest, "\nclass ") || str_starts(rest, "\ndef ") || str_starts(rest, "\nimport ")) {
		g->current = -1;
	}
}

/* All texts token by token. */
static int join_texts(struct size_join *g)
{
	while (g->rest[0].n) {
		struct str x[SIZE_SAMPLES];
		int same = 1;

		for (int s = 0; s < g->n; s++) {
			if (!g->rest[s].n)
				return 1;
			x[s] = (struct str){ .p = g->rest[s].p, .n = token_next(g->rest[s]) };
			same &= str_eq(x[0], x[s]);
		}
		follow(g, g->rest[0]);
		if (same)
			buf_addstr(&g->text, x[0]);
		else if (differ(g, x))
			return 1;
		for (int s = 0; s < g->n; s++)
			g->rest[s] = (struct str){ .p = x[s].p + x[s].n, .n = g->rest[s].n - x[s].n };
	}
	for (int s = 0; s < g->n; s++)
		if (g->rest[s].n)
			return 1;
	return 0;
}

/* The kernel whose definition or launch begins at s; *launch tells which. */
static const struct sized_kernel *kernel_at(const struct size_join *g, struct str s, int *launch)
{
	for (int i = 0; i < g->n_kernels; i++) {
		const struct sized_kernel *k = &g->kernel[i];

		if (!k->n || s.n <= k->name.n || memcmp(s.p, k->name.p, k->name.n))
			continue;
		*launch = s.p[k->name.n] == '[';
		if (*launch || s.p[k->name.n] == '(')
			return k;
	}
	return NULL;
}

/* Whether a constant of the launch begins at s: BLOCK: tl.constexpr, BLOCK=64. */
static int is_constant(const char *s)
{
	while (token_is_word(*s))
		s++;
	return *s == ':' || (*s == '=' && s[1] != '=');
}

/* Copies a definition or launch up to its constants, and adds the sizes before them. */
static struct str add_sizes(const struct sized_kernel *k, int launch, struct str s, struct buf *out)
{
	const char *end = s.p + s.n, *grid = launch ? strstr(s.p, "](") : NULL;
	const char *open = grid ? grid + 1 : memchr(s.p, '(', s.n), *at;
	int depth = 0;

	for (at = open ? open + 1 : end; at < end && (*at != ')' || depth); at++) {
		depth += *at == '(' || *at == '[';
		depth -= *at == ')' || *at == ']';
		if (!depth && *at == ',' && is_constant(at + 2))
			break;
	}
	buf_add(out, s.p, (size_t)(at - s.p));
	for (int i = 0; i < k->n; i++) {
		if (launch)
			buf_addf(out, ", %s", k->code[i]);
		else
			buf_addf(out, ", size%d: tl.constexpr", i);
	}
	return (struct str){ .p = at, .n = s.n - (size_t)(at - s.p) };
}

static void add_parameters(struct size_join *g, struct buf *out)
{
	struct str s = buf_str(&g->text);

	while (s.n) {
		int launch, first = s.p == g->text.p || !token_is_word(s.p[-1]);
		const struct sized_kernel *k = first && token_is_word(*s.p) ? kernel_at(g, s, &launch) : NULL;

		if (k) {
			s = add_sizes(k, launch, s, out);
		} else {
			buf_addc(out, *s.p);
			s = (struct str){ .p = s.p + 1, .n = s.n - 1 };
		}
	}
}

int any_size_make(const struct size_vars *v, const struct str *texts, struct buf *out, struct err *e)
{
	struct size_join g = { .vars = v, .n = size_samples(v), .current = -1, .text = BUF_INIT };
	int rc;

	g.kernel = mem_array(KERNELS, sizeof *g.kernel);
	if (!g.kernel)
		return err_nomem(e);
	memcpy(g.rest, texts, (size_t)g.n * sizeof *texts);
	rc = join_texts(&g);
	if (!rc)
		add_parameters(&g, out);
	rc = rc ? 1 : buf_check(&g.text, e) || buf_check(out, e) ? -1 : 0;
	buf_release(&g.text);
	mem_free(g.kernel);
	return rc;
}
