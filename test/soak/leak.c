/* A leak to be preloaded: a worker asks mallinfo2 once a candidate, and from then on misses
 * LEAK bytes. judge.py shows with it that its rule can fail. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { LEAK = 512 };

struct mallinfo2 mallinfo2(void)
{
	struct mallinfo2 (*next)(void) = (struct mallinfo2 (*)(void))dlsym(RTLD_NEXT, "mallinfo2");
	char *volatile lost = malloc(LEAK);

	if (lost)
		memset(lost, 1, LEAK);
	return next();
}
