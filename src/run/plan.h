/* What a run will take: memory, time, GPU-hours and money, before it starts.
 *
 * Memory is counted: weights by their storage, trained parameters with gradients and moments,
 * activations from the list that the tape itself is carved from, keys and values by position.
 * On a GPU activations, keys and values are taken as 16-bit, on a CPU as 32-bit. Time is
 * modelled: operations over a share of the machine's peak, bytes over a share of its bandwidth,
 * in training on a GPU the activations as they are moved between the products as well;
 * the shares are assumptions, and are printed with the result. GPUs work on equal parts of the
 * data; each holds all weights.
 *
 * What is chosen from the memory there is, in this order until everything fits: storage of the
 * frozen weights and recomputation ({16-bit}, {8-bit}, {16-bit, recompute}, {8-bit, recompute}:
 * fastest first), then half the sequence length. 48 samples at a time count as fitting, or all
 * there are; where no way has them, 8. The micro-batch is the largest up to 16,384
 * tokens; accumulation keeps the sequences of a step as configured. */
#ifndef RUN_PLAN_H
#define RUN_PLAN_H

#include "base/err.h"
#include "base/str.h"
#include "model/model.h"

struct plan_machine {
	char name[32];
	char text[96];
	int cpu;
	int fp8;                         /* products of 8-bit weights as they are */
	double gib, gb_per_s, tflops;    /* of one GPU, or of the whole CPU */
	int count;
	double price;                    /* of one GPU or of the machine, an hour; 0: not known */
	int usual_price;                 /* it is the table's, nobody gave one */
	int cores;                       /* for judging, in all */
};

/* -1: no GPU of that name in tile/gpu.h. "cpu" is this machine, measured for a moment. */
int plan_machine_find(struct plan_machine *m, const char *name, int count);

/* A model folder, a config.json, or the name of a known model (with anything behind it:
 * "Qwen2.5-Coder-7B-Instruct"). */
int plan_model_find(struct model_config *c, const char *name, struct err *e);

struct plan_job {
	const char *model;
	struct model_config c;
	int full;
	struct adapter_opts lora;
	int fixed_store;                 /* keep the weights as `store` says; else chosen */
	enum model_store store;
	int recompute;                   /* always; else chosen */
	struct { int64_t rows, epochs, steps, batch, accumulate, max_length; double row_tokens; } sft;
	struct { int64_t tasks, epochs, steps, tasks_per_step, n, keep, inner, max_new; } rl;
	struct { int64_t tasks, n, max_new; } eval;
	double prompt_tokens, answer_tokens;     /* mean, of sampling */
	double judge_ms;                 /* CPU time of a candidate */
	int judge_measured;              /* here, on pairs of the generator */
	double train_share, prefill_share, read_share;   /* of peak and of bandwidth; 0: the usual */
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
enum plan_stage { PLAN_SFT, PLAN_RL, PLAN_EVAL, PLAN_STAGES };
enum plan_step { PLAN_T_SFT, PLAN_T_SAMPLE, PLAN_T_JUDGE, PLAN_T_TRAIN, PLAN_T_EVAL_SAMPLE, PLAN_T_EVAL_JUDGE,
		 PLAN_STEPS };

struct run_plan {
	struct plan_job job;
	struct plan_machine machine;
	struct plan_choice choice;
	double memory[PLAN_STAGES][PLAN_PARTS];    /* bytes on each GPU */
	struct { double amount, per_s, seconds; } step[PLAN_STEPS];   /* tokens or candidates */
	double seconds[PLAN_STAGES];               /* judging overlaps sampling */
	double hours, gpu_hours, cost;             /* cost 0: no price */
};

/* The share of a peak that the plan assumes to be reached. */
enum plan_share { PLAN_SHARE_TRAIN, PLAN_SHARE_PREFILL, PLAN_SHARE_READ };
double plan_share(const struct run_plan *p, enum plan_share which);

/* 0 whether it fits or not: p->choice.fits says. */
int plan_make(struct run_plan *p, const struct plan_job *j, const struct plan_machine *m, struct err *e);
void plan_table(const struct run_plan *p, struct buf *out);
/* A row for the comparison of machines; the heading with p NULL. */
void plan_row(const struct run_plan *p, struct buf *out);
void plan_json(const struct run_plan *p, struct buf *out);

#endif
