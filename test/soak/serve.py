"""The server for SOAK_SECONDS under clients that behave, stall, vanish and send garbage, all drawn by a seed (SOAK_SEED).

What must hold: every candidate of a client that stayed is answered, once, with the verdict it had before; the server answers
/healthz in time all along; its memory does not grow; no judging process is stuck at the end; it stops with code 0. The garbage is
a fuzzer of the HTTP front: mutated request lines, headers, lengths, chunks and bodies over raw sockets. SOAK_RATE clients a second."""
import http.client
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time

SECONDS = float(os.environ.get("SOAK_SECONDS", "60"))
SEED = int(os.environ.get("SOAK_SEED", str(int(time.time()))))
RATE = float(os.environ.get("SOAK_RATE", "8"))
PROGRAM = os.environ["TRITONRL"]
TASK = open("test/cheats/tasks/add.py").read()
GOOD = open("test/cheats/control_correct/add.py").read()
KINDS = {"correct": GOOD, "wrong": GOOD.replace(" + ", " - "), "broken": "x = (", "bare": "x = 1", "loops": "while True:\n    pass\n" + GOOD}
count = {"answered": 0, "vanished": 0, "garbage": 0, "stalled": 0, "checked": 0, "refused": 0, "lost": 0, "changed": 0, "late": 0}
first = {}
lock = threading.Lock()


def note(what, n=1):
    with lock:
        count[what] += n


class Client:
    def __init__(self, port, rng):
        self.port, self.rng = port, rng

    def post(self, path, body, timeout=120):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        c.request("POST", path, json.dumps(body).encode())
        r = c.getresponse()
        text = r.read().decode()
        c.close()
        return r.status, text

    def candidates(self):
        rows = []
        for i in range(self.rng.randrange(1, 5)):
            kind = self.rng.choice(list(KINDS))
            mark = "" if self.rng.random() < 0.5 else "\n# %d" % self.rng.randrange(10 ** 9)
            rows.append({"id": "%s-%d" % (kind, i), "candidate": KINDS[kind] + mark})
        return rows

    def behave(self):
        rows = self.candidates()
        status, text = self.post("/v1/verify", {"task": TASK, "candidates": rows})
        if status == 429:
            return note("refused")
        got = {}
        for line in text.splitlines():
            v = json.loads(line)
            got.setdefault(v["id"], []).append(v)
        for r in rows:
            if len(got.get(r["id"], [])) != 1:
                note("lost")
                continue
            v, kind = got[r["id"]][0], r["id"].split("-")[0]
            with lock:
                was = first.setdefault(kind, (v["verdict"], v["reason"]))
            note("answered")
            if was != (v["verdict"], v["reason"]):
                note("changed")

    def check(self):
        status, _ = self.post("/v1/check", {"source": self.rng.choice(list(KINDS.values())), "task": TASK})
        note("checked" if status in (200, 422, 429) else "lost")

    def raw(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def vanish(self):
        s = self.raw()
        body = json.dumps({"task": TASK, "candidates": self.candidates()}).encode()
        s.sendall(b"POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body[:self.rng.randrange(len(body) + 1)])
        time.sleep(self.rng.random() * 0.2)
        s.close()
        note("vanished")

    def stall(self):
        s = self.raw()
        s.sendall(b"POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
        time.sleep(self.rng.random() * 8)
        s.close()
        note("stalled")

    def garbage(self):
        text = bytearray(b"POST /v1/verify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n5\r\n{\"tas\r\n0\r\n\r\n" if self.rng.random() < 0.3 else
                         b"%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (self.rng.choice([b"GET", b"POST", b"PUT", b"DELETE", b"OPTIONS"]),
                         self.rng.choice([b"/v1/verify", b"/v1/check", b"/v1/verdicts/", b"/metrics", b"/", b"/v1/run/task/%00", b"//", b"/%ff%fe"]), self.rng.choice([0, 2, 50, 10 ** 12])) +
                         self.rng.choice([b"{}", b"[]", b"{\"task\": 1}", b"{\"candidates\": [[]]}", b"{\"task\": \"x\", \"candidate\": \"\\ud800\"}", b"\x00" * 50, b"{" * 3000]))
        for _ in range(self.rng.randrange(0, 12)):
            at = self.rng.randrange(len(text))
            text[at:at + self.rng.randrange(0, 4)] = bytes(self.rng.randrange(256) for _ in range(self.rng.randrange(0, 5)))
        s = self.raw()
        try:
            s.sendall(bytes(text))
            s.settimeout(1)
            while s.recv(65536):
                pass
        except OSError:
            pass
        s.close()
        note("garbage")

    def run(self):
        what = self.rng.choices([self.behave, self.check, self.vanish, self.stall, self.garbage], [4, 1, 1, 0.5, 3])[0]
        try:
            what()
        except (OSError, http.client.HTTPException, json.JSONDecodeError) as e:
            note("lost")
            print(what.__name__, repr(e), flush=True)


def rss(pid):
    return int(next(l for l in open("/proc/%d/status" % pid) if l.startswith("VmRSS")).split()[1])


def main():
    rng = random.Random(SEED)
    server = subprocess.Popen([PROGRAM, "serve", "--port", "0", "--workers", "2", "--idle", "5", "--queue", "64"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    port = int(server.stdout.readline().rstrip().rsplit(":", 1)[1])
    start, settled, alive = time.time(), None, []
    while time.time() - start < SECONDS:
        alive = [t for t in alive if t.is_alive()]
        if len(alive) < 40:
            t = threading.Thread(target=Client(port, random.Random(rng.random())).run, daemon=True)
            t.start()
            alive.append(t)
        asked = time.time()
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        c.request("GET", "/healthz")
        ok = c.getresponse().status == 200
        c.close()
        if not ok or time.time() - asked > 5:
            note("late")
        if settled is None and time.time() - start > SECONDS / 3:
            settled = rss(server.pid)
        time.sleep(rng.expovariate(RATE))
    for t in alive:
        t.join(150)
    deadline = time.time() + 60
    while time.time() < deadline:
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        c.request("GET", "/metrics")
        text = c.getresponse().read().decode()
        c.close()
        waiting = [l for l in text.splitlines() if l.startswith("tritonrl_candidates_waiting ")][0]
        if waiting.endswith(" 0"):
            break
        time.sleep(0.5)
    grown = rss(server.pid) - settled
    server.terminate()
    rc = server.wait(90)
    print("serve soak: seed %d, %.0f s, %s, memory %+d KiB since a third of the time" % (SEED, time.time() - start, count, grown))
    assert rc == 0, rc
    assert waiting.endswith(" 0"), "a worker is stuck: " + waiting
    assert not count["lost"] and not count["changed"] and not count["late"] and count["answered"], count
    assert grown < 65536, grown


sys.exit(main())
