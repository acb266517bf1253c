/* Lowering of products: linear, matmul, einsum, attention. All are sums of products over labelled
 * dimensions, as einsum writes them. */
#include <math.h>
#include <string.h>

#include "solve/lower.h"

enum { OPERANDS = 3, LABELS = 52 };

/* A sum of products: operand k has the label of each dimension in `in[k]`. */
struct contraction {
	int n;
	struct view x[OPERANDS];
	char in[OPERANDS][GRAPH_RANK + 1];
	char out[GRAPH_RANK + 1];
};

/* The size of a label; 0: it does not occur. */
static int64_t label_size(const struct contraction *c, char label)
{
	int64_t n = 0;

	for (int k = 0; k < c->n; k++)
		for (int d = 0; c->in[k][d]; d++)
			if (c->in[k][d] == label)
				n = MAX(n, c->x[k].size[d]);
	return n;
}

/* The product of the operands' elements; var[label] is the variable of a label. */
static const struct sx *product(struct lower *l, const struct contraction *c, const struct ix *const *var,
				enum dtype dt)
{
	const struct sx *all = NULL;

	for (int k = 0; k < c->n; k++) {
		const struct ix *i[GRAPH_RANK];
		const struct sx *x;

		for (int d = 0; c->in[k][d]; d++)
			i[d] = c->x[k].size[d] == 1 ? ix_num(l->p, 0) : var[(int)c->in[k][d]];
		x = sx_cast(l->p, lower_load(l, &c->x[k], i), dt);
		all = all ? sx_op2(l->p, SX_MUL, all, x) : x;
	}
	return all;
}

/* The value of a contraction, dense over the labels of its result. Returns 1 if it cannot be. */
static int contract(struct lower *l, const struct contraction *c, enum dtype dt, int *id)
{
	const struct ix *var[128] = { NULL };
	struct axes a = { .kept = 0, .count = 1 };

	for (int k = 0; k < c->n; k++)
		if ((int)strlen(c->in[k]) != c->x[k].rank)
			return 1;
	for (int d = 0; c->out[d]; d++) {
		a.size[d] = label_size(c, c->out[d]);
		var[(int)c->out[d]] = ix_var(l->p, d, a.size[d]);
		a.kept++;
	}
	for (int k = 0; k < c->n; k++)
		for (int d = 0; c->in[k][d]; d++) {
			char label = c->in[k][d];

			if (var[(int)label])
				continue;
			if (a.n_red == GRAPH_REDUCED)
				return 1;
			a.red[a.n_red] = label_size(c, label);
			var[(int)label] = ix_var(l->p, a.kept + a.n_red, a.red[a.n_red]);
			a.n_red++;
		}
	if (a.n_red)
		*id = lower_temp_reduce(l, &a, COMBINE_SUM, sx_dtype(dt), product(l, c, var, dt));
	else
		*id = lower_temp(l, a.kept, a.size, sx_dtype(dt), product(l, c, var, dt));
	return 0;
}

/* out = alpha * value + beta * more, where `more` (slot, or -1) broadcasts to the result. The value's
 * elements are those of the result in row-major order. */
static int finish(struct lower *l, int id, double alpha, int more, double beta)
{
	const struct tensor *out = &l->c->out.u.t->t;
	const struct ix *i[GRAPH_RANK];
	int64_t stride[GRAPH_RANK];
	const struct sx *x, *y;
	struct view v, w;

	lower_coords(l, out->ndim, out->shape, i);
	tensor_dense_strides(out->ndim, out->shape, stride);
	x = sx_load(l->p, id, graph_value(l->g, id)->dt, graph_at(l->g, out->ndim, stride, i), NULL, 0.0);
	x = sx_op2(l->p, SX_MUL, x, sx_num(l->p, alpha, x->dt));
	if (more >= 0 && lower_given(l, (size_t)more)) {
		if (lower_arg(l, (size_t)more, &v) || lower_expand(&v, out->ndim, out->shape, &w))
			return 1;
		y = sx_cast(l->p, lower_load(l, &w, i), x->dt);
		x = sx_op2(l->p, SX_ADD, x, sx_op2(l->p, SX_MUL, y, sx_num(l->p, beta, x->dt)));
	}
	return lower_map(l, l->c->out, x);
}

/* Labels of n leading dimensions: a, b, c, .... */
static void leading(char *to, int n)
{
	for (int d = 0; d < n; d++)
		to[d] = (char)('a' + d);
	to[n] = 0;
}

int lower_linear(struct lower *l)
{
	struct contraction c = { .n = 2 };
	int id;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &c.x[0]) || lower_arg(l, 1, &c.x[1]) || c.x[0].value < 0 ||
	    c.x[1].value < 0 || !c.x[0].rank || c.x[0].rank == GRAPH_RANK)
		return 1;
	leading(c.in[0], c.x[0].rank - 1);
	strcpy(c.out, c.in[0]);
	strcat(c.in[0], "z");
	strcpy(c.in[1], c.x[1].rank == 2 ? "yz" : "z");
	strcat(c.out, c.x[1].rank == 2 ? "y" : "");
	return contract(l, &c, l->c->out.u.t->t.dt, &id) || finish(l, id, 1.0, 2, 1.0);
}

