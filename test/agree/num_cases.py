"""The cases of agree_num.py: expressions over torch and F, each run by PyTorch and by the host
engine on the same inputs. r(...) is uniform in [-2, 2), p(...) in (0, 1], i(...) integers;
all are bit-identical on both sides, so only the operator differs."""

PRELUDE = '''
import torch
import torch.nn.functional as F
import math
def r(*s, dtype=torch.float32):
    return (torch.rand(*s) * 4 - 2).to(dtype)
def p(*s):
    return 1 - torch.rand(*s)
def i(hi, *s):
    return torch.randint(0, hi, s)
def filled(m):
    torch.manual_seed(1)
    for w in m.parameters():
        w.data.copy_(r(*w.shape))
    return m
'''

CASES = []


def add(*lines):
    CASES.extend(lines)


# --- elementwise, one operand
for f in ("exp exp2 expm1 sin cos tan atan sinh cosh tanh asinh sigmoid erf erfc neg abs sign square floor ceil trunc "
          "round relu isnan isinf isfinite frac deg2rad rad2deg selu sgn signbit sinc positive logical_not").split():
    add(f"torch.{f}(r(3, 37))", f"r(5, 4).{f}()")
for f in "log log2 log10 log1p sqrt rsqrt reciprocal acos asin lgamma logit".split():
    add(f"torch.{f}(p(3, 37) * 0.98 + 0.01)")
for f in "exp tanh sigmoid erf sqrt log abs neg relu gelu silu".split():
    g = f"F.{f}" if f in ("gelu", "silu") else f"torch.{f}"
    for dt in ("float16", "bfloat16", "float64"):
        add(f"{g}(p(4, 33).to(torch.{dt}))")
add("torch.acosh(p(20) + 1)", "torch.atanh(r(20) * 0.49)", "torch.erfinv(r(50) * 0.499)", "torch.nan_to_num(torch.log(r(20)))",
    "torch.bitwise_not(i(100, 7))", "~(r(5) > 0)", "torch.abs(i(9, 4) - 4)", "torch.sqrt(i(9, 4))", "torch.exp(i(3, 4))",
    "torch.round(r(10) * 100, decimals=1)", "torch.round(r(10), decimals=2)")
for f in ("relu relu6 selu celu elu leaky_relu silu mish hardswish hardsigmoid hardtanh softplus hardshrink softshrink "
          "tanhshrink softsign logsigmoid gelu sigmoid tanh").split():
    add(f"F.{f}(r(7, 19) * 3)", f"F.{f}(r(70, 19) * 30)")
add("F.gelu(r(100), approximate='tanh')", "F.elu(r(100), 0.7)", "F.celu(r(100), 1.5)", "F.leaky_relu(r(50), 0.2)", "F.softplus(r(50), 2.0, 3.0)",
    "F.hardtanh(r(50), -0.5, 0.7)", "F.threshold(r(50), 0.1, -3.0)", "F.glu(r(4, 10))", "F.glu(r(4, 10, 3), dim=1)",
    "F.prelu(r(2, 3, 5), torch.tensor([0.1, 0.2, 0.3]))", "F.prelu(r(20), torch.tensor([0.25]))", "F.rrelu(r(20))", "F.silu(r(30), inplace=True)",
    "F.relu(r(10).to(torch.bfloat16))", "F.mish(r(10).half())", "F.hardswish(r(64).double())")
# --- two operands
for op in "+ - * /".split():
    add(f"r(3, 4) {op} r(3, 4)", f"r(3, 4) {op} r(4)", f"r(3, 1, 5) {op} r(2, 1)", f"r(7) {op} 2.5", f"3 {op} p(7)", f"i(9, 6) {op} (i(5, 6) + 1)",
        f"i(9, 6) {op} 2.5", f"r(5).half() {op} p(5).half()", f"r(5).bfloat16() {op} p(5)", f"r(4).double() {op} p(4)", f"r(5).half() {op} 1.3",
        f"torch.tensor(2.0) {op} p(3).double()", f"(r(6, 5).t() {op} r(5, 6)).contiguous()", f"r(4, 5, 6)[:, ::2] {op} r(4, 3, 6)")
for op in "< <= > >= == !=".split():
    add(f"r(3, 40) {op} r(3, 40)", f"i(3, 40) {op} i(3, 40)", f"r(9) {op} 0.5", f"i(5, 9) {op} 2", f"1 {op} i(5, 9)")
for op in "// %".split():
    add(f"r(50) {op} (r(50) + 3)", f"(i(100, 50) - 50) {op} (i(9, 50) + 1)", f"(i(100, 50) - 50) {op} -7", f"r(50) {op} 0.3", f"7 {op} (p(9) + 1)")
for op in "& | ^ << >>".split():
    add(f"i(100, 20) {op} i(6, 20)")
add("(r(9) > 0) & (r(9) > 0)", "(r(9) > 0) | (r(9) > 0)", "(r(9) > 0) ^ (r(9) > 0)")
add("p(20) ** 2", "p(20) ** 3", "p(20) ** 0.5", "p(20) ** -1", "p(20) ** -0.5", "p(20) ** 2.7", "2 ** r(20)", "p(20) ** r(20)", "i(5, 9) ** 2", "i(5, 9) ** i(4, 9)",
    "torch.pow(p(20), 1.5)", "i(5, 9) ** 0.5", "p(9).half() ** 2.2", "torch.pow(3, i(4, 5))")
for f in "maximum minimum fmax fmin atan2 hypot copysign logaddexp logaddexp2 xlogy fmod remainder heaviside".split():
    add(f"torch.{f}(r(5, 6), p(6))")
add("torch.add(r(5), r(5), alpha=0.5)", "torch.sub(r(5), 2, alpha=3)", "torch.div(r(20), p(20), rounding_mode='floor')", "torch.div(r(20), p(20), rounding_mode='trunc')",
    "torch.div(i(50, 9), 7)", "torch.clamp(r(20), -0.5, 0.5)", "torch.clamp(r(20), min=0.1)", "r(20).clamp(max=0.3)", "torch.clamp(i(9, 9), 2, 5)", "torch.clamp(r(4, 5), r(5), r(4, 1) + 2)",
    "torch.clamp(i(9, 9), min=2.5)", "torch.where(r(4, 5) > 0, r(4, 5), r(5))", "torch.where(r(9) > 0, 1.0, 0.0)", "torch.where(r(9) > 0, r(9), 0)", "torch.lerp(r(9), r(9), 0.3)",
    "torch.lerp(r(9), r(9), p(9))", "torch.addcmul(r(9), r(9), r(9), value=0.5)", "torch.addcdiv(r(9), r(9), p(9) + 1, value=0.5)", "r(4, 4).masked_fill(r(4, 4) > 0, -1e9)",
    "r(4, 4).masked_fill(torch.triu(torch.ones(4, 4), 1).bool(), float('-inf'))", "torch.isclose(r(5), r(5))", "torch.allclose(r(5), r(5))", "torch.equal(i(3, 4), i(3, 4))",
    "torch.result_type(r(2), 1)", "torch.result_type(i(2, 2), 1.0)", "torch.logical_and(r(9) > 0, i(2, 9))")
# --- in place and views
add("r(4, 5).add_(1.5).mul_(r(5)).sub_(0.1).div_(3)", "r(9).clamp_(0, 1)", "r(9).exp_()", "r(9).fill_(2.5)", "r(9).zero_()", "torch.zeros(3, 4).copy_(r(4))",
    "(lambda x: (x[1].add_(10), x)[1])(r(3, 4))", "(lambda x: (x.t().mul_(2), x)[1])(r(3, 4))", "(lambda x: (x.__setitem__((slice(None), 1), 5.0), x)[1])(r(3, 4))",
    "(lambda x: (x[::2].zero_(), x)[1])(r(5, 4))")
# --- reductions
for f in "sum mean prod amax amin var std logsumexp".split():
    for s, d in (("3, 4, 5", "0"), ("3, 4, 5", "1"), ("3, 4, 5", "-1"), ("3, 4, 5", "(0, 2)"), ("2, 300, 7", "1"), ("3, 1000", "1"), ("1000, 3", "0"), ("4, 8, 6, 6", "(1, 2, 3)"), ("4, 8, 6, 6", "(0, 2, 3)")):
        if f == "prod" and "(" in d:
            continue
        add(f"torch.{f}(r({s}), dim={d})", f"r({s}).{f}({d}, keepdim=True)")
for f in "sum mean prod max min var std norm argmax argmin any all median".split():
    add(f"torch.{f}(r(5, 7))", f"torch.{f}(r(3000))" if f not in ("prod",) else "torch.prod(p(20))", f"r(6, 5).t().{f}()" if f != "median" else "r(6, 5).t().median()")
for f in "max min median argmax argmin cumsum cumprod cummax cummin sort argsort softmax log_softmax any all".split():
    for s, d in (("3, 4, 5", 0), ("3, 4, 5", 1), ("3, 4, 5", -1), ("2, 100", 1), ("65, 300", 0), ("2, 17, 9, 9", 1)):
        if f == "median" and s == "65, 300":
            continue
        add(f"torch.{f}(r({s}), {d})")
