/* The cost of torch operators on a device, and records of a dry run. Owns two things. Work:
 * bytes read and written and multiply-adds of each operator call, from which the judge computes
 * the work share of kernels. Path: the marks of a dry run (struct host_path).
 *
 * Path: a candidate is traced at full size without contents and then run with contents at smaller
 * test sizes. Both must take the same branches. Each outcome of a test, each kind of number an
 * expression gives and each index into a table is a mark; the sets of marks must agree. Kinds are
 * coarse: negative, 0, 1, tiny, more. So 4096 // 128 and 256 // 128 agree (both "more"), 128 //
 * 128 does not.
 *
 * Code of our own library leaves no marks. */
#include <stdio.h>

#include "interp/fail.h"
#include "interp/frame.h"
#include "interp/operator.h"
#include "interp/state.h"
#include "interp/work.h"
#include "tensor/sparse.h"

/* Bytes of a tensor, or of the tensors in a sequence. */
static int64_t bytes_of(struct val v)
{
	const int64_t most = (int64_t)1 << 40;      /* a cap: expanded views may have sums that overflow */
	int64_t sum = 0;

	if (v.kind == V_TENSOR)
		return MIN(tensor_numel(&v.u.t->t), most) * dtype_size(v.u.t->t.dt);
	if (v.kind == V_TUPLE || v.kind == V_LIST)
		for (size_t i = 0; i < v.u.seq->n; i++)
			sum += v.u.seq->v[i].kind == V_TENSOR ? bytes_of(v.u.seq->v[i]) : 0;
	return sum;
}

/* The matrix (at least two dimensions) that *nth others precede, sequences included: einsum has
 * its operands in one. Lowers *nth by the matrices that were passed. */
static const struct tensor *find_matrix(const struct val *a, size_t n, int *nth)
{
	for (size_t i = 0; i < n; i++) {
		const struct tensor *found = NULL;

		if (a[i].kind == V_TENSOR && a[i].u.t->t.ndim >= 2 && (*nth)-- == 0)
			return &a[i].u.t->t;
		if (a[i].kind == V_TUPLE || a[i].kind == V_LIST)
			found = find_matrix(a[i].u.seq->v, a[i].u.seq->n, nth);
		if (found)
			return found;
	}
	return NULL;
}

static const struct tensor *nth_matrix(const struct val *a, size_t n, int nth)
{
	return find_matrix(a, n, &nth);
}

/* Multiply-adds per element of the result, which is the length of its sums. For a convolution
 * or linear layer: the weights per output channel. For a matrix product: the inner dimension. */
static int64_t sum_length(const char *name, const struct val *a, size_t n)
{
	const struct tensor *x = nth_matrix(a, n, 0), *w = nth_matrix(a, n, 1);

	if (!x || !w)
		return 0;
	if (strstr(name, "conv") || strstr(name, "linear"))
		return w->shape[0] ? tensor_numel(w) / w->shape[0] : 0;
	if (strstr(name, "mm") || strstr(name, "matmul") || strstr(name, "einsum") || strstr(name, "attention"))
		return x->shape[x->ndim - 1];
	return 0;
}

/* --- what a call did to elements ------------------------------------------------------------------ */

/* Do both tensors share a storage? */
static int shares_memory(struct val a, struct val out)
{
	return a.kind == V_TENSOR && out.kind == V_TENSOR && a.u.t->t.st == out.u.t->t.st;
}

/* x.contiguous() of a contiguous tensor, or a view: the result shares memory with an argument,
 * so nothing was copied. */
static int does_nothing(const struct val *a, size_t n, struct val out)
{
	for (size_t i = 0; i < n; i++)
		if (shares_memory(a[i], out))
			return 1;
	return 0;
}

