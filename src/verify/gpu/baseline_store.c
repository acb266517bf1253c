/* Baselines: see baseline_store.h. */
#include "verify/gpu/baseline_store.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/store.h"

enum { SAMPLES = 64 };

/* SQLite's handle is used by one thread at a time. */
struct baselines {
	struct store *store;        /* NULL: there is no folder for it */
	pthread_mutex_t lock;
};

struct baselines *baselines_open(struct err *e)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct baselines *x = mem_zalloc(sizeof *x);
	char path[512];

	if (!x) {
		err_nomem(e);
		return NULL;
	}
	pthread_mutex_init(&x->lock, NULL);
	if (!cache && !home)
		return x;
	snprintf(path, sizeof path, "%s%s/tritonrl/baselines.db", cache ? cache : home, cache ? "" : "/.cache");
	if (!file_mkdirs_for(path, e) && !store_open(&x->store, path, e))
		return x;
	mem_free(x);
	return NULL;
}

void baselines_close(struct baselines *x)
{
	if (!x)
		return;
	store_close(x->store);
	pthread_mutex_destroy(&x->lock);
	mem_free(x);
}

/* The key names everything that the time depends on. */
static void key_of(const struct gpu_bench *b, const struct full_task *t, enum baseline which, char *out, size_t n)
{
	snprintf(out, n, "baseline %016llx %s, driver %d, PyTorch %s, %s", (unsigned long long)t->hash, b->info.name,
		 b->info.driver, b->torch.version, baseline_name(which));
}

static int recall(struct gpu_bench *b, const struct full_task *t, enum baseline which, struct verdict_time *out,
		  struct err *e)
{
	struct buf text = BUF_INIT;
	char key[256];
	int rc;

	if (!b->baselines->store)
		return 0;
	key_of(b, t, which, key, sizeof key);
	pthread_mutex_lock(&b->baselines->lock);
	rc = store_get_meta(b->baselines->store, key, &text, e);
	pthread_mutex_unlock(&b->baselines->lock);
	if (rc > 0 && sscanf(buf_cstr(&text), "%lg %lg %lg", &out->mean, &out->low, &out->high) != 3)
		*out = (struct verdict_time){ .mean = 0 };
	buf_release(&text);
	return rc < 0 ? -1 : 0;
}

static int keep(struct gpu_bench *b, const struct full_task *t, enum baseline which, const struct verdict_time *v,
		struct err *e)
{
	char key[256], text[128];
	int rc;

	if (!b->baselines->store)
		return 0;
	key_of(b, t, which, key, sizeof key);
	snprintf(text, sizeof text, "%.17g %.17g %.17g", v->mean, v->low, v->high);
	pthread_mutex_lock(&b->baselines->lock);
	rc = store_put_meta(b->baselines->store, key, str_of(text), e);
	pthread_mutex_unlock(&b->baselines->lock);
	return rc;
}

/* Measures a baseline. A mode that PyTorch cannot run on this task (torch.compile may fail) is left
 * out, with a warning. */
static int measure(struct gpu_bench *b, enum baseline which, struct verdict_time *out)
{
	struct timing_sample v[SAMPLES];
	struct timing_interval t;
	struct err e = ERR_INIT;
	int n = torch_process_time(&b->torch, which, b->o.warmups, MIN(b->o.trials, SAMPLES), v, &e);

	if (n < 2) {
		log_warn("the baseline '%s' cannot be measured: %s", baseline_name(which), e.text);
		return 0;
	}
	t = timing_summary(v, (size_t)n, b->o.trim);
	*out = (struct verdict_time){ .mean = t.mean, .low = t.low, .high = t.high };
	return 1;
}

/* Can PyTorch time the task now? */
static int is_ready(const struct gpu_bench *b, const struct full_task *t)
{
	return torch_process_is_there(&b->torch) && b->torch.prepared == t->hash;
}

/* A compilation that fails is reported when the baseline is measured. One call without timed trials compiles. */
int baselines_compile(struct gpu_bench *b, const struct full_task *t, struct err *e)
{
	static const enum baseline compiled[] = { BASELINE_compile, BASELINE_max_autotune };
	struct timing_sample none;
	struct err failed = ERR_INIT;

	for (size_t i = 0; i < COUNT_OF(compiled); i++) {
		struct verdict_time time = { .mean = 0 };

		if (!(b->o.baselines >> compiled[i] & 1) || !is_ready(b, t))
			continue;
		if (recall(b, t, compiled[i], &time, e))
			return -1;
		if (!(time.mean > 0))
			torch_process_time(&b->torch, compiled[i], 1, 0, &none, &failed);
	}
	return 0;
}

int baselines_complete(struct gpu_bench *b, const struct full_task *t, struct verdict_time out[BASELINES],
		       struct err *e)
{
	for (int i = 0; i < BASELINES; i++) {
		enum baseline which = (enum baseline)i;

		if (!(b->o.baselines >> i & 1))
			continue;
		if (out[i].mean > 0) {
			if (keep(b, t, which, &out[i], e))
				return -1;
			continue;
		}
		if (recall(b, t, which, &out[i], e))
			return -1;
		if (!(out[i].mean > 0) && is_ready(b, t) && measure(b, which, &out[i]) && keep(b, t, which, &out[i], e))
			return -1;
	}
	return 0;
}
