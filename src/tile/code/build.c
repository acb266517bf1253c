/* The builder. Owns growing arrays of registers, instructions and locations until tile_build_finish
 * copies them into the arena of the code. Does not own the checks: the verifier does. Invariant:
 * after the first failed allocation every write goes to the scratch instruction, and
 * tile_build_finish reports the failure. */
#include "tile/code/build.h"

#include <stdarg.h>

#include "tile/code/build_opt.h"

/* A function that is being built. Functions nest while they are built: a combine function begins
 * inside the kernel that calls it. */
struct tile_func_build {
	struct str name;
	tile_reg *params, *results;
	int n_params, n_results;
	int outer;                  /* index of the function that continues when this one ends */
	struct { struct tile_insn *v; size_t n, cap; } insns;
};

/* Copies a string into the arena of the code, so that the code outlives the syntax tree. */
static struct str keep(struct tile_builder *b, struct str s)
{
	char *p = s.n && b->code ? arena_strndup(&b->code->mem, s.p, s.n) : NULL;
	if (s.n && !p)
		b->failed = 1;
	return p ? (struct str){ .p = p, .n = s.n } : (struct str){ .p = "", .n = 0 };
}

/* Function 0 is the kernel. Location 0 is the kernel as a whole. */
void tile_build_init(struct tile_builder *b, struct str kernel)
{
	*b = (struct tile_builder){ .at = 0 };
	b->code = mem_zalloc(sizeof *b->code);
	b->failed = !b->code;
	if (b->code)
		b->code->name = keep(b, kernel);
	tile_build_loc(b, 0, 0, -1, kernel);
	if (vec_push(&b->funcs, ((struct tile_func_build){ .name = keep(b, kernel), .outer = 0 })))
		b->failed = 1;
}

void tile_build_release(struct tile_builder *b)
{
	for (size_t i = 0; i < b->funcs.n; i++)
		vec_free(&b->funcs.v[i].insns);
	vec_free(&b->funcs);
	vec_free(&b->regs);
	vec_free(&b->locs);
	vec_free(&b->params);
	tile_code_free(b->code);
	b->code = NULL;
}

struct arena *tile_build_arena(struct tile_builder *b)
{
	return b->code ? &b->code->mem : NULL;
}

/* Copies an array of n elements into the arena of the code. An empty array still gets an address. */
static void *copy_out(struct tile_builder *b, const void *v, size_t n, size_t size)
{
	void *p = arena_array(&b->code->mem, n ? n : 1, size);
	if (!p)
		b->failed = 1;
	else if (n)
		memcpy(p, v, n * size);
	return p;
}

/* Moves the functions from their growing arrays into the code. */
static void copy_funcs(struct tile_builder *b)
{
	struct tile_code *c = b->code;
	c->n_funcs = (int)b->funcs.n;
	c->funcs = arena_array(&c->mem, b->funcs.n, sizeof *c->funcs);
	if (!c->funcs) {
		b->failed = 1;
		return;
	}
	for (size_t i = 0; i < b->funcs.n; i++) {
		struct tile_func_build *f = &b->funcs.v[i];
		c->funcs[i] = (struct tile_func) {
			.name = f->name, .params = f->params, .n_params = f->n_params,
			.results = f->results, .n_results = f->n_results,
			.insns = copy_out(b, f->insns.v, f->insns.n, sizeof *f->insns.v), .n_insns = (int)f->insns.n,
		};
	}
}

/* The builder is released in any case; the code outlives it only on success. */
int tile_build_finish(struct tile_builder *b, struct tile_code **code, struct err *e)
{
	struct tile_code *c = b->code;
	int rc;

	if (!b->failed) {
		c->regs = copy_out(b, b->regs.v, b->regs.n, sizeof *b->regs.v);
		c->n_regs = (int)b->regs.n;
		c->locs = copy_out(b, b->locs.v, b->locs.n, sizeof *b->locs.v);
		c->n_locs = (int)b->locs.n;
		c->params = copy_out(b, b->params.v, b->params.n, sizeof *b->params.v);
		c->n_params = (int)b->params.n;
		copy_funcs(b);
	}
	/* Verified as written, and again after the optimiser, so that the machine need not trust it. */
	*code = NULL;
	rc = b->failed ? err_nomem(e) : tile_verify(c, e) || tile_build_optimise(c, e) || tile_verify(c, e) ? -1 : 0;
	if (!rc) {
		*code = c;
		b->code = NULL;
	}
	tile_build_release(b);
	return rc;
}

