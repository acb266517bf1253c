/* How reductions are written: the neutral element, one more term, the end over a tile. */
#include "solve/emit_impl.h"

/* The rows are in the order of enum combine. */
static const struct { const char *neutral, *neutral_int, *tile, *term; } reduce_info[] = {
	[COMBINE_SUM] = { "0.0", "0", "tl.sum", "+" },
	[COMBINE_PROD] = { "1.0", "1", NULL, "*" },
	[COMBINE_MAX] = { "float(\"-inf\")", "-2147483648", "tl.max", "tl.maximum" },
	[COMBINE_MIN] = { "float(\"inf\")", "2147483647", "tl.min", "tl.minimum" },
	[COMBINE_ARGMAX] = { "float(\"-inf\")", "-2147483648", "tl.argmax", ">" },
	[COMBINE_ARGMIN] = { "float(\"inf\")", "2147483647", "tl.argmin", "<" },
};

const char *reduce_neutral(enum combine how, enum dtype dt)
{
	return dtype_is_float(dt) ? reduce_info[how].neutral : reduce_info[how].neutral_int;
}

const char *reduce_tile(enum combine how)
{
	return reduce_info[how].tile;
}

/* One more term: acc += term, acc = tl.maximum(acc, term). The index of the best term has a name of its
 * own, ACC_at. */
void reduce_serial(struct emitter *pr, const struct pass *s, const char *acc, const char *term, const char *index,
		   int level)
{
	enum combine how = graph_value(pr->g, s->value)->how;
	const char *op = reduce_info[how].term;

	if (how == COMBINE_SUM || how == COMBINE_PROD) {
		emitter_line(pr, level, "%s %s= %s", acc, op, term);
	} else if (how == COMBINE_MAX || how == COMBINE_MIN) {
		emitter_line(pr, level, "%s = %s(%s, %s)", acc, op, acc, term);
	} else {
		emitter_line(pr, level, "%s_at = tl.where(%s %s %s, %s, %s_at)", acc, term, op, acc, index, acc);
		emitter_line(pr, level, "%s = tl.%s(%s, %s)", acc, how == COMBINE_ARGMAX ? "maximum" : "minimum", acc,
			     term);
	}
}
