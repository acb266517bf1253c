# torch._C: the names that Python code of torch uses.


def _log_api_usage_once(name):
    pass


def _get_tracing_state():
    return None
