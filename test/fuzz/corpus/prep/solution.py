import triton


@triton.jit
def kernel(p):
    pass


def call(args):
    a, = args
    args.clear()
    return a,


class DeepNew(nn.Module):
    def __init__(self):
        super(DeepNew, self).__init__()

    def forward(self, input_0):
        return call([input_0])[0]
