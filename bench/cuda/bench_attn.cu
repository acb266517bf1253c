/* Times of attention over packs, of decode attention and of sampling. Lines: what, microseconds, rate. */
#include <math.h>

#include <algorithm>

#include "../../test/cuda/check.cuh"

static struct cuda *gpu;

static __global__ void fill(uint32_t *x, size_t n, uint32_t seed)
{
	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
		uint32_t h = (uint32_t)(i * 2654435761u) ^ seed;

		h = (h ^ h >> 15) * 0x2c1b3c6du;
		h = (h ^ h >> 12) * 0x297a2d39u;
		x[i] = (h & 0x807f807fu) | 0x3f003f00u;      /* bf16 of size 0.5 to 1, and as bytes small codes */
	}
}

static void fill_random(void *p, size_t bytes)
{
	fill<<<1024, 256, 0, gpu->stream>>>((uint32_t *)p, bytes / 4, (uint32_t)random_u64());
	MUST(cudaStreamSynchronize(gpu->stream));
}

/* Median of `repeats` times of `work`, microseconds. */
template <class F> static double time_us(int repeats, F work)
{
	std::vector<float> ms;
	cudaEvent_t a, b;

	MUST(cudaEventCreate(&a));
	MUST(cudaEventCreate(&b));
	for (int i = -2; i < repeats; i++) {
		float t;

		MUST(cudaEventRecord(a, gpu->stream));
		work();
		MUST(cudaEventRecord(b, gpu->stream));
		MUST(cudaEventSynchronize(b));
		MUST(cudaEventElapsedTime(&t, a, b));
		if (i >= 0)
			ms.push_back(t);
	}
	std::sort(ms.begin(), ms.end());
	cudaEventDestroy(a);
	cudaEventDestroy(b);
	return ms[ms.size() / 2] * 1e3;
}

/* The same as a recorded graph of `n` calls: microseconds a call. */
template <class F> static double time_graph(int n, F work)
{
	void *graph;

	work(0);
	MUST(cudaStreamSynchronize(gpu->stream));
	MUST(cuda_graph_begin(gpu));
	for (int i = 0; i < n; i++)
		work(i);
	MUST(cuda_graph_end(gpu, &graph));
	double us = time_us(11, [&] { MUST(cuda_graph_run(gpu, graph)); }) / n;

	cuda_graph_free(gpu, graph);
	return us;
}

/* Lengths fall from `longest` to `least` by equal factors: equal ones where the two are the same. `mixed`: in no
 * order. */
static void bench_pack(int H, int HKV, int D, int sequences, int longest, int least, int variant, const char *name, int mixed = 0)
{
	std::vector<int32_t> starts(1);
	double squares = 0;

	for (int i = 0; i < sequences; i++) {
		int at = mixed ? i * 37 % sequences : i;         /* 37 divides no number of sequences below */
		int n = (int)lround(longest * pow((double)least / longest, at / (double)(sequences > 1 ? sequences - 1 : 1)));

		starts.push_back(starts.back() + n);
		squares += (double)n * n;
	}
	size_t T = (size_t)starts.back(), ld = (size_t)(H + 2 * HKV) * D;
	device<int32_t> start(starts);
	device<__nv_bfloat16> qkv(T * ld), out(T * H * D), dout(T * H * D), dqkv(T * ld);
	device<float> lse(T * H);
	struct cuda_attention a = { .H = H, .HKV = HKV, .D = D, .T = (int)T, .sequences = sequences, .longest = longest, .start = start.p,
				    .qkv = qkv.p, .out = out.p, .lse = lse.p, .dout = dout.p, .dqkv = dqkv.p, .variant = variant };

	fill_random(qkv.p, T * ld * 2);
	fill_random(dout.p, T * H * D * 2);
	MUST(cuda_attention_work(gpu, &a, &a.work_bytes));
	device<char> work(a.work_bytes);

	a.work = work.p;
	double forward = time_us(21, [&] { MUST(cuda_attention(gpu, &a)); }), backward = time_us(21, [&] { MUST(cuda_attention_grad(gpu, &a)); });
	double flop = 2.0 * squares * H * D;

	printf("attention %-5s %d/%d/%d %dx%d..%d%s: fwd %.0f us %.0f TFLOP/s, bwd %.0f us %.0f TFLOP/s, work %zu MB\n", name, H, HKV, D, sequences,
	       longest, least, mixed ? " mixed" : "", forward, flop / forward * 1e-6, backward, 2.5 * flop / backward * 1e-6, a.work_bytes >> 20);
	fflush(stdout);
}

