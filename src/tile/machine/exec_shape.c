/* Constants, ranges, program ids, and operations that only change a shape. Short forms stay
 * short: a reshaped AFFINE value gets new strides, and no lane is written out. */
#include "tile/machine/machine.h"

#include "tile/machine/exec_move.h"

/* Constants and undefined values. An undefined value is filled with the poison byte, so that a
 * fast run that uses it gives another result than a run with another byte. */
int exec_nullary(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0);
	(void)p;
	mval_clear_poison(d);
	d->kind = MVAL_UNIFORM;
	d->prov = -1;
	if (in->op == TOP_UNDEF) {
		memset(&d->u, m->poison_byte, sizeof d->u);
		if (!d->ptr && d->dt == DT_BOOL)
			d->u.raw[0] &= 1;
		if (m->check) {
			d->poison = POISON_MASKED;
			d->poison_at = in->loc;
		}
		return 0;
	}
	if (!d->ptr && dtype_is_float((enum dtype)d->dt))
		dtype_store((enum dtype)d->dt, &d->u, in->fimm);
	else
		mval_set_int(d, !d->ptr && d->dt == DT_BOOL ? in->imm != 0 : in->imm);
	return 0;
}

/* Ranges are AFFINE with stride 1. */
int exec_arange(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0);
	int64_t lo = in->imm, hi = in->imm + d->n - 1;
	const struct dtype_info *info = dtype_info((enum dtype)d->dt);
	int bits = info->bytes * 8;
	(void)p;
	mval_clear_poison(d);
	memset(d->stride, 0, sizeof d->stride);
	d->kind = MVAL_AFFINE;
	d->u.i = lo;
	d->stride[0] = 1;
	/* A range that the type cannot hold wraps, which only dense lanes can show. */
	if (bits < 32 && (info->class == DTC_UINT ? lo < 0 || hi >> bits : lo < -(1 << (bits - 1)) || hi >> (bits - 1)))
		mval_dense(d), d->kind = MVAL_DENSE;
	else if (info->class == DTC_UINT && lo < 0)
		mval_dense(d), d->kind = MVAL_DENSE;
	else if (d->n == 1)
		mval_set_int(d, lo);
	return 0;
}

/* tl.program_id and tl.num_programs. */
int exec_program(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0);
	(void)p;
	mval_clear_poison(d);
	mval_set_int(d, in->op == TOP_PROGRAM_ID ? m->pid[in->imm] : m->grid[in->imm]);
	return 0;
}

/* Copies the poison of a value whose lanes keep their order, or that has one element. */
static int same_poison(struct machine *m, struct mval *d, struct mval *s)
{
	unsigned char *map;

	d->poison = s->poison;
	d->poison_at = s->poison_at;
	d->pmap_on = 0;
	if (!s->pmap_on || d == s)
		return d == s ? (d->pmap_on = s->pmap_on, 0) : 0;
	map = poison_room(m, d);
	if (!map)
		return -1;
	memcpy(map, s->pmap, (size_t)s->n);
	d->pmap_on = 1;
	return 0;
}

int exec_mov(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0), *s = mval_src(m, in, 0);
	(void)p;
	if (d == s)
		return 0;
	mval_copy(d, s);
	return m->check ? same_poison(m, d, s) : 0;
}

/* A scalar becomes a UNIFORM tile. */
int exec_splat(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0), *s = mval_src(m, in, 0);
	(void)p;
	d->kind = MVAL_UNIFORM;
	d->u = s->u;
	d->prov = s->prov;
	d->poison = s->poison;
	d->poison_at = s->poison_at;
	d->pmap_on = 0;
	return 0;
}

/* --- shapes by dimension ---------------------------------------------------------------- */

/* Moves the short form of s to the dimensions of d. from[k] is the dimension of s that becomes
 * dimension k of d, or -1 where d has an extra 1. The copy t allows d == s. */
static void remap(struct mval *d, const struct mval *s, const int *from)
{
	struct mval t = *s;
	d->kind = t.kind;
	d->u = t.u;
	d->prov = t.prov;
	for (int k = 0; k < d->ndim; k++) {
		if (t.kind == MVAL_AFFINE)
			d->stride[k] = from[k] < 0 ? 0 : t.stride[from[k]];
		if (t.kind != MVAL_BOX)
			continue;
		d->box.lo[k] = from[k] < 0 ? 0 : t.box.lo[from[k]];
		d->box.hi[k] = from[k] < 0 ? 1 : t.box.hi[from[k]];
	}
}

/* A few words describe the value, and its poison if it has any. */
static int is_short(const struct mval *s)
{
	return s->kind < MVAL_DENSE && !s->pmap_on;
}

