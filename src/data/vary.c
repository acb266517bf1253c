/* Variants of modules: see vary.h. The text is changed token by token: a name, a number, a string with its
 * quotes, a comment, or another character. This needs no tree, because a variant that lost its meaning
 * is drawn again. */
#include "data/vary.h"

#include <stdio.h>

#include "data/vary_step.h"

enum { NUMBERS = 12 };

/* --- numbers and operators ------------------------------------------------------------------------ */

/* Another size: small ones mostly, as in modules that people publish with their tests. A size that replaces
 * another one everywhere is often a size of every dimension, so it stays small. */
static int64_t draw_size(struct rng *rng, int everywhere)
{
	static const int64_t sizes[] = { 2, 2, 3, 3, 4, 5, 6, 7, 8, 8, 9, 10, 12, 16, 16, 20, 24, 32, 32,
					 40, 48, 64, 64, 100, 128, 1, 256, 384, 512, 1000, 1024 };

	return sizes[rng_below(rng, everywhere ? 19 : COUNT_OF(sizes))];
}

/* Sizes of get_inputs and get_init_inputs: a number is replaced everywhere, or at its place in the shapes
 * only (the batch, the last dimension). */
struct sizes {
	int64_t from[NUMBERS], to[NUMBERS];
	int n;
	int place;               /* this place of a shape, from 0; -1: everywhere */
	int64_t at_place;
	int apart;               /* each number of get_inputs is drawn by itself */
};

static void draw_sizes(const struct vary_tokens *t, struct sizes *s, struct rng *rng)
{
	*s = (struct sizes){ .place = (int)rng_below(rng, 6) - 2, .at_place = draw_size(rng, 0) };
	if (rng_below(rng, 3) == 0)
		s->place = -1, s->at_place = 0;
	s->apart = rng_below(rng, 6) == 0;
	for (size_t i = 0; i < t->n && s->n < NUMBERS; i++) {
		int64_t v;
		int known = t->v[i].kind != '0' || str_to_i64(t->v[i].text, &v) || v < 2;

		for (int k = 0; k < s->n && !known; k++)
			known = s->from[k] == v;
		if (!known && s->place < 0 && rng_below(rng, 2)) {
			s->from[s->n] = v;
			s->to[s->n++] = draw_size(rng, 1);
		}
	}
}

static int64_t sized(const struct sizes *s, int64_t v)
{
	for (int k = 0; k < s->n; k++)
		if (s->from[k] == v)
			return s->to[k];
	return v;
}

/* Groups of names that can replace each other. */
static const char *const swaps[][10] = {
	{ "ReLU", "LeakyReLU", "GELU", "SiLU", "ELU", "Sigmoid", "Tanh", "Softplus", "Hardswish", "ReLU6" },
	{ "relu", "leaky_relu", "gelu", "silu", "elu", "sigmoid", "tanh", "softplus", "mish", "relu6" },
	{ "sum", "mean", "amax" }, { "sin", "cos" }, { "exp", "tanh", "sigmoid" }, { "max", "min" },
	{ "softmax", "log_softmax" }, { "Softmax", "LogSoftmax" }, { "sqrt", "square", "log1p" }, { "std", "var" },
	{ "mse_loss", "l1_loss", "smooth_l1_loss" }, { "MSELoss", "L1Loss", "SmoothL1Loss" },
	{ "AdaptiveAvgPool2d", "AdaptiveMaxPool2d" }, { "AvgPool1d", "MaxPool1d" },
	{ "MaxPool2d", "AvgPool2d" }, { "max_pool2d", "avg_pool2d" },
	{ "BatchNorm2d", "InstanceNorm2d" }, { "amax", "amin" }, { "abs", "square" },
};

