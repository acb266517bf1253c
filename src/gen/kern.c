/* Kernels of a solution: parameters, launches, and pointwise steps at a place. */
#include "gen/kern.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

int64_t gen_pow2(int64_t n)
{
	int64_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

int gen_has_jump(const struct gen_plan *p)
{
	for (int i = 0; i < p->n; i++)
		if (p->step[i].op == GEN_OP_threshold)
			return 1;
	return 0;
}

static void name_kernel(struct gen_kern *kn, const char *what)
{
	const struct gen_plan *p = kn->em->p;
	struct buf b = BUF_INIT;

	if (p->plain || gen_choice(p, 201, 4) == 0) {
		snprintf(kn->name, sizeof kn->name, "kernel%d", kn->sol->number);
		return;
	}
	if (kn->k->end - kn->k->first > 1 && gen_choice(p, 202, 3) == 0)
		buf_adds(&b, "fused_");
	for (int i = kn->k->first, shown = 0; i < kn->k->end && shown < 3; i++, shown++)
		buf_addf(&b, "%s_", gen_op(p->step[i].op)->name);
	buf_addf(&b, "%s%skernel", what, *what ? "_" : "");
	snprintf(kn->name, sizeof kn->name, "%.80s", buf_cstr(&b));
	buf_addf(&b, "(");
	if (strstr(buf_cstr(&kn->sol->kernels), buf_cstr(&b)))
		snprintf(kn->name + strlen(kn->name), sizeof kn->name - strlen(kn->name), "_%d", kn->sol->number);
	buf_release(&b);
}

void gen_kern_init(struct gen_kern *kn, struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *to, const char *what)
{
	kn->sol = sol, kn->em = sol->em, kn->k = k, kn->from = from, kn->to = to;
	kn->ptr.n = kn->size.n = kn->meta.n = kn->warps = kn->stages = 0;
	kn->tune[0] = kn->key[0] = 0;
	gen_vars_init(&kn->v);
	sol->number++;
	name_kernel(kn, what);
}

static void add_arg(struct gen_args *a, const char *param, const char *fmt, va_list ap)
{
	for (int i = 0; i < a->n; i++)
		if (!strcmp(a->v[i].param, param))
			BUG("two kernel parameters named '%s'", param);
	if (a->n == GEN_ARGS)
		BUG("more than %d kernel arguments", GEN_ARGS);
	snprintf(a->v[a->n].param, GEN_NAME, "%s", param);
	vsnprintf(a->v[a->n++].value, GEN_ARG, fmt, ap);
}

void gen_ptr(struct gen_kern *kn, const char *param, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_arg(&kn->ptr, param, fmt, ap);
	va_end(ap);
}

void gen_meta(struct gen_kern *kn, const char *param, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_arg(&kn->meta, param, fmt, ap);
	va_end(ap);
}

/* Whether the solution asks for the bias: where the task's text speaks of it, or shows nothing but convolutions, of which half
 * have none. What the kernel is given in its place is never read. */
static int asks_for_bias(const struct gen_kern *kn)
{
	const struct gen_plan *p = kn->em->p;

	return !p->plain && (strstr(kn->em->name[kn->k->head].ctor, "bias=") || (p->level == 1 && gen_op(p->step[kn->k->head].op)->family == GEN_CONV));
}

void gen_bias(struct gen_kern *kn, const char *module, int there)
{
	int asked = asks_for_bias(kn);

	gen_set(&kn->v, "bias", there && !asked ? "yes" : "");
	gen_set(&kn->v, "asked", asked ? "yes" : "");
	if (asked) {
		gen_ptr(kn, "b_ptr", "%s.weight if %s.bias is None else %s.bias", module, module, module);
		gen_meta(kn, "HAS_BIAS", "%s.bias is not None", module);
	} else if (there) {
		gen_ptr(kn, "b_ptr", "%s.bias", module);
	}
}

static int taken(const struct gen_args *a, const char *param)
{
	for (int i = 0; i < a->n; i++)
		if (!strcmp(a->v[i].param, param))
			return 1;
	return 0;
}

void gen_size(struct gen_kern *kn, const char *param, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_arg(&kn->size, param, fmt, ap);
	va_end(ap);
}

const char *gen_shared_size(struct gen_kern *kn, const char *stem, const char *fmt, ...)
{
	struct gen_args *a = &kn->size;
	char name[GEN_NAME], value[GEN_ARG];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof value, fmt, ap);
	va_end(ap);
	for (int i = 0; i < a->n; i++)
		if (!strcmp(a->v[i].value, value))
			return a->v[i].param;
	snprintf(name, sizeof name, "%s", stem);
	for (int k = 2; taken(a, name) || taken(&kn->meta, name); k++)
		snprintf(name, sizeof name, "%.30s%d", stem, k);
	gen_size(kn, name, "%s", value);
	return a->v[a->n - 1].param;
}

