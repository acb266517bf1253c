/* Shared by all lowering functions: arguments, elements, results. lower.h is the manual. */
#include "solve/lower.h"

#include "interp/bind.h"
#include "solve/trace.h"
#include "tensor/sparse.h"

/* --- arguments ---------------------------------------------------------------------------- */

int lower_given(const struct lower *l, size_t i)
{
	return i < l->c->n && l->c->a[i].kind != V_UNSET && l->c->a[i].kind != V_NONE;
}

static int number(struct val v, double *out)
{
	if (v.kind != V_INT && v.kind != V_BOOL && v.kind != V_FLOAT)
		return 0;
	*out = v.kind == V_FLOAT ? v.u.f : (double)v.u.i;
	return 1;
}

/* Whether the contents of a tensor are known: it was made of numbers outside the recording. */
static int has_numbers(const struct tensor *t)
{
	return t->st->numbers && (!t->st->hollow || (t->st->sparse && sparse_is_made(t->st) &&
						     !sparse_touch(t->st, 0, t->st->bytes)));
}

/* The elements of a table as an expression over its row-major index: start + step * index, or a choice. */
static const struct sx *table(struct lower *l, const double *v, int64_t n, const struct ix *at, enum dtype dt)
{
	const struct sx *body = sx_num(l->p, v[n - 1], dt);
	int even = n > 1;

	for (int64_t k = 2; k < n; k++)
		even &= v[k] - v[k - 1] == v[1] - v[0];
	if (even) {
		body = sx_op2(l->p, SX_MUL, sx_cast(l->p, sx_index(l->p, at), dt), sx_num(l->p, v[1] - v[0], dt));
		return sx_op2(l->p, SX_ADD, body, sx_num(l->p, v[0], dt));
	}
	for (int64_t k = n - 1; k-- > 0;)
		body = sx_where(l->p, sx_op2(l->p, SX_EQ, sx_index(l->p, at), sx_num(l->p, (double)k, DT_I32)),
				sx_num(l->p, v[k], dt), body);
	return body;
}

enum { TABLE_MOST = 64 };

int lower_table(struct lower *l, const double *v, int rank, const int64_t *size, enum dtype dt, struct view *out)
{
	const struct ix *i[GRAPH_RANK];
	int64_t stride[GRAPH_RANK], n = 1;

	for (int d = 0; d < rank; d++)
		n *= size[d];
	if (n < 1 || n > TABLE_MOST)
		return 1;
	tensor_dense_strides(rank, size, stride);
	lower_coords(l, rank, size, i);
	lower_temp_view(l, lower_temp(l, rank, size, dt, table(l, v, n, graph_at(l->g, rank, stride, i), dt)), out);
	return 0;
}

/* A tensor made of numbers outside the recording: one is that number, a few are a table. */
static int constant(struct lower *l, const struct tensor *t, struct view *out)
{
	double v[TABLE_MOST];
	int64_t n = tensor_numel(t), stride[GRAPH_RANK];

	tensor_dense_strides(t->ndim, t->shape, stride);
	if (!has_numbers(t) || n < 1 || n > TABLE_MOST)
		return 1;
	for (int d = 0; d < t->ndim; d++)
		if (t->shape[d] > 1 && t->stride[d] != stride[d])
			return 1;
	for (int64_t k = 0; k < n; k++)
		v[k] = dtype_load(t->dt, (const char *)tensor_data(t) + k * dtype_size(t->dt));
	out->num = v[0];
	return n > 1 && lower_table(l, v, t->ndim, t->shape, t->dt, out);
}

struct val lower_unwrap(struct val v)
{
	const struct val *t = v.kind == V_OBJECT && v.u.o->attrs ?
		dict_find((struct val){ .kind = V_DICT, .u.d = v.u.o->attrs }, "_t") : NULL;

	return t && t->kind == V_TENSOR ? *t : v;
}

