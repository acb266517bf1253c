/* Steps of variants: see vary_step.h. The text is read line by line; only statements of one line count. */
#include "data/vary_step.h"

#include <ctype.h>

#include "base/mem.h"

/* $ is the value. These keep its shape. */
static const char *const same_shape[] = {
	"torch.relu($)", "torch.sigmoid($)", "torch.tanh($)", "$.relu()", "$.sigmoid()", "$.tanh()",
	"torch.nn.functional.gelu($)", "torch.nn.functional.silu($)", "torch.nn.functional.softplus($)",
	"torch.nn.functional.leaky_relu($, 0.2)", "torch.nn.functional.elu($)", "torch.nn.functional.hardtanh($)",
	"$ * torch.sigmoid($)", "torch.nn.functional.mish($)", "torch.nn.functional.relu6($)",
	"$ * 0.5", "$ + 1.0", "2.0 * $", "$ - 0.1", "1.0 - $", "-$", "$ / 3.0", "$ * $", "$ ** 2", "$.pow(2)",
	"torch.abs($)", "$.abs()", "torch.exp(-$)", "torch.exp(-$ * $)", "torch.sin($)", "torch.cos($)",
	"$.clamp(-1.0, 1.0)", "torch.clamp($, min=0.0)", "torch.sqrt($ * $ + 1e-06)", "torch.log1p($.abs())",
	"torch.where($ > 0, $, 0.1 * $)", "torch.maximum($, -$)", "$ + torch.tanh($)", "torch.erf($)",
	"$ - $.mean(dim=-1, keepdim=True)", "$ / ($.norm(dim=-1, keepdim=True) + 1e-06)",
	"$ / ($.sum(dim=1, keepdim=True) + 1.0)", "torch.softmax($, dim=-1)", "torch.softmax($, dim=1)",
	"torch.nn.functional.normalize($, dim=1)", "torch.log_softmax($, dim=-1)",
	"$ - torch.logsumexp($, dim=-1, keepdim=True)",
	"$ - torch.amax($, dim=1, keepdim=True)", "torch.nn.functional.layer_norm($, $.shape[-1:])",
};

/* These reduce, cut, widen or turn it; a few only change its form. */
static const char *const other_shape[] = {
	"$.mean(dim=1)", "$.sum(dim=-1)", "$.mean(dim=1, keepdim=True)", "torch.mean($, dim=-1)", "$.amax(dim=-1)",
	"torch.max($, dim=1)[0]", "$.var(dim=-1)", "$.mean(dim=(2, 3))", "$.sum()", "$.mean()", "torch.norm($, dim=1)",
	"$.transpose(1, 2)", "$.transpose(-1, -2)", "$.flatten(1)", "$.unsqueeze(1)", "$.permute(0, 2, 1)",
	"$.permute(0, 2, 3, 1)", "torch.cat([$, $], dim=1)", "torch.cat([$, -$], dim=-1)", "$[:, :1]", "$[:, 1:]",
	"$[..., ::2]",
	"torch.flip($, dims=[1])", "$.view($.size(0), -1)", "$.reshape(-1)", "torch.nn.functional.pad($, (1, 1))",
	"torch.stack([$, $ * $], dim=1)", "torch.roll($, 1, 1)", "$.squeeze(1)", "$.chunk(2, dim=1)[0]",
	"torch.matmul($, $.transpose(-1, -2))", "torch.nn.functional.avg_pool2d($, 2)",
	"torch.nn.functional.max_pool2d($, 2)", "torch.nn.functional.interpolate($, scale_factor=2)",
	"torch.nn.functional.adaptive_avg_pool2d($, 1)", "torch.minimum($, torch.ones_like($))", "$.float()",
	"$.contiguous()",
};

static void add_step(struct str value, struct buf *out, struct rng *rng)
{
	/* steps that keep the shape are drawn more often, because more modules still run with them */
	size_t n = rng_below(rng, 3) ? COUNT_OF(same_shape) : COUNT_OF(same_shape) + COUNT_OF(other_shape);
	size_t k = rng_below(rng, n);
	const char *s = k < COUNT_OF(same_shape) ? same_shape[k] : other_shape[k - COUNT_OF(same_shape)];

	for (; *s; s++) {
		if (*s == '$')
			buf_addstr(out, value);
		else
			buf_addc(out, *s);
	}
}

/* Brackets that a line leaves open. */
static int line_depth(struct str line)
{
	int depth = 0;

	for (size_t i = 0; i < line.n && line.p[i] != '#'; i++) {
		depth += line.p[i] == '(' || line.p[i] == '[' || line.p[i] == '{';
		depth -= line.p[i] == ')' || line.p[i] == ']' || line.p[i] == '}';
	}
	return depth;
}

