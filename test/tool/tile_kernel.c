/* Runs Triton kernels of a source file as its comments ask, and checks what happens.
 *
 *     # launch: KERNEL grid=4,2 x=fp32:1024 out=fp32:1024:undef n=1000 eps=1e-5 BLOCK=256
 *
 * A tensor is dtype:count[:zeros|ones|iota|undef|rand]; everything else is an integer, a float or
 * True/False. The line of a kernel that ends in `# BUG: reason` must be the one reported, for
 * that reason. A kernel without such a line must run clean in checked mode, in several orders
 * of programs, and give the same bits in fast mode, and with other contents the same bits from a record of
 * the launch (tile/machine/replay.h) as without one. Exit 0: all as it says.
 *
 *     tile_kernel FILE...              runs
 *     tile_kernel --print FILE...      the tile code of every launch instead
 *     tile_kernel --time FILE...       microseconds of every launch: compile, fast, checked */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/rng.h"
#include "tile/lint/check_kernel.h"
#include "tile/front/compile.h"

enum { MAX_ARGS = 40 };

struct source {
	const char *path;
	struct buf text;
	struct py_module m;
	struct check_env env;
	struct tile_engine *g;              /* does every launch anew */
	struct tile_engine *replaying;
	int launches, failed, print, time;
};

struct call {
	struct tile_launch l;
	struct tile_val args[MAX_ARGS];
	char init[MAX_ARGS][8];
	int line;
	int bug_line;
	struct str bug;
};

static int complain(const struct source *s, int line, const char *what)
{
	fprintf(stderr, "%s:%d: %s\n", s->path, line, what);
	return -1;
}

/* --- arguments ---------------------------------------------------------------------- */

static void fill_tensor(const struct tile_val *a, const char *how, uint64_t seed)
{
	struct rng g;
	rng_init(&g, seed + 1, "kernel arguments");
	for (int64_t i = 0; i < a->t.shape[0]; i++) {
		void *p = (char *)tensor_data(&a->t) + i * dtype_size(a->t.dt);
		double v = !strcmp(how, "ones") ? 1 : !strcmp(how, "iota") ? (double)i : !strcmp(how, "zeros") || !strcmp(how, "undef") ? 0 :
			dtype_is_float(a->t.dt) ? rng_normal(&g) : (double)rng_below(&g, 8);
		dtype_store(a->t.dt, p, v);
	}
}

static int parse_tensor(struct call *c, int k, struct str v, struct err *e)
{
	struct str rest = v;
	int dt = dtype_by_triton(str_cut(&rest, ':'));
	int64_t n;
	if (dt < 0 || str_to_i64(str_cut(&rest, ':'), &n))
		return -1;
	snprintf(c->init[k], sizeof c->init[k], "%.*s", STR_ARG(rest));
	c->args[k] = (struct tile_val){ .kind = TILE_V_TENSOR };
	return tensor_new_zero(&c->args[k].t, (enum dtype)dt, 1, &n, e);
}

static int parse_value(struct call *c, int k, struct str v, struct err *e)
{
	struct tile_val *a = &c->args[k];
	*a = (struct tile_val){ .kind = TILE_V_INT };
	if (str_is(v, "True") || str_is(v, "False")) {
		a->kind = TILE_V_BOOL;
		a->i = str_is(v, "True");
		return 0;
	}
	if (!str_to_i64(v, &a->i))
		return 0;
	if (!str_to_f64(v, &a->f)) {
		a->kind = TILE_V_FLOAT;
		return 0;
	}
	if (v.n && *v.p == '\'') {
		a->kind = TILE_V_STR;
		a->s = (struct str){ .p = v.p + 1, .n = v.n - 2 };
		return 0;
	}
	return parse_tensor(c, k, v, e);
}

static const struct py_list *parameters(const struct tile_fn *fn)
{
	return &fn->def->u.FunctionDef.args->u.arguments.args;
}

static int parameter(const struct tile_fn *fn, struct str name)
{
	const struct py_list *args = parameters(fn);
	for (size_t i = 0; i < args->n; i++)
		if (str_eq(args->v[i]->u.arg.arg, name))
			return (int)i;
	return -1;
}

static int parse_call(struct source *s, struct call *c, struct str rest)
{
	struct err e = ERR_INIT;
	struct str name;

	rest = str_trim(rest);
	name = str_cut(&rest, ' ');
	c->l.fn = check_env_fn(&s->env, name);
	if (!c->l.fn)
		return complain(s, c->line, "launch of no kernel");
	c->l.n_args = parameters(c->l.fn)->n;
	for (rest = str_trim(rest); rest.n; rest = str_trim(rest)) {
		struct str value = str_cut(&rest, ' '), key = str_cut(&value, '=');
		int k;

		if (str_is(key, "grid")) {
			for (int i = 0; i < 3 && value.n; i++)
				if (str_to_i64(str_cut(&value, ','), &c->l.grid[i]))
					return complain(s, c->line, "grid=X,Y,Z");
			continue;
		}
		k = parameter(c->l.fn, key);
		if (k < 0 || k >= MAX_ARGS || parse_value(c, k, value, &e)) {
			fprintf(stderr, "%s:%d: argument '%.*s' %s\n", s->path, c->line, STR_ARG(key), e.text);
			return -1;
		}
	}
	return 0;
}

