/* Where the wrong elements of a result lie, and what they have in common: the first things that a person
 * looks for. */
#ifndef VERIFY_VERDICT_PATTERN_H
#define VERIFY_VERDICT_PATTERN_H

#include "verify/verdict/compare.h"

/* One or two sentences about the elements that are out of tolerance; "" where nothing stands out. Same shapes. */
void pattern_text(const struct result *expected, const struct result *got, char *out, size_t n);

#endif
