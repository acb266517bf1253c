/* The time of PyTorch's operators on a GPU, called eagerly: see op_speed.h.
 *
 * An operator takes as long as its tensors take through memory, or as its arithmetic takes,
 * whichever is longer for its kind. op_speed.def lists the kind of each operator; an operator that
 * is not listed streams through its tensors once. The constants come from tile/estimate/speed.def
 * and were fitted to measured times. */
#include "host/op_speed.h"

#include <math.h>

#include "interp/bind.h"
#include "num/num.h"
#include "tile/estimate/speed.h"

/* A call as the functions of the table see it. */
struct op_look {
	const struct host_op_call *c;
	const struct tile_gpu *g;
	unsigned tf32;
	double passes;
	const struct tensor *arg[8];
	int n;
	const struct tensor *out;   /* the first result */
	double read, written;       /* bytes */
};

/* Bytes of memory of a tensor: elements of an expanded dimension count once. */
static double bytes_behind(const struct tensor *t)
{
	double n = dtype_size(t->dt);

	for (int d = 0; d < t->ndim; d++)
		n *= t->stride[d] ? (double)t->shape[d] : 1;
	return n;
}

/* Elements, as a double: products of them overflow an integer. */
static double elements(const struct tensor *t)
{
	return (double)tensor_numel(t);
}

/* Collects the tensors among the arguments, and those in lists. */
static void add_argument(struct op_look *k, struct val v, int depth)
{
	if (v.kind == V_TENSOR && k->n < (int)COUNT_OF(k->arg))
		k->arg[k->n++] = &v.u.t->t;
	for (size_t i = 0; depth && (v.kind == V_TUPLE || v.kind == V_LIST) && i < v.u.seq->n; i++)
		add_argument(k, v.u.seq->v[i], depth - 1);
}

/* Bytes of all results; *first gets the first of them. */
static double result_bytes(struct val v, const struct tensor **first)
{
	double sum = 0;

	if (v.kind == V_TENSOR) {
		*first = *first ? *first : &v.u.t->t;
		return bytes_behind(&v.u.t->t);
	}
	for (size_t i = 0; (v.kind == V_TUPLE || v.kind == V_LIST) && i < v.u.seq->n; i++)
		if (v.u.seq->v[i].kind == V_TENSOR)
			sum += result_bytes(v.u.seq->v[i], first);
	return sum;
}

/* Seconds to move this number of bytes at the rate that streaming kernels reach. */
static double stream_seconds(const struct op_look *k, double bytes)
{
	return bytes / speed_stream(k->g);
}

/* Bytes that are read. A tensor that is not contiguous costs twice as much. */
static double read_bytes(const struct op_look *k)
{
	double sum = 0;

	for (int i = 0; i < k->n; i++) {
		int repeated = 0;

		for (int d = 0; d < k->arg[i]->ndim; d++)
			repeated |= !k->arg[i]->stride[d] && k->arg[i]->shape[d] > 1;
		sum += bytes_behind(k->arg[i]) * (tensor_is_contiguous(k->arg[i]) || repeated ? 1 : 2);
	}
	return sum;
}

/* --- kinds of operators ------------------------------------------------------------------- */

/* An operator that reads its arguments and writes its result: all that op_speed.def does not
 * list. */
static double how_stream(const struct op_look *k)
{
	return stream_seconds(k, k->passes * read_bytes(k) + k->written);
}

/* Operations a second of products, by dtype and by whether they are in tf32. */
static double product_rate(const struct op_look *k, enum dtype dt, unsigned products)
{
	if (dt == DT_F16 || dt == DT_BF16)
		return k->g->dot_f16 * 1e12 * speed_rates.product_tensor;
	if (dt == DT_F32 && k->tf32 & products)
		return k->g->tf32 * 1e12 * speed_rates.product_tensor;
	return (dt == DT_F64 ? k->g->f64 : k->g->f32) * 1e12 * speed_rates.product_f32;
}

/* Arithmetic and memory traffic overlap, except for a quarter of the shorter one. */
static double overlapped(double work, double memory)
{
	return fmax(work, memory) + 0.25 * fmin(work, memory);
}

/* A product of matrices: 2 * elements of the result * length of the sum operations. */
static double how_product(const struct op_look *k)
{
	/* addmm and its like have what is added first. */
	const struct tensor *a = k->n > 2 && strstr(k->c->name, "add") ? k->arg[1] : k->n ? k->arg[0] : NULL;

	if (k->n < 2 || !a->ndim)
		return how_stream(k);
	return overlapped(2 * elements(k->out) * (double)a->shape[a->ndim - 1] / product_rate(k, a->dt,
			NUM_TF32_MATMUL),
			  stream_seconds(k, k->read + k->written));
}

/* Attention. The fused kernels take heads of at most 256; for wider ones the scores go through
 * memory: written, scaled, through a softmax, and read. */
