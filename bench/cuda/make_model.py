#!/usr/bin/env python3
"""Writes a model of random bf16 weights: make_model.py CONFIG.json FOLDER. For measuring speed only."""
import json
import os
import sys

import torch
from safetensors.torch import save_file


def tensors(c):
    width, head = c["hidden_size"], c.get("head_dim") or c["hidden_size"] // c["num_attention_heads"]
    q, kv, ff = c["num_attention_heads"] * head, c["num_key_value_heads"] * head, c["intermediate_size"]
    yield "model.embed_tokens.weight", (c["vocab_size"], width)
    for i in range(c["num_hidden_layers"]):
        p = f"model.layers.{i}."
        yield p + "input_layernorm.weight", (width,)
        for name, rows in (("q", q), ("k", kv), ("v", kv)):
            yield f"{p}self_attn.{name}_proj.weight", (rows, width)
            if c["model_type"] == "qwen2":
                yield f"{p}self_attn.{name}_proj.bias", (rows,)
            elif name != "v":
                yield f"{p}self_attn.{name}_norm.weight", (head,)
        yield p + "self_attn.o_proj.weight", (width, q)
        yield p + "post_attention_layernorm.weight", (width,)
        yield p + "mlp.gate_proj.weight", (ff, width)
        yield p + "mlp.up_proj.weight", (ff, width)
        yield p + "mlp.down_proj.weight", (width, ff)
    yield "model.norm.weight", (width,)
    if not c["tie_word_embeddings"]:
        yield "lm_head.weight", (c["vocab_size"], width)


def main():
    with open(sys.argv[1]) as f:
        config = json.load(f)
    os.makedirs(sys.argv[2], exist_ok=True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(1)
    data = {}
    for name, shape in tensors(config):
        w = torch.ones(shape, device=device) if "norm" in name else torch.randn(shape, device=device) * 0.02
        data[name] = w.to(torch.bfloat16).cpu()
    save_file(data, sys.argv[2] + "/model.safetensors", metadata={"format": "pt"})
    with open(sys.argv[2] + "/config.json", "w") as f:
        json.dump(config, f)


main()
