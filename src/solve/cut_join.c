/* Joining a value to a kernel: the one that it reads from, if it reads results at its own place only, or one
 * that reduces the same data. See cut.h. */
#include "solve/cut_impl.h"

int cut_is_product(const struct value *v)
{
	return v->in_parts || (v->kind == VALUE_REDUCE && v->how == COMBINE_SUM && v->body->op == SX_MUL &&
			       v->body->a[0] != v->body->a[1]);
}

void cut_same_vars(struct graph *g, const struct value *v, const struct ix **to)
{
	for (int d = 0; d < v->rank; d++)
		to[d] = ix_var(g->pool, d, v->size[d]);
	for (int d = 0; d < v->n_red; d++)
		to[v->rank + d] = ix_var(g->pool, v->rank + d, v->red[d]);
}

struct joining {
	struct cut *p;
	const struct value *v;
	int group;                     /* kernel that may be joined; -1: none is read from */
	int bad;
	const struct ix *to[GRAPH_VARS];      /* variables of the value that are matched with X */
	uint64_t matched;              /* bits: variables of X */
};

/* The last kernel that the value reads from. */
static int find_group(void *ctx, const struct sx *load)
{
	struct joining *j = ctx;
	const struct value *v = graph_value(j->p->g, load->value);

	if (v->kind != VALUE_ARG)
		j->group = MAX(j->group, v->group);
	return 0;
}

int cut_last_group(struct cut *p, int id)
{
	struct joining j = { .p = p, .group = -1 };

	sx_loads(p->full[id], find_group, &j);
	return j.group;
}

struct pass *cut_pass_of(struct kernel *k, int value)
{
	for (int i = 0; i < k->n_passes; i++)
		if (k->pass[i].value == value)
			return &k->pass[i];
	return NULL;
}

/* Matches one load with the place of the reduction: the same factors, the same sizes. */
static int match_load(void *ctx, const struct sx *load)
{
	struct joining *j = ctx;
	struct graph *g = j->p->g;
	const struct value *v = graph_value(g, load->value);
	struct kernel *k = &j->p->kernels.v[j->group];
	const struct pass *from;

	if (v->kind == VALUE_ARG || v->group != j->group)
		return 0;
	from = cut_pass_of(k, load->value);
	j->bad |= !from || (!from->is_reduce && from->n_r) || from->only || load->a[0] || load->at->c0 ||
		load->at->n != from->at->n;
	for (int i = 0; !j->bad && i < load->at->n; i++) {
		const struct ix_term *t = &load->at->t[i], *x = NULL;

		for (int n = 0; n < from->at->n; n++)
			if (from->at->t[n].c == t->c && from->at->t[n].by == t->by && from->at->t[n].kind == IX_VAR)
				x = &from->at->t[n];
		j->bad |= t->kind != IX_VAR || !x || t->var >= j->v->rank;
		/* one loop of the kernel cannot be two of the value: x[i] * x[j] is not x[i] * x[i] */
		if (!j->bad)
			j->bad |= j->to[t->var] ? j->to[t->var] != ix_var(g->pool, x->var, x->by) :
				(j->matched >> x->var & 1) != 0;
		if (j->bad)
			break;
		j->to[t->var] = ix_var(g->pool, x->var, x->by);
		j->matched |= (uint64_t)1 << x->var;
	}
	return j->bad;
}

static int64_t reduced_count(const struct value *v)
{
	int64_t n = 1;

	for (int d = 0; d < v->n_red; d++)
		n *= v->red[d];
	return n;
}

static int is_dot(const struct value *v)
{
	return cut_is_product(v) && v->numel > 1;
}

static int is_large_dot(const struct value *v)
{
	return is_dot(v) && v->numel * reduced_count(v) >= GRAPH_DOT_LEAST;
}

