/* The terms of a judgement: what everything in src/verify may know.
 *
 * This folder owns the enumerations that options, verdicts, runners and rules share, and their
 * names. It holds no expected result, no tolerance and no verdict, so that the process which runs
 * a candidate may include all of it. */
#ifndef VERIFY_CONFIG_TERMS_H
#define VERIFY_CONFIG_TERMS_H

/* The stages of the funnel, in order: config/stage.def. */
enum judge_stage {
#define STAGE(id, text) STAGE_##id,
#include "verify/config/stage.def"
#undef STAGE
	STAGES
};

/* Parts of the judge that can be switched off one by one: config/ext.def. */
enum ext {
#define EXT(id, option, text) EXT_##id,
#include "verify/config/ext.def"
#undef EXT
	EXTS
};

/* The rules for candidates: config/rule.def. */
enum rule {
#define RULE(id, text) RULE_##id,
#include "verify/config/rule.def"
#undef RULE
	RULES
};

/* The outcome of a constant-tensor test: config/constant_test.def. */
enum constant_answer {
#define CONSTANT_ANSWER(id, text) CONSTANT_ANSWER_##id,
#include "verify/config/constant_test.def"
#undef CONSTANT_ANSWER
	CONSTANT_ANSWERS
};

enum track { TRACK_STRICT, TRACK_HYBRID };

/* The contract that a candidate is held to. CONTRACT_TASK is the task as it is: its full size, any
 * seed, other signs, twice the scale, any weights. CONTRACT_GENERAL adds other shapes, outliers
 * and dtypes. */
enum contract { CONTRACT_TASK, CONTRACT_GENERAL };

/* The products of fp32 that may be computed in tf32: those that PyTorch computes in tf32 on a GPU
 * by default (convolutions), all, none. */
enum precision { PRECISION_TORCH, PRECISION_TF32, PRECISION_IEEE };

/* The sizes that a candidate was run at: the full size, smaller sizes at which it takes the same
 * branches and launches, or smaller sizes at which it may not. */
enum size_kind { SIZE_FULL, SIZE_SHRUNK, SIZE_SAMPLED };

/* The ways in which PyTorch runs a reference that candidates are timed against: config/baseline.def. */
enum baseline {
#define BASELINE(id, name, text) BASELINE_##id,
#include "verify/config/baseline.def"
#undef BASELINE
	BASELINES
};

/* The forms of the reward. R(id, formula) */
#define REWARD_LIST(R) \
	R(funnel, "0, 0.3, 0.5, 0.7, 0.7 + 0.3 min(speedup / 2, 1) by the last stage passed") \
	R(reinforce, "syntax * (0.7 correct + 0.3 min(speedup, 1))") \
	R(rank, "correct + 0.3 min(speedup, 1)") \
	R(correct, "1 if correct, else 0") \
	R(speed, "valid * min(speedup, 2)")

enum reward_form {
#define R(id, text) REWARD_##id,
	REWARD_LIST(R)
#undef R
	REWARD_FORMS
};

const char *judge_stage_name(enum judge_stage s);
const char *track_name(enum track t);
const char *contract_name(enum contract c);
const char *precision_name(enum precision p);
const char *size_name(enum size_kind s);
const char *baseline_name(enum baseline b);
const char *constant_answer_name(enum constant_answer a);

#endif
