/* What every unit test includes: cmocka with the headers it wants, and the name of a test in
 * a list. */
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/str.h"

#define assert_contains(text, part) \
	do { \
		if (!strstr((text), (part))) \
			fail_msg("'%s' is not in '%s'", (part), (text)); \
	} while (0)

#endif
