/* Built-in functions and the constructors of built-in types: text, numbers, objects. Those over
 * sequences are in builtins_seq.c.
 *
 * Each function serves one row of builtin_rows; bind.h describes rows and slots. A constructor is
 * the row "X.__new__", whose slot 0 is the class. Results go to b->out and are temporaries. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "interp/attr.h"
#include "interp/big.h"
#include "interp/dict.h"
#include "interp/exec.h"
#include "interp/fail.h"
#include "interp/frame.h"
#include "interp/heap.h"
#include "interp/iter.h"
#include "interp/object.h"
#include "interp/scalar.h"
#include "interp/operator.h"
#include "interp/scope.h"
#include "interp/state.h"
#include "interp/val_text.h"

enum { PRINT_LIMIT = 1 << 20 }; /* bytes of printed text that are kept */

/* --- printing and text ------------------------------------------------------------------------------ */

/* print(): the text is kept for reports and never read by the program, so `printing` lets
 * values through that differ between Python installations. */
static int b_print(struct bind *b)
{
	struct host *h = b->h;
	struct val sep = b->a[1], end = b->a[2];
	struct buf line = BUF_INIT;
	int rc = 0;

	for (size_t i = 1; i <= 2; i++)
		if (b->a[i].kind != V_STR && b->a[i].kind != V_NONE)
			return bind_raise(b, EXC_TypeError, "%s must be None or a string, not %s",
					  i == 1 ? "sep" : "end", val_type_name(h, b->a[i]));
	if (b->a[3].kind != V_NONE)
		return bind_unsupported(b, "print() to a file is not supported");
	for (size_t i = 0; i < b->a[0].u.seq->n && !rc; i++) {
		if (i)
			buf_addstr(&line, sep.kind == V_STR ? val_text(sep) : STR(" "));
		h->did.printing++;
		rc = val_to_str(h, b->a[0].u.seq->v[i], &line);
		h->did.printing--;
	}
	buf_addstr(&line, end.kind == V_STR ? val_text(end) : STR("\n"));
	if (!rc && h->did.printed.n < PRINT_LIMIT)
		buf_add(&h->did.printed, line.p, MIN(line.n, PRINT_LIMIT - h->did.printed.n));
	buf_release(&line);
	return rc;
}

/* Makes the collected text the result unless rc is nonzero. Frees the buffer in both cases. */
static int text_result(struct bind *b, struct buf *t, int rc)
{
	if (!rc)
		rc = val_str(b->h, buf_str(t), &b->out);
	buf_release(t);
	return rc;
}

/* repr(x). */
static int b_repr(struct bind *b)
{
	struct buf t = BUF_INIT;
	return text_result(b, &t, val_repr(b->h, b->a[0], &t));
}

/* str(x), or str(bytes, encoding) for valid UTF-8. */
static int b_str(struct bind *b)
{
	struct buf t = BUF_INIT;
	if (b->a[1].kind == V_UNSET)
		return text_result(b, &t, 0);
	if (b->a[1].kind == V_BYTES && bind_given(b, 2))
		return !utf8_is_text(val_text(b->a[1])) ?
			bind_unsupported(b, "decoding bytes that are not valid UTF-8 is not supported") :
			val_str(b->h, val_text(b->a[1]), &b->out);
	return text_result(b, &t, val_to_str(b->h, b->a[1], &t));
}

/* repr() with escapes beyond ASCII, which are not implemented. */
static int b_ascii(struct bind *b)
{
	if (b_repr(b))
		return -1;
	for (size_t i = 0; i < b->out.u.s->n; i++)
		if ((unsigned char)b->out.u.s->p[i] > 127)
			return bind_unsupported(b, "ascii() of non-ASCII text is not supported");
	return 0;
}

/* bytes(text): UTF-8 without a look at the encoding. */
static int b_bytes(struct bind *b)
{
	if (b->a[1].kind != V_UNSET && b->a[1].kind != V_STR && b->a[1].kind != V_BYTES)
		return bind_unsupported(b, "bytes() of anything but a string is not supported");
	return val_bytes(b->h, b->a[1].kind == V_UNSET ? STR("") : val_text(b->a[1]), &b->out);
}

/* format(value, spec). */
static int b_format(struct bind *b)
{
	struct buf t = BUF_INIT;
	struct str spec;
	if (bind_string(b, 1, &spec))
		return -1;
	return text_result(b, &t, host_format(b->h, b->a[0], spec, &t));
}

