#!/usr/bin/env python3
"""The runner of plans with PyTorch operators (python/tritonrl/torch_runner.py) over its protocol, on the CPU:
operators by name, views, copies, values, tuples, in-place operators, red zones, timing, results."""
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python/tritonrl"))
import torch_runner as runner               # noqa: E402
import torch_worker                         # noqa: E402

checks = failures = 0


def check(good, what):
    global checks, failures
    checks += 1
    if not good:
        failures += 1
        print(f"FAIL {what}")


class Process:
    def __init__(self):
        self.results = tempfile.TemporaryFile()
        self.link, other = socket.socketpair()
        code = ("import os, sys; os.dup2(int(sys.argv[1]), 103); os.dup2(int(sys.argv[2]), 104); os.dup2(103, 3); os.dup2(104, 4); "
                "os.execv(sys.executable, [sys.executable, sys.argv[3], 'cpu'])")
        self.process = subprocess.Popen([sys.executable, "-c", code, str(other.fileno()), str(self.results.fileno()),
                                         runner.__file__], pass_fds=[other.fileno(), self.results.fileno()])
        other.close()

    def order(self, what, text=b"", kernels=0, sets=0, place=0, trials=0, fd=None):
        self.link.sendall(runner.ORDER.pack(runner.ORDER_MAGIC, what, len(text), kernels, sets, place, trials) + text)
        if fd is not None:
            socket.send_fds(self.link, [b"x"], [fd])
        data = b""
        while len(data) < runner.ANSWER.size:
            part = self.link.recv(runner.ANSWER.size - len(data))
            if not part:
                raise SystemExit("the runner ended")
            data += part
        fields = runner.ANSWER.unpack(data)
        n = 15 + 3 * runner.SAMPLES + runner.SAMPLES
        return {"end": fields[1], "text": fields[3].rstrip(b"\0").decode(), "places": fields[12], "bytes": fields[13],
                "seconds": fields[15:15 + 3 * fields[n]:3], "n": fields[n], "differing": fields[n + 1 + runner.SAMPLES]}


def view(storage, *shape, stride=None, dtype="float32", offset=0):
    if stride is None:
        stride = [1] * len(shape)
        for i in range(len(shape) - 2, -1, -1):
            stride[i] = stride[i + 1] * shape[i + 1]
    return {"storage": storage, "offset": offset, "dtype": dtype, "shape": list(shape), "stride": list(stride)}


def operator(name, out, *args, **kwargs):
    return {"operator": name, "tf32": False, "args": list(args), "kwargs": kwargs, "out": out}


def v(x):
    return {"view": x}


torch.manual_seed(1)
x, w, b = torch.randn(4, 6), torch.randn(5, 6), torch.randn(5)
tensors = {"input.0.0": x, "input.1.0": x + 1, "weight.w": w, "weight.b": b}
file = tempfile.NamedTemporaryFile()
torch_worker.write_tensors(file.name, tensors)

storages = [{"bytes": 96, "from": "input", "name": "0"}, {"bytes": 120, "from": "weight", "name": "w", "dtype": "float32"},
            {"bytes": 20, "from": "weight", "name": "b", "dtype": "float32"}, {"bytes": 80, "from": "operator"},
            {"bytes": 80, "from": "empty"}, {"bytes": 16, "from": "operator"}, {"bytes": 16, "from": "operator"},
            {"bytes": 80, "from": "value", "hex": "0000803f"}, {"bytes": 8, "from": "bytes", "hex": "0000004000004040"},
            {"bytes": 60, "from": "weight", "name": "w", "dtype": "float16", "transposed": True}]
linear = view(3, 4, 5)
plan = {"kernels": [], "storages": storages, "steps": [
    operator("torch.nn.functional.linear", [linear], v(view(0, 4, 6)), v(view(1, 5, 6)), v(view(2, 5))),
    operator("torch.Tensor.relu_", [linear], v(linear)),
    {"copy": [view(4, 5, 4), view(3, 5, 4, stride=[1, 5])]},
    operator("torch.var_mean", [view(5, 4), view(6, 4)], v(linear), {"tuple": [1]}, correction=0),
    operator("torch.Tensor.__iadd__", [view(7, 4, 5)], v(view(7, 4, 5)), {"float": "0.5"})],
    "results": [view(4, 5, 4), view(5, 4), view(6, 4), view(7, 4, 5), view(8, 2), view(9, 6, 5, dtype="float16")]}


def expected(i):
    y = torch.relu(torch.nn.functional.linear(tensors[f"input.{i}.0"], w, b))
    var, mean = torch.var_mean(y, 1, correction=0)
    return [y.t().contiguous(), var, mean, torch.full((4, 5), 1.5), torch.tensor([2.0, 3.0]), w.t().contiguous().half()]


process = Process()
check(process.order(runner.INFORM)["end"] == runner.OK, "an empty runner answers")
answer = process.order(runner.LOAD, json.dumps(plan).encode(), 0, 2, fd=os.open(file.name, os.O_RDONLY))
check(answer["end"] == runner.OK and answer["places"] == 2, f"loading: {answer}")
for i in range(2):
    answer = process.order(runner.RUN, place=i)
    want = expected(i)
    data = os.pread(process.results.fileno(), answer["bytes"], 0)
    check(answer["end"] == runner.OK and len(data) == sum(t.numel() * t.element_size() for t in want), f"run {i}: {answer}")
    for k, t in enumerate(want):
        size = t.numel() * t.element_size()
        got, data = torch.frombuffer(bytearray(data[:size]), dtype=t.dtype).view(t.shape), data[size:]
        check(torch.allclose(got.float(), t.float(), atol=1e-6), f"result {k} of set {i}: {got} {t}")
answer = process.order(runner.TIME, place=0, trials=6)
check(answer["end"] == runner.OK and answer["n"] == 6 and not answer["differing"] and min(answer["seconds"]) > 0, f"timing: {answer}")
check(process.order(runner.DROP)["places"] == 0, "dropping")

wrong = {**plan, "steps": [operator("torch.nn.functional.linear", [view(3, 4, 5, stride=[1, 4])], v(view(0, 4, 6)), v(view(1, 5, 6)))],
         "results": []}
process.order(runner.LOAD, json.dumps(wrong).encode(), 0, 1, fd=os.open(file.name, os.O_RDONLY))
answer = process.order(runner.RUN)
check(answer["end"] == runner.BROKE and "lays the result" in answer["text"], f"another layout: {answer}")
outside = {**plan, "steps": [operator("torch.Tensor.fill_", [], v(view(2, 6)), 3)], "results": []}
process.order(runner.LOAD, json.dumps(outside).encode(), 0, 1, fd=os.open(file.name, os.O_RDONLY))
check(process.order(runner.RUN)["end"] in (runner.RED_ZONE, runner.BROKE), "a write behind a storage")
process.process.kill()
print(f"{checks - failures} passed, {failures} failed, 0 skipped")
sys.exit(failures > 0)
