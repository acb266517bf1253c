# Kernels without a fault: no report in any order of programs, the same bits in fast mode.
import triton
import triton.language as tl
from triton.language.extra import libdevice


# launch: add grid=4 x=fp32:1000 y=fp32:1000 out=fp32:1000:undef n=1000 BLOCK=256
# launch: add grid=4 x=fp16:1000 y=fp16:1000 out=fp16:1000:undef n=1000 BLOCK=256
# launch: add grid=1 x=bf16:16 y=bf16:16 out=bf16:16:undef n=16 BLOCK=16
@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out + offs, tl.load(x + offs, mask=mask) + tl.load(y + offs, mask=mask), mask=mask)


# launch: in_place grid=4 x=fp32:1000 n=1000 BLOCK=256
@triton.jit
def in_place(x, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs, mask=offs < n)
    tl.store(x + offs, v * 2 + 1, mask=offs < n)


# launch: shift_in_one_program grid=1 x=fp32:257
@triton.jit
def shift_in_one_program(x):
    offs = tl.arange(0, 256)
    v = tl.load(x + offs + 1)
    tl.debug_barrier()
    tl.store(x + offs, v)


# launch: shift_and_add grid=1 x=fp32:257
@triton.jit
def shift_and_add(x):
    offs = tl.arange(0, 256)
    v = tl.load(x + offs)
    tl.debug_barrier()
    tl.store(x + offs + 1, v + 1)


# launch: softmax grid=7 x=fp32:700 out=fp32:700:undef cols=100 BLOCK=128
@triton.jit
def softmax(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + i, mask=i < cols, other=-float("inf"))
    v = v - tl.max(v, axis=0)
    e = tl.exp(v)
    tl.store(out + row * cols + i, e / tl.sum(e, axis=0), mask=i < cols)


# launch: where_discards_padding grid=1 x=fp32:100 out=fp32:1:undef n=100
@triton.jit
def where_discards_padding(x, out, n):
    i = tl.arange(0, 128)
    v = tl.load(x + i, mask=i < n)
    tl.store(out, tl.sum(tl.where(i < n, v, 0.0), axis=0))


# launch: layer_norm grid=4 x=fp32:400 w=fp32:100 b=fp32:100 out=fp32:400:undef n=100 eps=1e-5 BLOCK=128
@triton.jit
def layer_norm(x, w, b, out, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0) * n
    i = tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + row + i, mask=m, other=0.0).to(tl.float32)
    mean = tl.sum(v, axis=0) / n
    d = tl.where(m, v - mean, 0.0)
    var = tl.sum(d * d, axis=0) / n
    y = d * (1.0 / tl.sqrt(var + eps))
    y = y * tl.load(w + i, mask=m) + tl.load(b + i, mask=m)
    tl.store(out + row + i, y, mask=m)


# launch: matmul grid=6 a=fp32:2000 b=fp32:3000 c=fp32:2400:undef M=40 N=60 K=50 BM=16 BN=32 BK=16
# launch: matmul grid=6 a=fp16:2000 b=fp16:3000 c=fp32:2400:undef M=40 N=60 K=50 BM=16 BN=32 BK=16
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


