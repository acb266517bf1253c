"""A tiny random Qwen2 with the embedded model's tokenizer, as a Hugging Face folder."""
import shutil

import torch
from transformers import AutoTokenizer, Qwen2Config, Qwen2ForCausalLM


def make(folder, base="models/base"):
    torch.manual_seed(0)
    tok = AutoTokenizer.from_pretrained(base)
    model = Qwen2ForCausalLM(Qwen2Config(vocab_size=len(tok), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
                                         num_key_value_heads=1, max_position_embeddings=2048, tie_word_embeddings=True))
    model.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(base + "/" + name, folder)
    return folder
