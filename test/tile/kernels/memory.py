"""Loads, stores, block pointers, descriptors. Each `# signature:` line is a case for comparing with real Triton."""
import math

import triton
import triton.language as tl
from triton.language.extra import libdevice

# signature: p=*fp32, o=*fp16, n=i32, N=16
# signature: p=*i1, o=*i1, n=i32, N=16
# signature: p=*fp8e5, o=*fp32, n=i32, N=16
# signature: p=*kfp32, o=*fp32, n=i32, N=16
# signature: p=*fp32, o=*kfp32, n=i32, N=16
# signature: p=i32, o=*fp32, n=i32, N=16
# signature: p=*fp32, o=fp32, n=i32, N=16
# signature: p=*u64, o=*i8, n=i32, N=16
@triton.jit
def plain(p, o, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(p + i))
    tl.store(o + i, tl.load(p + i, mask=i < n), mask=i < n)
    tl.store(o + i, tl.load(p + i, mask=i < n, other=0), i < n)
    tl.store(o, tl.load(p))


# signature: p=*fp32, N=16
@triton.jit
def other_without_mask(p, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(p + i, tl.load(p + i, other=0.0))


# signature: p=*fp32, N=16
@triton.jit
def mask_is_int(p, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(p + i, 1.0, mask=i)


# signature: p=*fp32, N=16
@triton.jit
def load_mask_is_int(p, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(p + i, tl.load(p + i, mask=i))


# signature: p=*fp32, N=16
@triton.jit
def mask_is_number(p, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(p + i, tl.load(p + i, mask=True, other=1), mask=False)
    tl.store(p + i, tl.load(p + i, mask=None, other=None))


# signature: p=*fp32, N=16
@triton.jit
def block_mask_scalar_pointer(p, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(p, mask=i < 3)
    tl.store(p, x)


# signature: p=*fp32, N=16
@triton.jit
def mask_widens_load(p, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(p + i[:, None], mask=i[None, :] < 3, other=0.0)
    tl.store(p + i[:, None] + i[None, :], x)


# signature: p=*fp32, N=16
@triton.jit
def mask_widens_store(p, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(p + i[:, None], 1.0, mask=i[None, :] < 3)


# signature: p=*fp32, N=16
@triton.jit
def hints(p, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(p + i, cache_modifier=".cg", volatile=True)
    tl.store(p + i, x, eviction_policy="evict_first")
    j = tl.max_contiguous(tl.multiple_of(i, 16), 16)
    tl.assume(N > 3)
    tl.debug_barrier()
    tl.store(p + j, x)


# signature: p=*fp32, N=16
@triton.jit
def wrong_cache(p, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(p + i, tl.load(p + i, cache_modifier=".xx"))


# signature: p=*fp32, N=16
@triton.jit
def wrong_eviction(p, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(p + i, tl.load(p + i, eviction_policy="never"))


# signature: p=*fp32, n=i32
# signature: p=*fp32, n=1
@triton.jit
def multiple_of_scalar(p, n):
    n = tl.multiple_of(n, 8)
    tl.store(p + n, 1.0)


# signature: p=*fp32, n=i32
@triton.jit
def contiguous_scalar(p, n):
    n = tl.max_contiguous(n, 8)
    tl.store(p + n, 1.0)


# signature: p=*fp32, N=16
@triton.jit
def loads_a_value(p, N: tl.constexpr):
    x = tl.load(p)
    tl.store(p, tl.load(x))


# signature: p=*fp32, N=16
@triton.jit
def loads_nothing(p, N: tl.constexpr):
    tl.store(p, tl.load(None))


# signature: p=*fp32, N=16
@triton.jit
def unknown_keyword(p, N: tl.constexpr):
    tl.store(p, tl.load(p, masks=True))


# signature: p=*fp32, N=16
@triton.jit
def missing_value(p, N: tl.constexpr):
    tl.store(p)


# signature: p=*fp32, o=*fp32, M=i32, N=i32, B=16
# signature: p=*fp16, o=*fp32, M=i32, N=i32, B=16
# signature: p=*fp32, o=*fp32, M=i64, N=i64, B=16
# signature: p=*i32, o=*fp32, M=i32, N=1, B=16
@triton.jit
def block_pointer(p, o, M, N, B: tl.constexpr):
    a = tl.make_block_ptr(base=p, shape=(M, N), strides=(N, 1), offsets=(0, 0), block_shape=(B, B), order=(1, 0))
    b = tl.make_block_ptr(o, (M, N), (N, 1), (0, 0), (B, B), (1, 0))
    for i in range(0, 4):
        x = tl.load(a, boundary_check=(0, 1), padding_option="zero")
        tl.store(b, x.to(tl.float32), boundary_check=(0,))
        a = tl.advance(a, (0, B))
        b = tl.advance(b, [B, 0])


# signature: p=*fp32, M=i32, B=16
# signature: p=*fp16, M=i32, B=16
@triton.jit
def block_store_type(p, M, B: tl.constexpr):
    b = tl.make_block_ptr(p, (M,), (1,), (0,), (B,), (0,))
    tl.store(b, tl.zeros((B,), tl.float32), boundary_check=(0,))


# signature: p=*fp32, M=i32, B=16
@triton.jit
def block_store_shape(p, M, B: tl.constexpr):
    b = tl.make_block_ptr(p, (M,), (1,), (0,), (B,), (0,))
    tl.store(b, tl.zeros((8,), tl.float32))


# signature: p=*fp32, M=i32, B=16
@triton.jit
def block_masked(p, M, B: tl.constexpr):
    b = tl.make_block_ptr(p, (M,), (1,), (0,), (B,), (0,))
    x = tl.load(b, mask=tl.arange(0, B) < M)
    tl.store(b, x)


# signature: p=*fp32, M=i32, B=16
# signature: p=*i32, M=i32, B=16
@triton.jit
def block_nan(p, M, B: tl.constexpr):
    b = tl.make_block_ptr(p, (M,), (1,), (0,), (B,), (0,))
    x = tl.load(b, boundary_check=(0,), padding_option="nan")
    tl.store(b, x)


# signature: p=*fp32, M=i32, B=16
@triton.jit
def block_lengths(p, M, B: tl.constexpr):
    b = tl.make_block_ptr(p, (M, M), (1,), (0,), (B,), (0,))
    tl.store(b, 1.0)


# signature: p=*fp32, M=i32, B=16
@triton.jit
def block_order(p, M, B: tl.constexpr):
    b = tl.make_block_ptr(p, (M, M), (M, 1), (0, 0), (B, B), (1, 1))
    tl.store(b, 1.0)


# signature: p=*fp32, M=i32, B=16
@triton.jit
def advance_unused(p, M, B: tl.constexpr):
    b = tl.make_block_ptr(p, (M,), (1,), (0,), (B,), (0,))
    tl.advance(b, (B,))
    tl.store(b, tl.zeros((B,), tl.float32))


# signature: p=*fp32, M=i32, B=16
@triton.jit
def boundary_wrong(p, M, B: tl.constexpr):
    b = tl.make_block_ptr(p, (M,), (1,), (0,), (B,), (0,))
    tl.store(b, tl.load(b, boundary_check=(1,)))


# signature: p=*fp32, N=16
@triton.jit
def boundary_without_block(p, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(p + i, tl.load(p + i, boundary_check=(0,)))


# signature: p=*fp32, o=*fp16, M=i32, N=i32, B=16
# signature: p=*i8, o=*fp16, M=i32, N=i32, B=8
@triton.jit
def descriptor(p, o, M, N, B: tl.constexpr):
    d = tl.make_tensor_descriptor(p, shape=[M, N], strides=[N, 1], block_shape=[B, B])
    e = tl.make_tensor_descriptor(o, [M, N], [N, 1], [B, B])
    for i in range(0, M, B):
        x = d.load([i, 0])
        e.store([i, 0], x)
        y = tl.load_tensor_descriptor(d, [i, B])
        tl.store_tensor_descriptor(e, [i, B], y.to(d.dtype))


# signature: p=*fp32, M=i32, N=i32, B=16
@triton.jit
def descriptor_stride(p, M, N, B: tl.constexpr):
    d = tl.make_tensor_descriptor(p, shape=[M, N], strides=[1, N], block_shape=[B, B])
    d.store([0, 0], d.load([0, 0]))


# signature: p=*fp32, M=i32, N=i32, B=16
@triton.jit
def descriptor_small(p, M, N, B: tl.constexpr):
    d = tl.make_tensor_descriptor(p, shape=[M, N], strides=[N, 1], block_shape=[B, 2])
    d.store([0, 0], d.load([0, 0]))


# signature: p=*fp32, M=i32, N=i32, B=16
@triton.jit
def descriptor_offsets(p, M, N, B: tl.constexpr):
    d = tl.make_tensor_descriptor(p, shape=[M, N], strides=[N, 1], block_shape=[B, B])
    d.store([0], d.load([0, 0]))


# signature: p=*fp32, v=*fp32, n=i32, N=16
# signature: p=*fp16, v=*fp16, n=i32, N=16
# signature: p=*bf16, v=*fp32, n=i32, N=16
# signature: p=*i32, v=*i32, n=i32, N=16
# signature: p=*i64, v=*i32, n=i32, N=16
# signature: p=*i8, v=*i8, n=i32, N=16
# signature: p=*i16, v=*i16, n=i32, N=16
# signature: p=*fp64, v=*fp32, n=i32, N=16
@triton.jit
def atomic_adds(p, v, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(v + i)
    old = tl.atomic_add(p + i, x)
    tl.atomic_add(p + i, 1, mask=i < n, sem="relaxed", scope="cta")
    tl.atomic_add(p, tl.sum(x))
    tl.store(v + i, old)


# signature: p=*fp32, N=16
# signature: p=*fp16, N=16
# signature: p=*i32, N=16
# signature: p=*u64, N=16
@triton.jit
def atomic_extremes(p, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(p + i, tl.atomic_max(p + i, i))
    tl.store(p + i, tl.atomic_min(p + i, i, mask=i < 3))


# signature: p=*i32, N=16
# signature: p=*fp32, N=16
@triton.jit
def atomic_bits(p, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_and(p + i, i)
    tl.atomic_or(p + i, 1)
    tl.atomic_xor(p, 3)


# signature: p=*i32, N=16
# signature: p=*fp32, N=16
# signature: p=*i64, N=16
@triton.jit
def atomic_exchange(p, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(p + i, tl.atomic_xchg(p + i, 5))
    tl.atomic_cas(p, 0, 1)
    while tl.atomic_cas(p, 0, 1) == 1:
        pass
    tl.atomic_xchg(p, 0)


# signature: p=*i32, N=16
@triton.jit
def atomic_wrong_sem(p, N: tl.constexpr):
    tl.atomic_add(p, 1, sem="strict")


# signature: p=*i32, N=16
@triton.jit
def atomic_on_value(p, N: tl.constexpr):
    tl.atomic_add(tl.load(p), 1)


# signature: p=*i32, N=16
@triton.jit
def atomic_mask_number(p, N: tl.constexpr):
    tl.atomic_add(p + tl.arange(0, N), 1, mask=True)


# signature: p=*i32, N=16
@triton.jit
def prints(p, N: tl.constexpr):
    tl.device_print("value", tl.load(p))
    print("again", N)
    tl.static_print(N, "x")
    tl.device_assert(tl.load(p) > 0, "positive")
    assert N == 16, "static"


# signature: p=*i32, N=16
@triton.jit
def print_needs_text(p, N: tl.constexpr):
    print(tl.load(p))


# signature: p=*i32, N=16
@triton.jit
def print_formatted(p, N: tl.constexpr):
    x = tl.load(p)
    print(f"value {x}")


# signature: p=*i32, N=16
# signature: p=*i32, N=8
@triton.jit
def asserts(p, N: tl.constexpr):
    tl.static_assert(N == 16, f"N is {N}")
    tl.store(p, N)


# signature: p=*i32, n=i32
@triton.jit
def asserts_at_run_time(p, n):
    tl.static_assert(n == 16)
    tl.store(p, n)


# signature: p=*i32
# signature: p=*i64
@triton.jit
def axes(p):
    a = tl.program_id(0) + tl.program_id(axis=1) + tl.program_id(2) + tl.num_programs(0)
    tl.store(p + a, a)


# signature: p=*i32
@triton.jit
def fourth_axis(p):
    tl.store(p, tl.program_id(3))


# signature: p=*i32, n=i32
@triton.jit
def axis_at_run_time(p, n):
    tl.store(p, tl.program_id(n))


# signature: p=*fp32
# signature: p=*i32
# signature: p=*fp8e4nv
@triton.jit
def casts(p):
    x = tl.load(p)
    tl.store(p, x.to(tl.float16).to(tl.float32))
    tl.store(p, x.to(tl.float32).to(tl.bfloat16, fp_downcast_rounding="rtz"))
    tl.store(p, tl.cast(x, tl.float64))
    tl.store(p, x.to(tl.float32).to(tl.int32, bitcast=True).to(tl.float32, bitcast=True))
    tl.store(p, x.to(tl.float32).to(tl.int1))


# signature: p=*fp8e5
# signature: p=*fp8e4b15
# signature: p=*fp8e4b8
@triton.jit
def cast_fp8_to_int(p):
    tl.store(p, tl.load(p).to(tl.int32))


# signature: p=*fp32
@triton.jit
def bitcast_width(p):
    tl.store(p, tl.load(p).to(tl.int16, bitcast=True))


# signature: p=*fp32
@triton.jit
def cast_rounding_up(p):
    tl.store(p, tl.load(p).to(tl.float64, fp_downcast_rounding="rtne"))


# signature: p=*fp32
@triton.jit
def cast_rounding_unknown(p):
    tl.store(p, tl.load(p).to(tl.float16, fp_downcast_rounding="rtx"))


# signature: p=*fp32
@triton.jit
def cast_to_class(p):
    tl.store(p, tl.load(p).to(float))


# signature: p=*fp32
@triton.jit
def dtype_called(p):
    tl.store(p, tl.float32(1))


# signature: p=*i64
@triton.jit
def pointer_to_int(p):
    tl.store(p, p.to(tl.int64))
    q = tl.load(p).to(tl.pointer_type(tl.float32))
    tl.store(q, 1.0)
