/* Lowering of losses: elementwise ones (loss.def), losses over classes, distances. Each ends with a reduction:
 * none, mean, sum, or batchmean. size_average= and reduce= are translated before they come here. */
#include "solve/lower.h"

enum { NO_SLOT = 9, OPERANDS = 3 };

/* Operands that broadcast to one shape, with all its dimensions to reduce. */
struct loss {
	struct view x[OPERANDS];
	int n;
	int rank;
	int64_t size[GRAPH_RANK];
};

static int read_operands(struct lower *l, struct loss *s, const size_t *slot, int n)
{
	*s = (struct loss){ .n = n };
	for (int k = 0; k < n; k++)
		if (lower_arg(l, slot[k], &s->x[k]) ||
		    tensor_broadcast_shape(&s->rank, s->size, s->x[k].rank, s->x[k].size, NULL))
			return 1;
	return 0;
}

/* Operand k at coordinates of the common shape. */
static const struct sx *operand(struct lower *l, const struct loss *s, int k, const struct ix *const *i, enum dtype dt)
{
	struct view w;

	return lower_expand(&s->x[k], s->rank, s->size, &w) ? NULL : sx_cast(l->p, lower_load(l, &w, i), dt);
}

/* The coordinates at which the loss is built: those of the result, or variables that are reduced. */
static int loss_axes(struct lower *l, int rank, const int64_t *size, struct str how, struct axes *a)
{
	return lower_axes(l, rank, size, str_is(how, "none") ? 0 : (1u << rank) - 1, a);
}

/* out = the loss at these coordinates, reduced. */
static int reduce_loss(struct lower *l, struct axes *a, struct str how, const struct sx *x)
{
	int64_t batch = a->n_red ? a->red[0] : 1;
	int id;

	if (str_is(how, "none"))
		return lower_map(l, l->c->out, x);
	id = lower_temp_reduce(l, a, COMBINE_SUM, x->dt, x);
	if (str_is(how, "sum"))
		return lower_reduced(l, l->c->out, id, a, "$0", 0);
	return lower_reduced(l, l->c->out, id, a, "$0 / $1", (double)(str_is(how, "mean") ? a->count : batch));
}

/* An elementwise loss: the operands are arg[0] .. arg[n - 1], the parameter is $3. A weight multiplies it. */
static int pointwise(struct lower *l, struct loss *s, const char *formula, double param, struct str how, size_t weight)
{
	const struct sx *arg[4] = { NULL }, *x;
	enum dtype dt = l->c->out.kind == V_TENSOR ? sx_dtype(l->c->out.u.t->t.dt) : DT_F32;
	struct view w, own;
	struct axes a;

	if (l->c->out.kind != V_TENSOR || !dtype_is_float(dt) || loss_axes(l, s->rank, s->size, how, &a))
		return 1;
	for (int k = 0; k < s->n; k++)
		if (!(arg[k] = operand(l, s, k, a.i, dt)))
			return 1;
	arg[3] = sx_num(l->p, param, dt);
	x = formula_build(l, formula, arg, 4, dt);
	if (weight != NO_SLOT && lower_given(l, weight)) {
		if (lower_arg(l, weight, &w) || lower_expand(&w, s->rank, s->size, &own))
			return 1;
		x = sx_op2(l->p, SX_MUL, x, sx_cast(l->p, lower_load(l, &own, a.i), dt));
	}
	return reduce_loss(l, &a, how, x);
}

int lower_point_loss(struct lower *l)
{
	static const struct { const char *formula; size_t third, param, how, weight; } info[] = {
#define LOSS(name, formula, third, param, how, weight) { formula, third, param, how, weight },
#include "solve/loss.def"
#undef LOSS
	};
	static const size_t slots[] = { 0, 1 };
	size_t three[] = { 0, 1, info[l->param].third };
	double param = lower_float(l, info[l->param].param, 1.0);
	const char *formula = info[l->param].formula;
	struct loss s;

	if (read_operands(l, &s, info[l->param].third == NO_SLOT ? slots : three,
			  info[l->param].third == NO_SLOT ? 2 : 3))
		return 1;
	if (l->param == LOSS_smooth_l1_loss && param == 0.0)
		formula = info[LOSS_l1_loss].formula;
	if (l->param == LOSS_gaussian_nll_loss && (lower_flag(l, 3) || s.x[2].rank != s.x[0].rank))
		return 1;
	return pointwise(l, &s, formula, param, lower_text(l, info[l->param].how, "mean"), info[l->param].weight);
}

