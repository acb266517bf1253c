/* Bindings for images: padding, sliding windows, resampling, and the shuffles between
 * channels and pixels. */
#include "base/mem.h"
#include "interp/import.h"
#include "num/nn.h"
#include "num/shape.h"
#include "torch/torch.h"

/* The usual end of a binding: the result, or the error of the operator. */
static int done(struct bind *b, int rc, struct tensor *y)
{
	return rc ? bind_fail(b) : bind_result(b, y);
}

/* --- padding, windows --------------------------------------------------------------------------------- */

/* input, pad, mode='constant', value=None. The modes are in the order of enum num_pad. The
 * other modes pad the last one to three dimensions of an input with or without batch. */
static int a_pad(struct bind *b)
{
	static const char *const modes[] = { "constant", "reflect", "replicate", "circular", NULL };
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, y;
	struct bind_ints p;
	double value;
	int mode;

	if (bind_tensor(b, 0, &t) || bind_ints(b, 1, &p) || torch_choice(b, 2, modes, "mode", &mode) ||
	    torch_float(b, 3, 0, &value))
		return -1;
	if (p.n % 2)
		return bind_shape_error(b, "Padding length must be divisible by 2");
	if (mode != PAD_CONSTANT && bind_given(b, 3) && value != 0)
		return bind_shape_error(b, "Padding mode \"%s\" doesn't take in value argument", modes[mode]);
	if (mode != PAD_CONSTANT && (p.n < 2 || p.n > 6 || (t->ndim != p.n / 2 + 1 && t->ndim != p.n / 2 + 2)))
		return bind_raise(b, EXC_NotImplementedError,
				  "Padding size %d is not supported for %dD input tensor.", p.n, t->ndim);
	return done(b, num_pad(&c, &y, t, p.n / 2, p.v, (enum num_pad)mode, value, bind_e(b)), &y);
}

/* Slots first .. first + 3: kernel_size, dilation, padding, stride; a number counts for both
 * dimensions. */
static int unfold_args(struct bind *b, size_t first, struct num_unfold *p)
{
	int64_t *into[] = { p->kernel, p->dilation, p->padding, p->stride };

	for (size_t i = 0; i < 4; i++) {
		struct bind_ints v;

		if (bind_ints_n(b, first + i, 2, &v))
			return -1;
		into[i][0] = v.v[0];
		into[i][1] = v.v[1];
	}
	return 0;
}

/* input, kernel_size, dilation, padding, stride: F.unfold, not Tensor.unfold. */
static int a_unfold(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct num_unfold p;
	struct tensor *t, y;

	if (bind_tensor(b, 0, &t) || unfold_args(b, 1, &p))
		return -1;
	return done(b, num_unfold(&c, &y, t, &p, bind_e(b)), &y);
}

/* input, output_size, kernel_size, dilation, padding, stride */
static int a_fold(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct num_unfold p;
	struct bind_ints size;
	struct tensor *t, y;

	if (bind_tensor(b, 0, &t) || bind_ints_n(b, 1, 2, &size) || unfold_args(b, 2, &p))
		return -1;
	return done(b, num_fold(&c, &y, t, size.v, &p, bind_e(b)), &y);
}

/* --- images --------------------------------------------------------------------------------------------- */

/* Output sizes from size= (slot 1) or scale_factor= (slot 2). The caller must give exactly one of
 * the two. A scaled size is floor(in * scale). */