/* All variables of X must be matched. A map may have more variables: they become R. */
static int is_match(struct joining *j)
{
	const struct kernel *k = &j->p->kernels.v[j->group];
	int64_t free = 1, x = 1;

	for (int d = 0; d < k->n_x; d++) {
		x *= k->x[d];
		if (k->x[d] > 1 && !(j->matched >> d & 1))
			return 0;
	}
	for (int d = 0; d < j->v->rank; d++)
		if (j->v->size[d] > 1 && !j->to[d]) {
			if (j->v->kind == VALUE_REDUCE)
				return 0;
			free *= j->v->size[d];
		}
	/* A few instances must not do the work of many, and tl.dot ends with its own tile. */
	return free == 1 || graph_choose(j->p->g, !is_large_dot(graph_value(j->p->g, k->pass[0].value)) &&
					 (x >= 16 || free * x <= 1 << 16));
}

void cut_add_pass(struct cut *p, int id, struct kernel *k, const struct ix **to)
{
	struct graph *g = p->g;
	struct value *v = graph_value(g, id);
	struct pass s = { .value = id, .is_reduce = v->kind == VALUE_REDUCE, .is_scan = v->kind == VALUE_SCAN,
			  .store = v->must_store };

	for (int d = 0; d < v->rank; d++) {
		if (to[d])
			continue;
		if (v->size[d] == 1) {
			to[d] = ix_num(g->pool, 0);
			continue;
		}
		to[d] = ix_var(g->pool, k->n_x + s.n_r, v->size[d]);
		s.r[s.n_r++] = v->size[d];
	}
	for (int d = 0; d < v->n_red; d++) {
		if (v->red[d] == 1) {
			to[v->rank + d] = ix_num(g->pool, 0);
			continue;
		}
		to[v->rank + d] = ix_var(g->pool, k->n_x + s.n_r, v->red[d]);
		s.r[s.n_r++] = v->red[d];
	}
	s.body = sx_rebuild(g->pool, p->full[id], &(struct sx_rewrite){ .to = to });
	s.at = graph_at(g, v->rank, v->stride, to);
	k->pass[k->n_passes++] = s;
}

struct same_memory {
	struct graph *g;
	const struct value *v;
	const struct ix *at;           /* the place of an element of v in its memory */
	const struct value *from;
};

/* Finds a reduction that is read in the order of its memory. */
static int find_same_memory(void *ctx, const struct sx *load)
{
	struct same_memory *m = ctx;
	const struct value *from = graph_value(m->g, load->value);

	if (from->kind == VALUE_REDUCE && from->numel == m->v->numel && load->at == m->at && !load->a[0])
		m->from = from;
	return m->from != NULL;
}

/* A map over the memory of a reduction gets the loops of the reduction, so that it can end its kernel `group`. The
 * loops of a transposed convolution are not those of the tensor: o is stride * q + f. */
static void take_loops(struct cut *p, int id, int group)
{
	struct graph *g = p->g;
	struct value *v = graph_value(g, id);
	struct same_memory m = { .g = g, .v = v };
	const struct ix *to[GRAPH_VARS] = { NULL }, *own[GRAPH_VARS];

	if (v->kind != VALUE_MAP)
		return;
	cut_same_vars(g, v, own);
	m.at = graph_at(g, v->rank, v->stride, own);
	sx_loads(p->full[id], find_same_memory, &m);
	if (!m.from || m.from->group != group ||
	    (m.from->rank == v->rank && !memcmp(m.from->size, v->size, sizeof v->size[0] * (size_t)v->rank)))
		return;
	cut_same_vars(g, m.from, own);
	graph_coords(g, v, graph_at(g, m.from->rank, m.from->stride, own), to);
	p->full[id] = sx_rebuild(g->pool, p->full[id], &(struct sx_rewrite){ .to = to });
	v->rank = m.from->rank;
	memcpy(v->size, m.from->size, sizeof v->size);
	memcpy(v->stride, m.from->stride, sizeof v->stride);
}

struct splitting {
	const struct value *v;
	struct cut *p;
	int group, d;
	int64_t by;
};

