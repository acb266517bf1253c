/* The shared memory of the deciding process and a runner: see shmem.h.
 *
 * This file owns the mapping and the runner's half of the protocol. Results are copied to the
 * memory that the order names, each on a cache line of its own; a result that does not fit is
 * reported without values, which the deciding process takes for a wrong one. */
#include "verify/candidate/shmem.h"

#include <stdio.h>
#include <sys/mman.h>

#include "base/mem.h"

/* The memory is reserved, not committed: pages that no result touches cost nothing. */
struct shmem *shmem_new(struct err *e)
{
	void *p = mmap(NULL, SHMEM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED) {
		err_errno(e, "cannot map %d bytes for results", SHMEM_BYTES);
		return NULL;
	}
	return p;
}

void shmem_free(struct shmem *a)
{
	if (a)
		munmap(a, SHMEM_BYTES);
}

/* Longer texts are cut off; the rule `size` refuses them long before that. */
void shmem_set_text(struct shmem *a, struct str candidate)
{
	a->text_n = MIN(candidate.n, (size_t)SHMEM_TEXT_MOST);
	memcpy((char *)a + SHMEM_TEXT, candidate.p, a->text_n);
}

/* --- the runner's side -------------------------------------------------------------------- */

/* The length is checked again: both processes can write it. */
struct str shmem_text(const struct shmem *a)
{
	return (struct str){ .p = (const char *)a + SHMEM_TEXT, .n = MIN(a->text_n, (size_t)SHMEM_TEXT_MOST) };
}

/* The report that is being written, and the memory that is left for results. */
struct giver {
	struct shmem *a;
	struct run_report *r;
	struct host *h;
	struct val inputs;
	uint64_t at, end;
	struct err *e;
};

/* Copies the elements of a result, dense, if there is room for them. Returns 0 on success, -1 on
 * failure (*e). */
static int give_values(struct giver *g, struct run_form *f, const struct tensor *t)
{
	uint64_t bytes = (uint64_t)f->n * (uint64_t)dtype_size(t->dt);
	struct tensor dense;

	if (bytes > g->end - g->at)
		return 0;
	if (tensor_contiguous(&dense, t, g->e))
		return -1;
	memcpy((char *)g->a + g->at, tensor_data(&dense), bytes);
	tensor_release(&dense);
	f->at = g->at;
	f->has_values = 1;
	g->at += (bytes + SHMEM_ALIGN - 1) / SHMEM_ALIGN * SHMEM_ALIGN;
	g->at = MIN(g->at, g->end);
	return 0;
}

/* Writes the form and the values of one result tensor. A shape whose product overflows has more
 * elements than there is room for. */
static int give_one(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct giver *g = ctx;
	struct run_form *f;
	int64_t n = 1;

	if (g->r->n == RESULTS_MOST) {
		g->r->too_many = 1;
		return 0;
	}
	f = &g->r->form[g->r->n++];
	*f = (struct run_form){ .dt = (int)obj->t.dt, .ndim = obj->t.ndim, .overlapping = result_overlaps(&obj->t),
				.scattered = !tensor_is_contiguous(&obj->t),
				.aliases = result_aliases(g->h, &obj->t, g->inputs) };
	snprintf(f->name, sizeof f->name, "%.*s", STR_ARG(name));
	memcpy(f->shape, obj->t.shape, sizeof f->shape);
	for (int i = 0; i < f->ndim; i++)
		n = f->shape[i] && n > INT64_MAX / f->shape[i] ? INT64_MAX : n * f->shape[i];
	f->n = n;
	if (n > (int64_t)((g->end - g->at) / (uint64_t)dtype_size(obj->t.dt)))
		return 0;
	f->undefined = tensor_any_undef(&obj->t);
	return give_values(g, f, &obj->t);
}

/* Writes the buffers that the call left changed, as one more result of fp64. */
static int give_state(struct giver *g, const struct tensor *t)
{
	struct run_form *f = &g->r->form[g->r->n];

	if (g->r->n == RESULTS_MOST)
		return 0;
	g->r->n++;
	*f = (struct run_form){ .name = RESULT_STATE, .dt = (int)t->dt, .ndim = 1, .shape = { tensor_numel(t) },
				.n = tensor_numel(t) };
	return give_values(g, f, t);
}

/* The nesting of the result is reported as text, and its tensors in the order of that text. */
int shmem_give(struct shmem *a, int i, struct host *h, struct val result, struct val inputs,
	       const struct tensor *state, struct err *e)
{
	const struct run_order *o = &a->order[i];
	struct giver g = { .a = a, .r = &a->report[i], .h = h, .inputs = inputs, .at = o->at,
			   .end = o->at + o->room, .e = e };
	struct buf form = BUF_INIT;
	int rc;

	g.r->n = g.r->too_many = 0;
	rc = host_result(h, result, &form, give_one, &g) || buf_check(&form, e) ||
		(state && give_state(&g, state)) ? -1 : 0;
	results_set_form(g.r->nesting, buf_str(&form));
	buf_release(&form);
	return rc;
}
