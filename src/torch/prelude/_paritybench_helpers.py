# _paritybench_helpers: the module that scraped test files of pytorch-jit-paritybench import.


class _mock_config:
    def __init__(self, **kwargs):
        for name, value in kwargs.items():
            setattr(self, name, value)

    def __getattr__(self, name):
        raise AttributeError(f"'_mock_config' object has no attribute '{name}'")

    def get(self, name, default=None):
        return getattr(self, name, default)


class _mock_layer(torch.nn.Module):
    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, *args):
        return args[0] if len(args) == 1 else args


def _paritybench_base():
    pass


def patch_functional():
    pass


_fails_compile = ()
