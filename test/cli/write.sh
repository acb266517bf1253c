#!/bin/bash
# tritonrl write: modules in three forms become verified kernels; who wrote them, exit codes, the nearest miss.
set -eu
tune=--no-tune
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "write.sh: $*"; exit 1; }
write() { # name of the output, expected exit code, arguments
	local out=$1 want=$2 rc=0
	shift 2
	"$TRITONRL" write --seconds 40 --workers 2 $tune "$@" >"$tmp/$out" 2>"$tmp/err" || rc=$?
	[ $rc = "$want" ] || fail "$*: exit $rc: $(tail -5 "$tmp/err")"
}
says() { grep -q -e "$2" "$tmp/$1" || fail "no '$2' in $1: $(cut -c1-600 "$tmp/$1")"; }
here=$(dirname "$0")/..

# KernelBench's form.
write gate_new.py 0 "$here/solve/gate.py" --by solver
says gate_new.py 'class ModelNew'
says err 'written by the solver'
says err 'verified: strict track'
says err 'x eager PyTorch, estimated for H100'
"$TRITONRL" verify "$tmp/gate_new.py" --task "$here/solve/gate.py" --quiet >/dev/null || fail "verify rejects the solution"

# A file with modules of its own: the outermost one is taken, its inputs are described.
cat >"$tmp/user.py" <<'PY'
import torch
from torch import nn


class Gate(nn.Module):
    def forward(self, x):
        a, b = x.chunk(2, dim=-1)
        return a * torch.sigmoid(b)


class Gated(nn.Module):
    def __init__(self, dim, hidden, bias=True):
        super().__init__()
        self.up = nn.Linear(dim, 2 * hidden, bias=bias)
        self.gate = Gate()

    def forward(self, x):
        return self.gate(self.up(x))
PY
write user.json 0 "$tmp/user.py" --by solver --input 8x32:f32 --init 32 --init hidden=16 --init bias=False --json
says err '^class Gated'
python3 - "$tmp/user.json" <<'PY' || fail "the JSON of a module with --input is wrong"
import json, sys
a = json.load(open(sys.argv[1]))
assert a["found"] and a["best"]["by"] == "solver" and a["best"]["verdict"]["correct"], a
assert "get_init_inputs():\n    return [32, 16, False]" in a["task"], a["task"]
assert a["counts"]["solver"]["candidates"] >= 2 and a["nearest"] is None
PY
write gate_alone.py 0 "$tmp/user.py" --by solver --class Gate --input 8x32 --out "$tmp/gate_out.py"
says gate_out.py 'class ModelNew'
[ ! -s "$tmp/gate_alone.py" ] || fail "--out also printed to standard output"

# A file that does not import torch itself.
cat >"$tmp/no_torch.py" <<'PY'
import torch.nn as nn


class Twice(nn.Module):
    def forward(self, x):
        return nn.functional.relu(x) * 2
PY
write no_torch.txt 0 "$tmp/no_torch.py" --by solver --input 8x32

# KernelBook's form, from standard input.
{ cat "$tmp/user.py"; printf '\n\ndef get_inputs():\n    return [torch.rand([4, 16])]\n\n\ndef get_init_inputs():\n    return [[], {"dim": 16, "hidden": 8}]\n'; } >"$tmp/book.py"
write book_new.py 0 - --by solver <"$tmp/book.py"
says book_new.py 'class ModelNew'

# The model: a task of the kind that the small one knows; samples are counted, the rest of the search does not depend on them.
cat >"$tmp/swish.py" <<'PY'
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()

    def forward(self, x):
        return x * torch.sigmoid(x + 3.0) / 6.0

batch_size = 32
dim = 48

def get_inputs():
    return [torch.rand(batch_size, dim)]

def get_init_inputs():
    return []
