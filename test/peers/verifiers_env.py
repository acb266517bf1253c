"""verifiers: our environment, single and multi turn, evaluated by the library's own rollouts against our server's model."""
import asyncio
import json
import os
import subprocess
import sys

sys.path[:0] = ["python"]
import verifiers as vf
from openai import AsyncOpenAI

import tritonrl.environment

PROGRAM = os.environ["TRITONRL"]


def evaluate(env, client, model, n):
    result = env.evaluate_sync(client=client, model=model, num_examples=n, rollouts_per_example=1, sampling_args={"max_tokens": 60, "temperature": 1.0})
    return result


def main():
    rows = [json.loads(line) for line in open("tasks/plain/test_level1.jsonl")][:2]
    server = subprocess.Popen([PROGRAM, "serve", "--port", "0", "--workers", "1", "--model", "models/base", "--length", "4096"], stdout=subprocess.PIPE, text=True)
    url = server.stdout.readline().split()[-1]
    try:
        for turns in (1, 2):
            env = tritonrl.environment.load_environment(tasks=rows, turns=turns, system="", url=url)
            assert isinstance(env, vf.Environment), env
            config = vf.ClientConfig(api_base_url=url + "/v1", api_key_var="NO_KEY") if hasattr(vf, "ClientConfig") else None
            os.environ["NO_KEY"] = "x"
            result = evaluate(env, config or AsyncOpenAI(base_url=url + "/v1", api_key="x"), "base", 2)
            outputs = result["outputs"] if isinstance(result, dict) else result.outputs
            said = [sum(1 for m in o["completion"] if (m["role"] if isinstance(m, dict) else m.role) == "assistant") for o in outputs]
            rewards = [o["reward"] for o in outputs]
            assert len(outputs) == 2 and all(1 <= k <= turns for k in said), said
            print("ok: verifiers", vf.__version__, "turns", turns, "answers", said, "rewards", rewards)
    finally:
        server.terminate()
        server.wait()


sys.exit(main())
