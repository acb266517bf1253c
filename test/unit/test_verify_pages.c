/* Text that is moved to pages of the process's own lies where it lay, and nothing else does. */
#include "check.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "verify/pages.h"

/* Bytes that are mapped with these rights. */
static size_t mapped(const char *rights)
{
	static char text[1 << 18];
	size_t n = 0, sum = 0;
	ssize_t got;
	int fd = open("/proc/self/maps", O_RDONLY);

	assert_true(fd >= 0);
	while ((got = read(fd, text + n, sizeof text - 1 - n)) > 0)
		n += (size_t)got;
	close(fd);
	text[n] = 0;
	for (char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		unsigned long start, end;
		char is[8];

		assert_int_equal(sscanf(line, "%lx-%lx %7s", &start, &end, is), 3);
		sum += strcmp(is, rights) ? 0 : end - start;
	}
	return sum;
}

static void text_stays_where_it_was(void **state)
{
	size_t text = mapped("r-xp"), constants = mapped("r--p");
	volatile double x = 2.0;
	double before = exp(x);

	(void)state;
	pages_move_text();
	assert_int_equal(mapped("r-xp"), text);
	assert_int_equal(mapped("r--p"), constants);
	assert_true(exp(x) == before);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(text_stays_where_it_was) };

	return cmocka_run_group_tests_name("pages", tests, NULL, NULL);
}
