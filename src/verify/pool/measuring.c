/* Candidates that wait for the GPU judge: see measuring.h.
 *
 * Invariant: a candidate that was added is returned exactly once, also if the process of the GPU
 * judge dies. */
#include "verify/pool/measuring.h"

#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"

/* Starts of the process of the GPU judge after which no more are tried. */
enum { STARTS_MOST = 4 };

/* One candidate. Its number is the one of the GPU judge; `id` is the caller's. */
struct waiting {
	struct waiting *next;
	uint64_t number, id;
	int sent;                   /* 0: nobody will answer */
	struct verdict v;
};

struct measuring {
	struct gpu_options o;
	struct judge_options judge;
	struct gpu_judge *gpu;      /* NULL: it is lost */
	struct waiting *first;
	uint64_t next;
	int starts;
};

struct measuring *measuring_open(const struct gpu_options *o, const struct judge_options *judge, struct err *e)
{
	struct measuring *m = mem_zalloc(sizeof *m);

	if (!m) {
		err_nomem(e);
		return NULL;
	}
	*m = (struct measuring){ .o = *o, .judge = *judge, .gpu = gpu_judge_open(o, judge, e), .next = 1, .starts = 1 };
	if (!m->gpu) {
		err_wrap(e, "the GPU judge");
		mem_free(m);
		return NULL;
	}
	log_info("correct candidates are measured on %s", gpu_judge_text(m->gpu));
	return m;
}

void measuring_close(struct measuring *m)
{
	if (!m)
		return;
	gpu_judge_close(m->gpu);
	for (struct waiting *w = m->first, *next; w; w = next) {
		next = w->next;
		mem_free(w);
	}
	mem_free(m);
}

int measuring_fd(const struct measuring *m)
{
	return m->gpu ? gpu_judge_fd(m->gpu) : -1;
}

/* Nobody will answer for the candidates that wait. */
static void lose(struct measuring *m, const struct err *why)
{
	log_warn("%s; candidates that wait for it are not measured", why->text);
	gpu_judge_close(m->gpu);
	m->gpu = NULL;
	for (struct waiting *w = m->first; w; w = w->next)
		w->sent = 0;
}

/* Starts the GPU judge again after it was lost, some times. */
static void restart(struct measuring *m)
{
	struct err e = ERR_INIT;

	if (m->gpu || m->starts >= STARTS_MOST)
		return;
	m->starts++;
	m->gpu = gpu_judge_open(&m->o, &m->judge, &e);
	if (!m->gpu)
		log_warn("the GPU judge cannot be started again: %s", e.text);
}

int measuring_add(struct measuring *m, uint64_t id, struct str task, const struct buf *plans, int n,
		  const struct verdict *v, struct err *e)
{
	struct waiting *w = mem_alloc(sizeof *w);
	struct err lost = ERR_INIT;

	if (!w)
		return err_nomem(e);
	restart(m);
	*w = (struct waiting){ .next = m->first, .number = m->next++, .id = id, .sent = 1, .v = *v };
	m->first = w;
	if (!m->gpu)
		w->sent = 0;
	else if (gpu_judge_submit(m->gpu, w->number, task, v->eval_mode, plans, n, &lost))
		lose(m, &lost);
	return 0;
}

/* Takes a candidate out of the list. */
static void take(struct waiting **at, uint64_t *id, struct verdict *v)
{
	struct waiting *w = *at;

	*id = w->id;
	*v = w->v;
	*at = w->next;
	mem_free(w);
}

int measuring_next(struct measuring *m, uint64_t *id, struct verdict *v)
{
	struct gpu_outcome out;
	struct err e = ERR_INIT;
	uint64_t number = 0;
	int rc = m->gpu ? gpu_judge_next(m->gpu, &number, &out, &e) : 0;

	if (rc < 0)
		lose(m, &e);
	for (struct waiting **at = &m->first; *at; at = &(*at)->next)
		if (rc > 0 ? (*at)->number == number : !(*at)->sent) {
			take(at, id, v);
			if (rc > 0)
				gpu_judge_apply(&out, m->o.baseline, &m->judge, v);
			else
				snprintf(v->gpu.note, sizeof v->gpu.note, "the process for the GPU ended");
			return 1;
		}
	return 0;
}
