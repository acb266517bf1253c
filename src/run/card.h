/* The card of a model that a run trained: what it was trained on, how, and what it reaches. */
#ifndef RUN_CARD_H
#define RUN_CARD_H

#include "base/str.h"
#include "base/err.h"

/* Appends the card of the run in folder `run` as Markdown. Missing parts of the run are left out. */
int card_write(const char *run, struct buf *out, struct err *e);

#endif
