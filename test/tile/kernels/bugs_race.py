# Kernels whose programs get in each other's way.
import triton
import triton.language as tl


# launch: overlapping_blocks grid=4 x=fp32:1024 out=fp32:1024 BLOCK=256
@triton.jit
def overlapping_blocks(x, out, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * (BLOCK // 2) + tl.arange(0, BLOCK)
    v = tl.load(x + offs) + tl.program_id(0)
    tl.store(out + offs, v)  # BUG: race


# launch: forgot_pid grid=4 x=fp32:1024 out=fp32:1024 BLOCK=256
@triton.jit
def forgot_pid(x, out, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs)
    tl.store(out + tl.arange(0, BLOCK), v)  # BUG: race


# launch: scalar_race grid=4 x=fp32:1024 out=fp32:1:zeros BLOCK=256
@triton.jit
def scalar_race(x, out, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out, tl.sum(tl.load(x + offs), axis=0))  # BUG: race


# launch: accumulate_without_atomic grid=4 x=fp32:1024 out=fp32:1:zeros BLOCK=256
@triton.jit
def accumulate_without_atomic(x, out, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.sum(tl.load(x + offs), axis=0)
    old = tl.load(out)
    tl.store(out, old + s)  # BUG: lost_update


# launch: accumulate_rows grid=8 x=fp32:512 out=fp32:64:zeros BLOCK=64
@triton.jit
def accumulate_rows(x, out, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * BLOCK + offs)
    acc = tl.load(out + offs)
    tl.store(out + offs, acc + v)  # BUG: lost_update


# launch: in_place_neighbour grid=4 x=fp32:1025 BLOCK=256
@triton.jit
def in_place_neighbour(x, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offs + 1)
    tl.store(x + offs, v)  # BUG: race


# launch: reads_neighbours_output grid=4 x=fp32:1024 out=fp32:1024:zeros BLOCK=256
@triton.jit
def reads_neighbours_output(x, out, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offs, tl.load(x + offs))
    w = tl.load(out + (offs + 1024 - BLOCK) % 1024)  # BUG: race
    tl.store(x + offs, w)


# launch: two_phase_without_sync grid=4 x=fp32:1024 part=fp32:4:zeros out=fp32:4 BLOCK=256
@triton.jit
def two_phase_without_sync(x, part, out, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(part + pid, tl.sum(tl.load(x + pid * BLOCK + tl.arange(0, BLOCK)), axis=0))  # BUG: race
    tl.debug_barrier()
    total = tl.sum(tl.load(part + tl.arange(0, 4)), axis=0)
    tl.store(out + pid, total)


# launch: split_k_store grid=2,4 a=fp32:1024 out=fp32:32:zeros
@triton.jit
def split_k_store(a, out):
    m = tl.program_id(0)
    k = tl.program_id(1)
    r = tl.arange(0, 16)
    v = tl.load(a + m * 512 + k * 128 + r)
    tl.store(out + m * 16 + r, v)  # BUG: race


# launch: mixed_atomic_and_store grid=4 out=fp32:1:zeros
@triton.jit
def mixed_atomic_and_store(out):
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(out, 5.0)
    else:
        tl.atomic_add(out, 1.0)  # BUG: race


# launch: init_in_first_program grid=4 out=fp32:64:zeros
@triton.jit
def init_in_first_program(out):
    pid = tl.program_id(0)
    r = tl.arange(0, 64)
    if pid == 0:
        tl.store(out + r, 1.0)
    v = tl.load(out + r)
    tl.store(out + r, v + pid, mask=r // 16 == pid)  # BUG: lost_update


# launch: wrong_program_axis grid=4,4 x=fp32:4096 out=fp32:4096 BLOCK=256
@triton.jit
def wrong_program_axis(x, out, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    src = (tl.program_id(1) * 4 + tl.program_id(0)) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offs, tl.load(x + src))  # BUG: race


# launch: transpose_in_place grid=4,4 x=fp32:4096
@triton.jit
def transpose_in_place(x):
    r = tl.arange(0, 16)
    i = tl.program_id(0) * 16
    j = tl.program_id(1) * 16
    v = tl.load(x + (i + r)[:, None] * 64 + (j + r)[None, :])  # BUG: race
    tl.store(x + (j + r)[:, None] * 64 + (i + r)[None, :], tl.trans(v))


# launch: histogram_without_atomic grid=4 ix=i32:256 out=i32:8:zeros
@triton.jit
def histogram_without_atomic(ix, out):
    r = tl.arange(0, 64)
    h = tl.histogram(tl.load(ix + tl.program_id(0) * 64 + r), 8)
    o = out + tl.arange(0, 8)
    tl.store(o, tl.load(o) + h)  # BUG: lost_update


# launch: rows_overlap grid=1 x=fp32:256 out=fp32:256
@triton.jit
def rows_overlap(x, out):
    r = tl.arange(0, 16)
    v = tl.load(x + r[:, None] * 16 + r[None, :])
    tl.store(out + r[:, None] * 12 + r[None, :], v)  # BUG: race


# launch: scatter_collides grid=1 ix=i32:64 x=fp32:64 out=fp32:8
@triton.jit
def scatter_collides(ix, x, out):
    i = tl.arange(0, 64)
    tl.store(out + tl.load(ix + i) % 8, tl.load(x + i))  # BUG: race


# launch: flip_through_memory grid=2 x=fp32:512 s=fp32:512:undef out=fp32:512:undef
@triton.jit
def flip_through_memory(x, s, out):
    i = tl.arange(0, 256)
    base = tl.program_id(0) * 256
    tl.store(s + base + i, tl.load(x + base + i))
    y = tl.load(s + base + 255 - i)  # BUG: race
    tl.store(out + base + i, y)


# launch: flip_in_place grid=2 x=fp32:512
@triton.jit
def flip_in_place(x):
    i = tl.arange(0, 256)
    base = tl.program_id(0) * 256
    v = tl.load(x + base + 255 - i)
    tl.store(x + base + i, v)  # BUG: race


# launch: scalar_reaches_a_tile grid=1 x=fp32:256 s=fp32:1:undef out=fp32:256:undef
@triton.jit
def scalar_reaches_a_tile(x, s, out):
    i = tl.arange(0, 256)
    tl.store(s, 3.0)
    tl.store(out + i, tl.load(x + i) * tl.load(s))  # BUG: race


# launch: relaxed_does_not_publish grid=4 x=fp32:1024 part=fp32:4:undef count=i32:1:zeros out=fp32:1:undef
@triton.jit
def relaxed_does_not_publish(x, part, count, out):
    pid = tl.program_id(0)
    tl.store(part + pid, tl.sum(tl.load(x + pid * 256 + tl.arange(0, 256))))
    if tl.atomic_add(count, 1, sem="relaxed") == 3:
        tl.store(out, tl.sum(tl.load(part + tl.arange(0, 4))))  # BUG: race


# launch: cta_does_not_reach_others grid=4 x=fp32:1024 out=fp32:1:zeros
@triton.jit
def cta_does_not_reach_others(x, out):
    s = tl.sum(tl.load(x + tl.program_id(0) * 256 + tl.arange(0, 256)))
    tl.atomic_add(out, s, scope="cta")  # BUG: race


# launch: other_lanes_not_published grid=4 x=fp32:1024 part=fp32:1024:undef count=i32:1:zeros out=fp32:256:undef
@triton.jit
def other_lanes_not_published(x, part, count, out):
    i = tl.arange(0, 256)
    tl.store(part + tl.program_id(0) * 256 + i, tl.load(x + tl.program_id(0) * 256 + i))
    if tl.atomic_add(count, 1) == 3:
        s = tl.zeros((256,), tl.float32)
        for k in range(4):
            s += tl.load(part + k * 256 + i)  # BUG: race
        tl.store(out + i, s)


# launch: made_pointer grid=4 x=fp32:1024 out=fp32:1024:zeros BLOCK=256
@triton.jit
def made_pointer(x, out, BLOCK: tl.constexpr):
    p = x.to(tl.int64).to(tl.pointer_type(tl.float32))
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + (offs + BLOCK) % 1024)
    tl.store(p + offs, v)  # BUG: race
    tl.store(out + offs, v)
