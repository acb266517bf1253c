/* Stores facts about a task's sizes: see size_facts.h. Finding them takes dozens of dry runs, and
 * each worker would repeat these; so the task cache keeps them next to the prepared tasks. */
#include "verify/task/size_facts.h"

#include <ctype.h>

#include "base/hash.h"
#include "base/mem.h"
#include "verify/task/prepared.h"

/* The stored form of the facts, with their hash. */
struct kept {
	uint64_t hash;
	struct size_facts k;
};

/* Makes the key differ from that of any task: no task is opened in this way. */
enum { FACTS_KEY = -1 };

/* A torn or foreign entry must not be taken for facts. */
static uint64_t hash_of(const struct size_facts *k)
{
	return hash_xxh64(k, sizeof *k, sizeof *k);
}

/* The parsed source is the key, as for the task at other sizes. */
static void key_of(const struct task *t, char key[PREPARED_KEY])
{
	prepared_key(judge_options(t->judge), t->image.module.source, NULL, FACTS_KEY, key);
}

/* An entry of another length or hash is treated as absent. */
int size_facts_get(const struct task *t, struct size_facts *out)
{
	const struct prepared_store *s = judge_store(t->judge);
	char key[PREPARED_KEY], *bytes;
	struct kept kept;
	size_t n;
	int good;

	if (!s)
		return 1;
	key_of(t, key);
	if (s->get(s->ctx, key, &bytes, &n))
		return 1;
	good = n == sizeof kept;
	if (good)
		memcpy(&kept, bytes, sizeof kept);
	mem_free_aligned(bytes);
	if (!good || kept.hash != hash_of(&kept.k))
		return 1;
	*out = kept.k;
	return 0;
}

/* Without a store the facts are found again by the next process. */
void size_facts_put(const struct task *t, const struct size_facts *k)
{
	const struct prepared_store *s = judge_store(t->judge);
	struct kept kept = { .hash = hash_of(k), .k = *k };
	char key[PREPARED_KEY];

	if (!s)
		return;
	key_of(t, key);
	s->put(s->ctx, key, (struct str){ .p = (const char *)&kept, .n = sizeof kept });
}

/* "4096" is in "n = 4096" and in "(4096,", but not in "14096", "x4096" or "0.4096". */
int size_facts_named(struct str source, int64_t number)
{
	for (size_t i = 0; i < source.n; i++) {
		int64_t v = 0;
		size_t from = i;

		while (i < source.n && source.p[i] >= '0' && source.p[i] <= '9' && v < INT64_MAX / 16)
			v = v * 10 + (source.p[i++] - '0');
		if (i > from && v == number && (!from || (!isalnum((unsigned char)source.p[from - 1]) &&
							  !strchr("_.", source.p[from - 1]))))
			return 1;
	}
	return 0;
}