int lower_view(struct lower *l, struct val v, struct view *out)
{
	const struct trace_memory *m;
	const struct tensor *t;
	double n;

	*out = (struct view){ .value = -1 };
	if (number(v, &n)) {
		out->num = n;
		out->dt = v.kind == V_FLOAT ? DT_F32 : v.kind == V_BOOL ? DT_BOOL : DT_I64;
		return 0;
	}
	v = lower_unwrap(v);
	if (v.kind != V_TENSOR || v.u.t->t.ndim > GRAPH_RANK)
		return 1;
	t = &v.u.t->t;
	m = trace_find(l->t, t->st);
	out->dt = t->dt;
	out->rank = t->ndim;
	memcpy(out->size, t->shape, (size_t)t->ndim * sizeof out->size[0]);
	if (!m) {
		l->why = "a tensor that no operator, input or weight made";
		return constant(l, t, out);
	}
	memcpy(out->stride, t->stride, (size_t)t->ndim * sizeof out->stride[0]);
	out->value = m->value;
	out->offset = t->offset - m->base;
	return 0;
}

int lower_arg(struct lower *l, size_t i, struct view *out)
{
	return i < l->c->n ? lower_view(l, l->c->a[i], out) : 1;
}

int64_t lower_int(const struct lower *l, size_t i, int64_t otherwise)
{
	return i < l->c->n && (l->c->a[i].kind == V_INT || l->c->a[i].kind == V_BOOL) ? l->c->a[i].u.i : otherwise;
}

double lower_float(const struct lower *l, size_t i, double otherwise)
{
	double v;

	return i < l->c->n && number(l->c->a[i], &v) ? v : otherwise;
}

int lower_flag(const struct lower *l, size_t i)
{
	return lower_int(l, i, 0) != 0;
}

struct str lower_text(const struct lower *l, size_t i, const char *otherwise)
{
	return i < l->c->n && l->c->a[i].kind == V_STR ? val_text(l->c->a[i]) : str_of(otherwise);
}

int lower_ints(const struct lower *l, size_t i, int want, int64_t otherwise, int64_t *out)
{
	struct val v = i < l->c->n ? l->c->a[i] : val_none();
	int one = v.kind == V_INT || !lower_given(l, i);

	if (!one && v.kind != V_TUPLE && v.kind != V_LIST)
		return 1;
	if (!one && v.u.seq->n != 1 && v.u.seq->n != (size_t)want)
		return v.u.seq->n != 0;
	for (int k = 0; k < want; k++) {
		struct val x = one ? v : v.u.seq->v[v.u.seq->n == 1 ? 0 : k];

		if (lower_given(l, i) && x.kind != V_INT)
			return 1;
		out[k] = lower_given(l, i) ? x.u.i : otherwise;
	}
	return 0;
}

int lower_dims(const struct lower *l, size_t i, int rank, unsigned *mask)
{
	struct val v = lower_given(l, i) ? l->c->a[i] : val_none();
	size_t n = v.kind == V_INT ? 1 : v.kind == V_TUPLE || v.kind == V_LIST ? v.u.seq->n : 0;

	*mask = 0;
	if (!n)
		*mask = (1u << rank) - 1;
	for (size_t k = 0; k < n; k++) {
		struct val x = v.kind == V_INT ? v : v.u.seq->v[k];
		int64_t d = x.kind == V_INT ? x.u.i + (x.u.i < 0 ? rank : 0) : -1;

		if (rank && (d < 0 || d >= rank))
			return 1;
		*mask |= rank ? 1u << d : 0;
	}
	return 0;
}

int lower_dim(const struct lower *l, size_t i, int64_t otherwise, int rank)
{
	int64_t d = lower_int(l, i, otherwise);

	d += d < 0 ? rank : 0;
	return d >= 0 && d < rank ? (int)d : -1;
}

/* --- elements ------------------------------------------------------------------------------ */

const struct sx *lower_num(struct lower *l, double v, enum dtype dt)
{
	return sx_num(l->p, v, dt);
}

