/* Tile code as text and the verifier: what is printed reads back the same; what could hurt the
 * machine is refused. */
#include "tile_rig.h"

#include "tile/code/trip_count.h"
#include "tile/machine/math_lib.h"

static const char *const program =
	"kernel \"demo\"\n"
	"loc 3 7:2 -1 \"helper\"\n"
	"loc 4 9:5 3 \"inner\"\n"
	"param %0:*fp32 \"x\" 0\n"
	"param %1:i32 \"n\" 1\n"
	"param %2:i64 \"s\" 2.1 stride 0\n"
	"func 1 \"pick\" (%10:fp32, %11:fp32)\n"
	"  %12:i1 = gt %10, %11\n"
	"  %13:fp32 = select %12, %10, %11\n"
	"results %13\n"
	"body\n"
	"  %20:i32 = program_id imm=1 @4:3\n"
	"  %21:i32[64] = arange imm=-5 @4:9\n"
	"  %22:*fp32[64] = splat %0\n"
	"  %23:*fp32[64] = addptr %22, %21\n"
	"  %24:fp32[64] = const f=0x1.8p+1\n"
	"  %25:i1[64] = const imm=1\n"
	"  %26:fp32[64] = load %23, %25, %24 @#4\n"
	"  %27:fp32 = reduce %26 attr=0,1\n"
	"  %28:fp16 = cast %27 round=rz\n"
	"  print %28 text=\"a \\x22quote\\x22\"\n"
	"  block\n"
	"    loop\n"
	"      %29:i1 = lt %20, %1\n"
	"      br_if %29 imm=1\n"
	"      %20 = add %20, %1\n"
	"      br\n"
	"    end\n"
	"  end\n"
	"  if %29\n"
	"    store %23, %26\n"
	"  else\n"
	"    ret\n"
	"  end\n";

static struct tile_code *parse(const char *text, struct err *e)
{
	struct tile_code *c = NULL;
	if (tile_parse_text(str_of(text), &c, e))
		return NULL;
	if (!tile_decode(c, e))
		return c;
	tile_code_free(c);
	return NULL;
}

static void test_round_trip(void **state)
{
	struct err e = ERR_INIT;
	struct buf once = BUF_INIT, twice = BUF_INIT;
	struct tile_code *b, *a;

	(void)state;
	a = parse(program, &e);
	if (!a)
		fail_msg("%s", e.text);
	tile_print(a, &once);
	b = parse(buf_cstr(&once), &e);
	if (!b)
		fail_msg("%s\n%s", e.text, buf_cstr(&once));
	tile_print(b, &twice);
	assert_string_equal(buf_cstr(&once), buf_cstr(&twice));
	assert_int_equal(a->n_params, 3);
	assert_int_equal(a->params[2].path[0], 1);
	assert_int_equal(a->params[2].part, TILE_PART_STRIDE);
	assert_int_equal(a->n_funcs, 2);
	tile_code_free(a);
	tile_code_free(b);
	buf_release(&once);
	buf_release(&twice);
}

#define BODY "kernel \"k\"\nparam %0:*fp32 \"x\" 0\nparam %1:i32 \"n\" 1\nbody\n"

