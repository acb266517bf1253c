/* Owns the step from the front end's types to tile code. Example: <['16', '32'], pointer<fp16>>
 * becomes *fp16[16x32], and each instruction gets the source location of the node that is being
 * visited.
 *
 * Invariant: while f->mute is set the builder is untouched and every register number is 0; types
 * are computed as usual. */
#include <stdarg.h>

#include "tile/front/sem.h"

/* The machine's dtype for each scalar type; -1: the machine has none. */
static const signed char machine_dtype[SCALARS] = {
	[SC_VOID] = -1, [SC_INT1] = DT_BOOL,
	[SC_INT8] = DT_I8, [SC_INT16] = DT_I16, [SC_INT32] = DT_I32, [SC_INT64] = DT_I64,
	[SC_UINT8] = DT_U8, [SC_UINT16] = DT_U16, [SC_UINT32] = DT_U32, [SC_UINT64] = DT_U64,
	[SC_FP8E5] = DT_F8E5M2, [SC_FP8E4NV] = DT_F8E4M3,
	[SC_FP8E5B16] = -1, [SC_FP8E4B8] = -1, [SC_FP8E4B15] = -1,
	[SC_FP16] = DT_F16, [SC_BF16] = DT_BF16, [SC_FP32] = DT_F32, [SC_FP64] = DT_F64,
};

/* The machine's dtype, or a placeholder after recording that it has none. */
static enum dtype element(struct front *f, const struct ty *t)
{
	int dt = t->kind == TY_SCALAR ? machine_dtype[t->sc] : -1;
	if (dt < 0) {
		front_unsupported(f, "this engine does not support values of type %s", front_ty(f, t));
		return DT_I8;
	}
	return (enum dtype)dt;
}

/* A pointer to a pointer is a pointer to 64-bit integers. Tiles have at most TILE_DIMS dimensions. */
struct tile_type emit_type(struct front *f, const struct ty *t)
{
	const struct ty *s = ty_scalar(t);
	struct tile_type m;
	int32_t shape[TILE_DIMS];

	if (s->kind == TY_PTR)
		m = s->elem->kind == TY_PTR ? tile_pointer(DT_I64) : tile_pointer(element(f, s->elem));
	else
		m = tile_scalar(element(f, s));
	if (t->kind != TY_BLOCK)
		return m;
	if (t->rank > TILE_DIMS) {
		front_unsupported(f, "this engine does not support tiles of more than %d dimensions", TILE_DIMS);
		return m;
	}
	for (int i = 0; i < t->rank; i++)
		shape[i] = (int32_t)t->shape[i];
	return tile_shaped(m, t->rank, shape);
}

/* Instructions of a library function get the location of its call; others get their own, with the
 * call as parent. */
void emit_here(struct front *f)
{
	const struct front_frame *fr;
	const struct py_node *n;

	if (f->mute)
		return;
	fr = f->frame;
	n = fr->cur;
	if (fr->in_prelude || !n)
		tile_build_at(f->b, fr->loc);
	else
		tile_build_at(f->b, tile_build_loc(f->b, n->line, n->col + 1, fr->loc, fr->fn->name));
}

/* A new register. Combine and map functions have scalars only. */
tile_reg emit_reg(struct front *f, const struct ty *t)
{
	struct tile_type m;

	if (f->mute)
		return 0;
	m = emit_type(f, t);
	if (f->in_func && (m.ndim || m.ptr))
		front_unsupported(f, "this engine does not support %s in a combine or map function",
				  m.ptr ? "a pointer" : "a tile");
	return f->mute ? 0 : tile_build_reg(f->b, m);
}

/* The source location is set for each instruction: the walk moves on between them. */
struct tile_insn *emit_insn(struct front *f, enum tile_op op, int n_dst, const tile_reg *dst, int n_src,
			    const tile_reg *src)
{
	/* Combine and map functions consist of elementwise operations and control flow only. */
	if (!f->mute && f->in_func && !(tile_op_info(op)->flags & (TOF_L | TOF_C)))
		front_unsupported(f, "this engine does not support %s in a combine or map function",
				  tile_op_info(op)->name);
	if (f->mute)
		return &f->scratch;
	emit_here(f);
	return tile_build_insn(f->b, op, n_dst, dst, n_src, src);
}

/* The last instruction, or a scratch one while muted, so that callers need no check. */
struct tile_insn *emit_last(struct front *f)
{
	return f->mute ? &f->scratch : tile_build_last(f->b);
}

