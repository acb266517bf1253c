/* Following a program without contents: see follow.h. */
#include "verify/follow.h"

#include "base/hash.h"
#include "num/num.h"
#include "verify/estimate.h"

int follow_launch(struct host_path *path, const struct tile_code *code, const struct tile_launch *l, struct err *e)
{
	struct buf text = BUF_INIT;
	uint64_t mark;

	tile_print(code, &text);
	if (buf_check(&text, e)) {
		buf_release(&text);
		return -1;
	}
	mark = hash_xxh64(text.p, text.n, 0) & ~(uint64_t)0xff;
	buf_release(&text);
	host_path_mark(path, mark);
	for (int i = 0; i < 3; i++)
		if (l->grid[i] > 1)
			host_path_mark(path, mark | (uint64_t)(i + 2));
	return 0;
}

/* What a run moves and computes, in about nanoseconds of a core. */
static int64_t work_of(struct host *h)
{
	struct host_ops ops = host_ops(h);
	double sum = 0.0;

	for (size_t i = 0; i < ops.n; i++)
		sum += (double)ops.v[i].bytes + (double)ops.v[i].flops / 8.0;
	return sum < 1e18 ? (int64_t)sum : INT64_MAX;
}

/* The products that the reference is taken to form in tf32 when it is timed. */
static unsigned timed_in_tf32(const struct judge *j, const struct run_order *o)
{
	return o->follow == FOLLOW_REFERENCE && judge_options(j)->precision == PRECISION_TF32 ? NUM_TF32_MATMUL : 0;
}

/* Calls the model; with an estimate of its time, if that is asked for: then autotuned kernels try all they have. */
static int forward(struct world *w, struct launcher *launch, const struct run_order *o, struct val inputs, struct run_report *out, struct err *e)
{
	struct estimate estimate;
	struct val result;
	int rc;

	estimate_begin(&estimate, launch->gpu, timed_in_tf32(w->judge, o));
	launch->estimate = o->estimate && launch->gpu ? &estimate : NULL;
	host_set_called(w->h, launch->estimate ? estimate_call : NULL, &estimate);
	rc = host_forward(w->h, w->model, inputs, &result, e);
	host_set_called(w->h, NULL, NULL);
	out->out.seconds = !rc && launch->estimate ? estimate_seconds(&estimate) : 0.0;
	launch->estimate = NULL;
	return rc;
}

static int call(struct world *w, struct launcher *launch, const struct run_order *o, struct run_report *out, struct err *e)
{
	const struct trial drawn = { .dt = DT_F32 };
	struct val inputs;
	int rc;

	launch->tune = o->estimate;
	rc = world_renew(w, &drawn, RUN_OWN, e);
	if (!rc)
		rc = world_draw(w, &drawn, 1, &inputs, e);
	if (rc)
		return rc;
	host_ops_clear(w->h);
	host_follow(w->h, &out->path);
	launch->path = &out->path;
	rc = forward(w, launch, o, inputs, out, e);
	launch->path = NULL;
	host_follow(w->h, NULL);
	out->work = work_of(w->h);
	return rc;
}

int follow_program(struct judge *j, const struct task *t, const struct program *candidate, struct launcher *launch, const struct run_order *o,
		   struct run_report *out, struct err *e)
{
	struct host_override ov[TASK_SIZES];
	struct program p = *candidate;
	struct world w;
	int rc;

	for (size_t i = 0; i < t->n_all; i++)
		ov[i] = (struct host_override){ .name = t->size[i].name, .value = o->size[i] };
	if (o->follow == FOLLOW_REFERENCE) {
		p.source = p.task;
		p.class_name = "Model";
	}
	p.ov = ov;
	p.n_ov = t->n_all;
	p.hollow = 1;
	rc = world_open(&w, j, &p, 0, launch, e);
	if (!rc)
		rc = call(&w, launch, o, out, e);
	if (rc > 0) {
		out->refused = launch->refused;
		out->stage = STAGE_compile;
		out->diag = launch->refused || launch->faulted ? launch->diag : *host_diag(w.h);
	}
	world_close(&w);
	return rc;
}
