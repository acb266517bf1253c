/* NCCL on a GPU: found, joined, and moves between a GPU's own buffers on the stream of the ops. More ranks want more GPUs
 * (tool/rank_steps.c under mpirun). Exit 77: there is no NCCL.
 *
 *   test_nccl [DEVICE] */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ops/ops.h"
#include "par/nccl.h"

enum { FLOATS = 1 << 20, ROUNDS = 20 };

static _Noreturn void die(const char *what)
{
	printf("test_nccl: %s\n", what);
	exit(1);
}

static int idle(void *d)
{
	return dev_idle(d);
}

/* What the stream holds before a move is there when it begins, what comes behind it sees its result. */
static void round_trip(struct nccl *n, struct dev *d, float *from, float *to, float *host)
{
	struct par_move v[] = { par_from(0, to, FLOATS * sizeof *to), par_to(0, from, FLOATS * sizeof *from) };
	struct err e = ERR_INIT;

	for (int r = 0; r < ROUNDS; r++) {
		for (int i = 0; i < FLOATS; i++)
			host[i] = (float)(i + r);
		dev_put(d, from, host, FLOATS * sizeof *host);
		dev_zero(d, to, FLOATS * sizeof *to);
		if (nccl_exchange(n, v, COUNT_OF(v), dev_stream(d), &e))
			die(e.text);
		ops_of(d)->add(d, to, from, FLOATS);
		if (par_wait(NULL, idle, d, &e) || dev_get(d, host, to, FLOATS * sizeof *host, &e))
			die(e.text);
		for (int i = 0; i < FLOATS; i++)
			if (host[i] != 2.0f * (float)(i + r))
				die("another number came back than was sent");
	}
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct dev *d = dev_open(argc > 1 ? argv[1] : "cuda", 1, &e);
	void *library = d ? dev_library("libnccl.so.2") : NULL;
	float *from, *to, *host = mem_array(FLOATS, sizeof *host);
	struct nccl *n;

	if (!d || !host)
		die(e.text);
	if (!library) {
		printf("test_nccl: libnccl.so.2 was not found: skipped\n");
		return 77;
	}
	if (nccl_open(&n, NULL, library, &e) || !n)
		die("NCCL does not start");
	from = dev_alloc(d, FLOATS * sizeof *from, &e);
	to = dev_alloc(d, FLOATS * sizeof *to, &e);
	if (!from || !to)
		die(e.text);
	round_trip(n, d, from, to, host);
	dev_free(d, from, FLOATS * sizeof *from);
	dev_free(d, to, FLOATS * sizeof *to);
	nccl_close(n);
	dev_close(d);
	mem_free(host);
	printf("test_nccl: %d moves of %d floats, all as sent\n", ROUNDS, FLOATS);
	return 0;
}
