/* Strided host tensors: dtypes, storage, views.
 *
 * A `struct tensor` is a value: copying it copies the view, not the data. Its storage is
 * reference counted (tensor_retain, tensor_release). Views share storage exactly as PyTorch's
 * do: offset and strides are in elements, strides may be 0 (expand) and need not be dense.
 * This folder knows numbers and layout; torch's operators are in src/num. */
#ifndef TENSOR_TENSOR_H
#define TENSOR_TENSOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "tensor/dtype.h"

enum dtype_class { DTC_BOOL, DTC_SINT, DTC_UINT, DTC_FLOAT };

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
/* The type that holds any value of `dt` exactly and in which it is computed with: i64, f32, f64. */
enum dtype dtype_carrier(enum dtype dt);
/* n dense elements; float to int truncates, out of range gives what x86 conversions do in
 * PyTorch; to bool is != 0. */
void dtype_convert(enum dtype to, void *dst, enum dtype from, const void *src, size_t n);

enum { TENSOR_DIMS = 12 };

/* What one owner (a run of the host engine) may hold. Storages made under a budget count in
 * `live` until they are freed, so the budget must outlive them. */
struct tensor_budget {
	size_t limit;             /* bytes; 0: no limit */
	size_t live, peak;
};

struct sparse;

struct storage {
	void *data;
	size_t bytes;
	int refs;
	struct tensor_budget *budget;   /* or NULL */
	uint64_t id;              /* unique in the process; names the allocation in reports */
	int hollow;               /* has no contents: nobody reads or writes them, small ones are zero */
	struct sparse *sparse;    /* of a hollow one: what it holds where it is touched (sparse.h), or NULL */
	int numbers;              /* made of numbers alone, no data (interp/solid.h) */
	unsigned char *undef;     /* one byte per byte, nonzero: never written; NULL: all defined */
	void (*release)(struct storage *s);   /* how `data` goes back; NULL: not ours */
};

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
/* A tensor without contents, however large: an address range that nothing stands behind. */
int tensor_new_hollow(struct tensor *t, enum dtype dt, int ndim, const int64_t *shape, const int64_t *stride,
		      struct err *e);
void storage_fill(struct storage *s, int byte);              /* every byte of it */
uint64_t storage_newest(void);                               /* id of the storage made last */
int storage_track_undef(struct storage *s, struct err *e);   /* marks all bytes never written */
int tensor_any_undef(const struct tensor *t);                /* does the view hold a byte never written? */
void tensor_mark_defined(const struct tensor *t);
void tensor_mark_undef(const struct tensor *t);              /* of a storage that has marks */
/* Gives its storage marks, if it has none: all written. */
int tensor_want_marks(const struct tensor *t, struct err *e);
/* The marks as a tensor of the same form and dtype: what moves elements of t moves them, too. Lent
 * for as long as t and *as. */
struct tensor tensor_marks(const struct tensor *t, struct storage *as);
/* Of a result that was computed element by element from n tensors that broadcast to it: its
 * elements that are made of one that was never written count as never written. With `picks` the
 * first says which of the other two is taken. 1: there are such, and the others of the result are
 * marked as written; 0: there are none, and nothing is marked. */
int tensor_carry_undef(const struct tensor *out, const struct tensor *in, int n, int picks, struct err *e);
void tensor_retain(const struct tensor *t);
void tensor_release(struct tensor *t);

/* No tensor has sizes whose product, zeros left out, is no number of 64 bits: products of sizes
 * need no check where a tensor is given. */
/* Strides that can be added up and multiplied by a few bytes without a check each time. */
int tensor_check_strides(int ndim, const int64_t *stride, struct err *e);
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
/* All of its storage, in some order: nothing else lies there, and nothing twice. */
int tensor_is_whole(const struct tensor *t);
/* "[2, 3]", as PyTorch prints sizes. */
const char *tensor_shape_text(char *out, size_t cap, int ndim, const int64_t *shape);
#define SHAPE_TEXT(ndim, shape) tensor_shape_text((char[200]){ 0 }, 200, ndim, shape)
/* A dimension argument in [-ndim, ndim) made non-negative; 0-d counts as one dimension. */
int tensor_wrap_dim(int *dim, int64_t arg, int ndim, struct err *e);
/* Fills at most one -1 of a requested shape, and checks the element count. */
int tensor_infer_shape(int64_t *out, int ndim, const int64_t *shape, int64_t numel, struct err *e);

/* Views: none copies; each returns -1 with PyTorch's message on a bad argument. The result
 * holds its own reference. */
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

/* Elementwise copy with conversion and broadcasting of `src` to `dst`. */
int tensor_copy(const struct tensor *dst, const struct tensor *src, struct err *e);
/* A dense copy (of another dtype). */
int tensor_to(struct tensor *out, const struct tensor *t, enum dtype dt, struct err *e);
int tensor_contiguous(struct tensor *out, const struct tensor *t, struct err *e);   /* shares if it can */
/* A strided run of elements into dense memory of another dtype, and back. */
void tensor_gather(enum dtype to, void *dst, enum dtype from, const void *src, int64_t stride, int64_t n);
void tensor_scatter(enum dtype to, void *dst, int64_t stride, enum dtype from, const void *src, int64_t n);
/* Refuses an expanded tensor as the target of a write. */
int tensor_check_writable(const struct tensor *t, struct err *e);
/* PyTorch refuses to write where some of what it reads is, unless that is the same view; it looks
 * at dense tensors alone. */
int tensor_check_overlap(const struct tensor *dst, const struct tensor *src, struct err *e);
/* Broadcast of two shapes by NumPy's rules. */
int tensor_broadcast(const struct tensor *a, const struct tensor *b, int *ndim, int64_t *shape, struct err *e);
/* The same, of a shape under construction with one more tensor. */
int tensor_broadcast_shape(int *ndim, int64_t *shape, int bdim, const int64_t *bshape, struct err *e);

/* --- loops over operands ------------------------------------------------------------- */

/* A common iteration over up to five operands of one shape: dimensions sorted so that the
 * first operand is walked in memory order, and merged where all operands allow it. */
enum { TENSOR_OPERANDS = 5 };

struct tensor_loop {
	int nops, ndim;                /* ndim >= 1; the last dimension is the inner one */
	int64_t outer;                 /* product of all but the last */
	int64_t shape[TENSOR_DIMS];
	int64_t stride[TENSOR_OPERANDS][TENSOR_DIMS];
};

/* Operands broadcast to the shape given; all strides in elements. */
void tensor_loop_init(struct tensor_loop *l, int ndim, const int64_t *shape, int nops,
		      const struct tensor *const *ops);
/* Calls fn for each outer index in [begin, end) with each operand's offset in elements
 * (relative to tensor_data) and the inner length. */
typedef void tensor_loop_fn(void *ctx, const int64_t *offset, int64_t n);
void tensor_loop_run(const struct tensor_loop *l, int64_t begin, int64_t end, tensor_loop_fn *fn, void *ctx);

#endif
