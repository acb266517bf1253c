/* Tile code from arbitrary text: what the verifier lets through must run without harm, in
 * both modes, whatever it does, and both must leave the same bytes if neither faults. What is
 * recorded must do the same as the machine when it is done again with other contents. */
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "tile/machine/decode.h"
#include "tile/machine/execute.h"
#include "tile/code/parse_text.h"
#include "tile/machine/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ELEMENTS = 64 };

/* One small tensor or number per parameter, by its type. */
static int bind(const struct tile_code *code, struct tile_val *args, struct err *e)
{
	int64_t n = ELEMENTS;
	for (int i = 0; i < code->n_params; i++) {
		const struct tile_param *p = &code->params[i];
		struct tile_type t = code->regs[p->reg];
		struct tile_val *a = &args[p->arg];
		if (p->n_path)
			return -1;
		if (a->kind)
			continue;
		if (!t.ptr && p->part == TILE_PART_VALUE) {
			*a = (struct tile_val){ .kind = dtype_is_float(t.dt) ? TILE_V_FLOAT : TILE_V_INT, .i = 3, .f = 1.5 };
			continue;
		}
		*a = (struct tile_val){ .kind = TILE_V_TENSOR };
		if (tensor_new_zero(&a->t, (enum dtype)t.dt, 1, &n, e))
			return -1;
	}
	return 0;
}

enum { FUEL = 2000, FUEL_MORE = 1 << 17 };      /* a replay is for who has more than enough */

/* Fills the tensors, runs, and sums up what is in them then. */
static int run(const struct tile_code *code, struct tile_val *args, int n, struct tile_run_options o, int contents, struct replay_store *replays,
	       uint64_t *sum)
{
	struct tile_launch l = { .args = args, .n_args = (size_t)n, .grid = { 2, 1, 1 } };
	struct tile_runner runner = { .replays = replays };
	struct diag d = { .reason = REASON_ok };
	struct err e = ERR_INIT;
	int rc;

	for (int i = 0; i < n; i++)
		if (args[i].kind == TILE_V_TENSOR)
			memset(args[i].t.st->data, i + contents, args[i].t.st->bytes);
	rc = tile_execute(&runner, code, &l, &o, NULL, &d, &e);
	*sum = 0;
	for (int i = 0; i < n; i++)
		if (args[i].kind == TILE_V_TENSOR)
			*sum = hash_xxh64(args[i].t.st->data, args[i].t.st->bytes, *sum);
	return rc;
}

static void compare_runs(const struct tile_code *code, struct tile_val *args, int n)
{
	struct tile_run_options o = { .mode = TILE_FAST, .fuel = FUEL, .poison = 0xa5 };
	struct replay_store replays = { .least = 0 };
	uint64_t fast, checked, again;
	int a = run(code, args, n, o, 0, NULL, &fast), b;

	o.mode = TILE_CHECKED;
	b = run(code, args, n, o, 0, &replays, &checked);
	if (!a && !b && fast != checked)
		BUG("fast and checked mode differ");
	o.mode = TILE_FAST;
	o.fuel = FUEL_MORE;
	if (!b) {
		a = run(code, args, n, o, 7, NULL, &fast);
		b = run(code, args, n, o, 7, &replays, &again);
		if (a != b || (!a && fast != again))
			BUG("a replay differs");
	}
	replay_store_release(&replays);
}

static int too_large(const struct tile_code *code)
{
	int64_t lanes = 0;
	for (int i = 0; i < code->n_regs; i++)
		lanes += tile_numel(code->regs[i]);
	return lanes > 1 << 20;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tile_val *args;

	enum { ARGS = 4097 };
	struct err e = ERR_INIT;
	struct tile_code *code;
	struct buf printed = BUF_INIT;
	if (tile_parse_text((struct str){ .p = (const char *)data, .n = size }, &code, &e))
		return 0;
	if (tile_decode(code, &e)) {
		tile_code_free(code);
		return 0;
	}
	tile_print(code, &printed);
	buf_release(&printed);
	args = mem_array(ARGS, sizeof *args);
	if (args && !too_large(code) && !bind(code, args, &e))
		compare_runs(code, args, ARGS);
	for (int i = 0; args && i < ARGS; i++)
		if (args[i].kind == TILE_V_TENSOR)
			tensor_release(&args[i].t);
	mem_free(args);
	tile_code_free(code);
	return 0;
}
