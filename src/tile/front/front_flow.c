/* Owns the registers behind values: flattening, rebuilding, copying, comparing. The order of the
 * registers of a value is defined by add_parts; flow_rebuild and flow_count must follow it. */
#include "tile/front/front_flow.h"

/* One base, and for each dimension a shape, a stride and (block pointers only) an offset. */
static size_t block_ptr_count(const struct front *f, int id)
{
	const struct block_ptr *p = &f->block_ptrs.v[id];
	return 1 + (p->is_desc ? 2 : 3) * (size_t)MIN(p->ty->elem->rank, TILE_DIMS);
}

/* A descriptor consists of its block pointer and the run-time values of its shape and strides. */
size_t flow_count(const struct front *f, const struct lang_val *v)
{
	size_t n = 0;
	switch (v->kind) {
	case LANG_TENSOR:
		return ty_is_block_ptr(v->u.t.ty) ? block_ptr_count(f, v->u.t.id) : 1;
	case LANG_DESC:
		return block_ptr_count(f, v->u.desc->id) + 2 * (size_t)v->u.desc->block->rank;
	case LANG_TUPLE:
		for (size_t i = 0; i < v->u.tup.n; i++)
			n += flow_count(f, &v->u.tup.v[i]);
		return n;
	default:
		return 0;
	}
}

/* Base, then shape, stride and offset of each dimension. */
static struct part *block_ptr_parts(struct front *f, int id, struct part *out)
{
	const struct block_ptr *p = &f->block_ptrs.v[id];
	const struct ty *i64 = ty_sc(SC_INT64), *i32 = ty_sc(SC_INT32);
	*out++ = (struct part){ ty_ptr(f->a, p->ty->elem->elem, 0), p->base };
	for (int d = 0; d < p->ty->elem->rank && d < TILE_DIMS; d++) {
		*out++ = (struct part){ i64, p->shape[d] };
		*out++ = (struct part){ i64, p->stride[d] };
		if (!p->is_desc)
			*out++ = (struct part){ i32, p->offset[d] };
	}
	return out;
}

/* Appends the registers of v to `out` and returns the end. */
static struct part *add_parts(struct front *f, const struct lang_val *v, struct part *out)
{
	if (v->kind == LANG_TENSOR) {
		if (ty_is_block_ptr(v->u.t.ty))
			return block_ptr_parts(f, v->u.t.id, out);
		*out++ = (struct part){ v->u.t.ty, (tile_reg)v->u.t.id };
	} else if (v->kind == LANG_DESC) {
		const struct lang_desc *d = v->u.desc;
		out = block_ptr_parts(f, d->id, out);
		for (int i = 0; i < d->block->rank; i++)
			out = add_parts(f, &d->shape[i], out);
		for (int i = 0; i < d->block->rank; i++)
			out = add_parts(f, &d->strides[i], out);
	} else if (v->kind == LANG_TUPLE) {
		for (size_t i = 0; i < v->u.tup.n; i++)
			out = add_parts(f, &v->u.tup.v[i], out);
	}
	return out;
}

void flow_parts(struct front *f, const struct lang_val *v, struct part *out)
{
	add_parts(f, v, out);
}

/* A new block pointer with the same type over other registers. Returns its index in f->block_ptrs. */
static int block_ptr_rebuild(struct front *f, int id, const tile_reg *regs, size_t *at)
{
	struct block_ptr p = f->block_ptrs.v[id];
	p.base = regs[(*at)++];
	for (int d = 0; d < p.ty->elem->rank && d < TILE_DIMS; d++) {
		p.shape[d] = regs[(*at)++];
		p.stride[d] = regs[(*at)++];
		if (!p.is_desc)
			p.offset[d] = regs[(*at)++];
	}
	if (vec_push(&f->block_ptrs, p))
		front_fail(f, REASON_out_of_memory, "out of memory");
	return (int)f->block_ptrs.n - 1;
}

/* Follows the order of add_parts. */
struct lang_val flow_rebuild(struct front *f, const struct lang_val *v, const tile_reg *regs, size_t *at)
{
	struct lang_val r = *v;
	if (v->kind == LANG_TENSOR) {
		r.u.t.id = ty_is_block_ptr(v->u.t.ty) ? block_ptr_rebuild(f, v->u.t.id, regs, at) : (int)regs[(*at)++];
	} else if (v->kind == LANG_DESC) {
		struct lang_desc *d = arena_zalloc(f->a, sizeof *d);
		int rank = v->u.desc->block->rank;
		struct lang_val *dims = arena_array(f->a, 2 * (size_t)rank, sizeof *dims);
		*d = *v->u.desc;
		d->id = block_ptr_rebuild(f, v->u.desc->id, regs, at);
		for (int i = 0; i < 2 * rank; i++)
			dims[i] = flow_rebuild(f, i < rank ? &v->u.desc->shape[i] : &v->u.desc->strides[i - rank],
					       regs, at);
		d->shape = dims;
		d->strides = dims + rank;
		r.u.desc = d;
	} else if (v->kind == LANG_TUPLE) {
		struct lang_val *items = arena_array(f->a, v->u.tup.n + 1, sizeof *items);
		for (size_t i = 0; i < v->u.tup.n; i++)
			items[i] = flow_rebuild(f, &v->u.tup.v[i], regs, at);
		r.u.tup.v = items;
	}
	return r;
}