/* --- running ------------------------------------------------------------------------ */

/* Random tensors are others with another `draw`. */
static int reset(struct call *c, int draw, struct err *e)
{
	for (size_t i = 0; i < c->l.n_args; i++) {
		if (c->args[i].kind != TILE_V_TENSOR)
			continue;
		fill_tensor(&c->args[i], c->init[i], (uint64_t)i + (uint64_t)draw * MAX_ARGS);
		if (!strcmp(c->init[i], "undef") && storage_track_undef(c->args[i].t.st, e))
			return -1;
	}
	return 0;
}

static uint64_t digest(const struct call *c)
{
	uint64_t h = 0;
	for (size_t i = 0; i < c->l.n_args; i++) {
		const struct tile_val *a = &c->args[i];
		const unsigned char *p = a->kind == TILE_V_TENSOR ? a->t.st->data : NULL;
		for (size_t k = 0; p && k < a->t.st->bytes; k++)
			h = (h ^ p[k]) * 0x100000001b3u;
	}
	return h;
}

static int run(struct source *s, struct call *c, const struct tile_code *code, struct tile_run_options o, struct diag *d)
{
	struct err e = ERR_INIT;
	int rc = reset(c, 0, &e);
	*d = (struct diag){ .reason = REASON_ok };
	if (!rc)
		rc = tile_run(s->g, code, &c->l, &o, NULL, d, &e);
	return rc < 0 ? complain(s, c->line, e.text) : rc;
}

static int must_fault(struct source *s, struct call *c, const struct tile_code *code)
{
	struct diag d;
	int rc = run(s, c, code, (struct tile_run_options){ .mode = TILE_CHECKED, .fuel = 1 << 22 }, &d);
	if (rc < 0)
		return -1;
	if (rc == 1 && str_is(c->bug, reason_code(d.reason)) && d.line == c->bug_line)
		return 0;
	fprintf(stderr, "%s:%d: expected %.*s at line %d, got %s at line %d: %s\n", s->path, c->line, STR_ARG(c->bug), c->bug_line,
		reason_code(d.reason), d.line, d.text);
	return -1;
}

struct outcome { int rc; uint64_t digest; struct tile_cost cost; struct diag d; };

static int launch(struct source *s, struct tile_engine *g, struct call *c, int draw, struct tile_run_options o, struct outcome *out)
{
	struct err e = ERR_INIT;
	const struct tile_code *code;
	*out = (struct outcome){ .rc = 0 };
	if (reset(c, draw, &e) || tile_compile(g, &c->l, &code, &out->d, &e) || (out->rc = tile_run(g, code, &c->l, &o, &out->cost, &out->d, &e)) < 0)
		return complain(s, c->line, e.text);
	out->digest = digest(c);
	return 0;
}

/* The second time on, the engine has a record of the launch if it can have one. */
static int must_replay(struct source *s, struct call *c)
{
	struct tile_run_options o = { .mode = TILE_CHECKED };
	struct outcome want, got;
	if (launch(s, s->replaying, c, 0, o, &got))
		return -1;
	o.mode = TILE_FAST;
	for (int draw = 0; draw < 3; draw++) {
		o.poison = (unsigned char)(draw * 0x55);
		o.order_seed = (uint64_t)draw;
		if (launch(s, s->g, c, draw, o, &want) || launch(s, s->replaying, c, draw, o, &got))
			return -1;
		if (got.rc != want.rc || got.digest != want.digest || got.d.reason != want.d.reason || memcmp(&got.cost, &want.cost, sizeof got.cost) != 0)
			return complain(s, c->line, "a replay gives another result");
	}
	return 0;
}

static int must_run(struct source *s, struct call *c, const struct tile_code *code)
{
	static const uint64_t orders[] = { 0, 1, 2 };
	uint64_t want = 0;
	struct diag d;
	for (size_t i = 0; i <= COUNT_OF(orders); i++) {
		int fast = i == COUNT_OF(orders);
		struct tile_run_options o = { .mode = fast ? TILE_FAST : TILE_CHECKED, .order_seed = fast ? 0 : orders[i], .fuel = 1 << 24 };
		int rc = run(s, c, code, o, &d);
		if (rc < 0)
			return -1;
		if (rc) {
			fprintf(stderr, "%s:%d: line %d: %s: %s\n", s->path, c->line, d.line, reason_code(d.reason), d.text);
			return -1;
		}
		if (!i)
			want = digest(c);
		else if (fast && digest(c) != want)
			return complain(s, c->line, "fast mode gives other bits than checked mode");
	}
	return must_replay(s, c);
}

static double now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* Best of several runs, in CPU time of this thread. */
static double best_us(struct source *s, struct call *c, const struct tile_code *code, enum tile_mode mode)
{
	struct tile_run_options o = { .mode = mode };
	double best = 1e18, stop = now_us() + 3e5;
	do {
		struct diag d = { .reason = REASON_ok };
		struct err e = ERR_INIT;
		double t;

		if (reset(c, 0, &e))
			return -1;
		t = now_us();
		if (tile_run(s->g, code, &c->l, &o, NULL, &d, &e))
			return complain(s, c->line, d.text);
		t = now_us() - t;
		best = t < best ? t : best;
	} while (now_us() < stop);
	return best;
}