/* Encodes a code point as UTF-8. Surrogates have no UTF-8 form. */
static int b_chr(struct bind *b)
{
	int64_t c;
	char t[5] = { 0 };
	int n;

	if (bind_int(b, 0, &c))
		return -1;
	if (c < 0 || c > 0x10ffff)
		return bind_raise(b, EXC_ValueError, "chr() arg not in range(0x110000)");
	if (c >= 0xd800 && c < 0xe000)
		return bind_unsupported(b, "chr() of a surrogate is not supported");
	n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (int i = n - 1; i > 0; i--, c >>= 6)
		t[i] = (char)(0x80 | (c & 0x3f));
	t[0] = (char)(n == 1 ? c : n == 2 ? 0xc0 | c : n == 3 ? 0xe0 | c : 0xf0 | c);
	return val_str(b->h, (struct str){ .p = t, .n = (size_t)n }, &b->out);
}

/* Decodes the only code point of a string. */
static int b_ord(struct bind *b)
{
	struct str s;
	unsigned char c;
	int64_t v;

	if (bind_string(b, 0, &s))
		return -1;
	if (utf8_count(s) != 1)
		return bind_raise(b, EXC_TypeError,
				  "ord() expected a character, but string of length %zu found", utf8_count(s));
	c = (unsigned char)s.p[0];
	v = s.n == 1 ? c : s.n == 2 ? c & 0x1f : s.n == 3 ? c & 0x0f : c & 0x07;
	for (size_t i = 1; i < s.n; i++)
		v = v << 6 | (s.p[i] & 0x3f);
	b->out = val_int(v);
	return 0;
}

/* bin(), hex() and oct(): the prefix is after the sign: hex(-255) is '-0xff'. */
static int int_text(struct bind *b, int base, const char *prefix)
{
	struct buf t = BUF_INIT, d = BUF_INIT;
	int neg;

	if (b->a[0].kind != V_INT && b->a[0].kind != V_BIG && b->a[0].kind != V_BOOL)
		return bind_raise(b, EXC_TypeError, "'%s' object cannot be interpreted as an integer",
				  val_type_name(b->h, b->a[0]));
	big_format(b->h, b->a[0], base, &d);
	neg = d.n && d.p[0] == '-';
	buf_addf(&t, "%s%s%s", neg ? "-" : "", prefix, buf_cstr(&d) + neg);
	buf_release(&d);
	return text_result(b, &t, b->h->fail.fatal ? -1 : 0);
}

static int b_bin(struct bind *b) { return int_text(b, 2, "0b"); }
static int b_hex(struct bind *b) { return int_text(b, 16, "0x"); }
static int b_oct(struct bind *b) { return int_text(b, 8, "0o"); }

/* --- numbers -------------------------------------------------------------------------------------------- */

/* int("0x_ff", 0): spaces around, a sign, a prefix that fits the base, and single underscores
 * between digits. */
static int parse_int(struct bind *b, struct str text, int64_t base)
{
	struct str s = str_trim(text);
	struct buf t = BUF_INIT;
	int neg = s.n && s.p[0] == '-';
	int rc, bad;
	struct buf shown = BUF_INIT;

	if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
		s.p++, s.n--;
	if (s.n > 2 && s.p[0] == '0') {
		int c = s.p[1] | 32, p = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;
		if (p && (base == p || base == 0)) {
			base = p;
			s.p += 2, s.n -= 2;
		}
	}
	base = base ? base : 10;
	bad = !s.n || base < 2 || base > 36;
	for (size_t i = 0; i < s.n && !bad; i++) {
		int c = s.p[i] | 32;
		int digit = s.p[i] >= '0' && s.p[i] <= '9' ? s.p[i] - '0' : c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
		if (s.p[i] == '_' && i && i + 1 < s.n)
			continue;
		bad = digit >= base;
		buf_addc(&t, s.p[i]);
	}
	str_repr(text, &shown);
	rc = bad ? bind_raise(b, EXC_ValueError, "invalid literal for int() with base %lld: %s",
			      (long long)base, buf_cstr(&shown)) :
		 big_parse(b->h, buf_str(&t), (int)base, &b->out);
	buf_release(&shown);
	buf_release(&t);
	if (!rc && neg)
		rc = op_unary(b->h, PY_OP_USub, b->out, &b->out);
	return rc;
}

