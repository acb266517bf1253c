/* Inside prepare: rows in progress, sources, outputs. */
#ifndef DATA_PREP_IMPL_H
#define DATA_PREP_IMPL_H

#include "base/json_rows.h"
#include "base/mem.h"
#include "base/thread.h"
#include "data/difficulty.h"
#include "data/parquet.h"
#include "data/prep.h"
#include "data/sketch.h"
#include "data/taskset.h"
#include "data/draws.h"
#include "gen/gen.h"
#include "tok/tok.h"

enum prep_role { PREP_BOTH, PREP_SFT_ONLY, PREP_RL_ONLY, PREP_EVAL };

/* A row between source and output. Strings live in its arena. */
struct prep_row {
	struct arena arena;
	enum prep_kind kind;
	enum prep_role role;
	int64_t number;                /* in its source, from 1 */
	struct str raw;                /* JSON as read; decoded by prep_decode */
	char *id;
	struct str entry;              /* class names other than Model / ModelNew: KernelBook's */
	struct str task, solution, plan, ops;
	struct str repository;         /* of the module; empty: not known */
	int by_rule;                   /* the solver wrote the solution (--solve) */
	struct str origin;             /* licences, repository and so on: members of a JSON object */
	int level;                     /* as the source says; 0: it does not */
	enum gen_split split;
	enum prep_drop drop;
	uint64_t text_hash;
	struct sketch sketch;
	struct difficulty difficulty;
	int tokens;                    /* of the training row; 0: not measured */
	double speedup;                /* of the solution against eager, estimated by the judge; 0: not known */
	struct str messages;           /* JSON list; empty: no solution */
	struct str judged;             /* "reason: message" of a judge that refused the row; empty: it did not */
};

/* --- sources: the next row, in order ------------------------------------------------------ */

struct prep_source {
	enum prep_kind kind;
	const char *input;
	int64_t number, total;         /* rows or bytes, for progress */
	struct json_rows rows;
	struct taskset tasks;          /* kernelbench, modules */
	struct parquet parquet;        /* the rows of a Parquet file as JSON lines */
	struct draws draws;            /* built-in */
	uint64_t drawn;                /* pairs so far */
	struct map seen;
	struct gen_texts text;
	int64_t made[GEN_SPLITS + 1], want[GEN_SPLITS + 1];   /* by split; the last: RL tasks */
	int64_t again;                 /* draws to replace dropped ones */
	struct gen_levels levels[2];   /* of pairs, of RL tasks */
	int rising;
};

int prep_source_open(struct prep_source *s, enum prep_kind kind, const char *input, const struct prep_opts *o,
		     struct err *e);
/* Returns 1 and a row (cleared first), 0 at the end, -1 on failure. */
int prep_source_next(struct prep_source *s, struct prep_row *row, struct err *e);
int64_t prep_source_done(const struct prep_source *s);   /* of total */
void prep_source_close(struct prep_source *s);
/* The built-in generator's part of the above. */
int prep_builtin_open(struct prep_source *s, const struct prep_opts *o, struct err *e);
int prep_builtin_next(struct prep_source *s, struct prep_row *row, struct err *e);
/* The row was dropped: another one is drawn in its place, unless too many were. */
void prep_builtin_again(struct prep_source *s, const struct prep_row *row);

/* --- what happens to a row, on any thread ------------------------------------------------- */

/* Of one thread. */
struct prep_work {
	const struct prep_opts *o;
	const struct tok *tok;         /* or NULL */
	struct tok_enc *enc;
	struct tok_ids ids;
	struct host_lib *lib;          /* of the solver; NULL until it is needed */
	struct buf a, b, c;
};

/* JSON to members. The row may be dropped; -1 only when memory ended. */
int prep_decode(struct prep_work *w, struct prep_row *row, struct err *e);
/* Parses, converts, labels, sketches, writes the messages, counts tokens. */
struct prep_eval;
int prep_examine(struct prep_work *w, struct prep_row *row, const struct prep_eval *eval, struct err *e);
/* Makes the training row of a row with a solution: its messages, and its tokens. */
int prep_pair(struct prep_work *w, struct prep_row *row, struct err *e);
/* Gives a training task without a solution the solver's, if it has one that fits. */
int prep_solve(struct prep_work *w, struct prep_row *row, struct err *e);
/* Takes the solver's solution away again: the row stays a task without one. */
void prep_unsolve(struct prep_row *row);

/* Evaluation tasks, to be kept out of training. */
struct prep_eval {
	struct sketch_index sketches;
	struct map computes;           /* hashes of what is applied, of tasks that apply three operators or more */
};
/* Returns 1 if the task was added, 0 if it does not parse, -1 on failure. */
int prep_eval_add(struct prep_eval *x, struct str task, struct err *e);
void prep_eval_release(struct prep_eval *x);

/* --- outputs ------------------------------------------------------------------------------ */

struct prep_out;
struct prep_out *prep_out_open(const char *dir, struct err *e);
/* Adds the row to every file it belongs to, and counts. */
int prep_out_row(struct prep_out *x, const struct prep_row *row, struct prep_report *r, struct err *e);
/* Notes a row that was left out. */
int prep_out_dropped(struct prep_out *x, const struct prep_row *row, struct prep_report *r, struct err *e);
int prep_out_commit(struct prep_out *x, const struct prep_opts *o, const struct prep_report *r, struct err *e);
void prep_out_free(struct prep_out *x);           /* files that were not committed are removed */

#endif