static double how_attention(const struct op_look *k)
{
	enum { FUSED_WIDTH = 256, SCORE_PASSES = 6 };
	const struct tensor *q = k->arg[0], *key = k->n > 1 ? k->arg[1] : NULL;
	double terms, width, scores;

	if (k->n < 3 || q->ndim < 2 || key->ndim < 2)
		return how_stream(k);
	terms = (double)key->shape[key->ndim - 2];
	width = fmax((double)q->shape[q->ndim - 1], 1);
	scores = width > FUSED_WIDTH ? SCORE_PASSES * elements(q) / width * terms * dtype_size(q->dt) : 0;
	return overlapped(4 * elements(q) * terms / product_rate(k, q->dt, NUM_TF32_MATMUL),
			  stream_seconds(k, k->read + k->written + scores));
}

/* The form of a convolution: taps of its window, channels in and out of a group, groups. */
struct conv_form {
	double taps, in, out, groups, flops;
	int transposed, dims, strided;
};

/* Finds the form from the shapes. Returns -1 if it is no convolution that is known. */
static int find_form(const struct op_look *k, struct conv_form *f)
{
	const struct tensor *x = k->arg[0], *w = k->n > 1 ? k->arg[1] : NULL;
	double channels, out_channels;

	if (!w || x->ndim < 3 || w->ndim != x->ndim || k->out->ndim != x->ndim)
		return -1;
	*f = (struct conv_form){ .taps = 1, .dims = x->ndim - 2, .transposed = strstr(k->c->name,
			"transpose") != NULL };
	for (int d = 2; d < w->ndim; d++)
		f->taps *= (double)w->shape[d];
	channels = (double)x->shape[1];
	out_channels = (double)k->out->shape[1];
	f->groups = (f->transposed ? out_channels : channels) / fmax((double)w->shape[1], 1);
	f->in = channels / fmax(f->groups, 1);
	f->out = out_channels / fmax(f->groups, 1);
	f->flops = 2 * f->taps * (f->transposed ? elements(x) * f->out : elements(k->out) * f->in);
	f->strided = f->transposed && elements(k->out) / fmax(out_channels, 1) >= 1.5 * elements(x) / fmax(channels, 1);
	return 0;
}

/* The part of the tensor cores' rate that is reached: few channels leave tiles half empty. */
static double conv_share(const struct conv_form *f)
{
	double share = fmin(1, f->out / 128) * fmin(1, f->in / 16);

	if (f->dims == 3 && f->in < 16)
		share *= sqrt(fmin(1, 27 / f->taps));
	if (f->transposed && f->dims == 3)
		return share * speed_rates.conv_turned_3d;
	return share * speed_rates.conv / (f->strided ? 3 : 1);
}

/* The time of a convolution. A depthwise convolution (one channel per group) is limited by the rate
 * of window reads, not of products. In one and two dimensions cuDNN reorders the channels of input
 * and output and back. A separate kernel adds the bias. */
static double how_conv(const struct op_look *k)
{
	struct conv_form f;
	double io, bias, work;

	if (find_form(k, &f))
		return how_stream(k);
	io = stream_seconds(k, bytes_behind(k->arg[0]) + k->written);
	/* A kernel of its own adds the bias. */
	bias = k->n > 2 ? stream_seconds(k, 2 * k->written) : 0;
	if (f.in == 1 && f.out <= 2 && f.groups > 1)
		return fmax(f.flops / 2 / (speed_rates.window * speed_rates.clock_ghz * 1e9 * k->g->processors),
			    io) + bias;
	work = f.flops / ((k->arg[0]->dt == DT_F32 ? k->g->tf32 : k->g->dot_f16) * 1e12 * fmax(conv_share(&f), 1e-6));
	/* In one and two dimensions both sides are brought into another order of channels and
	 * back. */
	return fmax(work + (f.dims < 3 ? 2 * io : 0), io) + bias;
}

/* Elements of a pooling window: 3 is 3 * 3 in two dimensions. */
static double window_size(const struct op_look *k)
{
	const struct val *v = &k->c->a[1];
	int dims = k->arg[0]->ndim - 2;
	double n = 1;

	if (v->kind == V_TUPLE || v->kind == V_LIST)
		for (size_t i = 0; i < v->u.seq->n; i++)
			n *= v->u.seq->v[i].kind == V_INT ? (double)v->u.seq->v[i].u.i : 1;
	else if (v->kind == V_INT)
		n = pow((double)v->u.i, fmax(dims, 1));
	return n * (n < 1 ? 0 : 1);
}

/* Pooling: by the reads of overlapping windows, or by memory. */
static double pool_seconds(const struct op_look *k, double written)
{
	double read = elements(k->out) * window_size(k) / (speed_rates.window * speed_rates.clock_ghz *
							   1e9 * k->g->processors);

	return fmax(read, stream_seconds(k, k->passes * k->read + written));
}

