/* The module random: CPython's generator (mt19937, seeded by init_by_array) and the methods
 * that draw from it, and the generator under numpy.random.
 *
 * Every method makes the same draws as CPython's, so seeded programs get CPython's numbers. A
 * judged program may not draw from an unseeded generator: its numbers would differ from run
 * to run. torch's own generator is in num/random.c. */
#include <math.h>

#include "interp/fail.h"
#include "interp/operator.h"
#include "interp/state.h"
#include "torch/torch.h"

enum { MT_N = 624, MT_M = 397 };        /* words of the state; offset of the recurrence */

/* init_genrand of the reference implementation: a state from one word. */
static void mt_init(struct host_random *r, uint32_t seed)
{
	r->mt[0] = seed;
	for (uint32_t i = 1; i < MT_N; i++)
		r->mt[i] = 1812433253u * (r->mt[i - 1] ^ r->mt[i - 1] >> 30) + i;
	r->at = MT_N;
}

/* init_by_array of the reference implementation: a state from n words. */
static void mt_init_array(struct host_random *r, const uint32_t *key, uint32_t n)
{
	uint32_t i = 1, j = 0;
	mt_init(r, 19650218u);
	for (uint32_t k = MAX(MT_N, n); k; k--) {
		r->mt[i] = (r->mt[i] ^ (r->mt[i - 1] ^ r->mt[i - 1] >> 30) * 1664525u) + key[j] + j;
		if (++i >= MT_N)
			r->mt[0] = r->mt[MT_N - 1], i = 1;
		if (++j >= n)
			j = 0;
	}
	for (uint32_t k = MT_N - 1; k; k--) {
		r->mt[i] = (r->mt[i] ^ (r->mt[i - 1] ^ r->mt[i - 1] >> 30) * 1566083941u) - i;
		if (++i >= MT_N)
			r->mt[0] = r->mt[MT_N - 1], i = 1;
	}
	r->mt[0] = 0x80000000u;
	r->ready = 1;
}

/* random.seed(int): the absolute value in 32-bit words, lowest first. The cached value of
 * gauss() goes. */
static void seed_with(struct host_random *r, uint64_t seed)
{
	uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
	mt_init_array(r, key, key[1] ? 2 : 1);
	r->spare = NAN;
}

/* The next word, tempered. A new state is made after 624 words. */
static uint32_t next32(struct host_random *r)
{
	uint32_t y;

	if (!r->ready)
		seed_with(r, 0);
	if (r->at >= MT_N) {
		for (int k = 0; k < MT_N; k++) {
			y = (r->mt[k] & 0x80000000u) | (r->mt[(k + 1) % MT_N] & 0x7fffffffu);
			r->mt[k] = r->mt[(k + MT_M) % MT_N] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
		}
		r->at = 0;
	}
	y = r->mt[r->at++];
	y ^= y >> 11;
	y ^= y << 7 & 0x9d2c5680u;
	y ^= y << 15 & 0xefc60000u;
	return y ^ y >> 18;
}

/* random.random(): 53 bits from two words, 27 and 26. */
static double next_double(struct host_random *r)
{
	uint32_t a = next32(r) >> 5, b = next32(r) >> 6;
	return (a * 67108864.0 + b) * (1.0 / 9007199254740992.0);
}

/* random.getrandbits(k) for k from 1 to 64: the low word is drawn first, the rest keeps its
 * high bits. */
static uint64_t bits(struct host_random *r, int k)
{
	uint64_t low;

	if (k <= 32)
		return next32(r) >> (32 - k);
	low = next32(r);
	return low | (uint64_t)(next32(r) >> (64 - k)) << 32;
}

/* A number in [0, n): draws of as many bits as n has are repeated until one is small enough,
 * as CPython does. n is at least 1. */
static uint64_t below(struct host_random *r, uint64_t n)
{
	int k = 64 - __builtin_clzll(n);
	uint64_t v = bits(r, k);
	while (v >= n)
		v = bits(r, k);
	return v;
}

/* Refuses a draw of a judged program from an unseeded generator. A real process starts its
 * generator at random, and calls of forward are not draws of one sequence. */
static int is_unseeded(struct bind *b, const struct host_random *r)
{
	if (r->ready || b->h->torch.judged == JUDGED_NOT || b->h->o.may_vary || b->h->o.is_reference)
		return 0;
	return host_fatal(b->h, REASON_unstable,
			  "random numbers from a generator without a seed differ from run to run; seed it first");
}

/* seed(a=None): seed() without a value depends on the clock, so a judged program may not call
 * it. */
