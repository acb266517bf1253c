/* Keys and values of pages as a warp of decode.cu takes them: 16 positions at a time, copied to a
 * place in shared memory and used there as the right operand.
 *
 * page_bf16 multiplies as every kernel of attn_tile.cuh does, so a row has their bits. page_fp8 turns
 * codes into halves, which hold them exactly; it takes columns of a product in another order,
 * which saves it from moving bytes about. */
#ifndef OPS_CUDA_DECODE_PAGE_CUH
#define OPS_CUDA_DECODE_PAGE_CUH

#include <cuda_fp8.h>

#include "ops/cuda/decode_plan.cuh"

enum { UNIT_KEYS = 16 };

/* The address of the keys (values = 0) or values (1) of head `kvh` in the page of position
 * `key`. */
static __device__ __forceinline__ const char *page_head(const struct decode *a, int run, int key, int kvh,
							int values, int head_bytes)
{
	int page = a->table[run * a->table_ld + key / TILE_KEYS];

	return a->kv + (size_t)page * a->stride + (size_t)(values * a->HKV + kvh) * (size_t)head_bytes;
}

template <int D> struct page_bf16 {
	enum { UNIT = UNIT_KEYS * D * 2, HEAD = TILE_KEYS * D * 2, FUSED = 1 };
	uint32_t q[D / 16][4];

	/* Query row of this thread's row g, NULL: none. */
	__device__ __forceinline__ void load_q(const __nv_bfloat16 *row)
	{
		int at = 2 * (threadIdx.x & 3);

#pragma unroll
		for (int k = 0; k < D / 16; k++) {
			q[k][0] = row ? *(const uint32_t *)(row + 16 * k + at) : 0;
			q[k][2] = row ? *(const uint32_t *)(row + 16 * k + at + 8) : 0;
			q[k][1] = q[k][3] = 0;
		}
	}

	/* Positions key.. + 16 of a run to `to`; the newest is not in its page yet but in its row. */
	static __device__ __forceinline__ void fetch(const struct decode *a, int run, int kvh, int key,
						     int keys, int values, uint32_t to)
	{
		const char *head = page_head(a, run, min(key, keys - 1), kvh, values, HEAD);
		const __nv_bfloat16 *own = a->qkv + ((size_t)a->row[run] * (a->H + 2 * a->HKV) + a->H +
						     values * a->HKV + kvh) * D;
		int lane = threadIdx.x & 31;

#pragma unroll
		for (int i = 0; i < UNIT_KEYS * D / 8 / 32; i++) {
			int at = lane + 32 * i, row = at / (D / 8), piece = at % (D / 8);
			const char *from = head + ((key + row) % TILE_KEYS * D + piece * 8) * 2;

			if (key + row == keys - 1)
				from = (const char *)(own + piece * 8);
			copy16(to + tile_at<D>(row, piece), from, key + row < keys);
		}
	}

	/* A tile that a group shares, of keys or values, by all threads of the block. */
	static __device__ __forceinline__ void fetch_tile(const struct decode *a, int run, int kvh,
							  int tile, int values, uint32_t to)
	{
		const char *head = page_head(a, run, tile * TILE_KEYS, kvh, values, HEAD);

#pragma unroll
		for (int i = 0; i < TILE_KEYS * D / 8 / DECODE_THREADS; i++) {
			int at = (int)threadIdx.x + i * DECODE_THREADS;

			copy16(to + tile_at<D>(at / (D / 8), at % (D / 8)), head + at * 16, true);
		}
	}

	__device__ __forceinline__ void score(float (*s)[4], uint32_t at) const { score16<D>(s, q, at, 0); }

	static __device__ __forceinline__ void left(uint32_t p[4], const float s0[4],
						    const float s1[4]) { powers_left<1>(p, s0, s1); }

	static __device__ __forceinline__ void weigh(rows16<D> *o, const uint32_t p[4],
						     uint32_t at) { weigh16<D>(o, p, at, 0); }

	/* Row g of the products to shared memory. */
	static __device__ __forceinline__ void put(float *to, const rows16<D> *o)
	{
		int q = threadIdx.x & 3;

#pragma unroll
		for (int j = 0; j < D / 8; j++)
			*(float2 *)(to + 8 * j + 2 * q) = make_float2(o->v[j][0], o->v[j][1]);
	}
};

static __device__ __forceinline__ uint32_t half_bits(uint32_t two)
{
	__half2 h = half_of_fp8(two);

	return *(uint32_t *)&h;
}

