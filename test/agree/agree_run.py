#!/usr/bin/env python3
"""A folder as Hugging Face publishes it through the whole pipeline.

    agree_run.py [--full]

Makes with transformers and tokenizers a model of Qwen2.5-Coder's shape with random weights in
sharded bf16 safetensors, a byte-level BPE tokenizer.json with its special tokens and a chat
template of the same form; runs `tritonrl run --dry-run` on it with LoRA; loads the adapters in
PEFT and compares: greedy tokens and the log-probability of each. Exit 1 if anything differs.
--full cuts the model to 100 M parameters instead of 10 M. THREADS= is for a busy machine.
"""
import glob, json, os, subprocess, sys, tempfile, time

import torch
from peft import PeftModel
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import AutoModelForCausalLM, AutoTokenizer, Qwen2Config

TRITONRL = os.environ.get("TRITONRL", "./tritonrl")
FULL = "--full" in sys.argv
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"]
PATTERN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TEMPLATE = """{%- if messages[0]['role'] == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
{%- else %}
    {{- '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant") %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""
failed = 0


def check(what, ok, detail=""):
    global failed
    failed += not ok
    print(f"{what:58s} {detail:32s} {'ok' if ok else 'FAIL'}", flush=True)


def make_tokenizer(folder):
    tok = Tokenizer(models.BPE())
    tok.normalizer = normalizers.NFC()
    tok.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(PATTERN), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tok.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=4096, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    text = [open(f, errors="replace").read() for f in sorted(glob.glob("test/cheats/*/*.py") + glob.glob("src/*/*.h"))[:120]]
    tok.train_from_iterator(text, trainer)
    tok.add_special_tokens(SPECIAL)
    tok.save(os.path.join(folder, "tokenizer.json"))
    added = {str(tok.token_to_id(t)): dict(content=t, lstrip=False, normalized=False, rstrip=False, single_word=False, special=True)
             for t in SPECIAL}
    config = dict(add_bos_token=False, add_prefix_space=False, added_tokens_decoder=added, bos_token=None, chat_template=TEMPLATE,
                  clean_up_tokenization_spaces=False, eos_token="<|im_end|>", errors="replace", model_max_length=32768,
                  pad_token="<|endoftext|>", split_special_tokens=False, tokenizer_class="Qwen2Tokenizer", unk_token=None)
    json.dump(config, open(os.path.join(folder, "tokenizer_config.json"), "w"), indent=2)
    return tok


def make_model(folder, tok):
    torch.manual_seed(1)
    c, layers, f = (768, 12, 3072) if FULL else (256, 8, 1024)
    cfg = Qwen2Config(vocab_size=tok.get_vocab_size() + 10, hidden_size=c, num_hidden_layers=layers, num_attention_heads=c // 64,
                      num_key_value_heads=2, intermediate_size=f, max_position_embeddings=32768, rope_theta=1e6, rms_norm_eps=1e-6,
                      tie_word_embeddings=False, bos_token_id=tok.token_to_id("<|endoftext|>"), eos_token_id=tok.token_to_id("<|im_end|>"))
    m = AutoModelForCausalLM.from_config(cfg, dtype=torch.bfloat16)
    with torch.no_grad():
        for p in m.parameters():
            if p.ndim == 1:
                p.add_(torch.randn_like(p) * 0.05)
    m.save_pretrained(folder, max_shard_size="40MB" if FULL else "8MB")
    shards = glob.glob(folder + "/model-*.safetensors")
    check("sharded safetensors", len(shards) > 2, f"{sum(p.numel() for p in m.parameters()) / 1e6:.0f} M in {len(shards)} shards")


def run(*words, **kw):
    p = subprocess.run([TRITONRL, *words], capture_output=True, text=True, **kw)
    if p.returncode:
        print(p.stdout, p.stderr)
        raise SystemExit(f"tritonrl {' '.join(words)}: exit {p.returncode}")
    return p.stdout


def compare(folder, adapter, name):
    """Greedy answer by us with the adapter; PEFT's log-probabilities of the same tokens."""
    prompt = "class Model(nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n"
    line = json.loads(run("generate", "--model", folder, "--adapter", adapter, "--raw", "--prompt", prompt, "--temperature", "0",
                          "--max-new-tokens", "40", "--json", "--threads", "1"))
    base = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    peft = PeftModel.from_pretrained(base, adapter).eval()
    ids = AutoTokenizer.from_pretrained(folder)(prompt)["input_ids"]
    ours = line["tokens"]
    with torch.no_grad():
        logits = peft(torch.tensor([ids + ours])).logits[0].double()
    lp = torch.log_softmax(logits, -1)[len(ids) - 1:-1]
    want = lp.gather(1, torch.tensor(ours)[:, None])[:, 0]
    worst = (want - torch.tensor(line["logprobs"]).double()).abs().max().item()
    greedy = (lp.max(1).values - want).max().item()
    check(f"{name}: prompt tokens as transformers has them", line["prompt_tokens"] == len(ids), f"{len(ids)}")
    check(f"{name}: log-probabilities against PEFT", worst < 2e-4, f"max difference {worst:.1e}")
    check(f"{name}: greedy tokens", greedy < 1e-4, f"{len(ours)} tokens, gap {greedy:.1e}")
    moved = max(p.abs().max().item() for n, p in peft.named_parameters() if "lora_B" in n)
    check(f"{name}: the adapter has moved", moved > 0, f"max |B| {moved:.1e}")


def main():
    with tempfile.TemporaryDirectory() as work:
        folder = os.path.join(work, "Qwen2.5-Coder-cut")
        os.mkdir(folder)
        make_model(folder, make_tokenizer(folder))
        config = os.path.join(work, "config.yaml")
        with open(config, "w") as f:
            f.write(f"model: {folder}\nprepare: {{source: builtin, count: 40, level: [1, 2], rl_count: 8, validation: 0.1}}\n"
                    "sft: {lora: {r: 16, alpha: 32, dropout: 0.05}, lr: 2e-4, batch: 2, accumulate: 4, max_length: 8192}\n"
                    "rl: {method: best-of-n, n: 10, keep: 3, temperature: 0.8, max_new_tokens: 2048, lr: 5e-6}\n"
                    "eval: {tasks: tasks/plain/test_level2.jsonl, n: 2}\nprompt_style: instruct\nthreads: %s\n" % os.environ.get("THREADS", "0"))
        start = time.time()
        out = os.path.join(work, "out")
        run("run", config, "--out", out, "--dry-run")
        out += "/dry_run"
        print(f"run --dry-run took {time.time() - start:.1f} s")
        stages = [json.loads(l)["stage"] for l in open(out + "/metrics.jsonl")]
        check("every stage was executed", stages.count("sft") == 2 and stages.count("rl") == 2 and os.path.exists(out + "/report.html"),
              " ".join(sorted(set(stages))) + " eval report")
        for name in ("base", "sft", "rl"):
            r = json.load(open(f"{out}/outputs/eval_{name}.json"))
            check(f"eval_{name}.json", len(r["detailed_results"]) > 0 and "correct_rate" in r["metrics"], f"{r['num_tasks']} tasks")
        for name in ("sft_final", "rl_final"):
            compare(folder, f"{out}/checkpoints/{name}", name)
    raise SystemExit(1 if failed else 0)


main()
