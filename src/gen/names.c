/* Names of a task: its constants, inputs, modules and parameters, and the symbols by which it
 * writes its shapes. Task and solution read them from here, so that they always agree. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "gen/names.h"

unsigned gen_choice(const struct gen_plan *p, unsigned what, unsigned n)
{
	uint64_t in[2] = { p->style, what };

	return (unsigned)(hash_xxh64(in, sizeof in, 0) % n);
}

unsigned gen_solution_choice(const struct gen_plan *p, unsigned what, unsigned n)
{
	return p->plain ? 0 : gen_choice(p, what, n);
}

unsigned gen_style(const struct gen_emit *em, unsigned what, unsigned n, unsigned plain)
{
	return em->p->plain ? plain : gen_choice(em->p, what, n);
}

const char *gen_one_of(const struct gen_emit *em, unsigned what, const char *const *words)
{
	unsigned n = 0;

	if (em->p->plain)
		return words[0];

	while (words[n])
		n++;
	return words[gen_choice(em->p, what, n)];
}

int gen_param_index(const struct gen_emit *em, const char *name)
{
	for (int i = 0; i < em->params; i++)
		if (!strcmp(em->param[i].name, name))
			return i;
	return -1;
}

const char *gen_add_param(struct gen_emit *em, const char *stem, int init, const char *value)
{
	struct gen_param *p = &em->param[em->params];

	if (em->params == GEN_PARAMS)
		BUG("more than %d constants in a task", GEN_PARAMS);
	snprintf(p->name, GEN_NAME, "%s", stem);
	for (int k = 2; gen_param_index(em, p->name) >= 0; k++)
		snprintf(p->name, GEN_NAME, "%.30s%d", stem, k);
	snprintf(p->value, GEN_NAME, "%s", value);
	p->init = init;
	em->params++;
	return p->name;
}

const char *gen_add_preset(struct gen_emit *em, const char *stem, const char *value, const char *preset)
{
	const char *name = gen_add_param(em, stem, 1, value);

	snprintf(em->param[em->params - 1].preset, GEN_NAME, "%s", preset);
	return name;
}

const char *gen_flag_param(struct gen_emit *em, const char *stem, const char *value)
{
	int i = gen_param_index(em, stem);

	return i >= 0 && !strcmp(em->param[i].value, value) ? em->param[i].name : gen_add_preset(em, stem, value, value);
}

const char *gen_add_size(struct gen_emit *em, const char *stem, int init, int64_t value)
{
	char text[32];

	if (value % 2048 == 0 && !em->p->plain && gen_choice(em->p, 500, 6) == 0)
		snprintf(text, sizeof text, "%lld * 2", (long long)value / 2);
	else
		snprintf(text, sizeof text, "%lld", (long long)value);
	return gen_add_param(em, stem, init, text);
}

const char *gen_in_init(struct gen_emit *em, const char *sym)
{
	int i = gen_param_index(em, sym);

	if (i >= 0)
		em->param[i].init = 1;
	return sym;
}

/* The name `stem`, or stem2, stem3 if an earlier step has it. */
static void unique(const struct gen_emit *em, int upto, const char *stem, size_t member, char *out)
{
	int used = 0;

	for (int i = 0; i < upto; i++) {
		const char *other = (const char *)&em->name[i] + member;
		size_t n = strlen(stem);

		used += !strncmp(other, stem, n) && (!other[n] || (other[n] >= '0' && other[n] <= '9'));
	}
	if (used)
		snprintf(out, GEN_NAME, "%.30s%d", stem, used + 1);
	else
		snprintf(out, GEN_NAME, "%s", stem);
}

/* A name for an attribute: the stem, or now and then one that nobody has seen; never one that is taken. */
static void attribute(const struct gen_emit *em, unsigned what, const char *stem, char out[GEN_NAME])
{
	char name[GEN_NAME];

	snprintf(name, sizeof name, "%s", stem);
	if (!em->p->plain && gen_choice(em->p, 633, 3) == 0 && gen_choice(em->p, what, 2))
		gen_coin(em->p, what + 1, stem, name);
	snprintf(out, GEN_NAME, "%s", name);
	for (int k = 2; gen_is_attribute(em, out); k++)
		snprintf(out, GEN_NAME, "%.30s%d", name, k);
}

/* --- inputs ----------------------------------------------------------------------------- */

static struct gen_input *add_input(struct gen_emit *em, const char *name, const struct gen_shape *shape)
{
	struct gen_input *in = &em->input[em->inputs++];

	if (em->inputs > GEN_INPUTS)
		BUG("more than %d inputs", GEN_INPUTS);
	*in = (struct gen_input){ .shape = *shape };
	snprintf(in->name, GEN_NAME, "%s", name);
	return in;
}

/* Whether one constant is the size of both dimensions: of matrices that are square by their meaning. */
static int is_square(const struct gen_plan *p)
{
	enum gen_op_id op = p->step[0].op;

	return op == GEN_OP_matmul_symmetric || op == GEN_OP_matmul_triu || op == GEN_OP_matmul_tril;
}

