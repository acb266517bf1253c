/* Runs tile code from a text file and compares with what the file expects.
 *
 *     tile_run FILE...         exit 0: all as expected
 *     tile_run --print FILE    prints the code as read back
 *
 * Lines that start with "#!" say what to run (arguments are bound in this order):
 *     #! tensor NAME DTYPE COUNT : values...     (the last value repeats; "ramp" counts from 0)
 *     #! undef NAME                              never written
 *     #! scalar NAME VALUE                       integer, or float if it has a '.', 'e' or "inf"
 *     #! grid X [Y Z]
 *     #! mode fast|checked
 *     #! fuel N
 *     #! expect NAME : values...
 *     #! fault REASON LINE                                                              */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "tile/machine/decode.h"
#include "tile/machine/execute.h"
#include "tile/code/parse_text.h"

enum { MAX_ARGS = 32 };

struct test {
	const char *path;
	int line;
	struct tile_val args[MAX_ARGS];
	struct str names[MAX_ARGS];
	size_t n;
	struct tile_launch l;
	struct tile_run_options o;
	int fault, fault_line;
	struct err e;
};

static struct str next_word(struct str *s)
{
	*s = str_trim(*s);
	return str_cut(s, ' ');
}

static int complain(struct test *t, const char *what)
{
	fprintf(stderr, "%s:%d: %s\n", t->path, t->line, what);
	return -1;
}

static int parse_value(struct str w, double *v)
{
	if (str_is(w, "nan"))
		return *v = NAN, 0;
	if (str_is(w, "inf"))
		return *v = INFINITY, 0;
	if (str_is(w, "-inf"))
		return *v = -INFINITY, 0;
	return str_to_f64(w, v);
}

static int find_arg(struct test *t, struct str name)
{
	for (size_t i = 0; i < t->n; i++)
		if (str_eq(t->names[i], name))
			return (int)i;
	return -1;
}

static int do_tensor(struct test *t, struct str rest)
{
	struct str name = next_word(&rest);
	int dt = dtype_by_triton(next_word(&rest));
	int64_t count, last_int = 0;
	double v = 0;
	struct str first;
	struct tile_val *a;
	int ramp;

	if (dt < 0 || str_to_i64(next_word(&rest), &count) || t->n == MAX_ARGS)
		return complain(t, "tensor NAME DTYPE COUNT : values");
	a = &t->args[t->n];
	*a = (struct tile_val){ .kind = TILE_V_TENSOR };
	if (tensor_new_zero(&a->t, (enum dtype)dt, 1, &count, &t->e))
		return complain(t, t->e.text);
	next_word(&rest);
	first = str_trim(rest);
	ramp = str_is(first, "ramp");
	for (int64_t i = 0; i < count; i++) {
		struct str w = ramp ? (struct str){ .n = 0 } : next_word(&rest);
		int whole = w.n && !str_to_i64(w, &last_int);
		void *p;

		if (w.n && !whole && parse_value(w, &v))
			return complain(t, "not a value");
		if (whole)
			v = (double)last_int;
		p = (char *)tensor_data(&a->t) + i * dtype_size((enum dtype)dt);
		if (dtype_is_float((enum dtype)dt))
			dtype_store((enum dtype)dt, p, ramp ? (double)i : v);
		else
			dtype_store_int((enum dtype)dt, p, ramp ? i : last_int);
	}
	t->names[t->n++] = name;
	return 0;
}

static int do_scalar(struct test *t, struct str rest)
{
	struct str name = next_word(&rest), w = next_word(&rest);
	struct tile_val *a = &t->args[t->n];
	*a = (struct tile_val){ .kind = TILE_V_INT };
	if (t->n == MAX_ARGS)
		return complain(t, "too many arguments");
	if (str_to_i64(w, &a->i)) {
		a->kind = TILE_V_FLOAT;
		if (parse_value(w, &a->f))
			return complain(t, "not a value");
	}
	t->names[t->n++] = name;
	return 0;
}

static int do_grid(struct test *t, struct str rest)
{
	for (int i = 0; i < 3; i++) {
		struct str w = next_word(&rest);
		if (w.n && str_to_i64(w, &t->l.grid[i]))
			return complain(t, "grid X Y Z");
	}
	return 0;
}

