/* Failing: exceptions, fatal ends, limits; and what may not be changed. */
#ifndef INTERP_FAIL_H
#define INTERP_FAIL_H

#include "interp/frame.h"
#include "interp/state.h"

int host_fatal(struct host *h, enum reason r, const char *fmt, ...) PRINTF_LIKE(3, 4);
int host_vraise(struct host *h, enum host_exc x, enum reason r, const char *fmt, va_list ap);
int host_raise_val(struct host *h, struct val exc);
int host_raise_err(struct host *h, const struct err *e);
int host_catch(struct host *h, struct host_caught *c);                 /* 0: took the pending exception */
void host_rethrow(struct host *h, const struct host_caught *c);
/* for what is nowhere */
int host_raise_sure(struct host *h, enum host_exc x, const char *fmt, ...) PRINTF_LIKE(3, 4);
int host_exc_is(struct host *h, enum host_exc x);                      /* is the pending one of that class? */
void host_exc_clear(struct host *h);
void host_position(struct host *h, int *line, int *col);
int host_report(struct host *h);                         /* pending exception to h->fail.diag */
int host_deep(struct host *h);                           /* the stack alone: -1 too deep */
int host_enter(struct host *h);                          /* stack and recursion: -1 too deep */
static inline void host_leave(struct host *h) { h->lim.depth--; }
int host_out_of_fuel(struct host *h);
static inline int host_step(struct host *h) { return --h->lim.fuel < 0 ? host_out_of_fuel(h) : 0; }
/* Steps that an entry of a set or dictionary made by one call takes: about what its hashing and room cost. */
enum { HOST_STEPS_ENTRY = 16 };
int host_burn(struct host *h, int64_t steps);

/* Does code of a program ask, which may not see where it runs, not our own library? */
static inline int host_serves_program(const struct host *h) { return h->frame && !h->frame->mod->trusted &&
							      !h->o.may_vary; }
/* Programs may not ask for what differs from one run of CPython to the next, or with who runs it: the order of a set,
 * addresses, identities of equal values. 0 where our own library asks, or the answer is only printed; else -1. */
int host_varies(struct host *h, const char *what);

/* Before program code changes an object: 0, or -1 where it is sealed. */
int host_may_change(struct host *h, struct val v);
int host_may_set(struct host *h, struct val v);          /* the same for its attributes */

#endif
