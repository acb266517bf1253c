"""A judge: a program that this package starts and talks to line by line, or a server."""
import asyncio
import atexit
import itertools
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request


class JudgeError(RuntimeError):
    """The judge itself failed: it was not found, did not start, or ended. Never the fault of a candidate."""


def find_program():
    """Finds the program: $TRITONRL, inside this package, in the source tree around it, or on PATH."""
    here = os.path.dirname(os.path.abspath(__file__))
    for path in (os.environ.get("TRITONRL"), os.path.join(here, "bin", "tritonrl"), os.path.join(here, "..", "..", "tritonrl"), shutil.which("tritonrl")):
        if path and os.access(path, os.X_OK) and not os.path.isdir(path):
            return os.path.realpath(path)
    raise JudgeError("the program tritonrl was not found: set TRITONRL to its path, put it on PATH, or give Judge(url=...)")


def main():
    """Replaces this process by the program; the command that a wheel installs."""
    program = find_program()
    os.execv(program, [program, *sys.argv[1:]])


def option_words(options):
    """Turns {"track": "hybrid", "sanitize": False} into words of the command line."""
    words = []
    for name, value in options.items():
        name = name.replace("_", "-")
        if value is True:
            words.append(f"--{name}")
        elif value is False:
            words.append(f"--no-{name}")
        elif value is not None:
            words.append(f"--{name}={value}")
    return words


class Judge:
    """Judges candidates. Thread-safe; usable as a context manager.

    Judge(track="hybrid")                     starts the program with these options of `tritonrl verify`
    Judge(url="http://127.0.0.1:8077")        uses a server; options go with each request
    answers=True                              candidates are answers of a model: the code is extracted first
    """

    def __init__(self, url=None, token=None, program=None, answers=False, retries=6, **options):
        self.url, self.token, self.answers, self.retries = url, token, answers, retries
        self.options = {k: v for k, v in options.items() if v is not None}
        self._program, self._process = program, None
        self._lock, self._ids, self._waiting = threading.Lock(), itertools.count(), {}

    # --- the program, started here ----------------------------------------------------------------

    def _start(self):
        words = [self._program or find_program(), "verify", "--jsonl", "-", "--json", "--quiet", *option_words(self.options)]
        if self.answers:
            words.append("--answers")
        try:
            self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")
        except OSError as e:
            raise JudgeError(f"cannot start {words[0]}: {e}") from e
        self._errors = []
        threading.Thread(target=self._read, args=(self._process,), daemon=True).start()
        threading.Thread(target=self._read_errors, args=(self._process,), daemon=True).start()
        atexit.register(self.close)

    def _read_errors(self, process):
        for line in process.stderr:
            self._errors = (self._errors + [line.rstrip()])[-20:]

    def _read(self, process):
        for line in process.stdout:
            try:
                verdict = json.loads(line)
            except ValueError:
                continue
            with self._lock:
                slot = self._waiting.pop(verdict.get("id"), None)
            if slot:
                slot.put(verdict)
        process.wait()
        time.sleep(0.05)
        why = JudgeError("the judge ended: " + ("; ".join(self._errors) or f"exit code {process.returncode}"))
        with self._lock:
            waiting, self._waiting = self._waiting, {}
            if self._process is process:
                self._process = None
        for slot in waiting.values():
            slot.put(why)

    def _ask_program(self, rows):
        slots = [_Slot() for _ in rows]
        with self._lock:
            if self._process is None:
                self._start()
            process = self._process
            for row, slot in zip(rows, slots):
                row["id"] = str(next(self._ids))
                self._waiting[row["id"]] = slot
        try:
            with self._lock:
                for row in rows:
                    process.stdin.write(json.dumps(row) + "\n")
                process.stdin.flush()
        except (OSError, ValueError):
            pass                    # the reading thread notices that the program ended, and reports why
        return [slot.get() for slot in slots]

    # --- a server -------------------------------------------------------------------------------------

    def _ask_server(self, rows):
        for i, row in enumerate(rows):
            row["id"] = str(i)
        body = json.dumps({"candidates": rows, "options": {k.replace("_", "-"): v for k, v in self.options.items()}, "answers": self.answers}).encode()
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        for attempt in itertools.count():
            try:
                with urllib.request.urlopen(urllib.request.Request(self.url.rstrip("/") + "/v1/verify", body, headers)) as answer:
                    found = {v["id"]: v for v in map(json.loads, answer)}
                if len(found) != len(rows):
                    raise JudgeError(f"the server answered {len(found)} of {len(rows)} candidates")
                return [found[row["id"]] for row in rows]
            except urllib.error.HTTPError as e:
                text = e.read().decode(errors="replace")
                if e.code not in (429, 503) or attempt == self.retries:
                    raise JudgeError(f"the server answered {e.code}: {text.strip()}") from e
                time.sleep(float(e.headers.get("Retry-After", 1)) * 2 ** min(attempt, 4))
            except (OSError, ValueError) as e:
                if attempt == self.retries:
                    raise JudgeError(f"no answer from {self.url}: {e}") from e
                time.sleep(0.2 * 2 ** attempt)

    # --- public interface --------------------------------------------------------------------------------

    def verify_batch(self, tasks, candidates):
        """Returns one verdict per candidate, in order. `tasks` is one source text for all of them, or a list with one each."""
        tasks = [tasks] * len(candidates) if isinstance(tasks, str) else list(tasks)
        if len(tasks) != len(candidates):
            raise ValueError(f"{len(tasks)} tasks for {len(candidates)} candidates")
        rows = [{"task": t, "candidate": c} for t, c in zip(tasks, candidates)]
        if not rows:
            return []
        verdicts = self._ask_server(rows) if self.url else self._ask_program(rows)
        for v in verdicts:
            if isinstance(v, Exception):
                raise v
        return verdicts

    def verify(self, task, candidate):
        """Returns the verdict on one candidate."""
        return self.verify_batch(task, [candidate])[0]

    async def verify_batch_async(self, tasks, candidates):
        return await asyncio.get_running_loop().run_in_executor(None, self.verify_batch, tasks, candidates)

    async def verify_async(self, task, candidate):
        return (await self.verify_batch_async(task, [candidate]))[0]

    def close(self):
        """Ends the program if it was started; safe to call twice."""
        with self._lock:
            process, self._process = self._process, None
        if process:
            try:
                process.stdin.close()
                process.wait(10)
            except (OSError, subprocess.TimeoutExpired):
                process.kill()
                process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class _Slot:
    """One value that the reading thread passes to a waiting thread."""

    def __init__(self):
        self._there, self._value = threading.Event(), None

    def put(self, value):
        self._value = value
        self._there.set()

    def get(self):
        self._there.wait()
        return self._value


