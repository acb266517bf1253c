/* host_run TASK.py OUT.safetensors SEED [WORD...]: builds the task's Model under SEED, draws its
 * inputs, runs forward, and writes input.*, state.* and output.* for comparison with PyTorch ("-":
 * nowhere). One JSON line on stdout says what was done. Words:
 *   shrink[=N]   sizes of the inputs: the first rung of a ladder, from N, at which the reference runs
 *   NAME=VALUE   a constant of the module replaced
 *   memory=MB    limit of tensors and objects
 *   threads=N    of the engine
 *   oracle       every float is kept in fp64
 *   time         forward again and again: forward_ms is the least time of a call */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "host/host.h"
#include "host/shrink.h"
#include "num/num.h"
#include "tensor/safetensors.h"

enum { OVERRIDES = 32 };

struct run {
	struct py_module m;
	struct host_lib *lib;
	struct pool *pool;
	struct host_override ov[OVERRIDES];
	size_t n_ov;
	uint64_t seed;
	int oracle, shrink, timing;
	int64_t rung, memory, threads;
	struct host *h;
	struct val ns, model, inputs, out;
	int64_t build_ns, forward_ns;
};

/* Of one thread processor time, because the machine may be shared. */
static int64_t now_ns(const struct run *r)
{
	struct timespec t;
	clock_gettime(r->threads > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int forward(struct run *r, struct err *e)
{
	struct val copy;
	int rc = host_copy(r->h, r->inputs, &copy, e);
	int64_t t0 = now_ns(r);
	if (!rc)
		rc = host_forward(r->h, r->model, copy, &r->out, e);
	t0 = now_ns(r) - t0;
	r->forward_ns = r->forward_ns ? MIN(r->forward_ns, t0) : t0;
	val_drop(r->h, copy);
	return rc;
}

/* At least five calls and 300 ms of them, at most 3 s. */
static int time_forward(struct run *r, struct err *e)
{
	int64_t begin = now_ns(r), spent = 0;
	for (int i = 0; (i < 5 || spent < 300000000) && spent < (int64_t)3e9; i++) {
		int rc;

		val_drop(r->h, r->out);
		rc = forward(r, e);
		if (rc)
			return rc;
		spent = now_ns(r) - begin;
	}
	return 0;
}

static int run_once(struct run *r, struct err *e)
{
	struct host_options o = { .lib = r->lib, .memory = (size_t)r->memory << 20, .fuel = (int64_t)1 << 50,
				  .pool = r->pool, .oracle = r->oracle, .is_reference = 1, .may_mix = 1 };
	int64_t t0;
	int rc;

	host_free(r->h);
	r->h = host_new(&o, e);
	if (!r->h)
		return -1;
	t0 = now_ns(r);
	rc = host_load(r->h, &r->m, r->ov, r->n_ov, &r->ns, e);
	if (!rc)
		rc = host_build(r->h, r->ns, r->ns, "Model", r->seed, &r->model, e);
	if (!rc)
		rc = host_eval_mode(r->h, r->model, e);
	if (!rc)
		rc = host_inputs(r->h, r->ns, r->seed, 0, &r->inputs, e);
	r->build_ns = now_ns(r) - t0;
	r->forward_ns = 0;
	return rc ? rc : forward(r, e);
}

/* The smallest rung at which the reference runs; 0: at its own size. */
static int shrink(struct run *r, struct err *e)
{
	enum { RUNGS = 8 };
	static const int64_t rung[RUNGS] = { 4, 8, 16, 32, 64, 128, 256, 512 };
	struct shrink_const c[OVERRIDES], all[OVERRIDES];
	size_t fixed = r->n_ov, found = shrink_find(&r->m, all, OVERRIDES), n = 0;
	for (size_t i = 0; i < found && i < OVERRIDES && fixed + n < OVERRIDES; i++) {
		int given = 0;
		for (size_t k = 0; k < fixed; k++)
			given |= str_eq(r->ov[k].name, all[i].name);
		if (!given)
			c[n++] = all[i];
	}
	r->n_ov = fixed + n;
	for (size_t k = 0; k < 2 * RUNGS && n; k++) {
		int rc;

		if (rung[k % RUNGS] < r->rung)
			continue;
		for (size_t i = 0; i < n; i++) {
			int64_t size = rung[k % RUNGS];
			int alike = k >= RUNGS;      /* constants that must be equal */
			int64_t want = alike ? size : str_find(c[i].name, STR("batch")) >= 0 ? 2 : size + (int64_t)i % 2;
			r->ov[fixed + i] = (struct host_override){ .name = c[i].name, .value = MIN(want, c[i].value) };
		}
		rc = run_once(r, e);
		if (rc <= 0 || host_diag(r->h)->reason == REASON_out_of_memory)      /* larger inputs take more */
			return rc;
	}
	r->n_ov = fixed;
	return run_once(r, e);
}

/* --- writing ------------------------------------------------------------------------------------ */

struct collect {
	struct { struct st_entry *v; size_t n, cap; } entries;
	const char *prefix;
};

static int collect(void *ctx, struct str name, struct tensor_obj *t)
{
	struct collect *c = ctx;
	struct tensor dense;
	struct err e = ERR_INIT;
	struct buf b = BUF_INIT;
	struct st_entry en;

	if (tensor_contiguous(&dense, &t->t, &e))
		return -1;
	buf_addf(&b, "%s%s%.*s", c->prefix, name.n ? "." : "", STR_ARG(name));
	en = (struct st_entry){ .name = buf_take(&b), .dt = dense.dt, .ndim = dense.ndim, .data = tensor_data(&dense) };
	for (int i = 0; i < dense.ndim; i++)
		en.shape[i] = dense.shape[i];
	return vec_push(&c->entries, en);
}

static int save(struct run *r, const char *path, struct err *e)
{
	struct collect c = { .prefix = "input" };
	struct st_write w;
	struct val fresh = r->model;

	if (host_tensors(r->h, r->inputs, collect, &c))
		return err_set(e, ERR_STATE, "collecting inputs");
	/* The state as built: forward may have changed buffers. A model too large for a second one is
	 * taken as it is. */
	if (host_build(r->h, r->ns, r->ns, "Model", r->seed, &fresh, e))
		fresh = r->model;
	c.prefix = "state";
	if (host_state(r->h, fresh, collect, &c))
		return err_set(e, ERR_STATE, "collecting state");
	c.prefix = "output";
	if (host_tensors(r->h, r->out, collect, &c))
		return err_set(e, ERR_STATE, "collecting outputs");
	w = (struct st_write){ .entries = c.entries.v, .n = c.entries.n };
	return st_write_file(path, &w, e);
}

static void report(const struct run *r, int rc, const struct err *e)
{
	struct buf b = BUF_INIT;
	struct jw w = { .out = &b };
	jw_begin(&w, '{');
	jw_key(&w, "status");
	jw_cstr(&w, rc < 0 ? "error" : rc > 0 ? reason_code(host_diag(r->h)->reason) : "ok");
	jw_key(&w, "text");
	jw_cstr(&w, rc < 0 ? e->text : rc > 0 ? host_diag(r->h)->text : "");
	jw_key(&w, "line");
	jw_int(&w, rc > 0 ? host_diag(r->h)->line : 0);
	jw_key(&w, "overrides");
	jw_begin(&w, '{');
	for (size_t i = 0; i < r->n_ov; i++) {
		jw_keystr(&w, r->ov[i].name);
		jw_int(&w, r->ov[i].value);
	}
	jw_end(&w, '}');
	jw_key(&w, "build_ms");
	jw_real(&w, (double)r->build_ns * 1e-6);
	jw_key(&w, "forward_ms");
	jw_real(&w, (double)r->forward_ns * 1e-6);
	jw_end(&w, '}');
	puts(buf_cstr(&b));
	buf_release(&b);
}

static int parse_words(struct run *r, int argc, char **argv)
{
	struct { const char *name; int *flag; int64_t *value; } words[] = {
		{ "shrink", &r->shrink, &r->rung }, { "oracle", &r->oracle, NULL }, { "time", &r->timing, NULL },
		{ "memory", NULL, &r->memory }, { "threads", NULL, &r->threads },
	};
	for (int i = 4; i < argc && r->n_ov < OVERRIDES; i++) {
		struct str value = str_of(argv[i]), name = str_cut(&value, '=');
		struct host_override *ov = &r->ov[r->n_ov];
		int64_t *into = NULL;
		int known = 0;
		for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
			if (!str_is(name, words[k].name))
				continue;
			known = 1;
			into = words[k].value;
			if (words[k].flag)
				*words[k].flag = 1;
		}
		if (!known) {
			ov->name = name;
			into = &ov->value;
			r->n_ov++;
		}
		if (value.n && (!into || str_to_i64(value, into)))
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct buf src = BUF_INIT;
	struct run r = { .h = NULL, .memory = 8192, .threads = 1 };
	int rc;

	if (argc < 4 || parse_words(&r, argc, argv) || file_read(argv[1], 0, &src, &e) || py_parse(&r.m, buf_str(&src), argv[1], 0, &e)) {
		fprintf(stderr, "usage: host_run TASK.py OUT SEED [shrink[=N]] [oracle] [time] [memory=MB] [threads=N] [NAME=VALUE...] %s\n", e.text);
		return 2;
	}
	num_init();
	r.seed = strtoull(argv[3], NULL, 10);
	r.lib = host_lib_new(&e);
	r.pool = pool_new((int)r.threads, &e);
	rc = r.shrink ? shrink(&r, &e) : run_once(&r, &e);
	if (!rc && r.timing)
		rc = time_forward(&r, &e);
	if (!rc && strcmp(argv[2], "-") != 0)
		rc = save(&r, argv[2], &e);
	report(&r, rc, &e);
	fflush(stdout);
	host_free(r.h);
	host_lib_free(r.lib);
	pool_free(r.pool);
	py_release(&r.m);
	buf_release(&src);
	return rc ? 1 : 0;
}
