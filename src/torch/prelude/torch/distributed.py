# torch.distributed: a program runs alone, without a process group.


def is_available():
    return True


def is_initialized():
    return False


def get_rank(group=None):
    raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


def get_world_size(group=None):
    raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


class ProcessGroup:
    pass
