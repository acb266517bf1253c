/* Orders and reports, the deciding process's side: see reports.h. */
#include "verify/funnel/reports.h"

#include <math.h>

#include "base/mem.h"
#include "verify/candidate/intermediate.h"

/* Bytes for the elements that sampled instances wrote. */
enum { SAMPLE_ROOM = 4 << 20 };
/* Bytes for a launch plan. */
enum { PLAN_ROOM = 4 << 20 };
/* Every run takes longer than this. A report of less is malformed. */
#define LEAST_SECONDS 1e-12

/* The room for results: eight bytes for each element, because the candidate may return a wider
 * dtype than expected. */
static uint64_t room_of(const struct results *expected)
{
	uint64_t n = 0;

	for (int i = 0; i < expected->n; i++)
		n += ((uint64_t)expected->r[i].n * 8 + SHMEM_ALIGN - 1) / SHMEM_ALIGN * SHMEM_ALIGN;
	return n;
}

/* The room in shared memory for the results of one order. A dry run gives no results; with
 * sampling it gives parts. */
static uint64_t room_for(const struct run_order *o, const struct task *t)
{
	return o->plan ? PLAN_ROOM : o->sample ? SAMPLE_ROOM : o->dry_run ? 0 : room_of(&t->expect[o->trial].expected);
}

/* Adds up the same rooms as shmem_set_orders, so that an accepted order always fits. */
int shmem_has_room(const struct orders *o, const struct task *t, int trial)
{
	uint64_t at = SHMEM_DATA + room_of(&t->expect[trial].expected);

	for (int i = 0; i < o->n; i++)
		at += room_for(&o->v[i], t);
	return o->n < SHMEM_ORDERS && at <= SHMEM_BYTES;
}

/* A task whose first trial does not fit three times cannot be judged at these sizes: stage tiny
 * has up to three runs in a batch. */
int shmem_holds(const struct task *t)
{
	return !t->image.n_trials || room_of(&t->expect[0].expected) <= (SHMEM_BYTES - SHMEM_DATA) / SHMEM_RUNS;
}

/* --- steps of the reference --------------------------------------------------------------- */

/* The steps of a trial whose results launches are compared with; none where nothing is run. */
static const struct intermediates *steps_of(const struct run_order *o, const struct task *t)
{
	static const struct intermediates none;
	const struct intermediates *m = &t->expect[o->trial].intermediates;

	return o->dry_run || o->idle ? &none : m;
}

/* The steps of an order in shared memory. The runner can read and change them. */
static struct run_step *steps_at(struct shmem *a, const struct run_order *o)
{
	return (struct run_step *)((char *)a + o->steps_at);
}

/* The shape of a step without its contents. */
static struct run_step describe(const struct intermediate *m)
{
	struct run_step step = { .ndim = m->t.ndim };

	memcpy(step.shape, m->t.shape, sizeof step.shape);
	return step;
}

/* Tells the runner the shapes of the steps, in their order. An ambiguous one can have no match, and
 * gets a shape that no tensor has. */
static void tell_shapes(struct shmem *a, struct run_order *o, const struct intermediates *m)
{
	for (size_t i = 0; i < m->n; i++) {
		steps_at(a, o)[i] = describe(&m->v[i]);
		if (m->v[i].ambiguous)
			steps_at(a, o)[i].ndim = -1;
	}
	o->n_steps = (int)m->n;
}

/* Gives the runner the contents of the steps that the candidate's own launches were seen to take at
 * smaller sizes (o->matches), unless its image has them. Returns the offset after these
 * contents. */
static uint64_t give_steps(struct shmem *a, struct run_order *o, const struct task *t)
{
	const struct intermediates *m = &t->expect[o->trial].intermediates;
	uint64_t at = step_align(o->steps_at, INTERMEDIATE_MATCHES * sizeof (struct run_step));

	for (int i = 0; i < o->matches.n && o->sample && !t->image.trial[o->trial].intermediates.n; i++) {
		const struct intermediate *x = intermediate_find(m, o->matches.v[i].how);
		uint64_t bytes = x ? (uint64_t)tensor_numel(&x->t) * sizeof (float) : 0;

		if (!x || at + bytes > SHMEM_BYTES)
			continue;
		steps_at(a, o)[o->n_steps] = describe(x);
		steps_at(a, o)[o->n_steps].how = x->how;
		steps_at(a, o)[o->n_steps++].at = at;
		memcpy((char *)a + at, tensor_data(&x->t), bytes);
		at = step_align(at, bytes);
	}
	return o->n_steps ? at : o->steps_at;
}

