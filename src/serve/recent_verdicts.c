/* Verdicts by content: see memo.h. A ring of them, and a table from keys to places in it. */
#include "serve/recent_verdicts.h"

#include <pthread.h>

#include "base/hash.h"
#include "base/mem.h"

struct recent_verdicts {
	pthread_mutex_t lock;
	size_t most, at;              /* the place that is overwritten next */
	struct place { char key[65]; struct verdict v; } **ring;
	uint32_t *slot;               /* place + 1, open addressing; stale entries are told by their key */
	size_t slots;
};

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

static size_t start_of(const struct recent_verdicts *m, const char *key)
{
	return (size_t)hash_xxh64(key, strlen(key), 0) & (m->slots - 1);
}

/* The slot that leads to the key, or the first free one. */
static uint32_t *find(const struct recent_verdicts *m, const char *key)
{
	size_t i = start_of(m, key);

	while (m->slot[i] && strcmp(m->ring[m->slot[i] - 1]->key, key))
		i = (i + 1) & (m->slots - 1);
	return &m->slot[i];
}

/* Takes a place's key out of the table and moves those behind it up, so that no search ends early. */
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

int recent_verdicts_get(struct recent_verdicts *m, const char *key, struct verdict *v)
{
	uint32_t place;

	pthread_mutex_lock(&m->lock);
	place = *find(m, key);
	if (place)
		*v = m->ring[place - 1]->v;
	pthread_mutex_unlock(&m->lock);
	return place != 0;
}

void recent_verdicts_put(struct recent_verdicts *m, const char *key, const struct verdict *v)
{
	struct place *p;

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