/* The sizes of a product's left factor, then the width of the right one: never A and B, which are the factors. */
static const char *const *product_names(const struct gen_emit *em, int rank)
{
	static const char *const names[3][4][5] = {
		{ { "M", "K", "N" }, { "m", "k", "n" }, { "rows", "inner", "cols" }, { "N", "K", "M" } },
		{ { "batch_size", "m", "k", "n" }, { "N", "M", "K", "L" }, { "bs", "S", "H", "O" }, { "batch", "rows", "inner", "cols" } },
		{ { "b", "i", "j", "l", "k" }, { "N", "I", "J", "L", "K" }, { "bs", "H", "S", "D", "E" }, { "dim0", "dim1", "dim2", "dim3", "dim4" } },
	};

	return names[rank - 2][gen_style(em, 13, 2, 0) ? gen_style(em, 14, 4, 0) : 0];
}

static void first_symbols(struct gen_emit *em)
{
	static const char *const space[5][4][3] = { { { 0 }, { "length" }, { "height", "width" }, { "depth", "height", "width" } },
						    { { 0 }, { "L" }, { "H", "W" }, { "D", "H", "W" } },
						    { { 0 }, { "input_length" }, { "input_height", "input_width" }, { "dim1", "dim2", "dim3" } },
						    { { 0 }, { "dim1" }, { "dim1", "dim2" }, { "d", "h", "w" } },
						    { { 0 }, { "sequence_length" }, { "height_in", "width_in" }, { "depth_in", "height_in", "width_in" } } };
	static const char *const heads[4] = { "batch_size", "num_heads", "seq_len", "head_dim" };
	const struct gen_plan *p = em->p;
	const struct gen_op *op = gen_op(p->step[0].op);
	int rank = p->input.rank, swapped = p->step[0].op == GEN_OP_matmul_ta || p->step[0].op == GEN_OP_matmul_tab;
	unsigned words = p->plain || gen_choice(p, 5, 10) < 5 ? 0 : 1 + gen_choice(p, 6, 4);

	for (int i = 0; i < rank; i++) {
		const char *stem = i ? (rank == 3 && i == 1 ? GEN_ONE_OF(em, 2, "seq_len", "dim1", "sequence_length") :
					GEN_ONE_OF(em, 3, "dim", "in_features", "features", "input_size", "hidden_size")) :
			GEN_ONE_OF(em, 1, "batch_size", "batch_size", "batch_size", "batch", "N");

		if (i == 1 && is_square(p)) {
			memcpy(em->sym[0][1], em->sym[0][0], GEN_NAME);
			return;
		}
		if (op->family == GEN_ATTENTION)
			stem = heads[i];
		else if (is_square(p))
			stem = GEN_ONE_OF(em, 7, "N", "M", "size");
		else if (p->level == 1 && op->family == GEN_GEMM && p->step[0].op != GEN_OP_linear && p->step[0].op != GEN_OP_linear_nobias)
			stem = product_names(em, rank)[swapped ? 1 - i : i];
		else if (p->channels_first && i)
			stem = i == 1 ? GEN_ONE_OF(em, 4, "in_channels", "in_channels", "channels", "features") : space[words][rank - 2][i - 2];
		else if (p->level == 1 && op->family == GEN_ROW_LOSS && i)
			stem = "num_classes";
		else if (i == 2 && !strcmp(em->sym[0][1], "dim1"))
			stem = "dim2";
		snprintf(em->sym[0][i], GEN_NAME, "%s", gen_add_size(em, stem, 0, p->input.d[i]));
	}
}

static void first_input(struct gen_emit *em)
{
	const struct gen_plan *p = em->p;
	const struct gen_op *op = gen_op(p->step[0].op);
	int products = p->level == 1 && op->family == GEN_GEMM && op->triton[0][0];
	const char *name = op->family == GEN_ATTENTION ? GEN_ONE_OF(em, 8, "Q", "q", "query") : products ? "A" :
		op->flags & GEN_ALONE && op->family == GEN_VECTOR ? "B" : p->step[0].op == GEN_OP_triplet_loss ? "anchor" :
		op->family >= GEN_LOSS ? GEN_ONE_OF(em, 9, "predictions", "x", "logits") :
		p->level == 1 ? GEN_ONE_OF(em, 11, "x", "x", "x", "x", "x", "A", "input", "inputs", "data", "t") : "x";
	struct gen_input *in;

	first_symbols(em);
	in = add_input(em, name, &p->input);
	memcpy(in->sym, em->sym[0], sizeof in->sym);
	if (p->step[0].op == GEN_OP_matmul_triu)
		in->fill = GEN_FILL_TRIU;
	else if (p->step[0].op == GEN_OP_matmul_tril)
		in->fill = GEN_FILL_TRIL;
	else if (p->step[0].op == GEN_OP_matmul_symmetric)
		in->fill = GEN_FILL_SYMMETRIC;
	else if (p->step[0].op == GEN_OP_kl_loss)
		in->fill = GEN_FILL_ROWS_OF_ONE;
	else if (p->step[0].op == GEN_OP_cumprod && (p->signed_input || gen_style(em, 92, 2, 1)))     /* products of normal ones may grow without end */
		in->fill = GEN_FILL_NEAR_ONE;
}

/* An input of the shape that step i reads. */
static struct gen_input *like_input(struct gen_emit *em, int i, const char *stem, int which)
{
	struct gen_input *in = add_input(em, stem, &em->p->step[i].in);

