/* Bindings: torch.nn.init. The draws are those of the tensor's own uniform_ and normal_. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "host/torch.h"

static enum dtype draws(struct bind *b, const struct tensor *t)
{
	return host_nominal(b->h, t->dt);
}

static int uniform(struct bind *b, struct tensor *t, double lo, double hi)
{
	return num_uniform(torch_rng(b->h), t, draws(b, t), lo, hi, bind_e(b)) ? bind_fail(b) : bind_self(b);
}

static int normal(struct bind *b, struct tensor *t, double mean, double std)
{
	return num_normal(torch_rng(b->h), t, draws(b, t), mean, std, bind_e(b)) ? bind_fail(b) : bind_self(b);
}

/* Inputs and outputs per weight, times the receptive field. */
static int fans(struct bind *b, const struct tensor *t, double *in, double *out)
{
	double field = 1;

	if (t->ndim < 2)
		return bind_raise(b, EXC_ValueError, "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions");
	for (int i = 2; i < t->ndim; i++)
		field *= (double)t->shape[i];
	*in = (double)t->shape[1] * field;
	*out = (double)t->shape[0] * field;
	return 0;
}

static int gain_of(struct bind *b, size_t name, size_t param, double *gain)
{
	static const char *const names[] = { "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
					     "conv_transpose3d", "sigmoid", "tanh", "relu", "leaky_relu", "selu", NULL };
	double slope;
	int k;

	if (torch_choice(b, name, names, "nonlinearity", &k) || torch_float(b, param, 0.01, &slope))
		return -1;
	*gain = k < 8 ? 1 : k == 8 ? 5.0 / 3 : k == 9 ? sqrt(2) : k == 10 ? sqrt(2 / (1 + slope * slope)) : 0.75;
	return 0;
}

static int i_calculate_gain(struct bind *b)
{
	double g;

	if (gain_of(b, 0, 1, &g))
		return -1;
	b->out = val_float(g);
	return 0;
}

static int i_fans(struct bind *b)
{
	struct tensor *t;
	double in = 0, out = 0;

	if (bind_tensor(b, 0, &t) || fans(b, t, &in, &out))
		return -1;
	return val_tuple(b->h, (struct val[]){ val_int((int64_t)in), val_int((int64_t)out) }, 2, &b->out);
}

static int i_uniform(struct bind *b)
{
	struct tensor *t;
	double lo, hi;

	return bind_tensor(b, 0, &t) || bind_float(b, 1, &lo) || bind_float(b, 2, &hi) ? -1 : uniform(b, t, lo, hi);
}

static int i_normal(struct bind *b)
{
	struct tensor *t;
	double mean, std;

	return bind_tensor(b, 0, &t) || bind_float(b, 1, &mean) || bind_float(b, 2, &std) ? -1 : normal(b, t, mean, std);
}

static int i_trunc_normal(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t;
	double mean, std, lo, hi;

	if (bind_tensor(b, 0, &t) || bind_float(b, 1, &mean) || bind_float(b, 2, &std) || bind_float(b, 3, &lo) || bind_float(b, 4, &hi))
		return -1;
	return num_trunc_normal(torch_rng(b->h), &c, t, draws(b, t), mean, std, lo, hi, bind_e(b)) ? bind_fail(b) : bind_self(b);
}

static int filled(struct bind *b, double v)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t;

	if (bind_tensor(b, 0, &t))
		return -1;
	return num_fill(&c, t, v, (int64_t)v, bind_e(b)) ? bind_fail(b) : bind_self(b);
}

static int i_zeros(struct bind *b) { return filled(b, 0); }
static int i_ones(struct bind *b) { return filled(b, 1); }

static int i_constant(struct bind *b)
{
	double v;

	return bind_float(b, 1, &v) ? -1 : filled(b, v);
}

static int i_eye(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t;

	if (bind_tensor(b, 0, &t))
		return -1;
	if (t->ndim != 2)
		return bind_raise(b, EXC_ValueError, "Only tensors with 2 dimensions are supported");
	if (num_fill(&c, t, 0, 0, bind_e(b)))
		return bind_fail(b);
	for (int64_t i = 0; i < MIN(t->shape[0], t->shape[1]); i++)
		dtype_store(t->dt, (char *)tensor_data(t) + i * (t->stride[0] + t->stride[1]) * dtype_size(t->dt), 1);
	return bind_self(b);
}