static double how_pool(const struct op_look *k)
{
	return k->n && k->c->n > 1 ? pool_seconds(k, k->written) : how_stream(k);
}

/* The largest of a window is written with its index, of 8 bytes. */
static double how_pool_max(const struct op_look *k)
{
	return k->n && k->c->n > 1 ? pool_seconds(k, k->written + 8 * elements(k->out)) : how_stream(k);
}

/* How many values are normalised together: the normalised shape, a group, or a channel. */
static double row_length(const struct op_look *k)
{
	const struct tensor *x = k->arg[0];
	const struct val *v = k->c->n > 1 ? &k->c->a[1] : NULL;
	double row = 1;

	if (v && (v->kind == V_TUPLE || v->kind == V_LIST)) {
		for (int d = 0; d < x->ndim && (size_t)d < v->u.seq->n; d++)
			row *= (double)x->shape[x->ndim - 1 - d];
		return row;
	}
	for (int d = 1; d < x->ndim; d++)
		row *= (double)x->shape[d];
	if (strstr(k->c->name, "group_norm") && v && v->kind == V_INT && v->u.i > 0)
		return row / (double)v->u.i;
	return strstr(k->c->name, "instance_norm") && x->ndim > 1 ? row / fmax((double)x->shape[1], 1) : row;
}

/* A normalisation. One block normalises a row, and a few blocks share a multiprocessor; long rows
 * of a small batch leave the GPU idle. */
static double how_norm(const struct op_look *k)
{
	double row, rows;

	if (!k->n || !k->arg[0]->ndim)
		return how_stream(k);
	row = fmax(row_length(k), 1);
	rows = elements(k->arg[0]) / row;
	return fmax(stream_seconds(k, k->passes * k->read + k->written),
		    ceil(rows / (8.0 * k->g->processors)) * row * speed_rates.row_ns * 1e-9) +
	       rows * speed_rates.row_us * 1e-6 / k->g->processors;
}

/* A softmax. A row that fits the registers of a block is read once. */
static double how_softmax(const struct op_look *k)
{
	enum { ROW_KEPT = 1024 };
	const struct tensor *x = k->n ? k->arg[0] : NULL;
	int64_t dim = k->c->n > 1 && k->c->a[1].kind == V_INT ? k->c->a[1].u.i : -1;

	if (!x || !x->ndim)
		return how_stream(k);
	dim += dim < 0 ? x->ndim : 0;
	dim = MAX(0, MIN(dim, x->ndim - 1));
	return stream_seconds(k, (x->shape[dim] <= ROW_KEPT ? 1 : k->passes) * k->read + k->written);
}

/* --- the table ---------------------------------------------------------------------------- */

/* A row of op_speed.def. */
struct op_row {
	const char *name;
	double (*how)(const struct op_look *k);
	double passes;
	int launches;
};

static const struct op_row op_rows[] = {
#define OP_SPEED(text, kind, times, kernels) { .name = text, .how = how_##kind, .passes = times, .launches = kernels },
#include "host/op_speed.def"
#undef OP_SPEED
};

/* The row of an operator, by the last part of its name. */
static struct op_row row_of(const char *name)
{
	const char *dot = strrchr(name, '.');

	name = dot ? dot + 1 : name;
	for (size_t i = 0; i < COUNT_OF(op_rows); i++)
		if (!strcmp(op_rows[i].name, name))
			return op_rows[i];
	return (struct op_row){ .name = name, .how = how_stream, .passes = 1, .launches = 1 };
}

/* Does the call need no kernel? That holds for a view, a copy of a contiguous tensor, and memory
 * that is not filled. */
static int does_nothing(const struct op_look *k)
{
	const char *name = row_of(k->c->name).name;

	if (!k->out || k->c->kind & BIND_INPLACE)
		return !k->out;
	for (int i = 0; i < k->n; i++)
		if (k->arg[i]->st == k->out->st)
			return 1;
	return k->c->kind & BIND_ALLOC && !(k->c->kind & (BIND_COMPUTE | BIND_COPY)) && strstr(name, "empty") != NULL;
}

struct op_speed op_speed(const struct host_op_call *c, const struct tile_gpu *g, unsigned tf32)
{
	struct op_look k = { .c = c, .g = g, .tf32 = c->tf32 | tf32 };
	struct op_row row = row_of(c->name);

	for (size_t i = 0; i < c->n; i++)
		add_argument(&k, c->a[i], 1);
	k.written = result_bytes(c->out, &k.out);
	for (int i = 0; i < k.n; i++)
		k.read += bytes_behind(k.arg[i]);
	k.passes = row.passes;
	if (does_nothing(&k))
		return (struct op_speed){ .launches = 0 };
	return (struct op_speed){ .seconds = row.how(&k), .launches = row.launches };
}
