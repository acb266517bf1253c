/* Works on the text of a solution: see share.h. A kernel is `@triton.jit`, a definition and its indented
 * lines; it is launched once, by a line of its own. */
#include "solve/share.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "solve/token.h"

/* Shorter kernels stay apart; so do those that would need more constants. */
enum { BODY_LEAST = 160, PARAMS = 160, CONSTANTS = 16 };

struct tokens { struct str *v; size_t n, cap; };

struct jit {
	struct str text, name;               /* the whole kernel; its name */
	struct str body;                     /* the lines after the definition */
	struct str param[PARAMS];            /* as written: "x_ptr", "BLOCK: tl.constexpr" */
	int n_params;
	struct tokens tokens;                /* of the body */
	int head;                            /* the kernel that it becomes; its own number: none */
	int partner[PARAMS];                 /* for each parameter of the head: the own one */
};

struct sharing {
	struct { struct jit *v; size_t n, cap; } jits;
	struct buf out;
	int failed;
};

/* --- reading ------------------------------------------------------------------------------------------ */

/* The word of a parameter, without its annotation. */
static struct str param_name(struct str p)
{
	return (struct str){ .p = p.p, .n = token_next(p) };
}

/* Splits at commas outside of brackets. Returns the number of parts, or -1 for too many. */
static int split(struct str s, struct str *part)
{
	int n = 0, depth = 0;
	size_t from = 0;

	for (size_t i = 0; i <= s.n; i++) {
		if (i < s.n && strchr("([{", s.p[i]))
			depth++;
		else if (i < s.n && strchr(")]}", s.p[i]))
			depth--;
		if (i < s.n && (s.p[i] != ',' || depth))
			continue;
		if (n == PARAMS)
			return -1;
		part[n] = str_trim((struct str){ .p = s.p + from, .n = i - from });
		n++;
		from = i + 1;
	}
	return n;
}

/* The end of a kernel that begins at s: the first line that is neither empty nor indented. */
static size_t kernel_end(struct str s)
{
	size_t at = strlen("@triton.jit\n"), end;

	do {
		const char *next = memchr(s.p + at, '\n', s.n - at);

		at = end = next ? (size_t)(next - s.p) + 1 : s.n;
		while (at < s.n && s.p[at] == '\n')
			at++;
	} while (at < s.n && s.p[at] == ' ');
	return end;
}

static int read_kernel(struct sharing *g, struct str text)
{
	static const char open[] = "@triton.jit\ndef ";
	struct jit k = { .text = text, .head = (int)g->jits.n };
	struct str rest = { .p = text.p + sizeof open - 1, .n = text.n - sizeof open + 1 }, params;
	ptrdiff_t close = str_find(rest, STR("):\n"));

	k.name.p = rest.p;
	k.name.n = token_next(rest);
	if (close < 0)
		return 0;
	params = (struct str){ .p = rest.p + k.name.n + 1, .n = (size_t)close - k.name.n - 1 };
	k.n_params = split(params, k.param);
	k.body = (struct str){ .p = rest.p + close + 3, .n = rest.n - (size_t)close - 3 };
	for (struct str s = k.body; s.n;) {
		struct str t = { .p = s.p, .n = token_next(s) };

		if (vec_push(&k.tokens, t))
			return -1;
		s = (struct str){ .p = s.p + t.n, .n = s.n - t.n };
	}
	return vec_push(&g->jits, k);
}

static int read_kernels(struct sharing *g, struct str s)
{
	int rc = 0;

	while (s.n && !rc) {
		const char *next = memchr(s.p, '\n', s.n);
		size_t n = next ? (size_t)(next - s.p) + 1 : s.n;

		if (str_starts(s, "@triton.jit\ndef ")) {
			n = kernel_end(s);
			rc = read_kernel(g, (struct str){ .p = s.p, .n = n });
		}
		s = (struct str){ .p = s.p + n, .n = s.n - n };
	}
	return rc;
}

/* --- comparing ------------------------------------------------------------------------------------------ */

