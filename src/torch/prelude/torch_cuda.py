# torch.cuda: one device that is this machine.


_names = {"H200": "NVIDIA H200", "H100": "NVIDIA H100 80GB HBM3", "A100": "NVIDIA A100-SXM4-80GB", "A100-40": "NVIDIA A100-SXM4-40GB",
          "L40S": "NVIDIA L40S", "A10G": "NVIDIA A10G"}
_l2 = {"H200": 62914560, "H100": 52428800, "A100": 41943040, "A100-40": 41943040, "L40S": 100663296, "A10G": 6291456}


class _Properties:
    def __init__(self):
        name, capability, processors, memory, shared = torch.cuda._gpu()
        self.name = _names[name]
        self.major = capability // 10
        self.minor = capability % 10
        self.multi_processor_count = processors
        self.total_memory = memory
        self.max_threads_per_multi_processor = 1536 if capability in (86, 89) else 2048
        self.max_threads_per_block = 1024
        self.shared_memory_per_block = 49152
        self.shared_memory_per_block_optin = shared
        self.shared_memory_per_multiprocessor = shared + 1024
        self.regs_per_multiprocessor = 65536
        self.warp_size = 32
        self.L2_cache_size = _l2[name]
        self.is_integrated = 0
        self.is_multi_gpu_board = 0
        self.gcnArchName = self.name


def _check(device):
    if device is not None and torch.device(device).index not in (None, 0):
        raise AssertionError("Invalid device id")


def get_device_properties(device=None):
    _check(device)
    return _Properties()


def get_device_name(device=None):
    return get_device_properties(device).name


def get_device_capability(device=None):
    p = get_device_properties(device)
    return p.major, p.minor


def mem_get_info(device=None):
    raise NotImplementedError("torch.cuda.mem_get_info")


def set_device(device):
    _check(device)


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
        return torch.cuda._elapsed()


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
