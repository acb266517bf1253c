/* replace_loop FILE: replaces FILE for ever by contents that can be recognised as whole: a number
 * and as many letters. Killed by test/soak/replace.sh, which looks at what is left. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct buf b = BUF_INIT;

	if (argc != 2)
		return 2;
	for (unsigned i = 0;; i++) {
		size_t n = (i * 7919u) % 200000;

		buf_clear(&b);
		buf_addf(&b, "%zu\n", n);
		buf_pad(&b, (char)('a' + i % 26), n);
		if (buf_check(&b, &e) || file_replace(argv[1], buf_str(&b), &e)) {
			fprintf(stderr, "replace_loop: %s\n", e.text);
			return 1;
		}
	}
}