/* int(x[, base]). A float is truncated; an object is asked for __int__, then __index__. */
static int b_int(struct bind *b)
{
	struct val v = b->a[1];
	int64_t base = 10;
	int found;
	if (bind_given(b, 2) && bind_int(b, 2, &base))
		return -1;
	switch (v.kind) {
	case V_UNSET: b->out = val_int(0); return 0;
	case V_BOOL: case V_INT: b->out = val_int(v.u.i); return 0;
	case V_BIG: b->out = v; return 0;
	case V_FLOAT:
		if (isnan(v.u.f))
			return bind_raise(b, EXC_ValueError, "cannot convert float NaN to integer");
		if (isinf(v.u.f))
			return bind_raise(b, EXC_OverflowError, "cannot convert float infinity to integer");
		return big_from_double(b->h, trunc(v.u.f), &b->out);
	case V_STR: return parse_int(b, val_text(v), base);
	default: break;
	}
	if ((found = call_special(b->h, v, NM___int__, NULL, 0, &b->out)) ||
	    (found = call_special(b->h, v, NM___index__, NULL, 0, &b->out)))
		return found < 0 ? -1 : 0;
	return bind_raise(b, EXC_TypeError,
			  "int() argument must be a string, a bytes-like object or a real number, not '%s'",
			  val_type_name(b->h, v));
}

/* float(x): a number, a text such as "-inf" or "1e3", or an object with __float__. */
static int b_float(struct bind *b)
{
	struct val v = b->a[1];
	double f;
	int found;

	if (v.kind == V_UNSET) {
		b->out = val_float(0);
		return 0;
	}
	if (val_is_number(v)) {
		b->out = val_float(val_as_double(v));
		return 0;
	}
	if (v.kind == V_STR) {
		struct str s = str_trim(val_text(v));
		struct buf low = BUF_INIT;
		int rc, sign;
		const char *t;

		for (size_t i = 0; i < s.n; i++)
			buf_addc(&low, s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] + 32) : s.p[i]);
		t = buf_cstr(&low);
		/* Python accepts the special values in any case and with a sign; all else is a
		 * plain number. */
		sign = *t == '-' ? -1 : 1;
		t += *t == '-' || *t == '+';
		rc = 0;
		if (!strcmp(t, "inf") || !strcmp(t, "infinity"))
			f = sign * INFINITY;
		else if (!strcmp(t, "nan"))
			f = NAN;
		else if (str_to_f64(s, &f)) {
			struct buf shown = BUF_INIT;
			str_repr(val_text(v), &shown);
			rc = bind_raise(b, EXC_ValueError, "could not convert string to float: %s", buf_cstr(&shown));
			buf_release(&shown);
		}
		buf_release(&low);
		b->out = val_float(rc ? 0 : f);
		return rc;
	}
	found = call_special(b->h, v, NM___float__, NULL, 0, &b->out);
	if (found)
		return found < 0 ? -1 : 0;
	return bind_raise(b, EXC_TypeError, "float() argument must be a string or a real number, not '%s'",
			  val_type_name(b->h, v));
}

/* bool(x): false for a missing argument. */
static int b_bool(struct bind *b)
{
	int t = val_truth(b->h, b->a[1]);
	b->out = val_bool(t);
	return t < 0 ? -1 : 0;
}

/* abs(x). -x of the smallest int64 becomes a big int through op_unary. */
static int b_abs(struct bind *b)
{
	struct val v = b->a[0];
	int unordered, found;

	if (v.kind == V_FLOAT) {
		b->out = v;
		b->out.u.f = fabs(v.u.f);
		return scalar_may_compute(b->h, v);
	}
	if (val_is_number(v)) {
		if (pynum_compare(v, val_int(0), &unordered) < 0)
			return op_unary(b->h, PY_OP_USub, v, &b->out);
		return op_unary(b->h, PY_OP_UAdd, v, &b->out);
	}
	found = call_special(b->h, v, NM___abs__, NULL, 0, &b->out);
	return found > 0 ? 0 : found < 0 ? -1 : bind_raise(b, EXC_TypeError, "bad operand type for abs(): '%s'",
							   val_type_name(b->h, v));
}

/* Rounds x to a multiple of 10 ** -digits, ties to even: round(25.0, -1) is 20.0. Powers of ten
 * up to 10**22 are exact doubles, so the remainder is exact. */
static int round_to_tens(struct bind *b, double x, int64_t digits)
{
	double p, rest, low;
	int up;

	enum { EXACT_POWER = 22 };
	if (digits < -EXACT_POWER)
		return bind_unsupported(b, "round() of a float with fewer than -22 digits is not supported");
	p = pow(10, (double)-digits);
	rest = fmod(x, p);
	low = x - rest;
	up = fabs(rest) * 2 > p || (fabs(rest) * 2 == p && fmod(low / p, 2) != 0);
	b->out = val_float(up ? low + copysign(p, x) : low);
	return 0;
}

/* round(x[, digits]). Without digits the result is an int; integers round to tens, ties to
 * even. */
