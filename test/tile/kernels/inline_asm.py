# Inline assembly: each text is compared with the same computation in Triton's own functions.
import triton
import triton.language as tl


# launch: floats grid=4 x=fp32:1024:rand out=fp32:1024 BLOCK=256
# signature: x=*fp32, out=*fp32, BLOCK=256
@triton.jit
def floats(x, out, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + offs) * 4.0 - 2.0
    b = tl.inline_asm_elementwise("mul.f32 $0, $1, 0f40400000;", "=f,f", [a], dtype=tl.float32, is_pure=True, pack=1)
    tl.device_assert(b == a * 3.0, "mul")
    c = tl.inline_asm_elementwise("fma.rn.f32 $0, $1, $2, -1.5;", "=r,r,r", [a, b], dtype=tl.float32, is_pure=True, pack=1)
    tl.device_assert(c == tl.fma(a, b, -1.5), "fma")
    d = tl.inline_asm_elementwise("ex2.approx.ftz.f32 $0, $1;", "=f,f", [a], dtype=tl.float32, is_pure=False, pack=1)
    tl.device_assert(d == tl.exp2(a), "ex2")
    e = tl.inline_asm_elementwise("max.f32 $0, $1, 0f00000000; min.f32 $0, $0, 1.0;", "=f,f", [a], dtype=tl.float32,
                                  is_pure=True, pack=1)
    tl.device_assert(e == tl.minimum(tl.maximum(a, 0.0), 1.0), "clamp")
    g = tl.inline_asm_elementwise("neg.f32 $0, $1; abs.f32 $0, $0; sqrt.rn.f32 $0, $0; add.f32 $0, $0, 1e0; rcp.rn.f32 $0, $0;",
                                  "=f,f", [a], dtype=tl.float32, is_pure=True, pack=1)
    tl.device_assert(g == tl.div_rn(1.0, tl.sqrt_rn(tl.abs(a)) + 1.0), "rcp")
    h = tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [a], dtype=tl.float32, is_pure=True, pack=1)
    t = 2.0 * tl.sigmoid(2.0 * a) - 1.0
    tl.device_assert(tl.abs(h - t) <= 0.0005, "tanh")
    tl.device_assert((h.to(tl.int32, bitcast=True) & 0x1fff) == 0, "tanh is as rough as a GPU's")
    tl.store(out + offs, b + c + d + e + g + h)


# launch: registers grid=4 x=fp32:1024:rand out=fp32:1024 BLOCK=256
# signature: x=*fp32, out=*fp32, BLOCK=256
@triton.jit
def registers(x, out, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + offs) - 0.5
    s = tl.inline_asm_elementwise(
        """
        {
            // x * sigmoid(x), by powers of two
            .reg .f32 %t, u<2>;
            mul.f32 %t, $1, 0fBFB8AA3B;
            ex2.approx.f32 u0, %t;   /* exp(-x) */
            add.f32 u1, u0, 0f3F800000;
            div.full.f32 $0, $1, u1;
        }
        """, "=f,f", [a], dtype=tl.float32, is_pure=True, pack=1)
    tl.device_assert(tl.abs(s - a * tl.sigmoid(a)) < 1e-6, "silu")
    p = tl.inline_asm_elementwise(
        "{ .reg .pred p, q; setp.lt.f32 p, $1, 0f00000000; not.pred q, p; selp.f32 $0, $1, 0f3F800000, q; }",
        "=f,f", [a], dtype=tl.float32, is_pure=True, pack=1)
    tl.device_assert(p == tl.where(a < 0.0, 1.0, a), "selp")
    lo, hi = tl.inline_asm_elementwise("min.f32 $0, $2, $3; max.f32 $1, $2, $3;", "=&f,=&f,f,f", [a, 0.25],
                                       dtype=(tl.float32, tl.float32), is_pure=True, pack=1)
    tl.device_assert(lo == tl.minimum(a, 0.25), "first")
    tl.device_assert(hi == tl.maximum(a, 0.25), "second")
    tl.store(out + offs, s + p + lo + hi)