static int sizes_for(struct bind *b, const struct tensor *t, int nd, int64_t *size, double *scale,
		     int *use_scale)
{
	*use_scale = 0;
	if (bind_given(b, 1) && bind_given(b, 2))
		return bind_raise(b, EXC_ValueError, "only one of size or scale_factor should be defined");
	if (bind_given(b, 1)) {
		struct bind_ints s;

		if (bind_ints_n(b, 1, nd, &s))
			return -1;
		for (int i = 0; i < nd; i++)
			size[i] = s.v[i];
		return 0;
	}
	if (!bind_given(b, 2))
		return bind_raise(b, EXC_ValueError, "either size or scale_factor should be defined");
	for (int i = 0; i < nd; i++) {
		struct val v = b->a[2];

		if (v.kind == V_TUPLE || v.kind == V_LIST) {
			if ((int)v.u.seq->n != nd)
				return bind_raise(b, EXC_ValueError, "scale_factor shape must match input shape");
			v = v.u.seq->v[i];
		}
		scale[i] = v.kind == V_FLOAT ? v.u.f : v.kind == V_INT ? (double)v.u.i : 0;
		if (!(scale[i] > 0))
			return bind_raise(b, EXC_ValueError, "scale_factor must be positive");
		if (!((double)t->shape[i + 2] * scale[i] < 0x1p62))
			return bind_shape_error(b, "value cannot be converted to type int64_t without overflow");
		size[i] = (int64_t)((double)t->shape[i + 2] * scale[i]);
	}
	*use_scale = 1;
	return 0;
}

/* Antialiasing is two products with weight matrices, which the prelude makes. */
static int antialiased(struct bind *b)
{
	struct val fn;
	struct call_args args = { .a = b->a, .n = 5 };

	if (library_name(b->h, "torch.nn.functional", "_antialiased", &fn))
		return -1;
	return host_callv(b->h, fn, &args, &b->out);
}

/* input, size=None, scale_factor=None, mode='nearest', align_corners=None,
 * recompute_scale_factor=None, antialias=False. Modes 0 to 3 are in the order of enum
 * num_interp; "area" (6) is adaptive average pooling. The given scale is used as it is unless
 * it is recomputed from the sizes. */
static int a_interpolate(struct bind *b)
{
	static const char *const modes[] = { "nearest", "nearest-exact", "linear", "bicubic", "bilinear",
					     "trilinear", "area", NULL };
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, y;
	int64_t size[3];
	double scale[3];
	int mode, align, recompute, antialias, nd, use;

	if (bind_tensor(b, 0, &t) || torch_choice(b, 3, modes, "mode", &mode) || bind_bool(b, 4, &align) ||
	    bind_bool(b, 5, &recompute) || bind_bool(b, 6, &antialias))
		return -1;
	nd = t->ndim - 2;
	if (nd < 1 || nd > 3)
		return bind_raise(b, EXC_NotImplementedError,
				  "Input Error: Only 3D, 4D and 5D input Tensors supported (got "
				  "%dD) for the modes: nearest | linear | bilinear | bicubic | "
				  "trilinear | area | nearest-exact", t->ndim);
	if (bind_given(b, 4) && (mode < 2 || mode == 6))
		return bind_raise(b, EXC_ValueError,
				  "align_corners option can only be set with the interpolating "
				  "modes: linear | bilinear | bicubic | trilinear");
	if (antialias)
		return antialiased(b);
	if ((mode == 2 && nd != 1) || ((mode == 3 || mode == 4) && nd != 2) || (mode == 5 && nd != 3))
		return bind_raise(b, EXC_NotImplementedError, "Got %dD input, but %s mode needs %dD input",
				  t->ndim, modes[mode], mode == 2 ? 3 : mode == 5 ? 5 : 4);
	if (sizes_for(b, t, nd, size, scale, &use))
		return -1;
	/* The average over the inputs that a result covers. */
	if (mode == 6)
		return done(b, num_adaptive_pool(&c, &y, NULL, t, nd, size, 0, bind_e(b)), &y);
	return done(b, num_interpolate(&c, &y, t, nd, size, use && !recompute ? scale : NULL,
				       mode >= 4 ? INTERP_LINEAR : (enum num_interp)mode, align, bind_e(b)), &y);
}

/* input, grid, mode, padding_mode, align_corners. The names are in the order of the enums;
 * "-" fills the entry of nearest-exact. */
