/* Hashes: XXH64 for tables and cheap checks, SHA-256 for content identity. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_xxh64(const void *p, size_t n, uint64_t seed);

struct sha256 { _Alignas(8) unsigned char state[128]; };

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *p, size_t n);
void sha256_end(struct sha256 *s, unsigned char out[32]);
/* 64 lower-case hexadecimal digits and a NUL. */
void hash_hex(const unsigned char *digest, size_t n, char *out);
void sha256_hex(const void *p, size_t n, char out[65]);
/* HMAC-SHA-256. `out` may be the key. */
void hash_hmac(const void *key, size_t key_n, const void *p, size_t n, unsigned char out[32]);
/* 4 characters for every 3 bytes begun, and a NUL. */
void hash_base64(const unsigned char *p, size_t n, char *out);

#endif