void emit_order(struct front *f, struct tile_order order)
{
	struct tile_insn *in = emit_last(f);
	in->attr[1] = order.sem;
	in->attr[2] = order.scope;
}

/* Most sources of an instruction that `emit` and its kin build. */
enum { MOST_SOURCES = 8 };

/* The error is late: Triton's front end accepts the operation. */
void emit_refuse_fp8(struct front *f, const struct ty *t)
{
	if (ty_is_fp8(ty_scalar(t)))
		front_late(f, REASON_bad_dtype, "convert to a wider type first: x.to(tl.float32)",
			   "a GPU has no arithmetic in %s", front_ty(f, ty_scalar(t)));
}

/* The operations that GPUs do not have in fp8. */
static int is_arithmetic(enum tile_op op)
{
	return op == TOP_ADD || op == TOP_SUB || op == TOP_MUL || op == TOP_DIV || op == TOP_REM || op == TOP_NEG ||
		op == TOP_FMA || op == TOP_MAX || op == TOP_MIN || op == TOP_MAX_NAN || op == TOP_MIN_NAN ||
		op == TOP_CLAMP || op == TOP_CLAMP_NAN || op == TOP_SORT || op == TOP_TOPK;
}

/* The common part of emit and emit_imm. */
static struct tv emit_v(struct front *f, enum tile_op op, const struct ty *t, int n, va_list ap)
{
	tile_reg r, src[MOST_SOURCES];

	BUG_ON(n > MOST_SOURCES);
	for (int i = 0; i < n; i++)
		src[i] = va_arg(ap, tile_reg);
	r = emit_reg(f, t);
	if (is_arithmetic(op))
		emit_refuse_fp8(f, t);
	emit_insn(f, op, 1, &r, n, src);
	return (struct tv){ t, r };
}

struct tv emit(struct front *f, enum tile_op op, const struct ty *t, int n, ...)
{
	va_list ap;
	struct tv r;

	va_start(ap, n);
	r = emit_v(f, op, t, n, ap);
	va_end(ap);
	return r;
}

struct tv emit_imm(struct front *f, enum tile_op op, const struct ty *t, int64_t imm, int n, ...)
{
	va_list ap;
	struct tv r;

	va_start(ap, n);
	r = emit_v(f, op, t, n, ap);
	va_end(ap);
	emit_last(f)->imm = imm;
	return r;
}

void emit_do(struct front *f, enum tile_op op, int n, ...)
{
	tile_reg src[MOST_SOURCES];
	va_list ap;

	BUG_ON(n > MOST_SOURCES);
	va_start(ap, n);
	for (int i = 0; i < n; i++)
		src[i] = va_arg(ap, tile_reg);
	va_end(ap);
	emit_insn(f, op, 0, NULL, n, src);
}

struct tv emit_int(struct front *f, const struct ty *t, int64_t v)
{
	struct tv r = emit(f, TOP_CONST, t, 0);
	emit_last(f)->imm = v;
	return r;
}

struct tv emit_float(struct front *f, const struct ty *t, double v)
{
	struct tv r = emit(f, TOP_CONST, t, 0);
	emit_last(f)->fimm = v;
	return r;
}

/* A move of a register to itself is left out. */
void emit_mov(struct front *f, tile_reg dst, tile_reg src)
{
	if (!f->mute && dst != src)
		emit_insn(f, TOP_MOV, 1, &dst, 1, &src);
}

/* Constructs are counted even while muted, so that branch depths stay right. A construct that was opened
 * while muted is closed while muted, because `mute` only changes at the ends of regions. */
void emit_if(struct front *f, tile_reg cond) { f->depth++; emit_insn(f, TOP_IF, 0, NULL, 1, &cond); }
void emit_else(struct front *f) { emit_insn(f, TOP_ELSE, 0, NULL, 0, NULL); }
void emit_loop(struct front *f) { f->depth++; emit_insn(f, TOP_LOOP, 0, NULL, 0, NULL); }
void emit_block(struct front *f) { f->depth++; emit_insn(f, TOP_BLOCK, 0, NULL, 0, NULL); }
void emit_end(struct front *f) { f->depth--; emit_insn(f, TOP_END, 0, NULL, 0, NULL); }
void emit_br(struct front *f, int depth) { emit_insn(f, TOP_BR, 0, NULL, 0, NULL)->imm = depth; }
void emit_br_if(struct front *f, tile_reg cond, int depth) { emit_insn(f, TOP_BR_IF, 0, NULL, 1, &cond)->imm = depth; }
