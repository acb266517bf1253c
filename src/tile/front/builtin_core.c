/* triton.language: creation, shapes, memory, atomics (the wrappers of core.py around semantic.py).
 * Each function gets one value for each parameter of its row in builtin.def, converts them and
 * calls sem_*. Example: the call tl.full((64,), 0, tl.float32) arrives here as a[0] = the tuple
 * (64,), a[1] = 0, a[2] = the type, and becomes `%5:fp32[64] = const`.
 *
 * The order of the conversions is Triton's, so that a call with several errors gets the same one. */
#include "tile/front/builtin.h"

/* tl.program_id and tl.num_programs. */
struct lang_val bi_program_id(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	int num = !strcmp(b->name, "num_programs");
	if (!lang_is_int(&a[0]) || a[0].u.i < 0 || a[0].u.i > 2) {
		struct lang_val bare = lang_raw(a[0]);
		front_fail_hint(f, REASON_bad_axis,
				"a grid has three axes: fold more dimensions into one and take it apart with // and %",
				"%s axis must be 0, 1, or 2 but got %s", b->name, front_str(f, &bare));
	}
	return lang_of(emit_imm(f, num ? TOP_NUM_PROGRAMS : TOP_PROGRAM_ID, ty_sc(SC_INT32), (int64_t)a[0].u.i, 0));
}

/* Bounds are clipped to 40 bits, which keeps them too large for sem_arange without an overflow. */
struct lang_val bi_arange(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	pyint lim, s, e;

	(void)b;
	if (!lang_is_int(&a[0]) || !lang_is_int(&a[1]))
		front_fail_hint(f, REASON_not_constexpr, "make the size a tl.constexpr parameter",
				"arange's arguments must be of type tl.constexpr");
	lim = (pyint)1 << 40;
	s = a[0].u.i;
	e = a[1].u.i;
	return lang_of(sem_arange(f, (int64_t)(s > lim ? lim : s < -lim ? -lim : s),
				  (int64_t)(e > lim ? lim : e < -lim ? -lim : e)));
}

/* tl.full, and tl.zeros through it. */
struct lang_val bi_full(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	const struct ty *dtype;
	int64_t shape[TY_MAX_RANK];
	int rank;

	(void)b;
	rank = arg_shape(f, &a[0], shape);
	if (rank)
		sem_block_ty(f, ty_sc(SC_INT1), rank, shape);
	if (a[2].kind == LANG_NONE)
		front_fail(f, REASON_bad_dtype, "dtype must be specified when value is not a tensor");
	dtype = arg_dtype(f, &a[2]);
	/* A constant of the whole shape is one instruction, instead of a scalar and a splat. The muted call
	 * makes the checks of a scalar constant. */
	if (lang_is_number(&a[1]) && rank) {
		int one;
		const struct ty *t;

		f->mute++;
		sem_constant(f, &a[1], dtype);
		f->mute--;
		t = sem_block_ty(f, dtype, rank, shape);
		/* As in sem_constant, a negative zero becomes 0.0. */
		if (ty_is_float(dtype))
			return lang_of(emit_float(f, t, lang_as_double(&a[1]) == 0 ? 0.0 : lang_as_double(&a[1])));
		one = ty_is_bool(dtype) && lang_truth(&a[1]);
		return lang_of(emit_int(f, t, one ? 1 : a[1].kind == LANG_FLOAT ? 0 : sem_int_bits(&a[1], dtype)));
	}
	return lang_of(sem_splat(f, sem_make_scalar(f, a[1], dtype), rank, shape));
}

/* tl.to_tensor(x): a number becomes a scalar. */
struct lang_val bi_to_tensor(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	return lang_of(sem_to_tensor(f, a[0]));
}

/* tl.broadcast(a, b): both in their common shape, as a tuple. */
struct lang_val bi_broadcast(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct lang_val *v;
	struct tv x, y;

	(void)b;
	x = arg_tensor(f, &a[0]);
	y = arg_tensor(f, &a[1]);
	sem_broadcast(f, &x, &y);
	v = arena_array(f->a, 2, sizeof *v);
	v[0] = lang_of(x), v[1] = lang_of(y);
	return lang_tuple(v, 2);
}

/* tl.broadcast_to(x, shape): x repeated along its dimensions of 1. */
struct lang_val bi_broadcast_to(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	int64_t shape[TY_MAX_RANK];
	int rank;

	(void)b;
	rank = arg_dims(f, &a[1], shape);
	if (rank)
		sem_block_ty(f, ty_sc(SC_INT1), rank, shape);
	return lang_of(sem_broadcast_to(f, arg_tensor(f, &a[0]), rank, shape));
}

