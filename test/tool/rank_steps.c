/* A few steps of a small model, as one of several ranks or alone; the first prints a digest of the parameters.
 *
 *   rank_steps [DEVICE [LIBNCCL]]      gradients are moved by that library, else by MPI */
#include <dlfcn.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/rng.h"
#include "run/run.h"
#include "train/step.h"

enum { STEPS = 4, SEQUENCES = 11, LONGEST = 40 };

static const struct model_config small = {
	.arch = ARCH_QWEN3, .V = 61, .C = 32, .L = 2, .H = 4, .HKV = 2, .D = 8, .F = 48, .max_position = 512, .eps = 1e-6f,
	.rope_theta = 10000, .rope_factor = 1, .tied = 1, .qk_norm = 1, .bos = -1, .eos = 3,
};

struct bench {
	struct par *par;
	struct nccl *nccl;
	struct dev *dev;
	struct model *model;
	struct adapter *adapter;
	struct trainer *trainer;
};

static int make(struct bench *b, const char *device, const char *library, struct err *e)
{
	struct trainer_opts o = { .tape = { .max_tokens = 60, .seed = 7 }, .optim = OPTIM_DEFAULTS };
	struct adapter_opts lora = { .r = 4, .alpha = 8, .dropout = 0.1f, .targets = LORA_ALL, .seed = 2 };

	o.optim.lr = 1e-2, o.optim.total = STEPS;
	if (par_open(&b->par, e) || !(b->dev = run_device(b->par, device, 1, e)))
		return -1;
	if (library && nccl_open(&b->nccl, b->par, dlopen(library, RTLD_NOW | RTLD_GLOBAL), e))
		return -1;
	if (library && !b->nccl)
		return err_set(e, ERR_STATE, "NCCL is not used");
	o.par = b->par;
	o.nccl = b->nccl;
	return (b->model = model_new(b->dev, &small, &(struct model_opts){ .seed = 3 }, e)) && (b->adapter = adapter_new(b->model, &lora, e)) &&
	       (b->trainer = trainer_new(b->model, b->adapter, &o, e)) ? 0 : -1;
}

static int step(struct bench *b, int number, struct err *e)
{
	int32_t tokens[SEQUENCES][LONGEST];
	struct train_seq seq[SEQUENCES];
	struct train_report r;
	struct rng g;

	rng_init(&g, (uint64_t)number, "data");
	for (int q = 0; q < SEQUENCES; q++) {
		seq[q] = (struct train_seq){ .tokens = tokens[q], .n = 2 + (int)rng_below(&g, LONGEST - 1) };
		for (int k = 0; k < LONGEST; k++)
			tokens[q][k] = (int32_t)rng_below(&g, 61);
	}
	return trainer_step(b->trainer, seq, SEQUENCES, &r, e);
}

static void finish(struct bench *b, int failed)
{
	trainer_free(b->trainer);
	adapter_free(b->adapter);
	model_free(b->model);
	nccl_close(b->nccl);
	dev_close(b->dev);
	par_close(b->par, failed);
}

int main(int argc, char **argv)
{
	struct bench b = { .par = NULL };
	struct err e = ERR_INIT;
	int rc = make(&b, argc > 1 ? argv[1] : "cpu", argc > 2 ? argv[2] : NULL, &e);

	for (int i = 0; i < STEPS && !rc; i++)
		rc = step(&b, i, &e);
	if (rc)
		fprintf(stderr, "rank_steps: %s\n", e.text);
	else if (par_first(b.par))
		printf("%016llx\n", (unsigned long long)slab_hash(tape_params(trainer_tape(b.trainer))));
	finish(&b, rc);
	return rc ? 1 : 0;
}
