/* Keeps reference intermediates: the tensors that operators of the reference produce for a trial.
 *
 * A runner needs some of them if a candidate leaves steps of the reference to torch, or computes
 * them in kernels of its own: candidate/intermediate.h says why. This file finds them, by calling
 * the reference once and noting each operator call. It drops the tensors that the reference
 * returns: those are expected results, and stay in the deciding process. */
#include "base/hash.h"
#include "base/mem.h"
#include "interp/bind.h"
#include "verify/candidate/intermediate.h"
#include "verify/task/task_build.h"

/* How many intermediates are kept at the most, and their bytes together. */
enum { INTERMEDIATE_MOST = 24, INTERMEDIATE_BYTES = 3 << 25 };

/* A tensor of the reference's call and its number (intermediate.h). */
struct source {
	struct tensor t;
	uint64_t which;
};

/* The call of the reference that is being noted. */
struct keeper {
	struct intermediates *out;
	struct { struct source *v; size_t n, cap; } known;
	uint64_t next;
	uint64_t calls;             /* operator calls so far */
	size_t bytes;
	int failed;
	struct err *e;
};

/* The number of a tensor that is known and is passed whole and in its own layout; 0 for any other
 * tensor. */
static uint64_t number_of(const struct keeper *k, const struct tensor *t)
{
	for (size_t i = 0; i < k->known.n; i++) {
		const struct source *s = &k->known.v[i];

		if (s->t.st == t->st && s->which)
			return t->dt == s->t.dt && tensor_same_shape(t, &s->t) && tensor_is_contiguous(t) &&
				t->offset == s->t.offset ? s->which : 0;
	}
	return 0;
}

/* A number that only this call of the reference has. Its position among all calls is the same at all
 * sizes. A runner never computes this number: a result that depends on it can be recognised in what
 * kernels write, and not in an operator that a candidate calls. */
static uint64_t number_by_position(const struct keeper *k)
{
	return hash_xxh64(&k->calls, sizeof k->calls, INTERMEDIATE_OF_INPUTS) | 1;
}

/* Views (bias.view(1, -1, 1, 1)) and results that are not kept (x > 0) are numbered by position. */
static uint64_t which_kept(void *ctx, const struct tensor *t)
{
	uint64_t which = number_of(ctx, t);

	return which ? which : number_by_position(ctx);
}

/* Makes a tensor known by a number. */
static int add_source(struct keeper *k, const struct tensor *t, uint64_t which)
{
	struct source s = { .t = *t, .which = which };

	if (vec_push(&k->known, s))
		return k->failed = err_nomem(k->e);
	tensor_retain(t);
	return 0;
}

/* Makes the next input or weight known. */
static int add_next(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct keeper *k = ctx;

	(void)name;
	return add_source(k, &obj->t, k->next++);
}

/* A tensor that is changed in place is no longer the one that was known. */
static void forget(struct keeper *k, const struct tensor *t)
{
	for (size_t i = 0; i < k->known.n; i++)
		if (k->known.v[i].t.st == t->st)
			k->known.v[i].which = 0;
}

/* Keeps a copy of a result, which becomes known by the name of its call. */
static void keep_result(struct keeper *k, uint64_t how, const struct tensor *t)
{
	struct intermediate kept = { .how = how };

	if (tensor_to(&kept.t, t, t->dt, k->e) || vec_push(k->out, kept)) {
		k->failed = -1;
		return;
	}
	k->bytes += kept.t.st->bytes;
	add_source(k, t, how);
}

/* Does a call compute in place? A flag may say so (relu_), or an argument, and then the result is the tensor that was
 * given: relu(x, inplace=True). */
static int is_in_place(const struct host_op_call *c)
{
	if (!c->n || c->a[0].kind != V_TENSOR || !(c->kind & (BIND_COMPUTE | BIND_INPLACE)))
		return 0;
	return c->kind & BIND_INPLACE || (c->out.kind == V_TENSOR && c->out.u.t->t.st == c->a[0].u.t->t.st);
}

/* Has a tensor that is known the contents that were kept of it? A dropout that is off gives its input back. */
static int is_unchanged(const struct keeper *k, const struct tensor *t)
{
	const struct intermediate *was = intermediate_find(k->out, number_of(k, t));

	return was && !memcmp(tensor_data(&was->t), tensor_data(t), (size_t)tensor_numel(t) * sizeof (float));
}

/* The name under which a result is kept; 0: it is not. A call in place has no name of its own, since the
 * tensor that it is given is gone afterwards. */
