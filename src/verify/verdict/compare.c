/* Results, their tolerances and their comparison: see compare.h.
 *
 * Most results are plain: floats without overflow, units or 64-bit integers. Plain results take
 * vector code (values.h). All others take the loops here, which define what the vector code must
 * give. */
#include "verify/verdict/compare.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "verify/verdict/pattern.h"
#include "verify/verdict/values.h"

/* The context of take_one: where results go, and the inputs that they must not share memory
 * with. */
struct take {
	struct results *out;
	struct host *h;
	struct val inputs;
	struct err *e;
};

/* The root mean square of the finite elements that `out` does not mark. Example: of {3, 4, inf} it
 * is 3.54. */
static double rms_of(const double *v, const unsigned char *out, int64_t n)
{
	double sum = out ? INFINITY : SIMD_PICK(values_square_sum)(v, n);
	int64_t left = 0;

	if (isfinite(sum))
		return n ? sqrt(sum / (double)n) : 0.0;
	sum = 0.0;
	for (int64_t i = 0; i < n; i++) {
		int counts = isfinite(v[i]) && !(out && out[i]);

		/* The mean is over the elements that count, not over n. */
		sum += counts ? v[i] * v[i] : 0.0;
		left += counts;
	}
	return left ? sqrt(sum / (double)left) : 0.0;
}

/* A double holds integers up to 2^53 only, so 64-bit integers are kept as well. */
int result_fill(struct result *r, const void *dense, struct err *e)
{
	size_t bytes;

	r->v = ck_mul((size_t)r->n, sizeof *r->v, &bytes) ? NULL : mem_alloc(bytes);
	if (!r->v)
		return err_nomem(e);
	dtype_convert(DT_F64, r->v, r->dt, dense, (size_t)r->n);
	r->rms = rms_of(r->v, NULL, r->n);
	if (r->dt != DT_I64 && r->dt != DT_U64)
		return 0;
	r->whole = mem_array((size_t)r->n, sizeof *r->whole);
	if (!r->whole) {
		mem_free(r->v);
		r->v = NULL;
		return err_nomem(e);
	}
	memcpy(r->whole, dense, (size_t)r->n * sizeof *r->whole);
	return 0;
}

/* Copies one tensor of the returned value, with the properties of its layout. */
static int take_one(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct take *k = ctx;
	struct result *r;
	struct tensor dense;
	int rc;

	if (k->out->n == RESULTS_MOST) {
		k->out->too_many = 1;
		return 0;
	}
	if (tensor_contiguous(&dense, &obj->t, k->e))
		return -1;
	r = &k->out->r[k->out->n];
	*r = (struct result){ .dt = obj->t.dt, .ndim = obj->t.ndim, .n = tensor_numel(&obj->t),
			      .overlapping = result_overlaps(&obj->t),
			      .scattered = !tensor_is_contiguous(&obj->t),
			      .aliases = result_aliases(k->h, &obj->t, k->inputs),
			      .undefined = tensor_any_undef(&obj->t) };
	snprintf(r->name, sizeof r->name, "%.*s", STR_ARG(name));
	memcpy(r->shape, obj->t.shape, sizeof r->shape);
	rc = result_fill(r, tensor_data(&dense), k->e);
	k->out->n += !rc;
	tensor_release(&dense);
	return rc;
}

/* State is the last result. It is not added if the results are RESULTS_MOST already. */
int results_add_state(struct results *out, const struct tensor *state, const struct tensor *unit, struct err *e)
{
	struct result *r = &out->r[out->n];

	if (out->n == RESULTS_MOST)
		return 0;
	*r = (struct result){ .name = RESULT_STATE, .dt = state->dt, .ndim = 1, .shape = { tensor_numel(state) },
			      .n = tensor_numel(state), .state = 1 };
	if (result_fill(r, tensor_data(state), e))
		return -1;
	out->n++;
	r->unit = mem_array((size_t)r->n, sizeof *r->unit);
	if (!r->unit)
		return err_nomem(e);
	memcpy(r->unit, tensor_data(unit), (size_t)r->n * sizeof *r->unit);
	return 0;
}

int results_take(struct results *out, struct host *h, struct val v, struct val inputs, struct err *e)
{
	struct take k = { .out = out, .h = h, .inputs = inputs, .e = e };
	struct buf form = BUF_INIT;
	int rc;

	/* host_result calls take_one for each tensor and number, in an order that does not depend
	 * on that of dictionaries. */
	*out = (struct results){ .n = 0 };
	rc = host_result(h, v, &form, take_one, &k) || buf_check(&form, e) ? -1 : 0;
	results_set_form(out->form, buf_str(&form));
	buf_release(&form);
	if (rc)
		results_release(out);
	return rc;
}

