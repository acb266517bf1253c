/* What the tests of CUDA kernels share: random numbers, device memory that begins poisoned, and comparison
 * of every element with a reference in fp64. */
#ifndef TEST_CUDA_CHECK_CUH
#define TEST_CUDA_CHECK_CUH

#include <cuda_bf16.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

#include "dev/cuda/context.cuh"
#include "ops/cuda/cuda.h"

static int failures, checks;

#define MUST(call) do { \
		int rc_ = (int)(call); \
		if (rc_) { \
			char text_[200]; \
			cuda_explain(rc_, text_, sizeof text_); \
			fprintf(stderr, "%s:%d: %s: %s (%d)\n", __FILE__, __LINE__, #call, text_, rc_); \
			exit(2); \
		} \
	} while (0)

/* xorshift; the same numbers on every machine */
static uint64_t random_state = 88172645463325252ull;
static uint64_t random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}
static double random_unit(void) { return (double)(random_u64() >> 11) * 0x1p-53; }
/* Nearly normal: four uniform numbers of 16 bits. */
static float random_normal(void)
{
	uint64_t r = random_u64();

	return (float)((int)(r & 0xffff) + (int)(r >> 16 & 0xffff) + (int)(r >> 32 & 0xffff) + (int)(r >> 48) - 131070) / 37837.0f;
}

static std::vector<__nv_bfloat16> random_bf16(size_t n, float scale)
{
	std::vector<__nv_bfloat16> v(n);

	for (size_t i = 0; i < n; i++)
		v[i] = __float2bfloat16_rn(random_normal() * scale);
	return v;
}

/* Device memory of n elements: with the contents of `from`, or all bits set. */
template <class T> struct device {
	T *p;
	size_t n;

	explicit device(size_t count, int byte = 0xff) : n(count)
	{
		MUST(cudaMalloc((void **)&p, n * sizeof(T) + 256));
		MUST(cudaMemset(p, byte, n * sizeof(T) + 256));
		MUST(cudaDeviceSynchronize());
	}
	explicit device(const std::vector<T> &from) : device(from.size()) { set(from); }
	device(const device &) = delete;
	~device(void) { cudaFree(p); }
	std::vector<T> get(void) const
	{
		std::vector<T> v(n);

		MUST(cudaDeviceSynchronize());
		MUST(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
		return v;
	}
	/* The stream of the kernels does not wait for copies of others by itself. */
	void set(const std::vector<T> &from)
	{
		MUST(cudaMemcpy(p, from.data(), n * sizeof(T), cudaMemcpyHostToDevice));
		MUST(cudaDeviceSynchronize());
	}
	void poison(void)
	{
		MUST(cudaDeviceSynchronize());
		MUST(cudaMemset(p, 0xff, n * sizeof(T)));
		MUST(cudaDeviceSynchronize());
	}
};

static double number(float x) { return x; }
static double number(__nv_bfloat16 x) { return (double)__bfloat162float(x); }

static void verdict(int good, const char *what, const char *text)
{
	checks++;
	failures += !good;
	printf("%s %-58s %s\n", good ? "ok  " : "FAIL", what, text);
	fflush(stdout);
}

/* ||got - want|| / ||want|| at most `relative`, and no element off by more than `most`. NaN fails. */
template <class T> static void compare(const char *what, const std::vector<T> &got, const std::vector<double> &want, double relative, double most)
{
	double error = 0, norm = 0, worst = 0;
	size_t where = 0;
	char text[200];

	for (size_t i = 0; i < want.size(); i++) {
		double d = fabs(number(got[i]) - want[i]);

		if (!(d <= worst))
			worst = d, where = i;
		error += d * d;
		norm += want[i] * want[i];
	}
	error = sqrt(error / (norm > 0 ? norm : 1));
	snprintf(text, sizeof text, "relative %.2e (%.0e) worst %.2e at %zu of %zu", error, relative, worst, where, want.size());
	verdict(error <= relative && worst <= most, what, text);
}

template <class T> static void same_bits(const char *what, const std::vector<T> &a, const std::vector<T> &b)
{
	size_t differ = 0, first = 0;
	char text[100];

	for (size_t i = 0; i < a.size(); i++)
		if (memcmp(&a[i], &b[i], sizeof(T)) && !differ++)
			first = i;
	snprintf(text, sizeof text, "%zu of %zu differ, first %zu", differ, a.size(), first);
	verdict(!differ && a.size() == b.size(), what, text);
}

static int summary(void)
{
	printf("%d checks, %d failed\n", checks, failures);
	return failures != 0;
}

#endif
