/* Losses over rows: each row's loss, then their mean. */
#include <stdio.h>

#include "base/mem.h"
#include "gen/kern.h"

static const char *const cross_entropy_body =
	"    row = tl.program_id(0)$wide\n"
	"    top = float('-inf')\n"
	"    total = 0.0\n"
	"    for start in range(0, D, BLOCK):\n"
	"        cols = start + tl.arange(0, BLOCK)\n"
	"        x = tl.load(x_ptr + row * D + cols, mask=cols < D, other=float('-inf'))\n"
	"        new = tl.maximum(top, tl.max(x, axis=0))\n"
	"        total = total * tl.exp(top - new) + tl.sum(tl.exp(x - new), axis=0)\n"
	"        top = new\n"
	"    label = tl.load(y_ptr + row)\n"
	"    picked = tl.load(x_ptr + row * D + label)\n"
	"    tl.store(part_ptr + row, top + tl.log(total) - picked)\n";

static const char *const cosine_body =
	"    row = tl.program_id(0)$wide\n"
	"    xy = 0.0\n"
	"    xx = 0.0\n"
	"    yy = 0.0\n"
	"    for start in range(0, D, BLOCK):\n"
	"        cols = start + tl.arange(0, BLOCK)\n"
	"        x = tl.load(x_ptr + row * D + cols, mask=cols < D, other=0.0)\n"
	"        y = tl.load(y_ptr + row * D + cols, mask=cols < D, other=0.0)\n"
	"        xy += tl.sum(x * y, axis=0)\n"
	"        xx += tl.sum(x * x, axis=0)\n"
	"        yy += tl.sum(y * y, axis=0)\n"
	"    norm = tl.sqrt(tl.maximum(xx, 1e-16)) * tl.sqrt(tl.maximum(yy, 1e-16))\n"
	"    tl.store(part_ptr + row, 1.0 - xy / norm)\n";

static const char *const triplet_body =
	"    row = tl.program_id(0)$wide\n"
	"    near = 0.0\n"
	"    far = 0.0\n"
	"    for start in range(0, D, BLOCK):\n"
	"        cols = start + tl.arange(0, BLOCK)\n"
	"        mask = cols < D\n"
	"        x = tl.load(x_ptr + row * D + cols, mask=mask, other=0.0)\n"
	"        y = tl.load(y_ptr + row * D + cols, mask=mask, other=0.0)\n"
	"        z = tl.load(z_ptr + row * D + cols, mask=mask, other=0.0)\n"
	"        a = tl.where(mask, x - y + 1e-6, 0.0)\n"
	"        b = tl.where(mask, x - z + 1e-6, 0.0)\n"
	"        near += tl.sum(a * a, axis=0)\n"
	"        far += tl.sum(b * b, axis=0)\n"
	"    tl.store(part_ptr + row, tl.maximum(tl.sqrt(near) - tl.sqrt(far) + $margin, 0.0))\n";

void gen_write_row_loss(struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *to)
{
	const struct gen_step *s = &sol->em->p->step[k->head];
	const struct gen_names *n = &sol->em->name[k->head];
	struct gen_kern kn;
	char rows[GEN_NAME + 16], grid[GEN_ARG];

	gen_kern_init(&kn, sol, k, from, "part", "");
	gen_ptr(&kn, "x_ptr", "%s", from);
	gen_ptr(&kn, "y_ptr", "%s", n->input[0]);
	if (n->input[1][0])
		gen_ptr(&kn, "z_ptr", "%s", n->input[1]);
	gen_ptr(&kn, "part_ptr", "part");
	gen_size(&kn, "D", "%s.shape[1]", from);
	gen_set(&kn.v, "margin", "%s", gen_constant(&kn, k->head, 0));
	gen_meta(&kn, "BLOCK", "%lld", (long long)MIN(gen_pow2(s->in.d[1]), 2048));
	gen_set(&kn.v, "wide", "%s", gen_wide(&kn));
	snprintf(rows, sizeof rows, "%s.shape[0]", from);
	gen_host(sol, "part = torch.empty((%s,), device=%s.device, dtype=torch.float32)", rows, from);
	snprintf(grid, sizeof grid, "(%s,)", rows);
	gen_kern_write(&kn, s->op == GEN_OP_cross_entropy ? cross_entropy_body : s->op == GEN_OP_cosine_loss ? cosine_body : triplet_body, grid);
	gen_write_last_sum(sol, k, "part", rows, rows, to);
}