int lower_kl_div(struct lower *l)
{
	struct loss s;

	const char *formula = lower_flag(l, 5) ? "exp($1) * ($1 - $0)" : "where($1 == 0, 0, $1 * (log($1) - $0))";

	return read_operands(l, &s, (size_t[]){ 0, 1 }, 2) ||
		pointwise(l, &s, formula, 0.0, lower_text(l, 4, "mean"), NO_SLOT);
}

int lower_bce_logits(struct lower *l)
{
	struct loss s;
	int positive = lower_given(l, 6);

	const char *formula = positive ? "(1 - $1) * $0 + (1 + ($2 - 1) * $1) * (log1p(exp(-abs($0))) + max(-$0, 0))" :
		"(1 - $1) * $0 - min($0, 0) + log1p(exp(-abs($0)))";

	return read_operands(l, &s, (size_t[]){ 0, 1, 6 }, positive ? 3 : 2) ||
		pointwise(l, &s, formula, 0.0, lower_text(l, 5, "mean"), 2);
}

int lower_poisson(struct lower *l)
{
	struct loss s;

	const char *formula = !lower_given(l, 2) || lower_flag(l, 2) ? "exp($0) - $1 * $0" : "$0 - $1 * log($0 + $3)";

	return lower_flag(l, 3) || read_operands(l, &s, (size_t[]){ 0, 1 }, 2) ||
		pointwise(l, &s, formula, lower_float(l, 5, 1e-8), lower_text(l, 7, "mean"), NO_SLOT);
}

/* --- classes ------------------------------------------------------------------------------------------- */

/* x [N, C, inner..] or [C]: log probabilities, or logits with their statistics over the classes. */
struct classes {
	struct view x, target, weight;
	int at;                          /* the dimension of the classes */
	int rank;                        /* without it */
	int64_t n, size[GRAPH_RANK];
	int logits, weighted;
	struct axes a;                   /* of x, with the classes reduced */
	int top, sum;                    /* values: the largest logit, the sum of exp(x - top) */
	double smoothing;
};

/* The coordinates of x: those of a target and a class. */
static void class_coords(const struct classes *c, const struct ix *const *i, const struct ix *k, const struct ix **all)
{
	for (int d = 0, n = 0; d < c->x.rank; d++)
		all[d] = d == c->at ? k : i[n++];
}

/* -weight * log probability of a class. */
static const struct sx *class_term(struct lower *l, const struct classes *c, const struct ix *const *i,
				   const struct ix *k, const struct sx *mask)
{
	const struct ix *all[GRAPH_RANK];
	const struct sx *arg[4];
	const struct view *w = &c->weight;

	class_coords(c, i, k, all);
	arg[0] = lower_masked(l, &c->x, all, mask, 0.0);
	if (c->logits) {
		arg[1] = lower_stat(l, c->top, &c->a, all);
		arg[2] = lower_stat(l, c->sum, &c->a, all);
	}
	arg[3] = c->weighted ? lower_masked(l, w, &k, mask, 0.0) : NULL;
	return formula_build(l, c->logits ? c->weighted ? "($1 + log($2) - $0) * $3" : "$1 + log($2) - $0" :
			     c->weighted ? "-$0 * $3" : "-$0", arg, 4, c->x.dt);
}

static int read_classes(struct lower *l, struct classes *c)
{
	const struct sx *x, *d;

	*c = (struct classes){ .logits = l->param, .weighted = lower_given(l, 2) };
	if (lower_arg(l, 0, &c->x) || lower_arg(l, 1, &c->target) || c->x.value < 0 || c->target.value < 0 ||
	    !c->x.rank || !dtype_is_float(c->x.dt) ||
	    (c->weighted && (lower_arg(l, 2, &c->weight) || c->weight.value < 0)))
		return 1;
	c->at = c->x.rank > 1;
	c->n = c->x.size[c->at];
	for (int k = 0; k < c->x.rank; k++)
		if (k != c->at)
			c->size[c->rank++] = c->x.size[k];
	c->smoothing = l->param ? lower_float(l, 7, 0.0) : 0.0;
	if (lower_axes(l, c->x.rank, c->x.size, 1u << c->at, &c->a))
		return 1;
	if (!c->logits)
		return 0;
	x = lower_load(l, &c->x, c->a.i);
	c->top = lower_temp_reduce(l, &c->a, COMBINE_MAX, x->dt, x);
	d = sx_op2(l->p, SX_SUB, x, lower_stat(l, c->top, &c->a, c->a.i));
	c->sum = lower_temp_reduce(l, &c->a, COMBINE_SUM, x->dt, sx_op1(l->p, SX_EXP, d));
	return 0;
}

