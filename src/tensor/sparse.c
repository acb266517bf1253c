/* Contents of hollow storages where they are touched: see sparse.h. */
#include "tensor/sparse.h"

#include <sys/mman.h>

#include "base/mem.h"

/* A chunk is what gets memory at once; a storage may have so many. */
enum { CHUNK = 1 << 13, CHUNKS_MOST = 1 << 14 };

enum contents { CONTENTS_UNKNOWN, CONTENTS_EMPTY, CONTENTS_VALUE, CONTENTS_FEW, CONTENTS_OWN };
enum mark { MARK_NONE, MARK_KNOWN, MARK_KNOWN_BEFORE, MARK_UNKNOWN }; /* BEFORE: by those before the writers that go now */

struct chunk {
	size_t index;
	unsigned char *mark;        /* of each byte; NULL: nobody wrote here */
};

struct sparse {
	enum contents contents;
	unsigned char value[8];
	int value_bytes;
	const char *from;           /* elements of the smaller tensor, */
	int64_t step[TENSOR_DIMS];  /* bytes apart */
	unsigned repeated;          /* dimensions that it has fewer of */
	int ndim;
	int64_t shape[TENSOR_DIMS];
	int64_t few;
	uint64_t seed;
	size_t size;                /* of an element */
	size_t stored, covered;     /* bytes: sparse.h */
	size_t reached;             /* the end of the last bytes that were marked */
	int zero;                   /* what nobody wrote is */
	size_t stored_before;       /* when the writers that go now began */
	struct chunk *v;            /* that were touched */
	size_t n, cap;
	uint32_t *place;            /* of each chunk in v, counted from one; 0: not touched */
};

static size_t chunk_bytes(const struct storage *s, size_t index)
{
	return MIN((size_t)CHUNK, s->bytes - index * CHUNK);
}

/* Small hollow storages have memory of their own (tensor.c). */
static int is_mapped(const struct storage *s)
{
	return !s->release;
}

static void drop_chunks(struct storage *s)
{
	struct sparse *p = s->sparse;

	for (size_t i = 0; i < p->n; i++) {
		p->place[p->v[i].index] = 0;
		mem_free(p->v[i].mark);
		if (is_mapped(s))
			munmap((char *)s->data + p->v[i].index * CHUNK, CHUNK);
	}
	p->n = 0;
}

void sparse_free(struct storage *s)
{
	struct sparse *p = s->sparse;

	if (!p)
		return;
	drop_chunks(s);
	vec_free(p);
	mem_free(p->place);
	mem_free(p);
	s->sparse = NULL;
}

/* Its contents begin anew. */
static struct sparse *begin(struct storage *s)
{
	struct sparse *p = s->sparse;

	if (p) {
		drop_chunks(s);
		p->stored = p->covered = p->stored_before = p->reached = 0;
		p->zero = 0;
		return p;
	}
	p = mem_zalloc(sizeof *p);
	if (p)
		p->place = mem_array(s->bytes / CHUNK + 1, sizeof *p->place);
	if (!p || !p->place) {
		mem_free(p);
		return NULL;
	}
	s->sparse = p;
	return p;
}

int sparse_unknown(struct storage *s)
{
	struct sparse *p = begin(s);

	if (!p)
		return -1;
	p->contents = CONTENTS_UNKNOWN;
	return 0;
}

int sparse_empty(struct storage *s)
{
	if (sparse_unknown(s))
		return -1;
	s->sparse->contents = CONTENTS_EMPTY;
	return 0;
}

int sparse_zero(struct storage *s)
{
	if (sparse_empty(s))
		return -1;
	s->sparse->zero = 1;
	return 0;
}

int sparse_value(struct storage *s, const void *value, int bytes)
{
	struct sparse *p = begin(s);

	BUG_ON(bytes < 1 || bytes > 8);
	if (!p)
		return -1;
	p->contents = CONTENTS_VALUE;
	memcpy(p->value, value, (size_t)bytes);
	p->value_bytes = bytes;
	return 0;
}

int sparse_own(struct storage *s)
{
	struct sparse *p = is_mapped(s) ? NULL : begin(s);

	if (!p)
		return -1;
	p->contents = CONTENTS_OWN;
	return 0;
}

