/* The torch bindings: what their files share. Each src/torch/torch_*.c has one table of rows
 * (see bind.h) over the numeric library in src/num. */
#ifndef TORCH_TORCH_H
#define TORCH_TORCH_H

#include "interp/bind.h"
#include "num/num.h"
#include "num/random.h"
#include "num/reduce.h"

/* A row that is another row under a second name. */
#define ALIAS(name, of) { name, "=" of, NULL, 0 }

/* The context of a call: threads, default dtype and memory limit of its host. */
struct num_ctx torch_ctx(struct bind *b);
/* The host's generator, seeded as a fresh PyTorch process's until a program seeds it. */
struct num_rng *torch_rng(struct host *h);
void torch_seed(struct host *h, uint64_t seed);          /* torch.manual_seed */

/* Slot i as an operand: a tensor or a number. */
int torch_arg(struct bind *b, size_t i, struct num_arg *a);
/* The slot's int, float, ... or `otherwise` if it was left out or None. */
int torch_int(struct bind *b, size_t i, int64_t otherwise, int64_t *v);
int torch_float(struct bind *b, size_t i, double otherwise, double *v);
/* dtype= as num_* take it: -1 left out; in oracle mode floats are f64. */
int torch_dtype(struct bind *b, size_t i, int *dt);
/* dim=: None is no dimension (n = 0, meaning all). */
int torch_dims(struct bind *b, size_t i, int ndim, struct num_dims *d);
/* One of a list of names, NULL-terminated: its place, or ValueError with `what`. */
int torch_choice(struct bind *b, size_t i, const char *const *names, const char *what, int *v);

/* The result, or with out= in slot `out` (given) copied there. */
int torch_result(struct bind *b, struct tensor *t, size_t out);
/* Elementwise operation over the first slots; rows with BIND_INPLACE write to slot 0. */
int torch_apply(struct bind *b, enum num_op op, const struct num_arg *args, const double *p);
/* The same for functions with an inplace= slot. */
int torch_apply_maybe(struct bind *b, enum num_op op, const struct num_arg *args, const double *p, size_t inplace);
/* Replaces what slot 0 holds by *t (released): for in-place forms of any function. */
int torch_write_back(struct bind *b, struct tensor *t);
/* Result or write-back, by the row's flags. */
int torch_give(struct bind *b, struct tensor *t);

/* A Python number or 0-d tensor as a value. */
int torch_item(struct bind *b, const struct tensor *t, struct val *out);
/* Slot i as a tensor with its own reference; a number becomes a 0-d one of t's dtype. */
int torch_value(struct bind *b, size_t i, const struct tensor *t, struct tensor *out);
/* One index tensor per dimension: torch.where(mask), nonzero(as_tuple=True). */
int torch_nonzero_tuple(struct bind *b, const struct tensor *t);
/* memory_format= of slot i for a tensor of that shape: 1 and the strides it has; 0: those it would
 * have anyway (`keep` says that this is meant if nothing is said, else it is the ordinary order);
 * -1. */
int torch_format(struct bind *b, size_t i, int keep, int ndim, const int64_t *shape, int64_t *stride);
/* Does it lie in the format of slot i? Of another rank it does not. 1, 0, -1. */
int torch_has_format(struct bind *b, size_t i, const struct tensor *t);
/* As x is, but in the format of slot i if that asks for one. */
int torch_new_like(struct bind *b, struct tensor *t, enum dtype dt, const struct tensor *x, size_t i);
/* Are these its strides, but for those of sizes of one? */
int torch_lies_so(const struct tensor *t, const int64_t *stride);
/* *y, a result of x (and weights w, or NULL), with its channels last if theirs are; released if it fails. */
int torch_follow_format(struct bind *b, struct tensor *y, const struct tensor *x, const struct tensor *w);
/* Passes the device= slot on to the tensor just made. */
int torch_on_device(struct bind *b, size_t device);

#endif