/* Finds a loop of v whose quotient is a place in the kernel. */
static int find_quotient(void *ctx, const struct sx *load)
{
	struct splitting *s = ctx;
	const struct value *from = graph_value(s->p->g, load->value);

	if (from->kind == VALUE_ARG || from->group != s->group)
		return 0;
	for (int i = 0; i < load->at->n; i++) {
		const struct ix_term *t = &load->at->t[i];
		const struct ix_term *var = t->kind == IX_DIV && t->of->n == 1 ? &t->of->t[0] : NULL;

		if (!var || t->of->c0 || var->c != 1 || var->kind != IX_VAR || var->var >= s->v->rank ||
		    s->v->size[var->var] % t->by)
			continue;
		s->d = var->var;
		s->by = t->by;
		return 1;
	}
	return 0;
}

/* A map that reads the statistics of a group of channels, c / 8 of 64 channels, loops over 8 groups of 8: then it
 * can end the kernel of the statistics. */
static void split_loops(struct cut *p, int id, int group)
{
	struct graph *g = p->g;
	struct value *v = graph_value(g, id);
	struct splitting s = { .v = v, .p = p, .group = group };
	const struct ix *to[GRAPH_VARS] = { NULL };

	while (v->kind == VALUE_MAP && v->rank < GRAPH_RANK && sx_loads(p->full[id], find_quotient, &s)) {
		int tail = v->rank - s.d - 1;

		memmove(v->size + s.d + 2, v->size + s.d + 1, (size_t)tail * sizeof v->size[0]);
		memmove(v->stride + s.d + 2, v->stride + s.d + 1, (size_t)tail * sizeof v->stride[0]);
		v->size[s.d + 1] = s.by;
		v->stride[s.d + 1] = v->stride[s.d];
		v->size[s.d] /= s.by;
		v->stride[s.d] *= s.by;
		v->rank++;
		for (int d = 0; d < v->rank - 1; d++)
			to[d] = ix_var(g->pool, d + (d > s.d), v->size[d + (d > s.d)]);
		to[s.d] = ix_add(g->pool, ix_mul(g->pool, ix_var(g->pool, s.d, v->size[s.d]), s.by),
				 ix_var(g->pool, s.d + 1, s.by));
		p->full[id] = sx_rebuild(g->pool, p->full[id], &(struct sx_rewrite){ .to = to });
	}
}

/* Finds a loop of the kernel, x, that a load takes apart: x of 32 channels is read as 8 heads of 4. */
static int find_apart(void *ctx, const struct sx *load)
{
	struct splitting *s = ctx;
	const struct value *from = graph_value(s->p->g, load->value);
	const struct pass *pass;

	if (from->kind == VALUE_ARG || from->group != s->group ||
	    !(pass = cut_pass_of(&s->p->kernels.v[s->group], load->value)) || (!pass->is_reduce && pass->n_r))
		return 0;
	for (int i = 0; i < load->at->n; i++)
		for (int n = 0; n < pass->at->n; n++) {
			const struct ix_term *t = &load->at->t[i], *x = &pass->at->t[n];

			if (t->kind != IX_VAR || x->kind != IX_VAR || t->c != x->c || t->by >= x->by || x->by % t->by)
				continue;
			s->d = x->var;
			s->by = t->by;
			return 1;
		}
	return 0;
}

/* Loop x of the kernel becomes two: x / by and x % by. */
static void split_kernel(struct cut *p, struct kernel *k, int x, int64_t by)
{
	struct expr_pool *pool = p->g->pool;
	const struct ix *to[GRAPH_VARS] = { NULL };

	for (int d = 0; d < k->n_x; d++)
		to[d] = ix_var(pool, d + (d > x), k->x[d]);
	to[x] = ix_add(pool, ix_mul(pool, ix_var(pool, x, k->x[x] / by), by), ix_var(pool, x + 1, by));
	to[GRAPH_INSTANCE] = ix_var(pool, GRAPH_INSTANCE, INT32_MAX);
	for (int i = 0; i < k->n_passes; i++) {
		struct pass *s = &k->pass[i];

		for (int r = 0; r < s->n_r; r++)
			to[k->n_x + r] = ix_var(pool, k->n_x + 1 + r, s->r[r]);
		s->body = sx_rebuild(pool, s->body, &(struct sx_rewrite){ .to = to });
		s->at = ix_replace(pool, s->at, to);
		s->only = s->only ? sx_rebuild(pool, s->only, &(struct sx_rewrite){ .to = to }) : NULL;
	}
	memmove(k->x + x + 1, k->x + x, (size_t)(k->n_x++ - x) * sizeof k->x[0]);
	k->x[x] /= by;
	k->x[x + 1] = by;
}

