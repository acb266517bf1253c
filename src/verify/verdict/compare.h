/* Results and their comparison.
 *
 * The reference's results are kept in fp64 (from the oracle run) with a relative tolerance
 * that comes from its own rounding (struct rounding). A candidate's results must agree
 * in number, shape, dtype and layout before a value is looked at; then every element must
 * satisfy  |got - expected| <= rel * (|expected| + rms) + abs  and the whole  rms(error) <= rel * rms + abs.
 * Where rel_close is larger than rel it is taken instead, but for no more than 1e-4 * (1 + |expected|).
 * Comparisons are written so that NaN fails. */
#ifndef VERIFY_VERDICT_COMPARE_H
#define VERIFY_VERDICT_COMPARE_H

#include "host/host.h"
#include "verify/candidate/result_form.h"
#include "verify/verdict/verdict.h"

/* The unit of an integer, which is right or wrong. */
#define RESULT_EXACT (-1.0)

struct result {
	char name[48];
	enum dtype dt;
	int ndim;
	int64_t shape[TENSOR_DIMS];
	int64_t n;
	double *v;                /* fp64 copies of the elements, dense; NULL: there was no room for them */
	unsigned char *over;      /* expected: elements that the dtype does not hold, so that the reference itself is
				   * infinite or NaN there; NULL: none. A candidate may be that, too */
	double rms;
	double rel;               /* tolerance */
	double rel_close;         /* what is tolerated as far as KernelBench's rule does; 0: nothing more than that */
	double abs;               /* the same for a result that is zero everywhere, where nothing is relative */
	/* of state that is expected: for each element what stands in the place of rms, that of
	 * its own buffer; RESULT_EXACT; INFINITY: anything. Else NULL */
	double *unit;
	/* of 64-bit integers the elements themselves, which a double may not hold; else NULL */
	int64_t *whole;
	int inexact;              /* integers that depend on rounding: the reference's own runs differ in them */
	int overlapping;          /* expanded view */
	int scattered;            /* its elements lie in another order than they are counted in */
	int aliases;              /* shares memory with an input */
	int undefined;            /* holds bytes that nobody wrote, where that is known */
	int state;                /* no result of the call, but what it left in buffers (weights_kept) */
};

struct results {
	struct result r[RESULTS_MOST];
	int n;
	int too_many;
	char form[RESULTS_FORM];  /* how they are put together: host_result */
};

/* Copies every tensor and number of a value that a call on `inputs` returned. */
int results_take(struct results *out, struct host *h, struct val v, struct val inputs, struct err *e);
void results_release(struct results *r);
/* One more: what the call left in buffers, and the unit of each element, in fp64. */
int results_add_state(struct results *out, const struct tensor *flat, const struct tensor *unit, struct err *e);
/* The values of one whose form is known, from dense memory of its dtype. */
int result_fill(struct result *r, const void *dense, struct err *e);

int result_is_finite(const struct result *r);
/* Notes which elements are not finite in a run of the reference, although they are. */
int results_note_overflow(struct results *expected, const struct results *run, struct err *e);
/* max over elements of |a - b| / (|b| + rms(b)), or b's unit for its rms; NaN counts as infinity,
 * but elements that b says overflow count for nothing. Same shapes. Of results, of state, or of
 * both. */
enum distance { DISTANCE_ALL, DISTANCE_RESULTS, DISTANCE_STATE };
double results_distance(const struct results *a, const struct results *b, enum distance of);
/* A result that is zero everywhere may be off by what the other run is, eight times over. */
void results_allow_zero(struct results *r, const struct results *other);
/* Integers are compared exactly, unless the other run has other ones. */
void results_note_inexact(struct results *r, const struct results *other);

/* What rounding does to a reference: such distances of its runs from fp64, and how long its sums are. */
struct rounding {
	enum dtype dt;
	double plain;             /* in its own dtype, as it is and with an ulp of noise: the larger */
	double products;          /* with the products that may be so in tf32; 0: there are none */
	/* with all products in tf32, which may be as long as KernelBench's rule passes; 0: no */
	double close;
	int64_t sum;              /* terms of the longest sum, which even half-precision programs form in fp32 */
};

/* The relative error that a candidate may have, whatever KernelBench's rule says. */
double rounding_tolerance(const struct rounding *r);
/* State has a rounding of its own: a mean near zero says nothing of how exact the result is. */
void results_set_tolerance(struct results *r, const struct rounding *by, const struct rounding *state);
/* KernelBench's rule: torch.allclose with 1e-4 (1e-2 for 16-bit results), every result. */
int results_allclose(const struct results *expected, const struct results *got);

struct comparison {
	enum reason reason;       /* REASON_ok: equal within tolerance */
	int result;               /* index of the first that differs */
	int64_t element;
	double expected, got;
	double max_error, allowed;    /* at the worst element */
	double rms_error;
	char text[400];
	struct verdict_element shown[VERDICT_ELEMENTS];
	int n_shown;
	char pattern[VERDICT_PATTERN];    /* where the wrong elements lie and what they have in common */
};

/* Is this element out of tolerance? Same shapes. */
int result_is_wrong(const struct result *expected, const struct result *got, int64_t k);
/* Is the worst error one that products in tf32 make, where they may not be so? */
int comparison_is_tf32(const struct results *expected, const struct comparison *c);
void results_compare(const struct results *expected, const struct results *got, struct comparison *c);
/* Would it find them equal? No more is found out than that. */
int results_match(const struct results *expected, const struct results *got);

#endif
