/* Changes of inputs: see input_change.h.
 *
 * A change keeps shapes and dtypes and replaces values by those at which careless programs fail:
 * outliers for a softmax without its maximum, thousands for a variance by differences, ties for an
 * argmax, masks that keep nothing. This file owns the values; task/sizes.c decides which trial gets
 * which change.
 *
 * Invariant: a changed input is one that the reference could be given. A matrix that is its own
 * transpose stays symmetric; rising offsets stay in order. */
#include "verify/candidate/input_change.h"

#include <math.h>

#include "verify/candidate/input_axes.h"

/* A change on its way through the inputs of a trial. */
struct change {
	enum trial_change what;
	int first;             /* of all inputs only the first */
	int seen;
	int64_t batch;         /* of the first input */
	double rare;           /* of CHANGE_RARE */
	struct err *e;
};

int change_draws_ends(enum trial_change what)
{
	return what == CHANGE_SIGNED || (what >= CHANGE_ENDS && what <= CHANGE_EMPTY);
}

enum trial_change change_milder(enum trial_change what)
{
	switch (what) {
	case CHANGE_HALVES_FAINT: return CHANGE_HALVES_FAINT_ONLY;
	case CHANGE_HALVES_FAINT_ONLY: return CHANGE_FAINT;
	case CHANGE_FAINT: return CHANGE_FAINT_ONLY;
	case CHANGE_FAINT_ONLY: return CHANGE_HALVES;
	case CHANGE_INTEGERS: return CHANGE_GAPS;
	case CHANGE_ENDS: return CHANGE_ENDS_ONLY;
	case CHANGE_ENDS_ONLY: return CHANGE_ENDS_PLAIN;
	default: return CHANGE_NONE;
	}
}

/* --- values ------------------------------------------------------------------------------- */

/* Every other index, in no order that a size could have: bit 63 of a multiplicative hash. */
static int is_drawn(int64_t i)
{
	return (int)((uint64_t)(i + 1) * 0x9e3779b97f4a7c15u >> 63);
}

/* The nearest multiple of a half. */
static double half(double x)
{
	return 0.5 * rint(2.0 * x);
}

/* The i-th of n elements, for changes that look at no shape. CHANGE_SIGNED negates every other
 * element of the first half and all of the second, so that a largest value can be below zero. */
static double changed(enum trial_change what, double x, int64_t i, int64_t n)
{
	switch (what) {
	case CHANGE_SCALE: return 2.0 * x;
	case CHANGE_NEGATE: return -x;
	case CHANGE_SHIFT: return x + 1.0;
	case CHANGE_SIGNED: return i >= n / 2 || is_drawn(i) ? -x : x;
	case CHANGE_WIDE: return i % 2 ? -32.0 * x - 1.0 : 32.0 * x + 1.0;
	case CHANGE_SMALL: return 0x1p-10 * x;
	case CHANGE_HALVES: return half(x);
	case CHANGE_OFFSET: return x - 1000.0;
	/* Below the value that most programs put where they leave something out. */
	case CHANGE_ENDS: return x - 64.0;
	/* Of equal elements some are smaller by a few ulps: these are no ties. */
	case CHANGE_EQUAL: return rint(4.0 * x) / 4.0 * (is_drawn(i) ? 1.0 - 0x1p-21 : 1.0);
	default: return x;
	}
}

/* The line of an element, along which outliers are placed: its index on the line, the length of the
 * line, and a number that lines with outliers at the same positions share. */
struct on_line {
	int64_t at, of, line;
};

/* In a matrix, lines are rows. In tensors of more dimensions every other sample has its lines along
 * the last dimension, and the other samples have theirs along all dimensions except for the last.
 * So a program that reduces over any axis reads along some of the lines. */
static struct on_line line_of(const struct tensor *t, int64_t n, int64_t i)
{
	int64_t width = t->shape[t->ndim - 1], sample = n;