const struct sx *lower_masked(struct lower *l, const struct view *v, const struct ix *const *i,
			      const struct sx *mask, double otherwise)
{
	if (v->value < 0)
		return sx_where(l->p, mask, sx_num(l->p, v->num, v->dt), sx_num(l->p, otherwise, v->dt));
	return sx_load(l->p, v->value, v->dt, ix_addc(l->p, graph_at(l->g, v->rank, v->stride, i), v->offset), mask,
		       otherwise);
}

const struct sx *lower_load(struct lower *l, const struct view *v, const struct ix *const *i)
{
	return lower_masked(l, v, i, NULL, 0.0);
}

int lower_expand(const struct view *v, int rank, const int64_t *size, struct view *out)
{
	int more = rank - v->rank;

	*out = *v;
	out->rank = rank;
	if (more < 0 && v->value >= 0)
		return 1;
	for (int d = 0; d < rank; d++) {
		int own = d >= more && v->value >= 0;

		out->size[d] = size[d];
		out->stride[d] = own && v->size[d - more] != 1 ? v->stride[d - more] : 0;
		if (own && v->size[d - more] != 1 && v->size[d - more] != size[d])
			return 1;
	}
	return 0;
}

void lower_coords(struct lower *l, int rank, const int64_t *size, const struct ix **i)
{
	for (int d = 0; d < rank; d++)
		i[d] = ix_var(l->p, d, size[d]);
}

int lower_axes(struct lower *l, int rank, const int64_t *size, unsigned mask, struct axes *a)
{
	*a = (struct axes){ .rank = rank, .mask = mask, .count = 1 };
	for (int d = 0; d < rank; d++)
		if (!(mask >> d & 1))
			a->size[a->kept++] = size[d];
	for (int d = 0, k = 0; d < rank; d++) {
		if (mask >> d & 1) {
			if (a->n_red == GRAPH_REDUCED)
				return 1;
			a->i[d] = ix_var(l->p, a->kept + a->n_red, size[d]);
			a->red[a->n_red++] = size[d];
			a->count *= size[d];
		} else {
			a->i[d] = ix_var(l->p, k++, size[d]);
		}
	}
	return a->count == 0;
}

const struct sx *lower_stat(struct lower *l, int value, const struct axes *a, const struct ix *const *i)
{
	const struct ix *kept[GRAPH_RANK];
	int n = 0;

	for (int d = 0; d < a->rank; d++)
		if (!(a->mask >> d & 1))
			kept[n++] = i[d];
	return sx_load(l->p, value, graph_value(l->g, value)->dt,
		       graph_at(l->g, n, graph_value(l->g, value)->stride, kept), NULL, 0.0);
}

/* --- results -------------------------------------------------------------------------------- */

/* A computed value with the given loop sizes, dense in their order. */
static struct value dense(struct lower *l, int rank, const int64_t *size, enum dtype dt, const struct sx *body)
{
	struct value v = { .kind = VALUE_MAP, .dt = dt, .rank = rank, .numel = 1, .body = body, .op = l->c->name,
			   .name = l->name, .tf32 = l->c->tf32 != 0, .into = -1, .rank_out = -1 };

	tensor_dense_strides(rank, size, v.stride);
	for (int d = 0; d < rank; d++) {
		v.size[d] = size[d];
		v.numel *= size[d];
	}
	return v;
}

int lower_temp(struct lower *l, int rank, const int64_t *size, enum dtype dt, const struct sx *body)
{
	struct value v = dense(l, rank, size, dt, body);

	return graph_add(l->g, &v);
}

/* A reduction of many elements to a few would keep few multiprocessors busy: a loss over 48 images of 16384 pixels
 * is 48 sums and then the sum of them. The first reduced dimensions become kept ones of a value of its own.
 * Variables keep their numbers, since kept ones come first. */
