/* Integers beyond 64 bits: sign and magnitude, 32-bit digits with the least first, schoolbook
 * algorithms. Results that fit int64 come back as V_INT, so a V_BIG is never small.
 *
 * Sizes are limited: an integer of more than BIG_DIGITS digits (2 million bits) ends the program
 * with out_of_memory. Costs are charged as fuel: linear for addition, quadratic for
 * multiplication. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "interp/big.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/operator.h"

enum { BIG_DIGITS = 1 << 16 };

/* A magnitude in scratch memory of the host (a V_BIG object that the temporaries hold) or in a
 * digit array of the caller. n counts digits without leading zeros. */
struct mag { uint32_t *d; size_t n; int neg; };

/* Zeroed digits for a result. One more than asked for is allocated, so that algorithms may
 * touch d[n]. */
static int mag_new(struct host *h, size_t n, struct mag *m)
{
	struct big_obj *o;

	*m = (struct mag){ .d = NULL };
	if (n > BIG_DIGITS)
		return host_fatal(h, REASON_out_of_memory, "an integer exceeds %d bits", BIG_DIGITS * 32);
	if (host_burn(h, (int64_t)n / 4))
		return -1;
	o = host_obj(h, V_BIG, sizeof *o + (n + 1) * sizeof *o->d, NULL);
	if (!o)
		return -1;
	o->n = n + 1;
	*m = (struct mag){ .d = o->d, .n = n };
	return 0;
}

/* Drops leading zeros. */
static void trim(struct mag *m)
{
	while (m->n && !m->d[m->n - 1])
		m->n--;
}

/* The magnitude of any integer. A small one is spread over `small`, which the caller owns. */
static struct mag mag_of(struct val v, uint32_t small[2])
{
	struct mag m;
	uint64_t u;

	if (v.kind == V_BIG) {
		m = (struct mag){ .d = v.u.big->d, .n = v.u.big->n, .neg = v.u.big->neg };
		trim(&m);
		return m;
	}
	u = v.u.i < 0 ? 0 - (uint64_t)v.u.i : (uint64_t)v.u.i;
	small[0] = (uint32_t)u;
	small[1] = (uint32_t)(u >> 32);
	m = (struct mag){ .d = small, .n = 2, .neg = v.u.i < 0 };
	trim(&m);
	return m;
}

/* The value of a magnitude: V_INT if it fits, else a new V_BIG. */
static int mag_to_val(struct host *h, struct mag m, struct val *out)
{
	struct big_obj *o;

	trim(&m);
	if (m.n <= 2) {
		uint64_t u = (m.n > 0 ? m.d[0] : 0) | (uint64_t)(m.n > 1 ? m.d[1] : 0) << 32;
		if (u <= INT64_MAX || (m.neg && u == (uint64_t)1 << 63)) {
			*out = val_int(m.neg ? (int64_t)(0 - u) : (int64_t)u);
			return 0;
		}
	}
	o = host_obj(h, V_BIG, sizeof *o + m.n * sizeof *o->d, NULL);
	if (!o)
		return -1;
	o->n = m.n;
	o->neg = m.neg;
	memcpy(o->d, m.d, m.n * sizeof *o->d);
	*out = val_obj(&o->h);
	return 0;
}

/* Three-way comparison of magnitudes, signs ignored. */
static int mag_cmp(const struct mag *a, const struct mag *b)
{
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	for (size_t i = a->n; i-- > 0;)
		if (a->d[i] != b->d[i])
			return a->d[i] < b->d[i] ? -1 : 1;
	return 0;
}

/* a| + |b|. */
static int mag_add(struct host *h, const struct mag *a, const struct mag *b, struct mag *r)
{
	uint64_t carry = 0;
	size_t n = MAX(a->n, b->n) + 1;
	if (mag_new(h, n, r))
		return -1;
	for (size_t i = 0; i < n; i++) {
		carry += (uint64_t)(i < a->n ? a->d[i] : 0) + (i < b->n ? b->d[i] : 0);
		r->d[i] = (uint32_t)carry;
		carry >>= 32;
	}
	trim(r);
	return 0;
}

/* a| - |b|. The caller makes sure that |a| >= |b|. */
static int mag_sub(struct host *h, const struct mag *a, const struct mag *b, struct mag *r)
{
	int64_t borrow = 0;
	if (mag_new(h, a->n, r))
		return -1;
	for (size_t i = 0; i < a->n; i++) {
		int64_t x = (int64_t)a->d[i] - (i < b->n ? b->d[i] : 0) + borrow;
		r->d[i] = (uint32_t)x;
		borrow = x < 0 ? -1 : 0;
	}
	trim(r);
	return 0;
}

