/* Records of launches: what is recorded, what a replay gives, what is run anew. */
#include "tile_rig.h"

#include "base/rng.h"
#include "tile/machine/exec_lanes.h"
#include "tile/machine/replay.h"
#include "tile/machine/checked_launches.h"

enum { LANES = 64, PROGRAMS = 5, COUNT = LANES * PROGRAMS };

struct stage {
	struct rig r;
	struct replay_store replays;
	float *x, *o;
};

static int run(struct stage *s, enum tile_mode mode, int64_t fuel, int with)
{
	struct tile_launch l = { .args = s->r.args, .n_args = s->r.n, .grid = { PROGRAMS, 1, 1 } };
	struct tile_runner runner = { .replays = with ? &s->replays : NULL };
	struct tile_run_options o = { .mode = mode, .fuel = fuel };
	s->r.cost = (struct tile_cost){ .launches = 0 };
	return tile_execute(&runner, s->r.code, &l, &o, &s->r.cost, &s->r.d, &s->r.e);
}

static tile_reg op(struct rig *r, enum tile_op o, enum dtype dt, tile_reg a, tile_reg b)
{
	return tile_build(&r->b, o, rig_tile(dt, LANES), 2, a, b);
}

static tile_reg spread(struct rig *r, enum dtype dt, tile_reg scalar)
{
	return tile_build(&r->b, TOP_SPLAT, rig_tile(dt, LANES), 1, scalar);
}

/* Offsets of a program's lanes, every second of them the other way round, so that they are no line. */
static tile_reg offsets(struct rig *r)
{
	tile_reg pid = tile_build(&r->b, TOP_PROGRAM_ID, tile_scalar(DT_I32), 0);
	tile_reg lanes = tile_build_imm(&r->b, TOP_ARANGE, rig_tile(DT_I32, LANES), 0, 0);
	tile_reg one = tile_build_imm(&r->b, TOP_CONST, rig_tile(DT_I32, LANES), 1, 0);
	tile_reg base = op(r, TOP_MUL, DT_I32, spread(r, DT_I32, pid), tile_build_imm(&r->b, TOP_CONST, rig_tile(DT_I32, LANES), LANES, 0));
	return op(r, TOP_ADD, DT_I32, base, op(r, TOP_XOR, DT_I32, lanes, one));
}

static tile_reg place(struct rig *r, tile_reg base, tile_reg offs)
{
	int32_t n = LANES;
	struct tile_type t = tile_shaped(tile_build_type(&r->b, base), 1, &n);
	return tile_build(&r->b, TOP_ADDPTR, t, 2, tile_build(&r->b, TOP_SPLAT, t, 1, base), offs);
}

/* o = x * x + pid, where the offset is a multiple of three; else o = the number of the lane. */
static void open_square(struct stage *s)
{
	struct rig *r = &s->r;
	tile_reg x, o, offs, three, mask, v, pid;
	*s = (struct stage){ .replays = { .least = 0 } };
	rig_open(r);
	x = rig_tensor(r, DT_F32, COUNT, (void **)&s->x);
	o = rig_tensor(r, DT_F32, COUNT, (void **)&s->o);
	offs = offsets(r);
	three = tile_build_imm(&r->b, TOP_CONST, rig_tile(DT_I32, LANES), 3, 0);
	mask = op(r, TOP_EQ, DT_BOOL, op(r, TOP_REM, DT_I32, offs, three), tile_build_imm(&r->b, TOP_CONST, rig_tile(DT_I32, LANES), 0, 0));
	v = tile_build(&r->b, TOP_LOAD, rig_tile(DT_F32, LANES), 3, place(r, x, offs), mask,
		       tile_build_float(&r->b, rig_tile(DT_F32, LANES), 0.5));
	pid = tile_build(&r->b, TOP_CAST, tile_scalar(DT_F32), 1, tile_build(&r->b, TOP_PROGRAM_ID, tile_scalar(DT_I32), 0));
	v = op(r, TOP_ADD, DT_F32, op(r, TOP_MUL, DT_F32, v, v), spread(r, DT_F32, pid));
	v = tile_build(&r->b, TOP_SELECT, rig_tile(DT_F32, LANES), 3, mask, v,
		       tile_build(&r->b, TOP_CAST, rig_tile(DT_F32, LANES), 1, tile_build_imm(&r->b, TOP_ARANGE, rig_tile(DT_I32, LANES), 0, 0)));
	tile_build_do(&r->b, TOP_STORE, 2, place(r, o, offs), v);
	assert_int_equal(rig_finish(r), 0);
}

static void close_stage(struct stage *s)
{
	replay_store_release(&s->replays);
	rig_close(&s->r);
}

static float square_at(const float *x, int i)
{
	return i % 3 ? (float)((i % LANES) ^ 1) : x[i] * x[i] + (float)(i / LANES);
}

static void fill(struct stage *s, float by)
{
	for (int i = 0; i < COUNT; i++) {
		s->x[i] = by * (float)i;
		s->o[i] = -1;
	}
}

