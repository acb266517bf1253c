import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Losses of torch.nn.functional and their reductions."""

    def __init__(self):
        super().__init__()
        self.register_buffer("balance", torch.tensor([0.5, 1.0, 2.0, 0.25]))
        self.criterion = nn.CrossEntropyLoss(weight=self.balance, label_smoothing=0.1)
        self.triplet = nn.TripletMarginLoss(margin=0.7)

    def forward(self, x, y, label, side):
        p = torch.sigmoid(x)
        pair = x.flatten(1), y.flatten(1)
        return (
            F.mse_loss(x, y),
            F.l1_loss(x, y, reduction="sum"),
            F.smooth_l1_loss(x, y, beta=0.3),
            F.huber_loss(x, y, delta=0.2, reduction="none"),
            F.binary_cross_entropy(p, y),
            F.binary_cross_entropy_with_logits(x, y, pos_weight=y[0]),
            F.kl_div(p.log(), y, reduction="batchmean"),
            F.margin_ranking_loss(x, y, side[:, None, None], margin=0.1),
            F.hinge_embedding_loss(x, side[:, None, None].expand_as(x)),
            self.criterion(x, label),
            F.cross_entropy(x, y.softmax(1), reduction="none"),
            F.nll_loss(x.log_softmax(1), label, ignore_index=2),
            F.cosine_embedding_loss(*pair, side, margin=0.2),
            F.pairwise_distance(*pair),
            self.triplet(x, y, y.flip(0)),
        )


def get_inputs():
    side = torch.tensor([1.0, -1.0, -1.0, 1.0, 1.0, -1.0])
    return [torch.rand(6, 4, 5), torch.rand(6, 4, 5), torch.randint(0, 4, (6, 5)), side]


def get_init_inputs():
    return []
