#!/usr/bin/env python3
"""POST /v1/verify against the command line, on the same candidates with the same number of workers: candidates a second with 1 to 64
clients, as a share of the pool's own rate, and the processor time of each; and the time of a candidate that was judged before.
Rates want a quiet machine, for the clients run on it, too; processor times do not. Run: bench/bench_serve.py [CANDIDATES]."""
import http.client
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time

PROGRAM = os.environ.get("TRITONRL", "./tritonrl")
N = int(sys.argv[1]) if len(sys.argv) > 1 else 400
WORKERS = str(os.cpu_count())
TASK = """import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(64, 1000)]


def get_init_inputs():
    return []
"""
RELU = """import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.maximum(tl.load(x_ptr + at, mask=at < n, other=0.0), 0.0), mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        relu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
        return out
"""


def rows(mark):
    return [{"id": str(i), "task": TASK, "candidate": RELU + "# %s %d\n" % (mark, i)} for i in range(N)]


def children_cpu():
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def tree_cpu(pid):
    """Seconds of a process, of those below it, and of those of them that have ended."""
    with open("/proc/%d/stat" % pid) as f:
        own = sum(map(int, f.read().rsplit(")", 1)[1].split()[11:15])) / os.sysconf("SC_CLK_TCK")
    below = []
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/children" % (pid, task)) as f:
            below += f.read().split()
    return own + sum(tree_cpu(int(child)) for child in below)


def command_line(mark):
    """Candidates a second, and milliseconds of processor time for one."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
        f.writelines(json.dumps(r) + "\n" for r in rows(mark))
        f.flush()
        start, cpu = time.time(), children_cpu()
        out = subprocess.run([PROGRAM, "verify", "--jsonl", f.name, "--json", "--quiet", "--workers", WORKERS], capture_output=True, text=True).stdout
        seconds, cpu = time.time() - start, children_cpu() - cpu
    assert sum(json.loads(line)["correct"] for line in out.splitlines()) == N, out[:500]
    return N / seconds, 1000 * cpu / N


def ask(c, row):
    c.request("POST", "/v1/verify", json.dumps({"task": row["task"], "candidate": row["candidate"]}).encode())
    return json.loads(c.getresponse().read())


def with_clients(port, clients, mark):
    todo, lock, bad = rows("%s-%d" % (mark, clients)), threading.Lock(), []

    def work():
        c = http.client.HTTPConnection("127.0.0.1", port)
        while True:
            with lock:
                if not todo:
                    return
                row = todo.pop()
            if not ask(c, row)["correct"]:
                bad.append(row)

    threads = [threading.Thread(target=work) for _ in range(clients)]
    start = time.time()
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not bad
    return N / (time.time() - start)


def main():
    server = subprocess.Popen([PROGRAM, "serve", "--port", "0", "--workers", WORKERS], stdout=subprocess.PIPE, text=True)
    port = int(server.stdout.readline().rstrip().rsplit(":", 1)[1])
    try:
        c = http.client.HTTPConnection("127.0.0.1", port)
        ask(c, rows("warm")[0])
        times = []
        for _ in range(300):
            start = time.perf_counter()
            ask(c, rows("warm")[0])
            times.append(1000 * (time.perf_counter() - start))
        print("a relu candidate that was judged before: p50 %.2f ms, p99 %.2f ms" % (statistics.median(times), sorted(times)[-4]))
        for clients in (1, 2, 4, 8, 16, 32, 64):
            # Beside each other, so that what else the machine does meets both.
            before, cpu = command_line("a%d" % clients), tree_cpu(server.pid)
            rate = with_clients(port, clients, "s")
            cpu, after = 1000 * (tree_cpu(server.pid) - cpu) / N, command_line("b%d" % clients)
            pool, pool_cpu = ((x + y) / 2 for x, y in zip(before, after))
            print("%3d clients: %7.1f candidates/s; the command line %7.1f: %5.1f %%; processor time %5.2f ms a candidate, %5.2f: %5.1f %%"
                  % (clients, rate, pool, 100 * rate / pool, cpu, pool_cpu, 100 * cpu / pool_cpu), flush=True)
    finally:
        server.terminate()
        server.wait()


sys.exit(main())