add("i(9, 4, 5).sum()", "i(9, 4, 5).sum(1)", "(r(4, 5) > 0).sum()", "i(9, 4, 5).prod(0)", "i(9, 4, 5).max()", "i(9, 4, 5).max(1)", "i(9, 4, 5).cumsum(0)", "(r(4, 5) > 0).any(1)",
    "(r(4, 5) > 0).all()", "r(4, 5).half().sum(1)", "r(4, 500).half().mean(1)", "r(4, 5).bfloat16().mean()", "r(4, 5).double().var(0)", "r(4, 5).var(1, unbiased=False)",
    "r(4, 5).std(1, correction=0)", "torch.var_mean(r(4, 5), 1)", "torch.norm(r(4, 5))", "torch.norm(r(4, 5), p=1)", "torch.norm(r(4, 5), p=2, dim=1)", "torch.norm(r(4, 5), p=3.0, dim=0, keepdim=True)",
    "torch.norm(r(4, 5), p=float('inf'), dim=1)", "torch.norm(r(3, 4, 5), p='fro', dim=(1, 2))", "torch.linalg.norm(r(7))", "torch.linalg.vector_norm(r(4, 5), dim=1)", "r(4, 5).norm(dim=1, keepdim=True)",
    "torch.sum(r(4, 5), dim=1, dtype=torch.float64)", "torch.count_nonzero(i(3, 5, 5))", "torch.logsumexp(r(4, 5) * 50, dim=1)", "torch.cumsum(r(4, 5).flip(1), dim=1).flip(1)",
    "torch.logcumsumexp(r(4, 5), 1)", "torch.topk(r(4, 50), 5)", "torch.topk(r(50, 4), 3, dim=0, largest=False)", "torch.kthvalue(r(20), 4)", "torch.sort(r(20), descending=True)", "torch.unique(i(5, 30))",
    "torch.unique(i(5, 30), return_inverse=True, return_counts=True)", "torch.searchsorted(torch.arange(10).float(), r(5) * 5)", "torch.bincount(i(6, 40))", "torch.bucketize(r(9), torch.tensor([-1.0, 0.0, 1.0]))", "torch.searchsorted(torch.arange(3).float(), torch.tensor([float('nan'), 1.0]), right=True)",
    "torch.aminmax(r(9))", "torch.nansum(torch.log(r(9)))", "F.softmax(r(4, 5), dim=0)", "F.log_softmax(r(4, 5, 6), dim=1)", "F.softmin(r(4, 5), dim=1)", "F.softmax(r(4, 500).half(), dim=1)", "torch.softmax(r(4, 5).double(), 1)",
    "F.softmax(r(4, 5), dim=1, dtype=torch.float64)", "r(2, 3, 4).mean((1, 2))", "r(2, 3, 4).sum(dim=[0, 1])", "r(0, 3).sum(0)", "r(0, 3).sum()", "r(3, 0).mean(1)", "torch.max(r(5), r(5))")
# --- products
add("r(3, 4) @ r(4, 5)", "torch.matmul(r(3, 4).t(), r(3, 5))", "torch.mm(r(33, 65), r(65, 17))", "torch.matmul(r(5), r(5))", "torch.matmul(r(4, 5), r(5))", "torch.matmul(r(5), r(5, 6))", "torch.bmm(r(3, 4, 5), r(3, 5, 6))",
    "torch.matmul(r(2, 3, 4, 5), r(5, 6))", "torch.matmul(r(2, 1, 4, 5), r(3, 5, 6))", "torch.matmul(r(2, 3, 4, 5), r(2, 3, 6, 5).transpose(-1, -2))", "torch.matmul(r(3, 4, 5), r(5))", "i(9, 3, 4) @ i(9, 4, 5)",
    "r(8, 9).half() @ r(9, 7).half()", "r(8, 9).half() @ r(7, 9).half().t()", "r(9, 8).bfloat16().t() @ r(9, 7).bfloat16()", "torch.bmm(r(2, 3, 4).half(), r(2, 5, 4).half().transpose(1, 2))", "r(8, 9).bfloat16() @ r(9, 7).bfloat16()", "r(8, 9).double() @ r(9, 7).double()", "torch.addmm(r(3, 5), r(3, 4), r(4, 5), beta=0.5, alpha=2)", "torch.addmm(r(5), r(3, 4), r(4, 5))",
    "torch.baddbmm(r(2, 3, 5), r(2, 3, 4), r(2, 4, 5))", "torch.outer(r(3), r(4))", "torch.mv(r(3, 4), r(4))", "torch.dot(r(9), r(9))", "F.linear(r(2, 3, 4), r(5, 4), r(5))", "F.linear(r(4), r(5, 4))", "F.bilinear(r(3, 4), r(3, 5), r(6, 4, 5), r(6))",
    "torch.matmul(r(200, 300), r(300, 100))", "r(1, 300) @ r(300, 1)", "r(64, 128)[:, ::2] @ r(64, 8)", "r(0, 4) @ r(4, 5)", "r(3, 0) @ r(0, 5)", "torch.tril(r(9, 9)) @ torch.triu(r(9, 9))", "torch.diag(r(5)) @ r(5, 4)", "r(5).unsqueeze(1) * r(5, 4)")
for eq, sh in (("ij,jk->ik", "r(3,4), r(4,5)"), ("bij,bjk->bik", "r(2,3,4), r(2,4,5)"), ("ij->ji", "r(3,4)"), ("ij->", "r(3,4)"), ("ii->i", "r(4,4)"), ("ii", "r(4,4)"), ("bijl,lk->bijk", "r(2,3,4,5), r(5,6)"), ("...ij,...jk->...ik", "r(2,3,4), r(2,4,5)"),
               ("bhid,bhjd->bhij", "r(2,3,4,5), r(2,3,6,5)"), ("i,j->ij", "r(3), r(4)"), ("bn,anm,bm->ba", "r(2,3), r(4,3,5), r(2,5)"), ("ijk,ikl->ijl", "r(2,3,4), r(2,4,5)"), ("i,i->", "r(5), r(5)"), ("ij,ij->ij", "r(3,4), r(3,4)"), ("nchw->nhwc", "r(2,3,4,5)"),
               ("blhn,bshn->bhls", "r(2,3,2,4), r(2,5,2,4)"), ("bclhn,bcshn,bhcls,bcshp->bclhp", "r(1,2,3,2,4), r(1,2,3,2,4), r(1,2,2,3,3), r(1,2,3,2,5)"), ("ij,jk", "r(3,4), r(4,5)")):
    add(f"torch.einsum('{eq}', {sh})")
add("F.scaled_dot_product_attention(r(2, 3, 10, 8), r(2, 3, 12, 8), r(2, 3, 12, 6))", "F.scaled_dot_product_attention(r(2, 3, 70, 8), r(2, 3, 70, 8), r(2, 3, 70, 8), is_causal=True)", "F.scaled_dot_product_attention(r(2, 5, 8), r(2, 6, 8), r(2, 6, 8), attn_mask=r(5, 6))",
    "F.scaled_dot_product_attention(r(2, 5, 8), r(2, 6, 8), r(2, 6, 8), attn_mask=(r(5, 6) > -1))", "F.scaled_dot_product_attention(r(2, 4, 5, 8), r(2, 2, 6, 8), r(2, 2, 6, 8), enable_gqa=True)", "F.scaled_dot_product_attention(r(1, 1, 5, 8), r(1, 1, 6, 8), r(1, 1, 6, 8), scale=0.3)",
    "torch.cdist(r(3, 4), r(5, 4))", "torch.cdist(r(2, 3, 4), r(2, 5, 4), p=1.0)", "torch.cross(r(4, 3), r(4, 3), dim=1)", "F.pairwise_distance(r(4, 5), r(4, 5))", "F.cosine_similarity(r(4, 5), r(4, 5))", "F.cosine_similarity(r(4, 5, 6), r(4, 5, 6), dim=2)")
# --- convolutions
add("F.conv1d(r(2, 3, 20), r(4, 3, 5), r(4))", "F.conv1d(r(2, 3, 50), r(6, 3, 3), stride=2, dilation=3)", "F.conv1d(r(3, 20), r(4, 3, 5), padding='same')", "F.conv1d(r(2, 4, 21), r(6, 2, 4), groups=2, padding=2)",
    "F.conv2d(r(2, 3, 9, 11), r(5, 3, 3, 3), r(5), padding=1)", "F.conv2d(r(2, 4, 9, 11), r(6, 2, 3, 2), groups=2, stride=(2, 1), padding=(0, 2))", "F.conv2d(r(2, 6, 9, 9), r(6, 1, 3, 3), r(6), groups=6, padding=1)", "F.conv2d(r(2, 6, 9, 9), r(12, 1, 3, 3), groups=6, stride=2)",
    "F.conv2d(r(2, 8, 9, 9), r(5, 8, 1, 1), r(5))", "F.conv2d(r(2, 8, 9, 9), r(5, 8, 1, 1), stride=2)", "F.conv2d(r(1, 16, 40, 40), r(32, 16, 3, 3), r(32), padding=1)", "F.conv2d(r(2, 3, 9, 11), r(5, 3, 4, 4), padding='same')", "F.conv2d(r(2, 3, 12, 12), r(4, 3, 3, 3), dilation=2, padding=2)",
    "F.conv3d(r(2, 3, 6, 7, 8), r(4, 3, 3, 2, 3), r(4), padding=(1, 0, 1))", "F.conv3d(r(1, 4, 6, 7, 8), r(4, 2, 3, 3, 3), groups=2, stride=2, padding=1, dilation=(1, 2, 1))", "F.conv2d(r(2, 3, 9, 9).half(), r(5, 3, 3, 3).half())", "F.conv2d(r(2, 3, 9, 9).double(), r(5, 3, 3, 3).double(), r(5).double())", "F.conv2d(r(2, 3, 9, 9).bfloat16(), r(5, 3, 3, 3).bfloat16(), r(5).bfloat16())",
    "F.conv_transpose1d(r(2, 3, 10), r(3, 4, 5), r(4), stride=2)", "F.conv_transpose2d(r(2, 4, 5, 6), r(4, 3, 3, 3), r(3), stride=2, padding=1, output_padding=1)", "F.conv_transpose2d(r(2, 4, 5, 6), r(4, 3, 3, 5), groups=2, dilation=2)", "F.conv_transpose2d(r(2, 4, 5, 6), r(4, 1, 3, 3), groups=4, stride=3)",
    "F.conv_transpose3d(r(2, 3, 4, 5, 6), r(3, 4, 3, 3, 3), r(4), stride=2, padding=1, output_padding=1)", "F.conv_transpose3d(r(1, 4, 3, 4, 5), r(4, 2, 2, 3, 2), groups=2, stride=(1, 2, 3), dilation=2)", "F.conv_transpose2d(r(3, 5, 6), r(3, 4, 2, 2), stride=(1, 2))", "F.conv2d(r(2, 3, 11, 9).permute(0, 1, 3, 2), r(5, 3, 3, 3))")
