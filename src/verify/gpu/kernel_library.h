/* Kernels of our own, in Triton's language, compiled like those of candidates: copies between views
 * and a digest of results. So the GPU judge needs no CUDA compiler and no code for one GPU. */
#ifndef VERIFY_GPU_KERNEL_LIBRARY_H
#define VERIFY_GPU_KERNEL_LIBRARY_H

#include "base/str.h"
#include "tensor/dtype.h"

/* Appends the request of a copy between views of up to five dimensions, with conversion. Its
 * parameters: both addresses, the number of elements, the last four sizes, five strides of each. */
void kernel_library_copy(enum dtype to, enum dtype from, struct buf *out);
/* Appends the request of the digest. Its parameters: address, address of a 64-bit sum, number of
 * elements, a seed. The sum does not depend on the order of its terms. */
void kernel_library_digest(enum dtype of, struct buf *out);

#endif
