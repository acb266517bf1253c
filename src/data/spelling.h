/* The operators that a program applies, in one spelling: x * sigmoid(x) is silu, torch.amax is max
 * (spelling.def). Two programs that compute the same thing in other words get one hash. */
#ifndef DATA_SPELLING_H
#define DATA_SPELLING_H

#include <stddef.h>
#include <stdint.h>

enum { SPELLING_BYTES = 2048 };

struct op_spelling {
	char text[SPELLING_BYTES];     /* ",linear,sigmoid,*," */
	size_t n;
	uint64_t hash;                 /* of what came before the text */
};

void spelling_init(struct op_spelling *s);
/* The next operator: a plain name or a sign. */
void spelling_add(struct op_spelling *s, const char *name);
uint64_t spelling_hash(struct op_spelling *s);

#endif