	for (int k = 2, same = 1; same; k++) {
		same = 0;
		for (int j = 0; j < em->inputs - 1; j++)
			same |= !strcmp(em->input[j].name, in->name);
		if (same)
			snprintf(in->name, GEN_NAME, "%.30s%d", stem, k);
	}
	memcpy(in->sym, em->sym[i], sizeof in->sym);
	memcpy(em->name[i].input[which], in->name, GEN_NAME);
	return in;
}

static void loss_inputs(struct gen_emit *em, int i)
{
	enum gen_op_id op = em->p->step[i].op;
	struct gen_input *in;

	if (op == GEN_OP_triplet_loss) {
		like_input(em, i, "positive", 0);
		like_input(em, i, "negative", 1);
		return;
	}
	in = like_input(em, i, GEN_ONE_OF(em, 10, "targets", "target", "y"), 0);
	if (op == GEN_OP_hinge_loss) {
		in->fill = GEN_FILL_SIGNS;
		if (gen_style(em, 91, 2, 0)) {      /* a sign for each column */
			in->shape = (struct gen_shape){ .rank = 1, .d = { in->shape.d[1] } };
			memcpy(in->sym[0], em->sym[i][1], GEN_NAME);
		}
	}
	if (op == GEN_OP_kl_loss)
		in->fill = GEN_FILL_ROWS_OF_ONE;
	if (op == GEN_OP_cross_entropy) {
		in->fill = GEN_FILL_CLASSES;
		in->shape.rank = 1;
		snprintf(in->bound, GEN_NAME, "%s", em->sym[i][1]);
	}
}

/* The right factor: (K, N), (N, K), a batch of either, or a vector as a matrix of one column. */
static void product_input(struct gen_emit *em, int i)
{
	const struct gen_step *s = &em->p->step[i];
	int rank = s->in.rank, batched = s->op == GEN_OP_bmm || s->op == GEN_OP_bmm_tb, across = gen_op(s->op)->triton[1][0] == 'n';
	int left = gen_op(s->op)->triton[0][0] == 'k', at = batched;
	struct gen_shape shape = { .rank = 2 + batched };
	struct gen_input *in = add_input(em, i ? "other" : "B", &shape);
	const char *k_sym = em->sym[i][left ? 0 : rank - 1];
	char n_sym[GEN_NAME];

	if (is_square(em->p))
		snprintf(n_sym, sizeof n_sym, "%s", em->sym[i][1]);
	else if (s->op == GEN_OP_matvec)
		snprintf(n_sym, sizeof n_sym, "1");
	else
		snprintf(n_sym, sizeof n_sym, "%s", gen_add_size(em, product_names(em, rank)[rank], 0, s->out));
	if (batched) {
		in->shape.d[0] = s->in.d[0];
		memcpy(in->sym[0], em->sym[i][0], GEN_NAME);
	}
	in->shape.d[at + across] = s->in.d[left ? 0 : rank - 1];
	in->shape.d[at + !across] = s->out;
	memcpy(in->sym[at + across], k_sym, GEN_NAME);
	snprintf(in->sym[at + !across], GEN_NAME, "%s", n_sym);
	memcpy(em->name[i].input[0], in->name, GEN_NAME);
	memcpy(em->sym[i + 1][s->shape.rank - 1], n_sym, GEN_NAME);
	if (left)
		memcpy(em->sym[i + 1][0], em->sym[i][1], GEN_NAME);
	in->fill = em->input[0].fill;
}

/* Now and then an operand is used again, where an earlier step has one of the same shape. */
static int same_operand(struct gen_emit *em, int i)
{
	const struct gen_shape *shape = &em->p->step[i].in;

	if (gen_style(em, 8200 + (unsigned)i, 3, 1))
		return 0;
	for (int k = 0; k < i; k++)
		if (gen_op(em->p->step[k].op)->family == GEN_TENSOR && !memcmp(&em->p->step[k].in, shape, sizeof *shape)) {
			memcpy(em->name[i].input[0], em->name[k].input[0], GEN_NAME);
			return 1;
		}
	return 0;
}

/* A number that forward takes beside the tensor. */
static void number_input(struct gen_emit *em, int i)
{
	struct gen_names *n = &em->name[i];
	struct gen_input *in = add_input(em, GEN_ONE_OF(em, 15, "s", "scalar", "value", "factor"), &(struct gen_shape){ .rank = 0 });

	in->fill = GEN_FILL_NUMBER;
	snprintf(in->bound, GEN_NAME, "%s", em->p->step[i].c[0]);
	memcpy(n->input[0], in->name, GEN_NAME);
	memcpy(n->host[0], in->name, GEN_NAME);
}

static void operand_input(struct gen_emit *em, int i)
{
	const struct gen_step *s = &em->p->step[i];
	struct gen_input *in;

	if (gen_op(s->op)->family == GEN_TENSOR && same_operand(em, i))
		return;
	if (gen_op(s->op)->family == GEN_TENSOR) {
		like_input(em, i, em->p->level == 1 ? "y" : GEN_ONE_OF(em, 12, "residual", "y", "other", "add_input"), 0);
		return;
	}
	in = add_input(em, "A", &(struct gen_shape){ .rank = 1, .d = { s->in.d[s->axis] } });
	memcpy(in->sym[0], em->sym[i][s->axis], GEN_NAME);
	snprintf(em->name[i].input[0], GEN_NAME, "A");
}

