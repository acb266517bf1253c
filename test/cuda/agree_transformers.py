#!/usr/bin/env python3
"""The engine on a GPU beside transformers and PEFT on the same GPU, with the same weights and data.

    agree_transformers.py BUILD_DIR PROGRAM [DEVICE [PART...]]

Parts: once (logits and gradients), steps (losses); both unless given. Run in the tree's root; exit 77: no GPU or no transformers.

transformers in fp32 is what is right. Both engines compute in bf16, whose rounding (2^-9 of every activation) is
far above any difference of method; so an error is measured in units of the error that transformers itself has in
bf16, and 1 is as good as it. Losses of many steps are compared the same way; beside that an fp8 base, repeated
runs and a run that was killed."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

try:
    import torch
    from peft import LoraConfig, PeftModel, get_peft_model
    from safetensors.torch import load_file
    from tokenizers import Tokenizer
    from transformers import AutoModelForCausalLM, Qwen2Config, Qwen3Config
    from transformers.utils.logging import disable_progress_bar
except ImportError as e:
    print(f"agree_transformers: {e}")
    sys.exit(77)

build, program, device = sys.argv[1], sys.argv[2], (sys.argv[3:] + ["cuda"])[0]
if device == "cuda" and not torch.cuda.is_available():
    print("agree_transformers: no NVIDIA GPU on this machine")
    sys.exit(77)
torch.backends.cuda.matmul.allow_tf32 = False
disable_progress_bar()
FAST = torch.bfloat16
ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
COMMON = dict(max_position_embeddings=2048, rope_theta=10000.0)
SMALL = [
    ("qwen2", Qwen2Config(vocab_size=2048, hidden_size=256, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2,
                          intermediate_size=704, tie_word_embeddings=True, **COMMON)),
    ("qwen3", Qwen3Config(vocab_size=4096, hidden_size=512, num_hidden_layers=4, num_attention_heads=8, num_key_value_heads=2, head_dim=64,
                          intermediate_size=1376, tie_word_embeddings=False, **COMMON)),
]
TRAINED = Qwen2Config(vocab_size=151936, hidden_size=896, num_hidden_layers=24, num_attention_heads=14, num_key_value_heads=2,
                      intermediate_size=4864, tie_word_embeddings=True, **COMMON)
BATCH, LENGTH, RATE = 8, 512, 5e-4
failed = 0


def check(what, value, limit):
    global failed
    ok = value <= limit
    failed += not ok
    print(f"{'ok  ' if ok else 'FAIL'} {what:70s} {value:10.3e} of {limit:.1e}", flush=True)


def tool(*args):
    p = subprocess.run([f"{build}/tool/model_tool", *map(str, args)], capture_output=True, text=True, env={**os.environ, "MODEL_DEVICE": device})
    if p.returncode:
        sys.exit(f"model_tool {args[0]}: {p.stderr}")
    return p.stdout


def rms(x):
    return x.double().square().mean().sqrt().item()


def make(config, folder):
    """Random weights that bf16 holds exactly."""
    torch.manual_seed(1)
    with torch.device(device):
        m = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    with torch.no_grad():
        for p in m.parameters():
            p.copy_((p + torch.randn_like(p) * 0.05 if p.ndim == 1 else p * 1.5).to(FAST))
    m.to(FAST).save_pretrained(folder)
    return folder


def load(folder, dtype):
    return AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation="sdpa").to(device)


# --- logits and gradients

def logits(name, config, folder, work):
    ids = torch.randint(0, config.vocab_size, (200,), generator=torch.Generator().manual_seed(5))
    ids.numpy().astype(np.int32).tofile(work + "/tokens")
    with torch.no_grad():
        right, theirs = (load(folder, t)(ids[None].to(device)).logits[0].float().cpu() for t in (torch.float32, FAST))
    tool("logits", folder, work + "/tokens", work + "/logits", "bf16")
    ours = torch.from_numpy(np.fromfile(work + "/logits", np.float32)).reshape(right.shape)
    print(f"     {name}: relative error of transformers' bf16 logits {rms(theirs - right) / rms(right):.2e}, of ours {rms(ours - right) / rms(right):.2e}")
    check(f"{name}: logits, error in units of transformers' bf16", rms(ours - right) / rms(theirs - right), 1.25)


def draw_pack(vocabulary, path):
    g = torch.Generator().manual_seed(7)
    seqs = [torch.randint(0, vocabulary, (n,), generator=g).tolist() for n in (130, 1, 64, 33, 257)]
    tokens, target, start = sum(seqs, []), sum((s[1:] + [-1] for s in seqs), []), np.cumsum([0] + [len(s) for s in seqs])
    coef = (torch.rand(len(tokens), generator=g) - 0.3).numpy() / len(tokens)
    with open(path, "wb") as f:
        f.write(np.array([len(tokens), len(seqs)], np.int32).tobytes())
        for a in (start, tokens, target):
            f.write(np.array(a, np.int32).tobytes())
        f.write(coef.astype(np.float32).tobytes())
    return seqs, torch.tensor(coef, device=device), start


def torch_grads(m, data, autocast):
    seqs, coef, start = data
    m.zero_grad()
    for i, s in enumerate(seqs):
        if len(s) < 2:
            continue
        with torch.autocast(device, FAST, enabled=autocast):
            z = m(torch.tensor([s], device=device)).logits[0, :-1].float()
        lp = torch.log_softmax(z, -1).gather(1, torch.tensor(s[1:], device=device)[:, None])[:, 0]
        (lp * coef[start[i]:start[i] + len(s) - 1]).sum().backward()
    return {n.replace(".default", "").removeprefix("base_model.model."): p.grad.float().cpu() for n, p in m.named_parameters() if p.grad is not None}


def distance(grads, right):
    """The norm of the difference over all tensors, and the least cosine of any that is not all but zero (keys' biases are)."""
    small = 1e-3 * max(g.norm() for g in right.values())
    least = min((torch.dot(grads[n].flatten(), g.flatten()) / (grads[n].norm() * g.norm())).item() for n, g in right.items() if g.norm() > small)
    return (sum((grads[n] - g).double().square().sum() for n, g in right.items()) / sum(g.double().square().sum() for g in right.values())).sqrt().item(), least


def gradients(name, config, folder, work):
    data = draw_pack(config.vocab_size, work + "/pack")
    for what in ("full", "LoRA"):
        sides = []
        for fast in (False, True):
            m = load(folder, FAST if fast and what == "LoRA" else torch.float32)
            if what == "LoRA":
                m = PeftModel.from_pretrained(m, work + "/peft", is_trainable=True)
            sides.append(torch_grads(m, data, fast))
        tool("grads", folder, work + "/pack", work + "/grads.safetensors", *([work + "/peft"] if what == "LoRA" else []))
        ours = {n.removeprefix("base_model.model."): g for n, g in load_file(work + "/grads.safetensors").items()}
        theirs, (error, least) = distance(sides[1], sides[0]), distance(ours, sides[0])
        print(f"     {name} {what}: relative error of transformers' bf16 gradients {theirs[0]:.2e} (least cosine {theirs[1]:.5f}), of ours {error:.2e} ({least:.5f})")
        check(f"{name}: {what} gradients, error in units of transformers' bf16", error / theirs[0], 1.5)
        check(f"{name}: {what} gradients, 1 - least cosine", 1 - least, 2 * (1 - theirs[1]) + 1e-4)


def save_adapter(folder, to, zero):
    """Rank 16 everywhere; B of a new adapter is zero, which would hide half of the gradients."""
    torch.manual_seed(3)
    p = get_peft_model(load(folder, torch.float32), LoraConfig(r=16, lora_alpha=32, target_modules=ALL, task_type="CAUSAL_LM"))
    with torch.no_grad():
        for n, w in p.named_parameters():
            if "lora_B" in n and not zero:
                w.normal_(0, 0.05)
    p.save_pretrained(to)


# --- many steps

def rows(path, steps):
    subprocess.run([program, "tasks", "--style", "plain", "--no-verify", "--form", "completion", "--count", str(steps * BATCH), "--level", "1,2",
                    "--seed", "3", "--out", path, "--quiet"], check=True)
    t = Tokenizer.from_file("models/base/tokenizer.json")
    end = json.load(open("models/base/config.json"))["eos_token_id"]
    out = []
    for line in open(path):
        r = json.loads(line)
        p, c = (t.encode(r[k], add_special_tokens=False).ids for k in ("prompt", "completion"))
        out.append(((p + c + [end])[:LENGTH], len(p)))
    return out


def peft_losses(folder, adapter, data, steps, dtype):
    m = PeftModel.from_pretrained(load(folder, dtype), adapter, is_trainable=True).train()
    optim = torch.optim.AdamW([p for p in m.parameters() if p.requires_grad], lr=RATE, betas=(0.9, 0.999), weight_decay=0)
    losses = []
    for s in range(steps):
        batch = data[s * BATCH:(s + 1) * BATCH]
        longest = max(len(ids) for ids, _ in batch)
        ids = torch.tensor([x + [0] * (longest - len(x)) for x, _ in batch], device=device)
        want = torch.tensor([[-100] * n + x[n:] + [-100] * (longest - len(x)) for x, n in batch], device=device)
        mask = torch.tensor([[1] * len(x) + [0] * (longest - len(x)) for x, _ in batch], device=device)
        z = m(input_ids=ids, attention_mask=mask, use_cache=False).logits[:, :-1].float()
        loss = torch.nn.functional.cross_entropy(z.reshape(-1, z.shape[-1]), want[:, 1:].reshape(-1), ignore_index=-100)
        optim.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([p for p in m.parameters() if p.requires_grad], 1.0)
        optim.step()
        losses.append(loss.item())
    return np.array(losses)


def command(folder, adapter, data, out, steps, *more):
    return [program, "train", "--stage", "sft", "--model", folder, "--adapter", adapter, "--tokenizer", "models/base", "--data", data, "--out", out,
            "--no-shuffle", "--batch", str(BATCH), "--max-length", str(LENGTH), "--micro-tokens", "4096", "--lr", str(RATE), "--schedule", "constant",
            "--steps", str(steps), "--weights", "bf16", "--device", device, "--quiet", *more]


def our_losses(out, *args):
    subprocess.run(command(*args[:3], out, *args[3:]), check=True, stdout=subprocess.DEVNULL)
    return np.array([json.loads(l)["loss"] for l in open(out + "/metrics.jsonl")])


def weights_of(out):
    return open(out + "/checkpoints/sft_final/adapter_model.safetensors", "rb").read()


def steps(work, short, long):
    folder, adapter, data = make(TRAINED if device == "cuda" else SMALL[0][1], work + "/trained"), work + "/fresh", work + "/rows.jsonl"
    save_adapter(folder, adapter, True)
    tokens = rows(data, long)
    right, theirs = (peft_losses(folder, adapter, tokens, short, t) for t in (torch.float32, FAST))
    ours = our_losses(work + "/a", folder, adapter, data, long, "--save-every", str(long // 4))
    for s in sorted({0, 1, short // 5, short // 2, short - 1}):
        print(f"     step {s + 1}: loss PEFT fp32 {right[s]:.4f}, PEFT bf16 {theirs[s]:.4f}, ours {ours[s]:.4f}")
    error, control = (np.abs(x - right).max() for x in (ours[:short], theirs))
    print(f"     most difference to PEFT fp32 over {short} steps: PEFT bf16 {control:.4f}, ours {error:.4f}")
    check(f"{short} steps beside PEFT: difference in units of PEFT's bf16", error / control, 2.0)
    fp8 = our_losses(work + "/f", folder, adapter, data, long, "--weights", "fp8" if device == "cuda" else "int8")
    tail = long // 10
    print(f"     last {tail} of {long} steps: loss with a bf16 base {ours[-tail:].mean():.4f}, with an 8-bit base {fp8[-tail:].mean():.4f}")
    check(f"8-bit base: relative difference of the last losses of {long} steps", abs(fp8[-tail:].mean() / ours[-tail:].mean() - 1), 2e-2)
    our_losses(work + "/b", folder, adapter, data, long, "--save-every", str(long // 4))
    check("a second run: bits differing", float(weights_of(work + "/a") != weights_of(work + "/b")), 0)
    again = command(folder, adapter, data, work + "/k", long, "--save-every", str(long // 4))
    p = subprocess.Popen(again, stdout=subprocess.DEVNULL)
    while p.poll() is None and not any(n.startswith("sft-") for n in (os.listdir(work + "/k/checkpoints") if os.path.isdir(work + "/k/checkpoints") else [])):
        time.sleep(0.05)
    p.send_signal(signal.SIGKILL)
    p.wait()
    subprocess.run(again, check=True, stdout=subprocess.DEVNULL)
    check("a run that was killed and continued: bits differing", float(weights_of(work + "/a") != weights_of(work + "/k")), 0)


def main():
    parts = sys.argv[4:] or ["once", "steps"]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as work:
        for name, config in SMALL if "once" in parts else []:
            folder = make(config, f"{work}/{name}")
            save_adapter(folder, work + "/peft", False)
            logits(name, config, folder, work)
            gradients(name, config, folder, work)
        if "steps" in parts:
            steps(work, *((50, 200) if device == "cuda" else (6, 12)))
    print(f"agree_transformers: {failed} failed")
    return 1 if failed else 0


sys.exit(main())