static size_t indent_of(struct str line)
{
	size_t n = 0;

	while (n < line.n && line.p[n] == ' ')
		n++;
	return n;
}

/* The length of the name that a line assigns: of "x" in "x = f(x)"; 0: no such line. */
static size_t assigned_name(struct str rest)
{
	size_t n = 0;

	while (n < rest.n && (isalnum((unsigned char)rest.p[n]) || rest.p[n] == '_'))
		n++;
	return n && !isdigit((unsigned char)rest.p[0]) && n + 3 < rest.n && !memcmp(rest.p + n, " = ", 3) ? n : 0;
}

/* Whether the assigned value is one value by its text: no tuple, string, number or shape. */
static int is_value(struct str text)
{
	int depth = 0;

	if (!text.n || strchr("'\"0123456789[{", text.p[0]) || str_find(text, STR("shape")) >= 0 ||
	    str_find(text, STR("size(")) >= 0)
		return 0;
	for (size_t i = 0; i < text.n; i++) {
		depth += text.p[i] == '(' || text.p[i] == '[';
		depth -= text.p[i] == ')' || text.p[i] == ']';
		if ((text.p[i] == ',' && !depth) || text.p[i] == '#')
			return 0;
	}
	return 1;
}

static int uses_word(struct str text, struct str word)
{
	for (size_t i = 0; i + word.n <= text.n; i++)
		if (!memcmp(text.p + i, word.p, word.n) &&
		    (i + word.n == text.n || !isalnum((unsigned char)text.p[i + word.n])) &&
		    (!i || !isalnum((unsigned char)text.p[i - 1])))
			return 1;
	return 0;
}

static void add_line(struct str line, struct buf *out)
{
	buf_addstr(out, line);
	buf_addc(out, '\n');
}

/* "return E" as "return step(E)", or with a variable of its own. */
static void change_return(size_t indent, struct str value, struct buf *out, struct rng *rng)
{
	static const char *const names[] = { "out", "y", "result", "output", "ret", "z", "res" };
	const char *name = names[rng_below(rng, COUNT_OF(names))];

	if (value.n < 24 && rng_below(rng, 2)) {
		buf_addf(out, "%*sreturn ", (int)indent, "");
		add_step(value, out, rng);
	} else {
		buf_addf(out, "%*s%s = %.*s\n%*sreturn ", (int)indent, "", name, STR_ARG(value), (int)indent, "");
		add_step(str_of(name), out, rng);
	}
	buf_addc(out, '\n');
}

/* A statement of forward. */
static void change_statement(struct str line, size_t indent, double add, double drop, struct buf *out, struct rng *rng)
{
	struct str rest = { .p = line.p + indent, .n = line.n - indent }, value;
	size_t n = assigned_name(rest);

	if (str_starts(rest, "return ")) {
		value = (struct str){ .p = rest.p + 7, .n = rest.n - 7 };
		if (is_value(value) && rng_f64(rng) < add)
			change_return(indent, value, out, rng);
		else
			add_line(line, out);
		return;
	}
	value = (struct str){ .p = rest.p + n + 3, .n = n ? rest.n - n - 3 : 0 };
	if (n && uses_word(value, (struct str){ .p = rest.p, .n = n }) && rng_f64(rng) < drop)
		return;
	add_line(line, out);
	if (n && is_value(value) && rng_f64(rng) < add) {
		buf_addf(out, "%*s%.*s = ", (int)indent, "", (int)n, rest.p);
		add_step((struct str){ .p = rest.p, .n = n }, out, rng);
		buf_addc(out, '\n');
	}
}

void vary_steps(struct str source, double add, double drop, struct buf *out, struct rng *rng)
{
	int depth = 0, in_string = 0, in_forward = 0;
	size_t head = 0;

	while (source.n) {
		struct str line = str_cut(&source, '\n');
		size_t indent = indent_of(line);
		struct str rest = { .p = line.p + indent, .n = line.n - indent };
		int opens = line_depth(line), quotes = 0;

		for (size_t i = 0; i + 3 <= line.n; i++)
			if (!memcmp(line.p + i, "\"\"\"", 3) || !memcmp(line.p + i, "'''", 3))
				quotes++, i += 2;
		if (in_forward && rest.n && indent <= head && !depth && !in_string)
			in_forward = 0;
		if (in_forward && !depth && !opens && !in_string && !quotes && indent > head)
			change_statement(line, indent, add, drop, out, rng);
		else
			add_line(line, out);
		if (!in_string && !depth && str_starts(rest, "def forward("))
			in_forward = 1, head = indent;
		in_string ^= quotes & 1;
		depth += in_string || quotes ? 0 : opens;
	}
}