static const char *swapped(struct str word, struct rng *rng)
{
	for (size_t g = 0; g < COUNT_OF(swaps); g++)
		for (size_t i = 0; i < COUNT_OF(swaps[g]) && swaps[g][i]; i++) {
			size_t n = 0;

			if (!str_is(word, swaps[g][i]))
				continue;
			while (n < COUNT_OF(swaps[g]) && swaps[g][n])
				n++;
			return swaps[g][rng_below(rng, n)];
		}
	return NULL;
}

/* A sign between two values; a factor before a name is part of a star expression and has no blanks. */
static int is_sign(const struct vary_tokens *t, size_t i)
{
	char k = t->v[i].kind;

	return (k == '+' || k == '-' || k == '*') && i && t->v[i - 1].kind == ' ' && vary_kind(t, i + 1) == ' ';
}

/* Writes a number of a constructor or of forward with another value near it. */
static void write_near(struct buf *out, struct str text, struct rng *rng)
{
	static const char *const fractions[] = { "0.1", "0.2", "0.01", "0.5", "0.25", "0.001", "1e-05", "1e-06", "0.9",
						 "0.05", "1.5", "0.3" };
	int64_t v;

	if (!str_to_i64(text, &v) && v < 16)
		buf_addf(out, "%lld", (long long)MAX(v + rng_between(rng, -2, 2), 0));
	else if (memchr(text.p, '.', text.n))
		buf_adds(out, fractions[rng_below(rng, COUNT_OF(fractions))]);
	else
		buf_addstr(out, text);
}

/* --- one variant ------------------------------------------------------------------------------------ */

/* How a module is changed. */
struct change {
	struct vary_renames names;
	struct sizes sizes;
	double near, swap;       /* shares of numbers and operators that are changed */
	int no_strings, no_imports;
};

/* The surroundings of a token. */
struct place {
	int in_inputs;           /* in get_inputs or get_init_inputs */
	int depth, element;      /* brackets; elements of the innermost one before this token */
};

static void follow(struct place *p, const struct vary_tokens *t, size_t i)
{
	char k = t->v[i].kind;

	if (vary_token_is(t, i, "def") || vary_token_is(t, i, "class"))
		p->in_inputs = vary_token_is(t, i + 2, "get_inputs") || vary_token_is(t, i + 2, "get_init_inputs");
	if (k == '(' || k == '[')
		p->depth++, p->element = 0;
	else if (k == ')' || k == ']')
		p->depth--;
	else if (k == ',')
		p->element++;
}

static void write_number(const struct change *c, const struct place *p, struct str text, struct buf *out,
			 struct rng *rng)
{
	int64_t v;

	if (!p->in_inputs && rng_f64(rng) < c->near) {
		write_near(out, text, rng);
	} else if (p->in_inputs && !str_to_i64(text, &v)) {
		if (c->sizes.apart && p->depth >= 2 && v > 1)
			v = draw_size(rng, 0);
		else if (c->sizes.place >= 0 && p->depth >= 2 && p->element == c->sizes.place)
			v = c->sizes.at_place;
		buf_addf(out, "%lld", (long long)sized(&c->sizes, v));
	} else {
		buf_addstr(out, text);
	}
}

static void write_token(const struct change *c, const struct vary_tokens *t, size_t i, const struct place *p,
			struct buf *out, struct rng *rng)
{
	const struct vary_token *k = &t->v[i];
	const char *other = vary_name_of(&c->names, t, i);

	if (other)
		buf_adds(out, other);
	else if (k->kind == '0')
		write_number(c, p, k->text, out, rng);
	else if (is_sign(t, i) && !p->in_inputs && rng_f64(rng) < c->swap)
		buf_addc(out, "+-*"[rng_below(rng, 3)]);
	else if (k->kind == 'n' && rng_f64(rng) < c->swap && (other = swapped(k->text, rng)) != NULL)
		buf_adds(out, other);
	else
		buf_addstr(out, k->text);
}

/* The token after the rest of this line. */
static size_t line_end(const struct vary_tokens *t, size_t i)
{
	while (i < t->n && t->v[i].kind != '\n')
		i++;
	return i + (i < t->n);
}

