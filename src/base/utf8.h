/* UTF-8: decoding that never reads past its input, and encoding. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

enum { UTF8_BAD = 0xFFFD };

/* Returns the length of the character at p[0..n), n > 0, with its code point in *cp. Invalid bytes
 * (overlong, surrogates, above U+10FFFF, truncated) give UTF8_BAD and the length of the longest valid
 * prefix, at least 1, as the Unicode standard recommends. *bad (may be NULL) tells them from a true
 * U+FFFD. */
size_t utf8_decode(const char *p, size_t n, uint32_t *cp, int *bad);
/* Writes 1 to 4 bytes and returns how many; a surrogate or too large value as U+FFFD. */
size_t utf8_encode(uint32_t cp, char out[4]);

#endif
