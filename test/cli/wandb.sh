#!/bin/bash
# report --wandb: a folder in the form of an offline run of Weights & Biases. The file is decoded here as its own
# program does: log of LevelDB, checksums, protocol buffers. Writing it again replaces it.
set -eu
fail() { echo "FAILED: $*"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$TRITONRL" eval --model models/base --name rl --tasks tasks/plain/test_level1.jsonl --limit 2 --n 1 --max-new-tokens 40 --threads 1 --workers 1 \
	--no-both-tracks --quiet --run "$dir/run" > /dev/null
python3 - "$dir/run" <<'END'
import json, sqlite3, sys
with open(sys.argv[1] + "/metrics.jsonl", "w") as f:
    for i in range(400):
        stage, step = ("sft", i + 1) if i < 150 else ("rl", i - 149)
        f.write(json.dumps({"step": step, "stage": stage, "loss": i / 7, "lr": 1e-4, "tokens": i, "seconds": 0.5}) + "\n")
db = sqlite3.connect(sys.argv[1] + "/run.db")
db.execute("INSERT OR REPLACE INTO meta VALUES ('config', ?)", ("model: 'm'\nfull: true\nrl:\n  lr: 1e-4\n  n: 8\n  list: [a, 2]\nnote: \"7\"\n" + f"pad: {'x' * 70000}\n",))
db.commit()
END
echo "2026-01-02T03:04:05Z a message" > "$dir/run/training.log"
"$TRITONRL" report "$dir/run" > /dev/null 2>&1
[ ! -e "$dir/run/wandb" ] || fail "a folder without --wandb"
"$TRITONRL" report "$dir/run" --wandb > "$dir/out" 2>&1
cp -r "$dir/run/wandb" "$dir/first"
"$TRITONRL" report "$dir/run" --wandb > "$dir/out" 2>&1
diff -r "$dir/first" "$dir/run/wandb" || fail "writing it again gives another run"
python3 - "$dir/run" "$dir/out" <<'END' || fail "the folder: $(find "$dir/run/wandb")"
import glob, json, struct, sys, zlib
[folder] = glob.glob(sys.argv[1] + "/wandb/*")
assert "/offline-run-20260102_030405-" in folder and "wandb sync " + folder in open(sys.argv[2]).read(), folder
id = folder.rsplit("-", 1)[1]
data = open(f"{folder}/run-{id}.wandb", "rb").read()

def records():
    assert data[:7] == struct.pack("<4sHB", b":W&B", 0xBEE1, 0)
    at, held, kinds = 7, b"", set()
    while at < len(data):
        room = 32768 - at % 32768
        if room < 7:
            assert data[at:at + room] == bytes(room)
            at += room
            continue
        crc, n, kind = struct.unpack_from("<IHB", data, at)
        part = data[at + 7:at + 7 + n]
        assert n == len(part) and n + 7 <= room and crc == zlib.crc32(bytes([kind]) + part), (at, n, kind)
        assert (kind in (1, 2)) == (not held), kind
        held, at = held + part, at + 7 + n
        kinds.add(kind)
        if kind in (1, 4):
            yield held
            held = b""
    assert not held and kinds == {1, 2, 3, 4}, kinds

def varint(b, at):
    v = shift = 0
    while True:
        v |= (b[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if not b[at - 1] & 128:
            return v, at

def fields(b):
    at, out = 0, {}
    while at < len(b):
        tag, at = varint(b, at)
        v, at = varint(b, at)
        if tag & 7 == 2:
            v, at = b[at:at + v], at + v
        out.setdefault(tag >> 3, []).append(v)
    return out

def items(b, field):
    pairs = [fields(i) for i in fields(b).get(field, [])]
    return {p[1][0].decode(): json.loads(p[16][0]) for p in pairs}

all = [fields(r) for r in records()]
assert [r[1] for r in all] == [[i + 1] for i in range(403)], len(all)
run = fields(all[0][17][0])
assert run[1] == [id.encode()] and run[3] == [b"tritonrl"] and run[8] == [b"run"] and fields(run[17][0])[1] == [1767323045], run
config = items(run[4][0], 1)
assert (config["model"], config["full"], config["rl"], config["note"]) == ("m", True, {"lr": 1e-4, "n": 8, "list": ["a", 2]}, "7"), config
assert len(config["pad"]) == 70000
for i, r in enumerate(all[1:401]):
    h, stage = items(r[2][0], 1), "sft" if i < 150 else "rl"
    assert h[stage + "/loss"] == i / 7 and h[stage + "/step"] == (i + 1 if i < 150 else i - 149), h
    assert h["_step"] == i == fields(fields(r[2][0])[2][0]).get(1, [0])[0] and h["_timestamp"] == 1767323045 + (i + 1) / 2, h
summary = items(all[401][3][0], 1)
assert summary["rl/loss"] == 399 / 7 and summary["sft/step"] == 150 and summary["eval_rl/tasks"] == 2, summary
assert fields(all[402][18][0]) == {1: [0], 2: [200]}, all[402]
END
