/* Results of a call, and their comparison with the expected ones.
 *
 * The expected results are those of the reference in fp64. Their tolerance comes from the rounding
 * of the reference itself (struct rounding). A candidate's results must first agree in number,
 * shape, dtype and layout. Then every element must satisfy
 *     |got - expected| <= rel * (|expected| + rms) + abs
 * and the result as a whole
 *     rms(got - expected) <= rel * rms + abs.
 * If rel_close is larger than rel, it replaces rel for errors up to 1e-4 * (1 + |expected|).
 *
 * Invariant: comparisons are written so that NaN fails. */
#ifndef VERIFY_VERDICT_COMPARE_H
#define VERIFY_VERDICT_COMPARE_H

#include "host/host.h"
#include "verify/candidate/result_form.h"
#include "verify/verdict/verdict.h"

/* The unit (struct result) of an integer: it must be equal. */
#define RESULT_EXACT (-1.0)

/* One tensor or number of a call's result. The arrays are owned: results_release. */
struct result {
	char name[48];            /* path in the returned value: "0", "1.x"; "" if the value is the tensor itself */
	enum dtype dt;
	int ndim;
	int64_t shape[TENSOR_DIMS];
	int64_t n;
	double *v;                /* the n elements in fp64, dense; NULL: there was no room for them */
	/* expected results: 1 for an element that overflows in the dtype, so that the reference
	 * itself is infinite or NaN there and a candidate may be so too; NULL: no element does */
	unsigned char *over;
	double rms;               /* root mean square of the finite elements */
	double rel;               /* relative tolerance */
	double rel_close;         /* relative tolerance as far as KernelBench's rule passes; 0: none */
	double abs;               /* absolute tolerance, for a result that is zero everywhere; else 0 */
	/* expected state: for each element the value in place of rms, which is the rms of its own
	 * buffer; RESULT_EXACT: must be equal; INFINITY: any value. NULL for other results */
	double *unit;
	int64_t *whole;           /* the elements of a 64-bit integer result, which a double may not hold; else NULL */
	int inexact;              /* integers that depend on rounding: runs of the reference differ in them */
	int overlapping;          /* an expanded view: elements share memory */
	int scattered;            /* not contiguous */
	int aliases;              /* shares memory with an input */
	int undefined;            /* holds bytes that were never written, if that is known */
	int state;                /* not returned by the call, but left in buffers by it (weights_kept) */
};

struct results {
	struct result r[RESULTS_MOST];
	int n;
	int too_many;             /* the call returned more than RESULTS_MOST */
	char form[RESULTS_FORM];  /* the structure of the returned value as text (host_result) */
};

/* Copies every tensor and number of the value that a call on `inputs` returned. Returns 0 on
 * success, -1 on failure (*e). */
int results_take(struct results *out, struct host *h, struct val v, struct val inputs, struct err *e);
void results_release(struct results *r);
/* Makes results of the same form, with room for values. Returns 0 on success, -1 on failure (*e). */
int results_alike(struct results *out, const struct results *like, struct err *e);
/* Adds a result for the state that a call left in buffers: its elements and their units, both in
 * fp64. Returns 0 on success, -1 on failure (*e). */
int results_add_state(struct results *out, const struct tensor *state, const struct tensor *unit, struct err *e);
/* Fills in the values of a result whose dtype and n are set, from dense memory of that dtype.
 * Returns 0 on success, -1 on failure (*e). */
int result_fill(struct result *r, const void *dense, struct err *e);

int result_is_finite(const struct result *r);
/* Marks elements that are finite in fp64 but not in another run of the reference (result.over).
 * Returns 0 on success, -1 on failure (*e). */
int results_note_overflow(struct results *expected, const struct results *run, struct err *e);
/* The largest |a - b| / (|b| + rms(b)) over all elements, with b's unit instead of rms if it has
 * one. A NaN counts as infinity; elements that overflow in b do not count. `of` selects results,
 * state, or both. The shapes must be equal, else the distance is infinite. */
enum distance { DISTANCE_ALL, DISTANCE_RESULTS, DISTANCE_STATE };
double results_distance(const struct results *a, const struct results *b, enum distance of);
/* Sets the absolute tolerance of results that are zero everywhere: eight times the largest value of
 * the other run. */
void results_allow_zero(struct results *r, const struct results *other);
/* Marks integers that differ in another run of the reference (result.inexact): they are not
 * compared exactly. */
void results_note_inexact(struct results *r, const struct results *other);

/* How much rounding moves the reference: distances of its runs from the fp64 run
 * (results_distance). */
struct rounding {
	enum dtype dt;
	double plain;             /* in its own dtype, as it is or with an ulp of noise, whichever is larger */
	double products;          /* with those products in tf32 that may be; 0: no product may */
	double close;             /* with all products in tf32, for rel_close; 0: not allowed */
	int64_t sum;              /* terms of the longest sum; half-precision programs also sum in fp32 */
};

/* The relative error that a candidate may have. Example: a sum of 4096 terms in fp32 gets at least
 * 3.4e-5. */
double rounding_tolerance(const struct rounding *r);
/* Sets the tolerances of results and of state. State has its own rounding: a running mean near zero
 * says nothing about the precision of the result. */
void results_set_tolerance(struct results *r, const struct rounding *by, const struct rounding *state);
/* KernelBench's rule: torch.allclose with a tolerance of 1e-4 (1e-2 for 16-bit results) on every
 * result. */
int results_allclose(const struct results *expected, const struct results *got);

struct comparison {
	enum reason reason;       /* REASON_ok: equal within tolerance */
	int result;               /* index of the first result that differs */
	int64_t element;          /* its worst element, by error over allowed error */
	double expected, got;     /* values there */
	double max_error, allowed;    /* |got - expected| and the allowed error there */
	double rms_error;         /* of the whole result */
	char text[400];           /* the message */
	struct verdict_element shown[VERDICT_ELEMENTS];
	int n_shown;
	char pattern[VERDICT_PATTERN];    /* common property of the wrong elements (pattern.h) */
};

/* Is the k-th element out of tolerance? The shapes must be equal. */
int result_is_wrong(const struct result *expected, const struct result *got, int64_t k);
/* Is the difference as small as products in tf32 make it, although tf32 is not allowed? */
int comparison_is_tf32(const struct results *expected, const struct comparison *c);
/* Compares all results; *c describes the first difference. */
void results_compare(const struct results *expected, const struct results *got, struct comparison *c);
/* Would results_compare find them equal? It is faster, because it stops at the first difference. */
int results_match(const struct results *expected, const struct results *got);

#endif
