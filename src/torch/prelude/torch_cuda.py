# torch.cuda: one device that is this machine.


class _Properties:
    name = "NVIDIA H200"
    major = 9
    minor = 0
    multi_processor_count = 132
    total_memory = 150754820096
    max_threads_per_multi_processor = 2048
    shared_memory_per_block = 49152
    shared_memory_per_block_optin = 232448
    shared_memory_per_multiprocessor = 233472
    regs_per_multiprocessor = 65536
    warp_size = 32
    L2_cache_size = 62914560


def get_device_properties(device=None):
    return _Properties()


class device:
    def __init__(self, device=None):
        self.idx = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return None


class _DeviceGuard(device):
    pass


class device_of(device):
    pass


class Stream:
    cuda_stream = 0

    def __init__(self, device=None, priority=0):
        pass

    def synchronize(self):
        pass

    def wait_stream(self, stream):
        pass

    def wait_event(self, event):
        pass

    def record_event(self, event=None):
        return event

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return None


class Event:
    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        pass

    def record(self, stream=None):
        pass

    def wait(self, stream=None):
        pass

    def synchronize(self):
        pass

    def query(self):
        return True

    def elapsed_time(self, end):
        return 0.0


def stream(s):
    return Stream()


def current_stream(device=None):
    return Stream()


def default_stream(device=None):
    return Stream()


def manual_seed(seed):
    torch.manual_seed(seed)


def manual_seed_all(seed):
    torch.manual_seed(seed)