static int b_round(struct bind *b)
{
	struct buf t = BUF_INIT;

	enum { DBL_MAX_DIGITS = 323, TENS_MOST = 4300 };      /* beyond it no double has digits */
	struct val v = b->a[0];
	int64_t digits = 0;
	if (bind_given(b, 1) && bind_int(b, 1, &digits))
		return -1;
	if (scalar_is(v) && (v.aux == SCALAR_NARROW || v.kind == V_BOOL || bind_given(b, 1)) &&
	    b->h->frame && !b->h->frame->mod->trusted)
		return bind_unsupported(b, "round() of this numpy scalar is not supported");
	if (v.kind == V_OBJECT) {
		struct str_obj *name = host_intern(b->h, STR("__round__"));
		return name ? host_call_method(b->h, v, name, NULL, 0, &b->out) : -1;
	}
	if (!val_is_number(v))
		return bind_raise(b, EXC_TypeError, "type %s doesn't define __round__ method", val_type_name(b->h, v));
	if (v.kind != V_FLOAT) {
		struct val p, q, low, twice;
		int u, up;

		if (scalar_is(v))
			v.aux = 0;
		if (digits >= 0)
			return op_unary(b->h, PY_OP_UAdd, v, &b->out);
		if (digits < -TENS_MOST)
			return bind_unsupported(b,
						"round() of an integer with fewer than -4300 digits is not supported");
		/* v = low + q with 0 <= q < p; the nearer multiple of p is taken, the even one
		 * on a tie. */
		if (pynum_binary(b->h, PY_OP_Pow, val_int(10), val_int(-digits), &p) ||
		    pynum_binary(b->h, PY_OP_Mod, v, p, &q))
			return -1;
		if (pynum_binary(b->h, PY_OP_Sub, v, q, &low) || pynum_binary(b->h, PY_OP_Mult, q, val_int(2), &twice))
			return -1;
		up = pynum_compare(twice, p, &u);
		if (up == 0) {
			struct val half;
			if (pynum_binary(b->h, PY_OP_FloorDiv, low, p, &half) ||
			    pynum_binary(b->h, PY_OP_Mod, half, val_int(2), &half))
				return -1;
			up = half.u.i ? 1 : -1;
		}
		return up > 0 ? pynum_binary(b->h, PY_OP_Add, low, p, &b->out) : (b->out = low, 0);
	}
	if (!bind_given(b, 1)) {
		if (!isfinite(v.u.f))
			return bind_raise(b, isnan(v.u.f) ? EXC_ValueError : EXC_OverflowError,
					  isnan(v.u.f) ? "cannot convert float NaN to integer" :
						  "cannot convert float infinity to integer");
		return big_from_double(b->h, nearbyint(v.u.f), &b->out);
	}
	if (digits < 0 && isfinite(v.u.f))
		return round_to_tens(b, v.u.f, digits);
	if (digits > DBL_MAX_DIGITS || !isfinite(v.u.f)) {
		b->out = v;
	} else {
		buf_addf(&t, "%.*f", (int)digits, v.u.f);     /* correctly rounded from the exact value */
		b->out = val_float(strtod(buf_cstr(&t), NULL));
	}
	buf_release(&t);
	return 0;
}

/* divmod(a, b) is (a // b, a % b), with the special methods of both. */
static int b_divmod(struct bind *b)
{
	struct val qr[2];
	if (op_binary(b->h, PY_OP_FloorDiv, b->a[0], b->a[1], &qr[0]) ||
	    op_binary(b->h, PY_OP_Mod, b->a[0], b->a[1], &qr[1]))
		return -1;
	return val_tuple(b->h, qr, 2, &b->out);
}

/* pow(base, exp[, mod]) by squaring, reduced at every step. */
static int b_pow(struct bind *b)
{
	struct val acc, base;
	int64_t e;

	if (!bind_given(b, 2))
		return op_binary(b->h, PY_OP_Pow, b->a[0], b->a[1], &b->out);
	acc = val_int(1);
	if (bind_int(b, 1, &e) || op_binary(b->h, PY_OP_Mod, b->a[0], b->a[2], &base))
		return -1;
	if (e < 0)
		return bind_unsupported(b, "pow() with a negative exponent and a modulus is not supported");
	for (; e; e >>= 1) {
		if (e & 1 && (op_binary(b->h, PY_OP_Mult, acc, base, &acc) ||
			      op_binary(b->h, PY_OP_Mod, acc, b->a[2], &acc)))
			return -1;
		if (op_binary(b->h, PY_OP_Mult, base, base, &base) || op_binary(b->h, PY_OP_Mod, base, b->a[2], &base))
			return -1;
	}
	return op_binary(b->h, PY_OP_Mod, acc, b->a[2], &b->out);
}

/* --- objects ------------------------------------------------------------------------------------------------- */

