/* A whole judgement with a hostile runner. The runner of this test knows what is expected, so its honest reports lead through
 * every stage: the choice of sizes, the input sets, the programs at the task's own sizes, what lies behind a test on sizes. The
 * bytes of the input are written over those reports, before each answer. The decider must come to a verdict, or fail in words. */
#include <stddef.h>

#include "base/mem.h"
#include "tensor/sparse.h"
#include "verify/task/sized_tasks.h"
#include "verify/funnel/funnel.h"
#include "verify/funnel/judgement.h"
#include "verify/task/prepared.h"
#include "verify/task/sized_tasks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PIECE = 16, PLACES = 8, MARKS = 3, STOP = 0xff };

static const char task_text[] =
	"import torch\nimport torch.nn as nn\n"
	"class Model(nn.Module):\n"
	"    def __init__(self):\n        super().__init__()\n"
	"    def forward(self, x):\n        return torch.relu(x) * 2.0\n"
	"N = 1048576\n"
	"def get_inputs():\n    return [torch.randn(N)]\n"
	"def get_init_inputs():\n    return []\n";

struct hostile {
	struct runner_link link;
	const struct task *t;
	const uint8_t *p;             /* what is left of the input */
	size_t n;
};

/* --- what an honest runner would say -------------------------------------------------------------------- */

static void give_cost(struct outcome *o)
{
	*o = (struct outcome){ .seconds = 1e-3, .launches = 1 };
	o->cost.launches = 1;
	o->cost.ops_f32 = 1000;
}

static void give_path(struct host_path *p)
{
	for (p->n = 0; p->n < MARKS; p->n++)
		p->mark[p->n] = (uint64_t)(p->n + 1) << 16 | (p->n ? PATH_KERNEL_TEST : PATH_HOST_TEST);
}

static void give_values(struct shmem *a, int i, const struct results *want)
{
	struct run_report *r = &a->report[i];
	uint64_t at = a->order[i].at;

	memcpy(r->nesting, want->form, sizeof r->nesting);
	for (r->n = 0; r->n < want->n; r->n++) {
		const struct result *w = &want->r[r->n];
		float *to = (float *)((char *)a + at);

		r->form[r->n] = (struct run_form){ .dt = (int)w->dt, .ndim = w->ndim, .n = w->n, .at = at, .has_values = 1 };
		memcpy(r->form[r->n].shape, w->shape, sizeof w->shape);
		for (int64_t k = 0; k < w->n; k++)
			to[k] = a->order[i].idle ? 0.0f : (float)w->v[k];
		at += (uint64_t)w->n * 8;
	}
}

/* The first elements at the task's own size. */
static void give_part(struct shmem *a, int i, const struct task *t)
{
	const struct run_order *o = &a->order[i];
	const struct result *w = &t->expect[o->trial].expected.r[0];
	struct run_report *r = &a->report[i];
	int64_t *place = (int64_t *)((char *)a + o->at);
	float *value = (float *)(place + PLACES);

	r->programs = 1;
	r->n_parts = 1;
	r->part[0] = (struct run_part){ .dt = DT_F32, .ndim = 1, .shape = { o->size[0] }, .n = PLACES, .at = o->at };
	for (int k = 0; k < PLACES; k++) {
		place[k] = k;
		value[k] = t->reduced.indices ? (float)w->v[sparse_index(k, t->reduced.indices, o->map.seed)] : 0.0f;
	}
}

static void give_honest(struct shmem *a, int i, const struct task *t)
{
	const struct run_order *o = &a->order[i];
	struct run_report *r = &a->report[i];

	*r = (struct run_report){ .state = RUN_GAVE, .stage = STAGE_tiny };
	give_cost(&r->out);
	if (o->dry_run || o->note_tests)
		give_path(&r->path);
	r->work = o->dry_run ? o->size[0] : 0;
	if (o->sample)
		give_part(a, i, t);
	else if (!o->dry_run)
		give_values(a, i, &t->expect[o->trial].expected);
}

/* --- and what this one says ------------------------------------------------------------------------------- */

