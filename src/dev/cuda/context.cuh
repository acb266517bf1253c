/* What the .cu files share: the context of a GPU and its error codes.
 *
 * Errors are one int: a cudaError_t as it is, a cublasStatus_t behind CUDA_FROM_BLAS, a cudnnStatus_t
 * behind CUDA_FROM_CUDNN, and our own behind CUDA_OWN. */
#ifndef DEV_CUDA_CONTEXT_CUH
#define DEV_CUDA_CONTEXT_CUH

#include <cuda_runtime.h>

#include "dev/cuda.h"

enum { CUDA_BIAS_BYTES = 1 << 19 };
enum { CUDA_FROM_BLAS = 100000, CUDA_FROM_CUDNN = 200000, CUDA_OWN = 300000 };
/* shape not supported; work too small; a file */
enum { CUDA_OWN_SHAPE = CUDA_OWN + 1, CUDA_OWN_WORK, CUDA_OWN_FILE };

struct cuda {
	int device;
	cudaStream_t stream;
	struct cuda_info info;
	void *workspace;           /* of the matrix library, for this stream alone; a bias is cast behind it */
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

/* The error of the launch before. */
static inline int cuda_launched(void) { return (int)cudaGetLastError(); }

#endif
