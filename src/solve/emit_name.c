/* Names of values in kernels and host code. */
#include <ctype.h>

#include "solve/emit.h"

/* "conv_weight" of "self.conv.weight", "layers_0_weight" of "self.layers[0].weight", "norm_1_bias" of
 * "getattr(self, \"norm-1\").bias". */
static const char *identifier(struct arena *a, const char *code)
{
	char *s, *w;

	while (!strncmp(code, "getattr(", 8))
		code += 8;
	s = w = arena_strdup(a, !strncmp(code, "self.", 5) || !strncmp(code, "self,", 5) ? code + 5 : code);

	for (const char *r = s; *r; r++) {
		if (isalnum((unsigned char)*r))
			*w++ = *r;
		else if (w > s && w[-1] != '_')
			*w++ = '_';
	}
	while (w > s && w[-1] == '_')
		w--;
	*w = 0;
	return isdigit((unsigned char)*s) || !*s ? arena_printf(a, "v%s", s) : s;
}

/* Arguments are called as in the module, results `out`, others by their operator and number. */
const char *emit_value_name(struct cut *p, int value)
{
	struct arena *a = &p->g->pool->arena;
	const struct value *v = graph_value(p->g, value);
	const char *name;

	if (v->kind != VALUE_ARG)
		return arena_printf(a, "%s_%d", identifier(a, v->name), value);
	name = identifier(a, v->name);
	for (int i = 0; i < value; i++)
		if (p->g->values.v[i].kind == VALUE_ARG && !strcmp(identifier(a, p->g->values.v[i].name), name))
			return arena_printf(a, "%s_%d", name, value);
	return name;
}
