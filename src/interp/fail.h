/* Failures: exceptions, fatal ends, limits; and the guard on objects that outlive a call
 * (fail.c). */
#ifndef INTERP_FAIL_H
#define INTERP_FAIL_H

#include "interp/frame.h"
#include "interp/state.h"

/* Ends the program; returns -1. */
int host_fatal(struct host *h, enum reason r, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Raises an exception with reason code r, or that of its class for REASON_ok; returns -1. */
int host_vraise(struct host *h, enum host_exc x, enum reason r, const char *fmt, va_list ap);
int host_raise_val(struct host *h, struct val exc);      /* makes exc pending; returns -1 */
int host_raise_err(struct host *h, const struct err *e); /* from an error of src/num or src/tensor */
int host_catch(struct host *h, struct host_caught *c);                 /* 0: took the pending exception */
void host_rethrow(struct host *h, const struct host_caught *c);
/* raises what every Python would raise here (exc_sure) */
int host_raise_sure(struct host *h, enum host_exc x, const char *fmt, ...) PRINTF_LIKE(3, 4);
int host_exc_is(struct host *h, enum host_exc x);                      /* is the pending one of this class? */
void host_exc_clear(struct host *h);
void host_position(struct host *h, int *line, int *col); /* in the program's own source, from 1 */
int host_report(struct host *h);                         /* pending exception to h->fail.diag */
int host_deep(struct host *h);                           /* C stack only; -1: too deep */
int host_enter(struct host *h);                          /* a call: stack and depth; -1: too deep */
static inline void host_leave(struct host *h) { h->lim.depth--; }
int host_out_of_fuel(struct host *h);
static inline int host_step(struct host *h) { return --h->lim.fuel < 0 ? host_out_of_fuel(h) : 0; }
/* Fuel for each entry of a set or dictionary built by one call: about its hashing and memory. */
enum { HOST_STEPS_ENTRY = 16 };
int host_burn(struct host *h, int64_t steps); /* pays for `steps` at once; -1: out of fuel */

/* Does program code ask, rather than our own library? It may not see which engine runs it. */
static inline int host_serves_program(const struct host *h)
{
	return h->frame && !h->frame->mod->trusted && !h->o.may_vary;
}
/* Refuses what differs from one CPython process to the next or between installations: the order
 * of a set, addresses, the identity of equal values. Returns 0 if our library asks or the text
 * is only printed, else -1. `what` completes "... varies between Python runs and may not be used". */
int host_varies(struct host *h, const char *what);

/* Asked before program code changes an object. Returns 0, or -1 if the object is sealed. */
int host_may_change(struct host *h, struct val v);
int host_may_set(struct host *h, struct val v);          /* the same for setting attributes */

#endif