# --- pools
for n, s in ((1, "2, 3, 20"), (2, "2, 3, 11, 12"), (3, "2, 3, 7, 8, 9")):
    for a in ("3", "2, 2", "3, 2, 1", "2, stride=3", "3, stride=2, padding=1, ceil_mode=True"):
        add(f"F.max_pool{n}d(r({s}), {a})", f"F.avg_pool{n}d(r({s}), {a})")
    add(f"F.max_pool{n}d(r({s}), 3, 2, 1, 2)", f"F.max_pool{n}d(r({s}), 2, return_indices=True)", f"F.avg_pool{n}d(r({s}), 3, 2, 1, False, False)", f"F.adaptive_avg_pool{n}d(r({s}), 3)", f"F.adaptive_max_pool{n}d(r({s}), 2)", f"F.adaptive_avg_pool{n}d(r({s}), 1)",
        f"F.avg_pool{n}d(r({s}), 3, 2, 1, True, False)")
add("F.avg_pool2d(r(2, 3, 9, 9), 3, 2, 1, divisor_override=5)", "F.adaptive_avg_pool2d(r(2, 3, 9, 7), (None, 3))", "F.adaptive_avg_pool2d(r(2, 3, 9, 7), (4, 5))", "F.lp_pool2d(p(2, 3, 8, 8), 2, 3, 2)", "F.max_pool2d(r(3, 8, 8), 2)", "F.max_pool2d(r(2, 3, 40, 40), (3, 5), (2, 3), (1, 2))", "F.adaptive_max_pool2d(r(2, 3, 9, 7), 3, return_indices=True)")
# --- norms
add("F.batch_norm(r(4, 3, 5, 5), torch.zeros(3), torch.ones(3), r(3), r(3))", "F.batch_norm(r(4, 3, 5, 5), r(3), p(3), r(3), r(3), True)", "F.batch_norm(r(8, 5), r(5), p(5), r(5), r(5), True, 0.3, 1e-3)", "(lambda m, v: (F.batch_norm(r(4, 3, 6), m, v, None, None, True), m, v))(torch.zeros(3), torch.ones(3))",
    "F.batch_norm(r(8, 5) + 100, None, None, None, None, True)", "F.instance_norm(r(2, 3, 5, 5))", "F.instance_norm(r(2, 3, 5, 5), weight=r(3), bias=r(3))", "F.instance_norm(r(2, 3, 40))", "F.group_norm(r(2, 6, 5, 5), 3, r(6), r(6))", "F.group_norm(r(2, 6), 2)", "F.group_norm(r(2, 8, 7), 8, eps=1e-3)", "F.group_norm(r(2, 6, 4, 4) * 10 + 50, 2)",
    "F.layer_norm(r(3, 4, 50), (50,), r(50), r(50))", "F.layer_norm(r(3, 4, 5), (4, 5))", "F.layer_norm(r(3, 500) + 1000, (500,))", "F.layer_norm(r(3, 20).half(), (20,))", "F.layer_norm(r(3, 20), (20,), r(20))", "F.rms_norm(r(3, 20), (20,), r(20))", "F.rms_norm(r(3, 20), (20,), None, 1e-6)", "F.local_response_norm(r(2, 8, 5, 5), 3)", "F.local_response_norm(r(2, 8, 5), 4, 0.01, 0.5, 2.0)", "F.normalize(r(4, 5))", "F.normalize(r(4, 5, 6), p=1.0, dim=2)")
# --- losses
for f in "mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss".split():
    for red in ("mean", "sum", "none"):
        add(f"F.{f}(r(6, 7), r(6, 7), reduction='{red}')")
add("F.smooth_l1_loss(r(6, 7), r(6, 7), beta=0.3)", "F.huber_loss(r(6, 7), r(6, 7), delta=0.3)", "F.cross_entropy(r(6, 7), i(7, 6))", "F.cross_entropy(r(6, 7), i(7, 6), reduction='none')", "F.cross_entropy(r(6, 7), i(7, 6), weight=p(7))", "F.cross_entropy(r(6, 7), i(7, 6), label_smoothing=0.1)", "F.cross_entropy(r(6, 7), i(7, 6), p(7), label_smoothing=0.1)",
    "F.cross_entropy(r(6, 7), i(7, 6), ignore_index=2)", "F.cross_entropy(r(6, 7), torch.softmax(r(6, 7), 1))", "F.cross_entropy(r(6, 7), torch.softmax(r(6, 7), 1), label_smoothing=0.2)", "F.cross_entropy(r(2, 5, 3, 4), i(5, 2, 3, 4))", "F.cross_entropy(r(7), torch.tensor(3))", "F.cross_entropy(r(6, 7), i(7, 6), reduction='sum')", "F.nll_loss(F.log_softmax(r(6, 7), 1), i(7, 6))", "F.nll_loss(F.log_softmax(r(2, 5, 3), 1), i(5, 2, 3), reduction='none')",
    "F.kl_div(F.log_softmax(r(6, 7), 1), F.softmax(r(6, 7), 1), reduction='batchmean')", "F.kl_div(r(6, 7), p(6, 7))", "F.kl_div(r(6, 7), r(6, 7), log_target=True, reduction='sum')", "F.binary_cross_entropy(p(6, 7), p(6, 7))", "F.binary_cross_entropy(p(6, 7), p(6, 7), weight=p(7))", "F.binary_cross_entropy_with_logits(r(6, 7), p(6, 7))", "F.binary_cross_entropy_with_logits(r(6, 7), p(6, 7), pos_weight=p(7))",
    "F.triplet_margin_loss(r(6, 7), r(6, 7), r(6, 7))", "F.triplet_margin_loss(r(6, 7), r(6, 7), r(6, 7), margin=0.5, p=1, swap=True, reduction='none')", "F.cosine_embedding_loss(r(6, 7), r(6, 7), i(2, 6) * 2 - 1, margin=0.2)", "F.margin_ranking_loss(r(6), r(6), i(2, 6) * 2 - 1, margin=0.1)", "F.hinge_embedding_loss(r(6), i(2, 6) * 2 - 1)", "F.poisson_nll_loss(r(6), p(6))", "F.gaussian_nll_loss(r(6), r(6), p(6))", "F.multi_margin_loss(r(6, 7), i(7, 6))", "F.cross_entropy(r(6, 7).half(), i(7, 6))")
# --- selection
add("r(5, 6)[2]", "r(5, 6)[:, 1]", "r(5, 6)[1:4, ::2]", "r(5, 6)[-1, -2]", "r(5, 6)[None, :, None]", "r(3, 4, 5)[..., 1]", "r(3, 4, 5)[1, ..., 2:]", "r(5, 6)[i(5, 3)]", "r(5, 6)[:, i(6, 3)]", "r(5, 6)[i(5, 3), i(6, 3)]", "r(5, 6)[[0, 2]]", "r(5, 6)[r(5, 6) > 0]", "r(5, 6)[r(5) > 0]", "r(3, 4, 5)[i(3, 2), :, i(5, 2)]", "r(3, 4, 5)[:, i(4, 2, 2)]", "r(3, 4, 5)[:, [0, 1], 1:3]", "r(5)[torch.tensor(2)]", "r(4, 5)[1:, 2:][0]",
    "(lambda x: (x.__setitem__(1, 7.0), x)[1])(r(3, 4))", "(lambda x: (x.__setitem__((slice(None), i(4, 2)), r(3, 2)), x)[1])(r(3, 4))", "(lambda x: (x.__setitem__(x > 0, 0.0), x)[1])(r(3, 4))", "(lambda x: (x.__setitem__((slice(1, 3), slice(None, None, 2)), r(2, 2)), x)[1])(r(3, 4))", "(lambda x: (x.__setitem__((Ellipsis, 0), r(3)), x)[1])(r(3, 4))",
    "torch.gather(r(4, 5), 1, i(5, 4, 3))", "torch.gather(r(4, 5), 0, i(4, 2, 5))", "torch.zeros(4, 5).scatter_(1, i(5, 4, 3), r(4, 3))", "torch.zeros(4, 5).scatter_(1, i(5, 4, 1), 1.0)", "torch.zeros(4, 5).scatter_add_(1, i(5, 4, 3), r(4, 3))", "torch.index_select(r(4, 5), 1, i(5, 3))", "torch.take(r(4, 5), i(20, 7))", "torch.masked_select(r(4, 5), r(4, 5) > 0)", "torch.nonzero(i(2, 4, 5))", "torch.nonzero(i(2, 4, 5), as_tuple=True)", "torch.where(i(2, 4, 5) > 0)", "torch.zeros(5, 3).index_add_(0, i(5, 4), r(4, 3))",
    "torch.zeros(5, 3).index_copy_(0, torch.tensor([1, 3]), r(2, 3))", "r(5, 3).index_fill_(0, torch.tensor([1, 3]), -1.0)", "torch.zeros(5).index_put_((i(5, 4),), r(4), accumulate=True)", "F.embedding(i(7, 2, 3), r(7, 4))", "F.one_hot(i(5, 6))", "F.one_hot(i(5, 6), 8)", "torch.take_along_dim(r(4, 5), torch.argsort(r(4, 5), 1), 1)", "torch.zeros(3, 4).masked_scatter_(r(3, 4) > 0, r(12))", "torch.scatter_reduce(r(5), 0, i(5, 8), r(8), 'amax')")
