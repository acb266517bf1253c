# Methods of torch.Tensor that are composed of others. A method that is missing here and in the binding
# rows is the function of torch with the same name.


def renorm_(self, p, dim, maxnorm):
    return self.copy_(torch.renorm(self, p, dim, maxnorm))


real = property(lambda self: self)
H = property(lambda self: self.mT)


def resize_as_(self, the_template, *, memory_format=None):
    return self.resize_(the_template.shape)


def sum_to_size(self, *size):
    size = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    lead = self.dim() - len(size)
    out = self.sum(list(range(lead))) if lead else self
    for d, n in enumerate(size):
        out = out.sum(d, keepdim=True) if n == 1 and out.size(d) != 1 else out
    return out


def fill_diagonal_(self, fill_value, wrap=False):
    n = min(self.shape)
    index = torch.arange(n, device=self.device)
    self[(index,) * self.dim()] = fill_value
    return self


def swapaxes_(self, axis0, axis1):
    return self.transpose_(axis0, axis1)


def swapdims_(self, dim0, dim1):
    return self.transpose_(dim0, dim1)


def unsafe_chunk(self, chunks, dim=0):
    return self.chunk(chunks, dim)


def unsafe_split(self, split_size, dim=0):
    return self.split(split_size, dim)


def to_dense(self, dtype=None, *, masked_grad=True):
    return self


def new_empty_strided(self, size, stride, dtype=None, device=None):
    return torch.empty_strided(size, stride, dtype=dtype or self.dtype, device=device or self.device)


def is_pinned(self, device=None):
    return False


def is_shared(self):
    return False


def is_conj(self):
    return False


def map_(self, tensor, callable):
    values = [callable(a, b) for a, b in zip(self.flatten().tolist(), tensor.expand_as(self).flatten().tolist())]
    return self.copy_(torch.tensor(values, dtype=self.dtype, device=self.device).reshape(self.shape))


def apply_(self, callable):
    values = [callable(a) for a in self.flatten().tolist()]
    return self.copy_(torch.tensor(values, dtype=self.dtype, device=self.device).reshape(self.shape))


def register_hook(self, hook):
    return torch.nn._Handle([hook], hook)


def _scatter_reduce(self, dim, index, src, reduce, include_self):
    """scatter_reduce of a mean, or without the values that self has at the indices."""
    out = self.clone()
    if not include_self:
        least, most = (-math.inf, math.inf) if self.is_floating_point() else (torch.iinfo(self.dtype).min, torch.iinfo(self.dtype).max)
        out = out.scatter(dim, index, {"sum": 0, "mean": 0, "prod": 1, "amax": least, "amin": most}[reduce])
    if reduce != "mean":
        return out.scatter_reduce(dim, index, src, reduce)
    count = torch.ones_like(out) if include_self else torch.zeros_like(out)
    count = count.scatter_add(dim, index, torch.ones_like(src)).clamp(min=1)
    out = out.scatter_add(dim, index, src)
    return out / count if out.is_floating_point() else torch.div(out, count, rounding_mode="floor")
