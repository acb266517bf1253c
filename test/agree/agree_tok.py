#!/usr/bin/env python3
"""The tokenizer against Hugging Face `tokenizers`: ids, decoded text, trained vocabularies,
chat templates; and speed beside it. `--full` compares 100 MB instead of 4.

Text and tokenizers are made here: Python source of this machine, words of many scripts,
emoji, numbers, white space, broken UTF-8. Exit code 0: all equal."""
import argparse
import json
import os
import random
import struct
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("BUILD_DIR", ROOT / "build/release")) / "tool/tok_tool"
LLM = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s|"
       r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
SCRIPTS = [(0x41, 0x7A), (0xC0, 0x24F), (0x370, 0x3FF), (0x400, 0x4FF), (0x531, 0x587), (0x5D0, 0x5EA),
           (0x620, 0x6D3), (0x904, 0x965), (0x985, 0x9EF), (0xE01, 0xE5B), (0xF00, 0xFBC), (0x10A0, 0x10FF),
           (0x1100, 0x11FF), (0x1E00, 0x1FFF), (0x2000, 0x206F), (0x2100, 0x23FF), (0x2460, 0x24FF),
           (0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFE00, 0xFFFD),
           (0x10400, 0x1044F), (0x1D400, 0x1D7FF), (0x1F300, 0x1FAFF), (0x20000, 0x2A6DF), (0x300, 0x36F)]
WORDS = ("the of and a to in is you that it he was for on are as with his they I at be this have from or one had by "
         "word but not what all were we when your can said there use an each which she do how their if will up other "
         "don't it's we're they've I'm she'll he'd DON'T IT'S y'all 'tis o'clock it\u017f'\u017f").split()
EMOJI = ["\U0001F600", "\U0001F469\u200D\U0001F4BB", "\u2764\uFE0F", "\U0001F1EB\U0001F1F7", "\U0001F44D\U0001F3FD", "\U0001F9D1\u200D\U0001F680"]
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def word_in(rng, span):
    return "".join(chr(rng.randint(*span)) for _ in range(rng.randint(1, 9))).encode("utf-8", "ignore").decode()


def prose(rng):
    out = []
    for _ in range(rng.randint(20, 300)):
        k = rng.random()
        if k < 0.5:
            out.append(rng.choice(WORDS))
        elif k < 0.8:
            out.append(word_in(rng, rng.choice(SCRIPTS)))
        elif k < 0.86:
            out.append(str(rng.randint(0, 10 ** rng.randint(1, 12))))
        elif k < 0.9:
            out.append(rng.choice(EMOJI) * rng.randint(1, 3))
        elif k < 0.93:
            base = rng.choice("aeiouAEIOUnsNS")
            out.append(base + "".join(chr(rng.randint(0x300, 0x345)) for _ in range(rng.randint(1, 3))))
        elif k < 0.95:
            out.append(rng.choice(SPECIALS + ["<|im_en", "<|", "<tool>", "xx<tool>yy", "<|im_start|><|im_end|>"]))
        else:
            out.append("".join(rng.choice("!?.,;:()[]{}+-*/=<>|&^%$#@~`\"'\\_") for _ in range(rng.randint(1, 6))))
        out.append(rng.choice([" "] * 12 + ["", "  ", "\n", "\n\n", "\t", "\r\n", " \n ", "\u00a0", "\u3000", "   \n\t\n", "\u2028"]))
    return "".join(out)


def sources():
    folders = [Path(sysconfig.get_paths()["stdlib"]), ROOT / "src"]
    return sorted(p for f in folders for p in f.rglob("*") if p.suffix in (".py", ".c", ".h") and p.is_file() and "site-packages" not in p.parts)