static int r_seed(struct bind *b)
{
	int64_t s = 0;
	if (!bind_given(b, 0) ? host_varies(b->h, "a seed that the program did not set") : bind_int(b, 0, &s))
		return -1;
	seed_with(&b->h->torch.random, s < 0 ? 0 - (uint64_t)s : (uint64_t)s);
	return 0;
}

/* random(): a double in [0, 1). */
static int r_random(struct bind *b)
{
	if (is_unseeded(b, &b->h->torch.random))
		return -1;
	b->out = val_float(next_double(&b->h->torch.random));
	return 0;
}

/* a + (b - a) * random(), which may round to b, as in CPython. */
static int r_uniform(struct bind *b)
{
	double lo, hi;
	if (bind_float(b, 0, &lo) || bind_float(b, 1, &hi) || is_unseeded(b, &b->h->torch.random))
		return -1;
	b->out = val_float(lo + (hi - lo) * next_double(&b->h->torch.random));
	return 0;
}

/* A number below 2^64, which has 65 bits: as below(), with a second draw of one bit that must
 * be 0. */
static uint64_t below_all(struct host_random *r)
{
	uint64_t v;

	do
		v = bits(r, 64);
	while (bits(r, 1));
	return v;
}

/* randint(a, b): both ends included. A span of 2^64 wraps to 0. */
static int r_randint(struct bind *b)
{
	int64_t lo, hi;
	uint64_t span;

	if (bind_int(b, 0, &lo) || bind_int(b, 1, &hi) || is_unseeded(b, &b->h->torch.random))
		return -1;
	if (hi < lo)
		return bind_raise(b, EXC_ValueError, "empty range for randrange() (%lld, %lld, %lld)",
				  (long long)lo, (long long)(hi + 1),
				  (long long)((uint64_t)hi - (uint64_t)lo + 1));
	span = (uint64_t)hi - (uint64_t)lo + 1;
	b->out = val_int((int64_t)((uint64_t)lo + (span ? below(&b->h->torch.random, span) :
						   below_all(&b->h->torch.random))));
	return 0;
}

/* randrange(stop) or randrange(start, stop, step). The span needs 65 bits, so it is computed
 * in 128. */
static int r_randrange(struct bind *b)
{
	int64_t lo = 0, hi, step;
	__int128 span;
	uint64_t n;

	if (bind_int(b, bind_given(b, 1) ? 1 : 0, &hi) || (bind_given(b, 1) && bind_int(b, 0, &lo)) ||
	    bind_int(b, 2, &step) ||
	    is_unseeded(b, &b->h->torch.random))
		return -1;
	/* ceil((stop - start) / step) values. */
	span = (__int128)hi - lo;
	n = (uint64_t)(step > 0 && hi > lo ? (span + step - 1) / step :
		       step < 0 && hi < lo ? (span + step + 1) / step : 0);
	if (!n)
		return bind_raise(b, EXC_ValueError, "empty range for randrange()");
	b->out = val_int((int64_t)((uint64_t)lo + (uint64_t)step * below(&b->h->torch.random, n)));
	return 0;
}

/* seq[below(len(seq))]. */
static int r_choice(struct bind *b)
{
	int64_t n;
	if (host_len(b->h, b->a[0], &n) || is_unseeded(b, &b->h->torch.random))
		return -1;
	if (!n)
		return bind_raise(b, EXC_IndexError, "Cannot choose from an empty sequence");
	return item_get(b->h, b->a[0], val_int((int64_t)below(&b->h->torch.random, (uint64_t)n)), &b->out);
}

/* Fisher-Yates from the end, in place; lists only. */
static int r_shuffle(struct bind *b)
{
	struct seq_obj *s;

	if (b->a[0].kind != V_LIST)
		return bind_raise(b, EXC_TypeError, "'%s' object does not support item assignment",
				  val_type_name(b->h, b->a[0]));
	if (is_unseeded(b, &b->h->torch.random))
		return -1;
	s = b->a[0].u.seq;
	for (size_t i = s->n; i-- > 1;) {
		size_t j = (size_t)below(&b->h->torch.random, i + 1);
		struct val t = s->v[i];
		s->v[i] = s->v[j];
		s->v[j] = t;
	}
	return 0;
}

/* Box-Muller as CPython's gauss(): a pair of draws gives two values, the second waits in
 * `spare`. */
