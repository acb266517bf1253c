/* Unicode 14 facts that the language needs, as CPython 3.11 has them: which characters make
 * identifiers and how these are normalised, which are printable, which names \N{...} may use. */
#ifndef PY_UNICODE_H
#define PY_UNICODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct parser;

/* Decodes one character of valid UTF-8 (surrogates allowed); advances *s. */
uint32_t py_uni_decode(const char **s);
/* Encodes `c` (surrogates too); returns the end. At most four bytes. */
char *py_uni_encode(char *w, uint32_t c);
int py_uni_is_printable(uint32_t c);
int py_uni_is_id_start(uint32_t c);
int py_uni_is_id_continue(uint32_t c);
/* Checks and normalises (NFKC) an identifier that is not ASCII; fails the parse if it is not
 * one. The result has eight readable bytes after it. */
struct str py_uni_identifier(struct parser *p, const char *s, size_t n);
/* The character with this name, or -1. */
int32_t py_uni_by_name(struct str name);

#endif
