/* Runs one kernel on tensors from files, for comparing values with Triton's interpreter.
 *
 * Reads one JSON object a line: path, kernel, grid [x, y, z], args: a list of
 *     {"name", "tensor": FILE, "dtype", "count", "offset"}   dense elements; written back after the run
 *     {"name", "int" | "float" | "bool" | "str": value}, {"name", "none": true}, {"name", "dtype": "float32"}
 * in the order of the parameters, constants marked "constexpr": true. Prints "ok" and, with
 * "ops": true, the operations of the kernel (name:dtype, of dots the precision, of reductions
 * the combine function), or one line that says why not. "checked": true runs in checked mode, "fuel" bounds it. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "tile/lint/check_kernel.h"
#include "tile/front/compile.h"

enum { MOST_ARGS = 64 };

struct run {
	struct tile_val v[MOST_ARGS];
	struct tensor t[MOST_ARGS];
	const char *file[MOST_ARGS];
	size_t n;
};

static const char *text(const struct json *j, const char *key)
{
	struct str s = json_str(json_get(j, key), "");
	return s.p;
}

static int read_tensor(struct run *r, const struct json *a, struct err *e)
{
	struct buf b = BUF_INIT;
	struct tensor *t = &r->t[r->n];
	int dt = dtype_by_triton(json_str(json_get(a, "dtype"), ""));
	int64_t count = json_int(json_get(a, "count"), 0), offset = json_int(json_get(a, "offset"), 0);
	if (dt < 0)
		return err_set(e, ERR_FORMAT, "no such dtype");
	r->file[r->n] = text(a, "tensor");
	if (file_read(r->file[r->n], 0, &b, e) || tensor_new(t, (enum dtype)dt, 1, &count, e))
		return -1;
	memcpy(t->st->data, b.p, MIN(b.n, t->st->bytes));
	t->offset = offset;
	t->shape[0] = count - offset;
	r->v[r->n] = (struct tile_val){ .kind = TILE_V_TENSOR, .t = *t };
	buf_release(&b);
	return 0;
}

static int read_arg(struct run *r, const struct json *a, const struct check_env *env, struct err *e)
{
	struct tile_val *v = &r->v[r->n];
	const struct json *x;
	int rc = 0;
	if (json_get(a, "tensor"))
		rc = read_tensor(r, a, e);
	else if ((x = json_get(a, "int")))
		*v = (struct tile_val){ .kind = TILE_V_INT, .i = json_int(x, 0) };
	else if ((x = json_get(a, "float")))
		*v = (struct tile_val){ .kind = TILE_V_FLOAT, .f = json_real(x, 0) };
	else if ((x = json_get(a, "bool")))
		*v = (struct tile_val){ .kind = TILE_V_BOOL, .i = json_bool(x, 0) };
	else if ((x = json_get(a, "str")))
		*v = (struct tile_val){ .kind = TILE_V_STR, .s = json_str(x, "") };
	else if ((x = json_get(a, "dtype")))
		*v = (struct tile_val){ .kind = TILE_V_DTYPE, .s = json_str(x, "") };
	else if ((x = json_get(a, "fn")))
		*v = (struct tile_val){ .kind = TILE_V_FN, .fn = check_env_fn(env, json_str(x, "")) };
	else
		*v = (struct tile_val){ .kind = TILE_V_NONE };
	v->is_constexpr = json_bool(json_get(a, "constexpr"), 0);
	r->n++;
	return rc;
}

static int write_back(struct run *r, struct err *e)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->file[i] && file_replace(r->file[i], (struct str){ r->t[i].st->data, r->t[i].st->bytes }, e))
			return -1;
	return 0;
}

/* Each operation once, by what decides its rounding. */
static void list_ops(const struct tile_code *code, struct buf *out)
{
	for (int f = 0; f < code->n_funcs; f++)
		for (int i = 0; i < code->funcs[f].n_insns; i++) {
			const struct tile_insn *in = &code->funcs[f].insns[i];
			char one[96];
			struct tile_type t;
			int whole;

			if (in->n_dst + in->n_src == 0)
				continue;
			t = code->regs[in->r[in->op == TOP_STORE ? 1 : 0]];
			whole = in->op == TOP_DOT || in->op == TOP_REDUCE || in->op == TOP_SCAN || in->op == TOP_ATOMIC;
			snprintf(one, sizeof one, " %s:%s:%d;", tile_op_info(in->op)->name, dtype_info(t.dt)->triton, whole ? in->attr[0] : 0);
			if (str_find(buf_str(out), str_of(one)) < 0)
				buf_adds(out, one);
		}
}

static int execute(struct tile_engine *g, const struct json *j, const struct check_env *env, struct buf *ops, struct diag *d, struct err *e)
{
	struct run r = { .n = 0 };
	const struct json *args = json_get(j, "args"), *grid = json_get(j, "grid");
	int mode, rc;
	const struct tile_code *code;
	struct tile_launch l;

	for (size_t i = 0; i < json_count(args) && i < MOST_ARGS; i++)
		if (read_arg(&r, json_at(args, i), env, e))
			return -1;
	l = (struct tile_launch){ .fn = check_env_fn(env, json_str(json_get(j, "kernel"), "")), .args = r.v, .n_args = r.n, .num_warps = 4, .num_stages = 3, .num_ctas = 1 };
	for (size_t i = 0; i < 3; i++)
		l.grid[i] = json_int(json_at(grid, i), 1);
	if (!l.fn)
		return err_set(e, ERR_NOT_FOUND, "no such kernel");
	rc = tile_compile(g, &l, &code, d, e);
	if (!rc && json_bool(json_get(j, "ops"), 0))
		list_ops(code, ops);
	mode = json_bool(json_get(j, "checked"), 0) ? TILE_CHECKED : TILE_FAST;
	if (!rc)
		rc = tile_run(g, code, &l, &(struct tile_run_options){ .mode = mode, .fuel = json_int(json_get(j, "fuel"), 0) }, &(struct tile_cost){ 0 }, d, e);
	if (!rc)
		rc = write_back(&r, e);
	for (size_t i = 0; i < r.n; i++)
		if (r.file[i])
			tensor_release(&r.t[i]);
	return rc;
}

static int one(struct tile_engine *g, const struct json *j, struct buf *ops, struct diag *d, struct err *e)
{
	struct buf src = BUF_INIT;
	struct py_module m;
	struct check_env env;
	const char *path = text(j, "path");
	int rc;

	if (file_read(path, 0, &src, e) || py_parse(&m, buf_str(&src), path, 0, e) || check_env_init(&env, &m, NULL, e))
		return -1;
	rc = execute(g, j, &env, ops, d, e);
	check_env_release(&env);
	py_release(&m);
	buf_release(&src);
	return rc;
}

int main(void)
{
	static char line[1 << 18];
	struct err e = ERR_INIT;
	struct tile_engine *g = tile_engine_new(&(struct tile_options){ .triton_version = 306, .capability = 90 }, &e);
	while (g && fgets(line, sizeof line, stdin)) {
		struct diag d = { 0 };
		struct buf ops = BUF_INIT;
		struct json *j;
		int rc;

		err_clear(&e);
		j = json_parse(str_of(line), &e);
		rc = j ? one(g, j, &ops, &d, &e) : -1;
		printf("%s%.*s\n", rc < 0 ? e.text : rc ? d.text : "ok", rc ? 0 : (int)ops.n, ops.n ? ops.p : "");
		fflush(stdout);
		buf_release(&ops);
		json_free(j);
	}
	tile_engine_free(g);
	return 0;
}
