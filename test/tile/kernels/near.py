# Pointers whose lanes are computed one by one: a base and numbers of 32 bits as long as that is enough. Each load is compared with
# the same one through numbers of 64 bits.
import triton
import triton.language as tl


# launch: gather_fp32 grid=4 x=fp32:1000:rand out=fp32:1024 n=1000 BLOCK=256
# launch: gather_fp32 grid=4 x=fp16:1000:rand out=fp16:1024 n=1000 BLOCK=256
# launch: gather_fp32 grid=4 x=i8:1000:iota out=i8:1024 n=1000 BLOCK=256
# launch: gather_fp32 grid=4 x=i64:1000:iota out=i64:1024 n=1000 BLOCK=256
# launch: gather_fp32 grid=40 x=fp32:1000:rand out=fp32:640 n=1000 BLOCK=16
@triton.jit
def gather_fp32(x, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = (offs * 7) % 31 + offs // 3
    a = tl.load(x + at - 5, mask=(at >= 5) & (at < n + 5), other=1)
    b = tl.load(x + (at - 5).to(tl.int64), mask=(at >= 5) & (at < n + 5), other=1)
    tl.device_assert(a == b, "differ")
    tl.store(out + offs, a)


# launch: sums grid=4 x=fp32:4096:rand out=fp32:1024 W=5 BLOCK=256
@triton.jit
def sums(x, out, W, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = offs // W
    col = offs % W
    p = x + row * W + col
    q = p + 3 + col
    a = tl.load(q)
    b = tl.load(x + (row.to(tl.int64) * W + 2 * col + 3))
    tl.device_assert(a == b, "differ")
    r = tl.where(col > 2, q, p)
    c = tl.load(r)
    d = tl.load(x + tl.where(col > 2, row * W + 2 * col + 3, row * W + col).to(tl.int64))
    tl.device_assert(c == d, "differ")
    tl.store(out + (row * W + col), a + c)


# launch: far grid=1 x=fp32:256:rand out=fp32:256 big=2000000000 BLOCK=256
@triton.jit
def far(x, out, big, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    wide = offs % 7 + big
    p = x + wide + wide - wide - (offs % 7)
    a = tl.load(p - big + offs)
    b = tl.load(x + offs)
    tl.device_assert(a == b, "differ")
    tl.store(out + offs, a)


# launch: planes grid=2 x=fp32:2048:rand out=fp32:2048 M=16 N=64
@triton.jit
def planes(x, out, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    rows = x + tl.program_id(0) * M * N + (i * 5 % M) * N
    a = tl.load(rows[:, None] + (j * 3 % N)[None, :])
    b = tl.load(x + (tl.program_id(0) * M * N + (i * 5 % M)[:, None] * N + (j * 3 % N)[None, :]).to(tl.int64))
    tl.device_assert(a == b, "differ")
    tl.store(out + tl.program_id(0) * M * N + i[:, None] * N + j[None, :], a)


# launch: scatter grid=4 x=fp32:1024:rand out=fp32:1024:undef BLOCK=256
@triton.jit
def scatter(x, out, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = offs ^ 5
    tl.store(out + at, tl.load(x + at))


# launch: unmasked grid=4 x=fp32:1000 out=fp32:1024 BLOCK=256
@triton.jit
def unmasked(x, out, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + (offs ^ 1))  # BUG: out_of_bounds
    tl.store(out + offs, v)


# launch: before grid=4 x=fp32:1000 out=fp32:1024 n=1000 BLOCK=256
@triton.jit
def before(x, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = (offs ^ 1) - 1
    v = tl.load(x + at, mask=at < n, other=0.0)  # BUG: out_of_bounds
    tl.store(out + offs, v)


# launch: store_beyond grid=4 x=fp32:1024 out=fp32:1000 BLOCK=256
@triton.jit
def store_beyond(x, out, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + (offs ^ 1), tl.load(x + offs))  # BUG: out_of_bounds
