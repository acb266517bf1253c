/* Reductions, scans and maps. A combine function is a jit function that is compiled over scalars,
 * once for each reduction: tl.reduce(x, 0, f) becomes a function of two scalars and
 *
 *     %9:fp32 = reduce %7 attr=0,1      attr: a custom combiner, function 1
 *
 * The library's own combine functions (tl.sum, tl.max) become named combiners instead, for which
 * the machine has fast loops. */
#include "tile/front/engine.h"

/* Library functions with a named combiner. */
static const struct { const char *fn; enum tile_combine combine; } named[] = {
	{ "_sum_combine", TILE_SUM }, { "_prod_combine", TILE_PROD },
	{ "_elementwise_max", TILE_MAX }, { "_elementwise_min", TILE_MIN },
	{ "_argmax_combine_tie_break_left", TILE_ARGMAX }, { "_argmin_combine_tie_break_left", TILE_ARGMIN },
	{ "_argmax_combine_tie_break_fast", TILE_ARGMAX_FAST }, { "_argmin_combine_tie_break_fast", TILE_ARGMIN_FAST },
	{ "_xor_combine", TILE_XOR }, { "_or_combine", TILE_OR }, { "_and_combine", TILE_AND },
};

/* A function of the user with the same name is a custom one. */
static enum tile_combine combine_of(const struct front *f, const struct tile_fn *fn)
{
	if (!lang_is_library(f->g, fn))
		return TILE_CUSTOM;
	for (size_t i = 0; i < COUNT_OF(named); i++)
		if (str_is(fn->name, named[i].fn))
			return named[i].combine;
	return TILE_CUSTOM;
}

/* The results of a combine or map function as a flat list of tensors. */
static size_t results_of(struct front *f, const struct lang_val *r, struct tv *out, size_t most)
{
	size_t n = r->kind == LANG_TUPLE ? r->u.tup.n : 1;
	if (n > most)
		front_fail(f, REASON_bad_return, "the combine function returns %zu values", n);
	for (size_t i = 0; i < n; i++) {
		const struct lang_val *v = r->kind == LANG_TUPLE ? &r->u.tup.v[i] : r;
		if (v->kind != LANG_TENSOR)
			front_fail(f, REASON_bad_return, "'%s' object has no attribute 'handle'", lang_type_name(v));
		out[i] = tv_of(v);
	}
	return n;
}

/* Most tensors that one reduction, scan or map takes. */
enum { MOST_PARTS = 16 };

/* A compiled combine or map function: its index in the code and its results. */
struct func_build { int index; size_t n_results; struct tv results[MOST_PARTS]; };

/* Compiles fn over scalar parameters of the given types into a function of its own. Its branches
 * are counted from 0, because they cannot leave it. */
static struct func_build build_func(struct front *f, const struct tile_fn *fn, size_t n, const struct ty *const *types)
{
	struct func_build fb = { 0 };
	struct tile_type mt[2 * MOST_PARTS] = { 0 };
	tile_reg regs[2 * MOST_PARTS] = { 0 };
	struct lang_val args[2 * MOST_PARTS], r;
	int depth, muted;

	for (size_t i = 0; i < n; i++) {
		mt[i] = emit_type(f, types[i]);
		if (mt[i].ptr)
			front_unsupported(f, "this engine does not support a pointer in a combine or map function");
	}
	muted = f->mute;
	if (!muted)
		fb.index = tile_build_func_begin(f->b, fn->name, (int)n, mt, regs);
	for (size_t i = 0; i < n; i++)
		args[i] = lang_of((struct tv){ types[i], regs[i] });
	/* The function has its own nesting of blocks and loops. */
	depth = f->depth;
	f->depth = 0;
	f->in_func++;
	r = front_call_with(f, fn, n, args);
	f->in_func--;
	f->depth = depth;
	fb.n_results = results_of(f, &r, fb.results, MOST_PARTS);
	if (!muted) {
		tile_reg out[MOST_PARTS];
		for (size_t i = 0; i < fb.n_results; i++)
			out[i] = fb.results[i].id;
		tile_build_func_end(f->b, (int)fb.n_results, out);
	}
	return fb;
}

