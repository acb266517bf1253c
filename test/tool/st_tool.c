/* What test/agree/agree_safetensors.py drives: reads safetensors and writes the same again.
 *
 *   st_tool copy FROM TO.safetensors
 *   st_tool shard FROM TO_FOLDER SHARD_BYTES                                               */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/safetensors.h"

/* In pieces, as a writer of computed tensors would. */
static int fill(void *ctx, size_t index, struct st_writer *w, struct err *e)
{
	const struct st_tensor *t = st_at(ctx, index);

	for (size_t at = 0; at < t->bytes; at += MIN((size_t)1000, t->bytes - at))
		if (st_put(w, (const char *)t->data + at, MIN((size_t)1000, t->bytes - at), e))
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct st_file *f = argc > 3 ? st_open(argv[2], &e) : NULL;
	struct st_entry *entries = f ? mem_array(st_count(f) + 1, sizeof *entries) : NULL;
	struct st_write w = { .entries = entries, .n = f ? st_count(f) : 0, .fill = fill, .ctx = f };
	int rc = -1;

	for (size_t i = 0; i < w.n; i++) {
		const struct st_tensor *t = st_at(f, i);

		entries[i] = (struct st_entry){ .name = t->name, .dt = t->dt, .ndim = t->ndim };
		memcpy(entries[i].shape, t->shape, sizeof t->shape);
		entries[i].data = i % 2 ? t->data : NULL;
	}
	if (f && !strcmp(argv[1], "copy"))
		rc = st_write_file(argv[3], &w, &e);
	else if (f && argc > 4) {
		w.shard_bytes = strtoull(argv[4], NULL, 10);
		rc = st_write_folder(argv[3], &w, &e);
	}
	if (rc)
		fprintf(stderr, "st_tool: %s\n", e.text);
	mem_free(entries);
	st_close(f);
	return rc ? 2 : 0;
}
