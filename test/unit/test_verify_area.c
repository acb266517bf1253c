/* What a runner writes into the shared memory is hostile: every field of a report set to anything is
 * either refused or harmless, and no result is read from outside its room. */
#include "check.h"

#include <math.h>

#include "base/rng.h"
#include "verify/candidate/intermediate.h"
#include "verify/funnel/reports.h"
#include "verify/task/task_build.h"

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
	f.a->start = (struct start_report){ .failed = 0 };
	assert_int_equal(shmem_start(f.a, &out), 0);
	f.a->start.failed = 1;          /* without a reason */
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

/* One step of the reference: four numbers. Its contents stay in this process. */
static void add_step(struct fixture *f)
{
	static const float values[] = { 1.0f, 2.0f, 3.0f, 4.0f };
	struct intermediate m = { .how = 77 };
	struct err e = ERR_INIT;

	assert_int_equal(tensor_new(&m.t, DT_F32, 1, (int64_t[]){ 4 }, &e), 0);
	memcpy(tensor_data(&m.t), values, sizeof values);
	assert_int_equal(vec_push(&f->t->expect[0].intermediates, m), 0);
	assert_int_equal(shmem_set_orders(f->a, &f->o, f->t, &e), 0);
}

/* Where the first record lies, and its contents. */
static struct run_record *record_of(struct fixture *f, float **v)
{
	const struct run_order *o = &f->o.v[0];
	uint64_t at = step_align(o->steps_at, sizeof (struct run_step));

	*v = (float *)((char *)f->a + step_align(at, sizeof (struct run_record)));
	return (struct run_record *)((char *)f->a + at);
}

static int matches_of(struct fixture *f, struct intermediate_matches *out)
{
	struct err e = ERR_INIT;
	struct run_report r;
	struct results got;
	int rc = shmem_report(f->a, &f->o, 0, &r, &got, &e);

	*out = r.matches;
	if (!rc)
		results_release(&got);
	return rc;
}

/* The runner is told the shape of a step, and reports what launches wrote; this process compares. A match
 * that the runner claims by itself counts for nothing, and a record that lies outside is refused. */
static void steps_are_compared_here(void **state)
{
	struct fixture f;
	struct intermediate_matches m;
	struct run_record *x;
	struct run_report *r;
	const struct run_step *step;
	float *v;

	(void)state;
	open_fixture(&f);
	add_step(&f);
	step = (const struct run_step *)((const char *)f.a + f.a->order[0].steps_at);
	assert_int_equal(f.a->order[0].n_steps, 1);
	assert_int_equal(step->shape[0], 4);
	assert_true(!step->how && !step->at);

	r = honest(&f);
	r->matches = (struct intermediate_matches){ .launches = 1, .n = 1, .v = { { .how = 77 } } };
	assert_int_equal(matches_of(&f, &m), 0);
	assert_int_equal(m.n, 0);

	x = record_of(&f, &v);
	*x = (struct run_record){ .kernel = 5, .launch = 0, .arg = 2 };
	for (int i = 0; i < 4; i++)
		v[i] = (float)(i + 1) * 1.001f;
	r->n_records = 1;
	assert_int_equal(matches_of(&f, &m), 0);
	assert_int_equal(m.n, 1);
	assert_true(m.v[0].how == 77 && m.v[0].kernel == 5 && m.v[0].arg == 2);

	v[3] = 9.0f;
	assert_int_equal(matches_of(&f, &m), 0);
	assert_int_equal(m.n, 0);

	x->step = 1;
	assert_int_equal(matches_of(&f, &m), 1);
	x->step = 0;
	r->n_records = INT32_MAX;                        /* they would lie beyond the room */
	assert_int_equal(matches_of(&f, &m), 1);
	r->n_records = -1;
	assert_int_equal(matches_of(&f, &m), 1);
	expectation_release(&f.t->expect[0]);
	close_fixture(&f);
}

/* At full size the runner gets the contents of a step only if its own launches were seen to take it. */
static void contents_of_steps(void **state)
{
	struct fixture f;
	struct err e = ERR_INIT;
	const struct run_step *step;

	(void)state;
	open_fixture(&f);
	add_step(&f);
	f.o.v[0].dry_run = DRY_RUN_CANDIDATE;
	f.o.v[0].sample = 1;
	assert_int_equal(shmem_set_orders(f.a, &f.o, f.t, &e), 0);
	assert_int_equal(f.a->order[0].n_steps, 0);
	f.o.v[0].matches = (struct intermediate_matches){ .n = 2, .v = { { .how = 77 }, { .how = 78 } } };
	assert_int_equal(shmem_set_orders(f.a, &f.o, f.t, &e), 0);
	assert_int_equal(f.a->order[0].n_steps, 1);
	step = (const struct run_step *)((const char *)f.a + f.a->order[0].steps_at);
	assert_true(step->how == 77 && step->at && ((const float *)((const char *)f.a + step->at))[3] == 4.0f);
	expectation_release(&f.t->expect[0]);
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(honest_report), cmocka_unit_test(hostile_reports), cmocka_unit_test(hostile_start),
					    cmocka_unit_test(random_reports), cmocka_unit_test(room_for_results),
					    cmocka_unit_test(steps_are_compared_here), cmocka_unit_test(contents_of_steps) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
