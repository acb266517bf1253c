# Kernels with a bug each in what they touch. `# BUG: reason` marks the line to be reported.
import triton
import triton.language as tl


# launch: no_load_mask grid=4 x=fp32:1000 out=fp32:1000 n=1000 BLOCK=256
@triton.jit
def no_load_mask(x, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs)  # BUG: out_of_bounds
    tl.store(out + offs, v * 2, mask=offs < n)


# launch: no_store_mask grid=4 x=fp32:1000 out=fp32:1000 n=1000 BLOCK=256
@triton.jit
def no_store_mask(x, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs, mask=offs < n, other=0.0)
    tl.store(out + offs, v * 2)  # BUG: out_of_bounds


# launch: off_by_one_mask grid=4 x=fp32:1000 out=fp32:1000 n=1000 BLOCK=256
@triton.jit
def off_by_one_mask(x, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs <= n
    v = tl.load(x + offs, mask=mask, other=0.0)  # BUG: out_of_bounds
    tl.store(out + offs, v, mask=mask)


# launch: one_program_too_many grid=5 x=fp32:1024 out=fp32:1024 BLOCK=256
@triton.jit
def one_program_too_many(x, out, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs)  # BUG: out_of_bounds
    tl.store(out + offs, v)


# launch: negative_index grid=4 x=fp32:1024 out=fp32:1024 BLOCK=256
@triton.jit
def negative_index(x, out, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs - 1)  # BUG: out_of_bounds
    tl.store(out + offs, v)


# launch: wrong_stride grid=8 x=fp32:512 out=fp32:8 cols=64 BLOCK=64
@triton.jit
def wrong_stride(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    v = tl.load(x + row * (cols + 10) + offs)  # BUG: out_of_bounds
    tl.store(out + row, tl.sum(v, axis=0))


# launch: block_wider_than_row grid=8 x=fp32:480 out=fp32:480 cols=60 BLOCK=64
@triton.jit
def block_wider_than_row(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + offs)  # BUG: out_of_bounds
    tl.store(out + row * cols + offs, v, mask=offs < cols)


# launch: loop_past_end grid=1 x=fp32:1000 out=fp32:1 n=1000 BLOCK=256
@triton.jit
def loop_past_end(x, out, n, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        acc += tl.load(x + start + tl.arange(0, BLOCK))  # BUG: out_of_bounds
    tl.store(out, tl.sum(acc, axis=0))


# launch: matmul_no_k_mask grid=1 a=fp32:640 b=fp32:640 c=fp32:256 K=40 BK=32
@triton.jit
def matmul_no_k_mask(a, b, c, K, BK: tl.constexpr):
    rm = tl.arange(0, 16)
    rk = tl.arange(0, BK)
    acc = tl.zeros((16, 16), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :])  # BUG: out_of_bounds
        y = tl.load(b + (k + rk)[:, None] * 16 + rm[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * 16 + rm[None, :], acc)


# launch: mask_of_other_dim grid=1 x=fp32:480 out=fp32:480 M=12 N=40
@triton.jit
def mask_of_other_dim(x, out, M, N):
    rm = tl.arange(0, 16)
    rn = tl.arange(0, 64)
    offs = rm[:, None] * N + rn[None, :]
    v = tl.load(x + offs, mask=(rm < M)[:, None] & (rn < N)[None, :], other=0.0)
    tl.store(out + offs, v, mask=(rm[:, None] < N) & (rn[None, :] < N))  # BUG: out_of_bounds


# launch: gather_unchecked grid=1 x=fp32:100 ix=i32:64:iota out=fp32:64
@triton.jit
def gather_unchecked(x, ix, out):
    offs = tl.arange(0, 64)
    i = tl.load(ix + offs)
    v = tl.load(x + i * 2)  # BUG: out_of_bounds
    tl.store(out + offs, v)


# launch: scatter_unchecked grid=1 ix=i32:64:iota out=fp32:64
@triton.jit
def scatter_unchecked(ix, out):
    offs = tl.arange(0, 64)
    i = tl.load(ix + offs)
    tl.store(out + i + 1, 1.0)  # BUG: out_of_bounds


# launch: scalar_out_of_bounds grid=9 out=fp32:8
@triton.jit
def scalar_out_of_bounds(out):
    tl.store(out + tl.program_id(0), 1.0)  # BUG: out_of_bounds


# launch: atomic_out_of_bounds grid=2 out=fp32:100:zeros BLOCK=64
@triton.jit
def atomic_out_of_bounds(out, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + offs, 1.0)  # BUG: out_of_bounds


# launch: block_pointer_no_check grid=1 x=fp32:60 out=fp32:64
@triton.jit
def block_pointer_no_check(x, out):
    p = tl.make_block_ptr(x, (60,), (1,), (0,), (64,), (0,))
    v = tl.load(p)  # BUG: out_of_bounds
    tl.store(out + tl.arange(0, 64), v)


# launch: helper_out_of_bounds grid=1 x=fp32:60 out=fp32:64
@triton.jit
def fetch(p, i):
    return tl.load(p + i)


@triton.jit
def helper_out_of_bounds(x, out):
    i = tl.arange(0, 64)
    v = tl.load(x + i)  # BUG: out_of_bounds
    tl.store(out + i, v + fetch(x, i * 0))


# launch: wrapped_offset grid=3 x=fp32:64 out=fp32:64 stride=1073741824
@triton.jit
def wrapped_offset(x, out, stride):
    pid = tl.program_id(0)
    base = pid * stride  # BUG: address_overflow
    i = tl.arange(0, 64)
    v = tl.load(x + i, mask=pid * 64 + i < 64, other=0.0)
    tl.store(out + base + i, v, mask=(pid == 2) | (pid * 64 + i < 64))


# launch: wrapped_tile_offset grid=1 x=fp32:64 out=fp32:64 big=100000000
@triton.jit
def wrapped_tile_offset(x, out, big):
    i = tl.arange(0, 64)
    offs = i * big  # BUG: address_overflow
    v = tl.load(x + offs % 64, mask=i < 64, other=0.0)
    tl.store(out + i, v)
