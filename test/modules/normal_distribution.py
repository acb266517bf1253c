# Densities and divergences of distributions.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Bernoulli, Categorical, Independent, kl_divergence
from torch.distributions.normal import Normal


class Model(nn.Module):

    def __init__(self):
        super().__init__()
        self.mu = nn.Linear(4, 3)
        self.log_std = nn.Parameter(torch.zeros(1, 3))

    def forward(self, x, a):
        d = Normal(self.mu(x), self.log_std.exp().expand(x.size(0), 3))
        prior = torch.distributions.Normal(0.0, 1.0)
        c = Categorical(logits=self.mu(x))
        return (d.log_prob(a).sum(-1), d.entropy(), kl_divergence(d, Normal(torch.zeros_like(d.loc), torch.ones_like(d.scale))),
                prior.cdf(a), c.probs, c.log_prob(torch.zeros(x.size(0), device=x.device)), c.entropy(),
                Independent(Bernoulli(logits=self.mu(x)), 1).log_prob((a > 0.5).float()))


def get_inputs():
    return [torch.rand([5, 4]), torch.rand([5, 3])]


def get_init_inputs():
    return []