	for (int d = 0; d < t->ndim - 1 && sample == n; d++)
		sample /= t->shape[d];
	if (sample == width || i / sample % 2)
		return (struct on_line){ .at = i % width, .of = width, .line = i / width };
	return (struct on_line){ .at = i % sample, .of = sample, .line = i / sample / 2 + i % width };
}

/* Adds outliers. The lines take turns in fours: outliers at the end, before the middle, at the
 * beginning, and everywhere with rising values. A program that reads a line in blocks finds the
 * largest value in the last block, in a middle block, in the first block, and in the last kind a
 * new largest value in each block. */
static double spread_out(const struct tensor *t, int64_t n, double x, int64_t i)
{
	struct on_line p = line_of(t, n, i);
	int64_t eighth = 8 * p.at / p.of;
	int some = p.at % 7 == 3;

	switch (p.line % 4) {
	case 0: return p.at == p.of - 1 || (some && eighth == 7) ? 96.0 + 4.0 * x : x;
	case 1: return p.at == 7 * p.of / 16 || (some && eighth == 3) ? 96.0 + 4.0 * x : x;
	case 2: return !p.at || (some && !eighth) ? 96.0 + 4.0 * x : i % 11 == 5 ? x + 8.0 : x;
	default: return some || p.at == p.of - 1 ? 48.0 + 4.0 * x + 96.0 * (double)p.at / (double)p.of :
		i % 11 == 5 ? x + 8.0 : x;
	}
}

/* Is the element in the last quarter along the first dimension, or along the second of three and
 * more? */
static int in_last_quarter(const struct tensor *t, int64_t all, int64_t i)
{
	int64_t inner = all;

	for (int d = 0; d < MIN(t->ndim - 1, 2); d++) {
		int64_t n = t->shape[d];

		inner /= n;
		if ((!d || t->ndim > 2) && n > 1 && i / inner % n >= n - MAX(n / 4, 1))
			return 1;
	}
	return 0;
}

/* Scales the last quarter down to a thousandth, and with `zeros` sets one row of the batch to zero.
 * An epsilon that is added to a variance or a length only matters for values this small. */
static double faint(const struct tensor *t, int64_t n, int zeros, double x, int64_t i)
{
	if (zeros && t->ndim > 1 && t->shape[0] > 2 && i / (n / t->shape[0]) == t->shape[0] / 2)
		return 0.0;
	return in_last_quarter(t, n, i) ? 0x1p-10 * x : x;
}

/* Thousands. Every other row and column has no value below a thousand, so that a smallest value
 * can be far above zero. (CHANGE_OFFSET moves all values far below zero.) */
static double large(const struct tensor *t, int64_t n, double x, int64_t i)
{
	int64_t row = t->ndim > 1 ? n / t->shape[0] : t->shape[0];

	return 1000.0 * (i / row % 2 || (t->ndim > 1 && i % row % 2) ? 1.0 + fabs(rint(2.0 * x)) : rint(2.0 * x));
}

/* The i-th of the tensor's n elements, for all changes. */
static double changed_at(const struct tensor *t, int64_t n, enum trial_change what, double x, int64_t i)
{
	switch (what) {
	case CHANGE_SPREAD: return spread_out(t, n, x, i);
	case CHANGE_LARGE: return large(t, n, x, i);
	case CHANGE_HALVES_FAINT:
	case CHANGE_HALVES_FAINT_ONLY: return faint(t, n, what == CHANGE_HALVES_FAINT, half(x), i);
	case CHANGE_FAINT:
	case CHANGE_FAINT_ONLY: return faint(t, n, what == CHANGE_FAINT, x, i);
	default: return changed(what, x, i, n);
	}
}

/* Is the matrix its own transpose? Then the change must keep it symmetric, because a kernel may
 * read a symmetric matrix in either order. */
static int is_symmetric(const struct tensor *t)
{
	const char *p = tensor_data(t);
	size_t size = (size_t)dtype_size(t->dt), n = t->ndim == 2 && t->shape[0] == t->shape[1] ?
		(size_t)t->shape[0] : 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (memcmp(p + (i * n + k) * size, p + (k * n + i) * size, size))
				return 0;
	return n > 1;
}