static void test_same_result(void **state)
{
	struct stage s;
	struct tile_cost plain;
	(void)state;
	open_square(&s);
	fill(&s, 1);
	assert_int_equal(run(&s, TILE_CHECKED, 0, 1), 0);
	assert_int_equal(s.replays.known.n, 1);
	assert_int_equal(s.replays.known.v[0]->state, REPLAY_READY);
	assert_int_equal(run(&s, TILE_FAST, 0, 0), 0);
	plain = s.r.cost;
	for (int k = 2; k < 5; k++) {
		fill(&s, (float)k);
		assert_int_equal(run(&s, TILE_FAST, 0, 1), 0);
		for (int i = 0; i < COUNT; i++)
			assert_true(s.o[i] == square_at(s.x, i));
		assert_memory_equal(&s.r.cost, &plain, sizeof plain);
	}
	assert_int_equal(s.replays.known.n, 1);
	close_stage(&s);
}

/* In fast mode it is only met, then recorded, then done again. */
static void test_when(void **state)
{
	static const enum replay_state want[] = { REPLAY_MET, REPLAY_READY, REPLAY_READY };
	struct stage s;
	(void)state;
	open_square(&s);
	for (size_t k = 0; k < COUNT_OF(want); k++) {
		fill(&s, (float)k);
		assert_int_equal(run(&s, TILE_FAST, 0, 1), 0);
		assert_int_equal(s.replays.known.v[0]->state, want[k]);
		assert_true(s.o[3] == square_at(s.x, 3));
	}
	close_stage(&s);
}

/* With little fuel the launch is run, and does or does not get through as it would without a record. */
static void test_fuel(void **state)
{
	static const int64_t fuels[] = { PROGRAMS - 1, PROGRAMS, 100, 1 << 14, 1 << 20 };
	struct stage s;
	(void)state;
	open_square(&s);
	assert_int_equal(run(&s, TILE_CHECKED, 0, 1), 0);
	for (size_t i = 0; i < COUNT_OF(fuels); i++)
		assert_int_equal(run(&s, TILE_FAST, fuels[i], 0), run(&s, TILE_FAST, fuels[i], 1));
	close_stage(&s);
}

/* Other memory, the same layout: the record goes by it. A tensor of another size is another launch. */
static void test_key(void **state)
{
	struct stage s;
	struct tensor was, other;
	int64_t n = COUNT, more = COUNT + 1;
	(void)state;
	open_square(&s);
	fill(&s, 1);
	assert_int_equal(run(&s, TILE_CHECKED, 0, 1), 0);
	was = s.r.args[1].t;
	assert_int_equal(tensor_new_zero(&other, DT_F32, 1, &n, &s.r.e), 0);
	s.r.args[1].t = other;
	assert_int_equal(run(&s, TILE_FAST, 0, 1), 0);
	assert_int_equal(s.replays.known.n, 1);
	assert_true(((float *)tensor_data(&other))[3] == square_at(s.x, 3));
	tensor_release(&other);
	assert_int_equal(tensor_new_zero(&other, DT_F32, 1, &more, &s.r.e), 0);
	s.r.args[1].t = other;
	assert_int_equal(run(&s, TILE_FAST, 0, 1), 0);
	assert_int_equal(s.replays.known.n, 2);
	assert_int_equal(s.replays.known.v[1]->state, REPLAY_MET);
	tensor_release(&other);
	s.r.args[1].t = was;
	close_stage(&s);
}

/* o[x[i]] = i */
static void open_scatter(struct stage *s, void **at, void **out)
{
	struct rig *r = &s->r;
	tile_reg x, o, offs;
	rig_open(r);
	x = rig_tensor(r, DT_I32, COUNT, at);
	o = rig_tensor(r, DT_I32, COUNT, out);
	offs = offsets(r);
	tile_build_do(&r->b, TOP_STORE, 2, place(r, o, tile_build(&r->b, TOP_LOAD, rig_tile(DT_I32, LANES), 1, place(r, x, offs))), offs);
	assert_int_equal(rig_finish(r), 0);
}

/* The address is of contents, and nothing is noted. */
static void test_contents_decide(void **state)
{
	struct stage s = { .replays = { .least = 0 } };
	void *at, *out;
	(void)state;
	open_scatter(&s, &at, &out);
	for (int i = 0; i < COUNT; i++)
		((int32_t *)at)[i] = COUNT - 1 - i;
	assert_int_equal(run(&s, TILE_CHECKED, 0, 1), 0);
	assert_int_equal(run(&s, TILE_FAST, 0, 1), 0);
	assert_int_equal(s.replays.known.n, 0);
	assert_int_equal(((int32_t *)out)[0], COUNT - 1);
	close_stage(&s);
}

/* A fast run that is to be checked where it never was, or goes where contents say. */
static int run_new(struct stage *s, struct checked_launches *checked)
{
	struct tile_launch l = { .args = s->r.args, .n_args = s->r.n, .grid = { PROGRAMS, 1, 1 } };
	struct tile_runner runner = { .checked = checked };
	struct tile_run_options o = { .mode = TILE_FAST, .check_new = 1 };
	return tile_execute(&runner, s->r.code, &l, &o, NULL, &s->r.d, &s->r.e);
}

