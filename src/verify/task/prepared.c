/* A prepared task as bytes: see prepared.h.
 *
 * The bytes are a head with a hash, the image (candidate/task_image.c), and the rest: the data that
 * the image does not have, above all expected results. Only the build that wrote them reads them,
 * since the key contains the build; so structs are stored in their memory format. */
#include "verify/task/prepared.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "verify/config/key.h"
#include "verify/task/sized_tasks.h"

/* The head; the hash covers all that follows it. */
struct prepared_head {
	uint64_t magic, n, hash;
};

static const uint64_t magic = 0x74726c7461736b31;

/* A member that is added must be written and read, here or in task_image.c; else it is lost in the
 * task cache. */
_Static_assert(sizeof (struct task) == 456064, "prepared.c must know every member of a task");
_Static_assert(sizeof (struct task_image) == 18456, "and of its image");
_Static_assert(sizeof (struct trial) == 664, "and of a trial");
_Static_assert(sizeof (struct expectation) == 16720, "and of an expectation");
_Static_assert(sizeof (struct result) == 248, "and of a result");

/* A key names the build, the options that change a task, the source, the sizes, and the way of
 * opening. Tasks of both tracks and of all rewards share one entry. */
void prepared_key(const struct judge_options *o, struct str source, const int64_t *size, int large,
		  char key[PREPARED_KEY])
{
	/* Options that only decide about candidates do not change a task. */
	struct judge_options of = *o;
	int64_t how[2 + TASK_SIZES] = { size != NULL, large };

	of.track = TRACK_STRICT;
	of.last = STAGE_timing;
	of.rules_off = 0;
	of.reward = REWARD_funnel;
	of.contract = CONTRACT_TASK;
	of.skip_general = 0;
	if (size)
		memcpy(how + 2, size, TASK_SIZES * sizeof *size);
	verdict_key(&of, source, (struct str){ .p = (const char *)how, .n = sizeof how }, key);
}

/* --- results ------------------------------------------------------------------------------ */

/* A result, followed by the arrays that it points to. A stored pointer only tells whether the array
 * follows. */
static void put_result(struct buf *out, const struct result *r)
{
	size_t n = (size_t)r->n;

	bytes_put(out, *r);
	if (r->v)
		buf_add(out, r->v, n * sizeof *r->v);
	if (r->over)
		buf_add(out, r->over, n);
	if (r->whole)
		buf_add(out, r->whole, n * sizeof *r->whole);
	if (r->unit)
		buf_add(out, r->unit, n * sizeof *r->unit);
}

/* All results of one run. */
static void put_results(struct buf *out, const struct results *r)
{
	bytes_put_int(out, r->n);
	bytes_put_int(out, r->too_many);
	bytes_put(out, r->form);
	for (int i = 0; i < r->n; i++)
		put_result(out, &r->r[i]);
}

/* A copy of an array of n elements, if there was one. Returns 0 on success, -1 on failure. */
static int get_array(struct bytes *in, int there, int64_t n, size_t size, void *out)
{
	size_t bytes;
	const void *from;
	void *to;

	memset(out, 0, sizeof to);
	if (!there)
		return 0;
	if (n < 0 || ck_mul((size_t)n, size, &bytes) || !(from = bytes_take(in, bytes)) || !(to = mem_alloc(bytes)))
		return -1;
	memcpy(to, from, bytes);
	memcpy(out, &to, sizeof to);
	return 0;
}

/* Reads what put_result wrote. Stored pointers are never used as pointers. */
static int get_result(struct bytes *in, struct result *r)
{
	struct result stored;

	if (bytes_get(in, &stored))
		return -1;
	*r = stored;
	r->v = NULL;
	r->over = NULL;
	r->whole = NULL;
	r->unit = NULL;
	return get_array(in, stored.v != NULL, r->n, sizeof *r->v, &r->v) ||
		get_array(in, stored.over != NULL, r->n, 1, &r->over) ||
	       get_array(in, stored.whole != NULL, r->n, sizeof *r->whole, &r->whole) ||
	       get_array(in, stored.unit != NULL, r->n, sizeof *r->unit, &r->unit) ? -1 : 0;
}

/* Reads what put_results wrote. A result that was read in part counts, so that it is released. */
static int get_results(struct bytes *in, struct results *r)
{
	int64_t n, too_many;

	if (bytes_get_int(in, &n) || bytes_get_int(in, &too_many) || bytes_get(in, &r->form) || n < 0 ||
	    n > RESULTS_MOST)
		return -1;
	r->too_many = (int)too_many;
	for (; r->n < n; r->n++)
		if (get_result(in, &r->r[r->n])) {
			r->n++;
			return -1;
		}
	return 0;
}

/* --- what the image does not have --------------------------------------------------------- */

/* The parts of a task that its image does not contain: flags of the task, its checks, and the
 * reference's cost. A member of struct task that is missing here and in the image is lost in the
 * task cache. */
struct rest {
	struct diag problem;
	struct host_work work;
	struct work_kinds kinds;
	struct verdict_task check;
	double seconds;
	int64_t fixed[TASK_SIZES];
	uint64_t n_sizes;
	unsigned products;
	int has_choices, asks_for_indices, at_full_size, large, is_fixed, is_outline;
	struct task_reduction reduced;
};

