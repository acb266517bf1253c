/* Integer operations of the tile machine against 128-bit references, all integer dtypes. */
#include "tile_rig.h"

#include "base/rng.h"

enum { N = 256 };

static const enum dtype int_types[] = { DT_BOOL, DT_U8, DT_U16, DT_U32, DT_U64, DT_I8, DT_I16, DT_I32, DT_I64 };

static int bits_of(enum dtype dt) { return dt == DT_BOOL ? 1 : dtype_size(dt) * 8; }
static int is_signed(enum dtype dt) { return dtype_info(dt)->class == DTC_SINT; }

/* The value of a lane as a wide integer by the type's sign. */
static __int128 wide(enum dtype dt, const void *p, int i)
{
	int64_t v = dtype_load_int(dt, (const char *)p + i * dtype_size(dt));
	return dt == DT_U64 ? (__int128)(uint64_t)v : v;
}

/* Wraps to the type and reads back. */
static __int128 wrap(enum dtype dt, __int128 x)
{
	int b = bits_of(dt);
	unsigned __int128 m = (unsigned __int128)x & (((unsigned __int128)1 << b) - 1);
	if (is_signed(dt) && m >> (b - 1))
		return (__int128)m - ((__int128)1 << b);
	return (__int128)m;
}

static __int128 reference(enum tile_op op, enum dtype dt, __int128 x, __int128 y)
{
	int b = bits_of(dt);
	unsigned __int128 ux = (unsigned __int128)x & (((unsigned __int128)1 << b) - 1), uy = (unsigned __int128)y & (((unsigned __int128)1 << b) - 1);
	switch (op) {
	case TOP_ADD: return x + y;
	case TOP_SUB: return x - y;
	case TOP_MUL: return (__int128)(ux * uy);
	case TOP_DIV: return y ? x / y : -1;
	case TOP_REM: return y ? x % y : x;
	case TOP_AND: return x & y;
	case TOP_OR: return x | y;
	case TOP_XOR: return x ^ y;
	case TOP_SHL: return uy >= (unsigned)b ? 0 : (__int128)(ux << uy);
	case TOP_SHR: return uy >= (unsigned)b ? (x < 0 ? -1 : 0) : x >> uy;
	case TOP_MAX: return x > y ? x : y;
	case TOP_MIN: return x < y ? x : y;
	case TOP_UMULHI: return (__int128)(ux * uy >> b);
	case TOP_HADD: return (x + y) >> 1;
	case TOP_RHADD: return (x + y + 1) >> 1;
	case TOP_EQ: return x == y;
	case TOP_NE: return x != y;
	case TOP_LT: return x < y;
	case TOP_LE: return x <= y;
	case TOP_GT: return x > y;
	case TOP_GE: return x >= y;
	default: return 0;
	}
}

static void fill(enum dtype dt, void *p, uint64_t seed)
{
	struct rng g;
	rng_init(&g, seed, "tile int");
	for (int i = 0; i < N; i++) {
		uint64_t v = rng_u64(&g);
		switch (i % 5) {
		case 0: v %= 7; break;
		case 1: v = (uint64_t)-(int64_t)(v % 5); break;
		case 2: v = (uint64_t)1 << (v % 64); break;
		case 3: v = ((uint64_t)1 << (v % 64)) - 1; break;
		}
		dtype_store_int(dt, (char *)p + i * dtype_size(dt), dt == DT_BOOL ? (int64_t)(v & 1) : (int64_t)v);
	}
}

static void one_binary(enum tile_op op, enum dtype dt)
{
	struct rig r;
	void *a, *b, *o;
	int compare = op >= TOP_EQ && op <= TOP_GE;
	tile_reg x, y;

	rig_open(&r);
	r.o.mode = TILE_FAST;           /* lanes that divide by zero are part of the test */
	x = rig_input(&r, rig_tile(dt, N), &a);
	y = rig_input(&r, rig_tile(dt, N), &b);
	rig_output(&r, tile_build(&r.b, op, rig_tile(compare ? DT_BOOL : dt, N), 2, x, y), &o);
	fill(dt, a, 1);
	fill(dt, b, 2);
	rig_run(&r);
	for (int i = 0; i < N; i++) {
		__int128 want = wrap(compare ? DT_BOOL : dt, reference(op, dt, wide(dt, a, i), wide(dt, b, i)));
		__int128 got = wide(compare ? DT_BOOL : dt, o, i);
		/* bool division and remainder by false are whatever the kernel says. */
		if (want != got && !(dt == DT_BOOL && (op == TOP_DIV || op == TOP_REM)))
			fail_msg("%s %s: %lld, %lld gave %lld, not %lld", tile_op_info(op)->name, dtype_info(dt)->triton,
				(long long)wide(dt, a, i), (long long)wide(dt, b, i), (long long)got, (long long)want);
	}
	rig_close(&r);
}

static void test_binary(void **state)
{
	static const enum tile_op ops[] = {
		TOP_ADD, TOP_SUB, TOP_MUL, TOP_DIV, TOP_REM, TOP_AND, TOP_OR, TOP_XOR, TOP_SHL, TOP_SHR, TOP_MAX, TOP_MIN,
		TOP_UMULHI, TOP_HADD, TOP_RHADD, TOP_EQ, TOP_NE, TOP_LT, TOP_LE, TOP_GT, TOP_GE,
	};
	(void)state;
	for (size_t k = 0; k < COUNT_OF(ops); k++)
		for (size_t t = 0; t < COUNT_OF(int_types); t++)
			one_binary(ops[k], int_types[t]);
}

