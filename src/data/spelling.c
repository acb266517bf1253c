/* Operator chains in one spelling: "x * sigmoid(x)" and "silu" hash alike. spelling.h is the
 * manual, spelling.def the table. */
#include "data/spelling.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

static const struct { const char *written, *means; } spellings[] = {
#define SPELLING(written, means) { "," written ",", "," means "," },
#include "data/spelling.def"
#undef SPELLING
};

void spelling_init(struct op_spelling *s)
{
	*s = (struct op_spelling){ .text = ",", .n = 1 };
}

/* Replaces every occurrence; the replacement is never longer than the text it replaces. */
static void rewrite(struct op_spelling *s, const char *written, const char *means)
{
	size_t was = strlen(written), now = strlen(means);
	char *at = s->text;

	while ((at = strstr(at, written))) {
		memcpy(at, means, now);
		memmove(at + now, at + was, strlen(at + was) + 1);
	}
	s->n = strlen(s->text);
}

/* Rewrites the chain by every rule of the table, in order, and hashes it. */
uint64_t spelling_hash(struct op_spelling *s)
{
	for (size_t i = 0; i < COUNT_OF(spellings); i++)
		rewrite(s, spellings[i].written, spellings[i].means);
	return hash_xxh64(s->text, s->n, s->hash);
}

/* Appends an operator. A chain that is full is hashed, and the hash goes into the next part's. */
void spelling_add(struct op_spelling *s, const char *name)
{
	size_t n = strlen(name);

	/* A long network's beginning is hashed by itself. */
	if (s->n + n + 2 > sizeof s->text) {
		uint64_t before = spelling_hash(s);

		spelling_init(s);
		s->hash = before;
	}
	memcpy(s->text + s->n, name, n);
	memcpy(s->text + s->n + n, ",", 2);
	s->n += n + 1;
}
