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


class PackedSequence:
    def __init__(self, *args, **kwargs):
        raise NotImplementedError("torch.nn.utils.rnn.PackedSequence")


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    raise NotImplementedError("torch.nn.utils.rnn.pack_padded_sequence")


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    raise NotImplementedError("torch.nn.utils.rnn.pad_packed_sequence")


def pack_sequence(sequences, enforce_sorted=True):
    raise NotImplementedError("torch.nn.utils.rnn.pack_sequence")
