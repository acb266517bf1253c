/* Pairs of the generator by number: pair k depends only on the options and on k. Any thread may
 * draw it at any time, and a resumed run draws the same pairs. */
#ifndef DATA_DRAWS_H
#define DATA_DRAWS_H

#include "base/opt.h"
#include "base/rng.h"
#include "data/keepout.h"
#include "data/module_pairs.h"
#include "data/prompt.h"
#include "gen/gen.h"

struct draws {
	struct rng rng;
	struct gen_levels levels;     /* in turn */
	int split;                    /* enum gen_split; -1: all */
	int plain, hybrid, max_ops;
	/* the levels open one after the other until pair `rise`; 0: all from the first on */
	uint64_t rise;
	struct keepout keepout;
};

/* Training pairs of levels 1 and 2, none that must be kept out; the members may be set
 * afterwards. */
int draws_init(struct draws *d, uint64_t seed, const char *stream, struct err *e);
void draws_release(struct draws *d);

/* Pair k: its plan and its texts, which are replaced. */
int draws_pair(const struct draws *d, uint64_t k, struct gen_plan *p, struct gen_texts *t, struct err *e);
/* The same with another level and split than the options say. */
int draws_pair_of(const struct draws *d, uint64_t k, int level, int split, struct gen_plan *p,
		  struct gen_texts *t, struct err *e);
/* "l2-0123456789abcdef": the level and a hash of the task. */
void draws_id(const struct gen_plan *p, const struct gen_texts *t, char id[32]);
/* Level of pair k. */
int draws_level(const struct draws *d, uint64_t k);

/* --- training without a file -------------------------------------------------------------- */

struct draws_opts {
	struct opt_list levels;       /* empty: nothing is drawn */
	int plain, rising;
	const char *modules;          /* NULL: generated pairs only */
	double share;                 /* of the rows that are made from modules */
	double solved;                /* of the others: answered by the solver */
};
extern const struct opt draws_opt_table[];

/* Rows of a training run: conversations in one prompt style. */
struct draws_rows {
	struct draws draws;
	enum prompt_style style;
	struct module_pairs modules;
	double share, solved;         /* 0: no modules */
};
/* `total`: pairs of the whole run, which rising levels are spread over. */
int draws_rows_init(struct draws_rows *r, const struct draws_opts *o, uint64_t seed, uint64_t total, struct err *e);
void draws_rows_release(struct draws_rows *r);
/* Appends row k as the JSON that prepare writes: {"messages": [...]}. `rows` is a struct
 * draws_rows. */
int draws_row(void *rows, uint64_t k, struct buf *out, struct err *e);

#endif