/* The sum over all classes of -weight * p * log probability, as a value over the targets. p is the target's
 * probability, or 1. */
static int sum_classes(struct lower *l, struct classes *c, int by_target)
{
	const struct ix *i[GRAPH_RANK];
	const struct sx *x, *p;
	double even = c->smoothing / (double)c->n;

	lower_coords(l, c->rank, c->size, i);
	x = class_term(l, c, i, c->a.i[c->at], NULL);
	if (by_target) {
		p = sx_cast(l->p, lower_load(l, &c->target, c->a.i), x->dt);
		if (c->smoothing > 0.0)
			p = sx_op2(l->p, SX_ADD, sx_op2(l->p, SX_MUL, p, sx_num(l->p, 1.0 - c->smoothing, x->dt)),
				   sx_num(l->p, even, x->dt));
		x = sx_op2(l->p, SX_MUL, x, p);
	}
	return lower_temp_reduce(l, &c->a, COMBINE_SUM, x->dt, x);
}

/* An element of a value over the targets. */
static const struct sx *of_target(struct lower *l, int id, const struct ix *const *i)
{
	struct view v;

	lower_temp_view(l, id, &v);
	return lower_load(l, &v, i);
}

/* Targets are probabilities: the mean is over the targets. */
static int soft_targets(struct lower *l, struct classes *c, struct str how)
{
	int id = sum_classes(l, c, 1);
	struct axes a;

	return loss_axes(l, c->rank, c->size, how, &a) || reduce_loss(l, &a, how, of_target(l, id, a.i));
}

/* Targets are numbers of classes; one that is to be ignored counts nothing. The mean is by the weights. */
static int class_targets(struct lower *l, struct classes *c, struct str how)
{
	const struct sx *t, *live, *x, *w, *arg[2];
	int smooth = c->smoothing > 0.0 ? sum_classes(l, c, 0) : -1, ids[2];
	const struct ix *k;
	struct axes a;

	if (c->target.rank > c->rank || loss_axes(l, c->rank, c->size, how, &a))
		return 1;
	t = lower_load(l, &c->target, a.i);
	live = sx_op2(l->p, SX_NE, t, sx_num(l->p, (double)lower_int(l, 4, -100), t->dt));
	k = ix_value(l->p, t, 0, c->n - 1);
	x = class_term(l, c, a.i, k, live);
	if (smooth >= 0) {
		x = sx_op2(l->p, SX_MUL, x, sx_num(l->p, 1.0 - c->smoothing, x->dt));
		x = sx_op2(l->p, SX_ADD, x, sx_op2(l->p, SX_MUL, of_target(l, smooth, a.i),
						   sx_num(l->p, c->smoothing / (double)c->n, x->dt)));
	}
	x = sx_where(l->p, live, x, sx_num(l->p, 0.0, x->dt));
	if (!str_is(how, "mean"))
		return reduce_loss(l, &a, how, x);
	w = c->weighted ? lower_masked(l, &c->weight, &k, live, 0.0) : sx_cast(l->p, live, x->dt);
	ids[0] = lower_temp_reduce(l, &a, COMBINE_SUM, x->dt, x);
	ids[1] = lower_temp_reduce(l, &a, COMBINE_SUM, x->dt, w);
	for (int n = 0; n < 2; n++)
		arg[n] = lower_stat(l, ids[n], &a, a.i);
	return lower_map(l, l->c->out, sx_op2(l->p, SX_DIV, arg[0], arg[1]));
}

/* nll_loss; param 1: cross_entropy. */
int lower_class_loss(struct lower *l)
{
	struct str how = lower_text(l, 6, "mean");
	struct classes c;

	if (l->c->out.kind != V_TENSOR || read_classes(l, &c))
		return 1;
	return dtype_is_float(c.target.dt) ? soft_targets(l, &c, how) : class_targets(l, &c, how);
}

/* --- distances ------------------------------------------------------------------------------------------- */

/* The sum over the last dimension of a formula of two operands, as a value over the others. */
static int sum_last(struct lower *l, const struct loss *s, int p, int q, const char *formula, double eps,
		    struct axes *a)
{
	const struct sx *arg[3], *x;