static int find_param(const struct jit *k, struct str word)
{
	for (int i = 0; i < k->n_params; i++)
		if (str_eq(param_name(k->param[i]), word))
			return i;
	return -1;
}

static int is_number(struct str t)
{
	return isdigit((unsigned char)t.p[0]) != 0;
}

/* Whether kernel b has the statements of kernel a; b->partner pairs the parameters. */
static int is_alike(const struct jit *a, struct jit *b)
{
	int taken[PARAMS] = { 0 };

	if (a->tokens.n != b->tokens.n || a->n_params != b->n_params || a->n_params < 0)
		return 0;
	for (int i = 0; i < a->n_params; i++)
		b->partner[i] = -1;
	for (size_t i = 0; i < a->tokens.n; i++) {
		struct str x = a->tokens.v[i], y = b->tokens.v[i];
		int p = find_param(a, x), q = find_param(b, y);

		if ((p < 0) != (q < 0))
			return 0;
		if (p < 0 && !str_eq(x, y) && !(is_number(x) && is_number(y)))
			return 0;
		if (p < 0)
			continue;
		if (b->partner[p] < 0 && !taken[q]++)
			b->partner[p] = q;
		if (b->partner[p] != q)
			return 0;
	}
	for (int i = 0; i < a->n_params; i++) {
		int constant = memchr(a->param[i].p, ':', a->param[i].n) != NULL;

		if (b->partner[i] < 0 || (constant && !str_eq(a->param[i], b->param[b->partner[i]])) ||
		    constant != (memchr(b->param[b->partner[i]].p, ':', b->param[b->partner[i]].n) != NULL))
			return 0;
	}
	return 1;
}

/* Whether token i has the same text as token k in every kernel of the head. */
static int same_column(const struct sharing *g, int head, size_t i, size_t k)
{
	for (size_t n = 0; n < g->jits.n; n++)
		if (g->jits.v[n].head == head && !str_eq(g->jits.v[n].tokens.v[i], g->jits.v[n].tokens.v[k]))
			return 0;
	return 1;
}

/* The constant that token i of the kernels of a head is, or -1: it is the same in all, or no number. The
 * first tokens of the constants are in first[0 .. *n). */
static int constant_at(const struct sharing *g, int head, size_t i, size_t *first, int *n)
{
	int differs = 0;

	if (!is_number(g->jits.v[head].tokens.v[i]))
		return -1;
	for (size_t k = 0; k < g->jits.n; k++)
		differs |= g->jits.v[k].head == head && !str_eq(g->jits.v[k].tokens.v[i], g->jits.v[head].tokens.v[i]);
	if (!differs)
		return -1;
	for (int c = 0; c < *n; c++)
		if (same_column(g, head, i, first[c]))
			return c;
	if (*n < CONSTANTS)
		first[*n] = i;
	return (*n)++;
}

/* The first tokens of all constants of a head. Returns their number, which may be more than CONSTANTS. */
static int find_constants(const struct sharing *g, int head, size_t *first)
{
	int n = 0;

	for (size_t i = 0; i < g->jits.v[head].tokens.n && n <= CONSTANTS; i++)
		constant_at(g, head, i, first, &n);
	return n;
}

/* Each kernel joins the first one that is like it. */
static void group(struct sharing *g)
{
	size_t first[CONSTANTS];

	for (size_t i = 1; i < g->jits.n; i++)
		for (size_t k = 0; k < i && g->jits.v[i].head == (int)i; k++) {
			if (g->jits.v[k].head != (int)k || g->jits.v[i].body.n < BODY_LEAST ||
			    !is_alike(&g->jits.v[k], &g->jits.v[i]))
				continue;
			g->jits.v[i].head = (int)k;
			if (find_constants(g, (int)k, first) > CONSTANTS)
				g->jits.v[i].head = (int)i;
		}
}

static int is_shared(const struct sharing *g, int head)
{
	int n = 0;

	for (size_t i = 0; i < g->jits.n; i++)
		n += g->jits.v[i].head == head;
	return n > 1;
}