/* tensor, gain=1.0 */
static int xavier(struct bind *b, int is_normal)
{
	struct tensor *t;
	double gain, in = 0, out = 0, std;

	if (bind_tensor(b, 0, &t) || bind_float(b, 1, &gain) || fans(b, t, &in, &out))
		return -1;
	std = gain * sqrt(2 / (in + out));
	return is_normal ? normal(b, t, 0, std) : uniform(b, t, -(sqrt(3) * std), sqrt(3) * std);
}

static int i_xavier_uniform(struct bind *b) { return xavier(b, 0); }
static int i_xavier_normal(struct bind *b) { return xavier(b, 1); }

/* tensor, a=0, mode='fan_in', nonlinearity='leaky_relu' */
static int kaiming(struct bind *b, int is_normal)
{
	static const char *const modes[] = { "fan_in", "fan_out", NULL };
	struct tensor *t;
	double gain, in = 0, out = 0, std;
	int mode;

	if (bind_tensor(b, 0, &t) || torch_choice(b, 2, modes, "mode", &mode) || gain_of(b, 3, 1, &gain))
		return -1;
	if (tensor_numel(t) == 0) {
		b->out = b->a[0];
		return 0;
	}
	if (fans(b, t, &in, &out))
		return -1;
	std = gain / sqrt(mode ? out : in);
	return is_normal ? normal(b, t, 0, std) : uniform(b, t, -(sqrt(3) * std), sqrt(3) * std);
}

static int i_kaiming_uniform(struct bind *b) { return kaiming(b, 0); }
static int i_kaiming_normal(struct bind *b) { return kaiming(b, 1); }

static int i_orthogonal(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t;
	double gain;

	if (bind_tensor(b, 0, &t) || bind_float(b, 1, &gain))
		return -1;
	return num_orthogonal(torch_rng(b->h), &c, t, draws(b, t), gain, bind_e(b)) ? bind_fail(b) : bind_self(b);
}

#define I "torch.nn.init."
#define RND (BIND_RANDOM | BIND_INPLACE)

const struct bind_row torch_init_rows[] = {
	{ I "calculate_gain", "nonlinearity, param=None", i_calculate_gain, 0 },
	{ I "_calculate_fan_in_and_fan_out", "tensor", i_fans, 0 },
	{ I "uniform_", "tensor, a=0.0, b=1.0, generator=None", i_uniform, RND },
	{ I "normal_", "tensor, mean=0.0, std=1.0, generator=None", i_normal, RND },
	{ I "trunc_normal_", "tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None", i_trunc_normal, RND },
	{ I "zeros_", "tensor", i_zeros, BIND_ALLOC | BIND_INPLACE },
	{ I "ones_", "tensor", i_ones, BIND_ALLOC | BIND_INPLACE },
	{ I "constant_", "tensor, val", i_constant, BIND_ALLOC | BIND_INPLACE },
	{ I "eye_", "tensor", i_eye, BIND_ALLOC | BIND_INPLACE },
	{ I "xavier_uniform_", "tensor, gain=1.0, generator=None", i_xavier_uniform, RND },
	{ I "xavier_normal_", "tensor, gain=1.0, generator=None", i_xavier_normal, RND },
	ALIAS(I "xavier_uniform", I "xavier_uniform_"),
	ALIAS(I "xavier_normal", I "xavier_normal_"),
	{ I "kaiming_uniform_", "tensor, a=0, mode='fan_in', nonlinearity='leaky_relu', generator=None", i_kaiming_uniform, RND },
	{ I "kaiming_normal_", "tensor, a=0, mode='fan_in', nonlinearity='leaky_relu', generator=None", i_kaiming_normal, RND },
	ALIAS(I "kaiming_uniform", I "kaiming_uniform_"),
	ALIAS(I "kaiming_normal", I "kaiming_normal_"),
	{ I "orthogonal_", "tensor, gain=1, generator=None", i_orthogonal, RND },
	{ NULL }
};
