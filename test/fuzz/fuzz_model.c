/* A model's config.json, hostile: accepted or refused, never a crash; what is accepted writes
 * a file that reads back as the same configuration. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct json *j = json_parse((struct str){ .p = (const char *)data, .n = n }, NULL), *k;
	struct model_config a, b;
	struct buf text = BUF_INIT;
	float inv[512];

	if (j && !model_config_parse(&a, j, NULL)) {
		model_config_rope(&a, inv);
		if (model_config_parameters(&a) <= 0)
			abort();
		model_config_write(&a, "float32", &text);
		k = json_parse(buf_str(&text), NULL);
		if (!k || model_config_parse(&b, k, NULL) || a.V != b.V || a.C != b.C || a.L != b.L || a.H != b.H || a.HKV != b.HKV ||
		    a.D != b.D || a.F != b.F || a.eps != b.eps || a.rope != b.rope || a.tied != b.tied || a.qkv_bias != b.qkv_bias ||
		    a.o_bias != b.o_bias || a.mlp_bias != b.mlp_bias)
			abort();
		json_free(k);
	}
	json_free(j);
	buf_release(&text);
	return 0;
}
