#!/bin/bash
# What one watches: every gauge in metrics.jsonl and TensorBoard's file, the clock's not in the store; looks at
# validation rows and tasks during training; a stopped run has the same values as one that was not.
set -eu
fail() { echo "watch.sh: $*"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$TRITONRL" prepare --count 24 --level 1 --style plain --validation 0.2 --prompt-style compact --out "$dir/data" --quiet
[ -s "$dir/data/sft_validation.jsonl" ] && [ -s "$dir/data/tasks_validation.jsonl" ] || fail "nothing was held back"

"$TRITONRL" train --model models/base --full --data "$dir/data/sft_train.jsonl" --out "$dir/sft" --steps 4 --batch 2 --max-length 512 --lr 1e-3 \
	--eval-every 2 --validation "$dir/data/sft_validation.jsonl" --eval-tasks "$dir/data/tasks_validation.jsonl" --eval-limit 2 \
	--max-new-tokens 40 > /dev/null 2>&1
[ "$(grep -c '"validation_loss":[0-9.]*,"eval_correct":[0-9.]*,"eval_reward":' "$dir/sft/metrics.jsonl")" = 2 ] || fail "$(cat "$dir/sft/metrics.jsonl")"

rl=(train --stage rl --model models/base --tasks "$dir/data/tasks_train.jsonl" --method grpo --n 3 --tasks-per-step 3 --rl-steps 3 --kl-every 1
	--save-every 1 --max-new-tokens 80 --max-length 512 --temperature 1 --rl-lr 1e-3 --eval-every 2 --eval-tasks "$dir/data/tasks_validation.jsonl"
	--eval-limit 2 --threads 1)
"$TRITONRL" "${rl[@]}" --out "$dir/a" > /dev/null 2>&1
python3 - "$dir/a" << 'END' || fail "gauges"
import glob, json, sqlite3, sys
rows = [json.loads(line) for line in open(sys.argv[1] + "/metrics.jsonl")]
every = "reward correct speedup passed_ast passed_compile passed_tiny level2_share length cut_share turns no_signal_share kl".split()
clock = "tokens_per_s candidates_per_s judge_queue judge_idle judge_wait_s".split()
for r in rows:
    missing = [k for k in every + clock if k not in r]
    assert not missing, missing
    assert r["level2_share"] == 0 and r["length"] > 0 and 0 <= r["no_signal_share"] <= 1, r
assert rows[0]["kl"] == 0, "the first samples are of the start itself: %r" % rows[0]["kl"]
assert any("entropy" in r and r["entropy"] > 0 and 0 <= r["clip_share"] <= 1 for r in rows), rows
assert [("eval_correct" in r) for r in rows] == [False, True, True], rows
tags = b"".join(open(f, "rb").read() for f in glob.glob(sys.argv[1] + "/logs/events*"))
for k in every + clock + ["eval_correct"]:
    assert b"rl/" + k.encode() in tags, k
for (extra,) in sqlite3.connect(sys.argv[1] + "/run.db").execute("SELECT extra FROM step"):
    assert not set(clock) & set(json.loads(extra)), extra
END
"$TRITONRL" "${rl[@]}" --out "$dir/b" > /dev/null 2>&1 &
pid=$!
for i in $(seq 200); do
	[ -e "$dir/b/checkpoints/rl-000001/MANIFEST" ] && break
	sleep 0.05
done
kill -INT $pid 2> /dev/null || true
wait $pid || true
"$TRITONRL" "${rl[@]}" --out "$dir/b" > /dev/null 2>&1 || fail "a stopped run does not go on"
python3 - "$dir" << 'END' || fail "a stopped run has other values"
import sqlite3, sys
a, b = (sqlite3.connect("%s/%s/run.db" % (sys.argv[1], x)).execute("SELECT step, loss, extra FROM step ORDER BY step").fetchall() for x in "ab")
assert a == b, (a, b)
END

# A look that is cut short: its answers are kept, the run goes on from the last checkpoint with them, and ends as the other.
sft=(train --model models/base --data "$dir/data/sft_train.jsonl" --steps 3 --batch 2 --max-length 512 --lr 1e-3 --eval-every 2 --eval-tasks
	"$dir/data/tasks_train.jsonl" --eval-limit 16 --max-new-tokens 200 --slots 4 --threads 1)
"$TRITONRL" "${sft[@]}" --out "$dir/c" > /dev/null 2>&1
python3 - "$dir/d" "$TRITONRL" "${sft[@]}" --out "$dir/d" << 'END' || fail "answers of a look are not kept"
import os, signal, sqlite3, subprocess, sys, time
def kept():
    try:
        return sqlite3.connect(sys.argv[1] + "/run.db").execute("SELECT count(*) FROM pending WHERE stage LIKE 'look.%'").fetchone()[0]
    except sqlite3.OperationalError:
        return 0
p = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
while p.poll() is None and not kept():
    time.sleep(0.01)
p.send_signal(signal.SIGINT)
p.wait()
before = kept()
p = subprocess.run(sys.argv[2:], capture_output=True, text=True)
assert before and f"{before} of 16 samples of look." in p.stdout + p.stderr, (before, p.stdout, p.stderr)
assert not kept(), "answers of a look stay when the stage is over"
a, b = (sqlite3.connect(x + "/run.db").execute("SELECT step, loss, extra FROM step ORDER BY step").fetchall() for x in (sys.argv[1][:-1] + "c", sys.argv[1]))
assert a == b, (a, b)
END
