/* LoRA adapters: parameters and packed form. Files are in peft.c. See model.h.
 *
 * Formula: y = W x + (alpha / r) B A drop(x) with A [r, in] and B [out, r].
 *
 * Invariant: the fp32 parameters are the truth; adapter_updated makes the packed form from them. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/model_impl.h"

/* By bit, from target.def. */
const struct target_info lora_target_info[LORA_TARGETS] = {
#define TARGET(id, bit, name, module, site) [bit] = { name, module, LT_##id, SITE_##site },
#include "model/target.def"
#undef TARGET
};

/* Lists A and B of every target. The parameters are fp32. If the model computes with bf16 weights,
 * the adapter computes in bf16 too. */
static int add_params(struct adapter *a, struct err *e)
{
	int fast = a->m->fast;
	enum dtype dt = fast ? DT_BF16 : DT_F32;

	for (int l = 0; l < a->m->c.L; l++)
		for (int t = 0; t < LORA_TARGETS; t++) {
			const struct raw *w = &a->m->layer[l].raw[lora_target_info[t].weight];
			struct lora *o = &a->layer[l][t];
			int64_t sa[2] = { a->o.r, w->cols }, sb[2] = { w->rows, a->o.r };

			if (!(a->o.targets >> t & 1))
				continue;
			if ((o->pa = slab_add(&a->params, DT_F32, 2, sa, e, "model.layers.%d.%s.lora_A.weight",
					      l, lora_target_info[t].module)) < 0 ||
			    (o->pb = slab_add(&a->params, DT_F32, 2, sb, e, "model.layers.%d.%s.lora_B.weight",
					      l, lora_target_info[t].module)) < 0)
				return -1;
			weight_plan(a->m->dev, &o->a, dt, a->o.r, w->cols);
			weight_plan(a->m->dev, &o->b, dt, w->rows, a->o.r);
			o->a.fast = o->b.fast = fast;
		}
	return slab_alloc(&a->params, e);
}

/* Gives a matrix the next room in the packed memory, at a multiple of 256 bytes. Without memory it
 * just adds up the bytes. */
static void put_matrix(struct adapter *a, struct weight *w, size_t *at)
{
	if (a->packed)
		weight_place(a->m->dev, w, a->packed + *at);
	*at += (w->bytes + 255) & ~(size_t)255;
}

/* The A of a site are neighbours, so that a device may treat them as one matrix; so are its B. */
static size_t lay_out(struct adapter *a)
{
	size_t at = 0;

	for (int l = 0; l < a->m->c.L; l++)
		for (int s = 0; s < SITES; s++)
			for (int b = 0; b < 2; b++)
				for (int t = 0; t < LORA_TARGETS; t++)
					if ((int)lora_target_info[t].site == s && a->layer[l][t].a.n)
						put_matrix(a, b ? &a->layer[l][t].b : &a->layer[l][t].a, &at);
	return at;
}

/* Counts first, then allocates, then assigns. */
static int alloc_packed(struct adapter *a, struct err *e)
{
	a->packed_bytes = lay_out(a);
	if (!(a->packed = dev_alloc(a->m->dev, a->packed_bytes, e)))
		return -1;
	lay_out(a);
	return 0;
}

/* Width of the rank-r rows of a site: q, k and v of rank 16 take 48 columns. */
int lora_site_rank(const struct adapter *a, int l, enum site s)
{
	int n = 0;

	for (int t = 0; a && t < LORA_TARGETS; t++)
		if (lora_target_info[t].site == s)
			n += a->layer[l][t].a.n;
	return n;
}

/* A is uniform in +-1/sqrt(in), which is kaiming_uniform with a = sqrt(5); B is zero. Each A has
 * a random stream of its own name, so that it does not depend on the other targets. */
static int init_params(struct adapter *a, struct err *e)
{
	size_t most = 0;
	float *w;

	for (size_t i = 0; i < a->params.n; i++)
		most = MAX(most, a->params.v[i].numel);
	if (!(w = mem_array(most, sizeof *w)))
		return err_nomem(e);
	for (int l = 0; l < a->m->c.L; l++)
		for (int t = 0; t < LORA_TARGETS; t++) {
			const struct lora *o = &a->layer[l][t];
			struct rng r;

			if (!o->a.n)
				continue;
			rng_init(&r, a->o.seed, a->params.v[o->pa].name);
			for (size_t i = 0; i < a->params.v[o->pa].numel; i++)
				w[i] = (2 * rng_f32(&r) - 1) / sqrtf((float)o->a.k);
			slab_put(&a->params, o->pa, w);
		}
	mem_free(w);
	return 0;
}

