/* A launch plan on a device: see gpu_call.h.
 *
 * Everything runs on one stream that we own, so nothing can run outside of the events around a
 * call. Invariant: what a call must not see (contents of an earlier call, results) is overwritten
 * before the call, outside of the timed part. */
#include "verify/gpu/gpu_call.h"

#include <stdio.h>

#include "base/mem.h"

/* Bytes of a red zone, its contents, and the alignment of storages (that of PyTorch's allocator). */
enum { RED_ZONE = 512, RED_BYTE = 0xa5, ALIGN = 512 };
/* Poison of memory without contents: as floats NaN and 1.3e36. */
enum { POISON = 0xff, OTHER_POISON = 0x7b };
enum { DIGEST_BLOCK = 1024, COPY_BLOCK = 1024, COPY_DIMS = 5 };

/* Notes a failed call of the driver. Returns 1 if it failed. */
static int failed(struct gpu_fault *f, int code, const char *doing)
{
	if (!code)
		return 0;
	if (!f->code) {
		f->code = code;
		f->doing = doing;
	}
	return 1;
}

/* --- memory --------------------------------------------------------------------------------- */

static int64_t round_up(int64_t n)
{
	return (n + ALIGN - 1) / ALIGN * ALIGN;
}

/* Bytes of a place: each storage between two red zones. Places begin with an offset of their own,
 * so that equal storages have different addresses modulo large powers of two. */
static int64_t place_bytes(const struct gpu_plan *p, int place)
{
	int64_t n = (int64_t)RED_ZONE * (1 + 3 * place);

	for (int i = 0; i < p->n_memory; i++)
		n += round_up(p->memory[i].bytes) + RED_ZONE;
	return n;
}

/* Allocates a place, fills it with the byte of red zones, and lays the storages out. */
static int place_open(struct gpu_call *c, int number, struct gpu_fault *f)
{
	const struct gpu_plan *p = c->plan;
	struct gpu_place *pl = &c->place[number];
	int64_t bytes = place_bytes(p, number);
	uint64_t at;

	pl->at = mem_array((size_t)p->n_memory + 1, sizeof *pl->at);
	if (!pl->at)
		return failed(f, CU_OUT_OF_MEMORY, "preparing memory");
	if (failed(f, c->g->d.mem_alloc(&pl->slab, (size_t)bytes), "allocating the tensors of the call"))
		return 1;
	at = pl->slab + (uint64_t)RED_ZONE * (uint64_t)(1 + 3 * number);
	for (int i = 0; i < p->n_memory; i++) {
		pl->at[i] = at;
		at += (uint64_t)round_up(p->memory[i].bytes) + RED_ZONE;
	}
	return failed(f, c->g->d.fill8(pl->slab, RED_BYTE, (size_t)bytes, c->g->stream), "filling red zones");
}

/* Opens a place. One more place than the first is left out if there is no memory for it. The first
 * one is the candidate's fault only if this GPU could not hold it with nothing else on it. */
static int place_try(struct gpu_call *c, int number, struct gpu_fault *f, struct err *e)
{
	int64_t bytes = place_bytes(c->plan, number);

	c->places = number + 1;
	if (!place_open(c, number, f))
		return failed(f, c->g->d.stream_synchronize(c->g->stream), "filling memory");
	if (f->code != CU_OUT_OF_MEMORY || (!number && bytes > c->g->info.memory - c->g->flush_bytes))
		return 1;
	*f = (struct gpu_fault){ .code = 0 };
	if (!number)
		return err_set(e, ERR_STATE, "other processes hold the memory of the GPU; the call needs %lld MiB",
			       (long long)(bytes >> 20));
	mem_free(c->place[number].at);
	c->place[number] = (struct gpu_place){ .slab = 0 };
	c->places = number;
	return 0;
}

/* The contents of an input or a weight, dense and in the layout of the candidate's model. Release
 * *out. */
static int contents_of(const struct launch_memory *m, int set, const struct st_file *data, struct tensor *out,
		       struct err *e)
{
	char name[256];
	const struct st_tensor *t;
	struct tensor whole, view;
	int rc;

