/* A run as the page reads it: JSON over its store and its metrics.jsonl. The page itself is
 * app.html. */
#ifndef WEB_DATA_H
#define WEB_DATA_H

#include "store/store.h"

/* {"name", "metrics": [...], "evals": [...], "compare", "config", "funnel": [...], "tasks": [...],
 * "texts": [...]}: everything but the candidates. `dir` is the run folder. */
int web_run(struct store *s, const char *dir, struct buf *out, struct err *e);
/* {"id", "source", "samples": [...]}: a task with the candidates whose texts were kept; at most
 * `most` bytes of them. */
int web_task(struct store *s, struct str id, size_t most, struct buf *out, struct err *e);

extern const char web_app[];           /* the page; its data replaces @DATA@ */

#endif