/* Lays out the steps of all orders in the memory after the results: contents first, and then equal
 * parts for the records of runs on trials. If the memory is full, a run continues without steps. */
static void place_steps(struct shmem *a, struct orders *o, const struct task *t, uint64_t at)
{
	uint64_t part;
	int n = 0;

	at = step_align(at, 0);
	for (int i = 0; i < o->n; i++) {
		o->v[i].n_steps = 0;
		o->v[i].steps_room = 0;
		o->v[i].steps_at = at;
		n += steps_of(&o->v[i], t)->n > 0;
		if (at + INTERMEDIATE_MATCHES * sizeof (struct run_step) + SHMEM_ALIGN <= SHMEM_BYTES)
			at = give_steps(a, &o->v[i], t);
	}
	part = n && at < SHMEM_BYTES ? (SHMEM_BYTES - at) / (uint64_t)n / SHMEM_ALIGN * SHMEM_ALIGN : 0;
	for (int i = 0; i < o->n; i++) {
		const struct intermediates *m = steps_of(&o->v[i], t);

		if (!m->n || m->n * sizeof (struct run_step) > part)
			continue;
		o->v[i].steps_at = at;
		o->v[i].steps_room = part;
		tell_shapes(a, &o->v[i], m);
		at += part;
	}
}

/* Each report is reset first. A runner that dies in the middle leaves the rest as skipped, not as
 * reports of an earlier batch. */
int shmem_set_orders(struct shmem *a, struct orders *o, const struct task *t, struct err *e)
{
	uint64_t at = SHMEM_DATA;

	for (int i = 0; i < o->n; i++) {
		o->v[i].at = at;
		o->v[i].room = room_for(&o->v[i], t);
		at += o->v[i].room;
		if (at > SHMEM_BYTES)
			return err_set(e, ERR_RANGE,
				       "the results of %d runs are too large to be compared at once", o->n);
		a->report[i].state = RUN_SKIPPED;
	}
	o->t = t;
	place_steps(a, o, t, at);
	memcpy(a->order, o->v, (size_t)o->n * sizeof *o->v);
	a->n_orders = o->n;
	return 0;
}

/* The intermediate that a recorded tensor holds; NULL: none, or it is ambiguous which. */
static const struct intermediate *held_by(const struct intermediates *m, const struct tensor *t)
{
	for (size_t i = 0; i < m->n; i++)
		if (!m->v[i].ambiguous && intermediates_are_same(t, &m->v[i].t))
			return &m->v[i];
	return NULL;
}

/* Compares one record. The runner wrote it, so its numbers are only claims, and its contents count
 * only if they equal an intermediate. *at: the offset of the record, then of the next one. Returns
 * 0 on success, 1 if the record is malformed, -1 on our own failure (*e). */
static int match_record(const struct shmem *a, const struct run_order *o, const struct intermediates *m, uint64_t *at,
			struct intermediate_matches *out, struct err *e)
{
	uint64_t end = o->steps_at + o->steps_room, data = step_align(*at, sizeof (struct run_record)), bytes;
	const struct intermediate *held;
	struct run_record x;
	struct tensor t;

	if (data > end)
		return 1;
	memcpy(&x, (const char *)a + *at, sizeof x);
	if (x.step < 0 || (size_t)x.step >= m->n || x.launch < 0 || x.arg < 0)
		return 1;
	bytes = (uint64_t)tensor_numel(&m->v[x.step].t) * sizeof (float);
	if (bytes > end - data)
		return 1;
	if (tensor_borrow(&t, DT_F32, m->v[x.step].t.ndim, m->v[x.step].t.shape, (char *)a + data, bytes, e))
		return -1;
	held = held_by(m, &t);
	tensor_release(&t);
	if (held) {
		out->v[out->n].launch = x.launch;
		out->v[out->n].arg = x.arg;
		out->v[out->n].kernel = x.kernel;
		out->v[out->n++].how = held->how;
	}
	*at = step_align(data, bytes);
	return 0;
}