static const struct { const char *text, *error; } wrong[] = {
	{ BODY "%2:i32 = add %1, %3", "unknown register" },
	{ BODY "%2:i33 = add %1, %1", "not a type" },
	{ BODY "%2:i32[48] = arange", "not a type" },
	{ BODY "%2:i32[2097152] = arange", "not a type" },
	{ BODY "%2:i32 = frobnicate %1", "no such operation" },
	{ BODY "%2:i32 = add %1", "wrong number of operands" },
	{ BODY "%2:i64 = add %1, %1\n%3:*fp32 = addptr %0, %2\n%4:fp32 = load %3\nstore %3, %4", "types differ" },
	{ BODY "%2:fp32 = load %1\nstore %0, %2", "pointer and result do not fit" },
	{ BODY "%2:i64 = load %0\nprint %2", "pointer and result do not fit" },
	{ BODY "%2:fp32 = const f=1\n%3:fp32 = and %2, %2\nstore %0, %3", "needs integers" },
	{ BODY "%2:i32[8] = arange\nif %2\nend", "not a scalar i1" },
	{ BODY "%2:i1 = const imm=1\nif %2\nstore %0, %3:fp32\nend", "used before it is assigned" },
	{ BODY "%2:i1 = const imm=1\n%4:fp32 = const f=1\nif %2\n%3:fp32 = load %0\nend\nstore %0, %3", "used before it is assigned" },
	{ BODY "end", "end of nothing" },
	{ BODY "else", "else without if" },
	{ BODY "loop", "not ended" },
	{ BODY "br", "branch to nowhere" },
	{ BODY "block\nbr imm=1\nend", "branch to nowhere" },
	{ BODY "block\nbr imm=-1\nend", "branch to nowhere" },
	{ BODY "%2:i32 = program_id imm=3\nprint %2", "axis" },
	{ BODY "%2:i32[8] = arange\n%3:i32 = reduce %2 attr=99\nprint %3", "operands do not fit" },
	{ BODY "%2:i32[8] = arange\n%3:i32 = reduce %2 attr=0,7\nprint %3", "no such function" },
	{ BODY "%2:i32[8] = arange\n%3:i32 = reduce %2 attr=1 imm=1\nprint %3", "no such axis" },
	{ BODY "%2:i32[8] = arange\n%3:i32[4x2] = permute %2\nprint %3", "element or rank differs" },
	{ BODY "%2:fp32[16x16] = const\n%3:fp32[16x32] = dot %2, %2\nprint %3", "shapes do not chain" },
	{ BODY "%2:fp32[16x16] = const\n%3:fp32[16x16] = dot %2, %2 attr=9\nprint %3", "no such precision" },
	{ BODY "%2:fp32 = const\n%3:fp32 = atomic %0, %2 attr=4", "bitwise atomic" },
	{ BODY "%2:fp32 = const round=rz\nprint %2", "rounding mode" },
	{ "kernel \"k\"\nfunc 1 \"f\" (%0:fp32)\n%1:fp32 = load %2:*fp32\nresults %1\nbody\n", "not allowed" },
	{ "kernel \"k\"\nfunc 2 \"f\" (%0:fp32)\nresults %0\nbody\n", "numbered" },
	{ "kernel \"k\"\nfunc 1 \"f\" (%0:fp32)\n%1:fp32 = neg %0\nbody\n", "without results" },
	{ "kernel \"k\"\nfunc 1 \"f\" (%0:fp32)\nresults %0\nbody\nprint %0", "another function" },
	{ BODY "%2:fp32[8] = const\n%2 = flip %2\nprint %2", "also a source" },
	{ BODY "print %1 attr=1,2,3,4,5,6,7", "too many attributes" },
	{ BODY "print %1 @x", "a number expected" },
	{ BODY "print %1 text=\"abc", "does not end" },
	{ BODY "%2:fp64 = const\n%3:fp64 = ldexp %2, %1\n%4:fp16 = const\n%5:fp16 = ldexp %4, %1\nprint %5", "types do not fit" },
};

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		struct err e = ERR_INIT;
		struct tile_code *c = parse(wrong[i].text, &e);
		if (c)
			fail_msg("accepted: %s", wrong[i].text);
		if (!strstr(e.text, wrong[i].error))
			fail_msg("%s\ngave: %s\nnot: %s", wrong[i].text, e.text, wrong[i].error);
	}
}

/* A map function may not have more parameters than the machine has room for. */
static void test_many_parameters(void **state)
{
	struct rig r;
	struct tile_type types[80];
	tile_reg p[80], src[5], d;
	int fn;
	struct tile_insn *in;

	(void)state;
	rig_open(&r);
	for (int i = 0; i < 80; i++)
		types[i] = tile_scalar(DT_I32);
	fn = tile_build_func_begin(&r.b, STR("wide"), 80, types, p);
	tile_build_func_end(&r.b, 16, p);
	for (int i = 0; i < 5; i++)
		src[i] = tile_build_int(&r.b, rig_tile(DT_I32, 16), i);
	d = tile_build_reg(&r.b, rig_tile(DT_I32, 16));
	in = tile_build_insn(&r.b, TOP_MAP, 1, &d, 5, src);
	in->attr[0] = 16;
	in->attr[1] = fn;
	assert_int_equal(rig_finish(&r), -1);
	assert_non_null(strstr(r.e.text, "too many parameters"));
	rig_close(&r);
}

/* libdevice by name: every row finds an operation that has a kernel. */
static void test_libdevice(void **state)
{
	struct tile_libdevice l;
	enum dtype args[4];
	int known;
	(void)state;
	assert_int_equal(tile_libdevice(STR("tanh"), 1, (enum dtype[]){ DT_F32 }, &l, &known), 0);
	assert_int_equal(l.op, TOP_TANH);
	assert_int_equal(tile_libdevice(STR("pow"), 2, (enum dtype[]){ DT_F32, DT_I32 }, &l, &known), 0);
	assert_int_equal(l.op, TOP_POWI);
	assert_int_equal(tile_libdevice(STR("float2uint_rd"), 1, (enum dtype[]){ DT_F32 }, &l, &known), 0);
	assert_true(l.before == TOP_FLOOR && l.op == TOP_CAST && l.gives == DT_U32 && l.result == DT_I32);
	assert_int_equal(tile_libdevice(STR("tanh"), 1, (enum dtype[]){ DT_I32 }, &l, &known), -1);
	assert_int_equal(known, 1);
	assert_int_equal(tile_libdevice(STR("tanhh"), 1, (enum dtype[]){ DT_F32 }, &l, &known), -1);
	assert_int_equal(known, 0);
	assert_int_equal(tile_libdevice_overload(STR("fma"), 1, args), 3);
	assert_int_equal(args[2], DT_F64);
	assert_int_equal(tile_libdevice_overload(STR("fma"), 2, args), -1);
}

