/* Assigns slots of the slab to registers. Registers of the kernel share a slot when their
 * lifetimes do not overlap (linear scan), so that the working set of a kernel is its few live
 * tiles and stays in cache. Registers of combine functions are few and have slots of their own.
 *
 * The lifetime of a register runs from its first to its last mention. It covers the whole of
 * every loop that mentions the register and that the register outlives. Within one iteration code
 * runs in order, and the verifier has shown that nothing is read before it is written. */
#include "tile/machine/decode_slot.h"

#include <stdlib.h>

#include "tile/machine/decode_role.h"
#include "tile/machine/machine.h"

/* Lifetime of a register as instruction indices, both inclusive; first -1: never mentioned. */
struct life {
	tile_reg reg;
	int first, last;
	int64_t bytes;
};

/* A slot that registers take one after another. */
struct space {
	int64_t at, bytes;
	int free_from;              /* instruction from which on it may be taken */
	int esize;                  /* element size of the register that has it */
};

/* Bytes between slots. Slots of whole pages must not begin at the same offset in their page: a
 * load would wait for the store to another slot whose address has the same low 12 bits. */
enum { STAGGER = 320 };

/* Up to a multiple of 64, the cache line. */
static int64_t rounded(int64_t n) { return (n + 63) & ~(int64_t)63; }

/* The function that each register belongs to. The kernel (0) comes last and wins. */
static void find_owners(const struct tile_code *c, int *owner)
{
	for (int f = c->n_funcs - 1; f >= 0; f--) {
		const struct tile_func *fn = &c->funcs[f];
		for (int i = 0; i < fn->n_params; i++)
			owner[fn->params[i]] = f;
		for (int i = 0; i < fn->n_results; i++)
			owner[fn->results[i]] = f;
		for (int i = 0; i < fn->n_insns; i++)
			for (int k = 0; k < fn->insns[i].n_dst + fn->insns[i].n_src; k++)
				owner[fn->insns[i].r[k]] = f;
	}
}

/* An instruction counts where it is done: a fused one with its store, one of the prologue before
 * everything. Results of the prologue live to the end (last == n_insns). */
static void find_lives(const struct tile_func *f, struct life *lives, const int *role)
{
	for (int i = 0; i < f->n_insns; i++)
		for (int k = 0; k < f->insns[i].n_dst + f->insns[i].n_src; k++) {
			struct life *l = &lives[f->insns[i].r[k]];
			int at = role[i] >= 0 ? role[i] : i;
			l->first = l->first < 0 ? at : MIN(l->first, at);
			l->last = MAX(l->last, at);
		}
	for (int i = 0; i < f->n_insns; i++)
		if (role[i] == ROLE_PROLOGUE) {
			lives[tile_dst(&f->insns[i], 0)].first = 0;
			lives[tile_dst(&f->insns[i], 0)].last = f->n_insns;
		}
}

/* Stretches lifetimes over loops until nothing changes. An accumulator that is set before a loop
 * and added to inside must keep its slot for the whole loop. One pass per nesting level. */
static void stretch(const struct tile_func *f, struct life *lives, unsigned char *seen, int n_regs)
{
	for (int more = 1; more;) {
		more = 0;
		for (int i = 0; i < f->n_insns; i++) {
			int depth, end;

			if (f->insns[i].op != TOP_LOOP)
				continue;
			depth = 0;
			end = i;
			memset(seen, 0, (size_t)n_regs);
			do {
				int op = f->insns[end].op;
				depth += (op == TOP_LOOP || op == TOP_IF || op == TOP_BLOCK) - (op == TOP_END);
				for (int k = 0; k < f->insns[end].n_dst + f->insns[end].n_src; k++)
					seen[f->insns[end].r[k]] = 1;
				end++;
			} while (depth);
			for (int r = 0; r < n_regs; r++) {
				struct life *l = &lives[r];
				if (!seen[r] || (l->first >= i && l->last < end) ||
				    (l->first <= i && l->last >= end - 1))
					continue;
				l->first = MIN(l->first, i);
				l->last = MAX(l->last, end - 1);
				more = 1;
			}
		}
	}
}

static int by_first(const void *a, const void *b)
{
	const struct life *x = a, *y = b;
	return x->first != y->first ? (x->first < y->first ? -1 : 1) : (x->reg < y->reg ? -1 : x->reg > y->reg);
}

/* The result of an elementwise operation may take the slot of a source that ends there, if their
 * elements have the same width: each lane is read before it is written. */
static int shares(const struct tile_func *f, const struct life *l, const struct space *s, int esize)
{
	const struct tile_insn *in = &f->insns[l->first];
	int elementwise = (tile_op_info(in->op)->flags & TOF_L) || in->op == TOP_ADDPTR;
	return s->free_from == l->first + 1 && elementwise && s->esize == esize && in->n_dst == 1 &&
		tile_dst(in, 0) == l->reg;
}

static int64_t new_space(struct tile_decoded *decoded, int64_t bytes)
{
	int64_t at = decoded->slab_bytes;
	decoded->slab_bytes += bytes + STAGGER;
	return at;
}

