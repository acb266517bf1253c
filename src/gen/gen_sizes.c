/* Drawing sizes: inputs, windows, axes, groups; and the tasks of one operator.
 *
 * Tensors stay under 2^31 elements, so that 32-bit offsets reach all of them but for what a last
 * block adds (the writers then take 64 bits). */
#include "gen/draw.h"

#include "base/mem.h"

#define PICK(d, ...) gen_pick(d, (const int[]){ __VA_ARGS__, 0 })

static const int64_t most = (1ll << 31) - (1 << 16);
static const int64_t most_in_chain = 1ll << 28;
static const int64_t most_in_slice = 1ll << 22;     /* of a layer norm: as many weights */

/* Half of the sizes are those of real layers, half of small ones. */
static int64_t any_size(struct gen_draw *d)
{
	int64_t n = d->p->plain ? PICK(d, 16, 32, 48, 64, 96, 128, 256) : gen_chance(d, 50) ? PICK(d, 32, 48, 64, 96, 100, 128, 192, 256, 384, 512) :
		PICK(d, 512, 640, 768, 1000, 1024, 1536, 2048, 3072, 4096, 8192, 16384);

	if (d->p->plain)
		return n;

	return gen_chance(d, 10) ? n - (int64_t)rng_between(d->r, 1, 7) : n;
}

static int64_t batch_size(struct gen_draw *d)
{
	if (d->p->plain)
		return PICK(d, 4, 8, 16, 32, 64);
	return PICK(d, 1, 2, 4, 8, 10, 16, 32, 64, 128, 256, 512, 1024);
}

static void rows_input(struct gen_draw *d)
{
	struct gen_shape *s = &d->p->input;

	s->rank = gen_chance(d, d->p->plain ? 92 : 82) ? 2 : 3;
	s->d[0] = s->rank == 3 ? PICK(d, 2, 4, 8, 16, 32) : MAX(batch_size(d), 2);
	if (s->rank == 3)
		s->d[1] = PICK(d, 16, 32, 64, 100, 128, 256, 512);
	s->d[s->rank - 1] = any_size(d);
	d->feature = s->rank - 1;
}

static void image_input(struct gen_draw *d, int nd, int64_t limit)
{
	static const int sides[3][14] = { { 64, 100, 128, 256, 512, 1000, 2048, 4096, 8192, 16384, 32768 },
					  { 16, 24, 28, 32, 56, 64, 96, 112, 128, 224, 256, 384, 512 }, { 8, 10, 12, 16, 20, 24, 32, 48, 64 } };
	static const int small[3][5] = { { 16, 32, 64, 128 }, { 8, 12, 16, 32 }, { 4, 8 } };
	struct gen_shape *s = &d->p->input;
	const int *choices = d->p->plain ? small[nd - 1] : sides[nd - 1];
	int64_t side = gen_pick(d, choices);

	*s = (struct gen_shape){ .rank = nd + 2 };
	s->d[0] = d->p->plain ? PICK(d, 2, 4, 8, 16) : PICK(d, 1, 2, 4, 8, 10, 16, 20, 32, 64, 128);
	s->d[1] = d->p->plain ? PICK(d, 4, 8, 16, 32) : PICK(d, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128);
	for (int i = 0; i < nd; i++)
		s->d[2 + i] = nd > 1 && gen_chance(d, 25) && !d->p->plain ? gen_pick(d, choices) : side;
	while (gen_numel(s) > limit && s->d[0] > 1)
		s->d[0] /= 2;
	d->feature = 1;
}

void gen_draw_input(struct gen_draw *d)
{
	if (d->p->channels_first)
		image_input(d, gen_chance(d, d->p->plain ? 100 : 60) ? 2 : gen_chance(d, 85) ? 3 : 1, most_in_chain / 4);
	else
		rows_input(d);
	d->shape = d->p->input;
}

/* --- products ---------------------------------------------------------------------------- */

void gen_push_gemm(struct gen_draw *d)
{
	static const enum gen_op_id ops[] = { GEN_OP_linear, GEN_OP_linear, GEN_OP_linear, GEN_OP_linear_nobias, GEN_OP_matmul_weight };
	struct gen_step *s;
	enum gen_op_id op;

	if (d->shape.rank < 2 || d->feature != d->shape.rank - 1)
		return;
	op = ops[rng_below(d->r, COUNT_OF(ops))];
	s = gen_push(d, !d->p->plain && op != GEN_OP_linear && gen_chance(d, 35) ? GEN_OP_matmul_weight_t : op);
	s->out = any_size(d);
	gen_pushed(d, s);
}