/* Without dims the last two dimensions are exchanged. */
struct lang_val bi_trans(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct tv x;
	int64_t dims[TY_MAX_RANK];
	int n;

	(void)b;
	x = arg_tensor(f, &a[0]);
	n = arg_dims(f, &a[1], dims);
	if (!n) {
		n = x.ty->rank;
		if (n < 2)
			front_fail(f, REASON_bad_shape, "tl.trans invoked with a 0- or 1-dimensional tensor");
		for (int i = 0; i < n; i++)
			/* Rank 3: (0, 2, 1). */
			dims[i] = i < n - 2 ? i : 2 * n - 3 - i;
	}
	return lang_of(sem_permute(f, x, n, dims));
}

/* tl.permute(x, dims): dimension i of the result is dimension dims[i] of x. */
struct lang_val bi_permute(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	int64_t dims[TY_MAX_RANK];
	int n;

	(void)b;
	n = arg_dims(f, &a[1], dims);
	return lang_of(sem_permute(f, arg_tensor(f, &a[0]), n, dims));
}

/* Triton before 3.7 has no concatenation in order. */
struct lang_val bi_cat(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	if (!lang_truth(&a[2]) && f->version >= 307)
		return lang_of(sem_cat_along(f, arg_tensor(f, &a[0]), arg_tensor(f, &a[1]), arg_int(f, &a[3], "dim")));
	if (!lang_truth(&a[2]))
		front_fail_hint(f, REASON_bad_value, "pass can_reorder=True, or tl.join and reshape to keep the order",
				"current implementation of `cat` always may reorder elements");
	return lang_of(sem_cat(f, arg_tensor(f, &a[0]), arg_tensor(f, &a[1])));
}

/* tl.join(a, b): two tiles [.., N] give [.., N, 2]. */
struct lang_val bi_join(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	return lang_of(sem_join(f, arg_tensor(f, &a[0]), arg_tensor(f, &a[1])));
}

/* tl.split(x): [.., N, 2] gives two tiles [.., N]. */
struct lang_val bi_split(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct lang_val *v;
	struct tv x, y;

	(void)b;
	sem_split(f, arg_tensor(f, &a[0]), &x, &y);
	v = arena_array(f->a, 2, sizeof *v);
	v[0] = lang_of(x), v[1] = lang_of(y);
	return lang_tuple(v, 2);
}

/* tl.reshape and tl.view; an empty shape makes a scalar. */
struct lang_val bi_reshape(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	int64_t shape[TY_MAX_RANK];
	int rank;
	struct tv x;

	(void)b;
	rank = arg_dims(f, &a[1], shape);
	x = arg_tensor(f, &a[0]);
	if (!rank)
		return lang_of(sem_unsplat(f, x));
	sem_block_ty(f, ty_sc(SC_INT1), rank, shape);
	return lang_of(sem_reshape(f, x, rank, shape));
}

/* x.item(): the element of a tile of one element. */
struct lang_val bi_item(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	return lang_of(sem_unsplat(f, arg_tensor(f, &a[0])));
}

/* One axis or several; several are sorted and inserted from the front. */
struct lang_val bi_expand_dims(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct tv x;
	int64_t axes[TY_MAX_RANK];
	struct lang_val one;
	struct lang_tuple t;

	(void)b;
	x = sem_to_tensor(f, a[0]);
	one = a[1];
	t = a[1].kind == LANG_TUPLE ? a[1].u.tup : (struct lang_tuple){ .v = &one, .n = 1 };
	if (t.n > TY_MAX_RANK)
		front_fail(f, REASON_unsupported, "this engine does not support a tile of %zu dimensions", t.n);
	for (size_t i = 0; i < t.n; i++)
		axes[i] = sem_wrap_axis(f, arg_int(f, &t.v[i], "the axis of expand_dims"), x.ty->rank + (int)t.n);
	for (size_t i = 0; i < t.n; i++)
		for (size_t j = i + 1; j < t.n; j++) {
			if (axes[i] == axes[j])
				front_fail(f, REASON_bad_axis, "expand_dims received duplicate axes");
			/* Ascending order, so that each insertion leaves the earlier ones in
			 * position. */
			if (axes[j] < axes[i]) {
				int64_t swap = axes[i];
				axes[i] = axes[j], axes[j] = swap;
			}
		}
	for (size_t i = 0; i < t.n; i++)
		x = sem_expand_dims(f, x, (int)axes[i]);
	return lang_of(x);
}

/* tl.gather(src, index, axis): element index[i] of src along the axis. */
struct lang_val bi_gather(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	return lang_of(sem_gather(f, arg_tensor(f, &a[0]), arg_tensor(f, &a[1]),
				  arg_int(f, &a[2], "the axis of gather")));
}