static int time_launch(struct source *s, struct call *c, const struct tile_code *code)
{
	struct err e = ERR_INIT;
	struct diag d = { .reason = REASON_ok };
	double compile = 1e18;
	double fast, checked;

	for (int i = 0; i < 20; i++) {
		struct tile_engine *fresh = tile_engine_new(&(struct tile_options){ .triton_version = 306, .capability = 90 }, &e);
		const struct tile_code *again;
		double t = now_us();
		if (!fresh || tile_compile(fresh, &c->l, &again, &d, &e))
			return -1;
		t = now_us() - t;
		compile = t < compile ? t : compile;
		tile_engine_free(fresh);
	}
	fast = best_us(s, c, code, TILE_FAST);
	checked = best_us(s, c, code, TILE_CHECKED);
	printf("%.*s compile %.1f fast %.1f checked %.1f\n", STR_ARG(c->l.fn->name), compile, fast, checked);
	return fast < 0 || checked < 0;
}

static int do_launch(struct source *s, struct call *c)
{
	struct err e = ERR_INIT;
	struct diag d = { .reason = REASON_ok };
	const struct tile_code *code;
	int rc = tile_compile(s->g, &c->l, &code, &d, &e);
	if (rc) {
		fprintf(stderr, "%s:%d: does not compile: line %d: %s%s\n", s->path, c->line, d.line, d.text, e.text);
		return -1;
	}
	if (s->time)
		return time_launch(s, c, code);
	if (s->print) {
		struct buf out = BUF_INIT;
		tile_print(code, &out);
		puts(buf_cstr(&out));
		buf_release(&out);
		return 0;
	}
	return c->bug.n ? must_fault(s, c, code) : must_run(s, c, code);
}

/* The line of the kernel that is marked, between its `def` and the next decorator. */
static void find_bug(struct source *s, struct call *c)
{
	struct str text = buf_str(&s->text);
	char def[200];
	int inside = 0;
	int n = snprintf(def, sizeof def, "def %.*s(", STR_ARG(c->l.fn->name));
	for (int line = 1; text.n; line++) {
		struct str one = str_cut(&text, '\n');
		ptrdiff_t at;

		if (str_find(one, (struct str){ .p = def, .n = (size_t)n }) == 0)
			inside = 1;
		else if (inside && str_starts(one, "@triton.jit"))
			return;
		at = str_find(one, STR("# BUG: "));
		if (!inside || at < 0)
			continue;
		c->bug = str_trim((struct str){ .p = one.p + at + 7, .n = one.n - (size_t)at - 7 });
		c->bug_line = line;
		return;
	}
}

static void each_launch(struct source *s)
{
	struct str text = buf_str(&s->text);
	for (int line = 1; text.n; line++) {
		struct str one = str_trim(str_cut(&text, '\n'));
		struct call c = { .l = { .grid = { 1, 1, 1 }, .num_warps = 4, .num_stages = 3, .num_ctas = 1 }, .line = line };
		if (!str_starts(one, "# launch:"))
			continue;
		one.p += 9, one.n -= 9;
		c.l.args = c.args;
		s->launches++;
		if (parse_call(s, &c, one)) {
			s->failed++;
		} else {
			find_bug(s, &c);
			s->failed += do_launch(s, &c) != 0;
		}
		for (size_t i = 0; i < MAX_ARGS; i++)
			if (c.args[i].kind == TILE_V_TENSOR)
				tensor_release(&c.args[i].t);
	}
}

int main(int argc, char **argv)
{
	int launches = 0, failed = 0, print = argc > 1 && !strcmp(argv[1], "--print");
	int timed = argc > 1 && !strcmp(argv[1], "--time");
	for (int i = 1 + print + timed; i < argc; i++) {
		struct source s = { .path = argv[i], .print = print, .time = timed };
		struct err e = ERR_INIT;
		s.g = tile_engine_new(&(struct tile_options){ .triton_version = 306, .capability = 90, .replay = TILE_REPLAY_NONE }, &e);
		s.replaying = tile_engine_new(&(struct tile_options){ .triton_version = 306, .capability = 90, .replay = TILE_REPLAY_ALL }, &e);
		if (!s.g || !s.replaying || file_read(argv[i], 1 << 24, &s.text, &e) || py_parse(&s.m, buf_str(&s.text), argv[i], 0, &e) ||
		    check_env_init(&s.env, &s.m, NULL, &e)) {
			fprintf(stderr, "%s: %s\n", argv[i], e.text);
			return 2;
		}
		each_launch(&s);
		launches += s.launches;
		failed += s.failed;
		check_env_release(&s.env);
		py_release(&s.m);
		tile_engine_free(s.g);
		tile_engine_free(s.replaying);
		buf_release(&s.text);
	}
	if (!print && !timed)
		printf("%d launches, %d failed\n", launches, failed);
	return failed != 0;
}
