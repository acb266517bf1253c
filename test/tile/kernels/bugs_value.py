# Kernels that let values decide which nobody wrote, or which do not exist.
import triton
import triton.language as tl


# launch: masked_sum_without_other grid=1 x=fp32:100 out=fp32:1 n=100
@triton.jit
def masked_sum_without_other(x, out, n):
    i = tl.arange(0, 128)
    v = tl.load(x + i, mask=i < n)
    tl.store(out, tl.sum(v, axis=0))  # BUG: uninitialised


# launch: masked_max_without_other grid=1 x=fp32:100 out=fp32:1 n=100
@triton.jit
def masked_max_without_other(x, out, n):
    i = tl.arange(0, 128)
    v = tl.load(x + i, mask=i < n)
    tl.store(out, tl.max(v, axis=0))  # BUG: uninitialised


# launch: softmax_without_other grid=4 x=fp32:400 out=fp32:400 cols=100
@triton.jit
def softmax_without_other(x, out, cols):
    row = tl.program_id(0)
    i = tl.arange(0, 128)
    v = tl.load(x + row * cols + i, mask=i < cols)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * cols + i, e / tl.sum(e, axis=0), mask=i < cols)  # BUG: uninitialised


# launch: dot_without_other grid=1 a=fp32:640 b=fp32:640 c=fp32:256 K=40
@triton.jit
def dot_without_other(a, b, c, K):
    r = tl.arange(0, 16)
    k = tl.arange(0, 64)
    x = tl.load(a + r[:, None] * K + k[None, :], mask=k[None, :] < K)
    y = tl.load(b + k[:, None] * 16 + r[None, :], mask=k[:, None] < K, other=0.0)
    tl.store(c + r[:, None] * 16 + r[None, :], tl.dot(x, y))  # BUG: uninitialised


# launch: reads_empty grid=4 out=fp32:1024:undef BLOCK=256
@triton.jit
def reads_empty(out, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.load(out + offs)
    tl.store(out + offs, acc + 1.0)  # BUG: uninitialised


# launch: atomic_on_empty grid=4 out=fp32:1:undef
@triton.jit
def atomic_on_empty(out):
    tl.atomic_add(out, 1.0)  # BUG: uninitialised


# launch: half_written_scratch grid=1 x=fp32:128 tmp=fp32:128:undef out=fp32:128
@triton.jit
def half_written_scratch(x, tmp, out):
    i = tl.arange(0, 128)
    tl.store(tmp + i, tl.load(x + i), mask=i < 100)
    v = tl.load(tmp + i)
    tl.store(out + i, v)  # BUG: uninitialised


# launch: branch_on_empty grid=1 flag=i32:1:undef out=fp32:1
@triton.jit
def branch_on_empty(flag, out):
    if tl.load(flag) > 0:  # BUG: uninitialised
        tl.store(out, 1.0)


# launch: address_from_empty grid=1 ix=i32:64:undef x=fp32:64 out=fp32:64
@triton.jit
def address_from_empty(ix, x, out):
    i = tl.arange(0, 64)
    j = tl.load(ix + i)
    v = tl.load(x + j)  # BUG: uninitialised
    tl.store(out + i, v)


# launch: mask_from_masked_load grid=1 m=i32:60 x=fp32:64 out=fp32:64
@triton.jit
def mask_from_masked_load(m, x, out):
    i = tl.arange(0, 64)
    keep = tl.load(m + i, mask=i < 60)
    v = tl.load(x + i, mask=keep > 2, other=0.0)  # BUG: uninitialised
    tl.store(out + i, v)


# launch: variance_counts_padding grid=2 x=fp32:200 out=fp32:200 n=100
@triton.jit
def variance_counts_padding(x, out, n):
    i = tl.arange(0, 128)
    row = tl.program_id(0) * n
    v = tl.load(x + row + i, mask=i < n)
    mean = tl.sum(tl.where(i < n, v, 0.0), axis=0) / n
    d = v - mean
    var = tl.sum(d * d, axis=0) / n
    tl.store(out + row + i, d / tl.sqrt(var + 1e-5), mask=i < n)  # BUG: uninitialised


# launch: cumsum_over_padding grid=1 x=fp32:100 out=fp32:128
@triton.jit
def cumsum_over_padding(x, out):
    i = tl.arange(0, 128)
    v = tl.load(x + i, mask=i < 100)
    tl.store(out + i, tl.cumsum(v, axis=0))  # BUG: uninitialised


# launch: divides_by_zero grid=4 out=i32:4 n=0
@triton.jit
def divides_by_zero(out, n):
    pid = tl.program_id(0)
    q = (pid + 8) // n  # BUG: division_by_zero
    tl.store(out + pid, q)


# launch: modulo_of_zero_group grid=4 out=i32:4 group=0
@triton.jit
def modulo_of_zero_group(out, group):
    pid = tl.program_id(0)
    m = pid % group  # BUG: division_by_zero
    tl.store(out + m * 0 + pid, 1)


# launch: endless grid=1 out=i32:1:zeros
@triton.jit
def endless(out):
    i = 0
    while i < 10:  # BUG: kernel_timeout
        i = i * 1


# launch: waits_for_nobody grid=2 lock=i32:1:ones out=i32:2:zeros
@triton.jit
def waits_for_nobody(lock, out):
    while tl.atomic_cas(lock, 0, 1) == 1:  # BUG: kernel_timeout
        pass
    tl.store(out + tl.program_id(0), 1)


# launch: device_assert_fails grid=4 out=i32:4
@triton.jit
def device_assert_fails(out):
    pid = tl.program_id(0)
    tl.device_assert(pid < 3, "too many programs")  # BUG: device_assert
    tl.store(out + pid, pid)


# launch: unaligned_descriptor grid=1 x=fp32:1024 out=fp32:256
@triton.jit
def unaligned_descriptor(x, out):
    d = tl.make_tensor_descriptor(x + 1, shape=[16, 16], strides=[16, 1], block_shape=[16, 16])  # BUG: misaligned
    r = tl.arange(0, 16)
    tl.store(out + r[:, None] * 16 + r[None, :], d.load([0, 0]))


# launch: not_a_multiple grid=2 x=fp32:512 out=fp32:512:undef n=201
@triton.jit
def not_a_multiple(x, out, n):
    base = tl.multiple_of(tl.program_id(0) * n, 16)  # BUG: false_hint
    i = tl.arange(0, 128)
    tl.store(out + base + i, tl.load(x + base + i))


# launch: not_contiguous grid=1 x=fp32:512 out=fp32:128:undef
@triton.jit
def not_contiguous(x, out):
    i = tl.arange(0, 128)
    at = tl.max_contiguous(i * 2, 8)  # BUG: false_hint
    tl.store(out + i, tl.load(x + at))


# launch: not_so grid=1 x=fp32:128 out=fp32:128:undef n=128
@triton.jit
def not_so(x, out, n):
    tl.assume(n > 1000)  # BUG: false_hint
    i = tl.arange(0, 128)
    tl.store(out + i, tl.load(x + i))