/* Changes the elements in chunks, since conversion of single elements is slow. In a symmetric
 * matrix the two elements of a pair are changed alike. */
static void change_values(const struct tensor *t, enum trial_change what)
{
	enum { SOME = 256 };
	int64_t n = tensor_numel(t), side = is_symmetric(t) ? t->shape[0] : 0;
	char *p = tensor_data(t);
	size_t size = (size_t)dtype_size(t->dt);

	for (int64_t first = 0; first < n; first += SOME, p += SOME * size) {
		int64_t end = MIN(first + SOME, n);
		double v[SOME];

		dtype_convert(DT_F64, v, t->dt, p, (size_t)(end - first));
		for (int64_t i = first; i < end; i++) {
			int64_t at = side ? MAX(i / side, i % side) * side + MIN(i / side, i % side) : i;

			v[i - first] = changed_at(t, n, what, v[i - first], at);
		}
		dtype_convert(t->dt, p, DT_F64, v, (size_t)(end - first));
	}
}

/* Is the row, along the last dimension, the last one along any other dimension? */
static int is_last_row(const struct tensor *t, int64_t row)
{
	for (int d = t->ndim - 2; d >= 0; row /= t->shape[d--])
		if (t->shape[d] > 1 && row % t->shape[d] == t->shape[d] - 1)
			return 1;
	return 0;
}

/* Doubles the last elements along each dimension: a program that leaves them out is found. */
static void double_last(const struct tensor *t)
{
	int64_t width = t->ndim ? t->shape[t->ndim - 1] : 0, rows = width ? tensor_numel(t) / width : 0;
	size_t size = (size_t)dtype_size(t->dt);

	for (int64_t row = 0; row < rows; row++)
		for (int64_t i = is_last_row(t, row) ? 0 : MAX(width - 1, 1); i < width; i++) {
			char *p = (char *)tensor_data(t) + (size_t)(row * width + i) * size;

			dtype_store(t->dt, p, 2.0 * dtype_load(t->dt, p));
		}
}

/* Reverses the first dimension in place. */
static int reverse_batch(const struct tensor *t, struct err *e)
{
	struct tensor copy, from, to;
	int rc = tensor_contiguous(&copy, t, e);

	if (rc)
		return -1;
	if (copy.st == t->st) {
		tensor_release(&copy);
		if (tensor_to(&copy, t, t->dt, e))
			return -1;
	}
	for (int64_t i = 0; i < t->shape[0] && !rc; i++) {
		if (tensor_select(&from, &copy, 0, i, e)) {
			rc = -1;
			break;
		}
		rc = tensor_select(&to, t, 0, t->shape[0] - 1 - i, e);
		if (!rc) {
			rc = tensor_copy(&to, &from, e);
			tensor_release(&to);
		}
		tensor_release(&from);
	}
	tensor_release(&copy);
	return rc;
}

/* --- integers and masks ------------------------------------------------------------------- */

/* A mask has one value for elements that it keeps, and another one in its gaps. */
struct mask {
	double keep, gap;
};

/* Is the tensor a mask? Two kinds of tensors are masks: ones and zeros of any dtype, and floats
 * that are zero or one value far below zero, which is added to scores. */
static int find_mask(const struct tensor *t, struct mask *m)
{
	const char *p = tensor_data(t);
	size_t size = (size_t)dtype_size(t->dt);
	int64_t n = tensor_numel(t), zeros = 0;
	int ones = 1, far = dtype_is_float(t->dt);

	*m = (struct mask){ .keep = 1.0 };
	for (int64_t i = 0; i < n && (ones || far); i++) {
		double x = dtype_load(t->dt, p + (size_t)i * size);

		zeros += x == 0.0;
		ones &= x == 0.0 || x == 1.0;
		far &= x == 0.0 || (x <= -1000.0 && (m->gap == 0.0 || m->gap == x));
		m->gap = far && x != 0.0 ? x : m->gap;
	}
	if (far && m->gap != 0.0 && zeros)
		m->keep = 0.0;
	else if (ones)
		m->gap = 0.0;
	return m->keep == 0.0 || (ones && (zeros < n || !dtype_is_float(t->dt)));
}