void results_release(struct results *r)
{
	for (int i = 0; i < r->n; i++) {
		mem_free(r->r[i].v);
		mem_free(r->r[i].over);
		mem_free(r->r[i].whole);
		mem_free(r->r[i].unit);
	}
	*r = (struct results){ .n = 0 };
}

int results_alike(struct results *out, const struct results *like, struct err *e)
{
	*out = *like;
	for (int i = 0; i < like->n; i++)
		out->r[i].v = NULL, out->r[i].over = NULL, out->r[i].whole = NULL, out->r[i].unit = NULL;
	for (int i = 0; i < like->n; i++) {
		out->r[i].v = mem_array((size_t)like->r[i].n, sizeof *out->r[i].v);
		if (!out->r[i].v) {
			results_release(out);
			return err_nomem(e);
		}
	}
	return 0;
}

/* Do two results have the same shape? */
static int same_form(const struct result *a, const struct result *b)
{
	return a->ndim == b->ndim && !memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape);
}

/* A finite sum of squares shows at once that all elements are finite. The sum may also overflow. */
int result_is_finite(const struct result *r)
{
	int finite = isfinite(SIMD_PICK(values_square_sum)(r->v, r->n));

	for (int64_t k = 0; !finite && k < r->n; k++)
		if (!isfinite(r->v[k]))
			return 0;
	return 1;
}

/* Example: exp(100) is 2.7e43 in fp64 and infinite in fp32. The reference gives infinity on a GPU,
 * so a candidate may give it too. The rms is computed again without these elements. */
int results_note_overflow(struct results *expected, const struct results *run, struct err *e)
{
	for (int i = 0; i < MIN(expected->n, run->n); i++) {
		struct result *x = &expected->r[i];
		const struct result *y = &run->r[i];

		if (!same_form(x, y) || result_is_finite(y))
			continue;
		for (int64_t k = 0; k < x->n; k++) {
			if (isfinite(y->v[k]) || !isfinite(x->v[k]))
				continue;
			if (!x->over && !(x->over = mem_zalloc((size_t)x->n)))
				return err_nomem(e);
			x->over[k] = 1;
		}
		if (x->over)
			x->rms = rms_of(x->v, x->over, x->n);
	}
	return 0;
}

/* The scale that is added to an element's own magnitude to bound its error: an element near zero in
 * a result of about 1 may be off by a rounding of 1. */
static double unit_at(const struct result *r, int64_t k)
{
	return r->unit ? MAX(r->unit[k], 0.0) : r->rms;
}

/* Must the element be exactly equal? It must only if it is a count in a buffer. */
static int is_exact(const struct result *r, int64_t k)
{
	return r->unit && r->unit[k] == RESULT_EXACT;
}

/* results_distance for one result: vector code first, then element by element if anything is
 * special. */
static double distance(const struct result *x, const struct result *y)
{
	double worst = y->over || y->unit || !(y->rms > 0.0) ? INFINITY :
		SIMD_PICK(values_distance)(x->v, y->v, x->n, y->rms);

	if (isfinite(worst))
		return worst;
	worst = 0.0;
	for (int64_t k = 0; k < x->n; k++) {
		double scale = is_exact(y, k) ? 0.0 : fabs(y->v[k]) + unit_at(y, k), d = fabs(x->v[k] - y->v[k]);

		if (x->v[k] == y->v[k] || (y->over && y->over[k]))
			continue;
		if (scale == 0.0 && d <= y->abs)
			continue;
		/* Written without a division, which a scale of 0 would make infinite, and so that
		 * NaN counts. */
		if (!(d <= worst * scale))
			worst = scale > 0.0 && isfinite(d) ? d / scale : INFINITY;
	}
	return worst;
}

/* Results that differ in number or shape are infinitely far apart. */
double results_distance(const struct results *a, const struct results *b, enum distance of)
{
	double worst = 0.0;

	for (int i = 0; i < MIN(a->n, b->n); i++) {
		double d;

		if (of != DISTANCE_ALL && b->r[i].state != (of == DISTANCE_STATE))
			continue;
		d = same_form(&a->r[i], &b->r[i]) ? distance(&a->r[i], &b->r[i]) : INFINITY;
		worst = MAX(worst, d);
	}
	return a->n == b->n ? worst : INFINITY;
}