/* --- steps ------------------------------------------------------------------------------ */

static const char *module_stem(const struct gen_emit *em, const struct gen_step *s)
{
	unsigned what = 20 + (unsigned)s->op;

	switch (s->op) {
	case GEN_OP_conv: return s->window[0] == 1 && em->p->level == 1 && em->p->n > 1 ? "pointwise" : GEN_ONE_OF(em, what, "conv", "conv", "conv$dd", "conv1");
	case GEN_OP_conv_depthwise: return GEN_ONE_OF(em, what, "depthwise", "conv", "conv$dd");
	case GEN_OP_conv_transpose: return GEN_ONE_OF(em, what, "conv_transpose", "conv_transpose", "deconv", "conv", "conv_transpose$dd", "conv$ddt");
	case GEN_OP_linear: case GEN_OP_linear_nobias: return GEN_ONE_OF(em, what, "linear", "gemm", "matmul", "fc");
	case GEN_OP_max_pool: return GEN_ONE_OF(em, what, "max_pool", "maxpool", "pool");
	case GEN_OP_avg_pool: return GEN_ONE_OF(em, what, "avg_pool", "pool");
	case GEN_OP_global_avg_pool: case GEN_OP_global_max_pool: return GEN_ONE_OF(em, what, "global_pool", "pool");
	case GEN_OP_batch_norm: return GEN_ONE_OF(em, what, "bn", "batch_norm", "norm");
	case GEN_OP_group_norm: return GEN_ONE_OF(em, what, "group_norm", "gn", "norm");
	case GEN_OP_instance_norm: return GEN_ONE_OF(em, what, "instance_norm", "norm");
	case GEN_OP_layer_norm: return GEN_ONE_OF(em, what, "layer_norm", "ln", "norm");
	default: break;
	}
	return gen_op(s->op)->family >= GEN_LOSS ? "loss_fn" : !em->p->plain && gen_choice(em->p, what, 2) ? gen_op(s->op)->name : "act";
}

static const char *vector_stem(const struct gen_emit *em, enum gen_op_id op)
{
	switch (op) {
	case GEN_OP_bias: return GEN_ONE_OF(em, 50, "bias", "bias", "bias_term", "add_value", "sum_tensor", "offset");
	case GEN_OP_scale: return GEN_ONE_OF(em, 51, "scale", "multiplier", "scale_weight", "scaling_factor", "multiply_weight");
	case GEN_OP_sub_vec: return GEN_ONE_OF(em, 52, "subtract", "shift", "bias", "subtract_value", "constant");
	case GEN_OP_max_vec: return "floor";
	case GEN_OP_min_vec: return "ceiling";
	case GEN_OP_prelu: return "slope";
	default: return "gate";
	}
}

/* The parameter's attribute, and what kernels call it: the operator's name where the attribute may be any word. */
static void name_vector(struct gen_emit *em, int i, const char *stem)
{
	struct gen_names *n = &em->name[i];
	char name[GEN_NAME];

	if (em->p->plain) {
		unique(em, i, stem, offsetof(struct gen_names, vec), n->vec);
		memcpy(n->var, n->vec, GEN_NAME);
		return;
	}
	attribute(em, 4032 + 64 * (unsigned)i, stem, name);
	memcpy(n->vec, name, GEN_NAME);
	unique(em, i, gen_op(em->p->step[i].op)->name, offsetof(struct gen_names, var), n->var);
}

/* The number as a tensor of ones in all dimensions, or in all but the first; given as a shape, or in place. */
static int ones_vector(struct gen_emit *em, int i)
{
	static const char *const ones[] = { "(1,)", "(1, 1)", "(1, 1, 1)", "(1, 1, 1, 1)", "(1, 1, 1, 1, 1)" };
	struct gen_names *n = &em->name[i];
	int rank = em->p->step[i].in.rank - (int)gen_style(em, 64, 2, 0);
	char name[GEN_NAME];

	if (rank < 1 || gen_style(em, 63, 3, 1))
		return 0;
	snprintf(name, sizeof name, "%.30s_shape", n->vec);
	if (gen_choice(em->p, 65, 2))
		snprintf(n->ctor, sizeof n->ctor, "nn.Parameter(torch.randn(%s))", gen_add_param(em, name, 1, ones[rank - 1]));
	else
		snprintf(n->ctor, sizeof n->ctor, "nn.Parameter(torch.randn%s)", ones[rank - 1]);
	return 1;
}

/* One number for all elements. */
static void scalar_vector(struct gen_emit *em, int i)
{
	struct gen_names *n = &em->name[i];
	char name[GEN_NAME];

	if (ones_vector(em, i))
		return;
	if (em->p->plain || gen_choice(em->p, 57, 2)) {
		snprintf(n->ctor, sizeof n->ctor, "nn.Parameter(%s)", gen_choice(em->p, 54, 2) ? "torch.randn(1)" : "torch.tensor(1.5)");
		return;
	}
	snprintf(name, sizeof name, "%.30s%s", n->vec, gen_choice(em->p, 54, 2) ? "_shape" : "_value");
	if (gen_choice(em->p, 54, 2))
		snprintf(n->ctor, sizeof n->ctor, "nn.Parameter(torch.randn(%s))", gen_add_param(em, name, 1, "(1,)"));
	else
		snprintf(n->ctor, sizeof n->ctor, "nn.Parameter(torch.tensor(%s))", gen_add_param(em, name, 1, gen_choice(em->p, 58, 2) ? "1.5" : "0.5"));
}

