/* Protocol buffers: see proto.h. Nothing here knows a message; its writer knows the field numbers. */
#include "base/proto.h"

enum wire { WIRE_VARINT = 0, WIRE_EIGHT = 1, WIRE_BYTES = 2, WIRE_FOUR = 5 };

void proto_varint(struct buf *out, uint64_t v)
{
	for (; v >= 128; v >>= 7)
		buf_addc(out, (char)(v | 128));
	buf_addc(out, (char)v);
}

/* The tag before a value: the field's number and the form of the value. */
static void add_tag(struct buf *out, int field, enum wire wire)
{
	proto_varint(out, (uint64_t)field << 3 | (uint64_t)wire);
}

void proto_int(struct buf *out, int field, int64_t v)
{
	add_tag(out, field, WIRE_VARINT);
	proto_varint(out, (uint64_t)v);
}

void proto_bytes(struct buf *out, int field, struct str s)
{
	add_tag(out, field, WIRE_BYTES);
	proto_varint(out, s.n);
	buf_addstr(out, s);
}

void proto_double(struct buf *out, int field, double v)
{
	add_tag(out, field, WIRE_EIGHT);
	buf_add(out, &v, sizeof v);
}

void proto_float(struct buf *out, int field, float v)
{
	add_tag(out, field, WIRE_FOUR);
	buf_add(out, &v, sizeof v);
}
