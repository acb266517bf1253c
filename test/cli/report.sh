#!/bin/bash
# report: held-out tasks whose outcome changed come first, so that they are in a page that is full; what the page shows of
# models, intervals and paired tests.
set -eu
fail() { echo "FAILED: $*"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
with=(--tasks tasks/plain/test_level1.jsonl --limit 24 --n 1 --max-new-tokens 60 --threads 1 --workers 1 --no-both-tracks --quiet --run "$dir/run")
for name in rl sft base; do "$TRITONRL" eval --model models/base --name $name "${with[@]}" > /dev/null; done

# Answers of 100 kB each: a page of one megabyte has room for a few tasks. The last two tasks are solved by rl only; another
# was only asked in training.
python3 - "$dir/run/run.db" > "$dir/changed" <<'END'
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
ids = sorted(r[0] for r in db.execute("SELECT DISTINCT task FROM sample"))
db.execute("UPDATE sample SET correct = 0, speedup = 0, answer = ?", ("x" * 40000,))
db.execute("UPDATE sample SET correct = 1, speedup = 2 WHERE stage = 'eval_rl' AND task IN (?, ?)", ids[-2:])
db.execute("INSERT INTO task SELECT 'a-trained-task', level, split, ops, source FROM task LIMIT 1")
db.execute("INSERT INTO sample (stage, step, task, number, answer, code, tokens, finish, correct, reached, reason, reward, speedup)"
           " VALUES ('rl', 1, 'a-trained-task', 0, 'x', 'x', 1, 'stop', 1, 'timing', 'ok', 1, 3)")
compare = [{"from": a, "to": b, "group": "all", "tasks": 24, "points": 8.3, "p": 0.0312} for a, b in (("base", "sft"), ("sft", "rl"))]
db.execute("INSERT OR REPLACE INTO meta VALUES ('compare', ?)", (json.dumps(compare),))
db.commit()
print("\n".join(ids[-2:]))
END
"$TRITONRL" report "$dir/run" --megabytes 1 --out "$dir/page.html" > /dev/null
python3 - "$dir/page.html" "$dir/changed" <<'END' || fail "the page"
import json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
changed = open(sys.argv[2]).read().split()
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
shown = [c["id"] for c in data["candidates"]]
assert len(page) < 1_050_000 and data["left_out"] > 0, (len(page), data["left_out"])
assert shown[:2] == changed and "a-trained-task" not in shown[:3], shown
assert len(data["runs"][0]["compare"]) == 2
low, high = next(e for e in data["runs"][0]["evals"] if e["name"] == "base")["metrics"]["correct_interval"]
assert low < high, (low, high)
# A task that sft was never asked is not "solved by rl, not by sft"; the comparison is a list.
assert 'x.rl > 0 && x.sft === 0' in page and 'Array.isArray(found)' in page
END

# With a browser: the drawn page.
if command -v chromium > /dev/null; then
	timeout 60 chromium --headless --no-sandbox --disable-gpu --window-size=1280,2000 --dump-dom "file://$dir/page.html" > "$dir/dom" 2> /dev/null || fail "chromium"
	python3 - "$dir/dom" <<'END' || fail "the drawn page"
import re, sys
dom = open(sys.argv[1], encoding="utf-8").read()
cards = re.findall(r"<div>(\w+): correct</div>", dom)
assert cards == ["base", "sft", "rl"], cards
# Percentages have one decimal everywhere, so that columns can be compared.
shown = re.findall(r">(-?[\d.]+) %<", dom)
assert len(shown) > 30 and all(re.fullmatch(r"-?\d+\.\d", x) for x in shown), shown
table = dom[dom.index('id="compare"'):dom.index('id="funnel"')]
assert table.count("0.0312") == 2 and "+8.3" in table, table
END
	# Nothing is wider than the window; a phone shows the tasks and what was correct without scrolling.
	fit='document.body.dataset.fit = [["page", document.documentElement], ["tasks", document.getElementById("tasktable").parentNode],
		["eval", document.getElementById("evaltable")]].map(([n, e]) => n + ":" + (e.scrollWidth - e.clientWidth)).join(" ")'
	sed "s|</body>||" "$dir/page.html" > "$dir/fit.html"
	echo "<script>$fit</script></body>" >> "$dir/fit.html"
	for width in 1280 390; do
		timeout 60 chromium --headless --no-sandbox --disable-gpu --window-size=$width,2000 --dump-dom "file://$dir/fit.html" > "$dir/dom" 2> /dev/null ||
			fail "chromium"
		fits=$(grep -o 'data-fit="[^"]*"' "$dir/dom")
		case $width in
		1280) [ "$fits" = 'data-fit="page:0 tasks:0 eval:0"' ] || fail "at $width pixels: $fits" ;;
		*) [[ $fits = 'data-fit="page:0 tasks:0 '* ]] || fail "at $width pixels: $fits" ;;
		esac
	done
fi