/* a + b with signs: equal signs add, different ones subtract the smaller magnitude. */
static int signed_add(struct host *h, struct mag a, struct mag b, struct mag *r)
{
	int rc, c;
	if (a.neg == b.neg) {
		rc = mag_add(h, &a, &b, r);
		r->neg = a.neg;
		return rc;
	}
	c = mag_cmp(&a, &b);
	rc = c >= 0 ? mag_sub(h, &a, &b, r) : mag_sub(h, &b, &a, r);
	r->neg = c >= 0 ? a.neg : b.neg;
	return rc;
}

/* a * b, digit by digit. Costs one step of fuel per 16 digit products. */
static int mag_mul(struct host *h, const struct mag *a, const struct mag *b, struct mag *r)
{
	if (mag_new(h, a->n + b->n, r) || host_burn(h, (int64_t)(a->n * b->n / 16)))
		return -1;
	for (size_t i = 0; i < a->n; i++) {
		uint64_t carry = 0;
		for (size_t k = 0; k < b->n; k++) {
			carry += (uint64_t)a->d[i] * b->d[k] + r->d[i + k];
			r->d[i + k] = (uint32_t)carry;
			carry >>= 32;
		}
		r->d[i + b->n] = (uint32_t)carry;
	}
	r->neg = a->neg != b->neg;
	trim(r);
	return 0;
}

/* Divides in place by one digit and returns the remainder. */
static uint32_t mag_div_small(struct mag *a, uint32_t by)
{
	uint64_t rem = 0;
	for (size_t i = a->n; i-- > 0;) {
		rem = rem << 32 | a->d[i];
		a->d[i] = (uint32_t)(rem / by);
		rem %= by;
	}
	trim(a);
	return (uint32_t)rem;
}

/* a| << bits. */
static int shift_left(struct host *h, const struct mag *a, int64_t bits, struct mag *r)
{
	size_t words = (size_t)bits / 32;
	int k = (int)(bits % 32);
	if (bits > (int64_t)BIG_DIGITS * 32)
		return host_fatal(h, REASON_out_of_memory, "an integer exceeds %d bits", BIG_DIGITS * 32);
	if (mag_new(h, a->n + words + 1, r))
		return -1;
	for (size_t i = 0; i < a->n; i++) {
		uint64_t x = (uint64_t)a->d[i] << k;
		r->d[i + words] |= (uint32_t)x;
		r->d[i + words + 1] |= (uint32_t)(x >> 32);
	}
	r->neg = a->neg;
	trim(r);
	return 0;
}

/* Truncating division, bit by bit over the bits of a. Simple: numbers large enough for its
 * speed to matter are refused. */
static int mag_divmod(struct host *h, const struct mag *a, const struct mag *b, struct mag *q, struct mag *r)
{
	size_t rn;

	if (mag_new(h, a->n, q) || mag_new(h, b->n + 1, r))
		return -1;
	if (b->n == 1) {
		memcpy(q->d, a->d, a->n * sizeof *q->d);
		r->d[0] = mag_div_small(q, b->d[0]);
		trim(r);
		return 0;
	}
	if (host_burn(h, (int64_t)(a->n * b->n)))
		return -1;
	rn = b->n + 1;
	for (size_t i = a->n * 32; i-- > 0;) {
		uint32_t carry = a->d[i / 32] >> (i % 32) & 1;
		int64_t borrow;
		struct mag rem;

		for (size_t k = 0; k < rn; k++) {
			uint32_t top = r->d[k] >> 31;
			r->d[k] = r->d[k] << 1 | carry;
			carry = top;
		}
		/* r was doubled and took the next bit of a. If r has reached b, subtract b and
		 * set the bit of q. */
		rem = (struct mag){ .d = r->d, .n = rn };
		trim(&rem);
		if (mag_cmp(&rem, b) < 0)
			continue;
		borrow = 0;
		for (size_t k = 0; k < rn; k++) {
			int64_t x = (int64_t)r->d[k] - (k < b->n ? b->d[k] : 0) + borrow;
			r->d[k] = (uint32_t)x;
			borrow = x < 0 ? -1 : 0;
		}
		q->d[i / 32] |= (uint32_t)1 << (i % 32);
	}
	trim(q);
	r->n = rn;
	trim(r);
	return 0;
}