/* Now and then a parameter is used again, where an earlier step has one of the same shape. */
static int same_vector(struct gen_emit *em, int i)
{
	const struct gen_step *s = &em->p->step[i];
	int viewed = strstr(gen_spelling(s), ".view(") != NULL;

	if (gen_style(em, 8220 + (unsigned)i, 4, 1))
		return 0;
	for (int k = 0; k < i; k++) {
		const struct gen_step *o = &em->p->step[k];

		if (gen_op(o->op)->family == GEN_VECTOR && o->axis == s->axis && viewed == (strstr(gen_spelling(o), ".view(") != NULL) &&
		    (s->axis < 0 || (o->in.rank == s->in.rank && o->in.d[s->axis] == s->in.d[s->axis] && !strcmp(em->sym[k][s->axis], em->sym[i][s->axis])))) {
			memcpy(em->name[i].vec, em->name[k].vec, GEN_NAME);
			memcpy(em->name[i].var, em->name[k].var, GEN_NAME);
			return 1;
		}
	}
	return 0;
}

static void vector_names(struct gen_emit *em, int i)
{
	const struct gen_step *s = &em->p->step[i];
	struct gen_names *n = &em->name[i];
	const char *stem = vector_stem(em, s->op);
	char shape[3 * GEN_NAME];
	int after = s->in.rank - 1 - s->axis, ones = gen_choice(em->p, 53, 4) == 0;

	if (same_vector(em, i))
		return;
	name_vector(em, i, stem);
	if (s->axis < 0) {
		scalar_vector(em, i);
		return;
	}
	snprintf(shape, sizeof shape, "%s%s", ones && s->axis == 1 ? "1, " : "", em->sym[i][s->axis]);
	if (strstr(gen_spelling(s), ".view("))
		snprintf(shape, sizeof shape, "%s", em->sym[i][s->axis]), after = 0;
	for (int k = 0; k < after; k++)
		snprintf(shape + strlen(shape), sizeof shape - strlen(shape), ", 1");
	if (gen_choice(em->p, 55, 2)) {
		char name[GEN_NAME], value[GEN_NAME];

		snprintf(name, sizeof name, "%.30s_shape", n->vec);
		snprintf(value, sizeof value, "(%.40s%s)", shape, strchr(shape, ',') ? "" : ",");
		snprintf(shape, sizeof shape, "%s", gen_add_param(em, name, 1, value));
	} else {
		gen_in_init(em, em->sym[i][s->axis]);
	}
	snprintf(n->ctor, sizeof n->ctor, "nn.Parameter(torch.%s(%s)%s)", s->op == GEN_OP_scale && gen_style(em, 59, 4, 1) == 0 ? "ones" : "randn", shape,
		 gen_choice(em->p, 56, 5) || (!em->p->plain && s->op == GEN_OP_scale) ? "" : " * 0.02");
}

static void norm_names(struct gen_emit *em, int i, struct gen_vars *v)
{
	const struct gen_step *s = &em->p->step[i];
	int channel = s->op == GEN_OP_layer_norm ? s->in.rank - 1 : 1;

	if ((gen_op(s->op)->flags & GEN_AFFINE && s->op != GEN_OP_layer_norm) || s->op == GEN_OP_instance_norm)
		gen_set(v, "c", "%s", gen_in_init(em, em->sym[i][channel]));
	if (s->op == GEN_OP_group_norm)
		gen_set(v, "g", "%s", gen_add_size(em, GEN_ONE_OF(em, 60, "num_groups", "groups"), 1, s->groups));
	if (s->op == GEN_OP_layer_norm && s->axis_end - s->axis > 1) {
		char shape[4 * GEN_NAME] = "(";

		for (int k = s->axis; k < s->axis_end; k++)
			snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%s%s", k > s->axis ? ", " : "", em->sym[i][k]);
		snprintf(shape + strlen(shape), sizeof shape - strlen(shape), ")");
		gen_set(v, "s", "%s", gen_add_param(em, "normalized_shape", 1, shape));
	} else if (s->op == GEN_OP_layer_norm) {
		gen_set(v, "s", "%s", gen_in_init(em, em->sym[i][channel]));
	}
}

static void axis_names(struct gen_emit *em, int i)
{
	const struct gen_step *s = &em->p->step[i];
	char *out = em->name[i].axis;
	unsigned style = gen_choice(em->p, 70 + (unsigned)i, 4);

	if (s->axis_end - s->axis > 1) {
		const char *comma = gen_style(em, 81, 5, 1) ? ", " : ",";
		int from_behind = s->axis_end == s->in.rank && gen_style(em, 82, 8, 1) == 0 ? s->in.rank : 0;

		for (int k = s->axis; k < s->axis_end; k++)
			snprintf(out + strlen(out), GEN_NAME - strlen(out), "%s%d", k > s->axis ? comma : style & 1 ? "(" : "[", k - from_behind);
		snprintf(out + strlen(out), GEN_NAME - strlen(out), style & 1 ? ")" : "]");
		return;
	}
	if ((em->p->level == 1 || (!em->p->plain && gen_choice(em->p, 76 + (unsigned)i, 3) == 0)) && s->attr) {
		char text[12], attr[GEN_NAME];

		snprintf(text, sizeof text, "%d", s->axis);
		snprintf(em->name[i].axis_arg, GEN_NAME, "%s", gen_add_param(em, GEN_ONE_OF(em, 75, "dim", "axis", "reduce_dim", "dim", "sum_dim"), 1, text));
		attribute(em, 4048 + 64 * (unsigned)i, em->name[i].axis_arg, attr);
		memcpy(em->name[i].axis_attr, attr, GEN_NAME);
		snprintf(out, GEN_NAME, "self.%.40s", attr);
		return;
	}
	snprintf(out, GEN_NAME, "%d", style == 3 && s->axis == s->in.rank - 1 ? -1 : s->axis);
}

