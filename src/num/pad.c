/* Padding (F.pad), and sliding windows as columns (F.unfold, F.fold). Negative padding crops.
 * The window functions reuse the geometry and kernels of convolutions. */
#include <string.h>

#include "base/mem.h"
#include "num/conv.h"
#include "num/shape.h"

/* --- padding ------------------------------------------------------------------------------------ */

/* Size after padding. PyTorch crops by the negative paddings first; what is cut off must
 * exist. */
static int padded_size(int64_t n, int64_t lo, int64_t hi, int64_t *out, struct err *e)
{
	if (n + MIN(lo, 0) < 0 || n + MIN(lo, 0) + MIN(hi, 0) < 0)
		return err_set(e, ERR_STATE, "narrow(): length must be non-negative.");
	if (ck_add64(n + MIN(lo, 0) + MIN(hi, 0), MAX(lo, 0), out) ||
	    ck_add64(*out, MAX(hi, 0), out))
		return err_set(e, ERR_STATE, "Storage size calculation overflowed");
	return 0;
}

/* One dimension: narrows `from` to the part of the input that stays and `to` to where it
 * goes. Both are views; the old references are released. */
static int crop(struct tensor *from, struct tensor *to, int d, int64_t lo, int64_t hi,
		struct err *e)
{
	struct tensor a, b;
	int64_t n = from->shape[d], m = to->shape[d];

	if (tensor_slice(&a, from, d, lo < 0 ? -lo : 0, hi < 0 ? n + hi : n, 1, e))
		return -1;
	if (tensor_slice(&b, to, d, lo > 0 ? lo : 0, hi > 0 ? m - hi : m, 1, e)) {
		tensor_release(&a);
		return -1;
	}
	tensor_release(from);
	tensor_release(to);
	*from = a;
	*to = b;
	return 0;
}

/* Fills the result with `value` and copies what stays of t into the middle. pads has (lo, hi)
 * pairs from the last dimension on. */
static int pad_constant(struct num_ctx *c, struct tensor *out, const struct tensor *t, int n,
			const int64_t *pads, double value, struct err *e)
{
	int64_t shape[TENSOR_DIMS];
	struct tensor from = *t, to;
	int rc = 0;

	memcpy(shape, t->shape, sizeof shape);
	for (int i = 0; i < n; i++) {
		int d = t->ndim - 1 - i;

		if (padded_size(t->shape[d], pads[2 * i], pads[2 * i + 1], &shape[d], e))
			return -1;
	}
	if (num_new(c, out, t->dt, t->ndim, shape, e))
		return -1;
	to = *out;
	tensor_retain(&from);
	tensor_retain(&to);
	rc = num_fill(c, out, num_f(value), e);
	for (int i = 0; i < n && !rc; i++)
		rc = crop(&from, &to, t->ndim - 1 - i, pads[2 * i], pads[2 * i + 1], e);
	rc = rc || tensor_copy(&to, &from, e);
	tensor_release(&from);
	tensor_release(&to);
	if (rc)
		tensor_release(out);
	return rc ? -1 : 0;
}

/* The input index that position i of a padded dimension of n elements shows; i is negative
 * before the input. Reflection does not repeat the edge: -1 shows 1. */
static int64_t source_of(int64_t i, int64_t n, enum num_pad mode)
{
	if (mode == PAD_CIRCULAR)
		return (i % n + n) % n;
	if (mode == PAD_REPLICATE)
		return MIN(MAX(i, 0), n - 1);
	i = i < 0 ? -i : i;
	return i >= n ? 2 * (n - 1) - i : i;
}

/* PyTorch's limits: reflection below n on each side, circular padding at most n. */
static int check_pad(const struct tensor *t, int d, int64_t lo, int64_t hi, enum num_pad mode,
		     struct err *e)
{
	int64_t n = t->shape[d];

	if (mode == PAD_REFLECT && (lo >= n || hi >= n))
		return err_set(e, ERR_STATE,
			       "Argument #%d: Padding size should be less than the corresponding "
			       "input dimension, but got: padding (%lld, %lld) at dimension %d "
			       "of input %s",
			       4 + 2 * (t->ndim - 1 - d), (long long)lo, (long long)hi, d,
			       SHAPE_TEXT(t->ndim, t->shape));
	if (mode == PAD_CIRCULAR && (lo > n || hi > n))
		return err_set(e, ERR_STATE, "Padding value causes wrapping around more than once.");
	if (n + lo + hi < 1 || n < 1)
		return err_set(e, ERR_STATE,
			       "input (size: %lld) with padding (%lld, %lld) at dimension %d is too small",
			       (long long)n, (long long)lo, (long long)hi, d);
	return 0;
}

