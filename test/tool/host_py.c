/* host_py FILE: runs a Python file in the host engine and prints what it printed; a failure
 * goes to stderr as "line:col: reason: text". For the language tests. */
#include <stdio.h>

#include "base/file.h"
#include "host/host.h"

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct buf src = BUF_INIT;
	struct py_module m;
	struct host_options o = { .may_vary = 1 };     /* of what it prints nothing goes on elsewhere */
	struct val ns;
	const struct diag *d;
	int rc;
	struct host *h;
	struct str out;

	if (argc < 2 || file_read(argv[1], 0, &src, &e) || py_parse(&m, buf_str(&src), argv[1], 0, &e)) {
		fprintf(stderr, "%d:%d: %s\n", e.line, e.column, e.text);
		return 2;
	}
	h = host_new(&o, &e);
	if (!h) {
		fprintf(stderr, "%s\n", e.text);
		return 2;
	}
	rc = host_load(h, &m, NULL, 0, &ns, &e);
	out = host_printed(h);
	fwrite(out.p, 1, out.n, stdout);
	d = host_diag(h);
	if (rc)
		fprintf(stderr, "%d:%d: %s: %s\n", d->line, d->col, rc < 0 ? "error" : reason_code(d->reason), rc < 0 ? e.text : d->text);
	host_free(h);
	py_release(&m);
	buf_release(&src);
	return rc ? 1 : 0;
}
