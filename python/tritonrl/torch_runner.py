"""A runner of launch plans with PyTorch: for candidates of the hybrid track, whose forward calls
operators of PyTorch between its kernels.

It speaks the protocol of slot_runner.c (src/verify/gpu/slot_frame.h) on descriptor 3 and writes results
to descriptor 4. No text of a candidate is executed: operators are called by name, and the judge has
checked that each name is an operator of its own engine. Kernels and operators run on one stream, so the
events around a call see both. Expected results never reach this process, and it is replaced after a
fault like any other runner.
"""
import ctypes
import json
import mmap
import os
import socket
import struct
import sys
import time

import torch

LINK, RESULTS = 3, 4
ORDER = struct.Struct("@IiIiiii")
META = struct.Struct("@128siiiiiiqq")
CODE = struct.Struct("@" + META.format[1:] + "Q")
SAMPLES = 16
INFO = "96s32siiiiqq"
ANSWER = struct.Struct(f"@Iii480s4x{INFO}i4xqQ{3 * SAMPLES}d{SAMPLES}ii{SAMPLES}ii")
ORDER_MAGIC, ANSWER_MAGIC = 0x474F5231, 0x47414E31
INFORM, LOAD, RUN, TIME, DROP = range(5)
OK, FAULT, RED_ZONE, _, _, BROKE = range(6)
OUT_OF_MEMORY, ILLEGAL_ADDRESS, LAUNCH_FAILED = 2, 700, 719
ZONE, ZONE_BYTE, ALIGN = 512, 0xA5, 512
POISONS = 0xFF, 0x7B
HEAD_START = 200000     # as in torch_worker.py
DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
          "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool}
NUMBERS = {"i1": "b", "u1": "b", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q",
           "fp32": "f", "f32": "f", "fp64": "d", "f64": "d"}
SHARED_MOST, DYNAMIC_SHARED, STATIC_SHARED, LARGE_CLUSTER = 97, 8, 1, 14
COOPERATIVE, CLUSTER, PROGRAMMATIC = 2, 4, 6


class Fault(Exception):
    """The candidate's kernels failed: (CUresult, text)."""


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_uint * 16)]


class Launch(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(Attribute)), ("n", ctypes.c_uint)]


def failure(error):
    """The CUresult of an exception of PyTorch; 0: it is none of the GPU."""
    text = str(error)
    if isinstance(error, torch.cuda.OutOfMemoryError):
        return OUT_OF_MEMORY
    if "illegal memory access" in text or "misaligned address" in text:
        return ILLEGAL_ADDRESS
    return LAUNCH_FAILED if "CUDA error" in text else 0


# --- kernels ---------------------------------------------------------------------------------------

class Driver:
    """CUDA's driver. PyTorch has made the context."""

    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")
        self.shared_most = ctypes.c_int()
        self.call("a query", self.lib.cuDeviceGetAttribute, ctypes.byref(self.shared_most), SHARED_MOST, torch.cuda.current_device())
        self.clock = self.find_clock()

    def call(self, doing, function, *arguments):
        code = function(*arguments)
        if code:
            name = ctypes.c_char_p()
            self.lib.cuGetErrorName(code, ctypes.byref(name))
            raise Fault(code, f"{(name.value or b'an error').decode()} while {doing}")

    def find_clock(self):
        """A function that reads the clock of the multiprocessors in MHz; 0: not known."""
        try:
            nvml = ctypes.CDLL("libnvidia-ml.so.1")
            bus, handle, mhz = ctypes.create_string_buffer(32), ctypes.c_void_p(), ctypes.c_uint()
            self.lib.cuDeviceGetPCIBusId(bus, 32, torch.cuda.current_device())
            if nvml.nvmlInit_v2() or nvml.nvmlDeviceGetHandleByPciBusId_v2(bus, ctypes.byref(handle)):
                return lambda: 0.0
        except OSError:
            return lambda: 0.0
        return lambda: 0.0 if nvml.nvmlDeviceGetClockInfo(handle, 1, ctypes.byref(mhz)) else float(mhz.value)


