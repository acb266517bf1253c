# torch.nn.parallel: with one device, a parallel module is the module itself.


class DataParallel(torch.nn.Module):
    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module
        self.device_ids = [0] if device_ids is None else list(device_ids)
        self.dim = dim

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)


class DistributedDataParallel(torch.nn.Module):
    def __init__(self, module, *args, **kwargs):
        raise RuntimeError("Default process group has not been initialized, please make sure to call init_process_group.")


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*inputs, **({} if module_kwargs is None else module_kwargs))
