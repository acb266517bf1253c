/* A stand-in for CUDA's driver (verify/gpu/cuda_driver.h): memory of the host, kernels on the
 * tile machine, a fake clock, faults on demand. So the whole GPU judge runs in tests without a GPU.
 *
 * It is a shared object that uses functions of the program that loads it. Names of kernels ask for
 * faults: a name that contains
 *   fault_illegal   fails with an illegal address and poisons the context
 *   fault_hang      never ends
 *   fault_red_zone  writes one byte before its first tensor
 *   fault_die       kills the process
 *   slow_N          takes N per cent longer
 *   fast_lie        takes no time
 *   cheat_phase     stores nothing from its 20th start on, when the timed calls have begun
 *   cheat_replay    stores nothing if its first tensor is at another address than in its first start
 *   cheat_warmup    takes 50 times longer in its first 12 starts
 *   cheat_persist   takes a tenth if the cache may keep its inputs: no limit of 0, or no reset since the last start
 *   cheat_late      takes 0.5 ms more, which the event behind it does not see
 * The environment: STANDIN_MEMORY, bytes of the device (default 1 GiB). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "standin.h"

enum { ALLOCATIONS = 4096, L2_BYTES = 1 << 20, CLOCK_MHZ = 1980, THROTTLED_MHZ = 1400 };

static struct {
	struct { char *at; size_t n; } v[ALLOCATIONS];
	size_t held, most;
	int64_t clock_ns;
	uint64_t noise;
	int sticky, hangs, throttled, starts;
	int cheats;                 /* starts of a kernel that cheats, since a module was loaded */
	int unlimited, kept;        /* lines of the cache may persist; some may be there */
	const char *first;          /* the first tensor of the first start */
	int64_t late_ns;            /* work that no event has seen */
} dev = { .unlimited = 1 };

enum { PHASE_STARTS = 20, WARMUP_STARTS = 12, WARMUP_TIMES = 50, PERSIST_SHARE = 10, LATE_NS = 500000 };

/* Interfaces of CUDA and NVML, which have no header here. */
#define API __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* --- device --------------------------------------------------------------------------------- */

API int cuInit(unsigned flags)
{
	const char *m = getenv("STANDIN_MEMORY");

	(void)flags;
	dev.most = m ? strtoull(m, NULL, 10) : (size_t)1 << 30;
	dev.noise = 88172645463325252u;
	return 0;
}
API int cuDriverGetVersion(int *v) { *v = 13000; return 0; }
API int cuDeviceGetCount(int *n) { *n = 1; return 0; }
API int cuDeviceGet(int *d, int i) { *d = i; return 0; }
API int cuDeviceGetName(char *name, int n, int d)
{
	(void)d;
	snprintf(name, (size_t)n, "stand-in H200");
	return 0;
}
API int cuDeviceGetPCIBusId(char *id, int n, int d)
{
	(void)d;
	snprintf(id, (size_t)n, "0000:00:00.0");
	return 0;
}
API int cuDeviceTotalMem_v2(size_t *n, int d) { (void)d; *n = dev.most; return 0; }
API int cuCtxCreate_v2(void **c, unsigned f, int d) { (void)f; (void)d; *c = &dev; return 0; }
API int cuCtxDestroy_v2(void *c) { (void)c; return 0; }
API int cuCtxSetLimit(int l, size_t n)
{
	if (l == CU_LIMIT_PERSISTING_L2)
		dev.unlimited = n > 0;
	return 0;
}
API int cuCtxResetPersistingL2Cache(void) { dev.kept = 0; return dev.sticky; }
API int cuStreamCreate(void **s, unsigned f) { (void)f; *s = &dev.clock_ns; return 0; }

API int cuDeviceGetAttribute(int *v, int what, int d)
{
	(void)d;
	*v = what == CU_DEVICE_MULTIPROCESSORS ? 132 : what == CU_DEVICE_L2_BYTES ? L2_BYTES : what == CU_DEVICE_MAJOR ? 9 :
	     what == CU_DEVICE_SHARED_OPT_IN ? 232448 : 0;
	return 0;
}

API int cuGetErrorName(int code, const char **name)
{
	*name = code == CU_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : code == CU_ILLEGAL_ADDRESS ?
		"CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_UNKNOWN";
	return 0;
}

