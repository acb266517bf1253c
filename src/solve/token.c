/* Tokens of the text of solutions: see token.h. */
#include "solve/token.h"

#include <ctype.h>

int token_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

size_t token_next(struct str s)
{
	size_t n = 1;

	if (isdigit((unsigned char)s.p[0]))
		while (n < s.n && (isalnum((unsigned char)s.p[n]) || s.p[n] == '.' ||
				   ((s.p[n] == '-' || s.p[n] == '+') && s.p[n - 1] == 'e')))
			n++;
	else if (token_is_word(s.p[0]))
		while (n < s.n && token_is_word(s.p[n]))
			n++;
	return n;
}
