/* Attention over a pack in fp64, forward and backward, as plainly as it can be written. */
#ifndef TEST_CUDA_ATTN_REFERENCE_H
#define TEST_CUDA_ATTN_REFERENCE_H

#include <math.h>

#include <vector>

struct reference {
	int H, HKV, D;
	std::vector<int32_t> start;
	std::vector<int32_t> prefix;            /* of each sequence, or none at all */
	std::vector<double> qkv, dout;          /* [T][H + 2 HKV][D], [T][H][D] */
	std::vector<double> out, lse, dqkv;     /* [T][H][D], [T][H], as qkv */

	int T(void) const { return start.back(); }
	double *row(std::vector<double> &v, int t, int head) { return &v[((size_t)t * (H + 2 * HKV) + head) * D]; }

	/* The rows that row t of sequence s sees. */
	std::vector<int> seen(int s, int t) const
	{
		std::vector<int> r;
		int p = prefix.empty() ? -1 : prefix[s];

		for (int j = p < 0 ? 0 : start[p]; p >= 0 && j < start[p + 1]; j++)
			r.push_back(j);
		for (int j = start[s]; j <= t; j++)
			r.push_back(j);
		return r;
	}

	/* Probabilities of row t of head h over `rows`. */
	std::vector<double> weights(int t, int h, const std::vector<int> &rows, double *log_sum)
	{
		std::vector<double> p(rows.size());
		double most = -INFINITY, sum = 0;

		for (size_t j = 0; j < rows.size(); j++) {
			double s = 0;
			const double *q = row(qkv, t, h), *k = row(qkv, rows[j], H + h / (H / HKV));

			for (int d = 0; d < D; d++)
				s += q[d] * k[d];
			p[j] = s / sqrt(D);
			most = fmax(most, p[j]);
		}
		for (double &x : p)
			sum += x = exp(x - most);
		for (double &x : p)
			x /= sum;
		*log_sum = most + log(sum);
		return p;
	}

	void forward_row(int t, int h, const std::vector<int> &rows)
	{
		const std::vector<double> p = weights(t, h, rows, &lse[(size_t)t * H + h]);
		double *o = &out[((size_t)t * H + h) * D];

		for (size_t j = 0; j < rows.size(); j++) {
			const double *v = row(qkv, rows[j], H + HKV + h / (H / HKV));

			for (int d = 0; d < D; d++)
				o[d] += p[j] * v[d];
		}
	}

	void backward_row(int t, int h, const std::vector<int> &rows)
	{
		double log_sum, delta = 0, *dq = row(dqkv, t, h);
		const std::vector<double> p = weights(t, h, rows, &log_sum);
		const double *g = &dout[((size_t)t * H + h) * D], *o = &out[((size_t)t * H + h) * D], *q = row(qkv, t, h);
		int kv = h / (H / HKV);

		for (int d = 0; d < D; d++)
			delta += g[d] * o[d];
		for (size_t j = 0; j < rows.size(); j++) {
			double dp = 0, ds, *dk = row(dqkv, rows[j], H + kv), *dv = row(dqkv, rows[j], H + HKV + kv);
			const double *k = row(qkv, rows[j], H + kv), *v = row(qkv, rows[j], H + HKV + kv);

			for (int d = 0; d < D; d++)
				dp += g[d] * v[d];
			ds = p[j] * (dp - delta) / sqrt(D);
			for (int d = 0; d < D; d++) {
				dq[d] += ds * k[d];
				dk[d] += ds * q[d];
				dv[d] += p[j] * g[d];
			}
		}
	}

	void compute(bool backward)
	{
		out.assign((size_t)T() * H * D, 0);
		lse.assign((size_t)T() * H, 0);
		dqkv.assign(qkv.size(), 0);
		for (size_t s = 0; s + 1 < start.size(); s++)
			for (int t = start[s]; t < start[s + 1]; t++)
				for (int h = 0; h < H; h++) {
					forward_row(t, h, seen((int)s, t));
					if (backward)
						backward_row(t, h, seen((int)s, t));
				}
	}
};

#endif
