/* host_cases FILE [oracle]: runs every function case_N of a Python file in the host engine and
 * writes what it returns, for test/agree/agree_num.py. Per case a line "case N ok COUNT" or
 * "case N error TEXT"; per result "tensor DTYPE shape strides" and its elements in index
 * order, or "number VALUE". With a second argument "time", microseconds per case instead. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/mem.h"
#include "host/host.h"
#include "num/num.h"

static void count(struct val v, int *n)
{
	if (v.kind == V_TUPLE || v.kind == V_LIST)
		for (size_t i = 0; i < v.u.seq->n; i++)
			count(v.u.seq->v[i], n);
	else
		++*n;
}

static void put_tensor(const struct tensor *t)
{
	struct tensor d;
	struct err e = ERR_INIT;

	printf("tensor %s %s %s\n", dtype_info(t->dt)->torch, SHAPE_TEXT(t->ndim, t->shape), SHAPE_TEXT(t->ndim, t->stride));
	if (tensor_contiguous(&d, t, &e)) {
		fprintf(stderr, "%s\n", e.text);
		exit(1);
	}
	fwrite(tensor_data(&d), (size_t)dtype_size(t->dt), (size_t)tensor_numel(t), stdout);
	tensor_release(&d);
}

static void put(struct val v)
{
	if (v.kind == V_TUPLE || v.kind == V_LIST)
		for (size_t i = 0; i < v.u.seq->n; i++)
			put(v.u.seq->v[i]);
	else if (v.kind == V_TENSOR)
		put_tensor(&v.u.t->t);
	else if (v.kind == V_FLOAT)
		printf("number %.17g\n", v.u.f);
	else if (v.kind == V_INT || v.kind == V_BOOL)
		printf("number %lld\n", (long long)v.u.i);
	else if (v.kind == V_STR)
		printf("text %.*s\n", STR_ARG(val_text(v)));
	else if (v.kind == V_DTYPE)
		printf("text torch.%s\n", dtype_info((enum dtype)v.u.i)->torch);
	else
		printf("text ?\n");
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* The least time of a call, over at least 20 ms of calls. */
static int time_case(struct host *h, int k, struct val fn, struct err *e)
{
	double best = 1e30, begin = now();
	struct val out;

	for (int i = 0; i < 3 || now() - begin < 20e3; i++) {
		double t = now();

		if (host_call(h, fn, NULL, 0, &out, e))
			return printf("case %d error\n", k);
		t = now() - t;
		best = t < best ? t : best;
		val_drop(h, out);
	}
	return printf("case %d us %.3f\n", k, best);
}

int main(int argc, char **argv)
{
	struct host_options o = { .oracle = argc > 2 && !strcmp(argv[2], "oracle"), .nominal = DT_F32 };
	int timing = argc > 2 && !strcmp(argv[2], "time");
	struct err e = ERR_INIT;
	struct py_module m = { 0 };
	struct val ns, fn, out;
	struct host *h;
	struct buf text = BUF_INIT;
	char name[32];

	num_init();
	if (argc < 2 || file_read(argv[1], 0, &text, &e) || py_parse(&m, buf_str(&text), argv[1], 0, &e) || !(h = host_new(&o, &e))) {
		fprintf(stderr, "host_cases: %s\n", e.text);
		return 2;
	}
	if (host_load(h, &m, NULL, 0, &ns, &e)) {
		fprintf(stderr, "host_cases: %s %s\n", e.text, host_diag(h)->text);
		return 2;
	}
	for (int k = 0; snprintf(name, sizeof name, "case_%d", k), host_get(h, ns, name, &fn) == 1; k++) {
		int n = 0, rc;

		if (timing) {
			time_case(h, k, fn, &e);
			continue;
		}
		rc = host_call(h, fn, NULL, 0, &out, &e);
		if (rc) {
			printf("case %d error %s: %s\n", k, rc > 0 ? reason_code(host_diag(h)->reason) : "ours", rc > 0 ? host_diag(h)->text : e.text);
			continue;
		}
		count(out, &n);
		printf("case %d ok %d\n", k, n);
		put(out);
		val_drop(h, out);
	}
	host_free(h);
	py_release(&m);
	buf_release(&text);
	return 0;
}
