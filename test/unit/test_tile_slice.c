/* The address slice: which elements kernels read and write, without running them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tile/code/parse_text.h"
#include "tile/slice/slice.h"

/* A launch of tile code over tensors x and y (arguments 0 and 1, fp32) and the numbers n, m (2 and 3). */
struct rig {
	struct tile_code *code;
	struct tile_fn fn;
	struct tile_val args[4];
	struct tile_launch l;
	struct slice_call s;
	struct diag d;
	struct err e;
};

static void rig_open(struct rig *r, const char *body, int64_t x, int64_t y, int64_t n, int64_t m)
{
	struct buf text = BUF_INIT;

	*r = (struct rig){ .fn = { .name = STR("k") } };
	buf_adds(&text, "kernel \"k\"\nparam %0:*fp32 \"x\" 0\nparam %1:*fp32 \"y\" 1\nparam %2:i32 \"n\" 2\n"
		 "param %3:i32 \"m\" 3\nbody\n");
	buf_adds(&text, body);
	if (tile_parse_text(buf_str(&text), &r->code, &r->e))
		fail_msg("%s", r->e.text);
	buf_release(&text);
	assert_int_equal(tensor_new_hollow(&r->args[0].t, DT_F32, 1, &x, &(int64_t){ 1 }, &r->e), 0);
	assert_int_equal(tensor_new_hollow(&r->args[1].t, DT_F32, 1, &y, &(int64_t){ 1 }, &r->e), 0);
	r->args[0].kind = r->args[1].kind = TILE_V_TENSOR;
	r->args[2] = (struct tile_val){ .kind = TILE_V_INT, .i = n };
	r->args[3] = (struct tile_val){ .kind = TILE_V_INT, .i = m };
	r->l = (struct tile_launch){ .fn = &r->fn, .args = r->args, .n_args = 4, .grid = { 1, 1, 1 } };
	slice_init(&r->s);
}

static void rig_close(struct rig *r)
{
	slice_release(&r->s);
	tensor_release(&r->args[0].t);
	tensor_release(&r->args[1].t);
	tile_code_free(r->code);
}

/* Slices a launch of so many instances. */
static int rig_run(struct rig *r, int64_t g0, int64_t g1)
{
	r->l.grid[0] = g0;
	r->l.grid[1] = g1;
	return slice_launch(&r->s, r->code, &r->l, &r->d, &r->e);
}

/* Elements of argument i that are written (or read), and the first that is not. */
static int64_t count(struct rig *r, int i, int reads, int64_t *gap)
{
	const struct tensor *t = &r->args[i].t;
	struct slice_memory *m = slice_find(&r->s, t->st->id);
	int64_t n, at;

	assert_non_null(m);
	assert_int_equal(reads ? m->reads : m->writes, SLICE_DECIDED);
	n = cover_count(reads ? &m->read : &m->written, 0, (int64_t)t->st->bytes, &at);
	*gap = at / 4;
	return n / 4;
}

/* o = pid * 256 + lane; y[o] = x[o] where o < n */
static const char elementwise[] =
	"%4:i32 = program_id\n%5:i32 = const imm=256\n%6:i32 = mul %4, %5\n%7:i32[256] = arange\n"
	"%8:i32[256] = splat %6\n%9:i32[256] = add %8, %7\n%10:i32[256] = splat %2\n%11:i1[256] = lt %9, %10\n"
	"%12:*fp32[256] = splat %0\n%13:*fp32[256] = addptr %12, %9\n%14:fp32[256] = load %13, %11\n"
	"%15:*fp32[256] = splat %1\n%16:*fp32[256] = addptr %15, %9\nstore %16, %14, %11\n";

