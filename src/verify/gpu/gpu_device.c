/* A GPU and its kernels: see gpu_device.h. */
#include "verify/gpu/gpu_device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"

enum { WARP = 32, NVML_CLOCK_SM = 1, CLUSTER_PORTABLE = 8 };

/* --- the device ----------------------------------------------------------------------------- */

/* Finds NVML's three functions and the handle of this GPU. Without them no clock is known. */
static void open_clock(struct gpu_device *g)
{
	void *lib = dlsym(g->d.library, "nvmlInit_v2") ? g->d.library : dlopen("libnvidia-ml.so.1", RTLD_NOW);
	void *at[3] = { lib ? dlsym(lib, "nvmlInit_v2") : NULL,
			lib ? dlsym(lib, "nvmlDeviceGetHandleByPciBusId_v2") : NULL,
			lib ? dlsym(lib, "nvmlDeviceGetClockInfo") : NULL };
	int (*init)(void), (*handle)(const char *bus, void **out);

	if (!at[0] || !at[1] || !at[2])
		return;
	memcpy(&init, &at[0], sizeof init);
	memcpy(&handle, &at[1], sizeof handle);
	if (!init() && !handle(g->info.bus, &g->clock_handle))
		memcpy(&g->clock, &at[2], sizeof g->clock);
}

double gpu_device_clock(const struct gpu_device *g)
{
	unsigned mhz = 0;

	return g->clock && !g->clock(g->clock_handle, NVML_CLOCK_SM, &mhz) ? mhz : 0.0;
}

/* The facts that plans, verdicts and the keys of baselines need. */
static int read_info(struct gpu_device *g)
{
	struct cuda_driver *d = &g->d;
	struct gpu_info *i = &g->info;
	int l2 = 0, major = 0, minor = 0, rc;
	size_t memory = 0;

	rc = d->device_name(i->name, sizeof i->name, g->device);
	rc = rc ? rc : d->device_bus(i->bus, sizeof i->bus, g->device);
	rc = rc ? rc : d->driver_version(&i->driver);
	rc = rc ? rc : d->device_memory(&memory, g->device);
	rc = rc ? rc : d->device_attribute(&major, CU_DEVICE_MAJOR, g->device);
	rc = rc ? rc : d->device_attribute(&minor, CU_DEVICE_MINOR, g->device);
	rc = rc ? rc : d->device_attribute(&l2, CU_DEVICE_L2_BYTES, g->device);
	rc = rc ? rc : d->device_attribute(&i->multiprocessors, CU_DEVICE_MULTIPROCESSORS, g->device);
	rc = rc ? rc : d->device_attribute(&i->shared_opt_in, CU_DEVICE_SHARED_OPT_IN, g->device);
	i->capability = 10 * major + minor;
	i->l2 = l2;
	i->memory = (int64_t)memory;
	return rc;
}

/* A stand-in for the driver has a fake clock: its kernels take as long as a test wants. */
static void open_wall(struct gpu_device *g)
{
	void *at = dlsym(g->d.library, "tritonrl_standin_clock_ns");

	g->wall_ns = clock_ns;
	if (at)
		memcpy(&g->wall_ns, &at, sizeof at);
}

/* The context, a stream of our own, three events, and twice the L2 cache of memory. No line of the
 * cache may persist: a kernel could keep its inputs there through a flush. */
static int make_context(struct gpu_device *g)
{
	struct cuda_driver *d = &g->d;
	int rc = d->ctx_create(&g->ctx, 0, g->device);

	if (!rc)
		d->ctx_set_limit(CU_LIMIT_PERSISTING_L2, 0);
	rc = rc ? rc : d->stream_create(&g->stream, 1);
	rc = rc ? rc : d->event_create(&g->before, 0);
	rc = rc ? rc : d->event_create(&g->start, 0);
	rc = rc ? rc : d->event_create(&g->end, 0);
	g->flush_bytes = MAX(2 * g->info.l2, (int64_t)1 << 20);
	return rc ? rc : d->mem_alloc(&g->flush, (size_t)g->flush_bytes);
}

int gpu_device_open(struct gpu_device *g, const char *path, int ordinal, struct err *e)
{
	int rc, n = 0;

	*g = (struct gpu_device){ .device = 0 };
	if (cuda_driver_load(&g->d, path, e))
		return -1;
	rc = g->d.init(0);
	rc = rc ? rc : g->d.device_count(&n);
	if (!rc && ordinal >= n)
		return err_set(e, ERR_NOT_FOUND, "there is no GPU number %d; the driver has %d", ordinal, n);
	rc = rc ? rc : g->d.device_get(&g->device, ordinal);
	rc = rc ? rc : read_info(g);
	rc = rc ? rc : make_context(g);
	if (rc)
		return err_set(e, ERR_UNSUPPORTED, "the GPU cannot be used: %s", cuda_driver_error(&g->d, rc));
	open_wall(g);
	open_clock(g);
	return 0;
}