/* Example: x - x is 0 in fp64. A run with noise gives 1e-7, and so may a candidate. */
void results_allow_zero(struct results *r, const struct results *other)
{
	for (int i = 0; i < MIN(r->n, other->n); i++)
		for (int64_t k = 0; r->r[i].rms == 0.0 && k < MIN(r->r[i].n, other->r[i].n); k++)
			if (isfinite(other->r[i].v[k]))
				r->r[i].abs = MAX(r->r[i].abs, 8.0 * fabs(other->r[i].v[k]));
}

/* The rounding unit of a dtype: the distance from 1 to the next larger number. */
static double unit_of(enum dtype dt)
{
	return dt == DT_F16 ? 0x1p-10 : dt == DT_BF16 ? 0x1p-7 : dt == DT_F64 ? 0x1p-52 : 0x1p-23;
}

/* The tolerance of KernelBench's torch.allclose, both absolute and relative. */
static double close_tolerance(enum dtype dt)
{
	return dt == DT_F16 || dt == DT_BF16 ? 1e-2 : 1e-4;
}

/* The tolerance for products in tf32. They lose the same bits of the same operands in any program,
 * so four times the distance of the reference's own tf32 run is enough. */
static double products_tolerance(double distance)
{
	return 4.0 * distance;
}

/* Rounding errors of single operations may cancel in the reference and add up in another order of
 * the same operations. So eight times the reference's own error is allowed, and the error of a sum
 * in another order: it grows with the root of the number of terms. */
double rounding_tolerance(const struct rounding *r)
{
	double eps = unit_of(r->dt), floor = 4.0 * eps + 0.5 * MIN(eps, 0x1p-23) * sqrt((double)r->sum);

	return MAX(8.0 * MAX(r->plain, floor), products_tolerance(r->products));
}

/* The least relative tolerance of state. A running variance over n or over n - 1 terms is about the
 * same at the sizes of most tasks, but not at the small test sizes: with 128 terms they differ by
 * 0.8 %. */
static const double state_tolerance = 1e-2;

/* The reference's rounding as the only tolerance would be too strict for state at the small test
 * sizes. */
void results_set_tolerance(struct results *r, const struct rounding *by, const struct rounding *state)
{
	/* rel_close is 0 if no run with all products in tf32 was allowed. */
	for (int i = 0; i < r->n; i++) {
		r->r[i].rel = r->r[i].state ? MAX(rounding_tolerance(state), state_tolerance) : rounding_tolerance(by);
		r->r[i].rel_close = products_tolerance(r->r[i].state ? state->close : by->close);
	}
}

/* torch.allclose on one result. */
static int close_to(const struct result *e, const struct result *g)
{
	double tolerance = close_tolerance(e->dt);

	for (int64_t k = 0; k < e->n; k++)
		if (g->v[k] != e->v[k] && !(fabs(g->v[k] - e->v[k]) <= tolerance + tolerance * fabs(e->v[k])))
			return 0;
	return 1;
}

/* State does not count: KernelBench compares returned values only. */
int results_allclose(const struct results *expected, const struct results *got)
{
	int close = expected->n == got->n;

	for (int i = 0; i < expected->n && close; i++)
		close = expected->r[i].state || (got->r[i].v && same_form(&expected->r[i], &got->r[i]) &&
						 close_to(&expected->r[i], &got->r[i]));
	return close;
}

/* Example: argmax over values that are equal up to rounding. Another run picks another index, so
 * indices cannot be compared exactly. A count in a buffer that differs may have any value. */
void results_note_inexact(struct results *r, const struct results *other)
{
	for (int i = 0; i < MIN(r->n, other->n); i++)
		for (int64_t k = 0; (!dtype_is_float(r->r[i].dt) || r->r[i].unit) &&
		     k < MIN(r->r[i].n, other->r[i].n); k++) {
			int differ = r->r[i].v[k] != other->r[i].v[k];

			r->r[i].inexact |= differ && !dtype_is_float(r->r[i].dt);
			if (differ && is_exact(&r->r[i], k))
				r->r[i].unit[k] = INFINITY;
		}
}

/* --- the comparison ----------------------------------------------------------------------- */

/* "[16, 64]" */
static void shape_text(const struct result *r, char *out, size_t n)
{
	size_t at = (size_t)snprintf(out, n, "[");

	for (int i = 0; i < r->ndim && at < n; i++)
		at += (size_t)snprintf(out + at, n - at, "%s%lld", i ? ", " : "", (long long)r->shape[i]);
	if (at < n)
		snprintf(out + at, n - at, "]");
}