	if (m->from == LAUNCH_INPUT)
		snprintf(name, sizeof name, "input.%d.%.*s", set, STR_ARG(m->name));
	else
		snprintf(name, sizeof name, "weight.%.*s", STR_ARG(m->name));
	t = st_find(data, name);
	if (!t)
		return err_set(e, ERR_NOT_FOUND, "the task has no tensor '%s'", name);
	if (tensor_borrow(&whole, t->dt, t->ndim, t->shape, (void *)t->data, t->bytes, e))
		return -1;
	if (m->transposed && whole.ndim == 2)
		rc = tensor_transpose(&view, &whole, 0, 1, e);
	else
		view = whole, tensor_retain(&view), rc = 0;
	if (!rc) {
		rc = tensor_to(out, &view, m->from == LAUNCH_WEIGHT ? m->dt : view.dt, e);
		tensor_release(&view);
	}
	tensor_release(&whole);
	return rc;
}

/* Uploads the contents of an input or a weight. Its size must be the one of the plan. */
static int upload(struct gpu_call *c, int place, int i, const struct st_file *data, struct gpu_fault *f, struct err *e)
{
	const struct launch_memory *m = &c->plan->memory[i];
	struct tensor t;
	int rc;

	if (contents_of(m, place, data, &t, e))
		return -1;
	if (tensor_numel(&t) * dtype_size(t.dt) != m->bytes) {
		rc = err_set(e, ERR_STATE, "tensor '%.*s' has %lld bytes in the task and %lld in the candidate",
			     STR_ARG(m->name), (long long)(tensor_numel(&t) * dtype_size(t.dt)), (long long)m->bytes);
	} else {
		rc = m->bytes ? failed(f, c->g->d.copy_in(c->place[place].at[i], tensor_data(&t), (size_t)m->bytes),
				       "copying the inputs") : 0;
	}
	tensor_release(&t);
	return rc;
}

static int fill_place(struct gpu_call *c, int place, const struct st_file *data, struct gpu_fault *f, struct err *e)
{
	for (int i = 0; i < c->plan->n_memory; i++) {
		enum launch_from from = c->plan->memory[i].from;
		int rc = from == LAUNCH_INPUT || from == LAUNCH_WEIGHT ? upload(c, place, i, data, f, e) : 0;

		if (rc)
			return rc;
	}
	return 0;
}

/* As many places as fit into four fifths of the memory that is free now: the PyTorch process holds
 * some, too. At least one is tried. */
static int places_that_fit(const struct gpu_device *g, const struct gpu_plan *p, int sets)
{
	size_t left = 0, all = 0;
	int n = 1;

	if (g->d.mem_info(&left, &all))
		return 1;
	while (n < MIN(sets, GPU_PLACES) && (n + 1) * place_bytes(p, GPU_PLACES) < (int64_t)(left / 5 * 4))
		n++;
	return n;
}

int gpu_call_open(struct gpu_call *c, struct gpu_device *g, const struct gpu_plan *p, struct gpu_kernel *kernels,
		  int n_kernels, const struct st_file *data, int sets, struct gpu_fault *f, struct err *e)
{
	int rc = 0;

	if (p->n_operators)
		return err_set(e, ERR_UNSUPPORTED, "the plan has operators of PyTorch");
	*c = (struct gpu_call){ .g = g, .plan = p, .kernels = kernels, .n_kernels = n_kernels, .poison = POISON };
	for (int i = 0; i < p->n_steps && !rc; i++)
		if (p->steps[i].kernel >= 0 &&
		    (rc = failed(f, gpu_kernel_reserve(g, &kernels[p->steps[i].kernel], p->steps[i].grid),
				 "allocating scratch memory of")))
			snprintf(f->kernel, sizeof f->kernel, "%s", kernels[p->steps[i].kernel].meta.name);
	if (!rc)
		rc = failed(f, g->d.mem_alloc(&c->digest, 8), "allocating memory");
	for (int i = 0, n = places_that_fit(g, p, sets); i < n && !rc; i++) {
		rc = place_try(c, i, f, e);
		if (!rc && c->places == i)
			break;
		rc = rc ? rc : fill_place(c, i, data, f, e);
	}
	return rc;
}

void gpu_call_close(struct gpu_call *c)
{
	for (int i = 0; i < c->places; i++) {
		if (c->place[i].slab)
			c->g->d.mem_free(c->place[i].slab);
		mem_free(c->place[i].at);
	}
	for (int i = 0; i < c->n_kernels; i++)
		gpu_kernel_unload(c->g, &c->kernels[i]);
	if (c->digest)
		c->g->d.mem_free(c->digest);
	mem_free(c->kernels);
	*c = (struct gpu_call){ .g = NULL };
}

