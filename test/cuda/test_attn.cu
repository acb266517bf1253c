/* Attention over packs, own kernels and cuDNN's: forward and backward against fp64, and twice the same bits. */
#include "attn_reference.h"
#include "check.cuh"

struct shape { int H, HKV, D; };

static struct cuda *gpu;

static std::vector<double> numbers(const std::vector<__nv_bfloat16> &v)
{
	std::vector<double> r(v.size());

	for (size_t i = 0; i < v.size(); i++)
		r[i] = number(v[i]);
	return r;
}

/* The part of every row of dqkv that heads [from, to) are. */
template <class T> static std::vector<T> part(const std::vector<T> &v, const shape &s, int from, int to)
{
	std::vector<T> r;
	size_t heads = s.H + 2 * s.HKV;

	for (size_t t = 0; t < v.size() / (heads * s.D); t++)
		r.insert(r.end(), v.begin() + (long)((t * heads + from) * s.D), v.begin() + (long)((t * heads + to) * s.D));
	return r;
}

static void check_pack(const shape &s, const std::vector<int> &lengths, int variant, int exact, const char *name,
		       const std::vector<int32_t> &prefix = {})
{
	reference r = { s.H, s.HKV, s.D, { 0 }, prefix };
	int longest = 1;

	for (size_t i = 0; i < lengths.size(); i++) {
		int n = lengths[i] + (prefix.empty() || prefix[i] < 0 ? 0 : lengths[prefix[i]]);

		r.start.push_back(r.start.back() + lengths[i]);
		longest = n > longest ? n : longest;
	}
	size_t T = (size_t)r.T();
	std::vector<__nv_bfloat16> qkv = random_bf16(T * (s.H + 2 * s.HKV) * s.D, 1), dout = random_bf16(T * s.H * s.D, 1);

	r.qkv = numbers(qkv);
	r.dout = numbers(dout);
	r.compute(true);

	device<__nv_bfloat16> dqkv_in(qkv), ddout(dout), out(T * s.H * s.D), dqkv(qkv.size());
	device<int32_t> start(r.start), before(prefix);
	device<float> lse(T * s.H);
	struct cuda_attention a = { .H = s.H, .HKV = s.HKV, .D = s.D, .T = (int)T, .sequences = (int)lengths.size(), .longest = longest,
				    .start = start.p, .prefix = prefix.empty() ? NULL : before.p, .qkv = dqkv_in.p, .out = out.p, .lse = lse.p, .dout = ddout.p, .dqkv = dqkv.p,
				    .variant = variant, .exact = exact };
	char what[120];

	MUST(cuda_attention_work(gpu, &a, &a.work_bytes));
	device<char> work(a.work_bytes);

	a.work = work.p;
	MUST(cuda_attention(gpu, &a));
	snprintf(what, sizeof what, "%s %d/%d/%d T=%zu out", name, s.H, s.HKV, s.D, T);
	std::vector<__nv_bfloat16> o = out.get();
	compare(what, o, r.out, 4e-3, 5e-2);
	snprintf(what, sizeof what, "%s %d/%d/%d T=%zu lse", name, s.H, s.HKV, s.D, T);
	std::vector<float> l = lse.get();
	compare(what, l, r.lse, 1e-5, 1e-3);
	MUST(cuda_attention_grad(gpu, &a));
	std::vector<__nv_bfloat16> g = dqkv.get();
	const char *const names[] = { "dq", "dk", "dv" };
	int bounds[] = { 0, s.H, s.H + s.HKV, s.H + 2 * s.HKV };

	for (int i = 0; i < 3; i++) {
		snprintf(what, sizeof what, "%s %d/%d/%d T=%zu %s", name, s.H, s.HKV, s.D, T, names[i]);
		compare(what, part(g, s, bounds[i], bounds[i + 1]), part(r.dqkv, s, bounds[i], bounds[i + 1]), 6e-3, 0.2);
	}
	out.poison();
	lse.poison();
	dqkv.poison();
	MUST(cuda_attention(gpu, &a));
	MUST(cuda_attention_grad(gpu, &a));
	snprintf(what, sizeof what, "%s %d/%d/%d T=%zu again", name, s.H, s.HKV, s.D, T);
	same_bits(what, dqkv.get(), g);
	same_bits(what, out.get(), o);
}

/* Sequences that go on from another have the bits they have with those rows in front of them. */
static void check_prefix_bits(const shape &s)
{
	size_t heads = s.H + 2 * s.HKV;
	std::vector<__nv_bfloat16> qkv = random_bf16(700 * heads * s.D, 1), whole;

	for (int cut : { 0, 100 }) {
		std::vector<int32_t> starts = cut ? std::vector<int32_t>{ 0, 100, 700 } : std::vector<int32_t>{ 0, 700 }, prefixes = { -1, 0 };
		device<__nv_bfloat16> in(qkv), out((size_t)700 * s.H * s.D);
		device<int32_t> start(starts), prefix(prefixes);
		struct cuda_attention a = { .H = s.H, .HKV = s.HKV, .D = s.D, .T = 700, .sequences = cut ? 2 : 1, .longest = 700, .start = start.p,
					    .prefix = cut ? prefix.p : NULL, .qkv = in.p, .out = out.p, .exact = 1 };

		MUST(cuda_attention(gpu, &a));
		if (cut)
			same_bits("a prefix as rows in front", out.get(), whole);
		whole = out.get();
	}
}

int main(void)
{
	static const shape shapes[] = { { 28, 4, 128 }, { 8, 4, 64 }, { 4, 4, 128 }, { 14, 2, 64 } };
	struct cuda_info info;
	int version;

	MUST(cuda_open(0, &gpu, &info));
	MUST(cuda_has_cudnn(gpu, &version));
	printf("%s, cuDNN %d\n", info.name, version);
	for (const shape &s : shapes) {
		check_pack(s, { 1, 7, 64, 129, 65 }, CUDA_ATTN_OWN, 0, "own");
		if (version)
			check_pack(s, { 1, 7, 64, 129, 65 }, CUDA_ATTN_CUDNN, 0, "cudnn");
	}
	check_pack({ 4, 2, 128 }, { 513, 200, 1100 }, CUDA_ATTN_OWN, 1, "own long");
	check_pack({ 4, 2, 64 }, { 512, 576, 1 }, CUDA_ATTN_OWN, 1, "own long");
	if (version)
		check_pack({ 4, 2, 128 }, { 513, 200, 1100 }, CUDA_ATTN_CUDNN, 0, "cudnn long");
	for (const shape &s : { shape{ 28, 4, 128 }, shape{ 8, 4, 64 }, shape{ 6, 2, 32 } }) {
		check_pack(s, { 9, 65, 7, 130, 64, 1, 20, 33 }, CUDA_ATTN_BEST, 0, "shared", { -1, -1, 1, 1, 1, -1, 5, 5 });
		check_pack(s, { 200, 64, 129, 65 }, CUDA_ATTN_BEST, 1, "shared", { -1, 0, 0, -1 });
		check_prefix_bits(s);
	}
	cuda_close(gpu);
	return summary();
}
