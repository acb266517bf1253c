/* Strided host tensors: dtypes, storage, views.
 *
 * A `struct tensor` is a value: copying it copies the view, not the data. Its storage is
 * reference counted (tensor_retain, tensor_release). Views share storage exactly as PyTorch's do:
 * offset and strides are in elements, strides may be 0 (expand) and need not be dense. This
 * folder knows numbers and layout; torch's operators are in src/num. */
#ifndef TENSOR_TENSOR_H
#define TENSOR_TENSOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "tensor/dtype.h"

enum dtype_class { DTC_BOOL, DTC_SINT, DTC_UINT, DTC_FLOAT };

/* One row of dtype.def: the names that the three formats use, and the size. */
struct dtype_info {
	const char *torch, *triton, *safetensors;
	int bytes;
	enum dtype_class class;
};

extern const struct dtype_info dtype_table[DTYPES];
static inline const struct dtype_info *dtype_info(enum dtype dt) { return &dtype_table[dt]; }
static inline int dtype_size(enum dtype dt) { return dtype_info(dt)->bytes; }
static inline int dtype_is_float(enum dtype dt) { return dtype_info(dt)->class == DTC_FLOAT; }
int dtype_by_torch(struct str name);     /* enum dtype or -1 */
int dtype_by_triton(struct str name);
int dtype_by_safetensors(struct str name);

/* Exact scalar conversions, round to nearest even, as PyTorch does them. */
uint16_t f32_to_f16(float x);
float f16_to_f32(uint16_t h);
uint16_t f32_to_bf16(float x);
float bf16_to_f32(uint16_t h);
uint8_t f32_to_f8e4m3(float x);
float f8e4m3_to_f32(uint8_t h);
uint8_t f32_to_f8e5m2(float x);
float f8e5m2_to_f32(uint8_t h);
float f32_to_tf32(float x);              /* 10 mantissa bits, ties away as cvt.rna.tf32 */
/* One element of any dtype through double (exact for all but i64/u64 beyond 2^53). */
double dtype_load(enum dtype dt, const void *p);
void dtype_store(enum dtype dt, void *p, double v);
int64_t dtype_load_int(enum dtype dt, const void *p);
void dtype_store_int(enum dtype dt, void *p, int64_t v);
/* The type that holds any value of `dt` exactly and in which it is computed: i64, f32 or f64. */
enum dtype dtype_carrier(enum dtype dt);
/* Converts n dense elements. Float to integer truncates; a value out of range gives what x86
 * conversions give in PyTorch. Conversion to bool is != 0. */
void dtype_convert(enum dtype to, void *dst, enum dtype from, const void *src, size_t n);

enum { TENSOR_DIMS = 12 };

/* The memory that one owner (a run of the host engine) may hold. A storage made under a budget
 * counts in `live` until it is freed, so the budget must outlive it. */
struct tensor_budget {
	size_t limit;             /* bytes; 0: no limit */
	size_t live, peak;        /* bytes held now, and most bytes held so far */
};

struct sparse;

/* The memory behind tensors; reference counted. */
struct storage {
	void *data;
	size_t bytes;
	int refs;
	struct tensor_budget *budget;   /* or NULL */
	uint64_t id;              /* unique in the process; names the allocation in reports */
	int hollow;               /* has no contents to read or write; those of up to 64 KiB are zero */
	struct sparse *sparse;    /* of a hollow storage: contents where it is touched (sparse.h), or NULL */
	int numbers;              /* made only of numbers, without data (interp/solid.h) */
	unsigned char *undef;     /* one mark per byte, nonzero: never written; NULL: all written */
	void (*release)(struct storage *s);   /* frees `data`; NULL: the data is not ours */
};

/* A view of a storage. It holds a reference; see tensor_retain. */
struct tensor {
	struct storage *st;
	enum dtype dt;
	int ndim;
	int64_t offset;           /* elements from st->data */
	int64_t shape[TENSOR_DIMS];
	int64_t stride[TENSOR_DIMS];
};

/* Errors of this folder and of src/num carry the Python exception in their code:
 * ERR_RANGE IndexError, ERR_FORMAT ValueError, ERR_USAGE TypeError, ERR_UNSUPPORTED
 * NotImplementedError, ERR_NOMEM a memory limit, ERR_STATE RuntimeError. The text is
 * PyTorch's own for the common mistakes. */

