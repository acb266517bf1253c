/* GPUs: finds the driver and the shared object, collects errors, and reads files fast. See dev.h.
 *
 * Nothing of CUDA is linked, so the program runs on machines without it. cuBLASLt, which the
 * shared object needs, is searched in the folders where toolkits and Python packages put it. */
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cache_folder.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "dev/dev_impl.h"

/* Pieces of pinned memory that files are read through, and the bytes of one. */
enum { PINNED_PIECES = 4, PINNED_BYTES = 16 << 20 };

int dev_cuda_driver(void)
{
	void *p = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);

	/* The driver stays loaded; a second dlopen finds it. */
	return p != NULL;
}

/* --- loading ------------------------------------------------------------------------------------- */

/* Folders that may hold CUDA's libraries, in addition to the loader's own path; %s is the
 * library. */
static const char *const library_paths[] = {
	"/usr/local/cuda/lib64/%s",
	"/usr/local/cuda/targets/x86_64-linux/lib/%s",
	"/opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib/%s",
	"/usr/lib/python3*/site-packages/nvidia/*/lib/%s",
	"/usr/local/lib/python3*/*-packages/nvidia/*/lib/%s",
};

/* The first file that matches and loads. */
static void *load_glob(const char *pattern)
{
	glob_t g;
	void *p = NULL;

	if (!glob(pattern, 0, NULL, &g))
		for (size_t i = 0; i < g.gl_pathc && !p; i++)
			p = dlopen(g.gl_pathv[i], RTLD_NOW | RTLD_GLOBAL);
	globfree(&g);
	return p;
}

/* The loader's path first, then CUDA_HOME, then the usual folders. */
void *dev_library(const char *name)
{
	const char *home = getenv("CUDA_HOME");
	void *p = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
	char path[PATH_MAX];

	if (!p && home && snprintf(path, sizeof path, "%s/lib64/%s", home, name) < (int)sizeof path)
		p = load_glob(path);
	for (size_t i = 0; i < COUNT_OF(library_paths) && !p; i++) {
		snprintf(path, sizeof path, library_paths[i], name);
		p = load_glob(path);
	}
	return p;
}

static int load_library(const char *name, struct err *e)
{
	return dev_library(name) ? 0 : err_set(e, ERR_NOT_FOUND,
					       "cuda: %s was not found: install CUDA 13 or set CUDA_HOME", name);
}

/* Looks in the folder of the program, in its build folder, and in the folder of `make install`. */
static int load_own(struct dev *d, struct err *e)
{
	static const char *const folders[] = { "", "/build/release", "/..", "/../lib/tritonrl" };
	char self[PATH_MAX], path[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	self[n > 0 ? n : 0] = '\0';
	if (strrchr(self, '/'))
		*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < COUNT_OF(folders) && !d->library; i++) {
		snprintf(path, sizeof path, "%s%s/libtritonrl_cuda.so", self, folders[i]);
		if (!access(path, R_OK) && !(d->library = dlopen(path, RTLD_NOW | RTLD_LOCAL)))
			return err_set(e, ERR_UNSUPPORTED, "cuda: %s", dlerror());
	}
	if (!d->library)
		return err_set(e, ERR_NOT_FOUND,
			       "cuda: libtritonrl_cuda.so is not beside the program: `make cuda` builds it");
	return 0;
}

void *dev_symbol(const struct dev *d, const char *name)
{
	return d->library ? dlsym(d->library, name) : NULL;
}

/* Looks up every function of cuda.def. A missing one means that the shared object is of another
 * version. */