static int a_grid_sample(struct bind *b)
{
	static const char *const modes[] = { "nearest", "-", "bilinear", "bicubic", NULL };
	static const char *const borders[] = { "zeros", "border", "reflection", NULL };
	struct num_ctx c = torch_ctx(b);
	struct tensor *x, *g, y;
	int mode, border, align;

	if (bind_tensor(b, 0, &x) || bind_tensor(b, 1, &g) || torch_choice(b, 2, modes, "mode", &mode) ||
	    torch_choice(b, 3, borders, "padding_mode", &border) || bind_bool(b, 4, &align))
		return -1;
	return done(b, num_grid_sample(&c, &y, x, g, (enum num_interp)mode, (enum num_border)border, align,
				       bind_e(b)), &y);
}

/* pixel_shuffle: [..., C r r, H, W] becomes [..., C, H r, W r]; `inverse`: pixel_unshuffle,
 * the other way. */
static int shuffle(struct bind *b, int inverse)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, v, p, y;
	int64_t r, area, all, tall, wide, s[TENSOR_DIMS + 4], out[TENSOR_DIMS], C, H, W;
	int dims[TENSOR_DIMS], n, rc;

	if (bind_tensor(b, 0, &t) || bind_int(b, 1, &r))
		return -1;
	n = t->ndim - 3;
	if (n >= 0 && r <= 0)
		return bind_shape_error(b, "pixel_%sshuffle expects a positive %sscale_factor, but got %lld",
					inverse ? "un" : "", inverse ? "down" : "up", (long long)r);
	if (n < 0 || n + 5 > TENSOR_DIMS)
		return bind_shape_error(b,
					"pixel_shuffle expects input to have at least 3 "
					"dimensions, but got input with %d dimension(s)", t->ndim);
	C = t->shape[n];
	H = t->shape[n + 1];
	W = t->shape[n + 2];
	if (ck_mul64(r, r, &area) || ck_mul64(C, area, &all) || ck_mul64(H, r, &tall) || ck_mul64(W, r, &wide))
		return bind_shape_error(b, "a factor of %lld is too large for %lld channels", (long long)r,
					(long long)C);
	if (!inverse && C % area)
		return bind_shape_error(b,
					"pixel_shuffle expects its input's 'channel' dimension "
					"to be divisible by the square of upscale_factor, but "
					"input.size(-3)=%lld is not divisible by %lld",
					(long long)C, (long long)area);
	if (inverse && (H % r || W % r))
		return bind_shape_error(b,
					"pixel_unshuffle expects %s to be divisible by "
					"downscale_factor, but input.size(%d)=%lld is not "
					"divisible by %lld", H % r ? "height" : "width",
					H % r ? -2 : -1, (long long)(H % r ? H : W), (long long)r);
	/* Both ways: a view with the factors r as dimensions of their own, a permutation, and
	 * a reshape to the result. */
	for (int i = 0; i < n; i++) {
		s[i] = out[i] = t->shape[i];
		dims[i] = i;
	}
	if (inverse) {
		s[n] = C, s[n + 1] = H / r, s[n + 2] = r, s[n + 3] = W / r, s[n + 4] = r;
		dims[n] = n, dims[n + 1] = n + 2, dims[n + 2] = n + 4, dims[n + 3] = n + 1, dims[n + 4] = n + 3;
		out[n] = all, out[n + 1] = H / r, out[n + 2] = W / r;
	} else {
		s[n] = C / area, s[n + 1] = r, s[n + 2] = r, s[n + 3] = H, s[n + 4] = W;
		dims[n] = n, dims[n + 1] = n + 3, dims[n + 2] = n + 1, dims[n + 3] = n + 4, dims[n + 4] = n + 2;
		out[n] = C / area, out[n + 1] = tall, out[n + 2] = wide;
	}
	if (num_reshape(&c, &v, t, n + 5, s, bind_e(b)))
		return bind_fail(b);
	rc = tensor_permute(&p, &v, dims, bind_e(b));
	tensor_release(&v);
	if (rc)
		return bind_fail(b);
	rc = num_reshape(&c, &y, &p, n + 3, out, bind_e(b));
	tensor_release(&p);
	return done(b, rc, &y);
}