static int in_parts(struct lower *l, struct value *v, const struct axes *a, const struct sx *body)
{
	enum { FEW = 16, PARTS_LEAST = 16, MANY = 1 << 15, PART_LEAST = 512 };
	int64_t parts = 1, rest = 1;
	const struct ix *i[GRAPH_RANK];
	struct axes part = *a;
	int n = 0, id;

	for (int d = 0; d < a->n_red; d++)
		rest *= a->red[d];
	if (a->n_red < 2 || v->how == COMBINE_PROD || v->how >= COMBINE_ARGMAX)
		return graph_add(l->g, v);
	if (v->numel <= FEW && rest >= MANY)
		for (; n + 1 < a->n_red && parts < PARTS_LEAST && a->kept + n < GRAPH_RANK; n++) {
			parts *= a->red[n];
			rest /= a->red[n];
		}
	n = graph_choose(l->g, parts < PARTS_LEAST || rest < PART_LEAST ? 0 : n);
	if (!n)
		return graph_add(l->g, v);
	for (int d = 0; d < n; d++)
		part.size[part.kept++] = a->red[d];
	part.n_red = a->n_red - n;
	memmove(part.red, part.red + n, (size_t)part.n_red * sizeof part.red[0]);
	id = lower_temp_reduce(l, &part, v->how, v->dt, body);
	lower_coords(l, part.kept, part.size, i);
	v->n_red = n;
	v->body = sx_load(l->p, id, v->dt, graph_at(l->g, part.kept, graph_value(l->g, id)->stride, i), NULL, 0.0);
	return graph_add(l->g, v);
}

int lower_temp_reduce(struct lower *l, const struct axes *a, enum combine how, enum dtype dt,
		      const struct sx *body)
{
	struct value v = dense(l, a->kept, a->size, dt, body);

	/* A product over no elements is zero. */
	for (int d = 0; d < a->n_red; d++)
		if (!a->red[d])
			return lower_temp(l, a->kept, a->size, dt, sx_num(l->p, how == COMBINE_PROD, dt));
	v.kind = VALUE_REDUCE;
	v.how = how;
	v.n_red = a->n_red;
	memcpy(v.red, a->red, sizeof v.red);
	return lower_split_product(l, &v) ? graph_add(l->g, &v) : in_parts(l, &v, a, body);
}

void lower_temp_view(struct lower *l, int value, struct view *out)
{
	const struct value *v = graph_value(l->g, value);

	*out = (struct view){ .value = value, .dt = v->dt, .rank = v->rank };
	memcpy(out->size, v->size, sizeof out->size);
	memcpy(out->stride, v->stride, sizeof out->stride);
}

/* Whether a tensor fills its storage with every element once: then its layout is the value's. */
static int covers(const struct tensor *t)
{
	return t->offset == 0 && tensor_is_dense(t) &&
		(int64_t)t->st->bytes <= MAX(tensor_numel(t), 1) * dtype_size(t->dt);
}

int lower_result(struct lower *l, struct val out, const struct value *like)
{
	struct value v = *like;
	struct tensor *t;
	const struct value *was;
	struct trace_memory *m;

	if (out.kind != V_TENSOR || out.u.t->t.ndim > GRAPH_RANK)
		return 1;
	t = &out.u.t->t;
	m = trace_find(l->t, t->st);
	was = m ? graph_value(l->g, m->value) : NULL;
	v.op = l->c->name;
	v.name = l->name;
	v.dt = t->dt;
	v.into = v.rank_out = -1;
	v.tf32 = l->c->tf32 != 0;
	v.body = sx_cast(l->p, v.body, t->dt);
	v.numel = was ? was->numel : MAX(tensor_numel(t), 1);
	trace_put(l->t, t->st, graph_add(l->g, &v), -1, 0);
	return 0;
}

/* The new contents of memory after a part of it, `t`, was written. Other elements keep their values.
 * Every dimension of the part must be a stepped range of one dimension of the memory. */
