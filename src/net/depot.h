/* A folder kept in a bucket: complete or absent, and one writer at a time.
 *
 *     objects/SHA256             the bytes of every file, once each
 *     manifests/EPOCH-NUMBER     one state of the folder: path, length and digest of each file
 *     epochs/EPOCH               the claim of one writer
 *
 * Objects go up first, the manifest last, so a reader never sees a state with missing files.
 * Nothing is overwritten. A writer claims an epoch when it starts; from then on the writers of
 * lower epochs are refused at their next manifest (an old machine that was thought dead), and a
 * reader prefers the highest epoch, then the highest number. A reader checks length and digest of
 * everything and falls back to the state before if anything is missing or damaged. */
#ifndef NET_DEPOT_H
#define NET_DEPOT_H

#include "net/s3.h"

struct depot;

struct depot *depot_open(struct s3 *s, struct err *e);       /* borrows s */
void depot_close(struct depot *d);

/* Claims the next epoch: this process is the writer from now on. `who` is stored for people to
 * read. */
int depot_claim(struct depot *d, const char *who, struct err *e);

/* Files of a state, in the order in which they matter: those first go up first. */
struct depot_file { char *path; };
struct depot_files { struct depot_file *v; size_t n, cap; };

/* Puts these files of `folder` up as its next state. ERR_STATE: another writer took over. */
struct depot_pushed { int64_t files, files_sent, bytes, bytes_sent; };
int depot_push(struct depot *d, const char *folder, const struct depot_files *files, struct depot_pushed *out,
	       struct err *e);

/* Brings the newest complete state into `folder`. Files whose content is correct already are not
 * fetched again; other files of the folder are not touched. Returns S3_ABSENT if the bucket holds
 * no state. */
struct depot_pulled { int64_t files, files_fetched, bytes, bytes_fetched, passed_over; char state[40]; };
int depot_pull(struct depot *d, const char *folder, struct depot_pulled *out, struct err *e);

/* Removes all but the newest `keep` states and the objects that no other needs. Only for the
 * writer. */
int depot_prune(struct depot *d, int keep, int64_t *removed, struct err *e);

#endif
