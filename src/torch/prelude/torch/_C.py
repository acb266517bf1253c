# torch._C: what Python code of torch calls there.


def _log_api_usage_once(name):
    pass


def _get_tracing_state():
    return None
