/* The elements that one access touches: the box of its lanes and loop iterations, cut by its
 * conditions.
 *
 * First, variables that only occur together are joined: in pid * 64 + lane with 64 lanes the two make one
 * variable that counts the elements. Then a condition on one variable is a bound of it. Example:
 * y[row * n + col] under row < m and col < n is a box with two bounds. A condition on several variables
 * that are not joined cuts the box into parts, one for each value of a variable; with too many parts the access is
 * not decided. */
#include <string.h>

#include "base/hash.h"
#include "tile/slice/slice_walk.h"

/* The cost of adding a range to a set and of a part (add_parts), as that of an instruction; of adding a range to a list
 * as that to a bitmap; passes of cut_all. */
enum { VARS = FORM_VARS, CONDS = FORM_CONDS + FORM_CONDS + 2 * (FORM_VARS - FORM_LOOSE), RANGE_COST = 16,
       PART_COST = 96, LIST_COST = 8, PASSES = 8 };

/* Parts of an access in attempt 1 (add_parts); the others have fuel. */
static const int64_t parts_most = 1 << 14;

/* An access in this batch. */
struct region {
	struct slice_walk *w;
	const struct tile_insn *in;
	int memory, size;           /* parameter; bytes of an element */
	const struct form *address;
	int n, n_conds;             /* variables and conditions */
	int64_t coef[VARS];         /* of the address, by variable */
	int64_t extent[VARS];
	const int64_t *trips[VARS]; /* extent in each instance; NULL: `extent` in all */
	const struct form *cond[CONDS];
	int64_t by[CONDS][VARS];    /* coefficients of the conditions */
	int loose;                  /* the box is larger than what is touched */
	int8_t of[VARS];            /* of a variable of loose values or quotients (closed_form.h): its number, or -1 */
	int64_t lo[VARS], hi[VARS]; /* bounds in the current instance */
};

/* Adds the conditions of a bool. One that is not exact is left out, and the region becomes loose. */
static void add_conds(struct region *r, const struct form *x)
{
	for (int k = 0; k < x->n_conds; k++) {
		if (x->cond[k].loose)
			r->loose = 1;
		else
			r->cond[r->n_conds++] = &x->cond[k];
	}
}

/* The same for an upper bound, which the conditions that are not exact may cut too. */
static void add_all_conds(struct region *r, const struct form *x)
{
	for (int k = 0; k < x->n_conds; k++)
		r->cond[r->n_conds++] = &x->cond[k];
}

static int is_used(const struct region *r, int k)
{
	int used = r->address && r->address->coef[k];

	for (int c = 0; c < r->n_conds; c++)
		used |= r->cond[c]->coef[k] != 0;
	return used;
}

/* Adds the limits of the quotients in the address and in the conditions. A dividend may have quotients in it, but
 * only ones that are older. */
static void add_limits(struct region *r)
{
	const struct form_batch *b = &r->w->b;

	for (int k = FORM_LOOSE + b->n_loose - 1; k >= FORM_LOOSE; k--)
		if (b->of[k] && is_used(r, k)) {
			r->cond[r->n_conds++] = &b->limits[k][0];
			r->cond[r->n_conds++] = &b->limits[k][1];
		}
}

/* Adds the variables of the tile, of the loops and of the program ids that count beyond one, or that
 * may not count at all. */
static void add_vars(struct region *r)
{
	const struct slice_walk *w = r->w;

	for (int k = 0; k < FORM_VARS; k++) {
		int64_t extent = w->b.extent[k];
		const int64_t *trips = k >= FORM_LOOP && k < FORM_LOOP + w->depth ? w->trips[k - FORM_LOOP] : NULL;

		if (k >= FORM_LOOP + w->depth && k < FORM_PID)
			continue;
		if (!is_used(r, k) && !trips && extent > 0)
			continue;
		r->coef[r->n] = r->address->coef[k];
		r->extent[r->n] = extent;
		r->trips[r->n] = trips;
		r->of[r->n] = (int8_t)(k >= FORM_LOOSE ? k : -1);
		for (int c = 0; c < r->n_conds; c++)
			r->by[c][r->n] = r->cond[c]->coef[k];
		r->n++;
	}
}

