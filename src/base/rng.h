/* Random numbers: Philox 4x32-10, counter-based, with named streams.
 *
 * A stream is (seed, name): two parts of the program never share draws, and adding a draw in
 * one does not move another. The state is 24 bytes and is saved and restored exactly.
 * (PyTorch's mt19937 is in src/num; this one is for everything of our own.) */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t key;       /* from seed and name */
	uint64_t counter;   /* blocks drawn */
	uint32_t block[4];
	uint32_t left;      /* unused words of block */
};

void rng_init(struct rng *r, uint64_t seed, const char *stream);
/* A child stream, e.g. one per sample: same parent state and index, same stream. */
void rng_fork(struct rng *child, const struct rng *parent, uint64_t index);
uint32_t rng_u32(struct rng *r);
uint64_t rng_u64(struct rng *r);
double rng_f64(struct rng *r);                       /* [0, 1), 53 bits */
float rng_f32(struct rng *r);                        /* [0, 1), 24 bits */
uint64_t rng_below(struct rng *r, uint64_t n);       /* [0, n), unbiased; n > 0 */
int64_t rng_between(struct rng *r, int64_t lo, int64_t hi);   /* both ends included */
double rng_normal(struct rng *r);
void rng_shuffle(struct rng *r, void *items, size_t n, size_t size);
/* The bare block function, for other users of Philox. */
void rng_philox(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4]);

enum { RNG_STATE_BYTES = 40 };
void rng_save(const struct rng *r, unsigned char out[RNG_STATE_BYTES]);
void rng_load(struct rng *r, const unsigned char in[RNG_STATE_BYTES]);

#endif
