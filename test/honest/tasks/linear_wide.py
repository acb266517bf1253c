# interpreter: too large (for the comparison with Triton's own)
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    """
    Two linear layers with activations.
    """
    def __init__(self, input_size, hidden_size, hidden_size2, factor, bias=False):
        super(Model, self).__init__()
        self.linear = nn.Linear(input_size, hidden_size)
        self.linear2 = nn.Linear(hidden_size, hidden_size2, bias=bias)
        self.relu6 = nn.ReLU6()
        self.factor = factor

    def forward(self, x):
        x = self.linear(x)
        x = torch.nn.functional.elu(x)
        x = x * torch.tanh(F.softplus(x))
        x = self.linear2(x)
        x = self.relu6(x)
        x = 3.0 * x
        x = torch.clamp(x, max=self.factor)
        return x

layer_batch = 256
input_size = 768
hidden_size = 16384
hidden_size2 = 512
factor = 0.40
bias_val = False

def get_inputs():
    x = torch.rand(layer_batch, input_size)
    return [x]

def get_init_inputs():
    return [input_size, hidden_size, hidden_size2, factor, bias_val]
