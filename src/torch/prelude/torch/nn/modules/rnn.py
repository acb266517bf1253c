# torch.nn: recurrent layers. The part of each gate that depends on the input is one product over all
# time steps; the loop over time adds the part that depends on the state.


class RNNBase(Module):
    def __init__(self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, proj_size=0, device=None, dtype=None):
        super().__init__()
        if not isinstance(hidden_size, int) or not isinstance(input_size, int):
            raise TypeError("input_size and hidden_size should be of type int")
        if hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if not 0 <= dropout <= 1:
            raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being zeroed")
        if proj_size < 0 or proj_size >= hidden_size:
            raise ValueError("proj_size has to be a positive integer, smaller than hidden_size")
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        directions = 2 if bidirectional else 1
        gates = {"LSTM": 4, "GRU": 3}.get(mode, 1) * hidden_size
        out = proj_size if proj_size > 0 else hidden_size
        for layer in range(num_layers):
            for direction in range(directions):
                width = input_size if layer == 0 else out * directions
                suffix = f"_l{layer}" + ("_reverse" if direction else "")
                setattr(self, "weight_ih" + suffix, Parameter(torch.empty((gates, width), device=device, dtype=dtype)))
                setattr(self, "weight_hh" + suffix, Parameter(torch.empty((gates, out), device=device, dtype=dtype)))
                if bias:
                    setattr(self, "bias_ih" + suffix, Parameter(torch.empty(gates, device=device, dtype=dtype)))
                    setattr(self, "bias_hh" + suffix, Parameter(torch.empty(gates, device=device, dtype=dtype)))
                if proj_size > 0:
                    setattr(self, "weight_hr" + suffix, Parameter(torch.empty((proj_size, hidden_size), device=device, dtype=dtype)))
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            _init.uniform_(weight, -bound, bound)

    def flatten_parameters(self):
        pass

    @property
    def all_weights(self):
        directions = 2 if self.bidirectional else 1
        result = []
        for layer in range(self.num_layers):
            for direction in range(directions):
                suffix = f"_l{layer}" + ("_reverse" if direction else "")
                names = ["weight_ih", "weight_hh"] + (["bias_ih", "bias_hh"] if self.bias else [])
                result.append([getattr(self, name + suffix) for name in names])
        return result

    def _weights(self, layer, direction):
        suffix = f"_l{layer}" + ("_reverse" if direction else "")
        bias_ih = getattr(self, "bias_ih" + suffix) if self.bias else None
        bias_hh = getattr(self, "bias_hh" + suffix) if self.bias else None
        project = getattr(self, "weight_hr" + suffix) if self.proj_size > 0 else None
        return getattr(self, "weight_ih" + suffix), getattr(self, "weight_hh" + suffix), bias_ih, bias_hh, project

    def _run(self, input, states, step, lengths=None):
        # input (T, B, C); states: a list of tensors (layers * directions, B, H). A sequence shorter than T
        # keeps its state in the steps that it does not have.
        directions = 2 if self.bidirectional else 1
        final = []
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(directions):
                w_ih, w_hh, b_ih, b_hh, project = self._weights(layer, direction)
                shares = _F.linear(input, w_ih, b_ih)
                state = tuple([s[layer * directions + direction] for s in states])
                times = range(input.size(0))
                steps = []
                for t in reversed(times) if direction else times:
                    after = step(shares[t], state, w_hh, b_hh, project)
                    if lengths is not None:
                        has = (lengths > t).unsqueeze(1)
                        after = tuple([torch.where(has, a, s) for a, s in zip(after, state)])
                    state = after
                    steps.append(state[0])
                if direction:
                    steps.reverse()
                outputs.append(torch.stack(steps))
                final.append(state)
            input = outputs[0] if directions == 1 else torch.cat(outputs, -1)
            if self.dropout > 0 and self.training and layer + 1 < self.num_layers:
                input = _F.dropout(input, self.dropout, True)
        return input, [torch.stack([s[i] for s in final]) for i in range(len(states))]

    def _run_packed(self, packed, states, step):
        # states and results are in the order of the batch; the packed order is by length.
        rnn = torch.nn.utils.rnn
        input, lengths = rnn._unpacked(packed)
        if packed.sorted_indices is not None:
            states = [s.index_select(1, packed.sorted_indices) for s in states]
        output, final = self._run(input, states, step, torch.tensor(lengths, device=input.device))
        if packed.unsorted_indices is not None:
            final = [s.index_select(1, packed.unsorted_indices) for s in final]
        return rnn._repacked(output, packed), final

    def _forward(self, input, given, widths, step):
        # given: the initial states or None each; returns the output and the final states.
        if isinstance(input, torch.nn.utils.rnn.PackedSequence):
            like = input.data.new_empty((1, int(input.batch_sizes[0]), 0))
            states = [self._state(like, g, True, w) for g, w in zip(given, widths)]
            return self._run_packed(input, states, step)
        input, batched = self._enter(input)
        states = [self._state(input, g, batched, w) for g, w in zip(given, widths)]
        output, final = self._run(input, states, step)
        return self._leave(output, batched), final if batched else [s.squeeze(1) for s in final]

    def _enter(self, input):
        if input.dim() not in (2, 3):
            raise ValueError(f"{self.mode}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        batched = input.dim() == 3
        if not batched:
            input = input.unsqueeze(1)
        elif self.batch_first:
            input = input.transpose(0, 1)
        if input.size(-1) != self.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}")
        return input, batched

    def _state(self, input, given, batched, width):
        layers = self.num_layers * (2 if self.bidirectional else 1)
        if given is None:
            return torch.zeros(layers, input.size(1), width, dtype=input.dtype, device=input.device)
        state = given if batched else given.unsqueeze(1)
        expected = (layers, input.size(1), width)
        if tuple(state.shape) != expected:
            raise RuntimeError(f"Expected hidden size {expected}, got {list(state.shape)}")
        return state

    def _leave(self, output, batched):
        if not batched:
            return output.squeeze(1)
        return output.transpose(0, 1) if self.batch_first else output