int64_t sparse_index(int64_t i, int64_t few, uint64_t seed)
{
	uint64_t x = ((uint64_t)i + seed) * 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
	return few > 1 ? (int64_t)((x ^ x >> 32) % (uint64_t)few) : 0;
}

/* Is it all of its storage, and the other one of its kind with fewer along some dimensions? */
static int goes_with(const struct tensor *t, const struct tensor *from, int64_t few)
{
	int same = t->ndim == from->ndim && t->dt == from->dt && !t->offset && tensor_is_contiguous(t) && t->st->bytes &&
		   (size_t)tensor_numel(t) * (size_t)dtype_size(t->dt) == t->st->bytes;

	for (int i = 0; i < t->ndim && same; i++)
		same = t->shape[i] == from->shape[i] || (from->shape[i] == few && t->shape[i] > few);
	return same;
}

int sparse_few(const struct tensor *t, const struct tensor *from, int64_t few, uint64_t seed)
{
	struct sparse *p = goes_with(t, from, few) ? begin(t->st) : NULL;

	if (!p)
		return sparse_unknown(t->st);
	p->contents = CONTENTS_FEW;
	p->from = tensor_data(from);
	p->size = (size_t)dtype_size(t->dt);
	p->ndim = t->ndim;
	p->few = few;
	p->seed = seed;
	p->repeated = 0;
	for (int i = 0; i < t->ndim; i++) {
		p->shape[i] = t->shape[i];
		p->step[i] = from->stride[i] * (int64_t)p->size;
		p->repeated |= t->shape[i] != from->shape[i] ? 1u << i : 0;
	}
	return 0;
}

/* --- chunks --------------------------------------------------------------------------------------- */

static void fill_value(const struct sparse *p, char *to, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = (char)p->value[i % (size_t)p->value_bytes];
}

/* Where the smaller tensor has the element of this index. */
static const char *element_of(const struct sparse *p, const int64_t *index)
{
	const char *at = p->from;

	for (int d = 0; d < p->ndim; d++)
		at += (p->repeated >> d & 1 ? sparse_index(index[d], p->few, p->seed) : index[d]) * p->step[d];
	return at;
}

/* Elements at the end of the shape that lie there as they lie here. */
static int64_t run_of(const struct sparse *p)
{
	int64_t run = 1;

	for (int d = p->ndim - 1; d >= 0 && !(p->repeated >> d & 1) && p->step[d] == run * (int64_t)p->size; d--)
		run *= p->shape[d];
	return run;
}

static void fill_few(const struct sparse *p, char *to, size_t at, size_t bytes)
{
	int64_t run = run_of(p), element = (int64_t)(at / p->size), end = element + (int64_t)(bytes / p->size);

	while (element < end) {
		int64_t index[TENSOR_DIMS], left = element, n = MIN(run - element % run, end - element);

		for (int d = p->ndim - 1; d >= 0; d--) {
			index[d] = left % p->shape[d];
			left /= p->shape[d];
		}
		memcpy(to, element_of(p, index), (size_t)n * p->size);
		to += (size_t)n * p->size;
		element += n;
	}
}

