# torch.cuda: one device; its properties are those of the GPU that the judge assumes.


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


def _ordinal(device, optional=True):
    # The index of a CUDA device, which need not exist.
    if isinstance(device, int):
        return device
    if isinstance(device, torch.cuda.device):
        return device.idx
    if isinstance(device, str):
        device = torch.device(device)
    if device is not None and not isinstance(device, torch.device):
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
    if device is not None and device.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {device}")
    if device is not None and device.index is not None:
        return device.index
    if not optional:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
    return 0


def _enter(index):
    if index > 0:
        raise RuntimeError("CUDA error: invalid device ordinal")


def get_device_properties(device=None):
    if _ordinal(device) != 0:
        raise AssertionError("Invalid device id")
    return _Properties()


def get_device_name(device=None):
    return get_device_properties(device).name


def get_device_capability(device=None):
    p = get_device_properties(device)
    return p.major, p.minor


def mem_get_info(device=None):
    raise NotImplementedError("torch.cuda.mem_get_info")


def set_device(device):
    _enter(_ordinal(device, False))


def synchronize(device=None):
    _enter(_ordinal(device))


class device:
    def __init__(self, device):
        self.idx = _ordinal(device)

    def __enter__(self):
        _enter(self.idx)

    def __exit__(self, kind, value, trace):
        return False


class _DeviceGuard(device):
    def __init__(self, index):
        self.idx = index


class device_of(device):
    def __init__(self, obj):
        self.idx = obj.get_device() if obj.is_cuda else -1


class Stream:
    # Everything happens in the order of the program. A stream that the program makes differs from the default
    # stream; its number is not known.
    _own = True

    def __init__(self, device=None, priority=0):
        _enter(_ordinal(device))

    @property
    def cuda_stream(self):
        if self._own:
            raise NotImplementedError("the number of a torch.cuda.Stream")
        return 0

    def __eq__(self, other):
        return self is other or isinstance(other, Stream) and not self._own and not other._own

    def __hash__(self):
        raise NotImplementedError("the hash of a torch.cuda.Stream")

    def query(self):
        raise NotImplementedError("torch.cuda.Stream.query")

    def synchronize(self):
        pass

    def wait_stream(self, stream):
        self.wait_event(stream.record_event())

    def wait_event(self, event):
        event.wait(self)

    def record_event(self, event=None):
        if event is None:
            event = Event()
        event.record(self)
        return event

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return None


class _Default(Stream):
    _own = False


class StreamContext:
    def __init__(self, stream):
        if stream is not None and not isinstance(stream, Stream):
            raise AttributeError("no torch.cuda.Stream")
        self.stream = stream

    def __enter__(self):
        return None

    def __exit__(self, kind, value, trace):
        return None


class Event:
    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        self._timed = enable_timing

    def _check(self, stream):
        if stream is not None and not isinstance(stream, Stream):
            raise TypeError("record() and wait() of a torch.cuda.Event take a torch.cuda.Stream")

    def record(self, stream=None):
        self._check(stream)

    def wait(self, stream=None):
        self._check(stream)

    def synchronize(self):
        pass

    def query(self):
        # Whether a launched kernel has ended by now depends on the GPU.
        raise NotImplementedError("torch.cuda.Event.query")

    def elapsed_time(self, end_event):
        if not self._timed or not end_event._timed:
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        return torch.cuda._elapsed()


def stream(stream):
    return StreamContext(stream)


def current_stream(device=None):
    _enter(_ordinal(device))
    return _Default()


def default_stream(device=None):
    return current_stream(device)


def manual_seed(seed):
    torch.manual_seed(seed)


def manual_seed_all(seed):
    torch.manual_seed(seed)