/* Floor division and modulo with Python's signs: if the signs differ and there is a remainder,
 * the quotient goes down by one and the remainder becomes b - r. */
static int floor_divmod(struct host *h, struct mag a, struct mag b, struct mag *q, struct mag *r)
{
	struct mag t, u;
	uint32_t one_digit = 1;
	struct mag one = { .d = &one_digit, .n = 1 };
	if (!b.n)
		return host_raise(h, EXC_ZeroDivisionError, "integer division or modulo by zero");
	if (mag_divmod(h, &a, &b, q, r))
		return -1;
	if (a.neg != b.neg && r->n) {
		if (mag_add(h, q, &one, &t) || mag_sub(h, &b, r, &u))
			return -1;
		*q = t;
		*r = u;
	}
	q->neg = a.neg != b.neg;
	r->neg = b.neg;
	return 0;
}

/* a ** b by squaring. */
static int big_pow(struct host *h, struct val a, struct val b, struct val *out)
{
	struct val base = a, acc = val_int(1);
	if (b.kind == V_BIG)
		return host_fatal(h, REASON_out_of_memory, "an exponent exceeds 64 bits");
	for (int64_t e = b.u.i; e; e >>= 1) {
		if (e & 1 && pynum_binary(h, PY_OP_Mult, acc, base, &acc))
			return -1;
		if (e > 1 && pynum_binary(h, PY_OP_Mult, base, base, &base))
			return -1;
	}
	*out = acc;
	return 0;
}

/* The two's complement digits of a number, n of them: bit operators are defined on these. */
static void twos(const struct mag *m, uint32_t *d, size_t n)
{
	uint64_t carry = 1;
	for (size_t i = 0; i < n; i++) {
		uint32_t x = i < m->n ? m->d[i] : 0;
		if (m->neg) {
			carry += (uint32_t)~x;
			x = (uint32_t)carry;
			carry >>= 32;
		}
		d[i] = x;
	}
}

/* & | ^ on two's complement digits with one digit more than the longer operand for the sign: -1
 * & 2**70 is 2**70. */
static int big_bits(struct host *h, enum py_op op, struct mag a, struct mag b, struct val *out)
{
	struct mag x, y;
	size_t n = MAX(a.n, b.n) + 1;
	if (mag_new(h, n, &x) || mag_new(h, n, &y))
		return -1;
	twos(&a, x.d, n);
	twos(&b, y.d, n);
	for (size_t i = 0; i < n; i++)
		x.d[i] = op == PY_OP_BitAnd ? x.d[i] & y.d[i] : op == PY_OP_BitOr ? x.d[i] | y.d[i] : x.d[i] ^ y.d[i];
	x.n = n;
	if (x.d[n - 1] >> 31) {
		struct mag neg = { .d = x.d, .n = n, .neg = 1 };
		twos(&neg, y.d, n);
		y.n = n;
		y.neg = 1;
		return mag_to_val(h, y, out);
	}
	return mag_to_val(h, x, out);
}

/* << and >>. A right shift is a floor division by a power of two: -5 >> 1 is -3. */
static int big_shift(struct host *h, enum py_op op, struct val va, struct mag a, struct val vb, struct val *out)
{
	struct mag r, q, by;
	uint32_t one_digit = 1;
	struct mag one = { .d = &one_digit, .n = 1 };
	if (vb.kind == V_BIG || vb.u.i < 0)
		return host_raise(h, vb.kind == V_BIG ? EXC_OverflowError : EXC_ValueError,
				  vb.kind == V_BIG ? "shift count too large" : "negative shift count");
	if (op == PY_OP_LShift)
		return shift_left(h, &a, vb.u.i, &r) ? -1 : mag_to_val(h, r, out);
	if (vb.u.i > (int64_t)BIG_DIGITS * 32) {
		*out = val_int(a.neg ? -1 : 0);
		return 0;
	}
	(void)va;
	if (shift_left(h, &one, vb.u.i, &by) || floor_divmod(h, a, by, &q, &r))
		return -1;
	return mag_to_val(h, q, out);
}

