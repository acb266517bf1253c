/* Chooses the input sets that a candidate is run on, and the options of each run: see funnel.h.
 * Nothing is run here. */
#include "verify/funnel/funnel.h"

#include "base/mem.h"

/* Lanes that are masked off without a value load zero (zero_off), as they do on GPUs. general.c
 * tests the other case. */
struct tile_run_options tiny_options(const struct funnel *f, enum tiny_pass which)
{
	struct tile_run_options run = { .mode = TILE_CHECKED, .poison = POISON_CHECKED, .zero_off = 1,
					.fuel = f->fuel };

	if (which == PASS_FAST) {
		run.mode = TILE_FAST;
		run.poison = POISON_FAST;
		run.order_seed = 0x9e37;
	}
	return run;
}

/* The first trial after the original one has POISON_FAST, so that both poisons occur even with two
 * trials. */
int trial_poison(const struct funnel *f, int number)
{
	return number % 2 == f->t->image.trial[0].is_original ? POISON_FAST : POISON_CHECKED;
}

/* Trials of stage tiny, of the other contract or of an extension that is off are not run. */
int trial_wanted(const struct funnel *f, const struct trial *tr, enum contract c)
{
	if (trial_contract(tr->kind) != c || tr->stage != STAGE_full)
		return 0;
	if (tr->set == WEIGHTS_MOVED && !ext_on(f->o, EXT_reweight))
		return 0;
	/* "seed": some weights have no tensor in the candidate's model, so drawn values would not
	 * reach it. */
	if (tr->set == WEIGHTS_DRAWN && (!ext_on(f->o, EXT_reweight) || !strcmp(f->v->weights, "seed")))
		return 0;
	return tr->ext == EXTS || ext_on(f->o, (enum ext)tr->ext);
}

int trials_wanted(const struct funnel *f, enum contract c)
{
	int n = 0;

	for (int i = 1; i < f->t->image.n_trials; i++)
		n += trial_wanted(f, &f->t->image.trial[i], c);
	return n;
}

/* Each trial has another order of instances, another poison and another configuration. Together
 * they find results that are correct by luck. The smallest size may have a single instance, so only
 * these runs show whether instances disturb each other. The original trial has the order 0 and the
 * first configuration, and each further round moves every trial to its next configuration. */
struct run_order full_order(const struct funnel *f, const struct trial *tr, int number, int round)
{
	return (struct run_order) {
		.run = { .mode = TILE_FAST, .fuel = f->slow ? FUEL_CHECKED : FUEL_FAST,
			 .order_seed = tr->is_original ? 0 : (uint64_t)number,
			 .poison = (unsigned char)trial_poison(f, number), .zero_off = 1,
			 .check_new = ext_on(f->o, EXT_sanitize) && trial_contract(tr->kind) == CONTRACT_TASK },
		.watch = ext_on(f->o, EXT_sanitize) && (tr->is_original || tr->kind == TRIAL_shape),
		.config = (number - 1 + round) % MAX(f->v->configs_run, 1),
		.estimate = tr->is_original && f->full_size_seconds <= 0.0,
	};
}

/* The first run gets a fresh model: state of an earlier stage could hide a fault of the first
 * call. */
int order_full(struct funnel *f, enum contract c, int number, int round)
{
	int fresh = number == 1 && !f->orders.n && !round && (c == CONTRACT_TASK || !trials_wanted(f, CONTRACT_TASK));

	for (; number < f->t->image.n_trials; number++) {
		struct run_order how = full_order(f, &f->t->image.trial[number], number, round);

		if (!trial_wanted(f, &f->t->image.trial[number], c))
			continue;
		if (f->orders.n && !shmem_has_room(&f->orders, f->t, number))
			break;
		/* The very first run gets a model that no earlier stage has called. All others
		 * reuse that model. */
		how.fresh = fresh && !f->orders.n;
		attempt_order(f, &f->t->image.trial[number], &how);
	}
	return number;
}
