/* Formatting: format specifications, f-strings, str.format and the % operator.
 *
 * All of them end in struct spec: a parsed specification, which pad() and emit_number() apply.
 * The digits of floats come from printf, whose results are correctly rounded as CPython's are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "interp/attr.h"
#include "interp/big.h"
#include "interp/exec.h"
#include "interp/fail.h"
#include "interp/frame.h"
#include "interp/heap.h"
#include "interp/operator.h"
#include "interp/state.h"
#include "interp/val_text.h"

/* A parsed specification: [[fill]align][sign][#][0][width][grouping][.precision][type] */
struct spec {
	char fill[5];                  /* one code point of UTF-8 */
	char align, sign, type, group; /* 0 if not given */
	int alt, zero;
	int64_t width, precision;      /* precision -1: none */
	int64_t digits;                /* least number of digits of an integer (% only) */
};

/* Text under construction must fit the program's memory, too. Costs a step of fuel. */
int text_room(struct host *h, const struct buf *b)
{
	if (b->failed || b->n > h->o.memory || host_burn(h, 1))
		return host_fatal(h, REASON_out_of_memory, "a text exceeds the memory limit");
	return 0;
}

enum { WIDEST = 1 << 20 }; /* limit of width and precision */

/* A decimal number. It saturates above WIDEST. Returns 0 if there is no digit. */
static int spec_number(struct str *s, int64_t *out)
{
	int any = 0;
	*out = 0;
	while (s->n && *s->p >= '0' && *s->p <= '9') {
		if (*out < WIDEST * 10)
			*out = *out * 10 + (*s->p - '0');
		s->p++, s->n--;
		any = 1;
	}
	return any;
}

/* Is c one of the four alignment signs? */
static int is_align(char c)
{
	return c == '<' || c == '>' || c == '^' || c == '=';
}

/* Parses a specification. "0" before the width means fill '0' and align '='. */
static int parse_spec(struct host *h, struct str s, struct spec *o)
{
	size_t first;
	int filled = 0;

	*o = (struct spec){ .fill = " ", .precision = -1 };
	/* A fill may be any character, an alignment sign included ("<<5"): the next character
	 * decides. */
	first = s.n ? utf8_offset(s, 1) : 0;
	if (s.n > first && first && is_align(s.p[first])) {
		memcpy(o->fill, s.p, MIN(first, 4));
		o->fill[MIN(first, 4)] = 0;
		o->align = s.p[first];
		filled = 1;
		s.p += first + 1, s.n -= first + 1;
	} else if (s.n && is_align(*s.p)) {
		o->align = *s.p++, s.n--;
	}
	if (s.n && (*s.p == '+' || *s.p == '-' || *s.p == ' '))
		o->sign = *s.p++, s.n--;
	if (s.n && *s.p == '#')
		o->alt = 1, s.p++, s.n--;
	if (s.n && *s.p == '0') {
		o->zero = 1, s.p++, s.n--;
		if (!o->align)
			o->align = '=';
		if (!filled)
			strcpy(o->fill, "0");
	}
	spec_number(&s, &o->width);
	if (s.n && (*s.p == ',' || *s.p == '_'))
		o->group = *s.p++, s.n--;
	if (s.n && *s.p == '.') {
		s.p++, s.n--;
		if (!spec_number(&s, &o->precision))
			return host_raise(h, EXC_ValueError, "Format specifier missing precision");
	}
	if (s.n == 1)
		o->type = *s.p++, s.n--;
	if (s.n)
		return host_raise(h, EXC_ValueError, "Invalid format specifier");
	if (o->width > WIDEST || o->precision > WIDEST)
		return host_raise(h, EXC_ValueError, "Too many decimal digits in format string");
	return 0;
}