static const char *constant_stem(const struct gen_emit *em, enum gen_op_id op, int which)
{
	switch (op) {
	case GEN_OP_add_const: return GEN_ONE_OF(em, 80, "add_value", "constant", "bias", "offset");
	case GEN_OP_sub_const: case GEN_OP_rsub_const: return GEN_ONE_OF(em, 81, "subtract_value", "constant", "subtract", "shift");
	case GEN_OP_mul_const: return GEN_ONE_OF(em, 82, "scaling_factor", "scale_factor", "multiply_value", "multiplier", "scale");
	case GEN_OP_div_const: return GEN_ONE_OF(em, 83, "divisor", "divide_value");
	case GEN_OP_leaky_relu: return "negative_slope";
	case GEN_OP_elu_alpha: return "alpha";
	case GEN_OP_clamp: case GEN_OP_hardtanh_const: return which ? GEN_ONE_OF(em, 84, "max_value", "clamp_max") : GEN_ONE_OF(em, 84, "min_value", "clamp_min");
	case GEN_OP_dropout: return "dropout_p";
	case GEN_OP_triplet_loss: return "margin";
	case GEN_OP_rms_norm: return "eps";
	case GEN_OP_threshold: return which ? "value" : "cutoff";
	default: return which ? "value" : GEN_ONE_OF(em, 85, "constant_value", "factor", "threshold");
	}
}

static int takes_any_number(enum gen_op_id op)
{
	return op == GEN_OP_add_const || op == GEN_OP_sub_const || op == GEN_OP_mul_const || op == GEN_OP_div_const;
}

/* Now and then a constant is used again, by steps that take any number. */
static int same_constant(struct gen_emit *em, int i)
{
	struct gen_names *n = &em->name[i];

	if (!takes_any_number(em->p->step[i].op) || gen_style(em, 8240 + (unsigned)i, 4, 1))
		return 0;
	for (int k = 0; k < i; k++)
		if (takes_any_number(em->p->step[k].op) && em->name[k].attr[0][0]) {
			memcpy(n->attr[0], em->name[k].attr[0], GEN_NAME);
			memcpy(n->host[0], em->name[k].host[0], sizeof n->host[0]);
			return 1;
		}
	return 0;
}

/* Where the operator stands several times, its constants may be numbered from the first on: "shift_1", "shift_2", or "shift1". */
static const char *numbered(const struct gen_emit *em, int i, const char *stem, char *out, size_t n)
{
	int before = 0, behind = 0;

	for (int k = 0; k < em->p->n; k++)
		if (k != i && em->p->step[k].op == em->p->step[i].op)
			*(k < i ? &before : &behind) += 1;
	if (!(before + behind) || gen_style(em, 87, 2, 1))
		return stem;
	snprintf(out, n, gen_style(em, 88, 2, 0) ? "%.30s_%d" : "%.30s%d", stem, before + 1);
	return out;
}

/* A constant of the step: an argument of __init__, or now and then a number that __init__ keeps. */
static void name_constant(struct gen_emit *em, int i, int c)
{
	const struct gen_step *s = &em->p->step[i];
	struct gen_names *n = &em->name[i];
	char of_several[GEN_NAME];
	const char *stem = numbered(em, i, constant_stem(em, s->op, c), of_several, sizeof of_several);
	int module = gen_form(s)[0] == '@', number = !module && gen_style(em, 86, 12, 1) == 0;
	char attr[GEN_NAME];

	snprintf(n->konst[c], GEN_NAME, "%s", number ? s->c[c] : gen_add_param(em, stem, 1, s->c[c]));
	if (!module) {
		attribute(em, 4000 + 64 * (unsigned)i + 16 * (unsigned)c, number ? stem : n->konst[c], attr);
		memcpy(n->attr[c], attr, GEN_NAME);
	}
	snprintf(n->host[c], sizeof n->host[c], "self.%s", module ? n->konst[c] : n->attr[c]);
}

static void constant_names(struct gen_emit *em, int i)
{
	const struct gen_step *s = &em->p->step[i];

	if (!s->attr || s->op == GEN_OP_layer_norm || s->op == GEN_OP_group_norm || s->op == GEN_OP_instance_norm || s->op == GEN_OP_batch_norm ||
	    s->op == GEN_OP_mul_number || s->op == GEN_OP_add_number || same_constant(em, i))
		return;
	for (int c = 0; c < 2 && s->c[c][0]; c++)
		name_constant(em, i, c);
}

