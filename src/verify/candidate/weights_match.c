/* Matching the weights of a reference with the tensors of another model: see weights_match.h.
 *
 * Example: the reference has fc.weight (64, 32) and fc.bias (64). A candidate with self.weight
 * (64, 32) and self.b (64) is matched by "suffix" and by "order"; one that keeps the matrix as
 * (32, 64) is matched by "transposed". A guess by order is checked by values where that matters
 * (weights_differ). */
#include "verify/candidate/weights_match.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"

/* Collects one tensor of the model's state. */
static int add_member(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct weight_members *m = ctx;
	struct weight_member x = { .obj = obj };

	snprintf(x.name, sizeof x.name, "%.*s", STR_ARG(name));
	return vec_push(m, x) ? -1 : 0;
}

/* Can the tensor be the weight transposed? Both are floating matrices, of swapped shapes. */
static int fits_transposed(const struct weight_member *m, const struct task_weight *w)
{
	const struct tensor *a = &m->obj->t;

	return !m->of && a->ndim == 2 && w->t.ndim == 2 && a->shape[0] == w->full[1] &&
		a->shape[1] == w->full[0] && dtype_is_float(a->dt);
}

/* Are the shapes the same, apart from sizes of one? A bias of (64, 1, 1) is often written as
 * (64,). */
static int same_sizes(int ndim, const int64_t *shape, const struct task_weight *w)
{
	int i = 0, k = 0;

	for (;;) {
		while (i < ndim && shape[i] == 1)
			i++;
		while (k < w->t.ndim && w->full[k] == 1)
			k++;
		if (i == ndim || k == w->t.ndim)
			return i == ndim && k == w->t.ndim;
		if (shape[i++] != w->full[k++])
			return 0;
	}
}

/* Does the weight hold fewer indices than a model at full size has, along some dimension? */
static int is_reduced(const struct task_weight *w)
{
	for (int i = 0; i < w->t.ndim; i++)
		if (w->full[i] != w->t.shape[i])
			return 1;
	return 0;
}

/* Is the tensor free, and floating if and only if the weight is? */
static int same_kind(const struct weight_member *m, const struct task_weight *w)
{
	return !m->of && dtype_is_float(m->obj->t.dt) == dtype_is_float(w->t.dt);
}

/* Can the tensor be the weight in its own shape? */
static int fits(const struct weight_member *m, const struct task_weight *w)
{
	return same_kind(m, w) && same_sizes(m->obj->t.ndim, m->obj->t.shape, w);
}

/* Can the tensor be the weight in another shape? A convolution's window is often kept as a
 * matrix. */
static int fits_folded(const struct weight_member *m, const struct task_weight *w)
{
	return same_kind(m, w) && !is_reduced(w) && tensor_numel(&m->obj->t) == tensor_numel(&w->t);
}

/* Is one name the end of the other, after a dot or an underscore? "linear.weight" is often written
 * "linear_weight", or just "weight". */
static int is_suffix(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b), n = MIN(na, nb);
	const char *longer = na > nb ? a : b;

	for (size_t i = 1; i <= n; i++) {
		char x = a[na - i] == '.' ? '_' : a[na - i], y = b[nb - i] == '.' ? '_' : b[nb - i];

		if (x != y)
			return 0;
	}
	return na == nb || longer[MAX(na, nb) - n - 1] == '.' || longer[MAX(na, nb) - n - 1] == '_';
}

/* "seed": nothing was recognised for some weight, and only the common seed of construction is
 * left. */
const char *weights_match_name(enum match by)
{
	static const char *const names[MATCHES + 1] = { "name", "suffix", "order", "transposed", "folded",
						       "seed" };

	return names[by];
}

/* Does the tensor fit the weight by this sign? */
static int fits_by(const struct weight_member *m, const struct task_weight *w, enum match by)
{
	return by == MATCH_TRANSPOSED ? fits_transposed(m, w) : by == MATCH_FOLDED ? fits_folded(m, w) : fits(m, w);
}

/* The tensor that a weight is recognised by this sign; NULL: none, or several by the end of their
 * names. A parameter is only recognised by its order among parameters. */
static struct weight_member *find_member(struct weight_members *m, const struct task_weight *w, enum match by)
{
	struct weight_member *found = NULL;