/* Do the elements of both tensors lie in the same order in memory? */
static int same_order(const struct tensor *a, const struct tensor *b)
{
	int same = tensor_same_shape(a, b);

	for (int i = 0; i < a->ndim && same; i++)
		same = a->shape[i] == 1 || a->stride[i] == b->stride[i];
	return same || (tensor_numel(a) == tensor_numel(b) && tensor_is_contiguous(a) && tensor_is_contiguous(b));
}

/* Bytes moved by a call that writes to its first argument. A copy into a part of a tensor always
 * moves elements. A call without a source tensor (tril_) moves its own elements. Numbers that a
 * program stores (x[i] = 0) move nothing. */
static int64_t bytes_put(const struct host_op *op, const struct val *a, size_t n, struct val out)
{
	int64_t moved = 0;
	int given = 0;

	for (size_t i = 1; i < n && a[0].kind == V_TENSOR; i++) {
		const struct tensor *to = &a[0].u.t->t;

		if (a[i].kind != V_TENSOR)
			continue;
		given = 1;
		if (op->flags & BIND_MOVE)
			moved = MAX(moved, bytes_of(a[i]));
		else if (!tensor_is_whole(to) || !same_order(to, &a[i].u.t->t))
			moved = bytes_of(a[0]);
	}
	return !given && op->flags & BIND_MOVE && out.kind == V_TENSOR ? bytes_of(a[0]) : moved;
}

/* Bytes whose elements end up at other positions: those of a flip or gather, and of a copy
 * whose elements lie in another order than its source. A view moves nothing. */
static int64_t bytes_moved(const struct host_op *op, const struct val *a, size_t n, struct val out)
{
	if (op->flags & BIND_COMPUTE || !(op->flags & (BIND_COPY | BIND_VIEW)))
		return 0;
	if (op->flags & BIND_INPLACE)
		return bytes_put(op, a, n, out);
	if (does_nothing(a, n, out))
		return 0;
	if (op->flags & (BIND_MOVE | BIND_VIEW))
		return bytes_of(out);
	for (size_t i = 0; i < n && out.kind == V_TENSOR; i++)
		if (a[i].kind == V_TENSOR && tensor_numel(&a[i].u.t->t) == tensor_numel(&out.u.t->t) &&
		    !same_order(&a[i].u.t->t, &out.u.t->t))
			return bytes_of(out);
	return 0;
}

/* The largest number of elements among arguments and result: the cost of an elementwise
 * operator or reduction. */
static int64_t most_elements(const struct val *a, size_t n, struct val out)
{
	int64_t most = out.kind == V_TENSOR ? tensor_numel(&out.u.t->t) : 0;

	for (size_t i = 0; i < n; i++)
		if (a[i].kind == V_TENSOR)
			most = MAX(most, tensor_numel(&a[i].u.t->t));
		else if (a[i].kind == V_TUPLE || a[i].kind == V_LIST) /* einsum has its operands in one */
			for (size_t k = 0; k < a[i].u.seq->n; k++)
				most = MAX(most, a[i].u.seq->v[k].kind == V_TENSOR ?
					   tensor_numel(&a[i].u.seq->v[k].u.t->t) : 0);
	return most;
}

/* Work of one call: multiply-adds of products, other operations, the length of its sums. */
struct call_work { int64_t products, plain, sum; };

/* Attention: every query meets every key (one product), the weights meet every value (another),
 * and a softmax over the keys lies in between. */
static struct call_work attention_work(const struct val *a, size_t n, struct val out)
{
	const struct tensor *q = nth_matrix(a, n, 0), *k = nth_matrix(a, n, 1);
	int64_t keys = k->shape[k->ndim - 2], width = q->shape[q->ndim - 1];

	return (struct call_work){ .products = (tensor_numel(q) + tensor_numel(&out.u.t->t)) * keys,
		.plain = width ? tensor_numel(q) / width * keys : 0, .sum = width };
}

/* Work of a call by its name. A transposed convolution adds to its result for each element of
 * its input, so the input counts. */
static struct call_work work_of(const char *name, const struct val *a, size_t n, struct val out)
{
	int64_t sum = out.kind == V_TENSOR ? sum_length(name, a, n) : 0;

