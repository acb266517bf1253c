/* Reference intermediates on the runner's side: see intermediate.h.
 *
 * A call is recognised by its name: a hash of the operator, of its arguments that are not tensors,
 * and of the number of each tensor. The number identifies an input, a weight or an earlier result
 * that is passed whole and in its own layout. The reference's side (task/keep_intermediates.c) and
 * this one compute names in the same way, but each finds a tensor's number in its own way. */
#include "verify/candidate/intermediate.h"

#include <math.h>

#include "base/hash.h"
#include "base/mem.h"
#include "interp/bind.h"
#include "tensor/sparse.h"
#include "tile/estimate/resource.h"

/* A name that is being computed. */
struct naming {
	intermediate_which_fn *which;
	void *ctx;
	int is_conv;
	int tensors;
	uint64_t name;
};

/* Adds bytes to the hash. */
static void add_bytes(struct naming *n, const void *p, size_t bytes)
{
	n->name = hash_xxh64(p, bytes, n->name);
}

static int add_value(struct naming *n, struct val v);

/* Are all members the same integer? A stride of 2 means (2, 2) to a convolution. */
static int is_one_number(const struct seq_obj *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].kind != V_INT || s->v[i].u.i != s->v[0].u.i)
			return 0;
	return s->n > 0;
}

/* Adds a list or tuple. For convolutions (2, 2) counts as 2. */
static int add_sequence(struct naming *n, const struct seq_obj *s)
{
	int rc = 0;

	if (n->is_conv && is_one_number(s))
		return add_value(n, s->v[0]);
	add_bytes(n, &s->n, sizeof s->n);
	for (size_t i = 0; i < s->n && !rc; i++)
		rc = add_value(n, s->v[i]);
	return rc;
}

/* Adds the number of a tensor. Returns 1 if it has none. */
static int add_tensor(struct naming *n, const struct tensor *t)
{
	uint64_t which = n->which(n->ctx, t);

	n->tensors++;
	add_bytes(n, &which, sizeof which);
	return !which;
}

/* Adds an argument. Returns 0, or 1 if a call with it cannot be recognised. */
static int add_value(struct naming *n, struct val v)
{
	int kind = v.kind;

	if (v.kind == V_TUPLE || v.kind == V_LIST)
		return add_sequence(n, v.u.seq);
	add_bytes(n, &kind, sizeof kind);
	switch (v.kind) {
	case V_UNSET: case V_NONE: return 0;
	case V_BOOL: case V_INT: case V_DTYPE: add_bytes(n, &v.u.i, sizeof v.u.i); return 0;
	case V_FLOAT: add_bytes(n, &v.u.f, sizeof v.u.f); return 0;
	case V_STR: add_bytes(n, v.u.s->p, v.u.s->n); return 0;
	case V_TENSOR: return add_tensor(n, &v.u.t->t);
	default: return 1;
	}
}

/* Only operators that compute have names; those that work in place or draw random numbers have
 * none. */
uint64_t intermediate_name(const struct host_op_call *c, intermediate_which_fn *which, void *ctx)
{
	struct naming n = { .which = which, .ctx = ctx, .is_conv = strstr(c->name, "conv") != NULL };

	if (!(c->kind & BIND_COMPUTE) || c->kind & (BIND_INPLACE | BIND_RANDOM) || c->out.kind != V_TENSOR)
		return 0;
	add_bytes(&n, c->name, strlen(c->name));
	for (size_t i = 0; i < c->n; i++)
		if (add_value(&n, c->a[i]))
			return 0;
	return n.tensors ? n.name | 1 : 0;
}

/* --- comparing ---------------------------------------------------------------------------- */

/* How far two tensors may be apart that count as the same: relative to the element plus the root
 * mean square. Kernels may round intermediates as they like, in tf32, say. */
static const double slack = 1e-2;

/* The root of the mean square of a dense fp32 tensor. */
static double rms_of(const struct tensor *t)
{
	const float *v = tensor_data(t);
	double sum = 0.0;
	int64_t n = tensor_numel(t);

	for (int64_t i = 0; i < n; i++)
		sum += (double)v[i] * v[i];
	return n ? sqrt(sum / (double)n) : 0.0;
}

/* The slack is wide on purpose: a wrong match is caught at full size, where elements are compared,
 * while a missed match only leaves later launches without values. */
int intermediates_are_same(const struct tensor *a, const struct tensor *b)
{
	const float *x = tensor_data(a), *y = tensor_data(b);
	double rms;

	if (!tensor_same_shape(a, b))
		return 0;
	rms = rms_of(b);
	for (int64_t i = 0, n = tensor_numel(b); i < n; i++)
		if (!(fabs((double)x[i] - y[i]) <= slack * (fabs((double)y[i]) + rms)))
			return 0;
	return 1;
}

/* --- recording what launches write -------------------------------------------------------- */

const struct intermediate *intermediate_find(const struct intermediates *m, uint64_t how)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->v[i].how == how)
			return &m->v[i];
	return NULL;
}

void intermediates_release(struct intermediates *m)
{
	for (size_t i = 0; i < m->n; i++)
		tensor_release(&m->v[i].t);
	vec_free(m);
}