static void test_linear(void **state)
{
	struct rig r;
	int64_t gap;

	(void)state;
	rig_open(&r, elementwise, 1000, 1000, 1000, 0);
	assert_int_equal(rig_run(&r, 4, 1), 0);
	assert_int_equal(count(&r, 1, 0, &gap), 1000);
	assert_int_equal(count(&r, 0, 1, &gap), 1000);
	rig_close(&r);
	/* one instance too few */
	rig_open(&r, elementwise, 1000, 1000, 1000, 0);
	assert_int_equal(rig_run(&r, 3, 1), 0);
	assert_int_equal(count(&r, 1, 0, &gap), 768);
	assert_int_equal(gap, 768);
	rig_close(&r);
	/* ten million instances cost no more than four */
	rig_open(&r, elementwise, 2147483647, 2147483647, 2147483647, 0);
	assert_int_equal(rig_run(&r, 8388608, 1), 0);
	assert_int_equal(count(&r, 1, 0, &gap), 2147483647);
	rig_close(&r);
}

static void test_out_of_bounds(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, elementwise, 1000, 990, 1000, 0);
	assert_int_equal(rig_run(&r, 4, 1), 1);
	assert_int_equal(r.d.reason, REASON_out_of_bounds);
	assert_non_null(strstr(r.d.text, "y[999]"));
	rig_close(&r);
	/* the offset wraps around in 32 bits and passes the mask */
	rig_open(&r, elementwise, 1000, 1000, 1000, 0);
	assert_int_equal(rig_run(&r, 16777216, 1), 1);
	assert_int_equal(r.d.reason, REASON_out_of_bounds);
	rig_close(&r);
}

/* o = pid * 256 + lane, i = o / m * n + o % m: y[i] where o < n * m is not asked for */
static const char decoded[] =
	"%4:i32 = program_id\n%5:i32 = const imm=256\n%6:i32 = mul %4, %5\n%7:i32[256] = arange\n"
	"%8:i32[256] = splat %6\n%9:i32[256] = add %8, %7\n%10:i32[256] = splat %3\n%11:i32[256] = div %9, %10\n"
	"%12:i32[256] = rem %9, %10\n%13:i32[256] = splat %2\n%14:i32[256] = mul %11, %13\n%15:i32[256] = add %14, %12\n"
	"%16:*fp32[256] = splat %1\n%17:*fp32[256] = addptr %16, %15\n%18:fp32[256] = const f=0x1p+0\nstore %17, %18\n";

/* Rows of 100 elements in a tensor whose rows have 150: lanes of one instance are in several rows. */
static void test_decoded_lanes(void **state)
{
	struct rig r;
	int64_t gap;

	(void)state;
	rig_open(&r, decoded, 1, 150 * 128, 150, 100);
	assert_int_equal(rig_run(&r, 50, 1), 0);
	assert_int_equal(count(&r, 1, 0, &gap), 12800);
	assert_int_equal(gap, 100);
	rig_close(&r);
	rig_open(&r, decoded, 1, 150 * 127, 150, 100);
	assert_int_equal(rig_run(&r, 50, 1), 1);
	assert_int_equal(r.d.reason, REASON_out_of_bounds);
	assert_non_null(strstr(r.d.text, "y["));
	rig_close(&r);
}

/* row = (pid / m) & 3, col = pid % m: y[row * n + col] */
static const char wrapped[] =
	"%4:i32 = program_id\n%5:i32 = div %4, %3\n%6:i32 = const imm=3\n%7:i32 = and %5, %6\n%8:i32 = rem %4, %3\n"
	"%9:i32 = mul %7, %2\n%10:i32 = add %9, %8\n%11:*fp32 = addptr %1, %10\n%12:fp32 = const f=0x1p+0\n"
	"store %11, %12\n";

static void test_program_arithmetic(void **state)
{
	struct rig r;
	int64_t gap;

	(void)state;
	rig_open(&r, wrapped, 1, 4000, 1000, 1000);
	assert_int_equal(rig_run(&r, 4000, 1), 0);
	assert_int_equal(count(&r, 1, 0, &gap), 4000);
	rig_close(&r);
	/* five rows: the fifth writes the first again */
	rig_open(&r, wrapped, 1, 5000, 1000, 1000);
	assert_int_equal(rig_run(&r, 5000, 1), 0);
	assert_int_equal(count(&r, 1, 0, &gap), 4000);
	assert_int_equal(gap, 4000);
	rig_close(&r);
}

