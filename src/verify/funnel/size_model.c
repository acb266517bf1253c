/* Arithmetic on the sizes of a task: see size_model.h. */
#include "verify/funnel/size_model.h"

#include <math.h>

/* The least quotient that is kept between two sizes if one divides the other (keep_quotients). */
enum { QUOTIENT = 4 };

/* Work that grows with less than this power of a size does not depend on it. */
static const double workless = 0.1;

/* The result is below 2 * modulus, so sizes with the same modulus are at most that far apart. */
int64_t size_model_shrink(int64_t full, int64_t modulus)
{
	return full < 2 * modulus ? full : modulus + full % modulus;
}

/* The first size of the inputs is usually the batch. */
int64_t size_model_floor(const struct task *t, size_t i)
{
	return t->image.size[i].of_model ? MODULUS_MODEL : i ? MODULUS_INPUT : MODULUS_BATCH;
}

/* Example: a matrix product has degree 1 in M, N and K. Halving all three gives an eighth of the
 * work. */
double size_model_work(const struct task *t, const int64_t *size)
{
	const struct size_facts *k = &t->sized_tasks->k;
	double work = k->full_size_work;

	for (size_t i = 0; i < t->image.n_all; i++)
		work *= pow((double)size[i] / (double)t->image.size[i].full, k->degree[i]);
	return work;
}

int size_model_is_workless(const struct task *t, size_t i)
{
	return t->sized_tasks->k.degree[i] <= workless;
}

void size_model_full(const struct task *t, int64_t *size)
{
	for (size_t i = 0; i < t->image.n_all; i++)
		size[i] = t->image.size[i].full;
}

int size_model_is_full(const struct task *t, const int64_t *size)
{
	for (size_t i = 0; i < t->image.n_all; i++)
		if (size[i] != t->image.size[i].full)
			return 0;
	return 1;
}

/* --- equal and different sizes ------------------------------------------------------------ */

/* Are both sizes of the model, and equal at full size? */
static int are_equal_in_model(const struct task *t, size_t i, size_t k)
{
	const struct task_size *a = &t->image.size[i], *b = &t->image.size[k];

	return a->of_model && b->of_model && a->full == b->full;
}

unsigned size_model_equals(const struct task *t, const int64_t *size, size_t i)
{
	unsigned set = 1u << i;

	for (size_t k = 0; k < t->image.n_all; k++)
		if (are_equal_in_model(t, i, k) && size[k] == size[i])
			set |= 1u << k;
	return set;
}

void size_model_put(const struct task *t, unsigned set, int64_t value, int64_t *size)
{
	for (size_t k = 0; k < t->image.n_all; k++)
		size[k] = set >> k & 1 ? value : size[k];
}

/* Example: height 224 and width 256 both become 64. A kernel that mixes them up would pass. */
int size_model_has_twin(const struct task *t, const int64_t *size, size_t i)
{
	for (size_t k = 0; k < t->image.n_all; k++)
		if (size[k] == size[i] && t->image.size[k].full != t->image.size[i].full)
			return 1;
	return 0;
}

/* Raises the i-th size and its equals to the next value. With `alone` the next value is one that no
 * other size has. Returns 0 and does not change the sizes if the work would be more than `most`. */
static int raise_size(const struct task *t, size_t i, int alone, double most, int64_t *size)
{
	int64_t was = size[i], full = t->image.size[i].full;
	unsigned equals = size_model_equals(t, size, i);

	for (int64_t m = MODULUS_BATCH;
	     size[i] < full && (size[i] <= was || (alone && size_model_has_twin(t, size, i))); m *= 2)
		size_model_put(t, equals, MAX(was, size_model_shrink(full, m)), size);
	if (size_model_work(t, size) <= most)
		return 1;
	size_model_put(t, equals, was, size);
	return 0;
}

void size_model_raise_inputs(const struct task *t, int64_t *size)
{
	for (size_t i = 1; i < t->image.n_all; i++)
		if (!t->image.size[i].of_model)
			raise_size(t, i, 0, INFINITY, size);
}

/* The larger size of a pair is raised, if the work stays moderate. Raising it to a value of its own
 * is better than raising it past this pair only. */
