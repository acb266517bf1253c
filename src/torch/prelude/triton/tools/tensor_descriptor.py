# triton.tools.tensor_descriptor: TensorDescriptor with Triton's checks.


class TensorDescriptor:
    def __init__(self, base, shape, strides, block_shape, padding="zero"):
        rank = len(shape)
        if len(strides) != rank or len(block_shape) != rank:
            raise AssertionError("rank mismatch")
        if strides[-1] != 1:
            raise AssertionError("Last dimension must be contiguous")
        if not 0 < rank <= 5 or min(shape) <= 0 or padding not in ("zero", "nan") or (padding == "nan" and not base.dtype.is_floating_point):
            raise AssertionError("rank from 1 to 5, positive sizes, a padding that there is")
        if any([s * base.dtype.itemsize % 16 for s in strides[:-1]]):
            raise AssertionError("strides must be 16-byte aligned")
        self.base = base
        self.shape = shape
        self.strides = strides
        self.block_shape = block_shape
        self.padding = padding

    @staticmethod
    def from_tensor(tensor, block_shape, padding="zero"):
        return TensorDescriptor(tensor, tensor.shape, tensor.stride(), block_shape, padding)
