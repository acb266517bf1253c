/* XXH64 and SHA-256: see hash.h. */
#include "base/hash.h"

#include <string.h>

static uint64_t rotl64(uint64_t x, int r) { return x << r | x >> (64 - r); }
static uint32_t rotr32(uint32_t x, int r) { return x >> r | x << (32 - r); }

static uint64_t load64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

static uint32_t load32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return v;
}

#define P1 0x9E3779B185EBCA87ull
#define P2 0xC2B2AE3D27D4EB4Full
#define P3 0x165667B19E3779F9ull
#define P4 0x85EBCA77C2B2AE63ull
#define P5 0x27D4EB2F165667C5ull

static uint64_t xxh_round(uint64_t acc, uint64_t in)
{
	return rotl64(acc + in * P2, 31) * P1;
}

static uint64_t xxh_merge(uint64_t h, uint64_t v)
{
	return (h ^ xxh_round(0, v)) * P1 + P4;
}

static uint64_t xxh_stripes(const unsigned char **p, const unsigned char *end, uint64_t seed)
{
	uint64_t v[4] = { seed + P1 + P2, seed + P2, seed, seed - P1 };
	uint64_t h;

	do {
		for (int i = 0; i < 4; i++)
			v[i] = xxh_round(v[i], load64(*p + 8 * i));
		*p += 32;
	} while (*p + 32 <= end);
	h = rotl64(v[0], 1) + rotl64(v[1], 7) + rotl64(v[2], 12) + rotl64(v[3], 18);
	for (int i = 0; i < 4; i++)
		h = xxh_merge(h, v[i]);
	return h;
}

uint64_t hash_xxh64(const void *data, size_t n, uint64_t seed)
{
	const unsigned char *p = data, *end = p + n;
	uint64_t h = n >= 32 ? xxh_stripes(&p, end, seed) : seed + P5;

	h += n;
	for (; p + 8 <= end; p += 8)
		h = rotl64(h ^ xxh_round(0, load64(p)), 27) * P1 + P4;
	if (p + 4 <= end) {
		h = rotl64(h ^ load32(p) * P1, 23) * P2 + P3;
		p += 4;
	}
	for (; p < end; p++)
		h = rotl64(h ^ *p * P5, 11) * P1;
	h = (h ^ h >> 33) * P2;
	h = (h ^ h >> 29) * P3;
	return h ^ h >> 32;
}

/* --- SHA-256 (FIPS 180-4) ------------------------------------------------------------ */

static const uint32_t sha_k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static void sha_block(uint32_t h[8], const unsigned char *p)
{
	uint32_t w[64], s[8];

	for (int i = 0; i < 16; i++)
		w[i] = __builtin_bswap32(load32(p + 4 * i));
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] + (rotr32(a, 7) ^ rotr32(a, 18) ^ a >> 3) +
		       (rotr32(b, 17) ^ rotr32(b, 19) ^ b >> 10);
	}
	memcpy(s, h, sizeof s);
	for (int i = 0; i < 64; i++) {
		uint32_t t1 = s[7] + (rotr32(s[4], 6) ^ rotr32(s[4], 11) ^ rotr32(s[4], 25)) +
			      ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha_k[i] + w[i];
		uint32_t t2 = (rotr32(s[0], 2) ^ rotr32(s[0], 13) ^ rotr32(s[0], 22)) +
			      ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof *s);
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		h[i] += s[i];
}

void sha256_init(struct sha256 *s)
{
	static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

	memcpy(s->h, start, sizeof start);
	s->n = 0;
}

void sha256_add(struct sha256 *s, const void *data, size_t n)
{
	const unsigned char *p = data;
	size_t have = s->n % 64;

	s->n += n;
	if (have) {
		size_t take = n < 64 - have ? n : 64 - have;

		memcpy(s->block + have, p, take);
		if (have + take < 64)
			return;
		sha_block(s->h, s->block);
		p += take;
		n -= take;
	}
	for (; n >= 64; p += 64, n -= 64)
		sha_block(s->h, p);
	if (n)
		memcpy(s->block, p, n);
}

void sha256_end(struct sha256 *s, unsigned char out[32])
{
	uint64_t bits = __builtin_bswap64(s->n * 8);
	static const unsigned char pad[64] = { 0x80 };

	sha256_add(s, pad, 1 + (119 - s->n % 64) % 64);
	sha256_add(s, &bits, 8);
	for (int i = 0; i < 8; i++) {
		uint32_t v = __builtin_bswap32(s->h[i]);

		memcpy(out + 4 * i, &v, 4);
	}
}

void hash_hex(const unsigned char *digest, size_t n, char *out)
{
	static const char hex[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = hex[digest[i] >> 4];
		out[2 * i + 1] = hex[digest[i] & 15];
	}
	out[2 * n] = 0;
}

void sha256_hex(const void *p, size_t n, char out[65])
{
	struct sha256 s;
	unsigned char d[32];

	sha256_init(&s);
	sha256_add(&s, p, n);
	sha256_end(&s, d);
	hash_hex(d, sizeof d, out);
}
