/* Counters of a call: see gpu_profiler.h.
 *
 * The order of CUPTI's calls, which it checks: init; chip; host_open, host_add and host_image choose the counters;
 * range_enable; range_data_size. For each call that is counted: range_data_init, range_config; for each pass
 * range_start, range_push, the call, range_pop, range_stop; then range_decode and host_values. Records of kernels
 * are on for one call before, never within a range. Invariant: after a failure of CUPTI `why` is set, and no
 * further function of it is called. */
#include "verify/gpu/gpu_profiler.h"

#include <dlfcn.h>
#include <stdio.h>

#include "base/mem.h"

/* Passes after which a library that always wants one more is given up, and bytes for records of kernels. */
enum { PASSES_MOST = 64, RECORD_BYTES = 1 << 20 };

static const char *const metric_of[VERDICT_COUNTERS] = {
#define COUNTER(id, key, metric, text) [COUNTER_##id] = metric,
#include "verify/verdict/counter.def"
#undef COUNTER
};

/* Notes why nothing can be counted. Always returns -1. */
static int cannot(struct gpu_profiler *p, int code, const char *doing)
{
	const char *name = NULL;

	if (p->lib.error_name)
		p->lib.error_name(code, &name);
	if (code == CUPTI_DENIED || code == CUPTI_VIRTUAL_DENIED)
		snprintf(p->why, sizeof p->why, "the driver lets only administrators read performance counters");
	else
		snprintf(p->why, sizeof p->why, "CUPTI: %s while %s", name ? name : "an unknown error", doing);
	return -1;
}

/* --- opening -------------------------------------------------------------------------------- */

