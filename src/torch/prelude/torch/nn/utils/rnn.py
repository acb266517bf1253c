# torch.nn.utils.rnn: sequences of different lengths in one tensor.


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    sequences = list(sequences)
    longest = max([s.size(0) for s in sequences])
    out = sequences[0].new_full((len(sequences), longest) + tuple(sequences[0].shape[1:]), padding_value)
    for i, s in enumerate(sequences):
        n = s.size(0)
        if padding_side == "right":
            out[i, :n] = s
        else:
            out[i, longest - n:] = s
    return out if batch_first else out.transpose(0, 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [s[:int(n)] for s, n in zip(padded_sequences, lengths)]


_Packed = collections.namedtuple("PackedSequence", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])


class PackedSequence(_Packed):
    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return _Packed.__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        return PackedSequence(self.data.to(*args, **kwargs), self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def cuda(self, *args, **kwargs):
        return self.to("cuda")

    def cpu(self, *args, **kwargs):
        return self.to("cpu")

    def float(self):
        return self.to(torch.float32)

    def double(self):
        return self.to(torch.float64)

    @property
    def is_cuda(self):
        return self.data.is_cuda


def invert_permutation(permutation):
    return None if permutation is None else torch.argsort(permutation)


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    lengths = torch.as_tensor(lengths, dtype=torch.int64, device="cpu")
    order = None
    if not enforce_sorted:
        lengths, order = torch.sort(lengths, descending=True)
        order = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    sizes = [int(n) for n in lengths]
    if len(sizes) != input.size(0 if batch_first else 1):
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} (batch_size={input.size(0 if batch_first else 1)})")
    if sizes and sizes[-1] <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if any([a < b for a, b in zip(sizes[:-1], sizes[1:])]):
        raise RuntimeError("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` "
                           "to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need ONNX exportability.")
    if batch_first:
        input = input.transpose(0, 1)
    counts = [len([n for n in sizes if n > t]) for t in range(sizes[0])]
    data = torch.cat([input[t, :n] for t, n in enumerate(counts)])
    return PackedSequence(data, torch.tensor(counts, dtype=torch.int64), order)


def _unpacked(packed, padding_value=0.0, total_length=None):
    """The padded tensor (T, B, ...) in the packed order, and the length of each sequence."""
    counts = packed.batch_sizes.tolist()
    steps = len(counts) if total_length is None else total_length
    out = packed.data.new_full((steps, counts[0]) + tuple(packed.data.shape[1:]), padding_value)
    at = 0
    for t, n in enumerate(counts):
        out[t, :n] = packed.data[at:at + n]
        at += n
    return out, [len([n for n in counts if n > b]) for b in range(counts[0])]


def _repacked(output, packed):
    """A tensor (T, B, ...) in the packed order, packed as `packed` is."""
    data = torch.cat([output[t, :n] for t, n in enumerate(packed.batch_sizes.tolist())])
    return PackedSequence(data, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    longest = sequence.batch_sizes.size(0)
    if total_length is not None and total_length < longest:
        raise ValueError("Expected total_length to be at least the length of the longest sequence in input, "
                         f"but got total_length={total_length} and max sequence length being {longest}")
    out, lengths = _unpacked(sequence, padding_value, total_length)
    lengths = torch.tensor(lengths, dtype=torch.int64)
    if sequence.unsorted_indices is not None:
        out = out.index_select(1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices.cpu()]
    return out.transpose(0, 1) if batch_first else out, lengths


def pack_sequence(sequences, enforce_sorted=True):
    lengths = torch.tensor([s.size(0) for s in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
