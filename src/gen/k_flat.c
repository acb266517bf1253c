/* Kernels that walk elements: pointwise chains, one statistic of a whole tensor, losses. */
#include <stdio.h>

#include "base/mem.h"
#include "gen/kern.h"

static const char *flat_block(const struct gen_kern *kn)
{
	return gen_solution_choice(kn->em->p, 210, 2) ? "512" : "1024";
}

static struct gen_place flat_place(const struct gen_kern *kn)
{
	return (struct gen_place){ .val = "x", .at = "offs", .mask = "mask", .shape_of = kn->from };
}

static const char *const flat_body =
	"    pid = tl.program_id(0)$wide\n"
	"    offs = pid * BLOCK + tl.arange(0, BLOCK)\n"
	"    mask = offs < n\n"
	"    x = tl.load(x_ptr + offs, mask=mask, other=0.0)\n"
	"    $post\n"
	"    tl.store(out_ptr + offs, x, mask=mask)\n";

/* A fixed number of programs, each with every so manieth block. */
static const char *const persistent_body =
	"    pid = tl.program_id(0)$wide\n"
	"    step = tl.num_programs(0) * BLOCK\n"
	"    for start in range(pid * BLOCK, n, step):\n"
	"        offs = start + tl.arange(0, BLOCK)\n"
	"        mask = offs < n\n"
	"        x = tl.load(x_ptr + offs, mask=mask, other=0.0)\n"
	"        $post\n"
	"        tl.store(out_ptr + offs, x, mask=mask)\n";

void gen_write_flat(struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *to)
{
	struct gen_kern kn;
	const struct gen_shape *shape = &sol->em->p->step[k->first].in;
	int persistent = gen_numel(shape) > 1 << 24 && gen_solution_choice(sol->em->p, 212, 8) == 7;
	struct gen_place pl;
	char grid[GEN_ARG];

	gen_kern_init(&kn, sol, k, from, to, "");
	pl = flat_place(&kn);
	gen_ptr(&kn, "x_ptr", "%s", from);
	gen_set_points(&kn, "post", k->first, k->end, &pl);
	gen_ptr(&kn, "out_ptr", "%s", to);
	gen_size(&kn, "n", "%s.numel()", from);
	gen_meta(&kn, "BLOCK", "%s", flat_block(&kn));
	gen_set(&kn.v, "wide", "%s", gen_wide(&kn));
	gen_alloc(&kn, shape, shape, "");
	snprintf(grid, sizeof grid, persistent ? "(min(1024, triton.cdiv(%s.numel(), @BLOCK)),)" : "(triton.cdiv(%s.numel(), @BLOCK),)", from);
	gen_kern_write(&kn, persistent ? persistent_body : flat_body, grid);
}

/* --- one statistic of all elements ------------------------------------------------------------ */

/* At most this many partial results, so that one tile holds them all. */
enum { PARTS = 1024 };

static const char *const parts_body =
	"    pid = tl.program_id(0)$wide\n"
	"    acc = tl.zeros((BLOCK,), dtype=tl.float32)\n"
	"    for start in range(pid * BLOCK, n, tl.num_programs(0) * BLOCK):\n"
	"        offs = start + tl.arange(0, BLOCK)\n"
	"        mask = offs < n\n"
	"        x = tl.load(x_ptr + offs, mask=mask, other=0.0)\n"
	"        $post\n"
	"        $add\n"
	"    tl.store(part_ptr + pid, tl.sum(acc, axis=0))\n";

static void write_parts(struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *add)
{
	struct gen_kern kn;
	struct gen_place pl;

	gen_kern_init(&kn, sol, k, from, "part", "partial");
	pl = flat_place(&kn);
	gen_ptr(&kn, "x_ptr", "%s", from);
	gen_set_points(&kn, "post", k->first, gen_op(sol->em->p->step[k->head].op)->family == GEN_LOSS ? k->head + 1 : k->head, &pl);
	gen_ptr(&kn, "part_ptr", "part");
	gen_size(&kn, "n", "%s.numel()", from);
	gen_meta(&kn, "BLOCK", "%s", flat_block(&kn));
	gen_set(&kn.v, "x", "x");
	gen_set(&kn.v, "add", "%s", add);
	gen_set(&kn.v, "wide", "%s", gen_wide(&kn));
	gen_host(sol, "parts = min(%d, triton.cdiv(%s.numel(), %s))", PARTS, from, kn.meta.v[0].value);
	gen_host(sol, "part = torch.empty((parts,), device=%s.device, dtype=torch.float32)", from);
	gen_kern_write(&kn, parts_body, "(parts,)");
}