/* Writes sign and body padded to the width. '=' puts the padding between them: "-0005". */
static void pad(struct buf *out, const struct spec *o, struct str sign, struct str body, char default_align)
{
	char align = o->align ? o->align : default_align;
	size_t len = utf8_count(body) + sign.n;
	size_t fill = o->width > (int64_t)len ? (size_t)o->width - len : 0;
	size_t left = align == '<' ? 0 : align == '^' ? fill / 2 : fill;
	if (align == '=') {
		buf_addstr(out, sign);
		for (size_t i = 0; i < fill; i++)
			buf_adds(out, o->fill);
		buf_addstr(out, body);
		return;
	}
	for (size_t i = 0; i < left; i++)
		buf_adds(out, o->fill);
	buf_addstr(out, sign);
	buf_addstr(out, body);
	for (size_t i = left; i < fill; i++)
		buf_adds(out, o->fill);
}

/* Inserts the separator every `every` digits of the part before '.' or an exponent. Zeros are
 * added up to `width`, separators included: format(1234, "012,") is "0,000,001,234". */
static void group_digits(struct str digits, char sep, int every, size_t width, struct buf *out)
{
	size_t whole = 0;
	struct buf padded = BUF_INIT;
	size_t rest, have;

	while (whole < digits.n && digits.p[whole] != '.' &&
	       (every == 4 || (digits.p[whole] != 'e' && digits.p[whole] != 'E')))
		whole++;
	rest = digits.n - whole;
	have = whole + (whole ? (whole - 1) / (size_t)every : 0) + rest;
	for (; have < width; whole++) {
		buf_addc(&padded, '0');
		have += whole % (size_t)every ? 1 : 2;
	}
	buf_addstr(&padded, digits);
	for (size_t i = 0; i < whole; i++) {
		if (i && (whole - i) % (size_t)every == 0)
			buf_addc(out, sep);
		buf_addc(out, padded.p[i]);
	}
	buf_add(out, padded.p + whole, padded.n - whole);
	buf_release(&padded);
}

/* Sign, prefix, grouped digits, padding. */
static void emit_number(const struct spec *o, int neg, const char *prefix, struct str digits, int every,
			struct buf *out)
{
	struct buf body = BUF_INIT, sign = BUF_INIT;
	if (neg)
		buf_addc(&sign, '-');
	else if (o->sign == '+' || o->sign == ' ')
		buf_addc(&sign, o->sign);
	buf_adds(&sign, prefix);
	if (o->group) {
		size_t inner = o->align == '=' && !strcmp(o->fill, "0") && o->width > (int64_t)sign.n ?
			(size_t)o->width - sign.n : 0;
		group_digits(digits, o->group, every, inner, &body);
	} else {
		buf_addstr(&body, digits);
	}
	pad(out, o, buf_str(&sign), buf_str(&body), '>');
	buf_release(&body);
	buf_release(&sign);
}

/* Inserts a zero before the digits of "-5" or "5". */
static void insert_zero(struct buf *d, size_t at)
{
	buf_addc(d, '0');
	if (d->failed)
		return;
	memmove(d->p + at + 1, d->p + at, d->n - 1 - at);
	d->p[at] = '0';
}

/* An integer by type: d, n, b, o, x, X or c. Non-decimal digits are grouped by four. */
static int format_int(struct host *h, struct val v, struct spec *o, struct buf *out)
{
	struct buf d = BUF_INIT;
	const char *prefix = "";
	int base = 10, every = 3;
	struct str digits;
	int neg;

	if (o->precision >= 0)
		return host_raise(h, EXC_ValueError, "Precision not allowed in integer format specifier");
	if (o->type == 'c' && (v.kind == V_BIG || v.u.i < 0 || v.u.i > 127))
		return host_fatal(h, REASON_unsupported, "the format 'c' of a non-ASCII character is not supported");
	if (o->type == 'c') {
		char c[2] = { (char)v.u.i, 0 };
		if (v.kind == V_BIG || v.u.i <= 0 || v.u.i > 127)
			return host_fatal(h, REASON_unsupported, "%%c of a non-ASCII character is not supported");
		pad(out, o, STR(""), str_of(c), '<');
		return 0;
	}
	if (o->type == 'x' || o->type == 'X')
		base = 16, prefix = o->alt ? (o->type == 'x' ? "0x" : "0X") : "";
	else if (o->type == 'o')
		base = 8, prefix = o->alt ? "0o" : "";
	else if (o->type == 'b')
		base = 2, prefix = o->alt ? "0b" : "";
	if (base != 10)
		every = 4;
	big_format(h, v, base, &d);
	neg = d.n && d.p[0] == '-';
	while (d.n && d.n - (size_t)neg < (size_t)o->digits && !d.failed)
		insert_zero(&d, (size_t)neg);
	if (o->type == 'X')
		for (size_t i = 0; i < d.n; i++)
			if (d.p[i] >= 'a')
				d.p[i] = (char)(d.p[i] - 32);
	digits = buf_str(&d);
	if (neg)
		digits.p++, digits.n--;
	emit_number(o, neg, prefix, digits, every, out);
	buf_release(&d);
	return h->fail.fatal ? -1 : 0;
}