tile_reg tile_build_reg(struct tile_builder *b, struct tile_type t)
{
	if (vec_push(&b->regs, t)) {
		b->failed = 1;
		return 0;
	}
	return (tile_reg)(b->regs.n - 1);
}

struct tile_type tile_build_type(const struct tile_builder *b, tile_reg r)
{
	return r < b->regs.n ? b->regs.v[r] : tile_scalar(DT_I32);
}

/* The name is copied: the source may be freed before the code. */
tile_reg tile_build_param(struct tile_builder *b, struct tile_type t, const struct tile_param *p)
{
	struct tile_param copy = *p;
	copy.reg = tile_build_reg(b, t);
	copy.name = keep(b, p->name);
	if (vec_push(&b->params, copy))
		b->failed = 1;
	return copy.reg;
}

/* A linear search: kernels have few parameters, and only hints ask. */
int tile_build_is_param(const struct tile_builder *b, tile_reg r)
{
	for (size_t i = 0; i < b->params.n; i++)
		if (b->params.v[i].reg == r)
			return 1;
	return 0;
}

/* Only the last 64 locations are searched: consecutive instructions mostly share their line, and a
 * duplicate costs only memory. The name of the function is shared with the location before. */
int32_t tile_build_loc(struct tile_builder *b, int line, int col, int32_t parent, struct str fn)
{
	struct str name;

	for (size_t i = b->locs.n; i-- > 0 && i + 64 > b->locs.n;) {
		const struct tile_loc *l = &b->locs.v[i];
		if (l->line == line && l->col == col && l->parent == parent && str_eq(l->fn, fn))
			return (int32_t)i;
	}
	name = b->locs.n && str_eq(b->locs.v[b->locs.n - 1].fn, fn) ? b->locs.v[b->locs.n - 1].fn : keep(b, fn);
	if (vec_push(&b->locs, ((struct tile_loc){ .line = line, .col = col, .parent = parent, .fn = name }))) {
		b->failed = 1;
		return 0;
	}
	return (int32_t)(b->locs.n - 1);
}

void tile_build_at(struct tile_builder *b, int32_t loc)
{
	b->at = loc;
}

/* One array holds results and sources: results first (tile_dst, tile_src). */
struct tile_insn *tile_build_insn(struct tile_builder *b, enum tile_op op, int n_dst, const tile_reg *dst,
				  int n_src, const tile_reg *src)
{
	tile_reg *r = b->failed ? NULL : arena_array(&b->code->mem, (size_t)(n_dst + n_src + 1), sizeof *r);
	struct tile_insn in;
	struct tile_func_build *f;

	if (!r)
		goto failed;
	if (n_dst)
		memcpy(r, dst, (size_t)n_dst * sizeof *r);
	if (n_src)
		memcpy(r + n_dst, src, (size_t)n_src * sizeof *r);
	in = (struct tile_insn) {
		.op = (uint16_t)op, .n_dst = (uint8_t)n_dst, .n_src = (uint16_t)n_src, .loc = b->at, .r = r,
	};
	f = &b->funcs.v[b->current];
	/* The returned pointer is into a growing array: the next instruction may move it. */
	if (vec_push(&f->insns, in))
		goto failed;
	return &f->insns.v[f->insns.n - 1];
failed:
	b->failed = 1;
	b->scratch = (struct tile_insn){ .op = TOP_RET, .r = b->scratch_r };
	return &b->scratch;
}

struct tile_insn *tile_build_last(struct tile_builder *b)
{
	struct tile_func_build *f = b->failed ? NULL : &b->funcs.v[b->current];
	return f && f->insns.n ? &f->insns.v[f->insns.n - 1] : &b->scratch;
}

/* Most sources that tile_build and its kin accept; an instruction with more uses tile_build_insn. */
enum { MAX_VARARGS = 16 };