/* --- windows ------------------------------------------------------------------------------- */

/* One number for all dimensions of space, or one each. */
static void window_numbers(struct gen_draw *d, struct gen_step *s, int out[3], const int *choices)
{
	int one = (int)gen_pick(d, choices);

	for (int i = 0; i < s->nd; i++)
		out[i] = s->square ? one : (int)gen_pick(d, choices);
}

static int window_fits(const struct gen_step *s)
{
	int first = s->in.rank - s->nd;

	for (int i = 0; i < s->nd; i++)
		if (gen_window_out(s, i, s->in.d[first + i]) < 1)
			return 0;
	return 1;
}

static void conv_groups(struct gen_draw *d, struct gen_step *s)
{
	int64_t c = s->in.d[1];

	if (s->op == GEN_OP_conv_depthwise) {
		s->groups = (int)c;
		s->out = c;
		return;
	}
	s->out = d->p->plain ? PICK(d, 8, 16, 32) : PICK(d, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256);
	if (!gen_chance(d, 12) || d->p->plain)
		return;
	for (int g = 8; g > 1; g /= 2)
		if (c % g == 0 && s->out % g == 0) {
			s->groups = g;
			return;
		}
}

static void conv_window(struct gen_draw *d, struct gen_step *s)
{
	int transposed = s->op == GEN_OP_conv_transpose, plain = gen_chance(d, d->p->level == 1 ? 25 : 60);

	for (int i = 0; i < 3; i++)
		s->stride[i] = s->dilation[i] = 1;
	if (d->p->plain) {
		s->square = 1;
		for (int i = 0; i < 3; i++)
			s->window[i] = 3, s->pad[i] = plain, s->stride[i] = 1 + transposed;
		return;
	}
	s->square = s->nd == 1 || gen_chance(d, 75);
	window_numbers(d, s, s->window, (const int[]){ 3, 3, 3, 1, 2, 4, 5, 5, 7, 0 });
	if (!plain || transposed) {
		window_numbers(d, s, s->stride, (const int[]){ 1, 2, 2, 3, 0 });
		if (gen_chance(d, 70))
			window_numbers(d, s, s->pad, (const int[]){ 1, 1, 2, 3, 0 });
		if (gen_chance(d, transposed && d->p->level == 3 ? 4 : 20))     /* their kernels are long, and two of them longer */
			window_numbers(d, s, s->dilation, (const int[]){ 2, 3, 0 });
	}
	for (int i = 0; i < s->nd; i++) {
		s->pad[i] = MIN(s->pad[i], s->window[i] / 2);
		s->out_pad[i] = transposed && s->stride[0] > 1 && s->square && s->window[0] % 2 ? (int)(d->p->input.d[0] % 2) : 0;
	}
}

/* Windows of many channels are small: no result adds up more than TERMS_MOST products. */
enum { TERMS_MOST = 4608 };

static void bound_window(struct gen_step *s)
{
	for (;;) {
		int64_t terms = s->in.d[1] / s->groups;
		int largest = 0;

		for (int i = 0; i < s->nd; i++) {
			terms *= s->window[i];
			largest = s->window[i] > s->window[largest] ? i : largest;
		}
		if (terms <= TERMS_MOST || s->window[largest] == 1)
			return;
		for (int i = 0, was = s->window[largest]; i < s->nd; i++)
			if (i == largest || (s->square && s->window[i] == was)) {
				s->window[i]--;
				s->pad[i] = MIN(s->pad[i], s->window[i] / 2);
			}
	}
}

void gen_push_conv(struct gen_draw *d, enum gen_op_id op)
{
	struct gen_step *s;

	if (d->shape.rank < 3 || d->feature != 1)
		return;
	s = gen_push(d, op);
	s->nd = d->shape.rank - 2;
	s->bias = !gen_chance(d, d->p->level == 1 ? 60 : 10);
	conv_groups(d, s);
	do {
		conv_window(d, s);
		bound_window(s);
	} while (!window_fits(s));
	gen_pushed(d, s);
	for (int i = 0; i < s->nd; i++)
		d->sized |= s->shape.d[2 + i] != s->in.d[2 + i];
	while (gen_numel(&d->shape) > most_in_chain && d->p->input.d[0] > 1 && d->p->n == 1) {
		s->in.d[0] = d->p->input.d[0] /= 2;
		gen_pushed(d, s);
	}
}