const char *gen_dims(const char *of, int from, int to, char *out, size_t n)
{
	snprintf(out, n, "%s", from < to ? "" : "1");
	for (int i = from; i < to; i++)
		snprintf(out + strlen(out), n - strlen(out), "%s%s.shape[%d]", i > from ? " * " : "", of, i);
	return out;
}

const char *gen_rest(const struct gen_emit *em, const char *of, int from, int rank, char *out, size_t n)
{
	if (em->p->plain || from >= rank || (rank == from + 1 && from < 2))
		return gen_dims(of, from, rank, out, n);
	snprintf(out, n, "%s.shape[%d:].numel()", of, from);
	return out;
}

void gen_host(struct gen_solution *sol, const char *fmt, ...)
{
	va_list ap;

	buf_pad(&sol->host, ' ', 8);
	va_start(ap, fmt);
	buf_vaddf(&sol->host, fmt, ap);
	va_end(ap);
	buf_addc(&sol->host, '\n');
}

/* The shape of a reduction's result, whatever the rank: "x.shape[:1] + (1,) + x.shape[2:]". */
static void reduced_shape(const struct gen_kern *kn, const struct gen_step *s, const char *dtype)
{
	static const char *const ones[] = { "", "(1,)", "(1, 1)", "(1, 1, 1)", "(1, 1, 1, 1)", "(1, 1, 1, 1, 1)" };
	struct buf b = BUF_INIT;

	if (s->axis)
		buf_addf(&b, "%s.shape[:%d]", kn->from, s->axis);
	if (s->shape.rank == s->in.rank)
		buf_addf(&b, "%s%s", b.n ? " + " : "", ones[s->axis_end - s->axis]);
	if (s->axis_end < s->in.rank)
		buf_addf(&b, "%s%s.shape[%d:]", b.n ? " + " : "", kn->from, s->axis_end);
	gen_host(kn->sol, "%s = torch.empty(%s, device=%s.device, dtype=%s%s)", kn->to, b.n ? buf_cstr(&b) : "()", kn->from, *dtype ? dtype : kn->from,
		 *dtype ? "" : ".dtype");
	buf_release(&b);
}

void gen_alloc(struct gen_kern *kn, const struct gen_shape *before, const struct gen_shape *after, const char *dtype)
{
	struct buf b = BUF_INIT;
	int removed = before->rank - after->rank;
	const struct gen_step *s = kn->k->head >= 0 ? &kn->em->p->step[kn->k->head] : NULL;

	if (before->rank == after->rank && !memcmp(before->d, after->d, sizeof before->d) && !*dtype) {
		gen_host(kn->sol, "%s = torch.empty_like(%s)", kn->to, kn->from);
		return;
	}
	if (s && gen_op(s->op)->family == GEN_REDUCE && !kn->em->p->plain) {
		reduced_shape(kn, s, dtype);
		return;
	}
	for (int i = 0; i < after->rank; i++) {
		int at = removed && s && i >= s->axis ? i + removed : i;

		if (after->d[i] == before->d[at])
			buf_addf(&b, "%s.shape[%d], ", kn->from, at);
		else
			buf_addf(&b, "%lld, ", (long long)after->d[i]);
	}
	if (b.n && after->rank > 1)
		b.n -= 2;
	gen_host(kn->sol, "%s = torch.empty((%.*s), device=%s.device, dtype=%s%s)", kn->to, (int)(after->rank == 1 ? b.n - 1 : b.n), b.n ? b.p : "",
		 kn->from, *dtype ? dtype : kn->from, *dtype ? "" : ".dtype");
	buf_release(&b);
}

const char *gen_wide(const struct gen_kern *kn)
{
	const int64_t near_limit = 1ll << 30;

	for (int i = kn->k->first; i < kn->k->end; i++)
		if (gen_numel(&kn->em->p->step[i].in) > near_limit || gen_numel(&kn->em->p->step[i].shape) > near_limit)
			return ".to(tl.int64)";
	return gen_solution_choice(kn->em->p, 203, 8) == 7 ? ".to(tl.int64)" : "";
}

/* --- text --------------------------------------------------------------------------------- */

static void write_def(struct gen_kern *kn, struct buf *out)
{
	const struct gen_args *lists[] = { &kn->ptr, &kn->size, &kn->meta };
	const char *sep = "";

	if (kn->tune[0])
		buf_addf(out, "@triton.autotune(configs=[\n%s], key=[%s])\n", kn->tune, kn->key);
	buf_addf(out, "@triton.jit\ndef %s(", kn->name);
	for (int l = 0; l < 3; l++)
		for (int i = 0; i < lists[l]->n; i++, sep = ", ")
			buf_addf(out, "%s%s%s", sep, lists[l]->v[i].param, l == 2 ? ": tl.constexpr" : "");
	buf_adds(out, "):\n");
}

