/* Numbers of two solutions as functions of the batch size: see any_batch.h. */
#include "solve/any_batch.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

enum { KERNELS = 256, PARAMS = 16, CODE = 96 };

/* A kernel's numbers that depend on the batch size, as code for its launches. */
struct sized_kernel {
	struct str name;
	char code[PARAMS][CODE];
	int n;
};

struct batch_join {
	const struct batch_text *a, *b;
	const char *size;
	struct sized_kernel *kernel;       /* [KERNELS] */
	int n_kernels, current;            /* the kernel whose body is read, or -1 */
	struct buf text;
};

static int is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* The length of the token at s: a number, a word, or one character. */
static size_t token(struct str s)
{
	size_t n = 1;

	if (isdigit((unsigned char)s.p[0]))
		while (n < s.n && (isalnum((unsigned char)s.p[n]) || s.p[n] == '.' ||
				   ((s.p[n] == '-' || s.p[n] == '+') && s.p[n - 1] == 'e')))
			n++;
	else if (is_word(s.p[0]))
		while (n < s.n && is_word(s.p[n]))
			n++;
	return n;
}

/* A number as code: linear in the batch size, or the inverse of that. Returns 1 if it is neither. */
static int express(const struct batch_join *g, struct str x, struct str y, char *code)
{
	double u, v, d = (double)(g->a->batch - g->b->batch), a, c;
	char one[64], two[64];

	if (x.n >= sizeof one || y.n >= sizeof two)
		return 1;
	snprintf(one, sizeof one, "%.*s", STR_ARG(x));
	snprintf(two, sizeof two, "%.*s", STR_ARG(y));
	u = strtod(one, NULL);
	v = strtod(two, NULL);
	a = (u - v) / d;
	c = u - a * (double)g->a->batch;
	if (a == floor(a) && c == floor(c)) {
		int n = a == 1.0 ? snprintf(code, CODE, "%s", g->size) : snprintf(code, CODE, "%s * %.0f", g->size, a);

		if (c != 0.0)
			snprintf(code + n, CODE - (size_t)n, " %s %.0f", c < 0 ? "-" : "+", fabs(c));
		return 0;
	}
	if (u == 0.0 || v == 0.0)
		return 1;
	a = (1.0 / u - 1.0 / v) / d;
	c = 1.0 / u - a * (double)g->a->batch;
	if (fabs(a - round(a)) > 1e-6 || fabs(c - round(c)) > 1e-6)
		return 1;
	snprintf(code, CODE, "1.0 / (%s * %.0f + %.0f)", g->size, a, c + 0.0);
	return 0;
}

/* Writes a number that differs: an expression in host code, a parameter in a kernel. */
static int differ(struct batch_join *g, struct str x, struct str y)
{
	struct sized_kernel *k = g->current >= 0 ? &g->kernel[g->current] : NULL;
	char code[CODE];
	int i;

	if (!isdigit((unsigned char)x.p[0]) || !isdigit((unsigned char)y.p[0]) || express(g, x, y, code))
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
static void follow(struct batch_join *g, struct str rest)
{
	if (str_starts(rest, "\n@triton.jit\ndef ") && g->n_kernels < KERNELS) {
		struct str name = { .p = rest.p + 17, .n = 0 };

		while (name.n + 17 < rest.n && is_word(name.p[name.n]))
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

/* Both texts token by token. */
static int join_texts(struct batch_join *g)
{
	struct str a = g->a->text, b = g->b->text;

	while (a.n && b.n) {
		size_t n = token(a), m = token(b);
		struct str x = { .p = a.p, .n = n }, y = { .p = b.p, .n = m };

		follow(g, a);
		if (str_eq(x, y))
			buf_addstr(&g->text, x);
		else if (differ(g, x, y))
			return 1;
		a = (struct str){ .p = a.p + n, .n = a.n - n };
		b = (struct str){ .p = b.p + m, .n = b.n - m };
	}
	return a.n || b.n;
}

/* The kernel whose definition or launch begins at s; *launch tells which. */
static const struct sized_kernel *kernel_at(const struct batch_join *g, struct str s, int *launch)
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

/* Copies a definition or launch up to its constants, and adds the sizes before them. */
static struct str add_sizes(const struct sized_kernel *k, int launch, struct str s, struct buf *out)
{
	const char *open = memchr(s.p, '(', s.n), *at;

	if (launch) {
		const char *grid = strstr(s.p, "](");

		open = grid ? grid + 1 : open;
	}
	at = open ? open + 1 : s.p;
	while (at < s.p + s.n && *at != ')' && !(isupper((unsigned char)*at) && at[-1] == ' '))
		at++;
	if (*at != ')')
		at -= 2;
	buf_add(out, s.p, (size_t)(at - s.p));
	for (int i = 0; i < k->n; i++) {
		if (launch)
			buf_addf(out, ", %s", k->code[i]);
		else
			buf_addf(out, ", size%d", i);
	}
	return (struct str){ .p = at, .n = s.n - (size_t)(at - s.p) };
}

static void add_parameters(struct batch_join *g, struct buf *out)
{
	struct str s = buf_str(&g->text);

	while (s.n) {
		int launch, first = s.p == g->text.p || !is_word(s.p[-1]);
		const struct sized_kernel *k = first && is_word(*s.p) ? kernel_at(g, s, &launch) : NULL;

		if (k) {
			s = add_sizes(k, launch, s, out);
		} else {
			buf_addc(out, *s.p);
			s = (struct str){ .p = s.p + 1, .n = s.n - 1 };
		}
	}
}

int any_batch_make(const struct batch_text *a, const struct batch_text *b, const char *size, struct buf *out,
		 struct err *e)
{
	struct batch_join g = { .a = a, .b = b, .size = size, .current = -1, .text = BUF_INIT };
	int rc;

	g.kernel = mem_array(KERNELS, sizeof *g.kernel);
	if (!g.kernel)
		return err_nomem(e);
	rc = join_texts(&g);
	if (!rc)
		add_parameters(&g, out);
	rc = rc ? 1 : buf_check(&g.text, e) || buf_check(out, e) ? -1 : 0;
	buf_release(&g.text);
	mem_free(g.kernel);
	return rc;
}
