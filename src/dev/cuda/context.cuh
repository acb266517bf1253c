/* Declarations shared by the .cu files: the context of a GPU and its error codes.
 *
 * An error is one int: a cudaError_t as it is, a cublasStatus_t plus CUDA_FROM_BLAS, a
 * cudnnStatus_t plus CUDA_FROM_CUDNN, and our own plus CUDA_OWN. */
#ifndef DEV_CUDA_CONTEXT_CUH
#define DEV_CUDA_CONTEXT_CUH

#include <cuda_runtime.h>

#include "dev/cuda.h"

enum { CUDA_BIAS_BYTES = 1 << 19 };
enum { CUDA_FROM_BLAS = 100000, CUDA_FROM_CUDNN = 200000, CUDA_OWN = 300000 };
/* Our own errors: a shape that is not supported, a workspace that is too small, a file. */
enum { CUDA_OWN_SHAPE = CUDA_OWN + 1, CUDA_OWN_WORK, CUDA_OWN_FILE };

/* One GPU; owned by dev_cuda.c. */
struct cuda {
	int device;
	cudaStream_t stream;
	struct cuda_info info;
	/* of the matrix library, used on this stream only; space for a converted bias follows it */
	void *workspace;
	size_t workspace_bytes;
	struct cuda_blas *blas;    /* gemm.cu: NULL until first used */
	struct cuda_cudnn *cudnn;  /* attn_cudnn.cpp: NULL until first used */
	void (*blas_free)(struct cuda_blas *);
	void (*cudnn_free)(struct cuda_cudnn *);
};

#define CUDA_TRY(call) do { \
		int cuda_rc_ = (int)(call); \
		if (cuda_rc_) \
			return cuda_rc_; \
	} while (0)

/* The error of the last launch. */
static inline int cuda_launched(void) { return (int)cudaGetLastError(); }

#endif