/* for t in range(0, n, 64): y[pid * m + t + lane] where t + lane < n */
static const char loop[] =
	"%4:i32 = program_id\n%5:i32 = mul %4, %3\n%6:*fp32 = addptr %1, %5\n%7:*fp32[64] = splat %6\n"
	"%8:i32[64] = arange\n%9:*fp32[64] = addptr %7, %8\n%10:i32[64] = splat %2\n%11:i32 = const\n"
	"%12:i32 = const imm=64\n%13:i32[64] = splat %12\n%14:fp32[64] = const\n"
	"block\nloop attr=1\n%15:i1 = ge %11, %2\nbr_if %15 imm=1\n%16:i32[64] = splat %11\n"
	"%17:i32[64] = add %16, %8\n%18:i1[64] = lt %17, %10\nstore %9, %14, %18\n%9 = addptr %9, %13\n"
	"%11 = add %11, %12\nbr\nend\nend\n";

static void test_loop(void **state)
{
	struct rig r;
	int64_t gap;

	(void)state;
	rig_open(&r, loop, 1, 100 * 1000, 1000, 1000);
	assert_int_equal(rig_run(&r, 100, 1), 0);
	assert_int_equal(count(&r, 1, 0, &gap), 100 * 1000);
	rig_close(&r);
	/* rows of 1000 with 990 written */
	rig_open(&r, loop, 1, 100 * 1000, 990, 1000);
	assert_int_equal(rig_run(&r, 100, 1), 0);
	assert_int_equal(count(&r, 1, 0, &gap), 100 * 990);
	assert_int_equal(gap, 990);
	rig_close(&r);
}

/* y[x[pid]] = 1, y[pid] = 1 */
static void test_contents(void **state)
{
	struct rig r;
	struct slice_memory *m;

	(void)state;
	rig_open(&r, "%4:i32 = program_id\n%5:*fp32 = addptr %0, %4\n%6:fp32 = load %5\n%7:i32 = cast %6\n"
		 "%8:*fp32 = addptr %1, %7\nstore %8, %6\n", 10, 10, 0, 0);
	assert_int_equal(rig_run(&r, 10, 1), 0);
	m = slice_find(&r.s, r.args[1].t.st->id);
	assert_int_equal(m->writes, SLICE_CONTENTS);
	m = slice_find(&r.s, r.args[0].t.st->id);
	assert_int_equal(m->reads, SLICE_DECIDED);
	rig_close(&r);
}

/* atomic_add(y + int(x[pid]), 1): it may read any element of y as well */
static void test_atomic(void **state)
{
	struct slice_memory *m;
	struct rig r;

	(void)state;
	rig_open(&r, "%4:i32 = program_id\n%5:*fp32 = addptr %0, %4\n%6:fp32 = load %5\n%7:i32 = cast %6\n"
		 "%8:*fp32 = addptr %1, %7\n%9:fp32 = const f=0x1p+0\n%10:fp32 = atomic %8, %9 attr=0\n", 10, 10, 0, 0);
	assert_int_equal(rig_run(&r, 10, 1), 0);
	m = slice_find(&r.s, r.args[1].t.st->id);
	assert_int_equal(m->writes, SLICE_CONTENTS);
	assert_int_equal(m->reads, SLICE_CONTENTS);
	assert_int_equal(m->read_most, 40);
	rig_close(&r);
}

/* for t in range(0, n, 16): y[(t + lane) & 63] and x[t * t]: the first is not linear in t, the second neither */
static const char folded[] =
	"%4:i32 = const\n%5:i32 = const imm=16\n%6:i32[16] = arange\n%7:i32[16] = const imm=63\n"
	"%8:*fp32[16] = splat %1\n%9:fp32[16] = const\n"
	"block\nloop attr=1\n%10:i1 = ge %4, %2\nbr_if %10 imm=1\n%11:i32[16] = splat %4\n"
	"%12:i32[16] = add %11, %6\n%13:i32[16] = and %12, %7\n%14:*fp32[16] = addptr %8, %13\nstore %14, %9\n"
	"%15:i32 = mul %4, %4\n%16:*fp32 = addptr %0, %15\n%17:fp32 = load %16\n%4 = add %4, %5\nbr\nend\nend\n";

