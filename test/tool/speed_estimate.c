/* speed_estimate [--counts] [--gpu NAME] FILE.jsonl: for every row (`id`, `task`, `candidate` as source text) whose
 * programs can be followed at the task's own sizes, right or wrong, a line with the estimated seconds of the
 * reference, of the reference with products in tf32, and of the candidate. With --counts also what the estimate
 * was made from, launch by launch and call by call: what the constants of speed.def are fitted on. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "host/host.h"
#include "interp/bind.h"
#include "num/num.h"
#include "tile/estimate/resource.h"
#include "tile/estimate/speed.h"
#include "host/estimate.h"
#include "host/op_speed.h"

struct job {
	struct tile_engine *engine;
	struct host_lib *lib;
	const struct tile_gpu *gpu;
	int counts;
	struct estimate plain, tf32;
	struct jw w;
};

/* --- counts ------------------------------------------------------------------------------------------------- */

static void put_number(struct jw *w, const char *name, double x)
{
	jw_key(w, name);
	jw_real(w, x);
}

static void put_params(struct jw *w, const struct probe *p)
{
	jw_key(w, "params");
	jw_begin(w, '[');
	for (int i = 0; i < p->n_params; i++) {
		const struct probe_param *q = &p->param[i];

		if (q->bytes <= 0)
			continue;
		jw_begin(w, '{');
		put_number(w, "bytes", q->bytes);
		put_number(w, "loaded", q->loaded);
		put_number(w, "stored", q->stored);
		put_number(w, "atomics", q->atomics);
		put_number(w, "unique", q->unique);
		jw_end(w, '}');
	}
	jw_end(w, ']');
}

static void put_probe(struct jw *w, const struct tile_launch *l, const struct probe *p)
{
	const struct { const char *name; double x; } all[] = {
		{ "tried", l->compile_only }, { "programs", p->programs }, { "warps", p->warps }, { "stages", p->stages }, { "shared", p->shared_bytes },
		{ "registers", p->registers }, { "f32", p->ops.f32 }, { "f16", p->ops.f16 }, { "f64", p->ops.f64 }, { "integer", p->ops.integer },
		{ "divided", p->ops.divided }, { "int_divided", p->ops.int_divided }, { "special", p->ops.special }, { "heavy", p->ops.heavy },
		{ "reduced", p->ops.reduced }, { "dot_tf32", p->dots.tf32 }, { "dot_f16", p->dots.f16 }, { "dot_f32", p->dots.f32 }, { "m", p->dots.m },
		{ "n", p->dots.n }, { "k", p->dots.k }, { "transposed", p->dots.transposed }, { "requests", p->memory.requests }, { "lines", p->memory.lines },
		{ "sectors", p->memory.sectors }, { "missed", p->memory.missed }, { "atomics", p->memory.atomics },
		{ "atomic_sectors", p->memory.atomic_sectors }, { "load_waits", p->load_waits }, { "piped_waits", p->piped_waits }, { "syncs", p->syncs },
		{ "converts", p->converts },
	};

	jw_begin(w, '{');
	jw_key(w, "kernel"), jw_str(w, l->fn->name);
	for (size_t i = 0; i < COUNT_OF(all); i++)
		put_number(w, all[i].name, all[i].x);
	put_params(w, p);
	jw_end(w, '}');
}

static void put_call(struct job *j, const struct host_op_call *c)
{
	struct op_speed o = op_speed(c, j->gpu, 0), t = op_speed(c, j->gpu, NUM_TF32_MATMUL);

	if (!o.launches)
		return;
	jw_begin(&j->w, '{');
	jw_key(&j->w, "operator"), jw_cstr(&j->w, c->name);
	put_number(&j->w, "seconds", o.seconds);
	put_number(&j->w, "tf32_seconds", t.seconds);
	put_number(&j->w, "launches", o.launches);
	jw_end(&j->w, '}');
}

/* --- following -------------------------------------------------------------------------------------------------- */

static void called(void *ctx, const struct host_op_call *c)
{
	struct job *j = ctx;

	estimate_call(&j->plain, c);
	estimate_call(&j->tf32, c);
	if (j->counts)
		put_call(j, c);
}

static int launched(void *ctx, const struct tile_launch *l, struct diag *d, struct err *e)
{
	struct job *j = ctx;
	const struct tile_code *code;
	struct probe p;
	int rc = tile_compile(j->engine, l, &code, d, e);

	if (!rc)
		rc = resource_check(code, l, j->gpu, d);
	if (!rc)
		rc = estimate_launch(&j->plain, code, l, e) || estimate_launch(&j->tf32, code, l, e) ? -1 : 0;
	if (rc || !j->counts)
		return rc;
	rc = probe_launch(code, l, j->gpu->capability, &p, e);
	if (!rc)
		put_probe(&j->w, l, &p);
	return rc;
}

