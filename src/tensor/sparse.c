/* Contents of hollow storages where they are touched: see sparse.h.
 *
 * A storage is cut into chunks of 8 KiB. A chunk gets memory, its initial contents and an entry
 * in `v` when it is first touched. Marks (one byte per byte) and load marks (one per word) are
 * allocated when they are first needed. */
#include "tensor/sparse.h"

#include <limits.h>
#include <sys/mman.h>

#include "base/mem.h"

/* Bytes of a word, the unit in which loads are remembered. */
enum { WORD = 4 };
/* A storage may have 81920 chunks, 640 MiB: a column of tiles of a [524288, 256] matrix touches 512
 * MiB. A chunk gets its contents in pieces, since a tile touches 128 bytes of a row of 16 KiB.
 * Memory is mapped for eight chunks at a time, which costs nothing until they are touched. */
enum { CHUNK = 1 << 13, PIECE = CHUNK / 16, CHUNKS_MOST = 5 << 14, MAPPED = 8 * CHUNK };

/* The contents of the storage at positions that nobody wrote. From CONTENTS_VALUE on they are
 * known. */
enum contents { CONTENTS_UNKNOWN, CONTENTS_EMPTY, CONTENTS_VALUE, CONTENTS_REPEATED, CONTENTS_OWN };
/* The mark of a byte. KNOWN_BEFORE: known, written before the current writers began. Each current
 * writer has a mark of its own: MARK_KNOWN plus its number. */
enum mark { MARK_NONE, MARK_UNKNOWN, MARK_KNOWN_BEFORE, MARK_KNOWN };
_Static_assert(MARK_KNOWN + SPARSE_WRITERS <= 255, "a mark is a byte");

/* A chunk that was touched. Arrays are owned. */
struct chunk {
	size_t index;
	unsigned filled;            /* a bit for each piece that has its contents */
	unsigned char *mark;        /* enum mark of each byte; NULL: nobody wrote here */
};

/* Contents and marks of one hollow storage. */
struct sparse {
	enum contents contents;
	unsigned char value[8];     /* CONTENTS_VALUE: the element */
	int value_bytes;
	const char *from;           /* CONTENTS_REPEATED: elements of the smaller tensor */
	int64_t step[TENSOR_DIMS];  /* its strides in bytes */
	unsigned repeated;          /* bit d: dimension d has fewer elements there */
	int ndim;
	int64_t shape[TENSOR_DIMS];
	int64_t count[TENSOR_DIMS]; /* shape of the smaller tensor */
	struct sparse_map map;      /* of its indices */
	size_t size;                /* bytes of an element */
	size_t stored;              /* bytes, see sparse.h */
	size_t filled;              /* bytes that were given contents */
	int zero;                   /* unwritten bytes are zero */
	size_t stored_before;       /* `stored` when the current writers began */
	int writer;                 /* number of the current writer */
	struct chunk *v;            /* chunks that were touched */
	size_t n, cap;
	uint32_t *slot;             /* by chunk: its index in v plus 1; 0: not touched */
	unsigned char *mapped;      /* by MAPPED bytes: whether they have memory */
};

static size_t chunk_bytes(const struct storage *s, size_t index)
{
	return MIN((size_t)CHUNK, s->bytes - index * CHUNK);
}

/* Small hollow storages have memory of their own (tensor.c) and need no mapping. */
static int is_mapped(const struct storage *s)
{
	return !s->release;
}

static size_t maps_of(const struct storage *s)
{
	return s->bytes / MAPPED + 1;
}

