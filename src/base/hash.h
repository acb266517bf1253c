/* Hashes: XXH64 for tables and cheap checks, SHA-256 for content identity. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_xxh64(const void *p, size_t n, uint64_t seed);

struct sha256 {
	uint32_t h[8];
	uint64_t n;
	unsigned char block[64];
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *p, size_t n);
void sha256_end(struct sha256 *s, unsigned char out[32]);
/* 64 lower-case hexadecimal digits and a NUL. */
void hash_hex(const unsigned char *digest, size_t n, char *out);
void sha256_hex(const void *p, size_t n, char out[65]);

#endif
