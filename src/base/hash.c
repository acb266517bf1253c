/* XXH64 and SHA-256: see hash.h. XXH64 is for tables and keys inside the program; SHA-256 is for
 * contents that must not be forged or that other programs check. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/hash.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <string.h>

static uint64_t rotl64(uint64_t x, int r) { return x << r | x >> (64 - r); }

/* memcpy, because the bytes need not be aligned; compilers make one load of it. */
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

/* Primes of XXH64. */
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

/* Four lanes of 8 bytes at a time; called only for 32 bytes or more. */
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

/* The published algorithm: its values are stored on disk, so they must never change. */
uint64_t hash_xxh64(const void *data, size_t n, uint64_t seed)
{
	const unsigned char *p = n ? data : (const void *)"", *end = p + n;        /* nothing may be NULL */
	uint64_t h = n >= 32 ? xxh_stripes(&p, end, seed) : seed + P5;

	h += n;
	for (; p + 8 <= end; p += 8)        /* the last 31 bytes at most: words, a half, single bytes */
		h = rotl64(h ^ xxh_round(0, load64(p)), 27) * P1 + P4;
	if (p + 4 <= end) {
		h = rotl64(h ^ load32(p) * P1, 23) * P2 + P3;
		p += 4;
	}
	for (; p < end; p++)
		h = rotl64(h ^ *p * P5, 11) * P1;
	h = (h ^ h >> 33) * P2;             /* avalanche: every input bit reaches every output bit */
	h = (h ^ h >> 29) * P3;
	return h ^ h >> 32;
}

/* --- SHA-256 ------------------------------------------------------------------------------
 *
 * OpenSSL's block function is 17 times as fast as plain C where the processor has SHA
 * instructions. Its newer interface allocates, can fail and reads a configuration file at its
 * first call, which a sandboxed process may not; the older one is a plain struct. */

_Static_assert(sizeof (SHA256_CTX) <= sizeof (struct sha256), "struct sha256 is too small");

void sha256_init(struct sha256 *s)
{
	SHA256_Init((SHA256_CTX *)s->state);
}

void sha256_add(struct sha256 *s, const void *data, size_t n)
{
	SHA256_Update((SHA256_CTX *)s->state, data, n);
}

void sha256_end(struct sha256 *s, unsigned char out[32])
{
	SHA256_Final(out, (SHA256_CTX *)s->state);
}

/* HMAC-SHA256 (RFC 2104), for S3 signatures: hash of (key ^ 0x5c) and the hash of (key ^ 0x36) and
 * the message. Keys over 64 bytes are hashed first. */
void hash_hmac(const void *key, size_t key_n, const void *p, size_t n, unsigned char out[32])
{
	unsigned char pad[64] = { 0 };
	struct sha256 s;

	sha256_init(&s);
	if (key_n > sizeof pad) {
		sha256_add(&s, key, key_n);
		sha256_end(&s, pad);
		sha256_init(&s);
	} else if (key_n) {
		memcpy(pad, key, key_n);
	}
	for (size_t i = 0; i < sizeof pad; i++)   /* inner hash */
		pad[i] ^= 0x36;
	sha256_add(&s, pad, sizeof pad);
	sha256_add(&s, p, n);
	sha256_end(&s, out);
	for (size_t i = 0; i < sizeof pad; i++)   /* outer hash: undoes 0x36, applies 0x5c */
		pad[i] ^= 0x36 ^ 0x5c;
	sha256_init(&s);
	sha256_add(&s, pad, sizeof pad);
	sha256_add(&s, out, 32);
	sha256_end(&s, out);
}

/* OpenSSL's encoder, with padding and without line breaks, as HTTP headers need it. */
void hash_base64(const unsigned char *p, size_t n, char *out)
{
	EVP_EncodeBlock((unsigned char *)out, p, (int)n);
}

/* Lower case, as S3 and Git write digests. */
void hash_hex(const unsigned char *digest, size_t n, char *out)
{
	static const char hex[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = hex[digest[i] >> 4];
		out[2 * i + 1] = hex[digest[i] & 15];
	}
	out[2 * n] = 0;
}

/* The digest as text, as file names and manifests use it. */
void sha256_hex(const void *p, size_t n, char out[65])
{
	struct sha256 s;
	unsigned char d[32];

	sha256_init(&s);
	sha256_add(&s, p, n);
	sha256_end(&s, d);
	hash_hex(d, sizeof d, out);
}
