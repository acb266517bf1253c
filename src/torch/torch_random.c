/* Bindings of torch's generator: seeds, random tensors, in-place draws, dropout.
 *
 * Draws reproduce PyTorch's CPU generator (num/random.c). The oracle holds floats as float64
 * but must draw the numbers of the program's dtype, hence draws(). A judged forward may set a
 * seed and draw; it may not draw from a seed that an earlier call of forward left behind,
 * because then its result depends on the calls before. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "interp/fail.h"
#include "torch/torch.h"

/* The dtype whose numbers a draw into t must give: the program's, not the oracle's. */
static enum dtype draws(struct bind *b, const struct tensor *t)
{
	return host_nominal(b->h, t->dt);
}

/* Fails if forward both sets a seed and, in some call, draws before it sets one: those draws
 * would follow from the seed of an earlier call. */
static int leaves_seed(struct bind *b)
{
	struct host_seeds *s = &b->h->torch.seeds;

	return s->ever && s->unseeded && !b->h->o.may_vary && !b->h->o.is_reference &&
	       host_fatal(b->h, REASON_state_kept,
			  "forward draws random numbers before it sets a seed: they depend on "
			  "the seed of an earlier call");
}

/* The generator to draw from; NULL after an error. It notes that a judged call draws without
 * having set a seed. */
static struct num_rng *rng(struct bind *b)
{
	struct num_rng *r = torch_rng(b->h);

	if (!r) {
		err_nomem(bind_e(b));
		bind_fail(b);
	}
	if (b->h->torch.judged == JUDGED_CALLED && !b->h->torch.seeds.now)
		b->h->torch.seeds.unseeded = 1;
	return leaves_seed(b) ? NULL : r;
}

/* Returns the drawn tensor; `device` is the slot of device=, the next one that of
 * requires_grad=. rc is the operator's code. */
static int result(struct bind *b, struct tensor *t, int rc, size_t device)
{
	int grad = 0;

	if (rc) {
		tensor_release(t);
		return bind_fail(b);
	}
	if (bind_result(b, t) || torch_on_device(b, device) || (device + 1 < b->n && bind_bool(b, device + 1, &grad)))
		return -1;
	if (grad)
		b->out.u.t->requires_grad = b->out.u.t->leaf = 1;
	return 0;
}

/* --- seeds ------------------------------------------------------------------------------------- */

/* torch.manual_seed and its CUDA names: there is one generator. */
static int g_manual_seed(struct bind *b)
{
	int64_t seed;

	if (bind_int(b, 0, &seed))
		return -1;
	torch_seed(b->h, (uint64_t)seed);
	if (b->h->torch.judged == JUDGED_CALLED)
		b->h->torch.seeds.now = b->h->torch.seeds.ever = 1;
	return leaves_seed(b) ? -1 : 0;
}

/* torch.seed(): a fresh seed would differ from run to run. Here it is PyTorch's default seed,
 * and a judged program may not see it. */
static int g_seed(struct bind *b)
{
	if (host_varies(b->h, "a seed that the program did not set"))
		return -1;
	torch_seed(b->h, 67280421310721);
	b->out = val_int(67280421310721);
	return 0;
}

/* The seed is one that the process started with, so a judged program may not read it. */
static int g_initial_seed(struct bind *b)
{
	struct num_rng *r = torch_rng(b->h);

	if (host_varies(b->h, "the initial seed"))
		return -1;
	b->out = val_int(r ? (int64_t)r->seed : 0);
	return 0;
}

/* --- by size ------------------------------------------------------------------------------------- */

enum kind { UNIFORM, NORMAL };          /* [0, 1), or mean 0 and standard deviation 1 */

/* *size, dtype=None, device=None, requires_grad=False, generator=None, ... Integers have no
 * such draws. */