static void test_iterations(void **state)
{
	struct rig r;
	int64_t gap;

	(void)state;
	rig_open(&r, folded, 65536, 128, 128, 0);
	assert_int_equal(rig_run(&r, 3, 1), 0);
	assert_int_equal(count(&r, 1, 0, &gap), 64);
	assert_int_equal(gap, 64);
	assert_int_equal(count(&r, 0, 1, &gap), 8);
	assert_int_equal(gap, 1);
	rig_close(&r);
}

/* y[pid] = (pid / 1000 % 100 != 57) as a float */
static const char gated[] =
	"%4:i32 = program_id\n%5:i32 = const imm=1000\n%6:i32 = div %4, %5\n%7:i32 = const imm=100\n"
	"%8:i32 = rem %6, %7\n%9:i32 = const imm=57\n%10:i1 = ne %8, %9\n%11:fp32 = cast %10\n"
	"%12:*fp32 = addptr %1, %4\nstore %12, %11\n";

static void test_classes(void **state)
{
	int64_t v[SLICE_PICKS], rare = 0;
	struct rig r;
	int n;

	(void)state;
	rig_open(&r, gated, 1, 200000, 0, 0);
	assert_int_equal(rig_run(&r, 200000, 1), 0);
	assert_int_equal(r.s.classes.n, 2);
	n = class_picks(&r.s.classes, v);
	for (int i = 0; i < n; i++)
		rare += v[i] / 1000 % 100 == 57;
	assert_true(rare >= 2 && rare < n);
	rig_close(&r);
	/* masks make no classes: the sets show what they do */
	rig_open(&r, elementwise, 1000, 1000, 1000, 0);
	assert_int_equal(rig_run(&r, 4, 1), 0);
	assert_int_equal(r.s.classes.n, 0);
	rig_close(&r);
}

/* o = int(float(pid) * 1024 + float(lane)): y[o] = x[o] where o < n */
static const char by_float[] =
	"%4:i32 = program_id\n%5:fp32 = cast %4\n%6:fp32 = const f=0x1p+10\n%7:fp32 = mul %5, %6\n"
	"%8:fp32[1024] = splat %7\n%9:i32[1024] = arange\n%10:fp32[1024] = cast %9\n%11:fp32[1024] = add %8, %10\n"
	"%12:i32[1024] = cast %11\n%13:i32[1024] = splat %2\n%14:i1[1024] = lt %12, %13\n%15:*fp32[1024] = splat %0\n"
	"%16:*fp32[1024] = addptr %15, %12\n%17:fp32[1024] = load %16, %14\n%18:*fp32[1024] = splat %1\n"
	"%19:*fp32[1024] = addptr %18, %12\nstore %19, %17, %14\n";

/* r = int(floor(float(o) / m)), y[r * n + (o - r * m)] for o = pid * 1024 + lane */
static const char by_floor[] =
	"%4:i32 = program_id\n%5:i32 = const imm=1024\n%6:i32 = mul %4, %5\n%7:i32[1024] = arange\n"
	"%8:i32[1024] = splat %6\n%9:i32[1024] = add %8, %7\n%10:fp32[1024] = cast %9\n%11:fp32 = cast %3\n"
	"%12:fp32[1024] = splat %11\n%13:fp32[1024] = div %10, %12\n%14:fp32[1024] = floor %13\n"
	"%15:i32[1024] = cast %14\n%16:i32[1024] = splat %3\n%17:i32[1024] = mul %15, %16\n"
	"%18:i32[1024] = sub %9, %17\n%19:i32[1024] = splat %2\n%20:i32[1024] = mul %15, %19\n"
	"%21:i32[1024] = add %20, %18\n%22:*fp32[1024] = splat %1\n%23:*fp32[1024] = addptr %22, %21\n"
	"%24:fp32[1024] = const f=0x1p+0\nstore %23, %24\n";

