# os.path: the functions that only look at text.


def join(a, *parts):
    path = a
    for p in parts:
        path = p if p.startswith("/") else path + p if not path or path.endswith("/") else path + "/" + p
    return path


def basename(p):
    return p[p.rfind("/") + 1:]


def dirname(p):
    head = p[:p.rfind("/") + 1]
    return head.rstrip("/") if head.strip("/") else head
