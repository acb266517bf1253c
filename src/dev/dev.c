/* Devices: see dev.h. This file owns the CPU's memory and the choice between CPU and GPU;
 * dev_cuda.c owns what is special to GPUs.
 *
 * Large blocks of CPU memory are anonymous maps, zeroed by the kernel and on huge pages. Small
 * blocks come from the heap. */
#include "dev/dev.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "dev/dev_impl.h"

/* Bytes from which on memory is mapped: one huge page. */
enum { MAP_FROM = 1 << 21 };

/* The number in "cuda" or "cuda:N"; -1 for any other name. */
static int gpu_index(const char *name)
{
	if (!strcmp(name, "cuda"))
		return 0;
	if (strncmp(name, "cuda:", 5) || !isdigit((unsigned char)name[5]) || strlen(name) > 7)
		return -1;
	return atoi(name + 5);
}

/* "auto" falls back to the CPU and logs why, unless there is no driver. */
static int open_kind(struct dev *d, const char *name, struct err *e)
{
	struct err why = ERR_INIT;
	int gpu = gpu_index(name);

	if (!strcmp(name, "cpu"))
		return 0;
	if (gpu >= 0)
		return dev_cuda_open(d, gpu, e);
	if (strcmp(name, "auto"))
		return err_set(e, ERR_USAGE, "there is no device '%s'; use " DEV_CHOICES, name);
	if (dev_cuda_driver() && dev_cuda_open(d, 0, &why))
		log_warn("%s; the CPU is used", why.text);
	return 0;
}

/* A GPU has a thread pool too, for reading files. */
struct dev *dev_open(const char *name, int threads, struct err *e)
{
	struct dev *d = mem_zalloc(sizeof *d);

	if (!d) {
		err_nomem(e);
		return NULL;
	}
	d->kind = DEV_CPU;
	d->act = DT_F32;
	if (!(d->pool = pool_new(threads, e)) || open_kind(d, name, e)) {
		dev_close(d);
		return NULL;
	}
	d->threads = pool_size(d->pool);
	return d;
}

/* One block per thread and one that they share. */
static size_t scratch_bytes(const struct dev *d)
{
	return (size_t)d->threads * d->scratch_each + d->scratch_shared;
}

/* Scratch goes back before the GPU is closed. */
void dev_close(struct dev *d)
{
	if (!d)
		return;
	dev_free(d, d->scratch, scratch_bytes(d));
	if (d->kind == DEV_CUDA)
		dev_cuda_close(d);
	pool_free(d->pool);
	mem_free(d);
}

/* The CPU has no measured choices. */
void dev_keep_choices(const struct dev *d)
{
	if (d->kind == DEV_CUDA)
		dev_cuda_keep_choices(d);
}

/* The driver reports 13000 for version 13.0. */
void dev_describe(const struct dev *d, struct buf *out)
{
	if (d->kind == DEV_CPU)
		buf_addf(out, "cpu, %d threads", d->threads);
	else
		buf_addf(out, "%s, %.0f GiB, compute %d.%d, driver %d.%d", d->info.name,
			 (double)d->info.memory / (1 << 30), d->info.major,
			 d->info.minor, d->info.driver / 1000, d->info.driver % 1000 / 10);
}

/* The caller gives the size back to cpu_free, which decides by it how to free. */
static void *cpu_alloc(size_t n, struct err *e)
{
	void *p;

	if (n >= MAP_FROM) {
		p = sys.mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			p = NULL;
		else
			madvise(p, n, MADV_HUGEPAGE);   /* an optimisation: refusal changes nothing */
	} else if ((p = mem_alloc_aligned(n ? n : 1, 64)))
		memset(p, 0, n);
	if (!p)
		err_set(e, ERR_NOMEM, "cannot allocate %zu bytes on the device", n);
	return p;
}

/* n must be the size that was asked for. */
static void cpu_free(void *p, size_t n)
{
	if (n >= MAP_FROM)
		sys.munmap(p, n);
	else
		mem_free_aligned(p);
}

/* Counts what is held, for the memory table and for plan. */
void *dev_alloc(struct dev *d, size_t n, struct err *e)
{
	void *p = d->kind == DEV_CUDA ? dev_cuda_alloc(d, n, e) : cpu_alloc(n, e);

	if (p) {
		d->held += n;
		d->peak = MAX(d->peak, d->held);
	}
	return p;
}

void dev_free(struct dev *d, void *p, size_t n)
{
	if (!p)
		return;
	d->held -= n;
	if (d->kind == DEV_CUDA)
		dev_note(d, d->call.cuda_free(d->gpu, p), "freeing memory");
	else
		cpu_free(p, n);
}

/* The driver's answer includes what other processes use. */
size_t dev_available(struct dev *d)
{
	size_t left = SIZE_MAX, all;

	if (d->kind == DEV_CUDA)
		dev_note(d, d->call.cuda_memory(d->gpu, &left, &all), "asking for free memory");
	return left;
}

