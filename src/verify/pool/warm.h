/* Judges a small task of our own once, before runners are forked. Structures that are made at first
 * use (parsed library code, signatures, compiled tables) then exist in the zygote, and no runner
 * has to make them again. */
#ifndef VERIFY_POOL_WARM_H
#define VERIFY_POOL_WARM_H

#include "verify/candidate/judge.h"
#include "verify/verdict/verdict.h"

/* Returns 0 and the verdict, or -1 on our own failure (*e). */
int judge_warm_up(struct judge *j, struct verdict *v, struct err *e);

#endif
