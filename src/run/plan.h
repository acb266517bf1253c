/* The needs of a run before it starts: memory, time, GPU-hours and money.
 *
 * A plan is made from the same options that `run` obeys (struct pipeline), so that both count the
 * same stages, tasks and models.
 *
 * Memory is counted. Weights by their storage; trained parameters with gradients and moments;
 * activations from the same list that the tape uses; keys and values by position. On a GPU
 * activations, keys and values are 16-bit, on a CPU 32-bit.
 *
 * Time is modelled. Operations take a share of the machine's peak, bytes a share of its bandwidth.
 * In training on a GPU the activations that are moved between products count as well. Preparing
 * data, preparing tasks for the judge, judging and loading models take time too; the judge is
 * measured on pairs of the generator. Rows that are made during training (--stream) are measured, too:
 * each process makes all of them on its share of the cores, while a GPU computes. The shares are
 * assumptions and are printed with the result. GPUs work on equal parts of the data; each holds all weights.
 *
 * The plan chooses what fits, in this order: storage of the frozen weights and recomputation
 * ({16-bit}, {8-bit}, {16-bit, recompute}, {8-bit, recompute}: fastest first), then half the
 * sequence length. A choice fits if 48 samples (or all there are) can be computed at a time; if
 * none reaches that, 8 are enough. The micro-batch is the largest one up to 16,384 tokens on a GPU,
 * two sequences on a CPU. Accumulation keeps the configured number of sequences of a step. Values
 * that the configuration gives are not changed. `run` takes the choice over (run/plan_adopt.h). */
#ifndef RUN_PLAN_H
#define RUN_PLAN_H

#include "base/err.h"
#include "base/str.h"
#include "model/model.h"

struct plan_machine {
	char name[32];
	char text[96];
	int cpu;
	int fp8;                         /* multiplies 8-bit weights without widening them */
	double fast;                     /* products of bf16 compared with fp32, on a CPU; 1: no gain */
	double gib, gb_per_s, tflops;    /* of one GPU, or of the whole CPU */
	int count;                       /* GPUs */
	/* Prices of one GPU or of the CPU machine for an hour; 0: unknown. */
	double price, spot_price;
	int usual_price;                 /* the prices are the table's, not the user's */
	int cores;                       /* all cores that judge */
};

/* Returns -1 if tile/estimate/gpu.def has no GPU of that name. "cpu" is this machine, measured for a moment. */
int plan_machine_find(struct plan_machine *m, const char *name, int count);

/* `name` is a model folder, a config.json, or a name that starts with that of a known model, such as
 * "Qwen2.5-Coder-7B-Instruct". */
int plan_model_find(struct model_config *c, const char *name, struct err *e);

struct plan_job {
	const char *model;
	struct model_config c;
	int full;
	struct adapter_opts lora;
	int fixed_store;                 /* store the weights as `store` says; else the plan chooses */
	enum model_store store;
	int recompute;                   /* always recompute activations; else the plan chooses */
	unsigned skip;                   /* bit s is set if enum plan_stage s is not part of the run */
	struct { int64_t rows; int verify; double rows_per_s; } prepare;
	/* micro_tokens and slots: 0 if the plan chooses. */
	struct { int64_t rows, epochs, steps, batch, accumulate, max_length, micro_tokens;
		 double row_tokens, row_square, row_ms; } sft;   /* as struct plan_lengths; row_square 0: row_tokens */
	struct { int64_t tasks, epochs, steps, tasks_per_step, n, keep, inner, max_new, micro_tokens, slots; } rl;
	/* Each of the models answers all tasks; each answer is judged for one track or both. */
	struct { int64_t tasks, n, max_new, slots, models, tracks; } eval;
	struct { int64_t every, tasks; } look[2];      /* evaluations during sft and rl, one answer per task; 0: none */
	double prompt_tokens, answer_tokens;     /* mean lengths in sampling */
	double judge_ms, task_ms;        /* CPU milliseconds to judge a candidate, to prepare a task */
	int judge_measured;              /* both were measured here, on pairs of the generator */
	double train_share, prefill_share, read_share;   /* of peak and of bandwidth; 0: the default */
};

struct plan_choice {
	int fits;
	enum model_store store;
	int recompute;
	int64_t max_length;
	int64_t micro;                   /* sequences of max_length computed at a time, on each GPU */
	int64_t accumulate;              /* micro-batches of a step, on each GPU */
	int64_t rl_micro;                /* tokens computed at a time in RL */
	int64_t slots, eval_slots;       /* samples at a time, on each GPU */
};

enum plan_part { PLAN_WEIGHTS, PLAN_TRAINED, PLAN_ACTIVATIONS, PLAN_KV, PLAN_RESERVE, PLAN_PARTS };
/* The first PLAN_STAGES stages need the model's memory. */
enum plan_stage { PLAN_SFT, PLAN_RL, PLAN_EVAL, PLAN_STAGES, PLAN_PREPARE = PLAN_STAGES, PLAN_ALL_STAGES };
enum plan_step { PLAN_T_PREPARE, PLAN_T_LOAD, PLAN_T_ROWS, PLAN_T_SFT, PLAN_T_TASKS, PLAN_T_SAMPLE, PLAN_T_JUDGE,
		 PLAN_T_TRAIN, PLAN_T_EVAL_SAMPLE, PLAN_T_EVAL_JUDGE, PLAN_T_LOOKS, PLAN_STEPS };

struct run_plan {
	struct plan_job job;
	struct plan_machine machine;
	struct plan_choice choice;
	double memory[PLAN_STAGES][PLAN_PARTS];    /* bytes on each GPU */
	struct { double amount, per_s, seconds; } step[PLAN_STEPS];   /* in the unit that plan_table prints */
	double seconds[PLAN_ALL_STAGES];           /* judging and sampling overlap */
	double hours, gpu_hours;
	double cost, spot_cost;                    /* 0: the price is unknown */
};

/* The share of a peak that the plan assumes to be reached. */
enum plan_share { PLAN_SHARE_TRAIN, PLAN_SHARE_PREFILL, PLAN_SHARE_READ };
double plan_share(const struct run_plan *p, enum plan_share which);

/* Sets the times of a plan whose choice fits (plan_make calls it). */
void plan_time(struct run_plan *p);
/* Bytes that the stages hold: weights, activations of `tokens` tokens, keys and values of one token. */
double plan_activation_bytes(const struct run_plan *p, int64_t tokens, int recompute);
double plan_kv_bytes(const struct run_plan *p);
/* Number of parameters of the layers, without embedding and head; of trained ones. */
double plan_layer_parameters(const struct model_config *c);
double plan_trained_parameters(const struct plan_job *j);
/* Makes the plan. Returns 0 also if the run does not fit: see p->choice.fits. */
int plan_make(struct run_plan *p, const struct plan_job *j, const struct plan_machine *m, struct err *e);
/* `command` is the command that runs the plan, without the launcher; NULL: not printed. */
void plan_table(const struct run_plan *p, const char *command, struct buf *out);
/* Writes a row of the comparison of machines; with p NULL its heading. */
void plan_row(const struct run_plan *p, struct buf *out);
void plan_json(const struct run_plan *p, struct buf *out);

#endif
