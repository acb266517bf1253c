/* Philox 4x32-10 streams: see rng.h. The generator is a function of key and counter, so streams are
 * independent of each other and of the number of threads. Its values are part of saved runs and
 * must never change. */
#include "base/rng.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"

/* Ten rounds of the published generator (Salmon et al., 2011); tests compare it with known
 * answers. */
void rng_philox(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4])
{
	uint32_t k0 = key[0], k1 = key[1];
	uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];

	for (int i = 0; i < 10; i++) {
		uint64_t a = (uint64_t)c0 * 0xD2511F53u, b = (uint64_t)c2 * 0xCD9E8D57u;
		uint32_t n0 = (uint32_t)(b >> 32) ^ c1 ^ k0, n2 = (uint32_t)(a >> 32) ^ c3 ^ k1;

		c0 = n0, c1 = (uint32_t)b, c2 = n2, c3 = (uint32_t)a;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

/* The name is hashed into the key: "init" and "shuffle" with one seed are unrelated streams. */
void rng_init(struct rng *r, uint64_t seed, const char *stream)
{
	*r = (struct rng){ .key = hash_xxh64(stream, strlen(stream), seed) };
}

/* The child depends on the position of the parent, so two forks at different points differ. */
void rng_fork(struct rng *child, const struct rng *parent, uint64_t index)
{
	uint64_t in[3] = { parent->key, parent->counter * 4 - parent->left, index };

	*child = (struct rng){ .key = hash_xxh64(in, sizeof in, 0x666f726b) };
}

/* A block of four words is computed at a time and handed out one by one. */
uint32_t rng_u32(struct rng *r)
{
	if (!r->left) {
		uint32_t key[2] = { (uint32_t)r->key, (uint32_t)(r->key >> 32) };
		uint32_t ctr[4] = { (uint32_t)r->counter, (uint32_t)(r->counter >> 32), 0, 0 };

		rng_philox(key, ctr, r->block);
		r->counter++;
		r->left = 4;
	}
	return r->block[4 - r->left--];
}

uint64_t rng_u64(struct rng *r)
{
	uint64_t hi = rng_u32(r);

	return hi << 32 | rng_u32(r);
}

/* 53 random bits: every value is a multiple of 2^-53 and 1 is never reached. */
double rng_f64(struct rng *r)
{
	return (double)(rng_u64(r) >> 11) * 0x1p-53;
}

float rng_f32(struct rng *r)
{
	return (float)(rng_u32(r) >> 8) * 0x1p-24f;
}

/* Values below 2^64 mod n are rejected, because they would make small remainders more likely. */
uint64_t rng_below(struct rng *r, uint64_t n)
{
	uint64_t floor = -n % n;   /* the part of 2^64 that would bias the remainder */

	for (;;) {
		uint64_t v = rng_u64(r);

		if (v >= floor)
			return v % n;
	}
}

/* Unsigned arithmetic: the range may be wider than INT64_MAX. */
int64_t rng_between(struct rng *r, int64_t lo, int64_t hi)
{
	return lo + (int64_t)rng_below(r, (uint64_t)hi - (uint64_t)lo + 1);
}

/* Box-Muller. 1 - u keeps the logarithm away from zero. */
double rng_normal(struct rng *r)
{
	double u = 1.0 - rng_f64(r), v = rng_f64(r);

	return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

/* Fisher-Yates. Elements of any size are exchanged in pieces of 256 bytes. */
void rng_shuffle(struct rng *r, void *items, size_t n, size_t size)
{
	char *p = items, tmp[256];

	for (size_t i = n; i > 1; i--) {
		char *a = p + (i - 1) * size, *b = p + rng_below(r, i) * size;

		for (size_t at = 0; at < size && a != b; at += sizeof tmp) {
			size_t k = size - at < sizeof tmp ? size - at : sizeof tmp;

			memcpy(tmp, a + at, k);
			memcpy(a + at, b + at, k);
			memcpy(b + at, tmp, k);
		}
	}
}

/* The format is part of checkpoints: 40 bytes, the last four zero. */
void rng_save(const struct rng *r, unsigned char out[RNG_STATE_BYTES])
{
	memcpy(out, &r->key, 8);
	memcpy(out + 8, &r->counter, 8);
	memcpy(out + 16, r->block, 16);
	memcpy(out + 32, &r->left, 4);
	memset(out + 36, 0, 4);
}

/* A damaged state could claim more than four unused values; it then starts a new block. */
void rng_load(struct rng *r, const unsigned char in[RNG_STATE_BYTES])
{
	memcpy(&r->key, in, 8);
	memcpy(&r->counter, in + 8, 8);
	memcpy(r->block, in + 16, 16);
	memcpy(&r->left, in + 32, 4);
	if (r->left > 4)
		r->left = 0;
}
