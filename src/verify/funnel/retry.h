/* Judging a failed candidate again at other sizes. */
#ifndef VERIFY_FUNNEL_RETRY_H
#define VERIFY_FUNNEL_RETRY_H

#include "verify/funnel/funnel.h"

/* For a candidate that failed at f->sizes. Passed: it is right at other sizes, and f->v is the
 * verdict there. Failed: f->v says why it still fails. */
enum step funnel_retry(struct funnel *f);

#endif
