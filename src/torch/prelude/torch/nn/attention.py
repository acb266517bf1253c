# torch.nn.attention: backend choices are accepted; there is one way to compute attention here.


class SDPBackend(enum.Enum):
    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __int__(self):
        return self.value


class sdpa_kernel:
    def __init__(self, backends=None, set_priority=False):
        pass

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return None
