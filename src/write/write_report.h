/* Reports of a search, for people and as JSON. */
#ifndef WRITE_WRITE_REPORT_H
#define WRITE_WRITE_REPORT_H

#include "write/writer.h"

/* Appends lines: who wrote the best solution, how it was verified, how fast it is, or the nearest miss. */
void write_report_text(const struct writer *w, const struct write_search *s, double seconds, struct buf *out);
/* Appends one JSON object on one line. */
void write_report_json(const struct writer *w, const struct write_search *s, double seconds, struct str id,
		       struct buf *out);

#endif
