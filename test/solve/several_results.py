# Several results in a dictionary, statistics of rows, an index of the largest element.
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        joint = torch.einsum("bi,bj->bij", x, y)
        return {"score": joint.logsumexp(dim=2), "best": x.argmax(dim=1), "spread": [x.std(dim=1), y.norm(dim=1)],
                "penalty": 0.0}


def get_inputs():
    return [torch.randn(6, 24), torch.randn(6, 17)]


def get_init_inputs():
    return []
