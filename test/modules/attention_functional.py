# The functional form of multi-head attention.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):

    def __init__(self, e, h):
        super().__init__()
        self.h = h
        self.q, self.k, self.v, self.o = [nn.Linear(e, e) for _ in range(4)]

    def forward(self, x):
        x = x.flatten(2).permute(2, 0, 1)
        x = torch.cat([x.mean(0, keepdim=True), x], 0)
        y, _ = F.multi_head_attention_forward(
            query=x[:1], key=x, value=x, embed_dim_to_check=x.shape[-1], num_heads=self.h, in_proj_weight=None,
            in_proj_bias=torch.cat([self.q.bias, self.k.bias, self.v.bias]), bias_k=None, bias_v=None, add_zero_attn=False,
            dropout_p=0.0, out_proj_weight=self.o.weight, out_proj_bias=self.o.bias, use_separate_proj_weight=True,
            training=self.training, need_weights=False, q_proj_weight=self.q.weight, k_proj_weight=self.k.weight, v_proj_weight=self.v.weight)
        return y.squeeze(0)


def get_inputs():
    return [torch.rand([2, 8, 3, 3])]


def get_init_inputs():
    return [8, 2]
