/* Parts: a module that nothing solved whole is cut at the statements of forward. Each range of statements that
 * the solver solves becomes a part; a statement that it does not solve is the model's, or stays as it is. */
#ifndef WRITE_PARTS_H
#define WRITE_PARTS_H

#include "write/writer.h"

/* Adds the joined candidate to the search, if at least one part was solved and one was not, or there are
 * several. Returns -1 on our own failure. */
int parts_write(struct writer *w, struct write_search *s, struct err *e);

#endif