/* --- names of shared parameters ------------------------------------------------------------------------- */

/* The words that end the names of a parameter in all kernels of a head ("conv_weight" of
 * "layer1_conv_weight_ptr" and "layer2_conv_weight_ptr"), or begin them, or else "x". */
static struct str common_name(const struct sharing *g, int head, int p)
{
	const struct jit *h = &g->jits.v[head];
	struct str name = param_name(h->param[p]);
	size_t tail, lead;

	if (!str_ends(name, "_ptr"))
		return name;
	name.n -= 4;
	tail = lead = name.n;
	for (size_t i = 0; i < g->jits.n; i++) {
		const struct jit *k = &g->jits.v[i];
		struct str other;
		size_t n = 0;

		if (k->head != head || (int)i == head)
			continue;
		other = param_name(k->param[k->partner[p]]);
		other.n -= str_ends(other, "_ptr") ? 4 : 0;
		while (n < MIN(tail, other.n) && name.p[name.n - 1 - n] == other.p[other.n - 1 - n])
			n++;
		tail = n;
		for (n = 0; n < MIN(lead, other.n) && name.p[n] == other.p[n];)
			n++;
		lead = n;
	}
	if (lead == name.n && tail == name.n)
		return param_name(h->param[p]);
	while (tail && tail < name.n && name.p[name.n - tail - 1] != '_')
		tail--;
	while (tail && !isalpha((unsigned char)name.p[name.n - tail]))
		tail--;
	if (tail)
		return (struct str){ .p = name.p + name.n - tail, .n = tail };
	while (lead && !(name.p[lead] == '_' && isalpha((unsigned char)name.p[lead - 1])))
		lead--;
	return lead ? (struct str){ .p = name.p, .n = lead } : STR("x");
}

/* The name of a parameter in the shared kernel, unique in it. */
static void write_param(const struct sharing *g, int head, int p, struct buf *out)
{
	const struct jit *h = &g->jits.v[head];
	struct str name = common_name(g, head, p), own = param_name(h->param[p]);
	int same = 0;

	buf_addstr(out, name);
	if (!str_ends(own, "_ptr") || str_eq(name, own))
		return;
	for (int i = 0; i < h->n_params; i++) {
		struct str other = common_name(g, head, i), whole = param_name(h->param[i]);

		/* a parameter that keeps its whole name, such as "x_ptr" of an input x, has it already */
		if (i < p || str_eq(other, whole)) {
			other.n -= str_eq(other, whole) && str_ends(other, "_ptr") ? 4 : 0;
			same += str_eq(other, name);
		}
	}
	if (same)
		buf_addf(out, "_%d", same + 1);
	buf_adds(out, "_ptr");
}

/* --- writing --------------------------------------------------------------------------------------------- */

/* The kernel of a head: constants before the other ones, numbers by their names. */
static void write_kernel(struct sharing *g, int head)
{
	const struct jit *h = &g->jits.v[head];
	size_t first[CONSTANTS];
	int n = find_constants(g, head, first), all = n;

	buf_addf(&g->out, "@triton.jit\ndef %.*s(", STR_ARG(h->name));
	for (int i = 0; i < h->n_params; i++) {
		struct str own = param_name(h->param[i]);

		buf_adds(&g->out, i ? ", " : "");
		write_param(g, head, i, &g->out);
		buf_add(&g->out, own.p + own.n, h->param[i].n - own.n);
	}
	for (int c = 0; c < n; c++)
		buf_addf(&g->out, ", N%d: tl.constexpr", c);
	buf_adds(&g->out, "):\n");
	for (size_t i = 0; i < h->tokens.n; i++) {
		struct str t = h->tokens.v[i];
		int p = find_param(h, t), c = p < 0 ? constant_at(g, head, i, first, &all) : -1;

		if (p >= 0)
			write_param(g, head, p, &g->out);
		else if (c >= 0)
			buf_addf(&g->out, "N%d", c);
		else
			buf_addstr(&g->out, t);
	}
}

