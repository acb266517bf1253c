/* Hints, debugging, iterators, Python's builtins, and the methods of types. Most of them are
 * evaluated at compile time and emit nothing: len(shape), isinstance(x, tl.tensor),
 * x.dtype.is_floating(). Those that emit code:
 *
 *     tl.multiple_of(x, 8)    hint %5 attr=0,8; the value itself stays x
 *     tl.device_assert(c)     assert %6
 *     print("x", x)           print %5 text="x" */
#include <math.h>

#include "tile/front/builtin.h"
#include "tile/front/engine.h"

/* A function without an effect on the result of a kernel. */
struct lang_val bi_nothing(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)f, (void)b, (void)a;
	return lang_none();
}

/* Inside a combine function it does nothing: such functions do not access memory. */
struct lang_val bi_debug_barrier(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b, (void)a;
	if (!f->in_func)
		emit_do(f, TOP_BARRIER, 0);
	return lang_none();
}

/* Emits the hint as an instruction that checks it. Triton attaches a hint to the operation that
 * computed the value; a parameter of the kernel has none, so a hint about it is lost. */
static void emit_hint(struct front *f, const char *name, struct tv x, const struct lang_tuple *t)
{
	int bits = ty_is_ptr(ty_scalar(x.ty)) || ty_is_int(ty_scalar(x.ty));
	struct tile_insn *in;

	if (!bits || f->in_func || f->mute || x.ty->rank > TILE_DIMS || tile_build_is_param(f->b, x.id))
		return;
	in = emit_insn(f, TOP_HINT, 0, NULL, 1, &x.id);
	in->attr[0] = !strcmp(name, "multiple_of") ? TILE_HINT_MULTIPLE
		: !strcmp(name, "max_contiguous") ? TILE_HINT_CONTIGUOUS : TILE_HINT_CONSTANT;
	in->text = str_of(name);
	for (size_t i = 0; i < t->n; i++) {
		pyint n = t->v[i].u.i;
		in->attr[1 + i] = (int32_t)(n < 1 ? 1 : n > INT32_MAX ? INT32_MAX : n);
	}
}

/* tl.multiple_of, tl.max_contiguous, tl.max_constancy: the value itself with a promise about it. */
struct lang_val bi_hint(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct lang_val one = a[1];
	struct lang_tuple t = a[1].kind == LANG_TUPLE ? a[1].u.tup : (struct lang_tuple){ .v = &one, .n = 1 };
	struct tv x;
	int scalar_ok;

	for (size_t i = 0; i < t.n; i++) {
		if (t.v[i].kind == LANG_TENSOR || (!t.v[i].wrapped && a[1].kind != LANG_TUPLE))
			front_fail(f, REASON_not_constexpr, "values element %zu must have type `constexpr`", i);
		if (!lang_is_int(&t.v[i]))
			front_fail(f, REASON_bad_value,
				   "values element %zu must have type `constexpr[int]`, got `constexpr[<class '%s'>]",
				   i, lang_type_name(&t.v[i]));
	}
	x = arg_tensor(f, &a[0]);
	scalar_ok = !strcmp(b->name, "multiple_of");
	if ((size_t)(scalar_ok ? MAX(1, x.ty->rank) : x.ty->rank) != t.n)
		front_fail(f, REASON_bad_shape, "Shape of input to %s does not match the length of values", b->name);
	emit_hint(f, b->name, x, &t);
	return a[0];
}

/* The machine faults if the assumption does not hold. */
struct lang_val bi_assume(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct tv cond;

	(void)b;
	cond = sem_to_tensor(f, a[0]);
	/* Triton's front end accepts other types, and the parser of its IR refuses them. */
	if (ty_is_block(cond.ty) || !ty_is_bool(cond.ty))
		front_fail(f, REASON_bad_condition,
			   "tl.assume needs a scalar bool: 'llvm.intr.assume' op operand #0 must be 1-bit "
			   "signless integer");
	if (!f->in_func)
		emit_do(f, TOP_ASSUME, 1, cond.id);
	return lang_none();
}

/* It prints while Triton compiles, which has no effect on a run. */
struct lang_val bi_static_print(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	return bi_nothing(f, b, a);
}