int change_can_choose(const struct tensor *t)
{
	struct mask m;

	return tensor_numel(t) && (!dtype_is_float(t->dt) || (t->ndim && tensor_is_contiguous(t) && find_mask(t, &m)));
}

/* Is there a gap of the mask at this index? One in five along each dimension, shifted from row to
 * row. */
static int is_gap(const struct tensor *t, int64_t i)
{
	int64_t sum = 0;

	for (int d = t->ndim - 1, step = 1; d >= 0; i /= t->shape[d--], step = step % 4 + 1)
		sum += step * (i % t->shape[d]);
	return sum % 5 == 1;
}

/* Is the element kept by the mask? The rows take turns in fours: keep all elements, the first half
 * (or nothing), only the first element, only the last element. A single row keeps its last
 * element. */
static int is_kept(const struct tensor *t, int64_t i, int nothing)
{
	int64_t width = t->shape[t->ndim - 1], row = i / width, at = i % width, rows = tensor_numel(t) / width;

	switch (rows == 1 ? 3 : row % 4) {
	case 0: return 1;
	case 1: return !nothing && at < (width + 1) / 2;
	case 2: return at == 0;
	default: return at == width - 1;
	}
}

/* The element of a changed mask. An integer mask may keep elements with another number than one:
 * every other kept element becomes one more, if the change allows that. */
static double mask_at(const struct tensor *t, const struct mask *m, enum trial_change what, double x, int64_t i)
{
	if (what == CHANGE_INTEGERS || what == CHANGE_GAPS)
		return is_gap(t, i) ? m->gap : x;
	if (!is_kept(t, i, what == CHANGE_EMPTY))
		return m->gap;
	/* A mask may keep with any number but zero. */
	return dtype_is_float(t->dt) || t->dt == DT_BOOL || what == CHANGE_ENDS_PLAIN ||
		what == CHANGE_EMPTY || i % 2 ? m->keep : m->keep + 1.0;
}

/* The integers of a tensor that is no mask. */
struct range {
	double least, most;
	int in_order;                 /* they never fall (offsets), or each of the range occurs once (a permutation) */
};

/* Finds their range and whether they are in order. */
static struct range find_range(const struct tensor *t)
{
	const char *p = tensor_data(t);
	size_t size = (size_t)dtype_size(t->dt);
	struct range r = { .least = dtype_load(t->dt, p), .most = dtype_load(t->dt, p), .in_order = 1 };
	double before = r.least;

	for (int64_t i = 1, n = tensor_numel(t); i < n; i++) {
		double x = dtype_load(t->dt, p + (size_t)i * size);

		r.in_order &= x >= before;
		r.least = fmin(r.least, x);
		r.most = fmax(r.most, x);
		before = x;
	}
	r.in_order |= r.most - r.least + 1.0 == (double)tensor_numel(t);
	return r;
}

/* Replaces some integers: by the index that losses ignore (-100), by zero, or by the least value,
 * one and the largest. Offsets and permutations are not changed, since other values would be out of
 * range. */
static double integer_at(const struct range *r, enum trial_change what, double x, int64_t i)
{
	if (what == CHANGE_INTEGERS)
		return i % 7 == 3 ? -100.0 : x;
	if (what == CHANGE_GAPS || r->in_order)
		return x;
	switch (i % 4) {
	case 1: return what == CHANGE_EMPTY ? 0.0 : r->least;
	case 2: return r->most;
	case 3: return what == CHANGE_ENDS_PLAIN ? x : 1.0;
	default: return x;
	}
}

