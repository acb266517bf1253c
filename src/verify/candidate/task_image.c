/* The image of a task as bytes: see task_image.h.
 *
 * The same build on the same machine writes and reads the bytes, so numbers are stored in their
 * memory format. Weights and intermediates begin on a cache line: an opened image borrows them in
 * place, and runners share one copy of a large model.
 *
 * Invariant: a runner has only the data that this file writes. */
#include "verify/candidate/task_image.h"

#include "base/bytes.h"
#include "base/mem.h"

/* Weights begin on their own cache line. */
enum { ALIGN = 64 };

/* --- writing ------------------------------------------------------------------------------ */

/* Sizes of a trial or of the model. */
static void put_overrides(struct buf *out, const struct host_override *ov, size_t n)
{
	bytes_put_int(out, (int64_t)n);
	for (size_t i = 0; i < n; i++) {
		bytes_put_str(out, ov[i].name);
		bytes_put_int(out, ov[i].value);
	}
}

/* The sizes that may be changed, at full size. */
static void put_sizes(struct buf *out, const struct task_image *t)
{
	bytes_put_int(out, (int64_t)t->n_all);
	for (size_t i = 0; i < t->n_all; i++) {
		bytes_put_str(out, t->size[i].name);
		bytes_put_int(out, t->size[i].full);
		bytes_put_int(out, t->size[i].of_model);
	}
}

/* Inputs: packed already, in a task from the task cache, or packed now. Inputs that cannot leave
 * their host are written as nothing, and each runner draws them from the seed. */
static int put_value(struct buf *out, struct str already, struct val v, struct err *e)
{
	struct buf packed = BUF_INIT;
	int rc = already.n || v.kind == V_UNSET ? 0 : host_pack(v, &packed, e);

	if (already.n) {
		bytes_put_str(out, already);
		return 0;
	}
	if (!rc)
		bytes_put_str(out, buf_str(&packed));
	else if (rc > 0)
		bytes_put_str(out, (struct str){ .n = 0 });
	buf_release(&packed);
	return rc < 0 ? -1 : 0;
}

/* Intermediates are dense and of fp32. */
void intermediates_write(const struct intermediates *m, struct buf *out)
{
	bytes_put_int(out, (int64_t)m->n);
	for (size_t i = 0; i < m->n; i++) {
		const struct intermediate *x = &m->v[i];

		bytes_put(out, x->how);
		bytes_put_int(out, x->ambiguous);
		bytes_put_int(out, x->t.ndim);
		bytes_put(out, x->t.shape);
		bytes_align(out, ALIGN);
		buf_add(out, tensor_data(&x->t), (size_t)tensor_numel(&x->t) * sizeof (float));
	}
}

/* A trial. The order of `parts` is that of get_trial. */
static int put_trial(struct buf *out, const struct trial *tr, struct err *e)
{
	const int64_t parts[] = { tr->stage, tr->set, tr->dt, tr->repeat, tr->change, tr->first,
				  (int64_t)tr->seed, tr->kind, (int64_t)tr->state };

	bytes_put(out, parts);
	bytes_put(out, tr->rare);
	put_overrides(out, tr->ov, tr->n_ov);
	intermediates_write(&tr->intermediates, out);
	return put_value(out, tr->packed[0], tr->inputs, e) || put_value(out, tr->packed[1], tr->others, e) ? -1 : 0;
}

/* Offsets of the weights that were written. Sets of weights share the tensors that they do not draw
 * again, and each tensor is written once. */
struct written {
	struct { const struct storage *st; size_t at; } *v;
	size_t n, cap;
};

/* The bytes of a weight, or the offset at which they were written before. Offset 0 says that they
 * follow. */
static int put_data(struct buf *out, struct written *w, const struct tensor *t)
{
	size_t bytes = (size_t)tensor_numel(t) * (size_t)dtype_size(t->dt);

	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].st == t->st) {
			bytes_put_int(out, (int64_t)w->v[i].at);
			return 0;
		}
	if (vec_grow(w, 1))
		return -1;
	bytes_put_int(out, 0);
	bytes_align(out, ALIGN);
	w->v[w->n].st = t->st;
	w->v[w->n++].at = out->n;
	buf_add(out, tensor_data(t), bytes);
	return 0;
}

