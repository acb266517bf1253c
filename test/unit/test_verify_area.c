/* What a runner writes into the shared memory is hostile: every field of a report set to anything is
 * either refused or harmless, and no result is read from outside its room. */
#include "check.h"

#include <math.h>

#include "base/rng.h"
#include "verify/funnel/reports.h"
#include "verify/task/task.h"

enum { ELEMENTS = 12 };

struct fixture {
	struct shmem *a;
	struct task *t;
	struct orders o;
};

static void open_fixture(struct fixture *f)
{
	struct err e = ERR_INIT;

	f->a = shmem_new(&e);
	f->t = mem_zalloc(sizeof *f->t);
	assert_non_null(f->a);
	assert_non_null(f->t);
	f->t->image.n_trials = 1;
	f->t->expect[0].expected.n = 1;
	f->t->expect[0].expected.r[0].n = ELEMENTS;
	f->o = (struct orders){ .n = 1 };
	assert_int_equal(shmem_set_orders(f->a, &f->o, f->t, &e), 0);
}

static void close_fixture(struct fixture *f)
{
	shmem_free(f->a);
	mem_free(f->t);
}

/* A report that an honest runner would give. */
static struct run_report *honest(struct fixture *f)
{
	struct run_report *r = &f->a->report[0];
	float *v = (float *)((char *)f->a + f->o.v[0].at);

	*r = (struct run_report){ .state = RUN_GAVE, .stage = STAGE_tiny, .n = 1 };
	r->form[0] = (struct run_form){ .dt = DT_F32, .ndim = 2, .shape = { 3, 4 }, .n = ELEMENTS, .at = f->o.v[0].at, .has_values = 1 };
	for (int i = 0; i < ELEMENTS; i++)
		v[i] = (float)i;
	return r;
}

/* What the decider makes of it: the sum of what it read, NAN: nothing. */
static int take(struct fixture *f, double *sum)
{
	struct err e = ERR_INIT;
	struct run_report out;
	struct results got;
	int rc = shmem_report(f->a, &f->o, 0, &out, &got, &e);

	*sum = 0.0;
	for (int i = 0; !rc && i < got.n; i++)
		for (int64_t k = 0; got.r[i].v && k < got.r[i].n; k++)
			*sum += got.r[i].v[k];
	if (!rc)
		results_release(&got);
	return rc;
}

static void honest_report(void **state)
{
	struct fixture f;
	double sum;

	(void)state;
	open_fixture(&f);
	honest(&f);
	assert_int_equal(take(&f, &sum), 0);
	assert_true(fabs(sum - 66.0) < 1e-9);
	close_fixture(&f);
}