/* The message of a failed assertion is the diagnostic. */
struct lang_val bi_static_assert(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct lang_val msg;

	(void)b;
	if (a[0].kind != LANG_BOOL)
		front_fail(f, REASON_not_constexpr, "Assertion condition could not be determined at compile-time. "
			   "Make sure that it depends only on `constexpr` values");
	msg = lang_raw(a[1]);
	/* The condition was a constant bool: the kernel does not compile for these arguments. */
	if (!a[0].u.i)
		front_fail(f, REASON_static_assert, "%s", front_str(f, &msg));
	return lang_none();
}

/* tl.device_print and print. At most 16 values are printed. */
struct lang_val bi_device_print(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct tile_insn *in;
	tile_reg src[16];
	size_t n;

	(void)b;
	if (a[0].kind != LANG_STR)
		front_fail_hint(f, REASON_bad_argument,
				"the first argument of print in a kernel is a string literal: print(\"x\", x)",
				"%s is not string", front_str(f, &a[0]));
	for (size_t i = 0; i < a[0].u.s.n; i++)
		if ((unsigned char)a[0].u.s.p[i] > 126)
			front_fail(f, REASON_bad_value, "%.*s is not an ascii string", STR_ARG(a[0].u.s));
	n = a[1].u.tup.n;
	for (size_t i = 0; i < n; i++) {
		struct tv x = sem_to_tensor(f, a[1].u.tup.v[i]);
		if (i < COUNT_OF(src))
			src[i] = x.id;
	}
	in = emit_insn(f, TOP_PRINT, 0, NULL, (int)MIN(n, COUNT_OF(src)), src);
	in->attr[0] = lang_truth(&a[2]);
	if (!f->mute)
		in->text = (struct str){ arena_strndup(tile_build_arena(f->b), a[0].u.s.p, a[0].u.s.n), a[0].u.s.n };
	return lang_none();
}

/* The assertion becomes an instruction that faults. */
struct lang_val bi_device_assert(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct tv cond;
	struct str msg;

	(void)b;
	cond = sem_to_tensor(f, a[0]);
	msg = a[1].kind == LANG_STR ? a[1].u.s : STR("");
	if (a[2].kind != LANG_NONE)
		sem_to_tensor(f, a[2]);
	if (!ty_is_int(ty_scalar(cond.ty)) || f->in_func || a[2].kind != LANG_NONE)
		/* Triton removes asserts unless it debugs. These have no condition that a run could check. */
		return lang_none();
	cond = sem_cast(f, cond, ty_sc(SC_INT1));
	emit_do(f, TOP_ASSERT, 1, cond.id);
	if (!f->mute)
		emit_last(f)->text = (struct str){ arena_strndup(tile_build_arena(f->b), msg.p, msg.n), msg.n };
	return lang_none();
}

/* tl.extra.cuda.globaltimer and smid. */
struct lang_val bi_hardware(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)a;
	front_unsupported(f, "%s reads the hardware, which this engine does not have", b->name);
	return lang_tensor(ty_sc(!strcmp(b->name, "smid") ? SC_INT32 : SC_INT64), 0);
}

/* num_threads and num_warps of triton.language.extra.cuda. */
struct lang_val bi_num_threads(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	int warps;

	(void)a;
	warps = f->launch->num_warps > 0 ? f->launch->num_warps : 4;
	/* Autotuner configurations that differ only in the number of warps are run once, so a kernel must not
	 * depend on that number. */
	if (!f->g->o.may_vary)
		front_unsupported(f, "%s() makes the result depend on how the kernel is launched", b->name);
	return lang_int(!strcmp(b->name, "num_warps") ? warps : 32 * warps);
}

/* The target is an NVIDIA GPU: is_cuda is true, the tests for AMD are false. */
struct lang_val bi_target_is(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)f, (void)a;
	return lang_bool(!strcmp(b->name, "is_cuda"));
}

/* Capability 9.0 is the number 90. */
struct lang_val bi_capability_geq(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	return lang_bool(f->capability >= (pyint)10 * arg_int(f, &a[0], "major") + arg_int(f, &a[1], "minor"));
}

/* --- iterators ------------------------------------------------------------------------------- */

/* A bound of static_range must be a constexpr integer. */
static void check_static(struct front *f, const struct lang_val *v, const char *what)
{
	if (!v->wrapped || v->kind == LANG_TENSOR)
		front_fail_hint(f, REASON_not_constexpr, "use tl.range for bounds that are not known at compile time",
				"%s used as tl.static_range %s value is not a constexpr", front_str(f, v), what);
	if (!lang_is_int(v))
		front_fail(f, REASON_bad_iterator, "'%s' object cannot be interpreted as an integer",
			   lang_type_name(v));
}

