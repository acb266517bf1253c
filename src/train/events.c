/* TensorBoard event files, written by hand: records of a length, a checksum, a protocol buffer and
 * another checksum. events.h is the manual. */
#include "train/events.h"

#include "base/log.h"
#include "base/proto.h"

/* CRC-32C (Castagnoli), bit by bit: records are short. */
static uint32_t crc32c(const void *data, size_t n)
{
	const unsigned char *p = data;
	uint32_t crc = ~0u;

	while (n--) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	return ~crc;
}

/* The checksum as TensorFlow's record format masks it: rotated by 15 bits, plus a constant. */
static uint32_t masked(const void *data, size_t n)
{
	uint32_t crc = crc32c(data, n);

	return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* One record: length, masked checksum of the length, the event, masked checksum of the event. */
static void add_record(struct buf *out, struct str event)
{
	uint64_t n = event.n;
	uint32_t crc = masked(&n, sizeof n);

	buf_add(out, &n, sizeof n);
	buf_add(out, &crc, sizeof crc);
	buf_addstr(out, event);
	crc = masked(event.p, event.n);
	buf_add(out, &crc, sizeof crc);
}

/* Field 1 of an event: wall time in seconds. */
static void add_time(struct buf *event)
{
	proto_double(event, 1, (double)clock_wall_us() / 1e6);
}

void events_header(struct buf *out)
{
	struct buf event = BUF_INIT;

	add_time(&event);
	proto_bytes(&event, 3, STR("brain.Event:2"));
	add_record(out, buf_str(&event));
	buf_release(&event);
}

void events_scalar(struct buf *out, const char *tag, int64_t step, double value)
{
	struct buf event = BUF_INIT, summary = BUF_INIT, item = BUF_INIT;

	proto_bytes(&item, 1, str_of(tag));
	proto_float(&item, 2, (float)value);
	proto_bytes(&summary, 1, buf_str(&item));
	add_time(&event);
	proto_int(&event, 2, step);
	proto_bytes(&event, 5, buf_str(&summary));
	add_record(out, buf_str(&event));
	buf_release(&item);
	buf_release(&summary);
	buf_release(&event);
}
