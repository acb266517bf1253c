/* Judges a small task of our own once, so that what is made at first use (parsed library code,
 * signatures, compiled tables) is there before runners are forked, and is not made by each of them. */
#ifndef VERIFY_POOL_WARM_H
#define VERIFY_POOL_WARM_H

#include "verify/candidate/judge.h"
#include "verify/verdict/verdict.h"

/* 0 and the verdict, or -1. */
int judge_warm_up(struct judge *j, struct verdict *v, struct err *e);

#endif
