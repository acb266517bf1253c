/* Fits products of linear factors to samples: see size_fit.h. */
#include "solve/size_fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { TIMES_MOST = 1000, SIZE_FAR = 64, DEGREE_MOST = 3, FACTORS = DEGREE_MOST * 2 };

/* (a * ((size + up) // in) + c) // d. */
struct factor { int var; int64_t a, up, in, c, d; };

struct product {
	struct factor f[FACTORS];
	int n;
	int64_t num;
};

/* --- samples ---------------------------------------------------------------------------------------- */

/* Samples of a size that differ from sample 0. */
static int own_samples(const struct size_var *v)
{
	return SIZE_COARSE - 1 + v->fine;
}

int size_samples(const struct size_vars *v)
{
	int n = 1 + (v->n > 1);

	for (int i = 0; i < v->n; i++)
		n += own_samples(&v->v[i]);
	return n;
}

/* The number of the last coarse sample of a size. Large steps need it far away: in steps of 32, size // 11 is nearly
 * size * 3 // 32 for a while. */
static int64_t far_sample(const struct size_var *v)
{
	return v->step < 16 ? 4 + SIZE_FAR / v->step : 24;
}

int64_t size_at(const struct size_vars *v, int i, int sample)
{
	const struct size_var *s = &v->v[i];

	if (v->n > 1 && sample == size_samples(v) - 1)
		return s->first + 2 * s->step;
	for (int k = 0; k < i; k++)
		sample -= own_samples(&v->v[k]);
	if (sample <= 0 || sample > own_samples(s))
		return s->first;
	if (sample >= SIZE_COARSE)
		return s->first + sample - SIZE_COARSE + 1;
	return s->first + s->step * (sample == SIZE_COARSE - 1 ? far_sample(s) : sample);
}

/* --- factors ------------------------------------------------------------------------------------------ */

