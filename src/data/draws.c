/* Pairs of the generator by number: pair k is a function of the seed and k, so that any process
 * can make any pair. draws.h is the manual. */
#include "data/draws.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"

/* Most draws for one pair. A draw counts when it has the requested level, split and length. */
enum { TRIES = 100000 };

/* Starts a stream of pairs. Streams of different names ("prepare", "stream") are independent even
 * with the same seed. */
int draws_init(struct draws *d, uint64_t seed, const char *stream, struct err *e)
{
	*d = (struct draws){ .levels = { .v = { 1, 2 }, .n = 2 }, .split = GEN_TRAIN, .max_ops = GEN_STEPS };
	rng_init(&d->rng, seed, stream);
	return keepout_init(&d->keepout, e);
}

void draws_release(struct draws *d)
{
	keepout_release(&d->keepout);
}

/* The level of pair k. Rising: the levels open one after the other during the first `rise`
 * pairs. */
int draws_level(const struct draws *d, uint64_t k)
{
	uint64_t n = (uint64_t)d->levels.n, open = n;

	if (d->rise)
		open = MIN(n, 1 + k * n / d->rise);
	return d->levels.v[k % open];
}

/* Draws compositions from the k-th random stream until one fits and is not an evaluation task. */
int draws_pair_of(const struct draws *d, uint64_t k, int level, int split, struct gen_plan *p,
		  struct gen_texts *t, struct err *e)
{
	struct rng rng;

	rng_fork(&rng, &d->rng, k);
	for (int tries = 0; tries < TRIES; tries++) {
		gen_plan_draw(p, level, d->plain, &rng);
		if ((split >= 0 && (int)gen_plan_split(p) != split) || p->n > d->max_ops)
			continue;
		p->hybrid = d->hybrid;
		gen_texts_clear(t);
		if (gen_emit(p, t, e))
			return -1;
		if (!keepout_has(&d->keepout, buf_str(&t->task)))
			return 0;
	}
	return err_set(e, ERR_RANGE, "the generator found no task of this level, split and length in %d draws", TRIES);
}

int draws_pair(const struct draws *d, uint64_t k, struct gen_plan *p, struct gen_texts *t, struct err *e)
{
	return draws_pair_of(d, k, draws_level(d, k), d->split, p, t, e);
}

/* The name of a pair: its level and a hash of the task's text. */
void draws_id(const struct gen_plan *p, const struct gen_texts *t, char id[32])
{
	snprintf(id, 32, "l%d-%016llx", p->level, (unsigned long long)hash_xxh64(t->task.p, t->task.n, 1));
}

/* --- training without a file -------------------------------------------------------------- */

const struct opt draws_opt_table[] = {
	OPT_LIST(struct draws_opts, levels, "stream", "1,2,3", 1,
		 "draw training pairs from the generator at these levels instead of reading "
		 "--data; needs --steps"),
	OPT_ENUM(struct draws_opts, plain, "stream-style", GEN_STYLE_CHOICES, "varied", GEN_STYLE_HELP),
	OPT_FLAG(struct draws_opts, rising, "stream-rising", 0,
		 "raise the level step by step in the first half of training, then draw from all "
		 "levels"),
	OPT_STR(struct draws_opts, modules, "stream-modules", "PATH", NULL,
		"also draw variants of the modules of this file or folder, with the solver's kernels as answers; "
		"needs --stream"),
	OPT_REAL(struct draws_opts, share, "stream-share", 0.0, 1.0, 0.5,
		 "share of the pairs that --stream-modules draws"),
	OPT_REAL(struct draws_opts, solved, "stream-solved", 0.0, 1.0, 0.0,
		 "share of the generated tasks that the solver answers, as it answers modules; needs "
		 "--stream-modules"),
	OPT_END
};

/* Prepares training rows that are drawn while training runs. With --stream-rising all levels are
 * open after half of the `total` rows. */
int draws_rows_init(struct draws_rows *r, const struct draws_opts *o, uint64_t seed, uint64_t total, struct err *e)
{
	if (draws_init(&r->draws, seed, "stream", e) || gen_levels_parse(&r->draws.levels, o->levels.v, o->levels.n, e))
		return -1;
	r->draws.plain = o->plain;
	r->draws.rise = o->rising ? MAX(total / 2, 1) : 0;
	if (!o->modules)
		return 0;
	r->share = o->share;
	r->solved = o->solved;
	if (module_pairs_open(&r->modules, o->modules, seed, &r->draws.keepout, e))
		return -1;
	/* only prompts of style outline name the precision */
	if (r->style != PROMPT_OUTLINE)
		r->modules.tf32 = 0.0;
	return 0;
}