/* range, tl.range and tl.static_range. With one bound it is the end. */
struct lang_val bi_range(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct lang_range *r = arena_zalloc(f->a, sizeof *r);
	r->kind = !strcmp(b->name, "static_range") ? RANGE_STATIC : strcmp(b->module, "builtins") ? RANGE_TL : RANGE_PY;
	if (r->kind == RANGE_STATIC) {
		check_static(f, &a[0], "start");
		if (a[2].kind != LANG_UNBOUND)
			check_static(f, &a[2], "step");
		if (a[1].kind != LANG_UNBOUND)
			check_static(f, &a[1], "end");
	}
	r->step = a[2].kind == LANG_UNBOUND ? lang_int(1) : a[2];
	r->start = a[1].kind == LANG_UNBOUND ? lang_int(0) : a[0];
	r->end = a[1].kind == LANG_UNBOUND ? a[0] : a[1];
	r->num_stages = r->kind == RANGE_TL ? a[3] : lang_none();
	return (struct lang_val){ .kind = LANG_RANGE, .u.r = r };
}

/* tl.condition wraps the condition of a while loop; its options only concern Triton's optimiser. */
struct lang_val bi_condition(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct lang_val *c;

	(void)b;
	c = arena_zalloc(f->a, sizeof *c);
	*c = a[0];
	return (struct lang_val){ .kind = LANG_CONDITION, .u.cond = c };
}

/* --- types and constants --------------------------------------------------------------------- */

/* tl.constexpr(x). */
struct lang_val bi_constexpr(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct lang_val v;

	(void)f, (void)b;
	v = a[0];
	v.wrapped = v.kind != LANG_TENSOR;
	return v;
}

/* tl.pointer_type(tl.float32) as a value, for casts of integers to pointers. */
struct lang_val bi_pointer_type(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	return lang_type(ty_ptr(f->a, arg_dtype(f, &a[0]), lang_truth(&a[2])));
}

/* tl.block_type(tl.float32, [16, 32]) as a value. */
struct lang_val bi_block_type(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	int64_t shape[TY_MAX_RANK];
	int rank;

	(void)b;
	rank = arg_shape(f, &a[1], shape);
	return lang_type(sem_block_ty(f, arg_dtype(f, &a[0]), rank, shape));
}

/* triton.cdiv and triton.next_power_of_2 are host functions: they take constants only. */
static void need_constants(struct front *f, const struct lang_val *a, int n, const char *fn)
{
	for (int i = 0; i < n; i++)
		if (a[i].kind == LANG_TENSOR)
			front_fail_hint(f, REASON_not_constexpr,
					!strcmp(fn, "cdiv") ? "use tl.cdiv on run-time values" : NULL,
					"Did you forget to add @triton.jit ? (`_semantic` argument must be "
					"provided outside of JIT functions.)");
}

/* (x + y - 1) // y. */
struct lang_val bi_host_cdiv(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct lang_val sum;

	need_constants(f, a, 2, b->name);
	sum = front_const_binary(f, PY_OP_Sub, front_const_binary(f, PY_OP_Add, a[0], a[1]), lang_int(1));
	return front_const_binary(f, PY_OP_FloorDiv, sum, a[1]);
}

/* Fills all bits below the highest one of n - 1, then adds 1: 5 gives 8, 8 gives 8. */
struct lang_val bi_host_next_power_of_2(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	pyint n;

	need_constants(f, a, 1, b->name);
	n = arg_int(f, &a[0], "n") - 1;
	for (int s = 1; s <= 32; s *= 2)
		n |= n >> s;
	return lang_int(n + 1);
}

/* --- Python ----------------------------------------------------------------------------------- */

/* The length of a tuple or string; a tensor has none in Triton. */
struct lang_val bi_len(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	if (a[0].kind == LANG_TUPLE)
		return lang_int((pyint)a[0].u.tup.n);
	if (a[0].kind == LANG_STR)
		return lang_int((pyint)a[0].u.s.n);
	front_fail(f, REASON_bad_types, "object of type '%s' has no len()", lang_type_name(&a[0]));
}