static void write_variant(const struct change *c, const struct vary_tokens *t, struct buf *out, struct rng *rng)
{
	struct place p = { .in_inputs = 0 };

	for (size_t i = 0; i < t->n; i++) {
		if (c->no_imports && vary_token_is(t, i, "import") && vary_begins_line(t, i) && rng_below(rng, 2)) {
			i = line_end(t, i) - 1;
			continue;
		}
		if (c->no_strings && vary_is_docstring(t, i)) {
			i++;
			while (out->n && out->p[out->n - 1] == ' ')
				out->n--;
			continue;
		}
		follow(&p, t, i);
		write_token(c, t, i, &p, out, rng);
	}
}

/* How many names, steps and signs change is drawn for each variant, so that some stay near the module as it was
 * written and others share little with it. */
static int change_module(const struct vary *x, struct str source, struct buf *out, struct rng *rng)
{
	static const double names[] = { 0.0, 0.3, 0.9, 0.9, 1.0 }, adds[] = { 0.0, 0.0, 0.15, 0.3, 0.6 };
	struct buf stepped = BUF_INIT;
	struct change c = { .no_strings = rng_below(rng, 3) == 0, .no_imports = rng_below(rng, 2) == 0,
			    .near = rng_below(rng, 3) ? 0.0 : 0.2, .swap = rng_below(rng, 3) ? 0.0 : 0.5 };
	struct vary_tokens t = { .v = NULL };
	double add = adds[rng_below(rng, COUNT_OF(adds))];
	int rc;

	vary_steps(source, add, add * 0.3, &stepped, rng);
	rc = stepped.failed ? -1 : vary_tokens_split(buf_str(&stepped), &t);
	if (!rc) {
		vary_names_draw(&x->words, &t, names[rng_below(rng, COUNT_OF(names))], &c.names, rng);
		if (rng_below(rng, 4))
			draw_sizes(&t, &c.sizes, rng);
		write_variant(&c, &t, out, rng);
	}
	vec_free(&t);
	buf_release(&stepped);
	return rc;
}

/* --- joined modules ----------------------------------------------------------------------------------- */

/* A module in three parts: the text before get_inputs, the list of inputs, the list of arguments. */
struct parts { struct str body, inputs, arguments; };

/* "[4, 4]" of "def NAME():\n    return [4, 4]\n"; empty if the function has another form. */
static struct str returned(struct str source, const char *head)
{
	ptrdiff_t at = str_find(source, str_of(head));
	struct str rest, none = { .p = NULL };
	size_t n = 0;

	if (at < 0)
		return none;
	rest = (struct str){ .p = source.p + at + strlen(head), .n = source.n - (size_t)at - strlen(head) };
	while (n < rest.n && rest.p[n] != '\n')
		n++;
	if (n < 2 || rest.p[0] != '[' || rest.p[n - 1] != ']')
		return none;
	return (struct str){ .p = rest.p + 1, .n = n - 2 };
}

static int split_parts(struct str source, struct parts *p)
{
	ptrdiff_t at = str_find(source, STR("def get_inputs():"));

	p->inputs = returned(source, "def get_inputs():\n    return ");
	p->arguments = returned(source, "def get_init_inputs():\n    return ");
	if (at < 0 || !p->inputs.p || !p->arguments.p || (p->arguments.n && p->arguments.p[0] == '['))
		return 1;
	p->body = (struct str){ .p = source.p, .n = (size_t)at };
	return 0;
}

/* The text of a module with its class Model called otherwise. */
static void add_body(struct str body, const char *name, struct buf *out)
{
	struct vary_tokens t = { .v = NULL };

	if (!vary_tokens_split(body, &t))
		for (size_t i = 0; i < t.n; i++) {
			if (t.v[i].kind == 'n' && str_is(t.v[i].text, "Model") && !(i && t.v[i - 1].kind == '.'))
				buf_adds(out, name);
			else
				buf_addstr(out, t.v[i].text);
		}
	vec_free(&t);
}

