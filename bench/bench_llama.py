#!/usr/bin/env python3
"""bench_model's 135 M model beside llama.cpp's on the same sizes, in one run.

    bench_llama.py LLAMA_BATCHED_BENCH [THREADS]      BUILD_DIR=build/release

LLAMA_BATCHED_BENCH is that program of a llama.cpp built for this machine. Each of our ways to keep
weights stands beside the nearest of theirs: f32, and fast (bf16) beside BF16 and F16. Prompts of 16
tokens, each sequence its own; tokens per second of wall time.
"""
import os, re, struct, subprocess, sys, tempfile

import numpy as np

V, C, L, H, HKV, F = 49152, 576, 30, 9, 3, 1536
THREADS = sys.argv[2] if len(sys.argv) > 2 else "1"
TYPES = {"F32": (0, lambda x: x), "F16": (1, lambda x: x.astype(np.float16)), "BF16": (30, lambda x: (x.view(np.uint32) >> 16).astype(np.uint16))}
STEPS = {1: 24, 32: 8, 128: 4}


def text(s):
    return struct.pack("<Q", len(s)) + s.encode()


def field(key, value):
    if isinstance(value, str):
        return text(key) + struct.pack("<I", 8) + text(value)
    return text(key) + (struct.pack("<If", 6, value) if isinstance(value, float) else struct.pack("<II", 4, value))


def write_gguf(path, kind):
    """A Llama of random weights in GGUF, version 3, without a vocabulary."""
    number, convert = TYPES[kind]
    d = C // H
    shapes = [("token_embd", V, C), ("output_norm", C)]
    for i in range(L):
        shapes += [(f"blk.{i}.{n}", *s) for n, s in (
            ("attn_norm", (C,)), ("attn_q", (C, C)), ("attn_k", (HKV * d, C)), ("attn_v", (HKV * d, C)), ("attn_output", (C, C)),
            ("ffn_norm", (C,)), ("ffn_gate", (F, C)), ("ffn_up", (F, C)), ("ffn_down", (C, F)))]
    fields = {"general.architecture": "llama", "llama.context_length": 2048, "llama.embedding_length": C, "llama.block_count": L,
              "llama.feed_forward_length": F, "llama.attention.head_count": H, "llama.attention.head_count_kv": HKV,
              "llama.attention.layer_norm_rms_epsilon": 1e-5, "llama.rope.dimension_count": d, "llama.vocab_size": V,
              "tokenizer.ggml.model": "no_vocab"}
    rng = np.random.default_rng(1)
    table, data, at = b"", [], 0
    for name, *shape in shapes:
        x = rng.standard_normal(shape, np.float32) * 0.02
        raw = (convert(x) if len(shape) > 1 else x).tobytes()
        table += text(name + ".weight") + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in reversed(shape))
        table += struct.pack("<IQ", number if len(shape) > 1 else 0, at)
        raw += b"\0" * (-len(raw) % 32)
        data.append(raw)
        at += len(raw)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(fields)) + b"".join(field(*f) for f in fields.items()) + table
    with open(path, "wb") as f:
        f.write(head + b"\0" * (-len(head) % 32))
        f.writelines(data)


def theirs(tool, kind, folder):
    path = os.path.join(folder, kind + ".gguf")
    write_gguf(path, kind)
    out = {}
    for batch, steps in STEPS.items():
        p = subprocess.run([tool, "-m", path, "-c", str(batch * (16 + steps)), "-b", "2048", "-ub", "512", "-npp", "16", "-ntg", str(steps),
                            "-npl", str(batch), "-t", THREADS, "-tb", THREADS], capture_output=True, text=True)
        row = [r for r in p.stdout.splitlines() if re.match(rf"\|\s*16 \|\s*{steps} \|\s*{batch} \|", r)]
        if p.returncode or not row:
            sys.exit(f"{tool}: {p.stdout[-500:]}{p.stderr[-500:]} (exit {p.returncode})")
        cells = [c.strip() for c in row[0].split("|")]
        out[f"prefill_{batch}"], out[f"decode_{batch}"] = float(cells[6]), float(cells[8])
    os.remove(path)
    return out


def ours(store):
    tool = os.path.join(os.environ.get("BUILD_DIR", "build/release"), "bench", "bench_model")
    out = subprocess.run([tool, "large", THREADS, store], capture_output=True, text=True, check=True).stdout
    return {line.split()[0].removeprefix("large_"): float(line.split()[1]) for line in out.splitlines()[1:]}


def main():
    with tempfile.TemporaryDirectory() as folder:
        peer = {k: theirs(sys.argv[1], k, folder) for k in TYPES}
    mine = {s: ours(s) for s in ("f32", "fast")}
    print(f"135 M, {THREADS} threads; tokens/s of wall time")
    print(f"{'':12s}" + "".join(f"{c:>13s}" for c in ("f32", "llama F32", "ratio", "fast", "llama BF16", "ratio", "llama F16", "ratio")))
    for name in (f"{w}_{b}" for b in STEPS for w in ("prefill", "decode")):
        a, b = mine["f32"][name], mine["fast"][name]
        p = {k: v[name] for k, v in peer.items()}
        print(f"{name:12s}{a:13.0f}{p['F32']:13.0f}{a / p['F32']:13.2f}{b:13.0f}{p['BF16']:13.0f}{b / p['BF16']:13.2f}{p['F16']:13.0f}{b / p['F16']:13.2f}")


if __name__ == "__main__":
    main()
