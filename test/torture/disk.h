/* A disk in memory under the table of base/sys.h that remembers in which order it was written to, and what
 * of it may be there after the power went: everything that was synced, and of the rest any part.
 *
 * A change of a file's bytes is safe once that file was synced, a change of a folder's entries once the folder
 * was. Any subset of the changes that are not safe may have reached the disk; so later ones without earlier
 * ones, which is every order. Of a write, nothing, its first half, zeros in its length, or all. */
#ifndef DISK_H
#define DISK_H

#include <stdint.h>

struct disk;

/* An empty disk, with "/" alone. */
struct disk *disk_new(void);
void disk_free(struct disk *d);
/* All file system calls go to this disk until the next call; NULL: to the real one. */
void disk_use(struct disk *d);

/* Changes so far. */
int disk_changes(const struct disk *d);
/* In how many ways the disk may look if the power goes after `n` changes; at most `most`. */
long disk_outcomes(const struct disk *d, int n, long most);
/* One of them, as a new disk on which everything is safe. With more than `most` they are drawn by number. */
struct disk *disk_outcome(const struct disk *d, int n, long which, long most);
/* Of all names and bytes: equal disks have equal ones. */
uint64_t disk_hash(const struct disk *d);

#endif