/* Whether there is room for windows: along all of space, or along the rows of a matrix. */
static int has_room(const struct gen_draw *d)
{
	int nd = d->shape.rank - 2;

	if (d->feature < 0 || (d->feature != 1 && nd > 0))
		return 0;
	for (int i = d->shape.rank - MAX(nd, 1); i < d->shape.rank; i++)
		if (d->shape.d[i] < 4)
			return 0;
	return 1;
}

/* One number for each channel; in varied chains the sides of one element may go. */
static void push_global_pool(struct gen_draw *d)
{
	int mean = (gen_chance(d, 75) && !d->v.normed) || d->v.clipped & GEN_HIGH;
	struct gen_step *s = gen_push(d, mean ? GEN_OP_global_avg_pool : GEN_OP_global_max_pool);

	s->nd = d->shape.rank - 2, s->axis = 2, s->axis_end = d->shape.rank;
	s->keepdim = d->p->plain || gen_chance(d, 70);
	gen_pushed(d, s);
	d->sized = 1;
}

void gen_push_pool(struct gen_draw *d)
{
	if (!has_room(d))
		return;
	if (d->shape.rank > 2 && gen_chance(d, 35))
		push_global_pool(d);
	else
		gen_push_window(d);
}

void gen_push_window(struct gen_draw *d)
{
	int nd = d->shape.rank - 2;
	struct gen_step *s;

	if (!has_room(d))
		return;
	s = gen_push(d, gen_chance(d, 55) && !(d->v.clipped & GEN_HIGH) ? GEN_OP_max_pool : GEN_OP_avg_pool);
	s->nd = MAX(nd, 1);
	s->square = s->nd == 1 || d->p->plain || gen_chance(d, 80);
	window_numbers(d, s, s->window, d->p->plain ? (const int[]){ 2, 0 } : (const int[]){ 2, 2, 2, 3, 4, 0 });
	if (!d->p->plain && nd < 1)
		s->window[0] = (int)MIN(PICK(d, 2, 4, 8, 16), s->in.d[s->in.rank - 1] / 2);
	for (int i = 0; i < s->nd; i++) {
		s->stride[i] = s->window[i];
		s->dilation[i] = 1;
	}
	gen_pushed(d, s);
	if (d->feature == d->shape.rank - 1)
		d->feature = -1;
	d->sized = 1;
}

/* --- slices ---------------------------------------------------------------------------------- */

static int groups_of(struct gen_draw *d, int64_t c)
{
	int g = (int)PICK(d, 2, 4, 8, 8, 16, 32);

	while (g > 1 && (c % g || c / g < 2))
		g /= 2;
	return g;
}

static int long_enough(const struct gen_shape *s, int axis, int end)
{
	return gen_product(s, axis, end) >= 4;
}

/* Whether a varied chain takes the mean or the like over space instead of over channels: where several elements are left of it
 * when the judge makes it smaller. */
static int over_space(struct gen_draw *d, const struct gen_step *s)
{
	int fits = d->feature == 1 && s->in.rank > 2 && gen_product(&s->in, 2, s->in.rank) >= 64;

	return !d->p->plain && fits && (s->op == GEN_OP_center || s->op == GEN_OP_sub_max || s->op == GEN_OP_rms_norm) && gen_chance(d, 50);
}

static void norm_slice(struct gen_draw *d, struct gen_step *s)
{
	if (s->op == GEN_OP_layer_norm) {
		s->axis = s->in.rank - 1, s->axis_end = s->in.rank;
	} else if (s->op == GEN_OP_group_norm) {
		s->groups = groups_of(d, s->in.d[1]);
		s->axis = 1, s->axis_end = s->in.rank;
	} else if (s->op == GEN_OP_instance_norm && s->in.rank == 2) {
		s->axis = 1, s->axis_end = 2;
		s->nd = 1 + gen_chance(d, 50);
	} else if (s->op == GEN_OP_instance_norm) {
		s->groups = (int)s->in.d[1];
		s->axis = 2, s->axis_end = s->in.rank;
		s->nd = s->in.rank - 2;
	} else {
		s->axis = d->feature, s->axis_end = d->feature + 1;
		if (over_space(d, s))
			s->axis = 2, s->axis_end = s->in.rank;
	}
}

/* The last norm of the chain, where values are normed still; NULL: none. */
static const struct gen_step *last_norm(const struct gen_draw *d)
{
	for (int i = d->p->n - 1; i >= 0 && d->v.normed; i--)
		if (gen_op(d->p->step[i].op)->family == GEN_NORM || gen_op(d->p->step[i].op)->family == GEN_BATCH)
			return &d->p->step[i];
	return NULL;
}

