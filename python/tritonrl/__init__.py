"""tritonrl for Python: verdicts on Triton kernels, as rewards.

    import tritonrl
    v = tritonrl.verify(task_source, candidate_source, track="hybrid")
    v["correct"], v["reward"], tritonrl.feedback(v)
    tritonrl.write(module_source)["solution"]      # the best verified kernel for a module

No candidate runs in this process, and none runs as Python: the program `tritonrl` parses it, interprets its host code
and runs its kernels on a checked CPU machine, in sandboxed processes. This package starts that program, or talks to a
server (`tritonrl serve`). It has no dependencies. doc/verdict.md documents every field of a verdict.

Ready-made rewards: tritonrl.rewards (TRL, verl), tritonrl.environment (verifiers), tritonrl.kernelbench (a folder of
KernelBench samples).
"""
from ._version import VERSION as __version__
from . import rewards
from .client import Judge, JudgeError, feedback, reward, verify, verify_async, verify_batch, verify_batch_async, write

__all__ = ["Judge", "JudgeError", "feedback", "reward", "rewards", "verify", "verify_async", "verify_batch", "verify_batch_async", "write", "__version__"]
