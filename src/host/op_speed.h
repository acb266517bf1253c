/* The time that an operator of PyTorch takes on a GPU, called eagerly, estimated. See
 * doc/speed.md. */
#ifndef HOST_OP_SPEED_H
#define HOST_OP_SPEED_H

#include "interp/program.h"
#include "tile/estimate/gpu.h"

struct op_speed {
	double seconds;
	int launches;               /* of kernels; 0: it does nothing on the GPU */
};

/* `tf32`: enum num_products computed in tf32, in addition to those that the call itself names. */
struct op_speed op_speed(const struct host_op_call *c, const struct tile_gpu *g, unsigned tf32);

#endif