/* isinstance(). Questions about torch.FloatTensor and about numpy scalars among several classes
 * have answers that this engine cannot give. */
static int b_isinstance(struct bind *b)
{
	int yes = isinstance_of(b->h, b->a[0], b->a[1]);
	if (b->a[0].kind == V_TENSOR && b->a[1].kind == V_CLASS && b->a[1].u.c->mod &&
	    !strcmp(b->a[1].u.c->mod->name->p, "torch") && host_varies(b->h, "whether a tensor is a torch.FloatTensor"))
		return -1;
	if (yes > 0 && scalar_is(b->a[0]) && b->a[1].kind == V_CLASS)
		yes = !scalar_is_no(b->h, b->a[0], b->a[1].u.c);
	else if (yes > 0 && scalar_is(b->a[0]) && b->a[0].kind != V_FLOAT &&
		 host_varies(b->h, "which of several classes a numpy scalar has"))
		return -1;
	b->out = val_bool(yes);
	return yes < 0 ? -1 : 0;
}

/* issubclass(c, class or tuple). */
static int b_issubclass(struct bind *b)
{
	int yes;

	if (b->a[0].kind != V_CLASS)
		return bind_raise(b, EXC_TypeError, "issubclass() arg 1 must be a class");
	yes = issubclass_of(b->h, b->a[0], b->a[1]);
	b->out = val_bool(yes);
	return yes < 0 ? -1 : 0;
}

/* The attribute name in slot i, interned; NULL with TypeError pending. */
static struct str_obj *name_arg(struct bind *b, size_t i)
{
	if (b->a[i].kind == V_STR)
		return host_intern(b->h, val_text(b->a[i]));
	bind_raise(b, EXC_TypeError, "attribute name must be string, not '%s'", val_type_name(b->h, b->a[i]));
	return NULL;
}

/* Does the class derive from one of our library's, usually nn.Module? */
static int derives_from_ours(const struct class_obj *c)
{
	for (size_t i = 0; i < c->n_mro; i++)
		if (c->mro[i]->mod && c->mro[i]->mod->trusted)
			return 1;
	return 0;
}

/* Is `name` a special name, or one that the real base class has or may keep for itself? */
static int is_inherited(struct host *h, struct val v, struct str name)
{
	const struct class_obj *c = v.kind == V_CLASS ? v.u.c : v.kind == V_OBJECT ? v.u.o->cls : NULL;
	char dotted[200];

	if (str_starts(name, "__") && str_ends(name, "__"))
		return 1;
	snprintf(dotted, sizeof dotted, "torch.nn.Module.%.*s", STR_ARG(name));
	return c && derives_from_ours(c) && (str_starts(name, "_") || lib_knows(h->lib, str_of(dotted)));
}

/* Does the object, class, function or module belong to the program? */
static int is_programs_own(struct val v)
{
	const struct module_obj *m = v.kind == V_OBJECT ? v.u.o->cls->mod : v.kind == V_CLASS ? v.u.c->mod :
		v.kind == V_FUNC ? v.u.fn->mod : v.kind == V_MODULE ? v.u.mod : NULL;
	return m && !m->trusted;
}

/* Does the real object have an attribute that it lacks here? Then a reference cannot be told. */
static int lacks_attr(struct host *h, struct val v, const struct str_obj *name)
{
	const char *owner = v.kind == V_TENSOR ? "torch.Tensor" : v.kind == V_MODULE ? v.u.mod->name->p :
		"torch.nn.Module";
	char dotted[200];

	snprintf(dotted, sizeof dotted, "%s.%s", owner, name->p);
	if (!lib_knows(h->lib, str_of(dotted)))
		return 0;
	host_fatal(h, REASON_unsupported, "%s is not supported here", dotted);
	return 1;
}

/* Did nn.Module's own __getattr__ say that a module lacks the name? Its tables are the program's own, so
 * the answer is certain. A property of that name could have failed on something else. */
static int module_lacks(struct host *h, struct val v, struct str_obj *name)
{
	struct val *hook;

	if (v.kind != V_OBJECT || !derives_from_ours(v.u.o->cls) || class_lookup(h, v.u.o->cls, name, NULL))
		return 0;
	hook = class_lookup(h, v.u.o->cls, h->nm[NM___getattr__], NULL);
	return hook && hook->kind == V_BUILTIN;
}

/* hasattr(): an attribute may be missing here although the real library has it. So a program
 * may ask only about its own objects, and only about names that no base class of ours could
 * have. Returns 1 if it is there, 0 if it is certainly missing, -1 otherwise. */
