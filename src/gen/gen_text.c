/* The template engine of the writers. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "gen/impl.h"

void gen_vars_init(struct gen_vars *v)
{
	v->n = 0;
	v->used = 0;
}

void gen_set(struct gen_vars *v, const char *name, const char *fmt, ...)
{
	va_list ap;
	size_t room = GEN_VAR_BYTES - v->used;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(v->bytes + v->used, room, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= room || v->n == GEN_VARS)
		BUG("a template has too many values, at '%s'", name);
	v->v[v->n].name = name;
	v->v[v->n++].value = v->bytes + v->used;
	v->used += (size_t)n + 1;
}

static const char *find(const struct gen_vars *v, const char *name, size_t n)
{
	for (int i = v->n - 1; i >= 0; i--)
		if (!strncmp(v->v[i].name, name, n) && !v->v[i].name[n])
			return v->v[i].value;
	BUG("a template names $%.*s, which has no value", (int)n, name);
}

const char *gen_get(const struct gen_vars *v, const char *name)
{
	return find(v, name, strlen(name));
}

static size_t name_length(const char *s, const char *end)
{
	size_t n = 0;

	while (s + n < end && (isalnum((unsigned char)s[n]) || s[n] == '_'))
		n++;
	return n;
}

static void add_inline(struct buf *out, const char *s, const char *end, const struct gen_vars *v)
{
	while (s < end) {
		const char *dollar = memchr(s, '$', (size_t)(end - s));
		size_t n;

		if (!dollar) {
			buf_add(out, s, (size_t)(end - s));
			return;
		}
		buf_add(out, s, (size_t)(dollar - s));
		n = name_length(dollar + 1, end);
		buf_adds(out, find(v, dollar + 1, n));
		s = dollar + 1 + n;
	}
}

/* The lines of `value`, each behind `indent` spaces; the value is itself a template. */
static void add_lines(struct buf *out, const char *value, size_t indent, const struct gen_vars *v)
{
	while (*value) {
		const char *end = strchr(value, '\n');
		size_t n = end ? (size_t)(end - value) : strlen(value);

		buf_pad(out, ' ', indent);
		add_inline(out, value, value + n, v);
		buf_addc(out, '\n');
		value += n + (end != NULL);
	}
}

/* Whether the line stands; moves it past its conditions. */
static int stands(const char **line, const char *end, const struct gen_vars *v)
{
	while (**line == '?' || **line == '!') {
		size_t n = name_length(*line + 1, end);
		int set = find(v, *line + 1, n)[0] != 0;

		if (set != (**line == '?'))
			return 0;
		*line += n + 2;
	}
	return 1;
}

static void add_line(struct buf *out, const char *line, const char *end, const struct gen_vars *v)
{
	const char *s = line;

	if (!stands(&line, end, v))
		return;
	for (s = line; s < end && *s == ' '; s++)
		;
	if (s < end && *s == '$' && s + 1 + name_length(s + 1, end) == end) {
		add_lines(out, find(v, s + 1, (size_t)(end - s - 1)), (size_t)(s - line), v);
		return;
	}
	add_inline(out, line, end, v);
	buf_addc(out, '\n');
}

void gen_text(struct buf *out, const char *text, const struct gen_vars *v)
{
	while (*text) {
		const char *end = strchr(text, '\n');

		if (!end)
			end = text + strlen(text);
		add_line(out, text, end, v);
		text = end + (*end == '\n');
	}
}
