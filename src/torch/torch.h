/* The torch bindings: helpers that their files share. Each src/torch/torch_*.c has one table
 * of rows (see bind.h) over the numeric library in src/num. Functions return 0, or -1 with
 * the error set in the host, unless they say otherwise. A slot is an index into the arguments
 * of the call, in the order of the row's signature. */
#ifndef TORCH_TORCH_H
#define TORCH_TORCH_H

#include "interp/bind.h"
#include "num/num.h"
#include "num/random.h"
#include "num/reduce.h"

/* A row that is another row under a second name. */
#define ALIAS(name, of) { name, "=" of, NULL, 0 }

/* The context of a call for src/num: threads, default dtype and limits of the host. */
struct num_ctx torch_ctx(struct bind *b);
/* The host's generator, seeded like a fresh PyTorch process until the program seeds it. NULL
 * without memory. */
struct num_rng *torch_rng(struct host *h);
void torch_seed(struct host *h, uint64_t seed);          /* torch.manual_seed */

/* Slot i as an operand: a tensor or a number. */
int torch_arg(struct bind *b, size_t i, struct num_arg *a);
/* The number in a slot, or `otherwise` if it was left out or None. */
int torch_int(struct bind *b, size_t i, int64_t otherwise, int64_t *v);
int torch_float(struct bind *b, size_t i, double otherwise, double *v);
/* dtype= as src/num takes it: -1 if left out; in the oracle every float is F64. */
int torch_dtype(struct bind *b, size_t i, int *dt);
/* dim= as a list. None gives n = 0, which means all dimensions. */
int torch_dims(struct bind *b, size_t i, int ndim, struct num_dims *d);
/* The index of the slot's text in a NULL-terminated list, or ValueError that names `what`. */
int torch_choice(struct bind *b, size_t i, const char *const *names, const char *what, int *v);

/* Returns *t, or copies it to the tensor in slot `out` (out=) if that is given. *t is
 * consumed. */
int torch_result(struct bind *b, struct tensor *t, size_t out);
/* An elementwise operation; rows with BIND_INPLACE write to slot 0. */
int torch_apply(struct bind *b, enum num_op op, const struct num_arg *args, const double *p);
/* The same for functions with an inplace= slot. */
int torch_apply_maybe(struct bind *b, enum num_op op, const struct num_arg *args, const double *p,
		      size_t inplace);
/* Copies *t, which is consumed, to slot 0: the in-place form of any function. */
int torch_write_back(struct bind *b, struct tensor *t);
/* torch_write_back for rows with BIND_INPLACE, else the result. */
int torch_give(struct bind *b, struct tensor *t);

/* The only element of a tensor as a Python number. The host may refuse the read. */
int torch_item(struct bind *b, const struct tensor *t, struct val *out);
/* Slot i as a tensor with a reference of its own; a number becomes a 0-d tensor of t's dtype. */
int torch_value(struct bind *b, size_t i, const struct tensor *t, struct tensor *out);
/* Returns a tuple of one index tensor per dimension: torch.where(mask),
 * nonzero(as_tuple=True). */
int torch_nonzero_tuple(struct bind *b, const struct tensor *t);
/* memory_format= in slot i for a tensor of that shape. Returns 1 with its strides, 0 for
 * "preserve" (the caller keeps the strides of its input), or -1 on failure. If the slot is
 * left out, `keep` selects "preserve", else contiguous strides are meant. */
int torch_format(struct bind *b, size_t i, int keep, int ndim, const int64_t *shape,
		 int64_t *stride);
/* Does t have the format of slot i? Returns 1, 0 (also for a wrong rank), or -1 on failure. */
int torch_has_format(struct bind *b, size_t i, const struct tensor *t);
/* A new tensor with the shape of x, in the format of slot i if that asks for one, else with
 * the strides of x. */
int torch_new_like(struct bind *b, struct tensor *t, enum dtype dt, const struct tensor *x,
		   size_t i);
/* Does t have these strides? Dimensions of size 1 do not count. */
int torch_lies_so(const struct tensor *t, const int64_t *stride);
/* Repacks *y as channels last if x, or w unless it is NULL, is channels last. Releases *y on
 * failure. */
int torch_follow_format(struct bind *b, struct tensor *y, const struct tensor *x,
			const struct tensor *w);
/* Sets the device of the tensor just returned to that of slot `device`. */
int torch_on_device(struct bind *b, size_t device);

#endif
