/* triton.language: elementwise arithmetic, triton.language.math and libdevice. Triton wraps each
 * function of math with a check of the operand's type; the methods of tensors lack that check.
 * Examples, with x in %5 of fp32[64]:
 *
 *     tl.exp(x)               %6:fp32[64] = exp %5
 *     tl.maximum(x, 0.0)      %6 = const; %7 = splat %6; %8 = max %5, %7
 *     libdevice.isnan(x)      the overload for fp32, whose row in math.def names the operation */
#include "tile/front/builtin.h"
#include "tile/front/builtin_lib.h"
#include "tile/front/inline_asm.h"
#include "tile/machine/math_lib.h"

/* tl.where(c, x, y): x where c holds, else y, lane by lane. */
struct lang_val bi_where(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	return lang_of(sem_where(f, sem_to_tensor(f, a[0]), a[1], a[2]));
}

/* tl.add, tl.sub and tl.mul are the operators. */
struct lang_val bi_arith(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	enum py_op op = b->name[0] == 'a' ? PY_OP_Add : b->name[0] == 's' ? PY_OP_Sub : PY_OP_Mult;
	return lang_of(sem_binary(f, op, a[0], a[1]));
}

/* maximum, minimum and clamp compute bf16 in fp32. */
static struct lang_val promoted(struct front *f, const struct lang_val *v)
{
	return lang_of(sem_bf16_to_fp32(f, sem_to_tensor(f, *v)));
}

/* propagate_nan must be a member of tl.PropagateNan. Returns 1 for ALL. Integers have no NaN: their
 * argument is not examined. */
static int propagates(struct front *f, const struct lang_val *x, const struct lang_val *v)
{
	struct lang_val bare;

	if (v->kind == LANG_UNBOUND || !ty_is_float(ty_scalar(x->u.t.ty)))
		return 0;
	bare = lang_raw(*v);
	if (v->kind != LANG_CLASS || (!str_is(v->u.s, "ALL") && !str_is(v->u.s, "NONE")))
		front_fail_hint(f, REASON_bad_value,
				"pass tl.PropagateNan.ALL or tl.PropagateNan.NONE; it takes two values, "
				"nest the calls for more",
				"Unexpected propagate_nan %s", front_str(f, &bare));
	return str_is(v->u.s, "ALL");
}

/* tl.maximum and tl.minimum. */
struct lang_val bi_minmax(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct lang_val x = promoted(f, &a[0]), y = promoted(f, &a[1]);
	return lang_of(sem_minmax(f, !strcmp(b->name, "maximum"), propagates(f, &x, &a[2]), x, y));
}

/* tl.clamp(x, lo, hi) = min(max(x, lo), hi), floats only. */
struct lang_val bi_clamp(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct lang_val x, lo, hi;

	(void)b;
	x = promoted(f, &a[0]);
	lo = promoted(f, &a[1]);
	hi = promoted(f, &a[2]);
	return lang_of(sem_clamp(f, tv_of(&x), tv_of(&lo), tv_of(&hi), propagates(f, &x, &a[3])));
}

/* tl.logical_and and tl.logical_or. */
struct lang_val bi_logical(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	return lang_of(sem_logical(f, !strcmp(b->name, "logical_and") ? PY_OP_And : PY_OP_Or, a[0], a[1]));
}

/* The library calls it before maxima, minima and scans. */
struct lang_val bi_promote_bf16(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	return lang_of(sem_bf16_to_fp32(f, arg_tensor(f, &a[0])));
}

/* --- functions of one float ---------------------------------------------------------------- */

/* Functions of one float and their operations. */
static const struct { const char *name; enum tile_op op; int only_fp32; } functions[] = {
	{ "exp", TOP_EXP, 0 }, { "exp2", TOP_EXP2, 0 }, { "log", TOP_LOG, 0 }, { "log2", TOP_LOG2, 0 },
	{ "cos", TOP_COS, 0 }, { "sin", TOP_SIN, 0 }, { "sqrt", TOP_SQRT, 0 }, { "sqrt_rn", TOP_SQRT, 1 },
	{ "rsqrt", TOP_RSQRT, 0 }, { "erf", TOP_ERF, 0 }, { "floor", TOP_FLOOR, 0 }, { "ceil", TOP_CEIL, 0 },
};

