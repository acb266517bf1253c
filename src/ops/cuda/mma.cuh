/* The instructions of tensor cores and asynchronous copies that the kernels here are made of, and
 * the layout of tiles in shared memory.
 *
 * A tile has rows of D two-byte elements in pieces of 16 bytes; piece c of row r is at place
 * c ^ (r & 7), so that eight rows of one column of pieces lie in different banks. */
#ifndef OPS_CUDA_MMA_CUH
#define OPS_CUDA_MMA_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <stdint.h>

static __device__ __forceinline__ uint32_t smem_address(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}

/* Byte offset of piece `c` of row `r` in a tile of D columns. */
template <int D> static __device__ __forceinline__ uint32_t tile_at(int r, int c)
{
	return (uint32_t)(r * D * 2 + ((D == 32 ? c ^ (r >> 1 & 3) : c ^ (r & 7)) << 4));
}

/* Copies 16 bytes to shared memory, or writes zeros there without reading. */
static __device__ __forceinline__ void copy16(uint32_t to, const void *from, bool there)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(from),
		     "r"(there ? 16 : 0) : "memory");
}

static __device__ __forceinline__ void copies_commit(void)
{
	asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits until at most N of this thread's groups of copies are under way. */
template <int N> static __device__ __forceinline__ void copies_wait(void)
{
	asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory");
}

static __device__ __forceinline__ void load16(uint32_t r[4], uint32_t at)
{
	asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]),
		     "=r"(r[3]) : "r"(at) : "memory");
}

static __device__ __forceinline__ void store16(uint32_t at, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3)
{
	asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" :: "r"(at), "r"(r0), "r"(r1), "r"(r2), "r"(r3) : "memory");
}

/* Four matrices of 8 rows of 16 bytes; lane i has the address of row i % 8 of matrix i / 8. */
static __device__ __forceinline__ void load_matrices(uint32_t r[4], uint32_t at)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
		     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}

static __device__ __forceinline__ void load_transposed(uint32_t r[4], uint32_t at)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
		     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}

/* c[16, 8] += a[16, 16] b[16, 8]. A thread of lane 4 g + q holds rows g and g + 8 and columns 2 q,
 * 2 q + 1 of c; a: {row g, row g + 8} x {columns 2 q.., 2 q + 8..}; b: column g, rows 2 q.., 2 q + 8... */
static __device__ __forceinline__ void mma_bf16(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
	asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
	    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
	    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ __forceinline__ void mma_f16(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
	asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
	    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
	    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ __forceinline__ uint32_t pack_bf16(float low, float high)
{
	__nv_bfloat162 v = __floats2bfloat162_rn(low, high);

	return *(uint32_t *)&v;
}

static __device__ __forceinline__ uint32_t pack_f16(float low, float high)
{
	__half2 v = __floats2half2_rn(low, high);

	return *(uint32_t *)&v;
}

static __device__ __forceinline__ float2 unpack_bf16(uint32_t v)
{
	return make_float2(__uint_as_float(v << 16), __uint_as_float(v & 0xffff0000u));
}

/* Converts two e4m3 codes to halves. Before compute capability 8.9 no instruction does this: the
 * code's bits are shifted into a half, which is then 2^8 too small, and multiplied by 256. */
static __device__ __forceinline__ __half2 half_of_fp8(uint32_t two)
{
#if __CUDA_ARCH__ >= 890
	__half2_raw h = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)two, __NV_E4M3);

	return __half2(h);
#else
	uint32_t apart = (two & 0xff) | (two & 0xff00) << 8, bits = (apart & 0x00800080) << 8 |
		(apart & 0x007f007f) << 7;

	return __hmul2(*(__half2 *)&bits, __float2half2_rn(256));
#endif
}

static __device__ __forceinline__ uint32_t bf16_of_fp8(uint32_t two)
{
	float2 f = __half22float2(half_of_fp8(two));

	return pack_bf16(f.x, f.y);
}

/* 2^x */
static __device__ __forceinline__ float power2(float x)
{
	float y;

	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}

#endif
