/* The task as PyTorch source, in KernelBench's form: Model, module-level sizes, get_inputs,
 * get_init_inputs. Also the names that task and solution share. */
#include "gen/gen_emit.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/mem.h"

unsigned gen_choice(const struct gen_plan *p, unsigned what, unsigned n)
{
	uint64_t in[2] = { p->style, what };

	return (unsigned)(hash_xxh64(in, sizeof in, 0) % n);
}

unsigned gen_solution_choice(const struct gen_plan *p, unsigned what, unsigned n)
{
	return p->plain ? 0 : gen_choice(p, what, n);
}

int gen_space_gone(const struct gen_plan *p, int before)
{
	for (int i = 0; i < before; i++)
		if (p->step[i].op == GEN_OP_global_avg_pool || p->step[i].op == GEN_OP_global_max_pool)
			return 1;
	return 0;
}

void gen_expand(struct buf *out, const char *text, const char *const *vars, int indent)
{
	for (; *text; text++) {
		const char *const *v = vars;

		if (*text == '\n') {
			buf_addc(out, '\n');
			buf_pad(out, ' ', (size_t)indent * 4);
			continue;
		}
		if (*text != '$') {
			buf_addc(out, *text);
			continue;
		}
		text++;
		while (*v && (*v)[0] != *text)
			v += 2;
		if (!*v)
			BUG("no value for $%c", *text);
		buf_adds(out, v[1]);
	}
}

/* --- names -------------------------------------------------------------------------- */

static void add_param(struct gen_emit *em, const char *name, const char *value)
{
	for (int i = 0; i < em->n_params; i++)
		if (!strcmp(em->params[i], name))
			return;
	if (em->n_params == GEN_PARAMS)
		BUG("more than %d constants in a task", GEN_PARAMS);
	snprintf(em->params[em->n_params], GEN_NAME, "%s", name);
	snprintf(em->values[em->n_params++], sizeof em->values[0], "%s", value);
}

static void add_size(struct gen_emit *em, const char *name, int64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)value);
	add_param(em, name, text);
}

/* The name `stem`, or stem2, stem3 if an earlier step took it. */
static void unique(const struct gen_emit *em, int upto, const char *stem, size_t member, char out[GEN_NAME])
{
	int used = 0;

	for (int i = 0; i < upto; i++)
		used += !strncmp((const char *)&em->name[i] + member, stem, strlen(stem));
	if (used)
		snprintf(out, GEN_NAME, "%s%d", stem, used + 1);
	else
		snprintf(out, GEN_NAME, "%s", stem);
}

static const char *vector_stem(enum gen_op_id op)
{
	switch (op) {
	case GEN_OP_bias: return "bias";
	case GEN_OP_scale: return "scale";
	case GEN_OP_sub_vec: return "shift";
	case GEN_OP_max_vec: return "floor";
	case GEN_OP_prelu: return "slope";
	case GEN_OP_matmul: return "weight";
	default: return "gate";
	}
}

static const char *module_stem(const struct gen_op *op)
{
	switch (op->family) {
	case GEN_GEMM: return "linear";
	case GEN_CONV: return "conv";
	case GEN_POOL: return "pool";
	case GEN_ROW: case GEN_CHANNEL: return "norm";
	default: return "act";
	}
}

static void name_step(struct gen_emit *em, int i, const char **feat, int *outs)
{
	const struct gen_step *s = &em->p->step[i];
	const struct gen_op *op = gen_op(s->op);
	struct gen_names *n = &em->name[i];
	int grows = (op->family == GEN_GEMM || op->family == GEN_CONV) && s->op != GEN_OP_depthwise_conv2d;

	snprintf(n->feat_in, GEN_NAME, "%s", *feat);
	if (grows) {
		const char *base = op->family == GEN_CONV ? "out_channels" : "out_features";

		if (*outs)
			snprintf(n->feat_out, GEN_NAME, "%s%d", base, *outs + 1);
		else
			snprintf(n->feat_out, GEN_NAME, "%s", base);
		add_size(em, n->feat_out, s->size[0]);
		++*outs;
		*feat = n->feat_out;
	} else {
		snprintf(n->feat_out, GEN_NAME, "%s", *feat);
	}
	if (op->torch[s->form][0] == '@')
		unique(em, i, module_stem(op), offsetof(struct gen_names, module), n->module);
	if (op->family == GEN_VECTOR || s->op == GEN_OP_matmul)
		unique(em, i, vector_stem(s->op), offsetof(struct gen_names, vec), n->vec);
	if (op->family == GEN_TENSOR || op->family == GEN_LOSS) {
		static const char *const stems[][3] = { { "res", "res2", "res3" }, { "other", "other2", "other3" }, { "residual", "residual2", "residual3" } };

		snprintf(n->input, GEN_NAME, "%s", op->family == GEN_LOSS ? "target" :
			 stems[gen_choice(em->p, 3, 3)][em->inputs - 1]);
		memcpy(em->input[em->inputs], n->input, GEN_NAME);
		em->input_step[em->inputs++] = i;
	}
	for (int c = 0; s->attr && c < 2 && s->c[c][0]; c++) {
		static const char *const stems[] = { "value", "factor", "constant" };

		snprintf(n->konst[c], GEN_NAME, "%s%s%d", stems[gen_choice(em->p, 4, 3)], c ? "_hi" : "", i + 1);
		add_param(em, n->konst[c], s->c[c]);
	}
}

