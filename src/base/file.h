/* Files: whole reads, maps, atomic replacement, folders.
 *
 * Writing is all or nothing: the bytes go to a temporary file in the same folder, are synced,
 * and are renamed over it; then the folder is synced. A failed fsync means the data is lost
 * and is reported, never retried. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* Appends the whole file to `out`; more than `limit` bytes (0: none) is ERR_RANGE. */
int file_read(const char *path, size_t limit, struct buf *out, struct err *e);
int file_replace(const char *path, struct str data, struct err *e);
/* Adds `data` at the end with one write; with `sync` it is on disk when this returns. */
int file_append(const char *path, struct str data, int sync, struct err *e);
/* Removes a last line without newline, which a killed writer may have left. */
int file_cut_line(const char *path, struct err *e);
int file_exists(const char *path);
int file_is_dir(const char *path);
int64_t file_size(const char *path, struct err *e);   /* -1 on error */
int file_mkdirs(const char *path, struct err *e);     /* like mkdir -p */
int file_mkdirs_for(const char *path, struct err *e); /* the folder of a file */
/* Tells before long work whether its output can be written: makes the folder of the file and tries to open
 * the file. A new file is removed again, an existing one keeps its contents. */
int file_check_output(const char *path, struct err *e);
int file_remove_tree(const char *path, struct err *e);
/* Removes temporary files of file_out below a folder whose processes on this machine have ended. */
int file_sweep(const char *dir, struct err *e);
int file_sync_dir(const char *path, struct err *e);
int file_write_all(int fd, const void *p, size_t n, struct err *e);
/* Closes all descriptors from 3 on but these two; -1 names none. For a process that was forked. */
void file_close_others(int a, int b);
int file_read_all(int fd, void *p, size_t n, struct err *e);   /* short: ERR_FORMAT */

/* A file written piece by piece that appears under its name only when committed: the pieces
 * go to a temporary file in the same folder. Exactly one of commit and abort ends an open one; a
 * failed commit has already cleaned up. */
struct file_out {
	char *path, *tmp;
	int fd;
};
int file_out_open(struct file_out *o, const char *path, struct err *e);
int file_out_write(struct file_out *o, const void *p, size_t n, struct err *e);
int file_out_commit(struct file_out *o, struct err *e);   /* sync, rename, sync the folder */
void file_out_abort(struct file_out *o);

/* Read-only map of a whole file. */
struct file_map {
	const char *p;
	size_t n;
};
int file_map_open(struct file_map *m, const char *path, struct err *e);
void file_map_close(struct file_map *m);
/* Digest and length of a file. */
int file_sha256(const char *path, char hex[65], int64_t *bytes, struct err *e);
/* A copy under another name, there whole or not at all. */
int file_copy(const char *from, const char *to, struct err *e);

/* Sorted names in a folder, without "." and "..". */
struct file_list {
	char **v;
	size_t n, cap;
};
int file_list_open(struct file_list *l, const char *dir, struct err *e);
void file_list_close(struct file_list *l);

/* "dir/name" into `out` (cleared first). */
const char *path_join(struct buf *out, const char *dir, const char *name);
struct str path_base(const char *path);               /* after the last '/' */

/* Lines of a stream of any size in constant memory: JSONL and the like. */
struct line_reader {
	int fd;
	struct buf buf;
	size_t at;
	int64_t number;              /* of the line last returned, from 1 */
	int64_t offset;              /* in the file, of the start of the next line */
	int eof;
};
int lines_open(struct line_reader *r, const char *path, struct err *e);   /* "-": stdin */
/* Returns 1 with a line (borrowed until the next call, without its newline and without the byte order mark of
 * the file), 0 at the end, -1 on error. */
int lines_next(struct line_reader *r, struct str *line, struct err *e);
int lines_ready(const struct line_reader *r);     /* the next call has its line without reading */
void lines_close(struct line_reader *r);

#endif