/* Whether variable p is the next digit above variable q everywhere: pid above lane in pid * 64 + lane. */
static int continues(const struct region *r, int p, int q)
{
	int64_t e = r->extent[q];
	int any = r->coef[q] != 0;

	if (p == q || r->trips[q] || e < 2 || r->coef[p] != r->coef[q] * e || r->of[p] >= 0 || r->of[q] >= 0)
		return 0;
	for (int c = 0; c < r->n_conds; c++) {
		if (r->by[c][p] != r->by[c][q] * e)
			return 0;
		any |= r->by[c][q] != 0;
	}
	return any;
}

static void remove_var(struct region *r, int p)
{
	int last = --r->n;

	r->coef[p] = r->coef[last];
	r->extent[p] = r->extent[last];
	r->trips[p] = r->trips[last];
	r->of[p] = r->of[last];
	for (int c = 0; c < r->n_conds; c++)
		r->by[c][p] = r->by[c][last];
}

/* Joins p into q: q counts through all values of both. */
static int join(struct region *r, int p, int q)
{
	int64_t *trips, e = r->extent[q];

	if (r->trips[p]) {
		trips = arena_alloc(&r->w->mem, (size_t)r->w->b.n * sizeof *trips);
		if (!trips)
			return err_nomem(r->w->e);
		for (int i = 0; i < r->w->b.n; i++)
			trips[i] = r->trips[p][i] * e;
		r->trips[q] = trips;
	}
	r->extent[q] = e * r->extent[p];
	remove_var(r, p);
	return 0;
}