/* New dense tensor, uninitialised or zeroed. Sizes are checked; more than the budget allows
 * is ERR_NOMEM. */
int tensor_new_in(struct tensor_budget *b, struct tensor *t, enum dtype dt, int ndim, const int64_t *shape,
		  struct err *e);
int tensor_new_strided_in(struct tensor_budget *b, struct tensor *t, enum dtype dt, int ndim,
			  const int64_t *shape, const int64_t *stride, struct err *e);
int tensor_new(struct tensor *t, enum dtype dt, int ndim, const int64_t *shape, struct err *e);
int tensor_new_zero(struct tensor *t, enum dtype dt, int ndim, const int64_t *shape, struct err *e);
/* A dense tensor over memory that is not ours and outlives it; the size is checked. */
int tensor_borrow(struct tensor *t, enum dtype dt, int ndim, const int64_t *shape, void *data, size_t bytes,
		  struct err *e);
/* Makes a tensor of any size without contents: a range of addresses without memory. */
int tensor_new_hollow(struct tensor *t, enum dtype dt, int ndim, const int64_t *shape, const int64_t *stride,
		      struct err *e);
/* sets every byte; hollow storages stay unchanged */
void storage_fill(struct storage *s, int byte);
uint64_t storage_newest(void);                               /* id of the storage that was made last */
int storage_track_undef(struct storage *s, struct err *e);   /* marks all bytes as never written */
/* whether the view holds a byte that was never written */
int tensor_any_undef(const struct tensor *t);
void tensor_mark_defined(const struct tensor *t);
void tensor_mark_undef(const struct tensor *t);              /* of a storage that has marks */
/* Gives the storage marks if it has none; all bytes then count as written. */
int tensor_want_marks(const struct tensor *t, struct err *e);
/* The marks as a tensor of the same shape and dtype: an operation that moves elements of t can
 * move their marks the same way. *as is its storage; both are valid as long as t. */
struct tensor tensor_marks(const struct tensor *t, struct storage *as);
/* Marks the result of an elementwise operation over n tensors that broadcast to it: an element made
 * from one that was never written counts as never written. With `picks` the first tensor selects
 * one of the other two (where). Returns 1 if the result has never-written elements, and marks its
 * others as written. Otherwise returns 0 and marks nothing. */
int tensor_carry_undef(const struct tensor *out, const struct tensor *in, int n, int picks, struct err *e);
void tensor_retain(const struct tensor *t);
void tensor_release(struct tensor *t);

/* Checks that strides can be added up and multiplied by a few bytes without overflow. */
int tensor_check_strides(int ndim, const int64_t *stride, struct err *e);
/* Checks that the product of the sizes, zeros left out, fits 64 bits. Every tensor passes this check,
 * so products of its sizes need no check of their own. */
int tensor_check_sizes(int ndim, const int64_t *shape, struct err *e);
int64_t tensor_numel(const struct tensor *t);
int tensor_is_contiguous(const struct tensor *t);
static inline void *tensor_data(const struct tensor *t) { return (char *)t->st->data + t->offset * dtype_size(t->dt); }
void tensor_dense_strides(int ndim, const int64_t *shape, int64_t *stride);
/* Bytes [lo, hi) of the storage that any element of the view can touch. */
void tensor_span(const struct tensor *t, int64_t *lo, int64_t *hi);
int tensor_same_shape(const struct tensor *a, const struct tensor *b);
/* Dense in some order of its dimensions (a permuted contiguous tensor). */
int tensor_is_dense(const struct tensor *t);
/* Whether the view covers all of its storage, each byte once, in some order of the dimensions. */
int tensor_is_whole(const struct tensor *t);
/* "[2, 3]", as PyTorch prints sizes. */
const char *tensor_shape_text(char *out, size_t cap, int ndim, const int64_t *shape);
#define SHAPE_TEXT(ndim, shape) tensor_shape_text((char[200]){ 0 }, 200, ndim, shape)
/* Turns a dimension argument in [-ndim, ndim) into a non-negative one. A 0-d tensor counts as one
 * dimension. */