/* Writing only would leave clean lines that the last kernel read; two passes over twice the cache
 * replace all of them. */
int gpu_device_flush(struct gpu_device *g)
{
	int rc;

	rc = g->d.fill8(g->flush, 0x11, (size_t)g->flush_bytes, g->stream);
	return rc ? rc : g->d.copy_inside(g->flush + (uint64_t)g->flush_bytes / 2, g->flush,
					  (size_t)g->flush_bytes / 2, g->stream);
}

/* --- kernels -------------------------------------------------------------------------------- */

/* More than 48 KiB of shared memory, and clusters of more than 8 blocks, must be asked for. */
static int opt_in(struct gpu_device *g, struct gpu_kernel *k)
{
	int fixed = 0, rc = 0;

	if (k->meta.shared > 48 << 10) {
		rc = g->d.function_get(&fixed, CU_FUNCTION_STATIC_SHARED, k->function);
		rc = rc ? rc : g->d.function_set(k->function, CU_FUNCTION_DYNAMIC_SHARED,
						 g->info.shared_opt_in - fixed);
	}
	if (!rc && k->meta.num_ctas > CLUSTER_PORTABLE)
		rc = g->d.function_set(k->function, CU_FUNCTION_LARGE_CLUSTER, 1);
	return rc;
}

int gpu_kernel_load(struct gpu_device *g, struct gpu_kernel *k, const struct kernel_meta *meta, const void *code)
{
	int rc;

	*k = (struct gpu_kernel){ .meta = *meta };
	rc = g->d.module_load(&k->module, code);
	rc = rc ? rc : g->d.module_function(&k->function, k->module, meta->name);
	return rc ? rc : opt_in(g, k);
}

void gpu_kernel_unload(struct gpu_device *g, struct gpu_kernel *k)
{
	if (k->scratch)
		g->d.mem_free(k->scratch);
	if (k->module)
		g->d.module_unload(k->module);
	*k = (struct gpu_kernel){ .module = NULL };
}

/* Scratch of all blocks of a launch; global scratch comes first. */
static int64_t scratch_of(const struct gpu_kernel *k, const int64_t grid[3], int64_t each)
{
	return grid[0] * grid[1] * grid[2] * k->meta.num_ctas * each;
}

int gpu_kernel_reserve(struct gpu_device *g, struct gpu_kernel *k, const int64_t grid[3])
{
	int64_t bytes = scratch_of(k, grid, k->meta.scratch_bytes + k->meta.profile_bytes);
	int rc;

	if (bytes <= k->scratch_held)
		return 0;
	if (k->scratch)
		g->d.mem_free(k->scratch);
	k->scratch = 0;
	k->scratch_held = 0;
	rc = g->d.mem_alloc(&k->scratch, (size_t)bytes);
	if (!rc)
		k->scratch_held = bytes;
	return rc;
}

/* The attributes that the metadata asks for. Returns their number. */
static unsigned set_attributes(const struct kernel_meta *m, struct cu_attribute *a)
{
	unsigned n = 0;

	if (m->num_ctas > 1) {
		a[n] = (struct cu_attribute){ .id = CU_CLUSTER_DIMENSION };
		a[n].value.cluster.x = (unsigned)m->num_ctas;
		a[n].value.cluster.y = a[n].value.cluster.z = 1;
		n++;
	}
	if (m->cooperative) {
		a[n] = (struct cu_attribute){ .id = CU_COOPERATIVE };
		a[n++].value.number = 1;
	}
	if (m->programmatic) {
		a[n] = (struct cu_attribute){ .id = CU_PROGRAMMATIC };
		a[n++].value.number = 1;
	}
	return n;
}

int gpu_kernel_launch(struct gpu_device *g, struct gpu_kernel *k, const int64_t grid[3], void **params, int n)
{
	const struct kernel_meta *m = &k->meta;
	struct cu_attribute attrs[CU_ATTRIBUTES_MOST];
	struct cu_launch config = { .grid = { (unsigned)grid[0] * (unsigned)m->num_ctas, (unsigned)grid[1],
					      (unsigned)grid[2] },
				    .block = { (unsigned)(WARP * m->num_warps), 1, 1 },
				    .shared_bytes = (unsigned)m->shared, .stream = g->stream, .attrs = attrs };

	k->scratch_at[0] = m->scratch_bytes ? k->scratch : 0;
	k->scratch_at[1] = m->profile_bytes ? k->scratch + (uint64_t)scratch_of(k, grid, m->scratch_bytes) : 0;
	for (int i = 0; i < m->scratch_params; i++)
		params[n++] = &k->scratch_at[i];
	config.n_attrs = set_attributes(m, attrs);
	return g->d.launch(&config, k->function, params, NULL);
}