/* Changes masks and integers. Of plain floats only CHANGE_ENDS lowers the values. */
static void change_choices(const struct tensor *t, enum trial_change what)
{
	int64_t n = tensor_numel(t);
	char *p = tensor_data(t);
	size_t size = (size_t)dtype_size(t->dt);
	struct mask m;
	int mask = find_mask(t, &m);
	struct range r = find_range(t);

	if (!mask && dtype_is_float(t->dt)) {
		if (what == CHANGE_ENDS)
			change_values(t, what);
		return;
	}
	for (int64_t i = 0; i < n; i++, p += size) {
		double x = dtype_load(t->dt, p);

		dtype_store(t->dt, p, mask ? mask_at(t, &m, what, x, i) : integer_at(&r, what, x, i));
	}
}

/* --- rare values -------------------------------------------------------------------------- */

/* The values that get_inputs draws at full size reach further than those of a small tensor; twice
 * the largest one belongs to the task's contract anyway. */
static int may_hold(const struct tensor *t, double rare)
{
	struct range r = find_range(t);

	return fabs(rare) <= 2.0 * fmax(fabs(r.least), fabs(r.most));
}

/* Puts the value and its two neighbours in fp32 at every fourth position. Zero has no neighbours:
 * they are too small to be drawn. A symmetric matrix stays as it is. */
static void put_rare(const struct tensor *t, double rare)
{
	float v = (float)rare;
	const double put[] = { v, v == 0.0f ? v : nextafterf(v, INFINITY), v == 0.0f ? v : nextafterf(v, -INFINITY) };
	int64_t n = may_hold(t, rare) && !is_symmetric(t) ? tensor_numel(t) : 0;
	size_t size = (size_t)dtype_size(t->dt);

	for (int64_t i = n > 1; i < n; i += 4)
		dtype_store(t->dt, (char *)tensor_data(t) + (size_t)i * size, put[i / 4 % 3]);
}

/* --- inputs ------------------------------------------------------------------------------- */

/* Does the change concern masks and integers? */
static int of_choices(enum trial_change what)
{
	return what >= CHANGE_INTEGERS && what <= CHANGE_EMPTY;
}

/* Changes one input. A relation over the batch does not change inputs with another first
 * dimension. */
static int change_input(void *ctx, struct str name, struct tensor_obj *obj)
{
	struct change *c = ctx;

	(void)name;
	if (obj->t.ndim == 0 || tensor_numel(&obj->t) == 0 || (c->seen++ && c->first))
		return 0;
	if (c->seen == 1)
		c->batch = obj->t.shape[0];
	if (c->what == CHANGE_REVERSE_BATCH || c->what == CHANGE_FIRST_ROW) {
		if (obj->t.shape[0] != c->batch)
			return 0;
		/* A copy of the first row, so that reading past the row is out of bounds. */
		return c->what == CHANGE_FIRST_ROW ? input_axes_cut(&obj->t, 0, 1, c->e) :
			reverse_batch(&obj->t, c->e);
	}
	if (c->what == CHANGE_RARE) {
		if (dtype_is_float(obj->t.dt) && !change_can_choose(&obj->t) && tensor_is_contiguous(&obj->t))
			put_rare(&obj->t, c->rare);
	} else if (of_choices(c->what)) {
		if (tensor_is_contiguous(&obj->t))
			change_choices(&obj->t, c->what);
	} else if (dtype_is_float(obj->t.dt) && tensor_is_contiguous(&obj->t)) {
		change_values(&obj->t, c->what);
		if (c->what == CHANGE_SIGNED)
			double_last(&obj->t);
	}
	return 0;
}

int change_inputs(struct host *h, const struct trial *tr, struct val inputs, struct err *e)
{
	struct change c = { .what = tr->change, .first = tr->first, .rare = tr->rare, .e = e };

	return c.what == CHANGE_NONE || c.what == CHANGE_ADD ? 0 : host_tensors(h, inputs, change_input, &c);
}