def _lstm_step(share, state, w_hh, b_hh, project):
    h, c = state
    i, f, g, o = (share + _F.linear(h, w_hh, b_hh)).chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    h = torch.sigmoid(o) * torch.tanh(c)
    if project is not None:
        h = _F.linear(h, project)
    return h, c


def _gru_step(share, state, w_hh, b_hh, project):
    h = state[0]
    xr, xz, xn = share.chunk(3, -1)
    hr, hz, hn = _F.linear(h, w_hh, b_hh).chunk(3, -1)
    r = torch.sigmoid(xr + hr)
    z = torch.sigmoid(xz + hz)
    n = torch.tanh(xn + r * hn)
    return ((h - n) * z + n,)


def _tanh_step(share, state, w_hh, b_hh, project):
    return (torch.tanh(share + _F.linear(state[0], w_hh, b_hh)),)


def _relu_step(share, state, w_hh, b_hh, project):
    return (torch.relu(share + _F.linear(state[0], w_hh, b_hh)),)


class LSTM(RNNBase):
    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

    def forward(self, input, hx=None):
        out = self.proj_size if self.proj_size > 0 else self.hidden_size
        given = (None, None) if hx is None else hx
        output, (h, c) = self._forward(input, given, (out, self.hidden_size), _lstm_step)
        return output, (h, c)


class GRU(RNNBase):
    def __init__(self, *args, **kwargs):
        super().__init__("GRU", *args, **kwargs)

    def forward(self, input, hx=None):
        output, (h,) = self._forward(input, (hx,), (self.hidden_size,), _gru_step)
        return output, h


class RNN(RNNBase):
    def __init__(self, *args, nonlinearity="tanh", **kwargs):
        if len(args) > 3:
            nonlinearity = args[3]
            args = args[:3] + args[4:]
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        self_mode = "RNN_TANH" if nonlinearity == "tanh" else "RNN_RELU"
        super().__init__(self_mode, *args, **kwargs)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        step = _tanh_step if self.nonlinearity == "tanh" else _relu_step
        output, (h,) = self._forward(input, (hx,), (self.hidden_size,), step)
        return output, h


class RNNCellBase(Module):
    def _setup(self, input_size, hidden_size, bias, chunks, device, dtype):
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        self.weight_ih = Parameter(torch.empty((chunks * hidden_size, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(torch.empty((chunks * hidden_size, hidden_size), device=device, dtype=dtype))
        if bias:
            self.bias_ih = Parameter(torch.empty(chunks * hidden_size, device=device, dtype=dtype))
            self.bias_hh = Parameter(torch.empty(chunks * hidden_size, device=device, dtype=dtype))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            _init.uniform_(weight, -bound, bound)

    def _zeros(self, input):
        return torch.zeros(input.shape[:-1] + (self.hidden_size,), dtype=input.dtype, device=input.device)

    def _share(self, input):
        return _F.linear(input, self.weight_ih, self.bias_ih)


class LSTMCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__()
        self._setup(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        state = (self._zeros(input), self._zeros(input)) if hx is None else hx
        return _lstm_step(self._share(input), state, self.weight_hh, self.bias_hh, None)


class GRUCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__()
        self._setup(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        state = (self._zeros(input) if hx is None else hx,)
        return _gru_step(self._share(input), state, self.weight_hh, self.bias_hh, None)[0]


class RNNCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__()
        self.nonlinearity = nonlinearity
        self._setup(input_size, hidden_size, bias, 1, device, dtype)

    def forward(self, input, hx=None):
        state = (self._zeros(input) if hx is None else hx,)
        step = _tanh_step if self.nonlinearity == "tanh" else _relu_step
        return step(self._share(input), state, self.weight_hh, self.bias_hh, None)[0]
