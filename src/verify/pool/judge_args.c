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
	if (a->allow_tf32) {
		o->precision = PRECISION_TF32;
		log_info("--allow-tf32 means --precision tf32: only products may have the rounding error of tf32");
	}
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