/* The index of the combine function, 0 for a named combiner. The function must return the types of
 * its parameters. */
static int combine_func(struct front *f, const struct tile_fn *fn, size_t n, const struct tv *in,
			enum tile_combine known)
{
	const struct ty *types[2 * MOST_PARTS];
	struct func_build fb;

	for (size_t i = 0; i < 2 * n; i++)
		/* Parameters: the n running values, then the n next ones. */
		types[i] = ty_scalar(in[i % n].ty);
	for (size_t i = 0; i < n && known != TILE_CUSTOM; i++)
		emit_refuse_fp8(f, types[i]);
	if (known != TILE_CUSTOM)
		return 0;
	fb = build_func(f, fn, 2 * n, types);
	if (fb.n_results != n)
		front_fail(f, REASON_bad_return, "the combine function takes %zu pairs but returns %zu values",
			   n, fb.n_results);
	for (size_t i = 0; i < n; i++)
		if (!ty_eq(fb.results[i].ty, types[i]))
			front_fail_hint(f, REASON_bad_types, "the combine function must return the types it is given",
					"the combine function returns %s where it is given %s",
					front_ty(f, fb.results[i].ty), front_ty(f, types[i]));
	return fb.index;
}

/* One tensor, or a tuple of tensors that are reduced together. */
static size_t inputs_of(struct front *f, const struct lang_val *input, struct tv *out)
{
	size_t n = input->kind == LANG_TUPLE ? input->u.tup.n : 1;
	if (!n || n > MOST_PARTS)
		front_fail(f, REASON_bad_argument, "a reduction takes 1 to 16 tensors, not %zu", n);
	for (size_t i = 0; i < n; i++) {
		const struct lang_val *v = input->kind == LANG_TUPLE ? &input->u.tup.v[i] : input;
		if (v->kind != LANG_TENSOR)
			front_fail(f, REASON_bad_types, "'%s' object has no attribute 'type'", lang_type_name(v));
		out[i] = tv_of(v);
	}
	return n;
}

/* Tensors that are reduced together share their lanes. */
static void check_same_shape(struct front *f, size_t n, const struct tv *in, const char *what)
{
	for (size_t i = 1; i < n; i++)
		if (in[i].ty->rank != in[0].ty->rank || memcmp(in[i].ty->shape, in[0].ty->shape,
							       (size_t)in[0].ty->rank * sizeof *in[0].ty->shape))
			front_fail(f, REASON_shape_mismatch, "all %s inputs must have the same shape", what);
}

static struct lang_val tuple_of(struct front *f, size_t n, const struct tv *v)
{
	struct lang_val *out = arena_array(f->a, n, sizeof *out);
	for (size_t i = 0; i < n; i++)
		out[i] = lang_of(v[i]);
	return lang_tuple(out, n);
}

/* The type of a reduction's result; the last dimension leaves a scalar. */
static const struct ty *without_dim(struct front *f, const struct ty *t, int axis)
{
	int64_t shape[TY_MAX_RANK];
	int rank = 0;
	for (int i = 0; i < t->rank; i++)
		if (i != axis)
			shape[rank++] = t->shape[i];
	return rank ? ty_block(f->a, t->elem, rank, shape) : t->elem;
}