/* y[.., o] = sum over i, j of a[.., i] * w[o, i, j] * b[.., j]. */
int lower_bilinear(struct lower *l)
{
	struct contraction c = { .n = 3 };
	int id;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &c.x[0]) || lower_arg(l, 2, &c.x[1]) ||
	    lower_arg(l, 1, &c.x[2]) || c.x[0].value < 0 || c.x[1].value < 0 || c.x[2].value < 0 || !c.x[0].rank)
		return 1;
	leading(c.in[0], c.x[0].rank - 1);
	strcpy(c.out, c.in[0]);
	strcpy(c.in[2], c.in[0]);
	strcat(c.in[0], "x");
	strcpy(c.in[1], "zxy");
	strcat(c.in[2], "y");
	strcat(c.out, "z");
	return contract(l, &c, l->c->out.u.t->t.dt, &id) || finish(l, id, 1.0, 3, 1.0);
}

/* The labels of a matrix product: leading dimensions are aligned from the right and broadcast. */
static int label_matmul(struct contraction *c)
{
	const struct view *a = &c->x[0], *b = &c->x[1];
	int na = MAX(a->rank - 2, 0), nb = MAX(b->rank - 2, 0), n = MAX(na, nb);

	if (!a->rank || !b->rank || n > GRAPH_RANK - 2)
		return 1;
	for (int d = 0; d < n; d++) {
		char label = (char)('a' + d);

		if (d >= n - na)
			c->in[0][d - (n - na)] = label;
		if (d >= n - nb)
			c->in[1][d - (n - nb)] = label;
		c->out[d] = label;
	}
	strcat(c->in[0], a->rank > 1 ? "xz" : "z");
	strcat(c->in[1], b->rank > 1 ? "zy" : "z");
	strcat(c->out, a->rank > 1 ? "x" : "");
	strcat(c->out, b->rank > 1 ? "y" : "");
	return 0;
}

static int matmul_of(struct lower *l, size_t a, size_t b, double alpha, int more, double beta)
{
	struct contraction c = { .n = 2 };
	int id;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, a, &c.x[0]) || lower_arg(l, b, &c.x[1]) || c.x[0].value < 0 ||
	    c.x[1].value < 0 || label_matmul(&c))
		return 1;
	return contract(l, &c, l->c->out.u.t->t.dt, &id) || finish(l, id, alpha, more, beta);
}

int lower_matmul(struct lower *l)
{
	return l->reflected ? matmul_of(l, 1, 0, 1.0, -1, 0.0) : matmul_of(l, 0, 1, 1.0, -1, 0.0);
}

int lower_addmm(struct lower *l)
{
	return matmul_of(l, 1, 2, lower_float(l, 4, 1.0), 0, lower_float(l, 3, 1.0));
}

int lower_outer(struct lower *l)
{
	struct contraction c = { .n = 2, .in = { "x", "y" }, .out = "xy" };
	int id;

	if (l->c->out.kind != V_TENSOR || lower_arg(l, 0, &c.x[0]) || lower_arg(l, 1, &c.x[1]))
		return 1;
	return contract(l, &c, l->c->out.u.t->t.dt, &id) || finish(l, id, 1.0, -1, 0.0);
}

/* Reads the labels of one operand up to ',' or "->". Returns 1 for ellipses and repeated labels. */
static int read_labels(const char **s, char *to)
{
	int n = 0;

	for (; **s && **s != ',' && **s != '-'; (*s)++) {
		if (**s == ' ')
			continue;
		if (**s == '.' || n == GRAPH_RANK || strchr(to, **s))
			return 1;
		to[n++] = **s;
		to[n] = 0;
	}
	return 0;
}

/* Without "->" the result has the labels that occur once, in alphabetical order. */
static void implicit_labels(struct contraction *c)
{
	for (int ch = 'A'; ch <= 'z'; ch++) {
		int count = 0, n = (int)strlen(c->out);

		for (int k = 0; k < c->n; k++)
			count += strchr(c->in[k], ch) != NULL;
		if (count == 1 && n < GRAPH_RANK)
			c->out[n] = (char)ch;
	}
}

static int read_equation(struct contraction *c, const char *s)
{
	for (int k = 0; k < c->n; k++) {
		if (read_labels(&s, c->in[k]) || (int)strlen(c->in[k]) != c->x[k].rank)
			return 1;
		s += *s == ',';
	}
	if (*s != '-') {
		implicit_labels(c);
		return 0;
	}
	s += 2;
	return read_labels(&s, c->out);
}

