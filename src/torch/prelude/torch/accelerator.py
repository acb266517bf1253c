# torch.accelerator: the one device of torch.cuda.


def is_available():
    return True


def current_accelerator(check_available=False):
    return torch.device("cuda")


def device_count():
    return 1


def synchronize(device=None):
    pass