/* Takes the short form over with its poison, which has no map (is_short). */
static int keep_short(struct mval *d, struct mval *s, const int *from)
{
	remap(d, s, from);
	d->poison = s->poison;
	d->poison_at = s->poison_at;
	d->pmap_on = 0;
	return 0;
}

/* expand_dims: a new dimension of 1 at imm. */
int exec_expand(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0), *s = mval_src(m, in, 0);
	int from[TILE_DIMS] = { 0 };
	(void)p;
	for (int k = 0; k < d->ndim; k++)
		from[k] = k == in->imm ? -1 : k - (k > in->imm);
	return is_short(s) ? keep_short(d, s, from) : run_move(m, in, move_same);
}

/* If the shapes differ only by dimensions of 1, fills from[] and returns 0; else returns -1. [1,
 * 64] to [64, 1] gives from = { 1, -1 }. */
static int match_dims(const struct mval *d, const struct mval *s, int *from)
{
	int j = 0;
	for (int k = 0; k < d->ndim; k++) {
		while (j < s->ndim && s->shape[j] == 1)
			j++;
		if (d->shape[k] == 1)
			from[k] = -1;
		else if (j < s->ndim && s->shape[j] == d->shape[k])
			from[k] = j++;
		else
			return -1;
	}
	while (j < s->ndim && s->shape[j] == 1)
		j++;
	return j == s->ndim ? 0 : -1;
}

/* Whether a box contains its dimensions of 1. An empty one makes the whole box empty, which
 * dropping the dimension would lose. */
static int ones_inside(const struct mval *s)
{
	for (int k = 0; k < s->ndim; k++)
		if (s->shape[k] == 1 && !(s->box.lo[k] <= 0 && s->box.hi[k] >= 1))
			return 0;
	return 1;
}

/* An AFFINE vector stays AFFINE in any shape: 64 lanes of stride 4 as [8, 8] have the strides {
 * 32, 4 }. */
int exec_reshape(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0), *s = mval_src(m, in, 0);
	int from[TILE_DIMS] = { -1, -1, -1, -1, -1 };
	(void)p;
	if (is_short(s) && d->ndim && (s->kind == MVAL_UNIFORM || (!match_dims(d, s, from) &&
								   (s->kind != MVAL_BOX || ones_inside(s)))))
		return keep_short(d, s, from);
	if (is_short(s) && s->kind == MVAL_AFFINE && s->ndim == 1 && d->ndim) {
		int64_t step = s->stride[0];
		keep_short(d, s, from);
		for (int k = d->ndim - 1; k >= 0; k--) {
			d->stride[k] = step;
			step *= d->shape[k];
		}
		return 0;
	}
	return run_move(m, in, move_same);
}

/* Permuting a short form permutes its strides or its box. */
int exec_permute(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0), *s = mval_src(m, in, 0);
	int from[TILE_DIMS] = { 0 };
	(void)p;
	for (int k = 0; k < d->ndim; k++)
		from[k] = in->attr[k];
	return is_short(s) ? keep_short(d, s, from) : run_move(m, in, move_permute);
}

/* Rows shorter than this are not worth a kernel call each. */
enum { ROW_LEAST = 16 };

/* Keeps a broadcast of floats as ROW (one row for all) or COLUMN (one element per row) instead of
 * writing it out; exec_elem.c can use that. Returns 0 if the value is neither. */
static int keep_rows(struct mval *d, struct mval *s)
{
	int row = s->shape[0] == 1 && s->shape[1] == d->shape[1], column = s->shape[1] == 1 &&
		s->shape[0] == d->shape[0];
	if (d->ndim != 2 || d->ptr || !dtype_is_float((enum dtype)d->dt) || s->poison || s->pmap_on ||
	    d->shape[1] < ROW_LEAST || row == column)
		return 0;
	mval_result(d);
	d->kind = row ? MVAL_ROW : MVAL_COLUMN;
	memcpy(row ? d->data : mval_column(d), mval_dense(s), (size_t)s->n * s->esize);
	return 1;
}

/* A grown dimension of AFFINE gets the stride 0; of BOX the whole length, unless the box was
 * empty. */
int exec_broadcast(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *d = mval_dst(m, in, 0), *s = mval_src(m, in, 0);
	int from[TILE_DIMS] = { 0 };
	(void)p;
	if (!is_short(s))
		return keep_rows(d, s) ? 0 : run_move(m, in, move_broadcast);
	for (int k = 0; k < d->ndim; k++)
		from[k] = k;
	keep_short(d, s, from);
	for (int k = 0; k < d->ndim; k++) {
		if (s->shape[k] == d->shape[k])
			continue;
		if (d->kind == MVAL_AFFINE)
			d->stride[k] = 0;
		if (d->kind == MVAL_BOX && d->box.lo[k] < d->box.hi[k]) {
			d->box.lo[k] = 0;
			d->box.hi[k] = d->shape[k];
		}
	}
	return 0;
}