static void test_floats(void **state)
{
	struct slice_memory *m;
	struct rig r;
	int64_t gap;

	(void)state;
	/* fp32 holds every offset up to 2^24 */
	rig_open(&r, by_float, 1 << 24, 1 << 24, 1 << 24, 0);
	assert_int_equal(rig_run(&r, 1 << 14, 1), 0);
	assert_int_equal(count(&r, 1, 0, &gap), 1 << 24);
	assert_int_equal(count(&r, 0, 1, &gap), 1 << 24);
	rig_close(&r);
	/* of the offsets from 2^24 to below 2^25 it holds every other one, and 2^25 itself may be written */
	rig_open(&r, by_float, 1 << 25, 1 << 25, 1 << 25, 0);
	assert_int_equal(rig_run(&r, 1 << 15, 1), 0);
	m = slice_find(&r.s, r.args[1].t.st->id);
	assert_int_equal(m->writes, SLICE_UNDECIDED);
	assert_int_equal(m->rounded, 1);
	assert_in_range((cover_count(&m->written, 0, 4 << 25, &gap) + m->open_most) / 4, (1 << 24) + (1 << 23),
			(1 << 24) + (1 << 23) + 2);
	m = slice_find(&r.s, r.args[0].t.st->id);
	assert_in_range((cover_count(&m->read, 0, 4 << 25, &gap) + m->read_most) / 4, (1 << 24) + (1 << 23),
			(1 << 24) + (1 << 23) + 2);
	rig_close(&r);
	/* rows of 96 in a tensor whose rows have 128 */
	rig_open(&r, by_floor, 1, 128 * 1024, 128, 96);
	assert_int_equal(rig_run(&r, 96, 1), 0);
	assert_int_equal(count(&r, 1, 0, &gap), 96 * 1024);
	assert_int_equal(gap, 96);
	rig_close(&r);
}

/* o = pid * 64 + lane; for t in range(3): x[o / m * m + o % m + t - 1] where 0 <= o % m + t - 1 < m */
static const char window[] =
	"%4:i32 = program_id\n%5:i32 = const imm=64\n%6:i32 = mul %4, %5\n%7:i32[64] = arange\n"
	"%8:i32[64] = splat %6\n%9:i32[64] = add %8, %7\n%10:i32[64] = splat %3\n%11:i32[64] = div %9, %10\n"
	"%12:i32[64] = rem %9, %10\n%13:i32[64] = mul %11, %10\n%14:i32 = const\n%15:i32 = const imm=1\n"
	"%16:i32 = const imm=3\n%17:i32[64] = const imm=1\n%18:i32[64] = const\n%19:*fp32[64] = splat %0\n"
	"block\nloop attr=1\n%20:i1 = ge %14, %16\nbr_if %20 imm=1\n%21:i32[64] = splat %14\n"
	"%22:i32[64] = add %12, %21\n%23:i32[64] = sub %22, %17\n%24:i1[64] = ge %23, %18\n"
	"%25:i1[64] = lt %23, %10\n%26:i1[64] = and %24, %25\n%27:i32[64] = add %13, %23\n"
	"%28:*fp32[64] = addptr %19, %27\n%29:fp32[64] = load %28, %26\n%14 = add %14, %15\nbr\nend\nend\n";

/* Rows of 50 columns, read through windows of 3 columns by 64 lanes at a time, as a whole or by every other
 * instance. */
static void test_windows(void **state)
{
	struct rig r;
	int64_t gap;

	(void)state;
	rig_open(&r, window, 50 * 64, 1, 0, 50);
	assert_int_equal(rig_run(&r, 50, 1), 0);
	assert_int_equal(count(&r, 0, 1, &gap), 50 * 64);
	rig_close(&r);
	/* columns 0 to 27 of row 1 and their neighbours */
	rig_open(&r, window, 50 * 64, 1, 0, 50);
	assert_int_equal(rig_run(&r, 1, 1), 0);
	assert_int_equal(count(&r, 0, 1, &gap), 65);
	assert_int_equal(gap, 65);
	rig_close(&r);
}

