/* A model that is too large to be run several times: which smaller sizes its constructor gets.
 *
 * First each size of the model is halved to at most 1024, so that 16384 becomes 1024. Then the
 * largest size is halved as long as that takes work away, measured by dry runs. */
#include "host/shrink.h"
#include "verify/candidate/dry_run.h"
#include "verify/task/task_build.h"

/* The sizes of a model are halved to SMALL_MODEL at first: a matrix of two such sizes is small.
 * Sizes that work depends on go further down until a run is no more than MODEL_WORK, but not below
 * LEAST_MODEL. */
enum { SMALL_MODEL = 1024, LEAST_MODEL = 8, MODEL_WORK = 1 << 27 };
/* The sizes of the inputs during the search, if the reference runs with them. */
enum { SMALL_INPUT = 16 };

/* The sizes that are being tried: those of the inputs, then those of the model. */
struct attempt_sizes {
	struct host_override ov[TASK_SIZES];
	size_t n_inputs, n;
};

/* The work of a dry run at these sizes. Returns 1 if the reference fails there. */
static int work_at(struct task *t, const struct attempt_sizes *s, int64_t *work, struct err *e)
{
	struct dry_run_cost cost;
	int rc = dry_run_reference(t->judge, &t->image.reference, s->ov, s->n, &cost, e);

	*work = cost.work;
	return rc;
}

/* Starts with every size of the model halved to at most SMALL_MODEL. */
static void list_sizes(const struct task *t, struct attempt_sizes *s)
{
	*s = (struct attempt_sizes){ .n = t->image.n_all };
	for (size_t i = 0; i < t->image.n_all; i++) {
		int64_t value = t->image.size[i].full;

		s->n_inputs += !t->image.size[i].of_model;
		while (t->image.size[i].of_model && value > SMALL_MODEL)
			value /= 2;
		s->ov[i] = (struct host_override){ .name = t->image.size[i].name, .value = value };
	}
}

/* Sets the sizes of the inputs to full size, or to `most` if that is less. */
static void set_inputs(const struct task *t, struct attempt_sizes *s, int64_t most)
{
	for (size_t i = 0; i < s->n_inputs; i++)
		s->ov[i].value = MIN(t->image.size[i].full, most);
}

/* The largest size of the model that is not done; s->n: none. */
static size_t largest(const struct attempt_sizes *s, unsigned done)
{
	size_t best = s->n;

	for (size_t i = s->n_inputs; i < s->n; i++)
		if (!(done >> i & 1) && s->ov[i].value >= 2 * LEAST_MODEL &&
		    (best == s->n || s->ov[i].value > s->ov[best].value))
			best = i;
	return best;
}

/* Halves the largest size as long as that takes an eighth of the work away and the reference runs.
 * Sizes that do not help are done. Returns 0 on success, -1 on failure (*e). */
static int lower_work(struct task *t, struct attempt_sizes *s, int64_t work, struct err *e)
{
	unsigned done = 0;
	size_t i;

	while (work > MODEL_WORK && (i = largest(s, done)) < s->n) {
		int64_t was = s->ov[i].value, now;
		int rc;

		s->ov[i].value /= 2;
		rc = work_at(t, s, &now, e);
		if (rc < 0)
			return -1;
		if (rc || now > work - work / 8) {
			s->ov[i].value = was;
			done |= 1u << i;
		} else {
			work = now;
		}
	}
	return 0;
}

/* Only sizes that really became smaller are overridden. A reference that no dry run can follow is
 * run at the first sizes. */
int task_shrink_model(struct task *t, struct err *e)
{
	struct attempt_sizes s;
	int64_t work = 0;
	int rc;

	list_sizes(t, &s);
	set_inputs(t, &s, SMALL_INPUT);
	rc = work_at(t, &s, &work, e);
	if (rc > 0) {
		set_inputs(t, &s, INT64_MAX);
		rc = work_at(t, &s, &work, e);
	}
	if (rc < 0 || (!rc && lower_work(t, &s, work, e)))
		return -1;
	for (size_t i = s.n_inputs; i < s.n; i++)
		if (s.ov[i].value != t->image.size[i].full)
			t->image.model_ov[t->image.reference.n_ov++] = s.ov[i];
	t->image.reference.ov = t->image.model_ov;
	t->check.model_shrunk = t->image.reference.n_ov > 0;
	return 0;
}
