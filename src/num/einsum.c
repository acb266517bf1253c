/* einsum: operands get labelled dimensions and are contracted from left to right.
 *
 * Each pair is a batched product [batch, left, sum] x [batch, sum, right], or an elementwise
 * product if nothing is summed. Example "bij,bjk->bik": b is batch, i left, k right, j sum. A
 * label that occurs in one operand only and not in the output is summed before the products.
 * PyTorch may use another contraction order with opt_einsum; results then differ by rounding. */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "num/nn.h"
#include "num/reduce.h"

/* Labels are letters. The dimensions of an ellipsis have labels below LABELS, aligned at the
 * right: the last one is always LABELS - 1. */
enum { ELLIPSIS = 128, LABELS = ELLIPSIS + TENSOR_DIMS };

/* An operand: a tensor and one label per dimension. */
struct term {
	struct tensor t;        /* holds a reference */
	int label[TENSOR_DIMS]; /* one per dimension */
};

/* The equation. */
struct spec {
	int out[TENSOR_DIMS], n_out;    /* labels of the result, in order */
	int uses[LABELS];               /* operands not yet contracted that have the label */
	int64_t size[LABELS];           /* size of the label, after broadcasting */
	int ellipsis;                   /* dimensions of the longest ellipsis */
};

/* Index of `what` among n labels, or -1. */
static int find(const int *label, int n, int what)
{
	for (int i = 0; i < n; i++)
		if (label[i] == what)
			return i;
	return -1;
}

/* Labels of one operand's text; an ellipsis becomes the label -1. Spaces are ignored. */
static int parse_labels(struct str s, int *label, int *n, struct err *e)
{
	*n = 0;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == ' ')
			continue;
		if (*n == TENSOR_DIMS)
			return err_set(e, ERR_UNSUPPORTED, "einsum() over more than %d dimensions",
				       TENSOR_DIMS);
		if (s.p[i] == '.') {
			if (i + 2 >= s.n || s.p[i + 1] != '.' || s.p[i + 2] != '.' ||
			    find(label, *n, -1) >= 0)
				return err_set(e, ERR_STATE, "einsum(): found '.' that is not part of any ellipsis");
			label[(*n)++] = -1;
			i += 2;
		} else if (isalpha((unsigned char)s.p[i])) {
			label[(*n)++] = s.p[i];
		} else {
			return err_set(e, ERR_STATE,
				       "einsum(): invalid subscript given at index %zu in the "
				       "equation string, subscripts must be in [a-zA-Z]", i);
		}
	}
	return 0;
}

/* Replaces the ellipsis by labels for the `dims` dimensions of the operand that no letter
 * names. `operand` is for messages; the output text has -1. */
static int spread(struct spec *sp, int *label, int *n, int dims, int operand, struct err *e)
{
	int at = find(label, *n, -1), fill = dims - (*n - 1);

	if (at < 0) {
		if (*n != dims)
			return err_set(e, ERR_STATE,
				       "einsum(): the number of subscripts in the equation (%d) "
				       "does not match the number of dimensions (%d) for operand "
				       "%d and no ellipsis was given", *n, dims, operand);
		return 0;
	}
	if (fill < 0)
		return err_set(e, ERR_STATE,
			       "einsum(): the number of subscripts in the equation (%d) is more "
			       "than the number of dimensions (%d) for operand %d",
			       *n - 1, dims, operand);
	memmove(label + at + fill, label + at + 1, sizeof *label * (size_t)(*n - at - 1));
	for (int i = 0; i < fill; i++)
		label[at + i] = ELLIPSIS + TENSOR_DIMS - fill + i;     /* aligned at the right */
	*n = dims;
	sp->ellipsis = MAX(sp->ellipsis, fill);
	return 0;
}

/* A label twice in one operand ("ii") is its diagonal: the two dimensions become one whose
 * stride is the sum of both. No data is copied. */
static int take_diagonals(struct term *o, struct err *e)
{
	for (int i = 0; i < o->t.ndim; i++)
		for (int j = i + 1; j < o->t.ndim; j++)
			if (o->label[i] == o->label[j]) {
				struct tensor v = o->t;

				if (v.shape[i] != v.shape[j])
					return err_set(e, ERR_STATE,
						       "einsum(): subscript %c is repeated for "
						       "an operand but the sizes don't match, "
						       "%lld != %lld",
						       o->label[i], (long long)v.shape[j],
						       (long long)v.shape[i]);
				o->t.stride[i] += o->t.stride[j];
				for (int k = j; k + 1 < o->t.ndim; k++) {
					o->t.shape[k] = o->t.shape[k + 1];
					o->t.stride[k] = o->t.stride[k + 1];
					o->label[k] = o->label[k + 1];
				}
				o->t.ndim--;
				j--;
			}
	return 0;
}