# --- arrangement
add("torch.cat([r(2, 3), r(4, 3)])", "torch.cat((r(2, 3), r(2, 1)), dim=1)", "torch.cat([r(2, 3), r(2, 3).double()])", "torch.stack([r(2, 3), r(2, 3)], dim=1)", "torch.split(r(7, 3), 3)", "torch.split(r(7, 3), [2, 5])", "torch.chunk(r(7, 3), 3)", "r(2, 9).chunk(2, dim=1)", "torch.unbind(r(3, 4))", "torch.hstack([r(2), r(3)])", "torch.vstack([r(3), r(2, 3)])", "torch.flip(r(3, 4), [0, 1])", "r(3, 4).flip(1)", "torch.roll(r(3, 4), 1)", "torch.roll(r(3, 4), (1, -2), (0, 1))", "torch.roll(r(5, 6, 2), shifts=(-2, 3), dims=(0, 1))",
    "torch.rot90(r(3, 4))", "r(2, 3).repeat(2, 2)", "r(3).repeat(4, 2)", "torch.tile(r(2, 3), (2,))", "torch.repeat_interleave(r(3, 2), 2, dim=0)", "torch.repeat_interleave(r(3, 2), 2)", "torch.repeat_interleave(r(3, 2), torch.tensor([1, 0, 3]), dim=0)", "torch.meshgrid(torch.arange(3), torch.arange(4), indexing='ij')", "torch.meshgrid(torch.arange(3), torch.arange(4), indexing='xy')", "torch.tril(r(4, 5))", "torch.triu(r(2, 4, 4), 1)", "torch.tril(r(4, 5), -1)", "torch.diag(r(4))", "torch.diag(r(4, 5), 1)", "torch.diagonal(r(3, 4, 5), 0, 1, 2)",
    "torch.diag_embed(r(2, 3))", "torch.trace(r(4, 4))", "F.pad(r(2, 3), (1, 2))", "F.pad(r(2, 3, 4), (1, 2, 0, 1), value=5.0)", "F.pad(r(2, 3, 6), (2, 3), mode='reflect')", "F.pad(r(2, 3, 6, 6), (2, 1, 0, 3), mode='replicate')", "F.pad(r(2, 3, 6, 6), (2, 1, 1, 3), mode='circular')", "F.pad(r(4, 5), (-1, 2, 1, -1))", "F.unfold(r(2, 3, 6, 7), 3, padding=1, stride=2)", "F.fold(r(2, 12, 6), (4, 5), (2, 2), stride=(1, 2), padding=(0, 0))", "F.fold(F.unfold(r(2, 3, 6, 6), 2, stride=2), (6, 6), 2, stride=2)",
    "r(10).unfold(0, 3, 2)", "r(2, 8, 8).unfold(1, 2, 2).unfold(2, 2, 2)", "torch.movedim(r(2, 3, 4), 0, -1)", "r(2, 3, 4).permute(2, 0, 1)", "r(2, 3, 4).transpose(0, 2)", "r(3, 4).T", "r(2, 3, 4).mT", "r(2, 3, 4).flatten(1)", "r(2, 3, 4).reshape(4, -1)", "r(2, 3, 4).permute(2, 0, 1).reshape(4, 6)", "r(2, 12).unflatten(1, (3, 4))", "r(2, 1, 3, 1).squeeze()", "r(2, 1, 3, 1).squeeze(1)", "r(2, 3).unsqueeze(-1)", "r(2, 1, 3).expand(2, 4, 3)", "r(3, 1).expand(-1, 4)", "r(6).view(2, 3)", "r(2, 3, 4).select(1, 2)", "r(7, 3).narrow(0, 2, 3)", "torch.broadcast_to(r(3), (2, 3))",
    "torch.as_strided(r(20), (3, 4), (2, 1), 3)", "r(4, 6).contiguous().stride()", "r(4, 6).t().contiguous().stride()", "(r(2, 3, 4).permute(0, 2, 1) + 1).stride()", "(r(2, 3, 4).permute(2, 0, 1) * r(4, 2, 3)).stride()", "torch.empty_like(r(2, 3, 4).permute(2, 1, 0)).stride()", "r(2, 3, 4, 5).to(memory_format=torch.channels_last).stride()" if False else "r(2, 3, 4, 5).contiguous(memory_format=torch.channels_last).stride()", "(r(2, 3, 4, 5).contiguous(memory_format=torch.channels_last) + 1).stride()", "r(4, 5).t().clone().stride()", "r(2, 3, 4)[:, 1].stride()", "r(4, 5)[::2].relu().stride()")
# --- images
for m, s, k in (("nearest", "2, 3, 5, 6", "size=(7, 9)"), ("nearest", "2, 3, 5, 6", "scale_factor=2"), ("bilinear", "2, 3, 5, 6", "size=(7, 9)"), ("bilinear", "2, 3, 5, 6", "scale_factor=2, align_corners=True"), ("bilinear", "2, 3, 5, 6", "scale_factor=1.7"), ("bicubic", "2, 3, 5, 6", "size=(9, 4)"), ("bicubic", "2, 3, 5, 6", "scale_factor=2, align_corners=True"),
                ("linear", "2, 3, 7", "size=5"), ("trilinear", "1, 2, 3, 4, 5", "scale_factor=2"), ("area", "2, 3, 8, 8", "size=3"), ("nearest-exact", "2, 3, 5, 6", "size=(8, 3)"), ("nearest", "2, 3, 7", "scale_factor=2.5")):
    add(f"F.interpolate(r({s}), mode='{m}', {k})")
for mode in ("bilinear", "nearest", "bicubic"):
    for pad in ("zeros", "border", "reflection"):
        add(f"F.grid_sample(r(2, 3, 5, 6), r(2, 4, 4, 2), mode='{mode}', padding_mode='{pad}', align_corners=False)")
add("F.grid_sample(r(2, 3, 5, 6), r(2, 4, 4, 2) * 0.5, align_corners=True)", "F.grid_sample(r(1, 2, 3, 4, 5), r(1, 2, 3, 4, 3), align_corners=False)", "F.pixel_shuffle(r(2, 8, 3, 4), 2)", "F.pixel_unshuffle(r(2, 2, 4, 6), 2)", "F.channel_shuffle(r(1, 6, 2, 2), 3)")
# --- making
add("torch.arange(5)", "torch.arange(1, 9, 2)", "torch.arange(0, 1, 0.1)", "torch.arange(5, dtype=torch.float32)", "torch.arange(10, 0, -3)", "torch.linspace(0, 1, 7)", "torch.linspace(-2, 3, 50)", "torch.linspace(0, 0.1, 12)", "torch.logspace(0, 2, 5)", "torch.eye(3)", "torch.eye(2, 4)", "torch.zeros(2, 3)", "torch.ones((2, 3), dtype=torch.int64)", "torch.full((2, 3), 2.5)", "torch.full((2,), 3)", "torch.tensor([[1, 2], [3, 4]])", "torch.tensor([1.5, 2])", "torch.tensor(3.0)", "torch.tensor([True, False])", "torch.zeros_like(r(2, 3))", "torch.ones_like(i(3, 2))",
    "torch.full_like(r(2), 7)", "r(2, 3).new_zeros(4)", "r(2, 3).new_full((2, 2), 1.5)", "torch.tril_indices(3, 4)", "torch.triu_indices(3, 3, 1)", "torch.empty(2, 3).shape[1]", "r(3, 4).size(1)", "r(3, 4).numel()", "r(3, 4).dim()", "r(3, 4).double().dtype", "r(3).sum().item()", "i(5, 3).tolist()", "r(3).to(torch.int32)", "(r(3) * 100).to(torch.uint8 if False else torch.int8)", "r(5).half().float()", "torch.tensor([1e10, -3.7]).to(torch.int64)", "torch.zeros(3, dtype=torch.bool)", "float(r(1))", "int(torch.tensor(3.9))", "bool(torch.tensor(1))")
# --- made of others
add("torch.atleast_1d(torch.tensor(1.0))", "torch.atleast_2d(r(3))", "torch.atleast_3d(r(3, 4))", "torch.diff(r(3, 6))", "torch.diff(r(6, 3), n=2, dim=0)", "torch.kron(r(2, 3), r(3, 2))", "torch.kron(r(2), r(3, 2))", "torch.isin(i(9, 5), torch.tensor([1, 4, 7]))", "torch.quantile(r(9), 0.3)", "torch.quantile(r(4, 9), torch.tensor([0.1, 0.5]), dim=1)", "torch.quantile(r(4, 9), 0.25, dim=0, keepdim=True)",
    "torch.cartesian_prod(torch.arange(2), torch.arange(3))", "torch.tensor_split(r(7, 2), 3)", "torch.tensor_split(r(7, 2), (2, 5))", "torch.select_scatter(r(3, 4), r(4), 0, 1)", "torch.slice_scatter(r(3, 4), r(3, 2), 1, 1, 3)", "torch.addr(r(3, 4), r(3), r(4), beta=0.5, alpha=2)", "torch.tensordot(r(2, 3, 4), r(3, 4, 5), dims=2)", "torch.tensordot(r(2, 3, 4), r(4, 3, 5), dims=([1, 2], [1, 0]))", "torch.block_diag(r(2, 2), r(3), r(1, 2))",
    "r(2, 3).resize_(3, 2)", "r(2, 3).new_tensor([1, 2])", "torch.exp_(r(3))", "torch.vdot(r(3), r(3))", "torch.fill(r(3), 2)", "torch.linalg.qr(r(5, 3))[0].abs()", "torch.linalg.qr(r(3, 5))[1].abs()")
