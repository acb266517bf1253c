#!/usr/bin/env python3
"""make_kernelbook.py OUT [--rows N] [--seed S] [--jsonl]: a file in KernelBook's format.

A JSON array of rows with KernelBook's twelve columns. Of the full 18,162 rows about 23 % repeat an
earlier text, 570 need _paritybench_helpers, 59 % call extern_kernels, most inputs are [4, 4, 4, 4],
get_init_inputs is nested, and
imports are left that nothing uses. triton_code has the shape of Inductor's output and, where it calls no
library, computes what python_code computes. 18,162 rows are about 416 MB."""
import argparse
import json
import random

# name, PyTorch spelling, lines of Triton from {i} to {o}
OPS = [
    ("relu", "torch.relu({x})", ["{o}a = tl.full([1], 0, tl.int32)", "{o} = triton_helpers.maximum({o}a, {i})"]),
    ("sigmoid", "torch.sigmoid({x})", ["{o} = tl.sigmoid({i})"]),
    ("exp_neg_abs", "torch.exp(-torch.abs({x}))", ["{o}a = tl_math.abs({i})", "{o}b = -{o}a", "{o} = tl_math.exp({o}b)"]),
    ("mul_half", "{x} * 0.5", ["{o}a = 0.5", "{o} = {i} * {o}a"]),
    ("add_one", "{x} + 1.0", ["{o}a = 1.0", "{o} = {i} + {o}a"]),
    ("square", "{x} * {x}", ["{o} = {i} * {i}"]),
    ("clamp", "torch.clamp({x}, -2.0, 2.0)", ["{o}a = -2.0", "{o}b = triton_helpers.maximum({i}, {o}a)", "{o}c = 2.0",
                                            "{o} = triton_helpers.minimum({o}b, {o}c)"]),
    ("leaky", "F.leaky_relu({x}, 0.1)", ["{o}a = 0.0", "{o}b = {i} > {o}a", "{o}c = 0.1", "{o}d = {i} * {o}c",
                                         "{o} = tl.where({o}b, {i}, {o}d)"]),
    ("abs", "torch.abs({x})", ["{o} = tl_math.abs({i})"]),
    ("sin", "torch.sin({x})", ["{o} = tl_math.sin({i})"]),
    ("cos", "torch.cos({x})", ["{o} = tl_math.cos({i})"]),
    ("silu", "F.silu({x})", ["{o}a = tl.sigmoid({i})", "{o} = {i} * {o}a"]),
    ("softsign", "{x} / (1.0 + torch.abs({x}))", ["{o}a = tl_math.abs({i})", "{o}b = 1.0", "{o}c = {o}a + {o}b", "{o} = {i} / {o}c"]),
]
LICENCES = ["MIT", "Apache-2.0", "BSD-3-Clause", "BSD-2-Clause", "ISC"]
SPARE = ["import torch.utils.data", "import torch.nn.parallel", "import torch.optim", "import numpy as np", "from torch.autograd import Variable",
         "from typing import *", "import torch.nn.init", "import torchvision.models", "import math"]
WORDS = "Spatial Channel Gated Residual Attention Feature Block Layer Scale Norm Fusion Head Embed Loss Net Encoder Unit".split()

HEADER = """import torch
import triton
import triton.language as tl
from torch._inductor.runtime.triton_heuristics import grid
from torch._C import _cuda_getCurrentRawStream as get_raw_stream
from torch._inductor.runtime import triton_helpers
from torch._inductor.runtime.triton_helpers import math as tl_math
import torch.nn as nn
import torch.nn.functional as F
assert_size_stride = torch._C._dynamo.guards.assert_size_stride
empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda
reinterpret_tensor = torch._C._dynamo.guards._reinterpret_tensor
"""

ORIGINAL = """# AOT ID: ['{id}_inference']
from ctypes import c_void_p, c_long, c_int
import torch
import math
import random
import os
import tempfile
from math import inf, nan
from torch._inductor.hooks import run_intermediate_hooks
from torch._inductor.utils import maybe_profile
from torch._inductor.codegen.memory_planning import _align as align
from torch import device, empty_strided
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.select_algorithm import extern_kernels
import triton
import triton.language as tl
from torch._inductor.runtime.triton_heuristics import grid, split_scan_grid, start_graph, end_graph
from torch._C import _cuda_getCurrentRawStream as get_raw_stream

aten = torch.ops.aten
inductor_ops = torch.ops.inductor
async_compile = AsyncCompile()
"""

