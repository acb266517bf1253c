/* The names of the terms: see terms.h. Verdicts, options and documents use exactly these words. */
#include "verify/config/terms.h"

/* The names of stage.def. */
const char *judge_stage_name(enum judge_stage s)
{
	static const char *const names[] = {
#define STAGE(id, text) #id,
#include "verify/config/stage.def"
#undef STAGE
	};

	return names[s];
}

const char *track_name(enum track t)
{
	return t == TRACK_STRICT ? "strict" : "hybrid";
}

/* The words of the option --contract. */
const char *contract_name(enum contract c)
{
	return c == CONTRACT_TASK ? "task" : "general";
}

/* The words of the option --precision. */
const char *precision_name(enum precision p)
{
	static const char *const names[] = { [PRECISION_TORCH] = "torch", [PRECISION_TF32] = "tf32",
					     [PRECISION_IEEE] = "ieee" };

	return names[p];
}

/* The full size is called "own" in verdicts: ../shared/DESIGN.md fixes the value of that field. */
const char *size_name(enum size_kind s)
{
	static const char *const names[] = { [SIZE_FULL] = "own", [SIZE_SHRUNK] = "shrunk",
					     [SIZE_SAMPLED] = "sampled" };

	return names[s];
}

const char *constant_answer_name(enum constant_answer a)
{
	static const char *const names[] = {
#define CONSTANT_ANSWER(id, text) #id,
#include "verify/config/constant_test.def"
#undef CONSTANT_ANSWER
	};

	return names[a];
}

const char *baseline_name(enum baseline b)
{
	static const char *const names[] = {
#define BASELINE(id, name, text) name,
#include "verify/config/baseline.def"
#undef BASELINE
	};

	return names[b];
}
