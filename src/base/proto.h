/* Writes protocol buffers (protobuf) by hand: the fields of a message go into a buffer one after the
 * other, and a message inside a message is a field of bytes. */
#ifndef BASE_PROTO_H
#define BASE_PROTO_H

#include <stdint.h>

#include "base/str.h"

/* A variable-length integer: seven bits a byte, the lowest first. 300 is written as AC 02. */
void proto_varint(struct buf *out, uint64_t v);
/* Fields by their wire type: 0 a variable-length integer, 2 bytes behind their length, 1 and 5 the
 * eight or four bytes of the number. */
void proto_int(struct buf *out, int field, int64_t v);
void proto_bytes(struct buf *out, int field, struct str s);
void proto_double(struct buf *out, int field, double v);
void proto_float(struct buf *out, int field, float v);

#endif