META = """

# kernel path: /tmp/torchinductor_user/{h}/c{h}{h}.py
# Source Nodes: [{names}], Original ATen: [aten.{names}]
# Source node to ATen node mapping:
{mapping}
# Graph fragment:
{graph}
{name} = async_compile.triton('{name}', '''
import triton
import triton.language as tl
from triton.compiler.compiler import AttrsDescriptor

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, instance_descriptor, DeviceProperties

@triton_heuristics.pointwise(
    size_hints=[256],
    filename=__file__,
    triton_meta={{'signature': {{0: '*fp32', 1: '*fp32', 2: 'i32'}}, 'device': DeviceProperties(type='cuda', index=0, cc=80, major=8, regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, multi_processor_count=108), 'constants': {{}}, 'configs': [AttrsDescriptor(divisible_by_16=(0, 1, 2), equal_to_1=())]}},
    inductor_meta={{'autotune_hints': set(), 'kernel_name': '{name}', 'mutated_arg_names': [], 'no_x_dim': False, 'num_load': 1, 'num_reduction': 0, 'backend_hash': '{h}{h}', 'are_deterministic_algorithms_enabled': False, 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'max_autotune': False, 'spill_threshold': 16, 'store_cubin': False}},
    min_elem_per_thread=0
)
{body}''', device_str='cuda')
"""


def kernel(number, group):
    """One fused kernel over 256 elements."""
    name = "triton_poi_fused_%s_%d" % ("_".join(op[0] for op in group), number)
    lines = ["@triton.jit", "def %s(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):" % name, "    xnumel = 256",
             "    xoffset = tl.program_id(0) * XBLOCK", "    xindex = xoffset + tl.arange(0, XBLOCK)[:]", "    xmask = xindex < xnumel",
             "    x0 = xindex", "    tmp0 = tl.load(in_ptr0 + (x0), xmask)"]
    for i, op in enumerate(group):
        lines += ["    " + l.format(i="tmp%d" % i, o="tmp%d" % (i + 1)) for l in op[2]]
    lines.append("    tl.store(out_ptr0 + (x0), tmp%d, xmask)" % len(group))
    return name, "\n".join(lines) + "\n"


