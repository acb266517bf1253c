# triton.tools.tensor_descriptor.


class TensorDescriptor:
    def __init__(self, base, shape, strides, block_shape, padding="zero"):
        rank = len(shape)
        if len(strides) != rank or len(block_shape) != rank:
            raise AssertionError("rank mismatch")
        if strides[-1] != 1:
            raise AssertionError("Last dimension must be contiguous")
        self.base = base
        self.shape = shape
        self.strides = strides
        self.block_shape = block_shape
        self.padding = padding

    @staticmethod
    def from_tensor(tensor, block_shape, padding="zero"):
        return TensorDescriptor(tensor, tensor.shape, tensor.stride(), block_shape, padding)
