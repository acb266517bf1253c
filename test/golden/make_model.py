#!/usr/bin/env python3
"""Makes test/golden/model_*: tiny random models with what transformers computes on them.

Each folder is a Hugging Face folder; model.safetensors also holds golden.tokens (two
sequences, the second after the first), golden.lengths, golden.logits and golden.grad_norm of
the loss sum(log p of the next token) over both sequences.
"""
import os, sys

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, LlamaConfig, Qwen2Config, Qwen3Config

SIZE = dict(vocab_size=40, hidden_size=24, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=40,
            max_position_embeddings=256)
MODELS = {
    "qwen2": Qwen2Config(**SIZE, tie_word_embeddings=True),
    "qwen3": Qwen3Config(**SIZE, head_dim=10, tie_word_embeddings=False),
    "llama": LlamaConfig(**SIZE, tie_word_embeddings=True, rope_parameters=dict(
        rope_type="llama3", rope_theta=10000.0, factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)),
}
here = os.path.dirname(os.path.abspath(__file__))
for name, cfg in MODELS.items():
    torch.manual_seed(1)
    m = AutoModelForCausalLM.from_config(cfg, dtype=torch.float32, attn_implementation="eager").eval()
    with torch.no_grad():
        for p in m.parameters():
            p.add_(torch.randn_like(p) * 0.2)
    out = os.path.join(here, "model_" + name)
    m.save_pretrained(out)
    lengths = [70, 9]
    tokens = torch.randint(0, cfg.vocab_size, (sum(lengths),))
    logits = [m(t[None]).logits[0] for t in tokens.split(lengths)]
    loss = sum(torch.log_softmax(l[:-1], -1).gather(1, t[1:, None]).sum() for l, t in zip(logits, tokens.split(lengths)))
    loss.backward()
    norm = torch.sqrt(sum((p.grad.double() ** 2).sum() for p in m.parameters()))
    file = os.path.join(out, "model.safetensors")
    all = load_file(file)
    all.update({"golden.tokens": tokens.int(), "golden.lengths": torch.tensor(lengths).int(), "golden.logits": torch.cat(logits).detach().contiguous(),
                "golden.loss": loss.detach().reshape(1), "golden.grad_norm": norm.float().reshape(1)})
    save_file(all, file, metadata={"format": "pt"})
    os.path.exists(os.path.join(out, "generation_config.json")) and os.remove(os.path.join(out, "generation_config.json"))