/* o[x[i]] = i races only where two of x are the same. */
static void test_contents_are_checked(void **state)
{
	struct stage s = { .replays = { .least = 0 } };
	struct checked_launches checked = { .n = 0 };
	void *at, *out;
	(void)state;
	open_scatter(&s, &at, &out);
	for (int i = 0; i < COUNT; i++)
		((int32_t *)at)[i] = COUNT - 1 - i;
	assert_int_equal(run_new(&s, &checked), 0);
	memset(at, 0, COUNT * sizeof(int32_t));
	assert_int_equal(run(&s, TILE_FAST, 0, 0), 0);
	assert_int_equal(run_new(&s, &checked), 1);
	assert_int_equal(s.r.d.reason, REASON_race);
	checked_launches_release(&checked);
	close_stage(&s);
}

/* What was checked once is not again; with a tensor of another size it is another launch. */
static void test_new_is_checked(void **state)
{
	struct stage s;
	struct checked_launches checked = { .n = 0 };
	struct tensor was, other;
	int64_t more = COUNT + 1;
	(void)state;
	open_square(&s);
	for (int k = 0; k < 3; k++) {
		assert_int_equal(run_new(&s, &checked), 0);
		assert_int_equal(checked.n, 1);
	}
	was = s.r.args[1].t;
	assert_int_equal(tensor_new_zero(&other, DT_F32, 1, &more, &s.r.e), 0);
	s.r.args[1].t = other;
	assert_int_equal(run_new(&s, &checked), 0);
	assert_int_equal(checked.n, 2);
	s.r.args[1].t = was;
	tensor_release(&other);
	checked_launches_release(&checked);
	close_stage(&s);
}

static void test_checked_launches(void **state)
{
	enum { MARKS = 1000 };
	struct checked_launches v = { .n = 0 };
	(void)state;
	for (uint64_t i = 1; i <= MARKS; i++) {
		assert_false(checked_launches_has(&v, i << 32));
		checked_launches_add(&v, i << 32);
	}
	for (uint64_t i = 1; i <= MARKS; i++)
		assert_true(checked_launches_has(&v, i << 32));
	assert_int_equal(v.n, MARKS);
	checked_launches_release(&v);
}

/* Launches without end, each with another number: only so many are remembered. */
static void test_many(void **state)
{
	struct stage s = { .replays = { .least = 0 } };
	struct rig *r = &s.r;
	tile_reg o, k;
	void *out;
	(void)state;
	rig_open(r);
	o = rig_tensor(r, DT_I32, COUNT, &out);
	k = rig_scalar(r, DT_I32, 0, 0);
	tile_build_do(&r->b, TOP_STORE, 2, place(r, o, offsets(r)), spread(r, DT_I32, k));
	assert_int_equal(rig_finish(r), 0);
	for (int i = 0; i < 1000; i++) {
		r->args[1].i = i;
		assert_int_equal(run(&s, TILE_FAST, 0, 1), 0);
		assert_int_equal(((int32_t *)out)[COUNT - 1], i);
	}
	assert_true(s.replays.known.n < 1000);
	close_stage(&s);
}

/* Every instruction set gives the same bits, with rows that end and begin anywhere. */
static void test_levels(void **state)
{
	enum { N = 40 };
	float x[N], sums[2][N];
	struct replay_row rows[N];
	struct rng g;
	(void)state;
	rng_init(&g, 5, "taps");
	for (int k = 0; k < 200; k++) {
		int32_t n = 0, lanes = 1 + (int32_t)rng_below(&g, N);
		float by = (float)rng_normal(&g), off = (float)rng_normal(&g);
		for (int32_t i = 0; i < lanes; i++) {
			int on = rng_below(&g, 4) != 0, next = n && rows[n - 1].lane + rows[n - 1].count == i;
			int begins = !next || i % REPLAY_BLOCK == 0 || rng_below(&g, 5) == 0;
			x[i] = (float)rng_normal(&g);
			sums[0][i] = sums[1][i] = (float)rng_normal(&g);
			if (on && begins)
				rows[n++] = (struct replay_row){ .lane = i, .count = 1, .offset = 4 * i };
			else if (on)
				rows[n - 1].count++;
		}
		lanes_tap_base(sums[0], lanes, (const char *)x, rows, n, by, off);
		SIMD_PICK(lanes_tap)(sums[1], lanes, (const char *)x, rows, n, by, off);
		assert_memory_equal(sums[0], sums[1], (size_t)lanes * sizeof(float));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_result), cmocka_unit_test(test_when), cmocka_unit_test(test_fuel), cmocka_unit_test(test_key),
		cmocka_unit_test(test_contents_decide), cmocka_unit_test(test_contents_are_checked),
		cmocka_unit_test(test_new_is_checked), cmocka_unit_test(test_checked_launches), cmocka_unit_test(test_many), cmocka_unit_test(test_levels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
