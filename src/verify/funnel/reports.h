/* Orders to a runner and reports from it, as the deciding process sees them.
 *
 * The runner interprets hostile code, so its side of the shared memory is hostile: shmem_report
 * copies a report before it looks at it, checks every number, and believes none about memory. A
 * report's claim about cost is only a claim. Correctness is decided here, by comparing the bytes of
 * results with expected results, which only this process holds. */
#ifndef VERIFY_FUNNEL_REPORTS_H
#define VERIFY_FUNNEL_REPORTS_H

#include "verify/candidate/shmem.h"
#include "verify/task/task.h"

/* The orders as the deciding process knows them: a runner can change the copy in shared memory. */
struct orders {
	struct run_order v[SHMEM_ORDERS];
	int n;
	const struct task *t;         /* the task of these orders: set by shmem_set_orders */
};

/* Is there room for the results of one more run, of this trial? */
int shmem_has_room(const struct orders *o, const struct task *t, int trial);
/* Is there room for the results of the most runs of its first trial that are asked for together? */
int shmem_holds(const struct task *t);
/* Writes the orders, each with room for the results that its trial is expected to give. The memory
 * that is left holds steps of the reference (struct run_step). Returns 0 on success, -1 on failure
 * (*e). */
int shmem_set_orders(struct shmem *a, struct orders *o, const struct task *t, struct err *e);
/* Copies the report of the stage before any run. Returns 1 if it is malformed. */
int shmem_start(const struct shmem *a, struct start_report *out);
/* Copies the i-th report and its results, if the run gave any. Finds which launches hold reference
 * intermediates (out->matches). Returns 0 on success, 1 if the report is malformed, -1 on our own
 * failure (*e). */
int shmem_report(const struct shmem *a, const struct orders *o, int i, struct run_report *out,
		 struct results *got, struct err *e);
/* The k-th part of a report. Returns 0 and borrowed positions and values, or 1 if it is
 * malformed. */
int shmem_part(const struct shmem *a, const struct run_order *o, const struct run_report *r, int k,
	       const int64_t **index, const void **value);

#endif
