"""Time of operators in the host engine against PyTorch CPU eager, one thread each, at the sizes
of shrunken KernelBench problems. Prints the ratio per operator and its median.

    time_num.py [TEXT..]        only operators whose text holds one of these"""
import os, statistics, subprocess, sys, tempfile, time
import torch

TOOL = os.environ.get("HOST_CASES", "build/release/tool/host_cases")
torch.set_num_threads(1)
SETUP = """
import torch
import torch.nn.functional as F
torch.manual_seed(0)
x = torch.rand(64, 4096)
y = torch.rand(64, 4096)
small = torch.rand(16, 64)
img = torch.rand(4, 16, 32, 32)
img2 = torch.rand(8, 64, 28, 28)
vol = torch.rand(2, 8, 12, 16, 16)
seq = torch.rand(8, 32, 256)
w3 = torch.rand(32, 16, 3, 3)
w64 = torch.rand(64, 64, 3, 3)
w1 = torch.rand(64, 64, 1, 1)
wd = torch.rand(64, 1, 3, 3)
wt = torch.rand(16, 24, 3, 3)
wv = torch.rand(16, 8, 3, 3, 3)
wvt = torch.rand(8, 16, 3, 3, 3)
ws = torch.rand(32, 32, 5)
b32 = torch.rand(32)
a256 = torch.rand(256, 256)
lin = torch.rand(1024, 512)
inp = torch.rand(128, 512)
bias = torch.rand(1024)
g16 = torch.rand(16)
q = torch.rand(2, 4, 128, 32)
tgt = torch.randint(0, 4096, (64,))
bm = torch.rand(16, 64, 64)
half = torch.rand(64, 4096).half()
ones = torch.ones(16)
"""
OPS = """torch.relu(x)|F.leaky_relu(x, 0.01)|torch.sigmoid(x)|torch.tanh(x)|F.gelu(x)|F.gelu(x, approximate='tanh')|F.silu(x)|F.mish(x)|F.softplus(x)|F.elu(x)|F.selu(x)|F.hardswish(x)|F.hardsigmoid(x)|F.hardtanh(x)|F.softsign(x)|torch.exp(x)|torch.log(x)|torch.sqrt(x)|torch.abs(x)|x + y|x * 2.0|x / y|x * y + x|torch.clamp(x, 0.2, 0.8)|x ** 2|torch.pow(x, 1.7)|x > 0.5|torch.where(x > 0.5, x, y)|torch.sum(x)|torch.sum(x, dim=1)|torch.sum(x, dim=0)|torch.mean(x, dim=1)|torch.max(x, dim=1)|torch.max(x, dim=0)|torch.argmax(x, dim=1)|torch.min(img, dim=1)|torch.prod(x, dim=1)|torch.var(x, dim=1)|torch.norm(x)|torch.norm(x, p=1, dim=1)|torch.logsumexp(x, dim=1)|torch.softmax(x, dim=1)|torch.softmax(img2, dim=1)|torch.log_softmax(x, dim=1)|torch.cumsum(x, dim=1)|torch.cumsum(x, dim=0)|torch.cumprod(x, dim=1)|F.layer_norm(x, (4096,))|F.group_norm(img2, 8)|F.instance_norm(img2)|F.batch_norm(img2, None, None, training=True)|F.batch_norm(img, g16, ones, ones, g16)|F.rms_norm(x, (4096,))|F.normalize(x, dim=1)|torch.matmul(a256, a256)|torch.matmul(a256.t(), a256)|torch.bmm(bm, bm)|F.linear(inp, lin, bias)|torch.matmul(x, x.t())|torch.matmul(a256, a256[0])|F.conv2d(img, w3, b32, padding=1)|F.conv2d(img2, w64, padding=1)|F.conv2d(img2, w64, stride=2, padding=1)|F.conv2d(img2, w1)|F.conv2d(img2, wd, groups=64, padding=1)|F.conv1d(seq, ws, padding=2)|F.conv3d(vol, wv, padding=1)|F.conv_transpose2d(img, wt, stride=2, padding=1)|F.conv_transpose2d(img, wt)|F.conv_transpose3d(vol, wvt, stride=2, padding=1)|F.max_pool2d(img2, 2)|F.max_pool2d(img2, 3, 2, 1)|F.max_pool1d(seq, 4)|F.max_pool3d(vol, 2)|F.avg_pool2d(img2, 2)|F.avg_pool2d(img2, 3, 1, 1)|F.avg_pool3d(vol, 2)|F.adaptive_avg_pool2d(img2, 1)|F.adaptive_avg_pool2d(img2, 7)|F.mse_loss(x, y)|F.smooth_l1_loss(x, y)|F.cross_entropy(x, tgt)|F.kl_div(torch.log(x), y, reduction='batchmean')|F.scaled_dot_product_attention(q, q, q)|F.scaled_dot_product_attention(q, q, q, is_causal=True)|torch.einsum('bij,bjk->bik', bm, bm)|torch.cat([x, y], dim=1)|x.t().contiguous()|img2.permute(0, 2, 3, 1).contiguous()|x.half()|half * 2|torch.sigmoid(half)|torch.sum(half, dim=1)|torch.triu(a256)|x[:, ::2] + 1|img2 * g16.view(1, 16, 1, 1).repeat(1, 4, 1, 1)|img2 + torch.sum(img2, dim=1, keepdim=True)|small + 1|small @ small.t()|torch.relu(small)|F.pad(img2, (1, 1, 1, 1))|F.interpolate(img, scale_factor=2)|F.interpolate(img, scale_factor=2, mode='bilinear')|torch.rand(64, 4096)|torch.randn(64, 4096)|torch.topk(x, 10)|torch.sort(x, dim=1)|x[tgt[:8] % 64]|F.dropout(x, 0.5)|torch.erf(x)|torch.sin(x)|torch.cdist(small, small)""".split("|")
if sys.argv[1:]:
    OPS = [c for c in OPS if any(a in c for a in sys.argv[1:])]

text = SETUP + "".join(f"def case_{k}():\n    return {c}\n" for k, c in enumerate(OPS))
with tempfile.NamedTemporaryFile("w", suffix=".py") as f:
    f.write(text)
    f.flush()
    out = subprocess.run([TOOL, f.name, "time"], capture_output=True, text=True, check=True).stdout
ours = {int(l.split()[1]): (float(l.split()[3]) if "us" in l else None) for l in out.splitlines()}
env = {}
exec(text, env)
rows = []
with torch.no_grad():
    for k, c in enumerate(OPS):
        fn, best, begin, n = env[f"case_{k}"], 1e30, time.perf_counter(), 0
        while n < 3 or time.perf_counter() - begin < 0.02:
            t = time.perf_counter()
            fn()
            best = min(best, time.perf_counter() - t)
            n += 1
        rows.append((ours.get(k), best * 1e6, c))
bad = [c for o, _, c in rows if o is None]
rows = sorted([(o / t, o, t, c) for o, t, c in rows if o is not None])
for ratio, o, t, c in rows:
    print(f"{ratio:6.2f}  ours {o:9.1f} us  PyTorch {t:9.1f} us  {c}")
for c in bad:
    print("ERROR", c)
ratios = [r[0] for r in rows]
print(f"time_num: {len(rows)} operators, median ratio {statistics.median(ratios):.2f}, above 1.5: {sum(r > 1.5 for r in ratios)}, above 5: {sum(r > 5 for r in ratios)}")
