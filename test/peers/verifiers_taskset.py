"""verifiers 0.4, whose interface is another one than before: our taskset by the library's own command, one and two turns, against our
server's model. It has an environment of its own, because one cannot hold two releases."""
import glob
import json
import os
import subprocess
import sys
import tempfile

RELEASE, UV = "verifiers==0.4.0", "uv"          # the harness of a plain chat is started by uv
PROGRAM = os.environ["TRITONRL"]
OWN = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "tritonrl", RELEASE)
TASKS = os.path.abspath("tasks/plain/test_level1.jsonl")


def install():
    if not os.path.exists(OWN + "/done"):
        subprocess.run([sys.executable, "-m", "venv", OWN], check=True)
        subprocess.run([OWN + "/bin/pip", "install", "-q", "--disable-pip-version-check", RELEASE, UV], check=True)
        open(OWN + "/done", "w").close()


def evaluate(url, turns, folder):
    """The traces of two rollouts."""
    env = dict(os.environ, PATH=OWN + "/bin:" + os.environ["PATH"], PYTHONPATH=os.path.abspath("python"), NO_KEY="x")
    env.pop("VIRTUAL_ENV", None)
    subprocess.run(["vf-eval", "tritonrl-kernels", "--env.taskset.tasks", TASKS, "--env.taskset.system", "", "--env.turns", str(turns), "--model", "base",
                    "--client.base_url", url + "/v1", "--client.api_key_var", "NO_KEY", "--sampling.max_tokens", "60", "--select.limit", "2",
                    "--num_rollouts", "1", "--no-push", "--no-rich", "--output_dir", folder], env=env, check=True, stdout=subprocess.DEVNULL)
    (path,) = glob.glob(folder + "/*/traces.jsonl")
    return [trace for line in open(path) for trace in json.loads(line)["traces"]]


def main():
    install()
    server = subprocess.Popen([PROGRAM, "serve", "--port", "0", "--workers", "1", "--model", "models/base", "--length", "4096"], stdout=subprocess.PIPE, text=True)
    url = server.stdout.readline().split()[-1]
    try:
        for turns in (1, 2):
            with tempfile.TemporaryDirectory() as folder:
                traces = evaluate(url, turns, folder)
            said = [sum(node["sampled"] for node in t["nodes"]) for t in traces]
            rewards = [t["rewards"]["kernel_reward"]["score"] for t in traces]
            correct = [t["metrics"]["is_correct"] for t in traces]
            assert len(traces) == 2 and not any(t["errors"] for t in traces), traces
            assert all(k == turns or (ok and 1 <= k <= turns) for k, ok in zip(said, correct)), said
            print("ok: %s, turns %d, answers %s, rewards %s" % (RELEASE, turns, said, rewards))
    finally:
        server.terminate()
        server.wait()


sys.exit(main())
