/* Command lines from anywhere, words separated by NUL; a first word '@' gives the rest as the
 * text of a configuration. Whatever is accepted is inside its ranges, and its resolved copy is
 * accepted again with the same result. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/opt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct args {
	int64_t n;
	double x;
	int flag;
	const char *s, *choice;
	struct opt_list list, words;
};

static const struct opt table[] = {
	OPT_INT(struct args, n, "n", -5, 5, 1, "a number"),
	OPT_REAL(struct args, x, "real-x", 0, 1, 0.5, "a real"),
	OPT_FLAG(struct args, flag, "flag", 1, "a flag"),
	OPT_STR(struct args, s, "string", "S", NULL, "a string"),
	OPT_CHOICE(struct args, choice, "choice", "a|bc", "a", "a choice"),
	OPT_LIST(struct args, list, "list", "X", 1, "a list"),
	OPT_LIST(struct args, words, "words", "X", 0, "a list of whole words"),
	OPT_END
};

static const char *config_file(struct str text)
{
	static char path[64];

	snprintf(path, sizeof path, "/tmp/fuzz_opt.%ld", (long)getpid());
	return file_replace(path, text, NULL) ? "/nonexistent" : path;
}

static void check(const struct args *a, const struct opt_parsed *p)
{
	char *argv[] = { "--config", (char *)config_file(buf_str(&p->resolved)) };
	struct err e = ERR_INIT;
	struct opt_parsed q;
	struct args b;

	BUG_ON(a->n < -5 || a->n > 5 || !(a->x >= 0 && a->x <= 1) || (a->flag != 0 && a->flag != 1));
	BUG_ON(strcmp(a->choice, "a") && strcmp(a->choice, "bc"));
	if (opt_parse(table, &b, 2, argv, &q, &e)) {
		/* The file holds characters, an argument may hold any bytes. */
		BUG_ON(!strstr(e.text, "YAML"));
		return;
	}
	BUG_ON(!str_eq(buf_str(&p->resolved), buf_str(&q.resolved)));
	opt_release(&q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = mem_strndup((const char *)data, n), *argv[64];
	struct err e = ERR_INIT;
	struct opt_parsed p;
	struct args a;
	int argc = 0;

	if (n > 1 && text[0] == '@') {
		argv[argc++] = "--config";
		argv[argc++] = (char *)config_file((struct str){ .p = text + 1, .n = n - 1 });
	} else {
		for (size_t at = 0; at < n && argc < 64; at += strlen(text + at) + 1)
			argv[argc++] = text + at;
	}
	if (opt_parse(table, &a, argc, argv, &p, &e)) {
		BUG_ON(e.code == ERR_NONE);
	} else {
		check(&a, &p);
		opt_release(&p);
	}
	mem_free(text);
	return 0;
}
