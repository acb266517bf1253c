/* Paths as sets of marks: see path_marks.h. */
#include "verify/funnel/path_marks.h"

/* Paths are short (HOST_PATH marks), so a scan is fast enough. */
static int has_mark(const struct host_path *p, uint64_t mark)
{
	for (int i = 0; i < p->n; i++)
		if (p->mark[i] == mark)
			return 1;
	return 0;
}

/* Only the marks of full size count. The other path may have further marks. */
int path_lacking(const struct host_path *full, const struct host_path *other)
{
	int n = full->full || other->full;

	for (int i = 0; i < full->n; i++)
		n += !has_mark(other, full->mark[i]);
	return n;
}

/* The lowest byte of a mark is its kind, the next one the outcome of a comparison. */
static int is_comparison(uint64_t mark)
{
	return (mark & 0xff) == PATH_HOST_TEST || (mark & 0xff) == PATH_KERNEL_TEST;
}

/* The same comparison in the same line, whichever way it went. */
static uint64_t without_outcome(uint64_t mark)
{
	return mark & ~(uint64_t)0xff00;
}

int path_compares_integers(const struct host_path *p)
{
	for (int i = 0; i < MIN(p->n, HOST_PATH); i++)
		if (is_comparison(p->mark[i]))
			return 1;
	return 0;
}

/* Does the path hold this outcome? *here: does it hold the comparison, with any outcome? */
static int knows(const struct host_path *p, uint64_t mark, int *here)
{
	int same = 0;

	*here = 0;
	for (int i = 0; i < MIN(p->n, HOST_PATH); i++) {
		*here |= without_outcome(p->mark[i]) == without_outcome(mark);
		same |= p->mark[i] == mark;
	}
	return same;
}

/* A comparison that no earlier run made is no branch: it is new code, which an outcome elsewhere
 * led to. */
int path_learn_outcomes(struct host_path *known, const struct host_path *p)
{
	int n = 0;

	for (int i = 0; i < MIN(p->n, HOST_PATH); i++) {
		int here, same = knows(known, p->mark[i], &here);

		if (!is_comparison(p->mark[i]) || same || !here)
			continue;
		host_path_mark(known, p->mark[i]);
		n++;
	}
	return n;
}
