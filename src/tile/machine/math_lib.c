/* Finds the operation of a libdevice name, from math.def. The table is small and looked up while
 * a kernel is compiled, so a linear search is enough. */
#include "tile/machine/math_lib.h"

enum { NONE_BEFORE = -1 };
#define TOP_NONE NONE_BEFORE

/* One row of math.def. A name with several rows is tried in their order. */
static const struct row {
	const char *name, *overloads;
	int op, rounding, before;
} rows[] = {
#define LIBDEV(n, o, oper, r, b) { .name = #n, .overloads = o, .op = TOP_##oper, .rounding = TILE_##r, \
				   .before = TOP_##b },
#include "tile/machine/math.def"
#undef LIBDEV
};

/* The letters of an overload: "fi:f" takes fp32 and int32 and gives fp32. */
static enum dtype by_letter(char c)
{
	switch (c) {
	case 'f': return DT_F32;
	case 'd': return DT_F64;
	case 'i': return DT_I32;
	case 'l': return DT_I64;
	case 'u': return DT_U32;
	case 'U': return DT_U64;
	case 'b': return DT_BOOL;
	}
	BUG("math.def: letter '%c'", c);
}

/* The k-th overload of a row: its argument types, what the operation gives and what the caller
 * sees. Returns the number of arguments, or -1 past the last overload. */
static int overload(const struct row *w, int k, enum dtype args[4], enum dtype *gives, enum dtype *result)
{
	struct str rest = str_of(w->overloads);
	struct str one = str_cut(&rest, ' ');
	struct str in;

	while (k-- > 0)
		one = str_cut(&rest, ' ');
	if (!one.n)
		return -1;
	in = str_cut(&one, ':');
	for (size_t i = 0; i < in.n; i++)
		args[i] = by_letter(in.p[i]);
	*gives = by_letter(one.p[0]);
	*result = by_letter(one.p[one.n - 1]);
	return (int)in.n;
}

/* Counts through the overloads of all rows with this name. */
int tile_libdevice_overload(struct str name, int i, enum dtype args[4])
{
	enum dtype gives, result;
	for (size_t r = 0; r < COUNT_OF(rows); r++) {
		if (!str_is(name, rows[r].name))
			continue;
		for (int k = 0;; k++) {
			int n = overload(&rows[r], k, args, &gives, &result);
			if (n < 0)
				break;
			if (i-- == 0)
				return n;
		}
	}
	return -1;
}

/* Whether n types agree. */
static int same(int n, const enum dtype *a, const enum dtype *b)
{
	for (int i = 0; i < n; i++)
		if (a[i] != b[i])
			return 0;
	return 1;
}

/* The first overload whose argument types match exactly; conversions are the caller's business. */
int tile_libdevice(struct str name, int n_args, const enum dtype *args, struct tile_libdevice *out, int *known)
{
	*known = 0;
	for (size_t r = 0; r < COUNT_OF(rows); r++) {
		if (!str_is(name, rows[r].name))
			continue;
		*known = 1;
		for (int k = 0;; k++) {
			enum dtype want[4], gives, result;
			int n = overload(&rows[r], k, want, &gives, &result);
			if (n < 0)
				break;
			if (n != n_args || !same(n, want, args))
				continue;
			*out = (struct tile_libdevice) {
				.before = rows[r].before, .op = (enum tile_op)rows[r].op,
				.rounding = (enum tile_round)rows[r].rounding, .gives = gives, .result = result,
			};
			return 0;
		}
	}
	return -1;
}