/* Two modules one after the other, or side by side; the second one takes what the first one takes or returns. */
static void join(const struct vary *x, const struct parts *a, const struct parts *b, struct buf *out, struct rng *rng)
{
	static const char *const ways[] = {
		"        x = self.%s(x)\n        x = self.%s(x)\n        return x\n",
		"        return self.%2$s(self.%1$s(x))\n",
		"        return self.%s(x) + self.%s(x)\n",
		"        y = self.%s(x)\n        return y + self.%s(y)\n",
		"        return torch.cat([self.%s(x), self.%s(x)], dim=1)\n",
		"        x = self.%s(x) + x\n        return self.%s(x)\n",
	};
	struct buf text = BUF_INIT;
	char class_a[VARY_NAME_BYTES], class_b[VARY_NAME_BYTES], name_a[VARY_NAME_BYTES], name_b[VARY_NAME_BYTES];

	buf_addstr(&text, a->body);
	buf_addstr(&text, b->body);
	vary_name_new(&x->words, VARY_CLASS, buf_str(&text), class_a, rng);
	buf_adds(&text, class_a);
	vary_name_new(&x->words, VARY_CLASS, buf_str(&text), class_b, rng);
	vary_name_new(&x->words, VARY_ATTRIBUTE, buf_str(&text), name_a, rng);
	buf_adds(&text, name_a);
	vary_name_new(&x->words, VARY_ATTRIBUTE, buf_str(&text), name_b, rng);
	add_body(a->body, class_a, out);
	if (!str_eq(a->body, b->body))
		add_body(b->body, class_b, out);
	buf_addf(out, "class Model(nn.Module):\n\n    def __init__(self):\n        super().__init__()\n");
	buf_addf(out, "        self.%s = %s(%.*s)\n", name_a, class_a, STR_ARG(a->arguments));
	buf_addf(out, "        self.%s = %s(%.*s)\n\n    def forward(self, x):\n", name_b,
		 str_eq(a->body, b->body) ? class_a : class_b, STR_ARG(b->arguments));
	buf_addf(out, ways[rng_below(rng, COUNT_OF(ways))], name_a, name_b);
	buf_addf(out, "\n\ndef get_inputs():\n    return [%.*s]\n\n\ndef get_init_inputs():\n    return []\n",
		 STR_ARG(a->inputs));
	buf_release(&text);
}

static struct str drawn_source(const struct vary *x, struct rng *rng)
{
	return str_of(x->set.rows.v[rng_below(rng, x->set.rows.n)].source);
}

int vary_draw(const struct vary *x, struct rng from, struct rng *rng, struct buf *out, struct err *e)
{
	struct str source = drawn_source(x, &from);
	struct buf joined = BUF_INIT;
	struct parts a, b;
	int rc;

	buf_clear(out);
	if (rng_below(&from, 4) == 0 && !split_parts(source, &a) && !split_parts(drawn_source(x, &from), &b)) {
		join(x, &a, &b, &joined, rng);
		source = buf_str(&joined);
	}
	rc = change_module(x, source, out, rng);
	buf_release(&joined);
	return rc ? err_nomem(e) : buf_check(out, e);
}

/* --- the set ------------------------------------------------------------------------------------------- */

int vary_open(struct vary *x, const char *path, struct err *e)
{
	*x = (struct vary){ .set = { .rows = { .v = NULL } } };
	if (taskset_open(&x->set, path, e))
		return -1;
	for (size_t i = 0; i < x->set.rows.n; i++) {
		struct vary_tokens t = { .v = NULL };
		int rc = vary_tokens_split(str_of(x->set.rows.v[i].source), &t) || vary_words_add(&x->words, &t);

		vec_free(&t);
		if (rc)
			return err_nomem(e);
	}
	return 0;
}

void vary_close(struct vary *x)
{
	vary_words_release(&x->words);
	taskset_close(&x->set);
}