void draws_rows_release(struct draws_rows *r)
{
	draws_release(&r->draws);
	if (r->share > 0.0)
		module_pairs_close(&r->modules);
}

/* Writes a pair as a training row: the user's and the system's message, and the answer. */
static int write_row(struct buf *system, struct buf *user, struct str plan, struct str solution, struct buf *out,
		     struct err *e)
{
	struct buf answer = BUF_INIT;
	struct jw w = { .out = out };
	int rc = prompt_answer(plan, solution, &answer, e);

	jw_begin(&w, '{');
	jw_key(&w, "messages");
	prompt_messages(&w, buf_str(system), buf_str(user), buf_str(&answer));
	jw_end(&w, '}');
	buf_release(system);
	buf_release(user);
	buf_release(&answer);
	return rc || buf_check(out, e) ? -1 : 0;
}

/* The user's message for a pair of the solver. */
static int solver_prompt(const struct draws_rows *r, const struct module_pair *p, struct str outline,
			 struct buf *system, struct buf *user, struct err *e)
{
	if (r->style != PROMPT_OUTLINE)
		return prompt_task((struct prompt_ask){ .style = r->style, .strict = 1 }, buf_str(&p->task), system,
				   user, e);
	prompt_outline(buf_str(&p->task), outline, p->tf32, user);
	return 0;
}

/* A pair of the generator. In style outline, its own solutions answer prompts without an outline, and the solver's
 * answer prompts with one: the outline tells a model which of the two to write. */
static int generated_row(struct draws_rows *r, uint64_t k, struct rng *coin, struct buf *out, struct err *e)
{
	struct gen_texts text = { .ops = BUF_INIT };
	struct module_pair solved = { .task = BUF_INIT };
	struct buf system = BUF_INIT, user = BUF_INIT;
	enum prompt_style style = r->style == PROMPT_OUTLINE ? PROMPT_COMPACT : r->style;
	struct str plan, solution;
	struct gen_plan p;
	int rc = draws_pair(&r->draws, k, &p, &text, e);

	if (!rc && rng_f64(coin) < r->solved)
		rc = module_pairs_solve(&r->modules, buf_str(&text.task), coin, &solved, e);
	plan = solved.answer.solution.n ? STR("") : buf_str(&text.plan);
	solution = buf_str(solved.answer.solution.n ? &solved.answer.solution : &text.solution);
	if (!rc && solved.answer.solution.n)
		rc = solver_prompt(r, &solved, buf_str(&solved.answer.outline), &system, &user, e);
	else if (!rc)
		rc = prompt_task((struct prompt_ask){ .style = style, .strict = !r->draws.hybrid },
				 buf_str(&text.task), &system, &user, e);
	rc = write_row(&system, &user, plan, solution, out, e) || rc ? -1 : 0;
	gen_texts_release(&text);
	module_pair_release(&solved);
	return rc;
}

/* A variant of a module and the solver's answer; a few prompts have no outline. */
static int module_row(struct draws_rows *r, uint64_t k, struct rng *coin, struct buf *out, struct err *e)
{
	struct buf system = BUF_INIT, user = BUF_INIT;
	struct module_pair p;
	int rc = module_pairs_draw(&r->modules, k, &p, e);

	if (!rc)
		rc = solver_prompt(r, &p, rng_below(coin, 16) ? buf_str(&p.answer.outline) : STR(""), &system,
				   &user, e);
	rc = write_row(&system, &user, STR(""), buf_str(&p.answer.solution), out, e) || rc ? -1 : 0;
	module_pair_release(&p);
	return rc;
}

/* Row k of a training stream, for feed.h. It is a function of seed and k only: any thread may make
 * it, and a resumed run gets the same row. */
int draws_row(void *rows, uint64_t k, struct buf *out, struct err *e)
{
	struct draws_rows *r = rows;
	struct rng coin;

	rng_fork(&coin, &r->draws.rng, ~k);
	return rng_f64(&coin) < r->share ? module_row(r, k, &coin, out, e) : generated_row(r, k, &coin, out, e);
}