/* The grid with the values of the constants of the compiler for their names. */
static void add_grid(const struct gen_kern *kn, const char *grid, struct buf *out)
{
	if (kn->tune[0])
		buf_adds(out, "lambda meta: ");
	while (*grid) {
		int hit = -1;

		for (int i = 0; *grid == '@' && i < kn->meta.n; i++)
			if (!strncmp(grid + 1, kn->meta.v[i].param, strlen(kn->meta.v[i].param)))
				hit = i;
		if (hit < 0) {
			buf_addc(out, *grid++);
			continue;
		}
		if (kn->tune[0])
			buf_addf(out, "meta['%s']", kn->meta.v[hit].param);
		else
			buf_adds(out, kn->meta.v[hit].value);
		grid += 1 + strlen(kn->meta.v[hit].param);
	}
}

/* Whether the autotuner's configurations say the constant. */
static int is_tuned(const struct gen_kern *kn, const char *param)
{
	char quoted[GEN_NAME + 2];

	snprintf(quoted, sizeof quoted, "'%.44s'", param);
	return strstr(kn->tune, quoted) != NULL;
}

static void write_launch(const struct gen_kern *kn, const char *grid)
{
	struct buf *out = &kn->sol->host;
	const char *sep = "";
	int named = kn->tune[0] || gen_solution_choice(kn->em->p, 204, 2);

	buf_adds(out, named ? "        grid = " : "        ");
	if (!named)
		buf_addf(out, "%s[", kn->name);
	add_grid(kn, grid, out);
	buf_addf(out, named ? "\n        %s[grid](" : "](", kn->name);
	for (int l = 0; l < 2; l++) {
		const struct gen_args *a = l ? &kn->size : &kn->ptr;

		for (int i = 0; i < a->n; i++, sep = ", ")
			buf_addf(out, "%s%s", sep, a->v[i].value);
	}
	for (int i = 0; i < kn->meta.n; i++)
		if (!is_tuned(kn, kn->meta.v[i].param))
			buf_addf(out, ", %s=%s", kn->meta.v[i].param, kn->meta.v[i].value);
	if (kn->warps && !kn->tune[0])
		buf_addf(out, ", num_warps=%d", kn->warps);
	if (kn->stages && !kn->tune[0])
		buf_addf(out, ", num_stages=%d", kn->stages);
	buf_adds(out, ")\n");
}

void gen_kern_write(struct gen_kern *kn, const char *body, const char *grid)
{
	write_def(kn, &kn->sol->kernels);
	gen_text(&kn->sol->kernels, body, &kn->v);
	buf_addc(&kn->sol->kernels, '\n');
	write_launch(kn, grid);
}

/* --- pointwise steps ------------------------------------------------------------------------- */

static void load(struct buf *out, const char *var, const char *at, const char *mask)
{
	if (mask)
		buf_addf(out, "%s = tl.load(%s_ptr + %s, mask=%s, other=0.0)\n", var, var, at, mask);
	else if (*at)
		buf_addf(out, "%s = tl.load(%s_ptr + %s)\n", var, var, at);
	else
		buf_addf(out, "%s = tl.load(%s_ptr)\n", var, var);
}

/* In a varied solution a parameter is asked how many elements it has, so that one line does for a number as for one along the
 * axis. Empty: the operand is an input, or the solution is plain. */
static const char *any_length(struct gen_kern *kn, int i, const char *var)
{
	const struct gen_names *n = &kn->em->name[i];
	char stem[GEN_NAME];

	if (kn->em->p->plain || n->input[0][0])
		return "";
	snprintf(stem, sizeof stem, "%.40s_n", var);
	return gen_shared_size(kn, stem, "self.%s.numel()", n->vec);
}

/* The axis of the operand; for a number the one that a parameter would be along. */
static int operand_axis(const struct gen_kern *kn, const struct gen_step *s, const struct gen_place *pl)
{
	return s->axis >= 0 ? s->axis : pl->axis_at ? pl->axis : kn->em->p->channels_first && s->in.rank > 2 ? 1 : s->in.rank - 1;
}

/* The element of the operand along `axis` for the element of the tile, where the place itself does not tell. */
static void element_along(struct gen_kern *kn, const struct gen_step *s, int axis, const char *length, const struct gen_place *pl, char *at, size_t n)
{
	const char *size = *length || !axis ? length : gen_shared_size(kn, "C", "%s.shape[%d]", pl->shape_of, axis);
	char inner[GEN_ARG];
	int last = axis == s->in.rank - 1;
	const char *stride = last ? "" : gen_shared_size(kn, "S", "%s", gen_rest(kn->em, pl->shape_of, axis + 1, s->in.rank, inner, sizeof inner));
	const char *open = strchr(pl->at, ' ') ? "(" : "", *close = *open ? ")" : "";

	snprintf(at, n, "%s%s%s%s%s%s%s", open, pl->at, close, last ? "" : " // ", stride, *size ? " % " : "", size);
}