/* "1.5e+02": the mantissa without trailing zeros. */
static void add_exponent_form(double f, int digits, struct buf *d)
{
	char t[80], *e, *end;

	snprintf(t, sizeof t, "%.*e", MIN(digits, 50) - 1, f);
	e = strchr(t, 'e');
	end = e;
	if (memchr(t, '.', (size_t)(e - t))) {
		while (end[-1] == '0')
			end--;
		if (end[-1] == '.')
			end--;
	}
	buf_add(d, t, (size_t)(end - t));
	buf_adds(d, e);
}

/* The digits of a finite or special float, without sign. '' and 'g' drop trailing zeros; ''
 * keeps ".0" as repr does. */
static void float_digits(double f, const struct spec *o, struct buf *d)
{
	char t[64];
	int prec = o->precision < 0 ? 6 : (int)o->precision;
	char type = o->type;
	if (isnan(f) || isinf(f)) {
		buf_adds(d, isnan(f) ? "nan" : "inf");
		if (type == 'F' || type == 'E' || type == 'G')
			for (size_t i = 0; i < d->n; i++)
				d->p[i] = (char)(d->p[i] - 32);
		if (type == '%')
			buf_addc(d, '%');
		return;
	}
	if (!type && o->precision < 0) {
		float_repr(f, d);
		return;
	}
	if (type == '%')
		f *= 100;
	if (type == 'f' || type == 'F' || type == '%') {
		buf_addf(d, o->alt ? "%#.*f" : "%.*f", prec, f);
	} else if (type == 'e' || type == 'E') {
		buf_addf(d, type == 'e' ? "%.*e" : "%.*E", prec, f);
	} else {
		int exp, p;

		snprintf(t, sizeof t, "%.*e", MAX(MIN(prec, 50), 1) - 1, f);
		exp = atoi(strchr(t, 'e') + 1);
		p = prec ? prec : 1;
		if (!type && exp == p - 1)       /* no room for ".0": use the exponent */
			add_exponent_form(f, p, d);
		else
			buf_addf(d, type == 'G' ? (o->alt ? "%#.*G" : "%.*G") : (o->alt ? "%#.*g" : "%.*g"), p, f);
		if (!type && !strchr(buf_cstr(d), '.') && !strchr(buf_cstr(d), 'e'))
			buf_adds(d, ".0");
	}
	if (type == '%')
		buf_addc(d, '%');
}

/* Formats a float. At most 400 digits after the point. */
static int format_float(struct host *h, double f, struct spec *o, struct buf *out)
{
	struct buf d = BUF_INIT;
	int neg;

	if (o->precision > 400)
		return host_raise(h, EXC_ValueError, "precision too big");
	neg = signbit(f) && !isnan(f);
	float_digits(fabs(f), o, &d);
	if (o->type == 'n')
		o->type = 'g';
	emit_number(o, neg, "", buf_str(&d), 3, out);
	buf_release(&d);
	return 0;
}

