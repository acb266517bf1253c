# task: matmul
# style: heuristics that know whether K is a multiple of the block
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.heuristics({"EVEN_K": lambda a: a["K"] % a["BK"] == 0})
@triton.jit
def matmul_kernel(A, B, C, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, EVEN_K: tl.constexpr):
    pm, pn = tl.program_id(0), tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    ram = tl.max_contiguous(tl.multiple_of(rm % M, BM), BM)
    rbn = rn % N
    rk = tl.arange(0, BK)
    pa = A + ram[:, None] * sa + rk[None, :]
    pb = B + rk[:, None] * sb + rbn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(K, 0, -BK):
        if EVEN_K:
            a = tl.load(pa)
            b = tl.load(pb)
        else:
            a = tl.load(pa, mask=rk[None, :] < k, other=0.0)
            b = tl.load(pb, mask=rk[:, None] < k, other=0.0)
        acc += tl.dot(a, b, out_dtype=tl.float32, input_precision="ieee")
        pa += BK
        pb += BK * sb
    mask = (rm < M)[:, None] & (rn < N)[None, :]
    tl.store(C + rm[:, None] * sc + rn[None, :], acc, mask=mask)


class ModelNew(nn.Module):
    def forward(self, A, B):
        assert A.shape[1] == B.shape[0], f"shapes {A.shape} and {B.shape} do not fit"
        M, K = A.shape
        _, N = B.shape
        C = torch.empty((M, N), device=A.device, dtype=A.dtype)
        matmul_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](A, B, C, M, N, K, A.stride(0), B.stride(0), C.stride(0), BM=32, BN=32, BK=16)
        return C