static int by_size(struct bind *b, enum kind kind)
{
	struct num_ctx c = torch_ctx(b);
	struct num_rng *r = rng(b);
	struct bind_ints s;
	struct tensor t;
	enum dtype dt;
	int rc;

	if (!r || bind_shape(b, 0, &s) || bind_dtype(b, 1, host_default_dtype(b->h), &dt))
		return -1;
	if (!dtype_is_float(dt))
		return bind_raise(b, EXC_RuntimeError, "\"%s\" not implemented for '%s'",
				  kind == NORMAL ? "normal_kernel_cpu" : "check_uniform_bounds", num_type_name(dt));
	if (num_new(&c, &t, host_dtype(b->h, dt), s.n, s.v, bind_e(b)))
		return bind_fail(b);
	rc = kind == NORMAL ? num_normal(r, &t, dt, 0, 1, bind_e(b)) : num_uniform(r, &t, dt, 0, 1, bind_e(b));
	return result(b, &t, rc, 2);
}

static int g_rand(struct bind *b) { return by_size(b, UNIFORM); }
static int g_randn(struct bind *b) { return by_size(b, NORMAL); }

/* input, *, dtype=None, device=None, requires_grad=False, ..., memory_format in slot 7 */
static int by_like(struct bind *b, enum kind kind)
{
	struct num_rng *r = rng(b);
	struct tensor *x, t;
	enum dtype dt;
	int rc;

	if (!r || bind_tensor(b, 0, &x) || bind_dtype(b, 1, draws(b, x), &dt) ||
	    torch_new_like(b, &t, host_dtype(b->h, dt), x, 7))
		return -1;
	rc = kind == NORMAL ? num_normal(r, &t, dt, 0, 1, bind_e(b)) : num_uniform(r, &t, dt, 0, 1, bind_e(b));
	return result(b, &t, rc, 2);
}

static int g_rand_like(struct bind *b) { return by_like(b, UNIFORM); }
static int g_randn_like(struct bind *b) { return by_like(b, NORMAL); }

/* randint(high, size), randint(low, high, size), randint(low, high=, size=), ...: slots
 * low=?, high=?, size=?. A sequence in slot 1 is the size. */
static int g_randint(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct num_rng *r = rng(b);
	struct bind_ints s;
	struct tensor t;
	enum dtype dt;
	int64_t lo = 0, hi;
	size_t size = 2;

	if (!r)
		return -1;
	/* randint(high, size): slot 1 is the size. */
	if (b->a[1].kind == V_TUPLE || b->a[1].kind == V_LIST) {
		size = 1;
		if (bind_int(b, 0, &hi))
			return -1;
	} else if (!bind_given(b, 1)) { /* randint(10, size=...) */
		if (bind_int(b, 0, &hi))
			return -1;
	} else if (b->a[0].kind == V_UNSET) {
		if (bind_int(b, 1, &hi))
			return -1;
	} else if (bind_int(b, 0, &lo) || bind_int(b, 1, &hi)) {
		return -1;
	}
	if (bind_ints(b, size, &s) || bind_dtype(b, 3, DT_I64, &dt))
		return -1;
	if (num_new(&c, &t, host_dtype(b->h, dt), s.n, s.v, bind_e(b)))
		return bind_fail(b);
	return result(b, &t, num_randint(r, &t, lo, hi, bind_e(b)), 4);
}

/* input, low, high=?, *, dtype=None, device=None. With one bound it is the upper one. */
static int g_randint_like(struct bind *b)
{
	struct num_rng *r = rng(b);
	struct tensor *x, t;
	enum dtype dt;
	int64_t lo = 0, hi;

	if (!r || bind_tensor(b, 0, &x) || bind_int(b, 1, &hi) || bind_dtype(b, 3, x->dt, &dt))
		return -1;
	if (bind_given(b, 2)) {
		lo = hi;
		if (bind_int(b, 2, &hi))
			return -1;
	}
	if (torch_new_like(b, &t, host_dtype(b->h, dt), x, 9))
		return -1;
	return result(b, &t, num_randint(r, &t, lo, hi, bind_e(b)), 4);
}

/* n, *, dtype=int64, device=None: a permutation of 0 .. n - 1. */
static int g_randperm(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct num_rng *r = rng(b);
	struct tensor t;
	enum dtype dt;
	int64_t n;

	if (!r || bind_int(b, 0, &n) || bind_dtype(b, 1, DT_I64, &dt))
		return -1;
	if (n < 0)
		return bind_raise(b, EXC_RuntimeError, "n must be non-negative, got %lld", (long long)n);
	if (num_new(&c, &t, dt, 1, &n, bind_e(b)))
		return bind_fail(b);
	return result(b, &t, num_randperm(r, &t, bind_e(b)), 2);
}

