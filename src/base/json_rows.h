/* Rows of a JSON file of any size, in constant memory: one array of objects, or JSON lines. Rows
 * of an array are cut out by their brackets and strings, others by their line; what is inside
 * one is json_parse's business. Files that gzip compressed are read as what they hold; of other
 * forms that data comes in, the error says how to make JSON lines of them. */
#ifndef BASE_JSON_ROWS_H
#define BASE_JSON_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct gzFile_s;

struct json_rows {
	int fd;
	struct gzFile_s *gz;          /* where the file is compressed; it owns fd then */
	struct buf buf;
	size_t at;                   /* in buf, of what has not been looked at */
	size_t most;                 /* bytes of a row */
	int64_t offset;              /* in the file, of buf's begin */
	int64_t number;              /* of the row last returned, from 1 */
	int64_t size;                /* of the file; 0: not known */
	int begun, array, ended, eof;
};

/* A row of more than `most` bytes is ERR_RANGE (0: 256 MiB). */
int json_rows_open(struct json_rows *r, const char *path, size_t most, struct err *e);
/* 1: a row's text (borrowed until the next call), 0: end, -1: error with its byte offset. */
int json_rows_next(struct json_rows *r, struct str *row, struct err *e);
void json_rows_close(struct json_rows *r);
/* Appends an object's text with null for the value of its member `key`: what nobody reads need
 * not be decoded. Text that is no object is appended as it is. */
void json_row_thin(struct str row, const char *key, struct buf *out);
static inline int64_t json_rows_offset(const struct json_rows *r) { return r->offset + (int64_t)r->at; }

#endif
