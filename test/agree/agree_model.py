#!/usr/bin/env python3
"""The model engine against transformers and PEFT: random models of each family.

    agree_model.py [--full] [--big] [--only NAME]

For each model: every logit (decoded token by token), log-probabilities of a prefill in odd
chunks, loss and every gradient tensor of full fine-tuning and of LoRA over a pack of
sequences, ten AdamW steps, PEFT adapters in both directions, merged export, greedy text.
Prints one row per check; exit 1 if any is over its tolerance. Runs BUILD_DIR/tool/model_tool.
--full adds a model of 100 M parameters (minutes). --big is for one of 500 M alone, with logits, every
gradient, ten steps and greedy text: 10 GB of memory and some minutes.
"""
import json, os, subprocess, sys, tempfile, time

import numpy as np
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, LlamaConfig, Qwen2Config, Qwen3Config

torch.set_num_threads(1)
LLAMA3 = dict(rope_type="llama3", rope_theta=500000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=64)

SMALL = [
    ("qwen2-tied", Qwen2Config(vocab_size=500, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                               intermediate_size=176, max_position_embeddings=512, tie_word_embeddings=True)),
    ("qwen2-untied", Qwen2Config(vocab_size=777, hidden_size=120, num_hidden_layers=3, num_attention_heads=5, num_key_value_heads=1,
                                 intermediate_size=333, max_position_embeddings=512, tie_word_embeddings=False, rms_norm_eps=1e-5)),
    ("qwen3", Qwen3Config(vocab_size=600, hidden_size=96, num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=2,
                          head_dim=32, intermediate_size=200, max_position_embeddings=512, tie_word_embeddings=True)),
    ("qwen3-bias", Qwen3Config(vocab_size=400, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4,
                               head_dim=64, intermediate_size=128, max_position_embeddings=512, tie_word_embeddings=False, attention_bias=True)),
    ("llama", LlamaConfig(vocab_size=512, hidden_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                          intermediate_size=256, max_position_embeddings=512, tie_word_embeddings=False)),
    ("llama3-rope-bias", LlamaConfig(vocab_size=512, hidden_size=128, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
                                     head_dim=48, intermediate_size=160, max_position_embeddings=512, tie_word_embeddings=True,
                                     attention_bias=True, mlp_bias=True, rope_parameters=LLAMA3)),
    ("llama-linear-rope", LlamaConfig(vocab_size=300, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4,
                                      intermediate_size=100, max_position_embeddings=512, tie_word_embeddings=True,
                                      rope_parameters=dict(rope_type="linear", rope_theta=10000.0, factor=2.5))),
    ("qwen2-3M", Qwen2Config(vocab_size=2048, hidden_size=256, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2,
                             intermediate_size=704, max_position_embeddings=2048, tie_word_embeddings=True)),
]
LARGE = [
    ("qwen2-100M", Qwen2Config(vocab_size=32000, hidden_size=640, num_hidden_layers=12, num_attention_heads=10, num_key_value_heads=2,
                               intermediate_size=2560, max_position_embeddings=2048, tie_word_embeddings=True)),
]
BIG = [
    ("qwen2-500M", Qwen2Config(vocab_size=151936, hidden_size=896, num_hidden_layers=24, num_attention_heads=14, num_key_value_heads=2,
                               intermediate_size=4864, max_position_embeddings=2048, tie_word_embeddings=True)),
]

rows, failed = [], 0

def check(model, what, value, limit):
    global failed
    ok = value <= limit
    failed += not ok
    rows.append((model, what, value, limit, ok))
    print(f"{model:20s} {what:42s} {value:11.3e}  limit {limit:8.1e}  {'ok' if ok else 'FAIL'}", flush=True)

def rms(x):
    return x.double().square().mean().sqrt().item()

def rel(a, b):
    """Largest difference as a share of the largest value."""
    a, b = a.double(), b.double()
    return ((a - b).abs().max() / b.abs().max().clamp_min(1e-30)).item()