static int has_attr(struct bind *b, struct str_obj *name, struct val *out)
{
	int found = attr_get(b->h, b->a[0], name, out), sure;
	if (found > 0)
		return 1;
	if (found < 0 && !host_exc_is(b->h, EXC_AttributeError))
		return -1;
	/* else a property failed on something */
	sure = !found || b->h->fail.exc_sure || module_lacks(b->h, b->a[0], name);
	host_exc_clear(b->h);
	if (sure && is_programs_own(b->a[0]) &&
	    !is_inherited(b->h, b->a[0], (struct str){ .p = name->p, .n = name->n }))
		return 0;
	if (b->h->o.is_reference && !lacks_attr(b->h, b->a[0], name))
		return 0;
	return host_varies(b->h, "whether a library object has an attribute");
}

/* An attribute name given as text. Names of the form __x__ lead out of the program and are
 * refused, so that getattr(x, "__glo" + "bals__") is no way around the check of the source. A
 * reference may use them. */
static struct str_obj *plain_name_arg(struct bind *b, size_t i)
{
	struct str_obj *name = name_arg(b, i);
	struct str s = name ? (struct str){ .p = name->p, .n = name->n } : STR("");

	if (!b->h->frame || b->h->frame->mod->trusted || !str_starts(s, "__") || !str_ends(s, "__") ||
	    b->h->o.is_reference)
		return name;
	host_fatal(b->h, REASON_forbidden_name,
		   "attribute '%s' is not available through getattr, setattr or delattr", name->p);
	return NULL;
}

/* hasattr(x, name); see has_attr for what may be asked. */
static int b_hasattr(struct bind *b)
{
	struct str_obj *name = name_arg(b, 1);
	struct val v;
	int found = name ? has_attr(b, name, &v) : -1;
	b->out = val_bool(found > 0);
	return found < 0 ? -1 : 0;
}

/* getattr(x, name[, default]). With a default the rules of hasattr apply. */
static int b_getattr(struct bind *b)
{
	struct str_obj *name = plain_name_arg(b, 1);
	int found;

	if (!name)
		return -1;
	if (b->a[2].kind == V_UNSET)
		return attr_load(b->h, b->a[0], name, &b->out);
	found = has_attr(b, name, &b->out);
	if (!found)
		b->out = b->a[2];
	return found < 0 ? -1 : 0;
}

static int b_setattr(struct bind *b)
{
	struct str_obj *name = plain_name_arg(b, 1);
	return name ? attr_set(b->h, b->a[0], name, b->a[2]) : -1;
}

static int b_delattr(struct bind *b)
{
	struct str_obj *name = plain_name_arg(b, 1);
	return name ? attr_del(b->h, b->a[0], name) : -1;
}

/* callable(x). For names of triton.language the answer differs between installations. */
static int b_callable(struct bind *b)
{
	struct val v = b->a[0];

	if (v.kind == V_TL && host_varies(b->h, "whether a triton.language name is callable"))
		return -1;
	b->out = val_bool(v.kind == V_FUNC || v.kind == V_BUILTIN || v.kind == V_METHOD || v.kind == V_CLASS ||
			  has_special(b->h, v, NM___call__));
	return 0;
}

/* CPython's hash of an integer: its remainder by the prime 2**61 - 1, and never -1. */
static int64_t hash_whole(int64_t x)
{
	const int64_t prime = ((int64_t)1 << 61) - 1;
	int64_t r = x % prime;
	return r == -1 ? -2 : r;
}

/* CPython's hash of integers and of tuples of them (xxHash of the members). Returns 1 for other
 * values, whose hash depends on the process (strings), an address (objects), or is not
 * implemented. */
static int plain_hash(struct val v, int depth, int64_t *out)
{
	const uint64_t p1 = 11400714785074694791u, p2 = 14029467366897019727u, p5 = 2870177450012600261u;
	uint64_t acc = p5;
	int64_t lane;
	if (v.kind == V_INT || v.kind == V_BOOL || (v.kind == V_FLOAT && fabs(v.u.f) < 9e18 && v.u.f == floor(v.u.f))) {
		*out = hash_whole(v.kind == V_FLOAT ? (int64_t)v.u.f : v.u.i);
		return 0;
	}
	if (v.kind != V_TUPLE || !depth)
		return 1;
	for (size_t i = 0; i < v.u.seq->n; i++) {
		if (plain_hash(v.u.seq->v[i], depth - 1, &lane))
			return 1;
		acc += (uint64_t)lane * p2;
		acc = (acc << 31 | acc >> 33) * p1;
	}
	acc += v.u.seq->n ^ (p5 ^ 3527539u);
	*out = acc == UINT64_MAX ? 1546275796 : (int64_t)acc;
	return 0;
}

