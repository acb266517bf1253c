/* Tokens of the text of solutions: numbers, words, single characters. */
#ifndef SOLVE_TOKEN_H
#define SOLVE_TOKEN_H

#include "base/str.h"

int token_is_word(char c);       /* a letter, a digit, '_' */
/* The length of the token at the start of s. */
size_t token_next(struct str s);

#endif