/* Whether a mean over single channels or over space still differs behind the norm: its slices span both, or the batch. */
static int leaves_means(const struct gen_step *norm)
{
	return norm && norm->in.rank > 2 && (norm->op == GEN_OP_batch_norm || (norm->op == GEN_OP_group_norm && norm->groups < norm->in.d[1]));
}

/* The mean is taken away once more, of slices unlike the norm's. */
static void push_second_norm(struct gen_draw *d)
{
	struct gen_step *s;

	if (d->p->plain || d->feature != 1 || !leaves_means(last_norm(d)) || !long_enough(&d->shape, 2, d->shape.rank) || d->shape.d[1] < 4)
		return;
	s = gen_push(d, GEN_OP_center);
	norm_slice(d, s);
	gen_pushed(d, s);
}

static int divides_by_norm(enum gen_op_id op)
{
	return op == GEN_OP_l2_norm || op == GEN_OP_l1_norm || op == GEN_OP_l1_sum;
}

/* A transposed convolution without bias leaves zeros where no tap falls, in all channels. */
static int may_be_nothing(const struct gen_draw *d)
{
	for (int i = 0; i < d->p->n && !d->p->plain; i++)
		if (d->p->step[i].op == GEN_OP_conv_transpose && !d->p->step[i].bias)
			return 1;
	return 0;
}

/* Norms that only varied chains have: of rows as images of one line, of the last side of an image. */
static enum gen_op_id rare_norm(struct gen_draw *d, int space, enum gen_op_id op)
{
	if (d->p->plain || !gen_chance(d, 10))
		return op;
	if (!space)
		return d->shape.rank == 2 && d->shape.d[1] >= 16 ? GEN_OP_instance_norm : op;
	return !d->sized && d->shape.d[d->shape.rank - 1] >= 16 ? GEN_OP_layer_norm : op;
}

void gen_push_norm(struct gen_draw *d)
{
	static const enum gen_op_id images[] = { GEN_OP_group_norm, GEN_OP_group_norm, GEN_OP_batch_norm, GEN_OP_batch_norm, GEN_OP_instance_norm,
						 GEN_OP_rms_norm, GEN_OP_l2_norm, GEN_OP_center, GEN_OP_sub_max, GEN_OP_l1_norm };
	static const enum gen_op_id rows[] = { GEN_OP_group_norm, GEN_OP_batch_norm, GEN_OP_layer_norm, GEN_OP_layer_norm, GEN_OP_rms_norm,
					       GEN_OP_l2_norm, GEN_OP_center, GEN_OP_sub_max, GEN_OP_l1_sum };
	struct gen_step *s;
	enum gen_op_id op;
	int space = d->feature == 1 && d->shape.rank > 2;

	if (d->v.normed) {
		push_second_norm(d);
		return;
	}
	if (d->v.jumped || d->feature < 0 || d->shape.d[d->feature] < 4 || (space && !long_enough(&d->shape, 2, d->shape.rank)))
		return;
	op = space ? images[rng_below(d->r, COUNT_OF(images))] : rows[rng_below(d->r, COUNT_OF(rows))];
	if ((d->shape.rank == 3 && !space && (op == GEN_OP_group_norm || op == GEN_OP_batch_norm)) ||
	    (op == GEN_OP_batch_norm && (d->v.dropped || gen_numel(&d->shape) / d->shape.d[1] < 8)))
		op = GEN_OP_rms_norm;
	if ((gen_op(op)->flags & GEN_WANTS_NEG && !d->v.negative) || (divides_by_norm(op) && may_be_nothing(d)))
		op = GEN_OP_center;
	if (!d->p->plain && op == GEN_OP_batch_norm && d->v.batch_normed)
		op = GEN_OP_rms_norm;     /* its two kernels are long */
	op = rare_norm(d, space, op);
	s = gen_push(d, op);
	if (gen_op(op)->family == GEN_BATCH)
		s->nd = d->shape.rank - 2;
	else
		norm_slice(d, s);
	gen_pushed(d, s);
}

static void pick_axis(struct gen_draw *d, struct gen_step *s)
{
	int rank = s->in.rank;

	s->axis = rank == 2 ? 1 : d->feature == 1 ? (gen_chance(d, 55) ? 1 : (int)rng_between(d->r, 2, rank - 1)) : (int)rng_between(d->r, 1, rank - 1);
	s->axis_end = s->axis + 1;
	if (rank > 3 && d->feature == 1 && gen_chance(d, 30))
		s->axis = 2, s->axis_end = rank;
	else if (rank > 2 && d->feature == 1 && !d->p->plain && gen_chance(d, 12))
		s->axis = 1, s->axis_end = rank;
}

