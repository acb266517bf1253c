/* Pairs of module variants and their solutions: see module_pairs.h. */
#include "data/module_pairs.h"

#include <stdio.h>

enum {
	TRIES = 1000,            /* most variants for one pair */
	SAME = 5,                /* tries with one module, so that large modules, which fail more often, stay in */
	TASK_BYTES = 8000,       /* longer pairs do not fit into the context of a small model */
	PAIR_BYTES = 18000,
	/* a variant that takes longer is drawn again, so that no pair holds up a training step */
	FUEL = 600000,
	MEMORY = 16 << 20
};

int module_pairs_open(struct module_pairs *m, const char *path, uint64_t seed, const struct keepout *k, struct err *e)
{
	*m = (struct module_pairs){ .keepout = k, .tf32 = 0.2 };
	rng_init(&m->rng, seed, "module pairs");
	pthread_mutex_init(&m->lock, NULL);
	return vary_open(&m->vary, path, e);
}

void module_pairs_close(struct module_pairs *m)
{
	for (size_t i = 0; i < m->libs.n; i++)
		host_lib_free(m->libs.v[i]);
	vec_free(&m->libs);
	vary_close(&m->vary);
	pthread_mutex_destroy(&m->lock);
}

/* A library belongs to one thread at a time. */
static struct host_lib *take_lib(struct module_pairs *m, struct err *e)
{
	struct host_lib *lib = NULL;

	pthread_mutex_lock(&m->lock);
	if (m->libs.n)
		lib = m->libs.v[--m->libs.n];
	pthread_mutex_unlock(&m->lock);
	return lib ? lib : host_lib_new(e);
}

static void return_lib(struct module_pairs *m, struct host_lib *lib)
{
	int failed;

	pthread_mutex_lock(&m->lock);
	failed = vec_push(&m->libs, lib);
	pthread_mutex_unlock(&m->lock);
	if (failed)
		host_lib_free(lib);
}

void module_pair_release(struct module_pair *p)
{
	buf_release(&p->task);
	solve_answer_release(&p->answer);
}

static int is_good(const struct module_pairs *m, const struct module_pair *p)
{
	const struct solve_answer *a = &p->answer;

	return a->solution.n && a->kernels && p->task.n + a->outline.n + a->solution.n <= PAIR_BYTES &&
		!keepout_has(m->keepout, buf_str(&p->task));
}

/* Solves out->task with a drawn schedule and precision. */
static int solve_drawn(const struct module_pairs *m, struct host_lib *lib, struct rng *rng, struct module_pair *out,
		       struct err *e)
{
	struct solve_options o = { .lib = lib, .outline = 1, .small = 1, .fuel = FUEL, .memory = MEMORY };

	solve_answer_release(&out->answer);
	out->answer = (struct solve_answer){ .solution = BUF_INIT };
	out->tf32 = o.tf32 = rng_f64(rng) < m->tf32;
	o.draw = rng_below(rng, 2) ? rng_u64(rng) >> 12 : 0;
	if (out->task.n > TASK_BYTES)
		return 0;
	return solve_module(&o, buf_str(&out->task), &out->answer, e);
}

int module_pairs_draw(struct module_pairs *m, uint64_t k, struct module_pair *out, struct err *e)
{
	struct host_lib *lib = take_lib(m, e);
	struct rng rng, from;
	int rc = lib ? 0 : -1;

	*out = (struct module_pair){ .task = BUF_INIT };
	rng_fork(&rng, &m->rng, k);
	for (int tries = 0; !rc; tries++) {
		if (tries % SAME == 0)
			rng_fork(&from, &rng, (uint64_t)tries);
		if (tries == TRIES)
			rc = err_set(e, ERR_RANGE, "no variant of these modules was solved in %d tries", TRIES);
		else if (!(rc = vary_draw(&m->vary, from, &rng, &out->task, e)))
			rc = solve_drawn(m, lib, &rng, out, e);
		if (!rc && is_good(m, out))
			break;
	}
	if (lib)
		return_lib(m, lib);
	return rc;
}

int module_pairs_solve(struct module_pairs *m, struct str task, struct rng *rng, struct module_pair *out, struct err *e)
{
	struct host_lib *lib = take_lib(m, e);
	int rc = lib ? 0 : -1;

	*out = (struct module_pair){ .task = BUF_INIT };
	buf_addstr(&out->task, task);
	if (!rc)
		rc = buf_check(&out->task, e) || solve_drawn(m, lib, rng, out, e) ? -1 : 0;
	if (!rc && !is_good(m, out))
		buf_clear(&out->answer.solution);
	if (lib)
		return_lib(m, lib);
	return rc;
}
