/* A hash map from pointers to pointers, by open addressing. The keys are addresses that stay
 * valid as long as the map: syntax nodes, identifiers, binding rows. There is no removal. */
#include "interp/ptrmap.h"

/* Fibonacci hashing: the multiplier spreads addresses, which share their low bits. */
static size_t ptr_slot(const void *key, size_t slots)
{
	uint64_t x = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15ULL;
	return (size_t)(x >> 32) & (slots - 1);
}

/* NULL if the key is absent. */
void *ptr_map_get(const struct ptr_map *m, const void *key)
{
	if (!m->slots)
		return NULL;
	for (size_t s = ptr_slot(key, m->slots); m->key[s]; s = (s + 1) & (m->slots - 1))
		if (m->key[s] == key)
			return m->val[s];
	return NULL;
}

/* Doubles the table. ptr_map_put cannot come back here for `big`, which is half full at most. */
static int ptr_map_grow(struct ptr_map *m)
{
	struct ptr_map big = { .slots = m->slots ? m->slots * 2 : 32 };
	big.key = mem_array(big.slots, sizeof *big.key);
	big.val = mem_array(big.slots, sizeof *big.val);
	if (!big.key || !big.val) {
		ptr_map_release(&big);
		return -1;
	}
	for (size_t i = 0; i < m->slots; i++)
		if (m->key[i])
			ptr_map_put(&big, m->key[i], m->val[i]);
	ptr_map_release(m);
	*m = big;
	return 0;
}

/* Adds or replaces. The table stays at most half full, so probes are short. A NULL key is not
 * possible: it marks an empty slot. */
int ptr_map_put(struct ptr_map *m, const void *key, void *val)
{
	size_t s;

	if (m->n + 1 > m->slots / 2 && ptr_map_grow(m))
		return -1;
	s = ptr_slot(key, m->slots);
	while (m->key[s] && m->key[s] != key)
		s = (s + 1) & (m->slots - 1);
	if (!m->key[s])
		m->n++;
	m->key[s] = key;
	m->val[s] = val;
	return 0;
}

void ptr_map_release(struct ptr_map *m)
{
	mem_free(m->key);
	mem_free(m->val);
	*m = (struct ptr_map){ .key = NULL };
}