/* Writes it, and the expectation of each trial. */
static void put_rest(struct buf *out, const struct task *t)
{
	struct rest r = { .problem = t->problem, .work = t->work, .kinds = t->kinds, .check = t->check,
			  .seconds = t->seconds,
			  .n_sizes = t->n_sizes, .products = t->products,
			  .has_choices = t->has_choices, .asks_for_indices = t->asks_for_indices,
			  .at_full_size = t->at_full_size, .large = t->large,
			  .is_fixed = t->is_fixed, .is_outline = t->is_outline, .reduced = t->reduced };

	memcpy(r.fixed, t->fixed, sizeof r.fixed);
	bytes_put(out, r);
	bytes_put_str(out, buf_str(&t->notes));
	for (int i = 0; i < t->image.n_trials; i++) {
		const struct trial *tr = &t->image.trial[i];
		const struct expectation *x = &t->expect[i];
		const int64_t parts[] = { tr->ext, tr->ndim, tr->is_original };

		bytes_put(out, parts);
		bytes_put(out, tr->shape);
		bytes_put(out, x->rounding);
		put_results(out, &x->expected);
		put_results(out, &x->torch);
		intermediates_write(&x->intermediates, out);
	}
}

/* Reads the parts of a trial that the image does not have, and its expectation. A runner's image
 * lacks them, since only the deciding process uses them. */
static int get_trial(struct bytes *in, struct trial *tr, struct expectation *x)
{
	int64_t parts[3];

	if (bytes_get(in, &parts) || bytes_get(in, &tr->shape) || bytes_get(in, &x->rounding) ||
	    parts[1] < 0 || parts[1] > TENSOR_DIMS)
		return -1;
	tr->ext = (int)parts[0];
	tr->ndim = (int)parts[1];
	tr->is_original = (int)parts[2];
	return get_results(in, &x->expected) || get_results(in, &x->torch) ||
	       intermediates_read(in, &x->intermediates, NULL) ? -1 : 0;
}

/* Reads what put_rest wrote. */
static int get_rest(struct bytes *in, struct task *t)
{
	struct rest r;
	struct str notes;

	if (bytes_get(in, &r) || bytes_get_str(in, &notes) || r.n_sizes > TASK_SIZES)
		return -1;
	t->problem = r.problem;
	t->work = r.work;
	t->kinds = r.kinds;
	t->check = r.check;
	t->seconds = r.seconds;
	t->n_sizes = r.n_sizes;
	t->products = r.products;
	t->has_choices = r.has_choices;
	t->asks_for_indices = r.asks_for_indices;
	t->at_full_size = r.at_full_size;
	t->large = r.large;
	t->is_fixed = r.is_fixed;
	t->is_outline = r.is_outline;
	t->reduced = r.reduced;
	memcpy(t->fixed, r.fixed, sizeof t->fixed);
	buf_addstr(&t->notes, notes);
	for (int i = 0; i < t->image.n_trials; i++)
		if (get_trial(in, &t->image.trial[i], &t->expect[i]))
			return -1;
	return t->notes.failed ? -1 : 0;
}

/* --- all of it ---------------------------------------------------------------------------- */

/* The image begins on a cache line, as its tensors expect. The head is written last, when the hash
 * of all that follows is known. */
int prepared_pack(const struct task *t, struct buf *out, struct err *e)
{
	struct prepared_head h = { .magic = magic };
	struct buf image = BUF_INIT;
	int rc = task_image_write(&t->image, &image, e);

	bytes_put(out, h);
	bytes_put_int(out, (int64_t)image.n);
	bytes_align(out, PREPARED_ALIGN);
	buf_addstr(out, buf_str(&image));
	buf_release(&image);
	put_rest(out, t);
	if (rc || buf_check(out, e))
		return -1;
	h.n = out->n - sizeof h;
	h.hash = hash_xxh64(out->p + sizeof h, h.n, magic);
	memcpy(out->p, &h, sizeof h);
	return 0;
}

/* Reads the task that follows the head. The task borrows inputs and weights from the bytes. */
static int read_task(struct bytes *in, struct task *t, const char *name)
{
	struct err ignored = ERR_INIT;
	int64_t n;
	const char *image;

	if (bytes_get_int(in, &n) || n < 0 || bytes_get_aligned(in, PREPARED_ALIGN) ||
	    !(image = bytes_take(in, (size_t)n)) ||
	    task_image_open(&t->image, (struct str){ .p = image, .n = (size_t)n }, &ignored))
		return -1;
	t->image.id = judge_next_task(t->judge);
	return get_rest(in, t) || (!t->is_fixed && !(t->sized_tasks = sized_tasks_new())) ||
	       !(t->image.source = mem_strndup(t->image.module.source.p, t->image.module.source.n)) ||
	       !(t->name = mem_strdup(name)) ? -1 : 0;
}

/* Everything is checked against the hash before it is read: a torn file is refused, never
 * repaired. */
struct task *prepared_open(struct judge *j, char *bytes, size_t n, const char *name)
{
	struct bytes in = bytes_of((struct str){ .p = bytes, .n = n });
	struct task *t = mem_zalloc(sizeof *t);
	struct prepared_head h;

	if (t) {
		t->judge = j;
		t->kept = bytes;
		if (!bytes_get(&in, &h) && h.magic == magic && h.n == n - sizeof h &&
		    h.hash == hash_xxh64(bytes + sizeof h, h.n, magic) && !read_task(&in, t, name))
			return t;
		task_free(t);
	} else {
		mem_free_aligned(bytes);
	}
	return NULL;
}