/* The row of a function; builtin.def has no others. */
static size_t function_index(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(functions); i++)
		if (!strcmp(functions[i].name, name))
			return i;
	BUG("no function '%s'", name);
}

/* Triton's check_dtype: a tensor operand must be fp32 or fp64. A number is not checked. */
static void check_float_gate(struct front *f, const struct lang_val *v, int only_fp32)
{
	const struct ty *t;

	if (v->kind != LANG_TENSOR)
		return;
	t = ty_scalar(v->u.t.ty);
	if (ty_is(t, SC_FP32) || (!only_fp32 && ty_is(t, SC_FP64)))
		return;
	front_fail_hint(f, REASON_bad_dtype, "convert first: x.to(tl.float32)", "Expected dtype %s but got %s",
			only_fp32 ? "['fp32']" : "['fp32', 'fp64']", front_ty(f, t));
}

/* tl.exp(x): with the check of the type. */
struct lang_val bi_math1(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	size_t i = function_index(b->name);
	check_float_gate(f, &a[0], functions[i].only_fp32);
	return bi_math1_method(f, b, a);
}

/* x.exp(): without the check; an integer fails in Triton's verifier. */
struct lang_val bi_math1_method(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	size_t i = function_index(b->name);
	struct tv x = sem_to_tensor(f, a[0]);
	if (!ty_is_float(ty_scalar(x.ty)))
		front_late(f, REASON_bad_dtype, "convert first: x.to(tl.float32)", "%s does not accept %s", b->name,
			   front_ty(f, ty_scalar(x.ty)));
	return lang_of(emit(f, functions[i].op, x.ty, 1, x.id));
}

/* An unsigned value is its own absolute value. */
struct lang_val bi_abs(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct tv x;
	const struct ty *t;

	(void)b;
	x = sem_to_tensor(f, a[0]);
	t = ty_scalar(x.ty);
	if (ty_is_unsigned(t))
		return lang_of(x);
	if (!ty_is_float(t) && !ty_is_signed(t))
		front_fail(f, REASON_bad_dtype, "Unexpected dtype %s", front_ty(f, t));
	return lang_of(emit(f, TOP_ABS, x.ty, 1, x.id));
}

/* fdiv does not promote: both operands must be floats of one type. */
struct lang_val bi_fdiv(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct tv x, y;

	(void)b;
	x = sem_to_tensor(f, a[0]);
	y = sem_to_tensor(f, a[1]);
	if (!ty_is_float(ty_scalar(x.ty)) || !ty_is_float(ty_scalar(y.ty)))
		front_fail(f, REASON_bad_dtype, "both operands of fdiv must have floating scalar type");
	sem_unify(f, lang_of(x), lang_of(y), SEM_NO_ARITH | SEM_DIV, &x, &y);
	if (!ty_eq(ty_scalar(x.ty), ty_scalar(y.ty)))
		front_late(f, REASON_bad_types, "convert one operand",
			   "fdiv of %s and %s: both must have the same type",
			   front_ty(f, ty_scalar(x.ty)), front_ty(f, ty_scalar(y.ty)));
	if (ty_bits(ty_scalar(x.ty)) < 32)       /* Triton's back end fails to compile it */
		front_late(f, REASON_bad_dtype, "convert first: x.to(tl.float32), or write x / y",
			   "fdiv of %s does not compile for a GPU", front_ty(f, ty_scalar(x.ty)));
	return lang_of(emit(f, TOP_DIV, x.ty, 2, x.id, y.id));
}

/* tl.div_rn(x, y): x / y rounded to nearest, fp32 only. */
struct lang_val bi_div_rn(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct tv x, y;

	(void)b;
	check_float_gate(f, &a[0], 1);
	check_float_gate(f, &a[1], 1);
	sem_unify(f, lang_of(sem_to_tensor(f, a[0])), lang_of(sem_to_tensor(f, a[1])), 0, &x, &y);
	if (!ty_is_float(ty_scalar(x.ty)))
		front_late(f, REASON_bad_dtype, "convert first: x.to(tl.float32)", "div_rn does not accept %s",
			   front_ty(f, ty_scalar(x.ty)));
	return lang_of(emit(f, TOP_DIV, x.ty, 2, x.id, y.id));
}