static int directive(struct test *t, struct str rest)
{
	struct str what = next_word(&rest);
	int64_t v;
	if (str_is(what, "tensor"))
		return do_tensor(t, rest);
	if (str_is(what, "scalar"))
		return do_scalar(t, rest);
	if (str_is(what, "grid"))
		return do_grid(t, rest);
	if (str_is(what, "expect"))
		return 0;
	if (str_is(what, "mode")) {
		t->o.mode = str_is(str_trim(rest), "checked") ? TILE_CHECKED : TILE_FAST;
		return 0;
	}
	if (str_is(what, "fuel"))
		return str_to_i64(str_trim(rest), &t->o.fuel) ? complain(t, "fuel N") : 0;
	if (str_is(what, "undef")) {
		int k = find_arg(t, str_trim(rest));
		return k < 0 || storage_track_undef(t->args[k].t.st, &t->e) ? complain(t, "undef NAME") : 0;
	}
	if (str_is(what, "fault")) {
		t->fault = reason_by_code(next_word(&rest));
		if (t->fault < 0 || str_to_i64(next_word(&rest), &v))
			return complain(t, "fault REASON LINE");
		t->fault_line = (int)v;
		return 0;
	}
	return complain(t, "unknown directive");
}

static int same_value(double want, double got)
{
	return (isnan(want) && isnan(got)) || want == got || fabs(want - got) <= 1e-6 * fabs(want);
}

static int check_expect(struct test *t, struct str rest)
{
	struct str name = next_word(&rest);
	int k = find_arg(t, name), bad = 0;
	double want = 0;
	const struct tensor *x;

	if (k < 0 || t->args[k].kind != TILE_V_TENSOR)
		return complain(t, "expect: no such tensor");
	x = &t->args[k].t;
	next_word(&rest);
	for (int64_t i = 0; i < x->shape[0]; i++) {
		struct str w = next_word(&rest);
		double got;

		if (w.n && parse_value(w, &want))
			return complain(t, "not a value");
		got = dtype_load(x->dt, (char *)tensor_data(x) + i * dtype_size(x->dt));
		if (same_value(want, got))
			continue;
		fprintf(stderr, "%s:%d: %.*s[%lld] is %.9g, not %.9g\n", t->path, t->line, STR_ARG(name), (long long)i, got, want);
		bad = -1;
	}
	return bad;
}

static int each_directive(struct test *t, struct str text, int expects)
{
	int rc = 0;
	for (t->line = 1; text.n; t->line++) {
		struct str line = str_trim(str_cut(&text, '\n'));
		struct str peek;
		int is_expect;

		if (!str_starts(line, "#!"))
			continue;
		line.p += 2, line.n -= 2;
		peek = line;
		is_expect = str_is(next_word(&peek), "expect");
		if (expects && is_expect)
			rc |= check_expect(t, peek);
		else if (!expects && directive(t, line))
			return -1;
	}
	return rc;
}

static int judge(struct test *t, struct str text, int rc, const struct diag *d)
{
	if (rc < 0)
		return complain(t, t->e.text);
	if (rc == 1 && (!t->fault || (int)d->reason != t->fault || d->line != t->fault_line)) {
		fprintf(stderr, "%s: fault %s at line %d: %s\n", t->path, reason_code(d->reason), d->line, d->text);
		return -1;
	}
	if (rc == 0 && t->fault) {
		fprintf(stderr, "%s: ran through; %s at line %d was expected\n", t->path, reason_code((enum reason)t->fault), t->fault_line);
		return -1;
	}
	return each_directive(t, text, 1);
}

static int run_file(const char *path, int print)
{
	struct test t = { .path = path, .l = { .grid = { 1, 1, 1 } }, .o = { .mode = TILE_FAST } };
	struct buf text = BUF_INIT, out = BUF_INIT;
	struct tile_code *code = NULL;
	struct diag d = { .reason = REASON_ok };
	int rc = -1;
	if (file_read(path, 1 << 20, &text, &t.e) || tile_parse_text(buf_str(&text), &code, &t.e) ||
	    tile_decode(code, &t.e)) {
		complain(&t, t.e.text);
	} else if (print) {
		tile_print(code, &out);
		fputs(buf_cstr(&out), stdout);
		rc = 0;
	} else if (!each_directive(&t, buf_str(&text), 0)) {
		t.l.args = t.args;
		t.l.n_args = t.n;
		rc = judge(&t, buf_str(&text), tile_execute(NULL, code, &t.l, &t.o, NULL, &d, &t.e), &d);
	}
	for (size_t i = 0; i < t.n; i++)
		if (t.args[i].kind == TILE_V_TENSOR)
			tensor_release(&t.args[i].t);
	tile_code_free(code);
	buf_release(&text);
	buf_release(&out);
	return rc;
}

int main(int argc, char **argv)
{
	int print = argc > 1 && !strcmp(argv[1], "--print"), failed = 0;
	for (int i = 1 + print; i < argc; i++)
		failed += run_file(argv[i], print) != 0;
	if (failed)
		fprintf(stderr, "%d of %d files failed\n", failed, argc - 1 - print);
	return failed != 0;
}
