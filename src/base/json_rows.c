/* Rows of a large JSON file: see json_rows.h. The buffer holds the row that is being cut out and
 * the bytes read after it. Invariant: buf[0, at) has been handed out or skipped. Memory is bounded
 * by the longest row, not by the file. */
#include "base/json_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <zlib.h>

#include "base/sys.h"

enum { ROW_MOST = 256 << 20, PIECE = 1 << 18 };

/* Recognises the file by its first bytes: gzip is read directly; for Parquet and zstd the error
 * names the command that converts them. pread fails on a pipe, which is taken as text. */
static int look_at_form(struct json_rows *r, const char *path, struct err *e)
{
	char b[4] = { 0 };
	ssize_t n = pread(r->fd, b, sizeof b, 0);

	if (n == 4 && !memcmp(b, "PAR1", 4))
		return err_set(e, ERR_FORMAT,
			       "'%s' is a Parquet file. To make JSON lines of it: python3 -c \"import pandas; "
			       "pandas.read_parquet('%s').to_json('rows.jsonl', orient='records', lines=True)\"",
			       path, path);
	if (n == 4 && !memcmp(b, "\x28\xb5\x2f\xfd", 4))
		return err_set(e, ERR_FORMAT, "'%s' was compressed by zstd. To unpack it: zstd -d '%s'", path, path);
	if (n < 2 || memcmp(b, "\x1f\x8b", 2))
		return 0;
	r->size = 0;
	r->gz = gzdopen(r->fd, "rb");
	return r->gz ? 0 : err_nomem(e);
}

/* The size is for progress only; a pipe and a compressed file report 0. */
int json_rows_open(struct json_rows *r, const char *path, size_t most, struct err *e)
{
	struct stat st;

	*r = (struct json_rows){ .fd = sys.open(path, O_RDONLY | O_CLOEXEC, 0), .most = most ? most : ROW_MOST };
	if (r->fd < 0)
		return err_errno(e, "cannot open '%s'", path);
	st.st_mode = 0;
	r->size = sys.fstat(r->fd, &st) ? 0 : (int64_t)st.st_size;
	if (S_ISDIR(st.st_mode) ? err_set(e, ERR_IO, "cannot read '%s': it is a folder; name a file in it", path) :
	    look_at_form(r, path, e)) {
		json_rows_close(r);
		return -1;
	}
	return 0;
}

/* gzclose_r closes the descriptor too. */
void json_rows_close(struct json_rows *r)
{
	if (r->gz)
		gzclose_r(r->gz);
	else if (r->fd >= 0)
		sys.close(r->fd);
	r->gz = NULL;
	buf_release(&r->buf);
	r->fd = -1;
}

/* Reads up to PIECE bytes, decompressed if needed. *k is 0 at the end of the file. */
static int read_piece(struct json_rows *r, ssize_t *k, struct err *e)
{
	int code;

	if (r->gz) {
		*k = gzread(r->gz, r->buf.p + r->buf.n, PIECE);
		/* gzread reports a truncated file as its end; only gzerror tells the difference. */
		if (*k <= 0 && (gzerror(r->gz, &code), code != Z_OK && code != Z_STREAM_END))
			return err_set(e, ERR_FORMAT, "the compressed file is damaged or ends too early");
		return 0;
	}
	do
		*k = sys.read(r->fd, r->buf.p + r->buf.n, PIECE);
	while (*k < 0 && errno == EINTR);
	return *k < 0 ? err_errno(e, "read") : 0;
}

/* Reads more after the bytes in the buffer. Returns 1, 0 at the end of the file, or -1 on error.
 * Used bytes are dropped in large steps, so that the move is rare. */
static int fill(struct json_rows *r, struct err *e)
{
	ssize_t k;

	if (r->eof)
		return 0;
	if (r->at > PIECE) {
		memmove(r->buf.p, r->buf.p + r->at, r->buf.n - r->at);
		r->buf.n -= r->at;
		r->offset += (int64_t)r->at;
		r->at = 0;
	}
	if (buf_reserve(&r->buf, PIECE))
		return err_nomem(e);
	if (read_piece(r, &k, e))
		return -1;
	r->eof = k == 0;
	r->buf.n += (size_t)k;
	return k > 0;
}

