/* The text of one sample: see text.h. Invariant: `shown` never passes a position where a stop
 * string may begin. */
#include "infer/text.h"

#include "base/mem.h"

void infer_text_init(struct infer_text *t, const struct tok *tok, const char *const *stops)
{
	*t = (struct infer_text){ .stream = { .t = tok, .skip_special = 1 }, .stops = tok ? stops : NULL };
	for (const char *const *s = t->stops; s && *s; s++)
		t->longest = MAX(t->longest, strlen(*s));
}

void infer_text_release(struct infer_text *t)
{
	buf_release(&t->b);
}

/* Looks for stop strings that end in the text added from `from` on. The earliest one cuts the
 * text. */
static void find_stop(struct infer_text *t, size_t from)
{
	size_t start = from > t->longest ? from - t->longest : 0, best = SIZE_MAX;

	for (const char *const *s = t->stops; s && *s; s++) {
		ptrdiff_t at = **s ? str_find((struct str){ .p = buf_cstr(&t->b) + start, .n = t->b.n - start },
					      str_of(*s)) : -1;

		if (at >= 0)
			best = MIN(best, start + (size_t)at);
	}
	if (best != SIZE_MAX) {
		t->b.n = best;
		t->b.p[best] = 0;
		t->stream.n = 0;
		t->stopped = 1;
	}
}

int infer_text_add(struct infer_text *t, int32_t token, struct err *e)
{
	size_t before = t->b.n;

	if (!t->stream.t || t->stopped)
		return 0;
	tok_stream_add(&t->stream, token, &t->b);
	if (buf_check(&t->b, e))
		return -1;
	find_stop(t, before);
	return 0;
}

void infer_text_end(struct infer_text *t)
{
	if (t->stream.t && !t->stopped)
		tok_stream_end(&t->stream, &t->b);
}

struct str infer_text_get(const struct infer_text *t)
{
	return buf_str(&t->b);
}

/* Bytes at the end of the text that are the beginning of a stop string: of "abc<|e" with the stop
 * string "<|end|>", three. */
static size_t held_back(const struct infer_text *t)
{
	size_t most = 0;

	for (const char *const *s = t->stops; s && *s; s++)
		for (size_t k = MIN(strlen(*s), t->b.n); k > most; k--)
			if (!memcmp(t->b.p + t->b.n - k, *s, k)) {
				most = k;
				break;
			}
	return most;
}

struct str infer_text_emit(struct infer_text *t, int at_end)
{
	size_t end = t->b.n - (at_end ? 0 : held_back(t)), from = t->shown;

	if (end <= from)
		return STR("");
	t->shown = end;
	return (struct str){ .p = t->b.p + from, .n = end - from };
}
