/* The state that all judgements of a process share: options, bindings of the host library, tile
 * engine.
 *
 * A `struct judge` belongs to the lowest layer that runs programs. For the layers above it stores a
 * few pointers (the runner link, the store of prepared tasks, the watcher) and does not use them
 * itself. */
#ifndef VERIFY_CANDIDATE_JUDGE_H
#define VERIFY_CANDIDATE_JUDGE_H

#include "base/err.h"
#include "base/str.h"
#include "verify/config/options.h"

struct judge;
struct host_lib;
struct tile_engine;
struct runner_link;                 /* candidate/runner_link.h */
struct prepared_store;              /* task/prepared.h */
struct judge_watcher;               /* task/dump.h */

/* NULL: *e says why. */
struct judge *judge_new(const struct judge_options *o, struct err *e);
void judge_free(struct judge *j);
const struct judge_options *judge_options(const struct judge *j);
const char *judge_fingerprint(const struct judge *j);     /* of build and options */
struct host_lib *judge_lib(struct judge *j);
struct tile_engine *judge_engine(struct judge *j);
/* A number for a task that was prepared: no two tasks of a judge have the same. */
uint64_t judge_next_task(struct judge *j);

/* Sets the link to the runner of candidates. Without this call they run in this process. */
void judge_set_link(struct judge *j, struct runner_link *l);
/* The link; a link to a runner in this process is made at the first call. Returns NULL on failure
 * (*e). */
struct runner_link *judge_link(struct judge *j, struct err *e);

/* Prepared tasks are taken from this store and put there from now on; NULL: they are not kept. */
void judge_set_store(struct judge *j, const struct prepared_store *s);
const struct prepared_store *judge_store(const struct judge *j);

/* Sets the watcher, which gets every run of a candidate (judge_seen in task/dump.h). NULL: no
 * watcher. */
void judge_set_watcher(struct judge *j, const struct judge_watcher *w);
const struct judge_watcher *judge_watcher(const struct judge *j);

#endif