void size_model_keep_apart(const struct task *t, double limit, int64_t *size)
{
	for (size_t i = 0; i < t->image.n_all; i++)
		for (size_t k = 0; k < t->image.n_all; k++) {
			double most = fmax(4.0 * limit, 2.0 * size_model_work(t, size));

			if (size[i] != size[k] || t->image.size[i].full <= t->image.size[k].full)
				continue;
			if (!raise_size(t, i, 1, most, size))
				raise_size(t, i, 0, most, size);
		}
}

/* Sizes of the model that are equal at full size become equal again, at the larger value, if the
 * work stays moderate. Example: if the numbers of input and output channels are equal, a candidate
 * may use either number for both. */
static void keep_equal(const struct task *t, double limit, int64_t *size)
{
	for (size_t i = 0; i < t->image.n_all; i++)
		for (size_t k = 0; k < t->image.n_all; k++) {
			int64_t was = size[k];

			if (!are_equal_in_model(t, i, k) || size[k] >= size[i])
				continue;
			size[k] = size[i];
			if (size_model_work(t, size) > 4.0 * limit)
				size[k] = was;
		}
}

/* A workless size that divides another one shrinks with it. Example: 512 channels in 64 groups
 * become 64 channels. They get 16 groups of 4, because a norm over groups of one channel would test
 * nothing. */
static void keep_quotients(const struct task *t, int64_t *size)
{
	for (size_t i = 0; i < t->image.n_all; i++)
		for (size_t k = 0; k < t->image.n_all; k++) {
			int64_t full = MAX(t->image.size[k].full, 1), quotient = t->image.size[i].full / full;

			if (!t->image.size[i].of_model || !t->image.size[k].of_model || !size_model_is_workless(t, k) ||
			    quotient < 2 || t->image.size[i].full % full)
				continue;
			for (int64_t m = size[k]; m >= size_model_floor(t, k) &&
			     size[i] < size[k] * MIN(quotient, QUOTIENT); m /= 2)
				size[k] = MIN(size[k], size_model_shrink(full, m));
		}
}

/* --- fitting ------------------------------------------------------------------------------ */

/* The size to lower next: the batch if it may come first, then the largest one; n_all if none can
 * be lowered. */
static size_t next_size(const struct task *t, const int64_t *size, int batch_first)
{
	size_t best = t->image.n_all;

	for (size_t i = 0; i < t->image.n_all; i++) {
		if (size_model_shrink(t->image.size[i].full, size_model_floor(t, i)) >= size[i])
			continue;
		if (batch_first && !i && !t->image.size[i].of_model)
			return 0;
		if (best == t->image.n_all || size[i] > size[best])
			best = i;
	}
	return best;
}

/* Lowers moduli until the work is within the limit or no size can be lowered. The first sizes have
 * a small batch. The larger sizes of a retry stay about equal: a kernel without masks needs a whole
 * block of each. */
static void fit_once(const struct task *t, int64_t modulus, double limit, int64_t *size)
{
	int64_t m[TASK_SIZES];
	size_t i;

	for (i = 0; i < t->image.n_all; i++) {
		m[i] = modulus;
		size[i] = size_model_shrink(t->image.size[i].full, modulus);
	}
	while (size_model_work(t, size) > limit) {
		int64_t was;

		i = next_size(t, size, modulus == MODULUS_FIRST);
		if (i == t->image.n_all)
			break;
		was = size[i];
		while (size[i] >= was && m[i] > size_model_floor(t, i)) {
			m[i] /= 2;
			size[i] = size_model_shrink(t->image.size[i].full, m[i]);
		}
	}
	keep_equal(t, limit, size);
	size_model_keep_apart(t, limit, size);
	keep_quotients(t, size);
}

/* Keeping sizes equal or apart may cost more than the limit. A second fit with a quarter of it then
 * has smaller sizes, and wins if it is less work. */
void size_model_fit(const struct task *t, int64_t modulus, double limit, int64_t *size)
{
	int64_t less[TASK_SIZES];

	fit_once(t, modulus, limit, size);
	if (size_model_work(t, size) <= limit)
		return;
	fit_once(t, modulus, limit / 4.0, less);
	if (size_model_work(t, less) < size_model_work(t, size))
		memcpy(size, less, sizeof less);
}
