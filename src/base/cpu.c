/* CPU features: see cpu.h. */
#include "base/cpu.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static struct cpu_info info;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int known;              /* info is filled in */

#if defined(__x86_64__)
#include <cpuid.h>

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

static void detect(void)
{
	cpu_set_t set;

	detect_isa();
	info.page_size = sysconf(_SC_PAGESIZE);
	info.cores = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
	__atomic_store_n(&known, 1, __ATOMIC_RELEASE);
}

const struct cpu_info *cpu_info(void)
{
	/* Code is picked for a few lanes at a time, millions of times. */
	if (!__atomic_load_n(&known, __ATOMIC_ACQUIRE))
		pthread_once(&once, detect);
	return &info;
}