def make(cfg, seed):
    torch.manual_seed(seed)
    m = AutoModelForCausalLM.from_config(cfg, dtype=torch.float32, attn_implementation="eager")
    with torch.no_grad():  # biases and norms away from 0 and 1, weights large enough to matter
        for n, p in m.named_parameters():
            if p.ndim == 1:
                p.add_(torch.randn_like(p) * 0.1)
            else:
                p.mul_(2.0)
    return m.eval()

class Tool:
    def __init__(self, path, work):
        self.path, self.work = path, work

    def run(self, *args, env=None):
        # many tiny steps on a busy machine: one thread, two where the work is in larger pieces
        threads = "1" if args[0] in ("logits", "prefill", "greedy") else "2"
        env = {**os.environ, "MODEL_THREADS": threads, **(env or {})}
        p = subprocess.run([self.path, *map(str, args)], capture_output=True, text=True, env=env)
        if p.returncode:
            raise SystemExit(f"model_tool {' '.join(map(str, args))}: {p.stderr}")
        return p.stdout

    def file(self, name):
        return os.path.join(self.work, name)

def pack(cfg, lengths, seed):
    g = torch.Generator().manual_seed(seed)
    seqs = [torch.randint(0, cfg.vocab_size, (n,), generator=g) for n in lengths]
    tokens, target, coef, start = [], [], [], [0]
    for s in seqs:
        tokens += s.tolist()
        t = s.tolist()[1:] + [-1]
        for i in range(len(t)):
            if i % 5 == 3:
                t[i] = -1
        target += t
        coef += (torch.rand(len(t), generator=g) - 0.3).tolist()
        start.append(len(tokens))
    return seqs, np.array(tokens, np.int32), np.array(target, np.int32), np.array(coef, np.float32), np.array(start, np.int32)

def write_pack(path, b):
    _, tokens, target, coef, start = b
    with open(path, "wb") as f:
        f.write(np.array([len(tokens), len(start) - 1], np.int32).tobytes())
        for a in (start, tokens, target, coef):
            f.write(a.tobytes())

def torch_loss(model, b):
    """sum coef * logp over the pack, each sequence by itself."""
    seqs, tokens, target, coef, start = b
    total = 0
    for i, s in enumerate(seqs):
        lo, hi = start[i], start[i + 1]
        lp = torch.log_softmax(model(s[None]).logits[0].float(), -1)
        t = torch.tensor(target[lo:hi], dtype=torch.long)
        m = t >= 0
        total = total + (lp[m].gather(1, t[m][:, None])[:, 0] * torch.tensor(coef[lo:hi])[m]).sum()
    return total

def grad_errors(model, ours, prefix=""):
    worst, count = 0.0, 0
    scale = max(p.grad.abs().max().item() for p in model.parameters() if p.grad is not None)
    for n, p in model.named_parameters():
        if p.grad is None:
            continue
        n = n.replace(".default", "")
        g = ours[prefix + n] if prefix + n in ours else ours[n.removeprefix("base_model.model.")]
        denom = max(p.grad.abs().max().item(), 1e-6 * scale)
        worst = max(worst, (g.double() - p.grad.double()).abs().max().item() / denom)
        count += 1
    assert count == len(ours), (count, len(ours))
    return worst

def test_forward(t, name, cfg, m, d, n, stores=True):
    g = torch.Generator().manual_seed(5)
    ids = torch.randint(0, cfg.vocab_size, (n,), generator=g)
    ids.numpy().astype(np.int32).tofile(t.file("tokens"))
    with torch.no_grad():
        ref = m(ids[None]).logits[0]
        exact = m.double()(ids[None]).logits[0]
        m.float()
    t.run("logits", d, t.file("tokens"), t.file("logits"))
    ours = torch.from_numpy(np.fromfile(t.file("logits"), np.float32)).reshape(ref.shape)
    check(name, "logits by decode, rms against fp64 / theirs", rms(ours - exact) / rms(ref - exact), 1.5)
    check(name, "logits by decode, max error / max", rel(ours, ref), 2.5 * rel(ref, exact))
    lp = torch.log_softmax(ours.double(), -1)[:-1].gather(1, ids[1:, None])[:, 0]
    t.run("prefill", d, t.file("tokens"), t.file("logp"))
    pre = torch.from_numpy(np.fromfile(t.file("logp"), np.float32))[1:]
    check(name, "log-probabilities decode - prefill", (pre.double() - lp).abs().max().item(), 2e-6)
    for store, limit in (("bf16", 0.03), ("fast", 0.05), ("int8", 0.07)) if stores else ():
        t.run("logits", d, t.file("tokens"), t.file("logits"), store)
        q = torch.from_numpy(np.fromfile(t.file("logits"), np.float32)).reshape(ref.shape)
        check(name, f"logits with {store} weights, rms / rms", rms(q - ref) / rms(ref), limit)

