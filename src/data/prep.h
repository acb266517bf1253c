/* Preparing data: sources in, labelled and split data out.
 *
 * Sources: KernelBook (a JSON array of any size, or JSON lines, read in constant memory), JSON
 * lines of tasks, folders of modules, KernelBench's folders (only ever for evaluation), the
 * built-in generator. A task without a solution is written to the files of tasks only.
 * Rows pass: decode, exact duplicates, parse and bring into KernelBench's form, difficulty,
 * decontamination, token length, near duplicates, judge. Each row ends in exactly one place:
 * written, or dropped for the first reason of prep_drop.def that applies.
 *
 * Written into `out`, each file whole or not at all, prepare.json last:
 *   sft_train.jsonl, sft_validation.jsonl       training rows: {"messages": [...], id, level, ...}
 *   tasks_train.jsonl, tasks_validation.jsonl, tasks_test.jsonl     rows: id, level, split, ops, task
 *   modules_train.jsonl                         tasks that the solver solved, for variants of them
 *   difficulty_labels.jsonl                     the label from the program, and the heuristic's
 *   dropped.jsonl                               rows that were left out: where they stood, id, reason,
 *                                               and what the judge said if it refused them
 *   prepare.json                                what was read, kept and dropped, and the options
 * The same input, options and seed give the same bytes for any number of threads. */
#ifndef DATA_PREP_H
#define DATA_PREP_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "data/prompt.h"
#include "verify/pool/pool.h"

enum prep_kind {
#define SOURCE(id, text) PREP_##id,
#include "data/prep_source.def"
#undef SOURCE
	PREP_KINDS
};
#define PREP_SOURCE_CHOICES "builtin|kernelbook|kernelbench|jsonl|modules"

enum prep_drop {
	PREP_KEPT,
#define DROP(id, text) PREP_DROP_##id,
#include "data/prep_drop.def"
#undef DROP
	PREP_DROPS
};
const char *prep_kind_name(enum prep_kind k);
const char *prep_drop_name(enum prep_drop d);
const char *prep_drop_text(enum prep_drop d);

struct prep_words {
	const char *const *v;
	size_t n;
};

struct prep_opts {
	struct prep_words source, input;    /* inputs go to the sources that need one, in order */
	const char *out;
	const char *tokenizer;              /* folder; NULL: lengths are not looked at */
	int64_t max_length;                 /* tokens of a training row; 0: any */
	int64_t max_bytes;                  /* of a task or solution */
	int64_t limit;                      /* training rows kept of each file; 0: all */
	double validation, test;            /* shares of a file's rows, by hash */
	int by_repository;                  /* the hash of a row's repository, not of its program */
	int solve;                          /* the solver writes solutions of tasks that have none */
	/* similarity that counts as the same: in training, with evaluation tasks; 0: off */
	double near, near_eval;
	struct prep_words decontaminate;    /* tasks that must stay out of training */
	enum prompt_style style;
	int strict;
	enum precision precision;
	int64_t count, rl_count;            /* built-in: training pairs; further tasks for RL (0: the same ones) */
	struct prep_words level, rl_level;  /* built-in: levels in turn; level, files: the levels that are kept */
	int rising;                    /* built-in: low levels first */
	int plain;                          /* built-in: solutions in one style */
	struct judge_pool *judge;           /* keep only pairs it finds correct; NULL: not asked */
	double min_speedup;                 /* against eager, for rows whose estimate is known; 0: any */
	uint64_t seed;
	int threads;                        /* 0: one per core */
};

struct prep_count {
	enum prep_kind kind;
	const char *input;                  /* NULL: built in */
	int64_t read, kept, drop[PREP_DROPS];
};

enum prep_file {
#define OUT(id, name) PREP_OUT_##id,
#include "data/prep_out.def"
#undef OUT
	PREP_OUTS
};
const char *prep_file_name(enum prep_file f);

enum { PREP_SOURCES_MOST = 16 };

struct prep_report {
	struct prep_count source[PREP_SOURCES_MOST];
	size_t n;
	int64_t rows[PREP_OUTS];            /* written to each file */
	int64_t level[4], heuristic[4];     /* rows by label: [1..3] */
	int64_t same_label;                 /* rows where both labels agree */
	int64_t tokens;                     /* of training rows, where a tokenizer was given */
	int64_t longest;
	double seconds;
};

/* -1 and ERR_INTERRUPTED after Ctrl-C, ERR_FORMAT where no row could be used; nothing is left
 * behind then. */
int prep_run(const struct prep_opts *o, struct prep_report *r, struct err *e);
/* The table of what was read, kept and dropped. */
void prep_table(const struct prep_report *r, struct buf *out);

#endif