/* Whether the value can be one more pass of the kernel; j->to has its loops. */
static int matches(struct joining *j, int id)
{
	memset(j->to, 0, sizeof j->to);
	j->matched = 0;
	j->bad = 0;
	return !sx_loads(j->p->full[id], match_load, j) && !j->bad && is_match(j);
}

/* A map that permutes the loops of a kernel, such as the heads of an attention, ends it once the loops are apart. */
static int matches_apart(struct joining *j, int id, struct kernel *k)
{
	struct splitting s = { .v = j->v, .p = j->p, .group = j->group };
	struct kernel before = *k;

	while (k->n_x < GRAPH_RANK && sx_loads(j->p->full[id], find_apart, &s)) {
		split_kernel(j->p, k, s.d, s.by);
		if (matches(j, id))
			return 1;
	}
	*k = before;
	return 0;
}

int cut_join(struct cut *p, int id)
{
	struct value *v = graph_value(p->g, id);
	struct joining j = { .p = p, .v = v, .group = cut_last_group(p, id) };
	struct kernel *k;

	if (j.group < 0)
		return 0;
	take_loops(p, id, j.group);
	split_loops(p, id, j.group);
	k = &p->kernels.v[j.group];
	if (k->n_passes == CUT_PASSES ||
	    (!matches(&j, id) && (v->kind != VALUE_MAP || !matches_apart(&j, id, k))))
		return 0;
	v->group = j.group;
	cut_add_pass(p, id, k, j.to);
	return 1;
}

/* --- reductions of the same data ---------------------------------------------------------------------- */

struct shared_load {
	const struct sx *body;         /* of the other reduction */
	int value;
};

static int same_value(void *ctx, const struct sx *load)
{
	return load->value == ((struct shared_load *)ctx)->value;
}

static int find_shared(void *ctx, const struct sx *load)
{
	struct shared_load *s = ctx;

	s->value = load->value;
	return sx_loads(s->body, same_value, s);
}

/* Whether a value can be one more sum or extreme of a kernel that has nothing else. */
static int is_plain_reduction(const struct value *v)
{
	return v->kind == VALUE_REDUCE && (v->how == COMBINE_SUM || v->how == COMBINE_MAX || v->how == COMBINE_MIN);
}

/* Products of the same rows, such as the query, key and value of attention: tl.dot computes up to PRODUCTS_MOST of
 * them in one loop. A product of more than FEW_TILES keeps the GPU busy by itself, in larger tiles. */
enum { PRODUCTS_MOST = 4, TILE = 64, FEW_TILES = 256 };

/* The factors that depend on a coordinate: 1 the first, 2 the second, 3 both. */
static int factors_of(const struct sx *body, int d)
{
	return (int)(sx_vars(body->a[0]) >> d & 1) + 2 * (int)(sx_vars(body->a[1]) >> d & 1);
}

/* Whether two products have the same rows and columns, and one factor of both is made from the same data. */
static int same_product(struct cut *p, int one, int other)
{
	const struct value *v = graph_value(p->g, one), *w = graph_value(p->g, other);
	const struct sx *a = p->full[one], *b = p->full[other];
	int e = 0, shares = 0;

	if (a->op != SX_MUL || b->op != SX_MUL || a->dt != b->dt)
		return 0;
	for (int d = 0; d < v->rank; d++) {
		if (v->size[d] <= 1)
			continue;
		while (w->size[e] <= 1)
			e++;
		if (factors_of(a, d) != factors_of(b, e++))
			return 0;
	}
	for (int i = 0; i < 2; i++) {
		struct shared_load s = { .body = b->a[i] };

		shares |= sx_loads(a->a[i], find_shared, &s);
	}
	return shares;
}