/* Records the sizes of the labels. A size of 1 broadcasts against any other. */
static int note_sizes(struct spec *sp, const struct term *o, int operand, struct err *e)
{
	for (int i = 0; i < o->t.ndim; i++) {
		int64_t *size = &sp->size[o->label[i]], own = o->t.shape[i];

		if (!sp->uses[o->label[i]]++ || *size == 1)
			*size = own;
		else if (own != 1 && own != *size)
			return err_set(e, ERR_STATE,
				       "einsum(): subscript %c has size %lld for operand %d "
				       "which does not broadcast with previously seen size %lld",
				       o->label[i] < ELLIPSIS ? o->label[i] : '.', (long long)own,
				       operand, (long long)*size);
	}
	return 0;
}

/* Sums over the dimensions whose label occurs in no other operand and not in the output. */
static int drop_unused(struct num_ctx *c, struct spec *sp, struct term *o, struct err *e)
{
	struct num_dims d = { .n = 0 };
	struct tensor r;
	int n = 0;

	for (int i = 0; i < o->t.ndim; i++)
		if (sp->uses[o->label[i]] == 1 && find(sp->out, sp->n_out, o->label[i]) < 0)
			d.v[d.n++] = i;
	if (d.n == 0)
		return 0;
	if (num_sum(c, &r, &o->t, &d, 0, (int)o->t.dt, e))
		return -1;
	for (int i = 0; i < o->t.ndim; i++)
		if (find(d.v, d.n, i) < 0)
			o->label[n++] = o->label[i];
	tensor_release(&o->t);
	o->t = r;
	return 0;
}

/* A view of `o` with n dimensions in the order of `label`; a missing or size-1 dimension is
 * expanded with stride 0. It borrows the storage of `o`. */
static struct tensor ordered(const struct spec *sp, const struct term *o, const int *label, int n)
{
	struct tensor v = { .st = o->t.st, .dt = o->t.dt, .offset = o->t.offset, .ndim = n };

	for (int i = 0; i < n; i++) {
		int d = find(o->label, o->t.ndim, label[i]);

		v.shape[i] = sp->size[label[i]];
		v.stride[i] = d < 0 || (o->t.shape[d] == 1 && v.shape[i] != 1) ? 0 : o->t.stride[d];
	}
	return v;
}

/* The same, merged into three dimensions: count[0], count[1] and count[2] labels each. It
 * copies if strides do not allow the merge. */
static int arrange(struct num_ctx *c, const struct spec *sp, struct tensor *out,
		   const struct term *o, const int *label, const int *count, struct err *e)
{
	struct tensor v = ordered(sp, o, label, count[0] + count[1] + count[2]);
	int64_t shape[3];
	int at = 0;

	if (tensor_check_sizes(v.ndim, v.shape, e))
		return -1;
	for (int g = 0; g < 3; g++) {
		shape[g] = 1;
		for (int i = 0; i < count[g]; i++)
			shape[g] *= v.shape[at++];
	}
	return num_reshape(c, out, &v, 3, shape, e);
}

/* The labels of two operands by their role in the product. The result has batch, left, right
 * in this order. */
struct pair { int batch[TENSOR_DIMS], left[TENSOR_DIMS], right[TENSOR_DIMS], sum[TENSOR_DIMS], nb,
	      nl, nr, ns; };

/* A label of both operands is summed unless a later operand or the output has it; then it is
 * batch. */
static void sort_labels(const struct spec *sp, const struct term *a, const struct term *b,
			struct pair *p)
{
	p->nb = p->nl = p->nr = p->ns = 0;
	for (int i = 0; i < a->t.ndim; i++) {
		int k = a->label[i], both = find(b->label, b->t.ndim, k) >= 0;
		int later = sp->uses[k] > 1 + both || find(sp->out, sp->n_out, k) >= 0;

		if (both && later)
			p->batch[p->nb++] = k;
		else if (both)
			p->sum[p->ns++] = k;
		else
			p->left[p->nl++] = k;
	}
	for (int i = 0; i < b->t.ndim; i++)
		if (find(a->label, a->t.ndim, b->label[i]) < 0)
			p->right[p->nr++] = b->label[i];
}