static int touch_chunk(struct storage *s, size_t index)
{
	struct sparse *p = s->sparse;
	char *at = (char *)s->data + index * CHUNK;

	if (p->n == CHUNKS_MOST || vec_push(p, ((struct chunk){ .index = index })))
		return -1;
	if (is_mapped(s) && mmap(at, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != at) {
		p->n--;
		return -1;
	}
	p->place[index] = (uint32_t)p->n;
	if (p->contents == CONTENTS_VALUE)
		fill_value(p, at, chunk_bytes(s, index));
	else if (p->contents == CONTENTS_FEW)
		fill_few(p, at, index * CHUNK, chunk_bytes(s, index));
	return 0;
}

int sparse_touch(struct storage *s, size_t lo, size_t hi)
{
	for (size_t i = lo / CHUNK; i <= (hi - 1) / CHUNK; i++)
		if (!s->sparse->place[i] && touch_chunk(s, i))
			return -1;
	return 0;
}

/* --- what is known ---------------------------------------------------------------------------------- */

int sparse_is_known(const struct storage *s, size_t lo, size_t hi)
{
	const struct sparse *p = s->sparse;
	int begins_known = p->contents >= CONTENTS_VALUE;

	for (size_t at = lo; at < hi;) {
		const struct chunk *c = &p->v[p->place[at / CHUNK] - 1];
		size_t end = MIN(hi, (c->index + 1) * CHUNK);

		for (; c->mark && at < end; at++)
			if (c->mark[at % CHUNK] == MARK_UNKNOWN || (c->mark[at % CHUNK] == MARK_NONE && !begins_known))
				return 0;
		if (!c->mark && !begins_known)
			return 0;
		at = end;
	}
	return 1;
}

int sparse_mark(struct storage *s, size_t lo, size_t hi, int known)
{
	struct sparse *p = s->sparse;

	p->stored += hi - lo;
	p->reached = MAX(p->reached, hi);
	for (size_t at = lo; at < hi;) {
		struct chunk *c = &p->v[p->place[at / CHUNK] - 1];
		size_t end = MIN(hi, (c->index + 1) * CHUNK);

		if (!c->mark && !(c->mark = mem_zalloc(CHUNK)))
			return -1;
		memset(c->mark + at % CHUNK, known ? MARK_KNOWN : MARK_UNKNOWN, end - at);
		at = end;
	}
	return 0;
}

static int written_in(const struct chunk *c, sparse_fn *fn, void *ctx)
{
	for (size_t at = 0, end; at < CHUNK; at = end) {
		for (end = at + 1; end < CHUNK && c->mark[end] == c->mark[at];)
			end++;
		if ((c->mark[at] == MARK_KNOWN || c->mark[at] == MARK_KNOWN_BEFORE) && fn(ctx, c->index * CHUNK + at, c->index * CHUNK + end))
			return 1;
	}
	return 0;
}

int sparse_written(const struct storage *s, sparse_fn *fn, void *ctx)
{
	const struct sparse *p = s->sparse;

	for (size_t i = 0; p && i < p->n; i++)
		if (p->v[i].mark && written_in(&p->v[i], fn, ctx))
			return 1;
	return 0;
}

static void change_marks(const struct sparse *p, enum mark from, enum mark to)
{
	for (size_t i = 0; i < p->n; i++)
		for (size_t at = 0; p->v[i].mark && at < CHUNK; at++)
			if (p->v[i].mark[at] == from)
				p->v[i].mark[at] = to;
}

void sparse_begin_some(struct storage *s)
{
	struct sparse *p = s->sparse;

	p->stored_before = p->stored;
	change_marks(p, MARK_KNOWN, MARK_KNOWN_BEFORE);
}

void sparse_end_some(struct storage *s)
{
	struct sparse *p = s->sparse;

	if (p->stored == p->stored_before)
		return;
	change_marks(p, MARK_KNOWN_BEFORE, MARK_UNKNOWN);
	if (p->contents != CONTENTS_EMPTY)
		p->contents = CONTENTS_UNKNOWN;
}

/* --- how much was written ---------------------------------------------------------------------------- */

size_t sparse_stored(const struct storage *s)
{
	return s->sparse ? s->sparse->stored : 0;
}

size_t sparse_reached(const struct storage *s)
{
	return s->sparse ? s->sparse->reached : 0;
}

void sparse_cover(struct storage *s, size_t bytes)
{
	struct sparse *p = s->sparse;

	p->covered = bytes > s->bytes - MIN(p->covered, s->bytes) ? s->bytes : p->covered + bytes;
}

size_t sparse_covered(const struct storage *s)
{
	const struct sparse *p = s->sparse;

	return p && p->contents == CONTENTS_EMPTY && p->stored ? p->covered : s->bytes;
}

int sparse_is_zero(const struct storage *s)
{
	return s->sparse && s->sparse->zero;
}

int sparse_is_made(const struct storage *s)
{
	const struct sparse *p = s->sparse;

	return !p->stored && (p->contents == CONTENTS_EMPTY || p->contents == CONTENTS_VALUE || p->contents == CONTENTS_OWN);
}