# --- odd layouts into every family
for f in ("torch.softmax({}, 1)", "torch.cumsum({}, 0)", "torch.sum({}, 1)", "torch.max({}, 0)", "F.layer_norm({}, ({n},))", "torch.sort({}, 1)", "torch.var({}, 0)", "torch.matmul({}, {}.t())", "F.gelu({})", "torch.norm({}, dim=1)", "torch.argmin({}, 1)", "torch.logsumexp({}, 0)", "torch.cat([{}, {}], 1)", "torch.flip({}, [0])", "torch.tril({})", "torch.roll({}, 2, 1)", "F.normalize({})", "{}.reshape(-1)", "{}[{} > 0]", "torch.prod({}, 1)", "torch.std({})", "torch.median({}, 1)", "{}.half().sum(0)", "{}.repeat(2, 1)"):
    for x, n in (("X.t()", 6), ("X[:, ::2]", 5), ("X[1:, 3:]", 7), ("X[::2].t()", 3), ("X[0].expand(4, 10)", 10)):
        add("(lambda X: " + f.replace("{n}", str(n)).replace("{}", x) + ")(r(6, 10))")
for f in ("F.conv2d({}, r(4, 3, 3, 3))", "F.max_pool2d({}, 2)", "F.avg_pool2d({}, 3, 1, 1)", "F.batch_norm({}, None, None, training=True)", "F.group_norm({}, 3)", "F.interpolate({}, scale_factor=2)", "F.adaptive_avg_pool2d({}, 2)", "F.pad({}, (1, 2, 0, 1), mode='replicate')", "F.unfold({}, 3)", "torch.mean({}, (2, 3))", "F.instance_norm({})", "F.conv_transpose2d({}, r(3, 4, 3, 3), stride=2)", "F.local_response_norm({}, 3)", "F.pixel_unshuffle({}[:, :, :8, :8], 2)"):
    for x in ("X.permute(0, 3, 1, 2)", "X[:, 1:9].permute(0, 3, 1, 2)", "X.permute(0, 3, 2, 1)[:, :, ::2]", "X.permute(0, 3, 1, 2).double().float()"):
        add("(lambda X: " + f.replace("{}", x) + ")(r(2, 10, 16, 3))")
# --- keywords for sizes, typed constructors, products that only multiply, scans by rows
add("torch.zeros(size=(2, 3))", "torch.rand(size=(2, 3))", "torch.flip(r(3, 4), dims=(0,))", "r(2, 3).permute(dims=(1, 0))", "torch.LongTensor([1, 2, 3])",
    "torch.Tensor(r(3))", "torch.einsum('i,j->ij', torch.arange(3), r(4))", "torch.cumprod(p(9, 40), 1)", "torch.cumprod(p(3, 5).double(), 1)",
    "torch.combinations(r(5), 3)", "torch.combinations(torch.arange(4), with_replacement=True)", "F.max_unpool2d(*F.max_pool2d(r(2, 3, 6, 8), 2, return_indices=True), 2)",
    "F.linear(r(1, 300), r(70, 300))", "F.linear(r(2, 37), r(5, 37), r(5))", "F.linear(r(6, 1000), r(9, 1000))", "r(3, 64) @ r(40, 64).t()")
# --- convolutions with little input and large kernels, wide dilation, few channels
add("F.conv_transpose3d(r(2, 4, 3, 2, 3), r(4, 5, 3, 5, 7))", "F.conv_transpose2d(r(1, 6, 4, 5), r(6, 3, 5, 3), stride=(2, 3), padding=(1, 0), output_padding=(1, 2))",
    "F.conv_transpose2d(r(2, 8, 3, 3), r(8, 2, 3, 5), groups=4, dilation=2)", "F.conv2d(r(2, 8, 17, 16), r(9, 8, 5, 9), padding=(2, 4), dilation=(2, 3))",
    "F.conv3d(r(2, 3, 9, 8, 9), r(7, 3, 3, 5, 7), padding=1)", "F.conv3d(r(1, 3, 6, 5, 4), r(17, 3, 3, 3, 1))", "F.conv2d(r(2, 6, 33, 35), r(6, 1, 3, 3), groups=6)",
    "F.conv2d(r(1, 2, 50, 3), r(3, 2, 2, 3), stride=(3, 1))", "F.conv1d(r(2, 5, 100), r(11, 5, 9), stride=4, dilation=3)",
    "F.conv2d(r(2, 12, 1, 1), r(5, 12, 3, 3), r(5), padding=1)", "F.conv2d(r(2, 12, 2, 3), r(5, 12, 3, 3), padding=1, stride=2)", "F.conv2d(r(2, 12, 5, 4).double(), r(6, 6, 3, 3).double(), groups=2, padding=(3, 1), dilation=2)",
    "F.conv3d(r(2, 6, 2, 1, 3), r(4, 6, 3, 3, 3), padding=1)", "F.unfold(r(2, 6, 4, 5), (3, 2), padding=1)", "F.unfold(r(1, 7, 5, 5).double(), 3, dilation=2, padding=2, stride=2)", "F.conv1d(r(2, 9, 3), r(5, 9, 5), padding=2)",
    "torch.zeros(3, dtype=torch.int64).masked_fill(torch.tensor([True, False, True]), 2.7)", "(lambda x: (x.__setitem__(1, 7.9), x)[1])(torch.zeros(3, dtype=torch.int32))", "(lambda x: (x.__setitem__(x == 0, 0.5), x)[1])(torch.zeros(3, dtype=torch.bool))", "torch.full((2,), -3.7, dtype=torch.int8)",
    "F.gelu(torch.linspace(-9, 9, 400))", "F.elu(torch.linspace(-9, 9, 400), 0.7)", "torch.linspace(0, 4, 300) ** 2.5", "torch.linspace(-3, 4, 300) ** 3.0", "torch.rand(300) ** (torch.rand(300) * 90 - 45)", "r(37, 19).t().contiguous()", "r(20, 9, 33).permute(2, 1, 0).contiguous()", "r(20, 9, 33).half().permute(2, 0, 1).contiguous()", "torch.sum(r(7, 1000), dim=1)", "torch.mean(r(3, 70, 5).half(), dim=(0, 1))", "torch.prod(r(3, 130) + 1.5, dim=1)")
# --- small linear systems, digamma, functions that are methods too
for m in ("(r(4, 4) + 4 * torch.eye(4))", "(r(3, 5, 5).double() + 5 * torch.eye(5).double())"):
    add(*[f.format(m) for f in ("torch.linalg.inv({})", "torch.inverse({})", "torch.linalg.det({})", "torch.det({})", "torch.slogdet({})", "torch.logdet({})", "torch.linalg.matrix_power({}, 3)", "torch.linalg.matrix_power({}, -2)", "torch.linalg.pinv({})", "{}.inverse()")])
add("torch.linalg.solve(r(4, 4) + 4 * torch.eye(4), r(4, 3))", "torch.linalg.solve(r(4, 4) + 4 * torch.eye(4), r(4))", "torch.linalg.solve(r(2, 4, 4) + 4 * torch.eye(4), r(2, 4, 3))", "torch.linalg.lstsq(r(6, 3), r(6, 2)).solution", "torch.linalg.lstsq(r(2, 6, 3).double(), r(2, 6, 2).double()).solution",
    "torch.linalg.pinv(r(3, 6).double())", "torch.linalg.cholesky((lambda a: a @ a.mT + torch.eye(4))(r(4, 4)))", "torch.digamma(torch.linspace(0.1, 30, 200))", "torch.digamma(torch.linspace(-3.9, -0.1, 24).double())", "torch.tensor([0.0, -1.0, 1.0, float('inf')]).digamma()",
    "r(3, 7).diff()", "r(3, 7).quantile(0.3, dim=1)", "torch.trapezoid(r(3, 7), dim=0)", "torch.trapezoid(r(7), torch.arange(7.0) ** 1.5)", "torch.dist(r(5), r(5))", "r(6).tensor_split(4)[1]", "r(2, 2).kron(r(2, 3))")
add("torch.inner(r(3, 4), r(2, 4))", "torch.inner(r(4), r(2, 3, 4))", "r(4).inner(r(4))", "torch.zeros(3).copy_(2)", "torch.take_along_dim(r(3, 4), i(5, 12))", "torch.atleast_1d(torch.tensor(1.0), r(3))", "torch.atleast_2d(r(3), torch.tensor(1.0))", "torch.nn.functional.linear(r(3, 4), r(4))", "torch.nn.functional.linear(r(3, 4), r(4), r(1))", "torch.column_stack((r(3), r(3, 2)))",
    "torch.trapz(r(3, 7))", "torch.renorm(r(3, 4), 2, 0, 0.5)", "torch.cov(r(3, 7))", "torch.cov(r(7))", "torch.linalg.multi_dot([r(3, 4), r(4, 5), r(5, 2)])", "torch.diagflat(r(2, 2))", "r(4, 6).hsplit(3)[1]", "torch.vsplit(r(4, 6), [1, 3])[1]", "torch.msort(r(5, 2))", "torch.clamp_max_(r(5), 0.1)", "torch.histc(r(50), 8, -1, 1)", "torch.histc(r(50), 5)")
# --- transposed convolutions of small images
add("F.conv_transpose3d(r(2, 6, 3, 4, 5), r(6, 7, 3, 3, 3))", "F.conv_transpose3d(r(2, 6, 3, 4, 5), r(6, 7, 3, 5, 3), stride=(1, 2, 3), padding=(1, 2, 0), output_padding=(0, 1, 2))", "F.conv_transpose2d(r(1, 16, 3, 3).double(), r(16, 6, 7, 7).double(), padding=3, dilation=2)", "F.conv_transpose1d(r(2, 9, 4), r(9, 8, 11), stride=3, padding=7)",
    "F.fold(F.unfold(r(2, 6, 4, 5), (3, 2), padding=1), (4, 5), (3, 2), padding=1)", "F.fold(F.unfold(r(2, 8, 9, 9).double(), 3, stride=2, dilation=2), (9, 9), 3, stride=2, dilation=2)")