/* The registers of v as an array in the arena. */
static struct part *parts_of(struct front *f, const struct lang_val *v, size_t *n)
{
	struct part *p;

	*n = flow_count(f, v);
	p = arena_array(f->a, *n + 1, sizeof *p);
	flow_parts(f, v, p);
	return p;
}

/* A variable that neither branch changed has the same registers on both sides, and needs no join. */
int flow_same(struct front *f, const struct lang_val *a, const struct lang_val *b)
{
	size_t na, nb;
	struct part *pa, *pb;

	if (a->kind == LANG_TENSOR && b->kind == LANG_TENSOR && !ty_is_block_ptr(a->u.t.ty))
		return a->u.t.id == b->u.t.id && ty_eq(a->u.t.ty, b->u.t.ty);
	pa = parts_of(f, a, &na);
	pb = parts_of(f, b, &nb);
	if (na != nb)
		return 0;
	for (size_t i = 0; i < na; i++)
		if (pa[i].reg != pb[i].reg)
			return 0;
	/* Two constants of one kind count as unchanged; their values are compared elsewhere. */
	return na > 0 || a->kind == b->kind;
}

/* A bare Python object, such as a dtype, is not a triton value. */
int flow_is_triton(const struct lang_val *v)
{
	switch (v->kind) {
	case LANG_TENSOR: case LANG_TUPLE: case LANG_DESC: return 1;
	case LANG_UNBOUND: return 0;
	default: return v->wrapped;
	}
}

/* Whether both are constexprs, or both are values of the same run-time class. */
static int same_class(const struct lang_val *a, const struct lang_val *b)
{
	int ca = a->wrapped || (a->kind != LANG_TENSOR && a->kind != LANG_TUPLE && a->kind != LANG_DESC);
	int cb = b->wrapped || (b->kind != LANG_TENSOR && b->kind != LANG_TUPLE && b->kind != LANG_DESC);
	return ca || cb ? ca == cb : a->kind == b->kind;
}

/* Two constexprs have the same type if they have the same value: constexpr_type[1] differs from
 * constexpr_type[2]. */
int flow_same_type(const struct lang_val *a, const struct lang_val *b)
{
	if (!same_class(a, b))
		return 0;
	if (a->kind != b->kind)
		return 0;
	if (a->kind == LANG_TENSOR)
		return ty_eq(a->u.t.ty, b->u.t.ty);
	if (a->kind == LANG_DESC)
		return ty_eq(a->u.desc->block, b->u.desc->block);
	if (a->kind != LANG_TUPLE)
		return lang_equal(a, b);
	if (a->u.tup.n != b->u.tup.n)
		return 0;
	for (size_t i = 0; i < a->u.tup.n; i++)
		if (!flow_same_type(&a->u.tup.v[i], &b->u.tup.v[i]))
			return 0;
	return 1;
}

/* A value without registers is returned as it is. */
struct lang_val flow_alloc(struct front *f, const struct lang_val *v)
{
	size_t n, at = 0;
	struct part *p = parts_of(f, v, &n);
	tile_reg *regs;

	if (!n)
		return *v;
	regs = arena_array(f->a, n, sizeof *regs);
	for (size_t i = 0; i < n; i++)
		regs[i] = emit_reg(f, p[i].ty);
	return flow_rebuild(f, v, regs, &at);
}

struct lang_val flow_copy(struct front *f, const struct lang_val *v)
{
	struct lang_val r = flow_alloc(f, v);
	flow_assign(f, &r, v);
	return r;
}

/* Both values must have the same structure. */
void flow_assign(struct front *f, const struct lang_val *dst, const struct lang_val *src)
{
	size_t n, m;
	struct part *d = parts_of(f, dst, &n), *s = parts_of(f, src, &m);
	if (n != m)
		front_fail(f, REASON_loop_type_change, "a variable changes its structure in a loop or branch");
	/* `a, b = b, a` moves two registers into each other: a source that an earlier move overwrites is
	 * saved in a temporary register first. */
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			if (s[i].reg == d[j].reg && d[i].reg != s[i].reg) {
				tile_reg t = emit_reg(f, s[i].ty);
				emit_mov(f, t, s[i].reg);
				s[i].reg = t;
				break;
			}
	for (size_t i = 0; i < n; i++)
		emit_mov(f, d[i].reg, s[i].reg);
}

/* As Triton prints the type of a value that changed: "fp32", "tuple", "constexpr_type[1]". */
const char *flow_type_str(struct front *f, const struct lang_val *v)
{
	struct lang_val bare;

	if (v->kind == LANG_TENSOR && !v->wrapped)
		return front_ty(f, v->u.t.ty);
	if (v->kind == LANG_TUPLE || v->kind == LANG_DESC)
		return lang_type_name(v);
	bare = lang_raw(*v);
	return arena_printf(f->a, "constexpr_type[%s]", front_str(f, &bare));
}