/* A new adapter changes nothing, because B is zero. */
struct adapter *adapter_new(const struct model *m, const struct adapter_opts *o, struct err *e)
{
	struct adapter *a;

	if (o->r < 1 || o->r > 4096 || !(o->targets & LORA_ALL) || !(o->dropout >= 0 && o->dropout < 1)) {
		err_set(e, ERR_RANGE, "an adapter cannot have rank %d, dropout %g and targets %#x", o->r,
			(double)o->dropout, o->targets);
		return NULL;
	}
	if (!(a = mem_zalloc(sizeof *a)) || !(a->layer = mem_array((size_t)m->c.L, sizeof *a->layer))) {
		mem_free(a);
		err_nomem(e);
		return NULL;
	}
	a->m = m;
	a->o = *o;
	slab_init(&a->params, m->dev, "adapter");
	if (add_params(a, e) || alloc_packed(a, e) || init_params(a, e)) {
		adapter_free(a);
		return NULL;
	}
	adapter_updated(a);
	return a;
}

void adapter_free(struct adapter *a)
{
	if (!a)
		return;
	dev_free(a->m->dev, a->packed, a->packed_bytes);
	slab_release(&a->params);
	mem_free(a->layer);
	mem_free(a);
}

/* Packs every matrix again from the fp32 parameters. */
void adapter_updated(struct adapter *a)
{
	for (int l = 0; l < a->m->c.L; l++)
		for (int t = 0; t < LORA_TARGETS; t++) {
			struct lora *o = &a->layer[l][t];
			struct weight_part pa, pb;

			if (!o->a.n)
				continue;
			pa = (struct weight_part){ .data = slab_at(&a->params, o->pa), .dt = DT_F32, .n = o->a.n };
			pb = (struct weight_part){ .data = slab_at(&a->params, o->pb), .dt = DT_F32, .n = o->b.n };
			a->m->ops->weight_pack(a->m->dev, &o->a, &pa, 1);
			a->m->ops->weight_pack(a->m->dev, &o->b, &pb, 1);
		}
}

const struct adapter_opts *adapter_opts(const struct adapter *a) { return &a->o; }

void adapter_set_dropout(struct adapter *a, float p)
{
	if (!(p >= 0 && p < 1))
		BUG("dropout %g", (double)p);
	a->o.dropout = p;
}
struct slab *adapter_params(struct adapter *a) { return &a->params; }

/* Accepts short names (q) and module names (q_proj). */
int lora_targets_parse(struct str s, unsigned *bits, struct err *e)
{
	*bits = 0;
	if (str_is(s, "all") || str_is(s, "all-linear")) {
		*bits = LORA_ALL;
		return 0;
	}
	while (s.n) {
		struct str word = str_trim(str_cut(&s, ','));
		int t = 0;

		for (; t < LORA_TARGETS; t++) {
			const char *module = strchr(lora_target_info[t].module, '.') + 1;

			if (str_is(word, lora_target_info[t].name) || str_is(word, module))
				break;
		}
		if (t == LORA_TARGETS)
			return err_set(e, ERR_USAGE,
				       "'%.*s' is not a LoRA target: q, k, v, o, gate, up, down, all", STR_ARG(word));
		*bits |= 1u << t;
	}
	return *bits ? 0 : err_set(e, ERR_USAGE, "no LoRA target");
}

/* r * (in + out) for each target and layer, without making an adapter. */
int64_t adapter_parameters(const struct model_config *c, const struct adapter_opts *o)
{
	const int64_t shape[LAYER_TENSORS][2] = {
#define TENSOR(id, name, rows, cols, present) { rows, cols },
#include "model/tensor.def"
#undef TENSOR
	};
	int64_t n = 0;

	for (int t = 0; t < LORA_TARGETS; t++)
		if (o->targets & (1u << t))
			n += (int64_t)o->r * (shape[lora_target_info[t].weight][0] +
					      shape[lora_target_info[t].weight][1]);
	return n * c->L;
}