def one(r, number, mock):
    """A row, without the columns that say where it is from."""
    entry = "".join(r.sample(WORDS, r.randint(1, 3))) + str(number)
    groups = [[r.choice(OPS) for _ in range(r.randint(1, 4))] for _ in range(1 + min(int(r.expovariate(1 / 5.65)), 50))]
    linear = r.random() < 0.59
    value = r.choice(["x", "input", "inputs", "hidden", "feat"])
    args, kwargs = [], []
    if mock:
        kwargs.append("'config': _mock_config(hidden_size=4, scale=%d)" % r.randint(1, 9))
    if r.random() < 0.5:
        kwargs.append("'dim': 4")
    params = [k.split("'")[1] for k in kwargs]
    p = ["import torch", "import torch.nn as nn", "import torch.nn.functional as F"]
    p += r.sample(SPARE, r.randint(0, 5)) + ["", "", "class %s(nn.Module):" % entry]
    if r.random() < 0.4:
        p += ['    """%s of %s."""' % (" ".join(r.choices(WORDS, k=r.randint(3, 12))), entry)]
    p += ["", "    def __init__(self%s):" % "".join(", " + n + ("=4" if n == "dim" and not mock else "") for n in params),
          "        super(%s, self).__init__()" % entry]
    if linear:
        p.append("        self.proj = nn.Linear(4, 4)")
    p += ["", "    def forward(self, %s):" % value]
    p += ["        %s = self.proj(%s)" % (value, value)] if linear else []
    for g in groups:
        expr = value
        for op in g:
            expr = op[1].format(x=expr) if op[1].count("{x}") == 1 else op[1].format(x="(%s)" % expr if expr != value else value)
            p.append("        %s = %s" % (value, expr))
            expr = value
    p += ["        return " + value, "", "", "def get_inputs():", "    return [torch.rand([4, 4, 4, 4])]", "", "", "def get_init_inputs():",
          "    return [[%s], {%s}]" % (", ".join(args), ", ".join(kwargs)), ""]
    if mock:
        p.insert(0, "from _paritybench_helpers import _mock_config")
    kernels = [kernel(i, g) for i, g in enumerate(groups)]
    t = [HEADER] + (["extern_kernels = torch._inductor.select_algorithm.extern_kernels\n"] if linear else [])
    t += ["\n\n" + body for _, body in kernels]
    n = 3 if linear else 1
    t.append("\n\ndef call(args):\n    %s, = args\n    args.clear()\n" % ", ".join("arg%d_1" % i for i in range(n)) if n == 1 else
             "\n\ndef call(args):\n    primals_1, primals_2, arg0_1 = args\n    args.clear()\n    assert_size_stride(primals_1, (4, 4), (4, 1))\n"
             "    assert_size_stride(primals_2, (4,), (1,))\n")
    t.append("    assert_size_stride(arg0_1, (4, 4, 4, 4), (64, 16, 4, 1))\n    with torch.cuda._DeviceGuard(0):\n        torch.cuda.set_device(0)\n")
    last = "arg0_1"
    if linear:
        t.append("        bufl = empty_strided_cuda((64, 4), (4, 1), torch.float32)\n"
                 "        extern_kernels.addmm(primals_2, reinterpret_tensor(arg0_1, (64, 4), (4, 1), 0), "
                 "reinterpret_tensor(primals_1, (4, 4), (1, 4), 0), alpha=1, beta=1, out=bufl)\n")
        last = "bufl"
    t.append("        get_raw_stream(0)\n")
    for i, (name, _) in enumerate(kernels):
        t.append("        buf%d = empty_strided_cuda((4, 4, 4, 4), (64, 16, 4, 1), torch.float32)\n"
                 "        %s[grid(256)](%s, buf%d, 256, XBLOCK=256, num_warps=4, num_stages=1)\n        del %s\n" % (i, name, last, i, last))
        last = "buf%d" % i
    t.append("    return %s,\n\n\nclass %sNew(nn.Module):\n\n    def __init__(self%s):\n        super(%sNew, self).__init__()\n" %
             (last, entry, "".join(", " + k + ("=4" if k == "dim" and not mock else "") for k in params), entry))
    if linear:
        t.append("        self.proj = nn.Linear(4, 4)\n")
    t.append("\n    def forward(self, input_0):\n")
    if linear:
        t.append("        primals_1 = self.proj.weight\n        primals_2 = self.proj.bias\n        arg0_1 = input_0\n"
                 "        output = call([primals_1, primals_2, arg0_1])\n")
    else:
        t.append("        arg0_1 = input_0\n        output = call([arg0_1])\n")
    t.append("        return output[0]\n")
    original = [ORIGINAL.format(id=number % 7)]
    for (name, body), g in zip(kernels, groups):
        names = [op[0] for op in g]
        mapping = "\n".join("#   %s => %s_%d" % (op, op, i) for i, op in enumerate(names))
        graph = "\n".join("#   %%%s_%d : [num_users=1] = call_function[target=torch.ops.aten.%s.default](args = (%%arg%d_1,), kwargs = {})" %
                          (op, i, op, i) for i, op in enumerate(names))
        original.append(META.format(h="%08x" % r.getrandbits(32), name=name, names=", ".join(names), mapping=mapping, graph=graph, body=body))
    return {"entry_point": entry, "original_triton_code": "".join(original), "python_code": "\n".join(p), "triton_code": "".join(t)}


def main():
    a = argparse.ArgumentParser()
    a.add_argument("out")
    a.add_argument("--rows", type=int, default=18162)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--jsonl", action="store_true")
    a = a.parse_args()
    r = random.Random(a.seed)
    seen, distinct = [], 0
    with open(a.out, "w") as f:
        f.write("" if a.jsonl else "[\n")
        for i in range(a.rows):
            if seen and r.random() < 1 - 13923 / 18162:
                row = dict(r.choice(seen))
            else:
                row = one(r, distinct, r.random() < 570 / 18162)
                distinct += 1
                seen.append(row)
                seen = seen[-500:]
            repo = "%s/%s" % (r.choice(WORDS).lower(), r.choice(WORDS).lower())
            sha = "%040x" % r.getrandbits(160)
            row.update(repo_name=repo, module_name=row["entry_point"], synthetic=False, uuid=i, licenses=[r.choice(LICENCES)],
                       stars=r.randint(0, 9999), sha=sha, repo_link="https://github.com/%s/tree/%s" % (repo, sha))
            f.write(json.dumps(row) + ("\n" if a.jsonl or i == a.rows - 1 else ",\n"))
        f.write("" if a.jsonl else "]\n")
    print("%d rows, %d distinct" % (a.rows, distinct))


if __name__ == "__main__":
    main()