	for (size_t i = 0; i < m->n; i++) {
		struct weight_member *x = &m->v[i];

		if (!fits_by(x, w, by))
			continue;
		if (by == MATCH_NAME ? !strcmp(x->name, w->name) :
		    (by == MATCH_ORDER || by == MATCH_TRANSPOSED) && x->obj->is_param == w->param)
			return x;
		if ((by != MATCH_SUFFIX && by != MATCH_FOLDED) || !is_suffix(x->name, w->name))
			continue;
		if (found)
			return NULL;
		found = x;
	}
	return found;
}

/* A walk over the members is enough: models have at most a few hundred tensors. */
const struct weight_member *members_partner(const struct weight_members *m, const struct task_weight *w)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->v[i].of == w)
			return &m->v[i];
	return NULL;
}

/* Does the weight have a tensor already? Each weight gets one tensor, and each tensor one
 * weight. */
static int has_partner(const struct weight_members *m, const struct task_weight *w)
{
	return members_partner(m, w) != NULL;
}

/* May a model do without it? Counters, masks and buffers that forward itself overwrites need not
 * be there. */
static int may_be_missing(const struct task_weight *w)
{
	return !dtype_is_float(w->t.dt) || w->kept || weights_is_mask(w);
}

/* Gives each weight its tensor, from the surest sign to the weakest. Returns the weakest sign that
 * was needed, MATCHES if a weight has no partner. */
static enum match match_members(struct weight_members *m, const struct task_weights *w)
{
	enum match worst = MATCH_NAME;

	for (enum match by = MATCH_NAME; by < MATCHES; by++)
		for (size_t i = 0; i < w->n; i++) {
			struct weight_member *x = has_partner(m, &w->v[i]) ? NULL : find_member(m, &w->v[i], by);

			if (!x)
				continue;
			x->of = &w->v[i];
			worst = by;
		}
	for (size_t i = 0; i < w->n; i++)
		if (!may_be_missing(&w->v[i]) && !has_partner(m, &w->v[i]))
			worst = MATCHES;
	return worst;
}

int members_open(struct weight_members *m, const struct task_weights *w, struct host *h, struct val model,
			enum match *by, struct err *e)
{
	*m = (struct weight_members){ .n = 0 };
	if (host_state(h, model, add_member, m)) {
		vec_free(m);
		return err_nomem(e);
	}
	*by = match_members(m, w);
	return 0;
}

/* Buffers need a partner only if their constant was moved: a candidate may compute them itself. */
const struct task_weight *weights_missing(const struct task_weights *w, struct host *h, struct val model)
{
	const struct task_weight *missing = NULL;
	struct weight_members m;
	enum match by;

	if (members_open(&m, w, h, model, &by, NULL))
		return NULL;
	for (size_t i = 0; i < w->n && !missing; i++)
		if ((w->v[i].moved || w->v[i].param) && !w->v[i].kept && !has_partner(&m, &w->v[i]))
			missing = &w->v[i];
	vec_free(&m);
	return missing;
}

/* The member's shape at the sizes of a reduced task. Dimensions of size one are skipped in both,
 * since they may be placed differently. */
static void reduced_shape(const struct weight_member *m, int64_t *shape)
{
	const struct task_weight *w = m->of;

	memcpy(shape, m->obj->t.shape, TENSOR_DIMS * sizeof *shape);
	for (int i = 0, k = 0; is_reduced(w) && i < m->obj->t.ndim; i++) {
		if (shape[i] == 1)
			continue;
		while (w->full[k] == 1)
			k++;
		shape[i] = w->t.shape[k++];
	}
}

/* Does the member hold its weight transposed, by its values or by its shape? */
int member_is_transposed(const struct weight_member *m)
{
	const struct tensor *a = &m->obj->t;
	const int64_t *full = m->of->full;

	return m->obj->transposed || (a->ndim == 2 && m->of->t.ndim == 2 && a->shape[0] != full[0] &&
				      a->shape[0] == full[1]);
}

/* A view of the member's weight, in the member's shape. */
int member_view(struct tensor *out, const struct weight_member *m, struct err *e)
{
	int64_t shape[TENSOR_DIMS];

	if (member_is_transposed(m))
		return tensor_transpose(out, &m->of->t, 0, 1, e);
	reduced_shape(m, shape);
	return tensor_view(out, &m->of->t, m->obj->t.ndim, shape, e);
}

