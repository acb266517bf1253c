/* A slot of a GPU: one runner process with a context of its own, asked over a socket.
 *
 * A small process, the spawner, forks the runners, because the process that uses slots has threads.
 * A runner that hangs, meets a sticky error or dies is killed and replaced: it costs one candidate.
 * Results come back through memory that both processes map; expected results never reach a runner. */
#ifndef VERIFY_GPU_GPU_SLOT_H
#define VERIFY_GPU_GPU_SLOT_H

#include <sys/types.h>

#include "verify/gpu/gpu_call.h"
#include "verify/gpu/kernel_compiler.h"
#include "verify/verdict/verdict.h"

enum { SLOT_SAMPLES = 16 };

/* How a question to a runner ended. */
enum slot_end {
	SLOT_OK,
	SLOT_FAULT,                 /* the candidate's kernels failed: answer.code, .text */
	SLOT_RED_ZONE,              /* they wrote outside of a tensor */
	SLOT_HANG,                  /* no answer in time; the runner was killed */
	SLOT_DIED,                  /* the runner died */
	SLOT_BROKE                  /* our own failure: answer.text */
};

struct slot_answer {
	uint32_t magic;
	int end;                    /* enum slot_end */
	int code;                   /* CUresult */
	char text[480];
	struct gpu_info info;
	int places;                 /* input sets that have memory on the device */
	int64_t result_bytes;       /* of one call */
	uint64_t digest;            /* of the results of the last run */
	struct timing_sample sample[SLOT_SAMPLES];
	int place[SLOT_SAMPLES];    /* the input set of each sample */
	int n;
	/* samples whose results differ from the ones that were checked; their bytes are in memory, one
	 * after another */
	int differing[SLOT_SAMPLES];
	int n_differing;
};

struct gpu_slot {
	const char *driver;         /* NULL: the system's */
	int ordinal;
	/* Python with PyTorch, which then is the runner, for plans with operators (torch_runner.py), and
	 * PyTorch's name of the device; NULL: our own runner */
	const char *python, *torch_device;
	int spawner;                /* socket to the spawner; -1: none */
	pid_t spawner_pid;
	int fd;                     /* socket to the runner; -1: none */
	pid_t pid;
	char *memory;               /* shared with the runner: results */
	size_t memory_n;
	int memory_fd;
	double seconds;             /* that one question may take */
	int fresh;                  /* the runner has not answered yet: its start takes longer */
	int64_t replaced;           /* runners that were lost */
};

/* The word that starts the program as a runner: main.c calls gpu_slot_runner with the arguments after
 * it, driver ("" for the system's) and number of the GPU. A runner is a new program, not only a fork,
 * because CUDA does not work in a fork of a process that uses CUDA itself, such as a trainer. */
#define GPU_SLOT_RUNNER "--gpu-runner"
_Noreturn void gpu_slot_runner(const char *driver, int ordinal);

/* Starts the spawner of runners of our own, or of runners with PyTorch on PyTorch's device `device`. Call
 * it before the process has threads. Returns 0 on success, -1 on failure (*e). */
int gpu_slot_open(struct gpu_slot *s, const char *driver, int ordinal, double seconds, struct err *e);
int gpu_slot_open_torch(struct gpu_slot *s, const char *python, const char *device, double seconds, struct err *e);
void gpu_slot_close(struct gpu_slot *s);
/* Describes the GPU. */
enum slot_end gpu_slot_info(struct gpu_slot *s, struct slot_answer *a);
/* Loads a plan with its kernels. `data_fd`: a safetensors file with inputs and weights. `kernels`:
 * those of the plan, one for each copy, two digests. */
enum slot_end gpu_slot_load(struct gpu_slot *s, struct str plan, const struct compiled_kernel *const *kernels,
			    int n_kernels, int data_fd, int sets, struct slot_answer *a);
/* Runs the plan in one place. The results are in s->memory. */
enum slot_end gpu_slot_run(struct gpu_slot *s, int place, struct slot_answer *a);
/* Times `trials` calls, at most SLOT_SAMPLES, over the places in turn, beginning with `first`. */
enum slot_end gpu_slot_time(struct gpu_slot *s, int first, int trials, struct slot_answer *a);
/* Counts one call by CUPTI at `cupti` (NULL: the usual places). out->why says why if nothing was counted. If
 * nothing is loaded, this only tries it: out->v is 0 for each counter that the GPU has. */
enum slot_end gpu_slot_count(struct gpu_slot *s, const char *cupti, struct verdict_counters *out,
			     struct slot_answer *a);
/* Frees what was loaded. */
enum slot_end gpu_slot_drop(struct gpu_slot *s, struct slot_answer *a);

#endif
