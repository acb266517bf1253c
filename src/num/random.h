/* PyTorch's CPU generator: mt19937 with PyTorch's order of draws, and the distributions on
 * it.
 *
 * rand, randint, randperm, uniform_, bernoulli_ and dropout masks have PyTorch's bits.
 * normal_ uses the same draws and differs in the last bits of log, sin and cos. */
#ifndef NUM_RANDOM_H
#define NUM_RANDOM_H

#include "num/num.h"

/* The generator of one program. */
struct num_rng {
	uint64_t seed;
	int seeded;             /* seeded and nothing drawn since: `state` is not computed yet */
	uint32_t state[624];
	int left, next;         /* words left in the state plus 1; index of the next word */
	int has_normal;         /* `normal` holds the second value of a Box-Muller pair */
	double normal;
	/* The first and the last element of a randint are the least and the largest possible
	 * value. A new seed resets it. */
	int ends;
};

void num_rng_seed(struct num_rng *r, uint64_t seed);
uint32_t num_rng_u32(struct num_rng *r);
uint64_t num_rng_u64(struct num_rng *r);

/* These write to an existing tensor. `dt` is the dtype whose draws are made: in the oracle an
 * f64 tensor gets the numbers that an f32 one would get. */
int num_uniform(struct num_rng *r, const struct tensor *t, enum dtype dt, double from, double to,
		struct err *e);
int num_normal(struct num_rng *r, const struct tensor *t, enum dtype dt, double mean, double std,
	       struct err *e);
int num_randint(struct num_rng *r, const struct tensor *t, int64_t from, int64_t to, struct err *e);
int num_bernoulli(struct num_rng *r, const struct tensor *t, double p, struct err *e);
/* One probability per element. */
int num_bernoulli_tensor(struct num_rng *r, const struct tensor *t, const struct tensor *p,
			 enum dtype dt, struct err *e);
int num_exponential(struct num_rng *r, const struct tensor *t, double lambda, struct err *e);
int num_randperm(struct num_rng *r, const struct tensor *t, struct err *e);       /* t: dense [n] */
/* Checks sizes, dtype and weights with PyTorch's messages. */
int num_check_multinomial(struct num_ctx *c, const struct tensor *p, int64_t n, int replacement,
			  struct err *e);
int num_multinomial(struct num_rng *r, struct num_ctx *c, struct tensor *out,
		    const struct tensor *p, int64_t n, struct err *e);

#endif
