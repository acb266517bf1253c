/* The report of runs as one HTML file: the page (app.html) with its data in it. */
#ifndef WEB_REPORT_H
#define WEB_REPORT_H

#include "base/opt.h"
#include "store/store.h"

struct report_opts {
	const char *title;
	int64_t megabytes;          /* of the page, at most; candidates are left out beyond it */
	int wandb;                  /* also write a folder for Weights & Biases */
};
extern const struct opt report_opt_table[];

/* A run folder and its store. */
struct report_run { const char *dir; struct store *store; };

/* The first run has tables and candidates; those of others are compared with its curves. */
int report_write(const struct report_run *runs, size_t n, const struct report_opts *o, struct buf *out, struct err *e);
/* The page without data. It fetches its data from the server it came from. */
int report_live(const char *title, struct buf *out, struct err *e);

#endif
