/* Compilers of kernels: see kernel_compiler.h.
 *
 * Owns the cache, the choice of a worker and the check of answers. compile_process.c owns the
 * processes. Invariant: an entry of the cache changes from pending to answered once, under the
 * lock, and is never removed; so answers can be read without the lock. */
#include "verify/gpu/kernel_compiler.h"

#include <pthread.h>
#include <stdio.h>

#include "base/cpu.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "verify/gpu/compile_process.h"

enum { WORKERS_MOST = 64 };

/* An entry of the cache: a request that is being compiled, or its answer. */
struct entry {
	int answered;
	struct compiled_kernel k;
};

struct kernel_compiler {
	struct kernel_compiler_options o;
	pthread_mutex_t lock;
	pthread_cond_t changed;     /* a worker became free, or an answer arrived */
	struct compile_process worker[WORKERS_MOST];
	int busy[WORKERS_MOST];
	int workers;
	struct map cache;           /* hash of a request -> struct entry */
	char version[32];
	char unavailable[320];      /* why no worker can compile; "": not known to be so */
	struct kernel_compiler_stats stats;
};

struct kernel_compiler *kernel_compiler_new(const struct kernel_compiler_options *o, struct err *e)
{
	struct kernel_compiler *c = mem_zalloc(sizeof *c);

	if (!c) {
		err_nomem(e);
		return NULL;
	}
	c->o = *o;
	c->workers = MIN(o->workers > 0 ? o->workers : cpu_info()->cores, WORKERS_MOST);
	for (int i = 0; i < c->workers; i++)
		c->worker[i].fd = -1;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	return c;
}

void kernel_compiler_free(struct kernel_compiler *c)
{
	if (!c)
		return;
	for (int i = 0; i < c->workers; i++)
		compile_process_close(&c->worker[i]);
	for (size_t i = 0; i < c->cache.n; i++) {
		struct entry *x = c->cache.e[i].val.ptr;

		buf_release(&x->k.code);
		mem_free(x);
	}
	map_release(&c->cache);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	mem_free(c);
}

const char *kernel_compiler_version(const struct kernel_compiler *c) { return c->version; }

struct kernel_compiler_stats kernel_compiler_stats(struct kernel_compiler *c)
{
	struct kernel_compiler_stats s;

	pthread_mutex_lock(&c->lock);
	s = c->stats;
	pthread_mutex_unlock(&c->lock);
	return s;
}

/* --- answers -------------------------------------------------------------------------------- */

/* Reads the metadata of compiled code. Numbers that no GPU allows are refused: the answer comes from
 * a process that handled hostile input. */
static int read_meta(struct str text, struct kernel_meta *m)
{
	struct json *j = json_parse(text, NULL);
	struct str name = json_str(json_get(j, "name"), "");

	*m = (struct kernel_meta){ .num_warps = (int)json_int(json_get(j, "num_warps"), -1),
				   .num_ctas = (int)json_int(json_get(j, "num_ctas"), 1),
				   .shared = (int)json_int(json_get(j, "shared"), -1),
				   .cooperative = json_bool(json_get(j, "cooperative"), 0),
				   .programmatic = json_bool(json_get(j, "programmatic"), 0),
				   .scratch_params = (int)json_int(json_get(j, "scratch_params"), -1),
				   .scratch_bytes = json_int(json_get(j, "scratch_bytes"), -1),
				   .profile_bytes = json_int(json_get(j, "profile_bytes"), 0) };
	snprintf(m->name, sizeof m->name, "%.*s", STR_ARG(name));
	json_free(j);
	return m->name[0] && m->num_warps >= 1 && m->num_warps <= 32 && m->num_ctas >= 1 && m->num_ctas <= 16 &&
	       m->shared >= 0 && m->shared <= 1 << 20 && m->scratch_params >= 0 && m->scratch_params <= 2 &&
	       m->scratch_bytes >= 0 && m->scratch_bytes <= 1 << 30 && m->profile_bytes >= 0 &&
	       m->profile_bytes <= 1 << 30 ? 0 : -1;
}

static void refuse(struct compiled_kernel *k, enum compiled_status s, struct str message)
{
	k->status = s;
	snprintf(k->message, sizeof k->message, "%.*s", STR_ARG(message));
}