/* --- one call ------------------------------------------------------------------------------- */

/* Fills a storage with a repeated pattern of 1, 2 or 4 bytes. A pattern of 8 bytes is zero or is
 * refused: the driver has no fill for it. */
static int fill_value(struct gpu_call *c, uint64_t at, const struct launch_memory *m)
{
	static const unsigned char zero[8];
	unsigned short half;
	unsigned word;

	if (!memcmp(m->data, zero, m->data_n) || m->data_n == 1)
		return c->g->d.fill8(at, m->data[0], (size_t)m->bytes, c->g->stream);
	memcpy(&half, m->data, sizeof half);
	if (m->data_n == 2)
		return c->g->d.fill16(at, half, (size_t)m->bytes / 2, c->g->stream);
	memcpy(&word, m->data, sizeof word);
	if (m->data_n == 4 || !memcmp(m->data, m->data + 4, 4))
		return c->g->d.fill32(at, word, (size_t)m->bytes / 4, c->g->stream);
	return CU_UNKNOWN;
}

/* Poisons memory without contents, and copies small constants again. Before each call, not timed. */
static int reset(struct gpu_call *c, int place, struct gpu_fault *f)
{
	int rc = 0;

	c->poison = c->poison == POISON ? OTHER_POISON : POISON;
	for (int i = 0; i < c->plan->n_memory && !rc; i++) {
		const struct launch_memory *m = &c->plan->memory[i];
		uint64_t at = c->place[place].at[i];

		if (!m->bytes)
			continue;
		if (m->from == LAUNCH_EMPTY || m->from == LAUNCH_VALUE)
			rc = failed(f, c->g->d.fill8(at, c->poison, (size_t)m->bytes, c->g->stream),
				    "poisoning memory");
		else if (m->from == LAUNCH_BYTES)
			rc = failed(f, c->g->d.copy_in(at, m->data, (size_t)m->bytes), "copying constants");
	}
	return rc;
}

/* A copy between two views by our own kernel (kernel_library.c), over at most five dimensions. */
static int start_copy(struct gpu_call *c, const struct launch_step *s, struct gpu_kernel *k, const uint64_t *at)
{
	int64_t n = launch_view_numel(&s->to), size[COPY_DIMS], to[COPY_DIMS], from[COPY_DIMS];
	int64_t grid[3] = { (n + COPY_BLOCK - 1) / COPY_BLOCK, 1, 1 };
	uint64_t address[2] = { at[s->to.storage] + (uint64_t)s->to.offset,
				at[s->from.storage] + (uint64_t)s->from.offset };
	void *params[3 + 3 * COPY_DIMS + 2];
	int used = 0;

	if (!n)
		return 0;
	if (s->to.ndim > COPY_DIMS)
		return CU_UNKNOWN;
	for (int i = 0; i < COPY_DIMS; i++) {
		int d = i - (COPY_DIMS - s->to.ndim);

		size[i] = d < 0 ? 1 : s->to.shape[d];
		to[i] = d < 0 ? 0 : s->to.stride[d];
		from[i] = d < 0 ? 0 : s->from.stride[d];
	}
	params[used++] = &address[0];
	params[used++] = &address[1];
	params[used++] = &n;
	for (int i = 1; i < COPY_DIMS; i++)
		params[used++] = &size[i];
	for (int i = 0; i < COPY_DIMS; i++)
		params[used++] = &to[i];
	for (int i = 0; i < COPY_DIMS; i++)
		params[used++] = &from[i];
	return gpu_kernel_launch(c->g, k, grid, params, used);
}

static int start_kernel(struct gpu_call *c, const struct launch_step *s, const uint64_t *at)
{
	uint64_t address[LAUNCH_ARGS];
	void *params[LAUNCH_ARGS + 2];

	for (int i = 0; i < s->n_args; i++) {
		const struct launch_arg *a = &s->args[i];

		address[i] = a->storage >= 0 ? at[a->storage] + (uint64_t)a->offset : 0;
		params[i] = a->storage >= 0 ? (void *)&address[i] : (void *)a->number;
	}
	return gpu_kernel_launch(c->g, &c->kernels[s->kernel], s->grid, params, s->n_args);
}

/* The kernel of a step: its own, or our next copy. */
static struct gpu_kernel *kernel_of(const struct gpu_call *c, const struct launch_step *s, int *copies)
{
	return &c->kernels[s->kernel >= 0 ? s->kernel : c->plan->n_kernels + (*copies)++];
}

