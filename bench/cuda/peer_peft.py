#!/usr/bin/env python3
"""Training with PEFT on the same GPU, for comparison: peer_peft.py CONFIG.json [compile] [full] [batch] [length].

Random weights, LoRA r=16 on the seven projections (or all parameters with bf16 autocast), AdamW, no recompute."""
import json
import sys
import time

import torch
from transformers import AutoConfig, AutoModelForCausalLM


def build(path, full):
    with open(path) as f:
        values = json.load(f)
    config = AutoConfig.for_model(values.pop("model_type"), **values)
    torch.set_default_dtype(torch.float32 if full else torch.bfloat16)
    with torch.device("cuda"):
        model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa")
    torch.set_default_dtype(torch.float32)
    if full:
        return model
    from peft import LoraConfig, get_peft_model
    names = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    return get_peft_model(model, LoraConfig(r=16, lora_alpha=32, target_modules=names, task_type="CAUSAL_LM"))


def main():
    words, numbers = [a for a in sys.argv[2:] if not a.isdigit()], [int(a) for a in sys.argv[2:] if a.isdigit()]
    batch, length = (numbers + [4, 2048][len(numbers):])[:2]
    full = "full" in words
    model = build(sys.argv[1], full)
    model.train()
    vocabulary = model.config.vocab_size
    optim = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4, fused=True)
    run = torch.compile(model) if "compile" in words else model
    for step in range(8):
        if step == 3:
            torch.cuda.synchronize()
            start = time.time()
        ids = torch.randint(0, vocabulary, (batch, length), device="cuda")
        with torch.autocast("cuda", torch.bfloat16, enabled=full):
            loss = run(input_ids=ids, labels=ids, use_cache=False).loss
        loss.backward()
        optim.step()
        optim.zero_grad(set_to_none=True)
    torch.cuda.synchronize()
    print(f"RESULT peft {sys.argv[1].split('/')[-1]} {' '.join(words) or 'eager'} batch={batch} length={length}: "
          f"{5 * batch * length / (time.time() - start):.0f} tok/s, {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")


main()