/* The launch of a kernel at s, "NAME[grid](args)", as one of its head. Returns its length. */
static size_t write_launch(struct sharing *g, const struct jit *k, struct str s)
{
	const struct jit *h = &g->jits.v[k->head];
	const char *line = memchr(s.p, '\n', s.n);
	struct str all = { .p = s.p, .n = line ? (size_t)(line - s.p) : s.n }, args, arg[PARAMS];
	ptrdiff_t open = str_find(all, STR("]("));
	size_t first[CONSTANTS], skip;
	int n, c;

	if (open < 0 || all.p[all.n - 1] != ')') {
		g->failed = 1;
		return all.n;
	}
	skip = k->name.n;
	args = (struct str){ .p = all.p + open + 2, .n = all.n - (size_t)open - 3 };
	n = split(args, arg);
	if (n != k->n_params) {
		g->failed = 1;
		return all.n;
	}
	buf_addstr(&g->out, h->name);
	buf_add(&g->out, all.p + skip, (size_t)open + 2 - skip);
	for (int i = 0; i < n; i++) {
		buf_adds(&g->out, i ? ", " : "");
		buf_addstr(&g->out, arg[k == h ? i : k->partner[i]]);
	}
	c = find_constants(g, k->head, first);
	for (int i = 0; i < c; i++)
		buf_addf(&g->out, ", N%d=%.*s", i, STR_ARG(k->tokens.v[first[i]]));
	buf_addc(&g->out, ')');
	return all.n;
}

/* The kernel that is launched at s, or NULL. */
static const struct jit *launched(const struct sharing *g, struct str s)
{
	size_t n = token_next(s);

	for (size_t i = 0; i < g->jits.n && n < s.n && s.p[n] == '['; i++)
		if (str_eq(g->jits.v[i].name, (struct str){ .p = s.p, .n = n }))
			return &g->jits.v[i];
	return NULL;
}

/* Copies the solution line by line. */
static void write_all(struct sharing *g, struct str s)
{
	size_t next = 0;

	while (s.n && !g->failed) {
		const char *line = memchr(s.p, '\n', s.n);
		size_t n = line ? (size_t)(line - s.p) + 1 : s.n, in = 0;
		const struct jit *k;

		while (in < n && s.p[in] == ' ')
			in++;
		k = in ? launched(g, (struct str){ .p = s.p + in, .n = s.n - in }) : NULL;
		if (next < g->jits.n && s.p == g->jits.v[next].text.p) {
			int head = g->jits.v[next].head;

			n = g->jits.v[next].text.n;
			if (head != (int)next)
				while (n < s.n && s.p[n] == '\n')
					n++;
			else if (is_shared(g, head))
				write_kernel(g, head);
			else
				buf_add(&g->out, s.p, n);
			next++;
		} else if (k && is_shared(g, k->head)) {
			buf_add(&g->out, s.p, in);
			n = in + write_launch(g, k, (struct str){ .p = s.p + in, .n = s.n - in });
		} else {
			buf_add(&g->out, s.p, n);
		}
		s = (struct str){ .p = s.p + n, .n = s.n - n };
	}
}

int share_kernels(struct buf *solution, int *kernels, struct err *e)
{
	struct sharing g = { .out = BUF_INIT };
	int rc = read_kernels(&g, buf_str(solution)) ? err_nomem(e) : 0, left = 0;

	if (!rc) {
		group(&g);
		for (size_t i = 0; i < g.jits.n; i++)
			left += g.jits.v[i].head == (int)i;
		if (left < (int)g.jits.n)
			write_all(&g, buf_str(solution));
		rc = buf_check(&g.out, e);
	}
	if (!rc && g.out.n && !g.failed) {
		buf_clear(solution);
		buf_addstr(solution, buf_str(&g.out));
		*kernels = left;
		rc = buf_check(solution, e);
	}
	for (size_t i = 0; i < g.jits.n; i++)
		vec_free(&g.jits.v[i].tokens);
	vec_free(&g.jits);
	buf_release(&g.out);
	return rc ? -1 : 0;
}
