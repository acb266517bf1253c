"""The trusted PyTorch process of the judge: expected results at full size and baseline times.

It runs the reference of a task, never a candidate. The judge starts it and sends one JSON object a
line over a socket; each gets one line back.

{"do": "hello"}          -> device, versions, the path of the profiling library that came with PyTorch
{"do": "prepare", "task": source, "seed": n, "sets": k, "eval": bool, "precision": p, "folder": path}
    -> operations of the reference's products and paths of two safetensors files: inputs and weights, and results in fp64, in the reference's
       own precision, and with the products in tf32 that the precision (torch, tf32, ieee) allows;
       under "torch" also with all of them in tf32, for errors that KernelBench's rule does not see.
       A reference without products has no runs in tf32, which would be equal
{"do": "time", "mode": "eager" | "tf32" | "compile" | "max-autotune", "trials": n}
    -> seconds of each call of the task that was prepared last
"""
import glob
import json
import os
import socket
import struct
import sys
import tempfile
import time
import types

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

WEIGHTS_SEED = 42
# A task whose inputs and results take more bytes than this has one input set: several would take minutes.
LARGE = 64 << 20
# Cycles of the GPU, about 0.1 ms, in which Python may start the first operators of a call.
HEAD_START = 200000
NAMES = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64",
         torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL"}