/* r = the product of a and b over the labels `out`, which are batch, left, right. Without
 * sums it is an elementwise product of expanded views, else a bmm of [B, L, S] and [B, S, R]. */
static int product(struct num_ctx *c, const struct spec *sp, struct tensor *r, const struct term *a,
		   const struct term *b, const struct pair *k, const int *out, struct err *e)
{
	struct tensor x = { .st = NULL }, y = { .st = NULL }, p = { .st = NULL };
	int order[2 * TENSOR_DIMS], n = k->nb + k->nl + k->nr, rc;
	int64_t shape[TENSOR_DIMS];

	if (k->ns == 0) {
		x = ordered(sp, a, out, n);
		y = ordered(sp, b, out, n);
		return num_op2(c, r, NUM_mul, num_t(&x), num_t(&y), e);
	}
	memcpy(order, k->batch, sizeof *order * (size_t)k->nb);
	memcpy(order + k->nb, k->left, sizeof *order * (size_t)k->nl);
	memcpy(order + k->nb + k->nl, k->sum, sizeof *order * (size_t)k->ns);
	rc = arrange(c, sp, &x, a, order, (int[]){ k->nb, k->nl, k->ns }, e);
	memcpy(order + k->nb, k->sum, sizeof *order * (size_t)k->ns);
	memcpy(order + k->nb + k->ns, k->right, sizeof *order * (size_t)k->nr);
	rc = rc || arrange(c, sp, &y, b, order, (int[]){ k->nb, k->ns, k->nr }, e) || num_bmm(c, &p, &x, &y, e);
	tensor_release(&x);
	tensor_release(&y);
	if (rc)
		return -1;
	for (int i = 0; i < n; i++)
		shape[i] = sp->size[out[i]];
	rc = tensor_view(r, &p, n, shape, e);
	tensor_release(&p);
	return rc;
}

/* a becomes a contracted with b. The use counts of the labels follow. b keeps its reference
 * until the end. */
static int contract(struct num_ctx *c, struct spec *sp, struct term *a, struct term *b,
		    struct err *e)
{
	struct pair k;
	int out[3 * TENSOR_DIMS], n;
	struct tensor r;

	sort_labels(sp, a, b, &k);
	n = k.nb + k.nl + k.nr;
	if (n > TENSOR_DIMS || k.nb + k.nl + k.ns > TENSOR_DIMS || k.nb + k.nr + k.ns > TENSOR_DIMS)
		return err_set(e, ERR_UNSUPPORTED, "einsum() over more than %d dimensions",
			       TENSOR_DIMS);
	memcpy(out, k.batch, sizeof *out * (size_t)k.nb);
	memcpy(out + k.nb, k.left, sizeof *out * (size_t)k.nl);
	memcpy(out + k.nb + k.nl, k.right, sizeof *out * (size_t)k.nr);
	if (product(c, sp, &r, a, b, &k, out, e))
		return -1;
	for (int i = 0; i < a->t.ndim; i++)
		sp->uses[a->label[i]]--;
	for (int i = 0; i < b->t.ndim; i++)
		sp->uses[b->label[i]]--;
	for (int i = 0; i < n; i++) {
		a->label[i] = out[i];
		sp->uses[out[i]]++;
	}
	tensor_release(&a->t);
	a->t = r;
	return 0;
}

/* --- the equation --------------------------------------------------------------------------------- */

/* Output of an equation without "->": the ellipsis first, then in alphabetical order the
 * labels that occur exactly once ("ij,jk" gives "ik"). */
static void implicit_output(struct spec *sp, const int *named)
{
	for (int i = 0; i < sp->ellipsis; i++)
		sp->out[sp->n_out++] = ELLIPSIS + TENSOR_DIMS - sp->ellipsis + i;
	for (int k = 0; k < ELLIPSIS; k++)
		if (named[k] == 1 && sp->n_out < TENSOR_DIMS)
			sp->out[sp->n_out++] = k;
}

/* Output of an equation with "->". Each label must occur in an operand and only once in the
 * output. */
