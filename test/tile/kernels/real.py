# Kernels of the shapes that programs have: clean in every order, the same bits in fast mode.
import triton
import triton.language as tl
from triton.language.extra import libdevice


# launch: rms_norm grid=5 x=fp32:500 w=fp32:100 out=fp32:500:undef n=100 eps=1e-6 BLOCK=128
@triton.jit
def rms_norm(x, w, out, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0) * n
    i = tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + row + i, mask=m, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(v * v, axis=0) / n + eps)
    tl.store(out + row + i, v * scale * tl.load(w + i, mask=m), mask=m)


# launch: layer_norm_grad grid=4 dy=fp32:400 x=fp32:400 w=fp32:100 mean=fp32:4 rstd=fp32:4 dx=fp32:400:undef n=100 BLOCK=128
@triton.jit
def layer_norm_grad(dy, x, w, mean, rstd, dx, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    m = i < n
    g = tl.load(dy + row * n + i, mask=m, other=0.0).to(tl.float32) * tl.load(w + i, mask=m, other=0.0)
    r = tl.load(rstd + row)
    xh = (tl.load(x + row * n + i, mask=m, other=0.0) - tl.load(mean + row)) * r
    xh = tl.where(m, xh, 0.0)
    c1 = tl.sum(xh * g, axis=0) / n
    c2 = tl.sum(g, axis=0) / n
    tl.store(dx + row * n + i, (g - (xh * c1 + c2)) * r, mask=m)


# launch: softmax_grad grid=4 dy=fp32:400 y=fp32:400 dx=fp32:400:undef n=100 BLOCK=128
@triton.jit
def softmax_grad(dy, y, dx, n, BLOCK: tl.constexpr):
    row = tl.program_id(0) * n
    i = tl.arange(0, BLOCK)
    m = i < n
    g = tl.load(dy + row + i, mask=m, other=0.0)
    p = tl.load(y + row + i, mask=m, other=0.0)
    tl.store(dx + row + i, p * (g - tl.sum(p * g, axis=0)), mask=m)


# launch: online_softmax grid=3 x=fp32:900 out=fp32:900:undef n=300 BLOCK=64
@triton.jit
def online_softmax(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0) * n
    i = tl.arange(0, BLOCK)
    top = -float("inf")
    total = 0.0
    for start in range(0, n, BLOCK):
        v = tl.load(x + row + start + i, mask=start + i < n, other=-float("inf")).to(tl.float32)
        new = tl.maximum(top, tl.max(v, axis=0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(v - new), axis=0)
        top = new
    for start in range(0, n, BLOCK):
        v = tl.load(x + row + start + i, mask=start + i < n, other=0.0).to(tl.float32)
        tl.store(out + row + start + i, tl.exp(v - top) / total, mask=start + i < n)


# launch: cross_entropy grid=6 x=fp32:600 label=i64:6 loss=fp32:6:undef n=100 BLOCK=128
@triton.jit
def cross_entropy(x, label, loss, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=-float("inf")).to(tl.float32)
    top = tl.max(v, axis=0)
    lse = tl.log(tl.sum(tl.exp(v - top), axis=0)) + top
    at = tl.load(label + row)
    tl.store(loss + row, lse - tl.load(x + row * n + at).to(tl.float32))


# launch: rope grid=4 x=fp32:256 c=fp32:128 s=fp32:128 H=32
@triton.jit
def rope(x, c, s, H: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, H)
    a = tl.load(x + row * 2 * H + i)
    b = tl.load(x + row * 2 * H + H + i)
    cos = tl.load(c + row * H + i)
    sin = tl.load(s + row * H + i)
    tl.store(x + row * 2 * H + i, a * cos - b * sin)
    tl.store(x + row * 2 * H + H + i, b * cos + a * sin)


# launch: swiglu grid=4 a=fp32:500 b=fp32:500 out=fp32:500:undef n=500 BLOCK=128
@triton.jit
def swiglu(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    x = tl.load(a + i, mask=m).to(tl.float32)
    tl.store(out + i, x * tl.sigmoid(x) * tl.load(b + i, mask=m).to(tl.float32), mask=m)


# launch: gelu_tanh grid=4 a=fp32:500 out=fp32:500:undef n=500 BLOCK=128
@triton.jit
def gelu_tanh(a, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    x = tl.load(a + i, mask=m).to(tl.float32)
    inner = 0.7978845608 * (x + 0.044715 * x * x * x)
    tl.store(out + i, 0.5 * x * (1 + libdevice.tanh(inner)), mask=m)


# launch: adam grid=4 p=fp32:500 g=fp32:500 mo=fp32:500 ve=fp32:500:pos n=500 lr=0.001 BLOCK=128
@triton.jit
def adam(p, g, mo, ve, n, lr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    grad = tl.load(g + i, mask=m).to(tl.float32)
    first = 0.9 * tl.load(mo + i, mask=m) + 0.1 * grad
    second = 0.999 * tl.load(ve + i, mask=m) + 0.001 * grad * grad
    tl.store(mo + i, first, mask=m)
    tl.store(ve + i, second, mask=m)
    tl.store(p + i, tl.load(p + i, mask=m) - lr * first / (tl.sqrt(second) + 1e-8), mask=m)


# launch: embedding grid=10 ids=i32:10 table=fp32:512 out=fp32:640:undef D=64
@triton.jit
def embedding(ids, table, out, D: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, D)
    tl.store(out + row * D + i, tl.load(table + tl.load(ids + row) * D + i))


# launch: grouped_matmul grid=12 a=fp32:6400 b=fp32:6400 c=fp32:8000:undef M=100 N=80 K=64 BM=32 BN=32 BK=16 GROUP=2
@triton.jit
def grouped_matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    rows, cols = tl.cdiv(M, BM), tl.cdiv(N, BN)
    wide = GROUP * cols
    first = pid // wide * GROUP
    size = min(rows - first, GROUP)
    pm = first + pid % wide % size
    pn = pid % wide // size
    rm = (pm * BM + tl.arange(0, BM)) % M
    rn = (pn * BN + tl.arange(0, BN)) % N
    rk = tl.arange(0, BK)
    ap = a + rm[:, None] * K + rk[None, :]
    bp = b + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(ap, mask=rk[None, :] < K - k * BK, other=0.0)
        y = tl.load(bp, mask=rk[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc)
        ap += BK
        bp += BK * N
    om = pm * BM + tl.arange(0, BM)
    on = pn * BN + tl.arange(0, BN)
    acc = tl.where(acc >= 0, acc, 0.01 * acc)
    tl.store(c + om[:, None] * N + on[None, :], acc, mask=(om[:, None] < M) & (on[None, :] < N))


# launch: matmul_exact grid=2,2 a=fp32:4096 b=fp32:4096 c=fp32:4096:undef N=64 B=32
@triton.jit
def matmul_exact(a, b, c, N, B: tl.constexpr):
    rm = tl.program_id(0) * B + tl.arange(0, B)
    rn = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), dtype=tl.float32)
    for k in range(0, N, B):
        rk = k + tl.arange(0, B)
        acc += tl.dot(tl.load(a + rm[:, None] * N + rk[None, :]), tl.load(b + rk[:, None] * N + rn[None, :]), input_precision="ieee")
    tl.store(c + rm[:, None] * N + rn[None, :], acc)


# launch: split_k grid=4,4 a=fp32:4096 b=fp32:4096 c=fp32:4096:zeros N=64 B=32
@triton.jit
def split_k(a, b, c, N, B: tl.constexpr):
    pid = tl.program_id(0)
    rm = pid // 2 * B + tl.arange(0, B)
    rn = pid % 2 * B + tl.arange(0, B)
    rk = tl.program_id(1) * 16 + tl.arange(0, 16)
    acc = tl.dot(tl.load(a + rm[:, None] * N + rk[None, :]), tl.load(b + rk[:, None] * N + rn[None, :]))
    tl.atomic_add(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty))


# launch: matmul_blocks grid=2,2 a=fp32:3000 b=fp32:3500 c=fp32:4200:undef M=60 N=70 K=50
@triton.jit
def matmul_blocks(a, b, c, M, N, K):
    im = tl.program_id(0) * 32
    jn = tl.program_id(1) * 64
    ap = tl.make_block_ptr(a, (M, K), (K, 1), (im, 0), (32, 16), (1, 0))
    bp = tl.make_block_ptr(b, (K, N), (N, 1), (0, jn), (16, 64), (1, 0))
    acc = tl.zeros((32, 64), dtype=tl.float32)
    for k in range(0, K, 16):
        x = tl.load(ap, boundary_check=(0, 1), padding_option="zero")
        y = tl.load(bp, boundary_check=(0, 1), padding_option="zero")
        acc += tl.dot(x, y)
        ap = tl.advance(ap, (0, 16))
        bp = tl.advance(bp, (16, 0))
    cp = tl.make_block_ptr(c, (M, N), (N, 1), (im, jn), (32, 64), (1, 0))
    tl.store(cp, acc.to(c.dtype.element_ty), boundary_check=(0, 1))


# launch: matmul_descriptors grid=2,2 a=fp32:3840 b=fp32:4608 c=fp32:4320:undef M=60 N=72 K=64
@triton.jit
def matmul_descriptors(a, b, c, M, N, K):
    im = tl.program_id(0) * 32
    jn = tl.program_id(1) * 64
    ad = tl.make_tensor_descriptor(a, [M, K], [K, 1], [32, 16])
    bd = tl.make_tensor_descriptor(b, [K, N], [N, 1], [16, 64])
    cd = tl.make_tensor_descriptor(c, [M, N], [N, 1], [32, 64])
    acc = tl.zeros((32, 64), dtype=tl.float32)
    for k in range(0, K, 16):
        acc += tl.dot(ad.load([im, k]), bd.load([k, jn]))
    cd.store([im, jn], acc.to(c.dtype.element_ty))


# launch: flash grid=4,2 q=fp32:8192 k=fp32:8192 v=fp32:8192 out=fp32:8192:undef T=128 scale=0.18 CAUSAL=True BM=32 BN=32 D=32
# launch: flash grid=4,2 q=fp32:8192 k=fp32:8192 v=fp32:8192 out=fp32:8192:undef T=128 scale=0.18 CAUSAL=False BM=32 BN=32 D=32
# launch: flash grid=2,2 q=fp32:16384 k=fp32:16384 v=fp32:16384 out=fp32:16384:undef T=128 scale=0.125 CAUSAL=True BM=64 BN=32 D=64
@triton.jit
def flash(q, k, v, out, T, scale, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    base = tl.program_id(1) * T * D
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    x = tl.load(q + base + r[:, None] * D + d[None, :])
    m = tl.full((BM,), -float("inf"), dtype=tl.float32)
    l = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    end = T
    if CAUSAL:
        end = (tl.program_id(0) + 1) * BM
    for start in range(0, end, BN):
        c = start + tl.arange(0, BN)
        s = tl.dot(x, tl.load(k + base + c[None, :] * D + d[:, None])) * (scale * 1.44269504)
        if CAUSAL:
            s = tl.where(r[:, None] >= c[None, :], s, -1.0e6)
        new = tl.maximum(m, tl.max(s, 1))
        p = tl.math.exp2(s - new[:, None])
        alpha = tl.math.exp2(m - new)
        l = l * alpha + tl.sum(p, 1)
        y = tl.load(v + base + c[:, None] * D + d[None, :])
        acc = tl.dot(p.to(y.dtype), y, acc * alpha[:, None])
        m = new
    tl.store(out + base + r[:, None] * D + d[None, :], (acc / l[:, None]).to(out.dtype.element_ty))


# launch: linear_attention grid=2 q=fp32:4096 k=fp32:4096 v=fp32:4096 out=fp32:4096:undef T=64 B=16 D=32
@triton.jit
def linear_attention(q, k, v, out, T, B: tl.constexpr, D: tl.constexpr):
    base = tl.program_id(0) * T * D
    d = tl.arange(0, D)
    state = tl.zeros((D, D), dtype=tl.float32)
    for start in range(0, T, B):
        r = start + tl.arange(0, B)
        at = base + r[:, None] * D + d[None, :]
        x, y, z = tl.load(q + at), tl.load(k + at), tl.load(v + at)
        s = tl.dot(x, tl.trans(y))
        s = tl.where(r[:, None] >= r[None, :], s, 0.0)
        o = tl.dot(s.to(z.dtype), z) + tl.dot(x, state.to(x.dtype))
        state += tl.dot(tl.trans(y), z)
        tl.store(out + at, o.to(out.dtype.element_ty))


# launch: group_norm grid=4 x=fp32:2048 out=fp32:2048:undef n=512 BLOCK=128
@triton.jit
def group_norm(x, out, n, BLOCK: tl.constexpr):
    base = tl.program_id(0) * n
    i = tl.arange(0, BLOCK)
    s = tl.zeros((BLOCK,), dtype=tl.float32)
    ss = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        v = tl.load(x + base + start + i).to(tl.float32)
        s += v
        ss += v * v
    mean = tl.sum(s, axis=0) / n
    rstd = 1 / tl.sqrt(tl.sum(ss, axis=0) / n - mean * mean + 1e-5)
    for start in range(0, n, BLOCK):
        v = tl.load(x + base + start + i).to(tl.float32)
        tl.store(out + base + start + i, (v - mean) * rstd)


@triton.jit
def welford(m1, s1, n1, m2, s2, n2):
    d = m2 - m1
    n = n1 + n2
    return m1 + d * n2 / n, s1 + s2 + d * d * n1 * n2 / n, n


# launch: variance grid=3 x=fp32:768 mean=fp32:3:undef var=fp32:3:undef
@triton.jit
def variance(x, mean, var):
    row = tl.program_id(0)
    v = tl.load(x + row * 256 + tl.arange(0, 256)).to(tl.float32)
    m, s, n = tl.reduce((v, tl.zeros((256,), tl.float32), tl.full((256,), 1.0, tl.float32)), 0, welford)
    tl.store(mean + row, m)
    tl.store(var + row, s / n)


# launch: quantize grid=4 x=fp32:512 out=i8:512:undef scale=fp32:4:undef
@triton.jit
def quantize(x, out, scale):
    row = tl.program_id(0)
    i = row * 128 + tl.arange(0, 128)
    v = tl.load(x + i).to(tl.float32)
    s = tl.max(tl.abs(v), axis=0) / 127
    tl.store(out + i, libdevice.rint(tl.div_rn(v, s)).to(tl.int8))
    tl.store(scale + row, s)


# launch: quantize_fp8 grid=4 x=fp32:512 out=fp8e4nv:512:undef
@triton.jit
def quantize_fp8(x, out):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(out + i, tl.clamp(tl.load(x + i).to(tl.float32) * 300, -448.0, 448.0).to(tl.float8e4nv))


# launch: int4_matmul grid=2 a=fp16:1024 b=u8:512 scale=fp16:32 c=fp32:1024:undef
@triton.jit
def int4_matmul(a, b, scale, c):
    rm = tl.program_id(0) * 16 + tl.arange(0, 16)
    rk = tl.arange(0, 32)
    rn = tl.arange(0, 32)
    packed = tl.load(b + rk[:, None] * 16 + (rn // 2)[None, :])
    w = ((packed >> ((rn % 2) * 4)[None, :]) & 15).to(tl.float16) - 8.0
    w = w.to(tl.float16) * tl.load(scale + rn)[None, :]
    tl.store(c + rm[:, None] * 32 + rn[None, :], tl.dot(tl.load(a + rm[:, None] * 32 + rk[None, :]), w.to(tl.float16)))


# launch: conv1d grid=4 x=fp32:264 w=fp32:5 out=fp32:256:undef n=256 K=5 BLOCK=64
@triton.jit
def conv1d(x, w, out, n, K: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for k in tl.static_range(K):
        acc += tl.load(x + i + k) * tl.load(w + k)
    tl.store(out + i, acc, mask=i < n)


# launch: max_pool grid=4 x=fp32:1024 out=fp32:256:undef
@triton.jit
def max_pool(x, out):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    r, c = i // 16, i % 16
    top = tl.full((64,), -float("inf"), tl.float32)
    for a in tl.static_range(2):
        for b in tl.static_range(2):
            top = tl.maximum(top, tl.load(x + (r * 2 + a) * 32 + c * 2 + b).to(tl.float32))
    tl.store(out + i, top)


# launch: dropout grid=4 x=fp32:500 out=fp32:500:undef n=500 p=0.3 key=42 BLOCK=128
@triton.jit
def dropout(x, out, n, p, key, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + i, mask=m)
    tl.store(out + i, tl.where(tl.rand(key, i) > p, v / (1 - p), 0.0), mask=m)


# launch: transpose grid=2,3 x=fp32:6144 out=fp32:6144:undef M=64 N=96
@triton.jit
def transpose(x, out, M, N):
    i = tl.program_id(0) * 32 + tl.arange(0, 32)
    j = tl.program_id(1) * 32 + tl.arange(0, 32)
    tl.store(out + j[:, None] * M + i[None, :], tl.trans(tl.load(x + i[:, None] * N + j[None, :])))


# launch: top_values grid=4 x=fp32:512 v=fp32:32:undef at=i32:4:undef
@triton.jit
def top_values(x, v, at):
    row = tl.program_id(0)
    y = tl.load(x + row * 128 + tl.arange(0, 128)).to(tl.float32)
    tl.store(v + row * 8 + tl.arange(0, 8), tl.topk(y, 8))
    tl.store(at + row, tl.argmax(y, axis=0))


# launch: segment_sum grid=4 x=fp32:512 seg=i32:512 out=fp32:8:zeros
@triton.jit
def segment_sum(x, seg, out):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.atomic_add(out + tl.load(seg + i), tl.load(x + i), sem="relaxed")


# launch: kl_div grid=4 p=fp32:512:pos q=fp32:512:pos out=fp32:4:undef
@triton.jit
def kl_div(p, q, out):
    row = tl.program_id(0)
    i = row * 128 + tl.arange(0, 128)
    a, b = tl.load(p + i).to(tl.float32), tl.load(q + i).to(tl.float32)
    tl.store(out + row, tl.sum(a * (tl.log(a) - tl.log(b)), axis=0))


# launch: jagged_mean grid=4 x=fp32:128 ends=i32:5:index out=fp32:4:undef
@triton.jit
def jagged_mean(x, ends, out):
    row = tl.program_id(0)
    a, b = tl.load(ends + row), tl.load(ends + row + 1)
    lo, hi = min(a, b), max(a, b)
    i = lo + tl.arange(0, 16)
    v = tl.load(x + i, mask=i < hi, other=0.0).to(tl.float32)
    tl.store(out + row, tl.sum(v, axis=0) / (hi - lo))