def write_tensors(path, tensors):
    """A safetensors file. Bytes are written tensor by tensor, so that memory holds one copy only. Wide elements come
    first, so that every tensor is aligned to its elements."""
    tensors = dict(sorted(tensors.items(), key=lambda item: -item[1].element_size()))
    header, at = {}, 0
    for name, value in tensors.items():
        size = value.numel() * value.element_size()
        header[name] = {"dtype": NAMES[value.dtype], "shape": list(value.shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for value in tensors.values():
            out.write(memoryview(value.detach().contiguous().cpu().view(-1).view(torch.uint8).numpy()))


def flatten(value, prefix=""):
    """Pairs of path and tensor, as the judge's own engine names them."""
    if torch.is_tensor(value):
        yield prefix, value
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from flatten(item, f"{prefix}.{i}" if prefix else str(i))
    elif isinstance(value, dict):
        for key in sorted(value):
            yield from flatten(value[key], f"{prefix}.{key}" if prefix else str(key))


def numbers(value):
    """Results: tensors and numbers, in order."""
    if torch.is_tensor(value):
        return [value]
    if isinstance(value, (bool, int, float)):
        return [torch.tensor(value, dtype=torch.float64 if isinstance(value, float) else torch.int64)]
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    return [x for item in value for x in numbers(item)] if isinstance(value, (list, tuple)) else []


def moved(value, device, dtype=None):
    """A copy of inputs on a device; floats get the dtype."""
    if torch.is_tensor(value):
        wide = dtype if value.is_floating_point() else None
        return value.to(device=device, dtype=wide, copy=True)
    if isinstance(value, (list, tuple)):
        return type(value)(moved(item, device, dtype) for item in value)
    if isinstance(value, dict):
        return {key: moved(item, device, dtype) for key, item in value.items()}
    return value


class precision:
    """Which products of fp32 may be tf32 while a block runs."""

    def __init__(self, matmul, conv):
        self.wanted = (matmul, conv)

    def __enter__(self):
        self.before = (torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32)
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = self.wanted

    def __exit__(self, *_):
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = self.before


class Tf32(TorchDispatchMode):
    """Products whose fp32 operands lose the bits that TF32 lacks, whatever algorithm the library takes:
    it has more precise ones for small sizes."""
    CONV = {"convolution", "_cudnn_rnn", "cudnn_convolution", "_convolution"}
    MATMUL = {"mm", "bmm", "addmm", "baddbmm", "addmv", "mv", "dot"}

    def __init__(self, matmul, conv):
        super().__init__()
        self.names = (self.MATMUL if matmul else set()) | (self.CONV if conv else set())

    @staticmethod
    def cut(value):
        if torch.is_tensor(value) and value.dtype == torch.float32:
            return (value.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32).view(value.shape)
        return value

    def __torch_dispatch__(self, function, types_, args=(), kwargs=None):
        if function.overloadpacket.__name__ in self.names:
            args = [self.cut(value) for value in args]
        return function(*args, **(kwargs or {}))


class Products(TorchDispatchMode):
    """Notes whether a call has products that TF32 can cut. A call without them has the same results in TF32."""
    found = False

    def __torch_dispatch__(self, function, types_, args=(), kwargs=None):
        self.found |= function.overloadpacket.__name__ in Tf32.CONV | Tf32.MATMUL
        return function(*args, **(kwargs or {}))


def size_of(value):
    return sum(x.numel() * x.element_size() for _, x in flatten(value))


class Task:
    def __init__(self, request, device):
        self.device = device
        self.space = types.ModuleType("task").__dict__
        with precision(False, True):            # what the task sets itself holds for the task
            exec(compile(request["task"], "task.py", "exec"), self.space)
            allowed = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
        kind = request.get("precision", "torch")
        self.products = kind == "tf32" or (kind == "torch" and allowed[0]), kind == "tf32" or (kind == "torch" and allowed[1])
        self.close = kind == "torch"            # errors of tf32 that KernelBench's rule does not see pass
        self.sets = request["sets"]
        self.seed = request["seed"]
        try:
            with torch.device(device):          # weights and inputs of gigabytes take seconds elsewhere
                self.make(request["eval"])
        except (RuntimeError, TypeError, ValueError):
            self.make(request["eval"])          # a generator or a library that knows no GPU
        self.compiled = {}

    def make(self, eval_mode):
        torch.manual_seed(WEIGHTS_SEED)
        given = self.space["get_init_inputs"]()
        pair = len(given) == 2 and isinstance(given[0], list) and isinstance(given[1], dict)
        self.model = self.space["Model"](*given[0], **given[1]) if pair else self.space["Model"](*given)
        if eval_mode:
            self.model.eval()
        self.model.to(self.device)
        self.state = {name: value.clone() for name, value in self.model.state_dict().items()}
        self.inputs = []
        self.add_inputs()

    def add_inputs(self):
        torch.manual_seed(self.seed + 7919 * len(self.inputs))
        self.inputs.append(moved(self.space["get_inputs"](), self.device))

    def call(self, inputs):
        with torch.no_grad():
            return self.model(*inputs) if isinstance(inputs, (list, tuple)) else self.model(inputs)

    def run(self, i, dtype=None):
        """Results of one input set. Buffers start as the constructor left them."""
        self.model.load_state_dict(self.state)
        self.model.to(device=self.device, dtype=dtype or None)
        results = [x.cpu() for x in numbers(self.call(moved(self.inputs[i], self.device, dtype)))]
        if dtype:
            self.model.to(torch.float32)
            self.model.load_state_dict(self.state)
        return results

    def run_counted(self, i):
        """As run, with the operations of matrix products and convolutions (0: they cannot be counted), and whether
        there are any."""
        with Products() as products:
            try:
                with FlopCounterMode(display=False) as counter:
                    return self.run(i), counter.get_total_flops(), products.found
            except Exception:       # of the counter; if the reference itself fails, it fails again
                return self.run(i), 0, products.found

    def prepare(self, folder):
        files = os.path.join(folder, "inputs.safetensors"), os.path.join(folder, "results.safetensors")
        results, wide, flops = {}, True, 0
        for i in range(self.sets):
            if i == len(self.inputs):
                self.add_inputs()
            with precision(False, False):
                own, flops, has_products = self.run_counted(i)
                try:
                    exact = self.run(i, torch.float64)
                except RuntimeError:        # a reference that cannot be widened is its own reference
                    exact, wide = [x.double() if x.is_floating_point() else x for x in own], False
                cut = own
                if has_products and any(self.products):
                    with Tf32(*self.products):
                        cut = self.run(i)
                close = cut
                if has_products and self.close and not all(self.products):
                    with Tf32(True, True):
                        close = self.run(i)
            for k, value in enumerate(close if has_products and self.close else []):
                results[f"close.{i}.{k}"] = value
            for k, value in enumerate(cut if has_products else []):
                results[f"torch.{i}.{k}"] = value
            for k, (a, b) in enumerate(zip(exact, own)):
                results[f"expected.{i}.{k}"] = a.double()
                results[f"own.{i}.{k}"] = b
            if size_of(self.inputs[0]) + size_of(own) > LARGE:
                break
        tensors = {f"weight.{name}": value for name, value in self.state.items()}
        for i, inputs in enumerate(self.inputs):
            tensors.update({f"input.{i}.{name}": value for name, value in flatten(inputs)})
        write_tensors(files[0], tensors)
        write_tensors(files[1], results)
        if self.device.startswith("cuda"):
            torch.cuda.empty_cache()            # the candidates run in another process
        rows = [value.numel() // max(value.shape[0], 1) for value in self.state.values() if value.dim() > 1]
        rows += [value.shape[-1] for _, value in flatten(self.inputs[0]) if value.dim()]
        return {"inputs": files[0], "results": files[1], "sets": len(self.inputs), "sum": max(rows, default=1), "wide": wide,
                "flops": flops}

    def timed(self, mode):
        """A function that makes one call of the reference on input set i."""
        if mode in ("eager", "tf32"):
            return lambda i: self.call(self.inputs[i])
        if mode not in self.compiled:
            model = torch.compile(self.model, mode="max-autotune" if mode == "max-autotune" else "default")
            self.compiled[mode] = model
        model = self.compiled[mode]

        def call(i):
            with torch.no_grad():
                return model(*self.inputs[i])
        return call

    def time(self, mode, trials, warm):
        call = self.timed(mode)
        cuda = self.device.startswith("cuda")
        flush = torch.empty(2 * torch.cuda.get_device_properties(0).L2_cache_size, dtype=torch.uint8, device=self.device) \
            if cuda else None
        seconds = []
        with precision(mode != "eager", True):
            for i in range(-warm, trials):
                if not cuda:
                    start = time.perf_counter()
                    call(i % len(self.inputs))
                    took = time.perf_counter() - start
                else:
                    # As in the candidate's process, launches are queued behind the flush; Python starts them more
                    # slowly, so the GPU waits longer.
                    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                    torch.cuda.synchronize()
                    flush.zero_()
                    flush[:flush.numel() // 2].copy_(flush[flush.numel() // 2:])
                    torch.cuda._sleep(HEAD_START)
                    start.record()
                    call(i % len(self.inputs))
                    end.record()
                    torch.cuda.synchronize()
                    took = start.elapsed_time(end) * 1e-3
                if i >= 0:
                    seconds.append(took)
        return seconds


def find_cupti():
    """The profiling library among PyTorch's packages; "" if it is not there."""
    root = os.path.dirname(os.path.dirname(torch.__file__))
    found = glob.glob(f"{root}/nvidia/*/lib/libcupti.so.*") + glob.glob(f"{root}/torch/lib/libcupti*.so*")
    return found[0] if found else ""


# A task that loads what most tasks need.
SMALL_TASK = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.linear = torch.nn.Conv2d(4, 4, 3, padding=1), torch.nn.Linear(8, 8)
    def forward(self, x):
        return torch.softmax(self.linear(self.conv(x)), -1).sum(1)
def get_inputs():
    return [torch.randn(2, 4, 8, 8)]
def get_init_inputs():
    return []
"""


class Worker:
    def __init__(self, device):
        self.device, self.task = device, None

    def warm_up(self):
        """The first task of a process takes seconds for lazy imports and libraries: here, before a candidate waits."""
        with tempfile.TemporaryDirectory() as folder:
            self.prepare({"task": SMALL_TASK, "sets": 1, "seed": 0, "eval": False, "folder": folder})
            self.task.time("eager", 1, 1)
        self.task = None

    def hello(self, _):
        self.warm_up()
        cuda = self.device.startswith("cuda")
        return {"device": torch.cuda.get_device_name(0) if cuda else "cpu", "torch": torch.__version__,
                "driver": torch.version.cuda if cuda else None, "cupti": find_cupti()}

    def prepare(self, request):
        self.task = None
        if self.device.startswith("cuda"):
            torch.cuda.empty_cache()
        self.task = Task(request, self.device)
        return self.task.prepare(request["folder"])

    def time(self, request):
        if not self.task:
            raise ValueError("no task was prepared")
        return {"seconds": self.task.time(request["mode"], request["trials"], request.get("warm", 0))}


def main(arguments):
    """torch_worker FD DEVICE"""
    link = socket.socket(fileno=int(arguments[0])).makefile("rw", encoding="utf-8")
    worker = Worker(arguments[1])
    for line in link:
        request = json.loads(line)
        try:
            reply = {"ok": True, **getattr(worker, request["do"])(request)}
        except Exception as error:      # the judge decides what a failure of the reference means
            reply = {"ok": False, "why": f"{type(error).__name__}: {error}"[:300]}
        link.write(json.dumps(reply) + "\n")
        link.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