/* normal(mean, std, size) of numbers, or of tensors: their broadcast shape, drawn as standard
 * normals and scaled. */
static int g_normal(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct num_rng *r = rng(b);
	struct num_arg mean, std;
	struct bind_ints s;
	struct tensor t, m;
	int rc;

	if (!r || torch_arg(b, 0, &mean) || torch_arg(b, 1, &std))
		return -1;
	if (mean.kind != NUM_TENSOR && std.kind != NUM_TENSOR) {
		if (bind_ints(b, 2, &s))
			return -1;
		if (num_new(&c, &t, c.default_float, s.n, s.v, bind_e(b)))
			return bind_fail(b);
		return result(b, &t, num_normal(r, &t, host_default_dtype(b->h), mean.f, std.f, bind_e(b)), 4);
	}
	/* The sum serves only to get shape and dtype of the broadcast. */
	if (num_op2(&c, &m, NUM_plus, mean, std, bind_e(b)))
		return bind_fail(b);
	rc = num_normal(r, &m, draws(b, &m), 0, 1, bind_e(b)) ||
	     num_apply(&c, &t, NUM_addcmul, (struct num_arg[]){ mean, num_t(&m), std }, (double[]){ 1, 0, 0 },
		       bind_e(b));
	tensor_release(&m);
	return rc ? bind_fail(b) : bind_result(b, &t);
}

/* input, p=?, *, generator=None: one p for all, or the input's elements are the
 * probabilities. */
static int g_bernoulli(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct num_rng *r = rng(b);
	struct tensor *x, t;
	double p;
	int rc;

	if (!r || bind_tensor(b, 0, &x))
		return -1;
	if (!dtype_is_float(x->dt) && !bind_given(b, 1))
		return bind_raise(b, EXC_NotImplementedError,
				  "\"bernoulli_tensor_cpu_p_\" not implemented for '%s'", num_type_name(x->dt));
	if (num_new_like(&c, &t, x->dt, x, bind_e(b)))
		return bind_fail(b);
	if (bind_given(b, 1))
		rc = bind_float(b, 1, &p) || num_bernoulli(r, &t, p, bind_e(b));
	else
		rc = num_bernoulli_tensor(r, &t, x, draws(b, x), bind_e(b));
	if (rc) {
		tensor_release(&t);
		return bind_fail(b);
	}
	return bind_result(b, &t);
}

/* input, num_samples, replacement=False. Only several samples with replacement use the
 * inversion that num_multinomial reproduces; the other cases use draws of another kind in
 * PyTorch. */
static int g_multinomial(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct num_rng *r = rng(b);
	struct tensor *p, y;
	int64_t n;
	int replacement;

	if (!r || bind_tensor(b, 0, &p) || bind_int(b, 1, &n) || bind_bool(b, 2, &replacement))
		return -1;
	if (num_check_multinomial(&c, p, n, replacement, bind_e(b)))
		return bind_fail(b);
	if (!replacement || n == 1)
		return bind_unsupported(b, "multinomial of one sample or without replacement");
	return num_multinomial(r, &c, &y, p, n, bind_e(b)) ? bind_fail(b) : bind_result(b, &y);
}

/* --- in place --------------------------------------------------------------------------------------- */

/* self, from=0.0, to=1.0 */
static int m_uniform(struct bind *b)
{
	struct num_rng *r = rng(b);
	struct tensor *t;
	double lo, hi;

	if (!r || bind_tensor(b, 0, &t) || bind_float(b, 1, &lo) || bind_float(b, 2, &hi))
		return -1;
	return num_uniform(r, t, draws(b, t), lo, hi, bind_e(b)) ? bind_fail(b) : bind_self(b);
}

/* self, mean=0.0, std=1.0 */
static int m_normal(struct bind *b)
{
	struct num_rng *r = rng(b);
	struct tensor *t;
	double mean, std;

	if (!r || bind_tensor(b, 0, &t) || bind_float(b, 1, &mean) || bind_float(b, 2, &std))
		return -1;
	return num_normal(r, t, draws(b, t), mean, std, bind_e(b)) ? bind_fail(b) : bind_self(b);
}

