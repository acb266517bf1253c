/* The report of a run: one HTML page over its store. */
#ifndef WEB_REPORT_H
#define WEB_REPORT_H

#include "base/opt.h"
#include "store/store.h"

struct report_opts {
	const char *title;
	size_t candidates;          /* most candidates shown in full; 0: all */
};
extern const struct opt report_opt_table[];

int report_write(struct store *s, const struct report_opts *o, struct buf *out, struct err *e);

#endif
