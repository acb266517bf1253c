/* Judging a failed candidate again at other sizes. */
#ifndef VERIFY_FUNNEL_RETRY_H
#define VERIFY_FUNNEL_RETRY_H

#include "verify/funnel/funnel.h"

/* Retries a candidate that failed at f->sizes. Passes if the candidate is correct at other sizes;
 * f->v is the verdict there. Fails otherwise; f->v says why. */
enum step funnel_retry(struct funnel *f);

#endif