/* Finds which launches of a run hold reference intermediates. A skipped order has no records: its
 * report is the one of an earlier batch. */
static int find_matches(const struct shmem *a, const struct orders *o, int i, struct run_report *out, struct err *e)
{
	const struct run_order *order = &o->v[i];
	const struct intermediates *m = order->n_steps && out->state != RUN_SKIPPED ? steps_of(order, o->t) : NULL;
	uint64_t at = step_align(order->steps_at, (uint64_t)order->n_steps * sizeof (struct run_step));
	int rc = 0;

	for (int k = 0; m && k < out->n_records && out->matches.n < INTERMEDIATE_MATCHES && !rc; k++)
		rc = match_record(a, order, m, &at, &out->matches, e);
	return rc;
}

/* Does the array hold a terminated string? A runner may write anything into it. */
static int is_text(const char *s, size_t n)
{
	return memchr(s, 0, n) != NULL;
}

/* A reason within the table, and texts that end. */
static int sane_diag(const struct diag *d)
{
	return (unsigned)d->reason < REASONS && is_text(d->text, sizeof d->text) && is_text(d->hint, sizeof d->hint) &&
	       is_text(d->kernel, sizeof d->kernel);
}

/* A report that says "failed" must give a reason. */
int shmem_start(const struct shmem *a, struct start_report *out)
{
	*out = a->start;
	if (sane_diag(&out->diag) && (!out->failed || out->diag.reason != REASON_ok))
		return 0;
	*out = (struct start_report){ .failed = 0 };
	return 1;
}

/* Counts are not negative, and small enough to be added up. No run is so fast that the speed-up is
 * infinite. */
static int sane_outcome(const struct outcome *o)
{
	const int64_t *v = (const int64_t *)&o->cost;
	const int64_t most = INT64_MAX / (int64_t)(sizeof o->cost / sizeof *v);

	_Static_assert(sizeof o->cost % sizeof *v == 0, "a cost is made of counts");
	for (size_t i = 0; i < sizeof o->cost / sizeof *v; i++)
		if (v[i] < 0 || v[i] > most)
			return 0;
	return speed_notes_sane(&o->kernels) && isfinite(o->seconds) &&
		(o->seconds == 0.0 || o->seconds > LEAST_SECONDS) &&
		o->launches >= 0 && o->host.flops >= 0 &&
	       o->host.plain >= 0 && o->host.bytes >= 0 && o->host.moved >= 0 && o->host.copied >= 0 &&
	       o->floats_read >= 0;
}

/* Is the form of a result sane? The bytes of each result follow those of the previous one, which
 * end at *end; together they fit the room of the order. */
static int sane_form(const struct run_form *f, const struct run_order *o, uint64_t *end)
{
	int64_t n = 1;
	size_t bytes;

	if (!is_text(f->name, sizeof f->name) || (unsigned)f->dt >= DTYPES || f->ndim < 0 || f->ndim > TENSOR_DIMS)
		return 0;
	for (int i = 0; i < f->ndim; i++)
		if (f->shape[i] < 0 || ck_mul64(n, f->shape[i], &n))
			return 0;
	if (n != f->n || !f->has_values)
		return n == f->n;
	if (ck_mul((size_t)n, (size_t)dtype_size((enum dtype)f->dt), &bytes))
		return 0;
	if (f->at % SHMEM_ALIGN || f->at < *end || f->at - o->at > o->room || bytes > o->room - (f->at - o->at))
		return 0;
	*end = f->at + bytes;
	return 1;
}

/* Are the numbers of a part sane? shmem_part checks its bytes. */
static int sane_part(const struct run_part *p)
{
	if ((unsigned)p->dt >= DTYPES || p->ndim < 0 || p->ndim > TENSOR_DIMS || p->n < 0 || p->blank < 0 ||
	    p->reached < 0)
		return 0;
	for (int i = 0; i < p->ndim; i++)
		if (p->shape[i] < 0)
			return 0;
	return 1;
}