def test_grads(t, name, cfg, m, d, lengths, recompute=True):
    b = pack(cfg, lengths, 11)
    write_pack(t.file("batch"), b)
    m.zero_grad()
    loss = torch_loss(m, b)
    loss.backward()
    out = t.run("grads", d, t.file("batch"), t.file("grads.safetensors"))
    check(name, "loss", abs(float(out.split()[0]) - loss.item()) / abs(loss.item()), 2e-6)
    check(name, "every gradient tensor, full", grad_errors(m, load_file(t.file("grads.safetensors"))), 5e-5)
    m.zero_grad()
    if not recompute:
        return
    t.run("grads", d, t.file("batch"), t.file("again.safetensors"), env={"RECOMPUTE": "1"})
    a, c = load_file(t.file("grads.safetensors")), load_file(t.file("again.safetensors"))
    check(name, "gradients with recompute, bits differing", sum(int((a[k] != c[k]).sum()) for k in a), 0)

def test_lora(t, name, cfg, m, d, lengths, targets):
    from peft import LoraConfig, PeftModel, get_peft_model
    torch.manual_seed(3)
    base = AutoModelForCausalLM.from_pretrained(d, dtype=torch.float32, attn_implementation="eager").eval()
    p = get_peft_model(base, LoraConfig(r=8, lora_alpha=16, target_modules=targets, task_type="CAUSAL_LM"))
    with torch.no_grad():
        for n, w in p.named_parameters():
            if "lora_B" in n:
                w.normal_(0, 0.05)
    p.save_pretrained(t.file("peft"))
    b = pack(cfg, lengths, 12)
    write_pack(t.file("batch"), b)
    p.zero_grad()
    loss = torch_loss(p, b)
    loss.backward()
    out = t.run("grads", d, t.file("batch"), t.file("lora.safetensors"), t.file("peft"))
    tag = "LoRA " + ",".join(x.split("_")[0] for x in targets)
    check(name, f"loss, {tag}", abs(float(out.split()[0]) - loss.item()) / abs(loss.item()), 2e-6)
    check(name, "every gradient tensor, LoRA", grad_errors(p, load_file(t.file("lora.safetensors"))), 5e-5)
    return p

def test_peft(t, name, cfg, p, d):
    """PEFT's folder, loaded and saved by us, loads in PEFT with the same values; merged export."""
    from peft import PeftModel
    t.run("adapter", d, t.file("peft"), t.file("ours"))
    base = AutoModelForCausalLM.from_pretrained(d, dtype=torch.float32).eval()
    q = PeftModel.from_pretrained(base, t.file("ours"))
    a, b = dict(p.named_parameters()), dict(q.named_parameters())
    bad = sum(int((a[k] != b[k]).sum()) for k in a if "lora_" in k)
    check(name, "PEFT round trip, values differing", bad + abs(len(a) - len(b)), 0)
    t.run("merge", d, t.file("peft"), t.file("merged"))
    ids = torch.randint(0, cfg.vocab_size, (1, 40), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        mm = AutoModelForCausalLM.from_pretrained(t.file("merged"), dtype=torch.float32).eval()
        check(name, "merged export in transformers, logits", rel(mm(ids).logits, p(ids).logits), 2e-5)

def test_train(t, name, cfg, d, lengths, lr=3e-3, steps=10):
    """AdamW steps with warm-up, cosine, clipping and accumulation of two packs."""
    packs = [pack(cfg, lengths, 100 + i) for i in range(4)]
    for i, b in enumerate(packs):
        b[3][:] = 1.0
        write_pack(t.file(f"train{i}"), b)
    out = t.run("train", d, t.file("train"), 4, steps, t.file("trained"), lr)
    ours = [list(map(float, x.split())) for x in out.splitlines()]
    m = AutoModelForCausalLM.from_pretrained(d, dtype=torch.float32, attn_implementation="eager").train()
    groups = [dict(params=[p for p in m.parameters() if p.ndim > 1], weight_decay=0.1),
              dict(params=[p for p in m.parameters() if p.ndim == 1], weight_decay=0.0)]
    opt = torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.95), eps=1e-8, foreach=False)
    worst_loss = worst_norm = 0.0
    for s in range(steps):
        opt.zero_grad()
        two = [packs[(2 * s + i) % 4] for i in range(2)]
        n = sum(int((b[2] >= 0).sum()) for b in two)
        loss = -sum(torch_loss(m, b) for b in two) / n
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(m.parameters(), 1.0)
        for g in opt.param_groups:
            g["lr"] = ours[s][2]
        opt.step()
        worst_loss = max(worst_loss, abs(ours[s][0] - loss.item()) / loss.item())
        worst_norm = max(worst_norm, abs(ours[s][1] - norm.item()) / norm.item())
    check(name, f"loss of {steps} AdamW steps", worst_loss, 5e-5)
    check(name, f"gradient norm of {steps} AdamW steps", worst_norm, 5e-4)

