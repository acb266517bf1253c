/* The table of operators: from a short name to its lowering function or formula. */
#include "solve/lower.h"

static const struct { const char *name; lower_fn *fn; int param; } table[] = {
#define LOWER(name, fn, param) { name, lower_##fn, param },
#include "solve/lower.def"
#undef LOWER
};

int lower_takes_nothing(const struct lower *l)
{
	static const char *const names[] = { "linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "cat", "sum" };

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (!strcmp(names[i], l->name))
			return 1;
	return 0;
}

int lower_call(struct lower *l)
{
	const char *formula;

	for (size_t i = 0; i < COUNT_OF(table); i++)
		if (!strcmp(table[i].name, l->name)) {
			l->param = table[i].param;
			return table[i].fn(l);
		}
	formula = point_formula(l->name);
	return formula ? lower_point(l, formula) : 1;
}