/* Uniform operands, on either side, give what full tiles of them give. */
static void test_uniform(void **state)
{
	(void)state;
	for (int side = 0; side < 2; side++)
		for (size_t t = 1; t < COUNT_OF(int_types); t++) {
			enum dtype dt = int_types[t];
			struct rig r;
			void *a, *o;
			tile_reg x, c;

			rig_open(&r);
			r.o.mode = TILE_FAST;
			x = rig_input(&r, rig_tile(dt, N), &a);
			c = tile_build_int(&r.b, rig_tile(dt, N), 5);
			rig_output(&r, tile_build(&r.b, TOP_SUB, rig_tile(dt, N), 2, side ? c : x, side ? x : c), &o);
			fill(dt, a, 3);
			rig_run(&r);
			for (int i = 0; i < N; i++)
				assert_true(wide(dt, o, i) == wrap(dt, side ? 5 - wide(dt, a, i) : wide(dt, a, i) - 5));
			rig_close(&r);
		}
}

static __int128 reference1(enum tile_op op, enum dtype dt, __int128 x)
{
	int b = bits_of(dt), n = 0;
	unsigned __int128 u = (unsigned __int128)x & (((unsigned __int128)1 << b) - 1), v = 0;
	switch (op) {
	case TOP_NEG: return -x;
	case TOP_NOT: return ~x;
	case TOP_ABS: return x < 0 ? -x : x;
	case TOP_POPC:
		for (; u; u >>= 1)
			n += (int)(u & 1);
		return n;
	case TOP_CLZ:
		for (n = b; u; u >>= 1)
			n--;
		return n;
	case TOP_FFS:
		for (n = 1; n <= b; n++)
			if (u >> (n - 1) & 1)
				return n;
		return 0;
	default:
		for (n = 0; n < b; n++)
			v |= (u >> n & 1) << (b - 1 - n);
		return (__int128)v;
	}
}

static void test_unary(void **state)
{
	static const enum tile_op ops[] = { TOP_NEG, TOP_NOT, TOP_ABS, TOP_POPC, TOP_CLZ, TOP_FFS, TOP_BREV };
	(void)state;
	for (size_t k = 0; k < COUNT_OF(ops); k++)
		for (size_t t = 0; t < COUNT_OF(int_types); t++) {
			enum dtype dt = int_types[t], to = k >= 3 && k < 6 ? DT_I32 : dt;
			struct rig r;
			void *a, *o;
			tile_reg x;

			rig_open(&r);
			x = rig_input(&r, rig_tile(dt, N), &a);
			rig_output(&r, tile_build(&r.b, ops[k], rig_tile(to, N), 1, x), &o);
			fill(dt, a, 4);
			rig_run(&r);
			for (int i = 0; i < N; i++)
				if (wide(to, o, i) != wrap(to, reference1(ops[k], dt, wide(dt, a, i))))
					fail_msg("%s %s of %lld gave %lld", tile_op_info(ops[k])->name, dtype_info(dt)->triton,
						(long long)wide(dt, a, i), (long long)wide(to, o, i));
			rig_close(&r);
		}
}

/* Offsets and masks stay in short form; whatever the machine does, lanes must come out right. */
static void test_affine(void **state)
{
	static const enum tile_op ops[] = {
		TOP_ADD, TOP_SUB, TOP_MUL, TOP_DIV, TOP_REM, TOP_MAX, TOP_MIN, TOP_SHL, TOP_EQ, TOP_NE, TOP_LT, TOP_LE, TOP_GT, TOP_GE,
	};
	static const int64_t starts[] = { 0, 5, -3, 100, 1 << 20, INT32_MAX - 64, INT32_MIN + 1 }, others[] = { 0, 1, 2, 7, -1, 64, 300, 70000, INT32_MAX };
	(void)state;
	for (size_t k = 0; k < COUNT_OF(ops); k++)
		for (size_t s = 0; s < COUNT_OF(starts); s++)
			for (size_t c = 0; c < COUNT_OF(others); c++) {
				tile_reg x, y;

				enum { LANES = 64 };
				int compare = ops[k] >= TOP_EQ && ops[k] <= TOP_GE;
				enum dtype to = compare ? DT_BOOL : DT_I32;
				struct rig r;
				void *o, *o2;
				rig_open(&r);
				r.o.mode = TILE_FAST;
				x = tile_build_imm(&r.b, TOP_ARANGE, rig_tile(DT_I32, LANES), starts[s], 0);
				y = tile_build_int(&r.b, rig_tile(DT_I32, LANES), others[c]);
				rig_output(&r, tile_build(&r.b, ops[k], rig_tile(to, LANES), 2, x, y), &o);
				rig_output(&r, tile_build(&r.b, ops[k], rig_tile(to, LANES), 2, y, x), &o2);
				rig_run(&r);
				for (int i = 0; i < LANES; i++) {
					__int128 u = starts[s] + i, v = others[c];
					if (wide(to, o, i) != wrap(to, reference(ops[k], DT_I32, u, v)) ||
					    wide(to, o2, i) != wrap(to, reference(ops[k], DT_I32, v, u)))
						fail_msg("%s of %lld and %lld", tile_op_info(ops[k])->name, (long long)u, (long long)v);
				}
				rig_close(&r);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_binary),
		cmocka_unit_test(test_uniform),
		cmocka_unit_test(test_unary),
		cmocka_unit_test(test_affine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
