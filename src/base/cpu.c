/* CPU features: see cpu.h. Detected once per process; threads may call cpu_info at the same
 * time. */
#include "base/cpu.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static struct cpu_info info;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int known;              /* info is filled in */

#if defined(__x86_64__)
#include <cpuid.h>

/* CPU_V3 and CPU_V4 are the x86-64 levels that .simd.c files are compiled for. A level counts only
 * if all the extensions that the compiler may use are present. */
static void detect_isa(void)
{
	unsigned a, b, c, d;

	__builtin_cpu_init();
	info.arch = "x86-64";
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
		info.level = CPU_V3;
	if (info.level == CPU_V3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx512cd"))
		info.level = CPU_V4;
	if (info.level < CPU_V4)
		return;
	info.avx512_vnni = __builtin_cpu_supports("avx512vnni") != 0;
	if (__get_cpuid_count(7, 1, &a, &b, &c, &d))
		info.avx512_bf16 = a >> 5 & 1;
	if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
		info.amx_bf16 = d >> 22 & 1;
}
#else
static void detect_isa(void)
{
	info.arch = "other";
}
#endif

/* Cores are those this process may run on (cgroups and taskset), not those of the machine. */
static void detect(void)
{
	cpu_set_t set;

	detect_isa();
	info.page_size = sysconf(_SC_PAGESIZE);
	/* More than 1024 cores do not fit cpu_set_t: the call fails, and one core is always safe. */
	info.cores = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
	__atomic_store_n(&known, 1, __ATOMIC_RELEASE);
}

/* The flag avoids the call of pthread_once: this function chooses code for a few lanes at a time,
 * millions of times. */
const struct cpu_info *cpu_info(void)
{
	if (!__atomic_load_n(&known, __ATOMIC_ACQUIRE))
		pthread_once(&once, detect);
	return &info;
}
