/* One compiling process: started in a sandbox, asked over a socket. The protocol is at the head of
 * python/tritonrl/compile_worker.py. */
#ifndef VERIFY_GPU_COMPILE_PROCESS_H
#define VERIFY_GPU_COMPILE_PROCESS_H

#include <sys/types.h>

#include "verify/gpu/kernel_compiler.h"

struct compile_process {
	int fd;                     /* -1: not running */
	pid_t pid;
	char folder[64];            /* the only place where it may write; removed at the end */
};

/* The caller releases both buffers. */
struct compile_answer {
	int status;                 /* enum compiled_status */
	struct buf meta, code;
};

/* Starts the process and waits until it can compile. Returns 0 on success, -1 if it cannot be used
 * (*e says why). */
int compile_process_open(struct compile_process *p, const struct kernel_compiler_options *o, char *version, size_t n,
			 struct err *e);
/* Sends a request and waits for the answer, at most `seconds`. Returns 0, or -1 if the process must
 * be closed (*e). */
int compile_process_ask(struct compile_process *p, struct str request, double seconds, struct compile_answer *a,
			struct err *e);
/* Kills the process with its children. Harmless if it is not running. */
void compile_process_close(struct compile_process *p);

#endif