/* Three operands are brought to one type and shape, pair by pair. */
struct lang_val bi_fma(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct tv x, y, z;

	(void)b;
	x = sem_to_tensor(f, a[0]);
	y = sem_to_tensor(f, a[1]);
	z = sem_to_tensor(f, a[2]);
	sem_unify(f, lang_of(x), lang_of(y), 0, &x, &y);
	sem_unify(f, lang_of(z), lang_of(x), 0, &z, &x);
	sem_unify(f, lang_of(z), lang_of(y), 0, &z, &y);
	if (!ty_is_float(ty_scalar(x.ty)))
		front_late(f, REASON_bad_dtype, "convert first: x.to(tl.float32)", "fma does not accept %s",
			   front_ty(f, ty_scalar(x.ty)));
	return lang_of(emit(f, TOP_FMA, x.ty, 3, x.id, y.id, z.id));
}

/* The upper half of the product of two unsigned integers, used by the random number generator. */
struct lang_val bi_umulhi(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct tv x, y;

	(void)b;
	for (int i = 0; i < 2; i++) {
		const struct ty *t;

		if (a[i].kind != LANG_TENSOR)
			continue;
		t = ty_scalar(a[i].u.t.ty);
		if (!ty_is_int(t) || ty_bits(t) < 32)
			front_fail(f, REASON_bad_dtype,
				   "Expected dtype ['int32', 'int64', 'uint32', 'uint64'] but got %s", front_ty(f, t));
	}
	sem_unify(f, lang_of(sem_to_tensor(f, a[0])), lang_of(sem_to_tensor(f, a[1])), 0, &x, &y);
	return lang_of(emit(f, TOP_UMULHI, x.ty, 2, x.id, y.id));
}

/* --- inline assembly --------------------------------------------------------------------------- */

/* Brings the arguments to one shape, without a conversion of types. Returns a type of that shape. */
static const struct ty *broadcast_all(struct front *f, struct tv *x, size_t n)
{
	const int flags = SEM_NO_ARITH | SEM_LHS_PTR | SEM_RHS_PTR;
	struct tv shape, other;

	if (!n)
		return ty_sc(SC_INT32);
	shape = x[0];
	for (size_t i = 0; i < n; i++)
		sem_unify(f, lang_of(x[i]), lang_of(shape), flags, &other, &shape);
	for (size_t i = 0; i < n; i++)
		sem_unify(f, lang_of(x[i]), lang_of(shape), flags, &x[i], &other);
	return shape.ty;
}

/* The results keep their types after a refusal, so that errors in the rest of the kernel are found. */
struct lang_val bi_inline_asm(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct lang_tuple args = a[2].kind == LANG_TUPLE ? a[2].u.tup : (struct lang_tuple){ .n = 0 };
	int several = a[3].kind == LANG_TUPLE, failed;
	size_t n = several ? a[3].u.tup.n : 1;
	const struct ty **t = arena_array(f->a, n + 1, sizeof *t);
	struct tv *x = arena_array(f->a, args.n + 1, sizeof *x), *y = arena_array(f->a, n + 1, sizeof *y);
	struct lang_val *out = arena_array(f->a, n + 1, sizeof *out);
	struct inline_asm c = { .out = t, .in = x, .n_out = n, .n_in = args.n };

	(void)b;
	for (size_t i = 0; i < args.n; i++)
		x[i] = sem_to_tensor(f, args.v[i]);
	c.shape = broadcast_all(f, x, args.n);
	for (size_t i = 0; i < n; i++)
		t[i] = arg_dtype(f, several ? &a[3].u.tup.v[i] : &a[3]);
	c.text = arg_str(f, &a[0], "asm");
	c.constraints = arg_str(f, &a[1], "constraints");
	c.pack = arg_int(f, &a[5], "pack");
	failed = inline_asm(f, &c, y);
	for (size_t i = 0; i < n; i++)
		out[i] = failed ? lang_tensor(ty_with(f->a, c.shape, t[i]), 0) : lang_of(y[i]);
	return several ? lang_tuple(out, n) : out[0];
}

/* --- libdevice ------------------------------------------------------------------------------- */