# --- einsum where nothing is summed, or only later
add("torch.einsum('bchn,bhc->bchn', r(2, 3, 4, 5), r(2, 4, 3))", "torch.einsum('blhn,bshn,bhls,bshp->blhp', r(2, 3, 4, 5), r(2, 6, 4, 5), r(2, 4, 3, 6), r(2, 6, 4, 7))", "torch.einsum('i,j->ji', r(4), r(5))", "torch.einsum('bi,bi->bi', r(3, 4), r(3, 4).half())", "torch.einsum('bln,bl,blp->bpn', r(2, 3, 4), r(2, 3), r(2, 3, 5))", "torch.einsum('...i,...i->...i', r(2, 3, 4), r(3, 4))")
# --- modules of convolutions: padding modes and sizes asked for
for n in (1, 2, 3):
    for mode in ("zeros", "reflect", "replicate", "circular"):
        add(f"filled(torch.nn.Conv{n}d(3, 4, 3, padding=1, padding_mode='{mode}'))(r(2, 3{', 6' * n}))",
            f"filled(torch.nn.Conv{n}d(4, 4, 3, padding='same', dilation=2, groups=2, bias=False, padding_mode='{mode}'))(r(2, 4{', 7' * n}))")
    add(f"filled(torch.nn.ConvTranspose{n}d(4, 6, 3, stride=2, padding=1, groups=2))(r(2, 4{', 5' * n}), output_size=({', '.join(['10'] * n)},))",
        f"filled(torch.nn.ConvTranspose{n}d(4, 2, 2, stride=2, dilation=2, output_padding=1))(r(1, 4{', 4' * n}))")
# --- every loss module, built with each of its reductions
for how in ("mean", "sum", "none"):
    for name in ("L1Loss()", "MSELoss()", "SmoothL1Loss(beta=0.5)", "HuberLoss(delta=0.5)", "KLDivLoss()", "PoissonNLLLoss()", "SoftMarginLoss()",
                 "BCEWithLogitsLoss()", "HingeEmbeddingLoss(margin=0.5)"):
        made = name.replace(")", f"{', ' if name[-2] != '(' else ''}reduction='{how}')")
        add(f"torch.nn.{made}(r(5, 6), torch.sign(r(5, 6)))")
    add(f"torch.nn.BCELoss(reduction='{how}')(p(5, 6), p(5, 6))", f"torch.nn.GaussianNLLLoss(reduction='{how}')(r(5, 6), r(5, 6), p(5, 6))",
        f"torch.nn.GaussianNLLLoss(full=True, reduction='{how}')(r(5, 6), r(5, 6), p(5, 1))",
        f"torch.nn.NLLLoss(reduction='{how}')(r(5, 6), i(6, 5))", f"torch.nn.CrossEntropyLoss(reduction='{how}')(r(5, 6), i(6, 5))",
        f"torch.nn.MultiMarginLoss(reduction='{how}')(r(5, 6), i(6, 5))",
        f"torch.nn.CosineEmbeddingLoss(margin=0.2, reduction='{how}')(r(5, 6), r(5, 6), torch.sign(r(5)))",
        f"torch.nn.MarginRankingLoss(margin=0.2, reduction='{how}')(r(5), r(5), torch.sign(r(5)))",
        f"torch.nn.TripletMarginLoss(swap=True, reduction='{how}')(r(5, 6), r(5, 6), r(5, 6))",
        f"torch.nn.TripletMarginWithDistanceLoss(swap=True, reduction='{how}')(r(5, 6), r(5, 6), r(5, 6))",
        f"torch.nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().sum(-1), margin=2.0, reduction='{how}')(r(5, 6), r(5, 6), r(5, 6))")
add("torch.nn.HuberLoss('sum', 0.3)(r(5, 6), r(5, 6))", "torch.nn.HuberLoss()(r(5, 6), r(5, 6))", "torch.nn.GaussianNLLLoss()(r(5, 6), r(5, 6), p(5))", "torch.nn.GaussianNLLLoss()(r(2, 5, 6), r(2, 5, 6), p(2, 1, 6))")

# --- what told where a program runs: values, dtypes and strides that are exact
add("F.softshrink(torch.tensor([-0.5, 0.25, -0.0, 2.0]))", "torch.arange(5).clamp(3, 1)", "torch.tensor([0.5, 2.5]).clamp(3, 1)",
    "r(2, 3, 4).transpose(0, 1).masked_fill(r(3, 2, 4) > 0, 0).stride()", "torch.nonzero(r(4, 5) > 0).stride()", "torch.tensor(torch.finfo(torch.float8_e4m3fn).max)",
    "torch.tensor(len(list(torch.nn.Sequential(*[torch.nn.ReLU()] * 3).named_modules(remove_duplicate=False))))")