	if (!sum)
		return (struct call_work){ .plain = most_elements(a, n, out) };
	if (strstr(name, "attention"))
		return attention_work(a, n, out);
	return (struct call_work){ .products = sum * tensor_numel(strstr(name, "conv_transpose") ?
								  nth_matrix(a, n, 0) : &out.u.t->t), .sum = sum };
}

/* Is the result a part of the tensor it is a view of? A function that returns several views
 * returns parts. */
static int is_cut(const struct val *a, size_t n, struct val out)
{
	if (!n || a[0].kind != V_TENSOR)
		return 0;
	return out.kind == V_TENSOR ? tensor_numel(&out.u.t->t) < tensor_numel(&a[0].u.t->t) :
		out.kind == V_TUPLE || out.kind == V_LIST;
}

/* Adds one call to its record. A product counts two operations: multiply and add. */
void host_count_work(struct host_op *op, const struct val *a, size_t n, struct val out)
{
	if (!op || !(op->flags & (BIND_COMPUTE | BIND_COPY | BIND_RANDOM | BIND_VIEW)))
		return;
	op->moved += bytes_moved(op, a, n, out);
	op->cut += op->flags & BIND_VIEW && is_cut(a, n, out);
	if (!(op->flags & (BIND_COMPUTE | BIND_RANDOM | BIND_INPLACE)) && does_nothing(a, n, out))
		return;
	for (size_t i = 0; i < n; i++)
		op->bytes += bytes_of(a[i]);
	op->bytes += bytes_of(out);
	if (out.kind == V_TENSOR || out.kind == V_TUPLE || out.kind == V_LIST) {
		struct call_work w = work_of(op->name, a, n, out);

		op->flops += 2 * w.products + w.plain;
		op->plain += w.plain;
		op->sum = MAX(op->sum, w.sum);
	}
}

/* Totals over all records; see struct host_work. */
struct host_work host_work(struct host_ops ops)
{
	struct host_work w = { .flops = 0 };

	for (size_t i = 0; i < ops.n; i++) {
		w.moved += ops.v[i].moved;
		if (!(ops.v[i].flags & BIND_COMPUTE)) {
			w.copied += ops.v[i].bytes;
			continue;
		}
		w.flops += ops.v[i].flops;
		w.plain += ops.v[i].plain;
		w.bytes += ops.v[i].bytes;
	}
	return w;
}

/* --- permission to compute ----------------------------------------------------------------------------------- */

/* Asks the judge whether this operator may run (strict track). A refusal is fatal and carries
 * the judge's reason, text and hint. */
int host_may_compute(struct host *h, const char *name)
{
	struct diag d = { .reason = REASON_ok };
	int line, col;

	if (!h->o.compute)
		return 0;
	host_position(h, &line, &col);
	if (!h->o.compute(h->o.compute_ctx, name, line, &d))
		return 0;
	host_fatal(h, d.reason ? d.reason : REASON_unsupported, "%s", d.text);
	snprintf(h->fail.diag.hint, sizeof h->fail.diag.hint, "%s", d.hint);
	return -1;
}

/* Adds a mark to the set. `full` says that marks were lost. */
void host_path_mark(struct host_path *p, uint64_t mark)
{
	for (int i = 0; i < p->n; i++)
		if (p->mark[i] == mark)
			return;
	if (p->n < HOST_PATH)
		p->mark[p->n++] = mark;
	else
		p->full = 1;
}

/* The outcome of a test in the program's own code. */
void host_note_branch(struct host *h, const struct py_node *at, int outcome)
{
	if (h->o.path && at && h->frame && !h->frame->mod->trusted)
		host_path_mark(h->o.path, host_path_test(PATH_BRANCH, at->line, at->col, outcome));
}