/* What a module calls its constants, where a solution reads them there. */
static const char *const module_constant[GEN_OPS][2] = {
	[GEN_OP_leaky_relu] = { "negative_slope" }, [GEN_OP_hardtanh_const] = { "min_val", "max_val" }, [GEN_OP_softshrink] = { "lambd" },
	[GEN_OP_threshold] = { "threshold", "value" }, [GEN_OP_huber_loss] = { "delta" }, [GEN_OP_triplet_loss] = { "margin" },
	[GEN_OP_elu_alpha] = { "alpha" },
};

static void module_constants(struct gen_emit *em, int i)
{
	const struct gen_step *s = &em->p->step[i];
	struct gen_names *n = &em->name[i];
	char module[GEN_NAME];

	memcpy(module, n->module, GEN_NAME);
	for (int c = 0; c < 2 && !em->p->plain; c++)
		if (module_constant[s->op][c])
			snprintf(n->host[c], sizeof n->host[c], "self.%.44s.%s", module, module_constant[s->op][c]);
}

static void name_module(struct gen_emit *em, int i, const char *stem)
{
	char name[GEN_NAME];

	if (em->p->plain) {
		unique(em, i, stem, offsetof(struct gen_names, module), em->name[i].module);
		return;
	}
	attribute(em, 4032 + 64 * (unsigned)i, stem, name);
	memcpy(em->name[i].module, name, GEN_NAME);
}

/* Arguments that a module has anyway, taken through __init__ with the library's defaults. */
static void spare_arguments(struct gen_emit *em, int i)
{
	static const struct { enum gen_op_id op; const char *keyword, *value; } spare[] = {
		{ GEN_OP_linear, "bias", "True" }, { GEN_OP_batch_norm, "eps", "1e-5" }, { GEN_OP_batch_norm, "momentum", "0.1" },
		{ GEN_OP_group_norm, "eps", "1e-5" }, { GEN_OP_layer_norm, "eps", "1e-5" }, { GEN_OP_max_pool, "return_indices", "False" },
		{ GEN_OP_max_pool, "ceil_mode", "False" }, { GEN_OP_avg_pool, "ceil_mode", "False" }, { GEN_OP_avg_pool, "count_include_pad", "True" },
	};
	enum gen_op_id op = em->p->step[i].op;
	char *ctor = em->name[i].ctor;

	if (gen_choice(em->p, 46, 5))
		return;
	for (size_t k = 0; k < COUNT_OF(spare); k++) {
		size_t at = strlen(ctor) - 1;

		if (spare[k].op == op && !strstr(ctor, spare[k].keyword))
			snprintf(ctor + at, sizeof em->name[i].ctor - at, ", %s=%s)", spare[k].keyword,
				 gen_add_preset(em, spare[k].keyword, spare[k].value, spare[k].value));
	}
}

static void module_names(struct gen_emit *em, int i)
{
	const struct gen_step *s = &em->p->step[i];
	const struct gen_op *op = gen_op(s->op);
	struct gen_names *n = &em->name[i];
	struct gen_vars v;
	struct buf b = BUF_INIT;
	char stem[GEN_NAME];
	int nd = s->nd ? s->nd : 1;

	gen_vars_init(&v);
	gen_set(&v, "dd", "%dd", nd);
	gen_set(&v, "ddt", "%dd_transpose", nd);
	gen_set(&v, "1s", "%s", nd == 1 || gen_choice(em->p, 44, 2) ? "1" : nd == 2 ? "(1, 1)" : "(1, 1, 1)");
	for (int c = 0; c < 2; c++)
		gen_set(&v, c ? "1" : "0", "%s", n->konst[c][0] ? n->konst[c] : s->c[c]);
	if (op->family == GEN_NORM || op->family == GEN_BATCH)
		norm_names(em, i, &v);
	if (op->family == GEN_GEMM) {
		gen_set(&v, "c", "%s", gen_in_init(em, em->sym[i][s->in.rank - 1]));
		gen_set(&v, "o", "%s", em->sym[i + 1][s->shape.rank - 1]);
		gen_set(&v, "f", "%s", s->op == GEN_OP_linear_nobias && gen_style(em, 62, 2, 1) == 0 ? gen_flag_param(em, "bias", "False") : "False");
	}
	gen_set(&v, "w", "%s", n->window);
	gen_set(&v, "a", "%s", n->axis_arg[0] ? n->axis_arg : n->axis);
	gen_text(&b, module_stem(em, s), &v);
	snprintf(stem, sizeof stem, "%.*s", (int)b.n - 1, buf_cstr(&b));
	name_module(em, i, stem);
	module_constants(em, i);
	buf_clear(&b);
	gen_text(&b, gen_form(s) + 1, &v);
	snprintf(n->ctor, sizeof n->ctor, "%.*s", (int)b.n - 1, buf_cstr(&b));
	buf_release(&b);
	if (!em->p->plain)
		spare_arguments(em, i);
}