template <int D> struct page_fp8 {
	enum { UNIT = UNIT_KEYS * D, HEAD = TILE_KEYS * D, FUSED = 0 };
	uint32_t q[D / 16][4];

	/* Each thread reads 16 bytes of keys from two rows at a time, and values by columns of
	 * eight rows. Both use the order of pieces that keeps their reads in different banks. */
	static __device__ __forceinline__ uint32_t key_at(int r, int c)
	{
		return (uint32_t)(r * D + ((D == 128 ? c ^ (r & 1) << 2 : c) << 4));
	}

	static __device__ __forceinline__ uint32_t value_at(int r, int c)
	{
		return (uint32_t)(r * D + ((D == 128 ? c ^ (r & 7) : c ^ (r >> 1 & 3)) << 4));
	}

	/* Step k of a product takes columns 16 (q + 4 (k / 4)) + 4 (k % 4) and the next three. */
	__device__ __forceinline__ void load_q(const __nv_bfloat16 *row)
	{
#pragma unroll
		for (int k = 0; k < D / 16; k++) {
			int at = 16 * ((threadIdx.x & 3) + 4 * (k / 4)) + 4 * (k % 4);
			float2 low = row ? unpack_bf16(*(const uint32_t *)(row + at)) : make_float2(0, 0);
			float2 high = row ? unpack_bf16(*(const uint32_t *)(row + at + 2)) : make_float2(0, 0);

			q[k][0] = pack_f16(low.x, low.y);
			q[k][2] = pack_f16(high.x, high.y);
			q[k][1] = q[k][3] = 0;
		}
	}

	static __device__ __forceinline__ void fetch(const struct decode *a, int run, int kvh, int key,
						     int keys, int values, uint32_t to)
	{
		const char *head = page_head(a, run, min(key, keys - 1), kvh, values, HEAD);
		int lane = threadIdx.x & 31;

#pragma unroll
		for (int i = 0; i < UNIT_KEYS * D / 16 / 32; i++) {
			int at = lane + 32 * i, row = at / (D / 16), piece = at % (D / 16);

			copy16(to + (values ? value_at(row, piece) : key_at(row, piece)),
			       head + (key + row) % TILE_KEYS * D + piece * 16,
			       key + row < keys);
		}
	}

	/* As bf16, which holds the codes exactly. */
	static __device__ __forceinline__ void fetch_tile(const struct decode *a, int run, int kvh,
							  int tile, int values, uint32_t to)
	{
		const char *head = page_head(a, run, tile * TILE_KEYS, kvh, values, HEAD);

#pragma unroll
		for (int i = 0; i < TILE_KEYS * D / 8 / DECODE_THREADS; i++) {
			int at = (int)threadIdx.x + i * DECODE_THREADS;
			uint2 codes = __ldg((const uint2 *)(head + at * 8));

			store16(to + tile_at<D>(at / (D / 8), at % (D / 8)), bf16_of_fp8(codes.x & 0xffff),
				bf16_of_fp8(codes.x >> 16),
				bf16_of_fp8(codes.y & 0xffff), bf16_of_fp8(codes.y >> 16));
		}
	}

	__device__ __forceinline__ void score(float (*s)[4], uint32_t at) const
	{
		int lane = threadIdx.x & 31;

#pragma unroll
		for (int half = 0; half < 2; half++)
#pragma unroll
			for (int part = 0; part < D / 64; part++) {
				uint32_t w[4];

				load16(w, at + key_at(8 * half + lane / 4, (lane & 3) + 4 * part));
#pragma unroll
				for (int k = 0; k < 4; k++)
					mma_f16(s[half], q[4 * part + k], half_bits(w[k] & 0xffff),
						half_bits(w[k] >> 16));
			}
	}

	static __device__ __forceinline__ void left(uint32_t p[4], const float s0[4], const float s1[4])
	{
		p[0] = pack_f16(s0[0], s0[1]);
		p[2] = pack_f16(s1[0], s1[1]);
		p[1] = p[3] = 0;
	}

	/* A transposed load gives a thread two columns of two positions; even columns are one right operand,
	 * odd ones another. */
	static __device__ __forceinline__ void weigh(rows16<D> *o, const uint32_t p[4], uint32_t at)
	{
		int lane = threadIdx.x & 31;

#pragma unroll
		for (int j = 0; j < D / 32; j++) {
			uint32_t b[4];

			load_transposed(b, at + value_at(lane & 15, 2 * j + (lane >> 4)));
#pragma unroll
			for (int i = 0; i < 2; i++) {
				uint32_t low = b[2 * i], high = b[2 * i + 1];

				mma_f16(o->v[4 * j + 2 * i], p, half_bits(__byte_perm(low, 0, 0x4420) & 0xffff),
					half_bits(__byte_perm(high, 0, 0x4420) & 0xffff));
				mma_f16(o->v[4 * j + 2 * i + 1], p, half_bits(__byte_perm(low, 0, 0x4431) & 0xffff),
					half_bits(__byte_perm(high, 0, 0x4431) & 0xffff));
			}
		}
	}

	static __device__ __forceinline__ void put(float *to, const rows16<D> *o)
	{
		int q = threadIdx.x & 3;

#pragma unroll
		for (int c = 0; c < D / 16; c++)
			*(float4 *)(to + 16 * c + 4 * q) = make_float4(o->v[2 * c][0], o->v[2 * c + 1][0],
								       o->v[2 * c][1], o->v[2 * c + 1][1]);
	}
};

#endif