/* In the order of gpu_call_start, which a copy of no elements leaves out. */
int gpu_call_kernels(const struct gpu_call *c, const char **names)
{
	int copies = 0, n = 0;

	for (int i = 0; i < c->plan->n_steps; i++) {
		const struct launch_step *s = &c->plan->steps[i];
		const struct gpu_kernel *k = kernel_of(c, s, &copies);

		if (s->kernel >= 0 || launch_view_numel(&s->to))
			names[n++] = k->meta.name;
	}
	return n;
}

/* Starts the steps of the plan. Tensors that the program fills with a value are filled here: on a
 * GPU that is a part of the call, too. */
int gpu_call_start(struct gpu_call *c, int place, struct gpu_fault *f)
{
	const struct gpu_plan *p = c->plan;
	const uint64_t *at = c->place[place].at;
	int copies = 0;

	for (int i = 0; i < p->n_memory; i++)
		if (p->memory[i].from == LAUNCH_VALUE && p->memory[i].bytes &&
		    failed(f, fill_value(c, at[i], &p->memory[i]), "filling a tensor"))
			return 1;
	for (int i = 0; i < p->n_steps; i++) {
		const struct launch_step *s = &p->steps[i];
		struct gpu_kernel *k = kernel_of(c, s, &copies);
		int code = s->kernel >= 0 ? start_kernel(c, s, at) : start_copy(c, s, k, at);

		if (failed(f, code, "launching")) {
			snprintf(f->kernel, sizeof f->kernel, "%s", k->meta.name);
			return 1;
		}
	}
	return 0;
}

/* Copies from the host are not ordered with our stream, so the host waits for them. */
int gpu_call_prepare(struct gpu_call *c, int place, struct gpu_fault *f)
{
	return reset(c, place, f) || failed(f, c->g->d.ctx_synchronize(), "copying the inputs");
}

int gpu_call_wait(struct gpu_call *c, struct gpu_fault *f)
{
	return failed(f, c->g->d.stream_synchronize(c->g->stream), "running the kernels");
}

int gpu_call_run(struct gpu_call *c, int place, struct gpu_fault *f)
{
	return gpu_call_prepare(c, place, f) || gpu_call_start(c, place, f) || gpu_call_wait(c, f);
}

/* --- after a call --------------------------------------------------------------------------- */

int gpu_call_check(struct gpu_call *c, int place, struct gpu_fault *f)
{
	const struct gpu_plan *p = c->plan;
	unsigned char zone[RED_ZONE + ALIGN];

	for (int i = 0; i <= p->n_memory; i++) {
		/* The zone before storage 0, then the one after each storage, with the rest of its last
		 * line. */
		int64_t bytes = i ? p->memory[i - 1].bytes : 0;
		uint64_t at = i ? c->place[place].at[i - 1] + (uint64_t)bytes : c->place[place].slab;
		size_t n = i ? (size_t)(round_up(bytes) - bytes) + RED_ZONE : RED_ZONE;

		if (failed(f, c->g->d.copy_out(zone, at, n), "reading red zones"))
			return 1;
		for (size_t k = 0; k < n; k++)
			if (zone[k] != RED_BYTE) {
				f->red_zone = MAX(i, 1);
				return 1;
			}
	}
	return 0;
}

int64_t gpu_call_result_bytes(const struct gpu_call *c)
{
	int64_t n = 0;

	for (int i = 0; i < c->plan->n_results; i++)
		n += launch_view_numel(&c->plan->results[i]) * dtype_size(c->plan->results[i].dt);
	return n;
}

/* Brings a view that is not dense to the host as a whole storage and packs it there. */
static int copy_scattered(struct gpu_call *c, int place, const struct launch_view *v, char *out, struct gpu_fault *f)
{
	size_t bytes = (size_t)c->plan->memory[v->storage].bytes;
	int64_t flat = (int64_t)bytes / dtype_size(v->dt);
	struct tensor whole, view, dense;
	char *all = mem_alloc(bytes + 1);
	int rc = !all || failed(f, c->g->d.copy_out(all, c->place[place].at[v->storage], bytes), "reading the results");

	if (!rc && !tensor_borrow(&whole, v->dt, 1, &flat, all, bytes, NULL)) {
		rc = tensor_as_strided(&view, &whole, v->ndim, v->shape, v->stride, v->offset / dtype_size(v->dt),
				       NULL);
		if (!rc && !(rc = tensor_contiguous(&dense, &view, NULL))) {
			memcpy(out, tensor_data(&dense), (size_t)tensor_numel(&dense) * (size_t)dtype_size(v->dt));
			tensor_release(&dense);
		}
		tensor_release(&view);
		tensor_release(&whole);
	}
	mem_free(all);
	return rc ? failed(f, CU_OUT_OF_MEMORY, "packing a result") || 1 : 0;
}

