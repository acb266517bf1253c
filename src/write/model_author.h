/* The model as an author of candidates: samples of the task's prompt, and answers to the judge's feedback. */
#ifndef WRITE_MODEL_AUTHOR_H
#define WRITE_MODEL_AUTHOR_H

#include "write/writer.h"

struct model_author;

/* Opens the model of the options, or the one that ships with the program. */
struct model_author *model_author_open(const struct writer_args *a, struct err *e);
void model_author_close(struct model_author *m);

/* Draws samples until `n` are drawn, the search is settled, or its time is over. Each is judged while the next
 * ones are drawn. */
int model_author_sample(struct model_author *m, struct write_search *s, int n, struct err *e);
/* Asks again for the samples that came furthest, each with the judge's feedback, `n` answers in all. */
int model_author_repair(struct model_author *m, struct write_search *s, int n, struct err *e);

#endif