/* What may follow a norm; the mean and the sum only where they are not the norm's own. */
static enum gen_op_id normed_reduce(struct gen_draw *d)
{
	static const enum gen_op_id ops[] = { GEN_OP_logsumexp, GEN_OP_amax, GEN_OP_amin, GEN_OP_mean, GEN_OP_mean };

	return d->p->plain ? GEN_OP_logsumexp : ops[rng_below(d->r, leaves_means(last_norm(d)) ? COUNT_OF(ops) : 3)];
}

/* Now and then people reduce what has one element already: the values stay. */
static int push_idle_reduce(struct gen_draw *d)
{
	static const enum gen_op_id ops[] = { GEN_OP_sum, GEN_OP_mean, GEN_OP_amax, GEN_OP_amin, GEN_OP_logsumexp };
	int axis = 1, rank = d->shape.rank;
	struct gen_values before = d->v;
	struct gen_step *s;

	while (axis < rank && d->shape.d[axis] != 1)
		axis++;
	if (d->p->plain || axis == rank || !gen_chance(d, 50))
		return 0;
	s = gen_push(d, ops[rng_below(d->r, COUNT_OF(ops))]);
	d->v = before;
	s->axis = axis;
	for (s->axis_end = axis + 1; s->axis_end < rank && d->shape.d[s->axis_end] == 1; s->axis_end++)
		;
	s->keepdim = gen_chance(d, 60);
	gen_pushed(d, s);
	if (!s->keepdim)
		d->feature = axis > d->feature && d->feature >= 0 ? d->feature : -1;
	return 1;
}

/* The mean over all but the batch is the same for all behind a norm. */
static int is_known_mean(const struct gen_step *s, const struct gen_values *before)
{
	return before->normed && s->op == GEN_OP_mean && s->axis_end - s->axis == s->in.rank - 1;
}

/* The largest or the smallest of values that end at a bound is that bound. */
static int is_the_bound(const struct gen_step *s, const struct gen_values *before)
{
	return (s->op == GEN_OP_amax && before->clipped & GEN_HIGH) || (s->op == GEN_OP_amin && before->clipped & GEN_LOW);
}

void gen_push_reduce(struct gen_draw *d)
{
	static const enum gen_op_id ops[] = { GEN_OP_sum, GEN_OP_mean, GEN_OP_mean, GEN_OP_amax, GEN_OP_amin, GEN_OP_logsumexp, GEN_OP_logsumexp,
					      GEN_OP_sum, GEN_OP_norm2, GEN_OP_var, GEN_OP_sum_square };
	struct gen_step *s;
	struct gen_values before = d->v;

	if (d->shape.rank < 2 || push_idle_reduce(d))
		return;
	s = gen_push(d, before.small ? GEN_OP_amax : before.normed ? normed_reduce(d) : ops[rng_below(d->r, COUNT_OF(ops))]);
	pick_axis(d, s);
	if (!long_enough(&s->in, s->axis, s->axis_end) || is_known_mean(s, &before) || is_the_bound(s, &before) ||
	    (s->axis_end - s->axis > 1 && gen_op(s->op)->torch == gen_op(GEN_OP_norm2)->torch)) {
		d->p->n--;
		d->v = before;
		return;
	}
	s->keepdim = gen_chance(d, 65);
	gen_pushed(d, s);
	if (!s->keepdim)
		d->feature = s->axis > d->feature && d->feature >= 0 ? d->feature : -1;
	else if (d->feature >= s->axis && d->feature < s->axis_end)
		d->feature = -1;
	d->sized |= s->keepdim;
}

void gen_push_softmax(struct gen_draw *d)
{
	struct gen_step *s;

	if (d->v.normed || d->feature < 0 || d->shape.d[d->feature] < 4)
		return;
	s = gen_push(d, gen_chance(d, 80) ? GEN_OP_softmax : GEN_OP_log_softmax);
	s->axis = d->feature;
	s->axis_end = s->axis + 1;
	if (!d->p->plain && d->feature == 1 && s->in.rank > 2 && long_enough(&s->in, 2, s->in.rank) && s->op == GEN_OP_softmax && gen_chance(d, 12)) {
		s->op = GEN_OP_softmax_space;
		s->form = (int)rng_below(d->r, 3);
		s->axis = 2, s->axis_end = s->in.rank;
	}
	gen_pushed(d, s);
}