static int a_pixel_shuffle(struct bind *b) { return shuffle(b, 0); }
static int a_pixel_unshuffle(struct bind *b) { return shuffle(b, 1); }

/* [N, g * k, ...]: channels seen as [g, k] and transposed to [k, g]. */
static int a_channel_shuffle(struct bind *b)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *t, v, p, y;
	int64_t g, s[TENSOR_DIMS];
	int rc;

	if (bind_tensor(b, 0, &t) || bind_int(b, 1, &g))
		return -1;
	if (t->ndim < 3 || t->ndim >= TENSOR_DIMS || g <= 0 || t->shape[1] % g)
		return bind_shape_error(b, "Number of channels must be divisible by groups. Got %s and %lld groups.",
					SHAPE_TEXT(t->ndim, t->shape), (long long)g);
	s[0] = t->shape[0];
	s[1] = g;
	s[2] = t->shape[1] / g;
	for (int i = 2; i < t->ndim; i++)
		s[i + 1] = t->shape[i];
	if (num_reshape(&c, &v, t, t->ndim + 1, s, bind_e(b)))
		return bind_fail(b);
	rc = tensor_transpose(&p, &v, 1, 2, bind_e(b));
	tensor_release(&v);
	if (rc)
		return bind_fail(b);
	rc = num_reshape(&c, &y, &p, t->ndim, t->shape, bind_e(b));
	tensor_release(&p);
	return done(b, rc, &y);
}

/* pad and the shuffles only move elements. The window functions (BIND_WINDOW) may leave a
 * rest of the input unused. */
const struct bind_row torch_image_rows[] = {
	{ "torch.nn.functional.pad", "input, pad, mode='constant', value=None", a_pad, BIND_COPY | BIND_MOVE },
	{ "torch.nn.functional.unfold", "input, kernel_size, dilation=1, padding=0, stride=1", a_unfold,
	  BIND_COPY | BIND_MOVE | BIND_WINDOW },
	{ "torch.nn.functional.fold", "input, output_size, kernel_size, dilation=1, padding=0, stride=1",
	  a_fold, BIND_COMPUTE | BIND_WINDOW },
	{ "torch.nn.functional.interpolate",
	  "input, size=None, scale_factor=None, mode='nearest', align_corners=None, "
	  "recompute_scale_factor=None, antialias=False",
	  a_interpolate, BIND_COMPUTE | BIND_WINDOW },
	ALIAS("torch.nn.functional.upsample", "torch.nn.functional.interpolate"),
	{ "torch.nn.functional.grid_sample",
	  "input, grid, mode='bilinear', padding_mode='zeros', align_corners=None", a_grid_sample,
	  BIND_COMPUTE | BIND_WINDOW },
	{ "torch.nn.functional.pixel_shuffle", "input, upscale_factor", a_pixel_shuffle, BIND_COPY | BIND_MOVE },
	{ "torch.nn.functional.pixel_unshuffle", "input, downscale_factor", a_pixel_unshuffle, BIND_COPY | BIND_MOVE },
	{ "torch.nn.functional.channel_shuffle", "input, groups", a_channel_shuffle, BIND_COPY | BIND_MOVE },
	ALIAS("torch.pixel_shuffle", "torch.nn.functional.pixel_shuffle"),
	ALIAS("torch.pixel_unshuffle", "torch.nn.functional.pixel_unshuffle"),
	ALIAS("torch.channel_shuffle", "torch.nn.functional.channel_shuffle"),
	{ NULL, NULL, NULL, 0 }
};