/* One dimension of a non-constant padding, as an index_select. */
static int pad_dim(struct num_ctx *c, struct tensor *out, const struct tensor *t, int d, int64_t lo,
		   int64_t hi, enum num_pad mode, struct err *e)
{
	int64_t n = t->shape[d], m = n + lo + hi;
	struct tensor index;
	int rc;

	if (check_pad(t, d, lo, hi, mode, e) || num_new(c, &index, DT_I64, 1, &m, e))
		return -1;
	for (int64_t i = 0; i < m && !c->hollow; i++)
		((int64_t *)tensor_data(&index))[i] = source_of(i - lo, n, mode);
	rc = num_index_select(c, out, t, d, &index, e);
	tensor_release(&index);
	return rc;
}

/* n pairs in `pads`. num_step() clips each so that sums stay within 64 bits. */
int num_pad(struct num_ctx *c, struct tensor *out, const struct tensor *t, int n,
	    const int64_t *pads, enum num_pad mode, double value, struct err *e)
{
	struct tensor now = *t;
	int64_t step[2 * TENSOR_DIMS];

	if (n > t->ndim)
		return err_set(e, ERR_STATE,
			       "Padding length should be less than or equal to two times the "
			       "input dimension but got padding length %d and input of dimension "
			       "%d", 2 * n, t->ndim);
	for (int i = 0; i < 2 * n; i++)
		step[i] = num_step(pads[i]);
	if (mode == PAD_CONSTANT)
		return pad_constant(c, out, t, n, step, value, e);
	tensor_retain(&now);
	for (int i = 0; i < n; i++) {
		struct tensor next;
		int rc = pad_dim(c, &next, &now, t->ndim - 1 - i, step[2 * i], step[2 * i + 1],
				 mode, e);

		tensor_release(&now);
		if (rc)
			return -1;
		now = next;
	}
	*out = now;
	return 0;
}

/* --- windows as columns --------------------------------------------------------------------------- */

/* The geometry of unfold over an image [C, H, W]: a convolution without its product. It also
 * checks that C * taps * Q fits 64 bits. */
static int unfold_geometry(struct conv_geom *g, int64_t C, const int64_t *size,
			   const struct num_unfold *p, struct err *e)
{
	int64_t all;

	*g = (struct conv_geom){ .N = 1, .C = C, .Cg = C, .O = C, .Og = C, .groups = 1,
				 .in = { 1, size[0], size[1] },
				 .k = { 1, p->kernel[0], p->kernel[1] },
				 .stride = { 1, p->stride[0], p->stride[1] },
				 .lo = { 0, p->padding[0], p->padding[1] },
				 .dil = { 1, p->dilation[0], p->dilation[1] } };
	for (int i = 0; i < 3; i++) {
		if (g->k[i] <= 0 || g->stride[i] <= 0 || g->dil[i] <= 0 || g->lo[i] < 0)
			return err_set(e, ERR_STATE, "kernel size, stride and dilation should be greater than zero");
		g->out[i] = (g->in[i] + 2 * g->lo[i] - g->dil[i] * (g->k[i] - 1) - 1) / g->stride[i] + 1;
		if (g->out[i] < 1)
			return err_set(e, ERR_STATE,
				       "Given input with spatial size (%lld, %lld), "
				       "kernel_size=(%lld, %lld), calculated shape of the array "
				       "of sliding blocks is too small (non-positive)",
				       (long long)size[0], (long long)size[1],
				       (long long)p->kernel[0], (long long)p->kernel[1]);
	}
	return num_volume(g->in, &g->P, e) || num_volume(g->out, &g->Q, e) || num_volume(g->k, &g->taps, e) ||
	       num_volume((int64_t[]){ C, g->taps, g->Q }, &all, e) ? -1 : 0;
}

/* t [N, C, H, W] or [C, H, W] gives [N, C * taps, Q]: column q holds the window of output
 * position q. */
