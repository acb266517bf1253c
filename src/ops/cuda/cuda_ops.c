/* Ops of a GPU that are one launch each: see cuda_ops.h. Products are in cuda_linear.c. */
#include "ops/cuda/cuda_ops.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

/* Looks the launchers up in libtritonrl_cuda.so at the first use of the device, and loads the
 * algorithms of products that an earlier run has chosen. */
void cuda_ops_bind(struct dev *d)
{
	struct cuda_launch *l;
	void *p;

	if (d->launch)
		return;
	if (!(l = mem_zalloc(sizeof *l)))
		BUG("no memory for a table of functions");
#define LAUNCH(name, params) \
	if (!(p = dev_symbol(d, #name))) \
		BUG("libtritonrl_cuda.so is of another version: it has no %s", #name); \
	memcpy(&l->name, &p, sizeof p);
#include "ops/cuda/launch.def"
#undef LAUNCH
	d->launch = l;
	if (d->choices)
		l->cuda_gemm_load(d->gpu, d->choices);   /* none yet is as good as an empty one */
}

/* --- scratch ------------------------------------------------------------------------------ */

static struct cuda_paged sizes_of_pages(const struct ops_sizes *s)
{
	return (struct cuda_paged){ .H = s->H, .HKV = s->HKV, .D = s->D, .rows = s->rows, .runs = s->rows,
				    .longest_rows = s->rows,
				    .longest = s->positions, .groups = s->rows, .kv_dt = DT_BF16 };
}

/* The most working memory that any op needs for these sizes. It is allocated once, before a graph
 * is recorded. */
size_t cuda_ops_scratch(struct dev *d, const struct ops_sizes *s)
{
	const struct cuda_launch *l = cuda_of(d);
	struct cuda_paged pages = sizes_of_pages(s);
	size_t most = 0, n = 0, rows = (size_t)s->rows, widest = (size_t)s->widest;

	l->cuda_rmsnorm_work(s->widest, &n), most = MAX(most, n);
	l->cuda_qk_work(s->D, &n), most = MAX(most, n);
	l->cuda_bias_work(s->widest, &n), most = MAX(most, n);
	l->cuda_sumsq_work(&n), most = MAX(most, n + sizeof(double));
	if (s->positions)
		dev_note(d, l->cuda_paged_work(d->gpu, &pages, &n), "sizes of cached attention"), most = MAX(most, n);
	most = MAX(most, rows * widest + rows * sizeof(float) + 256);         /* rows as e4m3 */
	most = MAX(most, (size_t)s->ranks * widest * sizeof(float));          /* stacked gradients of adapters */
	return MAX(most, (3 * rows + 1) * sizeof(int32_t));                   /* positions by token */
}

size_t cuda_ops_kv_bytes(int HKV, int D, int e4m3)
{
	return (size_t)2 * (size_t)HKV * KV_BLOCK * (size_t)D * (e4m3 ? 1 : 2);
}

/* --- rows --------------------------------------------------------------------------------- */

void cuda_op_rmsnorm(struct dev *d, act *y, float *rstd, const float *x, const float *w, int T, int C, float eps)
{
	CUDA_GO(d, cuda_of(d)->cuda_rmsnorm(d->gpu, y, rstd, x, w, T, C, eps), "rmsnorm", "rmsnorm [%d, %d]", T, C);
}

void cuda_op_rmsnorm_grad(struct dev *d, float *dx, act *dxa, float *dw, const act *dy, const float *x,
			  const float *rstd,
			  const float *w, int T, int C)
{
	size_t work = 0;

	cuda_of(d)->cuda_rmsnorm_work(C, &work);
	CUDA_GO(d, cuda_of(d)->cuda_rmsnorm_grad(d->gpu, dx, dxa, dw, dy, x, rstd, w, T, C,
						 dev_shared(d, work)), "rmsnorm_grad",
		"rmsnorm_grad [%d, %d]", T, C);
}

static struct cuda_qk qk_of(const struct qk *a)
{
	return (struct cuda_qk){ .T = a->T, .H = a->H, .HKV = a->HKV, .D = a->D, .qkv = a->qkv,
				 .raw = a->raw, .rstd = a->rstd,
				 .qw = a->qw, .kw = a->kw, .eps = a->eps, .cos = a->cos, .sin = a->sin, .pos = a->pos,
				 .dqw = a->dqw, .dkw = a->dkw };
}

void cuda_op_qk_rope(struct dev *d, const struct qk *a)
{
	struct cuda_qk k = qk_of(a);

	CUDA_GO(d, cuda_of(d)->cuda_qk_rope(d->gpu, &k), "qk_rope", "qk_rope [%d, %d + %d, %d]", a->T,
		a->H, a->HKV, a->D);
}

void cuda_op_qk_rope_grad(struct dev *d, const struct qk *a, act *dqkv)
{
	struct cuda_qk k = qk_of(a);
	size_t work = 0;

	cuda_of(d)->cuda_qk_work(a->D, &work);
	k.work = dev_shared(d, work);
	CUDA_GO(d, cuda_of(d)->cuda_qk_rope_grad(d->gpu, &k, dqkv), "qk_rope_grad",
		"qk_rope_grad [%d, %d + %d, %d]", a->T, a->H, a->HKV, a->D);
}

void cuda_op_swiglu(struct dev *d, const struct swiglu *s)
{
	const struct cuda_launch *l = cuda_of(d);
	struct cuda_swiglu a = cuda_swiglu_of(s);

	CUDA_GO(d, a.r ? l->cuda_swiglu_lora(d->gpu, &a) : l->cuda_swiglu(d->gpu, s->h, s->gu, s->T, s->F),
		"swiglu", "swiglu [%d, %d]", s->T, s->F);
}

void cuda_op_swiglu_grad(struct dev *d, const struct swiglu *s)
{
	const struct cuda_launch *l = cuda_of(d);
	struct cuda_swiglu a = cuda_swiglu_of(s);

	CUDA_GO(d, a.r ? l->cuda_swiglu_grad_lora(d->gpu, &a) : l->cuda_swiglu_grad(d->gpu, s->dgu, s->dh,
			s->gu, s->T, s->F), "swiglu_grad",
		"swiglu_grad [%d, %d]", s->T, s->F);
}

void cuda_op_gather(struct dev *d, act *to, const act *from, const int32_t *row, int rows, int C)
{
	CUDA_GO(d, cuda_of(d)->cuda_gather(d->gpu, to, from, row, rows, C), "gather", "gather [%d, %d]", rows, C);
}

void cuda_op_scatter(struct dev *d, act *to, const act *from, const int32_t *row, int rows, int C)
{
	CUDA_GO(d, cuda_of(d)->cuda_scatter(d->gpu, to, from, row, rows, C), "scatter", "scatter [%d, %d]", rows, C);
}

void cuda_op_bias_grad(struct dev *d, float *db, const act *dy, size_t lddy, int M, int n)
{
	size_t work = 0;

	cuda_of(d)->cuda_bias_work(n, &work);
	CUDA_GO(d, cuda_of(d)->cuda_bias_grad(d->gpu, db, dy, lddy, M, n, dev_shared(d, work)), "bias_grad",
		"bias_grad [%d, %d]", M, n);
}

static void drop(struct dev *d, act *y, const act *x, size_t n, const struct dropout *o, int add)
{
	uint64_t in[2] = { o->seed, o->place }, key = hash_xxh64(in, sizeof in, 0x64726f70);

	CUDA_GO(d, cuda_of(d)->cuda_dropout(d->gpu, y, x, n, key, o->p, add), "dropout", "dropout of %zu", n);
}

void cuda_op_dropout(struct dev *d, act *y, const act *x, size_t n, const struct dropout *o) { drop(d, y, x, n, o, 0); }
void cuda_op_dropout_grad(struct dev *d, act *dx, const act *dy, size_t n,
			  const struct dropout *o) { drop(d, dx, dy, n, o, 1); }

/* --- embedding ---------------------------------------------------------------------------- */

void cuda_op_embed(struct dev *d, float *y, const void *table, enum dtype dt, int C, const int32_t *tokens, int T)
{
	CUDA_GO(d, cuda_of(d)->cuda_embed(d->gpu, y, table, (int)dt, C, tokens, T), "embed", "embed [%d, %d]", T, C);
}

/* Positions sorted by token, so that each token's rows are added in order by one block. */
struct by_token {
	int32_t *order, *token, *first;    /* [T], [tokens], [tokens + 1] */
	int tokens;
};

/* A counting sort that keeps positions of equal tokens in order. `count` has V zeros. Tokens 5 3 5
 * give order 1 0 2, token 3 5, first 0 1 3. */
static void sort_positions(struct by_token *b, const int32_t *tokens, int T, int32_t *count, int V)
{
	int at = 0;

	for (int i = 0; i < T; i++)
		count[tokens[i]]++;
	for (int v = 0; v < V; v++) {
		int n = count[v];

		if (!n)
			continue;
		b->token[b->tokens] = v;
		b->first[b->tokens++] = at;
		count[v] = at;
		at += n;
	}
	b->first[b->tokens] = at;
	for (int i = 0; i < T; i++)
		b->order[count[tokens[i]]++] = i;
}

void cuda_op_embed_grad(struct dev *d, float *dtable, const float *dy, int C, const int32_t *tokens, int T)
{
	int32_t most = 0, *host, *dev;
	struct by_token b = { .tokens = 0 };
	size_t n;

	for (int i = 0; i < T; i++)
		most = MAX(most, tokens[i]);
	n = 3 * (size_t)T + 1;
	if (!(host = mem_array(n + (size_t)most + 1, sizeof *host)))
		BUG("no memory to sort %d tokens", T);
	b = (struct by_token){ .order = host, .token = host + T, .first = host + 2 * T };
	sort_positions(&b, tokens, T, host + n, most + 1);
	dev = dev_shared(d, n * sizeof *dev);
	dev_put(d, dev, host, n * sizeof *host);
	mem_free(host);
	CUDA_GO(d, cuda_of(d)->cuda_embed_grad(d->gpu, dtable, dy, C, dev + T, dev, dev + 2 * T, b.tokens),
		"embed_grad", "embed_grad [%d, %d]", T, C);
}

/* --- attention ---------------------------------------------------------------------------- */

/* Describes a pack for the launchers and reserves its working memory. The memory that a pack needs
 * grows with the square of its longest sequence, and that length is known only here. So the
 * reservation grows a few times at the start of a run. */
static struct cuda_attention pack_of(struct dev *d, const struct attention *a)
{
	struct cuda_attention p = { .H = a->H, .HKV = a->HKV, .D = a->D, .T = a->T, .sequences = a->sequences,
				    .longest = a->longest,
				    .start = a->start, .prefix = a->prefix, .qkv = a->qkv, .out = a->out,
				    .lse = a->lse, .dout = a->dout,
				    .dqkv = a->dqkv, .exact = d->exact };

	dev_note(d, cuda_of(d)->cuda_attention_work(d->gpu, &p, &p.work_bytes), "sizes of attention");
	dev_reserve(d, 0, p.work_bytes, &d->fault);
	p.work = d->fault.code ? NULL : dev_shared(d, p.work_bytes);
	return p;
}

void cuda_op_attention(struct dev *d, const struct attention *a)
{
	struct cuda_attention p = pack_of(d, a);

	CUDA_GO(d, cuda_of(d)->cuda_attention(d->gpu, &p), "attention",
		"attention of %d sequences, %d rows, %d / %d heads of %d", a->sequences, a->T,
		a->H, a->HKV, a->D);
}

void cuda_op_attention_grad(struct dev *d, const struct attention *a)
{
	struct cuda_attention p = pack_of(d, a);

	CUDA_GO(d, cuda_of(d)->cuda_attention_grad(d->gpu, &p), "attention_grad",
		"attention_grad of %d sequences, %d rows, %d / %d heads of %d",
		a->sequences, a->T, a->H, a->HKV, a->D);
}

void cuda_op_attention_cached(struct dev *d, const struct attention_cached *a)
{
	struct cuda_paged p = { .H = a->H, .HKV = a->HKV, .D = a->D, .rows = a->rows, .runs = a->runs,
				.longest_rows = a->longest_rows,
				.longest = a->longest, .row = a->row, .length = a->length, .table = a->block,
				.table_ld = a->block_ld,
				.groups = a->groups, .group = a->group, .group_pages = a->group_blocks,
				.qkv = a->qkv, .out = a->out,
				.kv = a->kv, .stride = a->stride, .kv_dt = a->e4m3 ? DT_F8E4M3 : DT_BF16 };

	dev_note(d, cuda_of(d)->cuda_paged_work(d->gpu, &p, &p.work_bytes), "sizes of cached attention");
	p.work = dev_shared(d, p.work_bytes);
	CUDA_GO(d, cuda_of(d)->cuda_paged(d->gpu, &p), "attention_cached",
		"attention_cached of %d runs, %d rows, %d / %d heads of %d", a->runs, a->rows,
		a->H, a->HKV, a->D);
}

/* --- loss and optimiser ------------------------------------------------------------------- */

void cuda_op_xent(struct dev *d, const struct xent *x)
{
	struct cuda_xent c = { .rows = x->rows, .V = x->V, .logits = x->logits, .target = x->target,
			       .coef = x->coef, .logp = x->logp, .entropy = x->entropy };

	CUDA_GO(d, cuda_of(d)->cuda_xent(d->gpu, &c), "xent", "xent [%d, %d]", x->rows, x->V);
}

void cuda_op_sample(struct dev *d, const struct sample *s)
{
	struct cuda_sample c = { .rows = s->rows, .V = s->V, .logits = s->logits, .logits_dt = DT_F32,
				 .from = s->from, .row = s->row,
				 .drawn = s->drawn, .seen = s->seen, .token = s->token, .logprob = s->logprob };

	CUDA_GO(d, cuda_of(d)->cuda_sample(d->gpu, &c), "sample", "sample [%d, %d]", s->rows, s->V);
}

void cuda_op_advance(struct dev *d, const struct advance *a)
{
	struct cuda_advance c = { .rows = a->rows, .token = a->token, .logprob = a->logprob, .next = a->next,
				  .pos = a->pos, .length = a->length,
				  .drawn = a->drawn, .step = a->step, .tokens = a->tokens, .logprobs = a->logprobs };

	CUDA_GO(d, cuda_of(d)->cuda_advance(d->gpu, &c), "advance", "advance of %d rows", a->rows);
}

void cuda_op_add(struct dev *d, float *y, const float *x, size_t n)
{
	CUDA_GO(d, cuda_of(d)->cuda_add(d->gpu, y, x, n), "add", "add of %zu", n);
}

void cuda_op_sumsq(struct dev *d, double *out, const float *x, size_t n)
{
	size_t work = 0;
	double *sum;

	cuda_of(d)->cuda_sumsq_work(&work);
	sum = dev_shared(d, work + sizeof *sum);
	*out = 0;
	CUDA_GO(d, cuda_of(d)->cuda_sumsq(d->gpu, sum, x, n, sum + 1), "sumsq", "sumsq of %zu", n);
	dev_get(d, out, sum, sizeof *sum, NULL);
}

void cuda_op_adamw(struct dev *d, float *w, float *m, float *v, const float *g, size_t n, const struct adamw *o)
{
	struct cuda_adamw k = { .lr = o->lr, .beta1 = o->beta1, .beta2 = o->beta2, .eps = o->eps,
				.decay = o->decay, .correct1 = o->correct1,
				.correct2 = o->correct2, .scale = o->scale };

	CUDA_GO(d, cuda_of(d)->cuda_adamw(d->gpu, w, m, v, g, n, &k), "adamw", "adamw of %zu", n);
}
