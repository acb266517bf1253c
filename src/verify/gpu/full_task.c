/* Tasks at full size: see full_task.h. This file runs the reference in our own engine: in fp64 for
 * the expected results, in its own dtypes and with the products that may be tf32 for the
 * tolerances, as verify/task/expect.c does it at test sizes. */
#include "verify/gpu/full_task.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "tensor/safetensors.h"
#include "verify/candidate/dry_run.h"
#include "verify/gpu/torch_process.h"

/* The most work of a reference that our engine does, in about nanoseconds of a core, and the most
 * bytes of one tensor. */
#define WORK_MOST 20000000000
#define BYTES_MOST ((int64_t)1 << 31)

/* Tensors of the file with the inputs. Names and data live in the arena. */
struct collected {
	struct { struct st_entry *v; size_t n, cap; } list;
	struct arena arena;
	const char *group;          /* "input.0." or "weight." */
	struct err *e;
};

static int collect(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct collected *c = ctx;
	struct st_entry x = { .dt = obj->t.dt, .ndim = obj->t.ndim };
	size_t bytes = (size_t)tensor_numel(&obj->t) * (size_t)dtype_size(obj->t.dt);
	size_t len = strlen(c->group) + name.n + 1;
	char *text = arena_alloc(&c->arena, len), *data = arena_alloc(&c->arena, bytes + 1);
	struct tensor dense;

	if (!text || !data)
		return err_nomem(c->e);
	if (tensor_contiguous(&dense, &obj->t, c->e))
		return -1;
	memcpy(data, tensor_data(&dense), bytes);
	tensor_release(&dense);
	snprintf(text, len, "%s%.*s", c->group, STR_ARG(name));
	x.name = text;
	x.data = data;
	memcpy(x.shape, obj->t.shape, sizeof x.shape);
	return vec_push(&c->list, x) ? err_nomem(c->e) : 0;
}

/* Writes the collected tensors to a file in memory. */
static int write_inputs(struct full_task *t, const struct collected *c, struct err *e)
{
	struct st_write w = { .entries = c->list.v, .n = c->list.n };
	struct buf bytes = BUF_INIT;
	int rc = st_write_bytes(&bytes, &w, e);

	if (!rc) {
		t->inputs_fd = memfd_create("tritonrl-inputs", MFD_CLOEXEC);
		rc = t->inputs_fd < 0 ? err_errno(e, "cannot make memory for inputs") :
			file_write_all(t->inputs_fd, bytes.p, bytes.n, e);
	}
	buf_release(&bytes);
	return rc;
}

/* --- the reference -------------------------------------------------------------------------- */

/* The reference in its own dtypes and in fp64. */
struct references {
	struct world own, oracle;
	struct task_weights weights;
	int64_t sum;                /* terms of the longest sum */
	int products_close;         /* all products may be tf32 where KernelBench's rule does not see it */
};

/* One call on the inputs of a set. Returns 0, 1 if the reference fails, -1 on our own failure. */
static int call(struct world *w, enum run_mode mode, uint64_t seed, struct results *out, struct collected *c,
		struct err *e)
{
	const struct trial drawn = { .dt = DT_F32, .seed = seed };
	struct val inputs, result;
	int rc = world_renew(w, &drawn, mode, e);

	*out = (struct results){ .n = 0 };
	if (!rc)
		rc = world_draw(w, &drawn, seed, &inputs, e);
	if (rc)
		return rc;
	if (c)
		rc = host_tensors(w->h, inputs, collect, c) ? -1 : 0;
	host_ops_clear(w->h);
	if (!rc)
		rc = host_forward(w->h, w->model, inputs, &result, e);
	if (!rc) {
		rc = results_take(out, w->h, result, inputs, e);
		world_drop(w, result);
	}
	world_drop(w, inputs);
	return rc;
}

static int64_t longest_sum(struct host *h)
{
	struct host_ops ops = host_ops(h);
	int64_t most = 1;

	for (size_t i = 0; i < ops.n; i++)
		most = MAX(most, ops.v[i].sum);
	return most;
}

/* Operations of the matrix products and convolutions of the last call. */
static double product_flops(struct host *h)
{
	struct host_work w = host_work(host_ops(h));

	return (double)(w.flops - w.plain);
}

/* Sets the tolerances of the expected results from two other runs of the reference. */
void full_task_tolerate(struct results *expected, const struct results *own, const struct results *products,
			const struct results *close, int64_t sum)
{
	struct rounding by = { .dt = own->n && own->r[0].dt == DT_F64 ? DT_F64 : DT_F32,
			       .plain = results_distance(own, expected, DISTANCE_RESULTS), .sum = sum };

	if (products->n)
		by.products = results_distance(products, expected, DISTANCE_RESULTS);
	if (close->n)
		by.close = results_distance(close, expected, DISTANCE_RESULTS);
	results_note_inexact(expected, own);
	results_allow_zero(expected, own);
	results_set_tolerance(expected, &by, &by);
	for (int i = 0; i < MIN(expected->n, own->n); i++)
		expected->r[i].dt = own->r[i].dt;
}

/* The expected results of one set, and its inputs for the file. */
static int expect_set(struct full_task *t, struct references *r, int set, uint64_t seed, struct collected *c,
		      struct err *e)
{
	struct results own = { .n = 0 }, products = { .n = 0 }, close = { .n = 0 };
	char group[24];
	int rc;

