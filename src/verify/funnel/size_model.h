/* How sizes of a task shrink, and how much work the reference has at given sizes.
 *
 * Pure arithmetic on the facts about a task (size_facts.h): nothing is run here. Arrays of sizes
 * have one value for each of the task's t->image.n_all sizes.
 *
 * Invariant: a size shrinks to a value with the same remainder by a power of two, the modulus. So
 * masks and block boundaries behave as at full size: with modulus 256, 4096 becomes 256 and 4100
 * becomes 260. */
#ifndef VERIFY_FUNNEL_SIZE_MODEL_H
#define VERIFY_FUNNEL_SIZE_MODEL_H

#include "verify/task/sized_tasks.h"

/* Work of the reference, in about nanoseconds of a core (dry_run_cost). */
enum {
	SIZE_WORK_FIRST = 1 << 21,         /* the aim for the first sizes */
	SIZE_WORK_MOST = 1 << 27           /* the limit for any sizes */
};

enum {
	MODULUS_FIRST = 256,          /* the start of the search for the first sizes */
	MODULUS_LARGER = 1024,        /* the start of the search for larger sizes (a retry) */
	MODULUS_BATCH = 2,            /* the least modulus of the batch, */
	MODULUS_INPUT = 8,            /* of another size of the inputs, */
	MODULUS_MODEL = 16            /* and of a size of the model */
};

/* The smaller value of a size with the same remainder by the modulus; the full size if that is
 * below 2 * modulus. */
int64_t size_model_shrink(int64_t full, int64_t modulus);
/* The least modulus of the i-th size. */
int64_t size_model_floor(const struct task *t, size_t i);
/* The work of the reference at these sizes, from the degrees of size_facts. */
double size_model_work(const struct task *t, const int64_t *size);
/* Does no work depend on the i-th size? */
int size_model_is_workless(const struct task *t, size_t i);
/* The sizes of the task itself. */
void size_model_full(const struct task *t, int64_t *size);
int size_model_is_full(const struct task *t, const int64_t *size);
/* A bit for the i-th size and for each size of the model that is equal to it both here and at full
 * size. */
unsigned size_model_equals(const struct task *t, const int64_t *size, size_t i);
/* Sets every size whose bit is in `set`. */
void size_model_put(const struct task *t, unsigned set, int64_t value, int64_t *size);
/* Is another size equal to the i-th here that differs from it at full size? */
int size_model_has_twin(const struct task *t, const int64_t *size, size_t i);
/* Raises each size of the inputs but the first, which is usually the batch, to its next value. */
void size_model_raise_inputs(const struct task *t, int64_t *size);
/* Raises sizes that are equal here but differ at full size, so that a candidate that takes a height
 * for a width fails. `limit` bounds the work. */
void size_model_keep_apart(const struct task *t, double limit, int64_t *size);
/* The sizes for an amount of work: lowers moduli from `modulus` on until the work is within the
 * limit. */
void size_model_fit(const struct task *t, int64_t modulus, double limit, int64_t *size);

#endif