/* Lists and tuples are the same kind of value here. */
struct lang_val bi_list(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	if (a[0].kind != LANG_TUPLE)
		front_fail(f, REASON_bad_types, "'%s' object is not iterable", lang_type_name(&a[0]));
	return a[0];
}

/* float("inf") and the like, as Python reads them. */
static double float_of_str(struct front *f, struct str s)
{
	struct str t = str_trim(s);
	double d;

	static const struct { const char *name; double v; } words[] = {
		{ "inf", INFINITY }, { "+inf", INFINITY }, { "infinity", INFINITY }, { "-inf", -INFINITY },
		{ "-infinity", -INFINITY }, { "nan", NAN },
	};
	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (t.n == strlen(words[i].name) && !strncasecmp(t.p, words[i].name, t.n))
			return words[i].v;
	if (str_to_f64(t, &d))
		front_fail(f, REASON_bad_value, "could not convert string to float: '%.*s'", STR_ARG(s));
	return d;
}

/* float(x) of a constant, or of a string like "inf". */
struct lang_val bi_float(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	if (lang_is_number(&a[0]))
		return lang_float(lang_as_double(&a[0]));
	if (a[0].kind == LANG_STR)
		return lang_float(float_of_str(f, a[0].u.s));
	front_fail_hint(f, REASON_not_constexpr, "convert a tensor with x.to(tl.float32)",
			"float() argument must be a string or a real number, not '%s'", lang_type_name(&a[0]));
}

/* int(x) of a constant truncates; 1e30 keeps the conversion within 128 bits. */
struct lang_val bi_int(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	int64_t i;

	(void)b;
	if (lang_is_int(&a[0]))
		return lang_int(a[0].u.i);
	if (a[0].kind == LANG_FLOAT && isfinite(a[0].u.f) && fabs(a[0].u.f) < 1e30)
		return lang_int((pyint)a[0].u.f);
	if (a[0].kind == LANG_STR && !str_to_i64(str_trim(a[0].u.s), &i))
		return lang_int(i);
	front_fail_hint(f, REASON_not_constexpr, "convert a tensor with x.to(tl.int32)",
			"int() argument must be a string, a bytes-like object or a real number, not '%s'",
			lang_type_name(&a[0]));
}

/* isinstance with a class or a tuple of classes. */
static int is_instance(const struct lang_val *v, const struct lang_val *class)
{
	struct str name;

	if (class->kind == LANG_TUPLE) {
		for (size_t i = 0; i < class->u.tup.n; i++)
			if (is_instance(v, &class->u.tup.v[i]))
				return 1;
		return 0;
	}
	name = class->kind == LANG_CLASS ? class->u.s
		: class->kind == LANG_BUILTIN ? str_of(class->u.b->name) : STR("?");
	switch (v->kind) {
	case LANG_TENSOR: return str_is(name, "tensor") || str_is(name, "base_value");
	case LANG_TUPLE: return str_is(name, "tuple") || str_is(name, "list");
	case LANG_BOOL: return str_is(name, "bool") || str_is(name, "int");
	case LANG_INT: return str_is(name, "int");
	case LANG_FLOAT: return str_is(name, "float");
	case LANG_STR: return str_is(name, "str");
	case LANG_TYPE:
		return str_is(name, "dtype") ||
			str_is(name, v->u.ty->kind == TY_PTR ? "pointer_type"
			       : v->u.ty->kind == TY_BLOCK ? "block_type" : "dtype");
	case LANG_DESC: return str_is(name, "tensor_descriptor") || str_is(name, "tensor_descriptor_base");
	default: return 0;
	}
}

/* Decided at compile time, so that it can choose a static branch. */
struct lang_val bi_isinstance(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)f, (void)b;
	return lang_bool(is_instance(&a[0], &a[1]));
}

/* The default is not used: a missing attribute is an error. */
struct lang_val bi_getattr(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	if (a[1].kind != LANG_STR)
		front_fail(f, REASON_bad_types, "attribute name must be string, not '%s'", lang_type_name(&a[1]));
	return front_attr(f, a[0], a[1].u.s);
}

/* Decided at compile time. */
struct lang_val bi_hasattr(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	if (a[1].kind != LANG_STR)
		front_fail(f, REASON_bad_types, "attribute name must be string, not '%s'", lang_type_name(&a[1]));
	return lang_bool(front_has_attr(f, a[0], a[1].u.s));
}