PY
write swish.json 0 "$tmp/swish.py" --by model --model "$here/../models/base" --n 6 --device cpu --json
says err 'written by the model'
says swish.json '"model": *{"candidates": *6'
# Where the model fails, it is asked again with the judge's feedback, and the nearest miss is one of its answers.
write miss.json 1 "$here/solve/unsolved/factorisation.py" --by model --model "$here/../models/base" --n 4 --device cpu --json
python3 - "$tmp/miss.json" <<'PY' || fail "the JSON of a miss is wrong"
import json, sys
a = json.load(open(sys.argv[1]))
assert not a["found"] and a["solution"] is None and a["best"] is None, a
assert a["counts"]["model"]["candidates"] == 4 and a["counts"]["repair"]["candidates"] >= 1, a["counts"]
assert a["nearest"]["by"] in ("model", "repair") and a["nearest"]["reason"] and a["nearest"]["solution"], a
PY
# A program without the model that ships with it says so and continues with the solver; --by model cannot.
mkdir "$tmp/bin" && cp "$TRITONRL" "$tmp/bin/tritonrl"
rc=0; "$tmp/bin/tritonrl" write "$here/solve/gate.py" >/dev/null 2>"$tmp/err" || rc=$?
[ $rc = 0 ] || fail "without models/writer: exit $rc"
says err 'models/writer is not there.*only the solver writes'
rc=0; "$tmp/bin/tritonrl" write "$here/solve/gate.py" --by model >/dev/null 2>"$tmp/err" || rc=$?
[ $rc = 2 ] || fail "--by model without models/writer: exit $rc"
# It is found in the share folder of an installation.
mkdir -p "$tmp/share/tritonrl/models" && cp -r "$here/../models/base" "$tmp/share/tritonrl/models/writer"
rc=0; "$tmp/bin/tritonrl" write "$tmp/swish.py" --by model --n 2 --device cpu >/dev/null 2>"$tmp/err" || rc=$?
[ $rc = 0 ] || fail "a model in share/tritonrl is not used: $(tail -3 "$tmp/err")"

# Tuning: versions with other block sizes and warps are judged; without it only the solver's are.
tune=
write tuned.json 0 "$here/solve/gate.py" --by solver --variants 1 --json
tune=--no-tune
write plain.json 0 "$here/solve/gate.py" --by solver --variants 1 --json
python3 - "$tmp/tuned.json" "$tmp/plain.json" <<'PY' || fail "tuning is not what it should be"
import json, sys
tuned, plain = (json.load(open(name)) for name in sys.argv[1:])
assert tuned["counts"]["tuned"]["candidates"] >= 2 and tuned["counts"]["tuned"]["passed"] >= 1, tuned["counts"]
assert plain["counts"]["tuned"]["candidates"] == 0 and plain["counts"]["solver"]["candidates"] == 1, plain["counts"]
assert tuned["speedup"] >= plain["speedup"] and plain["best"]["by"] == "solver" and tuned["best"]["origin"] == "solver"
PY

# The solution takes any batch: the general contract holds, and --strict-inputs is met.
write any.py 0 "$tmp/user.py" --by solver --no-tune --strict-inputs --input 8x32:f32 --init 32 --init hidden=16
says any.py 'assert x.shape == (size, 32)'

# Parts: an operator that the solver does not know stays in the middle of two parts, which the hybrid track allows.
cat >"$tmp/scan.py" <<'PY'
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(3, c, 3, padding=1)
        self.bn = nn.BatchNorm2d(c)
        self.fc = nn.Linear(c, 10)

    def forward(self, x):
        x = F.relu(self.bn(self.conv(x)))
        x = x.mean(dim=(2, 3))
        v = torch.logcumsumexp(self.fc(x), dim=1)
        return torch.softmax(v, dim=1) * 2

def get_inputs():
    return [torch.randn(4, 3, 32, 32)]

def get_init_inputs():
    return [16]
PY
write scan.out 0 "$tmp/scan.py" --by solver --track hybrid --no-tune
says err 'written by joined parts.*2 parts; kept: v = torch.logcumsumexp'
says scan.out 'self.part2(v)'
"$TRITONRL" verify "$tmp/scan.out" --task "$tmp/scan.py" --track hybrid --quiet >/dev/null || fail "verify rejects the joined parts"
write scan.out 1 "$tmp/scan.py" --by solver
says err 'nearest miss: written by joined parts'
says err 'torch.logcumsumexp computes on the host'
write scan.out 1 "$tmp/scan.py" --by solver --track hybrid --no-parts

# Nothing passed: exit code 1 and the reason.
write none.json 1 "$here/solve/unsolved/factorisation.py" --by solver --json
says none.json '"found": *false'
says none.json 'linalg.qr'
# Mistakes: exit code 2 and what to do.
write no.py 2 "$tmp/user.py"
says err 'describe each input'
write no.py 2 "$tmp/user.py" --class Missing --input 4x4
says err "no module 'Missing'"
write no.py 2 "$here/solve/gate.py" --by magic
says err '\-\-by takes'
printf 'class A(:\n' >"$tmp/bad.py"
write no.py 2 "$tmp/bad.py"
says err 'bad.py:1'
echo "write: all good"