/* Pinned on a machine with a GPU, plain memory otherwise. */
void *dev_host_alloc(struct dev *d, size_t n, struct err *e)
{
	void *p = NULL;

	if (d->kind != DEV_CUDA)
		return cpu_alloc(n, e);
	if (d->call.cuda_host_alloc(d->gpu, &p, n ? n : 1)) {
		err_set(e, ERR_NOMEM, "cannot allocate %zu bytes of pinned memory", n);
		return NULL;
	}
	memset(p, 0, n);
	return p;
}

void dev_host_free(struct dev *d, void *p, size_t n)
{
	if (!p)
		return;
	if (d->kind == DEV_CUDA)
		dev_note(d, d->call.cuda_host_free(d->gpu, p), "freeing pinned memory");
	else
		cpu_free(p, n);
}

/* On the GPU a copy is only queued; errors show up at the next wait. */
void dev_copy(struct dev *d, void *to, const void *from, size_t n)
{
	if (d->kind == DEV_CUDA)
		dev_note(d, d->call.cuda_copy(d->gpu, to, from, n), "copying %zu bytes", n);
	else
		memmove(to, from, n);
}

void dev_put(struct dev *d, void *to, const void *from, size_t n)
{
	dev_copy(d, to, from, n);
}

/* The data is there on return, because dev_check waits. */
int dev_get(struct dev *d, void *to, const void *from, size_t n, struct err *e)
{
	dev_copy(d, to, from, n);
	return dev_check(d, e);
}

void dev_zero(struct dev *d, void *p, size_t n)
{
	if (d->kind == DEV_CUDA)
		dev_note(d, d->call.cuda_zero(d->gpu, p, n), "zeroing %zu bytes", n);
	else
		memset(p, 0, n);
}

/* On the CPU every op has ended when it returns. */
int dev_check(struct dev *d, struct err *e)
{
	if (d->kind != DEV_CUDA)
		return 0;
	dev_note(d, d->call.cuda_wait(d->gpu), "at or before this point");
	if (!d->fault.code)
		return 0;
	return err_set(e, d->fault.code, "%s", d->fault.text);
}

/* A device that failed is idle: nothing runs any more. */
int dev_idle(struct dev *d)
{
	int idle = 1;

	if (d->kind == DEV_CUDA && !d->fault.code)
		dev_note(d, d->call.cuda_idle(d->gpu, &idle), "working");
	return idle;
}

void *dev_stream(struct dev *d)
{
	void *stream = NULL;

	if (d->kind == DEV_CUDA)
		dev_note(d, d->call.cuda_stream(d->gpu, &stream), "asking for the stream");
	return stream;
}

/* While times are measured nothing is recorded, because the marks would be recorded too. */
int dev_records(const struct dev *d) { return d->kind == DEV_CUDA && !d->times; }

/* Everything that is called from here on is recorded, copies included. */
void dev_graph_begin(struct dev *d)
{
	dev_note(d, d->call.cuda_graph_begin(d->gpu), "beginning to record");
}

/* NULL if recording failed; running NULL does nothing, and dev_check reports the failure. */
void *dev_graph_end(struct dev *d)
{
	void *graph = NULL;

	dev_note(d, d->call.cuda_graph_end(d->gpu, &graph), "recording");
	return graph;
}

void dev_graph_run(struct dev *d, void *graph)
{
	if (graph)
		dev_note(d, d->call.cuda_graph_run(d->gpu, graph), "running what was recorded");
}

void dev_graph_free(struct dev *d, void *graph)
{
	if (graph)
		dev_note(d, d->call.cuda_graph_free(d->gpu, graph), "forgetting what was recorded");
}

/* Scratch only grows. Graphs with the old address are forgotten by their sessions. */
int dev_reserve(struct dev *d, size_t each, size_t shared, struct err *e)
{
	struct dev want = { .threads = d->threads };
	char *p;

	want.scratch_each = MAX(d->scratch_each, (each + 4095) & ~(size_t)4095);
	want.scratch_shared = MAX(d->scratch_shared, (shared + 4095) & ~(size_t)4095);
	if (want.scratch_each == d->scratch_each && want.scratch_shared == d->scratch_shared)
		return 0;
	if (!(p = dev_alloc(d, scratch_bytes(&want), e)))
		return -1;
	dev_free(d, d->scratch, scratch_bytes(d));
	d->scratch = p;
	d->scratch_each = want.scratch_each;
	d->scratch_shared = want.scratch_shared;
	return 0;
}

/* Scratch of one thread. */
void *dev_scratch(const struct dev *d, int thread, size_t need)
{
	if (need > d->scratch_each)
		BUG("an op needs %zu bytes a thread, %zu are reserved", need, d->scratch_each);
	return d->scratch + (size_t)thread * d->scratch_each;
}

/* Scratch that all threads of an op share. */
void *dev_shared(const struct dev *d, size_t need)
{
	if (need > d->scratch_shared)
		BUG("an op needs %zu shared bytes, %zu are reserved", need, d->scratch_shared);
	return d->scratch + (size_t)d->threads * d->scratch_each;
}