/* Notes that the i-th result differs, and how. Returns 1. */
static int differ(struct comparison *c, enum reason why, int i, const char *fmt, ...) PRINTF_LIKE(4, 5);

static int differ(struct comparison *c, enum reason why, int i, const char *fmt, ...)
{
	va_list ap;

	c->reason = why;
	c->result = i;
	va_start(ap, fmt);
	vsnprintf(c->text, sizeof c->text, fmt, ap);
	va_end(ap);
	return 1;
}

/* The name of a result in messages. A tensor that forward returns directly has no name. */
struct subject { char text[64]; };

static struct subject subject(const struct result *e)
{
	struct subject s;

	snprintf(s.text, sizeof s.text, e->state ? "%s" : e->name[0] ? "result %s" : "the result%s", e->name);
	return s;
}

/* Drops the sign of a NaN: printf would show "-nan", and the sign means nothing. */
static double plain_nan(double v)
{
	return isnan(v) ? (double)NAN : v;
}

/* Compares everything but the values: shape, dtype, layout, unwritten bytes. Returns 1 if something
 * differs. */
static int compare_form(struct comparison *c, int i, const struct result *e, const struct result *g)
{
	char es[96], gs[96];

	if (!same_form(e, g)) {
		shape_text(e, es, sizeof es);
		shape_text(g, gs, sizeof gs);
		return differ(c, REASON_wrong_shape, i, "%s has shape %s, expected %s", subject(e).text, gs, es);
	}
	if (e->dt != g->dt)
		return differ(c, REASON_wrong_dtype, i, "%s is torch.%s, expected torch.%s", subject(e).text,
			      dtype_info(g->dt)->torch, dtype_info(e->dt)->torch);
	/* Shared memory had no room for them: the result is larger than any that was expected. */
	if (!g->v)
		return differ(c, REASON_out_of_memory, i, "%s is too large: its values were not kept", subject(e).text);
	if (g->overlapping && !e->overlapping)
		return differ(c, REASON_wrong_layout, i, "%s is an expanded view; its elements share memory",
			      subject(e).text);
	if (g->aliases && !e->aliases)
		return differ(c, REASON_wrong_layout, i, "%s shares memory with an input", subject(e).text);
	if (g->undefined)
		return differ(c, REASON_uninitialised, i, "%s has elements that no kernel wrote", subject(e).text);
	return 0;
}

/* The index of an element as text: element 67 of a 16x64 result is "[1, 3]". */
static void index_text(const struct result *r, int64_t at, char *out, size_t n)
{
	int64_t left = at;
	int64_t idx[TENSOR_DIMS];
	size_t pos = (size_t)snprintf(out, n, "[");

	for (int i = r->ndim - 1; i >= 0; i--) {
		idx[i] = left % r->shape[i];
		left /= r->shape[i];
	}
	for (int i = 0; i < r->ndim && pos < n; i++)
		pos += (size_t)snprintf(out + pos, n - pos, "%s%lld", i ? ", " : "", (long long)idx[i]);
	if (pos < n)
		snprintf(out + pos, n - pos, "]");
}

/* The error that is allowed for a value of this magnitude, with tolerances relative to `scale`. */
static double allowed_on(const struct result *e, double size, double scale)
{
	double close = MIN(e->rel_close * scale, close_tolerance(e->dt) * (1.0 + size));

	return MAX(e->rel * scale, close) + e->abs;
}

/* The error that the k-th element may have. */
static double allowed_error(const struct result *e, int64_t k)
{
	double size = fabs(e->v[k]);

	return is_exact(e, k) ? 0.0 : allowed_on(e, size, size + unit_at(e, k));
}

/* Is the element equal? 64-bit integers are compared as integers, because two of them may be the
 * same double. A NaN in the state of a candidate means that it does not have the buffer: that
 * counts as equal. */
static int is_same(const struct result *e, const struct result *g, int64_t k)
{
	if (e->state && isnan(g->v[k]))
		return 1;
	return e->whole && g->whole ? e->whole[k] == g->whole[k] : e->v[k] == g->v[k];
}

/* Is an element that is not equal out of tolerance? `allowed` is the error that it may have. */
static int is_wrong(const struct result *e, const struct result *g, int64_t k, double allowed)
{
	double x = e->v[k], y = g->v[k];

	if (!dtype_is_float(e->dt) && !e->inexact)
		return 1;
	if (x == y || (e->over && e->over[k] && !isfinite(y)))
		return 0;
	return !(fabs(y - x) <= allowed) || !isfinite(x);
}

