# torch.nn: Embedding and EmbeddingBag.


class Embedding(Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                 sparse=False, _weight=None, _freeze=False, device=None, dtype=None):
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        if padding_idx is not None:
            assert -num_embeddings <= padding_idx < num_embeddings, "Padding_idx must be within num_embeddings"
            padding_idx = padding_idx % num_embeddings
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if _weight is None:
            self.weight = Parameter(torch.empty((num_embeddings, embedding_dim), device=device, dtype=dtype), requires_grad=not _freeze)
            self.reset_parameters()
        else:
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, **kwargs):
        rows, cols = embeddings.shape
        return cls(rows, cols, padding_idx=padding_idx, _weight=embeddings, _freeze=freeze)

    def reset_parameters(self):
        _init.normal_(self.weight)
        if self.padding_idx is not None:
            with torch.no_grad():
                self.weight[self.padding_idx].fill_(0)

    def forward(self, input):
        return _F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type)


class EmbeddingBag(Module):
    def __init__(self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean",
                 sparse=False, _weight=None, include_last_offset=False, padding_idx=None, device=None, dtype=None):
        super().__init__()
        if max_norm is not None or _weight is not None or include_last_offset or padding_idx is not None:
            torch.library._missing("EmbeddingBag with a norm, a weight, a last offset or padding of its own")
        self.mode = mode
        self.weight = Parameter(torch.empty((num_embeddings, embedding_dim), device=device, dtype=dtype))
        _init.normal_(self.weight)

    def forward(self, input, offsets=None, per_sample_weights=None):
        if per_sample_weights is not None:
            torch.library._missing("EmbeddingBag with weights for each sample")
        if input.dim() == 2:
            rows = [_F.embedding(input, self.weight)]
        else:
            ends = offsets.tolist()[1:] + [input.size(0)]
            bags = []
            for start, end in zip(offsets.tolist(), ends):
                bags.append(self._reduce(_F.embedding(input[start:end], self.weight), 0))
            return torch.stack(bags)
        return self._reduce(rows[0], 1)

    def _reduce(self, x, dim):
        if self.mode == "sum":
            return x.sum(dim)
        return x.mean(dim) if self.mode == "mean" else x.amax(dim)
