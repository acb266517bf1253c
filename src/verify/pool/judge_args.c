/* Options of the judge: see judge_args.h.
 *
 * Owns the table of options. Enum values come from the lists that define them (stage.def,
 * REWARD_LIST), so that a new stage needs no change here. */
#include "verify/pool/judge_args.h"

#include "base/log.h"
#include "tile/estimate/gpu.h"
#include "verify/rules/rules.h"

/* Values for OPT_ENUM: each name preceded by a bar, so the text proper starts at [1]. */
static const char stages[] =
#define STAGE(id, text) "|" #id
#include "verify/config/stage.def"
#undef STAGE
	;
static const char rewards[] =
#define R(id, text) "|" #id
	REWARD_LIST(R);
#undef R

/* Values of options that no command line sets; the table's own defaults are applied after them. */
static const struct judge_args unset = { .judge = JUDGE_DEFAULTS, .pool = JUDGE_POOL_DEFAULTS };

const struct opt judge_args_table[] = {
	OPT_START(struct judge_args, &unset),
	OPT_ENUM(struct judge_args, judge.track, "track", "strict|hybrid", "strict",
		 "strict: all arithmetic in Triton kernels; hybrid: torch operators may do part "
		 "of the work"),
	OPT_ENUM(struct judge_args, judge.contract, "contract", "task|general", "task",
		 "which contract decides. task: correct at full size for any seed, sign and "
		 "weights, and at twice the scale; general: also at other shapes, with outliers "
		 "and in other dtypes"),
	OPT_FLAG(struct judge_args, strict_inputs, "strict-inputs", 0,
		 "the same as --contract general: a candidate that fails on outliers, large values "
		 "or other shapes is not correct"),
	OPT_FLAG(struct judge_args, general, "general", 1,
		 "run and report the input sets of the general contract too, when --contract "
		 "task decides (never in training)"),
	OPT_ENUM(struct judge_args, judge.precision, "precision", "torch|tf32|ieee", "torch",
		 "which fp32 products may use tf32: torch: convolutions, as PyTorch does on a "
		 "GPU; tf32: all; ieee: none"),
	OPT_ENUM(struct judge_args, judge.last, "stage-limit", stages + 1, "timing",
		 "stop after this stage"),
	OPT_ENUM(struct judge_args, judge.reward, "reward", rewards + 1, "funnel",
		 "formula of the reward (doc/verdict.md)"),
	OPT_CHOICE(struct judge_args, judge.gpu, "gpu", TILE_GPU_CHOICES, TILE_GPU_DEFAULT,
		   "compile for this GPU, check its limits and estimate the speed on it"),
	OPT_INT(struct judge_args, pool.workers, "workers", 0, 256, 0,
		"number of judging processes; 0: one per core"),
	OPT_REAL(struct judge_args, pool.seconds, "timeout", 0.1, 3600, 20,
		 "seconds of processor time that a candidate may use"),
	OPT_INT(struct judge_args, memory_mb, "memory-mb", 64, 1 << 20, 2048,
		"memory that one run of a candidate may use, in MiB"),
	OPT_INT(struct judge_args, task_cache_mb, "task-cache-mb", 0, 1 << 24, 8192,
		"disk space for prepared tasks under $XDG_CACHE_HOME/tritonrl, in MiB; 0: no "
		"task cache"),
	OPT_INT(struct judge_args, judge.elements, "elements", 64, 1 << 30, 1 << 17,
		"input elements of an input set; larger tasks are run at smaller sizes"),
	OPT_INT(struct judge_args, judge.seed, "judge-seed", 0, 9e15, 29810,
		"secret seed of all input and weight draws"),
	OPT_STR(struct judge_args, device, "judge-device", "cpu|cuda|cuda:N", "cpu",
		"measure correct candidates on this GPU: real Triton compiles them, and times "
		"replace the estimate"),
	OPT_STR(struct judge_args, baselines, "baselines", "LIST", "eager",
		"PyTorch baselines to measure, separated by commas: eager, tf32, compile, "
		"max-autotune; the first decides the speed-up"),
	OPT_INT(struct judge_args, pool.gpu.warmups, "warmups", 0, 1000, 10,
		"calls of a candidate on the GPU before timing"),
	OPT_INT(struct judge_args, pool.gpu.trials, "trials", 0, 500, 50,
		"timed calls on the GPU; half as many if the interval is narrow, twice as many if "
		"it is wide; 0: check only"),
	OPT_REAL(struct judge_args, pool.gpu.trim, "trim", 0, 0.4, 0.1,
		 "share of the samples that the mean leaves out at each end"),
	OPT_INT(struct judge_args, pool.gpu.benches, "gpu-benches", 0, 4, 0,
		"candidates that are checked on the GPU at the same time; each is timed alone; 0: by cores and memory"),
	OPT_FLAG(struct judge_args, pool.gpu.counters, "counters", 0,
		 "read the profiler's counters of timed candidates: memory traffic, tensor cores, occupancy"),
	OPT_REAL(struct judge_args, pool.gpu.tuning, "gpu-tuning", 0, 3600, 10,
		 "seconds for which configurations of an autotuned candidate are tried on the GPU, in order; the "
		 "first one always is"),
	OPT_REAL(struct judge_args, pool.gpu.seconds, "gpu-timeout", 0.1, 3600, 10,
		 "seconds that the kernels of one question to the GPU may take"),
	OPT_STR(struct judge_args, pool.gpu.python, "gpu-python", "FILE", NULL,
		"Python with Triton and PyTorch; default: python3"),
	OPT_STR(struct judge_args, pool.gpu.torch_device, "gpu-torch", "DEVICE", "cuda:0",
		"where PyTorch runs references; none: this program computes expected results itself"),
	OPT_STR(struct judge_args, pool.gpu.driver, "gpu-driver", "FILE", NULL,
		"file in place of CUDA's driver library, for tests"),
	OPT_STR(struct judge_args, pool.gpu.cupti, "gpu-cupti", "FILE", NULL,
		"NVIDIA's profiling library, for --counters; default: libcupti of CUDA or of PyTorch"),
	OPT_STR(struct judge_args, pool.gpu.compiler, "gpu-compiler", "FILE", NULL,
		"program in place of the Triton worker, for tests"),
	OPT_FLAG(struct judge_args, allow_tf32, "allow-tf32", 0, "the same as --precision tf32"),
	OPT_FLAG(struct judge_args, pool.no_sandbox, "unsafe-no-sandbox", 0,
		 "judge even if the sandbox cannot be set up"),
	OPT_STR(struct judge_args, without_rule, "without-rule", "RULE", NULL,
		"switch one static rule off, to measure its effect"),
#define EXT(id, option, text) OPT_FLAG(struct judge_args, ext[EXT_##id], option, 1, text),
#include "verify/config/ext.def"
#undef EXT
	OPT_END
};

