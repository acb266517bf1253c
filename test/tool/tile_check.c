/* For comparing with real Triton: reads lines FILE<tab>KERNEL<tab>SIGNATURE and prints for
 * each one JSON object: accepted or refused, where and why, and the types of every stored
 * value and every operand of tl.dot as MLIR spells them. With --time the microseconds too. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/json.h"
#include "tile/lint/check_kernel.h"
#include "tile/estimate/resource.h"
#include "tile/front/compile.h"

struct traces { struct jw *w; };

static void trace(void *ctx, const char *what, const struct ty *ty, int line)
{
	struct jw *w = ctx;
	struct buf b = BUF_INIT;
	(void)line;
	buf_addf(&b, "%s ", what);
	ty_mlir(ty, &b);
	jw_str(w, buf_str(&b));
	buf_release(&b);
}

static double now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void report(struct jw *w, int rc, const struct diag *d, const struct diag *unsupported, const struct err *e)
{
	const struct diag *x;

	jw_key(w, "result");
	jw_cstr(w, rc < 0 ? "error" : rc ? "refuse" : "accept");
	if (rc < 0) {
		jw_key(w, "text");
		jw_cstr(w, e->text);
		return;
	}
	x = rc ? d : unsupported;
	jw_key(w, "reason");
	jw_cstr(w, reason_code(x->reason));
	jw_key(w, "line");
	jw_int(w, x->line);
	jw_key(w, "col");
	jw_int(w, x->col);
	jw_key(w, "text");
	jw_cstr(w, x->text);
	jw_key(w, "hint");
	jw_cstr(w, x->hint);
}

static void check(struct tile_engine *g, const struct check_env *env, struct str kernel, struct str sig, struct buf *out)
{
	struct jw w = { .out = out };
	struct err e = ERR_INIT;
	struct diag d = { 0 }, unsupported = { 0 };
	struct check_launch c = { 0 };
	struct tile_code *code = NULL;
	double us, start;
	struct compile_watch watch;
	const struct tile_fn *fn;
	struct str signature;
	int rc, warps, stages;

	jw_begin(&w, '{');
	jw_key(&w, "trace");
	jw_begin(&w, '[');
	fn = check_env_fn(env, kernel);
	signature = str_cut(&sig, '\t');
	warps = 4;
	stages = 3;
	if (sig.n)
		sscanf(sig.p, "%d %d", &warps, &stages);
	watch = (struct compile_watch){ .trace = trace, .ctx = &w };
	start = now_us();
	rc = fn ? check_launch_parse(&c, env, fn, signature, &e) : err_set(&e, ERR_NOT_FOUND, "no jit function '%.*s'", STR_ARG(kernel));
	if (!rc) {
		watch.types = c.types;
		c.l.num_warps = warps;
		c.l.num_stages = stages;
		rc = compile_kernel(g, &c.l, &watch, &code, &d, &unsupported, &e);
	}
	us = now_us() - start;
	jw_end(&w, ']');
	report(&w, rc, &d, &unsupported, &e);
	if (!rc && code) {      /* accepted but not run here: no code */
		struct resources r;
		resource_estimate(code, &c.l, 90, &r);
		jw_key(&w, "shared");
		jw_int(&w, r.shared_bytes);
	}
	jw_key(&w, "us");
	jw_real(&w, us);
	jw_end(&w, '}');
	tile_code_free(code);
	check_launch_release(&c);
}

static int load(const char *path, struct buf *src, struct py_module *m, struct check_env *env, struct err *e)
{
	if (file_read(path, 0, src, e) || py_parse(m, buf_str(src), path, 0, e))
		return -1;
	return check_env_init(env, m, NULL, e);
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct tile_options o = { .triton_version = 306, .capability = 90 };
	struct tile_engine *g;
	char line[65536], last[4096] = "";
	struct buf src = BUF_INIT;
	struct py_module m;
	struct check_env env;
	int loaded;

	if (argc > 2 && !strcmp(argv[1], "--triton-version"))
		sscanf(argv[2], "%d", &o.triton_version);
	g = tile_engine_new(&o, &e);
	loaded = 0;
	if (!g) {
		fprintf(stderr, "tile_check: %s\n", e.text);
		return 2;
	}
	while (fgets(line, sizeof line, stdin)) {
		struct str rest, path, kernel;
		struct buf out = BUF_INIT;

		line[strcspn(line, "\n")] = 0;
		rest = str_of(line);
		path = str_cut(&rest, '\t');
		kernel = str_cut(&rest, '\t');
		err_clear(&e);
		if (!str_is(path, last)) {
			if (loaded) {
				check_env_release(&env);
				py_release(&m);
			}
			buf_clear(&src);
			snprintf(last, sizeof last, "%.*s", STR_ARG(path));
			loaded = !load(last, &src, &m, &env, &e);
		}
		if (loaded)
			check(g, &env, kernel, rest, &out);
		else
			buf_addf(&out, "{\"result\": \"syntax\", \"line\": %d, \"text\": \"unreadable\"}", e.line);
		puts(buf_cstr(&out));
		fflush(stdout);
		if (!loaded)
			last[0] = 0;
		buf_release(&out);
	}
	if (loaded) {
		check_env_release(&env);
		py_release(&m);
	}
	buf_release(&src);
	tile_engine_free(g);
	return 0;
}
