#!/usr/bin/env python3
"""`tritonrl generate` against transformers on random models of each family: 200 greedy tokens,
log-probabilities, repetition penalty, what top-k, top-p and min-p leave, the distribution drawn
from, chat prompts; and that a sample does not depend on its batch. Exit code 0: all agree."""
import json
import math
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import torch

torch.set_num_threads(1)
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import (AutoModelForCausalLM, LlamaConfig, LogitsProcessorList, MinPLogitsWarper, PreTrainedTokenizerFast, Qwen2Config,
                          Qwen3Config, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper)

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("TRITONRL", str(ROOT / "tritonrl"))
SIZES = dict(vocab_size=512, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=128,
             max_position_embeddings=1024, eos_token_id=510, bos_token_id=None)
FAMILIES = {"qwen2": Qwen2Config(**SIZES, tie_word_embeddings=True), "qwen3": Qwen3Config(**SIZES, head_dim=16),
            "llama": LlamaConfig(**SIZES, tie_word_embeddings=False)}
TEMPLATE = ("{%- for m in messages %}{{ '<|start|>' + m.role + '\n' + m.content + '<|end|>\n' }}{%- endfor %}"
            "{%- if add_generation_prompt %}{{ '<|start|>assistant\n' }}{%- endif %}")
LLM = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|"
       r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
PROMPT = "def add(x, y):\n    return x + y\n\nThe 3 kernels don't match: \u00e9t\u00e9 \u4e2d\u6587"
passed = failed = 0


def check(name, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(f"{'ok    ' if ok else 'FAILED'} {name} {detail}", flush=True)


def tokenizer():
    core = Tokenizer(models.BPE())
    core.normalizer = normalizers.NFC()
    core.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLM), "isolated"),
                                                  pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    core.decoder = decoders.ByteLevel()
    text = [p.read_text() for p in sorted((ROOT / "src/base").glob("*.c"))]
    core.train_from_iterator(text, trainers.BpeTrainer(vocab_size=509, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    core.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in ("<|start|>", "<|end|>", "<|pad|>")])
    return PreTrainedTokenizerFast(tokenizer_object=core, eos_token="<|end|>", pad_token="<|pad|>", chat_template=TEMPLATE)


def generate(folder, *args):
    p = subprocess.run([PROGRAM, "generate", "--model", str(folder), "--json", *map(str, args)], capture_output=True, text=True)
    if p.returncode:
        raise SystemExit(f"generate: {p.stderr}")
    return [json.loads(line) for line in p.stdout.split("\n") if line]         # a text may hold what Python calls the end of a line


def compare_greedy(name, folder, tok, model):
    ids = tok(PROMPT, return_tensors="pt").input_ids
    want = model.generate(ids, max_new_tokens=200, do_sample=False, eos_token_id=510, pad_token_id=511)[0, ids.shape[1]:].tolist()
    got = generate(folder, "--raw", "--prompt", PROMPT, "--temperature", 0, "--max-new-tokens", 200)[0]
    check(f"{name}: greedy, {len(want)} tokens", got["tokens"] == want and got["prompt_tokens"] == ids.shape[1])
    check(f"{name}: text", got["text"] == tok.decode(want, skip_special_tokens=True))
    with torch.no_grad():
        logp = model(torch.tensor([ids[0].tolist() + want])).logits[0].log_softmax(-1)
    diff = max(abs(logp[ids.shape[1] - 1 + i, t].item() - got["logprobs"][i]) for i, t in enumerate(want))
    check(f"{name}: log-probabilities", diff < 2e-5, f"max difference {diff:.1e}")
    want = model.generate(ids, max_new_tokens=60, do_sample=False, repetition_penalty=1.3, eos_token_id=510, pad_token_id=511)[0, ids.shape[1]:].tolist()
    got = generate(folder, "--raw", "--prompt", PROMPT, "--temperature", 0, "--max-new-tokens", 60, "--repetition-penalty", 1.3)[0]
    check(f"{name}: greedy with repetition penalty", got["tokens"] == want)
    chat = tok.apply_chat_template([{"role": "system", "content": "S"}, {"role": "user", "content": PROMPT}], add_generation_prompt=True,
                                   return_tensors="pt", return_dict=True).input_ids
    want = model.generate(chat, max_new_tokens=40, do_sample=False, eos_token_id=510, pad_token_id=511)[0, chat.shape[1]:].tolist()
    got = generate(folder, "--system", "S", "--prompt", PROMPT, "--temperature", 0, "--max-new-tokens", 40)[0]
    check(f"{name}: greedy after a chat", got["tokens"] == want and got["prompt_tokens"] == chat.shape[1])