static void gemm_names(struct gen_emit *em, int i)
{
	const struct gen_step *s = &em->p->step[i];
	struct gen_names *n = &em->name[i];

	if (gen_op(s->op)->triton[0][0]) {
		product_input(em, i);
		return;
	}
	snprintf(em->sym[i + 1][s->shape.rank - 1], GEN_NAME, "%s", gen_add_size(em, GEN_ONE_OF(em, 61, "out_features", "hidden_size", "output_size"), 1, s->out));
	if (s->op == GEN_OP_matmul_weight || s->op == GEN_OP_matmul_weight_t) {
		const char *in = gen_in_init(em, em->sym[i][s->in.rank - 1]), *wide = em->sym[i + 1][s->shape.rank - 1];
		int across = s->op == GEN_OP_matmul_weight_t;

		name_vector(em, i, "weight");
		snprintf(n->ctor, sizeof n->ctor, "nn.Parameter(torch.randn(%s, %s) * 0.02)", across ? wide : in, across ? in : wide);
	}
}

/* The symbols of the dimensions behind step i, but for those its own names set. */
static void pass_symbols(struct gen_emit *em, int i)
{
	const struct gen_step *s = &em->p->step[i];
	int removed = s->in.rank - s->shape.rank;

	for (int k = 0; k < s->shape.rank; k++) {
		int from = gen_op(s->op)->family == GEN_REDUCE && removed && k >= s->axis ? k + removed : k;

		if (s->shape.d[k] == s->in.d[from])
			memcpy(em->sym[i + 1][k], em->sym[i][from], GEN_NAME);
		else if (s->shape.d[k] == 1)
			snprintf(em->sym[i + 1][k], GEN_NAME, "1");
		else
			snprintf(em->sym[i + 1][k], GEN_NAME, "%lld", (long long)s->shape.d[k]);
	}
}

static void name_step(struct gen_emit *em, int i)
{
	const struct gen_step *s = &em->p->step[i];
	const struct gen_op *op = gen_op(s->op);

	pass_symbols(em, i);
	if (op->family == GEN_REDUCE || op->family == GEN_NORM || op->family == GEN_SCAN)
		axis_names(em, i);
	if (op->family == GEN_CONV)
		gen_conv_names(em, i);
	else if (op->family == GEN_POOL)
		gen_pool_names(em, i);
	else if (op->family == GEN_GEMM)
		gemm_names(em, i);
	else if (op->family == GEN_TENSOR || (op->family == GEN_VECTOR && op->flags & GEN_ALONE))
		operand_input(em, i);
	else if (op->family == GEN_VECTOR)
		vector_names(em, i);
	else if (op->family == GEN_LOSS || op->family == GEN_ROW_LOSS)
		loss_inputs(em, i);
	else if (s->op == GEN_OP_mul_number || s->op == GEN_OP_add_number)
		number_input(em, i);
	else if (s->op == GEN_OP_cumsum_masked)
		like_input(em, i, "mask", 0)->fill = GEN_FILL_MASK;
	else if (op->family == GEN_ATTENTION)
		like_input(em, i, em->input[0].name[0] == 'Q' ? "K" : "k", 0), like_input(em, i, em->input[0].name[0] == 'Q' ? "V" : "v", 1);
	else if (op->family == GEN_KEPT)
		snprintf(em->name[i].vec, GEN_NAME, "%s", GEN_ONE_OF(em, 90, "original_x", "residual_x", "identity", "skip"));
	constant_names(em, i);
	if (gen_form(s)[0] == '@')
		module_names(em, i);
}

/* Python wants arguments with a default behind the others. */
static void presets_last(struct gen_emit *em)
{
	struct gen_param with[GEN_PARAMS];
	int n = 0, kept = 0;

	for (int i = 0; i < em->params; i++)
		if (em->param[i].preset[0])
			with[n++] = em->param[i];
		else
			em->param[kept++] = em->param[i];
	memcpy(&em->param[kept], with, (size_t)n * sizeof *with);
}

/* Whether forward takes the operand first: a vector mostly, a tensor seldom. */
static void swap_inputs(struct gen_emit *em)
{
	const struct gen_op *op = gen_op(em->p->step[0].op);
	int vector = em->p->level == 1 && op->family == GEN_VECTOR;

	em->swapped = em->inputs == 2 && op->family < GEN_LOSS && gen_style(em, 16, vector ? 2 : 10, 1) == 0;
}

/* People keep parameters that nothing reads. */
static void spare_parameter(struct gen_emit *em)
{
	const char *of = em->sym[1][1];
	char name[GEN_NAME], shape[GEN_NAME], attr[GEN_NAME];

	if (em->p->level == 1 || em->p->step[0].shape.rank < 2 || gen_style(em, 17, 14, 1))
		return;
	attribute(em, 8260, GEN_ONE_OF(em, 18, "bias", "scale", "extra", "sum_weight"), attr);
	memcpy(em->spare, attr, GEN_NAME);
	snprintf(name, sizeof name, "%.30s_shape", em->spare);
	snprintf(shape, sizeof shape, gen_choice(em->p, 19, 2) ? "(%.30s, 1, 1)" : "(%.30s,)", of);
	snprintf(em->spare_ctor, sizeof em->spare_ctor, "nn.Parameter(torch.randn(%s))", gen_add_param(em, name, 1, shape));
}

void gen_emit_init(struct gen_emit *em, const struct gen_plan *p)
{
	memset(em, 0, sizeof *em);
	em->p = p;
	first_input(em);
	for (int i = 0; i < p->n; i++)
		name_step(em, i);
	swap_inputs(em);
	spare_parameter(em);
	presets_last(em);
	gen_draw_arguments(em);
}