/* tl.cast and x.to. */
struct lang_val bi_cast(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	const char *rounding;
	struct tv x;
	const struct ty *dtype;

	(void)b;
	x = sem_to_tensor(f, a[0]);
	dtype = arg_dtype(f, &a[1]);
	if (lang_truth(&a[3]))
		return lang_of(sem_bitcast(f, x, dtype));
	rounding = NULL;
	if (a[2].kind != LANG_NONE) {
		struct str s = arg_str(f, &a[2], "Rounding mode");
		rounding = arena_strndup(f->a, s.p, s.n);
	}
	return lang_of(sem_cast_rounded(f, x, dtype, rounding));
}

/* --- memory --------------------------------------------------------------------------------- */

/* A string option must be one of `allowed`, or absent. */
static void check_choice(struct front *f, const struct lang_val *v, const char *what, const char *const *allowed)
{
	struct str s = arg_str(f, v, what);
	if (!s.n)
		return;
	for (; *allowed; allowed++)
		if (str_is(s, *allowed))
			return;
	front_fail(f, REASON_bad_value, "%s %.*s not supported", what, STR_ARG(s));
}

/* The values of the string options, NULL-ended. */
static const char *const evictions[] = { "evict_last", "evict_first", NULL };
static const char *const load_caches[] = { ".ca", ".cg", ".cv", NULL };
static const char *const store_caches[] = { ".wb", ".cg", ".cs", ".wt", NULL };
/* PTX allows either a cache modifier or an eviction policy. Triton drops the policy of a volatile
 * load (.cv) and of a load that a pipelined loop prefetches for a dot, so loads in loops and in
 * helpers are not checked. */
static void check_one_hint(struct front *f, const struct lang_val *cache, const struct lang_val *eviction, int is_load)
{
	struct str c = arg_str(f, cache, "Cache modifier"), p = arg_str(f, eviction, "Eviction policy");

	if (!c.n || !p.n || (is_load && (str_is(c, ".cv") || f->calls || f->frame->loops)))
		return;
	front_late(f, REASON_bad_value, "leave out one of them",
		   "PTXAS error: cache_modifier %.*s and eviction_policy %.*s in one access", STR_ARG(c), STR_ARG(p));
}

/* In the order of enum tile_sem and enum tile_scope. */
static const char *const sems[] = { "acq_rel", "acquire", "release", "relaxed", NULL };
static const char *const scopes[] = { "gpu", "cta", "sys", NULL };
static const char *const paddings[] = { "zero", "nan", NULL };

/* A mask or `other`: None stays, a number becomes a tensor. */
static struct lang_val optional_tensor(struct front *f, struct lang_val v)
{
	return v.kind == LANG_NONE ? v : lang_of(sem_to_tensor(f, v));
}

/* The pointer of a load or store. */
static struct tv pointer_arg(struct front *f, const struct lang_val *v, const char *fn)
{
	if (v->kind == LANG_TENSOR)
		return tv_of(v);
	front_fail_hint(f, REASON_not_a_pointer, "the address must come from a tensor argument: ptr + offsets",
			"Unsupported ptr type %s in `%s`", v->kind == LANG_NONE ? "None" : front_str(f, v), fn);
}

/* tl.load. Options that only steer caches are checked and otherwise ignored. */
struct lang_val bi_load(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct sem_access acc;

	(void)b;
	acc = (struct sem_access){ .mask = optional_tensor(f, a[1]), .other = optional_tensor(f, a[2]),
				   .boundary = a[3] };
	check_choice(f, &a[5], "Cache modifier", load_caches);
	check_choice(f, &a[6], "Eviction policy", evictions);
	check_one_hint(f, &a[5], &a[6], 1);
	check_choice(f, &a[4], "Padding option", paddings);
	acc.padding = arg_str(f, &a[4], "Padding option");
	return lang_of(sem_load(f, pointer_arg(f, &a[0], "tl.load"), &acc));
}

/* tl.store. The value becomes a tensor before the options are checked, as in Triton. */
struct lang_val bi_store(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct tv value;
	struct sem_access acc;

	(void)b;
	value = sem_to_tensor(f, a[1]);
	acc = (struct sem_access){ .mask = optional_tensor(f, a[2]), .boundary = a[3] };
	check_choice(f, &a[4], "Cache modifier", store_caches);
	check_choice(f, &a[5], "Eviction policy", evictions);
	check_one_hint(f, &a[4], &a[5], 0);
	sem_store(f, pointer_arg(f, &a[0], "tl.store"), value, &acc);
	return lang_none();
}