class Kernel:
    def __init__(self, driver, meta, code):
        name, self.warps, self.ctas, self.shared, cooperative, programmatic, self.scratch_params, scratch, profile = META.unpack(meta)
        self.name, self.driver, self.scratch_bytes = name.rstrip(b"\0").decode(), driver, (scratch, profile)
        self.module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        self.check("loading", driver.lib.cuModuleLoadData, ctypes.byref(self.module), code)
        self.check("loading", driver.lib.cuModuleGetFunction, ctypes.byref(self.function), self.module, name.rstrip(b"\0"))
        if self.shared > 48 << 10:
            fixed = ctypes.c_int()
            self.check("loading", driver.lib.cuFuncGetAttribute, ctypes.byref(fixed), STATIC_SHARED, self.function)
            self.check("loading", driver.lib.cuFuncSetAttribute, self.function, DYNAMIC_SHARED, driver.shared_most.value - fixed.value)
        if self.ctas > 8:
            self.check("loading", driver.lib.cuFuncSetAttribute, self.function, LARGE_CLUSTER, 1)
        wanted = [(CLUSTER, (self.ctas, 1, 1))] * (self.ctas > 1) + [(COOPERATIVE, (1,))] * cooperative + [(PROGRAMMATIC, (1,))] * programmatic
        self.attributes = (Attribute * max(1, len(wanted)))()
        for at, (number, values) in zip(self.attributes, wanted):
            at.id = number
            for i, value in enumerate(values):
                at.value[i] = value
        self.n_attributes = len(wanted)

    def check(self, doing, function, *arguments):
        self.driver.call(f"{doing} kernel {self.name}", function, *arguments)

    def close(self):
        self.driver.lib.cuModuleUnload(self.module)


class Start:
    """One launch with its parameters. Pointers to storages that operators make change with each call."""

    def __init__(self, kernel, step):
        self.kernel, grid = kernel, step["grid"]
        blocks = grid[0] * grid[1] * grid[2] * kernel.ctas
        self.scratch = [torch.empty(max(n * blocks, 1), dtype=torch.uint8, device="cuda") if n else None for n in kernel.scratch_bytes]
        self.config = Launch((ctypes.c_uint * 3)(grid[0] * kernel.ctas, grid[1], grid[2]), (ctypes.c_uint * 3)(32 * kernel.warps, 1, 1),
                             kernel.shared, torch.cuda.current_stream().cuda_stream, kernel.attributes, kernel.n_attributes)
        self.values, self.moving = [], []
        for kind, *given in step["args"]:
            if kind.startswith("*"):
                self.moving.append((len(self.values), *given))
                self.values.append(ctypes.c_uint64(0))
            else:
                self.values.append(ctypes.create_string_buffer(number(kind, given[0]), 8))
        for i in range(kernel.scratch_params):
            self.values.append(ctypes.c_uint64(self.scratch[i].data_ptr() if self.scratch[i] is not None else 0))
        self.params = (ctypes.c_void_p * len(self.values))(*[ctypes.addressof(v) for v in self.values])

    def __call__(self, place):
        for slot, storage, offset in self.moving:
            self.values[slot].value = place.address(storage) + offset
        self.kernel.check("launching", self.kernel.driver.lib.cuLaunchKernelEx, ctypes.byref(self.config), self.kernel.function,
                          self.params, None)


def number(kind, text):
    """The bytes of a number parameter."""
    if kind in ("fp16", "bf16"):
        value = torch.tensor(float(text), dtype=torch.float16 if kind == "fp16" else torch.bfloat16)
        return value.view(torch.int16).numpy().tobytes()
    form = NUMBERS[kind]
    if form in "fd":
        return struct.pack(form, float(text))
    size = 8 * struct.calcsize(form)
    return struct.pack(form.upper(), int(text) % (1 << size))


# --- memory ----------------------------------------------------------------------------------------

def whole(n):
    return (n + ALIGN - 1) // ALIGN * ALIGN