/* The class of `source` with the inputs of `task`. 0, 1: it cannot be followed. */
static int follow(struct job *j, const struct py_module *task, const struct py_module *source, const char *class_name, struct err *e)
{
	struct host_options o = { .lib = j->lib, .memory = (size_t)1 << 42, .fuel = (int64_t)1 << 40, .hollow = 1, .gpu = j->gpu->name, .tune = 1,
				  .launch = launched, .launch_ctx = j };
	struct host *h = host_new(&o, e);
	struct val ns = { .kind = V_UNSET }, classes, model, inputs, out;
	int rc = h ? host_load(h, task, NULL, 0, &ns, e) : -1;

	estimate_begin(&j->plain, j->gpu, 0, 1);
	estimate_begin(&j->tf32, j->gpu, NUM_TF32_MATMUL, 1);
	classes = ns;
	if (!rc && source != task)
		rc = host_load(h, source, NULL, 0, &classes, e);
	if (!rc)
		rc = host_build(h, ns, classes, class_name, 42, &model, e);
	if (!rc)
		rc = host_to_device(h, model, HOST_CUDA, e);
	if (!rc)
		rc = host_inputs(h, ns, 1, 0, &inputs, e);
	if (!rc)
		rc = host_to_device(h, inputs, HOST_CUDA, e);
	if (!rc) {
		host_set_called(h, called, j);
		rc = host_forward(h, model, inputs, &out, e);
	}
	host_free(h);
	tile_engine_clear(j->engine);
	return rc ? 1 : 0;
}

static void put_followed(struct job *j, const char *name, const struct py_module *task, const struct py_module *source, const char *class_name)
{
	struct err e = ERR_INIT;
	int failed;

	jw_key(&j->w, name);
	jw_begin(&j->w, '{');
	if (j->counts) {
		jw_key(&j->w, "did");
		jw_begin(&j->w, '[');
	}
	failed = follow(j, task, source, class_name, &e);
	if (j->counts)
		jw_end(&j->w, ']');
	put_number(&j->w, "seconds", failed ? 0.0 : estimate_seconds(&j->plain));
	put_number(&j->w, "tf32_seconds", failed ? 0.0 : estimate_seconds(&j->tf32));
	jw_end(&j->w, '}');
}

static void do_row(struct job *j, struct str line)
{
	struct buf out = BUF_INIT;
	struct err e = ERR_INIT;
	struct py_module task, candidate;
	struct json *row = json_parse(line, &e);

	if (!row || py_parse(&task, json_str(json_get(row, "task"), ""), "task", 0, &e))
		return;
	if (!py_parse(&candidate, json_str(json_get(row, "candidate"), ""), "candidate", 0, &e)) {
		j->w = (struct jw){ .out = &out };
		jw_begin(&j->w, '{');
		jw_key(&j->w, "id"), jw_str(&j->w, json_str(json_get(row, "id"), ""));
		put_followed(j, "reference", &task, &task, "Model");
		put_followed(j, "candidate", &task, &candidate, "ModelNew");
		jw_end(&j->w, '}');
		printf("%.*s\n", STR_ARG(buf_str(&out)));
		py_release(&candidate);
	}
	py_release(&task);
	json_free(row);
	buf_release(&out);
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct job j = { .gpu = tile_gpu_find(STR("H200")) };
	struct buf text = BUF_INIT;
	struct str rest;
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--counts"))
			j.counts = 1;
		else if (!strcmp(argv[i], "--gpu") && i + 1 < argc)
			j.gpu = tile_gpu_find(str_of(argv[++i]));
	}
	num_init();
	j.engine = tile_engine_new(&(struct tile_options){ .triton_version = 306, .capability = 90 }, &e);
	j.lib = host_lib_new(&e);
	if (i >= argc || !j.gpu || !j.engine || !j.lib || file_read(argv[i], (size_t)1 << 30, &text, &e)) {
		fprintf(stderr, "speed_estimate [--counts] [--gpu NAME] FILE.jsonl: %s\n", e.text);
		return 2;
	}
	for (rest = buf_str(&text); rest.n;)
		do_row(&j, str_cut(&rest, '\n'));
	buf_release(&text);
	host_lib_free(j.lib);
	tile_engine_free(j.engine);
	return 0;
}
