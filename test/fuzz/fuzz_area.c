/* Bytes as what a hostile runner writes into the memory it shares with the decider: a good report, and
 * pieces of it overwritten. The decider must refuse it or read only what is there, then compare. */
#include "base/mem.h"
#include "verify/funnel/reports.h"
#include "verify/verdict/compare.h"
#include "verify/task/task.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ELEMENTS = 12, PIECE = 16 };

struct side {
	struct shmem *a;
	struct task *t;
	struct orders o;
};

static int open_side(struct side *s)
{
	struct err e = ERR_INIT;
	struct result *r;

	s->a = shmem_new(&e);
	s->t = mem_zalloc(sizeof *s->t);
	if (!s->a || !s->t)
		return -1;
	s->t->image.n_trials = 1;
	s->t->expect[0].expected.n = 1;
	r = &s->t->expect[0].expected.r[0];
	*r = (struct result){ .dt = DT_F32, .ndim = 2, .shape = { 3, 4 }, .n = ELEMENTS, .rel = 1e-6, .rms = 1.0 };
	r->v = mem_zalloc(ELEMENTS * sizeof *r->v);
	s->o = (struct orders){ .n = 1 };
	return r->v ? shmem_set_orders(s->a, &s->o, s->t, &e) : -1;
}

/* What an honest runner writes. */
static void write_honest(struct side *s)
{
	struct run_report *r = &s->a->report[0];

	s->a->start = (struct start_report){ .failed = 0 };
	*r = (struct run_report){ .state = RUN_GAVE, .stage = STAGE_tiny, .n = 1 };
	r->form[0] = (struct run_form){ .dt = DT_F32, .ndim = 2, .shape = { 3, 4 }, .n = ELEMENTS, .at = s->o.v[0].at, .has_values = 1 };
}

/* Each piece: where (three bytes), how much, what. */
static void overwrite(struct side *s, const uint8_t *p, size_t n)
{
	unsigned char *to[] = { (unsigned char *)&s->a->report[0], (unsigned char *)&s->a->start };
	const size_t room[] = { sizeof s->a->report[0], sizeof s->a->start };

	while (n > 4) {
		size_t which = p[0] & 1, at = ((size_t)p[1] << 8 | p[2] | (size_t)(p[0] >> 1) << 16) % room[which];
		size_t len = MIN(MIN((size_t)p[3] % PIECE + 1, n - 4), room[which] - at);

		memcpy(to[which] + at, p + 4, len);
		p += 4 + len;
		n -= 4 + len;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct side s;
	struct err e = ERR_INIT;
	struct start_report start;
	struct run_report out;
	struct results got;
	struct comparison c;

	if (!s.a && open_side(&s))
		return 0;
	write_honest(&s);
	overwrite(&s, data, size);
	shmem_start(s.a, &start);
	if (!shmem_report(s.a, &s.o, 0, &out, &got, &e)) {
		results_compare(&s.t->expect[0].expected, &got, &c);
		results_release(&got);
	}
	return 0;
}