/* The same decision as in results_compare, for one element. */
int result_is_wrong(const struct result *e, const struct result *g, int64_t k)
{
	return !is_same(e, g, k) && is_wrong(e, g, k, allowed_error(e, k));
}

/* The elements of a result that differ. */
struct scan {
	int64_t worst;           /* index of the worst element; -1: all are equal */
	int64_t bad;             /* elements out of tolerance */
	double ratio;            /* error over allowed error at the worst element */
	double rms_error;        /* over all elements */
};

/* Error over allowed error; infinite for a NaN and for an error where none is allowed. */
static double ratio_of(double error, double allowed)
{
	return allowed > 0.0 && isfinite(error) ? error / allowed : INFINITY;
}

/* Looks at every element. Overflowing elements may be infinite or NaN in the candidate too. */
static struct scan scan_values(const struct result *e, const struct result *g)
{
	struct scan s = { .worst = -1 };
	double sum = 0.0;

	for (int64_t k = 0; k < e->n; k++) {
		double x = e->v[k], y = g->v[k], d = fabs(y - x), allowed;

		if (is_same(e, g, k) || (e->over && e->over[k] && !isfinite(y)))
			continue;
		allowed = allowed_error(e, k);
		sum += d * d;
		s.bad += is_wrong(e, g, k, allowed);
		if (s.worst < 0 || !(d <= s.ratio * allowed)) {
			s.worst = k;
			s.ratio = ratio_of(d, allowed);
		}
	}
	s.rms_error = e->n ? sqrt(sum / (double)e->n) : 0.0;
	return s;
}

/* Can vector code scan the result? */
static int is_plain(const struct result *e, const struct result *g)
{
	return dtype_is_float(e->dt) && !e->state && !e->over && !(e->whole && g->whole);
}

/* scan_values for plain results, in vector code. */
static struct scan scan_plain(const struct result *e, const struct result *g)
{
	struct values_scan v;

	SIMD_PICK(values_scan)(e->v, g->v, e->n, &(struct values_bound) {
			.rel = e->rel, .rel_close = e->rel_close, .close = close_tolerance(e->dt),
			.rms = e->rms, .abs = e->abs }, &v);
	return (struct scan){ .worst = v.worst, .bad = v.bad, .ratio = v.ratio,
			      .rms_error = e->n ? sqrt(v.sum / (double)e->n) : 0.0 };
}

/* Is the error about as large as tf32, bf16 or fp16 arithmetic makes it, all over the tensor? tf32
 * has 10 bits of mantissa: a product is off by about 1e-3. */
static int looks_like_low_precision(const struct result *e, const struct scan *s)
{
	return s->rms_error < 4e-3 * e->rms && s->ratio * e->rel < 3e-2;
}

/* Adds an element to those that the verdict shows. */
static void show_element(struct comparison *c, const struct result *e, const struct result *g, int64_t k)
{
	struct verdict_element *x = &c->shown[c->n_shown++];

	index_text(e, k, x->at, sizeof x->at);
	x->expected = e->v[k];
	x->got = plain_nan(g->v[k]);
	x->allowed = allowed_error(e, k);
}

/* Shows the worst element, then the first elements that are out of tolerance. */
static void show_elements(struct comparison *c, const struct result *e, const struct result *g, int64_t worst)
{
	show_element(c, e, g, worst);
	for (int64_t k = 0; k < e->n && c->n_shown < VERDICT_ELEMENTS; k++)
		if (k != worst && result_is_wrong(e, g, k))
			show_element(c, e, g, k);
}

/* Is the error of the whole result within tolerance? State is left out: its buffers have values of
 * different magnitudes, so one rms means nothing. */
static int is_near_overall(const struct result *e, double rms_error)
{
	return e->unit || rms_error <= allowed_on(e, e->rms, e->rms);
}

/* Compares the values of the i-th result. Returns 1 if they differ, with the message and the
 * reason. An error that looks like low precision has another reason than a wrong value, because the
 * remedy differs. */
