# torch.onnx: a program is run, never exported.


def is_in_onnx_export():
    return False


def shape_as_tensor(x):
    return torch.tensor(list(x.shape), dtype=torch.int64)


def reshape_from_tensor_shape(x, shape):
    return x.reshape([int(n) for n in shape])