/* One set of weights. */
static int put_weights(struct buf *out, struct written *w, const struct task_weights *set)
{
	int rc = 0;

	bytes_put_int(out, (int64_t)set->n);
	bytes_put(out, set->spread);
	for (size_t i = 0; i < set->n && !rc; i++) {
		const struct task_weight *x = &set->v[i];
		const int64_t parts[] = { x->moved, x->t.dt, x->t.ndim, x->param, x->kept };

		bytes_put(out, x->name);
		bytes_put(out, parts);
		bytes_put(out, x->t.shape);
		bytes_put(out, x->full);
		rc = put_data(out, w, &x->t);
	}
	return rc;
}

/* Trials first, weights last: the weights are the bulk, and are shared between sets. */
int task_image_write(const struct task_image *t, struct buf *out, struct err *e)
{
	struct written w = { .n = 0 };
	int rc = 0;

	bytes_put_str(out, str_of(t->source));
	bytes_put_int(out, t->reference.eval_mode);
	bytes_put_int(out, t->keeps_state);
	put_sizes(out, t);
	put_overrides(out, t->reference.ov, t->reference.n_ov);
	bytes_put_int(out, t->n_trials);
	for (int i = 0; i < t->n_trials && !rc; i++)
		rc = put_trial(out, &t->trial[i], e);
	for (int i = 0; i < WEIGHT_SETS && !rc; i++)
		rc = put_weights(out, &w, &t->set[i]) ? err_nomem(e) : 0;
	vec_free(&w);
	return rc ? -1 : buf_check(out, e);
}

/* --- reading ------------------------------------------------------------------------------ */

/* Reads what put_overrides wrote. Names are borrowed from the bytes. */
static int get_overrides(struct bytes *in, struct host_override *ov, size_t cap, size_t *n)
{
	int64_t k;

	if (bytes_get_int(in, &k) || k < 0 || (size_t)k > cap)
		return -1;
	for (*n = 0; *n < (size_t)k; ++*n)
		if (bytes_get_str(in, &ov[*n].name) || bytes_get_int(in, &ov[*n].value))
			return -1;
	return 0;
}

/* Reads what put_sizes wrote. */
static int get_sizes(struct bytes *in, struct task_image *t)
{
	int64_t n, of_model;

	if (bytes_get_int(in, &n) || n < 0 || n > TASK_SIZES)
		return -1;
	for (; t->n_all < (size_t)n; t->n_all++) {
		struct task_size *s = &t->size[t->n_all];

		if (bytes_get_str(in, &s->name) || bytes_get_int(in, &s->full) || bytes_get_int(in, &of_model))
			return -1;
		s->of_model = (int)of_model;
	}
	return 0;
}

/* Reads one intermediate, whose tensor borrows the bytes. */
static int get_intermediate(struct bytes *in, struct intermediate *m, struct err *e)
{
	int64_t ambiguous, ndim, shape[TENSOR_DIMS], n = sizeof (float);
	const char *data;

	if (bytes_get(in, &m->how) || bytes_get_int(in, &ambiguous) || bytes_get_int(in, &ndim) || ndim < 0 ||
	    ndim > TENSOR_DIMS ||
	    bytes_get(in, &shape) || bytes_get_aligned(in, ALIGN))
		return -1;
	for (int i = 0; i < ndim; i++)
		n *= shape[i];
	m->ambiguous = (int)ambiguous;
	data = bytes_take(in, (size_t)n);
	return data ? tensor_borrow(&m->t, DT_F32, (int)ndim, shape, (void *)data, (size_t)n, e) : -1;
}

/* Reads what intermediates_write wrote. */
int intermediates_read(struct bytes *in, struct intermediates *m, struct err *e)
{
	int64_t n;

	if (bytes_get_int(in, &n) || n < 0 || vec_grow(m, (size_t)n))
		return -1;
	for (; m->n < (size_t)n; m->n++)
		if (get_intermediate(in, &m->v[m->n], e))
			return -1;
	return 0;
}

/* Reads what put_trial wrote. A runner needs the trial's kind, too: the kind decides which GPU the
 * program sees. */