/* Waiting for a kernel that never ends takes for ever. */
static int wait_idle(void)
{
	while (dev.hangs)
		pause();
	dev.clock_ns += dev.late_ns;
	dev.late_ns = 0;
	return dev.sticky;
}

API int cuCtxSynchronize(void) { return wait_idle(); }
API int cuStreamSynchronize(void *s) { (void)s; return wait_idle(); }
API int cuEventSynchronize(void *e) { (void)e; return wait_idle(); }

/* --- memory --------------------------------------------------------------------------------- */

char *standin_end_of(const char *at)
{
	for (int i = 0; i < ALLOCATIONS; i++)
		if (dev.v[i].at && at >= dev.v[i].at && at < dev.v[i].at + dev.v[i].n)
			return dev.v[i].at + dev.v[i].n;
	return NULL;
}

API int cuMemAlloc_v2(uint64_t *at, size_t n)
{
	int i = 0;

	if (dev.sticky)
		return dev.sticky;
	while (i < ALLOCATIONS && dev.v[i].at)
		i++;
	if (i == ALLOCATIONS || n > dev.most - dev.held)
		return CU_OUT_OF_MEMORY;
	dev.v[i].at = aligned_alloc(512, (n + 511) / 512 * 512);
	if (!dev.v[i].at)
		return CU_OUT_OF_MEMORY;
	dev.v[i].n = n;
	dev.held += n;
	*at = (uint64_t)(uintptr_t)dev.v[i].at;
	return 0;
}

API int cuMemGetInfo_v2(size_t *left, size_t *all)
{
	*left = dev.most - dev.held;
	*all = dev.most;
	return dev.sticky;
}

API int cuMemFree_v2(uint64_t at)
{
	for (int i = 0; i < ALLOCATIONS; i++)
		if (dev.v[i].at && (uint64_t)(uintptr_t)dev.v[i].at == at) {
			free(dev.v[i].at);
			dev.held -= dev.v[i].n;
			dev.v[i].at = NULL;
			return dev.sticky;
		}
	return 1;
}

/* Checks that a range lies in one allocation, and lets time pass for it. */
static int move_bytes(uint64_t at, size_t n)
{
	char *p = (char *)(uintptr_t)at, *end = standin_end_of(p);

	if (!end || n > (size_t)(end - p))
		return 1;
	dev.clock_ns += 500 + (int64_t)n / 1000;
	return wait_idle();
}

API int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n)
{
	int rc = move_bytes(to, n);

	if (!rc)
		memcpy((void *)(uintptr_t)to, from, n);
	return rc;
}
API int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n)
{
	int rc = move_bytes(from, n);

	if (!rc)
		memcpy(to, (void *)(uintptr_t)from, n);
	return rc;
}
API int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, void *s)
{
	int rc = move_bytes(from, n) ? 1 : move_bytes(to, n);

	(void)s;
	if (!rc)
		memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, n);
	return rc;
}
API int cuMemsetD8Async(uint64_t at, unsigned char v, size_t n, void *s)
{
	int rc = move_bytes(at, n);

	(void)s;
	if (!rc)
		memset((void *)(uintptr_t)at, v, n);
	return rc;
}

API int cuMemsetD16Async(uint64_t at, unsigned short v, size_t n, void *s)
{
	int rc = move_bytes(at, 2 * n);

	(void)s;
	for (size_t i = 0; i < n && !rc; i++)
		memcpy((char *)(uintptr_t)at + 2 * i, &v, 2);
	return rc;
}

API int cuMemsetD32Async(uint64_t at, unsigned v, size_t n, void *s)
{
	int rc = move_bytes(at, 4 * n);

	(void)s;
	for (size_t i = 0; i < n && !rc; i++)
		memcpy((char *)(uintptr_t)at + 4 * i, &v, 4);
	return rc;
}

/* --- time ----------------------------------------------------------------------------------- */

/* Every thirteenth timed call runs at a lower clock. A call records an event before the flush of the
 * cache, one after it and one at its end. */
API int cuEventCreate(void **e, unsigned f) { (void)f; *e = calloc(1, sizeof (int64_t)); return *e ? 0 : 2; }
API int cuEventRecord(void *e, void *s)
{
	(void)s;
	*(int64_t *)e = dev.clock_ns;
	dev.starts++;
	dev.throttled = dev.starts / 3 % 13 == 7;
	return dev.sticky;
}
API int cuEventElapsedTime(float *ms, void *a, void *b)
{
	*ms = (float)(*(int64_t *)b - *(int64_t *)a) * 1e-6f;
	return wait_idle();
}
API int64_t tritonrl_standin_clock_ns(void) { return dev.clock_ns; }
API int nvmlInit_v2(void) { return 0; }
API int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **h) { (void)bus; *h = &dev; return 0; }