/* Operators on integers. At least one operand, or the result, is beyond int64. */
int big_binary(struct host *h, enum py_op op, struct val va, struct val vb, struct val *out)
{
	uint32_t sa[2], sb[2];
	struct mag a = mag_of(va, sa), b = mag_of(vb, sb), q, r;
	switch (op) {
	case PY_OP_Sub: b.neg = !b.neg; /* fall through */
	case PY_OP_Add: return signed_add(h, a, b, &r) ? -1 : mag_to_val(h, r, out);
	case PY_OP_Mult: return mag_mul(h, &a, &b, &r) ? -1 : mag_to_val(h, r, out);
	case PY_OP_FloorDiv: return floor_divmod(h, a, b, &q, &r) ? -1 : mag_to_val(h, q, out);
	case PY_OP_Mod: return floor_divmod(h, a, b, &q, &r) ? -1 : mag_to_val(h, r, out);
	case PY_OP_Pow: return big_pow(h, va, vb, out);
	case PY_OP_LShift: case PY_OP_RShift: return big_shift(h, op, va, a, vb, out);
	case PY_OP_BitAnd: case PY_OP_BitOr: case PY_OP_BitXor: return big_bits(h, op, a, b, out);
	default: return host_fatal(h, REASON_unsupported, "this operation on integers beyond 64 bits is not supported");
	}
}

/* Three-way comparison of integers. */
int big_compare(struct val va, struct val vb)
{
	uint32_t sa[2], sb[2];
	struct mag a = mag_of(va, sa), b = mag_of(vb, sb);
	int c;

	if (a.neg != b.neg)
		return a.neg ? -1 : 1;
	c = mag_cmp(&a, &b);
	return a.neg ? -c : c;
}

/* Compares an integer with a double that has an integer value of at least 2**53: the double's
 * 53 bits are laid out as digits, so the comparison is exact. */
int big_compare_double(struct val v, double whole)
{
	uint32_t s[2], d[1024 / 32 + 2] = { 0 };
	int exp, order;
	uint64_t top = (uint64_t)ldexp(frexp(fabs(whole), &exp), 53);
	struct mag a = mag_of(v, s), b = { .d = d, .n = COUNT_OF(d), .neg = whole < 0 };
	int shift = exp - 53, at = shift / 32, by = shift % 32;

	d[at] = (uint32_t)(top << by);
	d[at + 1] = (uint32_t)((top << by) >> 32);
	d[at + 2] = by ? (uint32_t)(top >> (64 - by)) : 0;
	trim(&b);
	order = a.neg != b.neg ? 1 : mag_cmp(&a, &b);
	return a.neg ? -order : order;
}

/* The nearest double: the top 64 bits decide, with a sticky bit for all lower ones. Infinity if
 * the value is too large. */
double big_to_double(struct val v)
{
	uint32_t s[2];
	struct mag m = mag_of(v, s);
	double f;
	int sticky, lead;
	uint64_t top;

	if (m.n <= 2) {
		uint64_t u = (m.n > 0 ? m.d[0] : 0) | (uint64_t)(m.n > 1 ? m.d[1] : 0) << 32;
		return m.neg ? -(double)u : (double)u;
	}
	lead = __builtin_clz(m.d[m.n - 1]);
	top = (uint64_t)m.d[m.n - 1] << 32 | m.d[m.n - 2];
	if (lead)
		top = top << lead | m.d[m.n - 3] >> (32 - lead);
	sticky = lead ? (m.d[m.n - 3] << lead) != 0 : m.d[m.n - 3] != 0;
	for (size_t i = 0; i + 3 < m.n && !sticky; i++)
		sticky = m.d[i] != 0;
	f = ldexp((double)(top | (uint64_t)sticky), (int)((m.n - 2) * 32) - lead);
	return m.neg ? -f : f;
}

/* Number of bits without leading zeros. */
static int64_t mag_bits(const struct mag *m)
{
	return m->n ? (int64_t)(m->n * 32) - __builtin_clz(m->d[m->n - 1]) : 0;
}

/* a / b rounded once: the operands are shifted so that the quotient has 62 or 63 bits. Its last
 * bit is set if a remainder is left (sticky), so the conversion to double rounds correctly. */
