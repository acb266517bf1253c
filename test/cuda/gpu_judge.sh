#!/bin/bash
# gpu_judge.sh BUILD PROGRAM: the GPU judge on a real GPU. Honest candidates must be correct there and
# be measured; a kernel that fails only on a GPU must cost one verdict. Exit code 77: no GPU or Triton.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=$2
python=${XDG_CACHE_HOME:-$HOME/.cache}/tritonrl/venv/bin/python
[ -x "$python" ] || python=python3
"$program" doctor 2>/dev/null | grep -q '^ok *gpu judge' || { echo "skip: no GPU, or no Triton"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0
for file in "$here"/../honest/*.py; do
	grep -q '^# track: hybrid' "$file" && continue
	task=$here/../honest/tasks/$(sed -n 's/^# task: //p' "$file").py
	"$program" verify "$file" --task "$task" --device cuda --gpu-python "$python" --trials 10 --json --quiet >"$tmp/v" 2>"$tmp/err" || true
	python3 - "$tmp/v" "$file" <<'END' || bad=$((bad + 1))
import json, sys
v = json.load(open(sys.argv[1]))
if not v["correct"] or (v["gpu"]["ran"] and not v["gpu"]["time"]):
    sys.exit(f"{sys.argv[2]}: {v['stage']} {v['reason']}: {v['message']} {v.get('gpu')}")
END
done
# Counters, or the reason why there are none.
file=$here/../honest/add_flat.py
"$program" verify "$file" --task "$here/../honest/tasks/$(sed -n 's/^# task: //p' "$file").py" --device cuda --gpu-python "$python" --counters --json --quiet >"$tmp/v" 2>"$tmp/err" || true
python3 - "$tmp/v" <<'END' || bad=$((bad + 1))
import json, sys
g = json.load(open(sys.argv[1]))["gpu"]
print(f"counters: {g['counters'] or g['counters_note']}")
sys.exit(not g["counters"] and not g["counters_note"])
END
echo "gpu_judge.sh: $bad honest candidates fail on the GPU"
[ $bad = 0 ]
