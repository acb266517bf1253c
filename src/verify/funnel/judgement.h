/* Judging a candidate: task and candidate in, verdict out. In one process, on one thread, without a
 * sandbox: pool/pool.h adds processes and the sandbox. */
#ifndef VERIFY_FUNNEL_JUDGEMENT_H
#define VERIFY_FUNNEL_JUDGEMENT_H

#include "verify/candidate/judge.h"
#include "verify/task/task.h"
#include "verify/verdict/verdict.h"

/* Returns 0 when the candidate was judged (*v), -1 when it could not be judged (*e). */
int judge_candidate(struct judge *j, const struct task *t, struct str source, struct verdict *v, struct err *e);

#endif