/* Python's min and max: constants are compared at compile time, anything else becomes tl.minimum or
 * tl.maximum. */
struct lang_val bi_py_minmax(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	struct lang_tuple t = a[0].u.tup;
	int is_max = b->name[1] == 'a', constant = 1;
	struct lang_val best;

	if (t.n == 1 && t.v[0].kind == LANG_TUPLE)
		t = t.v[0].u.tup;
	for (size_t i = 0; i < t.n; i++)
		constant &= t.v[i].kind != LANG_TENSOR && t.v[i].kind != LANG_TUPLE;
	if (!t.n || (!constant && t.n < 2))
		front_fail(f, REASON_bad_argument, "min requires at least 2 values");
	best = t.v[0];
	for (size_t i = 1; i < t.n; i++) {
		struct lang_val x, y;

		if (constant) {
			if (front_const_compare(f, is_max ? PY_OP_Gt : PY_OP_Lt, t.v[i], best).u.i)
				best = t.v[i];
			continue;
		}
		x = lang_of(sem_bf16_to_fp32(f, sem_to_tensor(f, best)));
		y = lang_of(sem_bf16_to_fp32(f, sem_to_tensor(f, t.v[i])));
		best = lang_of(sem_minmax(f, is_max, 0, x, y));
	}
	best.wrapped = constant;
	return best;
}

/* --- methods of types -------------------------------------------------------------------------- */

/* The answer to x.dtype.is_floating() and the other tests. */
static int type_test(const struct ty *t, struct str test)
{
	struct str name;

	static const struct { const char *name; int (*is)(const struct ty *t); } families[] = {
		{ "is_fp8", ty_is_fp8 }, { "is_standard_floating", ty_is_std_float },
	};
	for (size_t i = 0; i < COUNT_OF(families); i++)
		if (str_is(test, families[i].name))
			return families[i].is(t);
	if (str_is(test, "is_ptr"))
		return t->kind == TY_PTR;
	if (str_is(test, "is_block"))
		return t->kind == TY_BLOCK;
	if (str_is(test, "is_const"))
		return t->kind == TY_PTR && t->is_const;
	if (str_is(test, "is_floating"))
		return ty_is_float(t);
	if (str_is(test, "is_int_signed"))
		return ty_is_signed(t);
	if (str_is(test, "is_int_unsigned"))
		return ty_is_unsigned(t);
	if (str_is(test, "is_int"))
		return ty_is_int(t);
	if (str_is(test, "is_bool"))
		return ty_is_bool(t);
	name = (struct str){ test.p + 3, test.n - 3 };           /* is_NAME */
	return t->kind == TY_SCALAR && str_is(name, sc_table[t->sc].name);
}

/* x.dtype.is_floating() and its kin give a bare bool. */
struct lang_val bi_dtype_test(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	return lang_raw(lang_bool(type_test(arg_dtype(f, &a[0]), str_of(b->name))));
}

/* get_int_max_value and get_int_min_value. */
struct lang_val bi_dtype_limit(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	const struct ty *t = arg_dtype(f, &a[0]);
	pyint one;
	int bits, top;

	if (!ty_is_int(t))
		front_fail(f, REASON_bad_dtype, "%s is not defined for %s", b->name, front_ty(f, t));
	one = 1;
	bits = ty_bits(t);
	top = b->name[8] == 'm' && b->name[9] == 'a';
	if (ty_is_signed(t))
		return lang_int(top ? (one << (bits - 1)) - 1 : -(one << (bits - 1)));
	return lang_int(top ? (one << bits) - 1 : 0);
}

/* The same block shape with another element type. */
struct lang_val bi_with_element_ty(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	(void)b;
	return lang_type(ty_with(f->a, arg_dtype(f, &a[0]), arg_dtype(f, &a[1])));
}

/* The shape of a block type as bare integers; empty for a scalar. */
struct lang_val bi_get_block_shapes(struct front *f, const struct builtin *b, const struct lang_val *a)
{
	const struct ty *t;
	struct lang_val *v;

	(void)b;
	t = arg_dtype(f, &a[0]);
	v = arena_array(f->a, (size_t)t->rank + 1, sizeof *v);
	for (int i = 0; i < t->rank; i++)
		v[i] = lang_raw(lang_int(t->shape[i]));
	return lang_tuple(v, (size_t)t->rank);
}
