/* YAML from anywhere: a tree whose every string can be read, or an error with its place. */
#include <stddef.h>
#include <stdint.h>

#include "base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static size_t walk(const struct yaml *y)
{
	size_t sum = y->text.n + y->key.n, count = 0;

	for (const struct yaml *c = y->child; c; c = c->next, count++)
		sum += walk(c) + (c->key.p ? strlen(c->key.p) : 0);
	BUG_ON(count != y->n);
	return sum + (y->text.p ? strlen(y->text.p) : 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct yaml *y = yaml_parse((struct str){ .p = (const char *)data, .n = n }, &a, &e);

	BUG_ON(!y && e.code == ERR_NONE);
	if (y)
		walk(y);
	arena_release(&a);
	return 0;
}