int big_true_div(struct host *h, struct val va, struct val vb, struct val *out)
{
	uint32_t s[2], t[2];
	struct mag a = mag_of(va, s), b = mag_of(vb, t), up, q, r;
	int64_t shift = 62 - (mag_bits(&a) - mag_bits(&b));
	double f;

	if (!a.n) {
		*out = val_float(0.0);
		return 0;
	}
	if (shift_left(h, shift > 0 ? &a : &b, llabs(shift), &up) ||
	    mag_divmod(h, shift > 0 ? &up : &a, shift > 0 ? &b : &up, &q, &r))
		return -1;
	f = ldexp((double)((uint64_t)q.d[0] | (uint64_t)q.d[1] << 32 | (r.n > 0)), (int)-shift);
	if (isinf(f))
		return host_raise(h, EXC_OverflowError, "integer division result too large for a float");
	if (f < DBL_MIN)
		return host_fatal(h, REASON_unsupported,
				  "an integer quotient below the smallest normal float is not supported");
	*out = val_float(a.neg != b.neg ? -f : f);
	return 0;
}

/* int(f): truncates. Above 2**63 the 53 bits of the fraction are shifted into place. */
int big_from_double(struct host *h, double f, struct val *out)
{
	int exp;
	struct mag m, r;
	uint32_t s[2];
	double frac;
	struct val top;

	if (isnan(f))
		return host_raise(h, EXC_ValueError, "cannot convert float NaN to integer");
	if (isinf(f))
		return host_raise(h, EXC_OverflowError, "cannot convert float infinity to integer");
	if (fabs(f) < 9.2e18) {
		*out = val_int((int64_t)f);
		return 0;
	}
	frac = frexp(fabs(f), &exp);
	top = val_int((int64_t)ldexp(frac, 53));
	m = mag_of(top, s);
	m.neg = f < 0;
	return shift_left(h, &m, exp - 53, &r) ? -1 : mag_to_val(h, r, out);
}

/* Digits in `base` to an integer; base 0 reads the prefix 0x, 0o or 0b. The caller has checked
 * that the digits are valid. CPython refuses more than 4300 decimal digits. */
int big_parse(struct host *h, struct str s, int base, struct val *out)
{
	struct mag m;
	size_t cap;

	if (base == 0) {
		base = 10;
		if (s.n > 2 && s.p[0] == '0') {
			int c = s.p[1] | 32;
			base = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 10;
			if (base != 10)
				s.p += 2, s.n -= 2;
		}
	}
	if (base == 10 && s.n > 4300)
		return host_raise(h, EXC_ValueError,
				  "Exceeds the limit (4300 digits) for integer string conversion: value has %zu digits",
				  s.n);
	if (mag_new(h, s.n / 6 + 2, &m) || host_burn(h, (int64_t)(s.n * s.n / 64)))
		return -1;
	cap = m.n;
	m.n = 0;
	for (size_t i = 0; i < s.n; i++) {
		int c = s.p[i] | 32;
		uint64_t carry = (uint64_t)(c >= 'a' ? c - 'a' + 10 : s.p[i] - '0');
		for (size_t k = 0; k < m.n; k++) {
			carry += (uint64_t)m.d[k] * (uint32_t)base;
			m.d[k] = (uint32_t)carry;
			carry >>= 32;
		}
		if (carry && m.n < cap)
			m.d[m.n++] = (uint32_t)carry;
	}
	return mag_to_val(h, m, out);
}

/* CPython converts at most this many decimal digits unless it is told otherwise. */
enum { DIGITS_MOST = 4300 };

/* Appends the digits of v in `base`. A failure is pending in the host afterwards. */
void big_format(struct host *h, struct val v, int base, struct buf *out)
{
	uint32_t s[2];
	struct mag m = mag_of(v, s), w;
	struct buf digits = BUF_INIT;
	if (mag_new(h, m.n, &w) || host_burn(h, (int64_t)(m.n * m.n)))
		return;
	memcpy(w.d, m.d, m.n * sizeof *w.d);
	if (!w.n)
		buf_addc(&digits, '0');
	while (w.n)
		buf_addc(&digits, "0123456789abcdef"[mag_div_small(&w, (uint32_t)base)]);
	if (base == 10 && digits.n > DIGITS_MOST)
		host_fatal(h, REASON_value_error,
			   "ValueError: Exceeds the limit (%d digits) for integer string conversion", DIGITS_MOST);
	if (m.neg)
		buf_addc(out, '-');
	for (size_t i = digits.n; i-- > 0;)
		buf_addc(out, digits.p[i]);
	buf_release(&digits);
}

int big_neg(struct host *h, struct val v, struct val *out)
{
	uint32_t s[2];
	struct mag m = mag_of(v, s);
	m.neg = !m.neg;
	return mag_to_val(h, m, out);
}

int64_t big_bit_length(struct val v)
{
	uint32_t s[2];
	struct mag m = mag_of(v, s);
	return mag_bits(&m);
}