static int r_gauss(struct bind *b)
{
	struct host_random *r = &b->h->torch.random;
	double mu, sigma, z;
	if (bind_float(b, 0, &mu) || bind_float(b, 1, &sigma) || is_unseeded(b, r))
		return -1;
	if (!r->ready)
		seed_with(r, 0);
	z = r->spare;
	r->spare = NAN;
	/* NaN marks an empty cache. */
	if (isnan(z)) {
		double x = next_double(r) * 6.28318530717958647692, g = sqrt(-2.0 * log(1.0 - next_double(r)));
		z = cos(x) * g;
		r->spare = sin(x) * g;
	}
	b->out = val_float(mu + z * sigma);
	return 0;
}

/* numpy.random.seed: the same generator, seeded with one word. numpy.random itself is Python
 * code (prelude/numpy/random.py). */
static int n_seed(struct bind *b)
{
	int64_t s = 0;
	if (bind_given(b, 0) && bind_int(b, 0, &s))
		return -1;
	if (s < 0 || s > UINT32_MAX)
		return bind_raise(b, EXC_ValueError, "Seed must be between 0 and 2**32 - 1");
	mt_init(&b->h->torch.numpy_random, (uint32_t)s);
	/* Without a seed numpy uses the clock, so the generator counts as unseeded for a
	 * judged program. */
	b->h->torch.numpy_random.ready = bind_given(b, 0) || b->h->torch.judged == JUDGED_NOT;
	return 0;
}

/* The generator, started from 0 if nothing seeded it. */
static struct host_random *numpy_state(struct host *h)
{
	if (!h->torch.numpy_random.ready) {
		mt_init(&h->torch.numpy_random, 0);
		h->torch.numpy_random.ready = 1;
	}
	return &h->torch.numpy_random;
}

/* numpy.random._doubles(n): a float64 tensor [n] in [0, 1). */
static int n_doubles(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor t;
	int64_t n;
	if (bind_int(b, 0, &n) || is_unseeded(b, &b->h->torch.numpy_random))
		return -1;
	if (num_new(&c, &t, DT_F64, 1, &n, bind_e(b)))
		return bind_fail(b);
	for (int64_t i = 0; i < n; i++)
		((double *)tensor_data(&t))[i] = next_double(numpy_state(b->h));
	return bind_result(b, &t);
}

/* numpy.random._up_to(most, n): an int64 tensor [n] of integers in [0, most]. numpy masks a
 * word to the bits of `most` and rejects larger values; masks beyond 32 bits take two words,
 * the high one first. */
static int n_up_to(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct host_random *r = &b->h->torch.numpy_random;
	struct tensor t;
	int64_t most, n;
	uint64_t mask, v;

	if (bind_int(b, 0, &most) || bind_int(b, 1, &n) || is_unseeded(b, r))
		return -1;
	r = numpy_state(b->h);
	if (most < 0)
		return bind_raise(b, EXC_ValueError, "low >= high");
	if (num_new(&c, &t, DT_I64, 1, &n, bind_e(b)))
		return bind_fail(b);
	mask = most ? UINT64_MAX >> __builtin_clzll((uint64_t)most) : 0;
	for (int64_t i = 0; i < n; i++) {
		do {
			v = !most ? 0 : mask > UINT32_MAX ? (uint64_t)next32(r) << 32 : 0;
			v = !most ? 0 : (v | next32(r)) & mask;
		} while (v > (uint64_t)most);
		((int64_t *)tensor_data(&t))[i] = (int64_t)v;
	}
	return bind_result(b, &t);
}

/* The rows of numpy.random are internal: Python code of the prelude calls them. BIND_RANDOM
 * marks draws from a generator. */
const struct bind_row random_rows[] = {
	{ "random.seed", "a=None, version=2", r_seed, 0 },
	{ "random.random", "", r_random, 0 },
	{ "random.uniform", "a, b", r_uniform, 0 },
	{ "random.randint", "a, b", r_randint, 0 },
	{ "random.randrange", "start, stop=None, step=1", r_randrange, 0 },
	{ "random.choice", "seq", r_choice, 0 },
	{ "random.shuffle", "x", r_shuffle, 0 },
	{ "random.gauss", "mu=0.0, sigma=1.0", r_gauss, 0 },
	{ "numpy.random._seed", "seed=None, /", n_seed, BIND_RANDOM | BIND_INTERNAL },
	{ "numpy.random._doubles", "n, /", n_doubles, BIND_RANDOM | BIND_INTERNAL },
	{ "numpy.random._up_to", "most, n, /", n_up_to, BIND_RANDOM | BIND_INTERNAL },
	{ NULL, NULL, NULL, 0 }
};