/* A string: the precision cuts it, the width pads it on the right. */
static int format_str(struct host *h, struct str s, struct spec *o, struct buf *out)
{
	if (o->type && o->type != 's')
		return host_raise(h, EXC_ValueError, "Unknown format code '%c' for object of type 'str'", o->type);
	if (o->align == '=' && !o->zero)
		return host_raise(h, EXC_ValueError, "'=' alignment not allowed in string format specifier");
	if (o->align == '=')
		o->align = '<';
	if (o->precision >= 0)
		s.n = utf8_offset(s, (size_t)o->precision);
	pad(out, o, STR(""), s, '<');
	return 0;
}

/* format(v, spec): __format__ of an object, the element of a 0-d tensor, str() for an empty
 * specification, else by the kind of value. */
int host_format(struct host *h, struct val v, struct str text, struct buf *out)
{
	struct spec o;
	int is_int;

	if (v.kind == V_OBJECT || v.kind == V_TENSOR) {
		struct val s, r;
		if (has_special(h, v, NM___format__)) {
			if (val_str(h, text, &s) || call_special(h, v, NM___format__, &s, 1, &r) < 0)
				return -1;
			if (r.kind != V_STR)
				return host_raise(h, EXC_TypeError, "__format__ must return a str, not %s",
						  val_type_name(h, r));
			buf_addstr(out, val_text(r));
			return 0;
		}
	}
	if (v.kind == V_TENSOR && v.u.t->t.ndim == 0) {          /* a 0-d tensor formats as its element */
		if (host_read(h, &v.u.t->t, &v))
			return -1;
	}
	if (!text.n)
		return val_to_str(h, v, out);
	if (parse_spec(h, text, &o))
		return -1;
	is_int = v.kind == V_INT || v.kind == V_BIG || v.kind == V_BOOL;
	if (v.kind == V_BOOL && (!o.type || o.type == 's'))
		is_int = o.type != 's' && o.type;
	if (v.kind == V_STR)
		return format_str(h, val_text(v), &o, out);
	if (v.kind == V_FLOAT || ((v.kind == V_INT || v.kind == V_BIG || v.kind == V_BOOL) && o.type &&
				  strchr("eEfFgG%", o.type))) {
		if (o.type && !strchr("eEfFgGn%", o.type))
			return host_raise(h, EXC_ValueError,
					  "Unknown format code '%c' for object of type 'float'", o.type);
		return format_float(h, val_as_double(v), &o, out);
	}
	if (is_int || v.kind == V_BOOL) {
		if (o.type && !strchr("bcdoxXn", o.type))
			return host_raise(h, EXC_ValueError, "Unknown format code '%c' for object of type '%s'",
					  o.type, val_type_name(h, v));
		return format_int(h, v, &o, out);
	}
	return host_raise(h, EXC_TypeError, "unsupported format string passed to %s.__format__", val_type_name(h, v));
}

/* The conversions !r, !s and !a. */
static int convert(struct host *h, struct val v, char how, struct buf *out)
{
	if (how == 's')
		return val_to_str(h, v, out);
	if (val_repr(h, v, out))
		return -1;
	for (size_t i = 0; how == 'a' && i < out->n; i++)
		if ((unsigned char)out->p[i] > 127)
			return host_fatal(h, REASON_unsupported, "ascii() of non-ASCII text is not supported");
	return 0;
}

/* --- f-strings ----------------------------------------------------------------------------------- */

/* One part of an f-string: literal text or {value!r:spec}. The specification may hold fields
 * itself: f"{x:{width}}". */