static int compare_values(struct comparison *c, int i, const struct result *e, const struct result *g)
{
	struct scan s = is_plain(e, g) ? scan_plain(e, g) : scan_values(e, g);
	char at[96];
	enum reason why = REASON_wrong_value;

	if (s.worst < 0)
		return 0;
	/* The worst element is noted even if the result passes: the verdict lists errors of all
	 * input sets. */
	c->element = s.worst;
	c->expected = e->v[s.worst];
	c->got = g->v[s.worst];
	c->max_error = fabs(c->got - c->expected);
	c->rms_error = s.rms_error;
	c->allowed = allowed_error(e, s.worst);
	if (!s.bad && is_near_overall(e, s.rms_error))
		return 0;
	index_text(e, s.worst, at, sizeof at);
	show_elements(c, e, g, s.worst);
	if (!dtype_is_float(e->dt))
		why = REASON_wrong_value;
	else if (isfinite(c->expected) && !isfinite(c->got))
		why = REASON_not_finite;
	else if (looks_like_low_precision(e, &s))
		why = REASON_precision;
	pattern_text(e, g, c->pattern, sizeof c->pattern);
	return differ(c, why, i,
		      "%s: %lld of %lld elements differ; worst at %s: expected %.9g, got %.9g (allowed error %.3g)",
		      subject(e).text, (long long)s.bad, (long long)e->n, at, plain_nan(c->expected),
		      plain_nan(c->got), c->allowed);
}

/* Compares the number of results and the structure of the returned value. Returns 1 if they
 * differ. */
static int compare_make(struct comparison *c, const struct results *expected, const struct results *got)
{
	if (expected->n != got->n || expected->too_many != got->too_many)
		return differ(c, REASON_wrong_count, 0, "forward returns %d tensors, expected %d", got->n, expected->n);
	if (strcmp(expected->form, got->form))
		return differ(c, REASON_wrong_structure, 0, "the result is %.120s, expected %.120s",
			      got->form, expected->form);
	return 0;
}

/* rel_close is the tolerance that tf32 products would get. An error within it, both at the worst
 * element and overall, is explained by them. */
int comparison_is_tf32(const struct results *expected, const struct comparison *c)
{
	const struct result *e = &expected->r[c->result];

	return c->reason == REASON_precision && c->max_error <= e->rel_close * (fabs(c->expected) + e->rms) &&
		c->rms_error <= e->rel_close * e->rms;
}

/* The forms of all results come first: a wrong shape of the second result explains more than a
 * wrong value of the first. */
void results_compare(const struct results *expected, const struct results *got, struct comparison *c)
{
	*c = (struct comparison){ .reason = REASON_ok };
	if (compare_make(c, expected, got))
		return;
	for (int i = 0; i < expected->n; i++)
		if (compare_form(c, i, &expected->r[i], &got->r[i]))
			return;
	/* All forms agree: every result has its expected number of values from here on. */
	for (int i = 0; i < expected->n; i++)
		if (compare_values(c, i, &expected->r[i], &got->r[i]))
			return;
}

/* Are all elements within tolerance? Vector code; 0 also means that it cannot tell. *sum gets the
 * squared errors. */
static int all_near(const struct result *e, const struct result *g, double *sum)
{
	const struct values_bound b = { .rel = e->rel, .rel_close = e->rel_close,
					.close = close_tolerance(e->dt), .rms = e->rms, .abs = e->abs };

	return dtype_is_float(e->dt) && !e->over && !e->state && SIMD_PICK(values_are_near)(e->v, g->v, e->n, &b, sum);
}

/* The decision of compare_values without its message; stops at the first element that is out of
 * tolerance. */
static int values_match(const struct result *e, const struct result *g)
{
	double sum = 0.0;
	int differ = 0;

	/* Nearly all results are equal or near: vector code answers for them at once. */
	if (all_near(e, g, &sum))
		return sum == 0.0 || is_near_overall(e, sqrt(sum / (double)e->n));
	sum = 0.0;
	for (int64_t k = 0; k < e->n; k++) {
		double x = e->v[k], y = g->v[k];

		if (is_same(e, g, k) || (e->over && e->over[k] && !isfinite(y)))
			continue;
		if (is_wrong(e, g, k, allowed_error(e, k)))
			return 0;
		sum += (y - x) * (y - x);
		differ = 1;
	}
	return !differ || is_near_overall(e, sqrt(sum / (double)e->n));
}

/* Mutants, copies and ablations ask this for many results, and only need yes or no. */
int results_match(const struct results *expected, const struct results *got)
{
	struct comparison c = { .reason = REASON_ok };

	if (compare_make(&c, expected, got))
		return 0;
	for (int i = 0; i < expected->n; i++)
		if (compare_form(&c, i, &expected->r[i], &got->r[i]) || !values_match(&expected->r[i], &got->r[i]))
			return 0;
	return 1;
}
