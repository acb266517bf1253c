# torch.autograd: the forward half of Function; there is no backward pass.


class _Context:
    def __init__(self):
        self.saved_tensors = ()
        self.needs_input_grad = ()

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def mark_dirty(self, *args):
        pass

    def mark_non_differentiable(self, *args):
        pass

    def set_materialize_grads(self, value):
        pass


class Function:
    @classmethod
    def apply(cls, *args, **kwargs):
        context = _Context()
        context.needs_input_grad = tuple([isinstance(a, torch.Tensor) and a.requires_grad for a in args])
        with torch.no_grad():
            if hasattr(cls, "setup_context"):
                output = cls.forward(*args, **kwargs)
                cls.setup_context(context, args, output)
                return output
            return cls.forward(context, *args, **kwargs)


def Variable(data, requires_grad=False, volatile=False):
    return data


def set_grad_enabled(mode):
    return torch.set_grad_enabled(mode)


def no_grad(func=None):
    return torch.no_grad() if func is None else torch.no_grad(func)


def once_differentiable(func):
    return func