def test_greedy(t, name, cfg, m, d, n=200):
    ids = torch.randint(0, cfg.vocab_size, (1, 20), generator=torch.Generator().manual_seed(8))
    ids[0].numpy().astype(np.int32).tofile(t.file("prompt"))
    with torch.no_grad():
        ref = m.generate(ids, max_new_tokens=n, do_sample=False, eos_token_id=None, pad_token_id=0)[0, 20:].tolist()
    ours = list(map(int, t.run("greedy", d, t.file("prompt"), n).split()))
    check(name, f"greedy tokens differing of {n}", sum(a != b for a, b in zip(ref, ours)) + abs(len(ref) - len(ours)), 0)

ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]

def run(tool, name, cfg, size):
    with tempfile.TemporaryDirectory() as work:
        t = Tool(tool, work)
        m = make(cfg, 1)
        d = t.file("model")
        m.save_pretrained(d, max_shard_size="200KB" if size == "small" and name != "qwen2-3M" else "5GB")
        test_forward(t, name, cfg, m, d, 150 if size == "small" else 24)
        lengths = [70, 1, 33, 129, 5] if size == "small" else [24, 9]
        test_grads(t, name, cfg, m, d, lengths)
        p = test_lora(t, name, cfg, m, d, lengths, ALL)
        test_peft(t, name, cfg, p, d)
        test_lora(t, name, cfg, m, d, lengths, ["q_proj", "v_proj", "down_proj"])
        if size == "small":
            test_train(t, name, cfg, d, [40, 17, 60])
            test_greedy(t, name, cfg, m, d)

def run_big(tool, name, cfg):
    with tempfile.TemporaryDirectory() as work:
        t = Tool(tool, work)
        m = make(cfg, 1)
        d = t.file("model")
        m.save_pretrained(d, max_shard_size="1GB")
        print(f"{name}: {sum(p.numel() for p in m.parameters()) / 1e6:.0f} M parameters", flush=True)
        test_forward(t, name, cfg, m, d, 24, stores=False)
        test_greedy(t, name, cfg, m, d)
        test_grads(t, name, cfg, m, d, [40, 24], recompute=False)
        del m
        os.remove(t.file("grads.safetensors"))
        test_train(t, name, cfg, d, [20, 12], lr=1e-4)       # 3e-3 would make so large a model diverge

def main():
    tool = os.path.join(os.environ.get("BUILD_DIR", "build/release"), "tool", "model_tool")
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else None
    jobs = [(n, c, "small") for n, c in SMALL]
    if "--full" in sys.argv:
        jobs += [(n, c, "large") for n, c in LARGE]
    if "--big" in sys.argv:
        jobs = [(n, c, "big") for n, c in BIG]
    for n, c, s in jobs:
        if only and n != only:
            continue
        if s == "big":
            run_big(tool, n, c)
        else:
            run(tool, n, c, s)
    print(f"{len(rows) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0

if __name__ == "__main__":
    sys.exit(main())