static uint64_t name_of(struct keeper *k, const struct host_op_call *c)
{
	if (is_in_place(c))
		return c->kind & BIND_COMPUTE && !(c->kind & BIND_RANDOM) ? number_by_position(k) : 0;
	return intermediate_name(c, which_kept, k);
}

/* Do two dense fp32 tensors hold the same values in order, in any shapes? A kernel may write a view of a result. */
static int hold_same(const struct tensor *a, const struct tensor *b)
{
	struct tensor as_b = *b;

	as_b.st = a->st;
	as_b.offset = a->offset;
	return tensor_numel(a) == tensor_numel(b) && intermediates_are_same(&as_b, b);
}

/* A result that is not kept makes each intermediate ambiguous that holds the same values: a kernel that was seen to
 * write these values may have computed either. Example: a maximum with -0.4 changes nothing at small sizes. */
static void note_unkept(struct keeper *k, const struct tensor *t)
{
	for (size_t i = 0; i < k->out->n; i++)
		k->out->v[i].ambiguous |= hold_same(&k->out->v[i].t, t);
}

/* For host_set_called: keeps the result of a call if it has a name, is dense fp32, and there is
 * room. */
static void note_call(void *ctx, const struct host_op_call *c)
{
	struct keeper *k = ctx;
	const struct tensor *out = c->out.kind == V_TENSOR ? &c->out.u.t->t : NULL;
	uint64_t how;

	k->calls++;
	if (is_in_place(c) && !(out && is_unchanged(k, out)))
		forget(k, &c->a[0].u.t->t);
	if (!out || k->failed || out->dt != DT_F32 || !tensor_is_contiguous(out) || number_of(k, out))
		return;
	how = name_of(k, c);
	if (how && k->out->n < INTERMEDIATE_MOST &&
	    k->bytes + (size_t)tensor_numel(out) * sizeof (float) <= INTERMEDIATE_BYTES)
		keep_result(k, how, out);
	else if (!(c->kind & BIND_VIEW))
		note_unkept(k, out);
}

/* Drops an intermediate that the reference returns: it is an expected result, and must never reach
 * a runner. An intermediate that only holds the same values becomes ambiguous. */
static int drop_returned(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct keeper *k = ctx;
	uint64_t how = 0;

	(void)name;
	for (size_t i = 0; i < k->out->n && obj->t.dt == DT_F32 && tensor_is_contiguous(&obj->t); i++)
		k->out->v[i].ambiguous |= hold_same(&k->out->v[i].t, &obj->t);
	for (size_t i = 0; i < k->known.n; i++)
		how = k->known.v[i].t.st == obj->t.st && k->known.v[i].which ? k->known.v[i].which : how;
	for (size_t i = 0; i < k->out->n; i++)
		if (k->out->v[i].how == how) {
			tensor_release(&k->out->v[i].t);
			k->out->v[i] = k->out->v[--k->out->n];
			return 0;
		}
	return 0;
}

/* Marks intermediates that hold the same values: a launch that holds one could hold the other. */
static void note_ambiguous(struct intermediates *m)
{
	struct intermediate *v = m->v;

	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; k < m->n; k++)
			v[i].ambiguous |= i != k && hold_same(&v[i].t, &v[k].t);
}

/* One more call of the reference: its weights and inputs get numbers first, then each operator
 * call is noted. */
int task_keep_intermediates(struct task_build *b, const struct trial *tr, struct intermediates *out, struct err *e)
{
	struct keeper k = { .out = out, .next = INTERMEDIATE_OF_INPUTS, .e = e };
	struct val inputs, result;
	int rc = task_prepare_reference(b, tr, RUN_OWN, e);

	if (!rc)
		rc = world_inputs(&b->own, tr, 0, &inputs, e);
	if (rc)
		return rc;
	rc = host_tensors(b->own.h, inputs, add_next, &k);
	k.next = INTERMEDIATE_OF_WEIGHTS;
	if (!rc)
		rc = host_state(b->own.h, b->own.model, add_next, &k);
	host_set_called(b->own.h, note_call, &k);
	if (!rc)
		rc = host_forward(b->own.h, b->own.model, inputs, &result, e);
	host_set_called(b->own.h, NULL, NULL);
	if (!rc) {
		host_tensors(b->own.h, result, drop_returned, &k);
		world_drop(&b->own, result);
	}
	world_drop(&b->own, inputs);
	for (size_t i = 0; i < k.known.n; i++)
		tensor_release(&k.known.v[i].t);
	vec_free(&k.known);
	note_ambiguous(out);
	return k.failed ? -1 : rc;
}
