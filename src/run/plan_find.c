/* Machines and models that a plan can be made for: see plan.h.
 *
 * GPUs come from gpu.def, models from plan_model.def; this machine's CPU is measured. */
#include <ctype.h>
#include <stdio.h>
#include <unistd.h>

#include <cblas.h>

#include "base/cpu.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "run/plan.h"
#include "tile/estimate/gpu.h"

static const struct {
	const char *name;
	int V, C, L, H, HKV, F, tied;
} models[] = {
#define MODEL(nm, v, c, l, h, hkv, f, t) { .name = nm, .V = v, .C = c, .L = l, .H = h, .HKV = hkv, .F = f, .tied = t },
#include "run/plan_model.def"
#undef MODEL
};

/* --- this machine -------------------------------------------------------------------------------------- */

/* Size and number of the measured products, bytes of the measured read. */
enum { N = 256, PRODUCTS = 60, READ = 32 << 20 };

/* Operations per second of one core: the best of many short products, because some of them run
 * undisturbed even on a busy machine. */
static double measure_ops(void)
{
	float *m = mem_array(3 * (size_t)N * N, sizeof *m);
	int threads = openblas_get_num_threads();
	double best = 0;

	openblas_set_num_threads(1);
	for (int i = 0; m && i < PRODUCTS; i++) {
		int64_t start = clock_ns();

		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1.0f, m, N, m + N * N, N,
			    0.0f, m + 2 * N * N, N);
		best = MAX(best, 2.0 * N * N * N / ((double)(clock_ns() - start) * 1e-9));
	}
	openblas_set_num_threads(threads);
	mem_free(m);
	return best;
}

/* Reads n numbers, n a multiple of 4. Four sums avoid that each addition waits for the one before. */
static uint64_t sum_of(const uint64_t *m, size_t n)
{
	uint64_t sum[4] = { 0 };

	for (size_t k = 0; k < n; k += 4)
		for (size_t l = 0; l < 4; l++)
			sum[l] += m[k + l];
	return sum[0] + sum[1] + sum[2] + sum[3];
}

/* Bytes per second: the best of a few reads of 32 MiB. The memory is written first, because
 * untouched pages all share one page of zeros. */
static double measure_read(void)
{
	size_t n = READ / sizeof(uint64_t);
	uint64_t *m = mem_alloc(READ);
	double best = 0;

	for (size_t k = 0; m && k < n; k++)
		m[k] = 1;
	for (int i = 0; m && i < 5; i++) {
		int64_t start = clock_ns();

		BUG_ON(sum_of(m, n) != n);
		best = MAX(best, READ / ((double)(clock_ns() - start) * 1e-9));
	}
	mem_free(m);
	return best;
}

/* Describes this machine. A tenth of the memory is left to the system. Several cores read about 1.5
 * times as fast as one. */
static void find_cpu(struct plan_machine *m)
{
	int cores = cpu_info()->cores;

	m->cpu = 1;
	m->count = 1;
	m->cores = cores;
	m->gib = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 1073741824.0 * 0.9;
	m->tflops = measure_ops() * cores * 1e-12;
	m->fast = cpu_info()->avx512_bf16 || cpu_info()->amx_bf16 ? 2.0 : 1.0;
	m->gb_per_s = measure_read() * (cores > 1 ? 1.5 : 1.0) * 1e-9;
	snprintf(m->text, sizeof m->text, "this machine: %d core%s, %.0f GFLOP/s and %.0f GB/s measured",
		 cores, cores == 1 ? "" : "s",
		 m->tflops * 1e3, m->gb_per_s);
}

int plan_machine_find(struct plan_machine *m, const char *name, int count)
{
	const struct tile_gpu *g = tile_gpu_find(str_of(name));

	*m = (struct plan_machine){ .count = count, .cores = 8 * count };
	snprintf(m->name, sizeof m->name, "%s", name);
	if (!strcmp(name, "cpu")) {
		find_cpu(m);
		return 0;
	}
	if (g) {
		m->gib = g->gib;
		m->gb_per_s = g->memory;
		m->tflops = g->dot_f16;
		m->fp8 = g->capability >= 90;
		m->price = g->price;
		m->spot_price = g->spot_price;
		m->usual_price = 1;
		snprintf(m->text, sizeof m->text, "%d x %s", count, g->text);
		return 0;
	}
	return -1;
}

/* --- models ----------------------------------------------------------------------------------------------- */

/* Finds a known model whose name is a prefix of the path's last part, in any case:
 * "Qwen2.5-Coder-7B-Instruct" finds qwen2.5-coder-7b. */
static int find_known(struct model_config *c, const char *path)
{
	struct str base = path_base(path);

	for (size_t i = COUNT_OF(models); i-- > 0;) {
		size_t n = strlen(models[i].name), k = 0;

		while (k < n && k < base.n && tolower((unsigned char)base.p[k]) == models[i].name[k])
			k++;
		if (k < n)
			continue;
		*c = (struct model_config){ .arch = ARCH_QWEN2, .V = models[i].V, .C = models[i].C,
					    .L = models[i].L, .H = models[i].H,
					    .HKV = models[i].HKV, .D = models[i].C / models[i].H,
					    .F = models[i].F, .max_position = 32768,
					    .eps = 1e-6f, .rope_theta = 1e6, .tied = models[i].tied, .qkv_bias = 1,
					    .bos = -1, .eos = -1 };
		return 1;
	}
	return 0;
}

/* A folder or a config.json gives the exact shape; a name is the last resort. */
int plan_model_find(struct model_config *c, const char *name, struct err *e)
{
	struct json *j;
	int rc;

	if (file_is_dir(name))
		return model_config_open(c, name, e);
	if (file_exists(name)) {
		j = json_parse_file(name, e);
		rc = j ? model_config_parse(c, j, e) : -1;
		json_free(j);
		return rc;
	}
	return find_known(c, name) ? 0 : err_set(e, ERR_NOT_FOUND,
						 "'%s' is neither a model folder, nor a config.json, nor the "
						 "name of a known model", name);
}
