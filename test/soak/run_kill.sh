#!/bin/bash
# Kills `tritonrl run` with SIGKILL at random moments and starts it again until it is through; then
# another one, until there were KILLS kills. Each ends with the bits of a run that was left alone:
# weights, tables, store, metrics.
set -eu
kills_wanted=${KILLS:-100}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/config.yaml" <<END
model: $root/models/base
prompt_style: compact
weights: fast
save_every: 1
workers: 2
threads: 1
prepare: {source: builtin, style: plain, count: 30, level: [1, 1, 2], rl_count: 8, validation: 0.1}
sft: {batch: 2, steps: 4, max_length: 640, lr: 1e-4}
rl: {method: reinforce, n: 3, temperature: 1.1, steps: 4, tasks_per_step: 2, max_new_tokens: 200, max_length: 640, lr: 1e-4, inner: 2}
eval: {tasks: $root/tasks/plain/test_level1.jsonl, limit: 2, n: 1, max_new_tokens: 200}
report: {title: soak}
END

start() { # in its own folder, so that paths in results agree
	mkdir -p "$work/$1"
	cd "$work/$1"
	exec "$TRITONRL" run "$work/config.yaml" --out run > out.txt 2>&1
}

# Everything that must be the same, as text.
digest() {
	cd "$work/$1/run"
	sha256sum config.yaml report.html outputs/* data/processed/* checkpoints/*/*
	python3 - <<'END'
import json, sqlite3
db = sqlite3.connect("run.db")
for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
    for row in sorted(db.execute("SELECT * FROM " + table).fetchall(), key=repr):
        print(table, row)
for line in open("metrics.jsonl"):
    row = json.loads(line)
    del row["seconds"]
    print("metrics", row)
END
}

t0=$(date +%s%N)
(start whole)
ms=$((($(date +%s%N) - t0) / 1000000))
window=$((ms / 8 + 200))    # the longest life between two kills: a busy machine needs more
(digest whole) > "$work/whole.txt"
grep '"stage":"rl"' "$work/whole/run/metrics.jsonl" | grep -qv '"grad_norm":0.0[,}]' || { echo "run: rl has nothing to learn from"; exit 1; }

kills=0 rounds=0
while [ $kills -lt "$kills_wanted" ]; do
	name=round$rounds
	while :; do
		(start $name) &
		pid=$!
		life=$((RANDOM * 32768 + RANDOM))
		life=$((life % window))
		sleep "$((life / 1000)).$(printf %03d $((life % 1000)))"
		kill -9 $pid 2> /dev/null || true
		rc=0
		wait $pid 2> /dev/null || rc=$?
		[ $rc -ne 0 ] || break
		[ $rc -eq 137 ] || { cat "$work/$name/out.txt"; exit 1; }
		kills=$((kills + 1))
	done
	(digest $name) > "$work/$name.txt"
	cmp "$work/whole.txt" "$work/$name.txt" || {
		diff "$work/whole.txt" "$work/$name.txt" | cut -c1-300 | head -n 20
		echo "run: differs after $kills kills"
		exit 1
	}
	rounds=$((rounds + 1))
done
for i in 1 2 3 4 5 6 7 8 9 10; do pgrep -f "$work/config.yaml" > /dev/null || break; sleep 0.5; done
! pgrep -f "$work/config.yaml" || { echo "run: processes left behind"; exit 1; }
echo "run: $kills kills in $rounds runs (one alone takes $((ms / 1000)) s), weights, tables, store and metrics the same each time"