def damage(rng, data):
    data = bytearray(data)
    for _ in range(max(1, len(data) // 200)):
        if data:
            i = rng.randrange(len(data))
            data[i:i + rng.randint(0, 2)] = bytes(rng.choices(range(1, 256), k=rng.randint(0, 3)))
    return bytes(data)


def corpus(rng, size):
    """Byte strings without NUL: half source, the rest prose; one in eight with broken UTF-8."""
    files, docs, total = sources(), [], 0
    while total < size:
        if rng.random() < 0.3:
            data = rng.choice(files).read_bytes().replace(b"\0", b" ")
        else:
            data = prose(rng).replace("\0", " ").encode()
        if rng.random() < 0.125:
            data = damage(rng, data)
        if data:
            docs.append(data)
            total += len(data)
    edge = ["a" * 5000, " " * 3000, "\n" * 500 + "x", "1" * 1000, "\u4e2d" * 2000, "'", "''s", " 's", "\u0301a", "e\u0301" * 300,
            "\u1100\u1161\u11a8" * 50, "<|im_end|>" * 40, "a<|endoftext|>", "  <|im_end|>  ", "!" * 999 + "\r\n\r\n", "\u180e x", "\u0085", "x \u200b y"]
    return docs + [e.encode() for e in edge] + [b"\xff\xfe", b"\xf0\x9f\x98", b"abc\xe2\x82", b"\xed\xa0\x80x", b"\xc0\xaf", b"\xf4\x90\x80\x80"]


def training_files(tmp, docs):
    path = Path(tmp) / "train.txt"
    path.write_bytes(b"\n".join(d.decode("utf-8", "replace").encode() for d in docs))
    return [str(path)]


def llm_parts(tok, digits, nfc):
    if nfc:
        tok.normalizer = normalizers.NFC()
    tok.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(LLM % ("{1,3}" if digits == 3 else "")), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)])
    tok.decoder = decoders.ByteLevel()
    tok.post_processor = processors.ByteLevel(trim_offsets=False)


def families(text_files):
    """name -> a tokenizer of that family's form, trained here."""
    def trainer(size, specials):
        return trainers.BpeTrainer(vocab_size=size, special_tokens=specials, show_progress=False,
                                   initial_alphabet=pre_tokenizers.ByteLevel.alphabet())

    made = {}
    qwen = Tokenizer(models.BPE())
    llm_parts(qwen, 1, True)
    qwen.train(text_files, trainer(6000, []))
    qwen.add_special_tokens([AddedToken(s, special=True, normalized=False) for s in SPECIALS])
    qwen.add_tokens([AddedToken("<tool>", special=False, normalized=False)])
    made["qwen2"] = qwen
    llama = Tokenizer(models.BPE(ignore_merges=True))
    llm_parts(llama, 3, False)
    llama.train(text_files, trainer(9000, []))
    llama.add_special_tokens(SPECIALS)
    llama.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<|im_start|> $A", pair="<|im_start|> $A <|im_start|> $B",
                                      special_tokens=[("<|im_start|>", llama.token_to_id("<|im_start|>"))])])
    made["llama3"] = llama
    gpt2 = Tokenizer(models.BPE())
    gpt2.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    gpt2.decoder = decoders.ByteLevel()
    gpt2.train(text_files, trainer(3000, ["<|endoftext|>"]))
    gpt2.add_tokens([AddedToken("word", single_word=True), AddedToken("<tool>", lstrip=True, rstrip=True),
                     AddedToken("\u00e9t\u00e9", normalized=True), "[", "[["])
    made["gpt2"] = gpt2
    deep = Tokenizer(models.BPE())
    deep.normalizer = normalizers.Sequence([])
    deep.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(r"[\r\n]"), "isolated"),
        pre_tokenizers.Split(Regex(r"\s?\p{L}+"), "isolated"),
        pre_tokenizers.Split(Regex(r"\s?\p{P}+"), "merged_with_previous"),
        pre_tokenizers.Split(Regex(r"[\u4e00-\u9fa5]+"), "contiguous"),
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    deep.decoder = decoders.ByteLevel()
    deep.train(text_files, trainer(3000, ["<|endoftext|>"]))
    made["stages"] = deep
    few = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    llm_parts(few, 1, True)
    few.train(text_files, trainers.BpeTrainer(vocab_size=400, special_tokens=["<unk>"], limit_alphabet=60, show_progress=False))
    made["unknown"] = few
    return made


def ours(tok_file, docs, flags):
    p = subprocess.run([str(TOOL), "encode", tok_file, str(flags)], input=b"\0".join(docs), capture_output=True)
    if p.returncode:
        raise SystemExit(f"tok_tool: {p.stderr.decode()}")
    ids = struct.unpack(f"<{len(p.stdout) // 4}i", p.stdout)
    out, cur = [], []
    for i in ids:
        if i < 0:
            out.append(cur)
            cur = []
        else:
            cur.append(i)
    return out, float(p.stderr.split()[0])


