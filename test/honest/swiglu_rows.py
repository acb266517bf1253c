# task: swiglu
# style: flattened to rows, heuristics choose the block
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["n_cols"])})
@triton.jit
def swiglu_kernel(gate_ptr, up_ptr, out_ptr, n_cols, stride, BLOCK: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    gate_ptr += pid * stride
    up_ptr += pid * stride
    out_ptr += pid * stride
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    g = tl.load(gate_ptr + cols, mask=mask, other=0).to(tl.float32)
    u = tl.load(up_ptr + cols, mask=mask, other=0)
    tl.store(out_ptr + cols, g * tl.sigmoid(g) * u, mask=mask)


class ModelNew(nn.Module):
    def forward(self, gate, up):
        shape = gate.shape
        n_cols = shape[-1]
        g, u = gate.view(-1, n_cols), up.view(-1, n_cols)
        out = torch.empty_like(g)
        swiglu_kernel[(g.shape[0],)](g, u, out, n_cols, g.stride(0))
        return out.view(*shape)