static int explicit_output(struct spec *sp, struct str text, struct err *e)
{
	if (parse_labels(text, sp->out, &sp->n_out, e))
		return -1;
	if (find(sp->out, sp->n_out, -1) >= 0 && sp->n_out - 1 + sp->ellipsis > TENSOR_DIMS)
		return err_set(e, ERR_UNSUPPORTED, "einsum() over more than %d dimensions",
			       TENSOR_DIMS);
	if (find(sp->out, sp->n_out, -1) >= 0 &&
	    spread(sp, sp->out, &sp->n_out, sp->n_out - 1 + sp->ellipsis, -1, e))
		return -1;
	for (int i = 0; i < sp->n_out; i++) {
		if (find(sp->out, i, sp->out[i]) >= 0)
			return err_set(e, ERR_STATE,
				       "einsum(): output subscript %c appears more than once in the output",
				       sp->out[i]);
		if (!sp->uses[sp->out[i]])
			return err_set(e, ERR_STATE,
				       "einsum(): output subscript %c does not appear in the "
				       "equation for any input operand", sp->out[i]);
	}
	return 0;
}

/* Parses the texts of the operands and takes references to the tensors. named[] counts how
 * often each label was written, twice for a diagonal. */
static int read_operands(struct spec *sp, struct term *o, struct str inputs,
			 const struct tensor *const *t, int n, int *named, struct err *e)
{
	for (int i = 0; i < n; i++) {
		int count;

		if (i && inputs.n == 0)
			return err_set(e, ERR_STATE,
				       "einsum(): more operands were provided than specified in the equation");
		if (parse_labels(str_cut(&inputs, ','), o[i].label, &count, e) ||
		    spread(sp, o[i].label, &count, t[i]->ndim, i, e))
			return -1;
		for (int k = 0; k < count; k++)
			named[o[i].label[k]]++;
		o[i].t = *t[i];
		tensor_retain(&o[i].t);
		if (take_diagonals(&o[i], e) || note_sizes(sp, &o[i], i, e))
			return -1;
	}
	if (inputs.n)
		return err_set(e, ERR_STATE, "einsum(): fewer operands were provided than specified in the equation");
	return 0;
}

/* The result is a permuted view, as PyTorch returns it: its strides follow from the
 * contraction. */
static int order_output(struct num_ctx *c, const struct spec *sp, struct tensor *out,
			const struct term *o, struct err *e)
{
	struct tensor v = { .st = o->t.st, .dt = o->t.dt, .offset = o->t.offset,
			    .ndim = sp->n_out };

	for (int i = 0; i < sp->n_out; i++) {
		int d = find(o->label, o->t.ndim, sp->out[i]);

		v.shape[i] = sp->size[sp->out[i]];
		v.stride[i] = d < 0 || (o->t.shape[d] == 1 && v.shape[i] != 1) ? 0 : o->t.stride[d];
	}
	(void)c;
	*out = v;
	tensor_retain(out);
	(void)e;
	return 0;
}

/* `equation` is "inputs" or "inputs->output"; t are the n operands. */
int num_einsum(struct num_ctx *c, struct tensor *out, struct str equation,
	       const struct tensor *const *t, int n, struct err *e)
{
	struct spec sp = { .n_out = 0 };
	struct term *o = mem_array((size_t)MAX(n, 1), sizeof *o);
	ptrdiff_t arrow = str_find(equation, STR("->"));
	struct str inputs = { equation.p, arrow < 0 ? equation.n : (size_t)arrow };
	int named[LABELS] = { 0 }, rc = -1;

	if (!o)
		return err_nomem(e);
	if (n < 1) {
		err_set(e, ERR_STATE, "einsum(): must provide at least one operand");
		goto out;
	}
	if (read_operands(&sp, o, inputs, t, n, named, e))
		goto out;
	if (arrow < 0)
		implicit_output(&sp, named);
	else if (explicit_output(&sp, (struct str){ equation.p + arrow + 2,
						    equation.n - (size_t)arrow - 2 }, e))
		goto out;
	for (int i = 0; i < n; i++)
		if (drop_unused(c, &sp, &o[i], e))
			goto out;
	for (int i = 1; i < n; i++)
		if (contract(c, &sp, &o[0], &o[i], e))
			goto out;
	rc = drop_unused(c, &sp, &o[0], e) || order_output(c, &sp, out, &o[0], e);
out:
	for (int i = 0; i < n; i++)
		tensor_release(&o[i].t);
	mem_free(o);
	return rc ? -1 : 0;
}