static const char *const apply_body =
	"    pid = tl.program_id(0)$wide\n"
	"    p = tl.arange(0, PARTS)\n"
	"    total = tl.sum(tl.load(part_ptr + p, mask=p < parts, other=0.0), axis=0)\n"
	"    offs = pid * BLOCK + tl.arange(0, BLOCK)\n"
	"    mask = offs < n\n"
	"    x = tl.load(x_ptr + offs, mask=mask, other=0.0)\n"
	"    $apply\n"
	"    $post\n"
	"    tl.store(out_ptr + offs, x, mask=mask)\n";

void gen_write_global(struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *to)
{
	const struct gen_step *s = &sol->em->p->step[k->head];
	struct gen_kern kn;
	struct gen_place pl;
	char grid[GEN_ARG];

	write_parts(sol, k, from, gen_op(s->op)->triton[0]);
	gen_kern_init(&kn, sol, k, from, to, "apply");
	pl = flat_place(&kn);
	gen_ptr(&kn, "x_ptr", "%s", from);
	gen_ptr(&kn, "part_ptr", "part");
	gen_set_points(&kn, "post", k->head + 1, k->end, &pl);
	gen_ptr(&kn, "out_ptr", "%s", to);
	gen_size(&kn, "n", "%s.numel()", from);
	gen_size(&kn, "parts", "parts");
	gen_meta(&kn, "PARTS", "%d", PARTS);
	gen_meta(&kn, "BLOCK", "4096");
	gen_set(&kn.v, "x", "x");
	gen_set(&kn.v, "apply", "%s", gen_op(s->op)->triton[1]);
	gen_set(&kn.v, "wide", "%s", gen_wide(&kn));
	gen_alloc(&kn, &s->in, &s->shape, "");
	snprintf(grid, sizeof grid, "(triton.cdiv(%s.numel(), @BLOCK),)", from);
	gen_kern_write(&kn, apply_body, grid);
}

/* --- losses -------------------------------------------------------------------------------------- */

static const char *const last_body =
	"    acc = tl.zeros((BLOCK,), dtype=tl.float32)\n"
	"    for start in range(0, parts, BLOCK):\n"
	"        offs = start + tl.arange(0, BLOCK)\n"
	"        acc += tl.load(part_ptr + offs, mask=offs < parts, other=0.0)\n"
	"    tl.store(out_ptr, tl.sum(acc, axis=0) / n)\n";

void gen_write_last_sum(struct gen_solution *sol, const struct gen_kernel *k, const char *part, const char *count, const char *over, const char *to)
{
	struct gen_kern kn;

	gen_kern_init(&kn, sol, k, part, to, "sum");
	gen_ptr(&kn, "part_ptr", "%s", part);
	gen_ptr(&kn, "out_ptr", "%s", to);
	gen_size(&kn, "parts", "%s", count);
	gen_meta(&kn, "BLOCK", "1024");
	if (strcmp(count, over))
		gen_size(&kn, "n", "%s", over);
	else
		snprintf(kn.size.v[0].param, GEN_NAME, "n");
	gen_host(sol, "%s = torch.empty((), device=%s.device, dtype=torch.float32)", to, part);
	gen_kern_write(&kn, strcmp(count, over) ? last_body :
		       "    acc = tl.zeros((BLOCK,), dtype=tl.float32)\n"
		       "    for start in range(0, n, BLOCK):\n"
		       "        offs = start + tl.arange(0, BLOCK)\n"
		       "        acc += tl.load(part_ptr + offs, mask=offs < n, other=0.0)\n"
		       "    tl.store(out_ptr, tl.sum(acc, axis=0) / n)\n", "(1,)");
}

void gen_write_loss(struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *to)
{
	char over[GEN_NAME];

	write_parts(sol, k, from, "acc += tl.where(mask, l, 0.0)");
	snprintf(over, sizeof over, sol->em->p->step[k->head].op == GEN_OP_kl_loss ? "%s.shape[0]" : "%s.numel()", from);
	gen_write_last_sum(sol, k, "part", "parts", over, to);
}
