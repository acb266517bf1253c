/* The Unicode that tokenizers and templates need: UTF-8, letter/number/space classes, NFC.
 *
 * Tables (uni_tab.c) agree with Hugging Face `tokenizers` code point by code point. */
#ifndef BASE_UNI_H
#define BASE_UNI_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum uni_class { UNI_OTHER = 0, UNI_LETTER = 1, UNI_NUMBER = 2, UNI_SPACE = 3 };
enum { UNI_CLASS_MASK = 3, UNI_NFC_UNSAFE = 4 };   /* bits of uni_bits */

enum { UNI_INDEXES = 804, UNI_BLOCKS = 139, UNI_CCCS = 333, UNI_DECOMPS = 2060, UNI_COMPOSES = 940 };
struct uni_ccc { uint32_t first, last; unsigned char ccc; };   /* canonical combining class */
struct uni_decomp { uint32_t cp, a, b; };                      /* b 0: one code point */
struct uni_compose { uint32_t a, b, cp; };
extern const unsigned char uni_index[UNI_INDEXES];
extern const uint64_t uni_block[UNI_BLOCKS * 16];              /* 4 bits per code point */
extern const struct uni_ccc uni_ccc[UNI_CCCS];
extern const struct uni_decomp uni_decomp[UNI_DECOMPS];
extern const struct uni_compose uni_compose[UNI_COMPOSES];

/* Class in the low two bits; UNI_NFC_UNSAFE where NFC may have to change the text here. */
static inline unsigned uni_bits(uint32_t cp)
{
	uint32_t b = cp >> 8;

	if (b >= UNI_INDEXES)
		return 0;
	return uni_block[uni_index[b] * 16u + (cp >> 4 & 15)] >> (cp & 15) * 4 & 15;
}

static inline enum uni_class uni_class(uint32_t cp) { return (enum uni_class)(uni_bits(cp) & UNI_CLASS_MASK); }

/* The code point at p and its length in *n; the bytes must be valid UTF-8. */
static inline uint32_t uni_at(const unsigned char *p, size_t *n)
{
	if (p[0] < 0x80)
		return *n = 1, p[0];
	if (p[0] < 0xE0)
		return *n = 2, (p[0] & 31u) << 6 | (p[1] & 63u);
	if (p[0] < 0xF0)
		return *n = 3, (p[0] & 15u) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);
	return *n = 4, (p[0] & 7u) << 18 | (p[1] & 63u) << 12 | (p[2] & 63u) << 6 | (p[3] & 63u);
}

/* The repairs that a text needs before it is cut into tokens. */
enum { UNI_HAS_INVALID = 1, UNI_MAYBE_NOT_NFC = 2 };
unsigned uni_scan(struct str text);
/* Appends `text` with each ill-formed part replaced by U+FFFD. */
void uni_lossy(struct str text, struct buf *out);
/* Appends the NFC form of `text`, which must be valid UTF-8. */
void uni_nfc(struct str text, struct buf *out);

#endif