	if (!s->rank || lower_axes(l, s->rank, s->size, 1u << (s->rank - 1), a))
		return -1;
	arg[0] = operand(l, s, p, a->i, sx_dtype(l->c->out.u.t->t.dt));
	arg[1] = operand(l, s, q, a->i, sx_dtype(l->c->out.u.t->t.dt));
	if (!arg[0] || !arg[1] || !dtype_is_float(arg[0]->dt))
		return -1;
	arg[2] = sx_num(l->p, eps, arg[0]->dt);
	x = formula_build(l, formula, arg, 3, arg[0]->dt);
	return lower_temp_reduce(l, a, COMBINE_SUM, x->dt, x);
}

/* eps is added to each difference, so equal vectors have a small distance. */
static const char *const difference[] = { "", "abs($0 - $1 + $2)", "($0 - $1 + $2) * ($0 - $1 + $2)" };

int lower_pairwise_distance(struct lower *l)
{
	double p = lower_float(l, 2, 2.0);
	struct loss s;
	struct axes a;
	int id;

	if (l->c->out.kind != V_TENSOR || (p != 1.0 && p != 2.0) || read_operands(l, &s, (size_t[]){ 0, 1 }, 2))
		return 1;
	id = sum_last(l, &s, 0, 1, difference[(int)p], lower_float(l, 3, 1e-6), &a);
	return id < 0 || lower_reduced(l, l->c->out, id, &a, p == 2.0 ? "sqrt($0)" : "$0", 0);
}

/* max(|a - p| - |a - n| + margin, 0); with swap |p - n| counts where it is smaller. */
int lower_triplet(struct lower *l)
{
	double p = lower_float(l, 4, 2.0), eps = lower_float(l, 5, 1e-6);
	struct str how = lower_text(l, 9, "mean");
	static const int pair[3][2] = { { 0, 1 }, { 0, 2 }, { 1, 2 } };
	const struct sx *arg[4];
	struct loss s;
	struct axes a;
	int id[3];

	if (l->c->out.kind != V_TENSOR || (p != 1.0 && p != 2.0) || read_operands(l, &s, (size_t[]){ 0, 1, 2 }, 3))
		return 1;
	for (int k = 0; k < 2 + lower_flag(l, 6); k++)
		if ((id[k] = sum_last(l, &s, pair[k][0], pair[k][1], difference[(int)p], eps, &a)) < 0)
			return 1;
	if (loss_axes(l, s.rank - 1, s.size, how, &a))
		return 1;
	for (int k = 0; k < 2 + lower_flag(l, 6); k++) {
		arg[k] = of_target(l, id[k], a.i);
		arg[k] = p == 2.0 ? sx_op1(l->p, SX_SQRT, arg[k]) : arg[k];
	}
	if (lower_flag(l, 6))
		arg[1] = sx_op2(l->p, SX_MIN, arg[1], arg[2]);
	arg[3] = sx_num(l->p, lower_float(l, 3, 1.0), arg[0]->dt);
	return reduce_loss(l, &a, how, formula_build(l, "max($3 + $0 - $1, 0)", arg, 4, arg[0]->dt));
}

/* 1 - cos(x, y) where the target is 1, max(cos(x, y) - margin, 0) where it is -1. */
int lower_cosine_embedding(struct lower *l)
{
	static const char *const sums[] = { "$0 * $1", "$0 * $0 + $2", "$1 * $1 + $2" };
	struct str how = lower_text(l, 6, "mean");
	const struct sx *arg[5];
	struct loss s;
	struct view t, w;
	struct axes a;
	int id[3];

	if (l->c->out.kind != V_TENSOR || read_operands(l, &s, (size_t[]){ 0, 1 }, 2) || lower_arg(l, 2, &t))
		return 1;
	for (int k = 0; k < 3; k++)
		if ((id[k] = sum_last(l, &s, 0, 1, sums[k], 0.0, &a)) < 0)
			return 1;
	if (loss_axes(l, s.rank - 1, s.size, how, &a) || lower_expand(&t, s.rank - 1, s.size, &w))
		return 1;
	for (int k = 0; k < 3; k++)
		arg[k] = of_target(l, id[k], a.i);
	arg[0] = formula_build(l, "$0 / sqrt(($1 + 1e-12) * ($2 + 1e-12))", arg, 3, arg[0]->dt);
	arg[1] = sx_cast(l->p, lower_load(l, &w, a.i), arg[0]->dt);
	arg[2] = sx_num(l->p, lower_float(l, 3, 0.0), arg[0]->dt);
	arg[0] = formula_build(l, "where($1 == 1, 1 - $0, where($1 == -1, max($0 - $2, 0), 0))", arg, 3, arg[0]->dt);
	return reduce_loss(l, &a, how, arg[0]);
}