static void hostile_reports(void **state)
{
	struct fixture f;
	struct run_report *r;
	double sum;

	(void)state;
	open_fixture(&f);
#define REFUSED(change) do { r = honest(&f); change; assert_int_equal(take(&f, &sum), 1); } while (0)
	REFUSED(r->state = RUN_STATES);
	REFUSED(r->stage = -1);
	REFUSED(r->n = RESULTS_MOST + 1);
	REFUSED(r->n = -1);
	REFUSED(r->form[0].dt = DTYPES);
	REFUSED(r->form[0].ndim = TENSOR_DIMS + 1);
	REFUSED(r->form[0].shape[0] = -3);
	REFUSED(r->form[0].n = 1000);
	REFUSED((r->form[0].shape[0] = INT64_MAX, r->form[0].n = -4));
	REFUSED((r->form[0].shape[0] = (int64_t)1 << 32, r->form[0].shape[1] = (int64_t)1 << 32, r->form[0].n = 0));
	REFUSED((r->form[0].shape[0] = 1 << 20, r->form[0].n = 4 << 20));
	REFUSED(r->form[0].at = 0);
	REFUSED(r->form[0].at = UINT64_MAX);
	REFUSED(r->form[0].at += f.o.v[0].room - 4);
	REFUSED(memset(r->form[0].name, 'x', sizeof r->form[0].name));
	REFUSED(memset(r->nesting, 'x', sizeof r->nesting));
	REFUSED(r->diag.reason = REASONS);
	REFUSED(memset(r->diag.text, 'x', sizeof r->diag.text));
	REFUSED(r->out.cost.launches = -1);
	REFUSED(r->out.seconds = NAN);
	REFUSED((r->state = RUN_FAILED, r->diag.reason = REASON_ok));
	REFUSED(r->path.n = HOST_PATH + 1);
	REFUSED(r->path.n = -1);
	REFUSED(r->err.code = ERR_STATE + 1);
	/* Counts that add up to more than there is, and a time that makes a speed-up infinite. */
	REFUSED(r->out.cost.bytes_loaded = INT64_MAX);
	REFUSED(r->out.seconds = 1e-320);
	/* Results that lie in the same bytes would be as many times as large here. */
	REFUSED((r->form[1] = r->form[0], r->n = 2));
	REFUSED((r->n_parts = 1, r->part[0].ndim = TENSOR_DIMS + 1));
	REFUSED((r->n_parts = 1, r->part[0].dt = DTYPES));
	REFUSED((r->n_parts = 1, r->part[0].n = -1));
	REFUSED((r->n_parts = 1, r->part[0].blank = -1));
	REFUSED((r->reads.n = READS_MOST + 1));
	REFUSED((r->reads.n = -1));
	REFUSED((r->reads.launches = -1));
	REFUSED((r->reads.left = CONSTANT_ANSWERS));
	REFUSED((r->reads.left = -1));
	REFUSED((r->reads.n = 1, r->reads.v[0].what = -1));
	REFUSED((r->reads.n = 1, r->reads.v[0].whole = -1));
	REFUSED((r->reads.n = 1, r->reads.v[0].share = NAN));
	REFUSED((r->reads.n = 1, r->reads.v[0].share = -0.5));
	REFUSED((r->constant.n = RESULTS_MOST + 1));
	REFUSED((r->constant.n = -1));
	REFUSED((r->n_parts = 1, r->part[0].ndim = 1, r->part[0].shape[0] = -1));
	/* What was followed has no results. */
	f.o.v[0].dry_run = DRY_RUN_CANDIDATE;
	REFUSED(r->n = 1);
	f.o.v[0].dry_run = DRY_RUN_NOT;
	/* The area's own orders are not believed. */
	honest(&f);
	f.a->order[0].room = UINT64_MAX;
	f.a->report[0].form[0].at = 0;
	assert_int_equal(take(&f, &sum), 1);
	close_fixture(&f);
}

static void hostile_start(void **state)
{
	struct fixture f;
	struct start_report out;

	(void)state;
	open_fixture(&f);
	f.a->start = (struct start_report){ .ms = 1.0 };
	assert_int_equal(shmem_start(f.a, &out), 0);
	f.a->start.ms = -1e300;
	assert_int_equal(shmem_start(f.a, &out), 1);
	close_fixture(&f);
}

/* Bytes of a good report changed at random: taken or refused, never a crash. */
static void random_reports(void **state)
{
	struct fixture f;
	struct rng rng;
	double sum;

	(void)state;
	open_fixture(&f);
	rng_init(&rng, 7, "area");
	for (int i = 0; i < 20000; i++) {
		unsigned char *p = (unsigned char *)honest(&f);

		for (uint64_t k = 1 + rng_u64(&rng) % 4; k; k--)
			p[rng_u64(&rng) % sizeof (struct run_report)] = (unsigned char)rng_u64(&rng);
		take(&f, &sum);
	}
	close_fixture(&f);
}

/* Results of a quarter of a gigabyte each: there is room for one, and for no second. */
static void room_for_results(void **state)
{
	struct fixture f;
	struct err e = ERR_INIT;

	(void)state;
	open_fixture(&f);
	assert_true(shmem_has_room(&f.o, f.t, 0));
	assert_true(shmem_holds(f.t));
	f.t->expect[0].expected.r[0].n = 1 << 25;
	assert_false(shmem_holds(f.t));
	f.o.n = 0;
	assert_true(shmem_has_room(&f.o, f.t, 0));
	f.o.n = 1;
	assert_int_equal(shmem_set_orders(f.a, &f.o, f.t, &e), 0);
	assert_false(shmem_has_room(&f.o, f.t, 0));
	f.o.n = 2;
	assert_int_equal(shmem_set_orders(f.a, &f.o, f.t, &e), -1);
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(honest_report), cmocka_unit_test(hostile_reports), cmocka_unit_test(hostile_start),
					    cmocka_unit_test(random_reports), cmocka_unit_test(room_for_results) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