static int bind(struct dev *d, struct err *e)
{
	void *p;

#define CUDA_FN(name, params) \
	if (!(p = dev_symbol(d, #name))) \
		return err_set(e, ERR_UNSUPPORTED, \
			       "cuda: libtritonrl_cuda.so is of another version: it has no %s", #name); \
	memcpy(&d->call.name, &p, sizeof p);
#include "dev/cuda.def"
#undef CUDA_FN
	return 0;
}

/* --- life ------------------------------------------------------------------------------------------ */

/* The choices of algorithms are kept between runs, so that two runs have the same bits. */
static void find_choices(struct dev *d)
{
	struct buf dir = BUF_INIT;

	if (!cache_folder(&dir) && !file_mkdirs(buf_cstr(&dir), NULL)) {
		buf_addf(&dir, "/cuda-%d%d.choices", d->info.major, d->info.minor);
		d->choices = mem_strdup(buf_cstr(&dir));
	}
	buf_release(&dir);
}

int dev_cuda_open(struct dev *d, int index, struct err *e)
{
	char text[200];
	int rc;

	if (!dev_cuda_driver())
		return err_set(e, ERR_UNSUPPORTED,
			       "cuda: libcuda.so.1 was not found: there is no NVIDIA driver on this machine");
	if (load_library("libcublasLt.so.13", e) || load_own(d, e) || bind(d, e))
		return -1;
	rc = d->call.cuda_open(index, &d->gpu, &d->info);
	if (rc) {
		d->call.cuda_explain(rc, text, sizeof text);
		return err_set(e, ERR_UNSUPPORTED, "cuda: GPU %d cannot be used: %s", index, text);
	}
	if (d->info.major < 8) {
		d->call.cuda_close(d->gpu);
		return err_set(e, ERR_UNSUPPORTED,
			       "cuda: %s has compute capability %d.%d; 8.0 or later is needed", d->info.name,
			       d->info.major, d->info.minor);
	}
	d->kind = DEV_CUDA;
	d->act = DT_BF16;
	find_choices(d);
	return 0;
}

/* The file is replaced as a whole, because another run may read it at any moment. */
void dev_cuda_keep_choices(const struct dev *d)
{
	int (*save)(struct cuda *, const char *);
	void *p = dev_symbol(d, "cuda_gemm_save");
	struct buf fresh = BUF_INIT;

	if (!d->choices || !d->launch || !p || d->fault.code)
		return;
	memcpy(&save, &p, sizeof p);
	buf_addf(&fresh, "%s.%d", d->choices, (int)getpid());
	if (save(d->gpu, buf_cstr(&fresh)) || rename(buf_cstr(&fresh), d->choices))
		log_warn("'%s' cannot be written: algorithms are measured again in the next run", d->choices);
	buf_release(&fresh);
}

void dev_cuda_close(struct dev *d)
{
	dev_cuda_keep_choices(d);
	dev_host_free(d, d->stage, (size_t)PINNED_PIECES * PINNED_BYTES);
	d->call.cuda_close(d->gpu);
	mem_free(d->launch);
	mem_free(d->choices);
	/* The library stays loaded, because CUDA does not survive being unloaded. */
}

/* --- memory ----------------------------------------------------------------------------------------- */

/* The error says how much memory is left, which is what a user can act on. */
void *dev_cuda_alloc(struct dev *d, size_t n, struct err *e)
{
	size_t left = 0, all = 0;
	void *p = NULL;

	if (!d->call.cuda_alloc(d->gpu, &p, n ? n : 1))
		return p;
	d->call.cuda_memory(d->gpu, &left, &all);
	err_set(e, ERR_NOMEM, "the GPU has %.1f of %.1f GiB left and %.1f GiB more are needed",
		(double)left / (1 << 30),
		(double)all / (1 << 30), (double)n / (1 << 30));
	return NULL;
}

/* Only the first error counts; later ones follow from it. */
void dev_note(struct dev *d, int code, const char *fmt, ...)
{
	char what[200], why[200];
	va_list ap;

	if (!code || d->fault.code)
		return;
	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	d->call.cuda_explain(code, why, sizeof why);
	err_set(&d->fault, ERR_STATE, "cuda: %s: %s", what, why);
	log_error("%s", d->fault.text);
}

/* A part of a file that threads copy into pinned memory. */
struct piece {
	char *to;
	const char *from;
	size_t n;
};

/* One thread's part of a piece. */
static void copy_part(void *ctx, size_t begin, size_t end)
{
	const struct piece *p = ctx;

	memcpy(p->to + begin, p->from + begin, end - begin);
}

/* Threads fill one piece of pinned memory while the GPU copies the others. A piece is filled
 * again once the event behind its copy has passed. */
void dev_put_file(struct dev *d, void *to, const void *from, size_t n)
{
	void *event[PINNED_PIECES] = { NULL };
	size_t at = 0;

	if (d->kind == DEV_CUDA && n > PINNED_BYTES && !d->stage)
		d->stage = dev_host_alloc(d, (size_t)PINNED_PIECES * PINNED_BYTES, NULL);
	if (d->kind != DEV_CUDA || n <= PINNED_BYTES || !d->stage) {
		dev_put(d, to, from, n);
		return;
	}
	for (int i = 0; i < PINNED_PIECES; i++)
		dev_note(d, d->call.cuda_event_new(d->gpu, &event[i]), "making an event");
	for (int i = 0; at < n && !d->fault.code; i++) {
		struct piece p = { .to = (char *)d->stage + (size_t)(i % PINNED_PIECES) * PINNED_BYTES,
				   .from = (const char *)from + at,
				   .n = MIN((size_t)PINNED_BYTES, n - at) };

		if (i >= PINNED_PIECES)
			dev_note(d, d->call.cuda_event_wait(d->gpu, event[i % PINNED_PIECES]), "waiting for a copy");
		pool_for(d->pool, p.n, 1 << 18, copy_part, &p);
		dev_copy(d, (char *)to + at, p.to, p.n);
		dev_note(d, d->call.cuda_event_put(d->gpu, event[i % PINNED_PIECES]), "marking a copy");
		at += p.n;
	}
	for (int i = 0; i < PINNED_PIECES; i++)
		if (event[i]) {
			dev_note(d, d->call.cuda_event_wait(d->gpu, event[i]), "waiting for a copy");
			d->call.cuda_event_free(d->gpu, event[i]);
		}
}