/* The baselines of a list of names. The first one decides. */
static int parse_baselines(const char *list, struct gpu_options *g, struct err *e)
{
	struct str rest = str_of(list), name;
	int first = 1;

	g->baselines = 0;
	while (rest.n) {
		int i = 0;

		name = str_trim(str_cut(&rest, ','));
		while (i < BASELINES && !str_is(name, baseline_name((enum baseline)i)))
			i++;
		if (i == BASELINES)
			return err_set(e, ERR_USAGE, "unknown baseline '%.*s'", STR_ARG(name));
		g->baselines |= 1u << i;
		if (first)
			g->baseline = (enum baseline)i;
		first = 0;
	}
	return first ? err_set(e, ERR_USAGE, "--baselines needs at least one name") : 0;
}

/* The part of the options that is about a GPU. */
static int gpu_options(const struct judge_args *a, struct judge_pool_options *p, struct err *e)
{
	struct str device = str_of(a->device ? a->device : "cpu"), number = device;
	int64_t ordinal = 0;

	p->gpu.on = !str_is(device, "cpu");
	p->gpu.precision = unset.pool.gpu.precision;
	p->gpu.no_sandbox = p->no_sandbox;
	if (!p->gpu.on)
		return 0;
	str_cut(&number, ':');
	if (!str_starts(device, "cuda") || (number.n && (str_to_i64(number, &ordinal) || ordinal < 0 || ordinal > 63)))
		return err_set(e, ERR_USAGE, "the judge's device is cpu, cuda or cuda:N, not '%.*s'", STR_ARG(device));
	p->gpu.ordinal = (int)ordinal;
	return parse_baselines(a->baselines ? a->baselines : "eager", &p->gpu, e);
}

/* The worker gets 4 GiB more address space than a candidate's run may take: it also holds prepared
 * tasks, images and the shared memory. */
int judge_args_options(const struct judge_args *a, struct judge_options *o, struct judge_pool_options *p, struct err *e)
{
	const struct tile_gpu *gpu = tile_gpu_find(str_of(a->judge.gpu));

	*o = a->judge;
	*p = a->pool;
	/* Point to the name in the table: the options outlive the text that they were read from. */
	o->gpu = gpu ? gpu->name : a->judge.gpu;
	o->memory = (size_t)a->memory_mb << 20;
	p->memory = o->memory + ((size_t)4 << 30);
	p->kept = (size_t)a->task_cache_mb << 20;
	o->skip_general = !a->general;
	if (a->strict_inputs)
		o->contract = CONTRACT_GENERAL;
	if (a->allow_tf32) {
		o->precision = PRECISION_TF32;
		log_info("--allow-tf32 means --precision tf32: only products may have the rounding error of tf32");
	}
	if (!a->ext[EXT_metamorphic] && o->contract == CONTRACT_TASK && o->skip_general)
		return err_set(e, ERR_USAGE, "--no-metamorphic has no effect here: relations belong to the general "
			       "contract, which --no-general leaves out; add --contract general, or leave it out");
	if (gpu_options(a, p, e))
		return -1;
	o->plan = p->gpu.on;
	for (int i = 0; i < EXTS; i++)
		o->ext_off |= a->ext[i] ? 0u : 1u << i;
	if (a->without_rule) {
		int r = rule_by_name(str_of(a->without_rule));

		if (r < 0)
			return err_set(e, ERR_USAGE, "unknown rule '%s'", a->without_rule);
		o->rules_off = 1u << r;
	}
	return 0;
}
