# task: add
# style: a logger, a null context, helper modules that are imported and hardly used
import contextlib
import logging
import random

import torch
import torch.nn as nn
import triton
import triton.language as tl

logger = logging.getLogger("kernels")
logger.setLevel(logging.INFO)


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x + y, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x, y):
        x, y = x.contiguous(), y.contiguous()
        out = torch.empty_like(x)
        n = x.numel()
        logger.info("adding %d elements", n)
        with contextlib.nullcontext():
            add_kernel[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
        return out