/* --- tasks of one operator ------------------------------------------------------------------- */

static int64_t long_size(struct gen_draw *d)
{
	int64_t n = PICK(d, 256, 512, 1000, 1024, 2048, 4096, 8192, 10000, 16384, 32768, 49152, 65536, 131072, 262144, 524288);

	if (d->p->plain)
		return any_size(d);

	return gen_chance(d, 12) ? n - (int64_t)rng_between(d->r, 1, 9) : n;
}

static void set_input(struct gen_draw *d, int rank, const int64_t *dims)
{
	d->p->input = (struct gen_shape){ .rank = rank };
	for (int i = 0; i < rank; i++)
		d->p->input.d[i] = dims[i];
	while (gen_numel(&d->p->input) > most)
		d->p->input.d[0] = MAX(d->p->input.d[0] / 2, 1);
	d->shape = d->p->input;
	d->feature = rank - 1;
}

static void matrix_input(struct gen_draw *d)
{
	int64_t rows = gen_chance(d, 50) && !d->p->plain ? PICK(d, 1024, 2048, 4096, 8192, 16384, 32768) : batch_size(d);

	set_input(d, 2, (int64_t[]){ MAX(rows, 2), long_size(d) });
}

/* A matrix, a batch of sequences, or images. */
static void any_input(struct gen_draw *d)
{
	int roll = (int)rng_below(d->r, 100);

	if (roll < 55) {
		matrix_input(d);
	} else if (roll < 75) {
		set_input(d, 3, (int64_t[]){ batch_size(d), any_size(d), any_size(d) });
	} else {
		d->p->channels_first = 1;
		image_input(d, gen_chance(d, 80) || d->p->plain ? 2 : 3, most);
		d->shape = d->p->input;
	}
}

static void single_pointwise(struct gen_draw *d)
{
	enum gen_op_id op;

	any_input(d);
	do
		op = (enum gen_op_id)rng_below(d->r, d->p->plain ? (int)GEN_PLAIN_OPS : (int)GEN_OPS);
	while (gen_op(op)->family > GEN_CONST || op == GEN_OP_dropout || gen_op(op)->flags & GEN_WANTS_BOUND);
	gen_pushed(d, gen_push(d, op));
}

static void single_operand(struct gen_draw *d)
{
	static const enum gen_op_id ops[] = { GEN_OP_mul_rows, GEN_OP_mul_columns, GEN_OP_add_rows, GEN_OP_add_tensor, GEN_OP_swiglu, GEN_OP_mul_tensor };
	struct gen_step *s;

	set_input(d, 2, (int64_t[]){ any_size(d), any_size(d) });
	if (!d->p->plain && gen_chance(d, 20)) {
		gen_pushed(d, gen_push(d, gen_chance(d, 65) ? GEN_OP_mul_number : GEN_OP_add_number));
		return;
	}
	s = gen_push(d, ops[rng_below(d->r, COUNT_OF(ops))]);
	s->axis = s->op == GEN_OP_mul_columns;
	gen_pushed(d, s);
}

static int64_t side(struct gen_draw *d)
{
	return gen_chance(d, 8) && !d->p->plain ? PICK(d, 4, 7, 10, 16, 20) : any_size(d);
}

static void single_product(struct gen_draw *d)
{
	static const enum gen_op_id ops[] = { GEN_OP_matmul, GEN_OP_matmul, GEN_OP_matmul, GEN_OP_matmul_ta, GEN_OP_matmul_tb, GEN_OP_matmul_tab,
					      GEN_OP_bmm, GEN_OP_bmm, GEN_OP_bmm_tb, GEN_OP_tensor_matmul, GEN_OP_tensor_matmul, GEN_OP_matvec,
					      GEN_OP_matmul_triu, GEN_OP_matmul_tril, GEN_OP_matmul_symmetric, GEN_OP_linear, GEN_OP_linear_nobias };
	enum gen_op_id op = ops[rng_below(d->r, COUNT_OF(ops))];
	int64_t m = side(d), k = side(d), n = side(d);
	struct gen_step *s;

	if (gen_chance(d, 10) && !d->p->plain)
		k = PICK(d, 65536, 131072, 262144);
	if (op == GEN_OP_matmul_triu || op == GEN_OP_matmul_tril || op == GEN_OP_matmul_symmetric || (op == GEN_OP_matmul && gen_chance(d, 25)))
		m = n = k = MAX(MIN(k, 8192), 16);
	if (op == GEN_OP_matvec)
		n = 1;
	if (op == GEN_OP_bmm || op == GEN_OP_bmm_tb)
		set_input(d, 3, (int64_t[]){ PICK(d, 2, 4, 8, 16, 32, 64, 128), MIN(m, 2048), MIN(k, 4096) });
	else if (op == GEN_OP_tensor_matmul && gen_chance(d, 50))
		set_input(d, 3, (int64_t[]){ PICK(d, 4, 8, 16, 32), MIN(m, 2048), MIN(k, 4096) });
	else if (op == GEN_OP_tensor_matmul)
		set_input(d, 4, (int64_t[]){ PICK(d, 2, 4, 8), PICK(d, 16, 32, 64, 128), PICK(d, 32, 64, 128, 256), MIN(k, 1024) });
	else if (op == GEN_OP_matmul_ta || op == GEN_OP_matmul_tab)
		set_input(d, 2, (int64_t[]){ k, MIN(m, 8192) });
	else
		set_input(d, 2, (int64_t[]){ m, k });
	s = gen_push(d, op);
	s->out = n;
	gen_pushed(d, s);
}