/* self, p=0.5: a number or a tensor of probabilities. */
static int m_bernoulli(struct bind *b)
{
	struct num_rng *r = rng(b);
	struct tensor *t;
	double p;

	if (!r || bind_tensor(b, 0, &t))
		return -1;
	if (b->a[1].kind == V_TENSOR) {
		struct tensor *q = &b->a[1].u.t->t;

		return num_bernoulli_tensor(r, t, q, draws(b, q), bind_e(b)) ? bind_fail(b) : bind_self(b);
	}
	if (bind_float(b, 1, &p))
		return -1;
	return num_bernoulli(r, t, p, bind_e(b)) ? bind_fail(b) : bind_self(b);
}

/* self, lambd=1.0 */
static int m_exponential(struct bind *b)
{
	struct num_rng *r = rng(b);
	struct tensor *t;
	double lambda;

	if (!r || bind_tensor(b, 0, &t) || bind_float(b, 1, &lambda))
		return -1;
	if (!dtype_is_float(t->dt))
		return bind_raise(b, EXC_RuntimeError,
				  "Exponential distribution is a continuous probability "
				  "distribution. dtype must be a floating point but you "
				  "specified %s", num_type_name(t->dt));
	if (!(lambda > 0))
		return bind_raise(b, EXC_RuntimeError, "exponential_ expects lambda > 0.0, but found lambda=%g",
				  lambda);
	return num_exponential(r, t, lambda, bind_e(b)) ? bind_fail(b) : bind_self(b);
}

/* random_(to), random_(from, to), random_(): without bounds the range is 0 to the largest
 * integer that the dtype holds exactly. */
static int m_random(struct bind *b)
{
	struct num_rng *r = rng(b);
	struct tensor *t;
	int64_t lo = 0, hi;

	if (!r || bind_tensor(b, 0, &t))
		return -1;
	hi = dtype_is_float(t->dt) ? (draws(b, t) == DT_F64 ? (1ll << 53) + 1 : (1ll << 24) + 1)
				   : dtype_size(t->dt) == 8 ? INT64_MAX : (1ll << (8 * dtype_size(t->dt) - 1));
	if (bind_given(b, 1) && bind_int(b, 1, &hi))
		return -1;
	if (bind_given(b, 2)) {
		lo = hi;
		if (bind_int(b, 2, &hi))
			return -1;
	}
	return num_randint(r, t, lo, hi, bind_e(b)) ? bind_fail(b) : bind_self(b);
}

/* --- dropout -------------------------------------------------------------------------------------------- */

/* input, p, training, inplace: elements are zeroed with probability p, the others scaled by 1
 * / (1 - p). `channels`: one draw per channel of each sample, so the mask is [N, C, 1, ...]. */
static int drop(struct bind *b, int channels)
{
	struct num_ctx c = torch_ctx(b);
	struct num_rng *r = rng(b);
	struct tensor *x, mask, y;
	int64_t shape[TENSOR_DIMS];
	double p;
	int training, inplace, rc;

	if (!r || bind_tensor(b, 0, &x) || bind_float(b, 1, &p) || bind_bool(b, 2, &training) ||
	    bind_bool(b, 3, &inplace))
		return -1;
	if (!(p >= 0 && p <= 1))
		return bind_raise(b, EXC_ValueError, "dropout probability has to be between 0 and 1, but got %g", p);
	if (!training || p == 0 || tensor_numel(x) == 0) {
		b->out = b->a[0];
		return 0;
	}
	for (int i = 0; i < x->ndim; i++)
		shape[i] = channels && i > 1 ? 1 : x->shape[i];
	if (num_new(&c, &mask, x->dt, x->ndim, shape, bind_e(b)))
		return bind_fail(b);
	rc = p == 1 ? num_fill(&c, &mask, num_i(0), bind_e(b))
		    : num_bernoulli(r, &mask, 1 - p, bind_e(b)) ||
			      num_apply_into(&c, &mask, NUM_div, (struct num_arg[]){ num_t(&mask),
					      num_f(1 - p) }, NULL, bind_e(b));
	rc = rc || (inplace ? num_apply_into(&c, x, NUM_mul, (struct num_arg[]){ num_t(x), num_t(&mask) },
					     NULL, bind_e(b))
			    : num_op2(&c, &y, NUM_mul, num_t(x), num_t(&mask), bind_e(b)));
	tensor_release(&mask);
	if (rc)
		return bind_fail(b);
	return inplace ? bind_self(b) : bind_result(b, &y);
}

