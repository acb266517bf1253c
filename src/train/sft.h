/* Supervised fine-tuning: data, steps, checkpoints, metrics, in a run folder. Continues where it
 * stopped, with the same bits. */
#ifndef TRAIN_SFT_H
#define TRAIN_SFT_H

#include "base/opt.h"
#include "store/store.h"
#include "train/feed.h"
#include "train/policy.h"

struct sft_opts {
	struct opt_list data;          /* files of JSON lines */
	feed_row_fn *row;              /* instead of files: makes rows on demand */
	void *row_ctx;
	const char *out;               /* run folder */
	struct policy_opts policy;
	int64_t epochs, steps;         /* steps 0: as the epochs give */
	int batch, accumulate;         /* sequences per step: batch * accumulate */
	int max_length;
	int pack;                      /* several sequences in one pack */
	int shuffle;
	int64_t save_every;            /* steps; 0: only at the end */
	int64_t save_keep;             /* checkpoints that stay */
	const char *validation;        /* rows whose loss is measured at every look; NULL: none */
	struct train_look look;
	uint64_t seed;
};
extern const struct opt sft_opt_table[];

struct sft_result {
	int64_t steps, tokens;
	double loss;                   /* mean of the last tenth of the steps */
	int done;                      /* 0: stopped on request, resumable */
};

/* Trains; the finished policy is out/checkpoints/sft_final. With several processes
 * (policy.trainer.par) only the first has a store and writes; the others pass NULL. */
int sft_run(struct dev *dev, struct store *store, const struct sft_opts *o, struct sft_result *r, struct err *e);

#endif