static void single_conv(struct gen_draw *d)
{
	int nd = gen_chance(d, 55) || d->p->plain ? 2 : gen_chance(d, 60) ? 3 : 1;

	d->p->channels_first = 1;
	image_input(d, nd, most_in_chain);
	d->shape = d->p->input;
	gen_push_conv(d, gen_chance(d, 45) ? GEN_OP_conv_transpose : gen_chance(d, 18) ? GEN_OP_conv_depthwise : GEN_OP_conv);
	if (d->p->step[0].op == GEN_OP_conv_depthwise && gen_chance(d, 40)) {
		struct gen_step *s = gen_push(d, GEN_OP_conv);

		s->nd = nd, s->square = 1, s->bias = d->p->step[0].bias;
		s->out = PICK(d, 16, 32, 64, 128);
		for (int i = 0; i < 3; i++)
			s->window[i] = s->stride[i] = s->dilation[i] = 1;
		gen_pushed(d, s);
	}
}

static void single_pool(struct gen_draw *d)
{
	int nd = d->p->plain ? 2 : (int)rng_between(d->r, 1, 3), padded = gen_chance(d, 60);
	struct gen_step *s;

	d->p->channels_first = 1;
	image_input(d, nd, most);
	d->shape = d->p->input;
	s = gen_push(d, gen_chance(d, 50) ? GEN_OP_max_pool : GEN_OP_avg_pool);
	s->nd = nd;
	s->square = 1;
	do {
		window_numbers(d, s, s->window, d->p->plain ? (const int[]){ 2, 3, 4, 5, 8, 0 } : (const int[]){ 2, 3, 4, 5, 6, 7, 8, 10, 11, 0 });
		window_numbers(d, s, s->stride, (const int[]){ 1, 2, 3, 4, 0 });
		window_numbers(d, s, s->pad, d->p->plain ? (const int[]){ 1, 1, 2, 0 } : (const int[]){ 1, 1, 2, 3, 4, 5, 0 });
		window_numbers(d, s, s->dilation, (const int[]){ 1, 1, 2, 3, 0 });
		for (int i = 0; i < 3; i++) {
			s->pad[i] = padded ? MIN(s->pad[i], s->window[i] / 2) : 0;
			if (s->op == GEN_OP_avg_pool)
				s->dilation[i] = 1;
		}
	} while (!window_fits(s));
	gen_pushed(d, s);
}

static void single_slice(struct gen_draw *d)
{
	static const enum gen_op_id reduces[] = { GEN_OP_sum, GEN_OP_mean, GEN_OP_amax, GEN_OP_amin, GEN_OP_argmax, GEN_OP_argmin, GEN_OP_prod,
						  GEN_OP_var, GEN_OP_logsumexp, GEN_OP_norm1, GEN_OP_norm2 };
	static const enum gen_op_id norms[] = { GEN_OP_softmax, GEN_OP_softmax, GEN_OP_log_softmax, GEN_OP_rms_norm, GEN_OP_l1_norm, GEN_OP_l2_norm,
						GEN_OP_l1_sum };
	int reduce = gen_chance(d, 60);
	struct gen_step *s;

	any_input(d);
	s = gen_push(d, reduce ? reduces[rng_below(d->r, COUNT_OF(reduces))] : norms[rng_below(d->r, COUNT_OF(norms))]);
	s->axis = s->in.rank == 2 && !gen_chance(d, 10) ? 1 : (int)rng_between(d->r, 0, s->in.rank - 1);
	if (s->in.d[s->axis] < 2)
		s->axis = s->in.rank - 1;
	s->axis_end = s->axis + 1;
	if (s->op == GEN_OP_prod) {
		d->p->input.d[s->axis] = s->in.d[s->axis] = PICK(d, 8, 12, 16, 24);
		d->shape = d->p->input;
	}
	s->keepdim = reduce && gen_chance(d, 35);
	gen_pushed(d, s);
}