static int f_dropout(struct bind *b) { return drop(b, 0); }
static int f_dropout_channels(struct bind *b) { return drop(b, 1); }

/* generator= is accepted and ignored: every program has one generator. Dropout counts as
 * computing, too. */
#define OPTS "dtype=None, device=None, requires_grad=False, generator=None, pin_memory=False, layout=None"
#define FORMAT ", memory_format=None"
#define RND BIND_RANDOM
#define INPL (BIND_RANDOM | BIND_INPLACE)

const struct bind_row torch_random_rows[] = {
	{ "torch.manual_seed", "seed", g_manual_seed, RND },
	{ "torch.random.manual_seed", "seed", g_manual_seed, RND },
	{ "torch.cuda.manual_seed", "seed", g_manual_seed, RND },
	{ "torch.cuda.manual_seed_all", "seed", g_manual_seed, RND },
	{ "torch.seed", "", g_seed, RND },
	{ "torch.initial_seed", "", g_initial_seed, RND },
	{ "torch.rand", "*size, " OPTS ", out=None", g_rand, RND },
	{ "torch.randn", "*size, " OPTS ", out=None", g_randn, RND },
	{ "torch.rand_like", "input, *, " OPTS FORMAT, g_rand_like, RND },
	{ "torch.randn_like", "input, *, " OPTS FORMAT, g_randn_like, RND },
	{ "torch.randint", "low=?, high=?, size=?, *, " OPTS, g_randint, RND },
	{ "torch.randint_like", "input, low, high=?, *, " OPTS FORMAT, g_randint_like, RND },
	{ "torch.randperm", "n, *, " OPTS, g_randperm, RND },
	{ "torch.normal", "mean, std=1.0, size=?, *, " OPTS, g_normal, RND },
	{ "torch.bernoulli", "input, p=?, *, generator=None", g_bernoulli, RND },
	{ "torch.Tensor.bernoulli", "self, p=?, *, generator=None", g_bernoulli, RND },
	{ "torch.multinomial", "input, num_samples, replacement=False, *, generator=None", g_multinomial, RND },
	ALIAS("torch.Tensor.multinomial", "torch.multinomial"),
	{ "torch.Tensor.uniform_", "self, from_=0.0, to=1.0, *, generator=None", m_uniform, INPL },
	{ "torch.Tensor.normal_", "self, mean=0.0, std=1.0, *, generator=None", m_normal, INPL },
	{ "torch.Tensor.bernoulli_", "self, p=0.5, *, generator=None", m_bernoulli, INPL },
	{ "torch.Tensor.exponential_", "self, lambd=1.0, *, generator=None", m_exponential, INPL },
	{ "torch.Tensor.random_", "self, a=?, b=?, *, generator=None", m_random, INPL },
	{ "torch.nn.functional.dropout", "input, p=0.5, training=True, inplace=False", f_dropout,
	  BIND_COMPUTE | BIND_RANDOM },
	{ "torch.nn.functional.dropout1d", "input, p=0.5, training=True, inplace=False", f_dropout_channels,
	  BIND_COMPUTE | BIND_RANDOM },
	{ "torch.nn.functional.dropout2d", "input, p=0.5, training=True, inplace=False", f_dropout_channels,
	  BIND_COMPUTE | BIND_RANDOM },
	{ "torch.nn.functional.dropout3d", "input, p=0.5, training=True, inplace=False", f_dropout_channels,
	  BIND_COMPUTE | BIND_RANDOM },
	{ "torch.dropout", "input, p, train, inplace=False", f_dropout, BIND_COMPUTE | BIND_RANDOM },
	{ NULL, NULL, NULL, 0 }
};
