/* Text of values: repr, format specifications, the % operator. Texts are appended to buffers. */
#ifndef INTERP_VAL_TEXT_H
#define INTERP_VAL_TEXT_H

#include "interp/state.h"

void float_repr(double f, struct buf *out);
int host_format(struct host *h, struct val v, struct str spec, struct buf *out);
int host_percent(struct host *h, struct str fmt, struct val args, struct val *out);
int host_str_format(struct host *h, struct str fmt, const struct val *args, size_t n, struct val kw, struct val *out);
int text_room(struct host *h, const struct buf *b);     /* -1: larger than the memory limit */
void str_repr(struct str s, struct buf *out);
size_t utf8_count(struct str s);
size_t utf8_offset(struct str s, size_t chars);
int utf8_is_text(struct str s);

#endif