static int wants_feature(const struct gen_plan *p)
{
	for (int i = 0; i < p->n; i++) {
		const struct gen_op *op = gen_op(p->step[i].op);

		if (op->family == GEN_VECTOR || op->family == GEN_GEMM || op->family == GEN_CONV ||
		    p->step[i].op == GEN_OP_layer_norm || (op->family == GEN_CHANNEL && op->torch[p->step[i].form][0] == '@'))
			return 1;
	}
	return 0;
}

void gen_emit_init(struct gen_emit *em, const struct gen_plan *p)
{
	static const char *const feats[] = { "dim", "in_features", "features" };
	static const char *const kernel_names[3][7] = {
		{ "x_ptr", "out_ptr", "n_elements", "offs", "mask", "BLOCK", "x" },
		{ "x_ptr", "y_ptr", "n", "offsets", "mask", "BLOCK_SIZE", "x" },
		{ "in_ptr", "out_ptr", "numel", "idx", "mask", "BLOCK", "v" },
	};
	const char *const *kn = kernel_names[gen_solution_choice(p, 1, 3)];
	const char *feat = p->layout == GEN_4D ? (gen_choice(p, 2, 2) ? "in_channels" : "channels") : feats[gen_choice(p, 2, 3)];
	int outs = 0;

	*em = (struct gen_emit){ .p = p, .inputs = 1, .batch = gen_choice(p, 6, 2) ? "batch_size" : "batch",
				 .time = "seq_len", .first_feat = feat };
	em->kx = kn[0], em->kout = kn[1], em->kn = kn[2], em->koffs = kn[3], em->kmask = kn[4], em->kblock = kn[5], em->kval = kn[6];
	snprintf(em->input[0], GEN_NAME, "x");
	em->input_step[0] = -1;
	if (wants_feature(p))
		add_size(em, feat, p->layout == GEN_4D ? p->channels : p->width);
	for (int i = 0; i < p->n; i++)
		name_step(em, i, &feat, &outs);
}

/* --- source ------------------------------------------------------------------------- */

static int is_param(const struct gen_emit *em, const char *name)
{
	for (int i = 0; i < em->n_params; i++)
		if (!strcmp(em->params[i], name))
			return 1;
	return 0;
}

static void write_args(const struct gen_emit *em, struct buf *out)
{
	for (int i = 0; i < em->n_params; i++)
		buf_addf(out, "%s%s", i ? ", " : "", em->params[i]);
}

/* Two groups where the channels divide, else one. */
static const char *groups_of(const struct gen_emit *em, int i)
{
	for (int k = 0; k < em->n_params; k++)
		if (!strcmp(em->params[k], em->name[i].feat_in))
			return (em->values[k][strlen(em->values[k]) - 1] - '0') % 2 ? "1" : "2";
	return "1";
}

static void write_module(const struct gen_emit *em, int i, struct buf *out)
{
	const struct gen_step *s = &em->p->step[i];
	const struct gen_names *n = &em->name[i];
	char size[12], pad[12];

	snprintf(size, sizeof size, "%d", gen_op(s->op)->family == GEN_CONV ? s->size[1] : s->size[0]);
	snprintf(pad, sizeof pad, "%d", s->size[2]);
	const char *vars[] = { "0", s->c[0], "1", s->c[1], "d", n->feat_in, "k", n->feat_in, "i", n->feat_in,
			       "o", n->feat_out, "s", size, "p", pad, "g", groups_of(em, i), NULL };

	buf_addf(out, "        self.%s = ", n->module);
	gen_expand(out, gen_op(s->op)->torch[s->form] + 1, vars, 2);
	buf_addc(out, '\n');
}

void gen_write_init(const struct gen_emit *em, const char *class, struct buf *out)
{
	buf_addf(out, "class %s(nn.Module):\n    def __init__(self%s", class, em->n_params ? ", " : "");
	write_args(em, out);
	buf_adds(out, "):\n        super().__init__()\n");
	for (int i = 0; i < em->p->n; i++) {
		const struct gen_step *s = &em->p->step[i];
		const struct gen_names *n = &em->name[i];

		if (n->module[0])
			write_module(em, i, out);
		if (s->op == GEN_OP_matmul)
			buf_addf(out, "        self.%s = nn.Parameter(torch.randn(%s, %s) * 0.1)\n", n->vec, n->feat_in, n->feat_out);
		else if (n->vec[0])
			buf_addf(out, "        self.%s = nn.Parameter(torch.randn(%s%s))\n", n->vec, n->feat_in,
				 em->p->layout == GEN_4D ? ", 1, 1" : "");
		for (int c = 0; c < 2; c++)
			if (n->konst[c][0])
				buf_addf(out, "        self.%s = %s\n", n->konst[c], n->konst[c]);
	}
}