/* tl.make_block_ptr(base, shape, strides, offsets, block_shape, order). */
struct lang_val bi_make_block_ptr(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	return lang_of(sem_make_block_ptr(f, arg_tensor(f, &a[0]), a[1], a[2], a[3], a[4], a[5]));
}

/* tl.advance(ptr, offsets): a new block pointer. */
struct lang_val bi_advance(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	return lang_of(sem_advance(f, arg_tensor(f, &a[0]), a[1]));
}

/* tl.make_tensor_descriptor(base, shape, strides, block_shape). */
struct lang_val bi_make_tensor_descriptor(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	check_choice(f, &a[4], "Padding option", paddings);
	return sem_make_desc(f, arg_tensor(f, &a[0]), a[1], a[2], a[3], arg_str(f, &a[4], "Padding option"));
}

/* The descriptor of a descriptor function. */
static const struct lang_val *desc_arg(struct front *f, const struct lang_val *v)
{
	if (v->kind != LANG_DESC)
		front_fail(f, REASON_block_pointer, "a tensor descriptor is needed here, not %s", front_str(f, v));
	return v;
}

/* desc.load(offsets): one block; elements outside the tensor are padding. */
struct lang_val bi_desc_load(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	return lang_of(sem_desc_load(f, desc_arg(f, &a[0]), a[1]));
}

/* desc.store(offsets, value): elements outside the tensor are not written. */
struct lang_val bi_desc_store(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	sem_desc_store(f, desc_arg(f, &a[0]), a[1], arg_tensor(f, &a[2]));
	return lang_none();
}

/* desc.gather(rows, col): the given rows, one block row wide. */
struct lang_val bi_desc_gather(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	return lang_of(sem_desc_gather(f, desc_arg(f, &a[0]), arg_tensor(f, &a[1]), a[2]));
}

/* desc.scatter(value, rows, col): the inverse of gather. */
struct lang_val bi_desc_scatter(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	sem_desc_scatter(f, desc_arg(f, &a[0]), arg_tensor(f, &a[1]), arg_tensor(f, &a[2]), a[3]);
	return lang_none();
}

/* The operation of "atomic_add" and the like. */
static enum tile_rmw rmw_of(const char *atomic_name)
{
	static const struct { const char *name; enum tile_rmw rmw; } kinds[] = {
		{ "add", TILE_RMW_ADD }, { "max", TILE_RMW_MAX }, { "min", TILE_RMW_MIN }, { "and", TILE_RMW_AND },
		{ "or", TILE_RMW_OR }, { "xor", TILE_RMW_XOR }, { "xchg", TILE_RMW_XCHG },
	};
	for (size_t i = 0; i < COUNT_OF(kinds); i++)
		if (!strcmp(atomic_name + strlen("atomic_"), kinds[i].name))
			return kinds[i].rmw;
	BUG("no atomic '%s'", atomic_name);
}

/* desc.atomic_add(offsets, value) and its kin; they return nothing. */
struct lang_val bi_desc_atomic(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	sem_desc_atomic(f, rmw_of(b->name), desc_arg(f, &a[0]), a[1], arg_tensor(f, &a[2]));
	return lang_none();
}

/* The index of a string in a list; 0, the default, if it is absent. */
static int choice_of(struct front *f, const struct lang_val *v, const char *const *allowed)
{
	struct str s = arg_str(f, v, "Memory semantic");
	for (int i = 0; allowed[i]; i++)
		if (str_is(s, allowed[i]))
			return i;
	return 0;
}

/* Memory order and scope of an atomic. Triton reports a bad scope as a bad semantic, too. */
static struct tile_order order_of(struct front *f, const struct lang_val *sem, const struct lang_val *scope)
{
	check_choice(f, sem, "Memory semantic", sems);
	check_choice(f, scope, "Memory semantic", scopes);
	return (struct tile_order){ .sem = choice_of(f, sem, sems), .scope = choice_of(f, scope, scopes) };
}

/* All atomics but compare and swap. */
struct lang_val bi_atomic(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct lang_val value = lang_of(sem_to_tensor(f, a[1]));
	struct tv r = sem_atomic(f, rmw_of(b->name), b->name + strlen("atomic_"), a[0], value, a[2]);
	struct tile_order order = order_of(f, &a[3], &a[4]);
	emit_order(f, order);
	return lang_of(r);
}

/* tl.atomic_cas(ptr, cmp, val): stores val where memory equals cmp, returns the old values. */
struct lang_val bi_atomic_cas(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct tv cmp, value;
	struct tile_order order;

	(void)b;
	cmp = sem_to_tensor(f, a[1]);
	value = sem_to_tensor(f, a[2]);
	order = order_of(f, &a[3], &a[4]);
	return lang_of(sem_cas(f, a[0], cmp, value, order));
}
