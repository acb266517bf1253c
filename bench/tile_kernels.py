# Kernels for timing against Triton's interpreter (bench_tile_interpreter.py) and on their own.
import triton
import triton.language as tl


# launch: pointwise grid=256 x=fp32:262144 y=fp32:262144 out=fp32:262144 n=262144 BLOCK=1024
@triton.jit
def pointwise(x, y, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    v = tl.load(x + offs, mask=mask, other=0.0) + tl.load(y + offs, mask=mask, other=0.0)
    tl.store(out + offs, tl.maximum(v, 0.0), mask=mask)


# launch: softmax grid=256 x=fp32:256000 out=fp32:256000 cols=1000 BLOCK=1024
@triton.jit
def softmax(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + i, mask=i < cols, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * cols + i, e / tl.sum(e, axis=0), mask=i < cols)


# launch: layer_norm grid=256 x=fp32:256000 w=fp32:1000 b=fp32:1000 out=fp32:256000 n=1000 eps=1e-5 BLOCK=1024
@triton.jit
def layer_norm(x, w, b, out, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0) * n
    i = tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + row + i, mask=m, other=0.0)
    mean = tl.sum(v, axis=0) / n
    d = tl.where(m, v - mean, 0.0)
    var = tl.sum(d * d, axis=0) / n
    y = d * (1.0 / tl.sqrt(var + eps)) * tl.load(w + i, mask=m) + tl.load(b + i, mask=m)
    tl.store(out + row + i, y, mask=m)


# launch: matmul grid=64 a=fp32:65536 b=fp32:65536 c=fp32:65536 M=256 N=256 K=256 BM=32 BN=32 BK=32
@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    cols = tl.cdiv(N, BN)
    rm = (pid // cols) * BM + tl.arange(0, BM)
    rn = (pid % cols) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :], mask=(rm[:, None] < M) & ((k + rk)[None, :] < K), other=0.0)
        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :], mask=((k + rk)[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(x, y)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


# launch: attention grid=16 q=fp32:16384 k=fp32:16384 v=fp32:16384 out=fp32:16384 T=512 BLOCK=32 D=32
@triton.jit
def attention(q, k, v, out, T, BLOCK: tl.constexpr, D: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    x = tl.load(q + r[:, None] * D + d[None, :])
    m = tl.full((BLOCK,), -1e30, dtype=tl.float32)
    l = tl.zeros((BLOCK,), dtype=tl.float32)
    acc = tl.zeros((BLOCK, D), dtype=tl.float32)
    for start in range(0, T, BLOCK):
        c = start + tl.arange(0, BLOCK)
        y = tl.load(k + c[None, :] * D + d[:, None])
        s = tl.dot(x, y) * 0.17
        new = tl.maximum(m, tl.max(s, axis=1))
        p = tl.exp(s - new[:, None])
        scale = tl.exp(m - new)
        l = l * scale + tl.sum(p, axis=1)
        acc = acc * scale[:, None] + tl.dot(p, tl.load(v + c[:, None] * D + d[None, :]))
        m = new
    tl.store(out + r[:, None] * D + d[None, :], acc / l[:, None])


# launch: column_sum grid=32 x=fp32:131072 out=fp32:512 rows=256 cols=512 BR=64 BC=16
@triton.jit
def column_sum(x, out, rows, cols, BR: tl.constexpr, BC: tl.constexpr):
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    acc = tl.zeros((BC,), dtype=tl.float32)
    for r in range(0, rows, BR):
        i = r + tl.arange(0, BR)
        acc += tl.sum(tl.load(x + i[:, None] * cols + c[None, :]), axis=0)
    tl.store(out + c, acc)


# launch: gelu_bias_add grid=256 x=fp16:262144 b=fp16:262144 z=fp16:262144 out=fp16:262144 n=262144 BLOCK=1024
@triton.jit
def gelu_bias_add(x, b, z, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    v = (tl.load(x + i, mask=m) + tl.load(b + i, mask=m)).to(tl.float32)
    y = 0.5 * v * (1 + tl.erf(v * 0.70710678)) + tl.load(z + i, mask=m)
    tl.store(out + i, y.to(tl.float16), mask=m)
