/* safetensors from anywhere: refused, or every tensor lies inside the bytes given. */
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "tensor/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct err e = ERR_INIT;
	struct st_file *f;
	volatile unsigned char sum = 0;

	log_set_level(LOG_OFF);
	f = st_open_bytes((struct str){ .p = (const char *)data, .n = n }, "fuzz", &e);
	BUG_ON(!f && e.code == ERR_NONE);
	for (size_t i = 0; f && i < st_count(f); i++) {
		const struct st_tensor *t = st_at(f, i);

		BUG_ON(st_find(f, t->name) != t);
		if (t->bytes)
			sum += ((const unsigned char *)t->data)[0] + ((const unsigned char *)t->data)[t->bytes - 1];
	}
	st_close(f);
	return 0;
}
