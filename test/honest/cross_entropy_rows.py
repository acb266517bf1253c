# task: cross_entropy
# style: log-sum-exp minus the logit of the label, label as a scalar
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def ce_kernel(logits_ptr, labels_ptr, loss_ptr, stride, n_classes, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    label = tl.load(labels_ptr + row)
    c = tl.arange(0, BLOCK)
    x = tl.load(logits_ptr + row * stride + c, mask=c < n_classes, other=-float("inf")).to(tl.float32)
    m = tl.max(x, 0)
    lse = m + tl.log(tl.sum(tl.exp(x - m), 0))
    target = tl.load(logits_ptr + row * stride + label).to(tl.float32)
    tl.store(loss_ptr + row, lse - target)


class ModelNew(nn.Module):
    def forward(self, logits, labels):
        rows, n = logits.shape
        loss = torch.empty(rows, device=logits.device, dtype=logits.dtype)
        ce_kernel[(rows,)](logits, labels, loss, logits.stride(0), n, BLOCK=triton.next_power_of_2(n))
        return loss