int gpu_call_results(struct gpu_call *c, int place, void *out, struct gpu_fault *f)
{
	char *to = out;

	for (int i = 0; i < c->plan->n_results; i++) {
		const struct launch_view *v = &c->plan->results[i];
		size_t bytes = (size_t)(launch_view_numel(v) * dtype_size(v->dt));
		uint64_t at = c->place[place].at[v->storage] + (uint64_t)v->offset;

		int dense = launch_view_is_dense(v);

		if (bytes && dense && failed(f, c->g->d.copy_out(to, at, bytes), "reading the results"))
			return 1;
		if (bytes && !dense && copy_scattered(c, place, v, to, f))
			return 1;
		to += bytes;
	}
	return 0;
}

/* The digest of one result: of its bytes, or of its whole storage if it is not dense. */
static int start_digest(struct gpu_call *c, int place, int i)
{
	const struct launch_view *v = &c->plan->results[i];
	int dense = launch_view_is_dense(v);
	int64_t bytes = dense ? launch_view_numel(v) * dtype_size(v->dt) : c->plan->memory[v->storage].bytes;
	uint64_t at = c->place[place].at[v->storage] + (dense ? (uint64_t)v->offset : 0);
	int wide = bytes % 4 == 0 && at % 4 == 0;
	int64_t n = wide ? bytes / 4 : bytes, seed = 0x51ed2700 + i;
	int64_t grid[3] = { (n + DIGEST_BLOCK - 1) / DIGEST_BLOCK, 1, 1 };
	void *params[6] = { &at, &c->digest, &n, &seed };

	return n ? gpu_kernel_launch(c->g, &c->kernels[c->n_kernels - (wide ? 2 : 1)], grid, params, 4) : 0;
}

int gpu_call_digest(struct gpu_call *c, int place, uint64_t *out, struct gpu_fault *f)
{
	int rc = failed(f, c->g->d.fill8(c->digest, 0, 8, c->g->stream), "computing a digest");

	for (int i = 0; i < c->plan->n_results && !rc; i++)
		rc = failed(f, start_digest(c, place, i), "computing a digest");
	rc = rc || failed(f, c->g->d.stream_synchronize(c->g->stream), "computing a digest");
	return rc || failed(f, c->g->d.copy_out(out, c->digest, sizeof *out), "reading a digest");
}

/* --- time ----------------------------------------------------------------------------------- */

/* The launches are queued behind the flush, so that the GPU does not wait for the host between the
 * events. The clock of the host ends when the whole context is idle: work that the events do not see
 * would show there. The flush, which the events before and start enclose, is taken off it. */
int gpu_call_time(struct gpu_call *c, int place, struct timing_sample *out, struct gpu_fault *f)
{
	struct cuda_driver *d = &c->g->d;
	int64_t begin;
	float ms = 0, flush_ms = 0;

	if (reset(c, place, f) || failed(f, d->ctx_reset_l2(), "flushing the cache") ||
	    failed(f, d->ctx_synchronize(), "flushing the cache"))
		return 1;
	begin = c->g->wall_ns();
	if (failed(f, d->event_record(c->g->before, c->g->stream), "recording an event") ||
	    failed(f, gpu_device_flush(c->g), "flushing the cache") ||
	    failed(f, d->event_record(c->g->start, c->g->stream), "recording an event") ||
	    gpu_call_start(c, place, f) ||
	    failed(f, d->event_record(c->g->end, c->g->stream), "recording an event") ||
	    failed(f, d->ctx_synchronize(), "running the kernels"))
		return 1;
	out->wall = (double)(c->g->wall_ns() - begin) * 1e-9;
	out->clock_mhz = gpu_device_clock(c->g);
	if (failed(f, d->event_ms(&ms, c->g->start, c->g->end), "reading an event") ||
	    failed(f, d->event_ms(&flush_ms, c->g->before, c->g->start), "reading an event"))
		return 1;
	out->seconds = ms * 1e-3;
	out->wall -= flush_ms * 1e-3;
	return 0;
}
