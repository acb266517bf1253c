# torch.nn: the inverse of max pooling.


class _MaxUnpool(Module):
    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding


class MaxUnpool1d(_MaxUnpool):
    def forward(self, input, indices, output_size=None):
        return functional.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(_MaxUnpool):
    def forward(self, input, indices, output_size=None):
        return functional.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(_MaxUnpool):
    def forward(self, input, indices, output_size=None):
        return functional.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)