static int lower_part(struct lower *l, const struct tensor *t, struct trace_memory *m, const struct sx *body)
{
	struct value v = *graph_value(l->g, m->value);
	const struct ix *i[GRAPH_RANK], *to[GRAPH_VARS] = { NULL };
	const struct sx *in = NULL, *old;
	int64_t offset = t->offset - m->base;
	unsigned used = 0;

	lower_coords(l, v.rank, v.size, i);
	old = sx_load(l->p, m->value, v.dt, graph_at(l->g, v.rank, v.stride, i), NULL, 0.0);
	for (int k = 0; k < t->ndim; k++)
		to[k] = ix_num(l->p, 0);
	for (int d = 0; d < v.rank; d++) {
		int64_t start = v.size[d] <= 1 ? 0 : offset / v.stride[d] % v.size[d], step = 0;
		const struct ix *rel = ix_addc(l->p, i[d], -start);
		int k;

		if (v.size[d] <= 1)
			continue;
		for (k = 0; k < t->ndim; k++)
			if (!(used >> k & 1) && t->shape[k] > 1 && t->stride[k] % v.stride[d] == 0 &&
			    t->stride[k] / v.stride[d] * (t->shape[k] - 1) + start < v.size[d] && t->stride[k])
				break;
		if (k == t->ndim) {
			in = sx_both(l->p, in, sx_inside(l->p, i[d], start, start + 1));
			continue;
		}
		used |= 1u << k;
		step = t->stride[k] / v.stride[d];
		in = sx_both(l->p, in, sx_inside(l->p, rel, 0, step * (t->shape[k] - 1) + 1));
		if (step > 1)
			in = sx_both(l->p, in, sx_op2(l->p, SX_EQ, sx_index(l->p, ix_mod(l->p, rel, step)),
						      sx_num(l->p, 0.0, DT_I32)));
		to[k] = ix_within(l->p, ix_div(l->p, rel, step), t->shape[k]);
	}
	for (int k = 0; k < t->ndim; k++)
		if (t->shape[k] > 1 && !(used >> k & 1))
			return 1;
	v.kind = VALUE_MAP;
	v.n_red = 0;
	v.must_store = 0;
	v.body = sx_where(l->p, in, sx_cast(l->p, graph_guard(l->g, body, to, in, 0), v.dt), old);
	v.op = l->c->name;
	v.name = l->name;
	v.into = v.rank_out = -1;
	m->value = graph_add(l->g, &v);
	return 0;
}

int lower_map(struct lower *l, struct val out, const struct sx *body)
{
	struct tensor *t = out.kind == V_TENSOR ? &out.u.t->t : NULL;
	struct trace_memory *m = t ? trace_find(l->t, t->st) : NULL;
	struct value v = { .kind = VALUE_MAP, .body = body };

	if (!t || t->ndim > GRAPH_RANK)
		return 1;
	if (m && !(tensor_is_dense(t) && t->offset == m->base &&
		   tensor_numel(t) == graph_value(l->g, m->value)->numel))
		return lower_part(l, t, m, sx_cast(l->p, body, t->dt));
	if (!m && !covers(t))
		return 1;
	v.rank = t->ndim;
	memcpy(v.size, t->shape, (size_t)t->ndim * sizeof v.size[0]);
	memcpy(v.stride, t->stride, (size_t)t->ndim * sizeof v.stride[0]);
	return lower_result(l, out, &v);
}

int lower_copy(struct lower *l, struct val out, const struct view *from)
{
	const struct ix *i[GRAPH_RANK];
	struct view v;

	if (out.kind != V_TENSOR || out.u.t->t.ndim > GRAPH_RANK ||
	    lower_expand(from, out.u.t->t.ndim, out.u.t->t.shape, &v))
		return 1;
	lower_coords(l, v.rank, v.size, i);
	return lower_map(l, out, lower_load(l, &v, i));
}

void lower_nothing(struct lower *l, struct val out)
{
	struct value v = { .kind = VALUE_MAP };

	if (out.kind == V_TUPLE || out.kind == V_LIST)
		for (size_t i = 0; i < out.u.seq->n; i++)
			lower_nothing(l, out.u.seq->v[i]);
	if (out.kind != V_TENSOR || out.u.t->t.ndim > GRAPH_RANK || trace_find(l->t, out.u.t->t.st))
		return;
	v.rank = out.u.t->t.ndim;
	v.body = lower_num(l, 0.0, out.u.t->t.dt);
	memcpy(v.size, out.u.t->t.shape, sizeof v.size);
	lower_result(l, out, &v);
}