/* Finds the next character that is not white space, without consuming it. Returns 1, 0 at the end
 * of the file, or -1 on error. */
static int peek(struct json_rows *r, char *c, struct err *e)
{
	for (;;) {
		int rc;

		while (r->at < r->buf.n && strchr(" \t\r\n", r->buf.p[r->at]) && r->buf.p[r->at])
			r->at++;
		if (r->at < r->buf.n) {
			*c = r->buf.p[r->at];
			return 1;
		}
		rc = fill(r, e);

		if (rc <= 0)
			return rc;
	}
}

/* Files of gigabytes have no useful line numbers, so errors name the byte. */
static int wrong(const struct json_rows *r, const char *what, struct err *e)
{
	return err_set(e, ERR_FORMAT, "byte %lld: %s", (long long)json_rows_offset(r), what);
}

/* Skips a byte order mark and decides between an array of rows and JSON lines. */
static int begin(struct json_rows *r, struct err *e)
{
	char c;
	int rc = peek(r, &c, e);

	r->begun = 1;
	if (rc > 0 && c == '\xef') {                 /* a byte order mark */
		while (r->buf.n - r->at < 3 && (rc = fill(r, e)) > 0)
			;
		if (rc >= 0 && r->buf.n - r->at >= 3 && !memcmp(r->buf.p + r->at, "\xef\xbb\xbf", 3))
			r->at += 3;
		rc = rc < 0 ? rc : peek(r, &c, e);
	}
	if (rc > 0 && c == '[') {
		r->array = 1;
		r->at++;
	}
	return rc < 0 ? -1 : 0;
}

/* The state of scan between two pieces of the file. */
struct extent {
	size_t n;                    /* bytes looked at */
	int depth, in_string, escaped;   /* open brackets; inside quotes; after a backslash */
};

/* Scans further for the end of the row, counting brackets outside strings. Returns 1 when the row
 * is complete, with its length in x->n, or 0 if more bytes are needed. No byte is looked at
 * twice. */
static int scan(const char *p, size_t n, struct extent *x)
{
	size_t i = x->n;

	for (; i < n; i++) {
		char c = p[i];

		if (x->escaped) {
			x->escaped = 0;
		} else if (x->in_string) {
			while (i < n && (c = p[i]) != '"' && c != '\\')
				i++;
			if (i == n)
				break;
			x->in_string = c != '"';
			x->escaped = c == '\\';
		} else if (c == '"') {
			x->in_string = 1;
		} else if (c == '{' || c == '[') {
			x->depth++;
		} else if ((c == '}' || c == ']') && --x->depth == 0) {
			x->n = i + 1;
			return 1;
		}
	}
	x->n = i;
	return 0;
}

/* Cuts the next row out of an array. Returns 1, or -1 on error. */
static int cut(struct json_rows *r, struct str *row, struct err *e)
{
	struct extent x = { .n = 0 };

	while (!scan(r->buf.p + r->at, r->buf.n - r->at, &x)) {
		int rc;

		if (x.n > r->most)
			return err_set(e, ERR_RANGE, "byte %lld: a row of more than %zu bytes",
				       (long long)json_rows_offset(r), r->most);
		rc = fill(r, e);
		if (rc <= 0)
			return rc ? -1 : wrong(r, "the file ends inside this row", e);
	}
	*row = (struct str){ .p = r->buf.p + r->at, .n = x.n };
	r->at += x.n;
	r->number++;
	return 1;
}

/* Takes a line with any contents. A line that is not JSON is an error of that row only, not of the
 * file. */
