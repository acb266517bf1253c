/* The warm-up: see warm.h. The task uses the layers that tasks use most. The candidate uses the
 * kernel and host code that candidates use most. Invariant: the candidate must pass, or the later
 * stages are not warm. */
#include "verify/pool/warm.h"

#include "verify/funnel/judgement.h"

static const char warm_task[] =
	"import math\n"
	"import torch\n"
	"import torch.nn as nn\n"
	"import torch.nn.functional as F\n"
	"class Model(nn.Module):\n"
	"    def __init__(self, width, out):\n"
	"        super().__init__()\n"
	"        self.conv = nn.Conv2d(1, 1, 1)\n"
	"        self.bn = nn.BatchNorm2d(1)\n"
	"        self.linear = nn.Linear(width, out)\n"
	"        self.norm = nn.LayerNorm(out)\n"
	"        self.scale = nn.Parameter(torch.randn(out))\n"
	"    def forward(self, x):\n"
	"        y = F.gelu(self.norm(self.linear(x)))\n"
	"        y = torch.softmax(torch.relu(y) * self.scale, dim=-1)\n"
	"        return y.view(x.shape[0], -1) + torch.sigmoid(y) * math.sqrt(2.0)\n"
	"rows = 4\n"
	"width = 16\n"
	"def get_inputs():\n"
	"    return [torch.randn(rows, width)]\n"
	"def get_init_inputs():\n"
	"    return [width, 16]\n";

static const char warm_candidate[] =
	"import math\n"
	"import torch\n"
	"import torch.nn as nn\n"
	"import triton\n"
	"import triton.language as tl\n"
	"@triton.jit\n"
	"def linear_kernel(x_ptr, w_ptr, b_ptr, out_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: "
	"tl.constexpr):\n"
	"    m = tl.program_id(0) * BM + tl.arange(0, BM)\n"
	"    n = tl.program_id(1) * BN + tl.arange(0, BN)\n"
	"    acc = tl.zeros((BM, BN), dtype=tl.float32)\n"
	"    for k in range(0, K, BK):\n"
	"        kk = k + tl.arange(0, BK)\n"
	"        a = tl.load(x_ptr + m[:, None] * K + kk[None, :], mask=(m[:, None] < M) & (kk[None, :] < "
	"K), other=0.0)\n"
	"        w = tl.load(w_ptr + n[None, :] * K + kk[:, None], mask=(kk[:, None] < K) & (n[None, :] < "
	"N), other=0.0)\n"
	"        acc += tl.dot(a, w, input_precision=\"ieee\")\n"
	"    acc += tl.load(b_ptr + n, mask=n < N, other=0.0)[None, :]\n"
	"    tl.store(out_ptr + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))\n"
	"@triton.jit\n"
	"def row_kernel(x_ptr, g_ptr, b_ptr, s_ptr, out_ptr, N, eps, BLOCK: tl.constexpr):\n"
	"    row = tl.program_id(0)\n"
	"    cols = tl.arange(0, BLOCK)\n"
	"    mask = cols < N\n"
	"    x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0)\n"
	"    mean = tl.sum(x, axis=0) / N\n"
	"    d = tl.where(mask, x - mean, 0.0)\n"
	"    y = d / tl.sqrt(tl.sum(d * d, axis=0) / N + eps)\n"
	"    y = y * tl.load(g_ptr + cols, mask=mask, other=0.0) + tl.load(b_ptr + cols, mask=mask, other=0.0)\n"
	"    y = 0.5 * y * (1.0 + tl.math.erf(y * 0.7071067811865476))\n"
	"    y = tl.maximum(y, 0.0) * tl.load(s_ptr + cols, mask=mask, other=0.0)\n"
	"    y = tl.where(mask, y, -float(\"inf\"))\n"
	"    y = tl.exp(y - tl.max(y, axis=0))\n"
	"    y = y / tl.sum(y, axis=0)\n"
	"    tl.store(out_ptr + row * N + cols, y + 1.4142135623730951 / (1.0 + tl.exp(-y)), mask=mask)\n"
	"class ModelNew(nn.Module):\n"
	"    def __init__(self, width, out):\n"
	"        super().__init__()\n"
	"        self.conv = nn.Conv2d(1, 1, 1)\n"
	"        self.bn = nn.BatchNorm2d(1)\n"
	"        self.linear = nn.Linear(width, out)\n"
	"        self.norm = nn.LayerNorm(out)\n"
	"        self.scale = nn.Parameter(torch.randn(out))\n"
	"    def forward(self, x):\n"
	"        x = x.contiguous()\n"
	"        M, K = x.shape\n"
	"        N = self.linear.weight.shape[0]\n"
	"        y = torch.empty((M, N), device=x.device, dtype=x.dtype)\n"
	"        out = torch.empty_like(y)\n"
	"        grid = lambda meta: (triton.cdiv(M, meta['BM']), triton.cdiv(N, meta['BN']))\n"
	"        linear_kernel[grid](x, self.linear.weight, self.linear.bias, y, M, N, K, BM=16, BN=16, "
	"BK=16, num_warps=4)\n"
	"        row_kernel[(M,)](y, self.norm.weight, self.norm.bias, self.scale, out, N, self.norm.eps, "
	"BLOCK=triton.next_power_of_2(N))\n"
	"        return out.view(M, N)\n";

/* With `identity` the judge expects a reference as the candidate, so the task itself is used. */
int judge_warm_up(struct judge *j, struct verdict *v, struct err *e)
{
	struct task *t = task_open(j, STR(warm_task), "warm-up", e);
	int rc = t ? judge_candidate(j, t, judge_options(j)->identity ? STR(warm_task) : STR(warm_candidate),
				     v, e) : -1;

	task_free(t);
	return rc;
}
