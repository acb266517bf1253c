#!/usr/bin/env python3
"""bench_model beside transformers and PEFT on the same sizes, in one run.

    bench_model.py [small|large|all] [THREADS] [f32|bf16|fast|int8]      BUILD_DIR=build/release

Figures are tokens per second of wall time and of CPU time; on a machine that does other work
compare the CPU columns with THREADS 1. transformers: fp32, eager steps as its users write
them (sdpa attention, AdamW), generate() with a key-value cache. `bandwidth` is in GB/s, and
`of_bandwidth` the share of it, in per cent, at which decode reads the weights.
"""
import os, subprocess, sys, time

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM

which = sys.argv[1] if len(sys.argv) > 1 else "small"
threads = int(sys.argv[2]) if len(sys.argv) > 2 else 0
store = sys.argv[3] if len(sys.argv) > 3 else "f32"
torch.set_num_threads(threads or len(os.sched_getaffinity(0)))

SMALL = Qwen2Config(vocab_size=2048, hidden_size=256, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2,
                    intermediate_size=512, max_position_embeddings=2048, tie_word_embeddings=True)
LARGE = LlamaConfig(vocab_size=49152, hidden_size=576, num_hidden_layers=30, num_attention_heads=9, num_key_value_heads=3,
                    intermediate_size=1536, max_position_embeddings=2048, tie_word_embeddings=True)


def timed(fn, repeat=1):
    wall = cpu = 1e30
    for _ in range(repeat):
        w, c = time.perf_counter(), time.process_time()
        fn()
        wall, cpu = min(wall, time.perf_counter() - w), min(cpu, time.process_time() - c)
    return wall, cpu


def train(cls, cfg, lora, batch, length, steps):
    m = cls(cfg)
    if lora:
        from peft import LoraConfig, get_peft_model
        m = get_peft_model(m, LoraConfig(r=16, lora_alpha=32, lora_dropout=0.05, target_modules="all-linear", task_type="CAUSAL_LM"))
    opt = torch.optim.AdamW([p for p in m.parameters() if p.requires_grad])
    ids = torch.randint(0, cfg.vocab_size, (batch, length))

    def step():
        m(ids, labels=ids).loss.backward()
        torch.nn.utils.clip_grad_norm_(m.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
    step()
    return timed(step, steps), batch * length


def decode(m, cfg, batch, prompt, new):
    ids = torch.randint(0, cfg.vocab_size, (batch, prompt))
    run = lambda n: m.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=n, min_new_tokens=n, do_sample=False, pad_token_id=0)
    with torch.no_grad():
        run(2)
        one, many = timed(lambda: run(1)), timed(lambda: run(new + 1))
    return (one, batch * prompt), (tuple(b - a for a, b in zip(one, many)), batch * new)


def theirs():
    out = {}

    def add(name, r):
        (wall, cpu), n = r
        out[name] = (n / wall, n / cpu)

    def both(name, r):
        add(name % "prefill", r[0])
        add(name % "decode", r[1])
    if which != "large":
        add("small_train_full", train(Qwen2ForCausalLM, SMALL, False, 8, 512, 3))
        add("small_train_lora", train(Qwen2ForCausalLM, SMALL, True, 8, 512, 3))
        m = Qwen2ForCausalLM(SMALL).eval()
        for b, n in ((1, 128), (32, 64), (128, 32)):
            both(f"small_%s_{b}", decode(m, SMALL, b, 128, n))
    if which != "small":
        add("large_train_full", train(LlamaForCausalLM, LARGE, False, 1, 256, 1))
        add("large_train_lora", train(LlamaForCausalLM, LARGE, True, 1, 256, 1))
        m = LlamaForCausalLM(LARGE).eval()
        for b, n in ((1, 24), (32, 8), (128, 4)):
            both(f"large_%s_{b}", decode(m, LARGE, b, 16, n))
    return out


peer = theirs()
tool = os.path.join(os.environ.get("BUILD_DIR", "build/release"), "bench", "bench_model")
ours = subprocess.run([tool, which, str(threads), store], capture_output=True, text=True, check=True).stdout
print(f"{torch.get_num_threads()} threads, ours {store}, transformers fp32; tok/s of wall time, of CPU time")
print(f"{'':28s} {'ours':>9s} {'':>9s} {'theirs':>9s} {'':>9s} {'ratio':>6s} {'':>6s}")
for line in ours.splitlines()[1:]:
    name, wall, cpu = line.split()
    wall, cpu = float(wall), float(cpu)
    if name in peer:
        w, c = peer[name]
        print(f"{name:28s} {wall:9.0f} {cpu:9.0f} {w:9.0f} {c:9.0f} {wall / w:6.2f} {cpu / c:6.2f}")
    else:
        print(f"{name:28s} {wall:9.0f} {cpu:9.0f}")
