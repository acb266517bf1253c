/* For comparing numbers with Triton: reads lines FILE, KERNEL, SIGNATURE, GRID, OUT separated by
 * tabs, runs the kernel in checked mode on made-up arguments and writes the bytes of all its
 * tensors after the run to OUT. Prints a line per case: "ok", "refused ...", "fault ...",
 * "error ...".
 *
 * Arguments: tensors have COUNT elements, element i of argument k comes from value_of(i, k),
 * which test/agree/agree_tile_num.py repeats; integers are 50, floats 0.75. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "tile/check_kernel.h"
#include "tile/compile.h"
#include "tile/run.h"

enum { COUNT = 16384 };

static void fill(struct tensor *t, int k)
{
	for (int64_t i = 0; i < COUNT; i++) {
		uint32_t h = (uint32_t)i * 2654435761u + (uint32_t)k * 40503u + 12345u;
		h >>= 8;
		void *p = (char *)tensor_data(t) + i * dtype_size(t->dt);
		if (dtype_is_float(t->dt))
			dtype_store(t->dt, p, (double)(float)(h % 2001) / 1000.0 - 1.0);
		else
			dtype_store_int(t->dt, p, t->dt == DT_BOOL ? h & 1 : h % 8);
	}
}

/* A value for what the signature gives only a type. */
static int make_argument(struct tile_val *a, const char *type, int k, struct err *e)
{
	int ptr = *type == '*';
	const char *elem = type + ptr + (ptr && type[1] == 'k');
	int dt = !strcmp(elem, "u1") ? DT_BOOL : dtype_by_triton(str_of(elem));
	int64_t n = COUNT;
	if (dt < 0)
		return err_set(e, ERR_UNSUPPORTED, "type '%s'", type);
	if (!ptr) {
		int f = dtype_is_float((enum dtype)dt);
		*a = (struct tile_val){ .kind = f ? TILE_V_FLOAT : TILE_V_INT, .i = dt == DT_BOOL ? 1 : 50, .f = 0.75 };
		return 0;
	}
	*a = (struct tile_val){ .kind = TILE_V_TENSOR };
	if (tensor_new_zero(&a->t, (enum dtype)dt, 1, &n, e))
		return -1;
	fill(&a->t, k);
	return 0;
}

static int write_tensors(const struct check_launch *c, struct str path)
{
	char name[4096];
	snprintf(name, sizeof name, "%.*s", STR_ARG(path));
	FILE *f = fopen(name, "wb");
	for (size_t i = 0; f && i < c->l.n_args; i++)
		if (c->args[i].kind == TILE_V_TENSOR)
			fwrite(c->args[i].t.st->data, 1, c->args[i].t.st->bytes, f);
	return !f || fclose(f);
}

static void run_case(struct tile_engine *g, const struct check_env *env, struct str kernel, struct str sig, struct str grid, struct str out)
{
	struct err e = ERR_INIT;
	struct diag d = { 0 }, unsupported = { 0 };
	struct check_launch c = { 0 };
	struct tile_code *code = NULL;
	const struct tile_fn *fn = check_env_fn(env, kernel);
	struct compile_watch watch = { 0 };
	int rc = fn ? check_launch_parse(&c, env, fn, sig, &e) : err_set(&e, ERR_NOT_FOUND, "no kernel");
	if (!rc) {
		watch.types = c.types;
		rc = compile_kernel(g, &c.l, &watch, &code, &d, &unsupported, &e);
		if (!rc && !code) {
			d = unsupported;
			rc = 1;
		}
	}
	if (rc) {
		printf("%s %d %s%s\n", rc < 0 ? "error" : "refused", d.line, d.text, e.text);
		goto out;
	}
	for (size_t i = 0; i < c.l.n_args && !rc; i++)
		rc = c.types[i] ? make_argument(&c.args[i], c.types[i], (int)i, &e) : 0;
	for (int i = 0; i < 3 && grid.n; i++)
		str_to_i64(str_cut(&grid, ','), &c.l.grid[i]);
	struct tile_run_options o = { .mode = TILE_CHECKED, .fuel = 1 << 22 };
	if (!rc)
		rc = tile_execute(NULL, code, &c.l, &o, NULL, &d, &e);
	if (!rc)
		rc = write_tensors(&c, out) ? -1 : 0;
	if (rc)
		printf("%s %s %d %s%s\n", rc < 0 ? "error" : "fault", reason_code(d.reason), d.line, d.text, e.text);
	else
		puts("ok");
	for (size_t i = 0; i < c.l.n_args; i++)
		if (c.args[i].kind == TILE_V_TENSOR)
			tensor_release(&c.args[i].t);
out:
	tile_code_free(code);
	check_launch_release(&c);
}

int main(void)
{
	struct err e = ERR_INIT;
	struct tile_engine *g = tile_engine_new(&(struct tile_options){ .triton_version = 306, .capability = 90 }, &e);
	char line[65536];
	if (!g)
		return 2;
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = 0;
		struct str rest = str_of(line), path = str_cut(&rest, '\t'), kernel = str_cut(&rest, '\t');
		struct str sig = str_cut(&rest, '\t'), grid = str_cut(&rest, '\t');
		char name[4096];
		struct buf src = BUF_INIT;
		struct py_module m;
		struct check_env env;
		snprintf(name, sizeof name, "%.*s", STR_ARG(path));
		err_clear(&e);
		if (file_read(name, 0, &src, &e) || py_parse(&m, buf_str(&src), name, 0, &e)) {
			printf("error %s\n", e.text);
		} else if (check_env_init(&env, &m, &e)) {
			printf("error %s\n", e.text);
			py_release(&m);
		} else {
			run_case(g, &env, kernel, sig, grid, rest);
			check_env_release(&env);
			py_release(&m);
		}
		fflush(stdout);
		buf_release(&src);
	}
	tile_engine_free(g);
	return 0;
}
