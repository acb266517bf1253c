# torch.nn.quantized: operations as modules, which compute in floating point until a model is converted.


class FloatFunctional(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.activation_post_process = torch.nn.Identity()

    def forward(self, x):
        raise RuntimeError("FloatFunctional is not intended to use the 'forward'. Please use the corresponding operation")

    def add(self, x, y):
        return torch.add(x, y)

    def add_scalar(self, x, y):
        return torch.add(x, y)

    def mul(self, x, y):
        return torch.mul(x, y)

    def mul_scalar(self, x, y):
        return torch.mul(x, y)

    def cat(self, x, dim=0):
        return torch.cat(x, dim)

    def add_relu(self, x, y):
        return torch.nn.functional.relu(torch.add(x, y))

    def matmul(self, x, y):
        return torch.matmul(x, y)


FXFloatFunctional = FloatFunctional