static int cut_line(struct json_rows *r, struct str *row, struct err *e)
{
	size_t n = 0;
	char c;
	int rc = peek(r, &c, e);

	if (rc <= 0)
		return rc;
	for (;;) {
		const char *from = r->buf.p + r->at + n;
		const char *nl = memchr(from, '\n', r->buf.n - r->at - n);

		n = nl ? (size_t)(nl - (r->buf.p + r->at)) : r->buf.n - r->at;
		if (n > r->most)
			return err_set(e, ERR_RANGE, "byte %lld: a row of more than %zu bytes",
				       (long long)json_rows_offset(r), r->most);
		if (nl || (rc = fill(r, e)) == 0)
			break;
		if (rc < 0)
			return -1;
	}
	*row = (struct str){ .p = r->buf.p + r->at, .n = n };
	while (row->n > 1 && strchr(" \t\r", row->p[row->n - 1]) && row->p[row->n - 1])
		row->n--;
	r->at += n;
	r->number++;
	return 1;
}

/* Consumes the separator between rows of an array. Returns 1 if a row follows, 0 at the end of the
 * array, -1 on error. */
static int between(struct json_rows *r, struct err *e)
{
	char c;
	int rc = peek(r, &c, e);

	if (rc <= 0)
		return rc < 0 ? -1 : wrong(r, "the file ends inside its array", e);
	if (c == ']') {
		r->at++;
		r->ended = 1;
		rc = peek(r, &c, e);
		return rc > 0 ? wrong(r, "text behind the array", e) : rc;
	}
	if (r->number) {
		if (c != ',')
			return wrong(r, "expected ',' or ']' between rows", e);
		r->at++;
		rc = peek(r, &c, e);
		if (rc <= 0)
			return rc ? -1 : wrong(r, "the file ends inside its array", e);
	}
	return c == '{' ? 1 : wrong(r, "expected a row: '{'", e);
}

/* The first call decides the form of the file. */
int json_rows_next(struct json_rows *r, struct str *row, struct err *e)
{
	int rc;

	if (!r->begun && begin(r, e))
		return -1;
	if (r->ended)
		return 0;
	if (!r->array)
		return cut_line(r, row, e);
	rc = between(r, e);
	return rc > 0 ? cut(r, row, e) : rc;
}

/* --- a member left out ---------------------------------------------------------------------------- */

static size_t skip_space(struct str s, size_t i)
{
	while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\t' || s.p[i] == '\r' || s.p[i] == '\n'))
		i++;
	return i;
}

/* Returns the position after the value that begins at `i`, or s.n if the value does not end. */
static size_t skip_value(struct str s, size_t i)
{
	struct extent x = { .n = 0 };

	if (i < s.n && (s.p[i] == '{' || s.p[i] == '['))
		return scan(s.p + i, s.n - i, &x) ? i + x.n : s.n;
	if (i == s.n || s.p[i] != '"') {
		while (i < s.n && s.p[i] != ',' && s.p[i] != '}' && s.p[i] != ']')
			i++;
		return i;
	}
	for (i++; i < s.n; i++) {
		const char *q = memchr(s.p + i, '"', s.n - i);
		size_t end = q ? (size_t)(q - s.p) : s.n, slashes = 0;

		while (end - slashes > i && s.p[end - slashes - 1] == '\\')
			slashes++;
		i = end;
		if (q && slashes % 2 == 0)
			return end + 1;
	}
	return s.n;
}

/* Copies the row with the value of `key` replaced by null, without parsing: KernelBook's rows hold
 * large members that nothing reads. */
void json_row_thin(struct str row, const char *key, struct buf *out)
{
	size_t from = 0, i = skip_space(row, 0), n = strlen(key);

	for (i++; i < row.n; i++) {
		size_t name = skip_space(row, i), colon = skip_space(row, skip_value(row, name)), value, end;

		if (colon >= row.n || row.p[name] != '"' || row.p[colon] != ':')
			break;                       /* not an object; the parser will say why */
		value = skip_space(row, colon + 1);
		end = skip_value(row, value);
		if (name + n + 2 <= row.n && !memcmp(row.p + name + 1, key, n) && row.p[name + 1 + n] == '"') {
			buf_add(out, row.p + from, value - from);
			buf_adds(out, "null");
			from = end;
		}
		i = skip_space(row, end);
		if (i >= row.n || row.p[i] != ',')
			break;
	}
	buf_add(out, row.p + from, row.n - from);
}
