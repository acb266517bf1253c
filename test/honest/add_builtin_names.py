# task: add
# style: variables and parameters that are called as builtins are
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def add_kernel(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    id = tl.program_id(0)
    offs = id * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + offs, mask=offs < n)
    b = tl.load(b_ptr + offs, mask=offs < n)
    tl.store(out_ptr + offs, a + b, mask=offs < n)


def launch(input, object, type=256):
    vars = [size for size in input.shape]
    id = 1
    for dir in vars:
        id *= dir
    output = torch.empty_like(input)
    add_kernel[(triton.cdiv(id, type),)](input, object, output, id, BLOCK=type)
    return output


class ModelNew(nn.Module):
    def forward(self, input, other):
        return launch(input, object=other)