/* The number of blocks: 1, or more. */
void host_note_quotient(struct host *h, const struct py_node *at, struct val quotient)
{
	enum { ONE = 8 };

	if (quotient.kind == V_INT && quotient.u.i > 0)
		host_note_branch(h, at, ONE + (quotient.u.i > 1));
}

/* The coarse kind of a number: negative, zero, one, tiny (below 2**-8, such as 1/n), more. */
static int kind_of_number(double x)
{
	return x < 0.0 ? 0 : x == 0.0 ? 1 : x == 1.0 ? 2 : x < 0x1p-8 ? 3 : 4;
}

/* Sums and products of sizes are sizes, so "more" says nothing about them. A difference,
 * quotient or lookup may be something else and is recorded. */
static int is_plain(const struct py_node *at)
{
	return at->kind == PY_BinOp && (at->u.BinOp.op == PY_OP_Add || at->u.BinOp.op == PY_OP_Mult);
}

/* A remaining length is 1 only if the size is small: then it counts as "more". */
static int is_difference(const struct py_node *at)
{
	return at->kind == PY_BinOp && at->u.BinOp.op == PY_OP_Sub;
}

/* The kind of a value, -1 if it is not recorded. Texts are told apart by length (up to 100),
 * sequences by 0, 1 or more elements. */
static int kind_of(struct host *h, const struct py_node *at, struct val v)
{
	enum { ONE = 2, MORE = 4, LENGTHS = 8, TEXTS = 16, TEXT_MOST = 100 };
	int64_t n;

	switch (v.kind) {
	case V_INT:
		n = kind_of_number((double)v.u.i);
		n = n == ONE && is_difference(at) ? MORE : n;
		return n == MORE && is_plain(at) ? -1 : (int)n;
	case V_FLOAT: return kind_of_number(v.u.f);
	case V_STR: return TEXTS + (int)MIN(v.u.s->n, (size_t)TEXT_MOST);
	case V_LIST: case V_TUPLE: return LENGTHS + (int)MIN(v.u.seq->n, (size_t)2);
	case V_RANGE: return host_len(h, v, &n) ? -1 : LENGTHS + (int)MIN(n, 2);
	default: return -1;
	}
}

/* Records an outcome at an expression. Nested expressions begin at the same column, so the kind
 * of the node is part of the mark. */
static void note_at(struct host *h, const struct py_node *at, int outcome)
{
	int what = at->kind == PY_BinOp ? PY_KINDS + (int)at->u.BinOp.op : (int)at->kind;

	if (h->frame && !h->frame->mod->trusted)
		host_path_mark(h->o.path, host_path_test(PATH_BRANCH, at->line,
							 (at->col & 0xfff) | (what & 0xff) << 12, outcome));
}

/* Only expressions that compute something: operators, calls, f-strings, subscripts. */
void host_note_kind(struct host *h, const struct py_node *at, struct val v)
{
	int asked = at->kind == PY_BinOp || at->kind == PY_Call || at->kind == PY_JoinedStr ||
		at->kind == PY_AugAssign || (at->kind == PY_Subscript && v.kind >= V_STR);
	int kind = asked ? kind_of(h, at, v) : -1;

	if (kind >= 0)
		note_at(h, at, kind);
}

/* The kind of element `index` of a number tensor (solid.h). */
void host_note_element(struct host *h, const struct py_node *at, int index, double x)
{
	enum { ELEMENTS = 64, KINDS = 5 };

	note_at(h, at, ELEMENTS + index * KINDS + kind_of_number(x));
}

/* Indices up to 32 are told apart, since such tables hold block sizes. */
void host_note_index(struct host *h, const struct py_node *at, struct val of, struct val index)
{
	enum { INDICES = 128, INDEX_MOST = 32 };

	if (index.kind == V_INT && (of.kind == V_LIST || of.kind == V_TUPLE))
		note_at(h, at, INDICES + (int)MIN(MAX(index.u.i, 0), INDEX_MOST));
}