/* Unmaps only what was mapped here: something else may lie between, since addresses are many. */
static void drop_chunks(struct storage *s)
{
	struct sparse *p = s->sparse;

	for (size_t i = 0; i < p->n; i++) {
		size_t which = p->v[i].index * CHUNK / MAPPED;

		p->slot[p->v[i].index] = 0;
		mem_free(p->v[i].mark);
		if (p->mapped[which])
			munmap((char *)s->data + which * MAPPED, MAPPED);
		p->mapped[which] = 0;
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
	mem_free(p->slot);
	mem_free(p->mapped);
	mem_free(p);
	s->sparse = NULL;
}

/* Starts new contents: nothing touched, nothing written. */
static struct sparse *begin(struct storage *s)
{
	struct sparse *p = s->sparse;

	if (p) {
		drop_chunks(s);
		p->stored = p->stored_before = 0;
		p->zero = p->writer = 0;
		return p;
	}
	p = mem_zalloc(sizeof *p);
	if (!p)
		return NULL;
	p->slot = mem_array(s->bytes / CHUNK + 1, sizeof *p->slot);
	p->mapped = mem_array(maps_of(s), sizeof *p->mapped);
	if (!p->slot || !p->mapped) {
		mem_free(p->slot);
		mem_free(p->mapped);
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

/* A hash of i and the seed, reduced to [0, few). It must not follow a pattern that a kernel could
 * use. */
int64_t sparse_index(int64_t i, int64_t few, uint64_t seed)
{
	uint64_t x = ((uint64_t)i + seed) * 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	if (few <= 1)
		return 0;
	return (int64_t)(few & (few - 1) ? x % (uint64_t)few : x & (uint64_t)(few - 1));
}

/* The first half of the smaller dimension is the beginning, the second half the end. The indices
 * between repeat the last period of the first half. */
int64_t sparse_fold(int64_t i, int64_t n, int64_t smaller, int64_t periods)
{
	int64_t half = smaller / 2, period = (n - smaller) / periods;

	if (i >= n - (smaller - half))
		return i - (n - smaller);
	return i < half ? i : half - period + (i - half) % period;
}

/* A dimension that could be of both kinds fits neither. */
int sparse_map_fits(const struct sparse_map *m, int64_t n, int64_t smaller)
{
	int few = m->spread || smaller == m->few, folds = m->periods && !((n - smaller) % m->periods) &&
		(n - smaller) / m->periods <= smaller / 2;

	return n == smaller || (n > smaller && few != folds);
}

int64_t sparse_map_index(const struct sparse_map *m, int64_t i, int64_t n, int64_t smaller)
{
	if (n == smaller)
		return i;
	if (smaller == m->few)
		return sparse_index(i, smaller, m->seed);
	return m->spread ? sparse_index(i, smaller, m->spread) : sparse_fold(i, n, smaller, m->periods);
}

/* t must be all of its storage; the other tensor has the same dtype and rank, and fewer elements
 * along some dimensions. */
int sparse_goes_with(const struct tensor *t, const struct tensor *from, const struct sparse_map *m)
{
	int same = t->ndim == from->ndim && t->dt == from->dt && tensor_is_contiguous(t) && t->st->bytes &&
		tensor_is_whole(t);

	for (int i = 0; i < t->ndim && same; i++)
		same = sparse_map_fits(m, t->shape[i], from->shape[i]);
	return same;
}

int sparse_few(const struct tensor *t, const struct tensor *from, const struct sparse_map *m)
{
	struct sparse *p = sparse_goes_with(t, from, m) ? begin(t->st) : NULL;

	if (!p)
		return sparse_unknown(t->st);
	p->contents = CONTENTS_REPEATED;
	p->from = tensor_data(from);
	p->size = (size_t)dtype_size(t->dt);
	p->ndim = t->ndim;
	p->map = *m;
	p->repeated = 0;
	for (int i = 0; i < t->ndim; i++) {
		p->shape[i] = t->shape[i];
		p->count[i] = from->shape[i];
		p->step[i] = from->stride[i] * (int64_t)p->size;
		p->repeated |= t->shape[i] != from->shape[i] ? 1u << i : 0;
	}
	return 0;
}

/* Returns the index in the smaller tensor at which row number `row` begins. A row is all elements
 * along the last dimension. */
static int64_t row_from(const struct tensor *t, const struct tensor *from, int64_t row, uint64_t seed)
{
	int64_t at = 0, step = from->ndim ? from->shape[from->ndim - 1] : 1;

	for (int d = t->ndim - 2; d >= 0; d--) {
		int64_t i = row % t->shape[d];

		row /= t->shape[d];
		at += (t->shape[d] == from->shape[d] ? i : sparse_index(i, from->shape[d], seed)) * step;
		step *= from->shape[d];
	}
	return at;
}

/* The column indices are computed once, because all rows use the same. */
int sparse_spread(const struct tensor *t, const struct tensor *from, uint64_t seed)
{
	int64_t width = t->ndim ? t->shape[t->ndim - 1] : 1, few = from->ndim ? from->shape[from->ndim - 1] : 1;
	int64_t rows = width ? tensor_numel(t) / width : 0, *col = mem_array((size_t)width + 1, sizeof *col);
	size_t size = (size_t)dtype_size(from->dt);
	char *row = mem_array((size_t)width + 1, size);

	for (int64_t i = 0; i < width && col; i++)
		col[i] = width == few ? i : sparse_index(i, few, seed);
	for (int64_t r = 0; r < rows && col && row; r++) {
		const char *v = (const char *)tensor_data(from) + (size_t)row_from(t, from, r, seed) * size;

		for (int64_t i = 0; i < width; i++)
			memcpy(row + (size_t)i * size, v + (size_t)col[i] * size, size);
		dtype_convert(t->dt, (char *)tensor_data(t) + (size_t)(r * width) * (size_t)dtype_size(t->dt),
			      from->dt, row, (size_t)width);
	}
	rows = col && row ? 0 : -1;
	mem_free(col);
	mem_free(row);
	return (int)rows;
}

/* --- copies --------------------------------------------------------------------------------------- */

/* Returns the dimension of the view with the largest stride among those not done, or -1 if all are
 * done. Dimensions of 1 do not count. */
static int largest_step(const struct tensor *view, unsigned done)
{
	int best = -1;

	for (int d = 0; d < view->ndim; d++)
		if (!(done >> d & 1) && view->shape[d] > 1 && (best < 0 || view->stride[d] > view->stride[best]))
			best = d;
	return best;
}

/* Finds which dimensions of the contents form each dimension of a view: first[d] to end[d],
 * exclusive. Contents of shape [4, 6, 10] seen as [10, 24] transposed have first = { 2, 0 }, end
 * = { 3, 2 }. Returns 0 if the view does not consist of whole dimensions. */
static int match_view(const struct sparse *p, const struct tensor *view, int *first, int *end)
{
	int64_t left = tensor_numel(view);
	unsigned done = 0;
	int at = 0, d;

	memset(first, 0, TENSOR_DIMS * sizeof *first);
	memset(end, 0, TENSOR_DIMS * sizeof *end);
	while ((d = largest_step(view, done)) >= 0) {
		int64_t n = 1;

		done |= 1u << d;
		first[d] = at;
		while (at < p->ndim && n < view->shape[d])
			n *= p->shape[at++];
		end[d] = at;
		left /= n;
		if (n != view->shape[d] || view->stride[d] != left)
			return 0;
	}
	return left == 1;
}

/* The contents of p with their dimensions in the order of the view. */
static void take_order(struct sparse *to, const struct sparse *p, int ndim, const int *first, const int *end)
{
	to->contents = CONTENTS_REPEATED;
	to->from = p->from;
	to->size = p->size;
	to->map = p->map;
	to->ndim = 0;
	to->repeated = 0;
	for (int d = 0; d < ndim; d++)
		for (int i = first[d]; i < end[d]; i++) {
			to->shape[to->ndim] = p->shape[i];
			to->count[to->ndim] = p->count[i];
			to->step[to->ndim] = p->step[i];
			to->repeated |= (p->repeated >> i & 1u) << to->ndim;
			to->ndim++;
		}
}

int sparse_copy(const struct tensor *t, const struct tensor *view)
{
	const struct sparse *p = view->st->sparse;
	int first[TENSOR_DIMS], end[TENSOR_DIMS];
	struct sparse *to;

	if (p && p->contents == CONTENTS_VALUE && !p->stored && t->st != view->st && t->dt == view->dt &&
	    tensor_is_whole(t))
		return sparse_value(t->st, p->value, p->value_bytes) ? -1 : 1;
	if (!p || p->contents != CONTENTS_REPEATED || p->stored || t->st == view->st || t->dt != view->dt ||
	    !tensor_is_whole(t) || !tensor_is_contiguous(t) ||
	    !tensor_is_whole(view) || !tensor_same_shape(t, view) || !match_view(p, view, first, end))
		return 0;
	to = begin(t->st);
	if (!to)
		return -1;
	take_order(to, p, view->ndim, first, end);
	return 1;
}

const void *sparse_source(const struct tensor *t)
{
	const struct sparse *p = t->st->sparse;
	int64_t step = p ? (int64_t)p->size : 0;

	if (!p || p->contents != CONTENTS_REPEATED || p->stored || t->ndim != p->ndim || !tensor_is_whole(t) ||
	    !tensor_is_contiguous(t))
		return NULL;
	for (int d = p->ndim - 1; d >= 0; d--) {
		if (t->shape[d] != p->shape[d] || (p->shape[d] > 1 && p->step[d] != step))
			return NULL;
		step *= p->count[d];
	}
	return p->from;
}

/* --- chunks --------------------------------------------------------------------------------------- */

static void fill_value(const struct sparse *p, char *to, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = (char)p->value[i % (size_t)p->value_bytes];
}

/* Returns the element of the smaller tensor that this index repeats. */
static const char *element_of(const struct sparse *p, const int64_t *index)
{
	const char *at = p->from;

	for (int d = 0; d < p->ndim; d++)
		at += sparse_map_index(&p->map, index[d], p->shape[d], p->count[d]) * p->step[d];
	return at;
}

/* Elements at the end of the shape that are contiguous in both tensors, so that one memcpy does
 * them. */
static int64_t run_of(const struct sparse *p)
{
	int64_t run = 1;

	for (int d = p->ndim - 1; d >= 0 && !(p->repeated >> d & 1) && p->step[d] == run * (int64_t)p->size; d--)
		run *= p->shape[d];
	return run;
}

/* Fills elements along the last dimension from this index on, at most `most`, one by one. Returns
 * how many. */
static int64_t fill_apart(const struct sparse *p, char *to, int64_t *index, int64_t most)
{
	int last = p->ndim - 1;
	int64_t first = index[last], width = p->shape[last], count = p->count[last], n = MIN(width - first, most);
	const char *row;

	index[last] = 0;
	row = element_of(p, index) - sparse_map_index(&p->map, 0, width, count) * p->step[last];
	for (int64_t i = 0; i < n; i++, to += p->size) {
		const char *from = row + sparse_map_index(&p->map, first + i, width, count) * p->step[last];

		if (p->size == 4)
			memcpy(to, from, 4);
		else
			memcpy(to, from, p->size);
	}
	return n;
}

/* Fills bytes [at, at + bytes) of the storage from the smaller tensor. */
static void fill_repeated(const struct sparse *p, char *to, size_t at, size_t bytes)
{
	int64_t run = run_of(p), element = (int64_t)(at / p->size), end = element + (int64_t)(bytes / p->size);

	while (element < end) {
		int64_t index[TENSOR_DIMS], left = element, n = MIN(run - element % run, end - element);

		for (int d = p->ndim - 1; d >= 0; d--) {
			index[d] = left % p->shape[d];
			left /= p->shape[d];
		}
		if (run == 1 && p->ndim)
			n = fill_apart(p, to, index, end - element);
		else
			memcpy(to, element_of(p, index), (size_t)n * p->size);
		to += (size_t)n * p->size;
		element += n;
	}
}

/* Maps memory at the fixed address of the chunk; another mapping there is an error. */
static int map_chunk(struct storage *s, size_t index)
{
	size_t which = index * CHUNK / MAPPED;
	char *at = (char *)s->data + which * MAPPED;

	if (!is_mapped(s) || s->sparse->mapped[which])
		return 0;
	if (mmap(at, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != at)
		return -1;
	s->sparse->mapped[which] = 1;
	return 0;
}

/* Gives a chunk memory and a slot. */
static int touch_chunk(struct storage *s, size_t index)
{
	struct sparse *p = s->sparse;

	if (p->n == CHUNKS_MOST || vec_push(p, ((struct chunk){ .index = index })))
		return -1;
	if (map_chunk(s, index)) {
		p->n--;
		return -1;
	}
	p->slot[index] = (uint32_t)p->n;
	return 0;
}

/* Gives the pieces of a chunk that [lo, hi) touches their initial contents. Unknown contents stay
 * as mapped: zero. */
static void fill_pieces(struct storage *s, struct chunk *c, size_t lo, size_t hi)
{
	const struct sparse *p = s->sparse;
	size_t begin = c->index * CHUNK, end = begin + chunk_bytes(s, c->index);

	for (size_t at = MAX(lo, begin) / PIECE * PIECE; at < MIN(hi, end); at += PIECE) {
		unsigned bit = 1u << (at - begin) / PIECE;

		if (c->filled & bit)
			continue;
		c->filled |= bit;
		s->sparse->filled += PIECE;
		if (p->contents == CONTENTS_VALUE)
			fill_value(p, (char *)s->data + at, MIN((size_t)PIECE, end - at));
		else if (p->contents == CONTENTS_REPEATED)
			fill_repeated(p, (char *)s->data + at, at, MIN((size_t)PIECE, end - at));
	}
}

/* The chunk that holds a range of a few bytes; NULL: it has not been touched, or there are several. */
static inline const struct chunk *chunk_of(const struct sparse *p, size_t lo, size_t hi)
{
	size_t i = lo / CHUNK;

	return lo < hi && (hi - 1) / CHUNK == i && p->slot[i] ? &p->v[p->slot[i] - 1] : NULL;
}

/* Touches pieces of any number of chunks. */
static int touch_pieces(struct storage *s, size_t lo, size_t hi)
{
	for (size_t i = lo / CHUNK; i * CHUNK < hi; i++) {
		if (!s->sparse->slot[i] && touch_chunk(s, i))
			return -1;
		fill_pieces(s, &s->sparse->v[s->sparse->slot[i] - 1], lo, hi);
	}
	return 0;
}

/* Called for each element of a transposed tile, so a piece that has its contents comes first. */
int sparse_touch(struct storage *s, size_t lo, size_t hi)
{
	const struct chunk *c = chunk_of(s->sparse, lo, hi);

	if (c && lo / PIECE == (hi - 1) / PIECE && c->filled >> (lo % CHUNK / PIECE) & 1)
		return 0;
	return touch_pieces(s, lo, hi);
}

/* --- what is known ---------------------------------------------------------------------------------- */

/* An unmarked byte is known if the initial contents are. */
int sparse_is_known(const struct storage *s, size_t lo, size_t hi)
{
	const struct sparse *p = s->sparse;
	const struct chunk *only = chunk_of(p, lo, hi);
	int begins_known = p->contents >= CONTENTS_VALUE;

	if (only && !only->mark)
		return begins_known;
	for (size_t at = lo; at < hi;) {
		const struct chunk *c = &p->v[p->slot[at / CHUNK] - 1];
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
	for (size_t at = lo; at < hi;) {
		struct chunk *c = &p->v[p->slot[at / CHUNK] - 1];
		size_t end = MIN(hi, (c->index + 1) * CHUNK);

		if (!c->mark && !(c->mark = mem_zalloc(CHUNK)))
			return -1;
		memset(c->mark + at % CHUNK, known ? MARK_KNOWN + p->writer : MARK_UNKNOWN, end - at);
		at = end;
	}
	return 0;
}

/* Runs of equal marks of a chunk; the known ones go to fn. */
static int written_in(const struct chunk *c, sparse_fn *fn, void *ctx)
{
	for (size_t at = 0, end; at < CHUNK; at = end) {
		for (end = at + 1; end < CHUNK && c->mark[end] == c->mark[at];)
			end++;
		if (c->mark[at] >= MARK_KNOWN_BEFORE && fn(ctx, c->index * CHUNK + at, c->index * CHUNK + end))
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

/* Replaces all marks from `first` to `last`. */
static void change_marks(const struct sparse *p, unsigned char first, unsigned char last, enum mark to)
{
	for (size_t i = 0; i < p->n; i++)
		for (size_t at = 0; p->v[i].mark && at < CHUNK; at++)
			if (p->v[i].mark[at] >= first && p->v[i].mark[at] <= last)
				p->v[i].mark[at] = (unsigned char)to;
}

void sparse_begin_some(struct storage *s)
{
	struct sparse *p = s->sparse;

	p->stored_before = p->stored;
	p->writer = 0;
	change_marks(p, MARK_KNOWN, UCHAR_MAX, MARK_KNOWN_BEFORE);
}

/* Bytes of earlier writers become unknown, because instances that did not run may have overwritten
 * them. */
void sparse_end_some(struct storage *s)
{
	struct sparse *p = s->sparse;

	if (p->stored == p->stored_before)
		return;
	change_marks(p, MARK_KNOWN_BEFORE, MARK_KNOWN_BEFORE, MARK_UNKNOWN);
	if (p->contents != CONTENTS_EMPTY)
		p->contents = CONTENTS_UNKNOWN;
}

void sparse_next_writer(struct storage *s)
{
	BUG_ON(s->sparse->writer == SPARSE_WRITERS);
	s->sparse->writer++;
}

void sparse_drop_writer(struct storage *s)
{
	unsigned char mark = (unsigned char)(MARK_KNOWN + s->sparse->writer);

	change_marks(s->sparse, mark, mark, MARK_UNKNOWN);
}

/* --- how much was written ---------------------------------------------------------------------------- */

size_t sparse_filled(const struct storage *s)
{
	return s->sparse ? s->sparse->filled : 0;
}

size_t sparse_stored(const struct storage *s)
{
	return s->sparse ? s->sparse->stored : 0;
}

int sparse_is_empty(const struct storage *s)
{
	return s->sparse && s->sparse->contents == CONTENTS_EMPTY && !s->sparse->zero;
}

int sparse_is_zero(const struct storage *s)
{
	return s->sparse && s->sparse->zero;
}

int sparse_is_made(const struct storage *s)
{
	const struct sparse *p = s->sparse;

	return !p->stored && (p->contents == CONTENTS_EMPTY || p->contents == CONTENTS_VALUE ||
			      p->contents == CONTENTS_OWN);
}

/* Zeros are stored as empty memory with a mark, because a kernel that leaves some of them unwritten
 * must be found. */
enum sparse_made sparse_made_of(const struct storage *s, unsigned char value[8], int *bytes)
{
	const struct sparse *p = s->sparse;

	if (!p || !sparse_is_made(s))
		return SPARSE_MADE_NOT;
	if (p->contents == CONTENTS_OWN)
		return SPARSE_MADE_OWN;
	if (p->contents == CONTENTS_EMPTY && !p->zero)
		return SPARSE_MADE_EMPTY;
	*bytes = p->contents == CONTENTS_VALUE ? p->value_bytes : 1;
	memcpy(value, p->contents == CONTENTS_VALUE ? p->value : (const unsigned char[8]){ 0 }, 8);
	return SPARSE_MADE_VALUE;
}