/* `samples` runs for each shared prompt of `shared` positions. 28 layers, each with its own pages. */
static void bench_decode(int runs, int context, int samples, int shared, int fp8)
{
	enum { H = 28, HKV = 4, D = 128, L = 28 };
	int per = (context + 63) / 64, groups = shared ? runs / samples : 0, next = 0;
	size_t layer = (size_t)2 * HKV * 64 * D * (fp8 ? 1 : 2), stride = layer * L;
	std::vector<int32_t> row, length(runs, context - 1), table((size_t)runs * per), group, pages;

	for (int i = 0; i <= runs; i++)
		row.push_back(i);
	for (int g = 0; g <= groups; g++) {
		group.push_back(g * samples);
		pages.push_back(shared / 64);
	}
	for (int r = 0; r < runs; r++)
		for (int p = 0; p < per; p++) {
			int mate = shared && p < shared / 64 && r % samples;

			table[(size_t)r * per + p] = mate ? table[(size_t)(r - r % samples) * per + p] : next++;
		}
	device<int32_t> drow(row), dlength(length), dtable(table), dgroup(group), dpages(pages);
	device<char> kv((size_t)next * stride);
	device<__nv_bfloat16> qkv((size_t)runs * (H + 2 * HKV) * D), out((size_t)runs * H * D);
	struct cuda_paged p = { .H = H, .HKV = HKV, .D = D, .rows = runs, .runs = runs, .longest_rows = 1, .longest = context, .row = drow.p,
				.length = dlength.p, .table = dtable.p, .table_ld = per, .groups = groups, .group = dgroup.p,
				.group_pages = dpages.p, .qkv = qkv.p, .out = out.p, .stride = stride, .kv_dt = fp8 ? DT_F8E4M3 : DT_BF16 };

	fill_random(kv.p, kv.n);
	fill_random(qkv.p, qkv.n * 2);
	MUST(cuda_paged_work(gpu, &p, &p.work_bytes));
	device<char> work(p.work_bytes, 0);

	p.work = work.p;
	double us = time_graph(L, [&](int l) {
		p.kv = kv.p + l * layer;
		MUST(cuda_paged(gpu, &p));
	});
	double bytes = (double)next * 64 * (layer / 64) * ((double)context / (per * 64));

	printf("decode %s runs %d context %d%s: %.1f us a layer, %.0f GB/s\n", fp8 ? "fp8" : "bf16", runs, context, shared ? " shared 1k/16" : "", us,
	       bytes / us * 1e-3);
	fflush(stdout);
}

static void bench_sample(int rows, struct sample_row o, const char *name)
{
	enum { V = 152064, SETS = 4 };
	device<float> x((size_t)rows * V * SETS);
	std::vector<struct sample_row> all(rows, o);
	device<struct sample_row> row(all);
	device<int32_t> drawn(std::vector<int32_t>(rows, 5)), stop(std::vector<int32_t>{ 1, 2 }), token(rows), done(rows);
	device<float> logprob(rows);
	std::vector<float> logits((size_t)V);

	for (auto &v : logits)
		v = random_normal() * 3;
	for (size_t i = 0; i < (size_t)rows * SETS; i++)
		MUST(cudaMemcpy(x.p + i * V, logits.data(), V * sizeof(float), cudaMemcpyHostToDevice));
	MUST(cudaDeviceSynchronize());
	struct cuda_sample a = { .rows = rows, .V = V, .logits_dt = DT_F32, .row = row.p, .drawn = drawn.p, .stop = stop.p, .stops = 2,
				 .token = token.p, .logprob = logprob.p, .done = done.p };
	double us = time_graph(8, [&](int i) {
		a.logits = x.p + (size_t)(i % SETS) * rows * V;
		MUST(cuda_sample(gpu, &a));
	});

	printf("sample %s rows %d: %.1f us\n", name, rows, us);
	fflush(stdout);
}

int main(void)
{
	struct cuda_info info;
	int version;

	MUST(cuda_open(0, &gpu, &info));
	MUST(cuda_has_cudnn(gpu, &version));
	for (int own = 0; own < 2; own++) {
		if (!own && !version)
			continue;
		int variant = own ? CUDA_ATTN_OWN : CUDA_ATTN_CUDNN;
		const char *name = own ? "own" : "cudnn";

		bench_pack(28, 4, 128, 4, 2048, 2048, variant, name);
		bench_pack(28, 4, 128, 16, 1536, 128, variant, name);
		bench_pack(8, 4, 64, 64, 1024, 1024, variant, name);
		bench_pack(8, 2, 64, 96, 1024, 512, variant, name);
		bench_pack(8, 2, 64, 128, 1024, 256, variant, name);
		bench_pack(8, 2, 64, 200, 1536, 96, variant, name);
		for (int mixed = 0; mixed < 2; mixed++)
			bench_pack(8, 2, 64, 60, 4096, 200, variant, name, mixed);
		bench_pack(12, 4, 64, 32, 1024, 1024, variant, name);
	}
	for (int fp8 = 0; fp8 < 2; fp8++) {
		for (int runs : { 1, 32, 128, 256 })
			bench_decode(runs, 512, 1, 0, fp8);
		bench_decode(256, 2048, 1, 0, fp8);
		bench_decode(256, 2048, 16, 1024, fp8);
		bench_decode(1, 32768, 1, 0, fp8);
	}
	for (int rows : { 1, 32, 256 }) {
		bench_sample(rows, { { .temperature = 1 }, 5 }, "T=1");
		bench_sample(rows, { { .temperature = 0.7f, .top_p = 0.95f }, 5 }, "T=0.7 top-p");
		bench_sample(rows, { { .temperature = 0.7f, .top_k = 50 }, 5 }, "T=0.7 top-k");
	}
	cuda_close(gpu);
	return 0;
}
