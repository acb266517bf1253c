# torch.nn: dropout.


class _Dropout(Module):
    _name = "dropout"

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, input):
        if not self.training or self.p == 0:
            return input
        return getattr(_F, self._name)(input, self.p, self.training, self.inplace)


_DropoutNd = _Dropout


class Dropout(_Dropout):
    pass


class Dropout1d(_Dropout):
    _name = "dropout1d"


class Dropout2d(_Dropout):
    _name = "dropout2d"


class Dropout3d(_Dropout):
    _name = "dropout3d"


class AlphaDropout(_Dropout):
    _name = "alpha_dropout"


class FeatureAlphaDropout(_Dropout):
    _name = "feature_alpha_dropout"