# --- the ends of what is accepted: nothing, one, exactly as much, dimensions from the end
add(
    "F.scaled_dot_product_attention(r(1, 4, 2, 3), r(1, 2, 2, 3), r(1, 2, 2, 3), enable_gqa=True)", "F.scaled_dot_product_attention(r(1, 4, 2, 3), r(1, 4, 2, 3), r(1, 4, 2, 3), enable_gqa=True)",
    "F.scaled_dot_product_attention(r(1, 4, 2, 3), r(1, 1, 2, 3), r(1, 1, 2, 3), enable_gqa=True)", "F.scaled_dot_product_attention(r(2, 4), torch.zeros(0, 4), torch.zeros(0, 4))",
    "F.scaled_dot_product_attention(torch.zeros(0, 4), r(2, 4), r(2, 4))", "F.conv1d(r(1, 4, 8), r(2, 2, 3), groups=2)", "F.conv1d(r(1, 4, 8), r(4, 2, 3), groups=2)", "F.conv1d(torch.zeros(0, 4, 8), r(2, 4, 3))",
    "F.conv_transpose1d(r(1, 4, 8), r(4, 2, 3), groups=2)", "F.conv_transpose1d(r(1, 4, 8), r(4, 1, 3), groups=4)", "F.conv_transpose1d(torch.zeros(0, 4, 8), r(4, 2, 3))", "torch.zeros(3).scatter(0, torch.tensor(0), torch.zeros(1))",
    "torch.zeros(3).scatter(0, torch.tensor(1), torch.tensor(2.0))", "torch.zeros(3).scatter(0, torch.tensor([1]), torch.tensor(2.0))", "torch.zeros(3).scatter(0, torch.zeros(0, dtype=torch.long), torch.zeros(0))",
    "torch.zeros(3).scatter(0, torch.zeros(0, dtype=torch.long), r(3))", "torch.zeros(3, 4).scatter(1, i(4, 3, 2), r(3, 2))", "torch.zeros(3, 4).scatter(1, i(4, 3, 2), r(3, 3))",
    "torch.tensor(1.0).scatter(0, torch.tensor(0), torch.tensor(2.0))", "F.cross_entropy(r(3), torch.tensor([1]))", "F.cross_entropy(r(3), torch.tensor(1))", "F.nll_loss(r(3), torch.tensor([1]))", "F.nll_loss(r(1), torch.tensor([0]))",
    "F.nll_loss(r(3), torch.tensor(1))", "F.nll_loss(torch.zeros(0, 3), torch.zeros(0, dtype=torch.long))", "F.nll_loss(r(2, 3).half(), torch.tensor([1, 2]))", "F.cross_entropy(r(2, 3), p(2, 3), weight=p(3))",
    "F.cross_entropy(r(2, 3), torch.tensor([1, 2]), weight=p(3))", "F.one_hot(torch.tensor([0]))", "F.one_hot(torch.tensor([0]), 1)", "F.one_hot(torch.tensor(1))", "F.one_hot(torch.zeros(0, dtype=torch.long), 3)",
    "torch.cdist(torch.zeros(0, 3), r(2, 3))", "torch.cdist(r(1, 2, 3), r(4, 5, 3))", "torch.cdist(torch.zeros(2, 0), torch.zeros(3, 0))", "F.instance_norm(r(2, 3, 4), torch.zeros(3), torch.ones(3))",
    "F.instance_norm(r(2, 3, 4), weight=r(3), bias=r(3))", "F.instance_norm(r(2, 3, 4), torch.zeros(3), torch.ones(3), use_input_stats=False)", "F.batch_norm(r(4, 3), None, None, training=True)",
    "F.batch_norm(torch.zeros(0, 3), torch.zeros(3), torch.ones(3))", "F.batch_norm(torch.zeros(0, 3), torch.zeros(3), torch.ones(3), training=True)", "F.layer_norm(r(2, 3), (3,), weight=r(3), bias=r(3))",
    "F.layer_norm(r(2, 3), (3,), bias=r(3))", "F.layer_norm(r(2, 3), (2, 3), r(2, 3), r(2, 3))", "F.layer_norm(torch.zeros(0, 3), (3,))", "F.layer_norm(torch.zeros(3, 0), (0,))", "F.rms_norm(r(2, 3), (3,), weight=r(3))",
    "F.group_norm(torch.zeros(0, 4), 2)", "F.group_norm(torch.zeros(2, 0), 2)", "r(3).repeat_interleave(torch.tensor([0, 0, 0]))", "r(3).repeat_interleave(0)", "r(3).repeat_interleave(torch.tensor([2]))",
    "r(3).repeat_interleave(torch.tensor(2))", "r(3).repeat_interleave(torch.tensor([2]), dim=0)", "torch.zeros(0).repeat_interleave(2)", "torch.zeros(0).repeat_interleave(torch.zeros(0, dtype=torch.long))",
    "r(2, 3).repeat_interleave(torch.tensor([1, 2]), dim=-2)", "r(3).repeat_interleave(torch.tensor([1, 2, 1]).int())", "r(3).repeat_interleave(torch.tensor([1, 2, 1]), output_size=4)", "torch.topk(torch.tensor(1.0), 0)",
    "torch.topk(torch.tensor(1.0), 1)", "torch.topk(r(3), 0)", "torch.topk(r(3), 3)", "torch.topk(r(2, 3), 2, dim=-2)", "torch.topk(torch.zeros(0), 0)", "torch.bincount(torch.tensor([1, 2]), weights=r(2))",
    "torch.bincount(torch.tensor([1, 2]), minlength=0)", "torch.bincount(torch.tensor([1, 2]), minlength=5)", "torch.bincount(torch.zeros(0, dtype=torch.long))", "torch.bincount(torch.zeros(0, dtype=torch.long), minlength=3)",
    "torch.bincount(torch.zeros(0, dtype=torch.long), weights=torch.zeros(0))", "torch.bincount(torch.zeros(0, dtype=torch.long), weights=r(3))", "torch.empty_strided((2, 2), (1, 2)).shape", "torch.empty_strided((2, 2), (0, 0)).stride()",
    "r(4).as_strided((2,), (1,), 2)", "r(4).as_strided((0,), (1,), 9)", "r(4).as_strided((1,), (100,))", "F.interpolate(r(1, 1, 4), scale_factor=0.25)", "F.interpolate(torch.zeros(0, 1, 4), size=2)",
    "F.interpolate(torch.zeros(0, 1, 4, 4), size=2, mode='bilinear')", "F.pixel_shuffle(r(4, 2, 2), 2)", "F.pixel_shuffle(r(4, 0, 2), 2)", "F.pixel_shuffle(torch.zeros(0, 4, 2, 2), 2)", "r(3, 3)[[0, 1], [0, 1]]", "r(3)[[]]",
    "r(3)[[True, False, True]]", "r(2, 3).permute(-1, -2)", "torch.tensor(1.0).permute(())", "r(2, 3).unsqueeze(-3)", "r(2, 3).unsqueeze(2)", "torch.tensor(1.0).unsqueeze(-1)", "r(2, 3).select(-2, -2)", "r(2, 3).narrow(0, 0, 2)",
    "r(2, 3).narrow(0, 2, 0)", "r(2, 3).narrow(0, -1, 1)", "r(2, 3).narrow(-1, 1, 2)", "r(4).split([1, 3, 0])", "r(0).split([])", "r(0).split(0)", "r(2, 4).split([2, 2], dim=-1)", "r(4).chunk(9)", "r(0).chunk(3)", "r(5).chunk(3)",
    "r(0, 3).unbind()", "r(3, 0).unbind(1)", "r(4).resize_(2, 2)", "r(4).resize_(0)", "r(4).resize_(3)", "torch.meshgrid(r(2), r(3), indexing='ij')", "torch.meshgrid(torch.tensor(1.0), r(3), indexing='ij')",
    "torch.meshgrid(r(0), r(3), indexing='ij')", "torch.einsum('ij,jk->ik', r(2, 0), r(0, 3))", "torch.einsum('ij,jk->ik', r(2, 0), r(1, 3))", "torch.einsum('ij,jk->ik', r(2, 1), r(3, 3))", "torch.einsum('ij->ji', r(0, 3))",
    "torch.einsum('i,i->', r(0), r(0))", "torch.einsum('...i->...', r(2, 3))", "torch.einsum('i...->i', r(2, 3))", "torch.einsum('ij->...', r(2, 3))", "torch.tril_indices(3, 3, 2**62).shape", "torch.tril_indices(0, 3)",
    "torch.triu_indices(3, 4, -9)", "torch.triu_indices(3, 4, 9)", "F.max_pool2d(r(1, 1, 3, 3), 5, padding=2)", "F.max_pool2d(r(1, 1, 3, 3), 2, padding=1)", "F.max_pool2d(r(1, 1, 3, 3), 3, padding=1, dilation=2)",
    "F.max_pool2d(r(1, 1, 5, 5), 2, stride=2, ceil_mode=True, padding=1)", "F.avg_pool2d(r(1, 1, 5, 5), 3, 2, 1, ceil_mode=True)", "F.avg_pool2d(r(1, 1, 5, 5), 3, 2, 1, count_include_pad=False)",
    "F.avg_pool3d(r(1, 1, 5, 5, 5), 3, padding=1)", "F.max_pool2d(r(0, 1, 5, 5), 2)", "F.avg_pool2d(r(0, 1, 5, 5), 2)", "torch.searchsorted(r(0), r(3))", "torch.searchsorted(r(3), r(0))", "torch.searchsorted(r(2, 3), r(2, 0))",
    "torch.searchsorted(i(3, 3), r(3))", "F.pad(r(1, 3, 4), (3, 3), mode='reflect')", "F.pad(r(1, 3, 4), (-1, 3), mode='reflect')", "F.pad(r(1, 3, 4), (4, 4), mode='circular')", "F.pad(r(1, 3, 4), (9, 4), mode='replicate')",
    "F.pad(r(3, 4), (1, 1), mode='reflect')", "F.pad(r(1, 3, 4), (1, 1, 1, 1), mode='reflect')", "F.pad(r(3), (-1, -2))", "F.pad(r(3), (-2, -1), value=3)", "F.pad(r(3), ())", "torch.unique(r(0))", "torch.unique(torch.tensor(3.0))",
    "torch.Tensor([])", "torch.Tensor(2, 0).shape", "torch.arange(3, 3)", "torch.arange(3, 0, -1)", "torch.arange(0.0, 1.0, 0.3)", "r(2, 0).matmul(r(0, 3))", "r(0, 2).matmul(r(2, 3))", "torch.bmm(r(0, 2, 3), r(0, 3, 4))",
    "torch.bmm(r(2, 2, 0), r(2, 0, 4))", "torch.mv(r(2, 0), r(0))", "torch.dot(r(0), r(0))", "r(2, 0, 3) @ r(3, 4)", "r(2, 1, 2, 3) @ r(3, 3, 4)", "r(2, 1, 2, 3) @ r(0, 3, 4)", "F.unfold(r(0, 2, 4, 4), 2)", "F.unfold(r(1, 2, 4), 2)",
    "F.unfold(r(2, 4, 4), 2)", "F.fold(r(1, 8, 9), (4, 4), 2)", "F.fold(r(8, 9), (4, 4), 2)", "F.fold(r(0, 8, 9), (4, 4), 2)", "F.grid_sample(r(1, 1, 3, 3), r(1, 2, 2, 2), align_corners=False)",
    "F.grid_sample(r(1, 1, 3, 3), r(1, 0, 2, 2), align_corners=False)", "F.grid_sample(r(1, 0, 3, 3), r(1, 2, 2, 2), align_corners=False)", "F.grid_sample(r(0, 1, 3, 3), r(0, 2, 2, 2), align_corners=False)",
    "r(3, 3)[torch.zeros(0, dtype=torch.long)]", "r(0, 3)[torch.zeros(0, dtype=torch.long)]", "r(3, 0)[torch.tensor([1])]", "r(4, 3).index_add(0, torch.tensor(1), r(1, 3))", "r(4, 3).index_add(0, torch.tensor([1]).int(), r(1, 3))",
    "r(4, 3).index_add(0, torch.zeros(0, dtype=torch.long), r(0, 3))", "r(4, 3).index_add(-1, torch.tensor([1]), r(4, 1), alpha=2)", "r(4, 3).index_copy(0, torch.tensor(1), r(1, 3))",
    "r(4, 3).index_copy(0, torch.zeros(0, dtype=torch.long), r(0, 3))", "r(4, 3).index_copy(-1, torch.tensor([1]), r(4, 1))", "r(4, 3).index_fill(0, torch.tensor([-1]), 1.0)", "r(4, 3).index_fill(0, torch.tensor([1]), torch.tensor(2.0))",
    "torch.rot90(r(2, 3), 1, (0, 1))", "torch.rot90(r(2, 3), -1, (-1, 0))", "torch.rot90(r(2, 3, 2), 1, (-1, -3))", "F.max_unpool2d(r(1, 1, 2, 2), i(3, 1, 1, 2, 2), 2)",
    "F.max_unpool2d(r(1, 1, 2, 2), i(3, 1, 1, 2, 2), 2, output_size=(5, 5))", "F.max_unpool1d(r(1, 1, 2), i(3, 1, 1, 2), 2)", "F.max_unpool1d(r(1, 2), i(3, 1, 2), 2)", "F.max_unpool3d(r(1, 1, 2, 2, 2), i(3, 1, 1, 2, 2, 2), 2)",
    "torch.histc(r(5), bins=4, min=0, max=0)", "torch.histc(r(5), bins=4, min=1, max=1)", "torch.histc(torch.tensor([1.0, float('nan')]), bins=4, min=0, max=2)", "torch.histc(r(0), bins=4)", "r(3).exponential_(float('inf'))",
    "r(4).index_select(0, torch.tensor([1]).int())", "r(4).index_select(0, torch.tensor(1))", "r(2, 4).index_select(1, torch.zeros(0, dtype=torch.long))", "torch.tensor(1.0).index_select(0, torch.tensor([0]))",
    "F.embedding(torch.tensor([1]), r(4, 2), padding_idx=-4)", "F.embedding(torch.tensor([1]), r(4, 2), padding_idx=3)", "F.embedding(torch.tensor([1]), r(4, 2), padding_idx=-1)", "F.embedding(torch.tensor([1]).int(), r(4, 2))",
    "F.embedding(torch.tensor(1), r(4, 2))", "F.embedding(torch.zeros(0, dtype=torch.long), r(4, 2))", "F.embedding(torch.zeros(0, dtype=torch.long), r(0, 2))", "r(3).sort(stable=True)",
    "torch.sort(r(3), stable=True, dim=0, descending=True)", "torch.argsort(r(3), stable=True)", "torch.sort(torch.tensor(1.0), 0)", "torch.full((2,), True)", "torch.full((2,), torch.tensor(3.0))", "torch.full((2,), 1.5, dtype=torch.long)",
    "torch.addmm(r(4), r(2, 3), r(3, 4))", "torch.addmm(r(2, 1), r(2, 3), r(3, 4))", "torch.baddbmm(r(2, 4), r(2, 2, 3), r(2, 3, 4))", "torch.baddbmm(r(4), r(2, 2, 3), r(2, 3, 4))", "torch.addbmm(r(2, 4), r(2, 2, 3), r(2, 3, 4))",
    "torch.addmv(r(2), r(2, 3), r(3))", "torch.addr(r(2, 3), r(2), r(3))", "torch.inner(r(2, 3), r(4, 3))", "torch.ger(r(2), r(3))", "torch.kron(r(2), r(3))", "torch.cross(r(2, 3), r(2, 3))", "torch.tensordot(r(2, 3), r(3, 4), dims=1)",
    "torch.tensordot(r(2, 3), r(3, 4), dims=([1], [0]))", "F.linear(r(2, 3), r(4, 3), r(4))", "F.linear(r(2, 3), r(4, 3), r(1))", "F.linear(r(2, 3), r(4, 3), r(2, 4))", "F.linear(r(2, 3), r(4, 3), r(1, 4))",
    "F.linear(r(2, 2, 3), r(4, 3), r(1))", "F.linear(r(3), r(4, 3), r(4))", "F.linear(r(2, 3), r(3))", "F.conv2d(r(3, 8, 8), r(4, 3, 3, 3))", "F.conv2d(r(1, 3, 8, 8), r(3, 1, 3, 3), groups=3)",
    "F.conv2d(r(1, 3, 8, 8), r(4, 3, 9, 9), padding=1)", "F.conv_transpose2d(r(1, 3, 4, 4), r(3, 2, 3, 3), stride=2, output_padding=1)", "torch.nn.BatchNorm1d(3).eval()(r(1, 3))", "torch.nn.InstanceNorm2d(3)(r(2, 3, 4))",
    "torch.nn.InstanceNorm2d(3)(r(2, 4, 4, 4))", "torch.nn.InstanceNorm1d(3)(r(2, 3))", "torch.nn.GroupNorm(2, 4)(r(2, 4))", "torch.nn.LayerNorm((2, 3))(r(2, 3))", "F.normalize(r(2, 3), dim=-1)", "F.normalize(r(3), dim=0)",
    "F.normalize(r(2, 3), p=0)", "F.cosine_similarity(r(3), r(3), dim=0)", "F.pairwise_distance(r(2, 3), r(3))", "F.mse_loss(r(2, 3), r(2, 1))", "F.mse_loss(r(2), i(3, 2))", "F.smooth_l1_loss(r(2, 3), r(2, 3), beta=0)",
    "F.binary_cross_entropy(p(3), p(3), weight=p(1))", "F.binary_cross_entropy_with_logits(r(2, 3), p(2, 3), pos_weight=p(3))", "F.cross_entropy(r(2, 3), torch.tensor([0, -100]))", "F.cross_entropy(r(2, 3, 4), i(3, 2, 4))",
    "F.cross_entropy(r(2, 3), torch.tensor([0, 1]), label_smoothing=-0.1)", "F.cross_entropy(r(2, 3), torch.tensor([0, 1]).to(torch.uint8))", "F.nll_loss(r(2, 3, 4, 4), i(3, 2, 4, 4))", "F.kl_div(r(2, 3), p(3))",
    "F.nll_loss(r(2, 3), torch.tensor([0, 1]), ignore_index=1)", "F.hinge_embedding_loss(r(2, 3), r(3))", "F.cosine_embedding_loss(r(2, 3), r(2, 3), r(2))", "F.margin_ranking_loss(r(2), r(2), r(2))",
    "F.triplet_margin_loss(r(2, 3), r(2, 3), r(2, 3))", "F.gaussian_nll_loss(r(2), r(2), p(1))", "F.multi_margin_loss(r(2, 3), torch.tensor([0, 1]))", "torch.gather(r(2, 3), 1, i(2, 2, 3).int())", "torch.gather(r(2, 3), 0, i(2, 5, 3))",
    "torch.gather(r(2, 3), 1, i(2, 2, 0))", "torch.gather(torch.tensor(1.0), 0, torch.tensor([0, 0]))", "torch.zeros(2, 3).scatter_(1, i(2, 2, 3), 1)", "torch.zeros(2, 3).scatter_(1, i(2, 2, 3), 1.5)",
    "torch.zeros(2, 3).scatter_(1, i(2, 2, 3).int(), 1)", "torch.zeros(2, 3).scatter_reduce_(1, i(2, 2, 3), r(2, 3), 'amax')", "torch.where(r(2, 3) > 0, r(2, 3), i(3, 2, 3))", "torch.where(r(2) > 0)", "r(2, 3).masked_fill(r(3) > 0, 0)",
    "r(3).masked_fill(r(2, 3) > 0, 0)", "r(2, 3).masked_fill(r(2, 3) > 0, torch.tensor(1.0))", "i(3, 2, 3).masked_fill(r(2, 3) > 0, 0.5)", "r(2, 3).masked_select(r(3) > 0)", "r(2, 3)[r(2) > 0]", "r(2, 3)[i(2, 2).int()]",
    "torch.cat([r(2, 3), r(0)])", "torch.cat([r(2, 3), r(0)], dim=1)", "torch.cat([r(2, 3), i(3, 2, 3)])", "torch.stack([r(2, 3), r(2, 3)], dim=-3)", "r(0, 3).view(-1, 3)", "r(2, 3).expand(2, -1)", "r(2, 1).expand(2, 0)",
    "r(2, 3).expand_as(r(4, 2, 3))", "torch.broadcast_shapes((2, 1), (3,))", "r(2, 3).repeat(2, 0)", "r(2, 3).tile(2)", "r(6).unflatten(0, (2, -1))", "torch.movedim(r(2, 3), -1, 0)", "r(2, 3).permute((1, 0))", "r(2, 3).permute([1, 0])",
    "r(2, 3, 4).T.shape", "torch.roll(r(2, 3), (1, 1), (0, 1))", "r(1, 3).squeeze((0, 1))", "F.softmax(r(2, 3))", "F.softmax(r(2, 3), dim=None)", "F.softmax(torch.tensor(1.0), dim=0)", "F.log_softmax(r(2, 3))", "torch.nn.Softmax()(r(2, 3))",
    "torch.argmax(r(2, 3), keepdim=True)", "torch.argmax(r(2, 3), dim=1, keepdim=True)", "torch.argmax(r(0, 3), 1)", "torch.max(r(0, 2), 1)", "torch.amax(r(2, 0), 0)", "torch.kthvalue(r(3), 3)", "torch.quantile(r(3), 0.5)",
    "torch.mean(i(3, 3), dtype=torch.float32)", "torch.var(r(2, 3), dim=0, unbiased=False)", "torch.div(i(3, 3), 0)", "F.max_pool2d(r(1, 1, 4, 4), 3, padding=1)", "F.max_pool2d(i(3, 1, 1, 4, 4), 2)", "F.max_pool1d(r(1, 4), 2)",
    "F.adaptive_avg_pool2d(r(1, 1, 4, 4), 0)", "F.upsample(r(1, 1, 4, 4), scale_factor=2)", "torch.nn.ReflectionPad2d(3)(r(1, 1, 4, 4))", "F.dropout(r(3), 1.0)", "F.prelu(r(2, 3), r(3))", "F.prelu(r(2, 3), torch.tensor(0.5))",
    "F.sigmoid(i(3, 3))", "F.relu6(i(3, 3))", "F.scaled_dot_product_attention(r(2, 3, 4), r(2, 5, 4), r(2, 5, 4), attn_mask=r(3, 5))", "F.scaled_dot_product_attention(r(2, 3, 4), r(2, 5, 4), r(2, 5, 4), attn_mask=r(5))",
    "F.scaled_dot_product_attention(r(2, 3, 4), r(1, 5, 4), r(1, 5, 4))", "torch.linspace(0, 1, 0)", "torch.take(r(2, 3), torch.tensor([-1]))", "torch.take_along_dim(r(2, 3), i(2, 2, 1), 1)", "r(2, 3).index_put((torch.tensor([0]),), r(3))",
    "torch.isin(r(3), r(2, 2))", "torch.equal(r(3), r(2))", "(r(3) > 0).sum(dtype=torch.bool)", "r(3).unfold(0, 0, 1)", "r(3).unfold(0, 3, 1)", "r(4).tensor_split([2, 9])", "torch.hsplit(r(2, 4), 2)", "torch.hypot(r(3), i(3, 3))",
    "r(3, 3)[[[0, 1], [1, 2]]]", "r(3, 3)[[[0, 1]]]", "r(3, 3)[[[0, 1], [1, 2]], [0, 1]]", "r(3, 3)[[torch.tensor(0), torch.tensor(1)]]", "r(3, 3)[[torch.tensor([0, 1])]]", "r(3, 3)[[0, slice(None)]]", "r(3, 3)[[None, 0]]",
    "r(3, 3)[[(0, 1), (1, 2)]]", "r(3, 3)[[[True, False, True]]]", "(lambda x: (x.__setitem__([[0, 1], [1, 2]], 9.0), x)[1])(r(3, 3))", "r(3, 3, 3)[[[0, 1], [1, 2]]]", "r(3, 3)[([0, 1], [1, 2])]", "r(3, 3)[[[[0, 1]]]]", "r(3, 3)[[0, 1]]",
    "r(3, 3)[[0] * 40]", "r(3, 3)[[[0]] * 2]", "r(3)[[torch.tensor(1)]]", "torch.max(r(2, 3))", "torch.min(r(2, 3))", "r(2, 3).max()", "r(2, 3).max(1, keepdim=True)", "r(2, 3).prod(1)", "r(2, 3).prod()",
    "torch.argmin(r(2, 3), keepdim=True)", 'F.interpolate(r(1, 2, 4, 4), scale_factor=2, mode="bilinear", align_corners=False)', "torch.lerp(r(2), r(2), 0.5)", "i(3, 3) // 2", "r(3) // 0", "r(3) % 0", "r(3).half().lerp(r(3).half(), 0.5)",
    "F.hinge_embedding_loss(r(5), torch.tensor([1, -1, 1, 0, -1]))",
)
add(
    "F.adaptive_avg_pool2d(r(1, 0, 4, 4), 2)",
)
