/* Lengths of rows and times of the judge, measured on a few pairs of the generator before a run is
 * planned. Everything that is drawn here goes to temporary folders. */
#ifndef RUN_PLAN_MEASURE_H
#define RUN_PLAN_MEASURE_H

#include "run/pipeline.h"

/* Mean tokens of a training row; the sum of squared lengths divided by the sum of lengths, which attention costs; the
 * part of a row that is the prompt; rows that prepare draws per second; CPU milliseconds to make a row during
 * training (0: it is read from a file). */
struct plan_lengths {
	double row, square, prompt_share, rows_per_s, row_ms;
};

/* Draws rows as the configuration does (section prepare, or the pairs that stage sft draws) and counts
 * their tokens with the tokenizer of the folder. Without a tokenizer *out stays as it is. */
int plan_measure_lengths(const struct pipeline *p, const char *tokenizer, struct plan_lengths *out, struct err *e);

/* Makes rows as stage sft will (--stream), spread over the whole run, and measures lengths and time. A file of
 * modules that is missing here is replaced by typical values. */
int plan_measure_rows(const struct pipeline *p, const char *tokenizer, struct plan_lengths *out, struct err *e);

/* CPU milliseconds to judge a candidate and to prepare a task. Returns 0 if nothing could be judged;
 * *judge_ms and *task_ms are then defaults. */
int plan_measure_judge(const struct pipeline *p, double *judge_ms, double *task_ms);

#endif