/* Turns an answer into a kernel. */
static void take_answer(struct compile_answer *a, struct compiled_kernel *k)
{
	struct json *j;

	if (a->status == COMPILED_OK && !read_meta(buf_str(&a->meta), &k->meta) && a->code.n) {
		k->status = COMPILED_OK;
		k->code = a->code;
		a->code = (struct buf)BUF_INIT;
		return;
	}
	j = json_parse(buf_str(&a->meta), NULL);
	refuse(k, a->status == COMPILED_UNAVAILABLE ? COMPILED_UNAVAILABLE : COMPILED_REFUSED,
	       json_str(json_get(j, "message"), "the compiler gave a malformed answer"));
	json_free(j);
}

/* --- workers -------------------------------------------------------------------------------- */

/* Waits for a free worker and marks it busy. The lock is held. */
static int take_worker(struct kernel_compiler *c)
{
	for (;;) {
		for (int i = 0; i < c->workers; i++)
			if (!c->busy[i]) {
				c->busy[i] = 1;
				return i;
			}
		pthread_cond_wait(&c->changed, &c->lock);
	}
}

/* Starts the worker if it is not running. A worker that cannot compile at all (no Triton) makes the
 * compiler unavailable: nothing is compiled, and nothing passes. */
static int start_worker(struct kernel_compiler *c, struct compile_process *w, struct compiled_kernel *k)
{
	struct err e = ERR_INIT;
	char version[32];

	if (w->fd >= 0)
		return 0;
	if (compile_process_open(w, &c->o, version, sizeof version, &e)) {
		refuse(k, COMPILED_UNAVAILABLE, str_of(e.text));
		return -1;
	}
	pthread_mutex_lock(&c->lock);
	snprintf(c->version, sizeof c->version, "%s", version);
	pthread_mutex_unlock(&c->lock);
	return 0;
}

/* Compiles with worker w. A worker that is lost is closed; the next request starts another. */
static void compile_with(struct kernel_compiler *c, struct compile_process *w, struct str request,
			 struct compiled_kernel *k)
{
	struct compile_answer a = { .status = 0 };
	struct err e = ERR_INIT;

	if (start_worker(c, w, k))
		return;
	if (compile_process_ask(w, request, c->o.seconds, &a, &e)) {
		compile_process_close(w);
		pthread_mutex_lock(&c->lock);
		c->stats.lost++;
		pthread_mutex_unlock(&c->lock);
		refuse(k, COMPILED_REFUSED, str_of(e.text));
	} else {
		take_answer(&a, k);
	}
	buf_release(&a.meta);
	buf_release(&a.code);
}

/* Compiles a request whose entry this thread made. The lock is held on entry and on return. */
static void compile_entry(struct kernel_compiler *c, struct entry *x, struct str request)
{
	int i = take_worker(c);

	if (c->unavailable[0]) {
		refuse(&x->k, COMPILED_UNAVAILABLE, str_of(c->unavailable));
	} else {
		pthread_mutex_unlock(&c->lock);
		compile_with(c, &c->worker[i], request, &x->k);
		pthread_mutex_lock(&c->lock);
	}
	if (x->k.status == COMPILED_UNAVAILABLE)
		snprintf(c->unavailable, sizeof c->unavailable, "%s", x->k.message);
	c->busy[i] = 0;
	x->answered = 1;
	pthread_cond_broadcast(&c->changed);
}

const struct compiled_kernel *kernel_compiler_ask(struct kernel_compiler *c, struct str request)
{
	char key[65];
	struct map_entry *m;
	struct entry *x = NULL;

	sha256_hex(request.p, request.n, key);
	pthread_mutex_lock(&c->lock);
	c->stats.asked++;
	m = map_put(&c->cache, str_of(key));
	if (m && !m->val.ptr) {
		m->val.ptr = x = mem_zalloc(sizeof *x);
		if (x)
			compile_entry(c, x, request);
	} else if (m) {
		x = m->val.ptr;
		c->stats.cached++;
		while (!x->answered)
			pthread_cond_wait(&c->changed, &c->lock);
	}
	pthread_mutex_unlock(&c->lock);
	return x ? &x->k : NULL;
}