/* axis None flattens the tensor first. *single: the input was one tensor, not a tuple. */
struct lang_val sem_reduce(struct front *f, struct lang_val input, struct lang_val axis_,
			   const struct tile_fn *combine, int keep_dims, int *single)
{
	struct tv in[MOST_PARTS], out[MOST_PARTS];
	size_t n = inputs_of(f, &input, in);
	int rank = in[0].ty->rank, axis = 0;
	struct tile_insn *ins;
	enum tile_combine known;
	int func;
	tile_reg dst[MOST_PARTS], src[MOST_PARTS];

	*single = input.kind != LANG_TUPLE;
	if (axis_.kind != LANG_NONE) {
		if (!lang_is_int(&axis_))
			front_fail(f, REASON_bad_axis,
				   "the axis of a reduction must be an integer known at compile time, not %s",
				   front_str(f, &axis_));
		axis = sem_wrap_axis(f, (int64_t)axis_.u.i, rank);
	} else {
		for (size_t i = 0; i < n; i++)
			/* axis=None reduces all elements. */
			in[i] = sem_reshape(f, in[i], 1, &in[i].ty->numel);
	}
	check_same_shape(f, n, in, "reduction");
	known = combine_of(f, combine);
	func = combine_func(f, combine, n, in, known);
	for (size_t i = 0; i < n; i++) {
		out[i].ty = without_dim(f, in[i].ty, axis);
		out[i].id = dst[i] = emit_reg(f, out[i].ty);
		src[i] = in[i].id;
	}
	ins = emit_insn(f, TOP_REDUCE, (int)n, dst, (int)n, src);
	ins->imm = axis;
	ins->attr[0] = (int32_t)known;
	ins->attr[1] = func;
	for (size_t i = 0; keep_dims && i < n; i++)
		for (int d = 0; d < (axis_.kind == LANG_NONE ? rank : 1); d++)
			/* keep_dims puts a dimension of 1 back where one was reduced. */
			out[i] = sem_expand_dims(f, out[i], axis_.kind == LANG_NONE ? 0 : axis);
	return tuple_of(f, n, out);
}

/* Results have the types of the inputs. */
struct lang_val sem_scan(struct front *f, struct lang_val input, int64_t axis_, const struct tile_fn *combine,
			 int reverse)
{
	struct tv in[MOST_PARTS], out[MOST_PARTS];
	size_t n = inputs_of(f, &input, in);
	int axis = sem_wrap_axis(f, axis_, in[0].ty->rank);
	struct tile_insn *ins;
	enum tile_combine known;
	int func;
	tile_reg dst[MOST_PARTS], src[MOST_PARTS];

	check_same_shape(f, n, in, "scan");
	known = combine_of(f, combine);
	func = combine_func(f, combine, n, in, known);
	for (size_t i = 0; i < n; i++) {
		out[i].ty = in[i].ty;
		out[i].id = dst[i] = emit_reg(f, in[i].ty);
		src[i] = in[i].id;
	}
	ins = emit_insn(f, TOP_SCAN, (int)n, dst, (int)n, src);
	ins->imm = axis;
	ins->attr[0] = (int32_t)known;
	ins->attr[1] = func;
	ins->attr[2] = reverse;
	return tuple_of(f, n, out);
}

/* Each call of the function handles `pack` lanes of every tensor. Two passes of broadcasting bring
 * all tensors to one shape. */
struct lang_val sem_map(struct front *f, const struct tile_fn *fn, size_t n, const struct lang_val *args, int64_t pack)
{
	struct tv in[MOST_PARTS], out[MOST_PARTS];
	struct tile_insn *ins;
	size_t n_out;
	struct func_build fb;
	const struct ty *types[2 * MOST_PARTS];
	tile_reg dst[MOST_PARTS], src[MOST_PARTS];