static int64_t gcd(int64_t a, int64_t b)
{
	a = a < 0 ? -a : a;
	b = b < 0 ? -b : b;
	while (b) {
		int64_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/* The factor a * k + b of a polynomial in the number k of the sample, as one in the size. */
static int add_factor(struct product *p, const struct size_vars *v, int var, int64_t a, int64_t b)
{
	const struct size_var *s = &v->v[var];
	int64_t c = b * s->step - a * s->first, g = gcd(a, c);

	if (p->n == FACTORS || a / g < 0)
		return 1;
	p->f[p->n++] = (struct factor){ .var = var, .a = a / g, .in = 1, .c = c / g, .d = 1 };
	return 0;
}

/* Coefficients times 6 of the cubic polynomial through y[0 .. 3] at k = 0 .. 3, which must have the last value
 * at k = `far`, too. Returns its degree, or -1. */
static int coefficients(const int64_t *y, int64_t far, int64_t *c)
{
	int64_t d1 = y[1] - y[0], d2 = y[2] - 2 * y[1] + y[0], d3 = y[3] - 3 * y[2] + 3 * y[1] - y[0];
	int degree = DEGREE_MOST;

	if (6 * (y[4] - y[0]) != far * (6 * d1 + (far - 1) * (3 * d2 + (far - 2) * d3)))
		return -1;
	c[0] = 6 * y[0];
	c[1] = 6 * d1 - 3 * d2 + 2 * d3;
	c[2] = 3 * d2 - 3 * d3;
	c[3] = d3;
	while (degree > 0 && !c[degree])
		degree--;
	return degree;
}

/* A quadratic polynomial with rational roots. */
static int split_square(struct product *p, const struct size_vars *v, int var, const int64_t *c)
{
	int64_t g = gcd(gcd(c[0], c[1]), c[2]), a = c[2] / g, b = c[1] / g, s;
	double disc = (double)b * (double)b - 4.0 * (double)a * (double)(c[0] / g);

	if (disc < 0 || disc > 1e15)
		return 1;
	s = (int64_t)llround(sqrt(disc));
	if ((double)s * (double)s != disc)
		return 1;
	return add_factor(p, v, var, 2 * a, b - s) || add_factor(p, v, var, 2 * a, b + s);
}

/* Adds the factors of a polynomial, without its constant. Returns 1 if it has no such factors. */
static int split(struct product *p, const struct size_vars *v, int var, const int64_t *c, int degree)
{
	if (degree == 2)
		return split_square(p, v, var, c);
	for (int i = 0; i < degree; i++)        /* a power of one factor: b / a is c[n - 1] / (n c[n]) */
		if (add_factor(p, v, var, degree * c[degree], c[degree - 1]))
			return 1;
	return 0;
}

/* --- rounding and the constant ---------------------------------------------------------------------------- */

/* Whether the product has the right value in every sample. Its constant is what sample 0 needs. */
static int agrees(struct product *p, const struct size_vars *v, const int64_t *y)
{
	p->num = 0;
	for (int s = 0; s < size_samples(v); s++) {
		__int128 x = 1;

		for (int i = 0; i < p->n && x; i++) {
			int64_t n = (size_at(v, p->f[i].var, s) + p->f[i].up) / p->f[i].in * p->f[i].a + p->f[i].c;

			x *= n > 0 ? n / p->f[i].d : 0;
			x = x > INT64_MAX ? 0 : x;
		}
		if (!x || (s == 0 && y[0] % (int64_t)x))
			return 0;
		p->num = s ? p->num : y[0] / (int64_t)x;
		if (p->num * x != y[s])
			return 0;
	}
	return p->num > 0;
}

/* Tries divisors and roundings of the factors from the i-th on: (size + 1) // 2 is (size / 2) rounded up. */
static int round_factors(struct product *p, const struct size_vars *v, const int64_t *y, int i)
{
	struct factor f;
	int64_t most;

	if (i == p->n)
		return agrees(p, v, y);
	f = p->f[i];
	most = v->v[f.var].step;
	for (int64_t d = 1; d <= most; d++)
		for (int64_t up = 0; up < (most % d ? 0 : v->v[f.var].fine ? d : 1); up++) {
			p->f[i].d = d;
			p->f[i].c = f.c + up;
			if (round_factors(p, v, y, i + 1))
				return 1;
		}
	p->f[i] = f;
	return 0;
}

/* Tries one divisor and rounding for all factors: an image that five layers halve has ((size + 31) // 32) rows and as
 * many columns. */
static int round_alike(struct product *p, const struct size_vars *v, const int64_t *y)
{
	struct product was = *p;
	int64_t most = 0;

	for (int i = 0; i < p->n; i++)
		most = MAX(most, v->v[p->f[i].var].step);
	for (int64_t d = 2; d <= most; d++)
		for (int64_t up = 0; up < (most % d ? 0 : d); up++) {
			for (int i = 0; i < p->n; i++) {
				const struct size_var *s = &v->v[was.f[i].var];

				p->f[i].d = s->step % d ? 1 : d;
				p->f[i].c = was.f[i].c + (s->step % d || !s->fine ? 0 : up);
			}
			if (agrees(p, v, y))
				return 1;
		}
	*p = was;
	return 0;
}

/* Tries every divisor and rounding for every factor, if that takes no more than a moment. */
static int round_each(struct product *p, const struct size_vars *v, const int64_t *y)
{
	enum { STEP_MOST = 12 };

	for (int i = 0; i < p->n; i++)
		if (v->v[p->f[i].var].step > STEP_MOST && v->v[p->f[i].var].fine)
			return 0;
	return round_factors(p, v, y, 0);
}

/* The factor a * size + c with a size that is rounded to a multiple of `in`: an image that is halved twice, doubled
 * twice and padded by 3 on each side has 4 * ((size + 3) // 4) + 6 rows. Coarse samples are `in` apart, so their
 * rounding changes the constant only. */
static struct factor round_size(const struct size_vars *v, struct factor f, int64_t in, int64_t up)
{
	int64_t first = v->v[f.var].first, more = (first + up) / in * in - first;
	int64_t a = f.a * in, c = f.c - f.a * more, g = gcd(a, c);

	return (struct factor){ .var = f.var, .a = a / g, .up = up, .in = in, .c = c / g, .d = 1 };
}

/* Tries sizes that are rounded before they are added to, the same in every factor. */
static int round_sizes(struct product *p, const struct size_vars *v, const int64_t *y)
{
	struct product was = *p;
	int64_t most = 0;

	for (int i = 0; i < p->n; i++)
		most = MAX(most, v->v[p->f[i].var].fine ? v->v[p->f[i].var].step : 0);
	for (int64_t in = 2; in <= most; in++)
		for (int64_t up = 0; up < (most % in ? 0 : in); up++) {
			for (int i = 0; i < p->n; i++)
				if (v->v[p->f[i].var].fine && v->v[p->f[i].var].step % in == 0)
					p->f[i] = round_size(v, was.f[i], in, up);
			if (agrees(p, v, y))
				return 1;
			*p = was;
		}
	return 0;
}

/* --- text ---------------------------------------------------------------------------------------------- */

static size_t write_factor(const struct size_vars *v, const struct factor *f, const char *times, char *to, size_t cap)
{
	char sum[96], name[64];
	int n;

	snprintf(name, sizeof name, "%s", v->v[f->var].name);
	if (f->in != 1 && f->up)
		snprintf(name, sizeof name, "((%s + %lld) // %lld)", v->v[f->var].name, (long long)f->up,
			 (long long)f->in);
	else if (f->in != 1)
		snprintf(name, sizeof name, "(%s // %lld)", v->v[f->var].name, (long long)f->in);
	n = f->a != 1 ? snprintf(sum, sizeof sum, "%s * %lld", name, (long long)f->a) :
		snprintf(sum, sizeof sum, "%s", name);

	if (f->c)
		snprintf(sum + n, sizeof sum - (size_t)n, " %c %lld", f->c < 0 ? '-' : '+',
			 (long long)(f->c < 0 ? -f->c : f->c));
	if (f->d != 1)
		return (size_t)snprintf(to, cap, f->c || f->a != 1 ? "%s((%s) // %lld)" : "%s(%s // %lld)", times, sum,
					(long long)f->d);
	return (size_t)snprintf(to, cap, f->c ? "%s(%s)" : "%s%s", times, sum);
}

static void write_product(const struct product *p, const struct size_vars *v, char *code, size_t cap)
{
	size_t n = 0;

	if (p->num != 1)
		n += (size_t)snprintf(code, cap, "%lld", (long long)p->num);
	for (int i = 0; i < p->n && n < cap; i++)
		n += write_factor(v, &p->f[i], n ? " * " : "", code + n, cap - n);
	if (*code == '(' && p->n == 1 && p->num == 1 && n < cap) {     /* one factor needs no parentheses */
		memmove(code, code + 1, n - 2);
		code[n - 2] = 0;
	}
}

static int fit_product(const struct size_vars *v, const int64_t *y, struct product *p)
{
	const int64_t *next = y + 1;
	int64_t c[DEGREE_MOST + 1];

	*p = (struct product){ .n = 0 };
	for (int i = 0; i < v->n; i++) {
		int64_t own[SIZE_COARSE] = { y[0] };
		int degree;

		memcpy(own + 1, next, (SIZE_COARSE - 1) * sizeof *y);
		next += own_samples(&v->v[i]);
		degree = coefficients(own, far_sample(&v->v[i]), c);
		if (degree < 0 || (degree && split(p, v, i, c, degree)))
			return 1;
	}
	return !p->n || (!agrees(p, v, y) && !round_each(p, v, y) && !round_alike(p, v, y) && !round_sizes(p, v, y));
}

int size_fit(const struct size_vars *v, const int64_t *y, char *code, size_t cap)
{
	struct product p;

	if (fit_product(v, y, &p))
		return 1;
	write_product(&p, v, code, cap);
	return strlen(code) + 1 >= cap;
}

int size_fit_less(const struct size_vars *v, const int64_t *y, char *code, size_t cap)
{
	int64_t more[SIZE_SAMPLES], all = 0;
	struct product p;
	int n;

	for (int s = 0; s < size_samples(v); s++)
		all = gcd(all, y[s]);
	for (int64_t times = 1; times <= MIN(all, TIMES_MOST); times++) {
		for (int s = 0; s < size_samples(v); s++)
			more[s] = y[s] / times + 1;
		if (all % times || fit_product(v, more, &p))
			continue;
		n = snprintf(code, cap, times == 1 ? "" : "%lld * (", (long long)times);
		write_product(&p, v, code + n, cap - (size_t)n);
		n = (int)strlen(code);
		return snprintf(code + n, cap - (size_t)n, times == 1 ? " - 1" : " - 1)") >= (int)(cap - (size_t)n);
	}
	return 1;
}