/* Tiles of the results of a product. */
static int64_t tiles_of(const struct value *v, const struct sx *body)
{
	int64_t n[4] = { 1, 1, 1, 1 };

	for (int d = 0; d < v->rank; d++)
		n[factors_of(body, d)] *= v->size[d];
	return (n[1] + TILE - 1) / TILE * ((n[2] + TILE - 1) / TILE) * n[0] * n[3];
}

/* Whether a product can be one more of a kernel of products and of maps that end them. */
static int is_dot_sibling(struct cut *p, const struct kernel *k, int id)
{
	int products = 0;

	for (int i = 0; i < k->n_passes; i++) {
		const struct pass *s = &k->pass[i];

		if (s->is_reduce ? !same_product(p, id, s->value) : s->n_r || s->only)
			return 0;
		products += s->is_reduce;
	}
	return products && products < PRODUCTS_MOST &&
		graph_choose(p->g, tiles_of(graph_value(p->g, id), p->full[id]) <= FEW_TILES);
}

/* Whether the loops of a kernel are those of v, one loop of v perhaps split into several. Sets to[]. */
static int loops_over(struct cut *p, const struct kernel *k, const struct value *v, const struct ix **to)
{
	struct expr_pool *pool = p->g->pool;
	int x = 0;

	for (int d = 0; d < v->rank; d++) {
		int64_t all = 1;

		if (v->size[d] <= 1)
			continue;
		to[d] = ix_num(pool, 0);
		for (; all < v->size[d] && x < k->n_x; x++) {
			to[d] = ix_add(pool, ix_mul(pool, to[d], k->x[x]), ix_var(pool, x, k->x[x]));
			all *= k->x[x];
		}
		if (all != v->size[d])
			return 0;
	}
	return x == k->n_x;
}

/* Whether a kernel is reductions over the loops of v, and one of them reads what v reads. */
static int is_sibling(struct cut *p, const struct kernel *k, int id)
{
	const struct value *v = graph_value(p->g, id);
	const struct ix *to[GRAPH_VARS] = { NULL };
	int shares = 0;

	if (k->n_passes == CUT_PASSES || !loops_over(p, k, v, to))
		return 0;
	for (int i = 0; i < k->n_passes; i++) {
		const struct value *own = graph_value(p->g, k->pass[i].value);
		struct shared_load s = { .body = p->full[k->pass[i].value] };

		if (is_dot(v) && !k->pass[i].is_reduce)
			continue;
		if (!is_plain_reduction(own) || own->n_red != v->n_red || reduced_count(own) != reduced_count(v) ||
		    is_dot(own) != is_dot(v))
			return 0;
		shares |= sx_loads(p->full[id], find_shared, &s);
	}
	return shares && (!is_dot(v) || is_dot_sibling(p, k, id));
}

/* The products of a kernel come before the maps that end them. */
static void move_before_maps(struct kernel *k)
{
	struct pass s = k->pass[k->n_passes - 1];
	int n = k->n_passes - 1;

	for (; n > 0 && !k->pass[n - 1].is_reduce; n--)
		k->pass[n] = k->pass[n - 1];
	k->pass[n] = s;
}

int cut_join_sibling(struct cut *p, int id)
{
	enum { LOOK_BACK = 8 };
	struct value *v = graph_value(p->g, id);
	const struct ix *to[GRAPH_VARS] = { NULL };
	int n = (int)p->kernels.n, least;

	if (!is_plain_reduction(v))
		return 0;
	least = MAX(cut_last_group(p, id) + 1, n - LOOK_BACK);
	while (--n >= least && !is_sibling(p, &p->kernels.v[n], id))
		;
	if (n < least || !loops_over(p, &p->kernels.v[n], v, to))
		return 0;
	v->group = n;
	cut_add_pass(p, id, &p->kernels.v[n], to);
	if (is_dot(v))
		move_before_maps(&p->kernels.v[n]);
	return 1;
}