/* The common part of tile_build, tile_build_do and tile_build_imm. `t` is NULL for no result. */
static struct tile_insn *build_va(struct tile_builder *b, enum tile_op op, const struct tile_type *t,
				  int n_src, va_list ap)
{
	tile_reg src[MAX_VARARGS];
	tile_reg dst = TILE_NO_REG;
	BUG_ON(n_src > MAX_VARARGS);
	for (int i = 0; i < n_src; i++)
		src[i] = va_arg(ap, tile_reg);
	if (t)
		dst = tile_build_reg(b, *t);
	return tile_build_insn(b, op, t != NULL, &dst, n_src, src);
}

tile_reg tile_build(struct tile_builder *b, enum tile_op op, struct tile_type t, int n_src, ...)
{
	va_list ap;
	struct tile_insn *in;

	va_start(ap, n_src);
	in = build_va(b, op, &t, n_src, ap);
	va_end(ap);
	return in->r[0];
}

void tile_build_do(struct tile_builder *b, enum tile_op op, int n_src, ...)
{
	va_list ap;
	va_start(ap, n_src);
	build_va(b, op, NULL, n_src, ap);
	va_end(ap);
}

tile_reg tile_build_imm(struct tile_builder *b, enum tile_op op, struct tile_type t, int64_t imm, int n_src, ...)
{
	va_list ap;
	struct tile_insn *in;

	va_start(ap, n_src);
	in = build_va(b, op, &t, n_src, ap);
	va_end(ap);
	in->imm = imm;
	return in->r[0];
}

tile_reg tile_build_int(struct tile_builder *b, struct tile_type t, int64_t v)
{
	return tile_build_imm(b, TOP_CONST, t, v, 0);
}

tile_reg tile_build_float(struct tile_builder *b, struct tile_type t, double v)
{
	tile_reg r = tile_build(b, TOP_CONST, t, 0);
	tile_build_last(b)->fimm = v;
	return r;
}

void tile_build_mov(struct tile_builder *b, tile_reg dst, tile_reg src)
{
	tile_build_insn(b, TOP_MOV, 1, &dst, 1, &src);
}

void tile_build_if(struct tile_builder *b, tile_reg cond)
{
	tile_build_insn(b, TOP_IF, 0, NULL, 1, &cond);
}

void tile_build_else(struct tile_builder *b)
{
	tile_build_insn(b, TOP_ELSE, 0, NULL, 0, NULL);
}

void tile_build_block(struct tile_builder *b)
{
	tile_build_insn(b, TOP_BLOCK, 0, NULL, 0, NULL);
}

void tile_build_loop(struct tile_builder *b)
{
	tile_build_insn(b, TOP_LOOP, 0, NULL, 0, NULL);
}

void tile_build_end(struct tile_builder *b)
{
	tile_build_insn(b, TOP_END, 0, NULL, 0, NULL);
}

void tile_build_br(struct tile_builder *b, int depth)
{
	tile_build_insn(b, TOP_BR, 0, NULL, 0, NULL)->imm = depth;
}

void tile_build_br_if(struct tile_builder *b, tile_reg cond, int depth)
{
	tile_build_insn(b, TOP_BR_IF, 0, NULL, 1, &cond)->imm = depth;
}

/* Parameters of a combine function are two values per reduced tile: the running one and the next
 * one. */
int tile_build_func_begin(struct tile_builder *b, struct str name, int n_params, const struct tile_type *types,
			  tile_reg *params)
{
	struct tile_func_build f = { .name = keep(b, name), .n_params = n_params, .outer = b->current };
	for (int i = 0; i < n_params; i++)
		params[i] = tile_build_reg(b, types[i]);
	if (b->failed || vec_push(&b->funcs, f)) {
		b->failed = 1;
		return 0;
	}
	b->current = (int)b->funcs.n - 1;
	b->funcs.v[b->current].params = copy_out(b, params, (size_t)n_params, sizeof *params);
	return b->current;
}

/* The function that was being built before continues. */
void tile_build_func_end(struct tile_builder *b, int n_results, const tile_reg *results)
{
	struct tile_func_build *f;

	if (b->failed)
		return;
	f = &b->funcs.v[b->current];
	f->results = copy_out(b, results, (size_t)n_results, sizeof *results);
	f->n_results = n_results;
	b->current = f->outer;
}