/* Emits every overload of every name, so that none lacks a kernel. */
static void test_libdevice_all(void **state)
{
	static const char *const names[] = {
#define LIBDEV(n, o, op, r, b) #n,
#include "tile/machine/math.def"
#undef LIBDEV
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		enum dtype args[4];
		for (int k = 0;; k++) {
			int n = tile_libdevice_overload(str_of(names[i]), k, args), known;
			struct tile_libdevice l;
			struct rig r;
			tile_reg src[4], d;
			void *out;

			if (n < 0)
				break;
			assert_int_equal(tile_libdevice(str_of(names[i]), n, args, &l, &known), 0);
			rig_open(&r);
			for (int j = 0; j < n; j++) {
				src[j] = rig_input(&r, rig_tile(args[j], 8), NULL);
				if (l.before >= 0)
					src[j] = tile_build(&r.b, (enum tile_op)l.before, rig_tile(args[j], 8), 1, src[j]);
			}
			d = tile_build_reg(&r.b, rig_tile(l.gives, 8));
			tile_build_insn(&r.b, l.op, 1, &d, n, src)->rounding = (uint8_t)l.rounding;
			rig_output(&r, d, &out);
			if (rig_finish(&r))
				fail_msg("%s: %s", names[i], r.e.text);
			r.o.mode = TILE_FAST;
			assert_int_equal(rig_execute(&r), 0);
			rig_close(&r);
		}
	}
}

/* --- loops ----------------------------------------------------------------------------------- */

static const char *const loops =
	"kernel \"loops\"\n"
	"param %0:i32 \"n\" 0\n"
	"body\n"
	"  %1:i32 = const\n"
	"  %2:i32 = const imm=16\n"
	"  block\n"                             /* 0: while i < n, i += 16 */
	"    loop\n"
	"      %3:i1 = lt %1, %0\n"
	"      %4:i1 = not %3\n"
	"      br_if %4 imm=1\n"
	"      %1 = add %1, %2\n"
	"      br\n"
	"    end\n"
	"  end\n"
	"  %5:i32 = const\n"
	"  %6:i32 = const imm=15\n"
	"  %7:i32 = add %0, %6\n"
	"  %8:i32 = div %7, %2\n"
	"  %9:i32 = const imm=1\n"
	"  block\n"                             /* 1: for j in range(0, cdiv(n, 16)) */
	"    loop attr=1\n"
	"      %10:i1 = ge %5, %8\n"
	"      br_if %10 imm=1\n"
	"      %11:i32 = const imm=8\n"
	"      block\n"                         /* 2: for k in range(8, n, 16), inside */
	"        loop attr=1\n"
	"          %12:i1 = ge %11, %0\n"
	"          br_if %12 imm=1\n"
	"          %11 = add %11, %2\n"
	"          br\n"
	"        end\n"
	"      end\n"
	"      %5 = add %5, %9\n"
	"      br\n"
	"    end\n"
	"  end\n"
	"  %13:i32 = program_id imm=0\n"
	"  block\n"                             /* 3: for p in range(program_id, n, 1) */
	"    loop attr=1\n"
	"      %14:i1 = ge %13, %0\n"
	"      br_if %14 imm=1\n"
	"      %13 = add %13, %9\n"
	"      br\n"
	"    end\n"
	"  end\n"
	"  %15:i32 = program_id imm=1\n"
	"  %16:i32 = const imm=0\n"
	"  block\n"                             /* 4: for q in range(0, program_id, 1) */
	"    loop attr=1\n"
	"      %17:i1 = ge %16, %15\n"
	"      br_if %17 imm=1\n"
	"      %16 = add %16, %9\n"
	"      br\n"
	"    end\n"
	"  end\n";

static void note_loop(void *ctx, int loop)
{
	*(unsigned *)ctx |= 1u << loop;
}

/* Which loops go round at all (even bits) and more than once (odd ones); one that begins at the number of its program does as the first
 * program does, one that ends there as the last. */
static void test_trip_counts(void **state)
{
	static const struct { int64_t n; unsigned more; } cases[] = { { 16, 0x1d5 }, { 17, 0x1df }, { 24, 0x1df }, { 25, 0x1ff }, { 0, 0x100 },
								       { INT64_MIN, 0x100 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct err e = ERR_INIT;
		struct tile_code *c;
		struct tile_val n = { .kind = TILE_V_INT, .i = cases[i].n };
		struct tile_launch l = { .args = &n, .n_args = 1, .grid = { 7, 2, 1 } };
		unsigned more = 0;

		assert_int_equal(tile_parse_text(str_of(loops), &c, &e), 0);
		assert_int_equal(tile_trip_counts(c, &l, note_loop, &more, &e), 0);
		assert_int_equal(more, cases[i].more);
		tile_code_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_refused), cmocka_unit_test(test_many_parameters), cmocka_unit_test(test_libdevice),
		cmocka_unit_test(test_libdevice_all), cmocka_unit_test(test_trip_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