	if (!n)
		front_fail(f, REASON_bad_argument, "map_elementwise must have at least 1 input tensor");
	if (pack < 1 || n > MOST_PARTS || pack > MOST_PARTS / (int64_t)n)
		front_fail(f, REASON_bad_argument, "map_elementwise does not support %zu tensors with pack %lld",
			   n, (long long)pack);
	for (size_t i = 0; i < n; i++) {
		if (args[i].kind != LANG_TENSOR)
			front_fail(f, REASON_bad_types, "'%s' object has no attribute 'type'",
				   lang_type_name(&args[i]));
		in[i] = tv_of(&args[i]);
		for (int64_t j = 0; j < pack; j++)
			types[i * (size_t)pack + (size_t)j] = ty_scalar(in[i].ty);
	}
	fb = build_func(f, fn, n * (size_t)pack, types);
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 1; i < n; i++)
			sem_broadcast(f, &in[0], &in[i]);
	/* The function returns `pack` values for each result tile. */
	n_out = fb.n_results / (size_t)pack;
	if (!n_out || fb.n_results % (size_t)pack || in[0].ty->numel % pack)
		front_fail(f, REASON_bad_return,
			   "map_elementwise verification failed: %zu results for %lld elements in packs of %lld",
			   fb.n_results,
			   (long long)in[0].ty->numel, (long long)pack);
	for (size_t i = 0; i < n; i++)
		src[i] = in[i].id;
	for (size_t i = 0; i < n_out; i++) {
		out[i].ty = ty_with(f->a, in[0].ty, fb.results[i * (size_t)pack].ty);
		out[i].id = dst[i] = emit_reg(f, out[i].ty);
	}
	ins = emit_insn(f, TOP_MAP, (int)n_out, dst, (int)n, src);
	ins->attr[0] = (int32_t)pack;
	ins->attr[1] = fb.index;
	return n_out == 1 && fb.n_results == 1 ? lang_of(out[0]) : tuple_of(f, n_out, out);
}

/* The result has the shape of the index. */
struct tv sem_gather(struct front *f, struct tv src, struct tv index, int64_t axis_)
{
	int axis, rank;

	if (!ty_is_int(ty_scalar(index.ty)))
		front_fail(f, REASON_bad_dtype, "index must be an integer tensor");
	rank = src.ty->rank;
	if (index.ty->rank != rank || !rank)
		front_fail(f, REASON_bad_shape, "source and index tensors must have the same rank");
	if (axis_ < -rank || axis_ >= rank)
		front_fail(f, REASON_bad_axis, "gather axis %lld must be < source rank (%d)", (long long)axis_, rank);
	axis = (int)(axis_ < 0 ? axis_ + rank : axis_);
	for (int d = 0; d < rank; d++)
		if (d != axis && index.ty->shape[d] != src.ty->shape[d])
			front_fail(f, REASON_shape_mismatch,
				   "index dim %d must match the corresponding source dim", axis);
	return emit_imm(f, TOP_GATHER, ty_with(f->a, index.ty, src.ty->elem), axis, 2, src.id, index.id);
}

/* Lanes whose value is not below `bins` are not counted. */
struct tv sem_histogram(struct front *f, struct tv x, int64_t bins, struct lang_val mask)
{
	struct tv m;
	const struct ty *t;

	if (x.ty->rank != 1)
		front_fail(f, REASON_bad_shape, "histogram only supports 1D input");
	if (!ty_is_int(x.ty->elem))
		front_fail(f, REASON_bad_dtype, "histogram only supports integer input");
	if (ty_bits(x.ty->elem) != 32)       /* Triton's back end fails to compile it */
		front_late(f, REASON_bad_dtype, "convert first: x.to(tl.int32)",
			   "histogram of %s does not compile for a GPU", front_ty(f, x.ty->elem));
	t = sem_block_ty(f, ty_sc(SC_INT32), 1, &bins);
	if (mask.kind == LANG_NONE)
		return emit(f, TOP_HISTOGRAM, t, 1, x.id);
	m = sem_broadcast_to(f, sem_to_tensor(f, mask), 1, x.ty->shape);
	if (!ty_is_bool(ty_scalar(m.ty)))
		front_fail(f, REASON_bad_mask, "Mask must have boolean scalar type");
	return emit(f, TOP_HISTOGRAM, t, 2, x.id, m.id);
}