def compare_family(name, tok, docs, tmp):
    path = str(Path(tmp) / f"{name}.json")
    tok.save(path)
    texts = [d.decode("utf-8", "replace") for d in docs]
    start = time.process_time()
    want = [tok.encode(t).ids for t in texts]
    theirs = sum(map(len, docs)) / 1e6 / (time.process_time() - start)
    got, speed = ours(path, docs, 1)
    bad = [i for i, (a, b) in enumerate(zip(want, got)) if a != b]
    if len(want) != len(got):
        bad.append(min(len(want), len(got)))
    print(f"{name}: {len(docs)} texts, {sum(map(len, docs)) / 1e6:.1f} MB, {sum(map(len, want))} ids: {len(bad)} differ; "
          f"{speed:.1f} MB/s, tokenizers {theirs:.1f} MB/s, ratio {speed / theirs:.1f}")
    for i in bad[:3]:
        k = next((k for k, (x, y) in enumerate(zip(want[i], got[i])) if x != y), min(len(want[i]), len(got[i])))
        print("  text", i, "at id", k, "want", want[i][k - 2:k + 4], [tok.id_to_token(x) for x in want[i][k - 2:k + 4]],
              "got", got[i][k - 2:k + 4], [tok.id_to_token(x) for x in got[i][k - 2:k + 4]])
    return len(bad) + compare_decode(name, tok, path, want)


def lengthed(data):
    texts, at = [], 0
    while at < len(data):
        n = struct.unpack_from("<i", data, at)[0]
        texts.append(data[at + 4:at + 4 + n].decode())
        at += 4 + n
    return texts


def compare_decode(name, tok, path, ids):
    rng = random.Random(7)
    lists = [x[:400] for x in ids[:300]] + [[rng.randrange(tok.get_vocab_size()) for _ in range(50)] for _ in range(200)]
    bad = 0
    for skip in (0, 1):
        data = b"".join(struct.pack(f"<{len(x) + 1}i", *x, -1) for x in lists)
        p = subprocess.run([str(TOOL), "decode", path, str(skip)], input=data, capture_output=True)
        if p.returncode:
            raise SystemExit(f"tok_tool: {p.stderr.decode()}")
        texts = lengthed(p.stdout)
        want = [tok.decode(x, skip_special_tokens=bool(skip)) for x in lists]
        wrong = [i for i, (a, b) in enumerate(zip(want, texts)) if a != b]
        bad += len(wrong) + (len(texts) != len(want))
        for i in wrong[:2]:
            print("  decode", name, repr(want[i][:200]), "got", repr(texts[i][:200]))
    print(f"{name}: decode of {2 * len(lists)} lists: {bad} differ")
    return bad


def compare_training(text_files, docs, tmp):
    """Our trainer against theirs on the same text: the same merges, and transformers loads it."""
    from transformers import AutoTokenizer
    bad = 0
    for digits in (1, 3):
        out = Path(tmp) / f"trained{digits}"
        size = 2000
        runs = []
        for k in range(2):
            subprocess.run([str(TOOL), "train", str(out), str(size), str(digits), *SPECIALS, "--", *text_files], check=True)
            runs.append((out / "tokenizer.json").read_bytes())
        bad += runs[0] != runs[1]
        theirs = Tokenizer(models.BPE())
        llm_parts(theirs, digits, True)
        whole = [Path(f).read_bytes().decode() for f in text_files]    # .train would cut at line ends
        theirs.train_from_iterator(whole, trainers.BpeTrainer(
            vocab_size=size - len(SPECIALS), show_progress=False, min_frequency=2,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
        a, b = json.loads(runs[0])["model"], json.loads(theirs.to_str())["model"]
        same = sum(tuple(x) == tuple(y) for x, y in zip(a["merges"], b["merges"]))
        print(f"training, digits {digits}: {same} of {len(b['merges'])} merges as tokenizers', vocabulary equal: {a['vocab'] == b['vocab']}")
        bad += a["merges"] != [list(m) for m in b["merges"]]
        loaded = AutoTokenizer.from_pretrained(out)
        got, _ = ours(str(out), docs[:200], 1)
        bad += sum(loaded(d.decode("utf-8", "replace"))["input_ids"] != g for d, g in zip(docs[:200], got))
        bad += loaded.eos_token != SPECIALS[0]
    return bad


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--full", action="store_true")
    ap.add_argument("--mb", type=int, default=4)
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    if not TOOL.exists():
        raise SystemExit(f"{TOOL} is missing: make unit")
    rng = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as tmp:
        text_files = training_files(tmp, corpus(rng, 1_000_000))
        docs = corpus(rng, 100_000_000 if args.full else args.mb * 1_000_000)
        small = docs[-400:]
        bad, checks = 0, 0
        for name, tok in families(text_files).items():
            wrong = compare_family(name, tok, docs if name in ("qwen2", "llama3") else small, tmp)
            bad, checks = bad + (wrong > 0), checks + 1
        wrong = compare_training(text_files, small, tmp)
        bad, checks = bad + (wrong > 0), checks + 1
    print(f"{checks - bad} passed, {bad} failed, 0 skipped")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