/* hash(x): CPython's number where it is the same in every process, otherwise refused. */
static int b_hash(struct bind *b)
{
	enum { DEEPEST = 8 };
	int64_t plain;
	uint64_t x;
	if (val_hash(b->h, b->a[0], &x))
		return -1;
	if (!plain_hash(b->a[0], DEEPEST, &plain)) {
		b->out = val_int(plain);
		return 0;
	}
	b->out = val_int((int64_t)(x >> 1));
	return host_varies(b->h, "the hash of this value");
}

/* id(x): the address, or the kind of an immediate value. */
static int b_id(struct bind *b)
{
	b->out = val_int(V_IS_HEAP(b->a[0]) ? (int64_t)((uintptr_t)b->a[0].u.o & INT64_MAX) : (int64_t)b->a[0].kind);
	return 0;
}

/* super() without arguments finds the class in the cell of the enclosing method and self in its
 * first slot. A comprehension inside the method is skipped. */
static int b_super(struct bind *b)
{
	struct val cls = b->a[1], self = b->a[2];
	if (cls.kind == V_UNSET) {
		struct host_frame *f = b->h->frame;
		while (f && f->fn && f->scope && f->scope->node != f->fn->node) /* leave comprehensions */
			f = f->up;
		if (!f || !f->fn || f->class_cell.kind != V_CELL || CELL_VALUE(f->class_cell).kind != V_CLASS ||
		    !f->scope->n_params)
			return bind_raise(b, EXC_RuntimeError, "super(): no arguments");
		cls = CELL_VALUE(f->class_cell);
		self = f->slots[0].kind == V_CELL ? CELL_VALUE(f->slots[0]) : f->slots[0];
	}
	if (cls.kind != V_CLASS || self.kind == V_UNSET)
		return bind_raise(b, EXC_TypeError, "super(type, obj): obj must be an instance or subtype of type");
	if (!class_is_sub(self.kind == V_CLASS ? self.u.c : val_class(b->h, self), cls.u.c))
		return bind_raise(b, EXC_TypeError, "super(type, obj): obj must be an instance or subtype of type");
	return val_pair(b->h, V_SUPER, cls, self, &b->out);
}

/* property(fget, fset): a pair; the deleter and the doc are ignored. */
static int b_property(struct bind *b)
{
	return val_pair(b->h, V_PROPERTY, b->a[1], b->a[2], &b->out);
}

/* @x.setter: a new property with the same getter. */
static int p_setter(struct bind *b)
{
	return val_pair(b->h, V_PROPERTY, b->a[0].u.m->self, b->a[1], &b->out);
}

static int p_getter(struct bind *b)
{
	return val_pair(b->h, V_PROPERTY, b->a[1], b->a[0].u.m->fn, &b->out);
}

static int b_staticmethod(struct bind *b) { return val_pair(b->h, V_STATICMETHOD, b->a[1], val_none(), &b->out); }
static int b_classmethod(struct bind *b) { return val_pair(b->h, V_CLASSMETHOD, b->a[1], val_none(), &b->out); }

/* object.__new__(cls): an instance with an empty __dict__. */
static int b_object(struct bind *b)
{
	struct obj *o;
	struct dict_obj *d;

	if (b->a[0].kind != V_CLASS)
		return bind_raise(b, EXC_TypeError, "object.__new__(X): X is not a type object");
	o = host_obj(b->h, V_OBJECT, sizeof *o, b->a[0].u.c);
	d = o ? dict_obj_new(b->h, V_DICT) : NULL;
	if (!d)
		return -1;
	val_keep(val_obj(&d->h));
	o->attrs = d;
	b->out = val_obj(o);
	return 0;
}

/* object.__init__, which all built-in types share: exceptions keep their arguments,
 * dictionaries and lists fill themselves. Reached by super().__init__(...) of a subclass. */
static int o_init(struct bind *b)
{
	struct val t;
	if (b->a[0].kind == V_OBJECT && class_is_sub(b->a[0].u.o->cls, b->h->type.exc_class[EXC_BaseException])) {
		if (val_tuple(b->h, b->a[1].u.seq->v, b->a[1].u.seq->n, &t))
			return -1;
		return attrs_set(b->h, b->a[0].u.o->attrs, b->h->nm[NM_args], t);
	}
	if (b->a[0].kind == V_DICT) {
		if (b->a[1].u.seq->n && dict_fill(b->h, b->a[0], b->a[1].u.seq->v[0]))
			return -1;
		return dict_update(b->h, b->a[0], b->a[2]);
	}
	if (b->a[0].kind == V_LIST && b->a[1].u.seq->n)
		return list_extend(b->h, b->a[0], b->a[1].u.seq->v[0]);
	return 0;
}

