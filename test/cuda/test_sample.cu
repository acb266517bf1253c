/* Sampling on the device: the rule in fp64, the uniform numbers of struct rng, log-probabilities as the loss has
 * them bit for bit, and the same bits whatever rows are beside. */
#include <algorithm>
#include <numeric>

#include "check.cuh"

static struct cuda *gpu;

/* As rng_philox and rng_f64 of base/rng.c do it. */
static double uniform(uint64_t key, uint32_t n)
{
	uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32), c[4] = { n / 2, 0, 0, 0 };
	uint64_t bits;

	for (int i = 0; i < 10; i++) {
		uint64_t a = (uint64_t)c[0] * 0xD2511F53u, b = (uint64_t)c[2] * 0xCD9E8D57u;
		uint32_t n0 = (uint32_t)(b >> 32) ^ c[1] ^ k0, n2 = (uint32_t)(a >> 32) ^ c[3] ^ k1;

		c[0] = n0, c[1] = (uint32_t)b, c[2] = n2, c[3] = (uint32_t)a;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	bits = n & 1 ? (uint64_t)c[2] << 32 | c[3] : (uint64_t)c[0] << 32 | c[1];
	return (double)(bits >> 11) * 0x1p-53;
}

/* Which tokens are kept, in fp64. */
static std::vector<char> kept(const std::vector<float> &x, const struct sample_opts &o, std::vector<double> *p)
{
	size_t V = x.size();
	std::vector<int> order(V);
	std::vector<char> keep(V, 1);
	float most = *std::max_element(x.begin(), x.end());
	double sum = 0, at = 0;

	std::iota(order.begin(), order.end(), 0);
	std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return x[a] > x[b]; });
	p->resize(V);
	for (size_t i = 0; i < V; i++)
		(*p)[i] = exp(((double)x[i] - most) / o.temperature);
	if (o.top_k > 0 && o.top_k < (int)V)
		for (size_t i = 0; i < V; i++)
			keep[i] = x[i] >= x[order[o.top_k - 1]];
	for (size_t i = 0; i < V; i++)
		sum += keep[i] ? (*p)[i] : 0;
	for (size_t i = 0; i < V && o.top_p > 0 && o.top_p < 1; i++) {
		if (at >= (double)o.top_p * sum)
			keep[order[i]] = 0;
		at += keep[order[i]] ? (*p)[order[i]] : 0;
	}
	for (size_t i = 0; i < V; i++)
		keep[i] &= (*p)[i] >= o.min_p;
	return keep;
}

/* The token's stretch of the running sum holds u, up to the rounding of probabilities. */
static int is_right(const std::vector<float> &x, const struct sample_opts &o, double u, int token)
{
	std::vector<double> p;
	std::vector<char> keep;
	double sum = 0, before = 0, slack;

	if (o.temperature <= 0)
		return token == (int)(std::max_element(x.begin(), x.end()) - x.begin());
	keep = kept(x, o, &p);
	for (size_t i = 0; i < x.size(); i++) {
		before += (int)i < token && keep[i] ? p[i] : 0;
		sum += keep[i] ? p[i] : 0;
	}
	slack = 1e-5 * sum;
	return token >= 0 && token < (int)x.size() && before <= u * sum + slack && u * sum <= before + p[token] + slack &&
	       (keep[token] || p[token] < slack);
}

static const struct sample_opts options[] = {
	{ .temperature = 1 }, { .temperature = 0 }, { .temperature = 0.7f }, { .temperature = 1, .top_k = 50 }, { .temperature = 1, .top_k = 1 },
	{ .temperature = 1, .top_p = 0.9f }, { .temperature = 0.8f, .top_k = 40, .top_p = 0.95f }, { .temperature = 1.3f, .min_p = 0.05f },
	{ .temperature = 0.6f, .top_k = 20, .top_p = 0.5f, .min_p = 0.01f }, { .temperature = 1, .top_p = 0.01f }, { .temperature = 0.05f },
	{ .temperature = 1, .repetition = 1.7f }, { .temperature = 0, .repetition = 3 }, { .temperature = 1, .top_k = 30, .repetition = 1.3f },
};
enum { OPTIONS = sizeof options / sizeof options[0] };

struct draws { std::vector<int32_t> token, done; std::vector<float> logprob; };

/* Every third token is in the text so far. */
static int is_seen(size_t token) { return token % 3 == 1; }

static std::vector<uint32_t> seen_bits(size_t rows, size_t V)
{
	size_t words = (V + 31) / 32;
	std::vector<uint32_t> v(rows * words);

	for (size_t i = 0; i < rows; i++)
		for (size_t k = 0; k < V; k++)
			v[i * words + k / 32] |= (uint32_t)is_seen(k) << k % 32;
	return v;
}

template <class T> static struct draws draw(const std::vector<T> &logits, const std::vector<struct sample_row> &rows,
					    const std::vector<int32_t> &drawn, const std::vector<int32_t> &stop)
{
	size_t n = rows.size(), V = logits.size() / n;
	device<uint32_t> seen(seen_bits(n, V));
	device<T> x(logits);
	device<struct sample_row> row(rows);
	device<int32_t> d(drawn), s(stop), token(n), done(std::vector<int32_t>(n, 0));
	device<float> logprob(n);
	struct cuda_sample a = { .rows = (int)n, .V = (int)V, .logits = x.p, .logits_dt = sizeof(T) == 2 ? DT_BF16 : DT_F32,
				 .row = row.p, .drawn = d.p, .seen = seen.p, .stop = s.p, .stops = (int)stop.size(), .token = token.p, .logprob = logprob.p,
				 .done = done.p };

	MUST(cuda_sample(gpu, &a));
	return { token.get(), done.get(), logprob.get() };
}