static int fstring_part(struct host *h, struct host_frame *f, const struct py_node *n, struct buf *out)
{
	struct val v;
	struct buf spec = BUF_INIT, text = BUF_INIT;
	int conv, rc;

	if (n->kind == PY_Constant) {
		buf_addstr(out, n->u.Constant.value.s);
		return 0;
	}
	if (n->kind != PY_FormattedValue) {
		struct val s;
		if (eval_expr(h, f, n, &s))
			return -1;
		return val_to_str(h, s, out);
	}
	rc = eval_expr(h, f, n->u.FormattedValue.value, &v);
	if (!rc && n->u.FormattedValue.format_spec) {
		struct val s;
		rc = eval_fstring(h, f, n->u.FormattedValue.format_spec, &s);
		if (!rc)
			buf_addstr(&spec, val_text(s));
	}
	f->node = n;
	conv = n->u.FormattedValue.conversion;
	if (!rc && (conv == 'r' || conv == 'a' || conv == 's')) {
		rc = convert(h, v, (char)conv, &text);
		if (!rc)
			rc = val_str(h, buf_str(&text), &v);
	}
	if (!rc)
		rc = host_format(h, v, buf_str(&spec), out);
	buf_release(&spec);
	buf_release(&text);
	return rc;
}

/* An f-string expression. */
int eval_fstring(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	struct buf b = BUF_INIT;
	int rc = 0;
	if (n->kind == PY_JoinedStr)
		for (size_t i = 0; i < n->u.JoinedStr.values.n && !rc; i++)
			rc = fstring_part(h, f, n->u.JoinedStr.values.v[i], &b) || text_room(h, &b) ? -1 : 0;
	else
		rc = fstring_part(h, f, n, &b);
	if (!rc)
		rc = val_str(h, buf_str(&b), out);
	buf_release(&b);
	return rc;
}

/* --- str.format ------------------------------------------------------------------------------------- */

/* The value of a field such as "0.name[key]". An empty first part takes the next argument. */
static int field_value(struct host *h, struct str name, const struct val *args, size_t n, struct val kw,
		       size_t *next, struct val *out)
{
	size_t end = 0;
	struct str head;
	int64_t index;
	struct val key;

	while (end < name.n && name.p[end] != '.' && name.p[end] != '[')
		end++;
	head = (struct str){ .p = name.p, .n = end };
	if (!head.n || !str_to_i64(head, &index)) {
		size_t i = head.n ? (size_t)index : (*next)++;
		if (i >= n)
			return host_raise(h, EXC_IndexError,
					  "Replacement index %zu out of range for positional args tuple", i);
		*out = args[i];
	} else {
		if (val_str(h, head, &key) || item_get(h, kw, key, out))
			return -1;
	}
	/* Then any number of .attribute and [item], each applied to the result of the one
	 * before. */
	while (end < name.n) {
		size_t from = end + 1;
		int item = name.p[end] == '[';
		struct str_obj *s;
		struct str part;

		for (end = from; end < name.n &&
		     (item ? name.p[end] != ']' : name.p[end] != '.' && name.p[end] != '['); end++)
			;
		part = (struct str){ .p = name.p + from, .n = end - from };
		if (item) {
			end += end < name.n;
			if (!str_to_i64(part, &index))
				key = val_int(index);
			else if (val_str(h, part, &key))
				return -1;
			if (item_get(h, *out, key, out))
				return -1;
			continue;
		}
		s = host_intern(h, part);
		if (!s || attr_load(h, *out, s, out))
			return -1;
	}
	return 0;
}

static int format_text(struct host *h, struct str fmt, const struct val *args, size_t n, struct val kw,
		       size_t *next, int levels, struct val *out);

/* One {...}: value, conversion, specification, which may hold fields of its own. */
static int format_field(struct host *h, struct str field, const struct val *args, size_t n, struct val kw,
			size_t *next, int levels, struct buf *out)
{
	struct str spec = field, name = str_cut(&spec, ':');
	struct val v, nested;
	struct buf text = BUF_INIT;
	char conv = 0;
	int rc;

	if (name.n > 1 && name.p[name.n - 2] == '!')
		conv = name.p[name.n - 1], name.n -= 2;
	if (field_value(h, name, args, n, kw, next, &v))
		return -1;
	rc = 0;
	if (conv) {
		rc = convert(h, v, conv, &text);
		if (!rc)
			rc = val_str(h, buf_str(&text), &v);
	}
	if (!rc && memchr(spec.p, '{', spec.n)) {
		rc = format_text(h, spec, args, n, kw, next, levels - 1, &nested);
		if (!rc)
			spec = val_text(nested);
	}
	if (!rc)
		rc = host_format(h, v, spec, out);
	buf_release(&text);
	return rc;
}