/* Takes the smallest free slot that is large enough, or a new one. Results of the prologue are
 * never freed and so are not listed. Unrolled loops have thousands of them, and a search would be
 * slow. */
static int64_t assign_slot(struct tile_decoded *decoded, const struct tile_func *f, struct space *spaces, int *n,
		     const struct life *l, int esize)
{
	int best = -1;
	if (l->last >= f->n_insns)
		return new_space(decoded, l->bytes);
	for (int i = 0; i < *n; i++) {
		if (spaces[i].bytes < l->bytes || !(spaces[i].free_from <= l->first || shares(f, l, &spaces[i], esize)))
			continue;
		if (best < 0 || spaces[i].bytes < spaces[best].bytes)
			best = i;
	}
	if (best < 0) {
		best = (*n)++;
		spaces[best].at = new_space(decoded, l->bytes);
		spaces[best].bytes = l->bytes;
	}
	spaces[best].free_from = l->last + 1;
	spaces[best].esize = esize;
	return spaces[best].at;
}

/* Marks the loads that may leave their lanes in the tensor's memory. */
static void find_loans(const struct tile_code *c, struct decoded_insn *p, const struct life *lives, const int *role)
{
	for (int i = 0; i < c->funcs[0].n_insns; i++) {
		const struct life *l;

		if (p[i].in->op != TOP_LOAD || role[i] != ROLE_KEEP)
			continue;
		l = &lives[tile_dst(p[i].in, 0)];
		p[i].borrow = (uint8_t)decode_may_borrow(c, i, l->first, l->last);
	}
}

/* Registers of the kernel, in the order of their first mention. Scalars need no slot. */
static int assign_kernel_slots(struct tile_code *c, struct tile_decoded *decoded, const int *role, struct arena *tmp)
{
	const struct tile_func *f = &c->funcs[0];
	struct life *lives = arena_array(tmp, (size_t)c->n_regs + 1, sizeof *lives);
	struct space *spaces = arena_array(tmp, (size_t)c->n_regs + 1, sizeof *spaces);
	unsigned char *seen = arena_array(tmp, (size_t)c->n_regs + 1, 1);
	int n = 0;
	if (!lives || !spaces || !seen)
		return -1;
	for (int r = 0; r < c->n_regs; r++)
		lives[r] = (struct life){ .reg = (tile_reg)r, .first = -1, .last = -1 };
	find_lives(f, lives, role);
	stretch(f, lives, seen, c->n_regs);
	find_loans(c, decoded->funcs[0].v, lives, role);
	qsort(lives, (size_t)c->n_regs, sizeof *lives, by_first);
	for (int i = 0; i < c->n_regs; i++) {
		struct life *l = &lives[i];
		struct tile_type t = c->regs[l->reg];
		if (l->first < 0 || !t.ndim || decoded->owner[l->reg])
			continue;
		l->bytes = rounded(tile_numel(t) * tile_elem_size(t));
		decoded->slot[l->reg] = assign_slot(decoded, f, spaces, &n, l, tile_elem_size(t));
	}
	return 0;
}

/* Registers of combine functions: 8 bytes for each lane of the largest call, none shared. */
static void assign_function_slots(struct tile_code *c, struct tile_decoded *decoded)
{
	int n = 0;
	for (int f = 0; f < c->n_funcs; f++) {
		decoded->first_reg[f] = n;
		for (int r = 0; r < c->n_regs; r++)
			if (f && decoded->owner[r] == f)
				decoded->func_regs[n++] = (tile_reg)r;
		decoded->last_reg[f] = n;
		for (int i = decoded->first_reg[f]; i < n; i++) {
			decoded->slot[decoded->func_regs[i]] = decoded->slab_bytes;
			decoded->slab_bytes += rounded((int64_t)MAX(decoded->func_lanes[f], 1) * 8);
		}
	}
}

int decode_slots(struct tile_code *c, struct tile_decoded *decoded, const int *role, struct err *e)
{
	size_t nr = (size_t)c->n_regs + 1;
	struct arena tmp = ARENA_INIT;
	int rc;
	int64_t lanes;

	decoded->owner = arena_array(&c->mem, nr, sizeof *decoded->owner);
	decoded->slot = arena_array(&c->mem, nr, sizeof *decoded->slot);
	decoded->func_regs = arena_array(&c->mem, nr, sizeof *decoded->func_regs);
	if (!decoded->owner || !decoded->slot || !decoded->func_regs)
		return err_nomem(e);
	lanes = 1;
	for (int r = 0; r < c->n_regs; r++) {
		decoded->slot[r] = -1;
		lanes = MAX(lanes, tile_numel(c->regs[r]));
	}
	decoded->max_lanes = lanes;
	decoded->scratch_bytes = rounded(lanes * 8) + 64;
	find_owners(c, decoded->owner);
	rc = assign_kernel_slots(c, decoded, role, &tmp);
	if (!rc)
		assign_function_slots(c, decoded);
	arena_release(&tmp);
	return rc ? err_nomem(e) : 0;
}
