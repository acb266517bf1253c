#!/bin/bash
# Kernels over HTTP (POST /v1/write) and from Python (tritonrl.write): found, not found, refused.
set -eu
tmp=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill $server 2>/dev/null; rm -rf "$tmp"' EXIT
here=$(cd "$(dirname "$0")/.." && pwd)
"$TRITONRL" serve --port 0 --workers 1 --model none >"$tmp/out" 2>"$tmp/err" &
server=$!
for _ in $(seq 100); do grep -q listening "$tmp/out" && break; sleep 0.1; done
url=$(sed -n 's/listening on //p' "$tmp/out")
[ -n "$url" ] || { echo "write_service.sh: the server did not start: $(cat "$tmp/err")"; exit 1; }
PYTHONPATH=$here/../python URL=$url HERE=$here python3 - <<'PY'
import json, os, urllib.error, urllib.request
import tritonrl

url, here = os.environ["URL"], os.environ["HERE"]
gate = open(here + "/solve/gate.py").read()
half = "import torch\n\nclass Half(torch.nn.Module):\n    def __init__(self, by):\n        super().__init__()\n        self.by = by\n\n    def forward(self, x):\n        return torch.relu(x) / self.by\n"
common = dict(by="solver", seconds=60, variants=2)
for where in ({"url": url}, {"workers": 1}):
    a = tritonrl.write(gate, **common, **where)
    assert a["found"] and "class ModelNew" in a["solution"] and a["best"]["verdict"]["correct"], a
    a = tritonrl.write(half, inputs=["8x32:f32"], init=["by=2.0"], class_name="Half", **common, **where)
    assert a["found"] and "return [2.0]" in a["task"], a
    a = tritonrl.write(open(here + "/solve/unsolved/factorisation.py").read(), **common, **where)
    assert not a["found"] and a["solution"] is None and "linalg.qr" in a["without_solver"], a
    try:
        tritonrl.write("class A(:", **common, **where)
        raise SystemExit("a module that does not parse was taken")
    except tritonrl.JudgeError as e:
        assert "1" in str(e), e


def status(body):
    try:
        return urllib.request.urlopen(urllib.request.Request(url + "/v1/write", json.dumps(body).encode())).status
    except urllib.error.HTTPError as e:
        return e.code


assert status({}) == 400
assert status({"module": gate, "options": {"model": "/tmp"}}) == 400
assert status({"module": gate, "options": {"unsafe_no_sandbox": True}}) == 400
assert status({"module": gate, "options": {"no-such-option": 1}}) == 422
print("write_service: all good")
PY
