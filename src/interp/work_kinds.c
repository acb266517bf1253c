/* Work of torch operators by kind: see work_kinds.h. */
#include "interp/work_kinds.h"

#include <string.h>

#include "base/hash.h"
#include "interp/bind.h"

/* The kind of an operator: torch.relu, F.relu and x.relu_() are one. */
static int kind_of(const char *name)
{
	const char *dot = strrchr(name, '.'), *base = dot ? dot + 1 : name;
	size_t n = strlen(base);

	if (n > 1 && base[n - 1] == '_')
		n--;
	return (int)(hash_xxh64(base, n, 0) % WORK_KINDS);
}

void work_kinds_note(struct work_kinds *k, struct host_ops ops)
{
	*k = (struct work_kinds){ .flops = { 0 } };
	for (size_t i = 0; i < ops.n; i++)
		if (ops.v[i].flags & BIND_COMPUTE)
			k->flops[kind_of(ops.v[i].name)] += ops.v[i].flops;
}

int work_kinds_are_fewer(const struct work_kinds *host, const struct work_kinds *ref)
{
	int fewer = 0;

	for (int i = 0; i < WORK_KINDS; i++) {
		if (host->flops[i] > ref->flops[i])
			return 0;
		fewer |= host->flops[i] < ref->flops[i];
	}
	return fewer;
}
