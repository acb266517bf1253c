/* Vector loops over a tile of attention scores: see attn.h. A row always has all 64 keys, and the
 * keys that it does not see are -inf. So its bits do not depend on the values of those keys. */
#include "ops/cpu/attn.h"

#include <math.h>

#include "ops/cpu/vec.h"

enum { N = KV_BLOCK / VW };

/* Scores of keys that the row does not see become -inf. */
static void mask(float *s, int32_t valid)
{
	for (int j = valid < 0 ? 0 : valid; j < KV_BLOCK; j++)
		s[j] = -INFINITY;
}

/* One row of a block in the flash scheme: the running maximum m, the running sum l and the
 * accumulated values are corrected when the maximum rises. */
static void softmax_row(float *s, float *m, float *l, float *acc, int dp)
{
	vf top = vf_load(s), sum = vf_zero(), now, v;
	float max, fix;

	for (int j = 1; j < N; j++)
		top = vf_max(top, vf_load(s + j * VW));
	max = vf_hmax(top);
	max = max > *m ? max : *m;
	now = vf_set1(max);
	for (int j = 0; j < N; j++) {
		v = vf_exp(vf_load(s + j * VW) - now);
		vf_store(s + j * VW, v);
		sum = sum + v;
	}
	if (max != *m) {
		float t[VW];

		vf_store(t, vf_exp(vf_set1(*m - max)));
		fix = t[0];
		*l *= fix;
		for (int j = 0; j < dp; j += VW)
			vf_store(acc + j, vf_load(acc + j) * vf_set1(fix));
	}
	*l += vf_sum(sum);
	*m = max;
}

/* The same for all rows of a tile; a row that sees nothing of the block gets zeros. */
static void softmax(float *s, int R, const int32_t *valid, float *m, float *l, float *acc, int dp)
{
	for (int i = 0; i < R; i++, s += KV_BLOCK) {
		if (valid[i] <= 0) {
			memset(s, 0, KV_BLOCK * sizeof *s);
			continue;
		}
		mask(s, valid[i]);
		softmax_row(s, m + i, l + i, acc + i * dp, dp);
	}
}

/* p = exp(s - lse), for the backward pass. */
static void prob(float *s, int R, const int32_t *valid, const float *lse)
{
	for (int i = 0; i < R; i++, s += KV_BLOCK) {
		vf x = vf_set1(lse[i]);

		mask(s, valid[i]);
		for (int j = 0; j < N; j++)
			vf_store(s + j * VW, vf_exp(vf_load(s + j * VW) - x));
	}
}

/* ds = p (dp - delta), in place of dp. */
static void dscore(float *dp, const float *p, int R, const float *delta)
{
	for (int i = 0; i < R; i++, dp += KV_BLOCK, p += KV_BLOCK) {
		vf x = vf_set1(delta[i]);

		for (int j = 0; j < N; j++)
			vf_store(dp + j * VW, vf_load(p + j * VW) * (vf_load(dp + j * VW) - x));
	}
}

const struct attn_kernels *SIMD_FN(attn_kernels)(void)
{
	static const struct attn_kernels k = { .softmax = softmax, .prob = prob, .dscore = dscore };

	return &k;
}