/* Expands the fields of `fmt`. Nested fields continue the numbering in *next. Python allows two
 * levels of nesting; `levels` counts what is left. */
static int format_text(struct host *h, struct str fmt, const struct val *args, size_t n, struct val kw,
		       size_t *next, int levels, struct val *out)
{
	struct buf b = BUF_INIT;
	int rc = levels ? 0 : host_raise(h, EXC_ValueError, "Max string recursion exceeded");
	for (size_t i = 0; i < fmt.n && !rc; i++) {
		char c = fmt.p[i];
		if ((c == '{' || c == '}') && i + 1 < fmt.n && fmt.p[i + 1] == c) {
			buf_addc(&b, c);
			i++;
		} else if (c == '}') {
			rc = host_raise(h, EXC_ValueError, "Single '}' encountered in format string");
		} else if (c == '{') {
			size_t from = i + 1, depth = 1;
			for (i = from; i < fmt.n && depth; i++)
				depth += fmt.p[i] == '{' ? 1 : fmt.p[i] == '}' ? (size_t)-1 : 0;
			if (depth)
				rc = host_raise(h, EXC_ValueError, "Single '{' encountered in format string");
			else
				rc = format_field(h, (struct str){ .p = fmt.p + from, .n = --i - from },
						  args, n, kw, next, levels, &b) ||
				     text_room(h, &b) ? -1 : 0;
		} else {
			buf_addc(&b, c);
		}
	}
	if (!rc)
		rc = val_str(h, buf_str(&b), out);
	buf_release(&b);
	return rc;
}

/* str.format(*args, **kw). */
int host_str_format(struct host *h, struct str fmt, const struct val *args, size_t n, struct val kw, struct val *out)
{
	size_t next = 0;

	return format_text(h, fmt, args, n, kw, &next, 2, out);
}

/* --- the % operator ------------------------------------------------------------------------------------ */

/* The arguments of %: a tuple, or one value. `at` is the next one. */
struct percent { struct host *h; struct val args; size_t at; int is_tuple; };

/* The next argument; a single value counts as one argument. */
static int percent_next(struct percent *p, struct val *out)
{
	if (!p->is_tuple) {
		if (p->at++)
			return host_raise(p->h, EXC_TypeError, "not enough arguments for format string");
		*out = p->args;
		return 0;
	}
	if (p->at >= p->args.u.seq->n)
		return host_raise(p->h, EXC_TypeError, "not enough arguments for format string");
	*out = p->args.u.seq->v[p->at++];
	return 0;
}

/* A width or precision: digits, or '*' for the next argument. */
static int percent_number(struct percent *p, struct str fmt, size_t *i, int64_t *out)
{
	struct val v;
	if (*i < fmt.n && fmt.p[*i] == '*') {
		(*i)++;
		if (percent_next(p, &v) || val_as_int(p->h, v, out))
			return -1;
		if (*out > WIDEST || *out < -WIDEST)
			return host_fatal(p->h, REASON_out_of_memory, "a text exceeds the memory limit");
		return 0;
	}
	for (; *i < fmt.n && fmt.p[*i] >= '0' && fmt.p[*i] <= '9'; (*i)++)
		*out = MIN(MAX(*out, 0) * 10 + (fmt.p[*i] - '0'), WIDEST);
	return 0;
}