/* Every other element of 1000 planes of 64 elements: one plane is kept. A box of another kind ends that. */
static void test_periods(void **state)
{
	struct cover c = { .bytes = 4 * 64 * 1000, .unit = 4 };
	int64_t stride[2] = { 256, 8 }, n[2] = { 1000, 32 }, gap;

	(void)state;
	assert_int_equal(cover_add_box(&c, 0, 4, 2, stride, n), 0);
	assert_non_null(c.period);
	assert_int_equal(cover_count(&c, 0, c.bytes, &gap), c.bytes / 2);
	assert_int_equal(gap, 4);
	assert_int_equal(cover_count(&c, 252, 256 * 3 + 8, &gap), 128 * 2 + 4);
	assert_int_equal(gap, 252);
	assert_int_equal(cover_end(&c), c.bytes - 4);
	assert_int_equal(cover_add_box(&c, 1024, 256, 0, NULL, NULL), 0);
	assert_null(c.period);
	assert_int_equal(cover_count(&c, 0, c.bytes, &gap), c.bytes / 2 + 128);
	cover_release(&c);
	assert_int_equal(cover_add_box(&c, 0, 4, 2, stride, n), 0);
	assert_int_equal(cover_add_box(&c, 4, 4, 2, stride, n), 0);
	assert_int_equal(cover_count(&c, 0, c.bytes, &gap), c.bytes);
	assert_int_equal(gap, c.bytes);
	cover_release(&c);
}

/* --- against evaluation element by element -------------------------------------------------------- */

enum { DRAWN = 400, LANES = 32, COLUMNS = 4, ROOM = 1 << 16 };

/* The numbers of a drawn kernel: y[q * a + h * b + w * c + col * d + e] under o < n, lo <= w and h + col < hi, where
 * o = pid * LANES + lane, q = o / m, h = o % m / k and w = o % m % k. */
struct drawn { int64_t n, m, k, a, b, c, d, e, lo, hi, grid; };

static struct drawn draw(struct rng *r)
{
	struct drawn p = { .m = 2 + (int64_t)rng_below(r, 100), .k = 1 + (int64_t)rng_below(r, 20),
			   .a = (int64_t)rng_below(r, 200), .b = (int64_t)rng_below(r, 30),
			   .c = (int64_t)rng_below(r, 4), .d = (int64_t)rng_below(r, 40),
			   .e = (int64_t)rng_below(r, 50), .lo = (int64_t)rng_below(r, 3),
			   .hi = 1 + (int64_t)rng_below(r, 30), .grid = 1 + (int64_t)rng_below(r, 12) };

	p.n = LANES * p.grid - (int64_t)rng_below(r, 40);
	if (rng_below(r, 2)) {
		/* a tensor without gaps, as most are */
		p.c = 1;
		p.b = p.k;
		p.a = p.m * (int64_t)(1 + rng_below(r, 3));
	}
	return p;
}

