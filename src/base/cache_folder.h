/* The cache folder of this user, $XDG_CACHE_HOME/tritonrl or ~/.cache/tritonrl: what is in it, and how it is
 * cleaned. Everything in it can be made again. */
#ifndef BASE_CACHE_FOLDER_H
#define BASE_CACHE_FOLDER_H

#include <stdint.h>
#include <time.h>

#include "base/err.h"
#include "base/str.h"

/* Appends the path, which may not exist. Returns -1 if neither variable names an absolute path. */
int cache_folder(struct buf *out);

enum { CACHE_ENTRIES = 64 };

/* An entry of the folder: a file, or a folder with all that is below it. */
struct cache_entry {
	char name[128];
	const char *text;              /* its purpose, from cache_entry.def */
	int64_t files, bytes;
	time_t used;                   /* the latest change below it; the task cache notes each use */
};

struct cache_contents {
	size_t n;
	struct cache_entry v[CACHE_ENTRIES];   /* in the order of names */
};

int cache_read(const char *folder, struct cache_contents *out, struct err *e);

struct cache_clean {
	int all;                       /* every entry; else only prepared tasks */
	time_t before;                 /* only files last used before this time; 0: any */
	int64_t most;                  /* the least recently used files are deleted until this many bytes are left;
					* < 0: all files are deleted */
};
/* Deletes files; *files and *bytes say how much. */
int cache_delete(const char *folder, const struct cache_clean *c, int64_t *files, int64_t *bytes, struct err *e);

#endif