int tensor_wrap_dim(int *dim, int64_t arg, int ndim, struct err *e);
/* Fills in at most one -1 of a requested shape and checks the number of elements. */
int tensor_infer_shape(int64_t *out, int ndim, const int64_t *shape, int64_t numel, struct err *e);

/* Views: none of them copies. Each returns -1 with PyTorch's message on a bad argument. The
 * result holds its own reference. */
int tensor_view(struct tensor *out, const struct tensor *t, int ndim, const int64_t *shape, struct err *e);
int tensor_expand(struct tensor *out, const struct tensor *t, int ndim, const int64_t *shape, struct err *e);
int tensor_permute(struct tensor *out, const struct tensor *t, const int *dims, struct err *e);
int tensor_slice(struct tensor *out, const struct tensor *t, int dim, int64_t start, int64_t stop,
		 int64_t step, struct err *e);
int tensor_select(struct tensor *out, const struct tensor *t, int dim, int64_t index, struct err *e);
int tensor_unsqueeze(struct tensor *out, const struct tensor *t, int dim, struct err *e);
int tensor_squeeze(struct tensor *out, const struct tensor *t, int dim, struct err *e);
int tensor_as_strided(struct tensor *out, const struct tensor *t, int ndim, const int64_t *shape,
		      const int64_t *stride, int64_t offset, struct err *e);

int tensor_transpose(struct tensor *out, const struct tensor *t, int64_t dim0, int64_t dim1, struct err *e);
int tensor_unfold(struct tensor *out, const struct tensor *t, int64_t dim, int64_t size, int64_t step, struct err *e);

/* Copies `src` to `dst` element by element, with conversion and broadcasting. */
int tensor_copy(const struct tensor *dst, const struct tensor *src, struct err *e);
/* A dense copy in dtype dt. */
int tensor_to(struct tensor *out, const struct tensor *t, enum dtype dt, struct err *e);
/* shares the storage if it can */
int tensor_contiguous(struct tensor *out, const struct tensor *t, struct err *e);
/* Copies a strided run of elements into dense memory of another dtype, and back. */
void tensor_gather(enum dtype to, void *dst, enum dtype from, const void *src, int64_t stride, int64_t n);
void tensor_scatter(enum dtype to, void *dst, int64_t stride, enum dtype from, const void *src, int64_t n);
/* Refuses to write to an expanded tensor, whose elements share memory. */
int tensor_check_writable(const struct tensor *t, struct err *e);
/* PyTorch refuses to write where it also reads, unless both are the same view. It checks dense
 * tensors only. */
int tensor_check_overlap(const struct tensor *dst, const struct tensor *src, struct err *e);
/* Broadcast of two shapes by NumPy's rules. */
int tensor_broadcast(const struct tensor *a, const struct tensor *b, int *ndim, int64_t *shape, struct err *e);
/* The same for a shape under construction and one more tensor. */
int tensor_broadcast_shape(int *ndim, int64_t *shape, int bdim, const int64_t *bshape, struct err *e);

/* --- loops over operands ------------------------------------------------------------- */

/* A common iteration over up to five operands of one shape. Dimensions are sorted so that the first
 * operand is walked in memory order, and merged where all operands allow it. */
enum { TENSOR_OPERANDS = 5 };

/* The last dimension is the inner loop, which callers do themselves. */
struct tensor_loop {
	int nops, ndim;                /* ndim >= 1; the last dimension is the inner one */
	int64_t outer;                 /* product of all but the last */
	int64_t shape[TENSOR_DIMS];
	int64_t stride[TENSOR_OPERANDS][TENSOR_DIMS];
};

/* The operands broadcast to the given shape. All strides are in elements. */
void tensor_loop_init(struct tensor_loop *l, int ndim, const int64_t *shape, int nops,
		      const struct tensor *const *ops);
/* Called for each outer index in [begin, end) with the offset of each operand in elements
 * (relative to tensor_data) and the length n of the inner dimension. */
typedef void tensor_loop_fn(void *ctx, const int64_t *offset, int64_t n);
void tensor_loop_run(const struct tensor_loop *l, int64_t begin, int64_t end, tensor_loop_fn *fn, void *ctx);

#endif