int lower_einsum(struct lower *l)
{
	struct contraction c = { .n = 0 };
	struct val all = l->c->n > 1 ? l->c->a[1] : val_none();
	int id;

	if (l->c->out.kind != V_TENSOR || l->c->a[0].kind != V_STR || all.kind != V_TUPLE)
		return 1;
	if (all.u.seq->n == 1 && (all.u.seq->v[0].kind == V_LIST || all.u.seq->v[0].kind == V_TUPLE))
		all = all.u.seq->v[0];
	if (!all.u.seq->n || all.u.seq->n > OPERANDS)
		return 1;
	for (; c.n < (int)all.u.seq->n; c.n++)
		if (lower_view(l, all.u.seq->v[c.n], &c.x[c.n]) || c.x[c.n].value < 0)
			return 1;
	return read_equation(&c, l->c->a[0].u.s->p) || contract(l, &c, l->c->out.u.t->t.dt, &id) ||
		finish(l, id, 1.0, -1, 0.0);
}

/* --- attention -------------------------------------------------------------------------------------- */

/* Scores, scaled and masked, as a value over (.., L, S). Masked scores are -inf. */
static int scores(struct lower *l, const struct contraction *c, int *id)
{
	const struct ix *i[GRAPH_RANK];
	const struct sx *s, *in;
	struct view m, w;
	int dots, rank;
	int64_t size[GRAPH_RANK];

	if (contract(l, c, c->x[0].dt, &dots))
		return 1;
	rank = graph_value(l->g, dots)->rank;
	memcpy(size, graph_value(l->g, dots)->size, sizeof size);
	lower_coords(l, rank, size, i);
	lower_temp_view(l, dots, &w);
	s = lower_load(l, &w, i);
	s = sx_op2(l->p, SX_MUL, s, sx_num(l->p, lower_given(l, 6) ? lower_float(l, 6, 1.0) :
					   1.0 / sqrt((double)c->x[0].size[c->x[0].rank - 1]), s->dt));
	if (lower_flag(l, 5)) {
		in = sx_op2(l->p, SX_GE, sx_index(l->p, ix_add(l->p, i[rank - 2], ix_mul(l->p, i[rank - 1], -1))),
			    sx_num(l->p, 0.0, DT_I32));
		s = sx_where(l->p, in, s, sx_num(l->p, -INFINITY, s->dt));
	}
	if (lower_given(l, 3)) {
		if (lower_arg(l, 3, &m) || lower_expand(&m, rank, size, &w))
			return 1;
		in = lower_load(l, &w, i);
		s = in->dt == DT_BOOL ? sx_where(l->p, in, s, sx_num(l->p, -INFINITY, s->dt)) :
			sx_op2(l->p, SX_ADD, s, sx_cast(l->p, in, s->dt));
	}
	*id = lower_temp(l, rank, size, s->dt, s);
	return 0;
}

/* softmax(q k / sqrt(d) + mask) v, in its parts. */
int lower_attention(struct lower *l)
{
	struct contraction c = { .n = 2 }, o = { .n = 2 };
	const struct sx *x, *arg[3];
	struct view s;
	struct axes a;
	int id, top, sum, rank;

	if (l->c->out.kind != V_TENSOR || lower_float(l, 4, 0.0) > 0.0 || lower_flag(l, 7) ||
	    lower_arg(l, 0, &c.x[0]) || lower_arg(l, 1, &c.x[1]) || lower_arg(l, 2, &o.x[1]) ||
	    c.x[0].value < 0 || c.x[1].value < 0 || c.x[0].rank < 2 || c.x[0].rank != c.x[1].rank ||
	    c.x[0].rank != o.x[1].rank)
		return 1;
	rank = c.x[0].rank;
	leading(c.in[0], rank - 2);
	strcpy(c.in[1], c.in[0]);
	strcpy(c.out, c.in[0]);
	strcpy(o.in[1], c.in[0]);
	strcat(c.in[0], "xz");
	strcat(c.in[1], "yz");
	strcat(c.out, "xy");
	if (scores(l, &c, &id))
		return 1;
	lower_temp_view(l, id, &s);
	if (lower_axes(l, rank, s.size, 1u << (rank - 1), &a))
		return 1;
	x = lower_load(l, &s, a.i);
	top = lower_temp_reduce(l, &a, COMBINE_MAX, x->dt, x);
	x = sx_op1(l->p, SX_EXP, sx_op2(l->p, SX_SUB, x, lower_stat(l, top, &a, a.i)));
	sum = lower_temp_reduce(l, &a, COMBINE_SUM, x->dt, x);
	lower_coords(l, rank, s.size, a.i);
	arg[0] = lower_load(l, &s, a.i);
	arg[1] = lower_stat(l, top, &a, a.i);
	arg[2] = lower_stat(l, sum, &a, a.i);
	id = lower_temp(l, rank, s.size, x->dt, formula_build(l, "exp($0 - $1) / $2", arg, 3, x->dt));
	lower_temp_view(l, id, &o.x[0]);
	strcpy(o.in[0], c.out);
	strcpy(o.out, o.in[1]);
	strcat(o.in[1], "yw");
	strcat(o.out, "xw");
	return contract(l, &o, l->c->out.u.t->t.dt, &id) || finish(l, id, 1.0, -1, 0.0);
}
