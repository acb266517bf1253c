/* Rows of a JSON file of any size, in constant memory: one array of objects, or JSON lines. Rows
 * of an array are cut out by their brackets and strings, others by their line; json_parse reads the
 * contents of a row. gzip files are decompressed. For Parquet and zstd the error says how to make
 * JSON lines of them. */
#ifndef BASE_JSON_ROWS_H
#define BASE_JSON_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct gzFile_s;

struct json_rows {
	int fd;
	struct gzFile_s *gz;          /* if the file is compressed; then it owns fd */
	struct buf buf;
	size_t at;                   /* position in buf of the first unread byte */
	size_t most;                 /* largest row, in bytes */
	int64_t offset;              /* position of buf in the file */
	int64_t number;              /* of the row last returned, from 1 */
	int64_t size;                /* of the file; 0: unknown */
	int begun, array, ended, eof;
};

/* A row of more than `most` bytes is ERR_RANGE (0: 256 MiB). */
int json_rows_open(struct json_rows *r, const char *path, size_t most, struct err *e);
/* Returns 1 with the text of a row (borrowed until the next call), 0 at the end, -1 on error (with the
 * byte offset). */
int json_rows_next(struct json_rows *r, struct str *row, struct err *e);
void json_rows_close(struct json_rows *r);
/* Appends the text of an object with null for the value of member `key`, so that large unused members
 * are not decoded. Text that is not an object is appended unchanged. */
void json_row_thin(struct str row, const char *key, struct buf *out);
static inline int64_t json_rows_offset(const struct json_rows *r) { return r->offset + (int64_t)r->at; }

#endif
