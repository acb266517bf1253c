# task: add
# style: flat grid by a lambda over the meta-parameters
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_kernel(a_ptr, b_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    a = tl.load(a_ptr + offsets, mask=mask)
    b = tl.load(b_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, a + b, mask=mask)


def add(a: torch.Tensor, b: torch.Tensor):
    out = torch.empty_like(a)
    assert a.is_cuda and b.is_cuda and out.is_cuda
    n_elements = out.numel()
    grid = lambda meta: (triton.cdiv(n_elements, meta["BLOCK_SIZE"]),)
    add_kernel[grid](a, b, out, n_elements, BLOCK_SIZE=1024)
    return out


class ModelNew(nn.Module):
    def forward(self, a, b):
        return add(a, b)