# launch: matmul_wrapped grid=6 a=fp32:2000 b=fp32:3000 c=fp32:2400:undef M=40 N=60 K=50 BM=16 BN=32 BK=16
@triton.jit
def matmul_wrapped(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    cols = tl.cdiv(N, BN)
    rm = ((pid // cols) * BM + tl.arange(0, BM)) % M
    rn = ((pid % cols) * BN + tl.arange(0, BN)) % N
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
    om = (pid // cols) * BM + tl.arange(0, BM)
    on = (pid % cols) * BN + tl.arange(0, BN)
    tl.store(c + om[:, None] * N + on[None, :], acc, mask=(om[:, None] < M) & (on[None, :] < N))


# launch: attention grid=4 q=fp32:2048 k=fp32:2048 v=fp32:2048 out=fp32:2048:undef T=64 BLOCK=16 D=32
@triton.jit
def attention(q, k, v, out, T, BLOCK: tl.constexpr, D: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    x = tl.load(q + r[:, None] * D + d[None, :])
    m = tl.full((BLOCK,), -float("inf"), dtype=tl.float32)
    l = tl.zeros((BLOCK,), dtype=tl.float32)
    acc = tl.zeros((BLOCK, D), dtype=tl.float32)
    for start in range(0, T, BLOCK):
        c = start + tl.arange(0, BLOCK)
        y = tl.load(k + c[None, :] * D + d[:, None])
        s = tl.dot(x, y) * 0.17
        s = tl.where(r[:, None] >= c[None, :], s, -float("inf"))
        new = tl.maximum(m, tl.max(s, axis=1))
        new = tl.where(new == -float("inf"), 0.0, new)
        p = tl.exp(s - new[:, None])
        scale = tl.exp(m - new)
        l = l * scale + tl.sum(p, axis=1)
        acc = acc * scale[:, None] + tl.dot(p, tl.load(v + c[:, None] * D + d[None, :]))
        m = new
    tl.store(out + r[:, None] * D + d[None, :], acc / l[:, None])


# launch: block_pointers grid=3 x=fp32:1000 out=fp32:1000:undef n=1000
@triton.jit
def block_pointers(x, out, n):
    start = tl.program_id(0) * 512
    p = tl.make_block_ptr(x, (n,), (1,), (start,), (512,), (0,))
    o = tl.make_block_ptr(out, (n,), (1,), (start,), (512,), (0,))
    v = tl.load(p, boundary_check=(0,), padding_option="zero")
    tl.store(o, v + 1, boundary_check=(0,))


# launch: descriptor grid=2 x=fp32:800 out=fp32:800:undef
@triton.jit
def descriptor(x, out):
    d = tl.make_tensor_descriptor(x, shape=[20, 40], strides=[40, 1], block_shape=[16, 32])
    o = tl.make_tensor_descriptor(out, shape=[20, 40], strides=[40, 1], block_shape=[16, 32])
    i = tl.program_id(0) * 16
    o.store([i, 0], d.load([i, 0]) * 2)
    o.store([i, 32], d.load([i, 32]) * 2)


# launch: atomic_sum grid=8 x=fp32:1024 out=fp32:1:zeros
@triton.jit
def atomic_sum(x, out):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.atomic_add(out, tl.sum(tl.load(x + i), axis=0))


# launch: atomic_histogram grid=4 ix=i32:256 out=i32:8:zeros
@triton.jit
def atomic_histogram(ix, out):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    tl.atomic_add(out + tl.load(ix + i), 1)


# launch: last_program_reduces grid=4 x=fp32:512 part=fp32:4:undef count=i32:1:zeros out=fp32:1:undef
@triton.jit
def last_program_reduces(x, part, count, out):
    pid = tl.program_id(0)
    tl.store(part + pid, tl.sum(tl.load(x + pid * 128 + tl.arange(0, 128)), axis=0))
    done = tl.atomic_add(count, 1)
    if done == tl.num_programs(0) - 1:
        tl.store(out, tl.sum(tl.load(part + tl.arange(0, 4)), axis=0))


# launch: same_scalar_from_all grid=4 out=fp32:1:undef
@triton.jit
def same_scalar_from_all(out):
    tl.store(out, 3.0)


# launch: recurrence grid=2 x=fp32:256 out=fp32:256:undef
@triton.jit
def combine(a1, b1, a2, b2):
    return a1 * a2, a2 * b1 + b2


@triton.jit
def recurrence(x, out):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    b = tl.load(x + i)
    a = tl.full((128,), 0.9, dtype=tl.float32)
    p, h = tl.associative_scan((a, b), 0, combine)
    tl.store(out + i, h)


# launch: dropout grid=4 x=fp32:1000 out=fp32:1000:undef n=1000 p=0.3 seed=7
@triton.jit
def dropout(x, out, n, p, seed):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    v = tl.load(x + i, mask=i < n)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, v / (1 - p), 0.0), mask=i < n)


# launch: gelu grid=4 x=fp16:1000 b=fp16:1000 out=fp16:1000:undef n=1000
@triton.jit
def gelu(x, b, out, n):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    m = i < n
    v = (tl.load(x + i, mask=m) + tl.load(b + i, mask=m)).to(tl.float32)
    y = 0.5 * v * (1 + tl.erf(v * 0.70710678))
    y = y + libdevice.tanh(v)
    tl.store(out + i, y.to(tl.float16), mask=m)


# launch: early_return grid=6 x=fp32:1000 n=4
@triton.jit
def early_return(x, n):
    pid = tl.program_id(0)
    if pid >= n:
        return
    tl.store(x + pid * 250 + tl.arange(0, 128), 0.0)


# launch: sort_rows grid=4 x=fp32:256 out=fp32:256:undef
@triton.jit
def sort_rows(x, out):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)
    tl.store(out + i, tl.sort(tl.load(x + i)))


# launch: argmax_rows grid=4 x=fp32:256 out=i32:4:undef
@triton.jit
def argmax_rows(x, out):
    pid = tl.program_id(0)
    tl.store(out + pid, tl.argmax(tl.load(x + pid * 64 + tl.arange(0, 64)), axis=0))


# launch: transpose grid=4,2 x=fp32:2048 out=fp32:2048:undef
@triton.jit
def transpose(x, out):
    r = tl.program_id(0) * 16 + tl.arange(0, 16)
    c = tl.program_id(1) * 16 + tl.arange(0, 16)
    v = tl.load(x + r[:, None] * 32 + c[None, :])
    tl.store(out + c[:, None] * 64 + r[None, :], tl.trans(v))


# launch: big_offsets grid=2 x=fp32:128 stride=2000000000
@triton.jit
def big_offsets(x, stride):
    pid = tl.program_id(0).to(tl.int64)
    off = pid * stride * 2
    i = tl.arange(0, 64)
    v = tl.load(x + off + i, mask=off + i < 128, other=0.0)
    tl.store(x + off + i, v + 1, mask=off + i < 128)


# launch: lanes_agree grid=1 ix=i32:64 out=i32:8:undef
@triton.jit
def lanes_agree(ix, out):
    i = tl.arange(0, 64)
    at = tl.load(ix + i) % 8
    tl.store(out + at, at * 2)
    tl.debug_barrier()
    tl.store(out + i // 8, i // 8)


# launch: columns_backwards grid=1 x=fp32:256 out=fp32:256:undef
@triton.jit
def columns_backwards(x, out):
    r = tl.arange(0, 16)
    tl.store(out + r[:, None] + (15 - r)[None, :] * 16, tl.load(x + r[:, None] * 16 + r[None, :]))


# launch: same_lanes_again grid=2 x=fp32:512 s=fp32:512:undef out=fp32:512:undef
@triton.jit
def same_lanes_again(x, s, out):
    i = tl.program_id(0) * 256 + tl.arange(0, 256)
    tl.store(s + i, tl.load(x + i) * 2)
    tl.store(out + i, tl.load(s + i) + 1)


# launch: sum_is_a_barrier grid=2 x=fp32:512
@triton.jit
def sum_is_a_barrier(x):
    i = tl.arange(0, 256)
    v = tl.load(x + tl.program_id(0) * 256 + 255 - i)
    tl.store(x + tl.program_id(0) * 256 + i, v / tl.sum(v))


# launch: scalar_for_a_scalar grid=1 x=fp32:64 s=fp32:1:zeros out=fp32:1:undef
@triton.jit
def scalar_for_a_scalar(x, s, out):
    for i in range(64):
        tl.store(s, tl.load(s) + tl.load(x + i))
    tl.store(out, tl.load(s))


# launch: last_program_sums grid=4 x=fp32:1024 part=fp32:4:undef count=i32:1:zeros out=fp32:1:undef
@triton.jit
def last_program_sums(x, part, count, out):
    pid = tl.program_id(0)
    tl.store(part + pid, tl.sum(tl.load(x + pid * 256 + tl.arange(0, 256))))
    if tl.atomic_add(count, 1) == 3:
        tl.store(out, tl.sum(tl.load(part + tl.arange(0, 4))))


# launch: last_program_adds_tiles grid=4 x=fp32:1024 part=fp32:1024:undef count=i32:1:zeros out=fp32:256:undef
@triton.jit
def last_program_adds_tiles(x, part, count, out):
    i = tl.arange(0, 256)
    tl.store(part + tl.program_id(0) * 256 + i, tl.load(x + tl.program_id(0) * 256 + i))
    tl.debug_barrier()
    if tl.atomic_add(count, 1, sem="acq_rel", scope="gpu") == 3:
        s = tl.zeros((256,), tl.float32)
        for k in range(4):
            s += tl.load(part + k * 256 + i)
        tl.store(out + i, s)


# launch: true_hints grid=4 x=fp32:1024 out=fp32:1024:undef n=1024
@triton.jit
def true_hints(x, out, n):
    tl.assume(n >= 0)
    base = tl.multiple_of(tl.program_id(0) * 256, 256)
    i = tl.max_contiguous(tl.multiple_of((base + tl.arange(0, 256)) % n, 256), 256)
    p = tl.multiple_of(x + i, 16)
    tl.store(out + i, tl.load(p))