static void write_forward_line(const struct gen_emit *em, int i, struct buf *out)
{
	const struct gen_step *s = &em->p->step[i];
	const struct gen_names *n = &em->name[i];
	const struct gen_op *op = gen_op(s->op);
	char c[2][GEN_NAME + 8], v[GEN_NAME + 8], size[12];

	for (int k = 0; k < 2; k++)
		snprintf(c[k], sizeof c[k], "%s%s", n->konst[k][0] ? "self." : "", n->konst[k][0] ? n->konst[k] : s->c[k]);
	snprintf(v, sizeof v, "self.%s", n->vec);
	snprintf(size, sizeof size, "%d", s->size[0]);
	const char *vars[] = { "x", "x", "0", c[0], "1", c[1], "v", v, "y", n->input, "s", size, NULL };

	buf_adds(out, "        x = ");
	if (n->module[0])
		buf_addf(out, "self.%s(x)", n->module);
	else
		gen_expand(out, op->torch[s->form], vars, 2);
	buf_addc(out, '\n');
}

/* The shape of input i, in symbols, as arguments of torch.randn. */
static void write_shape(const struct gen_emit *em, int i, struct buf *out)
{
	int step = em->input_step[i];
	const char *feat = step < 0 ? em->first_feat : em->name[step].feat_in;
	int shrink = 1;

	if (em->p->layout == GEN_4D) {
		for (int s = 0; s < step; s++)
			if (em->p->step[s].op == GEN_OP_max_pool2d || em->p->step[s].op == GEN_OP_avg_pool2d)
				shrink *= em->p->step[s].size[0];
		buf_addf(out, "%s, %s, ", em->batch, feat);
		if (gen_space_gone(em->p, MAX(step, 0)))
			buf_adds(out, "1, 1");
		else if (shrink > 1)
			buf_addf(out, "height // %d, width // %d", shrink, shrink);
		else
			buf_adds(out, "height, width");
		return;
	}
	buf_addf(out, "%s, ", em->batch);
	if (em->p->layout == GEN_3D)
		buf_addf(out, "%s, ", em->time);
	buf_adds(out, feat);
}

static void write_sizes(const struct gen_emit *em, struct buf *out)
{
	const struct gen_plan *p = em->p;

	buf_addf(out, "%s = %lld\n", em->batch, (long long)p->batch);
	if (p->layout == GEN_3D)
		buf_addf(out, "%s = %lld\n", em->time, (long long)p->time);
	if (p->layout == GEN_4D)
		buf_addf(out, "height = %lld\nwidth = %lld\n", (long long)p->height, (long long)p->width);
	if (!is_param(em, em->first_feat))
		buf_addf(out, "%s = %lld\n", em->first_feat, (long long)(p->layout == GEN_4D ? p->channels : p->width));
	for (int i = 0; i < em->n_params; i++)
		buf_addf(out, "%s = %s\n", em->params[i], em->values[i]);
}

static int uses_functional(const struct gen_emit *em)
{
	for (int i = 0; i < em->p->n; i++)
		if (strstr(gen_op(em->p->step[i].op)->torch[em->p->step[i].form], "F."))
			return 1;
	return 0;
}

void gen_write_task(const struct gen_emit *em, struct buf *out)
{
	buf_adds(out, "import torch\nimport torch.nn as nn\n");
	if (uses_functional(em))
		buf_adds(out, "import torch.nn.functional as F\n");
	buf_addc(out, '\n');
	gen_write_init(em, "Model", out);
	buf_adds(out, "\n    def forward(self");
	for (int i = 0; i < em->inputs; i++)
		buf_addf(out, ", %s", em->input[i]);
	buf_adds(out, "):\n");
	for (int i = 0; i < em->p->n; i++)
		write_forward_line(em, i, out);
	buf_adds(out, "        return x\n\n");
	write_sizes(em, out);
	buf_adds(out, "\ndef get_inputs():\n    return [");
	for (int i = 0; i < em->inputs; i++) {
		buf_addf(out, "%storch.%s(", i ? ", " : "", i || em->p->signed_input ? "randn" : "rand");
		write_shape(em, i, out);
		buf_addc(out, ')');
	}
	buf_adds(out, "]\n\ndef get_init_inputs():\n    return [");
	write_args(em, out);
	buf_adds(out, "]\n");
}
