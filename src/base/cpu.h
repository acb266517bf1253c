/* The features of this CPU, and code that exists once per instruction set.
 *
 * A file NAME.simd.c is compiled once for each level (baseline, AVX2, AVX-512 on x86-64;
 * only baseline elsewhere). In it, a function is named with SIMD_FN(name); a caller in an
 * ordinary file declares all versions with SIMD_DECLARE and picks one with SIMD_PICK:
 *
 *     SIMD_DECLARE(void, vec_add, (float *o, const float *a, const float *b, size_t n))
 *     ... SIMD_PICK(vec_add)(o, a, b, n);
 *
 * The results of a verdict must not depend on the level: no fast-math, no reordering of
 * sums by vector width (fix the number of partial sums in the source). */
#ifndef BASE_CPU_H
#define BASE_CPU_H

enum cpu_level { CPU_BASE = 0, CPU_V3 = 1, CPU_V4 = 2 };  /* v3: AVX2+FMA+F16C, v4: AVX-512 */

struct cpu_info {
	enum cpu_level level;
	int avx512_bf16, avx512_vnni, amx_bf16;
	int cores;                 /* usable by this process */
	long page_size;
	const char *arch;
};

/* The same for the life of the process. */
__attribute__((const)) const struct cpu_info *cpu_info(void);

#define SIMD_CAT_(a, b) a##b
#define SIMD_CAT(a, b) SIMD_CAT_(a, b)
#ifdef SIMD_SUFFIX
#define SIMD_FN(name) SIMD_CAT(name, SIMD_SUFFIX)
#endif

#if defined(__x86_64__)
#define SIMD_DECLARE(ret, name, args) \
	ret name##_base args; ret name##_v3 args; ret name##_v4 args;
#define SIMD_PICK(name) \
	(cpu_info()->level == CPU_V4 ? name##_v4 : cpu_info()->level == CPU_V3 ? name##_v3 : name##_base)
#else
#define SIMD_DECLARE(ret, name, args) ret name##_base args;
#define SIMD_PICK(name) name##_base
#endif

#endif