static int get_trial(struct bytes *in, struct trial *tr, struct err *e)
{
	int64_t parts[9];

	if (bytes_get(in, &parts) || bytes_get(in, &tr->rare) ||
	    get_overrides(in, tr->ov, COUNT_OF(tr->ov), &tr->n_ov) ||
	    intermediates_read(in, &tr->intermediates, e))
		return -1;
	tr->stage = (enum judge_stage)parts[0];
	tr->set = (enum weight_set)parts[1];
	tr->dt = (enum dtype)parts[2];
	tr->repeat = (int)parts[3];
	tr->change = (enum trial_change)parts[4];
	tr->first = (int)parts[5];
	tr->seed = (uint64_t)parts[6];
	tr->state = (uint64_t)parts[8];
	tr->kind = (enum trial_kind)parts[7];
	return bytes_get_str(in, &tr->packed[0]) || bytes_get_str(in, &tr->packed[1]);
}

/* Reads one weight, whose tensor borrows the bytes. The numbers are checked although we wrote
 * them: a torn image must not become a wild pointer. */
static int get_weight(struct bytes *in, struct task_weight *w, struct err *e)
{
	int64_t parts[5], shape[TENSOR_DIMS], at, n = 1;
	const char *data;

	if (bytes_get(in, &w->name) || bytes_get(in, &parts) || bytes_get(in, &shape) ||
	    bytes_get(in, &w->full) || bytes_get_int(in, &at))
		return -1;
	if (parts[1] < 0 || parts[1] >= DTYPES || parts[2] < 0 || parts[2] > TENSOR_DIMS)
		return -1;
	for (int i = 0; i < parts[2]; i++)
		n *= shape[i];
	n *= dtype_size((enum dtype)parts[1]);
	if (!at && bytes_get_aligned(in, ALIGN))
		return -1;
	data = at ? in->start + at : bytes_take(in, (size_t)n);
	w->moved = (int)parts[0];
	w->param = (int)parts[3];
	w->kept = (enum weight_kept)parts[4];
	return data ? tensor_borrow(&w->t, (enum dtype)parts[1], (int)parts[2], shape, (void *)data, (size_t)n, e) : -1;
}

/* Reads one set of weights. */
static int get_weights(struct bytes *in, struct task_weights *set, struct err *e)
{
	int64_t n;

	if (bytes_get_int(in, &n) || bytes_get(in, &set->spread) || vec_grow(set, (size_t)n))
		return -1;
	for (; set->n < (size_t)n; set->n++)
		if (get_weight(in, &set->v[set->n], e))
			return -1;
	return 0;
}

/* Reads all of an image. The module is parsed again: a tree of pointers cannot be stored. */
static int get_task(struct task_image *t, struct bytes *in, struct err *e)
{
	struct str source;
	int64_t eval_mode, keeps_state, n;

	if (bytes_get_str(in, &source) || bytes_get_int(in, &eval_mode) || bytes_get_int(in, &keeps_state) ||
	    py_parse(&t->module, source, "task", 64u << 20, e))
		return -1;
	t->parsed = 1;
	t->keeps_state = (int)keeps_state;
	t->reference = (struct program){ .task = &t->module, .source = &t->module, .class_name = "Model",
					 .eval_mode = (int)eval_mode, .ov = t->model_ov };
	if (get_sizes(in, t) || get_overrides(in, t->model_ov, COUNT_OF(t->model_ov), &t->reference.n_ov) ||
	    bytes_get_int(in, &n) || n > TRIALS_MOST)
		return -1;
	for (; t->n_trials < n; t->n_trials++) {
		struct trial *tr = &t->trial[t->n_trials];

		if (get_trial(in, tr, e))
			return -1;
		tr->weights = &t->set[tr->set];
	}
	for (int i = 0; i < WEIGHT_SETS; i++)
		if (get_weights(in, &t->set[i], e))
			return -1;
	return 0;
}

/* An image that cannot be read is our own failure: no candidate wrote it. */
int task_image_open(struct task_image *t, struct str bytes, struct err *e)
{
	struct bytes in = bytes_of(bytes);

	*t = (struct task_image){ .id = 0 };
	if (!get_task(t, &in, e))
		return 0;
	task_image_release(t);
	return err_set(e, ERR_FORMAT, "the image of a task is malformed");
}

/* Tensors that borrow the image's bytes release only their headers. */
void task_image_release(struct task_image *t)
{
	for (int i = 0; i < TRIALS_MOST; i++)
		trial_release(&t->trial[i]);
	for (int i = 0; i < WEIGHT_SETS; i++)
		weights_release(&t->set[i]);
	host_free(t->vault);
	if (t->parsed)
		py_release(&t->module);
	mem_free(t->source);
	*t = (struct task_image){ .id = 0 };
}
