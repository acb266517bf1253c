/* A rig for tests of the tile machine: builds a kernel around one operation and runs it. */
#ifndef TILE_RIG_H
#define TILE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tile/code/build.h"
#include "tile/machine/decode.h"
#include "tile/machine/execute.h"
#include "tile/code/parse_text.h"

enum { RIG_ARGS = 24 };

struct rig {
	struct tile_builder b;
	struct tile_val args[RIG_ARGS];
	size_t n;
	struct tile_code *code;
	struct diag d;
	struct err e;
	struct tile_run_options o;
	int64_t grid[3];
	struct pool *pool;
	struct tile_cost cost;
};

static inline void rig_open(struct rig *r)
{
	*r = (struct rig){ .grid = { 1, 1, 1 }, .o = { .mode = TILE_CHECKED } };
	tile_build_init(&r->b, STR("rig"));
	tile_build_at(&r->b, tile_build_loc(&r->b, 1, 1, -1, STR("rig")));
}

static inline void rig_line(struct rig *r, int line)
{
	tile_build_at(&r->b, tile_build_loc(&r->b, line, 1, -1, STR("rig")));
}

static inline struct tile_type rig_tile(enum dtype dt, int32_t n)
{
	return tile_shaped(tile_scalar(dt), 1, &n);
}

/* A tensor argument of n elements, zeroed; its pointer register. */
static inline tile_reg rig_tensor(struct rig *r, enum dtype dt, int64_t n, void **data)
{
	char name[8];
	struct tile_val *a = &r->args[r->n];
	*a = (struct tile_val){ .kind = TILE_V_TENSOR };
	assert_int_equal(tensor_new_zero(&a->t, dt, 1, &n, &r->e), 0);
	if (data)
		*data = tensor_data(&a->t);
	snprintf(name, sizeof name, "a%zu", r->n);
	return tile_build_param(&r->b, tile_pointer(dt), &(struct tile_param){ .name = str_of(name), .arg = (int)r->n++ });
}

static inline tile_reg rig_scalar(struct rig *r, enum dtype dt, int64_t i, double f)
{
	char name[8];
	r->args[r->n] = (struct tile_val){ .kind = dtype_is_float(dt) ? TILE_V_FLOAT : TILE_V_INT, .i = i, .f = f };
	snprintf(name, sizeof name, "a%zu", r->n);
	return tile_build_param(&r->b, tile_scalar(dt), &(struct tile_param){ .name = str_of(name), .arg = (int)r->n++ });
}

/* Pointers to consecutive elements for a tile of type t (row-major). */
static inline tile_reg rig_pointers(struct rig *r, tile_reg base, struct tile_type t)
{
	int32_t n = (int32_t)tile_numel(t);
	struct tile_type p = tile_build_type(&r->b, base);
	tile_reg flat, splat, ptr;

	if (!t.ndim)
		return base;
	flat = tile_build_imm(&r->b, TOP_ARANGE, rig_tile(DT_I32, n), 0, 0);
	splat = tile_build(&r->b, TOP_SPLAT, tile_shaped(p, 1, &n), 1, base);
	ptr = tile_build(&r->b, TOP_ADDPTR, tile_shaped(p, 1, &n), 2, splat, flat);
	return t.ndim == 1 ? ptr : tile_build(&r->b, TOP_RESHAPE, tile_shaped(p, t.ndim, t.shape), 1, ptr);
}

/* A source register holding a tile of type t, loaded from a new tensor argument. */
static inline tile_reg rig_input(struct rig *r, struct tile_type t, void **data)
{
	tile_reg base = rig_tensor(r, (enum dtype)t.dt, tile_numel(t), data);
	return tile_build(&r->b, TOP_LOAD, t, 1, rig_pointers(r, base, t));
}

/* Stores a register to a new tensor argument. */
static inline void rig_output(struct rig *r, tile_reg v, void **data)
{
	struct tile_type t = tile_build_type(&r->b, v);
	tile_reg base = rig_tensor(r, (enum dtype)t.dt, tile_numel(t), data);
	tile_build_do(&r->b, TOP_STORE, 2, rig_pointers(r, base, t), v);
}

static inline int rig_finish(struct rig *r)
{
	if (tile_build_finish(&r->b, &r->code, &r->e))
		return -1;
	return tile_decode(r->code, &r->e);
}

static inline int rig_execute(struct rig *r)
{
	struct tile_launch l = { .args = r->args, .n_args = r->n };
	struct tile_runner runner;

	memcpy(l.grid, r->grid, sizeof l.grid);
	runner = (struct tile_runner){ .pool = r->pool };
	return tile_execute(&runner, r->code, &l, &r->o, &r->cost, &r->d, &r->e);
}

/* Builds and runs; fails the test on any error or fault. */
static inline void rig_run(struct rig *r)
{
	int rc;

	if (rig_finish(r))
		fail_msg("%s", r->e.text);
	rc = rig_execute(r);
	if (rc)
		fail_msg("rc %d: %s%s", rc, r->e.text, r->d.text);
}

static inline void rig_close(struct rig *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->args[i].kind == TILE_V_TENSOR)
			tensor_release(&r->args[i].t);
	tile_code_free(r->code);
	tile_build_release(&r->b);
}

#endif
