# torch.utils.data: base classes that programs derive from; nothing loads data here.


class Dataset:
    def __getitem__(self, index):
        raise NotImplementedError

    @classmethod
    def __class_getitem__(cls, item):
        return cls


class IterableDataset(Dataset):
    pass


class TensorDataset(Dataset):
    def __init__(self, *tensors):
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple([t[index] for t in self.tensors])

    def __len__(self):
        return self.tensors[0].size(0)


class Sampler:
    pass


class DataLoader:
    def __init__(self, *args, **kwargs):
        raise NotImplementedError("torch.utils.data.DataLoader")