/* The text of the kernel; the quotient of a remainder as o - o / m * m, with a divisor of its own. */
static void drawn_text(const struct drawn *p, struct buf *out)
{
	buf_addf(out, "%%4:i32 = program_id\n%%5:i32 = const imm=%d\n%%6:i32 = mul %%4, %%5\n%%7:i32[%d] = arange\n",
		 LANES, LANES);
	buf_addf(out, "%%8:i32[%d] = splat %%6\n%%9:i32[%d] = add %%8, %%7\n%%10:i32[%d] = const imm=%lld\n", LANES,
		 LANES, LANES, (long long)p->m);
	buf_addf(out, "%%11:i32[%d] = div %%9, %%10\n%%12:i32[%d] = mul %%11, %%10\n%%13:i32[%d] = sub %%9, %%12\n",
		 LANES, LANES, LANES);
	buf_addf(out, "%%14:i32[%d] = const imm=%lld\n%%15:i32[%d] = div %%13, %%14\n%%16:i32[%d] = rem %%13, %%14\n",
		 LANES, (long long)p->k, LANES, LANES);
	/* rows of the tile, then its columns */
	for (int i = 0; i < 4; i++)
		buf_addf(out, "%%%d:i32[%dx1] = expand_dims %%%d imm=1\n%%%d:i32[%dx%d] = broadcast %%%d\n", 20 + 2 * i,
			 LANES, (int[]){ 9, 11, 15, 16 }[i], 21 + 2 * i, LANES, COLUMNS, 20 + 2 * i);
	buf_addf(out, "%%30:i32[%d] = arange\n%%31:i32[1x%d] = expand_dims %%30 imm=0\n"
		 "%%32:i32[%dx%d] = broadcast %%31\n", COLUMNS, COLUMNS, LANES, COLUMNS);
	for (int i = 0; i < 8; i++)
		buf_addf(out, "%%%d:i32[%dx%d] = const imm=%lld\n", 40 + i, LANES, COLUMNS,
			 (long long)(int64_t[]){ p->a, p->b, p->c, p->d, p->e, p->n, p->lo, p->hi }[i]);
	for (int i = 0; i < 4; i++)
		buf_addf(out, "%%%d:i32[%dx%d] = mul %%%d, %%%d\n", 50 + i, LANES, COLUMNS, (int[]){ 23, 25, 27, 32 }[i],
			 40 + i);
	for (int i = 0; i < 4; i++)
		buf_addf(out, "%%%d:i32[%dx%d] = add %%%d, %%%d\n", 54 + i, LANES, COLUMNS, i ? 53 + i : 44, 50 + i);
	buf_addf(out, "%%60:i1[%dx%d] = lt %%21, %%45\n%%61:i1[%dx%d] = ge %%27, %%46\n%%62:i32[%dx%d] = add %%25, %%32\n"
		 "%%63:i1[%dx%d] = lt %%62, %%47\n", LANES, COLUMNS, LANES, COLUMNS, LANES, COLUMNS, LANES, COLUMNS);
	buf_addf(out, "%%64:i1[%dx%d] = and %%60, %%61\n%%65:i1[%dx%d] = and %%64, %%63\n"
		 "%%66:*fp32[%dx%d] = splat %%1\n%%67:*fp32[%dx%d] = addptr %%66, %%57\n"
		 "%%68:fp32[%dx%d] = const f=0x1p+0\nstore %%67, %%68, %%65\n", LANES, COLUMNS, LANES, COLUMNS, LANES,
		 COLUMNS, LANES, COLUMNS, LANES, COLUMNS);
}

/* The elements that the kernel writes, one by one. Returns their number. */
static int64_t drawn_writes(const struct drawn *p, uint8_t *hit)
{
	int64_t n = 0;

	memset(hit, 0, ROOM);
	for (int64_t o = 0; o < p->grid * LANES; o++)
		for (int64_t col = 0; col < COLUMNS; col++) {
			int64_t q = o / p->m, h = o % p->m / p->k, w = o % p->m % p->k;
			int64_t at = q * p->a + h * p->b + w * p->c + col * p->d + p->e;

			if (o < p->n && w >= p->lo && h + col < p->hi && !hit[at]) {
				hit[at] = 1;
				n++;
			}
		}
	return n;
}

static void test_drawn(void **state)
{
	uint8_t *hit = malloc(ROOM);
	struct rng draws;

	(void)state;
	assert_non_null(hit);
	rng_init(&draws, 1, "slice");
	for (int i = 0; i < DRAWN; i++) {
		struct drawn p = draw(&draws);
		struct buf text = BUF_INIT;
		struct rig r;
		int64_t gap, first = 0, n = drawn_writes(&p, hit);

		while (first < ROOM && hit[first])
			first++;
		drawn_text(&p, &text);
		rig_open(&r, buf_cstr(&text), 1, ROOM, 0, 0);
		assert_int_equal(rig_run(&r, p.grid, 1), 0);
		if (count(&r, 1, 0, &gap) != n || gap != first)
			fail_msg("kernel %d: %lld elements and not %lld, the first gap at %lld and not %lld", i,
				 (long long)count(&r, 1, 0, &gap), (long long)n, (long long)gap, (long long)first);
		rig_close(&r);
		buf_release(&text);
	}
	free(hit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_linear), cmocka_unit_test(test_out_of_bounds),
		cmocka_unit_test(test_decoded_lanes),
		cmocka_unit_test(test_program_arithmetic), cmocka_unit_test(test_loop), cmocka_unit_test(test_contents),
		cmocka_unit_test(test_atomic),
		cmocka_unit_test(test_iterations), cmocka_unit_test(test_classes), cmocka_unit_test(test_floats),
		cmocka_unit_test(test_windows), cmocka_unit_test(test_periods),
		cmocka_unit_test(test_drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