/* Each piece: which report (or the start), where, how much, what. A piece that is a stop leaves the rest for later answers. */
static void overwrite(struct hostile *h)
{
	struct shmem *a = h->link.shmem;

	while (h->n > 5 && h->p[0] != STOP) {
		size_t which = h->p[0] % ((size_t)a->n_orders + 1), start = which == (size_t)a->n_orders;
		unsigned char *to = start ? (unsigned char *)&a->start : (unsigned char *)&a->report[which];
		size_t room = start ? sizeof a->start : sizeof a->report[0];
		size_t at = ((size_t)h->p[1] << 16 | (size_t)h->p[2] << 8 | h->p[3]) % room;
		size_t len = MIN(MIN((size_t)h->p[4] % PIECE + 1, h->n - 5), room - at);

		memcpy(to + at, h->p + 5, len);
		h->p += 5 + len;
		h->n -= 5 + len;
	}
	if (h->n && h->p[0] == STOP) {
		h->p++;
		h->n--;
	}
}

/* A real runner gets the image alone. This one must begin with honest answers, so it goes from the
 * image to the task around it, which holds the expected results. */
static int hostile_start(struct runner_link *l, const struct task_image *image, struct err *e)
{
	struct hostile *h = (struct hostile *)l;

	(void)e;
	h->t = (const struct task *)((const char *)image - offsetof(struct task, image));
	l->shmem->start = (struct start_report){ .failed = 0 };
	return 0;
}

static int hostile_ask(struct runner_link *l, enum lost *how, struct err *e)
{
	struct hostile *h = (struct hostile *)l;

	(void)how, (void)e;
	for (int i = 0; i < l->shmem->n_orders; i++)
		give_honest(l->shmem, i, h->t);
	overwrite(h);
	return 0;
}

static void hostile_end(struct runner_link *l)
{
	(void)l;
}

/* --- tasks made ready, kept: a judgement would spend its time on them ----------------------------------------- */

static struct { char key[PREPARED_KEY]; struct buf bytes; } kept[64];
static size_t n_kept;

static int get_kept(void *ctx, const char *key, char **bytes, size_t *n)
{
	(void)ctx;
	for (size_t i = 0; i < n_kept; i++) {
		if (strcmp(kept[i].key, key))
			continue;
		*n = kept[i].bytes.n;
		*bytes = mem_alloc_aligned(*n, PREPARED_ALIGN);
		BUG_ON(!*bytes);
		memcpy(*bytes, kept[i].bytes.p, *n);
		return 0;
	}
	return 1;
}

static void put_kept(void *ctx, const char *key, struct str bytes)
{
	(void)ctx;
	if (n_kept == COUNT_OF(kept))
		return;
	memcpy(kept[n_kept].key, key, PREPARED_KEY);
	buf_addstr(&kept[n_kept++].bytes, bytes);
}

static struct judge *open_judge(void)
{
	static const struct judge_options o = JUDGE_DEFAULTS;
	static const struct prepared_store store = { .get = get_kept, .put = put_kept };
	struct err e = ERR_INIT;
	struct judge *j = judge_new(&o, &e);

	BUG_ON(!j);
	judge_set_store(j, &store);
	return j;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hostile h = { .link = { .start = hostile_start, .ask = hostile_ask, .end = hostile_end } };
	static struct judge *j;
	static struct task *t;
	struct err e = ERR_INIT;
	struct verdict v;

	if (!j) {
		j = open_judge();
		h.link.shmem = shmem_new(&e);
		t = task_open(j, str_of(task_text), "task", &e);
		judge_set_link(j, &h.link);
	}
	BUG_ON(!h.link.shmem || !t || task_problem(t)->reason != REASON_ok);
	h.p = data;
	h.n = size;
	sized_tasks_free(t->sized_tasks);
	t->sized_tasks = sized_tasks_new();
	if (judge_candidate(j, t, STR("a candidate that is never read"), &v, &e))
		BUG_ON(e.code == ERR_NONE);
	else
		BUG_ON(size == 0 && !v.correct);
	return 0;
}
