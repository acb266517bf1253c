/* Checkpoints: complete or absent.
 *
 * A checkpoint is a folder whose MANIFEST names every file with length and SHA-256 and ends with a
 * digest of itself. It is written under a temporary name, synced, and renamed into place. A folder
 * without a valid manifest is treated as absent. Nothing old is deleted before the new one was read
 * back. Evaluation refuses a folder without a complete manifest. */
#ifndef TRAIN_CHECKPOINT_H
#define TRAIN_CHECKPOINT_H

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "par/par.h"

/* Begins "parent/name": *dir (caller frees) is a temporary folder to write files into. */
int checkpoint_begin(const char *parent, const char *name, char **dir, struct err *e);
/* Hashes and syncs the files in `dir`, writes the manifest with `state` (a JSON object), renames
 * it to parent/name (replacing an older one of that name) and reads it back. */
int checkpoint_commit(const char *parent, const char *name, const char *dir, struct str state, struct err *e);

/* Returns 0 if the checkpoint is complete and undamaged; `state` (may be NULL) gets the manifest's
 * state object. Returns -1 otherwise (*e). */
int checkpoint_verify(const char *path, struct buf *state, struct err *e);
/* The newest complete "PREFIX-NUMBER" in a folder: 1 and its path in `out`, 0: none. Leftovers of
 * interrupted writes are removed. */
int checkpoint_latest(const char *parent, const char *prefix, struct buf *out, struct err *e);
/* The same for all processes of a run: the first one searches, and all get its result. */
int checkpoint_newest(struct par *p, const char *parent, const char *prefix, struct buf *out, struct err *e);
/* Removes all but the newest `keep` complete ones of a prefix. */
int checkpoint_prune(const char *parent, const char *prefix, int keep, struct err *e);

/* One line per file of a folder: name, bytes, SHA-256, sorted by name. */
int checkpoint_digest(const char *dir, struct buf *out, struct err *e);

#endif