template <class T> static std::vector<T> make_logits(size_t n, float spread)
{
	std::vector<T> v(n);

	for (size_t i = 0; i < n; i++)
		v[i] = (T)(random_normal() * spread);
	return v;
}

template <class T> static void check_rows(int V, float spread, const char *type)
{
	size_t n = OPTIONS * 3;
	std::vector<T> logits = make_logits<T>(n * V, spread);
	std::vector<struct sample_row> rows;
	std::vector<int32_t> drawn, stop;
	std::vector<double> want;
	int wrong = 0, wrong_done = 0;
	char what[100], text[100];

	for (size_t i = 0; i < n; i++) {
		rows.push_back({ options[i % OPTIONS], random_u64() });
		drawn.push_back((int32_t)(random_u64() % 1000));
	}
	struct draws d = draw(logits, rows, drawn, { 5, 9 });

	stop = { d.token[2], d.token[7], V };
	struct draws again = draw(logits, rows, drawn, stop);
	for (size_t i = 0; i < n; i++) {
		std::vector<float> x(V);
		double sum = 0;

		for (int k = 0; k < V; k++)
			sum += exp((double)(x[k] = (float)number(logits[i * V + k])));
		want.push_back(x[d.token[i]] - log(sum));
		for (int k = 0; k < V && rows[i].o.repetition > 0; k++)
			if (is_seen((size_t)k))
				x[k] = x[k] < 0 ? x[k] * rows[i].o.repetition : x[k] / rows[i].o.repetition;
		wrong += !is_right(x, rows[i].o, uniform(rows[i].key, (uint32_t)drawn[i]), d.token[i]);
		wrong_done += again.done[i] != (again.token[i] == stop[0] || again.token[i] == stop[1]);
	}
	snprintf(what, sizeof what, "sample %s V=%d spread %g", type, V, spread);
	snprintf(text, sizeof text, "%d of %zu wrong, %d stop flags", wrong, n, wrong_done);
	verdict(!wrong && !wrong_done, what, text);
	compare("  logprob", d.logprob, want, 1e-5, 1e-4);
	same_bits("  again", again.token, d.token);

	std::vector<T> one(logits.begin() + 7 * V, logits.begin() + 8 * V);
	struct draws alone = draw(one, std::vector<struct sample_row>(1, rows[7]), std::vector<int32_t>(1, drawn[7]), {});

	same_bits("  alone", alone.token, std::vector<int32_t>(1, d.token[7]));
	same_bits("  alone, logprob", alone.logprob, std::vector<float>(1, d.logprob[7]));
}

/* Log-probabilities of the loss are those of sampling. */
static void check_loss(int V)
{
	size_t n = 9;
	std::vector<float> logits = make_logits<float>(n * V, 3);
	std::vector<struct sample_row> rows(n, { { .temperature = 1 }, 7 });
	struct draws d = draw(logits, rows, std::vector<int32_t>(n, 3), {});
	device<float> x(logits), logp(n), entropy(n);
	device<int32_t> target(d.token);
	struct cuda_xent a = { .rows = (int)n, .V = V, .logits = x.p, .target = target.p, .logp = logp.p, .entropy = entropy.p };

	MUST(cuda_xent(gpu, &a));
	same_bits("logprob of sampling and of the loss", logp.get(), d.logprob);
}

/* Frequencies of 20,000 draws against the probabilities. */
static void check_frequency(void)
{
	enum { N = 20000, V = 64 };
	std::vector<float> one = make_logits<float>(V, 1.5f), logits;
	std::vector<struct sample_row> rows(N, { { .temperature = 0.9f }, 12345 });
	std::vector<int32_t> drawn(N);
	std::vector<double> p, count(V);
	double sum = 0, chi = 0;
	char text[100];

	for (int i = 0; i < N; i++) {
		drawn[i] = i;
		logits.insert(logits.end(), one.begin(), one.end());
	}
	kept(one, rows[0].o, &p);
	for (double x : p)
		sum += x;
	struct draws d = draw(logits, rows, drawn, {});
	for (int32_t t : d.token)
		count[t]++;
	for (int i = 0; i < V; i++) {
		double want = N * p[i] / sum;

		chi += (count[i] - want) * (count[i] - want) / want;
	}
	snprintf(text, sizeof text, "chi^2 %.1f of 63 degrees", chi);
	verdict(chi < 115, "frequencies", text);
}

int main(void)
{
	struct cuda_info info;

	MUST(cuda_open(0, &gpu, &info));
	check_rows<float>(64, 2, "f32");
	check_rows<float>(8192, 3, "f32");
	check_rows<float>(152064, 2.5f, "f32");
	check_rows<float>(152064, 0.01f, "f32");
	check_rows<__nv_bfloat16>(16384, 3, "bf16");
	check_rows<__nv_bfloat16>(152064, 2.5f, "bf16");
	check_loss(8192);
	check_loss(152064);
	check_frequency();
	cuda_close(gpu);
	return summary();
}