# --- kernels for modules -----------------------------------------------------------------------------

def write(module, *, class_name=None, inputs=(), init=(), url=None, token=None, program=None, **options):
    """Returns the best verified Triton kernel for a module, as a dict: the object of `tritonrl write --json` (doc/write.md).
    `solution` is its source, or None if nothing passed; `nearest` is the nearest miss then.

    `module` is source text in KernelBench's or KernelBook's form, or any text with an nn.Module if `inputs` describes the
    inputs of forward ("64x1024:f32") and `init` the arguments of the constructor. Options are those of the command:
    n=16, seconds=60, by="model,solver", track="hybrid", model="DIR". With `url` a server does the work."""
    if url:
        body = {"module": module, "class": class_name, "inputs": list(inputs), "init": [str(v) for v in init], "options": {k: v for k, v in options.items() if v is not None}}
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        body = {k: v for k, v in body.items() if v is not None}
        try:
            with urllib.request.urlopen(urllib.request.Request(url.rstrip("/") + "/v1/write", json.dumps(body).encode(), headers)) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as e:
            raise JudgeError(f"the server answered {e.code}: {e.read().decode(errors='replace').strip()}") from e
        except (OSError, ValueError) as e:
            raise JudgeError(f"no answer from {url}: {e}") from e
    words = [program or find_program(), "write", "-", "--json", "--quiet", *option_words({**options, "class": class_name})]
    words += [f"--input={v}" for v in inputs] + [f"--init={v}" for v in init]
    done = subprocess.run(words, input=module, capture_output=True, text=True, encoding="utf-8")
    if done.returncode not in (0, 1):
        raise JudgeError((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
    return json.loads(done.stdout)


# --- one judge per set of options -------------------------------------------------------------------

_kept, _kept_lock = {}, threading.Lock()


def judge(**options):
    """Returns the judge with these options; it is created once and reused."""
    key = json.dumps(options, sort_keys=True)
    with _kept_lock:
        if key not in _kept:
            _kept[key] = Judge(**options)
        return _kept[key]


def verify(task, candidate, **options):
    """Returns the verdict on one candidate as a dict: the fields of `tritonrl verify --json` (doc/verdict.md)."""
    return judge(**options).verify(task, candidate)


def verify_batch(tasks, candidates, **options):
    return judge(**options).verify_batch(tasks, candidates)


async def verify_async(task, candidate, **options):
    return await judge(**options).verify_async(task, candidate)


async def verify_batch_async(tasks, candidates, **options):
    return await judge(**options).verify_batch_async(tasks, candidates)


# --- reading a verdict -----------------------------------------------------------------------------------------

def at_fault(verdict):
    """Is the task or the judge at fault, or does the candidate use what the judge's engine does not support? Then the
    verdict says nothing about the candidate, and there is no reward."""
    return verdict.get("verdict") in ("task", "internal", "unsupported")


def reward(verdict):
    """Returns the reward of a verdict, or None if the verdict says nothing about the candidate (at_fault)."""
    return None if at_fault(verdict) else float(verdict["reward"])


def feedback(verdict):
    """Returns one paragraph that a person or a model can act on; "" for a correct candidate."""
    if verdict.get("feedback"):
        return verdict["feedback"]
    if verdict.get("verdict") == "correct":
        return ""
    where = f"line {verdict['line']}: " if verdict.get("line") else ""
    hint = f" Hint: {verdict['hint']}" if verdict.get("hint") else ""
    return f"The kernel was rejected at stage {verdict.get('stage')} ({verdict.get('reason')}): {where}{verdict.get('message')}{hint}"
