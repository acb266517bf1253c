#!/bin/bash
# What a verdict says of reads and of the constant-tensor test at full size (src/verify/config/constant_test.def): that they were compared, or why
# they were not. Every candidate here is right.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "flat.sh: $*"; exit 1; }
honest=$(dirname "$0")/../honest

# says CANDIDATE TASK READS VALUES [OPTION...]: "none" stands for a field that is not there
says() {
	local candidate=$1 task=$2 want="$3 $4" line got=""
	shift 4
	line=$("$TRITONRL" verify "$candidate" --task "$task" --json --workers 1 "$@" 2>/dev/null) || fail "$(basename "$candidate"): $line"
	for field in full_size_reads full_size_values; do
		got+=$(sed -n "s/.*\"$field\":\"\([a-z_]*\)\".*/\1/p" <<<"$line" | grep . || echo none)" "
	done
	[ "$got" = "$want " ] || fail "$(basename "$candidate") says $got, not $want"
}

cat >"$tmp/head" <<'END'
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def part_kernel(x_ptr, p_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(p_ptr + tl.program_id(0), tl.sum(v * v, 0))


@triton.jit
def comb_kernel(x_ptr, p_ptr, n, PER: tl.constexpr, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in range(PER):
        offs = 2 * ((tl.program_id(0) * PER + i) * BLOCK + tl.arange(0, BLOCK))
        even = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
        odd = tl.load(x_ptr + offs + 1, mask=offs + 1 < n, other=0.0)
        acc += even * even + odd * odd
    tl.store(p_ptr + tl.program_id(0), tl.sum(acc, 0))


@triton.jit
def swap_kernel(x_ptr, p_ptr, n, BLOCK: tl.constexpr):
    offs = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) ^ 1
    v = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(p_ptr + tl.program_id(0), tl.sum(v * v, 0))


@triton.jit
def all_kernel(x_ptr, out_ptr, n, by, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in range(0, n, BLOCK):
        offs = i + tl.arange(0, BLOCK)
        v = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
        acc += v * v
    tl.store(out_ptr, tl.sum(acc, 0) / by)


@triton.jit
def final_kernel(p_ptr, out_ptr, parts, by, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in range(0, parts, BLOCK):
        offs = i + tl.arange(0, BLOCK)
        acc += tl.load(p_ptr + offs, mask=offs < parts, other=0.0)
    tl.store(out_ptr, tl.sum(acc, 0) / by)


@triton.jit
def log_kernel(p_ptr, out_ptr, parts, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in range(0, parts, BLOCK):
        offs = i + tl.arange(0, BLOCK)
        acc += tl.load(p_ptr + offs, mask=offs < parts, other=0.0)
    tl.store(out_ptr, tl.log(1.0 + tl.sum(acc, 0)))


@triton.jit
def zero_kernel(p_ptr):
    tl.store(p_ptr + tl.program_id(0), 0.0)


@triton.jit
def zeros_kernel(ps, N: tl.constexpr):
    for i in tl.static_range(N):
        tl.store(ps[i], 0.0)


class ModelNew(nn.Module):
    def forward(self, x):
        n, parts = x.numel(), triton.cdiv(x.numel(), 8192)
        p = torch.empty(parts, device=x.device, dtype=torch.float32)
        out = torch.empty((), device=x.device, dtype=torch.float32)
END

# candidate NAME: `head` and the rest of forward, from standard input
candidate() {
	{ cat "$tmp/head"; sed 's/^/        /'; } >"$tmp/$1.py"
}

# task NAME EXPRESSION: as mean_large, but for what it returns
task() {
	sed "s|return torch.mean.*|return $2|" "$mean" >"$tmp/task_$1.py"
	grep -qF "$2" "$tmp/task_$1.py" || fail "the task $1 was not made"
}

mean=$honest/tasks/mean_large.py
says "$honest/add_flat.py" "$honest/tasks/add.py" none none
says "$honest/mean_large_parts.py" "$mean" compared compared
says "$honest/mean_large_last_block.py" "$mean" by_contents unknown
says "$honest/mean_large_halves.py" "$mean" compared unknown

candidate tensors <<'END'
zeros_kernel[(1,)](tuple([torch.empty(1, device=x.device, dtype=torch.float32) for i in range(50)]), N=50)
part_kernel[(parts,)](x, p, n, BLOCK=8192)
final_kernel[(1,)](p, out, parts, n, BLOCK=1024)
return out
END
says "$tmp/tensors.py" "$mean" many_tensors compared

candidate launches <<'END'
for i in range(70):
    zero_kernel[(1,)](p)
part_kernel[(parts,)](x, p, n, BLOCK=8192)
final_kernel[(1,)](p, out, parts, n, BLOCK=1024)
return out
END
says "$tmp/launches.py" "$mean" compared many_launches

candidate programs <<'END'
zero_kernel[(70000,)](torch.empty(70000, device=x.device, dtype=torch.float32))
part_kernel[(parts,)](x, p, n, BLOCK=8192)
final_kernel[(1,)](p, out, parts, n, BLOCK=1024)
return out
END
says "$tmp/programs.py" "$mean" compared many_programs

candidate long <<'END'
all_kernel[(1,)](x, out, n, n, BLOCK=16)
return out
END
says "$tmp/long.py" "$mean" compared long_program

candidate longish <<'END'
all_kernel[(1,)](x, out, n, n, BLOCK=1024)
return out
END
says "$tmp/longish.py" "$mean" compared compared

candidate ranges <<'END'
parts = triton.cdiv(n, 262144)
comb_kernel[(parts,)](x, p, n, PER=128, BLOCK=1024)
final_kernel[(1,)](p, out, parts, n, BLOCK=1024)
return out
END
says "$tmp/ranges.py" "$mean" compared unknown

candidate swapped <<'END'
swap_kernel[(parts,)](x, p, n, BLOCK=8192)
final_kernel[(1,)](p, out, parts, n, BLOCK=1024)
return out
END
says "$tmp/swapped.py" "$mean" many_ranges compared

candidate fails <<'END'
if x.shape[0] == 128:
    raise ValueError("a number of rows that this one does not take")
part_kernel[(parts,)](x, p, n, BLOCK=8192)
final_kernel[(1,)](p, out, parts, n, BLOCK=1024)
return out
END
says "$tmp/fails.py" "$mean" compared call_failed

candidate half <<'END'
half = n // 2
parts = triton.cdiv(half, 8192)
p = torch.empty(parts, device=x.device, dtype=torch.float32)
part_kernel[(parts,)](x, p, half, BLOCK=8192)
final_kernel[(1,)](p, out, parts, half, BLOCK=1024)
return out
END
task half 'torch.mean(x[: x.shape[0] // 2] * x[: x.shape[0] // 2])'
says "$tmp/half.py" "$tmp/task_half.py" parts compared

candidate apart <<'END'
rest = x.view(-1)[n // 2:]
other = torch.empty_like(p)
part_kernel[(parts,)](x, p, n // 2, BLOCK=8192)
part_kernel[(parts,)](rest, other, rest.numel(), BLOCK=8192)
return (p.sum() + other.sum()) / n
END
says "$tmp/apart.py" "$mean" none_whole unknown --track hybrid

candidate log <<'END'
part_kernel[(parts,)](x, p, n, BLOCK=8192)
log_kernel[(1,)](p, out, parts, BLOCK=1024)
return out
END
task log 'torch.log(1.0 + torch.sum(x * x))'
says "$tmp/log.py" "$tmp/task_log.py" compared no_power