/* Loads the operand that varies along one axis; `use` is how the statement names it. */
static void load_vector(struct gen_kern *kn, int i, const char *var, const struct gen_place *pl, struct buf *out, char *use, size_t n)
{
	const struct gen_step *s = &kn->em->p->step[i];
	const char *length = any_length(kn, i, var);
	int axis = operand_axis(kn, s, pl);
	char at[2 * GEN_ARG];

	snprintf(use, n, "%s", var);
	if (s->axis < 0 && !*length) {
		load(out, var, "", NULL);
	} else if (pl->axis_at && pl->axis == axis) {
		snprintf(at, sizeof at, "%s%s%s", pl->axis_at, *length ? " % " : "", length);
		load(out, var, at, pl->axis_mask);
		snprintf(use, n, "%s%s", var, pl->axis_expand ? pl->axis_expand : "");
	} else {
		element_along(kn, s, axis, length, pl, at, sizeof at);
		load(out, var, at, pl->mask);
	}
}

/* An operand of the value's shape, or of its last dimensions alone. */
static void load_repeated(struct gen_kern *kn, const char *var, const struct gen_place *pl, struct buf *out)
{
	char at[GEN_ARG], stem[GEN_NAME];

	snprintf(stem, sizeof stem, "%.40s_n", var);
	snprintf(at, sizeof at, "%s %% %s", pl->at, gen_shared_size(kn, stem, "%s.numel()", var));
	load(out, var, at, pl->mask);
}

const char *gen_constant(struct gen_kern *kn, int i, int c)
{
	const struct gen_names *n = &kn->em->name[i];

	if (!n->host[c][0])
		return kn->em->p->step[i].c[c];
	return gen_shared_size(kn, kn->em->p->plain ? n->konst[c] : "alpha", "%s", n->host[c]);
}

static int uses_constant(const char *text, int c)
{
	return strstr(text, c ? "$1" : "$0") != NULL;
}

static void point(struct gen_kern *kn, int i, const struct gen_place *pl, struct buf *out)
{
	const struct gen_step *s = &kn->em->p->step[i];
	const struct gen_names *n = &kn->em->name[i];
	const struct gen_op *op = gen_op(s->op);
	const char *text = op->triton[kn->em->p->plain || op->family > GEN_KEPT ? 0 : s->tile_form];
	const char *var = n->input[0][0] ? n->input[0] : n->var;
	char use[GEN_NAME + 16] = "", param[GEN_NAME + 8];
	struct gen_vars v;

	if (op->family == GEN_VECTOR || op->family == GEN_TENSOR || op->family == GEN_LOSS) {
		snprintf(param, sizeof param, "%.40s_ptr", var);
		if (!taken(&kn->ptr, param))
			gen_ptr(kn, param, "%s%s", n->input[0][0] ? "" : "self.", n->input[0][0] ? var : n->vec);
	}
	if (op->family == GEN_VECTOR)
		load_vector(kn, i, var, pl, out, use, sizeof use);
	else if (s->op == GEN_OP_hinge_loss && !kn->em->p->plain)
		load_repeated(kn, var, pl, out);
	else if (op->family == GEN_TENSOR || op->family == GEN_LOSS)
		load(out, var, pl->at, pl->mask);
	else if (s->far && s->op != GEN_OP_keep) {
		gen_ptr(kn, "kept_ptr", "%s", kn->sol->kept);
		load(out, "kept", pl->at, pl->mask);
	}
	gen_vars_init(&v);
	gen_set(&v, "x", "%s", pl->val);
	gen_set(&v, "v", "%s", use);
	gen_set(&v, "y", "%s", var);
	gen_set(&v, "m", "%s", pl->mask ? pl->mask : "True");
	for (int c = 0; c < 2; c++)
		gen_set(&v, c ? "1" : "0", "%s", uses_constant(text, c) ? gen_constant(kn, i, c) : "");
	gen_text(out, text, &v);
}

void gen_points(struct gen_kern *kn, int from, int to, const struct gen_place *pl, struct buf *out)
{
	for (int i = from; i < to; i++)
		point(kn, i, pl, out);
}

void gen_set_points(struct gen_kern *kn, const char *var, int from, int to, const struct gen_place *pl)
{
	struct buf b = BUF_INIT;

	gen_points(kn, from, to, pl, &b);
	gen_set(&kn->v, var, "%s", buf_cstr(&b));
	buf_release(&b);
}
