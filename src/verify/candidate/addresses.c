/* Results against the address slice: see addresses.h. */
#include "verify/candidate/addresses.h"

#include <stdio.h>

#include "base/mem.h"
#include "tensor/sparse.h"
#include "verify/candidate/result_form.h"

void addresses_open(struct addresses *a)
{
	*a = (struct addresses){ .open = 0 };
	slice_init(&a->slice);
}

void addresses_close(struct addresses *a)
{
	slice_release(&a->slice);
}

static int note_input(void *ctx, struct str name, struct tensor_obj *obj)
{
	(void)name;
	reads_input(ctx, obj->t.st);
	return 0;
}

void addresses_inputs(struct addresses *a, struct host *h, struct val inputs)
{
	host_tensors(h, inputs, note_input, &a->reads);
}

/* The bytes of a storage that a launch reads at most. */
static size_t read_at_most(struct slice_memory *m)
{
	int64_t gap, most = cover_count(&m->read, 0, m->read.bytes, &gap);

	return __builtin_add_overflow(most, m->read_most, &most) ? SIZE_MAX : (size_t)most;
}

/* Adds the reads of the launch that was sliced last. Accesses that are not decided may read everything. */
static void note_reads(struct addresses *a)
{
	int open = 0, contents = 0;

	for (size_t i = 0; i < a->slice.n; i++) {
		struct slice_memory *m = &a->slice.v[i];
		int64_t gap, bytes = m->read.bytes;

		if (!m->touched)
			continue;
		open |= m->reads != SLICE_DECIDED || m->now != SLICE_DECIDED;
		contents |= m->reads == SLICE_CONTENTS || m->now == SLICE_CONTENTS;
		if (m->reads == SLICE_DECIDED)
			reads_add(&a->reads, m->id, (size_t)bytes, (size_t)cover_count(&m->read, 0, bytes, &gap));
		else
			reads_add_most(&a->reads, m->id, (size_t)bytes, read_at_most(m),
				       m->reads == SLICE_CONTENTS ? CONSTANT_ANSWER_by_contents :
				       CONSTANT_ANSWER_many_ranges);
	}
	a->open += open;
	a->by_contents += contents;
}

int addresses_launch(struct addresses *a, const struct tile_code *code, const struct tile_launch *l, struct diag *d,
		     struct err *e)
{
	int rc = slice_launch(&a->slice, code, l, d, e);

	if (!rc)
		note_reads(a);
	return rc;
}

void addresses_tell(const struct addresses *a, struct run_addresses *out, struct run_reads *reads)
{
	*out = (struct run_addresses){ .launches = a->slice.launches, .open = a->open,
				       .by_contents = a->by_contents };
	for (size_t i = 0; i < a->slice.n; i++)
		out->rounded |= a->slice.v[i].rounded;
	reads_tell(&a->reads, a->slice.launches, reads);
}

int64_t addresses_blank(const struct slice_call *s, const struct tensor *t, int64_t *reached)
{
	struct slice_memory *m = s ? slice_find(s, t->st->id) : NULL;
	int64_t gap, n = tensor_numel(t), size = dtype_size(t->dt);

	*reached = n;
	if (!m || m->writes != SLICE_DECIDED || result_overlaps(t))
		return 0;
	*reached = cover_end(&m->written) / size;
	return MAX(n - cover_count(&m->written, 0, (int64_t)t->st->bytes, &gap) / size, 0);
}

/* A search for a result that was not written. */
struct gap {
	const struct slice_call *s;
	struct diag *d;
};

/* The index of the element of a dense tensor at an offset of its storage, as text. */
static const char *index_text(const struct tensor *t, int64_t offset, char *out, size_t cap)
{
	int64_t left = offset - t->offset;
	size_t at = 0;

	for (int d = 0; d < t->ndim && at < cap; d++) {
		int64_t step = MAX(t->stride[d], 1), above = INT64_MAX;

		/* the digit of dimension d: what is left below the next larger stride */
		for (int k = 0; k < t->ndim; k++)
			if (t->stride[k] > step || (t->stride[k] == step && k < d))
				above = MIN(above, t->stride[k]);
		at += (size_t)snprintf(out + at, cap - at, "%s%lld", d ? ", " : "",
				       (long long)(above == INT64_MAX ? left / step : left % above / step));
	}
	return out;
}

/* Names the first element of the result that is not written, or says how many are written at most. */
static void tell_gap(const struct gap *g, const struct tensor *t, int decided, int64_t written, int64_t gap)
{
	int64_t n = tensor_numel(t);
	char index[160] = "";

	if (decided)
		diag_set(g->d, REASON_uninitialised, 0, 0,
			 "at full size the kernels write %lld of the %lld elements of the result, whose shape is %s; "
			 "they do not write element [%s]", (long long)written, (long long)n,
			 SHAPE_TEXT(t->ndim, t->shape), index_text(t, gap, index, sizeof index));
	else
		diag_set(g->d, REASON_uninitialised, 0, 0,
			 "at full size the kernels write at most %lld of the %lld elements of the result, whose shape "
			 "is %s, wherever their stores go", (long long)written, (long long)n,
			 SHAPE_TEXT(t->ndim, t->shape));
}

/* Returns 1 for a result that was allocated empty and is not written everywhere. Stores whose places are not
 * decided count with the elements that they write at most. Only dense tensors are examined: their elements are one
 * range of the storage. */
static int find_gap(void *ctx, struct str name, struct tensor_obj *obj)
{
	const struct gap *g = ctx;
	const struct tensor *t = &obj->t;
	struct slice_memory *m = slice_find(g->s, t->st->id);
	int64_t lo, hi, gap, written, size = dtype_size(t->dt);

	(void)name;
	if (!m || !sparse_is_empty(t->st) || !tensor_is_dense(t) || !tensor_numel(t))
		return 0;
	tensor_span(t, &lo, &hi);
	written = cover_count(&m->written, lo, hi, &gap);
	if (m->writes != SLICE_DECIDED && __builtin_add_overflow(written, m->open_most, &written))
		return 0;
	if (written >= hi - lo)
		return 0;
	tell_gap(g, t, m->writes == SLICE_DECIDED, written / size, gap / size);
	return 1;
}

int addresses_gap(const struct addresses *a, struct host *h, struct val result, struct diag *d)
{
	struct gap g = { .s = &a->slice, .d = d };

	return host_tensors(h, result, find_gap, &g);
}