/* object.__setattr__(x, name, v): past the __setattr__ of a class. */
static int o_setattr(struct bind *b)
{
	struct str_obj *name = name_arg(b, 1);
	return name ? attr_set_generic(b->h, b->a[0], name, b->a[2]) : -1;
}

static int o_delattr(struct bind *b)
{
	struct str_obj *name = name_arg(b, 1);
	return name ? attr_del_generic(b->h, b->a[0], name) : -1;
}

static int o_init_subclass(struct bind *b)
{
	(void)b;
	return 0;
}

static int b_notimpl(struct bind *b)
{
	b->out = (struct val){ .kind = V_NOTIMPL };
	return 0;
}

static int b_ellipsis(struct bind *b)
{
	b->out = (struct val){ .kind = V_ELLIPSIS };
	return 0;
}

static int b_debug(struct bind *b)
{
	b->out = val_bool(1);
	return 0;
}

/* C.mro(): a list, unlike C.__mro__. */
static int t_mro(struct bind *b)
{
	struct val t;
	if (attr_load(b->h, b->a[0], b->h->nm[NM___mro__], &t))
		return -1;
	return host_to_list(b->h, t, &b->out);
}

const struct bind_row builtin_rows[] = {
	{ "builtins.print", "*values, sep=' ', end='\n', file=None, flush=False", b_print, 0 },
	{ "builtins.repr", "obj, /", b_repr, 0 },
	{ "builtins.ascii", "obj, /", b_ascii, 0 },
	{ "builtins.format", "value, format_spec='', /", b_format, 0 },
	{ "builtins.chr", "i, /", b_chr, 0 },
	{ "builtins.ord", "c, /", b_ord, 0 },
	{ "builtins.bin", "number, /", b_bin, 0 },
	{ "builtins.hex", "number, /", b_hex, 0 },
	{ "builtins.oct", "number, /", b_oct, 0 },
	{ "builtins.abs", "x, /", b_abs, 0 },
	{ "builtins.round", "number, ndigits=None", b_round, 0 },
	{ "builtins.divmod", "x, y, /", b_divmod, 0 },
	{ "builtins.pow", "base, exp, mod=None", b_pow, 0 },
	{ "builtins.isinstance", "obj, class_or_tuple, /", b_isinstance, 0 },
	{ "builtins.issubclass", "cls, class_or_tuple, /", b_issubclass, 0 },
	{ "builtins.hasattr", "obj, name, /", b_hasattr, 0 },
	{ "builtins.getattr", "obj, name, default=?, /", b_getattr, 0 },
	{ "builtins.setattr", "obj, name, value, /", b_setattr, 0 },
	{ "builtins.delattr", "obj, name, /", b_delattr, 0 },
	{ "builtins.callable", "obj, /", b_callable, 0 },
	{ "builtins.hash", "obj, /", b_hash, 0 },
	{ "builtins.id", "obj, /", b_id, 0 },
	{ "builtins.NotImplemented", "", b_notimpl, BIND_CONST },
	{ "builtins.Ellipsis", "", b_ellipsis, BIND_CONST },
	{ "builtins.__debug__", "", b_debug, BIND_CONST },
	{ "object.__new__", "cls, *args, **kwargs", b_object, BIND_STATIC },
	{ "object.__init__", "self, *args, **kwargs", o_init, 0 },
	{ "object.__setattr__", "self, name, value", o_setattr, 0 },
	{ "object.__delattr__", "self, name", o_delattr, 0 },
	{ "object.__init_subclass__", "cls, **kwargs", o_init_subclass, BIND_CLASSMETHOD },
	{ "type.mro", "cls", t_mro, 0 },
	{ "int.__new__", "cls, x=?, base=None", b_int, BIND_STATIC },
	{ "bool.__new__", "cls, x=False", b_bool, BIND_STATIC },
	{ "float.__new__", "cls, x=?", b_float, BIND_STATIC },
	{ "str.__new__", "cls, object=?, encoding=None, errors=None", b_str, BIND_STATIC },
	{ "bytes.__new__", "cls, source=?, encoding=None", b_bytes, BIND_STATIC },
	{ "super.__new__", "cls, type=?, obj=?, /", b_super, BIND_STATIC },
	{ "property.__new__", "cls, fget=None, fset=None, fdel=None, doc=None", b_property, BIND_STATIC },
	{ "property.setter", "self, fset", p_setter, 0 },
	{ "property.getter", "self, fget", p_getter, 0 },
	{ "staticmethod.__new__", "cls, function", b_staticmethod, BIND_STATIC },
	{ "classmethod.__new__", "cls, function", b_classmethod, BIND_STATIC },
	{ NULL, NULL, NULL, 0 }
};
