/* Rows of any bytes: they are cut out in order, lie inside the file, and reading ends. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <stdio.h>
#include <unistd.h>

#include "base/json_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_rows r;
	struct err e = ERR_INIT;
	struct str row;
	char path[64];
	struct buf thin = BUF_INIT;
	size_t sum = 0;
	int fd = memfd_create("rows", 0), rc;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (json_rows_open(&r, path, 1 << 16, &e))
		abort();
	while ((rc = json_rows_next(&r, &row, &e)) > 0) {
		sum += row.n;
		buf_clear(&thin);
		json_row_thin(row, "a", &thin);
		BUG_ON(row.n == 0 || sum > size || (size_t)json_rows_offset(&r) > size);
	}
	BUG_ON((rc < 0) != (e.code != ERR_NONE));
	json_rows_close(&r);
	buf_release(&thin);
	close(fd);
	return 0;
}