def warped(logits, temperature, k, p, m):
    warpers = LogitsProcessorList([TemperatureLogitsWarper(temperature)] if temperature != 1 else [])
    if k:
        warpers.append(TopKLogitsWarper(k))
    if p < 1:
        warpers.append(TopPLogitsWarper(p))
    if m:
        warpers.append(MinPLogitsWarper(m))
    return warpers(None, logits[None].clone())[0].softmax(-1)


def compare_draws(folder, tok, model):
    """First tokens of many samples against the distribution they should come from."""
    ids = tok(PROMPT, return_tensors="pt").input_ids
    with torch.no_grad():
        logits = model(ids).logits[0, -1]
    n = 4000
    for temperature, k, p, m in ((1, 0, 1, 0), (0.5, 0, 1, 0), (0.7, 20, 1, 0), (1, 0, 0.5, 0), (0.6, 50, 0.8, 0), (0.8, 0, 1, 0.3), (0.9, 0, 0.9, 0.1)):
        want = warped(logits, temperature, k, p, m)
        rows = generate(folder, "--raw", "--prompt", PROMPT, "--n", n, "--max-new-tokens", 1, "--temperature", temperature,
                        "--top-k", k, "--top-p", p, "--min-p", m, "--seed", 5)
        count = Counter(r["tokens"][0] for r in rows)
        outside = sum(c for t, c in count.items() if want[t] == 0)
        big = [t for t in range(len(want)) if want[t] * n >= 5]
        rest = n - sum(count[t] for t in big)
        expected_rest = n * (1 - sum(want[t].item() for t in big))
        chi2 = sum((count[t] - n * want[t].item()) ** 2 / (n * want[t].item()) for t in big)
        chi2 += (rest - expected_rest) ** 2 / expected_rest if expected_rest > 5 else 0
        limit = len(big) + 5 * math.sqrt(2 * max(len(big), 1)) + 10
        check(f"draws T={temperature} k={k} p={p} min={m}", outside == 0 and chi2 < limit, f"chi2 {chi2:.1f} of {len(big)} bins, {outside} outside")


def compare_batches(folder):
    args = ("--raw", "--prompt", PROMPT, "--max-new-tokens", 40, "--seed", 9, "--top-p", 0.95, "--n", 40)
    rows = [generate(folder, *args, "--slots", s, "--threads", t) for s, t in ((1, 1), (7, 2), (40, 1))]
    check("samples do not depend on slots or threads", rows[0] == rows[1] == rows[2])
    check("samples differ", len({tuple(r["tokens"]) for r in rows[0]}) > 30)
    other = generate(folder, *args[:4], *args[4:-4], "--top-p", 0.95, "--n", 40, "--seed", 10)
    check("another seed, other samples", [r["tokens"] for r in other] != [r["tokens"] for r in rows[0]])
    text = rows[0][0]["text"]
    stop = text[len(text) // 2:len(text) // 2 + 3]
    cut = generate(folder, *args, "--stop", stop)[0]
    check("a stop string", cut["finish"] == "stop" and cut["text"] == text[:text.index(stop)], repr(stop))


def main():
    torch.manual_seed(0)
    tok = tokenizer()
    with tempfile.TemporaryDirectory() as tmp:
        for name, config in FAMILIES.items():
            model = AutoModelForCausalLM.from_config(config).eval()
            with torch.no_grad():
                for p in model.parameters():        # wide enough that the most probable token is clear
                    if p.dim() > 1:
                        p.mul_(4)
            folder = Path(tmp) / name
            model.save_pretrained(folder)
            tok.save_pretrained(folder)
            compare_greedy(name, folder, tok, model)
            if name == "qwen2":
                compare_draws(folder, tok, model)
                compare_batches(folder)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
