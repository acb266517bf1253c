/* A policy: the model being trained, its adapter (or none: full fine-tuning), its tokenizer and
 * its trainer, with saving and exact resuming. Both stages of training use it. */
#ifndef TRAIN_POLICY_H
#define TRAIN_POLICY_H

#include "base/opt.h"
#include "base/err.h"
#include "model/model.h"
#include "tok/tok.h"
#include "train/step.h"

struct policy_opts {
	const char *model;             /* Hugging Face folder */
	const char *adapter;           /* start from this adapter; NULL: a new one */
	const char *init;              /* a config.json: a new model with random weights (full only) */
	const char *tokenizer;         /* folder of the tokenizer; NULL: the model's */
	const char *prompt_style;      /* of the prompts trained on, kept with the weights; NULL: as the model says */
	int full;
	struct adapter_opts lora;      /* r and alpha 0, dropout below 0: not chosen, policy_settle fills them in */
	const char *lora_targets;      /* by name; NULL: not chosen */
	enum model_store store;        /* how weights are kept for computing */
	struct trainer_opts trainer;
	uint64_t seed;
	/* Options of the device. The caller opens the device and passes it to policy_open. */
	const char *device;
	int64_t threads;               /* 0: one per core */
	int exact;
};
extern const struct opt policy_opt_table[];
/* Sets the one seed of all random draws, and completes the options of the adapter: chosen ones must
 * agree with `adapter`; others are the adapter's, or the defaults. A dropout that was not chosen is
 * that of supervised training. */
int policy_settle(struct policy_opts *o, uint64_t seed, struct err *e);

struct policy {
	struct dev *dev;
	struct model *model;
	struct adapter *adapter;       /* NULL: full */
	struct tok *tok;
	struct trainer *trainer;
	char *base, *tok_dir, *prompt_style;
};

/* An evaluation of the policy every `every` steps: shares of correct answers and mean reward on
 * tasks that are not trained on. Same policy, same answer. */
struct train_look {
	int64_t every;                 /* 0: never */
	int (*eval)(void *ctx, const struct policy *p, double *correct, double *reward, struct err *e);
	void *ctx;
};

/* Options that contradict each other or name nothing, before anything is opened. */
int policy_check(const struct policy_opts *o, struct err *e);
/* Opens everything; with `resume` (a checkpoint folder) parameters and optimizer state come
 * from there. */
int policy_open(struct policy *p, struct dev *dev, const struct policy_opts *o, const char *resume, struct err *e);
void policy_close(struct policy *p);
/* Fails where processes that train together did not open the same bits. */
int policy_same(const struct policy *p, struct par *par, struct err *e);
/* Saves "parent/name" as a checkpoint: weights in Hugging Face or PEFT form, the tokenizer, and in
 * tritonrl.json the style of prompts. `state` is a JSON object. */
int policy_save(const struct policy *p, const char *parent, const char *name, struct str state, struct err *e);

/* The policy at one moment, in host memory: it can be written while training continues. A moment
 * begins with policy_freeze and lasts until parameters change (trainer_set_reader). policy_copy may
 * be called within it, from any thread if the policy computes in host memory
 * (policy_shares_memory). */
struct policy_copy {
	struct dev *host;
	struct slab params, state;
};
#define POLICY_COPY_INIT { .host = NULL }
void policy_freeze(const struct policy *p);
int policy_shares_memory(const struct policy *p);
/* again and again into the same memory */
int policy_copy(const struct policy *p, struct policy_copy *c, struct err *e);
void policy_copy_release(struct policy_copy *c);
/* Saves it as policy_save does, with what resuming exactly needs. Any thread may. */
int policy_save_copy(const struct policy *p, const struct policy_copy *c, const char *parent,
		     const char *name, struct str state,
		     struct err *e);

#endif