/* Names are the same at all sizes, while compiled code is not. */
uint64_t intermediate_kernel(const struct tile_launch *l)
{
	return hash_xxh64(l->fn->name.p, l->fn->name.n, 0);
}

/* Identifies a launch by its kernel and the memory that it is given. */
static uint64_t launch_name(const struct tile_launch *l)
{
	uint64_t name = intermediate_kernel(l);

	for (size_t i = 0; i < l->n_args; i++)
		if (l->args[i].kind == TILE_V_TENSOR)
			name = hash_xxh64(&l->args[i].t.st->data, sizeof l->args[i].t.st->data, name);
	return name;
}

/* Records begin after the descriptions of the steps. */
void step_recorder_init(struct step_recorder *s, struct shmem *a, int i)
{
	const struct run_order *o = &a->order[i];
	uint64_t first = step_align(o->steps_at, (uint64_t)o->n_steps * sizeof (struct run_step));

	*s = (struct step_recorder){ .o = o, .a = a, .r = &a->report[i], .at = first, .launch_at = first };
}

/* Counts a launch and returns its number. A tuner may repeat the last launch: then the launch is
 * not counted again, and its new records replace the old ones. */
static int begin_launch(struct step_recorder *s, const struct tile_launch *l)
{
	struct intermediate_matches *m = &s->r->matches;
	uint64_t name = launch_name(l);

	if (m->launches && name == m->last) {
		s->at = s->launch_at;
		s->r->n_records = s->launch_records;
	} else {
		s->launch_at = s->at;
		s->launch_records = s->r->n_records;
		m->launches++;
	}
	m->last = name;
	return m->launches - 1;
}

/* The first step that has the tensor's shape; -1: none. */
static int step_of(const struct step_recorder *s, const struct tensor *t)
{
	const struct run_step *step = (const struct run_step *)((const char *)s->a + s->o->steps_at);

	if (t->dt != DT_F32 || !tensor_is_contiguous(t))
		return -1;
	for (int i = 0; i < s->o->n_steps; i++)
		if (step[i].ndim == t->ndim && !memcmp(step[i].shape, t->shape, (size_t)t->ndim * sizeof *t->shape))
			return i;
	return -1;
}

/* Appends a record with the tensor's contents, if there is room. */
static void record(struct step_recorder *s, const struct run_record *x, const struct tensor *t)
{
	uint64_t bytes = (uint64_t)tensor_numel(t) * sizeof (float), data = step_align(s->at, sizeof *x);

	if (data + bytes > s->o->steps_at + s->o->steps_room)
		return;
	memcpy((char *)s->a + s->at, x, sizeof *x);
	memcpy((char *)s->a + data, tensor_data(t), bytes);
	s->at = step_align(data, bytes);
	s->r->n_records++;
}

/* Only arguments that the kernel writes can hold an intermediate afterwards. */
int intermediate_note(struct step_recorder *s, const struct tile_code *code, const struct tile_launch *l,
		      struct err *e)
{
	struct touched t;
	int launch = begin_launch(s, l);

	if (resource_touched(code, &t, e))
		return -1;
	for (size_t i = 0; i < MIN(l->n_args, (size_t)128); i++) {
		int step = t.written[i / 64] >> (i % 64) & 1 && l->args[i].kind == TILE_V_TENSOR ?
			step_of(s, &l->args[i].t) : -1;

		if (step >= 0)
			record(s, &(struct run_record){ .kernel = intermediate_kernel(l), .launch = launch,
							.arg = (int)i, .step = step }, &l->args[i].t);
	}
	return 0;
}

/* --- giving ------------------------------------------------------------------------------- */

/* The number of a hollow tensor: the input, weight or intermediate that its contents come from. */
static uint64_t which_given(void *ctx, const struct tensor *t)
{
	const struct intermediate_giver *g = ctx;
	const void *from = t->st->hollow ? sparse_source(t) : NULL;

	for (int i = 0; i < g->n_inputs && from; i++)
		if (tensor_data(&g->input[i]) == from)
			return INTERMEDIATE_OF_INPUTS + (uint64_t)i;
	for (size_t i = 0; i < g->tr->weights->n && from; i++)
		if (tensor_data(&g->tr->weights->v[i].t) == from)
			return INTERMEDIATE_OF_WEIGHTS + (uint64_t)i;
	for (size_t i = 0; i < g->tr->intermediates.n && from; i++)
		if (tensor_data(&g->tr->intermediates.v[i].t) == from)
			return g->tr->intermediates.v[i].how;
	return 0;
}

/* The name of a call is the same here and in the reference if its tensors come from the same
 * inputs, weights and earlier intermediates. A result that is not hollow has been computed
 * already. */
void intermediate_give(void *giver, const struct host_op_call *c)
{
	struct intermediate_giver *g = giver;
	uint64_t how = g->tr->intermediates.n ? intermediate_name(c, which_given, g) : 0;

	for (size_t i = 0; i < g->tr->intermediates.n && how; i++)
		if (g->tr->intermediates.v[i].how == how && c->out.u.t->t.st->hollow) {
			g->failed |= sparse_few(&c->out.u.t->t, &g->tr->intermediates.v[i].t, g->map) != 0;
			return;
		}
}
