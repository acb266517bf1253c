/* Describes what the wrong elements of a result have in common: the indices where they lie, and a
 * relation of their values to the expected ones. A person who debugs a kernel looks for this
 * first. */
#ifndef VERIFY_VERDICT_PATTERN_H
#define VERIFY_VERDICT_PATTERN_H

#include "verify/verdict/compare.h"

/* Writes a description of the elements that are out of tolerance; "" if nothing stands out.
 * Example: "all from index 96 on of dimension 1 (of 128); all of them are 0, as if nothing had been
 * stored there". The shapes must be equal. */
void pattern_text(const struct result *expected, const struct result *got, char *out, size_t n);

#endif
