# Kernels whose launches repeat with other contents of memory. What depends on contents and what does not stands in each
# of them in another way; some must not be done from a record at all.
import triton
import triton.language as tl


# launch: taps grid=6,2 x=fp32:960 w=fp32:108 b=fp32:6 y=fp32:960:undef C=2 H=8 W=10 OC=6 KS=3 PAD=1 BLOCK=64
# launch: taps grid=6,1 x=fp32:960 w=fp32:12 b=fp32:6 y=fp32:960:undef C=2 H=8 W=10 OC=6 KS=1 PAD=0 BLOCK=128
# launch: taps grid=6,20 x=fp32:960 w=fp32:108 b=fp32:6 y=fp32:960:undef C=2 H=8 W=10 OC=6 KS=3 PAD=1 BLOCK=4
@triton.jit
def taps(x, w, b, y, C, H, W, OC, KS: tl.constexpr, PAD: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < H * W
    oh = offs // W
    ow = offs % W
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for c in range(C):
        for i in range(KS):
            for j in range(KS):
                ih = oh + i - PAD
                iw = ow + j - PAD
                inside = mask & (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W)
                v = tl.load(x + (c * H + ih) * W + iw, mask=inside, other=0.0)
                acc += v * tl.load(w + ((pid * C + c) * KS + i) * KS + j)
    tl.store(y + pid * H * W + offs, acc + tl.load(b + pid), mask=mask)


# The weight first, the sum on the right, lanes that are off are not zero.
# launch: taps_turned grid=3 x=fp32:200 w=fp32:8 y=fp32:192:undef N=190 BLOCK=64
@triton.jit
def taps_turned(x, w, y, N, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.full((BLOCK,), 0.25, dtype=tl.float32)
    for k in range(8):
        s = tl.load(w + k)
        acc = s * tl.load(x + offs + k, mask=offs + k < N, other=-1.5) + acc
    tl.store(y + offs, acc)


# A product that is used twice, and a sum that is not one.
# launch: not_taps grid=3 x=fp32:192 w=fp32:8 y=fp32:192:undef BLOCK=64
@triton.jit
def not_taps(x, w, y, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for k in range(4):
        p = tl.load(x + (offs ^ k)) * tl.load(w + k)
        acc = acc + p
        acc = tl.maximum(acc, p)
    tl.store(y + offs, acc)


# launch: matrix grid=4,2 x=fp32:4096 w=fp32:2048 y=fp32:2048:undef M=60 N=30 K=50 BM=16 BN=16 BK=16
@triton.jit
def matrix(x, w, y, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(x + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        b = tl.load(w + (rk[:, None] % 7) * N + rn[None, :] + (rk[:, None] // 7) * 3, mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
    tl.store(y + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


# launch: values grid=5 x=fp16:320 y=fp16:320:undef scale=0.5 n=300 BLOCK=64
@triton.jit
def values(x, y, scale, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    odd = offs % 3 == 1
    v = tl.load(x + offs, mask=offs < n)
    v = tl.where(offs < n, v, 0.0)
    for i in range(pid + 1):
        v = tl.where(odd & (offs % 5 != i), v * scale, v + i).to(tl.float16)
    m = tl.max(tl.where(odd, v.to(tl.float32), -1.0), axis=0)
    tl.store(y + offs, v + m, mask=offs < n)


# launch: constants grid=5 y=fp32:320:undef BLOCK=64
@triton.jit
def constants(y, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offs, (offs % 7).to(tl.float32))


# launch: by_contents grid=4 x=i32:256 table=fp32:8 y=fp32:256:undef BLOCK=64
@triton.jit
def by_contents(x, table, y, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    k = tl.load(x + offs)
    v = tl.load(table + k)
    if tl.sum(k) % 2 == 0:
        v = -v
    tl.store(y + offs, v)


# What one loop stores, another loads: the order stays.
# launch: twice grid=2 x=fp32:128 y=fp32:128:undef BLOCK=64
@triton.jit
def twice(x, y, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for i in range(3):
        v = tl.load(x + offs)
        tl.store(x + offs, v * 2 + i)
    tl.store(y + offs, tl.load(x + offs) + 1)


# What a loop only reads was loaded before it.
# launch: tile_outside grid=3 x=fp32:192 w=fp32:8 y=fp32:192:undef N=8 BLOCK=64
@triton.jit
def tile_outside(x, w, y, N, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    v = tl.load(x + offs)
    for k in range(N):
        acc += v * tl.load(w + k)
    tl.store(y + offs, acc)


# launch: scalar_outside grid=3 x=fp32:200 w=fp32:8 y=fp32:192:undef N=8 BLOCK=64
@triton.jit
def scalar_outside(x, w, y, N, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    s = tl.load(w + tl.program_id(0))
    for k in range(N):
        acc += tl.load(x + offs + k) * s
    tl.store(y + offs, acc)


# launch: in_a_branch grid=4 x=fp32:256 w=fp32:8 y=fp32:256:undef N=4 BLOCK=64
@triton.jit
def in_a_branch(x, w, y, N, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    v = tl.load(x + offs)
    s = tl.load(w + pid)
    for k in range(N):
        if k != pid:
            acc += v * s
    tl.store(y + offs, acc)
