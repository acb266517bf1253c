/* The element types: one enum, for C and for CUDA. */
#ifndef TENSOR_DTYPE_H
#define TENSOR_DTYPE_H

enum dtype {
#define DTYPE(id, torch, triton, st, bytes, class) DT_##id,
#include "tensor/dtype.def"
#undef DTYPE
	DTYPES
};

#endif