/* Are the results of a report sane? A dry run gives no results, only parts. */
static int sane_results(const struct run_report *r, const struct run_order *o)
{
	uint64_t end = o->at;

	if (r->n < 0 || r->n > (o->dry_run ? 0 : RESULTS_MOST))
		return 0;
	for (int i = 0; i < r->n; i++)
		if (!sane_form(&r->form[i], o, &end))
			return 0;
	for (int i = 0; i < r->n_parts; i++)
		if (!sane_part(&r->part[i]))
			return 0;
	return 1;
}

/* Checks every number that an index, a loop or a sum will use. A new field of run_report that is
 * used so needs a check here. */
static int sane_report(const struct run_report *r, const struct run_order *o)
{
	if ((unsigned)r->state >= RUN_STATES || (unsigned)r->stage >= STAGES || !sane_diag(&r->diag) ||
	    (unsigned)r->err.code > ERR_STATE ||
	    !is_text(r->err.text, sizeof r->err.text) ||
	    !is_text(r->chosen, sizeof r->chosen) || !is_text(r->weights, sizeof r->weights) ||
	    r->configs < 0 || r->path.n < 0 ||
	    r->path.n > HOST_PATH)
		return 0;
	if (r->matches.launches < 0 || r->n_records < 0 || r->programs < 0 ||
	    r->programs > INT32_MAX || r->n_parts < 0 || r->n_parts > RESULTS_MOST)
		return 0;
	if (r->addresses.launches < 0 || r->addresses.open < 0 || r->addresses.by_contents < 0 ||
	    !reads_are_sane(&r->reads) || r->constant.n < 0 || r->constant.n > RESULTS_MOST ||
	    (unsigned)r->constant.left >= CONSTANT_ANSWERS)
		return 0;
	if (r->state == RUN_FAILED)
		return r->diag.reason != REASON_ok;
	return r->state != RUN_GAVE || (is_text(r->nesting, sizeof r->nesting) && sane_outcome(&r->out) &&
					sane_results(r, o));
}

/* The form was checked before (sane_form), so its bytes lie inside the room of the order. */
static int take_result(const struct shmem *a, const struct run_form *f, struct result *out, struct err *e)
{
	*out = (struct result){ .dt = (enum dtype)f->dt, .ndim = f->ndim, .n = f->n,
				.overlapping = f->overlapping != 0, .scattered = f->scattered != 0,
				 .aliases = f->aliases != 0, .undefined = f->undefined != 0 };
	memcpy(out->name, f->name, sizeof out->name);
	memcpy(out->shape, f->shape, sizeof out->shape);
	return f->has_values ? result_fill(out, (const char *)a + f->at, e) : 0;
}

/* The report is copied first and only the copy is looked at: the runner could change shared memory
 * between a check and a use. */
int shmem_report(const struct shmem *a, const struct orders *o, int i, struct run_report *out,
		 struct results *got, struct err *e)
{
	int rc;

	memcpy(out, &a->report[i], sizeof *out);
	out->matches.n = 0;
	*got = (struct results){ .n = 0 };
	rc = sane_report(out, &o->v[i]) ? find_matches(a, o, i, out, e) : 1;
	/* A report that is not sane is cleared, so that no code uses it after a failure. */
	if (rc) {
		memset(out, 0, sizeof *out);
		out->state = RUN_SKIPPED;
		return rc;
	}
	if (out->state != RUN_GAVE)
		return 0;
	got->too_many = out->too_many != 0;
	memcpy(got->form, out->nesting, sizeof got->form);
	for (; got->n < out->n; got->n++)
		if (take_result(a, &out->form[got->n], &got->r[got->n], e)) {
			results_release(got);
			return -1;
		}
	return 0;
}

/* A part has n indices of 8 bytes, then n values. The division avoids an overflow of n * size. */
int shmem_part(const struct shmem *a, const struct run_order *o, const struct run_report *r, int k,
	       const int64_t **index, const void **value)
{
	const struct run_part *p = &r->part[k];
	uint64_t size;

	if (p->at < o->at || p->at > o->at + o->room || p->at % SHMEM_ALIGN)
		return 1;
	size = 8 + (uint64_t)dtype_size((enum dtype)p->dt);
	if ((uint64_t)p->n > (o->at + o->room - p->at) / size)
		return 1;
	*index = (const int64_t *)((const char *)a + p->at);
	*value = *index + p->n;
	return 0;
}
