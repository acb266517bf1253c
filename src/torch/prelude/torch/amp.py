# torch.amp and torch.cuda.amp: settings of mixed precision. torch.autocast does the casting.


class autocast(torch.autocast):
    def __init__(self, device_type="cuda", dtype=None, enabled=True, cache_enabled=None):
        # torch.cuda.amp.autocast takes `enabled` first
        super().__init__("cuda", dtype, device_type if isinstance(device_type, bool) else enabled)


def custom_fwd(fwd=None, device_type=None, cast_inputs=None):
    return (lambda f: f) if fwd is None else fwd


def custom_bwd(bwd=None, device_type=None):
    return (lambda f: f) if bwd is None else bwd


class GradScaler:
    def __init__(self, *args, **kwargs):
        raise NotImplementedError("torch.amp.GradScaler")


def is_autocast_available(device_type):
    return False