def read_tensors(fd):
    """The tensors of a safetensors file, as views of its bytes."""
    size = os.lseek(fd, 0, os.SEEK_END)
    data = mmap.mmap(fd, size, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
    n, = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, entry in json.loads(data[8:8 + n]).items():
        if name == "__metadata__":
            continue
        low, high = entry["data_offsets"]
        dtype = DTYPES[entry["dtype"]]
        tensors[name] = torch.frombuffer(data, dtype=dtype, count=(high - low) // dtype.itemsize, offset=8 + n + low).view(entry["shape"]) \
            if high > low else torch.empty(entry["shape"], dtype=dtype)
    return tensors


class Place:
    """Memory for one input set: storages between red zones, and the tensors that operators made last."""

    def __init__(self, plan, number_, data, device):
        self.plan, self.device = plan, device
        self.at, n = [], ZONE * (1 + 3 * number_)
        self.first = n
        for storage in plan["storages"]:
            self.at.append(n)
            n += (whole(storage["bytes"]) if storage["from"] != "operator" else 0) + ZONE
        self.slab = torch.full((n,), ZONE_BYTE, dtype=torch.uint8, device=device)
        self.made, self.views = {}, {}
        for i, storage in enumerate(plan["storages"]):
            self.fill(i, storage, data, number_)

    def bytes(self, i):
        return self.slab[self.at[i]:self.at[i] + self.plan["storages"][i]["bytes"]]

    def fill(self, i, storage, data, number_):
        kind = storage["from"]
        if kind in ("input", "weight"):
            value = data[f"input.{number_}.{storage['name']}" if kind == "input" else f"weight.{storage['name']}"]
            if kind == "weight":
                value = value.t() if storage.get("transposed") and value.dim() == 2 else value
                value = value.to(getattr(torch, storage["dtype"]))
            value = value.contiguous()
            if value.numel() * value.element_size() != storage["bytes"]:
                raise ValueError(f"tensor '{storage['name']}' has another size in the task")
            if value.numel():
                self.bytes(i).copy_(value.reshape(-1).view(torch.uint8))
        elif kind == "bytes" and storage["bytes"]:
            self.bytes(i).copy_(torch.frombuffer(bytearray.fromhex(storage["hex"]), dtype=torch.uint8))

    def address(self, i):
        """Where a storage lies now."""
        if self.plan["storages"][i]["from"] != "operator":
            return self.slab.data_ptr() + self.at[i]
        if i not in self.made:
            raise ValueError("a storage is used before its operator made it")
        return self.made[i].untyped_storage().data_ptr()

    def view(self, v):
        """A tensor over a storage."""
        dtype = getattr(torch, v["dtype"])
        if self.plan["storages"][v["storage"]]["from"] == "operator":
            base = self.made.get(v["storage"])
            if base is None:
                raise ValueError("a storage is used before its operator made it")
            flat = torch.empty(0, dtype=dtype, device=self.device).set_(base.untyped_storage())
        else:
            key = v["storage"], dtype
            if key not in self.views:
                data = self.bytes(v["storage"])
                self.views[key] = data[:data.numel() // dtype.itemsize * dtype.itemsize].view(dtype)
            flat = self.views[key]
            if not flat.numel():
                return torch.empty(v["shape"], dtype=dtype, device=self.device)
            return flat.as_strided(v["shape"], v["stride"], flat.storage_offset() + v["offset"] // dtype.itemsize)
        return flat.as_strided(v["shape"], v["stride"], v["offset"] // dtype.itemsize)

    def reset(self, poison):
        """Before each call, not timed: memory without contents is poisoned, constants are copied again."""
        self.made.clear()
        for i, storage in enumerate(self.plan["storages"]):
            if storage["from"] in ("empty", "value"):
                self.bytes(i).fill_(poison)
            elif storage["from"] == "bytes":
                self.fill(i, storage, None, 0)

    def is_intact(self):
        """The number of the first storage whose red zone was written, counted from 1; 0: none was."""
        bad = [(self.slab[self.first - ZONE:self.first] != ZONE_BYTE).any()]
        for i, storage in enumerate(self.plan["storages"]):
            low = self.at[i] + (storage["bytes"] if storage["from"] != "operator" else 0)
            high = self.at[i + 1] if i + 1 < len(self.at) else self.slab.numel()
            bad.append((self.slab[low:high] != ZONE_BYTE).any())
        flags = torch.stack(bad).tolist()
        return max(flags.index(True), 1) if True in flags else 0


# --- steps -----------------------------------------------------------------------------------------

class Operator:
    """A call of PyTorch by name, with its arguments."""

    def __init__(self, step, device):
        self.name, self.step, self.device = step["operator"], step, device
        self.function = torch
        for word in self.name.split(".")[1:]:
            self.function = getattr(self.function, word)
        self.is_property = not callable(self.function)
        self.moves = [view["storage"] for view in step["out"]]

    def value(self, place, v):
        if isinstance(v, list):
            return [self.value(place, x) for x in v]
        if not isinstance(v, dict):
            return v
        (kind, x), = v.items()
        if kind == "view":
            return place.view(x)
        if kind == "dtype":
            return getattr(torch, x)
        if kind == "float":
            return float(x)
        if kind == "device":
            return torch.device(self.device)
        items = [self.value(place, y) for y in x]
        return tuple(items) if kind == "tuple" else items

    def __call__(self, place):
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = self.step["tf32"]
        args = [self.value(place, v) for v in self.step["args"]]
        kwargs = {key: self.value(place, v) for key, v in self.step["kwargs"].items()}
        result = self.function.__get__(args[0]) if self.is_property else self.function(*args, **kwargs)
        results = [result] if torch.is_tensor(result) else list(result)
        for tensor, view in zip(results, self.step["out"], strict=True):
            self.keep(place, tensor, view)

    def keep(self, place, tensor, view):
        """Notes a result. Kernels were recorded with the strides of the dry run, so these must agree."""
        if place.plan["storages"][view["storage"]]["from"] != "operator":
            return
        strides = [(n, s) for n, s in zip(view["shape"], view["stride"]) if n > 1]
        if list(tensor.shape) != view["shape"] or [(n, s) for n, s in zip(tensor.shape, tensor.stride()) if n > 1] != strides or \
                tensor.dtype != getattr(torch, view["dtype"]) or tensor.storage_offset() * tensor.element_size() != view["offset"]:
            raise ValueError(f"PyTorch lays the result of {self.name} out in another way")
        place.made[view["storage"]] = tensor


def fill_value(place, i, storage):
    """Fills a storage with its repeated pattern: on a GPU that is a part of the call."""
    pattern = bytes.fromhex(storage["hex"])
    data = place.bytes(i)
    if len(set(pattern)) == 1:
        data.fill_(pattern[0])
        return
    dtype = {2: torch.int16, 4: torch.int32, 8: torch.int64}[len(pattern)]
    data.view(dtype).fill_(int.from_bytes(pattern, "little", signed=True))


class Call:
    """A plan that is loaded."""

    def __init__(self, plan, kernels, data, sets, device):
        self.plan, self.kernels, self.device, self.poison = plan, kernels, device, 0
        self.places = []
        for i in range(sets):
            try:
                self.places.append(Place(plan, i, data, device))
            except torch.cuda.OutOfMemoryError:
                if not i:
                    raise
                break
        self.steps = [self.step(s) for s in plan["steps"]]
        self.checked = {}

    def step(self, s):
        if "operator" in s:
            return Operator(s, self.device)
        if "copy" in s:
            return lambda place: place.view(s["copy"][0]).copy_(place.view(s["copy"][1]))
        return Start(self.kernels[s["kernel"]], s)

    def reset(self, place):
        self.poison ^= 1
        place.reset(POISONS[self.poison])

    def start(self, place):
        for i, storage in enumerate(self.plan["storages"]):
            if storage["from"] == "value" and storage["bytes"]:
                fill_value(place, i, storage)
        for step in self.steps:
            step(place)

    def results(self, place):
        return [place.view(v).contiguous() for v in self.plan["results"]]


def synchronize(device):
    if device != "cpu":
        torch.cuda.synchronize()


class Runner:
    def __init__(self, device):
        self.device, self.call = device, None
        self.link = socket.socket(fileno=LINK)
        self.driver = None if device == "cpu" else Driver()
        self.flush = None
        if self.driver:
            size = 2 * torch.cuda.get_device_properties(0).L2_cache_size
            self.flush = torch.empty(size, dtype=torch.uint8, device=device)
            self.events = [torch.cuda.Event(enable_timing=True) for _ in range(3)]

    def read(self, n):
        parts = []
        while n:
            part = self.link.recv(min(n, 1 << 20))
            if not part:
                sys.exit(0)
            parts.append(part)
            n -= len(part)
        return b"".join(parts)

    # Each order returns fields of the answer.

    def load(self, text_n, n_kernels, sets):
        """Reads the whole order before anything can fail, so that the stream stays in step."""
        text = self.read(text_n)
        _, fds, _, _ = socket.recv_fds(self.link, 1, 1)
        codes = []
        for _ in range(n_kernels):
            head = self.read(CODE.size)
            codes.append((head[:META.size], self.read(struct.unpack_from("@Q", head, CODE.size - 8)[0])))
        try:
            self.drop()
            plan, data = json.loads(text), read_tensors(fds[0])
        finally:
            os.close(fds[0])
        kernels = [Kernel(self.driver, *code) for code in codes[:len(plan["kernels"])]]
        self.call = Call(plan, kernels, data, sets, self.device)
        return {}

    def drop(self):
        if self.call:
            for kernel in self.call.kernels:
                kernel.close()
        self.call = None
        if self.driver:
            torch.cuda.empty_cache()
        return {}

    def write(self, tensors, at):
        for t in tensors:
            if t.numel():
                data = memoryview(t.reshape(-1).view(torch.uint8).cpu().numpy())
                done = 0
                while done < len(data):
                    done += os.pwrite(RESULTS, data[done:done + (1 << 30)], at + done)
                at += len(data)
        return at

    def run(self, number_):
        place = self.call.places[number_]
        self.call.reset(place)
        self.call.start(place)
        synchronize(self.device)
        zone = place.is_intact()
        if zone:
            return {"zone": zone}
        results = [t.clone() for t in self.call.results(place)]
        self.call.checked[number_] = results
        return {"bytes": self.write(results, 0)}

    def time_one(self, place):
        """Seconds, seconds of the host's clock without the flush, clock in MHz."""
        self.call.reset(place)
        synchronize(self.device)
        begin = time.perf_counter()
        if not self.driver:
            self.call.start(place)
            took = time.perf_counter() - begin
            return took, took, 0.0
        before, start, end = self.events
        before.record()
        self.flush.zero_()
        half = self.flush.numel() // 2
        self.flush[:half].copy_(self.flush[half:])
        torch.cuda._sleep(HEAD_START)
        start.record()
        self.call.start(place)
        end.record()
        torch.cuda.synchronize()
        wall = time.perf_counter() - begin
        return start.elapsed_time(end) * 1e-3, wall - before.elapsed_time(start) * 1e-3, self.driver.clock()

    def time(self, first, trials):
        samples, places, differing, at = [], [], [], 0
        for i in range(min(trials, SAMPLES)):
            number_ = (first + i) % len(self.call.places)
            place = self.call.places[number_]
            samples.append(self.time_one(place))
            places.append(number_)
            results = self.call.results(place)
            same = all(torch.equal(a.reshape(-1).view(torch.uint8), b.reshape(-1).view(torch.uint8))
                       for a, b in zip(results, self.call.checked.get(number_, [])))
            if not same:
                differing.append(i)
                at = self.write(results, at)
        return {"samples": samples, "place": places, "differing": differing, "zone": self.call.places[0].is_intact()}

    def obey(self, what, text_n, n_kernels, sets, place, trials):
        if what == LOAD:
            return self.load(text_n, n_kernels, sets)
        if what in (DROP, INFORM):
            return self.drop()
        return self.run(place) if what == RUN else self.time(place, trials)

    def answer(self, end, code, text, found):
        samples, places, differing = found.get("samples", []), found.get("place", []), found.get("differing", [])
        size = sum(t.numel() * t.element_size() for t in self.call.checked.get(0, [])) if self.call else 0
        flat = [x for sample in samples for x in sample]

        def pad(values, n, empty):
            return list(values) + [empty] * (n - len(values))
        self.link.sendall(ANSWER.pack(
            ANSWER_MAGIC, end, code, text.encode()[:479], b"", b"", 0, 0, 0, 0, 0, 0, len(self.call.places) if self.call else 0, size, 0,
            *pad(flat, 3 * SAMPLES, 0.0), *pad(places, SAMPLES, 0), len(samples), *pad(differing, SAMPLES, 0), len(differing)))

    def serve(self):
        magic, what, text_n, n_kernels, sets, place, trials = ORDER.unpack(self.read(ORDER.size))
        if magic != ORDER_MAGIC:
            sys.exit(2)
        end, code, text, found = OK, 0, "", {}
        try:
            with torch.no_grad():
                found = self.obey(what, text_n, n_kernels, sets, place, trials)
            if found.get("zone"):
                end, text = RED_ZONE, f"a kernel wrote outside of a tensor (number {found['zone']} of the call)"
        except Fault as fault:
            end, code, text = FAULT, fault.args[0], fault.args[1]
        except Exception as error:      # an operator that fails is no verdict: its arguments are our record of it
            code = failure(error)
            end, text = (FAULT if code else BROKE), f"PyTorch: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        self.answer(end, code, text[:470], found)


def main(arguments):
    """torch_runner DEVICE"""
    runner = Runner(arguments[0])
    while True:
        runner.serve()


if __name__ == "__main__":
    main(sys.argv[1:])