/* The front-end type of a machine dtype. */
static const struct ty *from_machine(enum dtype dt)
{
	for (int i = 0; i < SCALARS; i++)
		if (i != SC_VOID && !strcmp(dtype_info(dt)->triton, sc_table[i].sig))
			return ty_sc((enum sc)i);
	BUG("no scalar for dtype %d", (int)dt);
}

/* The argument types of all overloads, for a hint: "(fp32), (fp64)". */
static const char *overloads(struct front *f, struct str name)
{
	struct buf b = BUF_INIT;
	enum dtype want[4];
	int n;
	const char *s;

	for (int i = 0; (n = tile_libdevice_overload(name, i, want)) >= 0; i++) {
		buf_adds(&b, i ? ", (" : "(");
		for (int k = 0; k < n; k++)
			buf_addf(&b, "%s%s", k ? ", " : "", dtype_info(want[k])->triton);
		buf_addc(&b, ')');
	}
	s = arena_strndup(f->a, buf_cstr(&b), b.n);
	buf_release(&b);
	return s;
}

/* Any overload will do: the types are checked by the call. */
int lang_libdevice_exists(struct str name)
{
	enum dtype want[4];
	return tile_libdevice_overload(name, 0, want) >= 0;
}

/* No overload has these argument types: libdevice converts nothing. */
_Noreturn static void no_overload(struct front *f, struct str name, size_t n, const struct tv *x)
{
	struct buf b = BUF_INIT;
	const char *got;

	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_adds(&b, ", ");
		ty_repr(ty_scalar(x[i].ty), &b);
	}
	got = arena_strndup(f->a, buf_cstr(&b), b.n);
	buf_release(&b);
	front_fail_hint(f, REASON_bad_dtype, arena_printf(f->a, "libdevice.%.*s takes %s: convert with .to()",
							  STR_ARG(name), overloads(f, name)),
			"input arg type does not match. Got (%s%s)", got, n == 1 ? "," : "");
}

/* Finds the overload by the argument types, broadcasts the arguments and emits the operation.
 * math.def may ask for an operation on each argument before it and for a bitcast of the result
 * after it. */
struct lang_val lang_libdevice_call(struct front *f, struct str name, const struct front_args *args)
{
	struct tv x[4], r, shape;
	enum dtype dt[4];
	tile_reg src[4];
	struct tile_libdevice lib;
	int known;

	if (args->n_kw || args->n > 4 || !args->n)
		front_fail(f, REASON_bad_argument, "%.*s() does not take these arguments", STR_ARG(name));
	for (size_t i = 0; i < args->n; i++)
		x[i] = sem_to_tensor(f, args->v[i]);
	for (size_t i = 0; i < args->n; i++) {
		const struct ty *t = ty_scalar(x[i].ty);
		int d = t->kind == TY_SCALAR ? dtype_by_triton(str_of(sc_table[t->sc].sig)) : -1;
		if (d < 0)
			no_overload(f, name, args->n, x);
		dt[i] = (enum dtype)d;
	}
	if (tile_libdevice(name, (int)args->n, dt, &lib, &known))
		no_overload(f, name, args->n, x);
	/* First the common shape of all arguments, then each argument in that shape. */
	shape = x[0];
	for (size_t i = 0; i < args->n; i++)
		sem_unify(f, lang_of(x[i]), lang_of(shape), SEM_NO_ARITH, &(struct tv){ 0 }, &shape);
	for (size_t i = 0; i < args->n; i++) {
		sem_unify(f, lang_of(x[i]), lang_of(shape), SEM_NO_ARITH, &x[i], &(struct tv){ 0 });
		if (lib.before >= 0)
			x[i] = emit(f, (enum tile_op)lib.before, x[i].ty, 1, x[i].id);
		src[i] = x[i].id;
	}
	r = (struct tv){ ty_with(f->a, shape.ty, from_machine(lib.gives)), 0 };
	r.id = emit_reg(f, r.ty);
	emit_insn(f, lib.op, 1, &r.id, (int)args->n, src)->rounding = (uint8_t)lib.rounding;
	if (lib.result != lib.gives)
		r = emit(f, TOP_BITCAST, ty_with(f->a, shape.ty, from_machine(lib.result)), 1, r.id);
	return lang_of(r);
}