static int join_vars(struct region *r)
{
	for (int p = 0; p < r->n; p++)
		for (int q = 0; q < r->n; q++)
			if (continues(r, p, q)) {
				if (join(r, p, q))
					return -1;
				p = q = -1;
				break;
			}
	return 0;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* Cuts variable k by base + sum < 0, where `lo` is the least value of base + sum in the box. */
static void cut_var(struct region *r, int c, int k, int64_t lo)
{
	int64_t by = r->by[c][k];

	/* the least value of all but variable k, which adds by * v */
	lo -= MIN(by * r->lo[k], by * (r->hi[k] - 1));
	if (by > 0)
		r->hi[k] = MIN(r->hi[k], floor_div(-lo - 1, by) + 1);
	else
		r->lo[k] = MAX(r->lo[k], floor_div(lo, -by) + 1);
}

/* Cuts the box of the current instance by a condition base + sum < 0. Returns 1 if nothing is left, -1 if the
 * condition holds in a part of the box that is no box, else 0. */
static int cut(struct region *r, int c, int64_t base)
{
	int64_t lo = base, hi = base;
	int vars = 0;

	for (int k = 0; k < r->n; k++) {
		int64_t by = r->by[c][k];

		lo += MIN(by * r->lo[k], by * (r->hi[k] - 1));
		hi += MAX(by * r->lo[k], by * (r->hi[k] - 1));
	}
	if (lo >= 0 || hi < 0)
		return lo >= 0;
	for (int k = 0; k < r->n; k++)
		if (r->by[c][k] && r->hi[k] - r->lo[k] > 1) {
			cut_var(r, c, k, lo);
			vars++;
			if (r->lo[k] >= r->hi[k])
				return 1;
		}
	return vars == 1 ? 0 : -1;
}

/* Conditions that hold in a part of the box that is no box. */
struct open { int n; uint8_t cond[CONDS]; };

/* Cuts by these conditions until nothing changes, PASSES times at most: one may leave a single index of a variable,
 * which another can use. Those that hold everywhere in the box are dropped. Returns as cut. */
static int cut_all(struct region *r, int i, struct open *o)
{
	int64_t size = 0, before;

	for (int pass = 0; pass < PASSES && o->n; pass++) {
		int left = 0;

		for (int k = 0; k < o->n; k++) {
			int c = o->cond[k], rc = cut(r, c, form_base(r->cond[c], i));

			if (rc > 0)
				return 1;
			if (rc < 0)
				o->cond[left++] = (uint8_t)c;
		}
		o->n = left;
		before = size;
		size = 0;
		for (int k = 0; k < r->n; k++)
			size += r->hi[k] - r->lo[k];
		if (size == before)
			break;
	}
	return o->n ? -1 : 0;
}

/* Cuts the whole box by all conditions. */
static int cut_first(struct region *r, int i, struct open *o)
{
	o->n = r->n_conds;
	for (int c = 0; c < r->n_conds; c++)
		o->cond[c] = (uint8_t)c;
	return cut_all(r, i, o);
}

/* The set of bytes that the access adds to. */
static struct cover *target(struct region *r)
{
	struct slice_memory *m = &r->w->s->v[r->w->memory[r->memory].at];

	return r->in->op == TOP_LOAD ? &m->read : &m->written;
}

/* Whether this access has added the same box before: instances of one row of tiles load the same rows. */
static int was_added(const struct region *r, int64_t base, const int64_t *count)
{
	int64_t key[2 + 2 * VARS] = { base, r->in - r->w->code->funcs[0].insns };
	uint64_t hash, *seen;

	memcpy(key + 2, count, (size_t)r->n * sizeof *count);
	memcpy(key + 2 + r->n, r->coef, (size_t)r->n * sizeof *count);
	hash = hash_xxh64(key, (size_t)(2 + 2 * r->n) * sizeof *key, 0) | 1;
	seen = &r->w->seen[hash / 2 % SLICE_SEEN];
	if (*seen == hash)
		return 1;
	*seen = hash;
	return 0;
}

/* Checks the box against the storage and adds it. Returns 0; 1 if the access is not decided; 2 if it is out of
 * bounds; -1 on our own failure. */
static int add_box(struct region *r, int i, int exact)
{
	const struct slice_walk *w = r->w;
	int64_t base = form_base(r->address, i), lo, hi, count[VARS], bytes = (int64_t)w->memory[r->memory].st->bytes;
	struct cover *to = target(r);
	int64_t adds;
	int rc;

	for (int k = 0; k < r->n; k++) {
		count[k] = r->hi[k] - r->lo[k];
		base += r->coef[k] * r->lo[k];
	}
	lo = hi = base;
	for (int k = 0; k < r->n; k++) {
		lo += MIN(r->coef[k] * (count[k] - 1), 0);
		hi += MAX(r->coef[k] * (count[k] - 1), 0);
	}
	if (lo < 0 || hi + r->size > bytes) {
		if (exact)
			slice_fault(r->w, r->in, r->memory, w->by_pid ? -1 : (w->first + i) / w->lanes,
				    lo < 0 ? lo : hi);
		return exact ? 2 : 1;
	}
	if (!exact)
		return 1;
	if (was_added(r, base, count))
		return 0;
	if (r->in->op == TOP_LOAD && w->ranges < 0)
		return 1;
	adds = to->adds;
	rc = cover_add_box(to, base, r->size, r->n, r->coef, count);
	if (r->in->op == TOP_LOAD)
		r->w->ranges -= (to->bits ? 1 : LIST_COST) * (to->adds - adds);
	else
		r->w->fuel -= RANGE_COST * (to->adds - adds);
	if (!rc && r->in->op != TOP_LOAD && r->in->op != TOP_STORE)
		rc = cover_add_box(&w->s->v[w->memory[r->memory].at].read, base, r->size, r->n, r->coef, count);
	return rc;
}

/* The variable of these conditions with the fewest values in the box, but more than one. */
static int next_var(const struct region *r, const struct open *o)
{
	int next = -1;

	for (int c = 0; c < o->n; c++)
		for (int k = 0; k < r->n; k++)
			if (r->by[o->cond[c]][k] && r->hi[k] - r->lo[k] > 1 &&
			    (next < 0 || r->hi[k] - r->lo[k] < r->hi[next] - r->lo[next]))
				next = k;
	return next;
}

/* The current box, cut by these conditions too. Each value of a variable makes a part of its own: m // 196 of 256 lanes
 * has two or three values, and the lanes of each are a range; a window of 3 columns cuts the columns of an image in
 * three ways. Returns as add_box. */
static int add_parts(struct region *r, int i, const struct open *left)
{
	int k = r->loose ? -1 : next_var(r, left), rc = 0, open = 0;
	int64_t lo[VARS], hi[VARS];

	if (k < 0)
		return add_box(r, i, 0);
	r->w->parts -= r->hi[k] - r->lo[k];
	r->w->fuel -= PART_COST * (r->hi[k] - r->lo[k]);
	if (r->w->parts < 0 || r->w->fuel < 0)
		return add_box(r, i, 0);
	memcpy(lo, r->lo, sizeof lo);
	memcpy(hi, r->hi, sizeof hi);
	for (int64_t v = lo[k]; v < hi[k] && rc != 2; v++) {
		struct open o = *left;

		memcpy(r->lo, lo, sizeof lo);
		memcpy(r->hi, hi, sizeof hi);
		r->lo[k] = v;
		r->hi[k] = v + 1;
		rc = cut_all(r, i, &o);
		rc = rc > 0 ? 0 : rc < 0 ? add_parts(r, i, &o) : add_box(r, i, 1);
		if (rc < 0)
			return rc;
		open |= rc == 1;
	}
	return rc == 2 ? 2 : open;
}

/* The part of one instance. */
static int add_instance(struct region *r, int i)
{
	struct open o;
	int rc;

	for (int k = 0; k < r->n; k++) {
		r->lo[k] = 0;
		r->hi[k] = r->trips[k] ? r->trips[k][i] : r->extent[k];
		if (r->hi[k] <= 0)
			return 0;
	}
	rc = cut_first(r, i, &o);
	return rc > 0 ? 0 : rc < 0 ? add_parts(r, i, &o) : add_box(r, i, !r->loose);
}

/* The operand that is the mask, or -1. */
static int mask_of(const struct tile_insn *in)
{
	int at = in->op == TOP_LOAD ? 1 : in->op == TOP_CAS ? in->n_src : 2;

	return at < in->n_src ? at : -1;
}

static enum slice_answer answer_of(const struct form *f)
{
	return f->kind == FORM_NONE && f->why == FORM_CONTENTS ? SLICE_CONTENTS : SLICE_UNDECIDED;
}

/* Adds every variable that counts lanes, iterations or instances, and those of loose values. */
static void add_all_vars(struct region *r)
{
	const struct slice_walk *w = r->w;

	for (int k = 0; k < FORM_LOOSE + w->b.n_loose; k++) {
		if (k >= FORM_LOOP + w->depth && k < FORM_PID)
			continue;
		r->coef[r->n] = r->address ? r->address->coef[k] : 0;
		r->extent[r->n] = w->b.extent[k];
		r->trips[r->n] = k >= FORM_LOOP && k < FORM_PID ? w->trips[k - FORM_LOOP] : NULL;
		r->of[r->n] = (int8_t)(k >= FORM_LOOSE ? k : -1);
		for (int c = 0; c < r->n_conds; c++)
			r->by[c][r->n] = r->cond[c]->coef[k];
		r->n++;
	}
}

/* Whether 64 bits are too few for an address or a condition somewhere in the box. */
static int overflows(const struct region *r)
{
	int64_t lo, hi;
	int any = r->address && form_range(&r->w->b, r->address, &lo, &hi);

	for (int c = 0; c < r->n_conds; c++)
		any |= form_range(&r->w->b, r->cond[c], &lo, &hi);
	return any;
}

/* The elements in the box at most: its lanes in all instances and iterations, and the places that its address may
 * name. */
static int64_t most_elements(const struct region *r)
{
	int64_t lanes = 1, places = 1;

	for (int k = 0; k < r->n; k++) {
		int64_t n = r->of[k] < 0 ? r->hi[k] - r->lo[k] :
			form_count_loose(&r->w->b, r->of[k], r->lo[k], r->hi[k]);

		if (r->of[k] < 0 && ck_mul64(lanes, n, &lanes))
			lanes = INT64_MAX;
		if (r->coef[k] && ck_mul64(places, n, &places))
			places = INT64_MAX;
	}
	return r->address ? MIN(lanes, places) : lanes;
}

/* The bytes that an access to an unknown place touches at most, under the conditions that are known. Example:
 * out[index[i]] under i < 3000 writes 3000 elements at most, wherever they are. Returns -1 when memory runs out. */
static int64_t most_bytes(struct slice_walk *w, const struct tile_insn *in, const struct form *address,
			  const struct form *mask)
{
	struct tile_type type = w->code->regs[tile_src(in, 0)];
	struct region r = { .w = w, .in = in, .size = dtype_size((enum dtype)type.dt),
			    .address = address->kind == FORM_INT ? address : NULL };
	struct open o;
	int64_t most;

	if (!w->by_pid || w->path_answer != SLICE_DECIDED)
		return INT64_MAX;
	form_lanes(&w->b, type);
	add_all_conds(&r, &w->path);
	if (mask && mask->kind == FORM_BOOL)
		add_all_conds(&r, mask);
	if (overflows(&r))
		return INT64_MAX;
	add_all_vars(&r);
	if (join_vars(&r))
		return -1;
	for (int k = 0; k < r.n; k++)
		r.hi[k] = r.trips[k] ? r.trips[k][0] : r.extent[k];
	for (int k = 0; k < r.n; k++)
		if (r.hi[k] <= 0)
			return 0;
	if (cut_first(&r, 0, &o) > 0)
		return 0;
	return ck_mul64(most_elements(&r), r.size, &most) ? INT64_MAX : most;
}

/* The access is not decided. Returns 0, or -1 when memory runs out. */
static int note_unknown(struct slice_walk *w, const struct tile_insn *in, const struct form *address,
			const struct form *mask, enum slice_answer why)
{
	struct slice_open open = { .most = most_bytes(w, in, address, mask), .why = why };
	struct tile_type type = w->code->regs[tile_src(in, 0)];

	open.rounded = form_is_rounded(&w->b, address) || (mask && form_is_rounded(&w->b, mask));
	open.each = w->depth ? INT64_MAX : dtype_size((enum dtype)type.dt);
	for (int d = 0; d < type.ndim && !w->depth; d++)
		open.each *= type.shape[d];
	if (open.most >= 0 && in->op != TOP_LOAD)
		slice_unknown(w, address->memory, 1, open);
	/* an atomic operation reads as well */
	if (open.most >= 0 && in->op != TOP_STORE)
		slice_unknown(w, address->memory, 0, open);
	return open.most < 0 ? -1 : 0;
}

/* Why the operands or the path of an access have no form; SLICE_DECIDED: they have one. */
static enum slice_answer why_unknown(const struct slice_walk *w, const struct form *address, const struct form *mask)
{
	if (w->path_answer != SLICE_DECIDED)
		return w->path_answer;
	if (mask && mask->kind != FORM_BOOL)
		return answer_of(mask);
	return address->kind != FORM_INT || address->memory < 0 ? answer_of(address) : SLICE_DECIDED;
}

int slice_access(struct slice_walk *w, const struct tile_insn *in)
{
	tile_reg ptr = tile_src(in, 0);
	const struct form *address = &w->reg[ptr];
	const struct form *mask = mask_of(in) < 0 ? NULL : &w->reg[tile_src(in, mask_of(in))];
	struct region r = { .w = w, .in = in, .address = address, .memory = address->memory,
			    .size = dtype_size((enum dtype)w->code->regs[ptr].dt) };
	enum slice_answer why = why_unknown(w, address, mask);
	int rc = 0, open = 0;

	if (w->dry || w->quiet)
		return 0;
	if (why != SLICE_DECIDED)
		return note_unknown(w, in, address, mask, why) ? err_nomem(w->e) : 0;
	r.loose = address->loose;
	form_lanes(&w->b, w->code->regs[ptr]);
	add_conds(&r, &w->path);
	if (mask)
		add_conds(&r, mask);
	if (!r.loose)
		add_limits(&r);
	if (overflows(&r))
		return note_unknown(w, in, address, mask, SLICE_UNDECIDED) ? err_nomem(w->e) : 0;
	add_vars(&r);
	if (join_vars(&r))
		return -1;
	w->parts = w->by_pid ? parts_most : INT64_MAX;
	for (int i = 0; i < w->b.n && rc >= 0 && !w->faulted; i++) {
		if (w->gone && w->gone[i])
			continue;
		rc = add_instance(&r, i);
		open |= rc == 1;
	}
	if (rc >= 0 && open)
		rc = note_unknown(w, in, address, mask, SLICE_UNDECIDED);
	return rc < 0 ? err_nomem(w->e) : 0;
}