# launch: not_a_number grid=1 x=fp32:64:zeros out=i32:64 BLOCK=64
# signature: x=*fp32, out=*i32, BLOCK=64
@triton.jit
def not_a_number(x, out, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    a = tl.load(x + offs)
    n = tl.inline_asm_elementwise("mov.b32 $0, 0f7FC00000;", "=r,r", [a], dtype=tl.float32, is_pure=True, pack=1)
    tl.device_assert(n != n, "a NaN")
    ne = tl.inline_asm_elementwise("{ .reg .pred p; setp.ne.f32 p, $1, $2; selp.s32 $0, 1, 0, p; }", "=r,f,f", [n, a],
                                   dtype=tl.int32, is_pure=True, pack=1)
    tl.device_assert(ne == 0, "ne is false for NaN")
    neu = tl.inline_asm_elementwise("{ .reg .pred p; setp.neu.f32 p, $1, $2; selp.s32 $0, 1, 0, p; }", "=r,f,f", [n, a],
                                    dtype=tl.int32, is_pure=True, pack=1)
    tl.device_assert(neu == 1, "neu is true for NaN")
    geu = tl.inline_asm_elementwise("{ .reg .pred p; setp.geu.f32 p, $1, $2; selp.s32 $0, 1, 0, p; }", "=r,f,f", [n, a],
                                    dtype=tl.int32, is_pure=True, pack=1)
    tl.device_assert(geu == 1, "geu is true for NaN")
    m = tl.inline_asm_elementwise("max.f32 $0, $1, $2;", "=f,f,f", [n, a], dtype=tl.float32, is_pure=True, pack=1)
    tl.device_assert(m == 0.0, "max returns the number")
    k = tl.inline_asm_elementwise("max.NaN.f32 $0, $1, $2;", "=f,f,f", [n, a], dtype=tl.float32, is_pure=True, pack=1)
    tl.device_assert(k != k, "max.NaN returns the NaN")
    z = tl.inline_asm_elementwise("cvt.rzi.s32.f32 $0, $1;", "=r,f", [n], dtype=tl.int32, is_pure=True, pack=1)
    tl.device_assert(z == 0, "cvt of NaN")
    tl.store(out + offs, ne + neu + geu + z)


# launch: integers grid=1 out=i32:64 BLOCK=64
# signature: out=*i32, BLOCK=64
@triton.jit
def integers(out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK) - 20
    a = tl.inline_asm_elementwise("mad.lo.s32 $0, $1, 3, -4;", "=r,r", [i], dtype=tl.int32, is_pure=True, pack=1)
    tl.device_assert(a == i * 3 - 4, "mad")
    b = tl.inline_asm_elementwise("and.b32 $0, $1, 0xf; or.b32 $0, $0, 32; xor.b32 $0, $0, 1; not.b32 $0, $0;", "=r,r", [i],
                                  dtype=tl.int32, is_pure=True, pack=1)
    tl.device_assert(b == ~(((i & 15) | 32) ^ 1), "bits")
    c = tl.inline_asm_elementwise("shl.b32 $0, $1, 2; shr.s32 $0, $0, 1;", "=r,r", [i], dtype=tl.int32, is_pure=True, pack=1)
    tl.device_assert(c == i * 2, "shifts")
    d = tl.inline_asm_elementwise("shr.u32 $0, $1, 31;", "=r,r", [i], dtype=tl.int32, is_pure=True, pack=1)
    tl.device_assert(d == (i < 0).to(tl.int32), "sign")
    e = tl.inline_asm_elementwise("shl.b32 $0, $1, 32;", "=r,r", [i], dtype=tl.int32, is_pure=True, pack=1)
    tl.device_assert(e == 0, "every bit shifted out")
    g = tl.inline_asm_elementwise("shr.s32 $0, $1, 40;", "=r,r", [i], dtype=tl.int32, is_pure=True, pack=1)
    tl.device_assert(g == -d, "sign in every bit")
    h = tl.inline_asm_elementwise("max.u32 $0, $1, 5;", "=r,r", [i], dtype=tl.int32, is_pure=True, pack=1)
    tl.device_assert(h == tl.where((i >= 0) & (i < 5), 5, i), "unsigned maximum")
    tl.store(out + tl.arange(0, BLOCK), a + b + c + d + e + g + h)


# launch: conversions grid=1 x=fp32:64:rand out=fp32:64 BLOCK=64
# signature: x=*fp32, out=*fp32, BLOCK=64
@triton.jit
def conversions(x, out, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    a = tl.load(x + offs) * 10.0 - 5.0
    i = tl.inline_asm_elementwise("cvt.rzi.s32.f32 $0, $1;", "=r,f", [a], dtype=tl.int32, is_pure=True, pack=1)
    tl.device_assert(i == a.to(tl.int32), "truncated")
    f = tl.inline_asm_elementwise("cvt.rmi.ftz.f32.f32 $0, $1;", "=f,f", [a], dtype=tl.float32, is_pure=True, pack=1)
    tl.device_assert(f == tl.floor(a), "floor")
    r = tl.inline_asm_elementwise("cvt.rn.f32.s32 $0, $1;", "=f,r", [i], dtype=tl.float32, is_pure=True, pack=1)
    tl.device_assert(r == i.to(tl.float32), "integer to float")
    h = tl.inline_asm_elementwise("cvt.rn.f16.f32 $0, $1;", "=h,f", [a], dtype=tl.float16, is_pure=True, pack=1)
    tl.device_assert(h == a.to(tl.float16), "half")
    b = tl.inline_asm_elementwise("cvt.rn.bf16.f32 $0, $1;", "=h,f", [a], dtype=tl.bfloat16, is_pure=True, pack=1)
    tl.device_assert(b.to(tl.float32) == a.to(tl.bfloat16).to(tl.float32), "bfloat16")
    w = tl.inline_asm_elementwise("cvt.f32.bf16 $0, $1;", "=f,h", [b], dtype=tl.float32, is_pure=True, pack=1)
    tl.device_assert(w == b.to(tl.float32), "widened")
    s = tl.inline_asm_elementwise("fma.rn.f16 $0, $1, $1, $1;", "=h,h", [h], dtype=tl.float16, is_pure=True, pack=1)
    tl.device_assert(s == tl.fma(h, h, h), "fma of halves")
    d = tl.inline_asm_elementwise("mul.f64 $0, $1, 0d4000000000000000;", "=d,d", [a.to(tl.float64)], dtype=tl.float64,
                                  is_pure=True, pack=1)
    tl.device_assert(d == a.to(tl.float64) * 2.0, "double")
    u = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [a], dtype=tl.int32, is_pure=True, pack=1)
    tl.device_assert(u == a.to(tl.int32, bitcast=True), "the same bits")
    tl.store(out + offs, f + r + w + s.to(tl.float32) + d.to(tl.float32))