/* The clock is read after a call, whose end was recorded with the next number. */
API int nvmlDeviceGetClockInfo(void *h, int kind, unsigned *mhz)
{
	(void)h;
	(void)kind;
	*mhz = (dev.starts - 1) / 3 % 13 == 7 ? THROTTLED_MHZ : CLOCK_MHZ;
	return 0;
}

/* Nanoseconds of a launch: by the number of its instances, within half a per cent. */
static int64_t launch_ns(const char *name, const struct cu_launch *c)
{
	double ns = 20000.0 + 40.0 * c->grid[0] * c->grid[1] * c->grid[2];
	const char *slow = strstr(name, "slow_");

	dev.noise ^= dev.noise << 13;
	dev.noise ^= dev.noise >> 7;
	dev.noise ^= dev.noise << 17;
	ns *= 1.0 + ((double)(dev.noise % 1000) / 1000.0 - 0.5) * 0.01;
	ns *= slow ? 1.0 + atof(slow + 5) / 100.0 : 1.0;
	if (strstr(name, "cheat_warmup") && dev.cheats <= WARMUP_STARTS)
		ns *= WARMUP_TIMES;
	if (strstr(name, "cheat_persist") && (dev.kept || dev.unlimited))
		ns /= PERSIST_SHARE;
	ns *= dev.throttled ? (double)CLOCK_MHZ / THROTTLED_MHZ : 1.0;
	return strstr(name, "fast_lie") ? 0 : (int64_t)ns;
}

/* --- kernels -------------------------------------------------------------------------------- */

API int cuModuleLoadData(void **m, const void *image)
{
	if (dev.sticky)
		return dev.sticky;
	*m = standin_kernel_new(image);
	dev.cheats = 0;
	return *m ? 0 : 200;
}
API int cuModuleUnload(void *m) { standin_kernel_free(m); return dev.sticky; }
API int cuModuleGetFunction(void **f, void *m, const char *name)
{
	*f = m;
	return strcmp(name, standin_kernel_name(m)) ? 500 : 0;
}
API int cuFuncGetAttribute(int *v, int what, void *f) { (void)what; (void)f; *v = 0; return 0; }
API int cuFuncSetAttribute(void *f, int what, int v) { (void)f; (void)what; return v > 232448 ? 1 : 0; }

/* Faults by name. Returns a CUresult, or -1 if the kernel is to be run. */
static int fault(const char *name)
{
	if (strstr(name, "fault_illegal"))
		return dev.sticky = CU_ILLEGAL_ADDRESS, 0;
	if (strstr(name, "fault_hang"))
		return dev.hangs = 1, 0;
	if (strstr(name, "fault_die"))
		_exit(9);
	return -1;
}

/* Cheats by name. Returns whether the kernel stores its results. */
static int cheat(const char *name, const char *first)
{
	if (!strstr(name, "cheat_"))
		return 1;
	if (!dev.cheats++)
		dev.first = first;
	dev.kept |= strstr(name, "cheat_persist") != NULL;
	dev.late_ns += strstr(name, "cheat_late") ? LATE_NS : 0;
	return !(strstr(name, "cheat_phase") && dev.cheats >= PHASE_STARTS) &&
	       !(strstr(name, "cheat_replay") && first != dev.first);
}

API int cuLaunchKernelEx(const struct cu_launch *c, void *f, void **params, void **extra)
{
	const char *name = standin_kernel_name(f);
	int rc = dev.sticky ? dev.sticky : fault(name);
	char *p;

	(void)extra;
	if (rc >= 0)
		return rc;
	dev.clock_ns += launch_ns(name, c);
	standin_launched(name, 1.0 * c->grid[0] * c->grid[1] * c->grid[2]);
	p = standin_kernel_pointer(f, params);
	rc = cheat(name, p) ? standin_kernel_run(f, c, params) : 0;
	if (strstr(name, "fault_red_zone"))
		p[-1] ^= 1;
	if (rc)
		dev.sticky = CU_ILLEGAL_ADDRESS;
	return 0;
}