int num_unfold(struct num_ctx *c, struct tensor *out, const struct tensor *t,
	       const struct num_unfold *p, struct err *e)
{
	struct conv_geom g;
	struct tensor x, y;
	int batch = t->ndim == 4, size;
	int64_t N = batch ? t->shape[0] : 1;

	if (t->ndim != 3 && t->ndim != 4)
		return err_set(e, ERR_STATE,
			       "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size "
			       "and other non-zero dimensions for input, but got: %s",
			       SHAPE_TEXT(t->ndim, t->shape));
	if (t->shape[batch] == 0)
		return err_set(e, ERR_STATE,
			       "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size "
			       "and other non-zero dimensions for input, but got: %s",
			       SHAPE_TEXT(t->ndim, t->shape));
	if (unfold_geometry(&g, t->shape[batch], t->shape + batch + 1, p, e) ||
	    num_as(c, &x, t, dtype_carrier(t->dt), e))
		return -1;
	if (num_new(c, &y, x.dt, 2 + batch, batch ? (int64_t[]){ N, g.C * g.taps, g.Q } :
		    (int64_t[]){ g.C * g.taps, g.Q }, e)) {
		tensor_release(&x);
		return -1;
	}
	size = dtype_size(x.dt);
	for (int64_t i = 0; i < N && g.C && !c->hollow; i++)
		SIMD_PICK(num_conv_kernels)(x.dt)->im2col((char *)tensor_data(&y) + i * g.C * g.taps * g.Q * size,
							  (char *)tensor_data(&x) + i * g.C * g.P * size, &g, 0, g.Q);
	tensor_release(&x);
	if (num_settle(c, &y, t->dt, e))
		return -1;
	*out = y;
	return 0;
}

/* The transpose of unfold: t [N, C * taps, Q] gives [N, C, size]; overlapping windows add up. */
int num_fold(struct num_ctx *c, struct tensor *out, const struct tensor *t, const int64_t *size,
	     const struct num_unfold *p, struct err *e)
{
	struct conv_geom u, g;
	struct tensor x, y;
	int batch = t->ndim == 3, bytes;
	int64_t N = batch ? t->shape[0] : 1, taps = p->kernel[0] * p->kernel[1], C;

	if (t->ndim != 2 && t->ndim != 3)
		return err_set(e, ERR_STATE, "Expected 2D or 3D (batch mode) tensor for input, but got: %s",
			       SHAPE_TEXT(t->ndim, t->shape));
	if (taps <= 0 || t->shape[batch] % taps)
		return err_set(e, ERR_STATE,
			       "Expected size of input's dimension 1 to be divisible by the "
			       "product of kernel_size, but got input.size(1)=%lld and "
			       "kernel_size=(%lld, %lld).",
			       (long long)t->shape[batch], (long long)p->kernel[0],
			       (long long)p->kernel[1]);
	C = t->shape[batch] / taps;
	if (unfold_geometry(&u, C, size, p, e))
		return -1;
	if (u.Q != t->shape[batch + 1])
		return err_set(e, ERR_STATE,
			       "Given output_size=(%lld, %lld), expected size of input's "
			       "dimension 2 to match the calculated number of sliding blocks "
			       "%lld, but got input.size(2)=%lld.",
			       (long long)size[0], (long long)size[1], (long long)u.Q,
			       (long long)t->shape[batch + 1]);
	/* Fold is the transposed geometry: the windows are the input side, the image is the
	 * output side. */
	g = u;
	memcpy(g.in, u.out, sizeof g.in);
	memcpy(g.out, u.in, sizeof g.out);
	g.P = u.Q;
	g.Q = u.P;
	if (num_as(c, &x, t, dtype_carrier(t->dt), e))
		return -1;
	if (num_new(c, &y, x.dt, 3 + batch, batch ? (int64_t[]){ N, C, size[0], size[1] } :
		    (int64_t[]){ C, size[0], size[1] }, e)) {
		tensor_release(&x);
		return -1;
	}
	storage_fill(y.st, 0);
	bytes = dtype_size(x.dt);
	for (int64_t i = 0; i < N && C && !c->hollow; i++)
		SIMD_PICK(num_conv_kernels)(x.dt)->col2im((char *)tensor_data(&y) + i * C * g.Q * bytes,
							  (char *)tensor_data(&x) + i * C * taps * g.P * bytes, &g, 0,
							  g.P);
	tensor_release(&x);
	if (num_settle(c, &y, t->dt, e))
		return -1;
	*out = y;
	return 0;
}
