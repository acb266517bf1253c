/* The built-in generator as a source: training pairs, validation and test compositions, and
 * further tasks for reinforcement, in this order. The splits are the generator's own and differ in
 * composition. No text comes twice and no task of keepout.h comes. A dropped row is replaced by
 * another draw, at most as many times as there are rows. */
#include <math.h>
#include <stdio.h>

#include "base/hash.h"
#include "data/prep_impl.h"

enum { RL_PART = GEN_SPLITS };

int prep_builtin_open(struct prep_source *s, const struct prep_opts *o, struct err *e)
{
	if (draws_init(&s->draws, o->seed, "prepare", e))
		return -1;
	s->draws.plain = o->plain;
	s->rising = o->rising;
	s->want[GEN_TRAIN] = o->count;
	s->want[GEN_VALIDATION] = (int64_t)ceil((double)o->count * o->validation);
	s->want[GEN_TEST] = (int64_t)ceil((double)o->count * o->test);
	s->want[RL_PART] = o->rl_count;
	for (int i = 0; i <= RL_PART; i++)
		s->total += s->want[i];
	if (gen_levels_parse(&s->levels[0], o->level.v, o->level.n, e) ||
	    gen_levels_parse(&s->levels[1], o->rl_level.v, o->rl_level.n, e))
		return -1;
	if (!s->levels[0].n)
		s->levels[0] = (struct gen_levels){ .v = { 1, 2 }, .n = 2 };
	if (!s->levels[1].n)
		s->levels[1] = s->levels[0];
	return 0;
}

/* Was this text not drawn before? */
static int is_new(struct prep_source *s)
{
	uint64_t h = hash_xxh64(s->text.task.p, s->text.task.n, 0);
	size_t before = s->seen.n;

	return map_put(&s->seen, (struct str){ .p = (char *)&h, .n = sizeof h }) && s->seen.n > before;
}

/* Draws until the text is new. */
static int draw(struct prep_source *s, struct gen_plan *p, int level, enum gen_split split, struct err *e)
{
	for (int tries = 0; tries < 100000; tries++) {
		if (draws_pair_of(&s->draws, s->drawn++, level, (int)split, p, &s->text, e))
			return -1;
		if (is_new(s))
			return 0;
	}
	return err_set(e, ERR_RANGE, "the generator has no more new tasks of level %d for %s", level,
		       gen_split_name(split));
}

/* Copies a text into the row's arena. */
static struct str keep(struct prep_row *row, const struct buf *b)
{
	return (struct str){ .p = arena_strndup(&row->arena, buf_cstr(b), b->n), .n = b->n };
}

/* The level of the next row. Rising: the levels open one after the other, all of them half way. */
static int next_level(const struct prep_source *s, int part)
{
	const struct gen_levels *l = &s->levels[part == RL_PART];
	int64_t open = l->n;

	if (s->rising && part == GEN_TRAIN)
		open = MIN((int64_t)l->n, 1 + s->made[part] * 2 * l->n / MAX(s->want[part], 1));
	return l->v[s->made[part] % open];
}

/* Draws the next row: first training pairs, then validation, test, and tasks for RL only. Training
 * rows are not also RL tasks if the user asked for separate RL tasks. */
int prep_builtin_next(struct prep_source *s, struct prep_row *row, struct err *e)
{
	struct gen_plan plan;
	char id[32];
	int part = 0, rl;

	while (part <= RL_PART && s->made[part] == s->want[part])
		part++;
	if (part > RL_PART)
		return 0;
	rl = part == RL_PART;
	row->split = rl ? GEN_TRAIN : (enum gen_split)part;
	row->level = next_level(s, part);
	row->role = rl ? PREP_RL_ONLY : s->want[RL_PART] && part == GEN_TRAIN ? PREP_SFT_ONLY : PREP_BOTH;
	if (draw(s, &plan, row->level, row->split, e))
		return -1;
	s->made[part]++;
	row->task = keep(row, &s->text.task);
	row->solution = keep(row, &s->text.solution);
	row->plan = keep(row, &s->text.plan);
	row->ops = keep(row, &s->text.ops);
	draws_id(&plan, &s->text, id);
	row->id = arena_strndup(&row->arena, id, strlen(id));
	return row->id && row->task.p && row->solution.p && row->plan.p && row->ops.p ? 1 : err_nomem(e);
}

/* Replaces a row that was dropped: the count of its part falls by one, so another one is drawn. The
 * limit ends a run whose rows are all dropped. */
void prep_builtin_again(struct prep_source *s, const struct prep_row *row)
{
	int part = row->role == PREP_RL_ONLY ? RL_PART : (int)row->split;

	if (s->again < s->total + 1000) {
		s->again++;
		s->made[part]--;
	}
}