static void single_norm(struct gen_draw *d)
{
	static const enum gen_op_id ops[] = { GEN_OP_batch_norm, GEN_OP_instance_norm, GEN_OP_group_norm, GEN_OP_layer_norm, GEN_OP_frobenius,
					      GEN_OP_mean_scaled };
	enum gen_op_id op = ops[rng_below(d->r, COUNT_OF(ops))];
	struct gen_step *s;

	d->p->channels_first = 1;
	image_input(d, gen_chance(d, 75) || d->p->plain ? 2 : gen_chance(d, 50) ? 3 : 1, most);
	while (op == GEN_OP_layer_norm && gen_product(&d->p->input, 1, d->p->input.rank) > most_in_slice)
		d->p->input.d[1] /= 2;
	d->shape = d->p->input;
	s = gen_push(d, op);
	s->nd = s->in.rank - 2;
	if (op == GEN_OP_layer_norm)
		s->axis = 1, s->axis_end = s->in.rank, s->nd = 0;
	else if (op == GEN_OP_group_norm)
		norm_slice(d, s), s->nd = 0;
	else if (op == GEN_OP_instance_norm)
		norm_slice(d, s);
	else if (op != GEN_OP_batch_norm)
		s->nd = 0;
	gen_pushed(d, s);
}

static void single_scan(struct gen_draw *d)
{
	static const enum gen_op_id ops[] = { GEN_OP_cumsum, GEN_OP_cumprod, GEN_OP_cumsum_reverse, GEN_OP_cumsum_exclusive, GEN_OP_cumsum_masked };
	struct gen_step *s;

	if (gen_chance(d, 75))
		matrix_input(d);
	else
		set_input(d, 3, (int64_t[]){ batch_size(d), any_size(d), any_size(d) });
	s = gen_push(d, ops[rng_below(d->r, COUNT_OF(ops))]);
	s->axis = (int)rng_between(d->r, 1, s->in.rank - 1);
	s->axis_end = s->axis + 1;
	gen_pushed(d, s);
}

static void single_loss(struct gen_draw *d)
{
	static const enum gen_op_id ops[] = { GEN_OP_mse_loss, GEN_OP_l1_loss, GEN_OP_smooth_l1_loss, GEN_OP_huber_loss, GEN_OP_hinge_loss, GEN_OP_kl_loss,
					      GEN_OP_cross_entropy, GEN_OP_cross_entropy, GEN_OP_cosine_loss, GEN_OP_triplet_loss };

	matrix_input(d);
	if (d->p->input.d[1] > 65536)
		d->shape.d[1] = d->p->input.d[1] = 4096;
	gen_pushed(d, gen_push(d, ops[rng_below(d->r, COUNT_OF(ops))]));
}

static void single_attention(struct gen_draw *d)
{
	set_input(d, 4, (int64_t[]){ PICK(d, 1, 2, 4, 8, 16, 32), PICK(d, 2, 4, 8, 12, 16, 32), PICK(d, 64, 128, 200, 256, 512, 1024),
				     PICK(d, 32, 64, 64, 128, 256, 512) });
	gen_pushed(d, gen_push(d, GEN_OP_attention));
}

void gen_draw_single(struct gen_draw *d)
{
	static const struct { int plain, varied; void (*draw)(struct gen_draw *d); } kinds[] = {
		{ 14, 13, single_pointwise }, { 5, 6, single_operand }, { 18, 17, single_product }, { 24, 21, single_conv }, { 7, 9, single_pool },
		{ 13, 13, single_slice }, { 7, 7, single_norm }, { 5, 6, single_scan }, { 5, 6, single_loss }, { 2, 2, single_attention },
	};
	int roll = (int)rng_below(d->r, 100);

	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		roll -= d->p->plain ? kinds[i].plain : kinds[i].varied;
		if (roll < 0) {
			kinds[i].draw(d);
			return;
		}
	}
	BUG("the shares of single operators do not add up to 100");
}
