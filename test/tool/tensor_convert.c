/* tensor_convert FROM TO: raw elements of torch dtype FROM on stdin, of TO on stdout.
 * For test/agree/agree_tensor.py. */
#include <stdio.h>
#include <stdlib.h>

#include "tensor/tensor.h"

int main(int argc, char **argv)
{
	int from = argc == 3 ? dtype_by_torch(str_of(argv[1])) : -1;
	int to = argc == 3 ? dtype_by_torch(str_of(argv[2])) : -1;
	size_t cap = 1u << 26, n, got;
	char *in = malloc(cap), *out = malloc(cap * 8);

	if (from < 0 || to < 0 || !in || !out) {
		fprintf(stderr, "usage: tensor_convert FROM TO\n");
		return 2;
	}
	got = fread(in, 1, cap, stdin);
	n = got / (size_t)dtype_size((enum dtype)from);
	dtype_convert((enum dtype)to, out, (enum dtype)from, in, n);
	fwrite(out, (size_t)dtype_size((enum dtype)to), n, stdout);
	free(in);
	free(out);
	return 0;
}
