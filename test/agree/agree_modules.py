#!/usr/bin/env python3
"""Modules as people write them, in our engine and in PyTorch.

test/modules/*.py, or the files of a folder given with --dir: each is run by both under the same
seed. Inputs and weights must be equal (4 ulp where drawn by randn), outputs within fp32 rounding
of PyTorch's, measured against an fp64 run of PyTorch; our own fp64 run must equal that one. A
module whose header says `# expect:` is one that our engine refuses; it is not compared.

usage: agree_modules.py [--build build/release] [--dir DIR] [--sample N] [--seed N] [--seconds N] [-v]
A module that takes longer than --seconds in either counts as failed, with the status `slow`.
The last line counts. Exit code 0: all agree."""
import argparse
import os
import random
import signal
import sys
import tempfile
import time
from types import SimpleNamespace

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import agree_host                                                     # noqa: E402


def compare(args, path, folder):
    """status and text of one module."""
    own = SimpleNamespace(build=args.build, seed=args.seed)
    run = agree_host.run_ours
    agree_host.run_ours = lambda a, p, source, out, most: agree_host.host_run(a.build, p, out, a.seed, [])
    signal.alarm(args.seconds)
    try:
        return agree_host.problem(own, path, folder, None)
    except TimeoutError:
        return {"status": "slow", "text": f"more than {args.seconds} s"}
    except Exception as e:
        return {"status": "torch", "text": f"{type(e).__name__}: {e}"}
    finally:
        signal.alarm(0)
        agree_host.run_ours = run


def files_of(args):
    names = sorted(n for n in os.listdir(args.dir) if n.endswith(".py"))
    if args.sample:
        names = random.Random(args.seed).sample(names, min(args.sample, len(names)))
    return [os.path.join(args.dir, n) for n in names]


def is_refused(path):
    with open(path) as f:
        return any(line.startswith("# expect:") for line in f)


def expire(number, frame):
    raise TimeoutError


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", default=os.path.join(TREE, "build/release"))
    p.add_argument("--dir", default=os.path.join(TREE, "test/modules"))
    p.add_argument("--sample", type=int)
    p.add_argument("--seed", type=int, default=42)
    p.add_argument("--seconds", type=int, default=60)
    p.add_argument("-v", "--verbose", action="store_true")
    args, _ = p.parse_known_args()
    import torch

    torch.set_num_threads(1)
    signal.signal(signal.SIGALRM, expire)
    passed = failed = skipped = 0
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        for path in files_of(args):
            if is_refused(path):
                skipped += 1
                continue
            r = compare(args, path, folder)
            passed += r["status"] == "ok"
            failed += r["status"] != "ok"
            if args.verbose or r["status"] != "ok":
                print(f"{os.path.basename(path)[:-3]}: {r['status']} {r.get('text', '')[:300]}", flush=True)
    print(f"{time.time() - began:.0f} s")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
