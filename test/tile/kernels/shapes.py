"""Shapes: creation, broadcasting, views. Each `# signature:` line is a case for comparing with real Triton."""
import math

import triton
import triton.language as tl
from triton.language.extra import libdevice

# signature: p=*fp32, N=16
# signature: p=*fp32, N=12
# signature: p=*fp32, N=2097152
# signature: p=*fp32, N=0
# signature: p=*fp32, N=16.0
# signature: p=*fp32, N=i32
@triton.jit
def arange_sizes(p, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(p + i, i)


# signature: p=*fp32, A=4, B=12
# signature: p=*fp32, A=8, B=4
# signature: p=*fp32, A=-4, B=4
@triton.jit
def arange_ends(p, A: tl.constexpr, B: tl.constexpr):
    i = tl.arange(A, B)
    tl.store(p + i, i)


# signature: p=*fp32, n=i32
@triton.jit
def arange_of_tensor(p, n):
    i = tl.arange(0, n)
    tl.store(p + i, i)


# signature: p=*fp32, M=16, N=32
# signature: p=*fp32, M=16, N=1
@triton.jit
def outer(p, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    x = i[:, None] * N + j[None, :]
    tl.store(p + x, x)
    tl.store(p + x, i[:, None])
    tl.store(p + x, j)


# signature: p=*fp32, M=16, N=32
# signature: p=*fp32, M=16, N=16
@triton.jit
def does_not_fit(p, M: tl.constexpr, N: tl.constexpr):
    x = tl.arange(0, M) + tl.arange(0, N)
    tl.store(p + x, x)


# signature: p=*fp32, N=16
@triton.jit
def stores_wider(p, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(p + i, i[:, None] + i[None, :])


# signature: p=*fp32, N=16
@triton.jit
def stores_block_to_scalar(p, N: tl.constexpr):
    tl.store(p, tl.arange(0, N))


# signature: p=*fp32, N=16
@triton.jit
def made(p, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(p + i, tl.zeros((N,), tl.float32))
    tl.store(p + i, tl.zeros([N], dtype=tl.int1))
    tl.store(p + i, tl.full((N,), 3, tl.float16))
    tl.store(p + i, tl.full((N,), tl.load(p), tl.int32))
    tl.store(p + i, tl.zeros_like(i))


# signature: p=*fp32, N=16
@triton.jit
def made_wrong_value(p, N: tl.constexpr):
    tl.store(p + tl.arange(0, N), tl.full((N,), 1.5, tl.int32))


# signature: p=*fp32, N=16
@triton.jit
def made_out_of_range(p, N: tl.constexpr):
    tl.store(p + tl.arange(0, N), tl.full((N,), 300, tl.int8))


# signature: p=*fp32, N=16
@triton.jit
def made_no_tuple(p, N: tl.constexpr):
    tl.store(p + tl.arange(0, N), tl.zeros(N, tl.float32))


# signature: p=*fp32, N=16
# signature: p=*fp32, N=12
@triton.jit
def made_odd(p, N: tl.constexpr):
    x = tl.zeros((16, N), tl.float32)
    tl.store(p + tl.arange(0, 16), tl.sum(x, 1))


# signature: p=*fp32, n=i32
@triton.jit
def made_dynamic(p, n):
    x = tl.zeros((16, n), tl.float32)
    tl.store(p + tl.arange(0, 16), tl.sum(x, 1))


# signature: p=*fp32, N=16
@triton.jit
def views(p, N: tl.constexpr):
    x = tl.arange(0, N * N)
    a = tl.reshape(x, (N, N))
    b = x.reshape(N, N)
    c = tl.view(x, [N, N])
    d = tl.ravel(a)
    e = tl.trans(a)
    f = a.T
    g = tl.permute(a, (1, 0))
    h = tl.trans(tl.reshape(x, (2, N // 2, N)), 2, 0, 1)
    tl.store(p + x, d)
    tl.store(p + a, b + c + e + f + g)
    tl.store(p + h, h)


# signature: p=*fp32, N=16
@triton.jit
def view_changes_count(p, N: tl.constexpr):
    x = tl.reshape(tl.arange(0, N), (N, N))
    tl.store(p + x, x)


# signature: p=*fp32, N=16
@triton.jit
def permute_wrong(p, N: tl.constexpr):
    x = tl.permute(tl.zeros((N, N), tl.float32), (0, 0))
    tl.store(p + tl.arange(0, N), tl.sum(x, 0))


# signature: p=*fp32, N=16
@triton.jit
def trans_of_vector(p, N: tl.constexpr):
    tl.store(p + tl.arange(0, N), tl.trans(tl.arange(0, N)))


# signature: p=*fp32, N=16
@triton.jit
def expanded(p, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.expand_dims(i, 0)
    b = i.expand_dims(-1)
    c = tl.expand_dims(i, (0, 2))
    d = i[None, :, None]
    tl.store(p + a + b, a + b)
    tl.store(p + c, c + d)


# signature: p=*fp32, N=16
@triton.jit
def expanded_too_far(p, N: tl.constexpr):
    a = tl.expand_dims(tl.arange(0, N), 3)
    tl.store(p + a, a)


# signature: p=*fp32, N=16
@triton.jit
def broadcasted(p, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.broadcast_to(i[None, :], (N, N))
    b = i[:, None].broadcast_to(N, N)
    c, d = tl.broadcast(i[:, None], i[None, :])
    e = tl.broadcast_to(3.0 + tl.load(p), [N])
    tl.store(p + a, a + b + c + d)
    tl.store(p + i, e)


# signature: p=*fp32, N=16
@triton.jit
def broadcasted_rank(p, N: tl.constexpr):
    a = tl.broadcast_to(tl.arange(0, N), (N, N))
    tl.store(p + a, a)


# signature: p=*fp32, N=16
@triton.jit
def broadcasted_size(p, N: tl.constexpr):
    a = tl.broadcast_to(tl.arange(0, N)[None, :], (N, 32))
    tl.store(p + a, a)


# signature: p=*fp32, N=16
@triton.jit
def joined(p, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.join(i, i + 1)
    b, c = tl.split(a)
    d = tl.interleave(b, c)
    e = tl.cat(b, c, can_reorder=True)
    tl.store(p + d, d + e)
    x, y = tl.join(tl.load(p), tl.load(p + 1)).split()
    tl.store(p, x + y)


# signature: p=*fp32, N=16
@triton.jit
def cat_in_order(p, N: tl.constexpr):
    i = tl.arange(0, N)
    e = tl.cat(i, i)
    tl.store(p + e, e)


# signature: p=*fp32, N=16
@triton.jit
def split_wrong(p, N: tl.constexpr):
    a, b = tl.split(tl.zeros((N, N), tl.float32))
    tl.store(p + tl.arange(0, N), tl.sum(a, 1))


# signature: p=*fp32, N=16
@triton.jit
def indexed(p, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(p, i[0])


# signature: p=*fp32, N=16
@triton.jit
def sliced(p, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(p + tl.arange(0, 8), i[0:8])


# signature: p=*fp32, n=i32, N=16
@triton.jit
def indexed_by_tensor(p, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(p, i[n])


# signature: p=*fp32, N=16
@triton.jit
def item_assigned(p, N: tl.constexpr):
    i = tl.arange(0, N)
    i[0] = 3
    tl.store(p + i, i)


# signature: p=*fp32, N=16
@triton.jit
def scalar_expanded(p, N: tl.constexpr):
    x = tl.load(p)
    tl.store(p + tl.arange(0, 1), x[None])
    tl.store(p + tl.arange(0, 1)[:, None], x[None, None])


# signature: p=*fp32, N=16
@triton.jit
def attributes(p, N: tl.constexpr):
    x = tl.zeros((N, 2 * N), tl.float16)
    n: tl.constexpr = x.shape[0] * x.shape[1] + x.numel + len(x.shape)
    y = tl.zeros(x.shape, x.dtype)
    z = tl.zeros([x.shape[1]], p.dtype.element_ty)
    tl.store(p + tl.arange(0, N), tl.sum(y, 1) + n)
    tl.store(p + tl.arange(0, 2 * N), z)


# signature: p=*fp32, N=16
@triton.jit
def wrong_attribute(p, N: tl.constexpr):
    x = tl.zeros((N,), tl.float16)
    tl.store(p + tl.arange(0, N), x.astype(tl.float32))


# signature: p=*i32, q=*fp32, N=16
# signature: p=*fp32, q=*fp32, N=16
@triton.jit
def gathered(p, q, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(q + i)
    k = tl.load(p + i)
    tl.store(q + i, tl.gather(x, k, 0))
    tl.store(q + i, x.gather(k, axis=0))


# signature: p=*i32, N=16, B=8
# signature: p=*fp32, N=16, B=8
# signature: p=*i32, N=16, B=7
@triton.jit
def counted(p, N: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(p + i)
    tl.store(p + tl.arange(0, B), tl.histogram(x, B))
    tl.store(p + tl.arange(0, B), tl.histogram(x, B, mask=i < 3))