/* A dictionary lookup by a number or a tuple, told apart by the key's hash. */
void host_note_entry(struct host *h, struct val key, uint64_t hash, int found)
{
	enum { KEYS = 192, KEYS_MOST = 61 };

	if (h->frame && h->frame->node && (key.kind == V_INT || key.kind == V_TUPLE))
		note_at(h, h->frame->node, KEYS + (found ? 1 + (int)(hash % KEYS_MOST) : 0));
}

/* A comparison of two integers: a possible size branch. */
void host_note_test(struct host *h, const struct py_node *at, struct val a, struct val b, int outcome)
{
	if (h->o.path && at && h->frame && a.kind == V_INT && b.kind == V_INT && !h->frame->mod->trusted)
		host_path_mark(h->o.path, host_path_test(PATH_HOST_TEST, at->line, at->col, outcome));
}

/* A few values steer a program: lengths and offsets. With more of them Python does the
 * computing. A float counts as 16 integers. */
enum { FLOATS_MOST = 8, INTS_MOST = 128, INTS_A_FLOAT = INTS_MOST / FLOATS_MOST };

int64_t host_floats_read(const struct host *h)
{
	return h->did.reads / INTS_A_FLOAT;
}

int host_has_read(const struct host *h)
{
	return h->did.reads != 0;
}

int64_t host_floats_guessed(const struct host *h)
{
	return h->did.guessed;
}

/* Asked before n elements become Python numbers. In a dry run floats are guessed as 0 (host_floats_guessed counts
 * them) and integers end the run with contents_needed. */
int host_may_read(struct host *h, enum dtype dt, int64_t n)
{
	if (h->o.hollow && dtype_is_float(dt)) {
		h->did.guessed += n;
		return 0;
	}
	if (h->o.hollow)
		return host_fatal(h, REASON_contents_needed,
				  "the program reads the value of a tensor, which a dry run does not have");
	if (h->fail.fatal)
		return 0;
	h->did.reads += n * (dtype_is_float(dt) ? INTS_A_FLOAT : 1);
	return !h->o.compute || h->did.reads <= INTS_MOST ? 0 :
		host_may_compute(h, "Python code that reads more than 8 floats or 128 integers of tensors");
}

/* Is the element of a hollow tensor known? Then its storage has memory for it. */
static int is_known(const struct tensor *t)
{
	size_t lo = (size_t)(t->offset * dtype_size(t->dt)), hi = lo + (size_t)dtype_size(t->dt);

	return t->st->sparse && !sparse_touch(t->st, lo, hi) &&
	       (sparse_is_known(t->st, lo, hi) || (sparse_is_zero(t->st) && sparse_is_made(t->st)));
}

/* Reading memory that was never written ends the program: otherwise it could see the result of an
 * earlier call. */
int host_is_unwritten(struct host *h, const struct tensor *t)
{
	return tensor_any_undef(t) && host_fatal(h, REASON_uninitialised,
						 "the program reads a value that was never written");
}

/* Reads one element. In a dry run a known element is read, so that a test on it goes the same
 * way as in a real run. A float that is not known is taken as 0. */
int host_read(struct host *h, const struct tensor *t, struct val *out)
{
	int known = t->st->hollow && is_known(t);

	if (t->st->hollow && !known && t->st->numbers)
		return host_fatal(h, REASON_out_of_fuel,
				  "the program reads a number computed from more numbers than a dry run keeps");
	if (!known && host_may_read(h, t->dt, 1))
		return -1;
	if (host_is_unwritten(h, t))
		return -1;
	if (t->st->hollow && !known)
		*out = val_float(0.0);
	else if (dtype_is_float(t->dt))
		*out = val_float(dtype_load(t->dt, tensor_data(t)));
	else if (t->dt == DT_BOOL)
		*out = val_bool(dtype_load_int(t->dt, tensor_data(t)) != 0);
	else
		*out = val_int(dtype_load_int(t->dt, tensor_data(t)));
	return 0;
}
