/* Samples that wait in the store, as bytes: a header, tokens, log-probabilities, text. The form is
 * read only on the machine that wrote it, so it has no byte order of its own. pending.h is the
 * manual. */
#include "rl/pending.h"

#include "base/hash.h"

struct header {
	uint64_t key;
	int64_t text;
	int32_t n, finish;
};

/* Hashes everything that a sample depends on: prompt, weights, seed, position in the step, sampling
 * options. A sample with another key was drawn by another policy and must not be used. */
uint64_t pending_key(const struct infer_request *q, uint64_t policy)
{
	const double options[] = { q->sample.temperature, q->sample.top_k, q->sample.top_p, q->max_new_tokens };
	const uint64_t numbers[] = { policy, q->seed, q->number };
	uint64_t h = hash_xxh64(q->prompt, (size_t)q->prompt_n * sizeof *q->prompt, 0);

	h = hash_xxh64(numbers, sizeof numbers, h);
	return hash_xxh64(options, sizeof options, h);
}

void pending_pack(const struct infer_result *r, uint64_t key, struct buf *out)
{
	struct header h = { .key = key, .text = (int64_t)r->text.n, .n = r->n, .finish = (int32_t)r->finish };

	buf_add(out, &h, sizeof h);
	buf_add(out, r->tokens, (size_t)r->n * sizeof *r->tokens);
	buf_add(out, r->logprobs, (size_t)r->n * sizeof *r->logprobs);
	buf_addstr(out, r->text);
}

/* Checks every length before it is used: the bytes may come from an interrupted write. Returns 1
 * and fills *r with pointers into the blob, or 0 if the blob is of another key or is damaged. */
int pending_unpack(struct str blob, uint64_t key, struct infer_result *r)
{
	struct header h;
	size_t each = sizeof *r->tokens + sizeof *r->logprobs;

	if (blob.n < sizeof h)
		return 0;
	memcpy(&h, blob.p, sizeof h);
	if (h.key != key || h.n < 0 || h.text < 0 || h.finish < 0 || h.finish > INFER_REFUSED ||
	    blob.n - sizeof h != (size_t)h.n * each + (size_t)h.text)
		return 0;
	r->n = h.n;
	r->finish = (enum infer_finish)h.finish;
	r->tokens = (const int32_t *)(const void *)(blob.p + sizeof h);
	r->logprobs = (const float *)(const void *)(r->tokens + h.n);
	r->text = (struct str){ .p = (const char *)(r->logprobs + h.n), .n = (size_t)h.text };
	return 1;
}
