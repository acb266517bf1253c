/* Weights in 8 bits, in blocks: see int8_block.h. */
#include "model/int8_block.h"

#include <math.h>

#include "base/mem.h"
#include "tensor/tensor.h"

/* The smallest bf16 number that is not below x >= 0: a scale that is rounded down would need 128 steps. */
static uint16_t bf16_above(float x)
{
	uint16_t h = f32_to_bf16(x);

	return bf16_to_f32(h) < x ? (uint16_t)(h + 1) : h;
}

/* scale = max |w| / 127, q = round(w / scale). Example: a block with the largest weight 0.127 has the scale
 * 0.001, and 0.0503 becomes 50. */
int int8_block_pack(const float *w, int cols, int block, int8_t *q, uint16_t *scale)
{
	for (int at = 0; at < cols; at += block) {
		int n = MIN(block, cols - at);
		float most = 0, step;

		for (int i = 0; i < n; i++)
			most = isfinite(w[at + i]) ? fmaxf(most, fabsf(w[at + i])) : INFINITY;
		scale[at / block] = bf16_above(most / 127.0f);
		step = bf16_to_f32(scale[at / block]);
		if (!isfinite(step))
			return -1;
		for (int i = 0; i < n; i++) {
			float steps = step > 0 ? nearbyintf(w[at + i] / step) : 0;

			q[at + i] = (int8_t)fmaxf(-127, fminf(127, steps));
		}
	}
	return 0;
}

void int8_block_unpack(const int8_t *q, const uint16_t *scale, int cols, int block, uint16_t *w)
{
	for (int i = 0; i < cols; i++)
		w[i] = f32_to_bf16((float)q[i] * bf16_to_f32(scale[i / block]));
}