/* --- what names and shapes do not settle -------------------------------------------------- */

/* Is it certain which weight the member corresponds to? It is if the member has the weight's whole
 * name. It also is if the member has the end of the name or the shape, and no other parameter of
 * the reference has that. */
static int is_settled(const struct weight_member *m, const struct task_weights *w)
{
	int ends = 0, shapes = 0;

	for (size_t i = 0; i < w->n; i++) {
		ends += w->v[i].param && is_suffix(m->name, w->v[i].name);
		shapes += w->v[i].param && same_sizes(m->of->t.ndim, m->of->full, &w->v[i]);
	}
	return !strcmp(m->name, m->of->name) || shapes == 1 || (ends == 1 && is_suffix(m->name, m->of->name));
}

/* Does the member hold the values of its weight, up to rounding? Both models were constructed
 * under one seed, so that the same draws in the same order give the same values. Returns -1 on our
 * own failure. */
static int holds_values(const struct weight_member *m, struct err *e)
{
	const double slack = m->obj->t.dt == DT_F32 ? 1e-5 : 1e-2;
	struct tensor view, a, b;
	const double *x, *y;
	double most = 0.0, apart = 0.0;

	if (member_view(&view, m, e))
		return -1;
	if (tensor_to(&b, &view, DT_F64, e)) {
		tensor_release(&view);
		return -1;
	}
	tensor_release(&view);
	if (tensor_to(&a, &m->obj->t, DT_F64, e)) {
		tensor_release(&b);
		return -1;
	}
	x = tensor_data(&a);
	y = tensor_data(&b);
	for (int64_t i = 0, n = tensor_numel(&a); i < n; i++) {
		most = fmax(most, fabs(y[i]));
		apart = isnan(x[i]) ? INFINITY : fmax(apart, fabs(x[i] - y[i]));
	}
	tensor_release(&a);
	tensor_release(&b);
	return apart <= slack * most;
}

/* As wide as it is high, and not under the reference's whole name: is it the weight or its
 * transpose? */
int member_may_be_transposed(const struct weight_member *m)
{
	const struct tensor *t = &m->obj->t;

	return m->of && fits_transposed(&(struct weight_member){ .obj = m->obj }, m->of) &&
		t->shape[0] == t->shape[1] && strcmp(m->name, m->of->name) != 0;
}

/* A square matrix is tried without transposing first, then transposed. If it holds the values in
 * neither way, it is not transposed: weights_differ reports it. */
int weights_note_transposed(const struct task_weights *w, struct host *h, struct val model,
			    uint64_t *transposed, struct err *e)
{
	struct weight_members m;
	enum match by;
	int rc = members_open(&m, w, h, model, &by, e);

	*transposed = 0;
	for (size_t i = 0; !rc && i < m.n; i++) {
		int straight = member_may_be_transposed(&m.v[i]) ? holds_values(&m.v[i], e) : 1, other = 0;

		if (!straight) {
			m.v[i].obj->transposed = 1;
			other = holds_values(&m.v[i], e);
			m.v[i].obj->transposed = other > 0;
		}
		*transposed |= i < 64 && m.v[i].of && member_is_transposed(&m.v[i]) ? (uint64_t)1 << i : 0;
		rc = straight < 0 || other < 0 ? -1 : 0;
	}
	vec_free(&m);
	return rc;
}

/* A weight whose partner is certain may start with other values: it is overwritten anyway. */
int weights_differ(const struct task_weights *w, struct host *h, struct val model,
		   const struct task_weight **out, struct err *e)
{
	struct weight_members m;
	enum match by;
	int rc = members_open(&m, w, h, model, &by, e);

	*out = NULL;
	for (size_t i = 0; !rc && i < m.n && !*out; i++) {
		int same = 1;

		if (m.v[i].of && m.v[i].of->param && dtype_is_float(m.v[i].of->t.dt) && !is_settled(&m.v[i], w))
			same = holds_values(&m.v[i], e);
		rc = same < 0 ? -1 : 0;
		*out = same ? NULL : m.v[i].of;
	}
	vec_free(&m);
	return rc;
}
