/* The set of launches that went through a checked run: see checked_launches.h.
 *
 * Marks are 64-bit hashes. Two different launches with the same hash would let the second one run
 * unchecked; among 65536 marks the chance is about 2^-33. */
#include "tile/machine/checked_launches.h"

#include "base/hash.h"

/* A host that launches without end must not fill the memory: 65536 marks are 1 MiB at most. */
enum { CHECKED_MOST = 1 << 16 };

void checked_launches_release(struct checked_launches *s)
{
	mem_free(s->v);
	*s = (struct checked_launches){ .n = 0 };
}

/* Hashes what an instruction does. Its source line does not count. */
static uint64_t mark_insn(const struct tile_insn *in, uint64_t mark)
{
	struct { int64_t op, n, text, imm; double fimm; int64_t attr[TILE_ATTRS]; } head = {
		.op = in->op | in->rounding << 16, .n = in->n_dst | in->n_src << 16,
		.text = (int64_t)in->text.n, .imm = in->imm, .fimm = in->fimm,
	};
	for (int i = 0; i < TILE_ATTRS; i++)
		head.attr[i] = in->attr[i];
	mark = hash_xxh64(&head, sizeof head, mark);
	mark = hash_xxh64(in->r, (size_t)(in->n_dst + in->n_src) * sizeof *in->r, mark);
	return in->text.n ? hash_xxh64(in->text.p, in->text.n, mark) : mark;
}

/* Types of all registers and all instructions, in order. Names and lines do not count. */
uint64_t checked_code_hash(const struct tile_code *c)
{
	uint64_t mark = 0;
	for (int i = 0; i < c->n_params; i++)
		mark = hash_xxh64(&c->params[i].reg, sizeof c->params[i].reg, mark);
	for (int i = 0; i < c->n_regs; i++) {
		const struct tile_type *t = &c->regs[i];
		int32_t kind[3 + TILE_DIMS] = { t->dt, t->ptr, t->ndim };
		memcpy(kind + 3, t->shape, sizeof t->shape);
		mark = hash_xxh64(kind, sizeof kind, mark);
	}
	for (int f = 0; f < c->n_funcs; f++)
		for (int i = 0; i < c->funcs[f].n_insns; i++)
			mark = mark_insn(&c->funcs[f].insns[i], mark);
	return mark;
}

/* 0 marks a free entry of the table, so a hash of 0 becomes 1. */
uint64_t checked_launch_hash(const struct replay_launch *l, int num_warps)
{
	uint64_t mark = hash_xxh64(&num_warps, sizeof num_warps, l->code->decoded->mark);
	mark = hash_xxh64(l->grid, 3 * sizeof *l->grid, mark);
	for (int i = 0; i < l->code->n_params; i++) {
		int64_t key[REPLAY_KEY_PARAM];
		replay_key_param(l, i, key);
		mark = hash_xxh64(key, sizeof key, mark);
	}
	return mark ? mark : 1;
}

/* Index of the entry that holds the mark, or of the free entry where it belongs. */
static size_t find(const struct checked_launches *s, uint64_t mark)
{
	size_t at = mark & (s->cap - 1);
	while (s->v[at] && s->v[at] != mark)
		at = (at + 1) & (s->cap - 1);
	return at;
}

int checked_launches_has(const struct checked_launches *s, uint64_t mark)
{
	return s->cap && s->v[find(s, mark)] == mark;
}

static int grow(struct checked_launches *s)
{
	struct checked_launches bigger = { .n = s->n, .cap = s->cap ? 2 * s->cap : 64 };
	bigger.v = mem_zalloc(bigger.cap * sizeof *bigger.v);
	if (!bigger.v)
		return -1;
	for (size_t i = 0; i < s->cap; i++)
		if (s->v[i])
			bigger.v[find(&bigger, s->v[i])] = s->v[i];
	mem_free(s->v);
	*s = bigger;
	return 0;
}

void checked_launches_add(struct checked_launches *s, uint64_t mark)
{
	size_t at;
	if (s->n >= CHECKED_MOST || (2 * (s->n + 1) > s->cap && grow(s)))
		return;
	at = find(s, mark);
	s->n += !s->v[at];
	s->v[at] = mark;
}
