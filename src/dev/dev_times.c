/* The table of where a GPU's time goes: see dev_times_start in dev.h. Ops run one after another
 * on one stream, so the time between two marks belongs to the op of the first mark, gaps
 * included. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dev/dev.h"

/* Different ops, and bytes of a name. Ops beyond the limit count as the first one. */
enum { OP_NAMES = 256, OP_NAME = 48 };

/* Marks in the order they were made, and one row per op and shape. */
struct dev_times {
	int n, cap;
	struct mark {
		void *event;
		int name;
	} *v;
	struct { char text[OP_NAME]; int calls; double ms; } name[OP_NAMES];
	int names;
};

/* The row of an op, added if it is new: "linear 4096x1024". */
static int name_of(struct dev_times *t, const char *op, int n, int k)
{
	char text[OP_NAME];
	int i = 0;

	if (n)
		snprintf(text, sizeof text, "%s %dx%d", op, n, k);
	else
		snprintf(text, sizeof text, "%s", op);
	while (i < t->names && strcmp(t->name[i].text, text))
		i++;
	if (i == OP_NAMES)
		return 0;
	if (i == t->names)
		memcpy(t->name[t->names++].text, text, sizeof text);
	return i;
}

/* One event more than marks, for the end of the last op. */
int dev_times_start(struct dev *d, int marks, struct err *e)
{
	struct dev_times *t;

	if (d->kind != DEV_CUDA)
		return err_set(e, ERR_UNSUPPORTED, "times of ops are taken on a GPU");
	t = mem_zalloc(sizeof *t);
	if (!t || !(t->v = mem_array((size_t)marks + 1, sizeof *t->v))) {
		mem_free(t);
		return err_nomem(e);
	}
	t->cap = marks;
	for (int i = 0; i <= marks; i++)
		dev_note(d, d->call.cuda_event_new(d->gpu, &t->v[i].event), "making an event");
	d->times = t;
	return 0;
}

/* Marks beyond the capacity are dropped. */
void dev_mark_shape(struct dev *d, const char *op, int n, int k)
{
	struct dev_times *t = d->times;

	if (!t || t->n == t->cap)
		return;
	t->v[t->n].name = name_of(t, op, n, k);
	dev_note(d, d->call.cuda_event_put(d->gpu, t->v[t->n++].event), "marking %s", op);
}

/* Sums the times of each row. Returns the total in ms. */
static double add_up(struct dev *d, struct dev_times *t)
{
	double all = 0;

	dev_note(d, d->call.cuda_event_put(d->gpu, t->v[t->n].event), "marking the end");
	for (int i = 0; i < t->n; i++) {
		float ms = 0;

		dev_note(d, d->call.cuda_event_ms(d->gpu, t->v[i].event, t->v[i + 1].event, &ms), "reading a time");
		t->name[t->v[i].name].calls++;
		t->name[t->v[i].name].ms += (double)ms;
		all += (double)ms;
	}
	return all;
}

/* Selection sort by time; a printed row is marked by -1. */
static void print_names(struct dev_times *t, double all, struct buf *out)
{
	for (int k = 0; k < t->names; k++) {
		int best = 0;

		for (int i = 1; i < t->names; i++)
			if (t->name[i].ms > t->name[best].ms)
				best = i;
		buf_addf(out, "%-32s %6d %10.3f ms %6.2f %%\n", t->name[best].text, t->name[best].calls,
			 t->name[best].ms, 100 * t->name[best].ms / all);
		t->name[best].ms = -1;
	}
	buf_addf(out, "%-32s %6s %10.3f ms\n", "all", "", all);
}

/* Reading an event waits for the work before it. */
int dev_times_print(struct dev *d, struct buf *out, struct err *e)
{
	struct dev_times *t = d->times;

	if (!t)
		BUG("times were not started");
	print_names(t, add_up(d, t), out);
	for (int i = 0; i <= t->cap; i++)
		d->call.cuda_event_free(d->gpu, t->v[i].event);
	mem_free(t->v);
	mem_free(t);
	d->times = NULL;
	return dev_check(d, e);
}