/* All functions or none: a library that lacks one is older than the range profiler. */
static int find_functions(struct gpu_profiler *p)
{
	struct cupti *l = &p->lib;
	void *at;

#define CUPTI(name, symbol, params) \
	if (!(at = dlsym(l->library, #symbol))) { \
		snprintf(p->why, sizeof p->why, "libcupti has no function %s; CUDA 12.6 or later is needed", #symbol); \
		return -1; \
	} \
	memcpy(&l->name, &at, sizeof at);
#include "verify/gpu/cupti.def"
#undef CUPTI
	return 0;
}

/* PyTorch's packages are not on the search path of the loader, so the caller may name a file. */
static int load(struct gpu_profiler *p, const char *path)
{
	static const char *const usual[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so",
					     "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
					     "/usr/local/cuda/lib64/libcupti.so" };

	if (path[0])
		p->lib.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; i < COUNT_OF(usual) && !p->lib.library && !path[0]; i++)
		p->lib.library = dlopen(usual[i], RTLD_NOW | RTLD_LOCAL);
	if (p->lib.library)
		return find_functions(p);
	snprintf(p->why, sizeof p->why, "NVIDIA's profiling library (libcupti) is not there");
	return -1;
}

/* A host object that counts the given metrics; NULL: this chip does not have all of them. */
static void *host_with(struct gpu_profiler *p, const char *chip, const char **metrics, size_t n)
{
	struct cupti_host_open open = { CUPTI_PARAMS(cupti_host_open, host), .type = CUPTI_RANGE_PROFILER,
					.chip = chip };
	struct cupti_host_add add = { CUPTI_PARAMS(cupti_host_add, n), .metrics = metrics, .n = n };
	struct cupti_host_close close = { CUPTI_PARAMS(cupti_host_close, host) };

	if (p->lib.host_open(&open))
		return NULL;
	add.host = close.host = open.host;
	if (!p->lib.host_add(&add))
		return open.host;
	p->lib.host_close(&close);
	return NULL;
}

/* Chooses the counters that this chip has, and makes the image that says what to count. */
static int choose_counters(struct gpu_profiler *p, const char *chip)
{
	struct cupti_host_image_size size = { CUPTI_PARAMS(cupti_host_image_size, bytes) };
	struct cupti_host_image image = { CUPTI_PARAMS(cupti_host_image, image) };
	int code;

	/* One counter at a time first: CUPTI refuses a whole list for one that the chip lacks. */
	for (int i = 0; i < VERDICT_COUNTERS; i++) {
		const char *one = metric_of[i];
		struct cupti_host_close close = { CUPTI_PARAMS(cupti_host_close, host),
						  .host = host_with(p, chip, &one, 1) };

		if (!close.host)
			continue;
		p->lib.host_close(&close);
		p->of[p->n] = i;
		p->metrics[p->n++] = one;
	}
	p->host = p->n ? host_with(p, chip, p->metrics, p->n) : NULL;
	if (!p->host) {
		snprintf(p->why, sizeof p->why, "CUPTI knows none of the counters on the chip %s", chip);
		return -1;
	}
	size.host = image.host = p->host;
	if ((code = p->lib.host_image_size(&size)))
		return cannot(p, code, "choosing counters");
	p->image_bytes = image.bytes = size.bytes;
	p->image = image.image = mem_alloc(size.bytes + 1);
	code = p->image ? p->lib.host_image(&image) : CU_OUT_OF_MEMORY;
	return code ? cannot(p, code, "choosing counters") : 0;
}

/* Memory for the counts of one range: the call, with one launch or a hundred. */
static int make_data(struct gpu_profiler *p)
{
	struct cupti_range_data_size size = { CUPTI_PARAMS(cupti_range_data_size, bytes), .range = p->range,
					      .metrics = p->metrics, .n = p->n, .ranges_most = 1, .nodes_most = 1 };
	int code = p->lib.range_data_size(&size);

	if (code)
		return cannot(p, code, "preparing memory for counters");
	p->data_bytes = size.bytes;
	p->data = mem_alloc(size.bytes + 1);
	return p->data ? 0 : cannot(p, CU_OUT_OF_MEMORY, "preparing memory for counters");
}

/* Opens the library once for a runner: it takes about a second. A failure stays, with its reason. */
static int open_profiler(struct gpu_profiler *p, const char *path, struct gpu_device *g)
{
	struct cupti_init init = { CUPTI_PARAMS(cupti_init, priv) };
	struct cupti_chip chip = { CUPTI_PARAMS(cupti_chip, name), .device = (size_t)g->device };
	struct cupti_range_enable enable = { CUPTI_PARAMS(cupti_range_enable, range), .ctx = g->ctx };
	int code;

	p->tried = 1;
	if (load(p, path))
		return -1;
	if ((code = p->lib.init(&init)))
		return cannot(p, code, "starting");
	if ((code = p->lib.chip(&chip)))
		return cannot(p, code, "finding the chip");
	if (choose_counters(p, chip.name))
		return -1;
	if ((code = p->lib.range_enable(&enable)))
		return cannot(p, code, "enabling counters");
	p->range = enable.range;
	return make_data(p);
}

/* --- which kernels ran ---------------------------------------------------------------------- */

/* CUPTI's callbacks have no argument of ours. A runner process has one call at a time. */
static struct {
	const struct cupti *lib;    /* NULL: nothing is recorded */
	const char **launch;        /* the kernel of each launch that was not seen yet; NULL: it was */
	int launches, kernels;
	char stranger[96];          /* a kernel that is not of the plan; "": none */
} record;

/* A record of a kernel takes about 200 bytes, so that a buffer of 1 MiB holds any call. */
static void give_buffer(uint8_t **buffer, size_t *bytes, size_t *records_most)
{
	*buffer = mem_alloc(RECORD_BYTES);
	*bytes = *buffer ? RECORD_BYTES : 0;
	*records_most = 0;
}

/* Notes a kernel that ran: its launch was seen. Two launches of one kernel are two entries of the list, so a kernel
 * that ran three times is a stranger the third time. */
static void note_kernel(const char *name)
{
	record.kernels++;
	for (int i = 0; i < record.launches; i++)
		if (record.launch[i] && !strcmp(record.launch[i], name)) {
			record.launch[i] = NULL;
			return;
		}
	snprintf(record.stranger, sizeof record.stranger, "%s", name);
}

/* CUPTI may give buffers back on a thread of its own, but a flush waits for them. */
static void take_buffer(void *ctx, uint32_t stream, uint8_t *buffer, size_t bytes, size_t used)
{
	void *at = NULL;

	(void)ctx;
	(void)stream;
	(void)bytes;
	while (used && record.lib && !record.lib->records_next(buffer, used, &at)) {
		const struct cupti_kernel_record *k = at;

		if (k->kind == CUPTI_KIND_KERNEL)
			note_kernel(k->name ? k->name : "?");
	}
	mem_free(buffer);
}

/* Holds the kernels that ran against the launches of the plan. */
static void judge_kernels(struct verdict_counters *out)
{
	out->kernels = record.kernels;
	if (record.stranger[0])
		snprintf(out->stranger, sizeof out->stranger, "%s", record.stranger);
	else if (record.kernels != record.launches)
		snprintf(out->why, sizeof out->why, "the profiler saw %d of %d kernels", record.kernels,
			 record.launches);
}

/* One call with records of its kernels. */
static int record_kernels(struct gpu_profiler *p, struct gpu_call *c, int place, struct verdict_counters *out,
			  struct gpu_fault *f)
{
	int rc = 0, code;

	if (gpu_call_prepare(c, place, f))
		return 1;
	record.launch = mem_array((size_t)c->plan->n_steps + 1, sizeof *record.launch);
	if (!record.launch)
		return cannot(p, CU_OUT_OF_MEMORY, "recording kernels"), 0;
	record.lib = &p->lib;
	record.launches = gpu_call_kernels(c, record.launch);
	record.kernels = 0;
	record.stranger[0] = 0;
	code = p->lib.records_to(give_buffer, take_buffer);
	code = code ? code : p->lib.records_on(CUPTI_KIND_KERNEL);
	if (!code && !(rc = gpu_call_start(c, place, f) || gpu_call_wait(c, f)))
		code = p->lib.records_flush(1);
	p->lib.records_off(CUPTI_KIND_KERNEL);
	if (code)
		cannot(p, code, "recording kernels");
	else if (!rc)
		judge_kernels(out);
	record.lib = NULL;
	mem_free(record.launch);
	return rc;
}

/* --- counting ------------------------------------------------------------------------------- */

/* One pass over the call; NULL: over nothing. The range ends also if the candidate failed, so that CUPTI's calls
 * stay in step. Returns 1 for a fault of the candidate, -1 if CUPTI failed. */
static int count_pass(struct gpu_profiler *p, struct gpu_call *c, int place, int *done, struct gpu_fault *f)
{
	struct cupti_range range = { CUPTI_PARAMS(cupti_range, range), .range = p->range };
	struct cupti_range_push push = { CUPTI_PARAMS(cupti_range_push, name), .range = p->range, .name = "call" };
	struct cupti_range_stop stop = { CUPTI_PARAMS(cupti_range_stop, all_passes), .range = p->range };
	int code, rc;

	if (c && gpu_call_prepare(c, place, f))
		return 1;
	if ((code = p->lib.range_start(&range)) || (code = p->lib.range_push(&push)))
		return cannot(p, code, "starting a range");
	rc = c && (gpu_call_start(c, place, f) || gpu_call_wait(c, f));
	if ((code = p->lib.range_pop(&range)) || (code = p->lib.range_stop(&stop)))
		return rc ? 1 : cannot(p, code, "ending a range");
	*done = stop.all_passes;
	return rc;
}

/* The values of the range that was counted. CUPTI gives NaN for a share of nothing, for example of a call that
 * starts no kernel. */
static int read_values(struct gpu_profiler *p, struct verdict_counters *out)
{
	struct cupti_range_decode decode = { CUPTI_PARAMS(cupti_range_decode, dropped), .range = p->range };
	double v[VERDICT_COUNTERS];
	struct cupti_host_values values = { CUPTI_PARAMS(cupti_host_values, values), .host = p->host, .data = p->data,
					    .data_bytes = p->data_bytes, .metrics = p->metrics, .n = p->n,
					    .values = v };
	int code;

	if ((code = p->lib.range_decode(&decode)) || (code = p->lib.host_values(&values)))
		return cannot(p, code, "reading counters");
	if (decode.dropped) {
		snprintf(p->why, sizeof p->why, "CUPTI dropped the range of the call");
		return -1;
	}
	for (size_t i = 0; i < p->n; i++)
		out->v[p->of[i]] = v[i] >= 0 ? v[i] : -1.0;     /* not a NaN */
	out->read = 1;
	return 0;
}

/* Runs the passes of a call. User replay: the call is repeated by us for each pass, with fresh memory, so that a
 * kernel that adds to its result counts the same in each. Returns as count_pass. */
static int count_passes(struct gpu_profiler *p, struct gpu_call *c, int place, struct gpu_fault *f)
{
	struct cupti_range_data_init init = { CUPTI_PARAMS(cupti_range_data_init, data), .range = p->range,
					      .bytes = p->data_bytes, .data = p->data };
	struct cupti_range_config config = { CUPTI_PARAMS(cupti_range_config, target_level), .range = p->range,
					     .image_bytes = p->image_bytes, .image = p->image,
					     .data_bytes = p->data_bytes, .data = p->data, .kind = CUPTI_USER_RANGE,
					     .replay = CUPTI_USER_REPLAY, .ranges_most = 1, .nesting_levels = 1,
					     .least_level = 1, .target_level = 1 };
	int code, done = 0, rc = 0;

	if ((code = p->lib.range_data_init(&init)) || (code = p->lib.range_config(&config)))
		return cannot(p, code, "configuring counters");
	for (int i = 0; i < PASSES_MOST && !done && !rc; i++)
		rc = count_pass(p, c, place, &done, f);
	if (!rc && !done) {
		snprintf(p->why, sizeof p->why, "CUPTI wants more than %d passes", PASSES_MOST);
		return -1;
	}
	return rc;
}

static int count(struct gpu_profiler *p, struct gpu_call *c, int place, struct verdict_counters *out,
		 struct gpu_fault *f)
{
	int rc = count_passes(p, c, place, f);

	return rc ? rc : read_values(p, out);
}

/* No counter was read yet. */
static struct verdict_counters nothing_read(void)
{
	struct verdict_counters c = { .kernels = 0 };

	for (int i = 0; i < VERDICT_COUNTERS; i++)
		c.v[i] = -1.0;
	return c;
}

void gpu_profiler_try(struct gpu_profiler *p, const char *path, struct gpu_device *g, struct verdict_counters *out)
{
	struct gpu_fault f = { .code = 0 };

	*out = nothing_read();
	if (!p->tried)
		open_profiler(p, path, g);
	if (!p->why[0] && !count_passes(p, NULL, 0, &f))
		out->read = 1;
	for (size_t i = 0; i < p->n && out->read; i++)
		out->v[p->of[i]] = 0.0;
	snprintf(out->why, sizeof out->why, "%s", p->why);
}

int gpu_profiler_count(struct gpu_profiler *p, const char *path, struct gpu_call *c, int place,
		       struct verdict_counters *out, struct gpu_fault *f)
{
	*out = nothing_read();
	if (!p->tried)
		open_profiler(p, path, c->g);
	if (!p->why[0] && record_kernels(p, c, place, out, f))
		return 1;
	if (!p->why[0] && !out->why[0] && !out->stranger[0] && count(p, c, place, out, f) > 0)
		return 1;
	if (p->why[0])
		snprintf(out->why, sizeof out->why, "%s", p->why);
	return 0;
}