	snprintf(group, sizeof group, "input.%d.", set);
	c->group = group;
	rc = call(&r->own, RUN_OWN, seed, &own, c, e);
	r->sum = !rc ? longest_sum(r->own.h) : 1;
	if (!rc)
		t->flops = product_flops(r->own.h);
	if (!rc)
		rc = call(&r->own, RUN_ALLOWED, seed, &products, NULL, e);
	if (!rc && r->products_close)
		rc = call(&r->own, RUN_CLOSE, seed, &close, NULL, e);
	if (!rc)
		rc = call(&r->oracle, RUN_ORACLE, seed, &t->expected[set], NULL, e);
	if (!rc && !results_note_overflow(&t->expected[set], &own, e))
		full_task_tolerate(&t->expected[set], &own, &products, &close, r->sum);
	results_release(&own);
	results_release(&products);
	results_release(&close);
	return rc;
}

static int open_references(struct references *r, struct judge *j, const struct program *p, struct err *e)
{
	char how[16];
	int rc = world_open(&r->own, j, p, 0, NULL, e);

	if (!rc)
		rc = weights_take(&r->weights, r->own.h, r->own.model, e);
	if (!rc)
		rc = world_open(&r->oracle, j, p, 1, NULL, e);
	return rc ? rc : weights_put(&r->weights, 0, r->oracle.h, r->oracle.model, how, e);
}

/* All sets. Inputs of other sets have other seeds; the weights are those of the constructor. */
static int expect_all(struct full_task *t, struct judge *j, const struct program *p, struct err *e)
{
	struct references r = { .sum = 1, .products_close = judge_options(j)->precision == PRECISION_TORCH };
	struct collected c = { .e = e, .group = "weight." };
	uint64_t seed = judge_options(j)->seed;
	int rc = open_references(&r, j, p, e);

	if (!rc)
		rc = host_state(r.own.h, r.own.model, collect, &c) ? -1 : 0;
	for (t->sets = 0; t->sets < FULL_TASK_SETS && !rc; t->sets++)
		rc = expect_set(t, &r, t->sets, seed + 7919 * (uint64_t)t->sets, &c, e);
	if (rc > 0)
		snprintf(t->why, sizeof t->why, "the reference fails at full size: %.200s",
			 host_diag(r.own.h ? r.own.h : r.oracle.h)->text);
	if (!rc)
		rc = write_inputs(t, &c, e);
	vec_free(&c.list);
	arena_release(&c.arena);
	weights_release(&r.weights);
	world_close(&r.own);
	world_close(&r.oracle);
	return rc < 0 ? -1 : 0;
}

/* Is the reference small enough for our engine? If not, t->why says so. */
static int is_small(struct full_task *t, const struct dry_run_cost *cost)
{
	if (cost->work <= WORK_MOST && cost->largest <= BYTES_MOST && cost->given <= BYTES_MOST)
		return 1;
	snprintf(t->why, sizeof t->why,
		 "the reference is too large at full size for this program's own engine; PyTorch is needed");
	return 0;
}

/* Bytes of the inputs of the first set. */
static int64_t input_bytes(int fd)
{
	off_t n = lseek(fd, 0, SEEK_END);
	void *p = n > 0 ? mmap(NULL, (size_t)n, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
	struct str all = { .p = p, .n = (size_t)n };
	struct st_file *f = p == MAP_FAILED ? NULL : st_open_bytes(all, "inputs", NULL);
	int64_t bytes = 0;

	for (size_t i = 0; f && i < st_count(f); i++)
		if (str_starts(str_of(st_at(f, i)->name), "input.0."))
			bytes += (int64_t)st_at(f, i)->bytes;
	st_close(f);
	if (p != MAP_FAILED)
		munmap(p, (size_t)n);
	return bytes;
}

/* The bytes that every program must move: the part of each input that the reference reads at the
 * least, and all results. */
static int64_t least_bytes(const struct full_task *t, double least_read)
{
	int64_t bytes = (int64_t)(least_read * (double)input_bytes(t->inputs_fd));

	for (int i = 0; i < t->expected[0].n; i++)
		bytes += t->expected[0].r[i].n * dtype_size(t->expected[0].r[i].dt);
	return bytes;
}

uint64_t full_task_hash(struct str source, int eval_mode)
{
	return hash_xxh64(source.p, source.n, (uint64_t)eval_mode) | 1;
}

int full_task_open(struct full_task *t, struct judge *j, struct torch_process *torch, struct str source, int eval_mode,
		   struct err *e)
{
	struct program p = { .class_name = "Model", .eval_mode = eval_mode };
	struct dry_run_cost cost = { .work = 0 };
	struct py_module module;
	int rc;

	*t = (struct full_task){ .hash = full_task_hash(source, eval_mode), .inputs_fd = -1 };
	if (py_parse(&module, source, "task", 0, e)) {
		snprintf(t->why, sizeof t->why, "the task cannot be parsed: %.200s", e->text);
		err_clear(e);
		return 0;
	}
	p.task = p.source = &module;
	rc = dry_run_reference(j, &p, NULL, 0, &cost, e) < 0 ? -1 : 0;
	if (!rc && torch && torch_process_is_there(torch)) {
		rc = torch_process_prepare(torch, t, source, eval_mode, judge_options(j), e);
	} else if (!rc && is_small(t, &cost)) {
		snprintf(t->source, sizeof t->source, "engine");
		rc = expect_all(t, j, &p, e);
	}
	py_release(&module);
	if (!rc && !t->why[0])
		t->bytes = least_bytes(t, cost.least_read);
	return rc;
}

void full_task_release(struct full_task *t)
{
	for (int i = 0; i < FULL_TASK_SETS; i++)
		results_release(&t->expected[i]);
	if (t->inputs_fd >= 0)
		close(t->inputs_fd);
	*t = (struct full_task){ .inputs_fd = -1 };
}
