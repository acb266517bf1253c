"""KernelBench's own generation script against our server's model, then our drop-in for its evaluation of the folder.

KERNELBENCH names a checkout of it; it is not part of this tree."""
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request

PROGRAM = os.environ["TRITONRL"]
BENCH = os.environ.get("KERNELBENCH", "")
RELU = """import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.maximum(tl.load(x_ptr + at, mask=at < n, other=0.0), 0.0), mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        relu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
        return out
"""


def main():
    if not os.path.exists(BENCH + "/scripts/generate_samples.py"):
        print("SKIP: KERNELBENCH does not name a checkout of KernelBench")
        return 77
    server = subprocess.Popen([PROGRAM, "serve", "--port", "0", "--workers", "1", "--model", "models/base", "--length", "8192"], stdout=subprocess.PIPE, text=True)
    port = server.stdout.readline().rstrip().rsplit(":", 1)[1]
    env = dict(os.environ, PYTHONPATH=BENCH + "/src" + os.pathsep + "python", SGLANG_API_KEY="x")
    with tempfile.TemporaryDirectory() as folder:
        try:
            # Their script, with the address of the server put in place of the preset's: they have no option for it.
            start = ("import sys, runpy, kernelbench.utils as u; u.SERVER_PRESETS['local'] = {'model_name': 'base', 'server_address': '127.0.0.1', 'server_port': %s, "
                     "'max_tokens': 64, 'temperature': 0.0}; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')" % port)
            words = ["dataset_src=local", "level=1", "subset=(1,2)", "run_name=ours", "server_type=local", "backend=triton", "num_workers=2",
                     "runs_dir=" + folder, "check_kernel=False", "max_tokens=64", "temperature=0.0"]
            done = subprocess.run([sys.executable, "-c", start, BENCH + "/scripts/generate_samples.py", *words], env=env, cwd=BENCH, capture_output=True, text=True, timeout=400)
            asked = urllib.request.urlopen("http://127.0.0.1:%s/metrics" % port).read().decode()
            answered = int(float(re.search(r"^tritonrl_completions_total (\S+)", asked, re.M)[1]))
            # The small model seldom writes the fence that the script looks for; what counts is that it asked and was answered.
            assert answered == 2 and "Generated" in done.stdout, (answered, done.stdout[-1500:], done.stderr[-1500:])
        finally:
            server.terminate()
            server.wait()
        os.makedirs(folder + "/ours", exist_ok=True)
        with open(folder + "/ours/level_1_problem_19_sample_0_kernel.py", "w") as f:
            f.write(RELU)
        judged = subprocess.run([sys.executable, "-m", "tritonrl.kernelbench", "--run", folder + "/ours", "--problems", BENCH + "/KernelBench", "--level", "1"],
                                env=env, capture_output=True, text=True, timeout=300)
        results = json.load(open(folder + "/ours/eval_results.json"))
        assert results["19"][0]["correctness"] is True, (results, judged.stdout, judged.stderr)
    print("ok: KernelBench's script asked", answered, "times; its problem 19 is judged", results["19"][0])
    return 0


sys.exit(main())