/* Writes one argument. The conversion 's' of % pads on the left, unlike format(). */
static int percent_emit(struct percent *p, struct spec *o, char type, struct val v, struct buf *out)
{
	struct host *h = p->h;
	struct buf t = BUF_INIT;
	int rc;
	if (type == 's' || type == 'r' || type == 'a') {
		rc = convert(h, v, type, &t);
		o->type = 's';
		strcpy(o->fill, " ");
		if (o->align != '<')
			o->align = '>';
		if (!rc)
			rc = format_str(h, buf_str(&t), o, out);
		buf_release(&t);
		return rc;
	}
	if (!val_is_number(v)) {
		if (type == 'c' && v.kind == V_STR)
			return format_str(h, val_text(v), o, out);
		return host_raise(h, EXC_TypeError, "%%%c format: a real number is required, not %s", type,
				  val_type_name(h, v));
	}
	if (strchr("eEfFgG", type)) {
		o->type = type;
		return format_float(h, val_as_double(v), o, out);
	}
	if (v.kind == V_FLOAT && big_from_double(h, trunc(v.u.f), &v))
		return -1;
	o->type = type == 'i' || type == 'u' ? 'd' : type;
	o->digits = MAX(o->precision, 0);
	o->precision = -1;
	return format_int(h, v, o, out);
}

/* One "%(key)-+ #0width.precisiontype" item, after the '%'. *i moves after it. */
static int percent_item(struct percent *p, struct str fmt, size_t *i, struct buf *out)
{
	struct spec o = { .fill = " ", .precision = -1 };
	struct val v = { .kind = V_UNSET }, key;
	char type;

	if (*i < fmt.n && fmt.p[*i] == '(') {
		size_t from = ++*i;
		while (*i < fmt.n && fmt.p[*i] != ')')
			++*i;
		if (val_str(p->h, (struct str){ .p = fmt.p + from, .n = *i - from }, &key) ||
		    item_get(p->h, p->args, key, &v))
			return -1;
		++*i;
	}
	for (; *i < fmt.n && strchr("-+ #0", fmt.p[*i]) && fmt.p[*i]; ++*i)
		switch (fmt.p[*i]) {
		case '-': o.align = '<'; break;
		case '0': if (!o.align) { o.align = '='; strcpy(o.fill, "0"); } break;
		case '#': o.alt = 1; break;
		default: o.sign = o.sign == '+' ? '+' : fmt.p[*i];      /* "%+ d": the plus wins */
		}
	if (percent_number(p, fmt, i, &o.width))
		return -1;
	if (o.width < 0) {      /* "%*d" of -5 is "%-5d" */
		o.width = -o.width;
		o.align = '<';
	}
	/* "%-05d": the minus wins over the zero, in either order. */
	if (o.align == '<')
		strcpy(o.fill, " ");
	if (*i < fmt.n && fmt.p[*i] == '.') {
		++*i;
		o.precision = 0;
		if (percent_number(p, fmt, i, &o.precision))
			return -1;
		o.precision = MAX(o.precision, 0);
	}
	if (*i >= fmt.n)
		return host_raise(p->h, EXC_ValueError, "incomplete format");
	type = fmt.p[(*i)++];
	if (type == '%') {
		buf_addc(out, '%');
		return 0;
	}
	if (!type || !strchr("srdiufFeEgGxXoca", type))
		return host_raise(p->h, EXC_ValueError, "unsupported format character '%c' (0x%x) at index %zu",
				  type, (unsigned char)type, *i - 1);
	if (v.kind == V_UNSET && percent_next(p, &v))
		return -1;
	return percent_emit(p, &o, type, v, out);
}

/* fmt % args. Arguments that are left over are a TypeError, except of a dictionary. */
int host_percent(struct host *h, struct str fmt, struct val args, struct val *out)
{
	struct buf b = BUF_INIT;
	struct percent p = { .h = h, .args = args, .is_tuple = args.kind == V_TUPLE };
	int rc = 0;
	for (size_t i = 0; i < fmt.n && !rc;) {
		char c = fmt.p[i++];
		if (c == '%')
			rc = percent_item(&p, fmt, &i, &b) || text_room(h, &b) ? -1 : 0;
		else
			buf_addc(&b, c);
	}
	if (!rc && (p.is_tuple ? p.at < args.u.seq->n : !p.at && args.kind != V_DICT))
		rc = host_raise(h, EXC_TypeError, "not all arguments converted during string formatting");
	if (!rc)
		rc = val_str(h, buf_str(&b), out);
	buf_release(&b);
	return rc;
}
