"""verl: our compute_score, found and called by verl's own loader and reward manager's signature."""
import importlib.util
import importlib.metadata
import inspect
import os
import sys

sys.path[:0] = ["python"]
os.environ.setdefault("TRITONRL", "./tritonrl")

def main():
    # What verl does with custom_reward_function.path and .name.
    spec = importlib.util.spec_from_file_location("custom_module", "python/tritonrl/rewards.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    score = module.compute_score
    wanted = default_signature()
    assert list(inspect.signature(score).parameters)[:len(wanted)] == wanted, (inspect.signature(score), wanted)
    task, good = open("test/cheats/tasks/add.py").read(), open("test/cheats/control_correct/add.py").read()
    a = score(data_source="tritonrl", solution_str="```python\n%s```" % good, ground_truth=task, extra_info={"index": 0})
    b = score(data_source="tritonrl", solution_str="no code", ground_truth={"task": task}, extra_info=None)
    assert a > 0.5 and b == 0.0, (a, b)
    print("ok: verl", importlib.metadata.version("verl"), "scores", a, b)


def default_signature():
    """The names that verl's own default function has, read from its source: importing verl wants ray and more."""
    import ast

    path = os.path.join(os.path.dirname(importlib.util.find_spec("verl").origin), "utils", "reward_score", "__init__.py")
    for node in ast.parse(open(path).read()).body:
        if isinstance(node, ast.FunctionDef) and node.name == "default_compute_score":
            return [a.arg for a in node.args.args][:4]
    raise AssertionError("verl has no default_compute_score any more")


sys.exit(main())
