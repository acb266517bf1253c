/* The most recent verdicts by content: see recent_verdicts.h.
 *
 * A ring holds the verdicts; a new one overwrites the oldest. A hash table with linear probing maps
 * keys to indices of the ring. Invariant: each table entry points to a ring entry with that key,
 * and no gap lies between an entry and the start of its probe sequence. */
#include "serve/recent_verdicts.h"

#include <pthread.h>

#include "base/hash.h"
#include "base/mem.h"

struct recent_verdicts {
	pthread_mutex_t lock;
	size_t most, at;              /* size of the ring; the index that is overwritten next */
	struct entry { char key[65]; struct verdict v; } **ring;      /* NULL: never used */
	uint32_t *slot;               /* the hash table: 1 + index of the ring, 0: free */
	size_t slots;                 /* size of the table, a power of two, at least four times `most` */
};

/* The table is at most a quarter full, so that probe sequences stay short. */
struct recent_verdicts *recent_verdicts_new(size_t most, struct err *e)
{
	struct recent_verdicts *m = mem_zalloc(sizeof *m);

	if (!m) {
		err_nomem(e);
		return NULL;
	}
	pthread_mutex_init(&m->lock, NULL);
	m->most = most;
	for (m->slots = 64; m->slots < 4 * most; m->slots *= 2)
		;
	m->ring = mem_array(most, sizeof *m->ring);
	m->slot = mem_array(m->slots, sizeof *m->slot);
	if (!m->ring || !m->slot) {
		recent_verdicts_free(m);
		err_nomem(e);
		return NULL;
	}
	return m;
}

/* NULL, and a half-made object after a failed allocation, are allowed. */
void recent_verdicts_free(struct recent_verdicts *m)
{
	if (!m)
		return;
	for (size_t i = 0; m->ring && i < m->most; i++)
		mem_free(m->ring[i]);
	pthread_mutex_destroy(&m->lock);
	mem_free(m->ring);
	mem_free(m->slot);
	mem_free(m);
}

/* The start of a key's probe sequence. */
static size_t start_of(const struct recent_verdicts *m, const char *key)
{
	return (size_t)hash_xxh64(key, strlen(key), 0) & (m->slots - 1);
}

/* Returns the table slot of the key, or the first free one of its probe sequence. */
static uint32_t *find(const struct recent_verdicts *m, const char *key)
{
	size_t i = start_of(m, key);

	while (m->slot[i] && strcmp(m->ring[m->slot[i] - 1]->key, key))
		i = (i + 1) & (m->slots - 1);
	return &m->slot[i];
}

/* Removes a key from the table. The entries after it are moved up if their probe sequence allows,
 * so that no search stops at the gap. */
static void forget(struct recent_verdicts *m, const char *key)
{
	size_t i = (size_t)(find(m, key) - m->slot), k = i;

	m->slot[i] = 0;
	for (;;) {
		size_t home;

		k = (k + 1) & (m->slots - 1);
		if (!m->slot[k])
			return;
		home = start_of(m, m->ring[m->slot[k] - 1]->key);
		if (i <= k ? home > i && home <= k : home > i || home <= k)
			continue;
		m->slot[i] = m->slot[k];
		m->slot[k] = 0;
		i = k;
	}
}

/* Copies the verdict while the lock is held: another thread may overwrite the entry at any time. */
int recent_verdicts_get(struct recent_verdicts *m, const char *key, struct verdict *v)
{
	uint32_t at;

	pthread_mutex_lock(&m->lock);
	at = *find(m, key);
	if (at)
		*v = m->ring[at - 1]->v;
	pthread_mutex_unlock(&m->lock);
	return at != 0;
}

/* An existing key keeps its verdict, because equal keys have equal verdicts. */
void recent_verdicts_put(struct recent_verdicts *m, const char *key, const struct verdict *v)
{
	struct entry *p;

	pthread_mutex_lock(&m->lock);
	if (*find(m, key))
		goto out;
	p = m->ring[m->at];
	if (p)
		forget(m, p->key);
	else
		p = m->ring[m->at] = mem_zalloc(sizeof *p);
	if (!p)
		goto out;
	memcpy(p->key, key, strlen(key) + 1);
	p->v = *v;
	*find(m, key) = (uint32_t)m->at + 1;
	m->at = (m->at + 1) % m->most;
out:
	pthread_mutex_unlock(&m->lock);
}
